// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight packed in panels, accumulators in registers.
//
// Blocks of columns follow runtime/schema/Layout.h. A panel's chunk of weights stays in the L1 cache while the rows of
// the tile go by; sums of earlier chunks wait in the partials. docs/numerics.md fixes the order of every sum.
#include "Emitters.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

using namespace mlir;

namespace tutti {

namespace {

class Contraction {
public:
  Contraction(StepEmitter &emitter, const Step &step)
      : e(emitter), code(emitter.code), step(step), op(step.contraction) {
    K = StepEmitter::typeOf(op.getLhs()).getShape().back();
    N = op.getType().getShape().back();
    chunk = numericsChunk(op);
    lhsStride = *e.fixedRowStride(op.getLhs());
    weights = e.need(Need::basePointer, op.getRhs());
    left = e.rowPointer(op.getLhs());
    if (K > chunk || step.longMaps)
      partials = e.need(Need::partials);
  }

  void emit() {
    std::vector<rt::PanelBlock> blocks = rt::planPanels(K, N);
    unsigned full = 0;
    while (full < blocks.size() && blocks[full].cols == 32)
      ++full;
    if (full > 0)
      code.when(code.less(e.rows(), code.num(wideRows + 1)), [&] { emitWide(full); }, [&] { emitFull(full); });
    for (unsigned i = full; i < blocks.size(); ++i) {
      Value pointer = code.at(weights, blocks[i].offset * 4), column = code.num(blocks[i].col);
      if (blocks[i].lanes)
        emitLanes(blocks[i], pointer, column);
      else
        emitPanel(pointer, column, blocks[i].width, blocks[i].cols);
    }
  }

private:
  // Tiles of so few rows take many panels at once: one row's chain of sums would leave the multipliers idle.
  static constexpr int64_t wideRows = 2;
  // There is a tile for each number of rows up to this.
  static constexpr int64_t fewRows = 8;
  // What the third cache takes to answer is a few hundred cycles, of 64 bytes each; a few pages are that several times
  // over.
  static constexpr int64_t bytesAhead = 16 << 10;

  StepEmitter &e;
  Code &code;
  const Step &step;
  ContractOp op;
  int64_t K, N, chunk, lhsStride;
  Value weights, left, partials;

  /// Columns of one register tile: where their weights are, k apart by `width`, and which count.
  struct Column {
    Value weights; // at k = 0
    Value column;  // of the result
    int64_t width;
    Value mask;
    int64_t partial; // place among the partial sums
  };

  Value leftAt(Value row, int64_t i, Value k) {
    Value place = code.add(code.mul(code.add(row, i), lhsStride), k);
    return code.loadScalar(code.f32(), code.at(left, code.mul(place, 4)));
  }

  /// Sums of products over k in [from, to), one accumulator a row and column vector.
  SmallVector<Value> sums(Value row, int64_t rows, ArrayRef<Column> columns, Value from, Value to) {
    SmallVector<Value> zeros(rows * columns.size(), code.zero(code.vec(code.f32())));
    // The next chunk, or panel, or layer lies right behind. Tile after tile asks for a part of it, a line at each k:
    // faster than that the next cache would not answer, and the requests would hold up what is needed now. Where rows
    // are too few for a full tile, weights go by faster than the processor itself looks ahead: the first tile asks for
    // all that will be needed some pages later. Many panels side by side are streams enough.
    bool full = rows == e.level.tileRows, few = !full && columns.size() <= size_t(e.level.tileVectors);
    Value ahead, first;
    if (full) {
      Value tile = code.div(row, code.num(rows));
      Value lines = code.sub(code.mul(tile, code.sub(to, from)), from);
      ahead = code.at(columns[0].weights, code.add(code.mul(to, columns[0].width * 4), code.mul(lines, 64)));
    } else if (few) {
      first = code.compare(arith::CmpIPredicate::eq, row, code.num(0));
    }
    return code.loop(from, to, 1, zeros, [&](Value k, ValueRange accumulators) {
      SmallVector<Value> panel, next;
      for (const Column &column : columns)
        panel.push_back(code.loadVector(code.f32(), code.at(column.weights, code.mul(k, column.width * 4)),
                                        column.width < lanes ? column.mask : Value()));
      if (full)
        code.prefetch(code.at(ahead, code.mul(k, 64)));
      else if (few) // A branch that is guessed right costs less than prefetches of what is there.
        code.when(first, [&] {
          for (const Column &column : columns)
            code.prefetch(code.at(column.weights, code.add(code.mul(k, column.width * 4), bytesAhead)));
        });
      for (int64_t i = 0; i < rows; ++i) {
        Value x = code.splat(leftAt(row, i, k));
        for (unsigned v = 0; v < columns.size(); ++v)
          next.push_back(math::FmaOp::create(code.b, code.loc, x, panel[v], accumulators[i * columns.size() + v]));
      }
      return next;
    });
  }

  Value partialAt(Value row, int64_t i, const Column &column) {
    Value place = code.add(code.mul(code.add(row, i), partialFloats), column.partial);
    return code.at(partials, code.mul(place, 4));
  }

  /// What the step stores, from the finished sums.
  void store(Value row, int64_t rows, ArrayRef<Column> columns, ArrayRef<Value> results) {
    AffineMap own = e.own(op.getResult());
    SmallVector<Point> points;
    for (int64_t i = 0; i < rows; ++i)
      for (unsigned v = 0; v < columns.size(); ++v) {
        points.emplace_back(code.add(row, i), columns[v].column, columns[v].mask);
        points.back().memo[{op.getResult(), own}] = results[i * columns.size() + v];
      }
    // No store between as many as the level takes at once, so that their math can be made together.
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

  /// Long maps need the registers that sums would lie in: these wait in the partials, rows from `from` on, and maps
  /// take as many vectors at a time as the level likes.
  void storeWaiting(Value from, Value count, ArrayRef<Column> columns) {
    int64_t group = std::max<int64_t>(1, e.level.mathVectors / columns.size());
    auto storeGroup = [&](Value first, int64_t rows) {
      SmallVector<Value> waiting;
      for (int64_t i = 0; i < rows; ++i)
        for (const Column &column : columns)
          waiting.push_back(code.loadVector(code.f32(), partialAt(first, i, column), {}));
      store(first, rows, columns, waiting);
    };
    Value done = code.add(from, code.mul(code.div(count, code.num(group)), group));
    code.loop(from, done, group, [&](Value first) { storeGroup(first, group); });
    for (int64_t now = group / 2; now >= 1; now /= 2) {
      Value bit = arith::AndIOp::create(code.b, code.loc, count, code.num(now));
      code.when(code.less(code.num(0), bit), [&] { storeGroup(done, now); });
      done = code.add(done, bit);
    }
  }

  Value plus(Value a, Value c) { return arith::AddFOp::create(code.b, code.loc, a, c); }

  /// Calls `tile(row, rows)` for all rows, `most` at a time, then for what is left in powers of two.
  void overRows(int64_t most, llvm::function_ref<void(Value row, int64_t rows)> tile) {
    Value rows = e.rows(), row = code.num(0);
    for (int64_t now = most; now >= 1; now = llvm::bit_floor(uint64_t(now - 1))) {
      Value end = code.add(row, code.mul(code.div(code.sub(rows, row), code.num(now)), now));
      if (now == most || now == int64_t(llvm::bit_floor(uint64_t(most - 1))))
        code.loop(row, end, now, [&](Value row) { tile(row, now); });
      else
        code.when(code.less(row, end), [&] { tile(row, now); });
      row = end;
      if (now == 1)
        break;
    }
  }

  /// How many of `left` rows the next tile takes. A tile of fewer than four takes as long as one of four, as sums wait
  /// for themselves: what full tiles leave over is cut evenly, with one of the full tiles if it is so little.
  Value tileOf(Value left) {
    int64_t most = e.level.tileRows, few = std::min(most - 1, fewRows);
    auto part = [&](int64_t parts) { return code.div(code.add(left, parts - 1), code.num(parts)); };
    auto upTo = [&](int64_t rows) { return code.less(left, code.num(rows + 1)); };
    Value cut = code.select(upTo(few), left, code.select(upTo(2 * few), part(2), part(3)));
    Value full = code.compare(arith::CmpIPredicate::eq, left, code.num(most));
    return code.select(full, left, code.select(upTo(most + 3), cut, code.num(most)));
  }

  /// Calls `tile(row, rows)` for the tiles of all rows, and `after(row, rows)`, rows a value, behind each.
  void overTiles(
      llvm::function_ref<void(Value row, int64_t rows)> tile,
      llvm::function_ref<void(Value row, Value rows)> after = [](Value, Value) {}) {
    int64_t most = e.level.tileRows;
    code.loopWhile(
        {code.num(0)}, [&](ValueRange at) { return SmallVector<Value>{code.less(at[0], e.rows()), at[0]}; },
        [&](ValueRange at) {
          Value row = at[0], now = tileOf(code.sub(e.rows(), row));
          std::function<void(int64_t, int64_t)> choose = [&](int64_t least, int64_t largest) {
            if (least == largest)
              return tile(row, least);
            int64_t middle = (least + largest) / 2;
            code.when(
                code.less(code.num(middle), now), [&] { choose(middle + 1, largest); }, [&] { choose(least, middle); });
          };
          int64_t few = std::min(most - 1, fewRows);
          code.when(code.less(code.num(few), now), [&] { tile(row, most); }, [&] { choose(1, few); });
          after(row, now);
          return SmallVector<Value>{code.add(row, now)};
        });
  }

  /// All rows times one panel, `level.tileVectors` vectors of columns at a time.
  void emitPanel(Value pointer, Value column, int64_t width, int64_t valid) {
    int64_t vectors = llvm::divideCeil(width, lanes);
    for (int64_t v0 = 0; v0 < vectors; v0 += e.level.tileVectors) {
      SmallVector<Column> columns;
      for (int64_t v = v0; v < std::min(vectors, v0 + e.level.tileVectors); ++v)
        columns.push_back({code.at(pointer, v * lanes * 4), code.add(column, v * lanes), width,
                           code.firstLanes(valid - v * lanes), v * lanes});
      Value last = code.num(0);
      if (K > chunk) {
        int64_t before = llvm::alignDown(K - 1, chunk);
        code.loop(code.num(0), code.num(before), chunk, [&](Value from) {
          Value isFirst = arith::CmpIOp::create(code.b, code.loc, arith::CmpIPredicate::eq, from, code.num(0));
          overTiles([&](Value row, int64_t rows) {
            SmallVector<Value> part = sums(row, rows, columns, from, code.add(from, chunk));
            Value none = code.constant(code.vec(code.f32()), code.b.getF32FloatAttr(-0.0f)); // -0 + s is s
            for (int64_t i = 0; i < rows; ++i)
              for (unsigned c = 0; c < columns.size(); ++c) {
                Value place = partialAt(row, i, columns[c]);
                Value earlier =
                    arith::SelectOp::create(code.b, code.loc, isFirst, none, code.loadVector(code.f32(), place, {}));
                code.storeVector(plus(earlier, part[i * columns.size() + c]), place, {});
              }
          });
        });
        last = code.num(before);
      }
      auto finish = [&](Value row, int64_t rows) {
        SmallVector<Value> total = sums(row, rows, columns, last, code.num(K));
        for (int64_t i = 0; partials && i < rows; ++i)
          for (unsigned c = 0; c < columns.size(); ++c) {
            Value &sum = total[i * columns.size() + c], place = partialAt(row, i, columns[c]);
            if (K > chunk)
              sum = plus(code.loadVector(code.f32(), place, {}), sum);
            if (step.longMaps)
              code.storeVector(sum, place, {});
          }
        if (!step.longMaps)
          store(row, rows, columns, total);
      };
      if (step.longMaps)
        overTiles(finish, [&](Value row, Value rows) { storeWaiting(row, rows, columns); });
      else
        overTiles(finish);
    }
  }

  void emitFull(int64_t panels) {
    code.loop(code.num(0), code.num(panels), 1, [&](Value panel) {
      emitPanel(code.at(weights, code.mul(panel, K * 32 * 4)), code.mul(panel, 32), 32, 32);
    });
  }

  /// One or two rows times all full panels: several panels share each element of the row.
  void emitWide(int64_t panels) {
    int64_t group = std::min<int64_t>(panels, e.level.wideVectors / 2);
    auto emitGroup = [&](Value first, int64_t count) {
      SmallVector<Column> columns;
      for (int64_t v = 0; v < count * 2; ++v) {
        Value panel = code.add(first, v / 2);
        columns.push_back({code.at(code.at(weights, code.mul(panel, K * 32 * 4)), v % 2 * lanes * 4),
                           code.add(code.mul(panel, 32), v % 2 * lanes),
                           32,
                           {},
                           0});
      }
      overRows(wideRows, [&](Value row, int64_t rows) {
        if (K <= chunk)
          return store(row, rows, columns, sums(row, rows, columns, code.num(0), code.num(K)));
        SmallVector<Value> none(rows * columns.size(),
                                code.constant(code.vec(code.f32()), code.b.getF32FloatAttr(-0.0f)));
        store(row, rows, columns, code.loop(code.num(0), code.num(K), chunk, none, [&](Value from, ValueRange earlier) {
          SmallVector<Value> part = sums(row, rows, columns, from, code.min(code.add(from, chunk), code.num(K)));
          for (auto [sum, before] : llvm::zip_equal(part, earlier))
            sum = plus(before, sum);
          return part;
        }));
      });
    };
    int64_t whole = panels / group * group;
    code.loop(code.num(0), code.num(whole), group, [&](Value first) { emitGroup(first, group); });
    if (whole < panels)
      emitGroup(code.num(whole), panels - whole);
  }

  /// The last one to eight columns: lanes run over k, and a tree adds them up.
  void emitLanes(const rt::PanelBlock &block, Value pointer, Value column) {
    int64_t most = block.cols <= 2 ? 8 : block.cols <= 4 ? 4 : 2;
    int64_t whole = llvm::alignDown(K, lanes), part = lanes / most;
    Column only{pointer, column, block.cols, code.firstLanes(block.cols), 0};
    overRows(most, [&](Value row, int64_t rows) {
      auto accumulate = [&](Value k, ValueRange sums, Value tail) {
        SmallVector<Value> next, panel;
        for (int64_t n = 0; n < block.cols; ++n)
          panel.push_back(code.loadVector(code.f32(), code.at(pointer, code.mul(code.add(k, n * K), 4)), tail));
        for (int64_t i = 0; i < rows; ++i) {
          Value place = code.add(code.mul(code.add(row, i), lhsStride), k);
          Value x = code.loadVector(code.f32(), code.at(left, code.mul(place, 4)), tail);
          for (int64_t n = 0; n < block.cols; ++n)
            next.push_back(math::FmaOp::create(code.b, code.loc, x, panel[n], sums[i * block.cols + n]));
        }
        return next;
      };
      SmallVector<Value> sums(rows * block.cols, code.zero(code.vec(code.f32())));
      if (whole > 0)
        sums = code.loop(code.num(0), code.num(whole), lanes, sums,
                         [&](Value k, ValueRange s) { return accumulate(k, s, {}); });
      if (whole < K)
        sums = accumulate(code.num(whole), sums, code.firstLanes(K - whole));
      // One tree for all: a row's sums come to lie in the first lanes of its own part of a vector.
      SmallVector<Value> byLane(lanes);
      for (int64_t i = 0; i < rows; ++i)
        std::copy_n(sums.begin() + i * block.cols, block.cols, byLane.begin() + i * part);
      Value together = code.trees(byLane, [&](Value a, Value c) { return plus(a, c); });
      if (step.longMaps) // They wait as they are: row behind row.
        return code.storeVector(together, code.at(partials, code.mul(row, part * 4)), {});
      SmallVector<Value> results;
      for (int64_t i = 0; i < rows; ++i)
        results.push_back(code.rotated(together, i * part));
      store(row, rows, only, results);
    });
    if (step.longMaps)
      overRows(e.level.mathVectors, [&](Value row, int64_t rows) {
        SmallVector<Value> waiting;
        for (int64_t i = 0; i < rows; ++i)
          waiting.push_back(code.loadVector(code.f32(), code.at(partials, code.mul(code.add(row, i), part * 4)), {}));
        store(row, rows, only, waiting);
      });
  }
};

} // namespace

void emitContraction(StepEmitter &emitter, const Step &step) { Contraction(emitter, step).emit(); }

} // namespace tutti
