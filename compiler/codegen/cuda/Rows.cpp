// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families, over the skeletons of row.cuh.
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

static std::string reduction(KernelText &k, ReduceOp op, const std::string &lines, ArrayRef<std::string> dims) {
  RankedTensorType type = k.typeOf(op.getX());
  Type element = type.getElementType();
  int64_t count = RowForm::of(type).columns.getFixed();
  bool isSum = op.getKind() == ReduceKind::sum || op.getKind() == ReduceKind::mean,
       largest = op.getKind() == ReduceKind::max;
  TypedAttr neutral;
  Builder b(k.kernel.getContext());
  if (isSum)
    neutral = b.getZeroAttr(element);
  else if (auto number = dyn_cast<FloatType>(element))
    neutral = FloatAttr::get(element, APFloat::getInf(number.getFloatSemantics(), largest));
  else
    neutral = IntegerAttr::get(element, largest ? APInt::getSignedMinValue(element.getIntOrFloatBitWidth())
                                                : APInt::getSignedMaxValue(element.getIntOrFloatBitWidth()));
  std::string name = cudaType(element),
              result = op.getKind() == ReduceKind::mean ? formatv("all / {0}({1})", name, count).str() : "all";
  return formatv("  reduceRows<{0}<{1}>, {2}>(t.rows, {3}, [&](int row, int column) {{\n{4}    return t.{5};\n  }, "
                 "[&](int row, {1} all) {{\n"
                 "    const int column = 0;\n{4}    {6}  });\n",
                 isSum     ? "SumOf"
                 : largest ? "LargestOf"
                           : "SmallestOf",
                 name, count, cudaConstant(neutral), lines, k.at(op.getX(), k.text(k.own(op.getX()), dims)),
                 k.store(op.getResult(), result, dims))
      .str();
}

std::string emitRows(KernelText &k, const Step &step) {
  std::string all;
  for (Value value : step.stores) {
    auto reduce = value.getDefiningOp<ReduceOp>();
    std::string lines;
    std::vector<std::string> dims = k.space(lines);
    if (reduce && numericsRule(reduce) == "lanes") {
      all += reduction(k, reduce, lines, dims);
      continue;
    }
    Size columns = RowForm::of(k.typeOf(value)).columns;
    k.methods[k.numberOf(value)] += k.compute(value, "make");
    std::string made = formatv("t.make{0}({1})", k.numberOf(value), k.text(k.own(value), dims)).str();
    all += formatv("  forElements(t.rows, int({0}), [&](int row, int column) {{\n{1}    {2}  });\n",
                   k.sizeText(columns), lines, k.store(value, made, dims))
               .str();
  }
  return all;
}

} // namespace tutti
