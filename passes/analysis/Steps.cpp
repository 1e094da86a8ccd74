// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps and places of a kernel.
#include "Steps.h"
#include "Numerics.h"
#include "Products.h"
#include "Target.h"

#include <cmath>
#include <map>

using namespace mlir;

namespace tutti {

int64_t storageBytes(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

int64_t headScratchBytes(HeadOp head, int64_t members) {
  Size columns = RowForm::of(cast<RankedTensorType>(head.getX().getType())).columns;
  return head.getKind() == HeadKind::quantile ? members * 16 * 8 : columns.isFixed() ? columns.getFixed() * 8 : 0;
}

int64_t TopPlan::rowBytes(int64_t columns) const {
  return llvm::alignTo(columns + std::max<int64_t>(groups, 64) + 16, 16) * 4;
}

TopPlan TopPlan::of(TopOp op) {
  Size size = RowForm::of(cast<RankedTensorType>(op.getX().getType())).columns;
  if (!size.isFixed() || size.getFixed() > INT32_MAX ||
      getElementTypeOrSelf(op.getX().getType()).getIntOrFloatBitWidth() > 32)
    return {};
  // Of half the groups the largest are wanted: then few elements are larger than what the last of them has.
  int64_t groups = std::max<int64_t>(16, llvm::PowerOf2Ceil(2 * op.getCount()));
  // Nanoseconds, about: an element compared with the worst of the best, and one that takes its place there; an element
  // brought into the working memory, and 16 that are compared with one; a vector in a pass of a network, and an element
  // in a merge.
  double columns = double(size.getFixed()), count = double(op.getCount()),
         block = std::min<double>(columns, sortedBlock), ranked = std::min<double>(columns, double(groups));
  double levels = std::ceil(std::log2(std::max(block / 16, 2.0))), depth = std::log2(count + 1);
  double heap = columns * 0.15 + count * (1 + std::log(columns / count)) * (10 + 5 * depth) + count * 10 * depth;
  auto counted = [](double of, double among) { return of * (3 + among / 16 * 0.25); };
  double ranks = columns * 0.2 + counted(std::min(ranked, 1.5 * count), ranked) +
                 (columns > ranked ? counted(ranked < halved ? ranked : 32, ranked) : 0);
  double sort = columns / 16 * levels * (levels + 1) / 2 + columns * (4 + std::ceil(std::log2(columns / block))) * 3;
  if (ranks <= heap && ranks <= sort) {
    TopPlan plan{TopPlan::ranks, 0, groups};
    plan.workBytes = 4 * plan.rowBytes(size.getFixed());
    return plan;
  }
  return heap <= sort ? TopPlan{} : TopPlan{TopPlan::sort, int64_t(llvm::alignTo(size.getFixed(), 16)) * 8 * 2};
}

bool isMadeOf(Value value, Value sums) {
  llvm::DenseSet<Value> seen;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == sums)
      return true;
    if (auto map = next.getDefiningOp<MapOp>(); map && seen.insert(next).second)
      open.append(map.getInputs().begin(), map.getInputs().end());
  }
  return false;
}

namespace {

/// More than a few cycles an element: worth storing when two read it.
bool isExpensive(MapOp map) {
  return llvm::any_of(map.getBody().front().without_terminator(), [](Operation &op) {
    return isa<arith::DivFOp>(op) || isa<math::MathDialect, TuttiDialect>(op.getDialect());
  });
}

class Builder {
public:
  explicit Builder(plan::KernelOp kernel) : kernel(kernel) {
    result.form.lifted = kernel.getLifted();
    if (kernel.getLifted())
      result.form.members = Size::symbol(kernel.membersSize());
    for (Attribute size : kernel.getRows())
      result.form.rows.push_back(*Size::parse(cast<StringAttr>(size).getValue()));
  }

  Steps build() {
    Block &body = kernel.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    for (BlockArgument argument : body.getArguments())
      result.places[argument] = {Place::argument, argument.getArgNumber()};
    for (Operation &op : body.without_terminator())
      assignStep(&op);
    for (Operation &op : body.without_terminator())
      if (mustStore(&op, yield))
        store(&op);
      else if (op.getNumResults())
        work[op.getResult(0)] = workOf(&op);
    order();
    for (auto [index, value] : llvm::enumerate(yield.getValues()))
      result.places[value] = {Place::result, unsigned(index)};
    layOutScratch();
    if (!onCuda)
      kernel.getBody().walk([&](Operation *op) {
        int64_t bytes = 0;
        if (auto top = dyn_cast<TopOp>(op))
          bytes = TopPlan::of(top).workBytes;
        else if (auto contract = dyn_cast<ContractOp>(op))
          if (auto form = ProductForm::of(contract))
            bytes = productWorkBytes(contract, *form);
        result.phaseBytes = std::max(result.phaseBytes, int64_t(llvm::alignTo(bytes, 64)));
      });
    if (!onCuda)
      result.transposed = TransposedReads::of(kernel, result);
    return std::move(result);
  }

private:
  plan::KernelOp kernel;
  bool onCuda = targetOf(kernel->getParentOfType<ModuleOp>()) == "cuda";
  Steps result;
  // The contraction in whose registers a value is, as an index into `contractions`.
  llvm::DenseMap<Value, unsigned> registers;
  llvm::SmallVector<ContractOp> contractions;
  std::map<unsigned, int64_t> mapsIn; ///< ops that would be computed in each contraction's registers
  // What is stored from each contraction's registers, and row by row once so many contractions have run.
  std::map<unsigned, llvm::SmallVector<Value>> registerStores, rowStores;
  llvm::DenseMap<Value, unsigned> ready; ///< what readyAfter has found
  llvm::DenseMap<Value, int64_t> work;   ///< what workOf has found, of values that are computed where they are read

  AffineMap access(Operation *op, unsigned operand) {
    RowForm form = RowForm::of(cast<RankedTensorType>(op->getResult(0).getType()));
    if (auto map = dyn_cast<MapOp>(op))
      return operandAccess(map, operand, ownRow(form, op->getContext()));
    return AffineMap();
  }

  /// A map whose operands are one contraction's registers, each at its own element, and things that are in memory by
  /// then, is computed in the same registers.
  void assignStep(Operation *op) {
    if (isTiled(op)) {
      registers[op->getResult(0)] = contractions.size();
      contractions.push_back(cast<ContractOp>(op));
      return;
    }
    auto map = dyn_cast<MapOp>(op);
    if (!map)
      return;
    RowForm form = RowForm::of(map.getResult().getType());
    std::optional<unsigned> latest;
    for (Value operand : map.getInputs())
      if (auto it = registers.find(operand); it != registers.end())
        latest = latest ? std::max(*latest, it->second) : it->second;
    if (!latest || !form.sameRows(result.form))
      return;
    for (auto [index, operand] : llvm::enumerate(map.getInputs())) {
      auto it = registers.find(operand);
      bool here = it != registers.end() && it->second == *latest;
      RowForm operandForm = RowForm::of(cast<RankedTensorType>(operand.getType()));
      if (here && !(operandForm.columns == form.columns && isOwnElement(access(op, index), operandForm)))
        return;
      if (!here && readyAfter(operand) > *latest)
        return;
    }
    int64_t &length = mapsIn[*latest];
    length += bodyLength(map);
    if (length <= mostInRegisters)
      registers[map.getResult()] = *latest;
  }

  /// A math function is a dozen operations and more.
  static int64_t bodyLength(MapOp map) {
    int64_t length = 0;
    for (Operation &op : map.getBody().front().without_terminator())
      length += isa<math::MathDialect, TuttiDialect>(op.getDialect()) ? 12 : 1;
    return length;
  }

  /// How many contractions must have run before the value can be read, if it is not in the last one's registers. Asked
  /// once all ops before its readers have their step.
  unsigned readyAfter(Value value) {
    if (auto it = registers.find(value); it != registers.end())
      return it->second + 1;
    if (auto known = ready.find(value); known != ready.end())
      return known->second;
    unsigned latest = 0;
    if (Operation *op = value.getDefiningOp())
      for (Value operand : op->getOperands())
        latest = std::max(latest, readyAfter(operand));
    return ready[value] = latest;
  }

  bool mustStore(Operation *op, YieldOp yield) {
    if (isa<HeadOp>(op))
      return false;
    Value value = op->getResult(0);
    if (isRowPhase(op))
      return true;
    unsigned readers = 0;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      ++readers;
      if (user == yield || isTiled(user) || isa<HeadOp>(user))
        return true;
      // Updates are read one by one: what computes them goes by vectors before.
      if (isa<ScatterOp>(user) && use.getOperandNumber() > 0)
        return true;
      // A gather that takes as many elements as there are would compute them at places far apart.
      if (!onCuda && isa<GatherOp>(user) && use.getOperandNumber() == 0 && computes(op) &&
          columnsOf(user->getResult(0)).isFixed() && columnsOf(value).isFixed() &&
          columnsOf(user->getResult(0)).getFixed() >= columnsOf(value).getFixed())
        return true;
      auto mine = registers.find(value);
      if (mine == registers.end())
        continue;
      // Registers end with their step.
      auto theirs = registers.find(user->getResult(0));
      if (theirs == registers.end() || theirs->second != mine->second)
        return true;
    }
    // A sum that somebody else would compute again for each element of theirs.
    if (isa<CombineOpInterface>(op) && !isTiled(op))
      return readers > 0;
    auto map = dyn_cast<MapOp>(op);
    auto concat = dyn_cast<ConcatOp>(op);
    bool isLong = (readers > 1 && workOf(op) > mostRepeated) || workOf(op) > mostAtOnce ||
                  (concat && concat.getInputs().size() > mostSelected);
    return ((map && (readers > 1 || isReadAlongRow(map)) && isExpensive(map)) || isLong) &&
           !registers.contains(value) && RowForm::of(cast<RankedTensorType>(value.getType())).sameRows(result.form);
  }

  static Size columnsOf(Value value) { return RowForm::of(cast<RankedTensorType>(value.getType())).columns; }
  /// Whether a map does more than move elements.
  static bool computes(Operation *op) {
    auto map = dyn_cast<MapOp>(op);
    return map && map.getBody().front().getOperations().size() > 1;
  }

  /// What several readers may each compute again; without a bound, a chain in which each is read twice would double its
  /// work with every link.
  static constexpr int64_t mostRepeated = 64;
  /// What is computed from memory to memory, and in a contraction's registers: the code of more takes longer to compile
  /// than its length says.
  static constexpr int64_t mostAtOnce = 100, mostInRegisters = 300;
  /// Ops to compute an element, of what lies in memory and in registers.
  int64_t workOf(Operation *op) {
    auto map = dyn_cast<MapOp>(op);
    int64_t sum = map ? bodyLength(map) : isa<ConcatOp>(op) ? op->getNumOperands() : 1;
    for (Value operand : op->getOperands())
      if (!result.places.contains(operand) && !registers.contains(operand))
        sum = std::min<int64_t>(sum + work.lookup(operand), 2 * mostRepeated);
    return sum;
  }

  /// Whether one number of a row is read at each of its columns, which would compute it again.
  bool isReadAlongRow(MapOp map) {
    return !onCuda && columnsOf(map.getResult()) == Size(1) && llvm::any_of(map->getUsers(), [&](Operation *user) {
      return user->getNumResults() == 1 && columnsOf(user->getResult(0)) != Size(1);
    });
  }

  /// Rows steps come as early as they can: right after the last contraction that they read.
  void store(Operation *op) {
    Value value = op->getResult(0);
    result.places[value] = {Place::scratch};
    if (auto it = registers.find(value); it != registers.end())
      registerStores[it->second].push_back(value);
    else
      rowStores[readyAfter(value)].push_back(value);
  }

  void order() {
    for (unsigned i = 0; i <= contractions.size(); ++i) {
      for (Value value : rowStores[i])
        result.steps.push_back({ContractOp(), {value}, workOf(value.getDefiningOp())});
      if (i == contractions.size() || registerStores[i].empty())
        continue;
      bool longMaps = llvm::any_of(registers, [&](auto &entry) {
        auto map = entry.first.template getDefiningOp<MapOp>();
        return entry.second == i && map && isExpensive(map);
      });
      result.steps.push_back({contractions[i], registerStores[i], 0, longMaps});
      int64_t k = cast<RankedTensorType>(contractions[i].getLhs().getType()).getShape().back();
      result.needsPartials |= longMaps || (isPanels(contractions[i]) && k > numericsChunk(contractions[i]));
    }
  }

  /// The steps that a stored value lives through: from the one that writes it to the last that reads it, maybe by way
  /// of maps that no step stores.
  using Lives = llvm::DenseMap<Value, std::pair<unsigned, unsigned>>;
  Lives lives() {
    Lives all;
    for (auto [i, step] : llvm::enumerate(result.steps)) {
      for (Value stored : step.stores)
        all[stored].first = i;
      llvm::DenseSet<Value> seen;
      if (step.contraction)
        addReads(step.contraction.getLhs(), seen, i, all);
      for (Value stored : step.stores)
        addReads(stored, seen, i, all);
    }
    return all;
  }

  /// A value, and all that is read from memory when it is computed, lives until this step.
  void addReads(Value value, llvm::DenseSet<Value> &seen, unsigned step, Lives &all) {
    all[value].second = step;
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second || !op || (isTiled(op) && !result.places.contains(value)))
      return;
    for (Value operand : op->getOperands())
      if (result.places.contains(operand))
        all[operand].second = step;
      else
        addReads(operand, seen, step, all);
  }

  int64_t strideOf(int64_t columns) {
    // Whole vectors are stored; a line more keeps rows off the same cache set.
    int64_t stride = llvm::alignTo(columns, 16);
    if (!onCuda)
      return stride % 256 == 0 ? stride + 16 : stride;
    // Lanes that read four neighbours in each of several rows at once meet different banks of shared memory.
    return stride % 32 == 0 ? stride + 16 : stride;
  }
  /// Rounding when it is stored is rounding when it is read.
  std::optional<NumericsProduct> narrowOf(Value value) {
    if (value.getDefiningOp<ScatterOp>()) // it is read while it is made
      return {};
    std::optional<NumericsProduct> all;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (!isPanels(user) || use.getOperandNumber() != 0)
        return {};
      NumericsProduct product = numericsProduct(user);
      bool isNarrow = product == NumericsProduct::bf16 || product == NumericsProduct::f16;
      if (!isNarrow || (all && all != product))
        return {};
      all = product;
    }
    return all;
  }

  /// Rows of scratch for every value, the lowest that are free while it lives: a chain goes to and fro between two runs
  /// of memory. Steps between two contractions go through the rows together: a value that one of them still writes for
  /// a later row may lie where another's life has ended only if they have the same place in each row.
  void layOutScratch() {
    struct Run {
      unsigned first, last;
      int64_t from, to, rowBytes;
    };
    std::vector<Run> runs;
    std::vector<unsigned> phases; // of each step
    for (auto [i, step] : llvm::enumerate(result.steps)) {
      bool joins = i > 0 && !step.contraction && !result.steps[i - 1].contraction;
      phases.push_back(i == 0 ? 0 : phases.back() + !joins);
    }
    const Lives life = lives();
    for (auto &[value, place] : result.places) {
      if (place.kind != Place::scratch)
        continue;
      auto type = cast<RankedTensorType>(value.getType());
      int64_t columns = RowForm::of(type).columns.getFixed();
      place.narrow = narrowOf(value);
      place.stride = columns == 1 ? 1 : strideOf(columns);
      int64_t rowBytes = place.stride * (place.narrow ? 2 : storageBytes(type.getElementType()));
      int64_t bytes = llvm::alignTo(rowBytes, 8); // a tile's 8 rows or more: 64
      auto [first, last] = life.lookup(value);
      for (const Run &run : runs) {
        bool together = run.first <= last && first <= run.last;
        bool near = phases[run.first] <= phases[last] && phases[first] <= phases[run.last];
        bool alike = run.from == place.offset && run.rowBytes == rowBytes;
        if ((together || (near && !alike)) && place.offset < run.to && run.from < place.offset + bytes)
          place.offset = run.to;
      }
      auto above = llvm::upper_bound(runs, place.offset, [](int64_t at, const Run &run) { return at < run.from; });
      runs.insert(above, {first, last, place.offset, place.offset + bytes, rowBytes}); // in the order of addresses
      result.scratchPerRow = std::max(result.scratchPerRow, place.offset + bytes);
    }
  }
};

} // namespace

bool isTable(plan::KernelOp kernel, Value value, const Place &place) {
  if (place.kind == Place::scratch || !isLifted(cast<RankedTensorType>(value.getType())))
    return false;
  int64_t arguments = kernel.getBody().getNumArguments();
  return place.kind == Place::argument
             ? llvm::is_contained(kernel.getWeights(), int64_t(place.index)) || kernel.isPlaced(place.index)
             : kernel.isPlaced(arguments + place.index);
}

Steps Steps::of(plan::KernelOp kernel) {
  Steps steps = Builder(kernel).build();
  kernel.getBody().walk([&](HeadOp head) { steps.heads.push_back(head); });
  return steps;
}

} // namespace tutti
