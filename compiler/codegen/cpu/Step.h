// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One step of a kernel as a function: reading and writing the body's values at a place of the index space.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_STEP_H
#define TUTTI_COMPILER_CODEGEN_CPU_STEP_H

#include "Code.h"
#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Steps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <set>

namespace tutti {

/// A number of bytes: a sum of sizes.
using Distance = llvm::SmallVector<Size, 1>;

/// An argument that the kernel's function passes to a step's function. Equal steps share one function, called with
/// different values.
struct Need {
  enum Kind {
    rowPointer,  ///< of `value`, at this member and the first row of the tile
    basePointer, ///< of `value`, at its first element; of a lifted weight: this member's copy
    member,      ///< position in the active set
    firstRow,    ///< of the tile, among all rows
    rows,        ///< of the tile
    size,        ///< of the call, by `symbol`
    partials,    ///< working memory for sums of chunks
    work         ///< working memory of a phase
  } kind;
  mlir::Value value;
  std::string symbol;
  Distance offset = {}; ///< added to a base pointer

  bool operator<(const Need &other) const { return key() < other.key(); }

private:
  std::tuple<Kind, void *, const std::string &, const Distance &> key() const {
    return {kind, value.getAsOpaquePointer(), symbol, offset};
  }
};

/// A point of the kernel's index space: one row, and one column or 16 from `column` on.
struct Point {
  Point(mlir::Value row, mlir::Value column, mlir::Value mask = {}, llvm::ArrayRef<mlir::Value> extra = {})
      : row(row), column(column), mask(mask), extra(extra) {}

  mlir::Value row;    ///< within the tile
  mlir::Value column; ///< first lane's
  mlir::Value mask;   ///< lanes that count; null: all
  /// Values of the dimensions behind the kernel's own, over which sums and gathers run; i64, or vectors of it.
  llvm::SmallVector<mlir::Value> extra;
  /// If not 0, all lanes lie in one of the runs of so many columns, whose number is the first of `extra`.
  int64_t run = 0;
  /// Whether the copies of transposed operands, if there are any, contain this point.
  bool inCopies = true;
  /// The same point with nothing computed yet, for reading outside of the copies.
  Point again() const {
    Point point(row, column, mask, extra);
    point.run = run;
    point.inCopies = false;
    return point;
  }
  /// The values computed at this point.
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> memo;
};

/// A range of a row's columns, of length `fixed` or `count`.
struct Columns {
  mlir::Value from, count;
  std::optional<int64_t> fixed;
};

/// The places of elements that packed rows read, each lane its own. A block is all elements with one index along the
/// rows' first axis.
struct Scattered {
  int64_t block = 0; ///< its elements
  llvm::SmallVector<int32_t>
      places;           ///< of the block's elements and the next block's first ones, in bytes from the first
  bool inPairs = false; ///< elements have four bytes and lie side by side in twos
};

/// Emits one step. Values read are scalars where they do not depend on the column, else vectors of 16 lanes.
class StepEmitter {
public:
  StepEmitter(plan::KernelOp kernel, const Steps &steps, const CpuLevel &level);

  Code code;
  const Steps &steps;
  const CpuLevel &level;
  plan::KernelOp kernel;
  mlir::func::FuncOp function;
  llvm::SmallVector<Need> needs;
  /// Why the kernel cannot be emitted, which is our own mistake. The first reason is kept, as others follow from it.
  std::string broken;
  void cannot(const llvm::Twine &why) { broken = broken.empty() ? why.str() : broken; }

  // Each of these states a fact that holds for the code that `body` emits.
  using Body = llvm::function_ref<void()>;
  /// Only the given columns of a row are being computed.
  void overColumns(const Columns &columns, Body body);
  /// The tile's rows, of `columns` elements each, are processed end to end, so that a vector's lanes are of several
  /// rows.
  void overPacked(int64_t columns, Body body);
  /// The rows that `body` names lie on one line: they differ along the last of the rows' axes alone.
  void overLine(mlir::Value line, Body body);
  /// A copied operand (Transposed.cpp) of every `step`-th row from `first` on: the address where the first one's column
  /// 0 would be, and the elements between consecutive copied rows (`pitch`).
  struct Copy {
    mlir::Value pointer, first;
    int64_t step, pitch;
  };
  using Copies = llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, Copy>;
  void readingCopies(const Copies &copies, Body body);
  /// The addresses from which the code of `body` reads vectors of the launch's buffers, for prefetching what lies
  /// behind them.
  llvm::SmallVector<mlir::Value> streamsOf(Body body);

  bool isOverWholeRow() const { return !chunk; }
  /// The columns of `value` that are being computed.
  Columns columnsOf(mlir::Value value);
  /// The reads of memory that packed rows allow. `liesPacked`: the same element of a value whose rows, of `columns` or
  /// one column, lie end to end. `isOfNoRow`: elements whose place does not depend on the row.
  bool liesPacked(mlir::Value value, mlir::AffineMap access, int64_t columns);
  bool isOfNoRow(mlir::Value value, mlir::AffineMap access);
  /// The table of an access whose places are the same in every block; null if they are not.
  const Scattered *scatteredOf(mlir::Value value, mlir::AffineMap access, int64_t columns);

  /// Opens the step's function, without arguments yet, in `module`; `finish` gives it one for each of `needs`.
  void begin(mlir::ModuleOp module);
  void finish();

  /// The function's argument for a need; equal needs get the same one.
  mlir::Value need(Need::Kind kind, mlir::Value value = {}, llvm::StringRef symbol = {}, const Distance &offset = {});
  /// The rows of this tile; and a size of the call.
  mlir::Value rows() { return need(Need::rows); }
  mlir::Value sizeOf(const Size &size);

  mlir::AffineMap own(mlir::Value value) { return ownRow(RowForm::of(typeOf(value)), kernel.getContext()); }
  /// The value of `value` at `access` (kernel's index space to its own index).
  mlir::Value read(mlir::Value value, mlir::AffineMap access, Point &point);
  /// The same, computed from its op even if it has a place.
  mlir::Value compute(mlir::Value value, mlir::AffineMap access, Point &point);
  /// The same at several points alike; a reduction goes through its elements once for all of them.
  llvm::SmallVector<mlir::Value> compute(mlir::Value value, mlir::AffineMap access,
                                         llvm::MutableArrayRef<Point> points);
  /// The same, map by map at all of the points, so that what they read alike need not be kept for the next one.
  llvm::SmallVector<mlir::Value> computeByMaps(mlir::Value value, mlir::AffineMap access,
                                               llvm::MutableArrayRef<Point> points);
  /// Where the element of `value`, which lies in memory, at `access` is; no dimension is a vector.
  mlir::Value pointerTo(mlir::Value value, mlir::AffineMap access, Point &point);
  /// Stores at the value's own element.
  void write(mlir::Value value, mlir::Value data, Point &point);
  /// The address of a table of numbers in the image; equal tables are stored once.
  mlir::Value tableOf(llvm::ArrayRef<int32_t> numbers);
  /// An index of a gather or a scatter, brought into [0, length).
  mlir::Value inRange(mlir::Value index, mlir::Value length);
  /// The pointer to a value whose rows are the kernel's; `rowStride`: the elements between its rows.
  mlir::Value rowPointer(mlir::Value value) { return need(Need::rowPointer, value); }
  bool isWeight(mlir::Value value);
  mlir::Value rowStride(mlir::Value value);
  std::optional<int64_t> fixedRowStride(mlir::Value value);

  static mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }

private:
  std::optional<Columns> chunk; ///< the columns being computed, if not all
  mlir::Value line;             ///< number of the line that all rows being computed lie on, if they do
  int64_t packed = 0;           ///< columns of each packed row; 0: rows are not packed
  Copies copies;
  llvm::SmallVector<mlir::Value> streams;

  /// The address of an element: a sum of index times stride, in elements. Strides that are known when compiling stay
  /// numbers.
  struct Address {
    struct Term {
      mlir::AffineExpr index;
      mlir::Value stride;
      std::optional<int64_t> fixed;
    };
    mlir::Value base;
    llvm::SmallVector<Term> terms;
    bool ownRows; ///< whether it stays in the kernel's own row, whatever the column
  };
  Address addressOf(mlir::Value value, mlir::AffineMap access, Point &point);
  /// The address relative to the value's first element.
  Address wholeAddressOf(mlir::Value value, mlir::AffineMap access);
  /// The stride of each axis in elements, the last axis first, without the member axis of a table.
  llvm::SmallVector<std::pair<unsigned, Size>> stridesOf(mlir::Value value);
  /// The elements from lane to lane, if lanes are evenly spaced.
  std::optional<int64_t> stepOf(const Address &address);
  std::optional<int64_t> timesOf(const Address &address);
  mlir::Value pointerOf(const Address &address, llvm::ArrayRef<mlir::Value> dims, int64_t bytes);
  mlir::Value load(mlir::Value value, mlir::AffineMap access, Point &point);
  mlir::Value loadPacked(mlir::Value value, mlir::AffineMap access, Point &point);
  mlir::Value loadScattered(mlir::Value value, mlir::AffineMap access, Point &point);
  std::optional<Scattered> findScattered(mlir::Value value, mlir::AffineMap access, int64_t columns);
  mlir::Value computeMap(MapOp op, mlir::AffineMap access, Point &point);
  mlir::Value applied(MapOp op, llvm::ArrayRef<mlir::Value> operands);
  mlir::Value computeConcat(ConcatOp op, mlir::AffineMap access, Point &point);
  /// Reads a concat's element at `index`, a scalar, from the one operand that has it; the others are not read.
  mlir::Value chooseOperand(ConcatOp op, mlir::AffineMap access, mlir::Value index, Point &point);
  mlir::Value computeGather(GatherOp op, mlir::AffineMap access, Point &point);
  mlir::Value computeContract(ContractOp op, mlir::AffineMap access, Point &point);
  llvm::SmallVector<mlir::Value> computeReduce(ReduceOp op, mlir::AffineMap access,
                                               llvm::MutableArrayRef<Point> points);
  mlir::Value computeArg(ArgOp op, mlir::AffineMap access, Point &point);
  /// The index of the k-th element of a tensor of these fixed lengths.
  llvm::SmallVector<mlir::Value> unravel(mlir::Value k, llvm::ArrayRef<Size> lengths);
  /// The k-th of the elements of x that a reduction over `axes` combines into one.
  mlir::Value reducedElement(mlir::Value x, llvm::ArrayRef<int64_t> axes, mlir::AffineMap access, Point &point,
                             mlir::Value k);
  /// `ways` interleaved sums of terms k in [0, count), each in the order of the chain rule.
  llvm::SmallVector<mlir::Value> chainSums(int64_t count, int64_t chunk, mlir::Type type, size_t ways,
                                           Code::Carry accumulate);

  /// Member, rows..., column (lane 0), extra: the values of an access' dimensions.
  llvm::SmallVector<mlir::Value> dimensions(Point &point);
  /// The access at lanes that lie in one run of columns, simplified: it no longer divides by the run's length.
  mlir::AffineMap inRun(mlir::AffineMap access, const Point &point);
  mlir::Value evaluate(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> dims);
  bool varies(mlir::AffineMap access, Point &point);

  std::map<Need, mlir::Value> given;
  llvm::DenseMap<mlir::Value, std::set<Distance>> offsets; ///< the offsets for which a value has a pointer argument
  llvm::DenseMap<std::tuple<mlir::Value, mlir::AffineMap, int64_t>, std::unique_ptr<Scattered>>
      scattered; ///< by columns, too
};

} // namespace tutti

#endif
