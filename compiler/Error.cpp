// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler's errors.
#include "compiler/Error.h"

namespace tutti {

char CompileError::ID = 0;

llvm::Error fail(ExitCode code, const llvm::Twine &message, std::string json) {
  const char *whose = code == ExitCode::internal ? "internal error: " : "";
  return llvm::make_error<CompileError>(code, rt::shownLines((whose + message).str()), std::move(json));
}

} // namespace tutti
