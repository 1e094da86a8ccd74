// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values of a kernel a step stores, and the order of the steps.
#include "Steps.h"
#include "Access.h"
#include "Numerics.h"
#include "Products.h"
#include "Scratch.h"
#include "Target.h"
#include "Through.h"
#include "TopPlan.h"
#include "Upstream.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tutti {

bool isMadeOf(Value value, Value sums) {
  return isFoundUpstream(value, [&](Value x) -> std::optional<bool> {
    if (x == sums || !x.getDefiningOp<MapOp>())
      return x == sums;
    return std::nullopt;
  });
}

namespace {

RowForm formOf(Value value) { return RowForm::of(typeOf(value)); }
Size columnsOf(Value value) { return formOf(value).columns; }

/// Whether a map takes more than a few cycles an element, and so is worth storing when two read it.
bool isExpensive(MapOp map) {
  return llvm::any_of(map.getBody().front().without_terminator(), [](Operation &op) {
    return isa<arith::DivFOp>(op) || isa<math::MathDialect, TuttiDialect>(op.getDialect());
  });
}

/// Whether a map is a costly function of few columns, which would leave most lanes of a vector of one row empty.
bool isWorthPacking(MapOp map, const TargetTraits &target) {
  Size columns = columnsOf(map.getResult());
  return target.packsNarrowRows && columns.isFixed() && columns.getFixed() <= mostPacked && isExpensive(map);
}

/// Whether a map does more than move elements.
bool computes(Operation *op) {
  auto map = dyn_cast<MapOp>(op);
  return map && map.getBody().front().getOperations().size() > 1;
}

/// Assigns values to the registers of a body's contractions: a contraction's own sums, and maps of them.
class Registers {
public:
  Registers(Block &body, const RowForm &form, const TargetTraits &target) : form(form), target(target) {
    for (Operation &op : body.without_terminator())
      if (isTiled(&op)) {
        places[op.getResult(0)] = tiled.size();
        tiled.push_back(cast<ContractOp>(op));
        lengths.push_back(0);
      } else if (auto map = dyn_cast<MapOp>(op)) {
        assign(map);
      }
  }

  /// The contractions in the order in which they run; they are known by their numbers in it.
  ArrayRef<ContractOp> contractions() const { return tiled; }

  bool contains(Value value) const { return places.contains(value); }
  std::optional<unsigned> find(Value value) const {
    auto it = places.find(value);
    return it == places.end() ? std::nullopt : std::optional(it->second);
  }
  bool hasLongMaps(unsigned contraction) const {
    return llvm::any_of(places, [&](auto &entry) {
      auto map = entry.first.template getDefiningOp<MapOp>();
      return entry.second == contraction && map && isExpensive(map);
    });
  }

  /// How many contractions must have run before the value can be read, if it is not in the last one's registers.
  unsigned readyAfter(Value value) {
    if (std::optional<unsigned> place = find(value))
      return *place + 1;
    if (auto known = ready.find(value); known != ready.end())
      return known->second;
    unsigned latest = 0;
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        latest = std::max(latest, readyAfter(operand));
    return ready[value] = latest;
  }

private:
  const RowForm &form;
  const TargetTraits &target;
  SmallVector<ContractOp> tiled;
  llvm::DenseMap<Value, unsigned> places;
  SmallVector<int64_t> lengths;          ///< of the maps that would be computed in each contraction's registers
  llvm::DenseMap<Value, unsigned> ready; ///< what readyAfter has found

  /// The most operations of maps in the registers of one contraction: the compile time of more grows faster than their
  /// number.
  static constexpr int64_t mostInRegisters = 300;

  /// Assigns a map to the registers of a contraction, if its operands are in these registers, each at its own element,
  /// or in memory by then.
  void assign(MapOp map) {
    std::optional<unsigned> latest;
    for (Value operand : map.getInputs())
      if (std::optional<unsigned> place = find(operand))
        latest = std::max(latest.value_or(0), *place);
    if (!latest || !formOf(map.getResult()).sameRows(form))
      return;
    if (isWorthPacking(map, target)) // registers have a row each, a vector of memory several
      return;
    for (auto [index, operand] : llvm::enumerate(map.getInputs()))
      if (find(operand) == latest ? !readsOwnElement(map, index) : readyAfter(operand) > *latest)
        return;
    int64_t &length = lengths[*latest];
    length += bodyLength(map);
    if (length <= mostInRegisters)
      places[map.getResult()] = *latest;
  }

  static bool readsOwnElement(MapOp map, unsigned index) {
    RowForm own = formOf(map.getResult()), operand = formOf(map.getInputs()[index]);
    return operand.columns == own.columns &&
           isOwnElement(operandAccess(map, index, ownRow(own, map.getContext())), operand);
  }
};

/// Chooses the values that are stored. Any other is computed wherever it is read.
class Stores {
public:
  Stores(Block &body, const RowForm &form, Registers &registers, const TargetTraits &target)
      : form(form), registers(registers), target(target) {
    for (Operation &op : body.without_terminator())
      if (mustStore(&op))
        stored.insert(op.getResult(0));
      else
        work[op.getResult(0)] = workOf(&op);
  }

  /// The stored values in the order of the body.
  ArrayRef<Value> all() const { return stored.getArrayRef(); }

  /// The number of operations that compute an element from what lies in memory and in registers.
  int64_t workOf(Operation *op) const {
    auto map = dyn_cast<MapOp>(op);
    int64_t sum = map ? bodyLength(map) : isa<ConcatOp>(op) ? op->getNumOperands() : 1;
    for (Value operand : op->getOperands())
      if (!isa<BlockArgument>(operand) && !stored.contains(operand) && !registers.contains(operand))
        sum = std::min<int64_t>(sum + work.lookup(operand), 2 * mostRepeated);
    return sum;
  }

private:
  const RowForm &form;
  Registers &registers;
  const TargetTraits &target;
  llvm::SetVector<Value> stored;
  llvm::DenseMap<Value, int64_t> work; ///< what workOf has found, of values that are computed where they are read

  /// The most operations that several readers may each repeat. Without a bound, a chain of values that are each read
  /// twice would double its work with every link.
  static constexpr int64_t mostRepeated = 64;
  /// The most operations from memory to memory: the compile time of more grows faster than their number.
  static constexpr int64_t mostAtOnce = 100;

  bool mustStore(Operation *op) const {
    if (isa<HeadOp>(op))
      return false;
    Value value = op->getResult(0);
    if (isRowPhase(op) || llvm::any_of(value.getUses(), [&](OpOperand &use) { return readsFromMemory(use); }))
      return true;
    // Any reader would compute the sum again for each element of its own.
    if (isa<CombineOpInterface>(op) && !isTiled(op))
      return !value.use_empty();
    if (registers.contains(value) || !formOf(value).sameRows(form))
      return false;
    bool isShared = !value.use_empty() && !value.hasOneUse();
    auto map = dyn_cast<MapOp>(op);
    auto concat = dyn_cast<ConcatOp>(op);
    return (map && (isShared || isReadAlongRow(map)) && isExpensive(map)) || (map && waitsForFunction(map)) ||
           (map && isShared && isReadLater(map) && readsStored(map, 2)) || (isShared && workOf(op) > mostRepeated) ||
           workOf(op) > mostAtOnce || (concat && concat.getInputs().size() > mostSelected);
  }

  /// Whether a reader takes the value from memory: it neither computes it for itself nor has it in its registers.
  bool readsFromMemory(OpOperand &use) const {
    Value value = use.get();
    Operation *user = use.getOwner();
    if (isa<YieldOp, HeadOp>(user) || isTiled(user))
      return !isReadThrough(value.getDefiningOp());
    if (auto map = value.getDefiningOp<MapOp>(); map && isRowPhase(user) && isWorthPacking(map, target))
      return true;
    // A phase reads a row from end to end, not run by run: that would leave a division in each lane.
    if (target.readsByRuns && isRowPhase(user) &&
        runOf(value, form.dims() - 1, [&](Value other) { return stored.contains(other) || registers.contains(other); }))
      return true;
    // A scatter reads its updates one by one. Stored before, they are computed by vectors.
    if (isa<ScatterOp>(user) && use.getOperandNumber() > 0)
      return true;
    if (target.storesWhatIsGathered && takesApart(use) && computes(value.getDefiningOp()) && isTakenWhole(value))
      return true;
    // Registers end with their step.
    return registers.contains(value) && registers.find(user->getResult(0)) != registers.find(value);
  }

  /// Whether neighbours in a reader's result read elements of a row that lie apart: through a gather, or each second
  /// one.
  bool takesApart(OpOperand &use) const {
    if (isa<GatherOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    auto map = dyn_cast<MapOp>(use.getOwner());
    if (!map || !formOf(use.get()).sameRows(form) || !formOf(map.getResult()).sameRows(form))
      return false;
    AffineMap access = map.getAccess(use.getOperandNumber());
    if (access.getNumResults() == 0 || map.getType().getRank() == 0)
      return false;
    std::optional<int64_t> step = slope(access.getResults().back(), map.getType().getRank() - 1);
    return step && std::abs(*step) > 1;
  }

  /// Whether such readers together take as many elements as a row has, as an image does that is resized by its
  /// neighbours.
  bool isTakenWhole(Value value) const {
    Size given = columnsOf(value);
    int64_t taken = 0;
    for (OpOperand &use : value.getUses())
      if (takesApart(use))
        if (Size columns = columnsOf(use.getOwner()->getResult(0)); columns.isFixed())
          taken = std::min<int64_t>(taken + columns.getFixed(), INT64_MAX / 2);
    return given.isFixed() && taken >= given.getFixed();
  }

  /// Whether a map of many operations waits in memory for a costly function of it.
  bool waitsForFunction(MapOp map) const {
    constexpr int64_t many = 16;
    return target.storesBeforeFunctions &&
           llvm::any_of(map->getUsers(),
                        [](Operation *user) {
                          auto function = dyn_cast<MapOp>(user);
                          return function && isExpensive(function);
                        }) &&
           workOf(map) >= many;
  }

  /// Whether a reader waits for a contraction that the map does not, as of the state of a recurrent network. If the map
  /// were not stored, all that it reads would have to wait with it.
  bool isReadLater(MapOp map) const {
    unsigned ready = registers.readyAfter(map.getResult());
    return llvm::any_of(map->getUsers(), [&](Operation *user) {
      return user->getNumResults() == 1 && registers.readyAfter(user->getResult(0)) > ready;
    });
  }

  /// Whether an op reads at least `count` stored values, directly or through what is computed where it is read.
  bool readsStored(Operation *op, size_t count) const {
    llvm::SmallSetVector<Value, 8> reads;
    for (Value operand : op->getOperands())
      reads.insert(operand);
    size_t found = 0;
    for (size_t i = 0; i < reads.size() && found < count; ++i) {
      if (stored.contains(reads[i]) || registers.contains(reads[i]))
        ++found;
      else if (Operation *inner = reads[i].getDefiningOp())
        for (Value operand : inner->getOperands())
          reads.insert(operand);
    }
    return found >= count;
  }

  /// Whether a value of one column is read at each column of a row, which would compute it again.
  bool isReadAlongRow(MapOp map) const {
    return target.storesWhatRowsRepeat && columnsOf(map.getResult()) == Size(1) &&
           llvm::any_of(map->getUsers(), [](Operation *user) {
             return user->getNumResults() == 1 && columnsOf(user->getResult(0)) != Size(1);
           });
  }
};

/// Adds a step for each contraction from whose registers a value is stored. Rows steps come as early as they can: right
/// after the last contraction that they read.
void addSteps(Steps &steps, Registers &registers, const Stores &stores) {
  ArrayRef<ContractOp> contractions = registers.contractions();
  // Values stored from the registers of each contraction; values stored row by row, once so many contractions have run.
  std::vector<SmallVector<Value>> fromRegisters(contractions.size()), byRow(contractions.size() + 1);
  for (Value value : stores.all())
    if (std::optional<unsigned> place = registers.find(value))
      fromRegisters[*place].push_back(value);
    else
      byRow[registers.readyAfter(value)].push_back(value);

  for (unsigned i = 0; i <= contractions.size(); ++i) {
    for (Value value : byRow[i])
      steps.steps.push_back({ContractOp(), {value}, stores.workOf(value.getDefiningOp())});
    if (i == contractions.size() || fromRegisters[i].empty())
      continue;
    ContractOp contraction = contractions[i];
    bool longMaps = registers.hasLongMaps(i);
    steps.steps.push_back({contraction, fromRegisters[i], 0, longMaps});
    auto isChunked = [](ContractOp op) { return op.getLhs().getType().getShape().back() > numericsChunk(op); };
    steps.needsPartials |= longMaps || (isPanels(contraction) && isChunked(contraction));
  }
}

/// Bytes of working memory of the row phase, or the product, that takes most.
int64_t phaseBytesOf(plan::KernelOp kernel) {
  int64_t most = 0;
  kernel.getBody().walk([&](Operation *op) {
    int64_t bytes = 0;
    if (auto top = dyn_cast<TopOp>(op))
      bytes = TopPlan::of(top).workBytes;
    else if (auto contract = dyn_cast<ContractOp>(op)) {
      if (auto form = ProductForm::of(contract))
        bytes = productWorkBytes(contract, *form);
      else if (auto through = ReadThrough::of(contract))
        bytes = through->workBytes();
    }
    most = std::max(most, int64_t(llvm::alignTo(bytes, plan::lineBytes)));
  });
  return most;
}

} // namespace

Steps Steps::of(plan::KernelOp kernel) {
  const TargetTraits &target = TargetTraits::of(kernel);
  Block &body = kernel.getBody().front();
  Steps steps;
  steps.form.lifted = kernel.getLifted();
  if (kernel.getLifted())
    steps.form.members = Size::symbol(kernel.membersSize());
  steps.form.rows = Sizes(kernel.getRows().getValue());

  Registers registers(body, steps.form, target);
  Stores stores(body, steps.form, registers, target);
  addSteps(steps, registers, stores);

  for (BlockArgument argument : body.getArguments())
    steps.places[argument] = {Place::argument, argument.getArgNumber()};
  for (Value value : stores.all())
    steps.places[value] = {Place::scratch};
  for (auto [index, value] : llvm::enumerate(kernel.getYielded()))
    steps.places[value] = {Place::result, unsigned(index)};
  layOutScratch(steps, target);
  if (target.hasWorkMemory) {
    steps.phaseBytes = phaseBytesOf(kernel);
    steps.transposed = TransposedReads::of(kernel, steps);
  }
  kernel.getBody().walk([&](HeadOp head) { steps.heads.push_back(head); });
  return steps;
}

bool isTable(plan::KernelOp kernel, Value value, const Place &place) {
  if (place.kind == Place::scratch || !isLifted(typeOf(value)))
    return false;
  int64_t arguments = kernel.getBody().getNumArguments();
  return place.kind == Place::argument
             ? llvm::is_contained(kernel.getWeights(), int64_t(place.index)) || kernel.isPlaced(place.index)
             : kernel.isPlaced(arguments + place.index);
}

} // namespace tutti
