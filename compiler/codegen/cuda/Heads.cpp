// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads: one answer of the active members by the last block of a row tile, over head.cuh.
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "Layout.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

std::string emitHeads(KernelText &k) {
  if (k.steps.heads.empty())
    return "";
  std::string all =
      formatv("  const Global<unsigned> tickets(p.args[{0}], (totalRows + {1}) / {2});\n"
              "  if (!isLastOf(int(p.sizes[0]{4}), tickets, int(blockIdx.x), shared<int>({3}, 1)))\n    return;\n",
              k.argumentCount() - 1, k.geometry.rows - 1, k.geometry.rows, k.geometry.flagOffset,
              k.geometry.cluster > 1 ? " * BlockTile::blocks" : "")
          .str();
  for (HeadOp head : k.steps.heads) {
    Type element = k.typeOf(head.getX()).getElementType(), answer = k.typeOf(head.getResult()).getElementType();
    std::string x = k.view(head.getX()), columns = k.sizeText(RowForm::of(k.typeOf(head.getX())).columns),
                type = cudaType(answer);
    std::string from = formatv("const auto of = [&](int m) -> {0} {{ return t.{1}[((m * totalRows) + t.firstRow + "
                               "row) * {2} + column]; };",
                               cudaType(element), x, columns)
                           .str();
    std::string result;
    switch (head.getKind()) {
    case HeadKind::mean:
      result = "meanOf<" + type + ">(count, of)";
      break;
    case HeadKind::var:
      result = "varOf<" + type + ">(count, of)";
      break;
    case HeadKind::std:
      result = "stdOf<" + type + ">(count, of)";
      break;
    case HeadKind::min:
      result = "minOf<" + type + ">(count, of)";
      break;
    case HeadKind::max:
      result = "maxOf<" + type + ">(count, of)";
      break;
    case HeadKind::quantile:
      result = formatv("quantileOf<{0}>(count, {1}, of)", type, cudaConstant(head.getQAttr())).str();
      break;
    case HeadKind::vote:
      result = "mostFrequent<" + type + ">(count, of)";
      break;
    }
    if (head.getKind() == HeadKind::vote && isa<FloatType>(element))
      all += formatv("  forElements(t.rows, 1, [&](int row, int) {{\n    const auto place = [&](int m) -> long long "
                     "{{\n      return placeOfLargest(int({0}), [&](int column) {{ "
                     "return {1}(t.{2}[((m * totalRows) + t.firstRow + row) * {0} + column]); });\n    };\n    "
                     "t.{3}[t.firstRow + row] = mostFrequent<long long>(int(p.sizes[0]), place);\n  });\n",
                     columns, cudaType(element), x, k.view(head.getResult()))
                 .str();
    else
      all += formatv("  forElements(t.rows, int({0}), [&](int row, int column) {{\n    const int count = "
                     "int(p.sizes[0]);\n    {1}\n"
                     "    t.{2}[int64_t(t.firstRow + row) * {0} + column] = {3};\n  });\n",
                     columns, from, k.view(head.getResult()), result)
                 .str();
  }
  return all;
}
} // namespace tutti
