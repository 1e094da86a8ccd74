// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads as they are asked for and as artifacts name them.
#ifndef TUTTI_DIALECTS_TUTTI_HEADS_H
#define TUTTI_DIALECTS_TUTTI_HEADS_H

#include "Tutti.h"

namespace tutti {

/// The texts that name a head, for messages.
constexpr llvm::StringLiteral headTexts = "members, mean, var, std, min, max, vote and quantile:Q with 0 <= Q <= 1";

/// The head that is the members' own values.
constexpr llvm::StringLiteral membersHead = "members";

/// The meaning of a head's text; the text itself stays its name: "quantile:0.50" is told from "quantile:0.5".
struct HeadText {
  std::optional<HeadKind> kind; ///< none: the members' own values
  std::optional<double> q;      ///< of a quantile, and of no other
  /// Reads a text; nothing if it is no head.
  static std::optional<HeadText> parse(llvm::StringRef text);
  bool operator==(const HeadText &other) const = default;
};

} // namespace tutti

#endif
