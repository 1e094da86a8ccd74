// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The problems of a node's import, and the budget of an import.
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

/// The remaining cost that an import may have: elements computed or looked through, or ops made. It keeps a small file
/// from causing much work.
class Budget {
public:
  explicit Budget(int64_t elements = least) : elements(elements) {}
  /// The budget of a file of `bytes` bytes, whose elements may all be visited once.
  static Budget of(int64_t bytes) { return Budget(least + bytes); }

  int64_t left() const { return elements; }
  /// Takes `count` out of the budget; false, with nothing taken, if less is left.
  [[nodiscard]] bool spend(int64_t count) {
    bool fits = count <= elements;
    elements -= fits ? count : 0;
    return fits;
  }

private:
  static constexpr int64_t least = int64_t(1) << 25;
  int64_t elements;
};

/// Keeps the first problem since `takeProblem`. The functions that report one return nothing, as an Operand.
class Problems {
public:
  Operand unsupported(const llvm::Twine &reason, const llvm::Twine &advice = "");
  Operand malformed(const llvm::Twine &reason);
  /// Reports an op that needs a known length along an axis whose length each call decides; `does` is its verb
  /// ("slices", "sums over").
  Operand unknownLength(const llvm::Twine &does, const Size &length);
  /// Reports a computation with row numbers, whose result would depend on a row's place in its batch.
  Operand dependsOnPlace(const RowNumbers &numbers);
  /// The advice to bind the dimension that a size depends on, or by which several differ, or one of them.
  static std::string toBind(llvm::ArrayRef<Size> sizes);
  std::optional<Problem> takeProblem() { return std::exchange(problem, std::nullopt); }
  bool failed() const { return problem.has_value(); }

  /// Reserves budget for `count` elements that are computed during import; false and a problem if there is none left.
  bool affords(int64_t count);
  Budget budget; ///< of elements
  Budget ops = Budget(mostMade);
  /// Set when sizes were made equal while importing: the module built so far is void, and problems with it do not
  /// count.
  bool restart = false;

private:
  std::optional<Problem> problem;
};

} // namespace tutti

#endif
