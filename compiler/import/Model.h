// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One member as the compiler reads it: a module in normal form, and where its weights' bytes lie.
#ifndef TUTTI_COMPILER_IMPORT_MODEL_H
#define TUTTI_COMPILER_IMPORT_MODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tutti {

/// A strided view of elements in memory: of a mapped file as a rule, of a buffer when the elements were computed.
struct WeightSource {
  std::shared_ptr<void> owner; ///< keeps the bytes
  const char *data = nullptr;  ///< the first element; aligned to nothing
  mlir::Type element;          ///< i1 is one byte an element
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<int64_t> strides; ///< in elements; 0 for a repeated axis, negative for a reversed one
  std::string name;                   ///< of the initializer; empty for a constant that the graph or an op spells out
  bool isNode = false;                ///< what a Constant node holds, so that another member may have other numbers
  /// While the view is a permutation of one whole initializer: its dims in the file, the dims that it was reshaped to
  /// before the permutation (empty: the same), and which of these each axis is. The elements in the view's row-major
  /// order are then those of the initializer, as a tensor of `permDims`, transposed by `perm` (empty: not transposed).
  /// Otherwise all three are empty and `whole` is false.
  llvm::SmallVector<int64_t> rawDims, permDims;
  llvm::SmallVector<uint32_t> perm;
  bool whole = false;
  /// Whether the initializer's numbers went into the program, which then holds for no other numbers; all of its views
  /// share the flag.
  std::shared_ptr<bool> wasRead;

  int64_t count() const;
  unsigned elementBytes() const;
  /// Whether the elements lie in row-major order without gaps.
  bool contiguous() const;
  /// Writes the elements in row-major order; `dst` holds count() * elementBytes().
  void copyTo(char *dst) const;
  /// Whether type, dims and every byte agree.
  bool sameBytes(const WeightSource &other) const;
  /// Whether both are the same view of the same initializer. Two initializers that a file stores at one place differ.
  bool sameView(const WeightSource &other) const;
};

/// An op that the import composes of several ONNX ops, and that rounds differently than they would.
enum class Composition : uint8_t { gelu, mish, division };

struct MemberModel {
  /// `func.func @main` and `tutti.param`s @p0, @p1 ... in the order of their first use; stage `model`.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::StringMap<WeightSource> weights; ///< by the param's symbol
  std::string name;                      ///< the file's name without folder and extension
  std::string file;                      ///< as given; that of the weights, if they have one
  uint64_t digest = 0;                   ///< as digestOf says
  std::vector<std::string> allInputs;    ///< of the model, including those bound to constants
  std::vector<std::string> computedWith; ///< initializers whose numbers went into the program, in some order
  std::vector<Composition> compositions; ///< in the order of the graph
};

/// What a symbolic dimension is bound to: one value (lo == hi) or a range.
struct DimBinding {
  int64_t lo, hi;
  /// Whether it is one value of a list, each with a program of its own. The name tells these programs apart, so it is
  /// kept though the value is fixed.
  bool listed = false;
};

/// An input that is a constant, the same for all members.
struct BoundInput {
  std::string file;
  uint64_t digest = 0; ///< XXH64 of the file
  /// Reads the file's tensor, which must have this element type; later calls give the same bytes.
  std::function<llvm::Expected<WeightSource>(mlir::Type element)> read;
};

/// The numbers that stay what they are where an op could be spelled without them, as another member may have others:
/// known indices stay a gather where a slice would do, a factor of 1 stays a factor, and a division by 2 does not
/// become a multiplication by 1/2. No bit depends on it: a member that would be composed of other ops then
/// (MemberModel) is refused.
enum class Kept : uint8_t {
  none,
  weights,   ///< initializers
  constants, ///< and factors, divisors and dividends of Constant nodes
};

struct ImportOptions {
  std::map<std::string, DimBinding> dims;
  std::map<std::string, BoundInput> binds = {}; ///< by member 0's inputs
  Kept kept = Kept::none;
  std::string output = {}; ///< a file that is written later, so no tensor may be read from it; empty: none
};

/// What a member is made from.
struct MemberFiles {
  std::string model;
  std::string weights; ///< a safetensors file whose tensors take the place of the initializers of their names; or none
  int64_t part = -1;   ///< the member that is meant in a file of several (MLIR); -1: all of them
};
/// One entry per model or, if there are files of weights, one per such file, all for the one model.
std::vector<MemberFiles> membersOf(llvm::ArrayRef<std::string> models, llvm::ArrayRef<std::string> weights);
/// A digest of a member's files: XXH64 of the model or, with weights or bound inputs, of the digests of all of them in
/// this order.
llvm::Expected<uint64_t> digestOf(const MemberFiles &files, const ImportOptions &options);

} // namespace tutti

#endif
