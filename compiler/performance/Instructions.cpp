// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the instructions of a map's scalar code.
#include "Work.h"
#include "compiler/codegen/cuda/Scalar.h"
#include "dialects/tutti/Module.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tutti {

// Operations of more than one instruction, as NVRTC 13 prints them for sm_80 and sm_90 without fused products: the
// growth of a function's size per operation (docs/performance-model.md, "Scalar code").
constexpr double division = 13, squareRoot = 13, wideMaximum = 8, wideDivision = 22, integerDivision = 28;

/// The instructions of functions that some precisions compute by special-function units, as device/special.cuh does.
static ScalarWork countSpecial(Operation *op, Precision precision) {
  return llvm::TypeSwitch<Operation *, ScalarWork>(op)
      .Case<math::ExpOp, math::LogOp>([](auto) { return ScalarWork{.fp32 = 1, .special = 1}; })
      .Case([&](LogisticOp logistic) {
        return ScalarWork{.fp32 = 2, .special = isFastGate(logistic, precision) ? 1.0 : 2.0};
      })
      .Case<Log1pExpOp, MishGateOp>([](auto) { return ScalarWork{.fp32 = 5, .integer = 2, .special = 2}; })
      .Default([](Operation *) { return ScalarWork{.special = 1}; });
}

/// Whether a comparison of floats feeds a selection of one of them: both are a minimum or maximum, one instruction.
static bool isOfMinimum(Operation *op) {
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (!compare || !compare->hasOneUse())
    return false;
  auto select = dyn_cast<arith::SelectOp>(*compare->user_begin());
  return select && (select.getTrueValue() == compare.getLhs() || select.getTrueValue() == compare.getRhs()) &&
         (select.getFalseValue() == compare.getLhs() || select.getFalseValue() == compare.getRhs());
}

static void count(Operation *op, ScalarWork &work, Precision precision) {
  if (isa<scf::IfOp>(op) || isOfMinimum(op)) // scf.if: a math function's slow path, which most arguments do not take
    return;
  if (isa<scf::WhileOp>(op)) { // a step for each bit of an exponent; counted as four to seven
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front().without_terminator())
        for (int step = 0; step < 3; ++step)
          count(&inner, work, precision);
    return;
  }
  if (!approximation(op, precision).empty()) {
    ScalarWork own = countSpecial(op, precision);
    work.fp32 += own.fp32, work.integer += own.integer, work.special += own.special;
    return;
  }
  Type type = op->getResult(0).getType();
  Type from = op->getNumOperands() ? getElementTypeOrSelf(op->getOperand(0)) : type;
  bool wide = type.isF64() || from.isF64();
  auto plain = [&](double n) { (wide ? work.fp64 : work.fp32) += n; };
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, arith::BitcastOp>([](auto) {})
      .Case<arith::DivFOp>([&](auto) {
        plain(wide ? wideDivision : division);
        work.special += 1;
      })
      .Case<math::SqrtOp>([&](auto) {
        plain(squareRoot);
        work.special += 1;
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp>([&](auto) { wide ? plain(wideMaximum) : void(work.integer += 1); })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(
          [&](auto) { work.integer += integerDivision; })
      .Case<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>([&](auto) { plain(1); })
      .Default([&](Operation *) { work.integer += 1; }); // including floats' signs, comparisons, selections
}

ScalarWork countScalar(MapOp map) {
  Precision precision = getPrecision(map->getParentOfType<ModuleOp>());
  OwningOpRef<ModuleOp> module = scalarFunction(map, precision);
  ScalarWork work;
  for (Operation &op : module->lookupSymbol<func::FuncOp>("f").front().without_terminator())
    count(&op, work, precision);
  return work;
}

} // namespace tutti
