// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which contractions are tiles of rows times columns.
#include "Products.h"
#include "Numerics.h"
#include "Steps.h"
#include "Target.h"

using namespace mlir;

namespace tutti {

std::optional<ProductForm> ProductForm::of(const ContractSpec &spec, Type left, Type right, Type result) {
  Type element = cast<RankedTensorType>(result).getElementType();
  std::string summed = spec.contracted();
  StringRef own = StringRef(spec.result).drop_front(isLifted(cast<RankedTensorType>(result)));
  if (summed.size() != 1 || !(element.isF32() || element.isF64()) || own.empty())
    return std::nullopt;
  char column = own.back();
  bool single = getSizes(cast<RankedTensorType>(result)).back() == Size(1);
  bool transposed = spec.rhs.back() == summed[0] && !single;
  if (spec.lhs.find(column) != std::string::npos || (!transposed && !single && spec.rhs.back() != column) ||
      !getSizes(cast<RankedTensorType>(left))[spec.lhs.find(summed[0])].isFixed())
    return std::nullopt;
  // Rows from the innermost out, as long as they are neighbours in the left operand, too.
  unsigned run = 0;
  StringRef rows = own.drop_back();
  while (run < rows.size() && spec.rhs.find(rows[rows.size() - 1 - run]) == std::string::npos &&
         StringRef(spec.lhs).contains(rows.take_back(run + 1)))
    ++run;
  return ProductForm{summed[0], transposed, run};
}

std::optional<ProductForm> ProductForm::of(ContractOp op) {
  if (numericsRule(op) != NumericsRule::chain ||
      (op.getType().getElementType().isF64() && !TargetTraits::of(op).tilesFloat64))
    return std::nullopt;
  return of(op.labels(), op.getLhs().getType(), op.getRhs().getType(), op.getType());
}

bool readsNeighbours(const ContractSpec &spec) {
  char last = spec.lhs.back();
  return !StringRef(spec.rhs).contains(last) || !StringRef(spec.result).contains(last);
}

bool readsOwnRowOfLeft(ContractOp op, const ProductForm &form) {
  ContractSpec spec = op.labels();
  return spec.lhs == spec.result.substr(0, spec.result.size() - 1) + form.summed;
}

bool isTiled(Operation *op) {
  auto contract = dyn_cast_or_null<ContractOp>(op);
  return contract && (isPanels(op) || ProductForm::of(contract));
}

int64_t productWorkBytes(ContractOp op, const ProductForm &form) {
  return form.transposed ? llvm::alignTo(op.terms()->getFixed(), lanes) * partialBytes : 0;
}

} // namespace tutti
