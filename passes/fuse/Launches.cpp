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

/// Each groups the whole function anew. A network has one place or two where that helps.
constexpr unsigned mostTrials = 8;

/// A copy of the function with a rewrite done, behind the function, and its groups, if these are fewer than `most`.
struct Trial {
  func::FuncOp function;
  std::vector<Group> groups;

  static std::optional<Trial> of(func::FuncOp function, const Rewrite &rewrite, size_t most) {
    // Of a trial that fails nobody hears.
    ScopedDiagnosticHandler silent(function.getContext(), [](Diagnostic &) { return success(); });
    IRMapping copies;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfter(function);
    auto copy = cast<func::FuncOp>(builder.clone(*function, copies));
    if (succeeded(rewrite(copies)))
      if (FailureOr<std::vector<Group>> groups = groupsOf(copy); succeeded(groups) && groups->size() < most)
        return Trial{copy, std::move(*groups)};
    copy.erase();
    return std::nullopt;
  }
};

} // namespace

FailureOr<std::vector<Group>> groupsForLaunches(func::FuncOp &function) {
  FailureOr<std::vector<Group>> groups = groupsOf(function);
  if (failed(groups))
    return groups;
  Repeats repeats(function->getParentOfType<ModuleOp>());
  unsigned trials = 0;
  for (bool goesOn = true; goesOn;) {
    goesOn = false;
    std::vector<Rewrite> rewrites = unitsThatStay(function);
    llvm::append_range(rewrites, repeats.of(function, *groups));
    for (const Rewrite &rewrite : rewrites) {
      if (trials == mostTrials)
        return groups;
      ++trials;
      std::optional<Trial> better = Trial::of(function, rewrite, groups->size());
      if (!better)
        continue;
      function.erase();
      function = better->function;
      groups = std::move(better->groups);
      goesOn = true;
      break;
    }
  }
  return groups;
}

} // namespace tutti
