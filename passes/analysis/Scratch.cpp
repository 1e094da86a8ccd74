// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long values live, and the lowest places that are free for so long.
#include "Scratch.h"
#include "Numerics.h"
#include "Products.h"
#include "Steps.h"
#include "Target.h"

using namespace mlir;

namespace tutti {

namespace {

/// The life of a value, in steps: from the one that writes it to the last that reads it.
struct Life {
  unsigned first = 0, last = 0;
  bool overlaps(const Life &other) const { return first <= other.last && other.first <= last; }
};

/// The lives of stored values, which may be read through maps that no step stores.
class Lives {
public:
  explicit Lives(const Steps &steps) : steps(steps) {
    for (auto [i, step] : llvm::enumerate(steps.steps)) {
      for (Value stored : step.stores)
        all[stored].first = i;
      llvm::DenseSet<Value> seen;
      if (ContractOp contraction = step.contraction)
        addReads(contraction.getLhs(), seen, i);
      for (Value stored : step.stores)
        addReads(stored, seen, i);
    }
  }
  Life of(Value value) const { return all.lookup(value); }

private:
  const Steps &steps;
  llvm::DenseMap<Value, Life> all;

  /// Extends the lives of a value, and of all that is read from memory when it is computed, to this step.
  void addReads(Value value, llvm::DenseSet<Value> &seen, unsigned step) {
    all[value].last = step;
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second || !op || (isTiled(op) && !steps.isStored(value)))
      return;
    for (Value operand : op->getOperands())
      if (steps.isStored(operand))
        all[operand].last = step;
      else
        addReads(operand, seen, step);
  }
};

/// Allocates places, at the lowest addresses first.
class Memory {
public:
  explicit Memory(const Steps &steps) {
    for (auto [i, step] : llvm::enumerate(steps.steps)) {
      bool joins = i > 0 && !step.contraction && !steps.steps[i - 1].contraction;
      phases.push_back(i == 0 ? 0 : phases.back() + !joins);
    }
  }

  /// Takes the lowest offset at which a row's bytes are free for so long.
  int64_t take(const Life &life, int64_t rowBytes) {
    int64_t offset = 0, bytes = alignedBytes(rowBytes);
    auto isTaken = [&](const Run &run) {
      bool alike = run.from == offset && run.rowBytes == rowBytes;
      bool apart = !run.life.overlaps(life) && (alike || !phasesOf(run.life).overlaps(phasesOf(life)));
      return !apart && offset < run.to && run.from < offset + bytes;
    };
    // A run that is compatible at one offset need not be so at the next.
    for (auto taken = llvm::find_if(runs, isTaken); taken != runs.end(); taken = llvm::find_if(runs, isTaken))
      offset = taken->to;
    auto above = llvm::upper_bound(runs, offset, [](int64_t at, const Run &run) { return at < run.from; });
    runs.insert(above, {life, offset, offset + bytes, rowBytes});
    mostBytes = std::max(mostBytes, offset + bytes);
    return offset;
  }
  /// The most bytes of a row that were ever taken.
  int64_t most() const { return mostBytes; }

private:
  struct Run {
    Life life;
    int64_t from, to, rowBytes;
  };
  std::vector<Run> runs; ///< in the order of addresses
  /// The phase of each step. Steps between two contractions are one phase, as they go through the rows together: a
  /// value that one of them still writes for a later row may lie where another's life has ended only if they have the
  /// same place in each row.
  std::vector<unsigned> phases;
  int64_t mostBytes = 0;

  Life phasesOf(const Life &life) const { return {phases[life.first], phases[life.last]}; }
  static int64_t alignedBytes(int64_t rowBytes) { return llvm::alignTo(rowBytes, 8); } // a tile's 8 rows or more: 64
};

/// The stride of rows, in elements. Ops other than maps and products store whole vectors.
int64_t strideOf(Value value, int64_t columns, const TargetTraits &target) {
  bool isMasked = isa<MapOp>(value.getDefiningOp()) || isTiled(value.getDefiningOp());
  if (columns == 1 || (target.packsNarrowRows && isMasked && columns <= mostPacked))
    return columns;
  int64_t stride = llvm::alignTo(columns, lanes);
  return stride % target.conflictingStride == 0 ? stride + lanes : stride;
}

/// The type of 16 bits to which all readers, contractions, round a value: rounding when it is stored is rounding when
/// it is read.
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

} // namespace

/// The values of a chain of layers alternate between two runs of memory.
/// No target keeps so long a row, but its bytes can still be counted.
constexpr int64_t longestRow = int64_t(1) << 36;

void layOutScratch(Steps &steps, const TargetTraits &target) {
  const Lives lives(steps);
  Memory memory(steps);
  for (auto &[value, place] : steps.places) {
    if (place.kind != Place::scratch)
      continue;
    auto type = typeOf(value);
    place.narrow = narrowOf(value);
    Size columns = RowForm::of(type).columns;
    if (!columns.isFixed()) {
      steps.unbounded.push_back(value);
      continue;
    }
    int64_t length = std::min(columns.getFixed(), longestRow);
    place.stride = place.narrow ? narrowStride(length) : strideOf(value, length, target);
    place.offset =
        memory.take(lives.of(value), place.stride * (place.narrow ? 2 : storageBytes(type.getElementType())));
  }
  steps.scratchPerRow = memory.most();
}

int64_t headScratchBytes(HeadOp head, int64_t members) {
  if (head.getKind() == HeadKind::quantile)
    return members * lanes * 8;
  return head.votesByScores() ? std::min(RowForm::of(typeOf(head.getX())).columns.getFixed(), longestRow) * 8 : 0;
}

} // namespace tutti
