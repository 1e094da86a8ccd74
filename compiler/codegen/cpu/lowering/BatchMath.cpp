// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Math functions of neighbouring vectors, made together.
//
// A function is one long chain of operations that each wait for the one before. A processor looks ahead as far as its
// scheduler's hundred or so places, which hold three such chains; it needs eight to keep its multipliers busy. One
// operation on a vector of several registers becomes that many operations side by side, so that what lies in the
// scheduler is independent.
#include "Vectors.h"

#include "compiler/codegen/Passes.h"
#include "compiler/codegen/math/Math.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_CPUBATCHMATHPASS
#include "compiler/codegen/Passes.h.inc"

/// Moves the operands that `op` needs before `place`, in its block. False if one of `apart` is among them, or one
/// cannot be moved.
static bool hoistOperands(Operation *op, Operation *place, ArrayRef<Operation *> apart) {
  llvm::SetVector<Operation *> needed;
  auto need = [&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != place->getBlock())
        continue;
      if (llvm::is_contained(apart, definition) || definition->getNumRegions() > 0)
        return false;
      if (!definition->isBeforeInBlock(place))
        needed.insert(definition);
    }
    return true;
  };
  if (!need(op))
    return false;
  for (size_t i = 0; i < needed.size(); ++i)
    if (!need(needed[i]))
      return false;
  SmallVector<Operation *> inOrder = needed.takeVector();
  llvm::sort(inOrder, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *each : inOrder)
    each->moveBefore(place);
  return true;
}

/// `value`, the same in every lane, as a vector of another length; null if its lanes may differ.
static Value ofLength(ImplicitLocOpBuilder &b, Value value, int64_t length) {
  auto type = VectorType::get({length}, getElementTypeOrSelf(value.getType()));
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(b, constant.resizeSplat(type));
  auto splat = value.getDefiningOp<vector::BroadcastOp>();
  if (!splat || isa<VectorType>(splat.getSource().getType()))
    return nullptr;
  return vector::BroadcastOp::create(b, type, splat.getSource());
}

/// One op on the operands of all, end to end, in the place of the first.
static void merge(ArrayRef<Operation *> ops) {
  ImplicitLocOpBuilder b(ops.front()->getLoc(), ops.front());
  auto narrow = cast<VectorType>(ops.front()->getResult(0).getType());
  int64_t size = narrow.getNumElements();
  Operation *together = b.clone(*ops.front());
  for (OpOperand &operand : together->getOpOperands()) {
    SmallVector<Value> parts;
    for (Operation *op : ops)
      parts.push_back(op->getOperand(operand.getOperandNumber()));
    if (llvm::all_equal(parts))
      if (Value wide = ofLength(b, parts.front(), size * int64_t(ops.size()))) {
        operand.set(wide);
        continue;
      }
    operand.set(endToEnd(b, std::move(parts)));
  }
  Value all = together->getResult(0);
  all.setType(VectorType::get({size * int64_t(ops.size())}, narrow.getElementType()));
  together->moveBefore(ops.front());
  b.setInsertionPointAfter(together);
  for (auto [at, op] : llvm::enumerate(ops))
    op->getResult(0).replaceAllUsesWith(partOf(b, all, at, size));
  for (Operation *op : ops)
    op->erase();
}

static bool isAlike(Operation *a, Operation *b) {
  return a->getName() == b->getName() && a->getResultTypes() == b->getResultTypes() &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         (!isa<arith::DivFOp>(a) || a->getOperand(1) == b->getOperand(1));
}

/// Whether an op is worth merging: a math function, or a division by one number, which becomes a few operations and a
/// test of the vector (Divisions.cpp).
static bool isLong(Operation &op) {
  if (!isa<arith::DivFOp>(op))
    return isExpanded(&op);
  auto splat = op.getOperand(1).getDefiningOp<vector::BroadcastOp>();
  return matchPattern(op.getOperand(1), m_Constant()) || (splat && !isa<VectorType>(splat.getSource().getType()));
}

static void batch(Block &block, unsigned most) {
  SmallVector<Operation *> functions;
  for (Operation &op : block)
    if (isLong(op) && hasLanes(op.getResult(0).getType()))
      functions.push_back(&op);
  llvm::SmallPtrSet<Operation *, 8> merged;
  for (Operation *op : functions) {
    if (merged.contains(op))
      continue;
    SmallVector<Operation *> ops{op};
    // Loads may move up to here past everything but a store.
    for (Operation *next = op->getNextNode(); next && ops.size() < most; next = next->getNextNode()) {
      if (!wouldOpBeTriviallyDead(next) && !isa<LLVM::LoadOp, LLVM::MaskedLoadOp>(next))
        break;
      if (isAlike(op, next))
        ops.push_back(next);
    }
    ops.resize(llvm::bit_floor(ops.size()));
    SmallVector<Operation *> fit{op};
    for (Operation *next : ArrayRef(ops).drop_front())
      if (hoistOperands(next, op, fit))
        fit.push_back(next);
    fit.resize(llvm::bit_floor(fit.size()));
    if (fit.size() < 2)
      continue;
    merged.insert(fit.begin(), fit.end());
    merge(fit);
  }
}

namespace {
struct BatchMath : impl::CpuBatchMathPassBase<BatchMath> {
  using CpuBatchMathPassBase::CpuBatchMathPassBase;
  void runOnOperation() override {
    if (most < 2)
      return;
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      if (!block->empty())
        batch(*block, most);
  }
};
} // namespace

} // namespace tutti
