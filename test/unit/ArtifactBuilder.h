// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds small artifacts for the runtime's tests by hand, without the compiler.
#pragma once

#include "runtime/schema/Format.h"
#include "runtime/schema/artifact_generated.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::rt::test {

inline constexpr int64_t kK = 6, kN = 45;

/// relu(x W + b) for each member (see kernels.c): input x [batch, 6]; output y with the heads `members` and `mean`.
struct Spec {
  uint32_t members = 3;
  int64_t batchLo = 1, batchHi = 64;
  bool sharedBias = false;       ///< one b for all members
  std::string share = "none";    ///< how it says that it was compiled
  std::string layout = "panels"; ///< of W; kernels read no other, those for CUDA devices also "matrices.bf16"
  std::string second;            ///< another layout that W lies in, for a kernel that there is not
  int64_t weightBytes = 0;       ///< that the slot of W claims to have; 0: as many as it has
  uint32_t rowTileMax = 16;
  std::string target = "x86-64-v3";     ///< "": no program for CPUs
  std::vector<std::string> cudaTargets; ///< with any, there is a program for CUDA devices, the first
  bool oneLaunch = false;               ///< of that program: y alone, without the mean
  bool alternatives = false;            ///< of that program: blocks of 8 rows, or as an alternative of 4
  bool persistent = false;              ///< of that program: blocks go on to further members
  using Cost = std::array<uint32_t, 7>;
  std::optional<Cost> cost, alternativeCost; ///< of a block, there
  std::string secondCuda; ///< an architecture with a program of its own, behind that of `cudaTargets`
  uint32_t blockThreads = 32, minDriver = 0;
  int64_t shared = 0; ///< dynamic bytes
  uint32_t extraArgs = 0;
  std::vector<char> module; ///< its code; empty: what the fake driver takes
  std::vector<uint32_t> cluster, alternativeCluster;
  uint32_t alternativeKernel = 0; ///< this far behind the right one
  int64_t alternativeShared = 0;
  std::vector<std::pair<uint32_t, uint32_t>> parts; ///< of the first launch of a CUDA program: arguments and set
  int64_t spareBlocks = 0;                          ///< along x, behind the last row
  int64_t gridZ = 1;                                ///< blocks for the same rows and member
  uint32_t strips = 1;                              ///< the size along which the program may run in strips
  uint32_t format = kFormatVersion;
  std::string requiredFeature;
};

/// The file's bytes, at an address aligned to 64.
class File {
public:
  File() = default;
  explicit File(size_t bytes) : storage(bytes + 64), length(bytes) {}
  char *data() { return reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(storage.data()) + 63) / 64 * 64); }
  const char *data() const { return const_cast<File *>(this)->data(); }
  size_t size() const { return length; }
  FileHeader &header() { return *reinterpret_cast<FileHeader *>(data()); }
  /// Makes all digests right again after a change, of the regions that are inside the file.
  void redigest();
  void write(const std::string &path) const;
  File copy() const;

private:
  std::vector<char> storage;
  size_t length = 0;
};

File buildArtifact(const Spec &spec = {});

/// W of member `m`, [6, 45] as the model file has it, and its b.
std::vector<float> weightOf(uint32_t m);
std::vector<float> biasOf(uint32_t m);
/// Some input [batch, 6].
std::vector<float> inputOf(int64_t batch);
/// relu(x W + b), [batch, 45], in the order of the kernel's own sums.
std::vector<float> expected(const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &b);

} // namespace tutti::rt::test
