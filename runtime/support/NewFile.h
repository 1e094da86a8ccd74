// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a file is written that is there under its name only once it is complete.
#pragma once

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::rt {

struct NewFile {
  std::string path;      ///< where it goes: what the name given leads to, as a link to a file stays one
  std::string temporary; ///< its name until then, in the same folder; none of what is no file and is written in place
  int descriptor = -1;   ///< to write to, the caller's; -1, and errno, where it cannot be made
};

/// The descriptor that a name of the system is, as /dev/stdout; -1: it is none.
inline int descriptorNamed(std::string_view name) {
  if (name == "/dev/stdout")
    return STDOUT_FILENO;
  if (name == "/dev/stderr")
    return STDERR_FILENO;
  for (std::string_view folder : {"/dev/fd/", "/proc/self/fd/"})
    if (int number; name.substr(0, folder.size()) == folder) {
      auto [end, error] = std::from_chars(name.data() + folder.size(), name.data() + name.size(), number);
      return error == std::errc() && end == name.data() + name.size() && number >= 0 ? number : -1;
    }
  return -1;
}

/// Makes a file that is to be `given`. What is no file, a device or a pipe, is opened as it is. A descriptor of the
/// process goes on where it is: what stdout has to say until then comes first.
inline NewFile createFile(const std::string &given) {
  NewFile file{given, "", -1};
  if (int mine = descriptorNamed(given); mine >= 0) {
    std::fflush(nullptr);
    file.descriptor = fcntl(mine, F_DUPFD_CLOEXEC, 0);
    return file;
  }
  struct stat info;
  bool replaces = stat(given.c_str(), &info) == 0;
  if (replaces && !S_ISREG(info.st_mode)) {
    file.descriptor = open(given.c_str(), O_WRONLY | O_CLOEXEC);
    return file;
  }
  std::error_code none;
  std::string place = std::filesystem::weakly_canonical(given, none).string();
  file.path = none ? given : place;
  // A file of that name is somebody else's, and so is what a link of that name leads to: a process of another machine,
  // or of a container, may have the same number.
  constexpr int mostTries = 100;
  static std::atomic<unsigned> made = 0;
  std::string start = file.path.substr(0, file.path.rfind('/') + 1) + ".tutti-" + std::to_string(getpid());
  for (int i = 0; i < mostTries && file.descriptor < 0; ++i) {
    file.temporary = start + "-" + std::to_string(made++);
    file.descriptor = open(file.temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.descriptor < 0 && errno != EEXIST)
      break;
  }
  if (replaces && file.descriptor >= 0)
    fchmod(file.descriptor, info.st_mode & 0777); // who may read the old one may read the new one, and nobody else
  return file;
}

} // namespace tutti::rt
