// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What stands in the way of a plan: each a problem with its reason.
#include "Check.h"
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Mistake.h"
#include "dialects/tutti/Ports.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"
#include "runtime/schema/Limits.h"

using namespace mlir;

namespace tutti {

namespace {

class Check {
public:
  Check(func::FuncOp function, const LargestSizes &largest)
      : module(function->getParentOfType<ModuleOp>()), function(function), largest(largest),
        returned(function.getBody().front().getTerminator()->getOperands()) {}

  LogicalResult run() {
    return success(succeeded(requireNumerics(module)) && succeeded(checkPorts()) && succeeded(checkKernels()) &&
                   succeeded(checkSizes()) && succeeded(checkOps()));
  }

private:
  ModuleOp module;
  func::FuncOp function;
  const LargestSizes &largest;
  OperandRange returned;

  LogicalResult checkPorts() {
    if (int64_t ports = int64_t(function.getNumArguments()) + function.getNumResults(); ports > rt::kMaxPorts)
      return function.emitError("inputs and outputs are ")
             << ports << ", each head an output, expected at most " << rt::kMaxPorts;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(checkName(inputName(function, i), "argument", i)))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(checkName(outputName(function, i), "result", i)))
        return failure();
    return success();
  }

  LogicalResult checkName(StringAttr name, StringRef what, unsigned index) {
    if (name)
      return success();
    return function.emitError("expected ")
           << what << " " << index << " of @main to have a name, as in {" << portName << " = \"x\"}";
  }

  LogicalResult checkSizes() {
    for (BlockArgument argument : function.getArguments())
      if (failed(
              checkSize(argument, ("input '" + inputName(function, argument.getArgNumber()).getValue() + "'").str())))
        return failure();
    for (GetOp get : function.getOps<GetOp>())
      if (failed(checkSize(get, ("weight '" + get.getParam() + "'").str())))
        return failure();
    for (auto [i, value] : llvm::enumerate(returned))
      if (failed(checkSize(value, ("output '" + outputName(function, i).getValue() + "'").str())))
        return failure();
    return success();
  }

  LogicalResult checkSize(Value value, StringRef what) {
    if (int64_t rank = typeOf(value).getRank(); rank > rt::kMaxRank)
      return emitError(value.getLoc()) << what << " of rank " << rank << ": " << value.getType()
                                       << "; artifacts take at most " << rt::kMaxRank
                                       << " dimensions, the member axis among them";
    for (const Size &size : getSizes(typeOf(value)))
      for (StringRef symbol : size.getSymbols())
        if (!largest.of(symbol))
          return emitError(value.getLoc())
                 << what << " of " << value.getType() << ": the module does not say how large '" << symbol
                 << "' can be; expected it in " << sizesName;
    std::optional<Size> bytes = bytesOf(typeOf(value));
    if (bytes && largest.of(*bytes))
      return success();
    bool ranges =
        llvm::any_of(getSizes(typeOf(value)), [](const Size &size) { return !size.isFixed() && size != activeSize(); });
    return emitError(value.getLoc()) << what << " of more than 2^63 bytes: " << value.getType()
                                     << (ranges ? "; bind a smaller range with --dim" : "");
  }

  LogicalResult checkKernels() {
    for (auto kernel : module.getOps<plan::KernelOp>()) {
      bool isScheduled = bool(kernel.getSchedule());
      if (isScheduled != TargetTraits::of(module).schedulesTasks)
        return mistake(kernel.emitOpError(
            isScheduled ? "expected no schedule of a CUDA device's kernel: each call takes a geometry"
                        : "expected a schedule: --tutti-schedule comes before this pass"));
      if (kernel.getLifted() && !largest.of(kernel.membersSize()))
        return kernel.emitOpError("runs over '") << kernel.membersSize() << "', but the module does not say how many "
                                                 << "members that are: expected tutti.members";
      for (BlockArgument argument : kernel.getBody().getArguments())
        if (readerOfWeight(argument) && !llvm::is_contained(kernel.getWeights(), argument.getArgNumber()))
          return mistake(kernel.emitOpError("argument "))
                 << argument.getArgNumber() << " is multiplied by the rule panels, which "
                 << "is for weights";
        else if (readerOfWeight(argument) && !llvm::all_of(argument.getUses(), readsInPanels))
          return mistake(kernel.emitOpError("argument "))
                 << argument.getArgNumber() << " is a product's weight and is read "
                 << "otherwise, too: tutti-numerics makes two values of such";
    }
    if (!getMembers(module))
      return module.emitError("the module does not say how many members there are: expected tutti.members");
    return success();
  }

  LogicalResult checkOps() {
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (!isa<plan::DispatchOp, GetOp, ConstantOp, PartOp, JoinOp>(op) && !viewed(&op))
        return mistake(op.emitOpError("is in no kernel: --tutti-decompose and --tutti-fuse come before this pass"));
      if (auto join = dyn_cast<JoinOp>(op))
        for (Value part : join.getParts())
          if (failed(checkMade(part)))
            return failure();
    }
    for (Value value : returned)
      if (failed(checkMade(value)))
        return failure();
    return success();
  }

  /// Whether kernels make the value, which so can be made where an output lies.
  static LogicalResult checkMade(Value value) {
    if (isa_and_present<plan::DispatchOp, JoinOp>(wholeOf(value).getDefiningOp()))
      return success();
    return mistake(emitError(value.getLoc(),
                             "expected a kernel to make what @main gives: --tutti-decompose comes before "
                             "this pass"));
  }
};

} // namespace

LogicalResult checkPlannable(func::FuncOp function, const LargestSizes &largest) {
  return Check(function, largest).run();
}

} // namespace tutti
