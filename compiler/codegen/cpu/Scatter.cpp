// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Updates that are put into a row, one after the other.
#include "Emitters.h"

using namespace mlir;

namespace tutti {

/// A bfloat16 as a float32, by its bits: LLVM would take maximum and minimum back to 16 bits, for which it calls
/// functions.
static Value fromBF16(Code &code, Value x) {
  OpBuilder &b = code.b;
  Type i32 = b.getI32Type();
  Value bits = arith::ExtUIOp::create(b, code.loc, i32, arith::BitcastOp::create(b, code.loc, b.getI16Type(), x));
  Value high = arith::ShLIOp::create(b, code.loc, bits, arith::ConstantIntOp::create(b, code.loc, i32, 16));
  return arith::BitcastOp::create(b, code.loc, b.getF32Type(), high);
}

/// The bits of a float32 rounded to nearest, ties to even. LLVM would call a function for it.
static Value toBF16(Code &code, Value x) {
  OpBuilder &b = code.b;
  Type i32 = b.getI32Type();
  auto number = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, code.loc, i32, value); };
  Value bits = arith::BitcastOp::create(b, code.loc, i32, x);
  Value odd = arith::AndIOp::create(b, code.loc, arith::ShRUIOp::create(b, code.loc, bits, number(16)), number(1));
  Value up = arith::AddIOp::create(b, code.loc, arith::AddIOp::create(b, code.loc, bits, odd), number(0x7fff));
  Value isNaN = arith::CmpFOp::create(b, code.loc, arith::CmpFPredicate::UNO, x, x);
  Value high = arith::ShRUIOp::create(b, code.loc, up, number(16));
  high = arith::SelectOp::create(b, code.loc, isNaN, number(0x7fff), high);
  return arith::TruncIOp::create(b, code.loc, b.getI16Type(), high);
}

void emitScatter(StepEmitter &e, ScatterOp op, Value row) {
  Code &code = e.code;
  Value x = op.getX(), y = op.getResult();
  emitElements(e, y, row, [&](MutableArrayRef<Point> points) {
    return llvm::map_to_vector(points, [&](Point &point) { return e.read(x, e.own(x), point); });
  });
  auto updates = StepEmitter::typeOf(op.getUpdates());
  Type element = updates.getElementType();
  RowForm form = RowForm::of(updates);
  SmallVector<AffineExpr> exprs(ownRow(form, op.getContext()).getResults());
  exprs.back() = getAffineDimExpr(form.dims(), op.getContext());
  AffineMap access = AffineMap::get(form.dims() + 1, 0, exprs, op.getContext());
  Value length = e.sizeOf(RowForm::of(StepEmitter::typeOf(y)).columns);
  Value start = code.at(e.rowPointer(y), code.mul(code.mul(row, e.rowStride(y)), storageBytes(element)));
  code.loop(code.num(0), e.sizeOf(form.columns), 1, [&](Value j) {
    Point point(row, code.num(0), {}, j);
    Value place = e.inRange(e.read(op.getIndices(), access, point), length);
    Value update = e.read(op.getUpdates(), access, point), at = code.at(start, code.mul(place, storageBytes(element)));
    if (op.getKind() != ScatterKind::set) {
      Value met = code.loadScalar(element, at);
      update = element.isBF16() ? toBF16(code, op.buildCombine(code.b, fromBF16(code, met), fromBF16(code, update)))
                                : op.buildCombine(code.b, met, update);
    }
    code.storeScalar(update, at);
  });
}

} // namespace tutti
