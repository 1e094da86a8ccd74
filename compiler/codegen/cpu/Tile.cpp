// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums of a tile, the tiles of a task's rows, and what is stored from registers.
#include "Tile.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

TileEmitter::TileEmitter(StepEmitter &emitter, const Step &step)
    : e(emitter), code(emitter.code), step(step), op(step.contraction), element(op.getType().getElementType()),
      bytes(storageBytes(element)), vector(emitter.code.vec(element)), chunk(numericsChunk(op)) {
  // A tile's accumulators, one row of the panel and a broadcast fit the registers.
  const CpuLevel &level = emitter.level;
  tileVectors = std::max<int64_t>(1, level.tileVectors * 4 / bytes);
  tileRows = (level.registers - 1) * level.vectorBits / (tileVectors * lanes * bytes * 8) - 1;
  wideVectors = level.wideVectors * 4 / bytes;
  assert(tileVectors * lanes * bytes <= partialBytes && "sums that wait are a row's `partialBytes`");
}

Value TileEmitter::multiplyAdd(Value left, Value right, Value sum) {
  return op.getBytes() ? multiplyAddBytes(code, e.level, left, right, sum)
                       : math::FmaOp::create(code.b, left, right, sum);
}
Value TileEmitter::plus(Value a, Value c) { return op.getBytes() ? code.add(a, c) : code.addF(a, c); }
Value TileEmitter::noSum() {
  return op.getBytes() ? code.zero(vector) : code.constant(vector, code.b.getFloatAttr(element, -0.0));
}

SmallVector<Value> TileEmitter::rowPointers(Value row, int64_t rows) {
  SmallVector<Value> starts;
  if (!left.rowPlaces)
    return starts;
  Value number = code.add(e.need(Need::firstRow), row), block = code.div(number, code.num(left.rowsOfBlock));
  Value start = code.at(left.pointer, code.mul(block, left.block));
  Value table = code.at(left.rowPlaces, code.mul(code.sub(number, code.mul(block, left.rowsOfBlock)), 4));
  for (int64_t i = 0; i < rows; ++i)
    starts.push_back(code.at(start, code.loadTold(code.at(table, i * 4))));
  return starts;
}

SmallVector<Value> TileEmitter::zeros(int64_t count) {
  return SmallVector<Value>(count, code.zero(code.vec(element, lanesOfSums)));
}

SmallVector<Value> TileEmitter::widened(SmallVector<Value> sums) {
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < lanes; ++lane)
    places.push_back(lane % lanesOfSums);
  if (lanesOfSums < lanes)
    for (Value &sum : sums)
      sum = vector::ShuffleOp::create(code.b, sum, sum, places);
  return sums;
}

SmallVector<Value> TileEmitter::withTerm(Value k, Value row, ArrayRef<Value> starts, int64_t rows,
                                         ArrayRef<Column> columns, ValueRange sums,
                                         llvm::function_ref<void(Value k)> beside) {
  Value told = starts.empty() ? Value() : code.loadTold(code.at(left.termPlaces, code.mul(k, 4)));
  auto leftOf = [&](int64_t i) {
    if (told)
      return code.loadScalar(element, code.at(starts[i], told));
    Value place = code.add(code.mul(code.add(row, i), left.rowStride), code.mul(k, left.stride));
    return code.loadScalar(element, code.at(left.pointer, code.mul(place, bytes)));
  };
  SmallVector<Value> right, next;
  for (const Column &column : columns)
    right.push_back(code.loadVector(element, code.at(column.right, code.mul(code.mul(k, column.stride), bytes)),
                                    lanesOfSums < lanes ? Value() : column.readable, lanesOfSums));
  beside(k);
  for (int64_t i = 0; i < rows; ++i) {
    Value x = code.splat(leftOf(i), lanesOfSums);
    for (unsigned v = 0; v < columns.size(); ++v)
      next.push_back(multiplyAdd(x, right[v], sums[i * columns.size() + v]));
  }
  return next;
}

SmallVector<Value> TileEmitter::sums(Value row, int64_t rows, ArrayRef<Column> columns, Value from, Value to,
                                     llvm::function_ref<void(Value k)> beside) {
  SmallVector<Value> starts = rowPointers(row, rows);
  return widened(code.loop(from, to, 1, zeros(rows * columns.size()), [&](Value k, ValueRange sofar) {
    return withTerm(k, row, starts, rows, columns, sofar, beside);
  }));
}

SmallVector<Value> TileEmitter::sumsOfFew(Value row, int64_t rows, ArrayRef<Column> columns) {
  SmallVector<Value> all = zeros(rows * columns.size()), starts = rowPointers(row, rows);
  for (int64_t k = 0; k < K; ++k)
    all = withTerm(code.num(k), row, starts, rows, columns, all, [](Value) {});
  return widened(all);
}

SmallVector<Value> TileEmitter::wholeSums(Value row, int64_t rows, ArrayRef<Column> columns) {
  if (K <= chunk)
    return sums(row, rows, columns, code.num(0), code.num(K));
  SmallVector<Value> none(rows * columns.size(), noSum());
  return code.loop(code.num(0), code.num(K), chunk, none, [&](Value from, ValueRange earlier) {
    SmallVector<Value> part = sums(row, rows, columns, from, code.min(code.add(from, chunk), code.num(K)));
    for (auto [sum, before] : llvm::zip_equal(part, earlier))
      sum = plus(before, sum);
    return part;
  });
}

Value TileEmitter::partialAt(Value row, int64_t i, const Column &column) {
  return code.at(partials, code.add(code.mul(code.add(row, i), partialBytes), column.partial * bytes));
}

void TileEmitter::store(Value row, int64_t rows, ArrayRef<Column> columns, ArrayRef<Value> results) {
  AffineMap own = e.own(op.getResult());
  SmallVector<Point> points;
  for (int64_t i = 0; i < rows; ++i)
    for (unsigned v = 0; v < columns.size(); ++v) {
      points.emplace_back(code.add(row, i), columns[v].column, columns[v].mask);
      points.back().memo[{op.getResult(), own}] = results[i * columns.size() + v];
    }
  // As many points as the level takes at once are computed before any is stored, so that their math functions can be
  // merged.
  for (MutableArrayRef<Point> rest = points; !rest.empty();) {
    MutableArrayRef<Point> now = rest.take_front(e.level.mathVectors);
    rest = rest.drop_front(now.size());
    for (Point &point : now)
      for (Value value : step.stores) {
        auto key = std::make_pair(value, e.own(value));
        if (!point.memo.contains(key))
          point.memo[key] = e.compute(value, key.second, point);
      }
    for (Point &point : now)
      for (Value value : step.stores)
        e.write(value, point.memo[{value, e.own(value)}], point);
  }
}

void TileEmitter::storeWaiting(Value from, Value count, ArrayRef<Column> columns) {
  int64_t group = std::max<int64_t>(1, e.level.mathVectors / columns.size());
  auto storeGroup = [&](Value first, int64_t rows) {
    SmallVector<Value> waiting;
    for (int64_t i = 0; i < rows; ++i)
      for (const Column &column : columns)
        waiting.push_back(code.loadVector(element, partialAt(first, i, column), {}));
    store(first, rows, columns, waiting);
  };
  Value done = code.add(from, code.mul(code.div(count, code.num(group)), group));
  code.loop(from, done, group, [&](Value first) { storeGroup(first, group); });
  for (int64_t now = group / 2; now >= 1; now /= 2) {
    Value bit = code.bitAnd(count, code.num(now));
    code.when(code.less(code.num(0), bit), [&] { storeGroup(done, now); });
    done = code.add(done, bit);
  }
}

void TileEmitter::overRows(int64_t most, Rows tile) {
  Value last = end(), row = begin();
  for (int64_t now = most; now >= 1; now = llvm::bit_floor(uint64_t(now - 1))) {
    Value stop = code.add(row, code.mul(code.div(code.sub(last, row), code.num(now)), now));
    if (now == most || now == int64_t(llvm::bit_floor(uint64_t(most - 1))))
      code.loop(row, stop, now, [&](Value row) { tile(row, now); });
    else
      code.when(code.less(row, stop), [&] { tile(row, now); });
    row = stop;
    if (now == 1)
      break;
  }
}

/// The number of rows of the next tile, from `row` on: a full tile's, or all that are left. Between one and two full
/// tiles of rows are split evenly: a tile of fewer than four rows takes as long as one of four, since it is bound by
/// the latency of its sums.
Value TileEmitter::tileOf(Value row) {
  Value left = code.sub(end(), row), most = code.num(tileRows);
  Value isCut = code.bitAnd(code.less(most, left), code.less(left, code.mul(most, 2)));
  return code.select(isCut, code.div(code.add(left, 1), code.num(2)), code.min(left, most));
}

void TileEmitter::overTiles(Rows tile, llvm::function_ref<void(Value row, Value rows)> after) {
  code.loopWhile(
      {begin()}, [&](ValueRange at) { return SmallVector<Value>{code.less(at[0], end()), at[0]}; },
      [&](ValueRange at) {
        Value row = at[0], now = tileOf(row);
        std::function<void(int64_t, int64_t)> choose = [&](int64_t least, int64_t largest) {
          if (least == largest)
            return tile(row, least);
          int64_t middle = (least + largest) / 2;
          code.when(
              code.less(code.num(middle), now), [&] { choose(middle + 1, largest); }, [&] { choose(least, middle); });
        };
        code.when(
            code.less(code.num(tileRows - 1), now), [&] { tile(row, tileRows); }, [&] { choose(1, tileRows - 1); });
        after(row, now);
        return SmallVector<Value>{code.add(row, now)};
      });
}

} // namespace tutti
