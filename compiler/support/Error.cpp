// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's errors.
#include "compiler/support/Error.h"
#include "dialects/tutti/Mistake.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace tutti {

char CompileError::ID = 0;

llvm::Error fail(ExitCode code, const llvm::Twine &message, std::string json) {
  const char *whose = code == ExitCode::internal ? "internal error: " : "";
  return llvm::make_error<CompileError>(code, rt::shownLines((whose + message).str()), std::move(json));
}

CompileError compileErrorOf(llvm::Error error) {
  std::optional<CompileError> first;
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompileError &e) {
        if (!first)
          first.emplace(e);
      },
      [&](const llvm::ErrorInfoBase &e) {
        if (!first)
          first.emplace(ExitCode::internal, rt::shownLines("internal error: " + e.message()));
      });
  return *first;
}

static std::optional<std::string> nodeAt(Location location) {
  auto fused = dyn_cast<FusedLoc>(location);
  auto op = fused ? dyn_cast_or_null<StringAttr>(fused.getMetadata()) : StringAttr();
  auto name = fused && !fused.getLocations().empty() ? dyn_cast<NameLoc>(fused.getLocations()[0]) : NameLoc();
  if (!op || !name)
    return std::nullopt;
  return "node " + quote(name.getName().str()) + " (" + op.str() + ")";
}

std::string describe(Location location) { return nodeAt(location).value_or("an op without a node"); }

DiagnosticCapture::DiagnosticCapture(MLIRContext *context, bool namesNodes)
    : handler(context, [this, namesNodes](Diagnostic &diagnostic) {
        std::optional<std::string> node = namesNodes ? nodeAt(diagnostic.getLocation()) : std::nullopt;
        text += (text.empty() ? "" : "; ") + (node ? *node + ": " : "") + diagnostic.str();
        mistake |= isMistake(diagnostic);
        return success();
      }) {}

} // namespace tutti
