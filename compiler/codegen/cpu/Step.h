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

/// What a step's function is given by the kernel's. Equal steps are one function, called with other values.
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

/// A place of the kernel's index space: one row, and one column or 16 from `column` on.
struct Point {
  Point(mlir::Value row, mlir::Value column, mlir::Value mask = {}, llvm::ArrayRef<mlir::Value> extra = {})
      : row(row), column(column), mask(mask), extra(extra) {}

  mlir::Value row;    ///< within the tile
  mlir::Value column; ///< first lane's
  mlir::Value mask;   ///< lanes that count; null: all
  /// Values of dimensions behind the kernel's own, that sums and gathers run over; i64, or vectors of it.
  llvm::SmallVector<mlir::Value> extra;
  /// If not 0, all lanes lie in one of the runs of so many columns, whose number is the first of `extra`.
  int64_t run = 0;
  /// Whether copies of what is read transposed have this place, where something has been copied.
  bool inCopies = true;
  /// The same place, of which nothing has been computed yet, to be read elsewhere.
  Point again() const {
    Point point(row, column, mask, extra);
    point.run = run;
    point.inCopies = false;
    return point;
  }
  /// What has been computed here.
  llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, mlir::Value> memo;
};

/// Some of a row's columns; as many as `fixed`, or as `count`.
struct Columns {
  mlir::Value from, count;
  std::optional<int64_t> fixed;
};

/// What rows that are packed read, each at places of its own. A block is all that has one index along the rows' first
/// axis.
struct Scattered {
  int64_t block = 0;                 ///< its elements
  llvm::SmallVector<int32_t> places; ///< of these and of the first ones of the next block, in bytes from the first
  bool inPairs = false;              ///< of four bytes each, two of which lie side by side
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
  /// Why the kernel cannot be emitted, a mistake of ours: the first reason counts, as others follow from it.
  std::string broken;
  void cannot(const llvm::Twine &why) { broken = broken.empty() ? why.str() : broken; }

  // What is said here holds for the code that `body` emits.
  using Body = llvm::function_ref<void()>;
  /// Some of a row's columns are under way, not all.
  void overColumns(const Columns &columns, Body body);
  /// Goes over the elements of all the tile's rows, of `columns` each, end to end: lanes are of several rows.
  void overPacked(int64_t columns, Body body);
  /// The rows that `body` names lie on one line: they differ along the last of the rows' axes alone.
  void overLine(mlir::Value line, Body body);
  /// What has been copied for every `step`-th row from `first` on (Transposed.cpp): where the first one's column 0
  /// would be, and elements from each to the next.
  struct Copy {
    mlir::Value pointer, first;
    int64_t step, pitch;
  };
  using Copies = llvm::DenseMap<std::pair<mlir::Value, mlir::AffineMap>, Copy>;
  void readingCopies(const Copies &copies, Body body);
  /// Where it reads vectors of the launch's buffers from, for who asks for those behind them.
  llvm::SmallVector<mlir::Value> streamsOf(Body body);

  bool isOverWholeRow() const { return !chunk; }
  /// The columns of `value` that are under way.
  Columns columnsOf(mlir::Value value);
  /// What may be read of memory over packed rows: the same element of a value whose rows, of so many columns, lie end
  /// to end, or their only one; and elements that no row decides.
  bool liesPacked(mlir::Value value, mlir::AffineMap access, int64_t columns);
  bool isOfNoRow(mlir::Value value, mlir::AffineMap access);
  /// Elements that were told to lie at places that are the same in every block; null if they do not.
  const Scattered *scatteredOf(mlir::Value value, mlir::AffineMap access, int64_t columns);

  /// Opens the step's function, without arguments yet, in `module`; `finish` gives it one for each of `needs`.
  void begin(mlir::ModuleOp module);
  void finish();

  /// An argument of the function, the same one for the same need.
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
  /// Where numbers lie in the image, for all that have the same ones.
  mlir::Value tableOf(llvm::ArrayRef<int32_t> numbers);
  /// An index of a gather or a scatter as a place below `length`.
  mlir::Value inRange(mlir::Value index, mlir::Value length);
  /// Pointer to, and elements between the rows of, a value whose rows are the kernel's.
  mlir::Value rowPointer(mlir::Value value) { return need(Need::rowPointer, value); }
  bool isWeight(mlir::Value value);
  mlir::Value rowStride(mlir::Value value);
  std::optional<int64_t> fixedRowStride(mlir::Value value);

  static mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }

private:
  std::optional<Columns> chunk; ///< the columns under way, if not all
  mlir::Value line;             ///< number of the one that all rows under way lie on, if they do
  int64_t packed = 0;           ///< columns of each of the rows that lie end to end; 0: of one row
  Copies copies;
  llvm::SmallVector<mlir::Value> streams;

  /// The place of an element in memory: a sum of index times stride, in elements. What is known when compiling stays a
  /// number.
  struct Address {
    struct Term {
      mlir::AffineExpr index;
      mlir::Value stride;
      std::optional<int64_t> fixed;
    };
    mlir::Value base;
    llvm::SmallVector<Term> terms;
    bool ownRows; ///< of the kernel, whatever the column
  };
  Address addressOf(mlir::Value value, mlir::AffineMap access, Point &point);
  /// From the value's first element.
  Address wholeAddressOf(mlir::Value value, mlir::AffineMap access);
  /// Elements between neighbours along each axis, but for the members of a table; the last axis first.
  llvm::SmallVector<std::pair<unsigned, Size>> stridesOf(mlir::Value value);
  /// Elements from lane to lane, if they are evenly apart.
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
  /// Of a concat the one operand that has the element at `index`, a scalar: nothing is read of the others.
  mlir::Value chooseOperand(ConcatOp op, mlir::AffineMap access, mlir::Value index, Point &point);
  mlir::Value computeGather(GatherOp op, mlir::AffineMap access, Point &point);
  mlir::Value computeContract(ContractOp op, mlir::AffineMap access, Point &point);
  llvm::SmallVector<mlir::Value> computeReduce(ReduceOp op, mlir::AffineMap access,
                                               llvm::MutableArrayRef<Point> points);
  mlir::Value computeArg(ArgOp op, mlir::AffineMap access, Point &point);
  /// The index of the k-th element of a tensor of these fixed lengths.
  llvm::SmallVector<mlir::Value> unravel(mlir::Value k, llvm::ArrayRef<Size> lengths);
  /// The k-th of the elements of x that a reduction over `axes` makes one of.
  mlir::Value reducedElement(mlir::Value x, llvm::ArrayRef<int64_t> axes, mlir::AffineMap access, Point &point,
                             mlir::Value k);
  /// `ways` sums of terms k in [0, count), by the chain rule each.
  llvm::SmallVector<mlir::Value> chainSums(int64_t count, int64_t chunk, mlir::Type type, size_t ways,
                                           Code::Carry accumulate);

  /// Member, rows..., column (lane 0), extra: the values of an access' dimensions.
  llvm::SmallVector<mlir::Value> dimensions(Point &point);
  /// An access at lanes that lie in one run of columns: it divides by the run's length no more.
  mlir::AffineMap inRun(mlir::AffineMap access, const Point &point);
  mlir::Value evaluate(mlir::AffineExpr expr, llvm::ArrayRef<mlir::Value> dims);
  bool varies(mlir::AffineMap access, Point &point);

  std::map<Need, mlir::Value> given;
  llvm::DenseMap<mlir::Value, std::set<Distance>> offsets; ///< at which a value's pointers are given
  llvm::DenseMap<std::tuple<mlir::Value, mlir::AffineMap, int64_t>, std::unique_ptr<Scattered>>
      scattered; ///< by columns, too
};

} // namespace tutti

#endif
