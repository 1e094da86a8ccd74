// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates that are put into a row, one after the other.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

class Scatter {
public:
  Scatter(StepEmitter &emitter, ScatterOp op, Value row)
      : e(emitter), code(emitter.code), op(op), row(row), type(typeOf(op.getUpdates()).getElementType()) {
    Value y = op.getResult();
    start = code.at(e.rowPointer(y), code.mul(code.mul(row, e.rowStride(y)), storageBytes(type)));
    length = code.div(e.sizeOf(RowForm::of(typeOf(y)).columns), code.num(width));
  }

  void emit() {
    Size given = RowForm::of(typeOf(op.getUpdates())).columns;
    bool ofBlocks = RowForm::of(typeOf(op.getIndices())).columns != given;
    Value blocks = code.div(e.sizeOf(given), code.num(width));
    code.loop(code.num(0), blocks, 1, [&](Value j) {
      Value first = code.mul(j, width);
      if (!ofBlocks)
        return code.loop(code.num(0), code.num(width), 1, [&](Value s) {
          Value at = code.add(first, s);
          one(at, code.add(placeAt(at), s));
        });
      Value place = placeAt(j);
      if (type.isBF16() || type.isF16())
        return code.loop(code.num(0), code.num(width), 1,
                         [&](Value s) { one(code.add(first, s), code.add(place, s)); });
      int64_t whole = llvm::alignDown(width, lanes);
      if (whole > 0)
        code.loop(code.num(0), code.num(whole), lanes,
                  [&](Value s) { vector(code.add(first, s), code.add(place, s), Value()); });
      if (whole < width)
        vector(code.add(first, whole), code.add(place, whole), code.firstLanes(width - whole));
    });
  }

private:
  StepEmitter &e;
  Code &code;
  ScatterOp op;
  Value row;
  Type type;
  int64_t width = op.getWidth().value_or(1);
  Value start, length;

  /// The value's element at this column of the row.
  Value read(Value value, Value column) {
    RowForm form = RowForm::of(typeOf(value));
    SmallVector<AffineExpr> exprs(ownRow(form, op.getContext()).getResults());
    exprs.back() = getAffineDimExpr(form.dims(), op.getContext());
    Point point(row, code.num(0), {}, column);
    return e.read(value, AffineMap::get(form.dims() + 1, 0, exprs, op.getContext()), point);
  }
  /// The first element of the block that index `i` names.
  Value placeAt(Value i) { return code.mul(e.inRange(read(op.getIndices(), i), length), width); }

  void one(Value from, Value to) {
    Value update = read(op.getUpdates(), from), at = code.at(start, code.mul(to, storageBytes(type)));
    if (op.getKind() != ScatterKind::set)
      update = op.buildCombine(code.b, code.loadScalar(type, at), update);
    code.storeScalar(update, at);
  }

  void vector(Value from, Value to, Value mask) {
    Point point(row, from, mask);
    Value update = code.splat(e.read(op.getUpdates(), e.own(op.getUpdates()), point));
    Value at = code.at(start, code.mul(to, storageBytes(type)));
    if (op.getKind() != ScatterKind::set)
      update = op.buildCombine(code.b, code.loadVector(type, at, mask), update);
    code.storeVector(update, at, mask);
  }
};

} // namespace

void emitScatter(StepEmitter &e, ScatterOp op, Value row) {
  Value x = op.getX();
  emitElements(e, op.getResult(), row, [&](MutableArrayRef<Point> points) {
    return llvm::map_to_vector(points, [&](Point &point) { return e.read(x, e.own(x), point); });
  });
  Scatter(e, op, row).emit();
}

} // namespace tutti
