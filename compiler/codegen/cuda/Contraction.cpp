// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts of contractions at a geometry.
#include "Contraction.h"
#include "compiler/support/Layout.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Products.h"
#include "passes/analysis/Scratch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tutti {

Contraction::Contraction(ContractOp op)
    : op(op), K(typeOf(op.getLhs()).getShape().back()), N(op.getType().getShape().back()),
      product(numericsProduct(op)) {}

StringRef Contraction::math() const {
  switch (product) {
  case NumericsProduct::fma:
    break;
  case NumericsProduct::tf32x3:
    return "Tf32x3";
  case NumericsProduct::tf32:
    return "Tf32";
  case NumericsProduct::bf16:
    return "Bf16";
  case NumericsProduct::f16:
    return "F16";
  }
  llvm_unreachable("fma is not on tensor cores");
}

Value Contraction::rows() const {
  ContractOp product = op;
  return product.getLhs();
}

bool Contraction::readsInput(const Steps &steps, const CudaGeometry &geometry) const {
  return onTensorCores() && steps.placeOf(rows()).kind == Place::argument && !isCopied(steps, geometry);
}

bool Contraction::streamsRows(const Steps &steps, const CudaGeometry &geometry) const {
  return readsInput(steps, geometry) && geometry.warps.slices == 1;
}

bool Contraction::wantsCopies(const Steps &steps, const CudaGeometry &geometry) const {
  if (!isPanels(op))
    return false;
  if (!isOfWarps(geometry))
    return K % 4 != 0 && K <= 64 && steps.placeOf(rows()).kind != Place::scratch;
  // There is one place for copies, so a single input may be copied.
  return wordBytes() == 2 && steps.placeOf(rows()).kind == Place::argument &&
         llvm::all_of(steps.steps, [&](const Step &step) {
           if (!step.contraction || !isPanels(step.contraction))
             return true;
           Value others = ContractOp(step.contraction).getLhs();
           return others == rows() || steps.placeOf(others).kind != Place::argument;
         });
}

/// With two resident blocks of 256 threads, a thread has 128 registers. For small K, all weights of a column, the
/// loaded elements of four rows and their sums (the chain's and the total) take 24 + 4 x 24 + 2 x 4 of them. For larger
/// K a run of weights serves eight rows, so that it is loaded less often and its load overlaps the multiplications by
/// the run before.
Contraction::Walk Contraction::walk() const {
  constexpr int64_t mostHeld = 24;
  if (!onTensorCores() && K <= std::min(mostHeld, numericsChunk(op)))
    return {4, K, true};
  return {8, 8, false};
}

int64_t Contraction::copiedStride(const CudaGeometry &geometry) const {
  return isOfWarps(geometry) ? narrowStride(K) : llvm::alignTo(K, 4);
}

/// Loads overlap, so many units cost one memory latency. A thread therefore loads as many before the first store as fit
/// the registers that sums need later: 112 for a thread of a warpgroup, 56 for others, so that two blocks still share a
/// processor. A row belongs to one warp only if it fills most lanes and gives no lane more units than that; otherwise
/// the threads share all elements of the tile.
Contraction::Narrowing Contraction::narrowing(const CudaGeometry &g) const {
  constexpr int64_t longRow = 48;
  int64_t unit = K % 4 == 0 ? 4 : 1, units = K / unit, turns = llvm::divideCeil(units, 32),
          most = (g.warps.wide ? 112 : 56) / unit;
  Narrowing how{units >= longRow && turns <= most, 0, 0, 0};
  int64_t own = how.longRows ? llvm::divideCeil(g.rows, g.threads / 32) : llvm::divideCeil(g.rows * units, g.threads);
  how.rounds = llvm::divideCeil(own, how.longRows ? most / turns : most);
  how.atOnce = llvm::divideCeil(own, how.rounds);
  how.own = own * (how.longRows ? turns : 1);
  return how;
}

int64_t Contraction::wordBytes() const {
  return product == NumericsProduct::bf16 || product == NumericsProduct::f16 ? 2 : 4;
}

rt::Layout Contraction::layout() const { return layoutOf(weightLayout(op)); }

int64_t Contraction::panels() const {
  int64_t tiles = llvm::divideCeil(N, 8);
  return tiles / 4 + tiles % 4 / 2 + tiles % 2;
}

int64_t Contraction::blocks(const CudaGeometry &g) const {
  int64_t tiles = llvm::divideCeil(N, 8), last = tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1;
  return (panels() - 1) * g.warps.panelParts + llvm::divideCeil(last * g.warps.panelParts, 4);
}

int64_t Contraction::stages(const CudaGeometry &g) const {
  return llvm::divideCeil(panels(), g.warps.passPanels()) * llvm::divideCeil(K, g.stageK());
}

/// Whether a step reads a value, as an operand of a value that it stores or of one without a place, which is computed
/// where it is read.
static bool reads(const Step &step, Value value, const Steps &all) {
  SmallVector<Value> todo(step.stores);
  llvm::DenseSet<Value> seen;
  while (!todo.empty()) {
    Value made = todo.pop_back_val();
    Operation *op = made.getDefiningOp();
    bool isOfStep = llvm::is_contained(step.stores, made) || !all.isStored(made);
    if (!op || !isOfStep || !seen.insert(made).second)
      continue;
    if (llvm::is_contained(op->getOperands(), value))
      return true;
    llvm::append_range(todo, op->getOperands());
  }
  return false;
}

int64_t blocksThatRead(Value value, const Steps &steps, const CudaGeometry &geometry) {
  int64_t most = 1;
  for (const Step &step : steps.steps)
    if (reads(step, value, steps)) // other steps all blocks do for themselves
      most = std::max(most,
                      isOnTensorCores(step) ? Contraction(step.contraction).blocks(geometry) : geometry.warps.cluster);
  return std::min<int64_t>(most, geometry.warps.cluster);
}

ScratchRange ScratchRange::of(Value value, const Steps &steps) {
  if (!steps.isStored(value) || steps.placeOf(value).kind != Place::scratch)
    return {};
  const Place &place = steps.placeOf(value);
  int64_t bytes = place.narrow ? 2 : storageBytes(typeOf(value).getElementType());
  return {place.offset, place.offset + place.stride * bytes};
}

bool storesInScratch(const Step &step, const Steps &steps) {
  return llvm::all_of(step.stores, [&](Value value) { return steps.placeOf(value).kind == Place::scratch; });
}

bool handsOver(const Step &step, const Step *next, const Steps &steps, const CudaGeometry &geometry) {
  if (geometry.warps.cluster < 2 || !next || !isOnTensorCores(step) || !storesInScratch(step, steps) ||
      (isOnTensorCores(*next) && !llvm::is_contained(step.stores, ContractOp(next->contraction).getLhs())))
    return false;
  return llvm::all_of(
      step.stores, [&](Value value) { return !steps.placeOf(value).narrow && typeOf(value).getElementType().isF32(); });
}

ProductTile ProductTile::of(const Step &step, const Steps &steps, const CudaGeometry &geometry) {
  constexpr int64_t most = 4, manyColumns = 64, codeAtMost = 320;
  ContractOp op = step.contraction;
  Size columns = RowForm::of(op.getType()).columns;
  int64_t count = columns.isFixed() ? columns.getFixed() : manyColumns, run = 1;
  for (const Size &size : ArrayRef(steps.form.rows).take_back(ProductForm::of(op)->run))
    run = std::min(most, run * (size.isFixed() ? std::min(most, size.getFixed()) : most));
  int64_t each = std::min(geometry.rows * count / geometry.threads, codeAtMost / lengthOfEnding(step, steps));
  ProductTile tile;
  while (tile.rows < run && tile.rows * 2 <= each)
    tile.rows *= 2;
  while (tile.columns < std::min(most, count) && tile.rows * tile.columns * 2 <= each)
    tile.columns *= 2;
  return tile;
}

bool isOnTensorCores(const Step &step) { return step.contraction && Contraction(step.contraction).onTensorCores(); }

SmallVector<Contraction> tensorContractions(const Steps &steps) {
  SmallVector<Contraction> all;
  for (const Step &step : steps.steps)
    if (isOnTensorCores(step))
      all.emplace_back(step.contraction);
  return all;
}

/// Whether an access of the kernel's index space does not depend on the row.
static bool isOfColumn(AffineMap access) {
  for (unsigned row = 1; row + 1 < access.getNumDims(); ++row)
    if (access.isFunctionOfDim(row))
      return false;
  return true;
}

/// Whether a value, and everything that it is computed from where it is read, exists before the kernel begins. A value
/// that the kernel itself stores does not, even if it has a single row, so that its access names the column only.
static bool isThere(Value value, const Steps &steps) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (steps.isStored(values[i])) {
      if (steps.placeOf(values[i]).kind != Place::argument)
        return false;
    } else if (Operation *made = values[i].getDefiningOp()) {
      values.insert_range(made->getOperands());
    }
  }
  return true;
}

SmallVector<EndingValue> endingOf(const Step &step, Value stored, const Steps &steps) {
  Value sums = step.contraction->getResult(0);
  SmallVector<EndingValue> all;
  llvm::DenseSet<std::pair<Value, AffineMap>> met;
  struct Open {
    Value value;
    AffineMap access;
    MapOp map; ///< that makes it of sums; or none
    unsigned next = 0;
  };
  SmallVector<Open> open;
  auto meet = [&](Value value, AffineMap access) {
    auto map = value.getDefiningOp<MapOp>();
    if (met.insert({value, access}).second)
      open.push_back({value, access, map && isMadeOf(value, sums) ? map : MapOp()});
  };
  meet(stored, ownRow(RowForm::of(typeOf(stored)), stored.getContext()));
  while (!open.empty()) {
    Open &last = open.back();
    if (last.map && last.next < last.map.getInputs().size()) {
      unsigned input = last.next++;
      meet(last.map.getInputs()[input], operandAccess(last.map, input, last.access));
      continue;
    }
    auto [value, access, map, next] = open.pop_back_val();
    all.push_back({value, access,
                   value == sums                                 ? EndingValue::sum
                   : map                                         ? EndingValue::made
                   : isOfColumn(access) && isThere(value, steps) ? EndingValue::column
                                                                 : EndingValue::row});
  }
  return all;
}

int64_t lengthOfEnding(const Step &step, const Steps &steps) {
  int64_t longest = 1;
  for (Value stored : step.stores) {
    int64_t length = 0;
    for (const EndingValue &each : endingOf(step, stored, steps))
      if (each.kind == EndingValue::made)
        for (Operation &op : cast<MapOp>(each.value.getDefiningOp()).getBody().front().without_terminator())
          length += isa<arith::ArithDialect>(op.getDialect()) ? 1 : 30; // a function is some thirty
      else if (each.kind != EndingValue::sum)
        length += 6; // it is read
    longest = std::max(longest, length);
  }
  return longest;
}

} // namespace tutti
