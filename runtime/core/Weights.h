// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which copy of each weight each member uses, and replacing copies while sessions run.
#pragma once

#include "Error.h"
#include "Extent.h"
#include "Fork.h"

namespace tutti::rt {

class Artifact;

/// Weights change by whole versions. A run pins the version that is current when it starts, by one store and no lock;
/// what a later version has replaced is freed by a later swap that finds no run on it.
class Weights {
public:
  /// At most so many devices and contexts have an artifact's weights at once.
  static constexpr uint32_t kMaxMirrors = 16;

  /// A swapped-in weight, here and on the devices that use it.
  struct Copy {
    void *data = nullptr;
    uint64_t onDevice[kMaxMirrors] = {}; ///< by the mirror's index; 0: not there
  };

  /// The weights in a device's memory. Called under the weights' lock, and never in a child of fork(): there the driver
  /// does not work.
  class Mirror {
  public:
    uint32_t index = kMaxMirrors; ///< once added
    /// Whether a program of this device uses the slot.
    virtual bool holds(uint32_t slot) const = 0;
    virtual tutti_status_t upload(uint32_t slot, const void *data, uint64_t &address, tutti_error_t *error) = 0;
    virtual void free(uint64_t address) = 0;

  protected:
    ~Mirror() = default;
  };

  struct Version {
    uint64_t number = 1;
    /// [slot][member]: a swapped-in copy, or null for the one in the file. Empty when nothing was swapped yet.
    Array<Copy *> copies;
    Array<Copy *> dead; ///< copies that the next version has no more
    Version *older = nullptr;

    const Copy *copyOf(uint32_t slot, uint32_t m, uint32_t members) const {
      return copies.size() ? copies[size_t(slot) * members + m] : nullptr;
    }
  };

  /// Runs that go on by themselves, and end without the session that has started them knowing.
  class Runs {
  public:
    /// Whether none reads weights any more. Called under the weights' lock, by any thread.
    virtual bool haveEnded() const = 0;

  protected:
    ~Runs() = default;
  };

  /// A session's mark: the oldest version number that its run may look at; 0 while it does not run.
  struct Reader {
    std::atomic<uint64_t> pinned{0};
    const Runs *runs = nullptr; ///< null: a mark stays for as long as the session runs
    pid_t process = 0;          ///< whose session it is
    Reader *next = nullptr;
  };

  explicit Weights(const Artifact &artifact) : artifact(artifact) {}
  ~Weights();
  [[nodiscard]] bool build();

  /// Registers a session; false when a child of fork() finds the lock held by a thread that it has not.
  [[nodiscard]] bool add(Reader &reader);
  [[nodiscard]] bool remove(Reader &reader);

  /// Keeps a device's copies up to date from now on, or brings them up to date when the mirror has come to hold more
  /// slots.
  tutti_status_t add(Mirror &mirror, tutti_error_t *error);
  void remove(Mirror &mirror);
  /// Whether there is a version newer than `number`.
  bool isNewer(uint64_t number) const { return latest.load(std::memory_order_seq_cst) != number; }

  /// Pins and returns the current version. Wait-free but for swaps that come in between.
  const Version &pin(Reader &reader) const {
    for (uint64_t number = latest.load(std::memory_order_seq_cst);;) {
      reader.pinned.store(number, std::memory_order_seq_cst);
      uint64_t again = latest.load(std::memory_order_seq_cst);
      if (again == number)
        return *current.load(std::memory_order_acquire);
      number = again;
    }
  }
  void unpin(Reader &reader) const { reader.pinned.store(0, std::memory_order_release); }

  /// Where member `m`'s copy of a slot lies.
  const void *locate(const Version &version, uint32_t slot, uint32_t m) const;

  /// tutti_artifact_swap_weights.
  tutti_status_t swap(uint32_t member, const tutti_tensor_t *tensors, size_t numTensors, tutti_error_t *error);

private:
  Mirror *mirrorAt(uint32_t i) const;
  void freeOnDevices(Copy &copy);
  tutti_status_t mirrorCopy(Copy &copy, uint32_t slot, tutti_error_t *error);
  tutti_status_t match(uint32_t member, const tutti_tensor_t *tensors, size_t numTensors, Array<size_t> &replaced,
                       tutti_error_t *error) const;
  tutti_status_t publish(uint32_t member, const Array<Copy *> &packed, tutti_error_t *error);
  void discard(Copy *copy);
  void reclaim();

  const Artifact &artifact;
  std::atomic<uint64_t> latest{1};
  std::atomic<Version *> current{nullptr};
  ForkMutex mutex; ///< for the two lists and for publishing
  Reader *readers = nullptr;
  Mirror *mirrors[kMaxMirrors] = {};
  pid_t mirrorsOwner = 0;     ///< the process that has added the mirrors
  Version *retired = nullptr; ///< newest first
};

/// Checks that `tensor` is what `slot` holds in the model file.
tutti_status_t checkRaw(const fb::Slot &slot, const tutti_tensor_t &tensor, tutti_error_t *error);
/// Writes a tensor that passed checkRaw into `copy` (slot.bytes_each bytes, aligned to 64) in the slot's layout; false
/// when there is not enough memory.
[[nodiscard]] bool packSlot(const fb::Slot &slot, const tutti_tensor_t &tensor, void *copy);

/// "[2, 3]" in a buffer of its own, for messages.
struct DimsText {
  DimsText(const int64_t *dims, uint32_t rank);
  char text[TUTTI_MAX_RANK * 22 + 4];
};

/// Whether a tensor that a caller gave has dims that may be read; `what` stands before its name in the message.
tutti_status_t checkRank(const char *what, const tutti_tensor_t &tensor, tutti_error_t *error);

} // namespace tutti::rt
