// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's errors: an exit code and a message that names the cause.
#ifndef TUTTI_COMPILER_SUPPORT_ERROR_H
#define TUTTI_COMPILER_SUPPORT_ERROR_H

#include "runtime/support/Exit.h"
#include "runtime/support/Text.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tutti {

using rt::ExitCode;
/// These prepare text from files for messages.
using rt::quote, rt::shown;

class CompileError : public llvm::ErrorInfo<CompileError> {
public:
  static char ID;
  CompileError(ExitCode code, std::string message, std::string json = "")
      : code(code), message(std::move(message)), json(std::move(json)) {}

  const ExitCode code;
  const std::string message;
  /// The same for machines, a JSON array with one object per finding; empty where there is none.
  const std::string json;

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};

/// An error with this code and message. The message of an internal error begins by saying so. The message is made valid
/// text with lines of limited length.
llvm::Error fail(ExitCode code, const llvm::Twine &message, std::string json = "");

/// The content of an error, or of the first of several. An error that is no CompileError is our own mistake: internal.
CompileError compileErrorOf(llvm::Error error);

/// The node and the ONNX op that an op of a module was made from: "node 'linear_2' (Gemm)".
std::string describe(mlir::Location location);

/// While it lives, MLIR's diagnostics of this thread's context are collected here and printed nowhere.
class DiagnosticCapture {
public:
  /// `namesNodes`: each diagnostic begins with the node of its op, if it has one.
  explicit DiagnosticCapture(mlir::MLIRContext *context, bool namesNodes = false);
  /// The diagnostics since the last call.
  std::string take() { return std::exchange(text, {}); }
  /// Whether an error was said to be the compiler's own mistake (dialects/tutti/Mistake.h).
  bool saidMistake() const { return mistake; }

private:
  std::string text;
  bool mistake = false;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tutti

#endif
