// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract family: a tile of rows times a weight packed in panels, accumulators in registers.
//
// Blocks of columns follow runtime/schema/Layout.h. A panel's chunk of weights stays in the L1 cache while the rows of
// the tile go by; sums of earlier chunks wait in the partials.
#include "Lanes.h"

#include "passes/analysis/Through.h"
#include "runtime/schema/Layout.h"

using namespace mlir;

namespace tutti {

namespace {

class Contraction : TileEmitter {
public:
  Contraction(StepEmitter &emitter, const Step &step) : TileEmitter(emitter, step) {
    K = typeOf(op.getLhs()).getShape().back();
    N = op.getType().getShape().back();
    panelColumns = rt::panelColumns(bytes);
    panelVectors = panelColumns / lanes;
    weights = e.need(Need::basePointer, op.getRhs());
    if (std::optional<ReadThrough> through = ReadThrough::of(op))
      readThrough(*through);
    else
      left = {e.rowPointer(op.getLhs()), e.rowStride(op.getLhs()), code.num(1)};
    if (!left.rowPlaces && e.level.asksForStreams && e.steps.placeOf(op.getLhs()).kind == Place::argument)
      rowsComeIn = rowsAreOthers();
    if (K > chunk || step.longMaps)
      partials = e.need(Need::partials);
  }

  void emit() {
    std::vector<rt::PanelBlock> blocks = rt::planPanels(K, N, bytes);
    unsigned full = 0;
    while (full < blocks.size() && blocks[full].cols == panelColumns)
      ++full;
    if (full > 0)
      code.when(code.less(e.rows(), code.num(wideRows + 1)), [&] { emitWide(full); }, [&] { emitFull(full); });
    for (unsigned i = full; i < blocks.size(); ++i) {
      Value pointer = code.at(weights, blocks[i].offset * bytes), column = code.num(blocks[i].col);
      if (blocks[i].lanes)
        LanesEmitter(*this, together, runs).emit(blocks[i], pointer, column);
      else if (isNarrow(blocks[i].width))
        emitNarrow(pointer, column, blocks[i].width, blocks[i].cols);
      else
        emitPanel(pointer, column, blocks[i].width, blocks[i].cols);
    }
  }

private:
  static constexpr int64_t lineBytes = plan::lineBytes;
  // The prefetch distance. The L3 cache answers after a few hundred cycles, in which one line is used per cycle; a few
  // pages cover that several times over.
  static constexpr int64_t bytesAhead = 16 << 10;
  // With at most this many terms and one vector of columns, sums are made just before a long map uses them, as many as
  // it takes at a time.
  static constexpr int64_t fewTerms = 8;
  // Rows that lie apart take a pointer register each; more of them leave no registers for other values.
  static constexpr int64_t mostPointers = 8;
  static_assert(rt::panelBytes == partialBytes, "sums that wait are a panel's");

  int64_t N;
  int64_t panelColumns, panelVectors; ///< of a whole panel
  Value weights;
  /// The memory in which rows that are read through a move are made contiguous, and the runs that they consist of.
  Value together;
  SmallVector<ReadThrough::Run> runs;
  /// Whether later tasks read rows of the launch's buffers that this task does not read; null: never.
  Value rowsComeIn;

  /// Makes tables of the places of rows and terms, in bytes. A tile may begin at any row of a block and end in later
  /// blocks.
  void readThrough(ReadThrough &through) {
    auto told = [&](ArrayRef<int64_t> places) {
      SmallVector<int32_t> table;
      for (int64_t place : places) {
        table.push_back(static_cast<int32_t>(place * bytes));
        if (table.back() != place * bytes)
          e.cannot("rows that are read through a move lie too far apart");
      }
      return e.tableOf(table);
    };
    unsigned member = isLifted(through.move.getType());
    MLIRContext *context = code.b.getContext();
    SmallVector<AffineExpr> dims(through.first.getNumDims(), getAffineConstantExpr(0, context));
    if (member)
      dims[0] = getAffineDimExpr(0, context);
    Point start(code.num(0), code.num(0));
    left.pointer =
        e.pointerTo(through.from, through.first.replaceDimsAndSymbols(dims, {}, e.steps.form.dims(), 0), start);
    tileRows = std::min(tileRows, mostPointers);
    left.rowPlaces = told(through.rowPlaces(through.rowsOfBlock + mostPointers - 1));
    left.termPlaces = told(through.termPlaces());
    left.rowsOfBlock = through.rowsOfBlock;
    left.block = through.block * bytes;
    if (through.workBytes()) {
      together = e.need(Need::work);
      runs = through.runs();
    }
  }

  /// Whether the next task's rows differ from this one's. Members that share their rows find them in the caches if a
  /// task has all rows.
  Value rowsAreOthers() {
    if (RowForm::of(typeOf(op.getLhs())).lifted)
      return code.constant(code.b.getI1Type(), code.b.getBoolAttr(true));
    Value total = code.num(1);
    for (const Size &size : e.steps.form.rows)
      total = code.mul(total, e.sizeOf(size));
    return code.less(e.rows(), total);
  }

  /// The weights of a whole panel, by its number.
  Value panelAt(Value panel) { return code.at(weights, code.mul(panel, K * panelColumns * bytes)); }
  Value columnOf(Value panel) { return code.mul(panel, panelColumns); }

  /// 16 columns of a panel, of which `valid` count; consecutive terms lie `width` elements apart.
  Column columnAt(Value pointer, Value column, int64_t width, int64_t valid, int64_t partial) {
    Value mask = code.firstLanes(valid);
    return {pointer, code.num(width), width < lanes ? mask : Value(), column, mask, partial};
  }

  /// Prefetches rows from the launch's buffers, a vector of another row at each term: the next tile's rows during the
  /// first panel, the next task's during the second.
  void askForRows(Value row, int64_t rows, Value column, Value k) {
    Value next = code.select(code.equal(column, code.num(0)), code.num(rows), e.rows());
    Value at = code.mul(code.div(k, code.num(lanes)), lanes);
    Value place = code.add(code.mul(code.add(code.add(row, next), code.sub(k, at)), left.rowStride), at);
    for (int64_t line = 0; line < lanes * bytes; line += lineBytes)
      code.prefetch(code.at(left.pointer, code.add(code.mul(place, bytes), line)));
  }

  /// The columns of a panel, split into turns of up to `tileVectors` vectors.
  SmallVector<SmallVector<Column>> turnsOf(Value pointer, Value column, int64_t width, int64_t valid) {
    SmallVector<SmallVector<Column>> turns;
    for (int64_t v = 0; v * lanes < width; ++v) {
      if (v % tileVectors == 0)
        turns.emplace_back();
      turns.back().push_back(columnAt(code.at(pointer, v * lanes * bytes), code.add(column, v * lanes), width,
                                      valid - v * lanes, v * lanes));
    }
    return turns;
  }

  /// A panel's turns, and the bytes of the next weights that a full tile prefetches at each term (`step`).
  struct Panel {
    SmallVector<SmallVector<Column>> turns;
    Value step;
  };
  /// The bytes that a full tile prefetches per term: an even share of a turn's. The share of a tile of left-over rows
  /// is left to the hardware prefetcher.
  Value stepOf(int64_t bytesOfTurn) {
    if (!e.level.sharesRequests)
      return code.num(lineBytes);
    Value rows = code.sub(end(), begin()),
          tiles = code.add(code.div(code.sub(rows, code.num(1)), code.num(tileRows)), 1);
    return code.add(code.div(code.num(bytesOfTurn - 1), tiles), 1);
  }

  /// Computes the sums of a chunk and prefetches weights. The weights of the next chunk, panel or layer lie right
  /// behind, and each turn of each tile prefetches a part of them. More than a line per term would exceed the next
  /// cache's rate, and the prefetches would delay loads that are needed now. With too few rows for a full tile, weights
  /// are consumed faster than the hardware prefetcher runs ahead, so the first tile prefetches everything that is
  /// needed some pages later. A panel has two lines per term, so a small tile behind a single full one prefetches the
  /// other half; behind several full tiles it would go too far. Half panels have many tiles of few rows: the first one
  /// prefetches, for its half.
  SmallVector<Value> panelSums(Value row, int64_t rows, const Panel &panel, unsigned turn, Value from, Value to) {
    ArrayRef<Column> columns = panel.turns[turn];
    Value part = code.add(code.mul(code.div(row, code.num(tileRows)), panel.turns.size()), turn);
    Value next = code.at(panel.turns[0][0].right, code.mul(code.mul(to, columns[0].stride), bytes));
    Value before = code.sub(code.mul(part, code.sub(to, from)), from);
    auto askForNext = [&](Value k, Value step) {
      code.prefetch(code.at(next, code.mul(code.add(before, k), step)), Code::Cache::second);
    };
    if (rows == tileRows) {
      Value asks;
      if (rowsComeIn)
        asks = code.bitAnd(rowsComeIn, code.less(columns[0].column, code.num(2 * tileVectors * lanes)));
      return sums(row, rows, columns, from, to, [&](Value k) {
        askForNext(k, panel.step);
        if (asks)
          code.when(asks, [&] { askForRows(row, rows, columns[0].column, k); });
      });
    }
    Value first = code.equal(row, code.num(0));
    Value asksForHalf = code.less(row, code.num(rt::panelBytes / lineBytes * tileRows));
    return sums(row, rows, columns, from, to, [&](Value k) {
      // A well predicted branch costs less than prefetches of lines that are already cached.
      code.when(
          first,
          [&] {
            for (const Column &column : columns)
              askAhead(code.at(column.right, code.mul(code.mul(k, column.stride), bytes)));
          },
          [&] { code.when(asksForHalf, [&] { askForNext(k, code.num(lineBytes)); }); });
    });
  }

  /// Prefetches the lines `bytesAhead` behind the given weights. The L1 cache tracks few outstanding lines, so lines
  /// from memory are prefetched into L2. If the weights end before that distance, as in small networks, they go to L1.
  void askAhead(Value from) {
    bool ends = K * rt::panelBytes < bytesAhead;
    for (int64_t line = 0; line < lanes * bytes; line += lineBytes)
      code.prefetch(code.at(from, bytesAhead + line), ends ? Code::Cache::first : Code::Cache::second);
  }

  /// Adds a chunk's sums to the partials, where they wait for the next chunk; the first chunk's sums are stored as they
  /// are.
  void addToPartials(Value row, int64_t rows, ArrayRef<Column> columns, ArrayRef<Value> sums, Value isFirst) {
    auto wait = [&](llvm::function_ref<Value(Value sum, Value place)> soFar) {
      for (int64_t i = 0; i < rows; ++i)
        for (unsigned c = 0; c < columns.size(); ++c) {
          Value place = partialAt(row, i, columns[c]);
          code.storeVector(soFar(sums[i * columns.size() + c], place), place, {});
        }
    };
    code.when(
        isFirst, [&] { wait([](Value sum, Value) { return sum; }); },
        [&] { wait([&](Value sum, Value place) { return plus(code.loadVector(element, place, {}), sum); }); });
  }

  /// Multiplies all rows by one panel. A tile of rows computes all columns of the panel before the next tile: with two
  /// turns, the second one uses the neighbouring lines that were loaded with the first one's.
  void emitPanel(Value pointer, Value column, int64_t width, int64_t valid) {
    SmallVector<SmallVector<Column>> turns = turnsOf(pointer, column, width, valid);
    Panel panel{turns, stepOf(width * bytes / turns.size())};
    if (step.longMaps && K <= fewTerms && width <= lanes)
      return overRows(e.level.mathVectors, [&](Value row, int64_t rows) {
        store(row, rows, panel.turns[0], sumsOfFew(row, rows, panel.turns[0]));
      });
    int64_t last = K > chunk ? llvm::alignDown(K - 1, chunk) : 0;
    if (last > 0)
      code.loop(code.num(0), code.num(last), chunk, [&](Value from) {
        Value isFirst = code.equal(from, code.num(0));
        overTiles([&](Value row, int64_t rows) {
          for (auto [turn, columns] : llvm::enumerate(panel.turns))
            addToPartials(row, rows, columns, panelSums(row, rows, panel, turn, from, code.add(from, chunk)), isFirst);
        });
      });
    auto finish = [&](Value row, int64_t rows) {
      for (auto [turn, columns] : llvm::enumerate(panel.turns)) {
        SmallVector<Value> total = panelSums(row, rows, panel, turn, code.num(last), code.num(K));
        for (int64_t i = 0; partials && i < rows; ++i)
          for (unsigned c = 0; c < columns.size(); ++c) {
            Value &sum = total[i * columns.size() + c], place = partialAt(row, i, columns[c]);
            if (K > chunk)
              sum = plus(code.loadVector(element, place, {}), sum);
            if (step.longMaps)
              code.storeVector(sum, place, {});
          }
        if (!step.longMaps)
          store(row, rows, columns, total);
      }
    };
    if (step.longMaps)
      overTiles(finish, [&](Value row, Value rows) {
        for (ArrayRef<Column> columns : panel.turns)
          storeWaiting(row, rows, columns);
      });
    else
      overTiles(finish);
  }

  /// Whether a panel's columns fill at most half of a 16-lane vector, on a level whose registers hold only part of one.
  bool isNarrow(int64_t width) const {
    return isa<FloatType>(element) && 2 * width <= lanes && lanes * bytes * 8 > e.level.vectorBits;
  }

  /// Multiplies by a narrow panel with vectors of its own width. That leaves registers for more rows in a tile. The
  /// number is bounded, as each number of rows has its own code, and by `mostPointers`.
  void emitNarrow(Value pointer, Value column, int64_t width, int64_t valid) {
    int64_t registers = std::max<int64_t>(1, width * bytes * 8 / e.level.vectorBits);
    int64_t rows = std::max(tileRows, std::min(mostPointers, e.level.registers / registers - 2));
    int64_t ofAll = std::exchange(tileRows, rows);
    lanesOfSums = width;
    emitPanel(pointer, column, width, valid);
    lanesOfSums = lanes;
    tileRows = ofAll;
  }

  /// Multiplies tile by tile by all full panels, so that result rows are written end to end. Panel by panel, rows a
  /// multiple of 4 KB apart would evict each other from the L1 cache. The price is that weights are loaded again for
  /// each tile.
  void emitByRows(int64_t panels) {
    overTiles([&](Value row, int64_t rows) {
      code.loop(code.num(0), code.num(panels), 1, [&](Value panel) {
        for (ArrayRef<Column> columns : turnsOf(panelAt(panel), columnOf(panel), panelColumns, panelColumns))
          store(row, rows, columns, sums(row, rows, columns, code.num(0), code.num(K)));
      });
    });
  }

  void emitFull(int64_t panels) {
    // With so few terms, a tile stores more than it loads of the weights.
    if (K <= tileRows && !step.longMaps)
      return emitByRows(panels);
    code.loop(code.num(0), code.num(panels), 1,
              [&](Value panel) { emitPanel(panelAt(panel), columnOf(panel), panelColumns, panelColumns); });
  }

  /// Multiplies one or two rows by all full panels. Several panels share each loaded element of the row, and their
  /// streams suffice for the hardware prefetcher.
  void emitWide(int64_t panels) {
    int64_t group = std::min<int64_t>(panels, wideVectors / panelVectors);
    auto emitGroup = [&](Value first, int64_t count) {
      SmallVector<Column> columns;
      for (int64_t v = 0; v < count * panelVectors; ++v) {
        Value panel = code.add(first, v / panelVectors);
        int64_t within = v % panelVectors * lanes;
        columns.push_back(columnAt(code.at(panelAt(panel), within * bytes), code.add(columnOf(panel), within),
                                   panelColumns, panelColumns, 0));
      }
      overRows(wideRows, [&](Value row, int64_t rows) {
        // The columns of two rows may need more registers than there are.
        int64_t now = std::min<int64_t>(columns.size(), llvm::bit_floor(uint64_t(tileRows * tileVectors / rows)));
        for (ArrayRef<Column> rest = columns; !rest.empty();) {
          ArrayRef<Column> some = rest.take_front(now);
          store(row, rows, some, wholeSums(row, rows, some));
          rest = rest.drop_front(some.size());
        }
      });
    };
    int64_t whole = panels / group * group;
    code.loop(code.num(0), code.num(whole), group, [&](Value first) { emitGroup(first, group); });
    if (whole < panels)
      emitGroup(code.num(whole), panels - whole);
  }
};

} // namespace

void emitContraction(StepEmitter &emitter, const Step &step) { Contraction(emitter, step).emit(); }

} // namespace tutti
