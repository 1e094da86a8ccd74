// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens files: maps large ones, reads small ones.
#include "compiler/import/files/MappedFile.h"
#include "compiler/support/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti {

/// Small files are read: a process has some 65000 mappings (vm.max_map_count), and an ensemble may have more members.
static bool isSmall(uint64_t bytes) { return bytes > 0 && bytes < 64 << 10; }

llvm::Expected<std::shared_ptr<MappedFile>> MappedFile::open(llvm::StringRef path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait.
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    bool isShort = errno == ENOMEM || errno == EMFILE || errno == ENFILE;
    return fail(isShort ? ExitCode::resource : ExitCode::usage,
                "cannot open " + quote(path) + ": " + std::strerror(errno));
  }
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return fail(ExitCode::usage, quote(path) + " is not a regular file");
  }
  const char *begin = nullptr;
  auto bytes = static_cast<uint64_t>(status.st_size);
  if (isSmall(bytes)) {
    auto copy = std::make_unique<char[]>(bytes);
    for (uint64_t done = 0; done < bytes;) {
      ssize_t more = ::read(fd, copy.get() + done, bytes - done);
      if (more > 0) {
        done += uint64_t(more);
      } else if (more == 0 || errno != EINTR) {
        int why = more ? errno : EIO; // the file has become shorter
        ::close(fd);
        return fail(ExitCode::resource, "cannot read " + quote(path) + ": " + std::strerror(why));
      }
    }
    begin = copy.release();
  } else if (bytes) {
    void *place = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    int why = errno;
    if (place == MAP_FAILED) {
      ::close(fd);
      return fail(ExitCode::resource, "cannot map " + quote(path) + ": " + std::strerror(why));
    }
    begin = static_cast<const char *>(place);
  }
  ::close(fd);
  return std::shared_ptr<MappedFile>(new MappedFile(begin, bytes));
}

MappedFile::~MappedFile() {
  if (isSmall(bytes))
    delete[] begin;
  else if (begin)
    munmap(const_cast<char *>(begin), bytes);
}

} // namespace tutti
