// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Versions of the weights: pinning, swapping, reclaiming.
#include "Artifact.h"

#include <unistd.h>

namespace tutti::rt {

bool Weights::build() {
  Version *first = make<Version>();
  current.store(first, std::memory_order_release);
  return first != nullptr;
}

Weights::~Weights() {
  // The last session took its device along; a mirror that is still here was left behind by a fork.
  std::fill(std::begin(mirrors), std::end(mirrors), nullptr);
  Version *last = current.load(std::memory_order_relaxed);
  if (last)
    for (Copy *copy : last->copies)
      discard(copy);
  dispose(last);
  for (Version *version = retired; version;) {
    for (Copy *copy : version->dead)
      discard(copy);
    Version *older = version->older;
    dispose(version);
    version = older;
  }
}

void Weights::discard(Copy *copy) {
  if (!copy)
    return;
  freeOnDevices(*copy);
  std::free(copy->data);
  dispose(copy);
}

/// Null where there is none that this process may use.
Weights::Mirror *Weights::mirrorAt(uint32_t i) const { return mirrorsOwner == getpid() ? mirrors[i] : nullptr; }

void Weights::freeOnDevices(Copy &copy) {
  for (uint32_t i = 0; i < kMaxMirrors; ++i)
    if (Mirror *mirror = mirrorAt(i); mirror && copy.onDevice[i])
      mirror->free(std::exchange(copy.onDevice[i], 0));
}

bool Weights::add(Reader &reader) {
  if (!mutex.lock())
    return false;
  reader.process = getpid();
  reader.next = readers;
  readers = &reader;
  mutex.unlock();
  return true;
}

bool Weights::remove(Reader &reader) {
  if (!mutex.lock())
    return false;
  for (Reader **link = &readers; *link; link = &(*link)->next)
    if (*link == &reader) {
      *link = reader.next;
      break;
    }
  mutex.unlock();
  return true;
}

const void *Weights::locate(const Version &version, uint32_t slot, uint32_t m) const {
  const fb::Slot &s = *artifact.root().slots()->Get(slot);
  if (s.per_member())
    if (const Copy *copy = version.copyOf(slot, m, artifact.info().num_members))
      return copy->data;
  return artifact.segment(s.segment()) + s.base() + (s.per_member() ? copyOf(s, m) * s.stride() : 0);
}

/// Finds which tensor replaces each slot that the member has: 1 + its number; 0: none.
tutti_status_t Weights::match(uint32_t member, const tutti_tensor_t *tensors, size_t numTensors,
                              Array<size_t> &replaced, tutti_error_t *error) const {
  const auto *slots = artifact.root().slots();
  for (size_t t = 0; t < numTensors; ++t) {
    const tutti_tensor_t &tensor = tensors[t];
    bool found = false;
    for (uint32_t i = 0; i < count(slots); ++i) {
      const fb::Slot &slot = *slots->Get(i);
      if (!tensor.name || !*tensor.name || view(slot.name()) != tensor.name || !artifact.has(member, slot))
        continue;
      found = true;
      // Equal copies have one place, also where each member was to keep its own.
      if (isShared(slot) && !slot.swappable() && view(artifact.root().share()) != "none")
        return fail(error, TUTTI_SHARED_WEIGHT,
                    "weight '%.200s' is stored once for all members, so member %u has no copy of its own to replace; "
                    "compile with --share=none",
                    tensor.name, member);
      if (!slot.swappable())
        return fail(error, TUTTI_UNSUPPORTED,
                    "weight '%.200s' went into values computed when compiling, so it cannot be replaced", tensor.name);
      if (replaced[i])
        return fail(error, TUTTI_INVALID_ARGUMENT, "weight '%.200s' was given twice", tensor.name);
      if (auto status = checkRaw(slot, tensor, error))
        return status;
      replaced[i] = t + 1;
    }
    if (!found)
      return fail(error, TUTTI_NOT_FOUND,
                  "member %u has no weight '%.200s' that could be replaced; names are those of the initializers of "
                  "member 0, or of the first member of its structure",
                  member, tensor.name ? tensor.name : "");
  }
  return TUTTI_OK;
}

tutti_status_t Weights::swap(uint32_t member, const tutti_tensor_t *tensors, size_t numTensors, tutti_error_t *error) {
  if (member >= artifact.info().num_members)
    return fail(error, TUTTI_NOT_FOUND, "there is no member %u: the artifact has members 0 to %u", member,
                artifact.info().num_members - 1);
  if (numTensors && !tensors)
    return fail(error, TUTTI_INVALID_ARGUMENT, "no tensors were given, expected %zu", numTensors);
  const auto *slots = artifact.root().slots();
  Array<size_t> replaced;
  Array<Copy *> packed; // by slot; null: keeps its copy
  if (!replaced.allocate(count(slots)) || !packed.allocate(count(slots)))
    return outOfMemory(error, "a list of weights", count(slots) * sizeof(void *));
  if (auto status = match(member, tensors, numTensors, replaced, error))
    return status;
  tutti_status_t status = TUTTI_OK;
  for (uint32_t i = 0; i < count(slots) && !status; ++i) {
    if (!replaced[i])
      continue;
    const fb::Slot &slot = *slots->Get(i);
    // A copy is at least a line long, so that an empty weight is told from one that keeps its copy.
    size_t bytes = alignUp(std::max<uint64_t>(slot.bytes_each(), 1), kLineBytes);
    packed[i] = make<Copy>();
    void *data = packed[i] ? packed[i]->data = std::aligned_alloc(kLineBytes, bytes) : nullptr;
    if (!data || (std::memset(data, 0, bytes), !packSlot(slot, tensors[replaced[i] - 1], data)))
      status = outOfMemory(error, "a weight", bytes);
  }
  status = status ? status : publish(member, packed, error);
  for (uint32_t i = 0; i < packed.size() && status; ++i) // on no device yet
    if (packed[i]) {
      std::free(packed[i]->data);
      dispose(packed[i]);
    }
  return status;
}

/// Brings a copy to every device that holds its slot and has not got it.
tutti_status_t Weights::mirrorCopy(Copy &copy, uint32_t slot, tutti_error_t *error) {
  for (uint32_t i = 0; i < kMaxMirrors; ++i)
    if (Mirror *mirror = mirrorAt(i); mirror && !copy.onDevice[i] && mirror->holds(slot))
      if (auto status = mirror->upload(slot, copy.data, copy.onDevice[i], error))
        return status;
  return TUTTI_OK;
}

tutti_status_t Weights::add(Mirror &mirror, tutti_error_t *error) {
  if (!mutex.lock())
    return fail(error, TUTTI_FORKED, "the artifact was being changed when this process was forked; open it again");
  if (mirrorsOwner != getpid()) {
    std::fill(std::begin(mirrors), std::end(mirrors), nullptr); // left behind by a fork
    mirrorsOwner = getpid();
  }
  tutti_status_t status = TUTTI_OK;
  for (uint32_t i = 0; i < kMaxMirrors && mirror.index == kMaxMirrors; ++i)
    if (!mirrors[i])
      mirrors[mirror.index = i] = &mirror;
  if (mirror.index == kMaxMirrors)
    status = fail(error, TUTTI_UNSUPPORTED, "the artifact's weights are in %u contexts already, which is the most",
                  kMaxMirrors);
  const Version &version = *current.load(std::memory_order_relaxed);
  uint32_t members = artifact.info().num_members;
  for (size_t i = 0; i < version.copies.size() && !status; ++i)
    if (Copy *copy = version.copies[i])
      status = mirrorCopy(*copy, uint32_t(i / members), error);
  mutex.unlock();
  return status;
}

void Weights::remove(Mirror &mirror) {
  if (mirror.index == kMaxMirrors || !mutex.lock())
    return;
  auto forget = [&](const Array<Copy *> &copies) {
    for (Copy *copy : copies)
      if (copy && copy->onDevice[mirror.index])
        mirror.free(std::exchange(copy->onDevice[mirror.index], 0));
  };
  forget(current.load(std::memory_order_relaxed)->copies);
  for (Version *version = retired; version; version = version->older)
    forget(version->dead);
  mirrors[mirror.index] = nullptr;
  mutex.unlock();
}

tutti_status_t Weights::publish(uint32_t member, const Array<Copy *> &packed, tutti_error_t *error) {
  uint32_t members = artifact.info().num_members;
  if (!mutex.lock())
    return fail(error, TUTTI_FORKED, "the artifact was being changed when this process was forked; open it again");
  Version *old = current.load(std::memory_order_relaxed);
  Version *next = make<Version>();
  if (!next || !next->copies.allocate(packed.size() * members) || !old->dead.allocate(packed.size())) {
    mutex.unlock();
    dispose(next);
    return outOfMemory(error, "a version of the weights", packed.size() * members * sizeof(void *));
  }
  tutti_status_t status = TUTTI_OK;
  for (uint32_t i = 0; i < packed.size() && !status; ++i)
    if (packed[i])
      status = mirrorCopy(*packed[i], i, error);
  if (status) { // as if nothing had happened, on the devices, too
    for (Copy *copy : packed)
      if (copy)
        freeOnDevices(*copy);
    mutex.unlock();
    dispose(next);
    return status;
  }
  next->number = old->number + 1;
  if (old->copies.size())
    std::memcpy(next->copies.data(), old->copies.data(), old->copies.size() * sizeof(void *));
  for (uint32_t i = 0; i < packed.size(); ++i)
    if (packed[i])
      old->dead[i] = std::exchange(next->copies[size_t(i) * members + member], packed[i]);
  current.store(next, std::memory_order_seq_cst);
  latest.store(next->number, std::memory_order_seq_cst);
  old->older = retired;
  retired = old;
  reclaim();
  mutex.unlock();
  return TUTTI_OK;
}

/// Frees the versions, and what died with them, that no run can see any more. Those of a parent do not go on in its
/// child.
void Weights::reclaim() {
  uint64_t oldest = UINT64_MAX;
  pid_t own = getpid();
  for (Reader *reader = readers; reader; reader = reader->next)
    if (uint64_t pinned = reader->pinned.load(std::memory_order_seq_cst);
        pinned && reader->process == own && !(reader->runs && reader->runs->haveEnded()))
      oldest = std::min(oldest, pinned);
  Version **link = &retired;
  while (*link && (*link)->number >= oldest)
    link = &(*link)->older;
  for (Version *version = std::exchange(*link, nullptr); version;) {
    for (Copy *copy : version->dead)
      discard(copy);
    Version *older = version->older;
    dispose(version);
    version = older;
  }
}

} // namespace tutti::rt
