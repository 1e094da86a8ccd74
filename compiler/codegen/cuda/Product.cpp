// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values of a call, over the skeleton tile.cuh: tiles of the rows that read the same columns of the
// right operand.
#include "Text.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

namespace {

/// An operand as text: its view, the function from a row to the position of the row's first term, and its strides.
struct OperandText {
  std::string view, at;
  bool fours; ///< four neighbouring terms are one load
  std::string termStep, columnStep;
};

} // namespace

static std::string stepOf(KernelText &k, Value operand, StringRef labels, char label) {
  size_t axis = labels.find(label);
  return axis == StringRef::npos ? "0" : k.product(ArrayRef(getSizes(typeOf(operand))).drop_front(axis + 1));
}

static OperandText operandText(KernelText &k, ContractOp op, Value operand, StringRef labels, const ContractSpec &spec,
                               const ProductForm &form) {
  Sizes sizes = getSizes(typeOf(operand));
  OperandText text;
  text.view = "t." + k.view(operand);
  text.termStep = stepOf(k, operand, labels, form.summed);
  text.columnStep = stepOf(k, operand, labels, spec.result.back());
  // Rows of memory are aligned if they are multiples of four floats.
  const Place &place = k.steps.placeOf(operand);
  bool inScratch = place.kind == Place::scratch;
  text.fours =
      labels.back() == form.summed && sizes.back().isFixed() && (inScratch || sizes.back().getFixed() % 4 == 0);
  if (inScratch) {
    text.at = formatv("[&](int row) -> int64_t {{ return row * {0}; }", numberText(place.stride));
    return text;
  }
  AffineMap own = k.own(op.getResult());
  AffineExpr first = getAffineConstantExpr(0, op.getContext());
  SmallVector<AffineExpr> exprs;
  for (char label : labels) {
    size_t axis = spec.result.find(label);
    exprs.push_back(axis == std::string::npos || label == spec.result.back() ? first : own.getResult(axis));
  }
  std::string lines;
  std::vector<std::string> dims = k.space(lines);
  text.at = formatv("[&](int row) -> int64_t {{\n{0}    return {1};\n  }", lines,
                    k.placeOf(operand, AffineMap::get(own.getNumDims(), 0, exprs, op.getContext()), dims));
  return text;
}

std::string emitProduct(KernelText &k, const Step &step) {
  ContractOp op = step.contraction;
  ProductForm form = *ProductForm::of(op);
  ContractSpec spec = op.labels();
  ProductTile tile = ProductTile::of(step, k.steps, k.geometry);
  OperandText left = operandText(k, op, op.getLhs(), spec.lhs, spec, form),
              right = operandText(k, op, op.getRhs(), spec.rhs, spec, form);
  std::string columns = k.sizeText(RowForm::of(op.getType()).columns),
              run = k.product(ArrayRef(k.steps.form.rows).take_back(form.run));
  std::string zeros;
  for (Value stored : step.stores)
    zeros += zeroText(k, stored);
  return formatv(
             "  const auto leftAt = {0};\n"
             "  const auto rightAt = {1};\n"
             "{2}"
             "  multiplyValues<{3}, {4}, {5}, {6}>(t.firstRow, t.rows, int({7}), int({8}), operand<{9}>({10}, {11}), "
             "leftAt,\n      operand<{12}>({13}, {14}), rightAt, {15}, columns, store);\n",
             left.at, right.at, emitEnding(k, step), op.terms()->getFixed(), numericsChunk(op), tile.rows, tile.columns,
             run, columns, left.fours, left.view, left.termStep, right.fours, right.view, right.termStep,
             right.columnStep)
             .str() +
         zeros;
}

} // namespace tutti
