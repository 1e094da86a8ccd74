// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The architectures that kernels are compiled for, and what a kernel may use on each.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_ARCHITECTURES_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tutti {

/// One `sm_XX` (a cubin), `compute_XX` (PTX, for what is newer) or text for the emulated device. The limits are those
/// of the CUDA C++ Programming Guide, "Compute Capabilities", table "Technical Specifications per Compute Capability".
struct Architecture {
  enum class Code { cubin, ptx, emulated };

  llvm::StringLiteral name; ///< as in `--target` and in the artifact: "sm_90a"
  Code code;
  int capability;          ///< 10 * major + minor: 90
  int toolkit;             ///< the first CUDA toolkit that compiles for it, as CUDA counts: 12080 is 12.8
  int threadsPerProcessor; ///< that are resident at once
  int blocksPerProcessor;
  int sharedPerProcessor;  ///< bytes of shared memory
  int sharedPerBlock;      ///< bytes that one block may ask for, static and dynamic together
  int sharedReserved;      ///< bytes more that the system takes of the processor for each block
  bool onlyByName = false; ///< `cuda` does not include it: Jetsons', which run no other device's cubins

  /// Tensor cores that the families can use, with `cp.async`. Turing's multiply only halves.
  bool hasTensorCores() const { return capability >= 80; }
  /// Bulk copies with mbarriers; and clusters of blocks.
  bool hasBulkCopies() const { return capability >= 90; }
  bool hasClusters() const { return capability >= 90; }
  /// `wgmma` and `setmaxnreg`, which Hopper alone has.
  bool hasWarpgroups() const { return capability == 90; }

  static constexpr int registersPerThread = 255, registersPerBlock = 65536, threadsPerBlock = 1024,
                       barriersPerBlock = 16;
};

/// All known architectures: cubins from the oldest on, then PTX of the newest, then those of the emulated device.
llvm::ArrayRef<Architecture> architectures();
/// The architecture of this name, or null.
const Architecture *findArchitecture(llvm::StringRef name);
/// What a word of `--target` stands for: every cubin but Jetsons', and the PTX, for "cuda", else the architecture of
/// that name. An unknown word is an error that lists the known ones.
llvm::Expected<std::vector<const Architecture *>> parseCudaTarget(llvm::StringRef word);
/// The bytes of shared memory that a row of a kernel's values may take, so that kernels for all `targets` can be
/// launched: 16 rows (8 without tensor cores to fill) must fit beside 24 KiB of weights in flight. The limit is never
/// more than every architecture since sm_80 allows, as a single block that computes a long chain of wider layers would
/// leave the others idle.
int64_t scratchPerRow(llvm::ArrayRef<const Architecture *> targets);
/// 12080 as "12.8".
std::string cudaVersionText(int version);

} // namespace tutti

#endif
