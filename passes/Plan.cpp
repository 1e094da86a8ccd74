// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-plan: tensors become buffers, dispatches become launches.
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Heads.h"
#include "dialects/tutti/Model.h"
#include "dialects/tutti/Module.h"
#include "dialects/tutti/Ports.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Limits.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"
#include "passes/analysis/Strips.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_PLANPASS
#include "passes/Passes.h.inc"

namespace {

constexpr int64_t lineBytes = 64;

/// An intermediate tensor: when it lives, and how large it can be.
struct Interval {
  Value value;
  unsigned first, last;
  int64_t bytes, offset = 0;
};

class Planner {
public:
  Planner(ModuleOp module, func::FuncOp function) : module(module), function(function), builder(function) {}

  LogicalResult run() {
    collectSizes();
    if (failed(requireNumerics(module)) || failed(checkPorts()) || failed(checkKernels()) || failed(countFlops()) ||
        failed(layOutArena()))
      return failure();
    return emit();
  }

private:
  ModuleOp module;
  func::FuncOp function;
  OpBuilder builder;
  llvm::StringMap<int64_t> largest;
  std::vector<Interval> intervals;
  /// Dispatches that need nothing of each other, as early as they can run.
  std::vector<SmallVector<plan::DispatchOp>> steps;
  std::vector<std::string> flops; ///< what contractions multiply and add, one each
  int64_t arena = 0;
  int64_t chunk = 0; ///< members that run at once; 0: all
  llvm::DenseMap<Value, Value> buffers;
  llvm::DenseMap<Value, Value> joined; ///< what a group's kernel makes: the whole that it is a part of

  /// Where a value lies: a view is the whole, and so is the part of a group, which its kernel finds through a table.
  static Value wholeOf(Value value) {
    value = throughViews(value);
    auto part = value.getDefiningOp<PartOp>();
    return part ? wholeOf(part.getX()) : value;
  }
  /// Nothing on overflow, which `checkPorts` and `keep` have ruled out once there are buffers.
  std::optional<Size> bytesOf(RankedTensorType type) {
    std::optional<Size> count = product(getSizes(type));
    return count ? count->times(Size(storageBytes(type.getElementType()))) : std::nullopt;
  }
  /// At the largest sizes; nothing on overflow.
  std::optional<int64_t> largestOf(const Size &size, bool ofPiece = false) {
    return size.at([&](StringRef name) {
      int64_t most = largest.lookup(name);
      return ofPiece && isActiveSize(Size::symbol(name)) ? std::min(chunk, most) : most;
    });
  }

  /// Whether a value of the members is read when all pieces have run.
  bool isWhole(Value value) {
    return chunk && llvm::any_of(value.getUsers(), [&](Operation *user) {
             if (viewed(user))
               return isWhole(user->getResult(0));
             auto dispatch = dyn_cast<plan::DispatchOp>(user);
             return dispatch && dispatch.lookupKernel().hasHeads();
           });
  }

  void collectSizes() {
    chunk = getChunk(module).value_or(0);
    if (std::optional<int64_t> members = getMembers(module))
      largest["active"] = *members;
    for (const SizeRange &range : getSizeRanges(module))
      largest[range.symbol] = range.most;
    for (auto [group, members] : llvm::enumerate(getGroups(module)))
      largest[activeSize(group).str()] = members.size();
  }

  /// Whether kernels make the value, which so can be made where an output lies.
  static LogicalResult checkMade(Value value) {
    Value whole = wholeOf(value);
    if (whole.getDefiningOp<plan::DispatchOp>() || whole.getDefiningOp<JoinOp>())
      return success();
    return emitError(value.getLoc(), "expected a kernel to make what @main gives: --tutti-decompose comes before this "
                                     "pass");
  }

  /// What the passes before this one have to have written.
  LogicalResult checkKernels() {
    for (auto kernel : module.getOps<plan::KernelOp>()) {
      if (!kernel.getSchedule())
        return kernel.emitOpError("expected a schedule: --tutti-schedule comes before this pass");
      if (kernel.getLifted() && !largest.contains(kernel.membersSize()))
        return kernel.emitOpError("runs over '") << kernel.membersSize() << "', but the module does not say how many "
                                                 << "members that are: expected tutti.members";
    }
    if (!getMembers(module))
      return module.emitError("the module does not say how many members there are: expected tutti.members");
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (!isa<plan::DispatchOp, GetOp, ConstantOp, PartOp, JoinOp>(op) && !viewed(&op))
        return op.emitOpError("is in no kernel: --tutti-decompose and --tutti-fuse come before this pass");
      if (auto join = dyn_cast<JoinOp>(op))
        for (Value part : join.getParts())
          if (failed(checkMade(part)))
            return failure();
    }
    for (Value result : function.getBody().front().getTerminator()->getOperands())
      if (failed(checkMade(result)))
        return failure();
    return success();
  }

  LogicalResult layOutArena() {
    llvm::DenseMap<Operation *, unsigned> times;
    for (Operation &op : function.getBody().front()) {
      unsigned time = 0;
      for (Value operand : op.getOperands())
        if (Operation *producer = wholeOf(operand).getDefiningOp())
          time = std::max(time, times[producer] + isa<plan::DispatchOp>(producer));
      times[&op] = time;
      if (auto dispatch = dyn_cast<plan::DispatchOp>(op)) {
        steps.resize(std::max<size_t>(steps.size(), time + 1));
        steps[time].push_back(dispatch);
      }
    }
    times[function.getBody().front().getTerminator()] = steps.size();
    auto ret = function.getBody().front().getTerminator();
    llvm::SmallDenseSet<Value> returned;
    for (Value value : ret->getOperands())
      returned.insert(wholeOf(value));
    // What groups make of a value is written where the whole of it lies.
    for (auto join : function.getOps<JoinOp>()) {
      unsigned first = times[join];
      for (Value part : join.getParts()) {
        joined[wholeOf(part)] = join.getResult();
        first = std::min(first, times[wholeOf(part).getDefiningOp()]);
      }
      if (!returned.contains(join.getResult()))
        if (failed(keep(join.getResult(), first, times)))
          return failure();
    }
    for (auto dispatch : function.getOps<plan::DispatchOp>())
      for (Value value : dispatch.getResults())
        if (!returned.contains(value) && !joined.contains(value))
          if (failed(keep(value, times[dispatch], times)))
            return failure();
    return success();
  }

  LogicalResult checkPorts() {
    auto fits = [&](Value value, StringRef what) -> LogicalResult {
      if (int64_t rank = typeOf(value).getRank(); rank > mostPortRank)
        return emitError(value.getLoc()) << what << " of rank " << rank << ": " << value.getType()
                                         << "; artifacts take at most " << mostPortRank
                                         << " dimensions, the member axis among them";
      std::optional<Size> bytes = bytesOf(typeOf(value));
      if (bytes && largestOf(*bytes))
        return success();
      bool ranges = llvm::any_of(getSizes(typeOf(value)),
                                 [](const Size &size) { return !size.isFixed() && size != activeSize(); });
      return emitError(value.getLoc()) << what << " of more than 2^63 bytes: " << value.getType()
                                       << (ranges ? "; bind a smaller range with --dim" : "");
    };
    auto named = [&](StringAttr name, StringRef what, unsigned index) -> LogicalResult {
      if (name && !name.empty())
        return success();
      return function.emitError("expected ")
             << what << " " << index << " of @main to have a name, as in {" << portName << " = \"x\"}";
    };
    if (int64_t ports = int64_t(function.getNumArguments()) + function.getNumResults(); ports > mostProgramPorts)
      return function.emitError("inputs and outputs are ")
             << ports << ", each head an output, expected at most " << mostProgramPorts;
    for (BlockArgument argument : function.getArguments())
      if (unsigned i = argument.getArgNumber();
          failed(named(inputName(function, i), "argument", i)) || failed(fits(argument, "an input")))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(named(outputName(function, i), "result", i)))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (StringAttr head = headOf(function, i); head && !HeadText::parse(head))
        return function.emitError("expected '")
               << headName << "' of result " << i << " to be a head (" << headTexts << "), got " << head;
    for (GetOp get : function.getOps<GetOp>())
      if (failed(fits(get, "a weight")))
        return failure();
    for (Value value : function.getBody().front().getTerminator()->getOperands())
      if (failed(fits(value, "an output")))
        return failure();
    return success();
  }

  LogicalResult countFlops() {
    SmallVector<ContractOp> contractions;
    for (auto dispatch : function.getOps<plan::DispatchOp>())
      dispatch.lookupKernel().walk([&](ContractOp op) { contractions.push_back(op); });
    for (ContractOp op : contractions) {
      std::optional<Size> count = flopsOf(op);
      if (!count)
        return op.emitError("a contraction of more than 2^63 operations");
      flops.push_back(count->str());
    }
    return success();
  }

  LogicalResult keep(Value value, unsigned first, llvm::DenseMap<Operation *, unsigned> &times) {
    std::optional<Size> bytes = bytesOf(typeOf(value));
    bool perPiece = chunk && isLifted(typeOf(value)) && !isWhole(value);
    std::optional<int64_t> most = bytes ? largestOf(*bytes, perPiece) : std::nullopt;
    if (!most)
      return emitError(value.getLoc(), "an intermediate tensor of more than 2^63 bytes: ") << value.getType();
    // What only the dispatch's own heads read lives as long as it.
    unsigned last = std::max(first, lastUse(value, times));
    if (chunk && !perPiece) { // every piece reads it, or adds to it
      first = 0;
      last = steps.size();
    }
    int64_t end;
    if (llvm::AddOverflow(*most, lineBytes - 1, end) || !place({value, first, last, end / lineBytes * lineBytes}))
      return emitError(value.getLoc(), "intermediate tensors of more than 2^63 bytes in all, one of them: ")
             << value.getType();
    return success();
  }

  unsigned lastUse(Value value, llvm::DenseMap<Operation *, unsigned> &times) {
    unsigned last = 0;
    for (Operation *user : value.getUsers())
      last = std::max(last, viewed(user) ? lastUse(user->getResult(0), times) : times[user]);
    return last;
  }

  /// The lowest offset that is free of every interval alive at the same time. Whether it ends within 63 bits.
  bool place(Interval interval) {
    std::vector<const Interval *> alive;
    for (const Interval &other : intervals)
      if (other.first <= interval.last && interval.first <= other.last)
        alive.push_back(&other);
    llvm::sort(alive, [](auto *a, auto *b) { return a->offset < b->offset; });
    int64_t end = interval.bytes;
    for (const Interval *other : alive)
      if (end > other->offset) {
        interval.offset = std::max(interval.offset, other->offset + other->bytes);
        if (llvm::AddOverflow(interval.offset, interval.bytes, end))
          return false;
      }
    arena = std::max(arena, end);
    intervals.push_back(interval);
    return true;
  }

  /// What a program of several launches may be cut along.
  StringAttr strips() {
    bool canBe = steps.size() > 1 && !chunk && getGroups(module).empty();
    std::optional<std::string> axis = canBe ? stripAxis(function) : std::nullopt;
    return axis ? builder.getStringAttr(*axis) : StringAttr();
  }

  LogicalResult emit() {
    SmallVector<StringRef> flopRefs(flops.begin(), flops.end());

    NamedAttrList sizes;
    auto addSize = [&](StringRef symbol, int64_t least) {
      sizes.set(symbol, builder.getDenseI64ArrayAttr({least, largest.lookup(symbol)}));
    };
    for (const SizeRange &range : getSizeRanges(module))
      addSize(range.symbol, range.least);
    addSize("active", 1);
    for (unsigned group = 0; group < getGroups(module).size(); ++group)
      addSize(activeSize(group).str(), 0);
    SymbolTable symbols(module); // a weight may be called infer
    auto program = plan::ProgramOp::create(builder, function.getLoc(), "infer", getTarget(module),
                                           sizes.getDictionary(module.getContext()), builder.getStrArrayAttr(flopRefs),
                                           arena, chunk ? builder.getI64IntegerAttr(chunk) : IntegerAttr(), strips());
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
    for (const Interval &interval : intervals) {
      buffers[interval.value] = buffer(plan::Space::arena, typeOf(interval.value), interval.offset);
      buffers[interval.value].getDefiningOp<plan::BufferOp>().setWhole(isLifted(typeOf(interval.value)) &&
                                                                       isWhole(interval.value));
    }
    for (auto [part, whole] : joined)
      buffers[part] = buffers.lookup(whole);
    for (ArrayRef<plan::DispatchOp> step : steps)
      if (failed(launchAll(step)))
        return failure();
    function.erase();
    return success();
  }

  Value buffer(plan::Space space, RankedTensorType type, int64_t offset = 0, plan::PortAttr port = {},
               FlatSymbolRefAttr param = {}, plan::LayoutAttr layout = {}, ElementsAttr value = {}) {
    return plan::BufferOp::create(builder, function.getLoc(), plan::BufferType::get(builder.getContext()),
                                  plan::SpaceAttr::get(builder.getContext(), space), TypeAttr::get(type),
                                  builder.getStringAttr(bytesOf(type)->str()), builder.getI64IntegerAttr(offset), port,
                                  param, layout, value);
  }

  Value port(plan::Space space, Value value, StringAttr name, StringAttr head = {}) {
    auto text = [](StringAttr attr) { return attr ? attr.getValue() : StringRef(); };
    return buffer(space, typeOf(value), 0, plan::PortAttr::get(module.getContext(), text(name), text(head)));
  }

  /// A weight is laid out for the kernel that reads it.
  static plan::LayoutAttr layoutOf(plan::KernelOp kernel, unsigned input) {
    ContractOp reader = readerOfWeight(kernel.getBody().getArgument(input));
    return plan::LayoutAttr::get(kernel.getContext(), reader ? weightLayout(reader) : plan::Layout::raw);
  }

  Value operand(plan::KernelOp kernel, unsigned input, Value value) {
    value = wholeOf(value);
    if (auto get = value.getDefiningOp<GetOp>())
      return buffer(plan::Space::constant, get.getResult().getType(), 0, {}, get.getParamAttr(),
                    layoutOf(kernel, input));
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return buffer(plan::Space::constant, typeOf(value), 0, {}, {},
                    plan::LayoutAttr::get(builder.getContext(), plan::Layout::raw), constant.getValue());
    return buffers.lookup(value);
  }

  /// What the runtime holds artifacts to: rows, or tasks, are counted in 31 bits.
  LogicalResult checkCounts(plan::DispatchOp dispatch, plan::KernelOp kernel, const std::optional<Size> &rows,
                            int64_t quantum) {
    int64_t members = kernel.getLifted() ? largest.lookup(kernel.membersSize()) : 1, most = INT32_MAX;
    if (!TargetTraits::of(module).countsRows)
      most = most / std::max<int64_t>(members, 1) * quantum;
    if (std::optional<int64_t> wanted = rows ? largestOf(*rows) : std::nullopt; wanted && *wanted <= most)
      return success();
    return dispatch.emitError("a launch of ")
           << (rows ? rows->str() : "more than 2^63") << " rows of " << members << " members: at most " << most
           << " rows on " << stringifyTarget(getTarget(module)) << "; bind a smaller range with --dim";
  }

  LogicalResult launchAll(ArrayRef<plan::DispatchOp> step) {
    SmallVector<plan::LaunchOp> launches;
    for (plan::DispatchOp dispatch : step)
      if (failed(launch(dispatch, launches)))
        return failure();
    if (launches.size() == 1)
      return success();
    OpBuilder::InsertionGuard guard(builder);
    auto parallel = plan::ParallelOp::create(builder, launches.front().getLoc());
    Block *block = builder.createBlock(&parallel.getBody());
    for (plan::LaunchOp launch : launches)
      launch->moveBefore(block, block->end());
    return success();
  }

  LogicalResult launch(plan::DispatchOp dispatch, SmallVectorImpl<plan::LaunchOp> &launches) {
    plan::KernelOp kernel = dispatch.lookupKernel();
    SmallVector<Value> operands;
    for (auto [index, input] : llvm::enumerate(dispatch.getInputs()))
      operands.push_back(operand(kernel, index, input));
    for (Value result : dispatch.getResults())
      operands.push_back(buffers.lookup(result));

    std::optional<Size> rows = kernel.rowCount();
    plan::ScheduleAttr schedule = *kernel.getSchedule();
    if (failed(checkCounts(dispatch, kernel, rows, schedule.getQuantum())))
      return failure();
    bool heads = kernel.hasHeads();
    if (heads) {
      // One ticket a row tile, counted by the tasks that have finished it; a tile has at least a row.
      int64_t tickets = *largestOf(*rows);
      operands.push_back(buffer(plan::Space::state, RankedTensorType::get({tickets}, builder.getI32Type())));
    }
    launches.push_back(plan::LaunchOp::create(builder, dispatch.getLoc(), dispatch.getKernel(), operands,
                                              kernel.getLifted(), kernel.getOverAttr(), kernel.getPlacedAttr(),
                                              rows->str(), schedule, chunk && heads));
    return success();
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
