// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families: values stored row by row, 16 columns at a time.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

namespace {

/// Writes a value at a row, as many vectors at a time as math functions like.
void emitElements(StepEmitter &e, Value value, Value row) {
  Code &code = e.code;
  AffineMap own = e.own(value);
  auto emit = [&](MutableArrayRef<Point> points) {
    SmallVector<Value> results;
    for (Point &point : points)
      results.push_back(e.compute(value, own, point));
    for (auto [result, point] : llvm::zip_equal(results, points))
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

/// A reduction along the row: lane l takes elements l, l + 16, ... and a fixed tree makes one of the lanes.
void emitReduction(StepEmitter &e, ReduceOp op, Value row) {
  Code &code = e.code;
  RankedTensorType type = StepEmitter::typeOf(op.getX());
  Type element = type.getElementType();
  int64_t count = RowForm::of(type).columns.getFixed();
  ReduceKind kind = op.getKind();
  bool isFloat = isa<FloatType>(element), isSum = kind == ReduceKind::sum || kind == ReduceKind::mean;
  bool largest = kind == ReduceKind::max;

  auto combine = [&](Value a, Value c) -> Value {
    if (isSum)
      return isFloat ? Value(arith::AddFOp::create(code.b, code.loc, a, c)) : code.add(a, c);
    if (isFloat)
      return largest ? Value(arith::MaximumFOp::create(code.b, code.loc, a, c)) : Value(arith::MinimumFOp::create(code.b, code.loc, a, c));
    return largest ? Value(arith::MaxSIOp::create(code.b, code.loc, a, c)) : Value(arith::MinSIOp::create(code.b, code.loc, a, c));
  };
  Attribute neutral;
  if (isSum) {
    neutral = code.b.getZeroAttr(element);
  } else if (isFloat) {
    auto semantics = &cast<FloatType>(element).getFloatSemantics();
    neutral = FloatAttr::get(element, APFloat::getInf(*semantics, /*Negative=*/largest));
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    neutral = IntegerAttr::get(element, largest ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
  }
  AffineMap own = e.own(op.getX());
  auto at = [&](Value column, Value mask) {
    Point point(row, column, mask);
    Value value = code.splat(e.read(op.getX(), own, point));
    return mask ? Value(arith::SelectOp::create(code.b, code.loc, mask, value, code.constant(code.vec(element), neutral))) : value;
  };
  Value all = code.constant(code.vec(element), neutral);
  int64_t whole = llvm::alignDown(count, lanes);
  if (whole > 0)
    all = code.loop(code.num(0), code.num(whole), lanes, all,
                    [&](Value column, ValueRange sofar) { return SmallVector<Value>{combine(sofar[0], at(column, {}))}; })[0];
  if (whole < count)
    all = combine(all, at(code.num(whole), code.firstLanes(count - whole)));
  Value result = code.tree(all, combine);
  if (kind == ReduceKind::mean)
    result = isFloat ? Value(arith::DivFOp::create(code.b, code.loc, result, code.constant(element, code.b.getFloatAttr(element, double(count)))))
                     : Value(arith::DivSIOp::create(code.b, code.loc, result, code.constant(element, code.b.getIntegerAttr(element, count))));
  Point point(row, code.num(0));
  e.write(op.getResult(), result, point);
}

} // namespace

void emitRows(StepEmitter &e, llvm::ArrayRef<Step> steps) {
  Code &code = e.code;
  code.loop(code.num(0), e.rows(), 1, [&](Value row) {
    for (const Step &step : steps)
      for (Value value : step.stores) {
        auto reduce = value.getDefiningOp<ReduceOp>();
        if (reduce && numericsRule(reduce) == "lanes")
          emitReduction(e, reduce, row);
        else
          emitElements(e, value, row);
      }
  });
}

} // namespace tutti
