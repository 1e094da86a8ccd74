// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-schedule: everything that decides speed and no bit.
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Mistake.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Scratch.h"
#include "passes/analysis/Steps.h"
#include "passes/analysis/Target.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/Passes.h.inc"

namespace {

// Rows that the emitters take at a time; tiles of a call are multiples of it.
constexpr int64_t quantum = 8;
// Rows of a chain's tile, and the most that any has.
constexpr int64_t rowsOfChain = 64, mostRows = 1024;
// A tile's activations. Where weights stream by once a tile, as many rows as a tile may have are worth more than an L2
// cache that all of them fit into: from the next cache activations come one after the other, and less often than
// weights.
constexpr int64_t chainBudget = 4 << 20, scratchBudget = 512 << 10;
// Nothing is laid out in a worker's last line: a vector that went past the end of the last row would not reach another
// worker's memory.
constexpr int64_t spareBytes = plan::lineBytes;
// Elements of a task without contractions: enough to pay for the call.
constexpr int64_t elementsPerTask = 16 << 10;
// A pass over the weights of a chain costs about what this many rows cost.
constexpr int64_t chainOverhead = 4;

struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  void runOnOperation() override {
    if (failed(checkModel(getOperation())) || failed(requireNumerics(getOperation())))
      return signalPassFailure();
    const TargetTraits &traits = TargetTraits::of(getOperation());
    int64_t members = getMembers(getOperation()).value_or(1);
    for (auto kernel : getOperation().getOps<plan::KernelOp>()) {
      Steps steps = Steps::of(kernel);
      if (!steps.unbounded.empty()) {
        mistake(
            kernel.emitError("expected results for values whose rows have no fixed length (tutti-fuse makes them)"));
        return signalPassFailure();
      }
      if (!traits.schedulesTasks)
        continue;
      bool chain = kernel.getFamily() == plan::Family::chain;
      auto [tile, unit] = rowsOf(kernel, steps);
      int64_t scratch = scratchOf(steps, tile, members);
      if (int64_t most = traits.scratchBytes; scratch > most) {
        kernel.emitError("rows so long that a thread would keep ")
            << scratch << " bytes of values for " << tile << " of them, expected at most " << most;
        return signalPassFailure();
      }
      kernel.setScheduleAttr(plan::ScheduleAttr::get(&getContext(), tile, unit, chain ? chainOverhead : 1, scratch));
    }
  }

private:
  /// The rows of a task, and what they are a multiple of.
  struct Rows {
    int64_t tile, unit;
  };
  static Rows rowsOf(plan::KernelOp kernel, const Steps &steps) {
    bool chain = kernel.getFamily() == plan::Family::chain;
    int64_t perRow = steps.rowBytes(), wanted = chain ? rowsOfChain : elementsPerTask / widestRow(kernel),
            most = (chain ? chainBudget : scratchBudget) / std::max<int64_t>(perRow, 1);
    int64_t tile = std::clamp<int64_t>(llvm::alignDown(std::min(wanted, most), quantum), quantum, mostRows);
    const TransposedReads &reads = steps.transposed;
    if (chain || reads.operands.empty())
      return {tile, quantum};
    // Transposed operands are copied for so many rows at a time.
    int64_t unit = llvm::alignTo(quantum, reads.quantum());
    return {int64_t(llvm::alignTo(std::max(tile, perRow ? 0 : reads.rows * reads.step), unit)), unit};
  }

  /// The most elements that a row of the kernel's values has, of those whose rows have a fixed length.
  static int64_t widestRow(plan::KernelOp kernel) {
    int64_t widest = 1;
    kernel.getBody().walk([&](Operation *op) {
      if (op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType()))
        if (Size columns = RowForm::of(typeOf(op->getResult(0))).columns; columns.isFixed())
          widest = std::max(widest, columns.getFixed());
    });
    return widest;
  }

  /// Bytes of a worker's memory for a task of so many rows, or for its heads, which come when the rows are done.
  static int64_t scratchOf(const Steps &steps, int64_t tile, int64_t members) {
    int64_t scratch = llvm::alignTo(steps.rowBytes() * tile, plan::lineBytes) + spareBytes + steps.workBytes();
    for (HeadOp head : steps.heads)
      scratch = std::max(scratch, headScratchBytes(head, members));
    return scratch;
  }
};

} // namespace
} // namespace tutti
