// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagnostics of what is no fault of a model's but of the compiler's.
#ifndef TUTTI_DIALECTS_FAULT_H
#define TUTTI_DIALECTS_FAULT_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"

namespace tutti {

/// An error of `op` that no model should be able to cause: a tool that hears of it ends with exit code 70, not with
/// that of a model it does not support.
inline mlir::InFlightDiagnostic emitFault(mlir::Operation *op, const llvm::Twine &message) {
  mlir::InFlightDiagnostic diagnostic = op->emitError(message);
  // Metadata is for whoever handles the diagnostic; nobody prints it.
  if (mlir::Diagnostic *under = diagnostic.getUnderlyingDiagnostic())
    under->getMetadata().push_back(mlir::DiagnosticArgument(llvm::StringRef("fault")));
  return diagnostic;
}

inline bool isFault(mlir::Diagnostic &diagnostic) {
  return llvm::any_of(diagnostic.getMetadata(), [](const mlir::DiagnosticArgument &argument) {
    return argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
           argument.getAsString() == "fault";
  });
}

} // namespace tutti

#endif
