// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session: what one caller has bound and chosen, and the engine that runs it.
#pragma once

#include "Engine.h"

namespace tutti::rt {

/// What tutti_session_t is a handle of. One caller at a time: a second one is told so by a status, and so is a forked
/// child. Every call validates before it changes anything; what is wrong is in `message`. It keeps the artifact open.
class Session {
public:
  /// All memory that calls will need is allocated here, and the weights are where the device reads them. Null with
  /// `status` and `error` when that cannot be. `destroy` frees it, in a forked child without waiting for threads.
  static Session *create(Artifact &artifact, const tutti_session_options_t &options, tutti_status_t &status,
                         tutti_error_t *error);
  static void destroy(Session *session);

  /// The members of the calls to come, in this order; none twice. `members` is read here only.
  tutti_status_t setActive(const uint32_t *members, size_t n);
  tutti_status_t setDimension(const char *name, int64_t value);
  /// The caller's memory for an input, or for an output and its `head`, used until it is bound anew; of a tensor with
  /// dims the shape is checked now, with the others when the sizes are known.
  tutti_status_t bind(const tutti_tensor_t *tensor, const char *head, Side side);
  /// The same of a DLPack tensor. On success it is the session's, which calls its deleter once something else is bound
  /// there, or the session goes.
  tutti_status_t bindManaged(const char *name, const char *head, DLManagedTensor *managed, Side side);
  /// Shape and memory of a port at the sizes that are chosen; the memory is the caller's, or of outputs the session's
  /// own.
  tutti_status_t describe(const char *name, const char *head, Side side, tutti_tensor_t *tensor);
  /// Allocates nothing. Work that is only started may be under way on a device when it returns.
  tutti_status_t run(Until until);
  tutti_status_t wait();

  /// For tests, whose calls are small: when calls to come run in strips.
  void takeStrips(Call::InStrips when) {
    call.inStrips = when;
    dirty = Dirty::everything;
  }

  /// What the last failure was; valid until the next call.
  const char *message() const { return call.error.message; }
  const tutti_device_info_t &device() const { return engine->device(); }

private:
  /// What has to be worked out anew before the next run.
  enum class Dirty : uint8_t { nothing, pointers, everything };
  /// Marks the session as in use for as long as it lives, when `status` is good.
  struct Entry {
    explicit Entry(Session &session);
    ~Entry();
    Session *held = nullptr;
    tutti_status_t status;
  };

  explicit Session(Artifact &artifact) : call(artifact) { artifact.retain(); }
  ~Session() { call.artifact.release(); }
  template <typename T, typename... Args> friend T *make(Args &&...);
  template <typename T> friend void dispose(T *);

  tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error);
  PortState *find(const char *name, const char *head, Side side, tutti_status_t &status);
  tutti_status_t notFound(const char *name, const char *head, Side side);
  tutti_status_t checkGiven(const PortState &port, const tutti_tensor_t &tensor);
  tutti_status_t shapeError(const PortState &port, const int64_t *given, uint32_t rank);
  tutti_status_t bindTo(const tutti_tensor_t &tensor, const char *head, Side side, DLManagedTensor *managed);
  void giveBack(PortState &port);
  tutti_status_t checkInputs();
  tutti_status_t resolveSizes();
  tutti_status_t prepare();
  tutti_status_t checkOverlaps();

  Call call;
  Engine *engine = nullptr;
  Array<int64_t> chosen;     ///< what setDimension said, 0 for nothing
  Array<uint8_t> marks;      ///< setActive's: members seen
  Array<uint32_t> byAddress; ///< checkOverlaps': the ports
  Dirty dirty = Dirty::everything;
  ForkGuard guard;
  bool registered = false;
  std::atomic<bool> busy{false};
};

inline Session *unwrap(tutti_session_t *handle) { return reinterpret_cast<Session *>(handle); }
inline const Session *unwrap(const tutti_session_t *handle) { return reinterpret_cast<const Session *>(handle); }

} // namespace tutti::rt
