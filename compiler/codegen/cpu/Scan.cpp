// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans along a row: sixteen elements at a time.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

/// Within a vector each lane takes in the lanes 1, 2, 4 and 8 before it, and then all of them what the vectors before
/// came to.
void emitScan(StepEmitter &e, ScanOp op, Value row) {
  Code &code = e.code;
  RankedTensorType type = StepEmitter::typeOf(op.getX());
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
  AffineMap own = e.own(op.getX());

  /// `before` is what the row came to, and `shown` what an exclusive scan says of it: both in every lane.
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
