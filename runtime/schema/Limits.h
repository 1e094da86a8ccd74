// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The most that an artifact has of each thing. What is above is refused, by the compiler by name, and by the runtime:
// nobody needs it, and checks are quadratic in some.
#pragma once

#include <cstdint>

namespace tutti::rt {

inline constexpr uint32_t kMaxMembers = 1 << 20, kMaxPrograms = 4096;
/// A program has so many inputs and outputs together, each head an output, and so many sizes.
inline constexpr uint32_t kMaxPorts = 4096, kMaxSizes = 64;
/// Dimensions of a port or a weight, the member axis among them (TUTTI_MAX_RANK).
inline constexpr uint32_t kMaxRank = 16;
/// A launch has so many arguments and geometries beside the first, a kernel so many images.
inline constexpr uint32_t kMaxArgs = 4096, kMaxAlternatives = 16, kMaxImages = 256;
/// What a CPU's threads share of a step, and the blocks of a CUDA launch along each dimension ("CUDA C++ Programming
/// Guide", Technical Specifications per Compute Capability): both are counted in 31 bits.
inline constexpr int64_t kMaxTasks = INT32_MAX, kMaxGrid[3] = {INT32_MAX, 65535, 65535};
/// Bytes: of a CPU's thread in a launch; of tables of weights' addresses; of the parameters of a CUDA kernel, which is
/// what every driver takes ("CUDA C++ Programming Guide", Technical Specifications per Compute Capability).
inline constexpr uint64_t kMaxScratch = uint64_t(1) << 28, kMaxTables = uint64_t(1) << 30;
inline constexpr int64_t kMaxParameterBytes = 4096;

} // namespace tutti::rt
