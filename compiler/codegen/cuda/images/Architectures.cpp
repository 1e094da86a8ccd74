// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of architectures.
#include "Architectures.h"
#include "compiler/support/Error.h"

#include "llvm/ADT/STLExtras.h"

namespace tutti {

using Code = Architecture::Code;

// Blocks and reserved bytes can also be read in the toolkit's cuda_occupancy.h (and
// cudaDevAttrReservedSharedMemoryPerBlock), the first toolkit of each in CUDA's release notes; for sm_90a it is the
// first that knows st.async (device/cluster.cuh). Text for the emulated device sees the capability that stands here,
// and that device says what it has (TUTTI_EMULATED_CAPABILITY).
// clang-format off
static constexpr Architecture table[] = {
    //                                             resident per processor  shared memory
    // name             code            cap  toolkit  threads  blocks  per processor  per block  reserved
    {"sm_75",          Code::cubin,     75, 10000,   1024,    16,      64 << 10,      64 << 10, 0},
    {"sm_80",          Code::cubin,     80, 11000,   2048,    32,     164 << 10,     163 << 10, 1024},
    {"sm_86",          Code::cubin,     86, 11010,   1536,    16,     100 << 10,      99 << 10, 1024},
    {"sm_87",          Code::cubin,     87, 11040,   1536,    16,     164 << 10,     163 << 10, 1024, /*onlyByName=*/true},
    {"sm_89",          Code::cubin,     89, 11080,   1536,    24,     100 << 10,      99 << 10, 1024},
    {"sm_90a",         Code::cubin,     90, 12010,   2048,    32,     228 << 10,     227 << 10, 1024},
    {"sm_100",         Code::cubin,    100, 12080,   2048,    32,     228 << 10,     227 << 10, 1024},
    {"sm_110",         Code::cubin,    110, 13000,   1536,    24,     228 << 10,     227 << 10, 1024, /*onlyByName=*/true},
    {"sm_120",         Code::cubin,    120, 12080,   1536,    24,     100 << 10,      99 << 10, 1024},
    {"compute_120",    Code::ptx,      120, 12080,   1536,    24,     100 << 10,      99 << 10, 1024},
    {"emulated",       Code::emulated,  90,     0,   2048,    32,     228 << 10,     227 << 10, 1024},
    {"emulated-sm_80", Code::emulated,  80,     0,   2048,    32,     164 << 10,     163 << 10, 1024},
    {"emulated-sm_75", Code::emulated,  75,     0,   1024,    16,      64 << 10,      64 << 10, 0},
};
// clang-format on

llvm::ArrayRef<Architecture> architectures() { return table; }

const Architecture *findArchitecture(llvm::StringRef name) {
  const Architecture *found = llvm::find_if(table, [&](const Architecture &a) { return a.name == name; });
  return found == std::end(table) ? nullptr : found;
}

llvm::Expected<std::vector<const Architecture *>> parseCudaTarget(llvm::StringRef word) {
  std::vector<const Architecture *> result;
  if (word == "cuda") {
    for (const Architecture &architecture : table)
      if (architecture.code != Code::emulated && !architecture.onlyByName)
        result.push_back(&architecture);
    return result;
  }
  if (const Architecture *architecture = findArchitecture(word)) {
    result.push_back(architecture);
    return result;
  }
  std::string known;
  for (const Architecture &architecture : table)
    known += ", " + architecture.name.str();
  return fail(ExitCode::usage,
              "--target " + shown(word) +
                  ": unknown; known are cpu, cpu-v3, cpu-avx512, cuda (every architecture but Jetsons')" + known);
}

int64_t scratchPerRow(llvm::ArrayRef<const Architecture *> targets) {
  constexpr int64_t mostShared = 99 << 10, inFlight = 24 << 10;
  int64_t least = mostShared;
  for (const Architecture *target : targets)
    least = std::min(least, (std::min<int64_t>(target->sharedPerBlock, mostShared) - inFlight) /
                                (target->hasTensorCores() ? 16 : 8));
  return least / 16 * 16;
}

std::string cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace tutti
