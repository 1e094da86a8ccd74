// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading of heads.
#include "Heads.h"

using namespace mlir;

namespace tutti {

std::optional<HeadText> HeadText::parse(StringRef text) {
  if (text == membersHead)
    return HeadText();
  double q;
  if (text.consume_front("quantile:")) {
    // NaN is not between 0 and 1 either.
    if (text.getAsDouble(q) || !(q >= 0 && q <= 1))
      return std::nullopt;
    return HeadText{HeadKind::quantile, q};
  }
  std::optional<HeadKind> kind = symbolizeHeadKind(text);
  if (!kind || *kind == HeadKind::quantile)
    return std::nullopt;
  return HeadText{kind, std::nullopt};
}

} // namespace tutti
