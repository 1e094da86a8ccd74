// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the compiler says that it cannot: an exit code and a message that names the thing.
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
/// What comes out of files stands in messages as these make it.
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

/// The message of an internal one begins by saying so. Whatever it was put together from, it is text, in lines that are
/// not endless.
llvm::Error fail(ExitCode code, const llvm::Twine &message, std::string json = "");

/// What an error says; of several the first. One that is no CompileError is a mistake of ours: internal.
CompileError compileErrorOf(llvm::Error error);

/// The node and the ONNX op that an op of a module was made from: "node 'linear_2' (Gemm)".
std::string describe(mlir::Location location);

/// While it lives, MLIR's diagnostics of this thread's context are collected here and printed nowhere.
class DiagnosticCapture {
public:
  /// `namesNodes`: each begins with the node of its op, where there is one.
  explicit DiagnosticCapture(mlir::MLIRContext *context, bool namesNodes = false);
  /// What was said since the last call.
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
