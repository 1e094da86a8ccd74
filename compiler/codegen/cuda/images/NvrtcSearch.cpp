// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where NVRTC may lie.
#include "NvrtcSearch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>
#include <optional>
#include <tuple>

namespace tutti {

namespace fs = llvm::sys::fs;
using llvm::StringRef;
using Paths = std::vector<std::string>;

/// The entries of a folder, sorted by name; none if there is no folder.
static Paths entries(const llvm::Twine &folder) {
  Paths result;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    result.push_back(at->path());
  llvm::sort(result);
  return result;
}

/// The major version of `libnvrtc.so.13` and `libnvrtc.so.13.0.48`, 0 of `libnvrtc.so`; none of another file.
static std::optional<unsigned> majorOf(StringRef name) {
  unsigned major = 0;
  if (!name.consume_front("libnvrtc.so"))
    return std::nullopt;
  if (!name.empty() &&
      (!name.consume_front(".") || name.consumeInteger(10, major) || (!name.empty() && name[0] != '.')))
    return std::nullopt;
  return major;
}

Paths nvrtcInFolders(llvm::ArrayRef<std::string> folders) {
  struct Found {
    unsigned major;
    std::string path;
  };
  std::vector<Found> found;
  for (const std::string &folder : folders)
    for (const std::string &path : entries(folder))
      if (auto major = majorOf(llvm::sys::path::filename(path)))
        found.push_back({*major, path});
  // The shortest of several names of one library comes first.
  llvm::sort(found, [](const Found &a, const Found &b) {
    return std::tuple(b.major, a.path.size(), a.path) < std::tuple(a.major, b.path.size(), b.path);
  });
  Paths result;
  for (const Found &f : found)
    result.push_back(f.path);
  return result;
}

/// Adds the NVRTC files of a CUDA toolkit.
static void addToolkit(const std::string &root, Paths &found) {
  llvm::append_range(found, nvrtcInFolders({root + "/lib64", root + "/targets/x86_64-linux/lib", root + "/lib"}));
}

/// Adds the NVRTC files of the wheels in a folder of Python packages: nvidia/cu13/lib, nvidia/cuda_nvrtc/lib.
static void addWheels(const std::string &packages, Paths &found) {
  Paths folders;
  for (const std::string &folder : entries(packages + "/nvidia"))
    folders.push_back(folder + "/lib");
  llvm::append_range(found, nvrtcInFolders(folders));
}

Paths nvrtcCandidates() {
  Paths found;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *root = std::getenv(variable); root && *root)
      addToolkit(root, found);
  if (const char *root = std::getenv("VIRTUAL_ENV"); root && *root)
    for (const std::string &folder : entries(std::string(root) + "/lib"))
      addWheels(folder + "/site-packages", found);
  addToolkit("/usr/local/cuda", found);
  Paths local = entries("/usr/local");
  for (const std::string &folder : llvm::reverse(local))
    if (llvm::sys::path::filename(folder).starts_with("cuda-"))
      addToolkit(folder, found);
  return found;
}

Paths nvrtcInPython() {
  Paths found;
  auto python = llvm::sys::findProgramByName("python3");
  llvm::SmallString<128> output;
  if (!python || fs::createTemporaryFile("tutti-python", "txt", output))
    return found;
  llvm::scope_exit cleanUp([&] { fs::remove(output); });
  StringRef arguments[] = {*python, "-c", "import sys; print(*sys.path, sep='\\n')"};
  if (llvm::sys::ExecuteAndWait(*python, arguments, std::nullopt, {"", output, ""}, /*SecondsToWait=*/20) != 0)
    return found;
  auto text = llvm::MemoryBuffer::getFile(output);
  if (!text)
    return found;
  llvm::SmallVector<StringRef> folders;
  (*text)->getBuffer().split(folders, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef folder : folders)
    addWheels(folder.str(), found);
  return found;
}

} // namespace tutti
