// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The largest of a row of keys in memory. The few candidates are collected, and each one's rank is the number of
// candidates before it. No branch depends on a comparison, except to skip vectors without candidates.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

/// Keys and places are i32, in runs of vectors. Vectors of the smallest key follow the last key, so that a pass may
/// take several vectors at a time.
class Ranks {
public:
  Ranks(Code &code, const TopPlan &plan, int64_t columns, int64_t wanted)
      : code(code), groups(plan.groups), columns(columns), wanted(wanted), rowBytes(plan.rowBytes(columns)) {}

  void emit(Value work, Value target) {
    Value keys = work, other = code.at(work, 2 * rowBytes), count = code.num(columns);
    if (columns > groups) {
      // The first pass leaves few more candidates than wanted, unless the large elements lie in few groups. Another
      // pass distributes the rest over other groups.
      SmallVector<Value> left = code.loopWhile(
          {keys, other, count},
          [&](ValueRange at) {
            Value fewer = narrow(at[0], at[1], at[2]);
            return SmallVector<Value>{code.less(code.num(groups), fewer), at[1], at[0], fewer};
          },
          [&](ValueRange at) { return SmallVector<Value>(at); });
      keys = left[0], other = left[1], count = left[2];
    }
    order(keys, count, other);
    int64_t whole = llvm::alignDown(wanted, lanes);
    auto copy = [&](Value from, Value mask) {
      Value bytes = code.mul(from, 8);
      code.storeVector(code.loadVector(code.i64(), code.at(other, bytes), mask), code.at(target, bytes), mask);
    };
    if (whole > 0)
      code.loop(code.num(0), code.num(whole), lanes, [&](Value from) { copy(from, {}); });
    if (whole < wanted)
      copy(code.num(whole), code.firstLanes(wanted - whole));
  }

private:
  Code &code;
  int64_t groups, columns, wanted, rowBytes;
  Type i32 = code.b.getI32Type();
  static constexpr int64_t atOnce = 4;

  Value key(Value keys, Value at) { return code.loadScalar(i32, code.at(keys, code.mul(at, 4))); }
  Value vector(Value keys, Value at) { return code.loadVector(i32, code.at(keys, code.mul(at, 4)), {}); }
  Value placesOf(Value keys) { return code.at(keys, rowBytes); }
  Value above(Value a, Value c) { return code.compare(arith::CmpIPredicate::sgt, a, c); }
  Value up(Value count, int64_t unit) { return code.mul(code.div(code.add(count, unit - 1), code.num(unit)), unit); }

  /// `sum` plus, per lane, the number of keys in [from, to) for which `counts` holds.
  Value counted(Value keys, Value from, Value to, Value sum, llvm::function_ref<Value(Value)> counts) {
    return code.loop(from, to, lanes, {sum}, [&](Value at, ValueRange sum) {
      Value holds = arith::ExtSIOp::create(code.b, code.vec(i32), counts(vector(keys, at))); // -1
      return SmallVector<Value>{code.sub(sum[0], holds)};
    })[0];
  }
  Value total(Value lanes) {
    return code.fromUnsigned(code.tree(lanes, [&](Value a, Value c) { return code.add(a, c); }));
  }

  /// The number of keys, of `count`, that come before the one at `at`; equal keys keep their order.
  Value rankOf(Value keys, Value count, Value at) {
    Value mine = code.splat(key(keys, at)), lane = arith::RemUIOp::create(code.b, at, code.num(lanes));
    Value start = code.sub(at, lane), those = vector(keys, start);
    Value earlier = code.less(code.laneNumbers(i32), code.splat(arith::TruncIOp::create(code.b, i32, lane)));
    Value near = code.countOf(code.bitOr(above(those, mine), code.bitAnd(code.equal(those, mine), earlier)));
    if (groups == lanes)
      return near;
    Value far = counted(keys, code.num(0), start, code.zero(code.vec(i32)),
                        [&](Value those) { return code.compare(arith::CmpIPredicate::sge, those, mine); });
    far = counted(keys, code.add(start, lanes), count, far, [&](Value those) { return above(those, mine); });
    return code.add(near, total(far));
  }

  /// Writes the places of `count` keys, each at its rank.
  void order(Value keys, Value count, Value target) {
    code.loop(code.num(0), count, 1, [&](Value at) {
      Value place = code.fromUnsigned(key(placesOf(keys), at));
      code.storeScalar(place, code.at(target, code.mul(rankOf(keys, count, at), 8)));
    });
  }

  /// Writes the largest key of each group. A vector holds one key of each of sixteen groups, and so do the vectors
  /// `groups` further on.
  void largest(Value keys, Value count, Value target) {
    int64_t vectors = groups / lanes, ways = std::clamp<int64_t>(vectors, atOnce, 2 * atOnce),
            step = std::max(vectors, ways) * lanes;
    Value least = code.constant(code.vec(i32), code.b.getI32IntegerAttr(INT32_MIN));
    code.loop(code.num(0), code.num(std::max(groups, ways * lanes)), ways * lanes, [&](Value first) {
      SmallVector<Value> most(ways, least);
      most = code.loop(first, code.add(first, up(count, step)), step, most, [&](Value from, ValueRange sofar) {
        SmallVector<Value> next;
        for (auto [i, one] : llvm::enumerate(sofar))
          next.push_back(code.max(one, vector(keys, code.add(from, i * lanes))));
        return next;
      });
      for (int64_t i = vectors; i < ways; ++i)
        most[i % vectors] = code.max(most[i % vectors], most[i]);
      for (int64_t i = 0; i < std::min(ways, vectors); ++i)
        code.storeVector(most[i], code.at(target, code.mul(code.add(first, i * lanes), 4)), {});
    });
  }

  /// The smallest wanted one of the groups' largest keys, a bound: at least as many keys of the row as are wanted reach
  /// it.
  Value lastWanted(Value keys) {
    Value all = code.num(groups), none = code.zero(i32);
    if (groups < TopPlan::halved)
      return code.loop(code.num(0), all, 1, {none}, [&](Value at, ValueRange sofar) {
        Value isLast = code.equal(rankOf(keys, all, at), code.num(wanted - 1));
        return SmallVector<Value>{code.select(isLast, key(keys, at), sofar[0])};
      })[0];
    // Finds the largest number that so many keys reach, bit by bit from the smallest number.
    Value least = arith::ConstantIntOp::create(code.b, i32, INT32_MIN),
          one = arith::ConstantIntOp::create(code.b, i32, 1);
    return code.loop(code.num(0), code.num(32), 1, {least}, [&](Value i, ValueRange sofar) {
      Value place = arith::TruncIOp::create(code.b, i32, code.sub(code.num(31), i));
      Value next = code.add(sofar[0], code.shiftLeft(one, place)), nexts = code.splat(next);
      Value reach = counted(keys, code.num(0), all, code.zero(code.vec(i32)),
                            [&](Value those) { return code.compare(arith::CmpIPredicate::sge, those, nexts); });
      return SmallVector<Value>{code.select(code.less(total(reach), code.num(wanted)), sofar[0], next)};
    })[0];
  }

  /// Moves the candidates to the front in their order; returns their number.
  Value narrow(Value from, Value to, Value count) {
    largest(from, count, to);
    Value bound = lastWanted(to), bounds = code.splat(bound);
    auto move = [&](Value at, Value mask, Value taken) {
      Value bytes = code.mul(taken, 4), keys = vector(from, at), places = vector(placesOf(from), at);
      code.storeVector(code.compressed(keys, mask), code.at(to, bytes), {});
      code.storeVector(code.compressed(places, mask), code.at(placesOf(to), bytes), {});
      return code.add(taken, code.countOf(mask));
    };
    Value taken = code.loop(code.num(0), count, atOnce * lanes, {code.num(0)}, [&](Value at, ValueRange sofar) {
      SmallVector<Value> masks;
      for (int64_t i = 0; i < atOnce; ++i)
        masks.push_back(above(vector(from, code.add(at, i * lanes)), bounds));
      Value any = code.bitOr(code.bitOr(masks[0], masks[1]), code.bitOr(masks[2], masks[3]));
      auto moveAll = [&] {
        Value now = sofar[0];
        for (auto [i, mask] : llvm::enumerate(masks))
          now = move(code.add(at, i * lanes), mask, now);
        return now;
      };
      return SmallVector<Value>{code.either(code.anyOf(any), code.i64(), moveAll, [&] { return sofar[0]; })};
    })[0];
    // If they are too few, the rest are the first keys that equal the bound.
    auto fill = [&] {
      Value end = code.loopWhile(
          {code.num(0), taken},
          [&](ValueRange at) { return SmallVector<Value>{code.less(at[1], code.num(wanted)), at[0], at[1]}; },
          [&](ValueRange at) {
            Value mask = code.equal(vector(from, at[0]), bounds);
            return SmallVector<Value>{code.add(at[0], lanes), move(at[0], mask, at[1])};
          })[1];
      return code.min(end, code.num(wanted));
    };
    taken = code.either(code.less(taken, code.num(wanted)), code.i64(), fill, [&] { return taken; });
    Value least = code.constant(code.vec(i32), code.b.getI32IntegerAttr(INT32_MIN));
    code.loop(code.num(0), code.num(std::max(groups, atOnce * lanes)), lanes,
              [&](Value at) { code.storeVector(least, code.at(to, code.mul(code.add(taken, at), 4)), {}); });
    return taken;
  }
};

} // namespace

void emitRanks(Code &code, const TopPlan &plan, int64_t columns, int64_t wanted, KeysAt keysAt, Value work,
               Value target) {
  Type i32 = code.b.getI32Type();
  Value places = code.at(work, plan.rowBytes(columns));
  auto take = [&](ArrayRef<Value> at, Value mask) {
    SmallVector<Value> keys;
    for (Value column : at)
      keys.push_back(keysAt(column, mask));
    for (auto [column, key] : llvm::zip_equal(at, keys)) {
      Value bytes = code.mul(column, 4), first = arith::TruncIOp::create(code.b, i32, column);
      code.storeVector(key, code.at(work, bytes), {});
      code.storeVector(code.add(code.splat(first), code.laneNumbers(i32)), code.at(places, bytes), {});
    }
  };
  // As many vectors at a time as suit math functions.
  constexpr int64_t atOnce = 4;
  int64_t grouped = llvm::alignDown(columns, atOnce * lanes), whole = llvm::alignDown(columns, lanes);
  if (grouped > 0)
    code.loop(code.num(0), code.num(grouped), atOnce * lanes, [&](Value column) {
      SmallVector<Value> at;
      for (int64_t i = 0; i < atOnce; ++i)
        at.push_back(code.add(column, i * lanes));
      take(at, {});
    });
  for (int64_t column = grouped; column < columns; column += lanes)
    take(code.num(column), code.firstLanes(columns - column));
  Value least = code.constant(code.vec(i32), code.b.getI32IntegerAttr(INT32_MIN));
  if (whole < columns) { // lanes past the last
    Value end = code.at(work, whole * 4), mask = code.firstLanes(columns - whole);
    code.storeVector(code.select(mask, code.loadVector(i32, end, {}), least), end, {});
  }
  int64_t start = llvm::alignTo(columns, lanes);
  code.loop(code.num(start), code.num(start + std::max(plan.groups, atOnce * lanes)), lanes,
            [&](Value at) { code.storeVector(least, code.at(work, code.mul(at, 4)), {}); });
  Ranks(code, plan, columns, wanted).emit(work, target);
}

} // namespace tutti
