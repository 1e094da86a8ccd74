// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in the way of a node's import, and what an import may cost.
#ifndef TUTTI_COMPILER_IMPORT_EMIT_PROBLEMS_H
#define TUTTI_COMPILER_IMPORT_EMIT_PROBLEMS_H

#include "compiler/import/Limits.h"
#include "compiler/import/emit/Operand.h"
#include "compiler/support/Error.h"

namespace tutti {

/// Why a node cannot be imported.
struct Problem {
  ExitCode code;
  std::string reason, advice;
};

/// What an import may still cost: elements that are computed or looked through, or ops that are made. A small file must
/// not make us work for long.
class Budget {
public:
  explicit Budget(int64_t elements = least) : elements(elements) {}
  /// The budget of a file of so many bytes, whose elements may all be looked at once.
  static Budget of(int64_t bytes) { return Budget(least + bytes); }

  int64_t left() const { return elements; }
  /// Takes `count` out of it; false, and nothing is taken, where there is less.
  [[nodiscard]] bool spend(int64_t count) {
    bool fits = count <= elements;
    elements -= fits ? count : 0;
    return fits;
  }

private:
  static constexpr int64_t least = int64_t(1) << 25;
  int64_t elements;
};

/// The first problem since `takeProblem` is kept; each returns nothing, for whoever has to return an operand.
class Problems {
public:
  Operand unsupported(const llvm::Twine &reason, const llvm::Twine &advice = "");
  Operand malformed(const llvm::Twine &reason);
  /// `does` ("slices", "sums over") what takes a length that is known, along one that each call decides.
  Operand unknownLength(const llvm::Twine &does, const Size &length);
  /// Reports what is made of the numbers of rows: it would depend on a row's place in its batch.
  Operand dependsOnPlace(const RowNumbers &numbers);
  /// The advice to bind the dimension that a size depends on, or by which several differ, or one of them.
  static std::string toBind(llvm::ArrayRef<Size> sizes);
  std::optional<Problem> takeProblem() { return std::exchange(problem, std::nullopt); }
  bool failed() const { return problem.has_value(); }

  /// Takes room for `count` elements that are computed while importing; false and a problem where there is none.
  bool affords(int64_t count);
  Budget budget; ///< of elements
  Budget ops = Budget(mostMade);
  /// Sizes were made one while importing: what was built is void, and what is wrong with it no problem.
  bool restart = false;

private:
  std::optional<Problem> problem;
};

} // namespace tutti

#endif
