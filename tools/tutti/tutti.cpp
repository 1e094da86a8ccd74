// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tutti NAME ...` runs the tool tutti-NAME that lies beside it, as git does.
#include "tutti/tutti.h"
#include "End.h"

#include "runtime/support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kUsage = int(tutti::rt::ExitCode::usage);

/// The folder of this program, with a slash.
std::string ownFolder() {
  char path[4096];
  ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (n < 0)
    return "";
  std::string self(path, size_t(n));
  return self.substr(0, self.rfind('/') + 1);
}

std::vector<std::string> toolsIn(const std::string &folder) {
  std::vector<std::string> names;
  if (DIR *dir = opendir(folder.c_str())) {
    while (const dirent *entry = readdir(dir))
      if (std::strncmp(entry->d_name, "tutti-", 6) == 0 && access((folder + entry->d_name).c_str(), X_OK) == 0)
        names.push_back(entry->d_name + 6);
    closedir(dir);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void usage(FILE *to, const std::string &folder) {
  std::fprintf(to, "Tutti runs ensembles of neural networks.\n\nUsage: tutti TOOL [ARGUMENTS...]\n\nTools:\n");
  for (const std::string &name : toolsIn(folder))
    std::fprintf(to, "  %s\n", name.c_str());
  std::fprintf(to, "\n'tutti TOOL --help' says more.\n\nExample:\n  tutti run digits.tutti --input image=images.npy "
                   "--output-dir out\n");
}

} // namespace

int main(int argc, char **argv) {
  std::string folder = ownFolder(), name = argc > 1 ? argv[1] : "";
  if (name == "--version") {
    std::printf("tutti %d.%d.%d, artifact format %u\n", TUTTI_VERSION_MAJOR, TUTTI_VERSION_MINOR, TUTTI_VERSION_PATCH,
                tutti_format_version());
    return tutti::tool::endOf("tutti", 0);
  }
  if (name == "--help" || name == "-h" || (name == "help" && argc == 2)) {
    usage(stdout, folder);
    return tutti::tool::endOf("tutti", 0);
  }
  if (name.empty()) {
    usage(stderr, folder);
    return kUsage;
  }
  std::vector<char *> arguments(argv + 1, argv + argc);
  char help[] = "--help";
  if (name == "help") { // tutti help run
    name = argv[2];
    arguments = {argv[2], help};
  }
  arguments.push_back(nullptr);
  std::string program = folder + "tutti-" + name;
  arguments[0] = program.data();
  if (name.find('/') == std::string::npos)
    execv(program.c_str(), arguments.data());
  else
    errno = ENOENT;
  if (errno == ENOENT)
    std::fprintf(stderr, "tutti: error: there is no tool %s; 'tutti --help' lists them\n",
                 tutti::rt::quote(name).c_str());
  else
    std::fprintf(stderr, "tutti: error: cannot run %s: %s\n", tutti::rt::quote(program).c_str(), std::strerror(errno));
  return kUsage;
}
