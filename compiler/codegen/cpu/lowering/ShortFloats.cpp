// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds values of bfloat16 as 16-bit integers. Nothing computes in that type: integer operations widen and round it.
// But LLVM would hold a selected value, or one that lives across blocks, as a float, and would convert it by library
// functions that no artifact has.
#include "compiler/codegen/Passes.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tutti {
#define GEN_PASS_DEF_CPUSHORTFLOATSPASS
#include "compiler/codegen/Passes.h.inc"

static Type asBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!element.isBF16())
    return type;
  Type bits = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(bits)) : bits;
}

static TypedAttr asBits(TypedAttr value) {
  Type bits = asBits(value.getType());
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return cast<TypedAttr>(Attribute(dense.bitcast(getElementTypeOrSelf(bits))));
  return IntegerAttr::get(bits, cast<FloatAttr>(value).getValue().bitcastToAPInt());
}

static void holdAsBits(ModuleOp module) {
  module.walk([](FunctionOpInterface function) {
    auto held = [](TypeRange types) { return llvm::map_to_vector(types, [](Type type) { return asBits(type); }); };
    function.setType(function.cloneTypeWith(held(function.getArgumentTypes()), held(function.getResultTypes())));
  });
  module.walk([](Operation *op) {
    for (Value result : op->getResults())
      result.setType(asBits(result.getType()));
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(asBits(argument.getType()));
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && constant.getType() != constant.getValue().getType())
      constant.setValueAttr(asBits(constant.getValue()));
  });
  module.walk([](arith::BitcastOp op) {
    if (op.getIn().getType() != op.getType())
      return;
    op.replaceAllUsesWith(op.getIn());
    op.erase();
  });
}

namespace {
struct ShortFloats : impl::CpuShortFloatsPassBase<ShortFloats> {
  void runOnOperation() override { holdAsBits(getOperation()); }
};
} // namespace

} // namespace tutti
