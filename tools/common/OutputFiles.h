// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that a tool writes.
#ifndef TUTTI_TOOLS_COMMON_OUTPUTFILES_H
#define TUTTI_TOOLS_COMMON_OUTPUTFILES_H

#include "Tool.h"

#include <csignal>

namespace tutti::tool {

/// A file that a tool reads, and what it is: "the artifact".
struct ReadFile {
  std::string path, what;
};
/// The failure (usage) of an output, which a flag names, that is one of these files: it would be written over.
Failure checkOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read);

/// The same of a file beside what is printed, if any is named; and whether it can be written: one is made and removed
/// again. A device or a pipe is not tried.
Failure tryOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read);

/// Files that appear all together or not at all: each is written under a temporary name beside its own and renamed by
/// commit(), which puts back what it has replaced if one of them cannot be. What was not committed is removed, and so
/// is the folder if this made it, also by an interrupt, which waits meanwhile. What was printed before commit() has to
/// have gone out, too.
class OutputFiles {
public:
  OutputFiles();
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Makes the folder (and those above it) if need be.
  Failure enter(const std::string &folder);
  /// Writes `path`'s bytes, given in parts. A device or a pipe is written to at once.
  Failure write(const std::string &path, std::initializer_list<std::string_view> parts);
  Failure commit();

private:
  struct Entry {
    std::string temporary, path;
    bool replaces = false; ///< a file that is kept until commit() has ended
  };
  std::vector<Entry> entries;
  std::vector<std::string> folders; ///< that this made, outermost first
  sigset_t before;                  ///< signals that were blocked
};

} // namespace tutti::tool

#endif
