// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors that no model can be blamed for.
#ifndef TUTTI_DIALECTS_TUTTI_MISTAKE_H
#define TUTTI_DIALECTS_TUTTI_MISTAKE_H

#include "mlir/IR/Diagnostics.h"

namespace tutti {

/// Marks an error as a mistake of the compiler's own: else, where a pass leaves a module that verifies, it refuses the
/// model. Metadata of a diagnostic is not printed.
inline mlir::InFlightDiagnostic mistake(mlir::InFlightDiagnostic error) {
  error.getUnderlyingDiagnostic()->getMetadata().push_back(mlir::DiagnosticArgument(llvm::StringRef("mistake")));
  return error;
}

} // namespace tutti

#endif
