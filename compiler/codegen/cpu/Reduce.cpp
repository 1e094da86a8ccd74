// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along a row, and the place of its largest element: 16 lanes, and a tree that makes one of them.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

Value combined(Code &code, ReduceKind kind, Value a, Value c) {
  Type element = getElementTypeOrSelf(a.getType());
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1); // as a signed number true is below false
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return isFloat ? code.addF(a, c) : code.add(a, c);
  case ReduceKind::prod:
    return isFloat ? code.mulF(a, c) : code.mul(a, c);
  case ReduceKind::max:
    return isFloat ? Value(arith::MaximumFOp::create(code.b, a, c)) : isBool ? code.bitOr(a, c) : code.max(a, c);
  case ReduceKind::min:
    return isFloat ? Value(arith::MinimumFOp::create(code.b, a, c)) : isBool ? code.bitAnd(a, c) : code.min(a, c);
  }
  llvm_unreachable("every kind is listed");
}

Fold::Fold(Code &code, ReduceKind kind, Type type)
    : code(code), kind(kind), type(type), element(dyn_cast<FloatType>(getElementTypeOrSelf(type))) {
  if (kind != ReduceKind::max && kind != ReduceKind::min)
    element = {};
  if (!element)
    return;
  bits = code.like(type, code.b.getIntegerType(element.getWidth()));
}

SmallVector<Value> Fold::none() {
  Value neutral = code.constant(type, neutralOf(kind, getElementTypeOrSelf(type)));
  return element ? with({}, neutral) : SmallVector<Value>{neutral};
}

SmallVector<Value> Fold::with(ValueRange sofar, Value x) {
  if (!element)
    return {combined(code, kind, sofar[0], x)};
  Value mine = arith::BitcastOp::create(code.b, bits, x);
  return sofar.empty() ? SmallVector<Value>(width(), mine) : merged(sofar, SmallVector<Value>(width(), mine));
}

SmallVector<Value> Fold::merged(ValueRange a, ValueRange c) {
  if (!element)
    return {combined(code, kind, a[0], c[0])};
  return {code.max(a[0], c[0]), arith::MinUIOp::create(code.b, a[1], c[1]), arith::MaxUIOp::create(code.b, a[2], c[2])};
}

Value Fold::number(Type type, const APInt &value) {
  return code.constant(type, IntegerAttr::get(getElementTypeOrSelf(type), value));
}

/// Reverses the order of negative floats' bits, which ascend the other way.
Value Fold::turned(Value x) {
  unsigned width = element.getWidth();
  Value sign = code.shiftRight(x, number(x.getType(), APInt(width, width - 1)));
  sign = code.bitAnd(sign, number(x.getType(), APInt::getSignedMaxValue(width)));
  return code.bitXor(x, sign);
}

Value Fold::result(ValueRange sofar, llvm::function_ref<Value(Value)> together) {
  if (!element)
    return together(sofar[0]);
  unsigned width = element.getWidth();
  auto infinity = [&](bool negative) {
    return number(bits, APFloat::getInf(element.getFloatSemantics(), negative).bitcastToAPInt());
  };
  bool largest = kind == ReduceKind::max;
  Value hasSign = code.less(largest ? sofar[0] : sofar[2], code.zero(bits));
  Value best = largest ? code.select(hasSign, sofar[1], sofar[0]) : code.select(hasSign, sofar[2], sofar[1]);
  Value isNan = code.bitOr(code.compare(arith::CmpIPredicate::sgt, sofar[0], infinity(/*negative=*/false)),
                           code.compare(arith::CmpIPredicate::ugt, sofar[2], infinity(/*negative=*/true)));
  APInt beyond = largest ? APInt::getSignedMaxValue(width) : APInt::getSignedMinValue(width);
  Value only = together(code.select(isNan, number(bits, beyond), turned(best)));
  return arith::BitcastOp::create(code.b, code.like(only.getType(), element), turned(only));
}

void emitReduction(StepEmitter &e, ReduceOp op, ArrayRef<Value> rows) {
  Code &code = e.code;
  RankedTensorType type = typeOf(op.getX());
  Type element = type.getElementType();
  int64_t count = RowForm::of(type).columns.getFixed();
  auto combine = [&](Value a, Value c) { return combined(code, op.getKind(), a, c); };
  Fold fold(code, op.getKind(), code.vec(element));
  if (rows.size() > 1 && fold.width() > 1) { // which wait for nothing
    for (Value row : rows)
      emitReduction(e, op, row);
    return;
  }
  Value neutral = code.constant(code.vec(element), neutralOf(op.getKind(), element));
  AffineMap own = e.own(op.getX());
  auto at = [&](Value row, Value column, Value mask) {
    Point point(row, column, mask);
    Value value = code.splat(e.read(op.getX(), own, point));
    return mask ? code.select(mask, value, neutral) : value;
  };
  int64_t whole = llvm::alignDown(count, lanes);
  // Extremes have the same bits in any order, so several chains can run in parallel.
  bool free = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min;
  int64_t ways = free && rows.size() == 1 && count >= 8 * lanes ? (fold.width() > 1 ? 2 : 4) : 1,
          together = ways > 1 || rows.size() > 1 || !e.steps.isStored(op.getX()) ? ways : 4,
          done = llvm::alignDown(count, together * lanes);
  SmallVector<Value> all; // of each row its ways
  for (size_t i = 0; i < rows.size() * ways; ++i)
    llvm::append_range(all, fold.none());
  auto chain = [&](ValueRange all, int64_t i) { return all.slice(i * fold.width(), fold.width()); };
  if (done > 0)
    all = code.loop(code.num(0), code.num(done), together * lanes, all, [&](Value column, ValueRange sofar) {
      SmallVector<Value> next(sofar);
      for (auto [i, row] : llvm::enumerate(rows))
        for (int64_t v = 0; v < together; ++v) {
          size_t way = i * ways + v % ways;
          llvm::copy(fold.with(chain(next, way), at(row, code.add(column, v * lanes), {})),
                     next.begin() + way * fold.width());
        }
      return next;
    });
  for (auto [i, row] : llvm::enumerate(rows)) {
    SmallVector<Value> sum(chain(all, i * ways));
    for (int64_t way = 1; way < ways; ++way)
      sum = fold.merged(sum, chain(all, i * ways + way));
    for (int64_t column = done; column < whole; column += lanes)
      sum = fold.with(sum, at(row, code.num(column), {}));
    if (whole < count)
      sum = fold.with(sum, at(row, code.num(whole), code.firstLanes(count - whole)));
    Value result = fold.result(sum, [&](Value lanes) { return code.tree(lanes, combine); });
    if (op.getKind() == ReduceKind::mean)
      result = code.divF(result, code.constant(element, code.b.getFloatAttr(element, double(count))));
    Point point(row, code.num(0));
    e.write(op.getResult(), result, point);
  }
}

/// Each lane keeps the first of the largest keys among its elements, and the column where that key's vector began.
void emitArg(StepEmitter &e, ArgOp op, Value row) {
  Code &code = e.code;
  int64_t count = RowForm::of(typeOf(op.getX())).columns.getFixed();
  bool last = op.getLast();
  Type index = count <= INT32_MAX ? Type(code.b.getI32Type()) : code.i64(); // half as many registers
  AffineMap own = e.own(op.getX());
  auto keys = [&](Value column, Value mask) {
    Point point(row, column, mask);
    return code.keyOf(code.splat(e.read(op.getX(), own, point)), op.getKind() == ArgKind::min, /*preferNan=*/true);
  };
  auto larger = [&](Value a, Value c) { return code.max(a, c); };
  auto smaller = [&](Value a, Value c) { return code.min(a, c); };
  auto numbers = [&](int64_t value) { return code.constant(code.vec(index), code.b.getIntegerAttr(index, value)); };

  Value best = keys(code.num(0), code.firstLanes(count)), from = numbers(0);
  auto take = [&](Value column, Value mask, Value best, Value from) {
    Value mine = keys(column, mask);
    Value wins = code.compare(last ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sgt, mine, best);
    if (mask) {
      wins = code.bitAnd(wins, mask);
      mine = code.select(mask, mine, best);
    }
    Value here = index == code.i64() ? column : Value(arith::TruncIOp::create(code.b, index, column));
    return SmallVector<Value>{larger(best, mine), code.select(wins, code.splat(here), from)};
  };
  int64_t whole = std::max(llvm::alignDown(count, lanes), uint64_t(lanes));
  if (whole > lanes) {
    SmallVector<Value> all =
        code.loop(code.num(lanes), code.num(whole), lanes, {best, from},
                  [&](Value column, ValueRange sofar) { return take(column, {}, sofar[0], sofar[1]); });
    best = all[0], from = all[1];
  }
  if (whole < count) {
    SmallVector<Value> all = take(code.num(whole), code.firstLanes(count - whole), best, from);
    best = all[0], from = all[1];
  }

  Value none = numbers(last ? -1 : (index == code.i64() ? INT64_MAX : INT32_MAX));
  Value places = code.add(from, code.laneNumbers(index));
  if (Value there = code.firstLanes(count)) {
    Type key = getElementTypeOrSelf(best.getType());
    best = code.select(there, best, code.constant(best.getType(), neutralOf(ReduceKind::max, key)));
    places = code.select(there, places, none);
  }
  Value most = code.tree(best, larger);
  places = code.select(code.equal(best, code.splat(most)), places, none);
  Value place = last ? code.tree(places, larger) : code.tree(places, smaller);
  if (index != code.i64())
    place = arith::ExtSIOp::create(code.b, code.i64(), place);
  Point point(row, code.num(0));
  e.write(op.getResult(), place, point);
}

} // namespace tutti
