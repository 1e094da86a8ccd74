// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The places of the largest elements of a row, in the way that TopPlan finds the quickest. Here: a heap of the best so
// far, with the worst on top, in the memory of the result. Most elements are worse than the top, which is tested for
// sixteen at a time.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

/// Keeps a heap of 64-bit entries. For keys of up to 32 bits, an entry has the key in the upper half and the place,
/// counted down, in the lower half; the larger entry comes first. For wider keys the entry is the place, and the key is
/// read again.
class TopEmitter {
public:
  TopEmitter(StepEmitter &e, TopOp op, Value row)
      : e(e), code(e.code), op(op), row(row), size(op.getCount()),
        columns(RowForm::of(typeOf(op.getX())).columns.getFixed()),
        packed(StepEmitter::elementOf(op.getX()).getIntOrFloatBitWidth() <= 32 && columns <= UINT32_MAX),
        heap(code.at(e.rowPointer(op.getResult()), code.mul(code.mul(row, e.rowStride(op.getResult())), 8))) {}

  void emit() {
    TopPlan plan = TopPlan::of(op);
    if (plan.way == TopPlan::sort)
      return sortAll();
    if (plan.way == TopPlan::ranks)
      return emitRanks(
          code, plan, columns, size, [&](Value column, Value mask) { return keys(column, mask, code.b.getI32Type()); },
          e.need(Need::work), heap);
    fill(heap, size);
    code.loop(code.num(0), code.num(size / 2), 1,
              [&](Value i) { sink(code.sub(code.num(size / 2 - 1), i), code.num(size)); });
    int64_t start = llvm::alignTo(size, lanes), whole = llvm::alignDown(columns, lanes);
    // First the rest of the vector in which the initial elements end, then whole vectors, then the rest of the row.
    if (size < std::min(start, columns))
      choose(code.num(start - lanes), between(size - (start - lanes), columns - (start - lanes)));
    if (start < whole)
      code.loop(code.num(start), code.num(whole), lanes, [&](Value column) { choose(column, {}); });
    if (std::max(start, whole) < columns)
      choose(code.num(whole), code.firstLanes(columns - whole));
    sort();
    if (packed)
      unpack(heap);
  }

private:
  StepEmitter &e;
  Code &code;
  TopOp op;
  Value row;
  int64_t size, columns;
  bool packed;
  Value heap;

  Value numbers(Type type, int64_t value) { return code.constant(type, code.b.getIntegerAttr(code.i64(), value)); }

  /// The keys of 16 columns, as integers of type `element`.
  Value keys(Value column, Value mask, Type element) {
    Point point(row, column, mask);
    return keyOf(code.splat(e.read(op.getX(), e.own(op.getX()), point)), element);
  }
  Value keys(Value column, Value mask) { return keys(column, mask, code.i64()); }
  Value keyOf(Value x, Type element) {
    Value key = code.keyOf(x, op.getSmallest(), /*preferNan=*/!op.getSmallest());
    Type type = code.like(key.getType(), element);
    return key.getType() == type ? key : Value(arith::ExtSIOp::create(code.b, type, key));
  }

  /// The entry of a key at a place: scalars, or vectors of both.
  Value entry(Value key, Value place) {
    if (!packed)
      return place;
    Type type = key.getType();
    Value high = code.shiftLeft(key, numbers(type, 32));
    Value low = code.bitXor(place, numbers(type, 0xffffffff));
    return code.bitOr(high, low);
  }
  Value keyOfEntry(Value entry) {
    if (packed)
      return code.shiftRight(entry, code.num(32));
    Point point(row, code.num(0), {}, entry);
    unsigned dims = e.steps.form.dims();
    MLIRContext *context = e.kernel.getContext();
    SmallVector<AffineExpr> access(e.own(op.getX()).getResults());
    if (columns > 1)
      access.back() = getAffineDimExpr(dims, context);
    return keyOf(e.read(op.getX(), AffineMap::get(dims + 1, 0, access, context), point), code.i64());
  }
  /// Whether entry `a` comes after entry `c`.
  Value isAfter(Value a, Value c) {
    if (packed)
      return code.less(a, c);
    Value keyA = keyOfEntry(a), keyC = keyOfEntry(c);
    Value tied = code.equal(keyA, keyC);
    Value later = code.bitAnd(tied, code.less(c, a));
    return code.bitOr(code.less(keyA, keyC), later);
  }

  Value slot(Value i) { return code.at(heap, code.mul(i, 8)); }
  /// The mask of the lanes from `first` up to `end`.
  Value between(int64_t first, int64_t end) {
    SmallVector<bool> bits(lanes, false);
    for (int64_t l = first; l < std::min(end, lanes); ++l)
      bits[l] = true;
    return arith::ConstantOp::create(code.b,
                                     DenseElementsAttr::get(code.vec(code.b.getI1Type()), ArrayRef<bool>(bits)));
  }

  /// Fills a memory with the entries of the first elements, in their order.
  void fill(Value memory, int64_t count) {
    auto take = [&](Value column, Value mask) {
      Value places = code.add(code.splat(column), code.laneNumbers());
      code.storeVector(packed ? entry(keys(column, mask), places) : places, code.at(memory, code.mul(column, 8)), mask);
    };
    int64_t whole = llvm::alignDown(count, lanes);
    if (whole > 0)
      code.loop(code.num(0), code.num(whole), lanes, [&](Value column) { take(column, {}); });
    if (whole < count)
      take(code.num(whole), code.firstLanes(count - whole));
  }

  /// Sorts the whole row and takes its first entries, for when many are wanted.
  void sortAll() {
    Value work = e.need(Need::work);
    fill(work, columns);
    int64_t all = llvm::alignTo(columns, lanes);
    for (int64_t i = columns; i < all; ++i) // come last
      code.storeScalar(code.num(INT64_MIN), code.at(work, i * 8));
    unpack(emitSort(code, work, all));
  }

  void sink(Value from, Value count) { sink(from, count, code.loadNumber(slot(from))); }
  /// Puts an entry into the heap of `count` entries, at place `from` or further down.
  void sink(Value from, Value count, Value mine) {
    if (size == 1)
      return code.storeScalar(mine, slot(from));
    auto head = [&](ValueRange at) {
      Value left = code.add(code.mul(at[0], 2), 1), right = code.add(left, 1);
      // Only existing children are read; of two, the one that comes later in the order is taken.
      Value hasLeft = code.less(left, count), hasRight = code.less(right, count);
      Value safe = code.select(hasLeft, left, at[0]);
      Value other = code.select(hasRight, right, safe);
      Value a = code.loadNumber(slot(safe)), c = code.loadNumber(slot(other));
      Value second = isAfter(c, a);
      Value child = code.select(second, other, safe), entry = code.select(second, c, a);
      Value moves = code.bitAnd(hasLeft, isAfter(entry, mine));
      return SmallVector<Value>{moves, at[0], child, entry};
    };
    Value end = code.loopWhile(from, head, [&](ValueRange moved) {
      code.storeScalar(moved[2], slot(moved[0]));
      return SmallVector<Value>{moved[1]};
    })[0];
    code.storeScalar(mine, slot(end));
  }

  /// Takes those of 16 columns that come before the top of the heap. Among equal keys the one already in the heap comes
  /// first.
  void choose(Value column, Value mask) {
    Value mine = keys(column, mask);
    Value better = code.compare(arith::CmpIPredicate::sgt, mine, code.splat(keyOfEntry(code.loadNumber(heap))));
    if (mask)
      better = code.bitAnd(better, mask);
    code.when(code.anyOf(better), [&] {
      Value entries = packed ? entry(mine, code.add(code.splat(column), code.laneNumbers())) : Value();
      auto head = [&](ValueRange bits) {
        return SmallVector<Value>{code.compare(arith::CmpIPredicate::ne, bits[0], code.zero(code.b.getI16Type())),
                                  bits[0]};
      };
      code.loopWhile(code.maskBits(better), head, [&](ValueRange bits) {
        Value lane16 = math::CountTrailingZerosOp::create(code.b, bits[0]);
        Value lane = code.fromUnsigned(lane16);
        Value mine = packed ? Value(vector::ExtractOp::create(code.b, entries, OpFoldResult(toIndex(lane))))
                            : code.add(column, lane);
        // The top may have changed since.
        code.when(isAfter(code.loadNumber(heap), mine), [&] { sink(code.num(0), code.num(size), mine); });
        Value below = code.sub(bits[0], arith::ConstantOp::create(code.b, code.b.getI16IntegerAttr(1)));
        return SmallVector<Value>{code.bitAnd(bits[0], below)};
      });
    });
  }
  Value toIndex(Value number) { return arith::IndexCastOp::create(code.b, code.b.getIndexType(), number); }

  /// Sorts the heap: its top moves to the end until nothing is left, so that the first entry comes first.
  void sort() {
    if (size == 1)
      return;
    code.loop(code.num(0), code.num(size - 1), 1, [&](Value i) {
      Value end = code.sub(code.num(size - 1), i);
      Value mine = code.loadNumber(slot(end));
      code.storeScalar(code.loadNumber(heap), slot(end));
      sink(code.num(0), end, mine);
    });
  }

  /// Writes the places of the first entries of a memory to the result.
  void unpack(Value memory) {
    auto take = [&](Value from, Value mask) {
      Value entries = code.loadVector(code.i64(), code.at(memory, code.mul(from, 8)), mask);
      Value low = numbers(entries.getType(), 0xffffffff);
      Value places = code.bitAnd(code.bitXor(entries, low), low);
      code.storeVector(places, slot(from), mask);
    };
    int64_t whole = llvm::alignDown(size, lanes);
    if (whole > 0)
      code.loop(code.num(0), code.num(whole), lanes, [&](Value from) { take(from, {}); });
    if (whole < size)
      take(code.num(whole), code.firstLanes(size - whole));
  }
};

} // namespace

void emitTop(StepEmitter &e, TopOp op, Value row) { TopEmitter(e, op, row).emit(); }

} // namespace tutti
