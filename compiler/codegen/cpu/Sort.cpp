// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorting 64-bit numbers in memory, the largest first. In a block that fits the first cache, each of sixteen lanes
// sorts what lies in it by a network, and merges make one run of the lanes' runs; further merges make one of the
// blocks.
#include "Emitters.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tutti {

static Value slot(Code &code, Value base, Value i, int64_t step = 1) { return code.at(base, code.mul(i, 8 * step)); }

void emitExchanges(Code &code, Value count, llvm::function_ref<void(Value i, Value distance)> exchange) {
  auto shift = [&](Value by) { return code.shiftLeft(code.num(1), by); };
  Value leading = math::CountLeadingZerosOp::create(code.b, code.sub(count, code.num(1)));
  Value levels = code.sub(code.num(64), leading); // ceil(log2 count), and 0 for one vector
  code.loop(code.num(0), levels, 1, [&](Value level) {
    Value p = shift(code.sub(code.sub(levels, code.num(1)), level));
    code.loop(code.num(0), code.add(level, 1), 1, [&](Value pass) {
      Value isFirst = code.equal(pass, code.num(0));
      Value distance = code.select(isFirst, p, code.sub(shift(code.sub(levels, pass)), p));
      // A pass exchanges the pairs whose first number has bit p equal to `wanted`: one of every two runs of p.
      Value wanted = code.select(isFirst, code.num(0), p), end = code.sub(count, distance), both = code.mul(p, 2);
      Value runs = code.div(code.add(code.sub(end, wanted), code.sub(both, code.num(1))), both);
      code.loop(code.num(0), runs, 1, [&](Value run) {
        Value from = code.add(wanted, code.mul(run, both));
        code.loop(from, code.min(code.add(from, p), end), 1, [&](Value i) { exchange(i, distance); });
      });
    });
  });
}

static void exchangeAll(Code &code, Value base, Value count) {
  emitExchanges(code, count, [&](Value i, Value distance) {
    Value low = slot(code, base, i, lanes), high = slot(code, base, code.add(i, distance), lanes);
    Value a = code.loadVector(code.i64(), low, {}), c = code.loadVector(code.i64(), high, {});
    code.storeVector(code.max(a, c), low, {});
    code.storeVector(code.min(a, c), high, {});
  });
}

namespace {
/// A run in memory, its numbers `step` apart.
struct Run {
  Value base, count;
  int64_t step = 1;
};
} // namespace

/// Merges two runs into memory that is neither's.
static void merge(Code &code, const Run &left, const Run &right, Value target) {
  auto number = [&](const Run &run, Value i) { return code.loadNumber(slot(code, run.base, i, run.step)); };
  auto pair = [&](Value number) -> Value {
    return vector::BroadcastOp::create(code.b, VectorType::get({2}, code.i64()), number);
  };
  auto head = [&](ValueRange at) {
    Value more = code.bitAnd(code.less(at[0], left.count), code.less(at[1], right.count));
    return SmallVector<Value>{more, at[0], at[1]};
  };
  SmallVector<Value> taken = code.loopWhile({code.num(0), code.num(0)}, head, [&](ValueRange at) {
    Value a = number(left, at[0]), c = number(right, at[1]);
    // In vectors: for scalars LLVM generates a branch, which is unpredictable.
    Value more = code.max(pair(a), pair(c));
    code.storeScalar(vector::ExtractOp::create(code.b, more, ArrayRef<int64_t>{0}),
                     slot(code, target, code.add(at[0], at[1])));
    Value step = code.fromUnsigned(code.less(c, a));
    return SmallVector<Value>{code.add(at[0], step), code.add(at[1], code.sub(code.num(1), step))};
  });
  // Copies the rest of a run once the other one is exhausted.
  auto rest = [&](const Run &run, Value from, Value others) {
    code.loop(from, run.count, 1,
              [&](Value i) { code.storeScalar(number(run, i), slot(code, target, code.add(i, others))); });
  };
  rest(left, taken[0], right.count);
  rest(right, taken[1], left.count);
}

/// Merges neighbouring runs of `length` numbers, of `total` in all.
static void mergePairs(Code &code, Value source, Value target, Value total, Value length) {
  Value both = code.mul(length, 2), pairs = code.div(code.add(total, code.sub(both, code.num(1))), both);
  code.loop(code.num(0), pairs, 1, [&](Value pair) {
    Value from = code.mul(pair, both), middle = code.min(code.add(from, length), total),
          end = code.min(code.add(from, both), total);
    merge(code, {slot(code, source, from), code.sub(middle, from)}, {slot(code, source, middle), code.sub(end, middle)},
          slot(code, target, from));
  });
}

Value emitSort(Code &code, Value memory, int64_t count) {
  Value total = code.num(count), other = code.at(memory, count * 8);
  code.loop(code.num(0), total, sortedBlock, [&](Value from) {
    Value block = slot(code, memory, from), spare = slot(code, other, from);
    Value size = code.min(code.sub(total, from), code.num(sortedBlock)), each = code.div(size, code.num(lanes));
    exchangeAll(code, block, each);
    code.loop(code.num(0), code.num(lanes), 2, [&](Value lane) {
      Run left{slot(code, block, lane), each, lanes}, right{slot(code, block, code.add(lane, 1)), each, lanes};
      merge(code, left, right, slot(code, spare, code.mul(lane, each)));
    });
    for (int64_t runs : {2, 4, 8}) {
      mergePairs(code, spare, block, size, code.mul(each, runs));
      std::swap(spare, block);
    }
  });
  // A block takes four merges, an even number, so the result is in the original memory.
  for (int64_t length = sortedBlock; length < count; length *= 2) {
    mergePairs(code, memory, other, total, code.num(length));
    std::swap(memory, other);
  }
  return memory;
}

} // namespace tutti
