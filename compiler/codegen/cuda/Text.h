// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of one kernel under construction: its values, and the pieces of text that they need.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_TEXT_H
#define TUTTI_COMPILER_CODEGEN_CUDA_TEXT_H

#include "Contraction.h"
#include "Numbers.h"
#include "Scalar.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

namespace tutti {

/// A size of the call as text. Its symbols are parameters of the launch, in the order of `symbols`, except those that
/// `named` gives a name. The program has all symbols of its kernels (LaunchOp::verifySymbolUses).
std::string sizeText(const Size &size, llvm::ArrayRef<std::string> symbols,
                     const std::map<std::string, const char *> &named = {});

/// The text of a kernel as a struct `Task`. A value in memory is a data member, a view; every other value is a member
/// function that computes the element of an index. Both are added when they are first asked for. The scalar bodies of
/// maps are functions outside of the struct.
class KernelText {
public:
  KernelText(plan::KernelOp kernel, llvm::ArrayRef<std::string> symbols, CudaGeometry geometry, bool isPart);
  /// A text of its own for one of the kernel's steps, as a struct that is made from the `Task`. Its values are numbered
  /// in the order in which they are met, so that steps that do the same become equal texts but for numbers. Functions
  /// of maps, and addresses out of members' tables, it takes from this one.
  KernelText scope();

  plan::KernelOp kernel;
  llvm::ArrayRef<std::string> symbols;
  CudaGeometry geometry;
  std::map<std::string, const char *> told; ///< names of sizes that each part of a launch gets for itself
  Steps steps;
  std::map<unsigned, std::string> functions; ///< the text of maps' bodies, by the numbers of their values
  std::vector<std::string> stepStructs;      ///< the structs of steps that layers share (Common.h)

  /// Records why the kernel cannot be emitted, which is our own mistake. The first reason is kept. A scope records it
  /// for the whole text.
  void cannot(const llvm::Twine &why) {
    std::string &first = (whole ? whole : this)->broken;
    first = first.empty() ? why.str() : first;
  }
  const std::string &failure() const { return broken; }

  static std::string elementOf(mlir::Value value) { return cudaType(typeOf(value).getElementType()); }
  unsigned numberOf(mlir::Value value) { return named(numbers.lookup(value)); }
  /// The number of the value's view. Values that take turns in one place of scratch memory, in one form, share a view.
  unsigned memoryOf(mlir::Value value);
  /// The number of the launch's arguments: those of the body, the results, and the heads' tickets.
  unsigned argumentCount();

  std::string sizeText(const Size &size) { return tutti::sizeText(size, symbols, told); }
  std::string product(llvm::ArrayRef<Size> sizes);
  std::string totalRows() { return product(steps.form.rows); }
  /// The results of an access as text; `dims` are the names of its dimensions.
  static std::string text(mlir::AffineMap map, llvm::ArrayRef<std::string> dims);
  /// The access of the value's element at a point of the kernel's index space; a scalar has no column.
  mlir::AffineMap own(mlir::Value value) {
    mlir::AffineMap access = ownRow(RowForm::of(typeOf(value)), kernel.getContext());
    return mlir::AffineMap::get(access.getNumDims(), 0, access.getResults().take_front(typeOf(value).getRank()),
                                kernel.getContext());
  }

  /// Whether the value's address comes from a table with one address for each member.
  bool isTable(mlir::Value value) {
    return steps.isStored(value) && tutti::isTable(kernel, value, steps.placeOf(value));
  }
  /// The number of members in the launch, as text.
  std::string membersText() { return sizeText(Size::symbol(kernel.membersSize())); }
  /// The struct with all pieces asked for so far: `Task`, or for a scope the struct of a step.
  std::string structText(llvm::StringRef name) const;
  /// The view of a value that lies in memory, and its type.
  std::string view(mlir::Value value);
  std::string typeOfView(mlir::Value value);
  /// The view for use once per pass, and whether its address is looked up in each pass instead of kept in registers: in
  /// persistent blocks, and in kernels with many addresses.
  std::string viewOfPass(mlir::Value value);
  bool isFoundInPass(mlir::Value value);
  /// Whether a member has more weights, besides those of the ring, than a thread can keep the addresses of through all
  /// layers (two registers each).
  bool hasManyAddresses() const { return manyAddresses; }
  /// Whether each layer's ending creates its own `Task`, since threads keep no addresses.
  bool looksUpEachLayer() { return hasManyAddresses() || geometry.ring.columnPlaces > 0; }
  /// A value at an index: read from memory, or computed.
  std::string at(mlir::Value value, const std::string &index);
  /// A member function that computes a value from its op. `addMaker` adds it under the name `make` plus the value's
  /// number.
  std::string compute(mlir::Value value, llvm::StringRef name);
  void addMaker(mlir::Value value) { pieces.methods[numberOf(value)] += compute(value, "make"); }
  /// The call of a map's function on these operands.
  std::string call(MapOp map, llvm::function_ref<std::string(unsigned)> operand);

  /// The name of the function that combines an element with an update; empty if the update replaces the element.
  std::string combine(ScatterOp op);

  /// Names of the kernel's index space (member, rows..., column) at `row` of the tile and `column`; statements that
  /// define them go to `lines`.
  std::vector<std::string> space(std::string &lines);
  /// The position in the value's view of the element at `dims`, a point of the kernel's space; or at `access` of
  /// `dims`, for a value that is not in scratch memory.
  std::string placeOf(mlir::Value value, llvm::ArrayRef<std::string> dims);
  std::string placeOf(mlir::Value value, mlir::AffineMap access, llvm::ArrayRef<std::string> dims);
  /// The statement that stores a value at `row` and `column`. If all blocks of a cluster compute the value, each stores
  /// it to its own shared memory, but only one stores it to global memory.
  std::string store(mlir::Value value, const std::string &data, llvm::ArrayRef<std::string> dims);

private:
  /// The struct's members for a value, by its number, or by memoryOf for a value that lies in memory.
  struct Pieces {
    struct View {
      std::string type, name; ///< of a data member
    };
    std::map<unsigned, std::optional<View>> views; ///< none if a finder makes it on each use
    std::map<unsigned, std::string> initializers, methods;
    std::map<unsigned, std::string>
        accessors;            ///< read a view's elements by the value's index; become methods on first use
    std::set<unsigned> found; ///< values that have a finder
  };
  Pieces pieces;
  std::string broken; ///< failure()
  bool manyAddresses = false;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<mlir::Value, unsigned> memories; ///< memoryOf, of scratch
  std::map<CudaFunction, unsigned> bodies;        ///< functions by their text
  std::map<unsigned, unsigned> functionOf;        ///< the function of a value
  KernelText *whole = nullptr;                    ///< the text that this is a scope of, or null
  llvm::DenseMap<unsigned, unsigned> names;       ///< from numbers of the whole text to those of the scope

  unsigned named(unsigned number) { return whole ? names.try_emplace(number, names.size()).first->second : number; }

  /// Whether tensor cores multiply by the value. `isLookedUp`: and no thread keeps its address, since the value comes
  /// through the ring or there are many addresses.
  bool isOfTensorCores(mlir::Value value);
  bool isLookedUp(mlir::Value value);
  static std::string text(mlir::AffineExpr expr, llvm::ArrayRef<std::string> dims);
  /// i0, i1 ...: the names of a value's own indices, and the same as parameters of its member function.
  static std::vector<std::string> ownDims(unsigned rank);
  static std::string parameters(unsigned rank);
  /// The pieces of the view of a value in global memory, as text.
  struct Buffer {
    std::string element, address, count;
  };
  Buffer bufferOf(mlir::Value value, const Place &place);
  /// The member function `name` that makes the view of a value.
  std::string finder(mlir::Value value, const Place &place, const std::string &name);
  void defineView(mlir::Value value, const Place &place);
  std::string rowOf(const RowForm &form, llvm::ArrayRef<std::string> dims);
  unsigned functionFor(MapOp map, unsigned number);
  std::string concatBody(ConcatOp op);
  std::string gatherBody(GatherOp op);
  std::string contractBody(ContractOp op);
  std::string reduceBody(ReduceOp op);
  std::string argBody(ArgOp op);
};

/// Pieces of text in the order of their numbers.
std::string joined(const std::map<unsigned, std::string> &pieces);

/// The type of the elements of 16-bit rows in shared memory.
std::string narrowElement(const Place &place);

/// A format string that turns an element into the key by which an ArgOp or TopOp compares.
std::string keyText(mlir::Operation *op);

/// The functions `columns` and `store` of a step with a contraction (Ending.h).
std::string emitEnding(KernelText &text, const Step &step);

/// The text that a block runs once, and the text that it runs for each of its members.
struct BlockText {
  std::string once, each;
};

// The statements of a kernel's parts, a file each.
/// All steps, and the barriers between them.
BlockText emitSteps(KernelText &text);
/// One layer multiplied by fma, or several layers that are alike as one loop; `meet` is the barrier between two of
/// them.
std::string emitContractions(KernelText &text, llvm::ArrayRef<Step> steps, llvm::StringRef meet);
/// Whether two such layers are alike, and the second reads the first one's result.
bool areAlike(KernelText &text, const Step &a, const Step &b);
/// The products of warpgroups, in the widths that the layers' passes have.
std::string emitWideProducts(KernelText &text);
/// A step by rows.
std::string emitRows(KernelText &text, const Step &step);
/// A product of two values.
std::string emitProduct(KernelText &text, const Step &step);
/// The text behind the stores of a value: it writes the zeros that complete the last group of 16 in 16-bit rows, since
/// tensor cores read whole groups.
std::string zeroText(KernelText &text, mlir::Value value);
std::string emitHeads(KernelText &text);

} // namespace tutti

#endif
