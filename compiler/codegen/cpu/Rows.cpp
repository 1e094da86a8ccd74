// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families: values stored row by row, 16 columns at a time.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Scratch.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tutti {

/// A page, which is where a processor's own prefetching ends.
constexpr int64_t aheadBytes = 4096;

void emitElements(StepEmitter &e, Value value, Value row, Elements elements) {
  Code &code = e.code;
  auto emit = [&](MutableArrayRef<Point> points) {
    for (auto [result, point] : llvm::zip_equal(elements(points), points))
      e.write(value, result, point);
  };
  using At = llvm::function_ref<Point(Value column, Value mask)>;
  Columns columns = e.columnsOf(value);
  bool wholeRow = e.isOverWholeRow();
  auto isStored = [&](Value other) { return e.steps.places.contains(other); };
  auto anywhere = [&](Value column, Value mask) { return Point(row, code.add(columns.from, column), mask); };
  auto overWhole = [&](Value from, Value to, int64_t vectors, At at) {
    code.loop(from, to, vectors * lanes, [&](Value column) {
      SmallVector<Point> points;
      for (int64_t v = 0; v < vectors; ++v)
        points.push_back(at(code.add(column, v * lanes), {}));
      for (Value read : e.streamsOf([&] { emit(points); }))
        if (read.getParentBlock() == code.b.getInsertionBlock())         // and not in a loop over what is summed
          code.prefetch(code.at(read, aheadBytes), Code::Cache::second); // the first has fewer places for what comes
    });
  };
  int64_t group = e.level.mathVectors;
  auto overFixed = [&](int64_t count, At at) {
    int64_t grouped = llvm::alignDown(count, lanes * group);
    if (grouped > 0)
      overWhole(code.num(0), code.num(grouped), group, at);
    SmallVector<Point> rest;
    for (int64_t column = grouped; column < count; column += lanes)
      rest.push_back(at(code.num(column), code.firstLanes(count - column)));
    emit(rest);
  };
  if (wholeRow && columns.fixed == 1) {
    Point only(row, code.num(0));
    emit(only);
  } else if (int64_t run = wholeRow ? runOf(value, e.steps.form.dims() - 1, isStored) : 0) {
    code.loop(code.num(0), code.num(*columns.fixed / run), 1, [&](Value number) {
      overFixed(run, [&](Value column, Value mask) {
        Point point(row, code.add(code.mul(number, run), column), mask, number);
        point.run = run;
        return point;
      });
    });
  } else if (columns.fixed) {
    overFixed(*columns.fixed, anywhere);
  } else {
    Value count = columns.count;
    auto wholeOf = [&](int64_t unit) { return code.mul(code.div(count, code.num(unit)), unit); };
    Value grouped = wholeOf(lanes * group), whole = wholeOf(lanes);
    overWhole(code.num(0), grouped, group, anywhere);
    overWhole(grouped, whole, 1, anywhere);
    code.when(code.less(whole, count), [&] {
      Point last = anywhere(whole, code.firstLanes(code.sub(count, whole)));
      emit(last);
    });
  }
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

/// How many rows go through the steps together, as a row's own sums, their trees and functions wait for each other: as
/// many as stay in the first cache, and of what is packed one.
static int64_t rowsTogether(ArrayRef<Step> steps) {
  int64_t longest = 0;
  for (const Step &step : steps)
    for (Value value : step.stores)
      if (auto reduce = value.getDefiningOp<ReduceOp>(); reduce && isRowPhase(reduce))
        longest = std::max(longest, RowForm::of(typeOf(reduce.getX())).columns.getFixed());
  return longest <= mostPacked ? 1 : longest <= 128 ? 8 : longest <= 1024 ? 4 : longest <= 2560 ? 2 : 1;
}

/// Arguments that are read for a row of `value`, which is not computed before.
static llvm::SetVector<Value> argumentsOf(StepEmitter &e, Value value) {
  llvm::SetVector<Value> arguments, open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i) {
    Value next = open[i];
    if (auto place = e.steps.places.find(next); place != e.steps.places.end()) {
      if (place->second.kind == Place::argument)
        arguments.insert(next);
    } else if (auto map = next.getDefiningOp<MapOp>()) {
      open.insert_range(map.getInputs());
    }
  }
  return arguments;
}

/// Rows from, from + step, ... below `to`, each of which goes through all steps.
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
  // What comes from memory comes fastest from end to end; the next rows' sums begin before this one's is done.
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
  while (!steps.empty()) {
    ArrayRef<Step> byRow = steps.take_until(goesPacked);
    if (!byRow.empty())
      emitRange(e, byRow, e.code.num(0), e.rows(), 1);
    steps = steps.drop_front(byRow.size());
    for (; !steps.empty() && goesPacked(steps.front()); steps = steps.drop_front())
      for (Value value : steps.front().stores)
        emitPacked(e, value);
  }
}

} // namespace tutti
