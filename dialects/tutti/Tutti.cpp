// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the tutti dialect.
#include "Tutti.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/tutti/TuttiDialect.cpp.inc"
#include "dialects/tutti/TuttiEnums.cpp.inc"
#include "dialects/tutti/TuttiInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tutti/TuttiAttrs.cpp.inc"

namespace tutti {

void TuttiDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/tutti/TuttiAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/tutti/TuttiOps.cpp.inc"
      >();
}

/// Builds the constants that folds make.
Operation *TuttiDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value))
    return ConstantOp::create(builder, loc, type, elements);
  return nullptr;
}

} // namespace tutti
