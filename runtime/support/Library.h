// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A look at a shared library's file before it is loaded: what the loader maps and is not there ends the process.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::rt {

/// Whether `path` is the beginning of a shared library: parts that would be loaded lie past its end. Of anything else
/// dlopen says what is wrong. A name without a slash is looked for by the loader, and taken as it is.
inline bool isCutShort(const char *path) {
  int file = std::strchr(path, '/') ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0)
    return false;
  struct stat info;
  Elf64_Ehdr header;
  bool cut = false;
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && pread(file, &header, sizeof(header), 0) == sizeof(header) &&
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64) {
    auto size = uint64_t(info.st_size);
    for (unsigned i = 0; i < header.e_phnum && !cut; ++i) {
      Elf64_Phdr part;
      uint64_t at = header.e_phoff + uint64_t(i) * header.e_phentsize;
      cut = at > size || pread(file, &part, sizeof(part), off_t(at)) != sizeof(part) ||
            (part.p_type == PT_LOAD && (part.p_offset > size || part.p_filesz > size - part.p_offset));
    }
  }
  close(file);
  return cut;
}

} // namespace tutti::rt
