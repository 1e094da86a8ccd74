// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A session: the memory, threads and bindings with which one caller runs one program of an artifact.
#pragma once

#include "../device/cpu/Level.h"
#include "../device/cpu/Pool.h"
#include "Artifact.h"

namespace tutti::rt {

/// The kernel ABI: args[i] is where the launch's i-th argument lies (for a per-member weight, a table of one pointer per
/// position of the active set), sizes[0] the length of the active set, then the program's other sizes; tasks begin to
/// end - 1 of a launch whose row tiles are `tile` rows; `scratch` is the thread's own.
using KernelFn = void (*)(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end,
                          char *scratch);

/// The rows of a task: of all multiples of the quantum up to the most that the launch allows, the one that keeps `threads`
/// threads busy for the shortest time. Speed only: kernels compute the same bits for every tile.
int64_t chooseTile(const fb::Launch &launch, int64_t rows, int64_t members, uint32_t threads);

class Session {
public:
  static Session *create(Artifact &artifact, const tutti_session_options_t &options, tutti_status_t &status,
                         tutti_error_t *error);
  static void destroy(Session *session);

  tutti_status_t setActive(const uint32_t *members, size_t n);
  tutti_status_t setDimension(const char *name, int64_t value);
  tutti_status_t bind(const tutti_tensor_t *tensor, const char *head, bool input);
  tutti_status_t getOutput(const char *name, const char *head, tutti_tensor_t &tensor);
  tutti_status_t run();

  const char *message() const { return error.message; }

private:
  struct PortState {
    const tutti_port_t *info;
    const fb::Port *port;
    void *bound;                      ///< the caller's memory
    void *owned;                      ///< outputs: the session's
    bool shaped;                      ///< `given` holds the dims of what is bound
    int64_t given[TUTTI_MAX_RANK];
    int64_t dims[TUTTI_MAX_RANK];     ///< under the current sizes
    void *data() const { return bound ? bound : owned; }
  };
  struct ArgState {
    uint32_t buffer;
    int64_t offset;
  };
  struct LaunchState {
    const fb::Launch *launch;
    KernelFn kernel;
    uint32_t firstArg;
    int64_t tile, tasks;
  };
  struct Table { ///< of one per-member weight: a pointer per position of the active set
    uint32_t slot;
    const void **entries;
  };
  enum class Dirty : uint8_t { nothing, pointers, everything };

  explicit Session(Artifact &artifact) : artifact(artifact) { artifact.retain(); }
  ~Session() { artifact.release(); }
  template <typename T, typename... Args> friend T *make(Args &&...);
  template <typename T> friend void dispose(T *);

  tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error);
  tutti_status_t selectKernels(const char *target, tutti_error_t *error);
  tutti_status_t allocate(uint32_t threads, tutti_error_t *error);

  PortState *find(const char *name, const char *head, bool input, tutti_status_t &status);
  tutti_status_t checkGiven(const PortState &port, const tutti_tensor_t &tensor);
  tutti_status_t shapeError(const PortState &port, const int64_t *given, uint32_t rank);
  tutti_status_t resolveSizes(bool needInputs);
  tutti_status_t prepare();
  void refreshPointers();
  void resolveTables(const Weights::Version &version);
  tutti_status_t enter();
  bool forked() const;

  Artifact &artifact;
  const fb::Program *program = nullptr;
  tutti_error_t error = {};
  Pool pool;
  uint32_t threads = 1;
  Mapping memory; ///< guard page | arena | state | outputs | scratch
  char *arena = nullptr, *scratch = nullptr;
  size_t scratchStride = 0;
  int guardPid = 0; ///< 0 when the guard page tells a fork

  Array<int64_t> sizes, chosen; ///< of the call; what setDimension said, 0 for nothing
  Array<uint32_t> active;
  Array<uint8_t> marks; ///< setActive's: members seen
  uint32_t numActive = 0;
  Array<PortState> ports; ///< inputs, then outputs
  uint32_t numInputs = 0;
  Array<char *> buffers;
  Array<LaunchState> launches;
  Array<ArgState> argStates;
  Array<void *> args;
  Array<Table> tables;
  Array<const void *> tableEntries;
  uint64_t tablesVersion = 0; ///< 0: of no version yet
  Dirty dirty = Dirty::everything;

  Weights::Reader reader;
  bool registered = false;
  std::atomic<bool> busy{false};
};

inline Session *unwrap(tutti_session_t *handle) { return reinterpret_cast<Session *>(handle); }
inline const Session *unwrap(const tutti_session_t *handle) { return reinterpret_cast<const Session *>(handle); }

} // namespace tutti::rt
