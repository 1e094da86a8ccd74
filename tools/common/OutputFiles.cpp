// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writing files all together or not at all.
#include "OutputFiles.h"

#include "runtime/support/NewFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::tool {

/// What ends a process from outside, all of which can wait; and stdout that nobody reads any more.
static sigset_t endings() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE})
    sigaddset(&set, signal);
  return set;
}

OutputFiles::OutputFiles() {
  sigset_t set = endings();
  pthread_sigmask(SIG_BLOCK, &set, &before);
}

OutputFiles::~OutputFiles() {
  for (const Entry &entry : entries)
    unlink(entry.temporary.c_str());
  for (size_t i = folders.size(); i-- > 0;)
    rmdir(folders[i].c_str()); // fails, as it should, when there is something in it
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Failure checkOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read) {
  for (const ReadFile &file : read)
    if (std::error_code unknown; std::filesystem::equivalent(output, file.path, unknown)) // else there is no such file
      return {ExitCode::usage,
              flag + " " + quote(output) + " is " + file.what + ": it would be written over; name another file"};
  return {};
}

static Failure cannotWrite(const std::string &path) {
  return {ExitCode::resource, "cannot write " + quote(path) + ": " + std::strerror(errno)};
}

Failure tryOutput(const std::string &flag, const std::string &output, const std::vector<ReadFile> &read) {
  if (output.empty())
    return {};
  if (output == "-")
    return {ExitCode::usage, flag + " is '-': expected a file, as results are printed, too (./- is one of that name)"};
  if (auto failure = checkOutput(flag, output, read))
    return failure;
  struct stat info;
  bool isThere = stat(output.c_str(), &info) == 0;
  if (isThere && S_ISDIR(info.st_mode))
    return {ExitCode::resource, "cannot write " + quote(output) + ": it is a folder"};
  if ((isThere && !S_ISREG(info.st_mode)) || rt::descriptorNamed(output) >= 0)
    return {};
  rt::NewFile made = rt::createFile(output);
  if (made.descriptor < 0)
    return cannotWrite(output);
  close(made.descriptor);
  unlink(made.temporary.c_str());
  return {};
}

Failure OutputFiles::enter(const std::string &folder) {
  for (size_t at = 0; at != std::string::npos;) {
    at = folder.find('/', at + 1);
    std::string part = folder.substr(0, at);
    if (mkdir(part.c_str(), 0777) == 0)
      folders.push_back(part);
    else if (errno != EEXIST)
      return {ExitCode::resource, "cannot make the folder " + quote(part) + ": " + std::strerror(errno)};
  }
  struct stat info;
  if (stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    return {ExitCode::resource, quote(folder) + " is not a folder"};
  return {};
}

Failure OutputFiles::write(const std::string &path, std::initializer_list<std::string_view> parts) {
  rt::NewFile made = rt::createFile(path);
  int file = made.descriptor;
  if (file < 0)
    return cannotWrite(path);
  for (const Entry &entry : entries)
    if (entry.path == made.path) {
      close(file);
      unlink(made.temporary.c_str());
      return {ExitCode::usage, quote(path) + " leads to " + quote(made.path) + ", and so does another output"};
    }
  if (!made.temporary.empty())
    entries.push_back({made.temporary, made.path});
  for (std::string_view part : parts)
    while (!part.empty()) {
      ssize_t n = ::write(file, part.data(), part.size());
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0) {
        Failure failure = cannotWrite(path);
        close(file);
        return failure;
      }
      part.remove_prefix(size_t(n));
    }
  if (close(file) != 0)
    return cannotWrite(path);
  return {};
}

Failure OutputFiles::commit() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return {ExitCode::resource, std::string("cannot write to stdout: ") + std::strerror(errno)};
  // Each file that is replaced keeps another name until all are in their places, to come back if one cannot be.
  auto formerOf = [](const Entry &entry) { return entry.temporary + "-former"; };
  for (size_t i = 0; i < entries.size(); ++i) {
    Entry &entry = entries[i];
    std::string former = formerOf(entry);
    struct stat info;
    bool isThere = lstat(entry.path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
    // A file system may have no second names, or not for this file: then it is gone for a moment.
    entry.replaces = isThere && (link(entry.path.c_str(), former.c_str()) == 0 ||
                                 (errno != EEXIST && rename(entry.path.c_str(), former.c_str()) == 0));
    if (entry.replaces == isThere && rename(entry.temporary.c_str(), entry.path.c_str()) == 0)
      continue;
    Failure failure = cannotWrite(entry.path);
    for (size_t done = 0; done <= i; ++done) {
      const Entry &each = entries[done];
      if (!each.replaces && done < i)
        unlink(each.path.c_str());
      // Of two names of one file both stay; a file that cannot come back keeps the other name.
      if (each.replaces && rename(formerOf(each).c_str(), each.path.c_str()) == 0)
        unlink(formerOf(each).c_str());
    }
    return failure;
  }
  for (const Entry &entry : entries)
    if (entry.replaces)
      unlink(formerOf(entry).c_str());
  entries.clear();
  folders.clear();
  return {};
}

} // namespace tutti::tool
