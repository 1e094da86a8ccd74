// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file's bytes: small files are read, others mapped and never copied.
#ifndef TUTTI_COMPILER_IMPORT_FILES_MAPPEDFILE_H
#define TUTTI_COMPILER_IMPORT_FILES_MAPPEDFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace tutti {

/// Read only, for the life of the object. Only regular files are opened: a pipe or a device could block for ever.
class MappedFile {
public:
  /// A file that is not there or cannot be read: exit code `usage`.
  static llvm::Expected<std::shared_ptr<MappedFile>> open(llvm::StringRef path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const char *data() const { return begin; }
  uint64_t size() const { return bytes; }

private:
  MappedFile(const char *begin, uint64_t bytes) : begin(begin), bytes(bytes) {}
  const char *begin;
  uint64_t bytes;
};

} // namespace tutti

#endif
