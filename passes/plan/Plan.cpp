// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-plan: tensors become buffers, dispatches become launches.
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Ports.h"
#include "passes/Passes.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Strips.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"
#include "passes/plan/Arena.h"
#include "passes/plan/Check.h"
#include "runtime/schema/Limits.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_PLANPASS
#include "passes/Passes.h.inc"

namespace {

class Planner {
public:
  Planner(ModuleOp module, func::FuncOp function)
      : module(module), function(function), builder(function), largest(module) {}

  LogicalResult run() {
    if (failed(checkPlannable(function, largest)) || failed(countFlops()))
      return failure();
    timeline = Timeline::of(function);
    FailureOr<Arena> laidOut = Arena::layOut(function, timeline, largest);
    if (failed(laidOut))
      return failure();
    arena = std::move(*laidOut);
    return emit();
  }

private:
  ModuleOp module;
  func::FuncOp function;
  OpBuilder builder;
  LargestSizes largest;
  Sizes flops; ///< what contractions multiply and add, one each
  Timeline timeline;
  Arena arena;
  llvm::DenseMap<Value, Value> buffers;

  LogicalResult countFlops() {
    SmallVector<ContractOp> contractions;
    for (auto dispatch : function.getOps<plan::DispatchOp>())
      dispatch.lookupKernel().walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions) {
      std::optional<Size> count = op.flops();
      if (!count)
        return op.emitError("a contraction of more than 2^63 operations");
      flops.push_back(*count);
    }
    return success();
  }

  /// The axis along which a program of several launches may be cut into strips; null if there is none.
  StringAttr strips() {
    bool canBe = timeline.steps.size() > 1 && !largest.chunk && getGroups(module).empty();
    std::optional<std::string> axis = canBe ? stripAxis(function) : std::nullopt;
    return axis ? builder.getStringAttr(*axis) : StringAttr();
  }

  LogicalResult emit() {
    NamedAttrList sizes;
    auto addSize = [&](StringRef symbol, int64_t least) {
      sizes.set(symbol, builder.getDenseI64ArrayAttr({least, *largest.of(symbol)}));
    };
    for (const SizeRange &range : getSizeRanges(module))
      addSize(range.symbol, range.least);
    addSize(activeName, 1);
    for (unsigned group = 0; group < getGroups(module).size(); ++group)
      addSize(activeSize(group).str(), 0);
    SymbolTable symbols(module); // a weight may be called infer
    IntegerAttr chunk = largest.chunk ? builder.getI64IntegerAttr(*largest.chunk) : IntegerAttr();
    auto program = plan::ProgramOp::create(builder, function.getLoc(), "infer", getTarget(module),
                                           sizes.getDictionary(module.getContext()),
                                           SizesAttr::get(builder.getContext(), flops), arena.bytes, chunk, strips());
    symbols.insert(program);
    builder.setInsertionPointToStart(builder.createBlock(&program.getBody()));

    for (BlockArgument argument : function.getArguments())
      buffers[argument] = port(plan::Space::input, argument, inputName(function, argument.getArgNumber()));
    auto ret = function.getBody().front().getTerminator();
    for (OpOperand &operand : ret->getOpOperands()) {
      unsigned i = operand.getOperandNumber();
      buffers[wholeOf(operand.get())] =
          port(plan::Space::output, operand.get(), outputName(function, i), headOf(function, i));
    }
    for (const Arena::Interval &interval : arena.intervals) {
      buffers[interval.value] = buffer(plan::Space::arena, typeOf(interval.value), {.offset = interval.offset});
      buffers[interval.value].getDefiningOp<plan::BufferOp>().setWhole(
          isLifted(typeOf(interval.value)) && outlivesPieces(interval.value, timeline, largest));
    }
    for (auto [part, whole] : arena.wholes)
      buffers[part] = buffers.lookup(whole);
    for (ArrayRef<plan::DispatchOp> step : timeline.steps)
      if (failed(launchAll(step)))
        return failure();
    function.erase();
    return success();
  }

  /// The attributes that only some buffers have: the place in the arena, the name of a port, the value and layout of a
  /// constant.
  struct Traits {
    int64_t offset = 0;
    plan::PortAttr port = {};
    FlatSymbolRefAttr param = {};
    plan::LayoutAttr layout = {};
    ElementsAttr value = {};
  };
  Value buffer(plan::Space space, RankedTensorType type, const Traits &its) {
    return plan::BufferOp::create(builder, function.getLoc(), plan::BufferType::get(builder.getContext()),
                                  plan::SpaceAttr::get(builder.getContext(), space), TypeAttr::get(type),
                                  builder.getI64IntegerAttr(its.offset), its.port, its.param, its.layout, its.value);
  }

  Value port(plan::Space space, Value value, StringAttr name, StringAttr head = {}) {
    auto text = [](StringAttr attr) { return attr ? attr.getValue() : StringRef(); };
    return buffer(space, typeOf(value), {.port = plan::PortAttr::get(module.getContext(), text(name), text(head))});
  }

  /// The layout of a weight, for the kernel that reads it.
  static plan::LayoutAttr layoutOf(plan::KernelOp kernel, unsigned input) {
    ContractOp reader = readerOfWeight(kernel.getBody().getArgument(input));
    return plan::LayoutAttr::get(kernel.getContext(), reader ? weightLayout(reader) : plan::Layout::raw);
  }

  Value operand(plan::KernelOp kernel, unsigned input, Value value) {
    value = wholeOf(value);
    if (auto get = value.getDefiningOp<GetOp>())
      return buffer(plan::Space::constant, get.getResult().getType(),
                    {.param = get.getParamAttr(), .layout = layoutOf(kernel, input)});
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return buffer(
          plan::Space::constant, typeOf(value),
          {.layout = plan::LayoutAttr::get(builder.getContext(), plan::Layout::raw), .value = constant.getValue()});
    return buffers.lookup(value);
  }

  /// The tasks of a launch, of rows and members of which the runtime counts so many in a launch; none where blocks are
  /// counted instead.
  FailureOr<int64_t> tasksOf(plan::DispatchOp dispatch) {
    plan::KernelOp kernel = dispatch.lookupKernel();
    bool countsTasks = TargetTraits::of(module).schedulesTasks;
    int64_t members = kernel.getLifted() ? *largest.of(kernel.membersSize()) : 1;
    int64_t quantum = countsTasks ? kernel.getSchedule()->getQuantum() : 1;
    int64_t most = countsTasks ? rt::kMaxTasks / std::max<int64_t>(members, 1) * quantum : rt::kMaxGrid[0];
    std::optional<Size> rows = kernel.rowCount();
    if (std::optional<int64_t> wanted = rows ? largest.of(*rows) : std::nullopt; wanted && *wanted <= most)
      return countsTasks ? members * llvm::divideCeilSigned(*wanted, quantum) : 0;
    return dispatch.emitError("a launch of ")
           << (rows ? rows->str() : "more than 2^63") << " rows of " << members << " members: at most " << most
           << " rows on " << stringifyTarget(getTarget(module)) << "; bind a smaller range with --dim";
  }

  /// Side by side, as far as the runtime counts the tasks of a step.
  LogicalResult launchAll(ArrayRef<plan::DispatchOp> step) {
    SmallVector<plan::LaunchOp> launches;
    int64_t tasks = 0;
    for (plan::DispatchOp dispatch : step) {
      FailureOr<int64_t> its = tasksOf(dispatch);
      if (failed(its))
        return failure();
      if (tasks + *its > rt::kMaxTasks) {
        putSideBySide(launches);
        launches.clear();
        tasks = 0;
      }
      launches.push_back(launch(dispatch));
      tasks += *its;
    }
    putSideBySide(launches);
    return success();
  }

  void putSideBySide(MutableArrayRef<plan::LaunchOp> launches) {
    if (launches.size() < 2)
      return;
    OpBuilder::InsertionGuard guard(builder);
    auto parallel = plan::ParallelOp::create(builder, launches.front().getLoc());
    Block *block = builder.createBlock(&parallel.getBody());
    for (plan::LaunchOp launch : launches)
      launch->moveBefore(block, block->end());
  }

  plan::LaunchOp launch(plan::DispatchOp dispatch) {
    plan::KernelOp kernel = dispatch.lookupKernel();
    SmallVector<Value> inputs;
    for (auto [index, input] : llvm::enumerate(dispatch.getInputs()))
      inputs.push_back(operand(kernel, index, input));
    auto outputs = llvm::map_to_vector(dispatch.getResults(), [&](Value result) { return buffers.lookup(result); });

    Value tickets;
    if (kernel.hasHeads()) // one a row tile, counted by the tasks that have finished it; a tile has at least a row
      tickets = buffer(plan::Space::state,
                       RankedTensorType::get({*largest.of(*kernel.rowCount())}, builder.getI32Type()), {});
    return plan::LaunchOp::create(builder, dispatch.getLoc(), dispatch.getKernel(), inputs, outputs, tickets,
                                  largest.chunk && timeline.fromHeadsOn.contains(dispatch));
  }
};

struct PlanPass : impl::PlanPassBase<PlanPass> {
  void runOnOperation() override {
    FailureOr<func::FuncOp> function = modelOf(getOperation());
    if (failed(function) || failed(Planner(getOperation(), *function).run()))
      signalPassFailure();
  }
};

} // namespace
} // namespace tutti
