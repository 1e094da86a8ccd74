// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder below TMPDIR that goes with its owner.
#include "TemporaryFolder.h"
#include "Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace tutti {

llvm::Expected<TemporaryFolder> TemporaryFolder::create(llvm::StringRef prefix) {
  llvm::SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory(prefix, folder))
    return fail(ExitCode::resource, "cannot make a temporary folder: " + code.message() + "; TMPDIR says where");
  return TemporaryFolder(folder.str().str());
}

TemporaryFolder::~TemporaryFolder() {
  if (!folder.empty())
    llvm::sys::fs::remove_directories(folder);
}

llvm::Error TemporaryFolder::write(llvm::StringRef name, llvm::StringRef text) const {
  std::error_code code;
  llvm::raw_fd_ostream stream(path(name), code);
  if (!code) {
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error(); // it would end the process
  }
  return code ? fail(ExitCode::resource, "cannot write to " + quote(folder) + ": " + code.message())
              : llvm::Error::success();
}

} // namespace tutti
