// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-fuse: computing ops become kernels, one for ops that share their rows.
//
// Where a task's memory is bounded (tutti.scratch_per_row, of a CUDA block's shared memory), a chain ends before the op
// whose values would not fit, and the next kernel reads what this one has stored. A group without contractions goes on:
// its widest values lie in memory, each row read as often as it takes, since few launches are worth more there than
// reads.
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"
#include "passes/Passes.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Steps.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Views.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_FUSEPASS
#include "passes/Passes.h.inc"

namespace {

/// A kernel that has so many ops is full: emitting one goes as deep as its chains are long, and takes long.
constexpr size_t mostOps = 1000;

/// Layers of a kernel for a CUDA device: where they are many more, its registers do not last, and its compiler takes a
/// time that grows with their square.
constexpr size_t mostProducts = 32;

/// Ops that will be one kernel.
struct Group {
  RowForm form;
  SmallVector<Operation *> ops;
  llvm::BitVector needs;                    // groups that must have run before, transitively
  llvm::SmallPtrSet<Operation *, 4> stored; // results that no other group reads, too wide for a task's own memory
  int64_t scratch = 0;                      // bytes for a row, when they were last counted
  int64_t since = 0;                        // what the results of later ops would take
};

bool isKernelOp(Operation *op) { return isa<MapOp, KernelOpInterface>(op); }

/// The form whose rows an op is computed by. A head's are those of the members it reads.
RowForm formOf(Operation *op) {
  if (auto head = dyn_cast<HeadOp>(op))
    return RowForm::of(cast<RankedTensorType>(head.getX().getType()));
  return RowForm::of(cast<RankedTensorType>(op->getResult(0).getType()));
}

/// Whether `op` reads of operand `index`, if that is computed in the same kernel, its own row only.
bool readsOwnRow(Operation *op, unsigned index, const RowForm &form) {
  RowForm operand = RowForm::of(cast<RankedTensorType>(op->getOperand(index).getType()));
  if (!operand.sameRows(form))
    return false;
  if (auto map = dyn_cast<MapOp>(op))
    return staysInRow(operandAccess(map, index, ownRow(form, op->getContext())), operand);
  if (auto contract = dyn_cast<ContractOp>(op)) {
    auto product = ProductForm::of(contract);
    return index == 0 && (isPanels(op) || (product && readsOwnRow(contract, *product)));
  }
  return cast<KernelOpInterface>(op).readsOwnRow(index);
}

class Fuser {
public:
  Fuser(func::FuncOp function, SymbolTable &symbols) : function(function), symbols(symbols) {
    auto module = function->getParentOfType<ModuleOp>();
    if (auto bound = module->getAttrOfType<IntegerAttr>("tutti.scratch_per_row"))
      scratchPerRow = bound.getInt();
    if (targetOf(module) == "cuda")
      argumentsAtMost = argumentsOf(module);
    inPieces = module->hasAttr("tutti.chunk");
  }

  void run() {
    placeAll();
    // Of long groups scratch memory is counted now and then, not with each op. Where that let too many in, it is.
    if (llvm::any_of(groups, [&](Group &group) { return group.since > 0 && !fits(group); })) {
      groups.clear();
      groupOf.clear();
      countsAlways = true;
      placeAll();
    }
    std::vector<unsigned> order = sorted();
    for (unsigned id : order)
      emitAll(groups[id]);
  }

private:
  func::FuncOp function;
  SymbolTable &symbols;
  std::vector<Group> groups;
  llvm::DenseMap<Operation *, unsigned> groupOf;
  llvm::StringMap<std::string> kernels; // printed body -> name
  unsigned nextKernel = 0;
  std::optional<int64_t> scratchPerRow; // bytes; of a CPU's cache there is enough
  int64_t argumentsAtMost = INT64_MAX;  // of a launch
  bool countsAlways = false;            // scratch memory, with each op
  bool inPieces = false;                // of the active set: heads, which need all of it, run by themselves

  void placeAll() {
    for (Operation &op : function.getBody().front())
      place(&op);
  }

  /// Groups that the value depends on, views included.
  llvm::BitVector needsOf(Value value) {
    llvm::BitVector needs(groups.size());
    Operation *producer = value.getDefiningOp();
    if (!producer)
      return needs;
    if (auto it = groupOf.find(producer); it != groupOf.end()) {
      needs = groups[it->second].needs;
      needs.resize(groups.size());
      needs.set(it->second);
    } else {
      for (Value operand : producer->getOperands()) {
        llvm::BitVector more = needsOf(operand);
        more.resize(groups.size());
        needs |= more;
      }
    }
    return needs;
  }

  /// Groups with an op whose result this one reads.
  llvm::BitVector feeding(Operation *op) {
    llvm::BitVector all(groups.size());
    for (Value operand : op->getOperands())
      if (auto it = groupOf.find(operand.getDefiningOp()); it != groupOf.end())
        all.set(it->second);
    return all;
  }

  void place(Operation *op) {
    if (!isKernelOp(op))
      return;
    RowForm form = formOf(op);
    llvm::BitVector needs(groups.size());
    for (Value operand : op->getOperands())
      needs |= needsOf(operand);
    // It can join a group of which it reads only its own rows, and nothing that runs after it: the youngest that it
    // reads, or else the oldest, since what it is for may have begun in a younger one.
    llvm::BitVector feeds = feeding(op);
    SmallVector<unsigned> order;
    for (unsigned id = groups.size(); id-- > 0;)
      if (feeds.test(id))
        order.push_back(id);
    for (unsigned id = 0; id < groups.size(); ++id)
      if (!feeds.test(id))
        order.push_back(id);
    for (unsigned id : order) {
      Group &group = groups[id];
      if (group.ops.size() >= mostOps || !group.form.sameRows(form) || !canJoin(op, id, form) || !makeRoom(group, op))
        continue;
      needs.reset(id);
      group.needs.resize(groups.size());
      group.needs |= needs;
      // Whoever needs this group now needs what it needs.
      for (Group &other : groups) {
        other.needs.resize(groups.size());
        if (other.needs.test(id))
          other.needs |= group.needs;
      }
      group.ops.push_back(op);
      groupOf[op] = id;
      return;
    }
    groupOf[op] = groups.size();
    groups.push_back({form, {op}, needs, {}});
    for (Group &group : groups)
      group.needs.resize(groups.size());
  }

  bool canJoin(Operation *op, unsigned id, const RowForm &form) {
    bool fed = inPieces;
    if (inPieces && isa<HeadOp>(op) != isa<HeadOp>(groups[id].ops.front()))
      return false;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      Operation *producer = operand.getDefiningOp();
      auto it = producer ? groupOf.find(producer) : groupOf.end();
      if (it != groupOf.end() && it->second == id) {
        if (!readsOwnRow(op, index, form))
          return false;
        // A head takes what the tasks of a kernel have stored: it reads no head.
        if (isa<HeadOp>(producer))
          return false;
        fed = true;
        continue;
      }
      llvm::BitVector needs = needsOf(operand);
      if (id < needs.size() && needs.test(id))
        return false;
    }
    // Ops that have nothing to do with each other still share a launch, if they are of one kind of rows; heads only
    // with heads.
    return fed || !isa<HeadOp>(op) || llvm::all_of(groups[id].ops, [](Operation *other) { return isa<HeadOp>(other); });
  }

  /// Bytes of a row of the op's result, if it were kept.
  static int64_t bytesOfRow(Operation *op) {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Size columns = RowForm::of(type).columns;
    std::optional<Size> bytes =
        columns.isFixed() ? columns.times(Size(storageBytes(type.getElementType()))) : std::nullopt;
    return bytes ? bytes->getFixed() + mostPadding : INT64_MAX / 2;
  }
  static constexpr int64_t mostPadding = 32 * 8;

  /// Whether the group's values still fit with one op more.
  bool makeRoom(Group &group, Operation *op) {
    if (!scratchPerRow)
      return true;
    if (isPanels(op) && size_t(llvm::count_if(group.ops, isPanels)) >= mostProducts)
      return false;
    int64_t more = bytesOfRow(op);
    if (!countsAlways && group.scratch + group.since + more <= *scratchPerRow) {
      group.since += more;
      return true;
    }
    group.ops.push_back(op);
    bool all = fits(group);
    group.ops.pop_back();
    return all;
  }

  /// Whether the group's values fit; chooses those that are stored instead.
  bool fits(Group &group) {
    Group trial = group;
    bool multiplies = llvm::any_of(trial.ops, isPanels);
    while (true) {
      Body body = bodyOf(trial, "trial");
      function->getParentOfType<ModuleOp>().push_back(body.kernel); // analyses ask what it is for
      Steps steps = Steps::of(body.kernel);
      Operation *widest = nullptr;
      int64_t most = 1;
      for (Operation *each : trial.ops)
        if (auto place = steps.places.find(body.mapping.lookupOrNull(each->getResult(0)));
            place != steps.places.end() && place->second.kind == Place::scratch && place->second.stride > most) {
          most = place->second.stride;
          widest = each;
        }
      body.kernel->erase();
      if (steps.scratchPerRow <= *scratchPerRow) {
        group.stored = trial.stored;
        group.scratch = steps.scratchPerRow;
        group.since = 0;
        return true;
      }
      if (multiplies || !widest)
        return false;
      trial.stored.insert(widest);
    }
  }

  std::vector<unsigned> sorted() {
    std::vector<unsigned> order;
    llvm::BitVector done(groups.size());
    while (order.size() < groups.size())
      for (unsigned id = 0; id < groups.size(); ++id) {
        llvm::BitVector open = groups[id].needs;
        open.reset(done);
        if (done.test(id) || open.any())
          continue;
        done.set(id);
        order.push_back(id);
      }
    return order;
  }

  static plan::Family family(const Group &group) {
    bool reduces = false;
    for (Operation *op : group.ops) {
      if (isTiled(op))
        return plan::Family::chain;
      reduces |= isRowPhase(op);
    }
    return reduces ? plan::Family::row : plan::Family::element;
  }

  static SmallVector<int64_t> weightsAmong(ArrayRef<Value> inputs) {
    SmallVector<int64_t> weights;
    for (auto [index, input] : llvm::enumerate(inputs))
      if (throughViews(input).getDefiningOp<GetOp>())
        weights.push_back(index);
    return weights;
  }

  /// Whether a value lies among those of other groups' members: it is a part of one, or becomes a part of one.
  static bool isAmongOthers(Value value) {
    value = throughViews(value);
    return value.getDefiningOp<PartOp>() || isJoined(value);
  }
  static bool isJoined(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      return isa<JoinOp>(user) || (viewed(user) && isJoined(user->getResult(0)));
    });
  }

  /// What a group reads of others, and what others read of it.
  struct Ports {
    llvm::SetVector<Value> inputs, results;
  };
  static Ports portsOf(const Group &group) {
    Ports ports;
    llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
    for (Operation *op : group.ops) {
      for (Value operand : op->getOperands())
        if (!inside.contains(operand.getDefiningOp()))
          ports.inputs.insert(operand);
      Value result = op->getResult(0);
      bool isRead =
          llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user) || isa<HeadOp>(user); });
      if (isRead || group.stored.contains(op))
        ports.results.insert(result);
    }
    return ports;
  }

  /// A group as a kernel that is in no module yet.
  struct Body : Ports {
    plan::KernelOp kernel;
    IRMapping mapping;
  };
  Body bodyOf(const Group &group, StringRef name) {
    Body body{portsOf(group), {}, {}};
    OpBuilder top(function.getContext());
    SmallVector<std::string> rows;
    for (const Size &size : group.form.rows)
      rows.push_back(size.str());
    SmallVector<StringRef> rowRefs(rows.begin(), rows.end());
    Location loc = group.ops.back()->getLoc();
    bool ofGroup = group.form.lifted && group.form.members != activeSize();
    SmallVector<int64_t> placed;
    for (auto [index, value] : llvm::enumerate(llvm::concat<const Value>(body.inputs, body.results)))
      if (isAmongOthers(value))
        placed.push_back(index);
    body.kernel = plan::KernelOp::create(
        top, loc, name, family(group), group.form.lifted,
        ofGroup ? top.getStringAttr(group.form.members.str()) : StringAttr(), top.getStrArrayAttr(rowRefs),
        top.getDenseI64ArrayAttr(weightsAmong(body.inputs.getArrayRef())),
        placed.empty() ? DenseI64ArrayAttr() : top.getDenseI64ArrayAttr(placed), plan::ScheduleAttr());
    Block *block = top.createBlock(&body.kernel.getBody());
    for (Value input : body.inputs)
      body.mapping.map(input, block->addArgument(input.getType(), input.getLoc()));
    for (Operation *op : group.ops)
      top.clone(*op, body.mapping);
    SmallVector<Value> yields;
    for (Value result : body.results)
      yields.push_back(body.mapping.lookup(result));
    YieldOp::create(top, loc, yields);
    return body;
  }

  /// As many kernels as its arguments take; ops read only what comes before them.
  void emitAll(const Group &group) {
    Ports ports = portsOf(group);
    if (int64_t(ports.inputs.size() + ports.results.size()) <= argumentsAtMost || group.ops.size() == 1)
      return emit(group);
    auto isHead = [](Operation *op) { return isa<HeadOp>(op); };
    Group first = group, second = group;
    llvm::erase_if(first.ops, isHead);
    llvm::erase_if(second.ops, [&](Operation *op) { return !isHead(op); });
    if (first.ops.empty() || second.ops.empty()) {
      first.ops.assign(group.ops.begin(), group.ops.begin() + group.ops.size() / 2);
      second.ops.assign(group.ops.begin() + group.ops.size() / 2, group.ops.end());
    }
    emitAll(first);
    emitAll(second);
  }

  void emit(const Group &group) {
    Operation *last = group.ops.back();
    for (Operation *op : group.ops)
      if (last->isBeforeInBlock(op))
        last = op;
    OpBuilder builder(last);
    builder.setInsertionPointAfter(last);

    std::string name = "k" + std::to_string(nextKernel);
    Body body = bodyOf(group, name);
    plan::KernelOp kernel = body.kernel;
    llvm::SmallPtrSet<Operation *, 16> inside(group.ops.begin(), group.ops.end());
    std::string text;
    {
      kernel.setSymName("");
      llvm::raw_string_ostream stream(text);
      kernel->print(stream, OpPrintingFlags().useLocalScope());
      kernel.setSymName(name);
    }
    auto [it, fresh] = kernels.try_emplace(text, name);
    if (fresh) {
      ++nextKernel;
      symbols.insert(kernel);
    } else {
      kernel->erase();
    }

    SmallVector<Type> types;
    for (Value result : body.results)
      types.push_back(result.getType());
    auto dispatch = plan::DispatchOp::create(builder, last->getLoc(), types, it->second, body.inputs.getArrayRef());
    for (auto [result, after] : llvm::zip_equal(body.results, dispatch.getResults()))
      Value(result).replaceUsesWithIf(after, [&](OpOperand &use) { return !inside.contains(use.getOwner()); });
    for (Operation *op : llvm::reverse(group.ops)) {
      op->dropAllUses();
      op->erase();
    }
  }
};

struct FusePass : impl::FusePassBase<FusePass> {
  void runOnOperation() override {
    if (failed(requireNumerics(getOperation())))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      Fuser(function, symbols).run();
      if (!sortTopologically(&function.getBody().front()))
        return signalPassFailure();
    }
  }
};

} // namespace
} // namespace tutti
