// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-fuse: computing ops become kernels, one for ops that share their rows.
#include "Columns.h"
#include "Launches.h"
#include "dialects/plan/SameButForName.h"
#include "dialects/tutti/Mistake.h"
#include "dialects/tutti/Model.h"
#include "passes/Passes.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Target.h"

#include "mlir/Analysis/TopologicalSortUtils.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"

namespace {

/// Puts kernels into a module, equal ones once, and dispatches where their ops were.
class Outliner {
public:
  explicit Outliner(ModuleOp module) : symbols(module), packsRows(TargetTraits::of(module).packsNarrowRows) {}

  void outline(const Group &group) {
    Operation *last = group.ops.back();
    for (Operation *op : group.ops)
      if (last->isBeforeInBlock(op))
        last = op;
    OpBuilder builder(last);
    builder.setInsertionPointAfter(last);

    Outline outline = Outline::of(group, "k" + std::to_string(kernels.size()));
    const auto &[inputs, results] = outline.ports;
    if (packsRows)
      joinColumns(outline.kernel);
    auto seenAs = [&](Value value, Type type) -> Value {
      return value.getType() == type ? value : ReshapeOp::create(builder, value.getLoc(), type, value);
    };
    Block &body = outline.kernel.getBody().front();
    SmallVector<Value> given;
    for (auto [input, argument] : llvm::zip_equal(inputs, body.getArguments()))
      given.push_back(seenAs(input, argument.getType()));
    SmallVector<Type> types(outline.kernel.getYielded().getTypes());
    std::string kernel = insertOnce(outline.kernel);
    auto dispatch = plan::DispatchOp::create(builder, last->getLoc(), types, kernel, given);
    llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
    for (auto [result, made] : llvm::zip_equal(results, dispatch.getResults())) {
      Value after = seenAs(made, result.getType());
      Value(result).replaceUsesWithIf(after, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    }
    for (Operation *op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op->erase();
    }
  }

private:
  SymbolTable symbols;
  bool packsRows;
  MapButForName<std::string> kernels; ///< and their names

  /// The name of the kernel, or of its equal that the module has already.
  std::string insertOnce(plan::KernelOp kernel) {
    auto [known, fresh] = kernels.try_emplace(kernel);
    if (fresh)
      known->second = symbols.insert(kernel).str(); // a weight may have its name
    else
      kernel->erase();
    return known->second;
  }
};

struct FusePass : impl::FusePassBase<FusePass> {
  void runOnOperation() override {
    if (failed(checkModel(getOperation())) || failed(requireNumerics(getOperation())))
      return signalPassFailure();
    // Grouping may put a function's rewritten copy in its place, so symbols are looked up when that is done.
    std::vector<std::pair<func::FuncOp, std::vector<Group>>> functions;
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      FailureOr<std::vector<Group>> groups = groupsForLaunches(function);
      if (failed(groups))
        return signalPassFailure();
      functions.emplace_back(function, std::move(*groups));
    }
    Outliner outliner(getOperation());
    for (auto &[function, groups] : functions) {
      for (const Group &group : groups)
        outliner.outline(group);
      if (!sortTopologically(&function.getBody().front())) {
        mistake(function.emitError("kernels need each other's results"));
        return signalPassFailure();
      }
    }
  }
};

} // namespace
} // namespace tutti
