// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families: values stored row by row, 16 columns at a time.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Scratch.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tutti {

/// The largest number of a line's rows that are computed together.
constexpr int64_t rowsOfLine = 4;
/// The prefetch distance: a page, at whose end the hardware prefetcher stops.
constexpr int64_t aheadBytes = 4096;

namespace {

/// Emits the elements of a value for several rows together, one vector of columns after the other.
class ElementLoops {
public:
  ElementLoops(StepEmitter &e, Value value, ArrayRef<Value> rows, Elements elements)
      : e(e), code(e.code), value(value), rows(rows), elements(elements) {}

  void emitAll() {
    Columns columns = e.columnsOf(value);
    bool wholeRow = e.isOverWholeRow();
    auto isStored = [&](Value other) { return e.steps.isStored(other); };
    auto anywhere = [&](Value row, Value column, Value mask) {
      return Point(row, code.add(columns.from, column), mask);
    };
    if (wholeRow && columns.fixed == 1)
      emitOnly();
    else if (int64_t run = wholeRow ? runOf(value, e.steps.form.dims() - 1, isStored) : 0)
      overRuns(*columns.fixed / run, run);
    else if (columns.fixed)
      overFixed(*columns.fixed, anywhere);
    else
      overCounted(columns.count, anywhere);
  }

private:
  using At = llvm::function_ref<Point(Value row, Value column, Value mask)>;
  StepEmitter &e;
  Code &code;
  Value value;
  ArrayRef<Value> rows;
  Elements elements;

  /// Whether several rows are computed together; each gives one vector.
  bool together() const { return rows.size() > 1; }
  int64_t group() const { return together() ? 1 : e.level.mathVectors; }

  void emit(MutableArrayRef<Point> points) {
    for (auto [result, point] : llvm::zip_equal(elements(points), points))
      e.write(value, result, point);
  }

  void emitOnly() {
    SmallVector<Point> only;
    for (Value row : rows)
      only.push_back(Point(row, code.num(0)));
    emit(only);
  }

  /// Emits the columns in [from, to), a multiple of `vectors` whole vectors.
  void overWhole(Value from, Value to, int64_t vectors, At at) {
    code.loop(from, to, vectors * lanes, [&](Value column) {
      SmallVector<Point> points;
      for (int64_t v = 0; v < vectors; ++v)
        for (Value row : rows)
          points.push_back(at(row, code.add(column, v * lanes), {}));
      for (Value read : e.streamsOf([&] { emit(points); }))
        if (read.getParentBlock() == code.b.getInsertionBlock())         // and not in a loop over what is summed
          code.prefetch(code.at(read, aheadBytes), Code::Cache::second); // the first has fewer places for what comes
    });
  }

  /// Emits a fixed number of columns; a few groups of rows are unrolled, as a loop would cost more.
  void overFixed(int64_t count, At at) {
    constexpr int64_t fewColumns = 4 * lanes;
    int64_t grouped = together() && count <= fewColumns ? 0 : llvm::alignDown(count, lanes * group());
    if (grouped > 0)
      overWhole(code.num(0), code.num(grouped), group(), at);
    SmallVector<Point> rest;
    for (int64_t column = grouped; column < count; column += lanes) {
      for (Value row : rows)
        rest.push_back(at(row, code.num(column), code.firstLanes(count - column)));
      if (together() || column + lanes >= count) {
        emit(rest);
        rest.clear();
      }
    }
  }

  void overRuns(int64_t count, int64_t run) {
    code.loop(code.num(0), code.num(count), 1, [&](Value number) {
      overFixed(run, [&](Value row, Value column, Value mask) {
        Point point(row, code.add(code.mul(number, run), column), mask, number);
        point.run = run;
        return point;
      });
    });
  }

  /// Emits a number of columns that the call decides.
  void overCounted(Value count, At at) {
    auto wholeOf = [&](int64_t unit) { return code.mul(code.div(count, code.num(unit)), unit); };
    Value grouped = wholeOf(lanes * group()), whole = wholeOf(lanes);
    overWhole(code.num(0), grouped, group(), at);
    overWhole(grouped, whole, 1, at);
    code.when(code.less(whole, count), [&] {
      SmallVector<Point> last;
      for (Value row : rows)
        last.push_back(at(row, whole, code.firstLanes(code.sub(count, whole))));
      emit(last);
    });
  }
};

} // namespace

void emitElements(StepEmitter &e, Value value, ArrayRef<Value> rows, Elements elements) {
  ElementLoops(e, value, rows, elements).emitAll();
}

/// Whether the operands of a concat are copied run by run: where they are many, or so long that a vector seldom has
/// elements of two.
static bool isInRuns(StepEmitter &e, ConcatOp op) {
  constexpr int64_t longRun = 2 * lanes;
  auto columnsOf = [](Value value) { return RowForm::of(typeOf(value)).columns; };
  if (!e.isOverWholeRow() || int64_t(op.getAxis()) != op.getType().getRank() - 1 ||
      !llvm::all_of(op.getInputs(), [&](Value input) { return RowForm::of(typeOf(input)).sameRows(e.steps.form); }))
    return false;
  int64_t count = op.getInputs().size();
  return count > int64_t(mostSelected) || columnsOf(op.getResult()).getFixed() >= count * longRun;
}

static void emitRuns(StepEmitter &e, ConcatOp op, Value row) {
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t length = RowForm::of(typeOf(input)).columns.getFixed();
    auto copied = [&](MutableArrayRef<Point> points) {
      SmallVector<Value> results;
      for (Point &point : points) {
        Point from(row, e.code.sub(point.column, e.code.num(start)), point.mask);
        results.push_back(e.read(input, e.own(input), from));
      }
      return results;
    };
    e.overColumns({e.code.num(start), {}, length}, [&] { emitElements(e, op.getResult(), row, copied); });
    start += length;
  }
}

static void emitRow(StepEmitter &e, Value value, Value row) {
  Operation *op = value.getDefiningOp();
  if (auto concat = dyn_cast<ConcatOp>(op); concat && isInRuns(e, concat))
    return emitRuns(e, concat, row);
  if (!isRowPhase(op))
    return emitElements(e, value, row,
                        [&](MutableArrayRef<Point> points) { return e.compute(value, e.own(value), points); });
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ReduceOp reduce) { emitReduction(e, reduce, row); })
      .Case([&](ArgOp arg) { emitArg(e, arg, row); })
      .Case([&](ScanOp scan) { emitScan(e, scan, row); })
      .Case([&](ScatterOp scatter) { emitScatter(e, scatter, row); })
      .Case([&](TopOp top) { emitTop(e, top, row); })
      .Default([&](Operation *) { e.cannot("no code for the phase " + op->getName().getStringRef()); });
}

/// The number of rows that go through the steps together, to overlap the latencies of each row's sums, trees and
/// functions. It is as many as stay in the L1 cache, and one for packed values.
static int64_t rowsTogether(ArrayRef<Step> steps) {
  int64_t longest = 0;
  for (const Step &step : steps)
    for (Value value : step.stores)
      if (auto reduce = value.getDefiningOp<ReduceOp>(); reduce && isRowPhase(reduce))
        longest = std::max(longest, RowForm::of(typeOf(reduce.getX())).columns.getFixed());
  return longest <= mostPacked ? 1 : longest <= 128 ? 8 : longest <= 1024 ? 4 : longest <= 2560 ? 2 : 1;
}

/// The arguments that are read to compute a row of `value`, unless it is stored already.
static llvm::SetVector<Value> argumentsOf(StepEmitter &e, Value value) {
  llvm::SetVector<Value> arguments, open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    Value next = open[i];
    if (e.steps.isStored(next)) {
      if (e.steps.placeOf(next).kind == Place::argument)
        arguments.insert(next);
    } else if (auto map = next.getDefiningOp<MapOp>()) {
      open.insert_range(map.getInputs());
    }
  }
  return arguments;
}

/// Whether an element of a value reads several elements of an argument, as sums over windows do: the rows of a line
/// then share most of them. More than `most` would be too much code.
static bool takesWindows(StepEmitter &e, Value value) {
  constexpr size_t fewest = 3, most = 32;
  llvm::DenseMap<Value, llvm::SmallDenseSet<AffineMap>> places;
  llvm::SetVector<std::pair<Value, AffineMap>> open;
  open.insert({value, e.own(value)});
  for (size_t i = 0; i < open.size(); ++i) {
    auto [next, access] = open[i];
    if (next != value && e.steps.isStored(next)) {
      places[next].insert(access);
    } else if (auto map = next.getDefiningOp<MapOp>()) {
      for (auto [index, input] : llvm::enumerate(map.getInputs()))
        open.insert({input, operandAccess(map, index, access)});
    } else {
      return false;
    }
  }
  size_t taken = 0;
  for (const auto &[argument, own] : places)
    taken = std::max<size_t>(taken, own.size());
  return taken >= fewest && taken <= most;
}

/// Whether a step goes along lines, several rows of one at a time.
static bool goesAlongLines(StepEmitter &e, const Step &step) {
  const Sizes &rows = e.steps.form.rows;
  return rows.size() > 1 && rows.back().isFixed() && rows.back().getFixed() >= rowsOfLine &&
         llvm::all_of(step.stores, [&](Value value) { return takesWindows(e, value); });
}

/// Emits a value for all the tile's rows, line by line.
static void emitLines(StepEmitter &e, Value value) {
  Code &code = e.code;
  Value first = e.need(Need::firstRow), length = e.sizeOf(e.steps.form.rows.back()), behind = code.add(first, e.rows());
  auto elements = [&](MutableArrayRef<Point> points) { return e.computeByMaps(value, e.own(value), points); };
  Value lines = code.div(code.add(behind, code.sub(length, code.num(1))), length);
  code.loop(code.div(first, length), lines, 1, [&](Value line) {
    Value start = code.mul(line, length), from = code.sub(code.max(start, first), first),
          to = code.sub(code.min(code.add(start, length), behind), first);
    e.overLine(line, [&] {
      for (int64_t count : {rowsOfLine, int64_t(1)}) {
        Value whole = code.add(from, code.mul(code.div(code.sub(to, from), code.num(count)), count));
        code.loop(from, whole, count, [&](Value row) {
          SmallVector<Value> together;
          for (int64_t i = 0; i < count; ++i)
            together.push_back(code.add(row, i));
          emitElements(e, value, together, elements);
        });
        from = whole;
      }
    });
  });
}

/// Emits all steps for the rows from, from + step, ... below `to`.
static void emitRange(StepEmitter &e, llvm::ArrayRef<Step> steps, Value from, Value to, int64_t step) {
  Code &code = e.code;
  auto emit = [&](Value row) {
    for (const Step &one : steps)
      for (Value value : one.stores)
        emitRow(e, value, row);
  };
  int64_t together = rowsTogether(steps), stride = together * step;
  if (together == 1)
    return code.loop(from, to, step, emit);
  Value whole = code.add(from, code.mul(code.div(code.sub(to, from), code.num(stride)), stride));
  // Reductions whose argument comes from memory run row by row, since memory is fastest end to end, and the next row's
  // sums begin before this one's are done.
  llvm::DenseSet<Value> isThere;
  auto comesFromMemory = [&](ReduceOp reduce) {
    bool comes = false;
    for (Value argument : argumentsOf(e, reduce.getX()))
      comes |= isThere.insert(argument).second;
    return comes;
  };
  code.loop(from, whole, stride, [&](Value first) {
    for (const Step &one : steps)
      for (Value value : one.stores) {
        if (auto reduce = value.getDefiningOp<ReduceOp>(); reduce && isRowPhase(reduce) && !comesFromMemory(reduce)) {
          SmallVector<Value> rows;
          for (int64_t i = 0; i < together; ++i)
            rows.push_back(code.add(first, i * step));
          emitReduction(e, reduce, rows);
        } else {
          code.loop(first, code.add(first, stride), step, [&](Value row) { emitRow(e, value, row); });
        }
      }
  });
  code.loop(whole, to, step, emit);
}

void emitRows(StepEmitter &e, llvm::ArrayRef<Step> steps) {
  SmallVector<TransposedReads::Operand> transposed = e.steps.transposed.readBy(e.kernel, e.steps, steps);
  if (!transposed.empty())
    return emitTransposed(e, transposed,
                          [&](Value from, Value to, int64_t step) { emitRange(e, steps, from, to, step); });
  auto goesPacked = [&](const Step &step) {
    return llvm::all_of(step.stores, [&](Value value) { return isPacked(e, value, step.work); });
  };
  auto goesByItself = [&](const Step &step) { return goesPacked(step) || goesAlongLines(e, step); };
  while (!steps.empty()) {
    ArrayRef<Step> byRow = steps.take_until(goesByItself);
    if (!byRow.empty())
      emitRange(e, byRow, e.code.num(0), e.rows(), 1);
    steps = steps.drop_front(byRow.size());
    for (; !steps.empty() && goesByItself(steps.front()); steps = steps.drop_front())
      for (Value value : steps.front().stores)
        goesPacked(steps.front()) ? emitPacked(e, value) : emitLines(e, value);
  }
}

} // namespace tutti
