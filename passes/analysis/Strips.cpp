// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks for a symbol in the types of values.
#include "passes/analysis/Strips.h"
#include "dialects/tutti/Lift.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Sizes.h"

using namespace mlir;

namespace tutti {

/// Whether the symbol, if it is there, is once on the outermost axis of more than one place.
static bool isOutermost(RankedTensorType type, StringRef symbol) {
  bool outermost = true;
  Sizes sizes = getSizes(type);
  for (const Size &size : llvm::drop_begin(sizes, isLifted(type))) {
    int64_t times = llvm::count(size.getSymbols(), symbol);
    if (times > 1 || (times == 1 && !outermost))
      return false;
    outermost = outermost && size == Size(1);
  }
  return true;
}

std::optional<std::string> stripAxis(func::FuncOp function) {
  SmallVector<Value> values(function.getArguments());
  for (Operation &op : function.getBody().front())
    llvm::append_range(values, op.getResults());
  std::optional<std::string> best;
  int64_t most = 0;
  for (const SizeRange &range : getSizeRanges(function->getParentOfType<ModuleOp>())) {
    auto has = [&](Value value) {
      return llvm::any_of(getSizes(typeOf(value)),
                          [&](const Size &size) { return llvm::is_contained(size.getSymbols(), range.symbol); });
    };
    int64_t count = llvm::count_if(values, has);
    if (count > most && llvm::all_of(values, [&](Value value) { return isOutermost(typeOf(value), range.symbol); }))
      best = range.symbol, most = count;
  }
  return best;
}

} // namespace tutti
