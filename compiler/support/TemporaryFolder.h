// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Temporary files for programs that read and write only files.
#ifndef TUTTI_COMPILER_SUPPORT_TEMPORARYFOLDER_H
#define TUTTI_COMPILER_SUPPORT_TEMPORARYFOLDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace tutti {

/// A new folder below TMPDIR, which is deleted with its content when this object is destroyed.
class TemporaryFolder {
public:
  /// Errors, here and in `write`: exit code `resource`.
  static llvm::Expected<TemporaryFolder> create(llvm::StringRef prefix);
  TemporaryFolder(TemporaryFolder &&other) : folder(std::exchange(other.folder, "")) {}
  ~TemporaryFolder();

  std::string path(llvm::StringRef name) const { return folder + "/" + name.str(); }
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) const;

private:
  explicit TemporaryFolder(std::string folder) : folder(std::move(folder)) {}
  std::string folder;
};

} // namespace tutti

#endif
