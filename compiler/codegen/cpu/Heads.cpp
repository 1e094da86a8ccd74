// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads: one answer of the active members, read in the order of the set, for a tile of rows.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

class HeadEmitter {
public:
  HeadEmitter(Code &code, HeadOp head, const HeadPlace &place)
      : code(code), head(head), place(place), element(StepEmitter::elementOf(head.getX())),
        answerElement(StepEmitter::elementOf(head.getResult())), bytes(storageBytes(element)) {}

  void emit() {
    bool byRow = head.votesByScores();
    code.loop(code.num(0), place.rows, 1, [&](Value local) {
      row = code.add(place.firstRow, local);
      if (byRow)
        return voteOfRow();
      Value whole = code.mul(code.div(place.columns, code.num(lanes)), lanes);
      code.loop(code.num(0), whole, lanes, [&](Value column) { columnsFrom(column, {}); });
      code.when(code.less(whole, place.columns),
                [&] { columnsFrom(whole, code.firstLanes(code.sub(place.columns, whole))); });
    });
  }

private:
  using Is = arith::CmpFPredicate;
  Code &code;
  HeadOp head;
  const HeadPlace &place;
  Type element, answerElement;
  int64_t bytes;
  Value row;

  Value memberAt(Value member, Value column) {
    Value index = code.add(code.mul(code.add(code.mul(member, place.totalRows), row), place.columns), column);
    return code.at(place.members, code.mul(index, bytes));
  }
  /// 16 columns of a member; with `asFloat`, integers are converted to float32.
  Value member(Value index, Value column, Value mask, bool asFloat) {
    Value value = code.loadVector(element, memberAt(index, column), mask);
    if (!asFloat || isa<FloatType>(element))
      return value;
    if (element.isInteger(1))
      return arith::UIToFPOp::create(code.b, code.vec(code.f32()), value);
    return arith::SIToFPOp::create(code.b, code.vec(code.f32()), value);
  }
  Type floatElement() { return isa<FloatType>(element) ? element : code.f32(); }

  Value overMembers(Value init, llvm::function_ref<Value(Value index, Value sofar)> body, int64_t from = 0) {
    return code.loop(code.num(from), place.count, 1, init,
                     [&](Value index, ValueRange sofar) { return SmallVector<Value>{body(index, sofar[0])}; })[0];
  }
  Value count() { return code.splat(arith::SIToFPOp::create(code.b, floatElement(), place.count)); }

  void columnsFrom(Value column, Value mask) {
    Value result = answer(column, mask);
    Value index = code.add(code.mul(row, place.columns), column);
    code.storeVector(result, code.at(place.answer, code.mul(index, storageBytes(answerElement))), mask);
  }

  Value mean(Value column, Value mask) {
    Value sum = overMembers(code.zero(code.vec(floatElement())),
                            [&](Value m, Value sum) { return code.addF(sum, member(m, column, mask, true)); });
    return code.divF(sum, count());
  }

  Value answer(Value column, Value mask) {
    switch (head.getKind()) {
    case HeadKind::mean:
      return mean(column, mask);
    case HeadKind::var:
    case HeadKind::std: {
      Value middle = mean(column, mask);
      Value squares = overMembers(code.zero(code.vec(floatElement())), [&](Value m, Value sum) {
        Value distance = code.subF(member(m, column, mask, true), middle);
        return code.addF(sum, code.mulF(distance, distance));
      });
      Value variance = code.divF(squares, count());
      return head.getKind() == HeadKind::var ? variance : Value(math::SqrtOp::create(code.b, variance));
    }
    case HeadKind::min:
    case HeadKind::max:
      return overMembers(
          member(code.num(0), column, mask, false),
          [&](Value m, Value best) {
            ReduceKind kind = head.getKind() == HeadKind::max ? ReduceKind::max : ReduceKind::min;
            return combined(code, kind, best, member(m, column, mask, false));
          },
          1);
    case HeadKind::quantile:
      return quantile(column, mask);
    case HeadKind::vote:
      return mostFrequent(column, mask);
    }
    llvm_unreachable("every kind of head is listed");
  }

  Value sortedAt(Value index) { return code.at(place.scratch, code.mul(index, lanes * storageBytes(floatElement()))); }

  void sortMembers() {
    Type f = floatElement();
    emitExchanges(code, place.count, [&](Value i, Value distance) {
      Value low = sortedAt(i), high = sortedAt(code.add(i, distance));
      Value a = code.loadVector(f, low, {}), c = code.loadVector(f, high, {});
      code.storeVector(combined(code, ReduceKind::min, a, c), low, {});
      code.storeVector(combined(code, ReduceKind::max, a, c), high, {});
    });
  }

  Value quantile(Value column, Value mask) {
    Type f = floatElement();
    Value none = code.zero(code.vec(code.b.getI1Type()));
    Value anyNan = overMembers(none, [&](Value m, Value nan) -> Value {
      Value value = member(m, column, mask, true);
      code.storeVector(value, sortedAt(m), {});
      return code.bitOr(nan, code.compare(Is::UNO, value, value));
    });
    sortMembers();
    Type f64 = code.b.getF64Type();
    Value last = code.sub(place.count, code.num(1));
    Value at =
        code.mulF(arith::SIToFPOp::create(code.b, f64, last), arith::ConstantOp::create(code.b, head.getQAttr()));
    Value below = arith::FPToSIOp::create(code.b, code.i64(), at);
    Value part = code.subF(at, arith::SIToFPOp::create(code.b, f64, below));
    if (!f.isF64())
      part = arith::TruncFOp::create(code.b, f, part);
    Value low = code.loadVector(f, sortedAt(below), {});
    Value high = code.loadVector(f, sortedAt(code.min(code.add(below, 1), last)), {});
    // Infinite neighbours cannot be interpolated. A rank that hits a member is that member's value, and so is one
    // between two equal values, or between -inf and a number.
    auto semantics = &cast<FloatType>(f).getFloatSemantics();
    auto infinity = [&](bool negative) {
      return code.constant(code.vec(f), FloatAttr::get(f, APFloat::getInf(*semantics, negative)));
    };
    Value weight = code.splat(part), between = code.addF(low, code.mulF(code.subF(high, low), weight));
    Value isBottomless =
        code.bitAnd(code.compare(Is::OEQ, low, infinity(true)), code.compare(Is::OLT, high, infinity(false)));
    Value isLow = code.bitOr(
        code.bitOr(code.compare(Is::OEQ, low, high), code.compare(Is::OEQ, weight, code.zero(weight.getType()))),
        isBottomless);
    Value result = code.select(isLow, low, between);
    Value nan = code.constant(code.vec(f), FloatAttr::get(f, APFloat::getNaN(*semantics)));
    return code.select(anyNan, nan, result);
  }

  /// Integers: how often each member's value occurs among all; the most frequent, and of those the smallest, wins.
  Value mostFrequent(Value column, Value mask) {
    auto wide = [&](Value index) {
      Value value = member(index, column, mask, false);
      if (value.getType() == code.vec(code.i64()))
        return value;
      if (element.isInteger(1))
        return code.fromUnsigned(value);
      return Value(arith::ExtSIOp::create(code.b, code.vec(code.i64()), value));
    };
    Value zero = code.zero(code.vec(code.i64()));
    return code.loop(code.num(0), place.count, 1, {wide(code.num(0)), zero}, [&](Value index, ValueRange best) {
      Value mine = wide(index);
      Value votes = overMembers(zero, [&](Value other, Value sum) -> Value {
        Value equal = code.equal(mine, wide(other));
        return code.add(sum, code.fromUnsigned(equal));
      });
      Value more = code.compare(arith::CmpIPredicate::sgt, votes, best[1]);
      Value tied = code.equal(votes, best[1]);
      Value smaller = code.less(mine, best[0]);
      Value wins = code.bitOr(more, code.bitAnd(tied, smaller));
      return SmallVector<Value>{code.select(wins, mine, best[0]), code.select(wins, votes, best[1])};
    })[0];
  }

  /// Floats: each member votes for the place of its largest value in the row (of its first NaN, as NumPy has it).
  void voteOfRow() {
    auto countAt = [&](Value column) { return code.at(place.scratch, code.mul(column, 8)); };
    code.loop(code.num(0), place.columns, 1, [&](Value column) { code.storeScalar(code.num(0), countAt(column)); });
    code.loop(code.num(0), place.count, 1, [&](Value index) {
      Value first = code.loadScalar(element, memberAt(index, code.num(0)));
      Value choice = code.loop(code.num(1), place.columns, 1, {first, code.num(0)}, [&](Value column, ValueRange best) {
        Value value = code.loadScalar(element, memberAt(index, column));
        Value larger = code.compare(Is::OGT, value, best[0]);
        Value isNan = code.compare(Is::UNO, value, value);
        Value wasNumber = code.compare(Is::ORD, best[0], best[0]);
        Value wins = code.bitOr(larger, code.bitAnd(isNan, wasNumber));
        return SmallVector<Value>{code.select(wins, value, best[0]), code.select(wins, column, best[1])};
      })[1];
      code.storeScalar(code.add(code.loadNumber(countAt(choice)), 1), countAt(choice));
    });
    Value winner =
        code.loop(code.num(1), place.columns, 1, {code.loadNumber(countAt(code.num(0))), code.num(0)},
                  [&](Value column, ValueRange best) {
                    Value votes = code.loadNumber(countAt(column));
                    Value wins = code.less(best[0], votes);
                    return SmallVector<Value>{code.select(wins, votes, best[0]), code.select(wins, column, best[1])};
                  })[1];
    code.storeScalar(winner, code.at(place.answer, code.mul(row, 8)));
  }
};

} // namespace

void emitHead(Code &code, HeadOp head, const HeadPlace &place) { HeadEmitter(code, head, place).emit(); }

} // namespace tutti
