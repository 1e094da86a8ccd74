// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heads of artifacts that the corpus of the fuzzer starts from: heads of outputs, inputs per member, groups,
// programs of several sizes, pieces, for CPUs and for CUDA devices, as the compiler makes them (make_corpus.py).
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace tutti::rt::test {

inline std::string seedNamed(const std::string &name) {
  std::ifstream in(TUTTI_TEST_CORPUS "/artifact/" + name, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

/// Of one class of target: those for CUDA devices are named so. Findings of the fuzzer, named by what they are, are not
/// among them.
inline std::vector<std::string> seedNames(bool device) {
  std::vector<std::string> all;
  for (const auto &entry : std::filesystem::directory_iterator(TUTTI_TEST_CORPUS "/artifact"))
    if (std::string name = entry.path().filename();
        name.find("found") == name.npos && name.starts_with("device") == device)
      all.push_back(name);
  std::sort(all.begin(), all.end());
  return all;
}

} // namespace tutti::rt::test
