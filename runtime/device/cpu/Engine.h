// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a session's launches on the threads of a pool.
#pragma once

#include "../Engine.h"
#include "Level.h"
#include "Pool.h"
#include "Strips.h"
#include "Threads.h"

namespace tutti::rt {

/// The kernel ABI: args[i] is where the launch's i-th argument lies (for a per-member weight, a table of one pointer
/// per position of the active set), sizes[0] the length of the active set, then the program's other sizes; tasks begin
/// to end - 1 of a launch whose row tiles are `tile` rows; `scratch` is the thread's own.
using KernelFn = void (*)(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end,
                          char *scratch);

class CpuEngine final : public Engine {
public:
  explicit CpuEngine(Call &call) : call(call) {}

  tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error) override;
  tutti_status_t admit(PortState &port, const tutti_tensor_t &tensor) override;
  void resize() override;
  void rebind() override;
  tutti_status_t run(bool wait) override;
  tutti_status_t wait() override { return TUTTI_OK; }
  const tutti_device_info_t &device() const override { return about; }
  void destroy(bool forked) override;

private:
  struct LaunchState {
    void *const *args;
    const int64_t *sizes;
    KernelFn kernel;
    uint32_t step;    ///< whose launches are one list of tasks
    uint32_t members; ///< whose tasks follow each other
    int64_t tile, tasks;
    bool runs;                           ///< now, in this piece
    int64_t stripTile[2], stripTasks[2]; ///< in strips, of the last of a member behind others
  };
  struct Tasks;
  /// The launch's tile and tasks over so many members of its set.
  void choose(uint32_t launch, uint32_t members, const int64_t *sizes);
  void selectPiece(uint32_t piece);
  void runStrips(Strips::Phase phase);
  /// Runs the launches that `takes` takes, a step's as one list of tasks.
  template <typename Takes> void runLaunches(Takes takes);
  tutti_status_t allocate(tutti_error_t *error);

  Call &call;
  Pool pool;
  uint32_t threads = 1;
  tutti_device_info_t about = {};
  Mapping memory; ///< arena | state | outputs | scratch
  char *scratch = nullptr;
  size_t scratchStride = 0;
  Array<LaunchState> launches;
  Strips strips;
  Array<const void *> tableEntries;
};

} // namespace tutti::rt
