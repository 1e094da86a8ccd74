// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions along a row, and the place of its largest element: 16 lanes, and a tree that makes one of them.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

Value combined(Code &code, ReduceKind kind, Value a, Value c) {
  bool isFloat = isa<FloatType>(getElementTypeOrSelf(a.getType()));
  auto make = [&]<typename Float, typename Integer>(std::type_identity<Float>, std::type_identity<Integer>) -> Value {
    return isFloat ? Value(Float::create(code.b, code.loc, a, c)) : Value(Integer::create(code.b, code.loc, a, c));
  };
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return make(std::type_identity<arith::AddFOp>(), std::type_identity<arith::AddIOp>());
  case ReduceKind::prod:
    return make(std::type_identity<arith::MulFOp>(), std::type_identity<arith::MulIOp>());
  case ReduceKind::max:
    return make(std::type_identity<arith::MaximumFOp>(), std::type_identity<arith::MaxSIOp>());
  case ReduceKind::min:
    return make(std::type_identity<arith::MinimumFOp>(), std::type_identity<arith::MinSIOp>());
  }
  llvm_unreachable("every kind is listed");
}

void emitReduction(StepEmitter &e, ReduceOp op, ArrayRef<Value> rows) {
  Code &code = e.code;
  RankedTensorType type = StepEmitter::typeOf(op.getX());
  Type element = type.getElementType();
  int64_t count = RowForm::of(type).columns.getFixed();
  auto combine = [&](Value a, Value c) { return combined(code, op.getKind(), a, c); };
  Value neutral = code.constant(code.vec(element), neutralOf(op.getKind(), element));
  AffineMap own = e.own(op.getX());
  auto at = [&](Value row, Value column, Value mask) {
    Point point(row, column, mask);
    Value value = code.splat(e.read(op.getX(), own, point));
    return mask ? code.select(mask, value, neutral) : value;
  };
  int64_t whole = llvm::alignDown(count, lanes);
  // Of extremes any order gives the same bits, so that one need not wait for the other.
  bool free = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min;
  int64_t ways = free && rows.size() == 1 && count >= 8 * lanes ? 4 : 1, done = llvm::alignDown(count, ways * lanes);
  SmallVector<Value> all(rows.size() * ways, neutral); // of each row its ways
  if (done > 0)
    all = code.loop(code.num(0), code.num(done), ways * lanes, all, [&](Value column, ValueRange sofar) {
      SmallVector<Value> next;
      for (auto [i, part] : llvm::enumerate(sofar))
        next.push_back(combine(part, at(rows[i / ways], code.add(column, int64_t(i % ways) * lanes), {})));
      return next;
    });
  for (auto [i, row] : llvm::enumerate(rows)) {
    Value sum = all[i * ways];
    for (int64_t way = 1; way < ways; ++way)
      sum = combine(sum, all[i * ways + way]);
    for (int64_t column = done; column < whole; column += lanes)
      sum = combine(sum, at(row, code.num(column), {}));
    if (whole < count)
      sum = combine(sum, at(row, code.num(whole), code.firstLanes(count - whole)));
    Value result = code.tree(sum, combine);
    if (op.getKind() == ReduceKind::mean)
      result = arith::DivFOp::create(code.b, code.loc, result,
                                     code.constant(element, code.b.getFloatAttr(element, double(count))));
    Point point(row, code.num(0));
    e.write(op.getResult(), result, point);
  }
}

/// Each lane has the first of the largest keys of its elements, and the column where its vector began.
void emitArg(StepEmitter &e, ArgOp op, Value row) {
  Code &code = e.code;
  int64_t count = RowForm::of(StepEmitter::typeOf(op.getX())).columns.getFixed();
  bool last = op.getLast();
  Type index = count <= INT32_MAX ? Type(code.b.getI32Type()) : code.i64(); // half as many registers
  AffineMap own = e.own(op.getX());
  auto keys = [&](Value column, Value mask) {
    Point point(row, column, mask);
    return code.keyOf(code.splat(e.read(op.getX(), own, point)), op.getKind() == ArgKind::min, /*preferNan=*/true);
  };
  auto larger = [&](Value a, Value c) -> Value { return arith::MaxSIOp::create(code.b, code.loc, a, c); };
  auto smaller = [&](Value a, Value c) -> Value { return arith::MinSIOp::create(code.b, code.loc, a, c); };
  auto numbers = [&](int64_t value) { return code.constant(code.vec(index), code.b.getIntegerAttr(index, value)); };

  Value best = keys(code.num(0), code.firstLanes(count)), from = numbers(0);
  auto take = [&](Value column, Value mask, Value best, Value from) {
    Value mine = keys(column, mask);
    Value wins = code.compare(last ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sgt, mine, best);
    if (mask) {
      wins = arith::AndIOp::create(code.b, code.loc, wins, mask);
      mine = code.select(mask, mine, best);
    }
    Value here = index == code.i64() ? column : Value(arith::TruncIOp::create(code.b, code.loc, index, column));
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
  places = code.select(code.compare(arith::CmpIPredicate::eq, best, code.splat(most)), places, none);
  Value place = last ? code.tree(places, larger) : code.tree(places, smaller);
  if (index != code.i64())
    place = arith::ExtSIOp::create(code.b, code.loc, code.i64(), place);
  Point point(row, code.num(0));
  e.write(op.getResult(), place, point);
}

} // namespace tutti
