// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans along a row: sixteen elements at a time.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

/// Scans chains of elements that lie `step` apart: terms one after the other, neighbouring chains side by side in
/// vectors.
static void emitColumns(StepEmitter &e, ScanOp op, Value row, int64_t step, Value empty) {
  Code &code = e.code;
  int64_t count = RowForm::of(typeOf(op.getX())).columns.getFixed() / step;
  ReduceKind kind = op.getKind() == ScanKind::sum ? ReduceKind::sum : ReduceKind::prod;
  AffineMap own = e.own(op.getX());
  // Vectors from `column` on, the last of them of `width` lanes.
  auto block = [&](Value column, int64_t vectors, int64_t width) {
    auto at = [&](Value i, int64_t vector) {
      if (op.getReverse())
        i = code.sub(code.num(count - 1), i);
      return Point(row, code.add(code.add(code.mul(i, step), column), vector * lanes),
                   vector + 1 == vectors ? code.firstLanes(width) : Value());
    };
    auto read = [&](Value i, int64_t vector) {
      Point point = at(i, vector);
      return code.splat(e.read(op.getX(), own, point));
    };
    auto write = [&](Value i, int64_t vector, Value data) {
      Point point = at(i, vector);
      e.write(op.getResult(), data, point);
    };
    SmallVector<Value> all;
    for (int64_t v = 0; v < vectors; ++v) {
      all.push_back(read(code.num(0), v));
      write(code.num(0), v, op.getExclusive() ? empty : all.back());
    }
    code.loop(code.num(1), code.num(count), 1, all, [&](Value i, ValueRange sofar) {
      SmallVector<Value> next;
      for (int64_t v = 0; v < vectors; ++v) {
        next.push_back(combined(code, kind, sofar[v], read(i, v)));
        write(i, v, op.getExclusive() ? sofar[v] : next.back());
      }
      return next;
    });
  };
  int64_t group = e.level.mathVectors, whole = llvm::alignDown(step, group * lanes);
  if (whole > 0)
    code.loop(code.num(0), code.num(whole), group * lanes, [&](Value column) { block(column, group, lanes); });
  if (whole < step)
    block(code.num(whole), llvm::divideCeil(step - whole, lanes), (step - whole - 1) % lanes + 1);
}

/// Within a vector each lane adds the lanes 1, 2, 4 and 8 before it; then all lanes add the total of the vectors
/// before.
void emitScan(StepEmitter &e, ScanOp op, Value row) {
  Code &code = e.code;
  RankedTensorType type = typeOf(op.getX());
  Type element = type.getElementType();
  int64_t count = RowForm::of(type).columns.getFixed();
  bool sums = op.getKind() == ScanKind::sum, isFloat = isa<FloatType>(element);
  ReduceKind kind = sums ? ReduceKind::sum : ReduceKind::prod;
  VectorType vector = code.vec(element);
  auto numbers = [&](double value) {
    return code.constant(vector, isFloat ? TypedAttr(code.b.getFloatAttr(element, value))
                                         : code.b.getIntegerAttr(element, int64_t(value)));
  };
  // -0 + s is s, whatever s is.
  Value none = numbers(sums ? -0.0 : 1), empty = numbers(sums ? 0 : 1);
  if (std::optional<int64_t> step = op.getStep())
    return emitColumns(e, op, row, *step, empty);
  AffineMap own = e.own(op.getX());

  /// One vector of the scan. `before` is the row's total so far, and `shown` the total as an exclusive scan outputs it;
  /// both in every lane.
  auto block = [&](Value start, int64_t width, Value before, Value shown) {
    auto turned = [&](Value lanes) {
      return op.getReverse() ? code.shuffled(lanes, lanes, [&](int64_t l) { return l < width ? width - 1 - l : l; })
                             : lanes;
    };
    Value column = op.getReverse() ? code.sub(code.num(count - width), start) : start;
    Point point(row, column, code.firstLanes(width));
    Value all = turned(code.splat(e.read(op.getX(), own, point)));
    for (int64_t by = 1; by < lanes && by < width; by *= 2)
      all = combined(code, kind, code.shuffled(all, none, [&](int64_t l) { return l < by ? lanes + l : l - by; }), all);
    all = combined(code, kind, before, all);
    Value said = op.getExclusive() ? code.shuffled(all, shown, [&](int64_t l) { return l == 0 ? lanes : l - 1; }) : all;
    e.write(op.getResult(), turned(said), point);
    Value after = code.shuffled(all, all, [&](int64_t) { return width - 1; });
    return SmallVector<Value>{after, after};
  };
  int64_t whole = llvm::alignDown(count, lanes);
  SmallVector<Value> sofar{none, empty};
  if (whole > 0)
    sofar = code.loop(code.num(0), code.num(whole), lanes, sofar,
                      [&](Value start, ValueRange sofar) { return block(start, lanes, sofar[0], sofar[1]); });
  if (whole < count)
    block(code.num(whole), count - whole, sofar[0], sofar[1]);
}

} // namespace tutti
