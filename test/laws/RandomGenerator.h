// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes a random graph, op by op: values in RandomGraphs.cpp, moves in RandomMoves.cpp, what computes in
// RandomOps.cpp.
#ifndef TUTTI_TEST_LAWS_RANDOMGENERATOR_H
#define TUTTI_TEST_LAWS_RANDOMGENERATOR_H

#include "RandomGraphs.h"

namespace tutti::laws {

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed), builder(&context()), wide(seed % 10 == 9) {}

  RandomGraph graph();

private:
  /// A value of the graph, and what its elements are at most.
  struct Node {
    mlir::Value value;
    double most = 0;
    llvm::ArrayRef<int64_t> dims() const { return type().getShape(); }
    mlir::RankedTensorType type() const { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
    int64_t rank() const { return type().getRank(); }
  };
  using Made = std::optional<Node>;

  // Numbers. (The distributions of the standard library differ from library to library.)
  int64_t below(int64_t count) { return static_cast<int64_t>(random() % count); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T> T oneOf(std::initializer_list<T> all) { return all.begin()[below(all.size())]; }

  // Values.
  Node pick(double most = 1e9);
  int64_t fixedAxis(const Node &x, int64_t least = 1);
  llvm::SmallVector<int64_t> fixedAxes(const Node &x);
  mlir::Value parameter(llvm::ArrayRef<int64_t> dims, mlir::Type type);
  mlir::Value constant(llvm::ArrayRef<int64_t> dims, double value);
  Node take(const Node &x, int64_t axis, int64_t start, int64_t count, int64_t step);
  /// An op whose operands are broadcast.
  mlir::Value pointwise(llvm::StringRef name, mlir::ValueRange operands, mlir::Type result = {});
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return {builder.getStringAttr(name), value};
  }
  mlir::IntegerAttr number(int64_t value) { return builder.getI64IntegerAttr(value); }

  // Ops.
  Made op();
  /// Notes what is off by more than its op's bound if it is no result.
  void noteRough(mlir::Value value);
  void keep(const Node &node);
  Made slice(const Node &given), transpose(const Node &x), reshape(const Node &x), expand(const Node &x),
      concat(const Node &x), pad(const Node &x), gather(const Node &x), unary(const Node &x), binary(const Node &x),
      withParameter(const Node &x), choice(const Node &x), reduce(const Node &x), scan(const Node &x),
      product(const Node &x), productOfValues(const Node &x), softmax(const Node &x), norm(const Node &x),
      chosen(const Node &x), tied(const Node &x), scatter(const Node &x), chain(const Node &x), beside(const Node &x);
  Made acrossItself(const Node &x), withoutSign(const Node &x);

  std::mt19937 random;
  mlir::OpBuilder builder;
  mlir::Location loc = builder.getUnknownLoc();
  mlir::Type element;
  const bool wide;     ///< of few ops on long axes: blocks, panels and chunks are more than one
  bool shared = false; ///< all weights are
  int64_t hidden = 0;  ///< so many of 100 values are no results, and
  int64_t newest = 50; ///< so many are made of the last ones
  llvm::DenseSet<mlir::Value>
      rough; ///< floats that are off by more than the op before them may be: made of hidden ones
  std::vector<Node> nodes;
  llvm::SmallVector<mlir::Value> results;
  RandomGraph made;
};

} // namespace tutti::laws

#endif
