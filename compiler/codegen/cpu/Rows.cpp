// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families: values stored row by row, 16 columns at a time.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

void emitElements(StepEmitter &e, Value value, Value row, Elements elements) {
  Code &code = e.code;
  auto emit = [&](MutableArrayRef<Point> points) {
    for (auto [result, point] : llvm::zip_equal(elements(points), points))
      e.write(value, result, point);
  };
  auto overWhole = [&](Value from, Value to, int64_t vectors) {
    code.loop(from, to, vectors * lanes, [&](Value column) {
      SmallVector<Point> points;
      for (int64_t v = 0; v < vectors; ++v)
        points.emplace_back(row, code.add(column, v * lanes));
      emit(points);
    });
  };
  Size columns = RowForm::of(StepEmitter::typeOf(value)).columns;
  int64_t group = e.level.mathVectors;
  if (columns == Size(1)) {
    Point only(row, code.num(0));
    emit(only);
  } else if (columns.isFixed()) {
    int64_t count = columns.getFixed(), grouped = llvm::alignDown(count, lanes * group);
    if (grouped > 0)
      overWhole(code.num(0), code.num(grouped), group);
    SmallVector<Point> rest;
    for (int64_t column = grouped; column < count; column += lanes)
      rest.emplace_back(row, code.num(column), code.firstLanes(count - column));
    emit(rest);
  } else {
    Value count = e.sizeOf(columns);
    auto wholeOf = [&](int64_t unit) { return code.mul(code.div(count, code.num(unit)), unit); };
    Value grouped = wholeOf(lanes * group), whole = wholeOf(lanes);
    overWhole(code.num(0), grouped, group);
    overWhole(grouped, whole, 1);
    code.when(code.less(whole, count), [&] {
      Point last(row, whole, code.firstLanes(code.sub(count, whole)));
      emit(last);
    });
  }
}

void emitRows(StepEmitter &e, llvm::ArrayRef<Step> steps) {
  Code &code = e.code;
  code.loop(code.num(0), e.rows(), 1, [&](Value row) {
    for (const Step &step : steps)
      for (Value value : step.stores) {
        Operation *op = value.getDefiningOp();
        if (!isRowPhase(op))
          emitElements(e, value, row, [&](MutableArrayRef<Point> points) { return e.compute(value, e.own(value), points); });
        else if (auto reduce = dyn_cast<ReduceOp>(op))
          emitReduction(e, reduce, row);
        else if (auto arg = dyn_cast<ArgOp>(op))
          emitArg(e, arg, row);
        else if (auto scan = dyn_cast<ScanOp>(op))
          emitScan(e, scan, row);
        else if (auto scatter = dyn_cast<ScatterOp>(op))
          emitScatter(e, scatter, row);
        else
          emitTop(e, cast<TopOp>(op), row);
      }
  });
}

} // namespace tutti
