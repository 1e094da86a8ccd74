// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors that no model can be blamed for.
#ifndef TUTTI_DIALECTS_TUTTI_MISTAKE_H
#define TUTTI_DIALECTS_TUTTI_MISTAKE_H

#include "mlir/IR/Diagnostics.h"

namespace tutti {

/// The metadata that marks a diagnostic as a mistake; it is not printed.
inline constexpr llvm::StringLiteral mistakeMark = "mistake";

/// Marks an error as a mistake of the compiler's own. An error without the mark, where a pass leaves a module that
/// verifies, refuses the model.
inline mlir::InFlightDiagnostic mistake(mlir::InFlightDiagnostic error) {
  error.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument(llvm::StringRef(mistakeMark)));
  return error;
}

/// Whether an error is marked as a mistake.
inline bool isMistake(mlir::Diagnostic &error) {
  return llvm::any_of(error.getMetadata(), [](const mlir::DiagnosticArgument &each) {
    return each.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
           each.getAsString() == mistakeMark;
  });
}

} // namespace tutti

#endif
