// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The primitives that ONNX ops are written in: each folds constants and shapes, moves no byte of a view, keeps the
// normal form, and otherwise builds an op of the tutti dialect.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_EMIT_H
#define TUTTI_COMPILER_IMPORT_EMIT_EMIT_H

#include "compiler/import/emit/ModuleBuilder.h"

namespace tutti {

/// The origin of dequantized floats: scale (numbers - zero point), with one scale and zero point per tensor or per
/// place of an axis.
struct Quantized {
  Operand numbers, scale, zero;
  int64_t axis; ///< counted from the end when negative
};

/// Whether reduced axes are dropped or kept with length 1. ONNX's keepdims.
enum class Axes : bool { drop, keep };
/// Which of equal elements is chosen. ONNX's select_last_index.
enum class Tie : bool { first, last };
/// The factors of a contraction: its operands' numbers, or the four bytes of each word.
enum class Factors : bool { numbers, bytes };
/// The elements that a scan combines for a place: its own and those before it (behind it if `reverse`), without its own
/// if `exclusive`.
struct ScanRange {
  bool exclusive, reverse;
};

/// Every primitive returns nothing when an operand is nothing or when it fails; the first failure since `takeProblem`
/// is kept. So a node's import needs no checks in between; its problem is taken once at the end.
class Emit : public ModuleBuilder {
public:
  using ModuleBuilder::ModuleBuilder;

  // Pointwise.
  template <typename Op> Operand unary(const Operand &x) {
    return x ? pointwise(Op::getOperationName(), {x}, x.element()) : Operand();
  }
  template <typename Op> Operand binary(const Operand &a, const Operand &b) {
    return binary(Op::getOperationName(), a, b, a.element());
  }
  template <typename Op> Operand compare(const Operand &a, const Operand &b) {
    return binary(Op::getOperationName(), a, b, mlir::IntegerType::get(&context, 1));
  }
  Operand add(const Operand &a, const Operand &b) { return binary<AddOp>(a, b); }
  Operand sub(const Operand &a, const Operand &b) { return binary<SubOp>(a, b); }
  Operand mul(const Operand &a, const Operand &b);
  Operand div(const Operand &a, const Operand &b);
  Operand pow(const Operand &a, const Operand &b);
  Operand select(const Operand &condition, const Operand &a, const Operand &b);
  Operand cast(const Operand &x, mlir::Type element);
  /// x converted to `wide` (float32 by default) if it is of shorter floats: the type in which the steps of one op are
  /// computed.
  Operand widened(const Operand &x, mlir::Type wide = {});
  /// A number, of the element type of `like`.
  Operand scalar(double value, const Operand &like);

  // Sums. All products spell their axes alike, so that members align.
  /// Labels of batch axes, in order. Rows are s, or b where they are the only axis.
  static constexpr llvm::StringLiteral batchLabels = "bhacdefgijlmopqruvwxyz";
  /// The labels for this number of batch and row axes; nothing if there are too many.
  static std::optional<std::string> rowLabels(size_t axes);
  Operand contract(const Operand &a, const Operand &b, llvm::StringRef spec, Factors factors = Factors::numbers);

  // Along axes, none negative.
  /// `axes`: distinct.
  Operand reduce(ReduceKind kind, const Operand &x, llvm::ArrayRef<int64_t> axes, Axes reduced);
  Operand arg(ArgKind kind, const Operand &x, int64_t axis, Tie tie, Axes reduced);
  /// e^(x - max) / sum
  Operand softmax(const Operand &x, int64_t axis);
  Operand scan(ScanKind kind, const Operand &x, int64_t axis, ScanRange range);
  /// Along the last axis: the places of the largest, or of the smallest, elements.
  Operand top(ArgKind kind, const Operand &x, int64_t count);
  /// x without the axes named, which have length 1.
  Operand dropAxes(const Operand &x, llvm::ArrayRef<int64_t> axes);
  /// x without an axis along which its elements are equal; nothing if that is not known.
  std::optional<Operand> withoutRepeats(const Operand &x, int64_t axis);
  /// x with axis `from` standing at `to` among the others.
  Operand moveAxis(const Operand &x, int64_t from, int64_t to);
  /// x with the axes from this one on flattened into one.
  Operand flattenFrom(const Operand &x, int64_t axis);
  /// Whether the length of an axis is known when compiling: what the op `does` along it needs that.
  bool isKnown(const Operand &x, int64_t axis, const llvm::Twine &does);

  // Layout. Sizes and axes are checked by the caller where a message of the op's own is better.
  Operand reshape(const Operand &x, llvm::ArrayRef<Size> sizes);
  Operand broadcast(const Operand &x, llvm::ArrayRef<Size> sizes);
  Operand transpose(const Operand &x, llvm::ArrayRef<int64_t> permutation);
  /// An axis with size -1 is taken whole.
  Operand slice(const Operand &x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                llvm::ArrayRef<int64_t> steps);
  /// `length` elements from `start` along one axis of a fixed length.
  Operand part(const Operand &x, int64_t axis, int64_t start, int64_t length, int64_t step = 1);
  Operand concat(llvm::ArrayRef<Operand> xs, int64_t axis);
  /// x with `before` and `behind` elements of `value`, a number of its type, around it along an axis.
  Operand padded(const Operand &x, int64_t axis, int64_t before, int64_t behind, const Operand &value);
  /// Along a new axis.
  Operand stack(llvm::ArrayRef<Operand> xs, int64_t axis);

  // Choice by index. Indices that are constants are checked, if they are not too many: one that is out of range is a
  // problem.
  /// The first `batch` axes are common to x and indices.
  Operand gather(const Operand &x, const Operand &indices, int64_t axis, int64_t batch = 0);
  /// The windows of an image with channels, x (rows, image, channels), each as a row: (rows, windows, elements
  /// channels).
  Operand windows(const Operand &x, llvm::ArrayRef<WindowAxis> axes, Outside outside = Outside::zero);
  /// Scatters updates, in blocks of `width` elements, into the last axis of x. There is an index for each update or for
  /// each block; indices are given for each row or, as a vector, for all rows.
  Operand scatter(ScatterKind kind, const Operand &x, const Operand &indices, const Operand &updates,
                  int64_t width = 1);
  /// The row-major places of index tuples: the last axis of `tuples` is an index into axes of these lengths.
  Operand linear(const Operand &tuples, llvm::ArrayRef<int64_t> lengths);
  /// Indices of an axis of this length as its places: wide, none of them negative or out of range.
  Operand places(const Operand &indices, int64_t length);
  /// The numbers from 0 on, in 64 bits.
  Operand counted(int64_t length);
  /// A vector of integers, or of floats, that the op itself brings.
  Operand list(llvm::ArrayRef<int64_t> numbers, mlir::Type element = nullptr);

  /// Numbers from shapes; a constant when none depends on the call.
  Operand shape(ShapeValue value);

  /// ImportOptions.
  Kept kept = Kept::none;
  bool keepsNumbers() const { return kept != Kept::none; }
  std::vector<Composition> compositions; ///< that were made, in the order of the graph

  /// Records the quantized numbers that an operand was made from. `quantized` returns them, or null if none were
  /// recorded.
  void setQuantized(const Operand &x, Quantized from);
  const Quantized *quantized(const Operand &x) const;

private:
  Operand binary(llvm::StringRef name, const Operand &a, const Operand &b, mlir::Type element);
  Operand placed(const Operand &x, const Operand &updates, const Operand &indices, int64_t width, bool ofBlocks);
  /// Whether a float type represents each of the integers exactly.
  bool isHeld(const Operand &integers, mlir::Type element);
  /// The value of a constant mask whose elements are all equal, by which a select can be decided now.
  std::optional<bool> uniformMask(const Operand &condition);
  Operand pointwise(llvm::StringRef name, llvm::ArrayRef<Operand> xs, mlir::Type element);
  Operand shapeArithmetic(llvm::StringRef name, const Operand &a, const Operand &b);
  Operand reduceShape(ReduceKind kind, const ShapeValue &x, Axes reduced);
  // The primitives on row numbers (RowNumbers.cpp).
  Operand pointwiseOfRows(llvm::StringRef name, llvm::ArrayRef<Operand> xs, llvm::ArrayRef<Size> sizes,
                          mlir::Type element);
  std::optional<bool> compareRows(llvm::StringRef name, const Operand &a, const Operand &b) const;
  Operand castRows(const RowNumbers &x, mlir::Type element);
  Operand reshapeRows(const RowNumbers &x, llvm::ArrayRef<Size> sizes);
  Operand broadcastRows(const RowNumbers &x, llvm::ArrayRef<Size> sizes);
  Operand concatRows(llvm::ArrayRef<Operand> xs, int64_t axis, llvm::ArrayRef<Size> sizes);
  Operand concatShapes(llvm::ArrayRef<Operand> xs);
  std::optional<Operand> concatBatches(llvm::ArrayRef<Operand> xs, int64_t axis);
  /// The sizes of the concatenation of tensors; nothing after a problem.
  std::optional<Sizes> joined(llvm::ArrayRef<Operand> xs, int64_t axis);
  /// Whether indices are known to be at least 0 and less than `length`.
  bool isWithin(const Operand &x, int64_t length);
  /// The operand and permutation of the transposition that a value is, with a reshape between the two moved below it.
  /// Nothing if it is none, or if the reshape joins axes that the transposition brought together.
  std::optional<std::pair<Operand, llvm::SmallVector<int64_t>>> belowTranspose(const Operand &x);
  std::optional<Operand> gatherBelowTranspose(const Operand &x, const Operand &indices, int64_t axis);
  Operand gatherRows(const Operand &x, const RowNumbers &numbers, int64_t axis);
  Operand gatherShape(const ShapeValue &x, const Operand &indices);
  std::optional<Operand> gatherEvenly(const Operand &x, const Operand &indices, int64_t axis,
                                      llvm::ArrayRef<Size> sizes);
  Operand gatherOfTable(const Operand &table, const Operand &indices, int64_t axis);
  // The op moved before a reshape of its operands' rows: the op, followed by the reshape. Nothing if no operand is such
  // a reshape.
  std::optional<Operand> pointwiseBelowReshape(llvm::StringRef name, llvm::ArrayRef<Operand> xs, mlir::Type element);
  std::optional<Operand> contractBelowReshape(const Operand &a, const Operand &b, const ContractSpec &labels,
                                              Factors factors);
  std::optional<Operand> sliceBelowReshape(const Operand &x, llvm::ArrayRef<int64_t> starts,
                                           llvm::ArrayRef<int64_t> lengths, llvm::ArrayRef<int64_t> steps);
  std::optional<Operand> concatBelowReshape(llvm::ArrayRef<Operand> xs, int64_t axis);
  std::optional<Operand> reduceBelowReshape(ReduceKind kind, const Operand &x, llvm::ArrayRef<int64_t> axes);
  /// Checked indices of an axis of this length; nothing if one is out of range. `known` is set if each is known to be
  /// in range and none is negative: for constants, if the budget allows to look at them all.
  Operand checkedIndices(const Operand &indices, int64_t length, bool *known = nullptr);
  std::optional<Sizes> broadcastAll(llvm::ArrayRef<Operand> xs);

  /// By the address of an operand's content: the operand, which keeps the address valid, and its origin.
  std::map<const void *, std::pair<Operand, Quantized>> quantizations;
};

} // namespace tutti

#endif
