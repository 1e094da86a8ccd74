// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The semantic check of an artifact's metadata, after the FlatBuffers verifier has proven that it can be read.
#pragma once

#include "Error.h"
#include "Extent.h"
#include "runtime/schema/Format.h"
#include "runtime/schema/Limits.h"

#include <algorithm>
#include <array>

namespace tutti::rt {

static_assert(kMaxRank == TUTTI_MAX_RANK);
/// Bytes of all that a session writes: fewer than there are addresses, so that sums of two such numbers are numbers.
inline constexpr uint64_t kMaxMemory = uint64_t(1) << 46;
/// What every CUDA device has, "CUDA C++ Programming Guide", Technical Specifications per Compute Capability; of the
/// cluster, what the driver takes.
inline constexpr int64_t kMaxCluster = 16, kMaxBlock[3] = {1024, 1024, 64}, kMaxBlockThreads = 1024,
                         kMaxShared = 227 << 10;

/// Bits of one element; 0 for none and string.
uint32_t bitsOf(fb::DType dtype);
const char *nameOf(fb::DType dtype);
/// The artifact's name of any number that a caller gives; one past the last if it is none of ours.
fb::DType dtypeOf(tutti_dtype_t dtype);

/// Bytes of a dense tensor with these dims; false on overflow or a negative dim.
bool denseBytes(fb::DType dtype, const int64_t *dims, uint32_t rank, uint64_t &bytes);

/// How many copies of a per-member slot are stored.
uint32_t copiesOf(const fb::Slot &slot, uint32_t numMembers);
/// Whether all members use one stored copy.
inline bool isShared(const fb::Slot &slot) { return !slot.per_member() || slot.stride() == 0; }
/// Whether the slot holds what was made of a part of its weight: files before there was the word say it by having no
/// dims of the model file.
inline bool isPart(const fb::Slot &slot) {
  return slot.part() || (!count(slot.raw_dims()) && slot.raw_bytes() * 8 > std::max(bitsOf(slot.type()->dtype()), 8u));
}
/// The dims of the slot's tensor as the model file has it, of a part its own; at most TUTTI_MAX_RANK; the rank.
inline uint32_t rawDims(const fb::Slot &slot, int64_t *dims) {
  uint32_t rank = count(slot.raw_dims());
  for (uint32_t i = 0; i < rank; ++i)
    dims[i] = slot.raw_dims()->Get(i);
  if (isPart(slot))
    for (; rank < count(slot.type()->dims()); ++rank)
      dims[rank] = slot.type()->dims()->Get(rank)->base();
  return rank;
}
/// The sizes of the largest call.
using Sizes = std::array<int64_t, kMaxSizes>;
inline Sizes largestSizes(const fb::Program &program) {
  Sizes most{};
  for (uint32_t i = 0; i < count(program.sizes()); ++i)
    most[i] = program.sizes()->Get(i)->hi();
  return most;
}
/// Whether a member is of a group of the artifact.
inline bool isInGroup(const fb::Root &root, uint32_t group, uint32_t member) {
  const auto *members = root.groups()->Get(group)->members();
  return members && std::find(members->begin(), members->end(), member) != members->end();
}
/// The sets that launches run over: the active set, and of several groups the members of each that are in it.
inline uint32_t numSets(const fb::Program &program) { return std::max(program.sets(), 1u); }
/// The set whose members a per-member slot has copies of.
inline uint32_t setOf(const fb::Program &program, const fb::Slot &slot) {
  return numSets(program) > 1 ? uint32_t(slot.group() + 1) : 0;
}
/// The stored copy that member `m` uses.
inline uint32_t copyOf(const fb::Slot &slot, uint32_t m) { return count(slot.index()) ? slot.index()->Get(m) : m; }

/// Checks every index, offset, size and launch dimension, so that nothing that the runtime itself computes from the
/// metadata leaves a buffer or overflows. (What kernels do with what they are given is the compiler's word.)
/// Errors: TUTTI_MALFORMED, TUTTI_NEWER_FORMAT, TUTTI_UNSUPPORTED.
tutti_status_t checkMetadata(const fb::Root &root, const FileHeader &header, tutti_error_t *error);

/// The part for one program; `index` is for messages.
tutti_status_t checkProgram(const fb::Root &root, const fb::Program &program, uint32_t index, tutti_error_t *error);

/// Whether the program was compiled for CUDA devices, the emulated one among them; else for CPUs.
bool isForCuda(const fb::Program &program);

/// Whether this runtime can run the program; TUTTI_UNSUPPORTED names the first step or size that it cannot.
tutti_status_t checkRunnable(const fb::Program &program, tutti_error_t *error);

} // namespace tutti::rt
