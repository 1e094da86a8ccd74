// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a module, an input, an output and a sum say of themselves: passes read these attributes as their description has
// them.
#include "Module.h"
#include "Ports.h"
#include "Tutti.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tutti {

static LogicalResult expected(Operation *op, StringAttr name, StringRef what) {
  return op->emitError() << "expected '" << name.getValue() << "' to be " << what;
}

static bool isCount(Attribute value, int64_t least) {
  auto number = dyn_cast<IntegerAttr>(value);
  return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
}
static bool isRange(NamedAttribute size) {
  auto ends = dyn_cast<DenseI64ArrayAttr>(size.getValue());
  return ends && ends.size() == 2 && ends[0] >= 0 && ends[1] >= ends[0];
}

LogicalResult TuttiDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  Attribute value = attribute.getValue();
  if (!isa<ModuleOp>(op))
    return op->emitError() << "'" << name.getValue() << "' is no attribute of '" << op->getName() << "'";
  if (name == membersName || name == chunkName)
    return isCount(value, 1) ? success() : expected(op, name, "a 64-bit number, 1 or more");
  if (name == scratchPerRowName)
    return isCount(value, 0) ? success() : expected(op, name, "a 64-bit number, 0 or more");
  if (name == sizesName) {
    auto sizes = dyn_cast<DictionaryAttr>(value);
    return sizes && llvm::all_of(sizes, isRange)
               ? success()
               : expected(op, name, "the range of each size, as in {batch = array<i64: 1, 64>}");
  }
  if (name == groupsName) {
    auto groups = dyn_cast<ArrayAttr>(value);
    return groups && llvm::all_of(groups, llvm::IsaPred<DenseI64ArrayAttr>)
               ? success()
               : expected(op, name, "the members of each group, as in [array<i64: 0, 2>, array<i64: 1>]");
  }
  if (name == targetName)
    return isa<TargetAttr>(value) ? success() : expected(op, name, "a target, as in #tutti<target cuda>");
  if (name == precisionName)
    return isa<PrecisionAttr>(value) ? success() : expected(op, name, "a precision, as in #tutti<precision bf16>");
  return op->emitError() << "'" << name.getValue() << "' is no attribute of a module";
}

LogicalResult TuttiDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  if (name == portName)
    return isa<StringAttr>(attribute.getValue()) ? success() : expected(op, name, "a string");
  if (name == perMemberName)
    return isa<UnitAttr>(attribute.getValue()) ? success() : expected(op, name, "without a value");
  return op->emitError() << "'" << name.getValue() << "' is no attribute of an input";
}

LogicalResult TuttiDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  StringAttr name = attribute.getName();
  if (name == portName || name == headName)
    return isa<StringAttr>(attribute.getValue()) ? success() : expected(op, name, "a string");
  if (name == headsName) {
    auto heads = dyn_cast<ArrayAttr>(attribute.getValue());
    return heads && llvm::all_of(heads, llvm::IsaPred<StringAttr>) ? success()
                                                                   : expected(op, name, "a list of strings");
  }
  return op->emitError() << "'" << name.getValue() << "' is no attribute of an output";
}

LogicalResult NumericsAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, NumericsRule rule,
                                   std::optional<int64_t> chunk, NumericsProduct product) {
  if (chunk.value_or(0) < 0)
    return emitError() << "expected a chunk of 0 or more, got " << *chunk;
  if (rule == NumericsRule::lanes && chunk)
    return emitError() << "expected no chunk of the rule lanes, got " << *chunk;
  if (rule != NumericsRule::panels && product != NumericsProduct::fma)
    return emitError() << "expected the rule panels with the product " << stringifyNumericsProduct(product) << ", got "
                       << stringifyNumericsRule(rule);
  return success();
}

LogicalResult verifyNumerics(Operation *op) {
  NumericsAttr numerics = cast<NumericsOpInterface>(op).getNumericsAttr();
  if (!numerics)
    return success();
  bool isSum = isa<ContractOp>(op);
  if (numerics.getRule() == (isSum ? NumericsRule::lanes : NumericsRule::panels))
    return op->emitOpError("expected the rule ")
           << (isSum ? "panels or chain" : "lanes or chain") << ", got " << stringifyNumericsRule(numerics.getRule());
  if (auto contract = dyn_cast<ContractOp>(op); contract && numerics.getRule() == NumericsRule::panels) {
    ContractSpec spec = contract.labels();
    if (!spec.isRowsTimesWeight(/*lifted=*/spec.rhs.size() == 3))
      return op->emitOpError("expected the rule chain, as \"") << spec.str() << "\" is not rows times a weight";
  }
  if (numerics.getChunk().has_value() != isSum)
    return op->emitOpError(isSum ? "expected numerics with a chunk" : "expected numerics without a chunk");
  return success();
}

} // namespace tutti
