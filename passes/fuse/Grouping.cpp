// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops join the groups whose rows they share, one after the other.
//
// Where a task's memory is bounded (tutti.scratch_per_row, of a CUDA block's shared memory), a chain ends before the op
// whose values would not fit, and the next kernel reads what this one has stored. A group without contractions goes on:
// its widest values lie in memory, each row read as often as it takes, since few launches are worth more there than
// reads.
#include "Grouping.h"
#include "dialects/tutti/Module.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Steps.h"
#include "passes/analysis/Target.h"
#include "passes/analysis/Through.h"

#include "dialects/tutti/Mistake.h"
#include "llvm/ADT/SparseBitVector.h"

using namespace mlir;

namespace tutti {

namespace {

/// The most ops of a kernel: emitting it recurses as deep as its chains are long, and takes long.
constexpr size_t mostOps = 1000;

/// Groups, by their numbers.
using Groups = llvm::SparseBitVector<>;

/// A group while ops join it.
struct Growing : Group {
  Groups needs;                             ///< groups that must have run before, transitively
  int64_t scratch = 0;                      ///< bytes for a row, when they were last counted
  int64_t since = 0;                        ///< what the results of later ops would take
  size_t phases = 0;                        ///< how many row phases it has
  llvm::DenseSet<Operation *> behindPhases; ///< its row phases, and what is made of their results
};

/// The columns of an op's result; their number may depend on the call.
Size columnsOf(Operation *op) { return RowForm::of(typeOf(op->getResult(0))).columns; }

/// The memory that a task has for the values of a row. Values whose length depends on the call are stored, on every
/// target.
class Room {
public:
  explicit Room(ModuleOp module) : bound(getScratchPerRow(module)), module(module) {}

  /// From now on counts with each op, not only where the results of ops might be too many.
  void countAlways() { countsAlways = true; }

  /// Whether the group's values still fit with some ops more.
  bool takes(Growing &group, ArrayRef<Operation *> ops) {
    if (!bound)
      return true;
    int64_t more = 0;
    for (Operation *op : ops)
      more = std::min(more + bytesOfRow(op), unboundedBytes);
    if (!countsAlways && group.scratch + group.since + more <= *bound) {
      group.since += more;
      return true;
    }
    group.ops.append(ops.begin(), ops.end());
    bool all = holds(group);
    group.ops.pop_back_n(ops.size());
    return all;
  }

  /// Whether the count of a group is complete: no op has joined it since, and all lengths are fixed.
  static bool isCounted(const Growing &group) {
    return group.since == 0 && llvm::all_of(group.ops, [](Operation *op) { return columnsOf(op).isFixed(); });
  }

  /// Whether the group's values fit; chooses those that are stored instead.
  bool holds(Growing &group) {
    Group trial = group;
    bool multiplies = llvm::any_of(trial.ops, isPanels);
    while (true) {
      auto [scratch, widest, unbounded] = measure(trial);
      if (unbounded) {
        trial.stored.insert(unbounded);
        continue;
      }
      if (!bound || scratch <= *bound) {
        group.stored = trial.stored;
        group.scratch = scratch;
        group.since = 0;
        return true;
      }
      if (multiplies || !widest)
        return false;
      trial.stored.insert(widest);
    }
  }

private:
  std::optional<int64_t> bound; ///< bytes for a row; none on a CPU, whose cache is enough
  ModuleOp module;              ///< has another kernel while a group is measured
  bool countsAlways = false;

  static constexpr int64_t unboundedBytes = INT64_MAX / 4; ///< sums of three are numbers still

  /// Bytes of a row of the op's result, if it were kept.
  static int64_t bytesOfRow(Operation *op) {
    constexpr int64_t mostPadding = 32 * 8;
    auto type = typeOf(op->getResult(0));
    Size columns = columnsOf(op);
    std::optional<Size> bytes =
        columns.isFixed() ? columns.times(Size(storageBytes(type.getElementType()))) : std::nullopt;
    return bytes && bytes->getFixed() < unboundedBytes - mostPadding ? bytes->getFixed() + mostPadding : unboundedBytes;
  }

  struct Measured {
    int64_t scratch;      ///< bytes for a row
    Operation *widest;    ///< the op whose result takes the most of them; null where all are of one column
    Operation *unbounded; ///< an op whose result has no fixed length, but would have to be kept; null if there is none
  };
  Measured measure(const Group &group) {
    Outline outline = Outline::of(group, "trial");
    module.push_back(outline.kernel);
    Steps steps = Steps::of(outline.kernel);
    Measured measured{steps.scratchPerRow, nullptr, nullptr};
    int64_t most = 1;
    for (Operation *op : group.ops) {
      Value inside = outline.mapping.lookupOrNull(op->getResult(0));
      if (llvm::is_contained(steps.unbounded, inside))
        measured.unbounded = op;
      else if (steps.isStored(inside) && steps.placeOf(inside).kind == Place::scratch &&
               steps.placeOf(inside).stride > most) {
        most = steps.placeOf(inside).stride;
        measured.widest = op;
      }
    }
    outline.kernel->erase();
    return measured;
  }
};

bool isHead(Operation *op) { return isa<HeadOp>(op); }

/// The form whose rows an op is computed by. A head's are those of the members it reads.
RowForm rowsFormOf(Operation *op) {
  if (auto head = dyn_cast<HeadOp>(op))
    return RowForm::of(typeOf(head.getX()));
  return RowForm::of(typeOf(op->getResult(0)));
}

/// Whether `op` reads only its own row of operand `index`, if that is computed in the same kernel.
bool readsOwnRow(Operation *op, unsigned index, const RowForm &form) {
  RowForm operand = RowForm::of(typeOf(op->getOperand(index)));
  if (!operand.sameRows(form))
    return false;
  if (auto map = dyn_cast<MapOp>(op))
    return staysInRow(operandAccess(map, index, ownRow(form, op->getContext())), operand);
  if (auto contract = dyn_cast<ContractOp>(op)) {
    auto product = ProductForm::of(contract);
    return index == 0 && (isPanels(op) || (product && readsOwnRowOfLeft(contract, *product)));
  }
  return cast<KernelOpInterface>(op).readsOwnRow(index);
}

/// Ops that wait for their one reader, to join its group: fills, which read single numbers only, as a margin of zeros
/// does, and moves of a part of each row. Another group would have to store them for it.
class Waiting {
public:
  explicit Waiting(Block &ops) {
    // The reader of a chain of them gets all of it at once, and is emitted by as deep a recursion.
    constexpr size_t mostInChain = 64;
    llvm::DenseMap<Operation *, size_t> behind; // how many wait for an op, or for one that does
    for (Operation &op : ops)
      if (Operation *reader = readerOf(&op); reader && behind.lookup(&op) + 1 < mostInChain) {
        behind[reader] += behind.lookup(&op) + 1;
        readers[&op] = reader;
      }
  }

  bool contains(Operation *op) const { return readers.contains(op); }

  /// Adds an op, behind those that have waited for it.
  void addWith(Operation *op, SmallVectorImpl<Operation *> &to) const {
    for (Value operand : op->getOperands())
      if (Operation *waiting = operand.getDefiningOp(); waiting && readers.lookup(waiting) == op)
        addWith(waiting, to);
    to.push_back(op);
  }

private:
  llvm::DenseMap<Operation *, Operation *> readers;

  /// The op that an op waits for; null where it does not wait.
  static Operation *readerOf(Operation *op) {
    auto map = dyn_cast<MapOp>(op);
    if (!map || !map->hasOneUse() || isReadThrough(map))
      return nullptr;
    bool isFill = llvm::all_of(map.getInputs(), [](Value x) { return typeOf(x).getRank() == 0; });
    if (!isFill && !(map.isMove() && staysInKernel(map)))
      return nullptr;
    OpOperand &use = *map->use_begin();
    Operation *reader = use.getOwner();
    return isa<MapOp, KernelOpInterface>(reader) && !isHead(reader) && !isReadThrough(reader) &&
                   readsOwnRow(reader, use.getOperandNumber(), rowsFormOf(reader))
               ? reader
               : nullptr;
  }
};

class Grouping {
public:
  Grouping(ModuleOp module, func::FuncOp function)
      : function(function), target(TargetTraits::of(module)), room(module), waiting(function.getBody().front()),
        mostPorts(mostBuffers(module)), inPieces(getChunk(module).has_value()) {}

  FailureOr<std::vector<Group>> run() {
    placeAll();
    // Scratch memory of long groups is counted now and then, not with each op. Where that let too many in, it is
    // counted with each.
    if (!allHold()) {
      groups.clear();
      groupOf.clear();
      room.countAlways();
      placeAll();
      if (!allHold()) {
        function.emitError("a group of ops needs more scratch memory than a row may have");
        return failure();
      }
    }
    FailureOr<std::vector<unsigned>> order = sorted();
    if (failed(order))
      return failure();
    std::vector<Group> all;
    for (unsigned id : *order)
      addParts(groups[id], all);
    return all;
  }

private:
  func::FuncOp function;
  const TargetTraits &target;
  Room room;
  Waiting waiting;
  int64_t mostPorts; ///< the most buffers of a kernel
  bool inPieces;     ///< members run in pieces: heads, which need all of them, run by themselves
  std::vector<Growing> groups;
  llvm::DenseMap<Operation *, unsigned> groupOf;

  bool allHold() {
    bool all = true;
    for (Growing &group : groups)
      all &= Room::isCounted(group) || room.holds(group);
    return all;
  }

  void placeAll() {
    for (Operation &op : function.getBody().front())
      if (isa<MapOp, KernelOpInterface>(op) && !isReadThrough(&op) && !waiting.contains(&op))
        place(&op);
  }

  /// A read by ops that are placed together of a value that others make.
  struct Read {
    OpOperand *operand;
    std::optional<unsigned> group; ///< the group that computes it
    Groups needs;                  ///< groups that must have run before it is read
  };
  SmallVector<Read> readsOf(ArrayRef<Operation *> ops) {
    SmallVector<Read> reads;
    for (Operation *op : ops)
      for (OpOperand &operand : op->getOpOperands()) {
        Operation *producer = operand.get().getDefiningOp();
        if (producer && llvm::is_contained(ops, producer))
          continue;
        auto it = producer ? groupOf.find(producer) : groupOf.end();
        reads.push_back(
            {&operand, it == groupOf.end() ? std::nullopt : std::optional(it->second), needsOf(operand.get())});
      }
    return reads;
  }

  /// Adds an op to a group, or to a new one. It can join a group of which it reads only its own rows, and nothing that
  /// runs after it.
  void place(Operation *op) {
    SmallVector<Operation *> ops;
    waiting.addWith(op, ops);
    RowForm form = rowsFormOf(op);
    SmallVector<Read> reads = readsOf(ops);
    Groups needs;
    for (const Read &read : reads)
      needs |= read.needs;
    for (unsigned id : byPreference(reads)) {
      Growing &group = groups[id];
      if (isFull(group, ops, reads) || !group.form.sameRows(form) || !canJoin(op, reads, id, form) ||
          !room.takes(group, ops))
        continue;
      needs.reset(id);
      group.needs |= needs;
      // Whoever needs this group now needs what it needs.
      for (Growing &other : groups)
        if (other.needs.test(id))
          other.needs |= group.needs;
      addTo(id, ops);
      return;
    }
    groups.push_back({{form, {}, {}}, needs, 0, 0, 0, {}});
    addTo(groups.size() - 1, ops);
  }

  void addTo(unsigned id, ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      addTo(groups[id], op);
      groupOf[op] = id;
    }
  }

  /// Adds an op with the ops that it reads through, which are part of it, whatever rows they have.
  static void addTo(Growing &group, Operation *op) {
    auto isBehind = [&](Value operand) { return isMadeBehindPhases(group, operand); };
    if (isRowPhase(op) || llvm::any_of(op->getOperands(), isBehind))
      group.behindPhases.insert(op);
    size_t place = group.ops.size();
    for (Operation *part = op; part; part = readThrough(part))
      group.ops.insert(group.ops.begin() + place, part);
    group.phases += isRowPhase(op);
  }

  /// Groups that the value depends on, views included.
  Groups needsOf(Value value) {
    Groups needs;
    Operation *producer = value.getDefiningOp();
    if (!producer)
      return needs;
    if (auto it = groupOf.find(producer); it != groupOf.end()) {
      needs = groups[it->second].needs;
      needs.set(it->second);
      return needs;
    }
    for (Value operand : producer->getOperands())
      needs |= needsOf(operand);
    return needs;
  }

  /// All groups in the order in which an op tries them: the youngest first of those with an op whose result it reads,
  /// then the oldest first, since what the op is for may have begun in a younger one.
  SmallVector<unsigned> byPreference(ArrayRef<Read> reads) {
    Groups feeding;
    for (const Read &read : reads)
      if (read.group)
        feeding.set(*read.group);
    SmallVector<unsigned> order;
    for (unsigned id = groups.size(); id-- > 0;)
      if (feeding.test(id))
        order.push_back(id);
    for (unsigned id = 0; id < groups.size(); ++id)
      if (!feeding.test(id))
        order.push_back(id);
    return order;
  }

  /// Whether a group is full for some ops. One that has all its phases takes only what is made of their results; other
  /// ops are for one of the next groups.
  bool isFull(const Growing &group, ArrayRef<Operation *> ops, ArrayRef<Read> reads) {
    Operation *op = ops.back();
    auto isBehind = [&](const Read &read) { return isMadeBehindPhases(group, read.operand->get()); };
    return group.ops.size() + ops.size() > mostOps ||
           (isPanels(op) && size_t(llvm::count_if(group.ops, isPanels)) >= target.mostLayers) ||
           (group.phases >= target.mostPhases && (isRowPhase(op) || llvm::none_of(reads, isBehind)));
  }

  static bool isMadeBehindPhases(const Growing &group, Value value) {
    return value.getDefiningOp() && group.behindPhases.contains(value.getDefiningOp());
  }

  bool canJoin(Operation *op, ArrayRef<Read> reads, unsigned id, const RowForm &form) {
    if (inPieces && isHead(op) != isHead(groups[id].ops.front()))
      return false;
    bool fed = inPieces;
    for (const Read &read : reads) {
      if (read.group != id) {
        if (read.needs.test(id))
          return false;
        continue;
      }
      if (!readsOwnRow(read.operand->getOwner(), read.operand->getOperandNumber(), form))
        return false;
      // A head takes what the tasks of a kernel have stored: it reads no head.
      if (isHead(read.operand->get().getDefiningOp()))
        return false;
      fed = true;
    }
    // Ops that have nothing to do with each other still share a launch, if they are of one kind of rows; heads only
    // with heads.
    return fed || !isHead(op) || llvm::all_of(groups[id].ops, isHead);
  }

  /// The order in which the groups run; a failure where some need each other, which place() does not let happen.
  FailureOr<std::vector<unsigned>> sorted() {
    std::vector<unsigned> order;
    Groups done;
    while (order.size() < groups.size()) {
      size_t before = order.size();
      for (unsigned id = 0; id < groups.size(); ++id) {
        if (done.test(id) || !done.contains(groups[id].needs))
          continue;
        done.set(id);
        order.push_back(id);
      }
      if (order.size() == before)
        return mistake(function.emitError("groups of ops need each other's results"));
    }
    return order;
  }

  /// Adds the group, or parts of it with no more buffers than a kernel can have; ops read only what comes before them.
  void addParts(const Group &group, std::vector<Group> &all) {
    int64_t most = llvm::any_of(group.ops, isPanels) ? mostPorts : std::min(mostPorts, target.mostBuffersOfMaps);
    if (group.ops.size() == 1 || GroupPorts::of(group).count() <= most) {
      all.push_back(group);
      return;
    }
    Group first = group, second = group;
    llvm::erase_if(first.ops, isHead);
    llvm::erase_if(second.ops, [](Operation *op) { return !isHead(op); });
    if (first.ops.empty() || second.ops.empty()) {
      auto cut = group.ops.begin() + group.ops.size() / 2;
      while (isReadThrough(*std::prev(cut))) // it stays with its reader, which is no such op itself in the end
        ++cut;
      if (cut == group.ops.end())
        while (--cut != group.ops.begin() && isReadThrough(*std::prev(cut))) {
        }
      if (cut == group.ops.begin()) {
        all.push_back(group);
        return;
      }
      first.ops.assign(group.ops.begin(), cut);
      second.ops.assign(cut, group.ops.end());
    }
    addParts(first, all);
    addParts(second, all);
  }
};

} // namespace

FailureOr<std::vector<Group>> groupsOf(func::FuncOp function) {
  return Grouping(function->getParentOfType<ModuleOp>(), function).run();
}

} // namespace tutti
