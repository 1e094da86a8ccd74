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
    bool byRow = head.getKind() == HeadKind::vote && isa<FloatType>(element);
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
  /// 16 columns of a member as floats, integers turned into float32.
  Value member(Value index, Value column, Value mask, bool asFloat) {
    Value value = code.loadVector(element, memberAt(index, column), mask);
    if (!asFloat || isa<FloatType>(element))
      return value;
    if (element.isInteger(1))
      return arith::UIToFPOp::create(code.b, code.loc, code.vec(code.f32()), value);
    return arith::SIToFPOp::create(code.b, code.loc, code.vec(code.f32()), value);
  }
  Type floatElement() { return isa<FloatType>(element) ? element : code.f32(); }

  Value overMembers(Value init, llvm::function_ref<Value(Value index, Value sofar)> body, int64_t from = 0) {
    return code.loop(code.num(from), place.count, 1, init,
                     [&](Value index, ValueRange sofar) { return SmallVector<Value>{body(index, sofar[0])}; })[0];
  }
  Value add(Value a, Value c) { return arith::AddFOp::create(code.b, code.loc, a, c); }
  Value sub(Value a, Value c) { return arith::SubFOp::create(code.b, code.loc, a, c); }
  Value mul(Value a, Value c) { return arith::MulFOp::create(code.b, code.loc, a, c); }
  Value count() { return code.splat(arith::SIToFPOp::create(code.b, code.loc, floatElement(), place.count)); }
  Value divide(Value a, Value c) { return arith::DivFOp::create(code.b, code.loc, a, c); }

  void columnsFrom(Value column, Value mask) {
    Value result = answer(column, mask);
    Value index = code.add(code.mul(row, place.columns), column);
    code.storeVector(result, code.at(place.answer, code.mul(index, storageBytes(answerElement))), mask);
  }

  Value mean(Value column, Value mask) {
    Value sum = overMembers(code.zero(code.vec(floatElement())),
                            [&](Value m, Value sum) { return add(sum, member(m, column, mask, true)); });
    return divide(sum, count());
  }

  Value answer(Value column, Value mask) {
    switch (head.getKind()) {
    case HeadKind::mean:
      return mean(column, mask);
    case HeadKind::var:
    case HeadKind::std: {
      Value middle = mean(column, mask);
      Value squares = overMembers(code.zero(code.vec(floatElement())), [&](Value m, Value sum) {
        Value distance = sub(member(m, column, mask, true), middle);
        return add(sum, mul(distance, distance));
      });
      Value variance = divide(squares, count());
      return head.getKind() == HeadKind::var ? variance : Value(math::SqrtOp::create(code.b, code.loc, variance));
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
      code.storeVector(arith::MinimumFOp::create(code.b, code.loc, a, c), low, {});
      code.storeVector(arith::MaximumFOp::create(code.b, code.loc, a, c), high, {});
    });
  }

  Value quantile(Value column, Value mask) {
    Type f = floatElement();
    Value none = code.zero(code.vec(code.b.getI1Type()));
    Value anyNan = overMembers(none, [&](Value m, Value nan) -> Value {
      Value value = member(m, column, mask, true);
      code.storeVector(value, sortedAt(m), {});
      return arith::OrIOp::create(code.b, code.loc, nan,
                                  arith::CmpFOp::create(code.b, code.loc, arith::CmpFPredicate::UNO, value, value));
    });
    sortMembers();
    Type f64 = code.b.getF64Type();
    Value last = code.sub(place.count, code.num(1));
    Value at = arith::MulFOp::create(code.b, code.loc, arith::SIToFPOp::create(code.b, code.loc, f64, last),
                                     arith::ConstantOp::create(code.b, code.loc, head.getQAttr()));
    Value below = arith::FPToSIOp::create(code.b, code.loc, code.i64(), at);
    Value part = arith::SubFOp::create(code.b, code.loc, at, arith::SIToFPOp::create(code.b, code.loc, f64, below));
    if (!f.isF64())
      part = arith::TruncFOp::create(code.b, code.loc, f, part);
    Value low = code.loadVector(f, sortedAt(below), {});
    Value high = code.loadVector(f, sortedAt(code.min(code.add(below, 1), last)), {});
    // Infinite neighbours have no middle: a rank that is a member's is its value, and so is that of two equal ones, and
    // of -inf and a number.
    using Is = arith::CmpFPredicate;
    auto compare = [&](Is is, Value a, Value b) -> Value { return arith::CmpFOp::create(code.b, code.loc, is, a, b); };
    auto either = [&](Value a, Value b) -> Value { return arith::OrIOp::create(code.b, code.loc, a, b); };
    auto semantics = &cast<FloatType>(f).getFloatSemantics();
    auto infinity = [&](bool negative) {
      return code.constant(code.vec(f), FloatAttr::get(f, APFloat::getInf(*semantics, negative)));
    };
    Value weight = code.splat(part), between = add(low, mul(sub(high, low), weight));
    Value isBottomless = arith::AndIOp::create(code.b, code.loc, compare(Is::OEQ, low, infinity(true)),
                                               compare(Is::OLT, high, infinity(false)));
    Value isLow = either(either(compare(Is::OEQ, low, high), compare(Is::OEQ, weight, code.zero(weight.getType()))),
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
        return Value(arith::ExtUIOp::create(code.b, code.loc, code.vec(code.i64()), value));
      return Value(arith::ExtSIOp::create(code.b, code.loc, code.vec(code.i64()), value));
    };
    Value zero = code.zero(code.vec(code.i64()));
    return code.loop(code.num(0), place.count, 1, {wide(code.num(0)), zero}, [&](Value index, ValueRange best) {
      Value mine = wide(index);
      Value votes = overMembers(zero, [&](Value other, Value sum) -> Value {
        Value equal = code.compare(arith::CmpIPredicate::eq, mine, wide(other));
        return code.add(sum, arith::ExtUIOp::create(code.b, code.loc, code.vec(code.i64()), equal));
      });
      Value more = code.compare(arith::CmpIPredicate::sgt, votes, best[1]);
      Value tied = code.compare(arith::CmpIPredicate::eq, votes, best[1]);
      Value smaller = code.compare(arith::CmpIPredicate::slt, mine, best[0]);
      Value wins = arith::OrIOp::create(code.b, code.loc, more, arith::AndIOp::create(code.b, code.loc, tied, smaller));
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
        Value larger = arith::CmpFOp::create(code.b, code.loc, arith::CmpFPredicate::OGT, value, best[0]);
        Value isNan = arith::CmpFOp::create(code.b, code.loc, arith::CmpFPredicate::UNO, value, value);
        Value wasNumber = arith::CmpFOp::create(code.b, code.loc, arith::CmpFPredicate::ORD, best[0], best[0]);
        Value wins =
            arith::OrIOp::create(code.b, code.loc, larger, arith::AndIOp::create(code.b, code.loc, isNan, wasNumber));
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
