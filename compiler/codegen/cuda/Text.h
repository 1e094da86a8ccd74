// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of one kernel while it grows: its values, and the pieces that they need.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_TEXT_H
#define TUTTI_COMPILER_CODEGEN_CUDA_TEXT_H

#include "Contraction.h"
#include "Numbers.h"
#include "Scalar.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

namespace tutti {

/// A size of the call, whose `symbols` come in the order of the launch's parameters, but for those that have a name:
/// the program has all of a kernel's (LaunchOp::verifySymbolUses).
std::string sizeText(const Size &size, llvm::ArrayRef<std::string> symbols,
                     const std::map<std::string, const char *> &named = {});

/// A value that lies in memory is a view, a member of the kernel's `Task`; every other one is a member function of its
/// own index that computes it. Both come into the text when they are first asked for. Maps' scalar bodies are
/// functions.
class KernelText {
public:
  KernelText(plan::KernelOp kernel, llvm::ArrayRef<std::string> symbols, CudaGeometry geometry, bool isPart);
  /// A text of its own for one of the kernel's steps: values have numbers as they are met, so that steps that do the
  /// same read the same, but for numbers. It asks this one for functions, and for what members' tables say.
  KernelText scope();

  plan::KernelOp kernel;
  llvm::ArrayRef<std::string> symbols;
  CudaGeometry geometry;
  std::map<std::string, const char *> told; ///< sizes that a part of a launch is told
  Steps steps;
  std::map<unsigned, std::string> functions; ///< of maps' bodies, by the numbers of their values
  std::vector<std::string> stepStructs;      ///< of steps that layers have in common (Common.h)
  std::string broken;                        ///< why the kernel cannot be emitted: our own mistake

  static std::string elementOf(mlir::Value value) { return cudaType(typeOf(value).getElementType()); }
  unsigned numberOf(mlir::Value value) { return named(numbers.lookup(value)); }
  /// The same of what lies in one place of scratch memory, in one form.
  unsigned memoryOf(mlir::Value value);
  /// Of the launch: the body's, its results, and the tickets of heads.
  unsigned argumentCount();

  std::string sizeText(const Size &size) { return tutti::sizeText(size, symbols, told); }
  std::string product(llvm::ArrayRef<Size> sizes);
  std::string totalRows() { return product(steps.form.rows); }
  /// An access of the kernel's index space, or of a value's own, whose dimensions are called `dims`.
  static std::string text(mlir::AffineMap map, llvm::ArrayRef<std::string> dims);
  /// The index of the value's element that belongs to a point of the kernel's space; of a scalar there is no column.
  mlir::AffineMap own(mlir::Value value) {
    mlir::AffineMap access = ownRow(RowForm::of(typeOf(value)), kernel.getContext());
    return mlir::AffineMap::get(access.getNumDims(), 0, access.getResults().take_front(typeOf(value).getRank()),
                                kernel.getContext());
  }

  /// What is looked up in a table: its view is one member's alone.
  bool isTable(mlir::Value value) {
    auto place = steps.places.find(value);
    return place != steps.places.end() && tutti::isTable(kernel, value, place->second);
  }
  /// How many members the launch has.
  std::string membersText() { return sizeText(Size::symbol(kernel.membersSize())); }
  /// The struct of what has been asked for: `Task`, or of a scope the struct of a step.
  std::string structText(llvm::StringRef name) const;
  /// The view of a value that lies in memory, and its type.
  std::string view(mlir::Value value);
  std::string typeOfView(mlir::Value value);
  /// The same, for who wants it once a pass: a block that goes on to further members keeps no address of one's own.
  std::string viewOfPass(mlir::Value value);
  /// Whether a member has so many weights beside those of the ring that their addresses, two registers each, are more
  /// than a thread keeps through all layers.
  bool hasManyAddresses() const { return manyAddresses; }
  /// What follows a layer makes a task of its own, as threads keep no addresses.
  bool looksUpEachLayer() { return hasManyAddresses() || geometry.ring.columnPlaces > 0; }
  /// A value at an index: read from memory, or computed.
  std::string at(mlir::Value value, const std::string &index);
  /// A member function that computes a value from its op, and one that is `make` and the value's number.
  std::string compute(mlir::Value value, llvm::StringRef name);
  void addMaker(mlir::Value value) { pieces.methods[numberOf(value)] += compute(value, "make"); }
  /// The call of a map's function on these operands.
  std::string call(MapOp map, llvm::function_ref<std::string(unsigned)> operand);

  /// The name of the function that makes of an element and an update the element; empty: the update itself.
  std::string combine(ScatterOp op);

  /// Names of the kernel's index space (member, rows..., column) at `row` of the tile and `column`; statements that
  /// define them go to `lines`.
  std::vector<std::string> space(std::string &lines);
  /// Where an element of a value lies in its view; at an index that is `access` of `dims`, not scratch.
  std::string placeOf(mlir::Value value, llvm::ArrayRef<std::string> dims);
  std::string placeOf(mlir::Value value, mlir::AffineMap access, llvm::ArrayRef<std::string> dims);
  /// The statement that stores a value at `row` and `column`. Blocks of a cluster that all make it keep their own
  /// activations, and one of them stores results.
  std::string store(mlir::Value value, const std::string &data, llvm::ArrayRef<std::string> dims);

private:
  /// What the struct has of a value, by its number; of one that lies in memory, by memoryOf.
  struct Pieces {
    struct View {
      std::string type, name; ///< of a data member
    };
    std::map<unsigned, std::optional<View>> views; ///< none where a finder makes it anew
    std::map<unsigned, std::string> initializers, methods;
    std::map<unsigned, std::string>
        accessors;            ///< of a view's elements by the value's index: methods once somebody asks
    std::set<unsigned> found; ///< values that have a finder
  };
  Pieces pieces;
  bool manyAddresses = false;
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::DenseMap<mlir::Value, unsigned> memories; ///< memoryOf, of scratch
  std::map<std::string, unsigned> bodies;         ///< functions by their text
  std::map<unsigned, unsigned> functionOf;        ///< the function of a value
  KernelText *whole = nullptr;                    ///< of a scope: what it is of
  llvm::DenseMap<unsigned, unsigned> names;       ///< the numbers of a scope, by those of the whole

  unsigned named(unsigned number) { return whole ? names.try_emplace(number, names.size()).first->second : number; }

  /// A weight that tensor cores multiply; and whose address no thread keeps: it comes through the ring, or there are
  /// many.
  bool isOfTensorCores(mlir::Value value);
  bool isLookedUp(mlir::Value value);
  static std::string text(mlir::AffineExpr expr, llvm::ArrayRef<std::string> dims);
  /// i0, i1 ...: a value's own index, and as parameters of its member function.
  static std::vector<std::string> ownDims(unsigned rank);
  static std::string parameters(unsigned rank);
  /// Of a value in global memory what its view is made of.
  struct Buffer {
    std::string element, address, count;
  };
  Buffer bufferOf(mlir::Value value, const Place &place);
  /// A method that makes its view.
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

/// The element of 16-bit rows in shared memory.
std::string narrowElement(const Place &place);

/// A format of the key by which an ArgOp or TopOp chooses, of the element.
std::string keyText(mlir::Operation *op);

/// `columns`, which reads what all rows share of a column, and `store`, which computes what a step stores of the sums
/// of neighbouring columns, and stores it.
std::string emitEnding(KernelText &text, const Step &step);

/// What a block does once, with its rows and members, and what it does for each member's task.
struct BlockText {
  std::string once, each;
};

// The statements of a kernel's parts, a file each.
/// All steps, and the barriers between them.
BlockText emitSteps(KernelText &text);
/// Layers by fma outside of the ring: one, or such that are alike, which are one piece of code. `meet` stands between
/// two.
std::string emitContractions(KernelText &text, llvm::ArrayRef<Step> steps, llvm::StringRef meet);
/// Whether two steps are layers by fma that are alike, each with the sums of the one before.
bool areAlike(KernelText &text, const Step &a, const Step &b);
/// Of a tile of warpgroups: the products of the widths that its passes have.
std::string emitWideProducts(KernelText &text);
/// A step by rows.
std::string emitRows(KernelText &text, const Step &step);
/// A product of two values.
std::string emitProduct(KernelText &text, const Step &step);
/// Behind the stores of a value: 16-bit rows end with a whole group of 16, for tensor cores to read.
std::string zeroText(KernelText &text, mlir::Value value);
std::string emitHeads(KernelText &text);

} // namespace tutti

#endif
