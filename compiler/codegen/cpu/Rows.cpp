// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families: values stored row by row, 16 columns at a time.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

namespace {

/// Calls body(first column, mask) for all columns of a row.
void overColumns(StepEmitter &e, const Size &columns, llvm::function_ref<void(Value column, Value mask)> body) {
  Code &code = e.code;
  if (columns.isFixed()) {
    int64_t whole = llvm::alignDown(columns.getFixed(), lanes);
    if (whole > 0)
      code.loop(code.num(0), code.num(whole), lanes, [&](Value column) { body(column, {}); });
    if (whole < columns.getFixed())
      body(code.num(whole), code.firstLanes(columns.getFixed() - whole));
    return;
  }
  Value count = e.sizeOf(columns);
  Value whole = code.mul(code.div(count, code.num(lanes)), lanes);
  code.loop(code.num(0), whole, lanes, [&](Value column) { body(column, {}); });
  code.when(code.less(whole, count), [&] { body(whole, code.firstLanes(code.sub(count, whole))); });
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
        if (reduce && numericsRule(reduce) == "lanes") {
          emitReduction(e, reduce, row);
          continue;
        }
        AffineMap own = e.own(value);
        Size columns = RowForm::of(StepEmitter::typeOf(value)).columns;
        if (columns == Size(1)) {
          Point point(row, code.num(0));
          e.write(value, e.compute(value, own, point), point);
          continue;
        }
        overColumns(e, columns, [&](Value column, Value mask) {
          Point point(row, column, mask);
          e.write(value, e.compute(value, own, point), point);
        });
      }
  });
}

} // namespace tutti
