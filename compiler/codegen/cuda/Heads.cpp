// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads: one answer of the active members by the last block of a row tile, over head.cuh.
#include "Ending.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The expression for a head's result, computed by one thread or by threads that share an element's members.
static std::string resultOf(HeadOp head, const std::string &type) {
  switch (head.getKind()) {
  case HeadKind::mean:
    return "meanOf<" + type + ">(count, of)";
  case HeadKind::var:
    return "varOf<" + type + ">(count, of)";
  case HeadKind::std:
    return "stdOf<" + type + ">(count, of)";
  case HeadKind::min:
    return "minOf<" + type + ">(count, of)";
  case HeadKind::max:
    return "maxOf<" + type + ">(count, of)";
  case HeadKind::quantile:
    return formatv("quantileOf<{0}>(sharers, count, {1}, of)", type, cudaConstant(head.getQAttr())).str();
  case HeadKind::vote:
    return "mostFrequent(sharers, count, of)";
  }
  llvm_unreachable("every kind of head is listed");
}

static std::string answer(KernelText &k, HeadOp head) {
  RankedTensorType type = typeOf(head.getX());
  Type element = type.getElementType();
  std::string columns = k.sizeText(RowForm::of(type).columns), own = cudaType(element),
              to = cudaType(typeOf(head.getResult()).getElementType()), x = k.view(head.getX()),
              y = k.view(head.getResult());
  std::string at = formatv("t.{0}[((m * totalRows) + t.firstRow + row) * {1} + column]", x, columns);
  std::string of = formatv("    const auto of = [&](int m) -> {0} {{ return {1}; };\n", own, at);
  bool byRow = head.votesByScores();
  if (byRow) // each member votes for the place of its largest value
    of =
        formatv("    const auto of = [&](int m) {{ return placeOfLargest(int({0}), [&](int column) {{ return {1}({2}); "
                "}); };\n",
                columns, own, at);
  std::string width = byRow ? "1" : columns, result = resultOf(head, to);
  if (head.getKind() == HeadKind::quantile || head.getKind() == HeadKind::vote)
    return formatv(
        "  forShared(t.rows, int({0}), count, [&](int row, int column, const Sharers &sharers) {{\n{1}    "
        "return {2};\n  }, [&](int row, int column, {3} answer) {{\n    t.{4}[int64_t(t.firstRow + row) * {0} + "
        "column] = answer;\n  });\n",
        width, of, result, to, y);
  return formatv(
      "  forElements(t.rows, int({0}), [&](int row, int column) {{\n{1}    t.{2}[int64_t(t.firstRow + row) * {0} "
      "+ column] = {3};\n  });\n",
      width, of, y, result);
}

std::string emitHeads(KernelText &k) {
  if (k.steps.heads.empty())
    return "";
  std::string all = formatv("  const Global<unsigned> tickets(p.args[{0}], (totalRows + {1}) / {2});\n"
                            "  const int count = int({5});\n"
                            "  if (isLastOf(count{4}, tickets, tile, shared<int>({3}, 1))) {{\n",
                            k.argumentCount() - 1, numberText(k.geometry.rows - 1), k.geometry.rows,
                            numberText(k.geometry.flagOffset),
                            k.geometry.warps.cluster > 1 ? " * BlockTile::blocks" : "", k.membersText())
                        .str();
  for (HeadOp head : k.steps.heads)
    all += indented(answer(k, head));
  return all + "  }\n";
}

} // namespace tutti
