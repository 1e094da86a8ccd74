// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Member, rows and columns.
#include "Rows.h"

using namespace mlir;

namespace tutti {

RowForm RowForm::of(RankedTensorType type) {
  RowForm form;
  form.rows = getSizes(type);
  form.lifted = isLifted(type);
  if (form.lifted) {
    form.members = form.rows.front();
    form.rows.erase(form.rows.begin());
  }
  if (!form.rows.empty())
    form.columns = form.rows.pop_back_val();
  return form;
}

AffineMap ownRow(const RowForm &form, MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  for (unsigned i = form.lifted ? 0 : 1; i < form.dims(); ++i) {
    // Maps read the only row of an axis of length 1 at 0, whatever the dimension.
    bool unit = i >= 1 && i - 1 < form.rows.size() && form.rows[i - 1] == Size(1);
    exprs.push_back(unit ? getAffineConstantExpr(0, context) : getAffineDimExpr(i, context));
  }
  if (form.columns == Size(1) && !exprs.empty())
    exprs.back() = getAffineConstantExpr(0, context);
  return AffineMap::get(form.dims(), 0, exprs, context);
}

bool staysInRow(AffineMap access, const RowForm &form) {
  unsigned first = form.lifted ? 0 : 1;
  if (access.getNumResults() == 0)
    return form.rows.empty();
  if (access.getNumResults() + first != form.dims() || access.getNumDims() != form.dims())
    return false;
  for (unsigned i = 0; i + 1 < access.getNumResults(); ++i) {
    AffineExpr expr = access.getResult(i);
    bool unit = i + first >= 1 && form.rows[i + first - 1] == Size(1);
    auto zero = dyn_cast<AffineConstantExpr>(expr);
    if (expr != getAffineDimExpr(i + first, access.getContext()) && !(unit && zero && zero.getValue() == 0))
      return false;
  }
  AffineExpr column = access.getResults().back();
  for (unsigned i = 0; i + 1 < form.dims(); ++i)
    if (column.isFunctionOfDim(i))
      return false;
  return true;
}

bool isOwnElement(AffineMap access, const RowForm &form) {
  if (!staysInRow(access, form) || access.getNumResults() == 0)
    return false;
  AffineExpr column = access.getResults().back();
  auto zero = dyn_cast<AffineConstantExpr>(column);
  return column == getAffineDimExpr(form.dims() - 1, access.getContext()) ||
         (form.columns == Size(1) && zero && zero.getValue() == 0);
}

AffineMap operandAccess(AffineMap ofMap, AffineMap access) {
  return compressUnusedSymbols(simplifyAffineMap(ofMap.compose(access)));
}

AffineMap operandAccess(MapOp map, unsigned operand, AffineMap access) {
  return operandAccess(map.getAccess(operand), access);
}

void addRuns(AffineMap access, unsigned column, llvm::SmallSetVector<int64_t, 2> &lengths) {
  access.walkExprs([&](AffineExpr expr) {
    bool divides = expr.getKind() == AffineExprKind::FloorDiv || expr.getKind() == AffineExprKind::Mod;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (!divides || !binary.getLHS().isFunctionOfDim(column))
      return;
    // A quotient of a quotient divides a number that is the same for all of a run.
    if (auto inner = dyn_cast<AffineBinaryOpExpr>(binary.getLHS());
        inner && inner.getKind() == AffineExprKind::FloorDiv)
      return;
    auto length = dyn_cast<AffineConstantExpr>(binary.getRHS());
    bool isColumn = binary.getLHS() == getAffineDimExpr(column, access.getContext());
    lengths.insert(isColumn && length ? length.getValue() : 1);
  });
}

int64_t runOf(Value value, unsigned column, llvm::function_ref<bool(Value)> isStored) {
  llvm::SmallSetVector<int64_t, 2> lengths;
  llvm::DenseSet<std::pair<Value, AffineMap>> seen;
  RowForm form = RowForm::of(typeOf(value));
  SmallVector<std::pair<Value, AffineMap>> open = {{value, ownRow(form, value.getContext())}};
  while (!open.empty()) {
    auto [next, access] = open.pop_back_val();
    auto map = next.getDefiningOp<MapOp>();
    if (!map || !seen.insert({next, access}).second || (next != value && isStored(next)))
      continue;
    for (auto [index, input] : llvm::enumerate(map.getInputs())) {
      AffineMap there = operandAccess(map, index, access);
      addRuns(there, column, lengths);
      open.emplace_back(input, there);
    }
  }
  bool fits = lengths.size() == 1 && lengths.front() >= shortestRun && form.columns.isFixed() &&
              form.columns.getFixed() % lengths.front() == 0;
  return fits ? lengths.front() : 0;
}

int64_t bodyLength(MapOp map) {
  int64_t length = 0;
  for (Operation &op : map.getBody().front().without_terminator())
    length += isa<math::MathDialect, TuttiDialect>(op.getDialect()) ? 12 : 1;
  return length;
}

bool staysInKernel(AffineMap access, RankedTensorType operand, RankedTensorType result) {
  RowForm form = RowForm::of(result), read = RowForm::of(operand);
  return read.sameRows(form) && staysInRow(operandAccess(access, ownRow(form, access.getContext())), read);
}

bool staysInKernel(MapOp map) { return staysInKernel(map.getAccess(0), typeOf(map.getMoved()), map.getType()); }

} // namespace tutti
