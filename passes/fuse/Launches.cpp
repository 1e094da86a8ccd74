// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's groups, after rewrites that make them fewer: each is a launch.
#include "Launches.h"
#include "Grouping.h"
#include "Repeat.h"
#include "Units.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace tutti {

namespace {

/// The most trials of one kind of rewrite, fewer where a function has many ops. Each trial groups the whole function
/// anew, and a network has one place or two where that helps.
constexpr unsigned mostTrials = 8, mostOps = 16000;

unsigned trialsFor(func::FuncOp function) {
  size_t ops = function.getBody().front().getOperations().size();
  return std::clamp<size_t>(mostOps / ops, 2, mostTrials);
}

/// A copy of the function with a rewrite done, behind the function, and its groups, if these are fewer than `most`.
struct Trial {
  func::FuncOp function;
  std::vector<Group> groups;

  /// Tries a rewrite, which takes one of `trials`, unless it finds nothing to do.
  static std::optional<Trial> of(func::FuncOp function, const Rewrite &rewrite, size_t most, unsigned &trials) {
    // Diagnostics of a trial that fails are dropped.
    ScopedDiagnosticHandler silent(function.getContext(), [](Diagnostic &) { return success(); });
    IRMapping copies;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(function);
    auto copy = cast<func::FuncOp>(builder.clone(*function, copies));
    if (succeeded(rewrite(copies))) {
      --trials;
      if (FailureOr<std::vector<Group>> groups = groupsOf(copy); succeeded(groups) && groups->size() < most)
        return Trial{copy, std::move(*groups)};
    }
    copy.erase();
    return std::nullopt;
  }
};

/// Does the first of the rewrites that makes groups fewer; false where none does.
bool improve(func::FuncOp &function, std::vector<Group> &groups, ArrayRef<Rewrite> rewrites, unsigned &trials) {
  for (const Rewrite &rewrite : rewrites) {
    if (trials == 0)
      return false;
    if (std::optional<Trial> better = Trial::of(function, rewrite, groups.size(), trials)) {
      function.erase();
      function = better->function;
      groups = std::move(better->groups);
      return true;
    }
  }
  return false;
}

} // namespace

FailureOr<std::vector<Group>> groupsForLaunches(func::FuncOp &function) {
  FailureOr<std::vector<Group>> groups = groupsOf(function);
  if (failed(groups))
    return groups;
  Repeats repeats(function->getParentOfType<ModuleOp>());
  unsigned ofUnits = trialsFor(function), ofRepeats = ofUnits;
  while (improve(function, *groups, unitsThatStay(function), ofUnits) ||
         improve(function, *groups, repeats.of(function, *groups), ofRepeats)) {
  }
  return groups;
}

} // namespace tutti
