// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded artifact: the mapped file, its checked metadata and its weights.
#pragma once

#include "Info.h"
#include "Weights.h"

#include <atomic>

namespace tutti::rt {

class CudaDevices;

/// Shared by its handle and its sessions; gone with the last of them.
class Artifact {
public:
  /// Null on failure. `path`, when given, wins over `data`.
  static Artifact *open(const char *path, const void *data, size_t bytes, tutti_status_t &status, tutti_error_t *error);

  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release();

  const fb::Root &root() const { return *metadata; }
  const tutti_info_t &info() const { return tables.info; }
  /// First byte of a segment, readable.
  const char *segment(uint32_t index) const { return base + root().segments()->Get(index)->offset(); }
  /// Whether this system lets the artifact's code run on its CPUs.
  bool isExecutable() const { return code.data() || !header.codeBytes; }
  /// The function of an image, executable.
  const void *entry(const fb::Image &image) const {
    return code.data() + (root().segments()->Get(image.segment())->offset() - header.codeOffset) + image.offset();
  }
  /// First byte of an image, readable; and how many there are.
  const char *image(const fb::Image &image) const { return segment(image.segment()) + image.offset(); }
  uint64_t bytesOf(const fb::Image &image) const {
    return image.bytes() ? image.bytes() : root().segments()->Get(image.segment())->bytes() - image.offset();
  }
  /// Whether the member is of the group, if it is one group's, that a slot is for.
  bool has(uint32_t member, const fb::Slot &slot) const {
    return slot.group() < 0 || isInGroup(root(), uint32_t(slot.group()), member);
  }
  /// Those of weights: all, or those that opening checks.
  enum class Segments : bool { eager, all };
  tutti_status_t verifyWeights(Segments which, tutti_error_t *error) const;

  Weights weights;
  CudaDevices *cuda = nullptr; ///< its own (Engine.h)

private:
  Artifact() : weights(*this) {}
  ~Artifact();
  template <typename T, typename... Args> friend T *make(Args &&...);
  template <typename T> friend void dispose(T *);

  tutti_status_t map(const char *path, tutti_error_t *error, int &file);
  tutti_status_t check(tutti_error_t *error);
  tutti_status_t mapCode(int file, tutti_error_t *error);

  std::atomic<uint32_t> references{1};
  Mapping mapped; ///< empty when the file is the caller's memory
  const char *base = nullptr;
  uint64_t bytes = 0;
  FileHeader header = {};
  const fb::Root *metadata = nullptr;
  Mapping code;
  Info tables;
};

inline Artifact *unwrap(tutti_artifact_t *handle) { return reinterpret_cast<Artifact *>(handle); }
inline const Artifact *unwrap(const tutti_artifact_t *handle) { return reinterpret_cast<const Artifact *>(handle); }

} // namespace tutti::rt
