// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a session's launches on the threads of a pool.
#pragma once

#include "../../core/Engine.h"
#include "Level.h"
#include "Pool.h"
#include "Strips.h"
#include "Tasks.h"
#include "Threads.h"

namespace tutti::rt {

class CpuEngine final : public Engine {
public:
  explicit CpuEngine(Call &call) : call(call) {}

  tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error) override;
  tutti_status_t admit(PortState &port, const tutti_tensor_t &tensor) override;
  void resize() override;
  void rebind() override;
  tutti_status_t run(Until until) override;
  tutti_status_t wait() override { return TUTTI_OK; }
  const tutti_device_info_t &device() const override { return about; }
  void destroy(bool forked) override;

private:
  void touchEdges() const;
  void selectPiece(uint32_t piece);
  void runStrips(Strips::Phase phase);
  /// Runs the launches that `takes` takes, a step's as one list of tasks.
  template <typename Takes> void runLaunches(Takes takes);
  tutti_status_t allocate(tutti_error_t *error);
  /// Lays out what a run writes at the largest sizes, from `base` on, and returns its bytes; null: only counts them.
  uint64_t layOut(const int64_t *most, char *base);
  char *scratchOf(uint32_t thread) const { return scratch + thread * scratchStride; }

  Call &call;
  Pool pool;
  uint32_t threads = 1;
  int64_t cache = 0; ///< cacheBytes()
  tutti_device_info_t about = {};
  Mapping memory; ///< arena | state | outputs | scratch
  char *scratch = nullptr;
  size_t scratchStride = 0;
  Array<LaunchTasks> launches;
  Strips strips;
  Array<const void *> tableEntries;
};

} // namespace tutti::rt
