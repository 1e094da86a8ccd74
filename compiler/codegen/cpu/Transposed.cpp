// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows that read operands transposed: a block of these is copied first, in squares that registers transpose.
//
// Without a copy, sixteen neighbours of a row would come from sixteen cache lines, one element each. Copying a block
// uses all of each line, and the copy is small enough to stay in the L1 cache while the rows read it.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

// From this distance in bytes on, columns soon lie in another page, where the hardware prefetcher stops.
constexpr int64_t farApart = 512;
// Up to this many rows or columns, elements are picked from the vectors in which they lie, with one shuffle per vector.
constexpr int64_t mostPicked = 6;

class Blocks {
public:
  Blocks(StepEmitter &e, ArrayRef<TransposedReads::Operand> operands)
      : e(e), code(e.code), reads(e.steps.transposed), operands(operands) {}

  void emit(RowRange rows) {
    memory = code.at(e.need(Need::work), e.steps.phaseBytes);
    code.loopWhile(
        {code.num(0)}, [&](ValueRange at) { return SmallVector<Value>{code.less(at[0], e.rows()), at[0]}; },
        [&](ValueRange at) {
          Value step = code.num(reads.step), one = code.num(1), left = code.sub(e.rows(), at[0]);
          Value place = code.add(e.need(Need::firstRow), at[0]);
          Value between = code.remainder(place, step);
          inAxis = code.remainder(code.div(place, step), code.num(reads.length));
          // A block spans several rows only if it begins with the first of the `step` rows between two neighbours;
          // otherwise each row is a block.
          Value begins = code.equal(between, code.num(0));
          Value whole = code.max(code.div(left, step), one);
          count = code.min(code.min(code.num(reads.rows), code.sub(code.num(reads.length), inAxis)),
                           code.select(begins, whole, one));
          Value blocks = code.min(code.sub(step, between), left);
          code.loop(code.num(0), blocks, 1, [&](Value i) {
            from = code.add(at[0], i);
            overColumns(rows);
          });
          return SmallVector<Value>{code.add(code.add(at[0], blocks), code.mul(code.sub(count, one), step))};
        });
  }

private:
  StepEmitter &e;
  Code &code;
  const TransposedReads &reads;
  ArrayRef<TransposedReads::Operand> operands;
  Value memory;
  StepEmitter::Copies copies;
  Value from, inAxis, count; ///< a block's rows: the first, in the tile and along its axis, and how many

  /// Copies the columns, or some at a time, and calls `rows`.
  void overColumns(RowRange rows) {
    Value to = code.add(from, code.mul(count, reads.step));
    if (reads.endToEnd) {
      copyAll();
      return e.readingCopies(copies, [&] {
        e.overColumns({code.num(0), code.mul(count, operands.front().pitch), {}},
                      [&] { rows(from, code.add(from, 1), 1); });
      });
    }
    if (!reads.columns) {
      copyAll();
      return e.readingCopies(copies, [&] { rows(from, to, reads.step); });
    }
    auto take = [&](const Columns &columns) {
      for (const TransposedReads::Operand &operand : operands)
        copy(operand, columns);
      e.readingCopies(copies, [&] { e.overColumns(columns, [&] { rows(from, to, reads.step); }); });
    };
    int64_t most = *reads.columns;
    auto takeWhole = [&](Value whole) {
      code.loop(code.num(0), whole, most, [&](Value column) { take({column, {}, most}); });
    };
    Size all = operands.front().columns;
    if (all.isFixed()) {
      int64_t whole = llvm::alignDown(all.getFixed(), most);
      takeWhole(code.num(whole));
      if (whole < all.getFixed())
        take({code.num(whole), {}, all.getFixed() - whole});
      return;
    }
    Value end = e.sizeOf(all), whole = code.mul(code.div(end, code.num(most)), most);
    takeWhole(whole);
    code.when(code.less(whole, end), [&] { take({whole, code.sub(end, whole), {}}); });
  }

  void copyAll() {
    for (const TransposedReads::Operand &operand : operands)
      copy(operand, {code.num(0), {}, operand.columns.getFixed()});
  }

  /// The source and target of a copy.
  struct Transfer {
    const TransposedReads::Operand &operand;
    Type element;
    int64_t bytes;       ///< of an element
    int64_t side;        ///< rows at a time
    Value source;        ///< of the first row copied and the first column
    Value target;        ///< of the same
    Value rows, lastRow; ///< behind the first one: where to stop, and the last place where `side` rows lie in the axis
  };

  void copy(const TransposedReads::Operand &operand, const Columns &columns) {
    Type element = code.storageType(StepEmitter::elementOf(operand.value));
    int64_t bytes = storageBytes(element);
    int64_t side = reads.endToEnd ? lanes : std::min<int64_t>(lanes, e.level.vectorBits / 8 / bytes);
    // Vectors are loaded within the axis, so near its end a load begins before the first wanted row.
    int64_t last = std::max<int64_t>(reads.length - side, 0);
    Value first = code.min(inAxis, code.num(last)), before = code.sub(inAxis, first);
    Point corner(from, columns.from);
    Transfer t{operand,
               element,
               bytes,
               side,
               code.at(e.pointerTo(operand.value, operand.access, corner), code.mul(before, -bytes)),
               code.at(memory, operand.offset),
               code.add(before, count),
               code.sub(code.num(last), first)};
    Value origin = code.add(code.mul(before, -operand.pitch), columns.from);
    copies[{operand.value, operand.access}] = {code.at(t.target, code.mul(origin, -bytes)), from, reads.step,
                                               operand.pitch};
    if (reads.endToEnd && columns.fixed <= mostPicked)
      return interleave(t, *columns.fixed);
    bool few = operand.stride == reads.length && reads.length <= std::min(side, mostPicked) && columns.fixed;
    auto take = [&](Value column, int64_t valid) { few ? separate(t, column, valid) : turn(t, column, valid); };
    Value end = columns.fixed ? code.num(*columns.fixed) : columns.count;
    Value whole = code.mul(code.div(end, code.num(lanes)), lanes);
    code.loop(code.num(0), whole, lanes, [&](Value column) { take(column, lanes); });
    if (!columns.fixed)
      code.loop(whole, end, 1, [&](Value column) { take(column, 1); });
    else if (int64_t rest = *columns.fixed % lanes)
      take(whole, rest);
  }

  void overSides(const Transfer &t, llvm::function_ref<void(Value row)> take) {
    if (reads.length <= t.side)
      return take(code.num(0));
    code.loop(code.num(0), t.rows, t.side, [&](Value row) { take(code.min(row, t.lastRow)); });
  }
  Value pointerTo(const Transfer &t, Value row, Value column, int64_t lane) {
    Value place = code.add(code.mul(code.add(column, lane), t.operand.stride), row);
    return code.at(t.source, code.mul(place, t.bytes));
  }
  Value load(const Transfer &t, Value row, Value column, int64_t lane, Value mask, int64_t count) {
    return code.loadVector(t.element, pointerTo(t, row, column, lane), mask, count);
  }
  void store(const Transfer &t, Value row, int64_t i, Value column, Value values) {
    Value place = code.add(code.mul(code.add(row, i), t.operand.pitch), column);
    code.storeVector(values, code.at(t.target, code.mul(place, t.bytes)), {});
  }

  /// Prefetches the sixteen columns behind those from `column` on: the lines of the block's rows, plus one, as rows may
  /// begin within a line.
  void askAhead(const Transfer &t, Value column) {
    if (t.operand.stride * t.bytes < farApart)
      return;
    int64_t rows = plan::lineBytes / t.bytes;
    code.loop(code.num(0), code.add(t.rows, rows), rows, [&](Value row) {
      for (int64_t lane = 0; lane < lanes; ++lane)
        code.prefetch(pointerTo(t, row, column, lanes + lane));
    });
  }

  /// Transposes sixteen columns, of which `valid` exist. The memory written behind these is unused, or belongs to the
  /// next row.
  void turn(const Transfer &t, Value column, int64_t valid) {
    if (valid == lanes)
      askAhead(t, column);
    overSides(t, [&](Value row) {
      SmallVector<Value> square;
      for (int64_t lane = 0; lane < valid; ++lane)
        square.push_back(load(t, row, column, lane, code.firstLanes(reads.length, t.side), t.side));
      square.resize(lanes, LLVM::PoisonOp::create(code.b, code.vec(t.element, t.side)));
      for (auto [i, values] : llvm::enumerate(code.transposed(square, e.level.vectorBits)))
        if (int64_t(i) < reads.length)
          store(t, row, i, column, values);
    });
  }

  /// The same if a column's few rows are directly followed by the next column's.
  void separate(const Transfer &t, Value column, int64_t valid) {
    SmallVector<Value> vectors;
    for (int64_t from = 0; from < valid * reads.length; from += lanes)
      vectors.push_back(load(t, code.num(from), column, 0, code.firstLanes(valid * reads.length - from), lanes));
    for (int64_t i = 0; i < reads.length; ++i)
      store(t, code.num(i), 0, column, code.picked(vectors, [&](int64_t lane) { return lane * reads.length + i; }));
  }

  /// Writes rows of few columns, end to end.
  void interleave(const Transfer &t, int64_t columns) {
    overSides(t, [&](Value row) {
      SmallVector<Value> vectors;
      for (int64_t column = 0; column < columns; ++column)
        vectors.push_back(load(t, row, code.num(column), 0, {}, lanes));
      for (int64_t from = 0; from < columns * lanes; from += lanes)
        store(t, row, 0, code.num(from), code.picked(vectors, [&](int64_t lane) {
          return (from + lane) % columns * lanes + (from + lane) / columns;
        }));
    });
  }
};

} // namespace

void emitTransposed(StepEmitter &emitter, ArrayRef<TransposedReads::Operand> operands, RowRange rows) {
  Blocks(emitter, operands).emit(rows);
}

} // namespace tutti
