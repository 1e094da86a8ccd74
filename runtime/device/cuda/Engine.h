// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a session's launches on a stream of a CUDA device.
#pragma once

#include "../../core/Engine.h"
#include "Device.h"

namespace tutti::rt {

/// The kernel ABI: one struct by value, the addresses of the launch's arguments (for a per-member weight, of a table of
/// one address per position of the active set), then the sizes. One launch is launched; several are a graph, whose
/// nodes get new parameters when addresses or sizes change. Of a launch's geometries each call takes the one that is
/// predicted to be fastest (runtime/support/GridChoice.h): a node's function may change, of one context, as all here
/// are. Its cluster may not, so there are two graphs where geometries differ in it; calls that neither fits are
/// launched one by one.
class CudaEngine final : public Engine, private Weights::Runs {
public:
  explicit CudaEngine(Call &call) : call(call) {}

  tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error) override;
  tutti_status_t admit(PortState &port, const tutti_tensor_t &tensor) override;
  void resize() override;
  void rebind() override;
  tutti_status_t run(Until until) override;
  tutti_status_t wait() override;
  const tutti_device_info_t &device() const override { return about; }
  void destroy(bool forked) override;

private:
  struct LaunchState {
    CUDA_KERNEL_NODE_PARAMS what; ///< as a graph's node takes it, and cuLaunchKernel
    CUlaunchAttribute cluster;
    bool clustered;
    void *parameters[1];
    uint32_t geometry;
    bool isEmpty;        ///< at these sizes: the grid is
    uint32_t geometries; ///< that the device can launch, the first ones
    BlockRoom *rooms;    ///< for blocks of each
  };
  /// Nodes have the clusters of all launches' first geometries, or of all their last.
  struct Graph {
    CUgraph handle = nullptr;
    CUgraphExec exec = nullptr;
    Array<CUgraphNode> nodes;
    bool isOld = true; ///< addresses or sizes have changed since it had its parameters
  };
  /// An output that goes on from pinned memory once the stream has come so far.
  struct Delivery {
    void *to;
    const void *from;
    uint64_t bytes;
  };
  /// What is copied along with outputs takes less time than another copy.
  static constexpr uint64_t kLargestGap = 32 << 10;
  /// A session's memory, here and there: regions of one block each. Offsets in bytes.
  struct Memory {
    uint64_t outputs, tables, pinned; ///< pinned and device memory start alike: inputs, outputs, tables
    uint64_t arena, total;
    bool fits = true;
  };

  const char *name() const { return on->target.name; }
  tutti_status_t failed(CUresult result, const char *what);

  tutti_status_t openStream(const tutti_session_options_t &options, tutti_error_t *error);
  tutti_status_t checkStream(tutti_error_t *error);
  tutti_status_t prepareLaunches(tutti_error_t *error);
  tutti_status_t measure(uint32_t index, tutti_error_t *error);
  void apply(uint32_t index, uint32_t geometry);
  void freeAll();

  // Memory.cpp
  Memory layout(const int64_t *sizes) const;
  void describeFit(uint64_t free, char *hint, size_t length) const;
  tutti_status_t allocate(tutti_error_t *error);
  void placeBuffers(const int64_t *most);

  // Graph.cpp
  bool hasClusters(bool last) const;
  tutti_status_t buildGraphs(tutti_error_t *error);
  tutti_status_t buildGraph(bool last, tutti_error_t *error);
  CUresult updateGraph();

  // Run.cpp
  tutti_status_t enqueue();
  tutti_status_t pinWeights();
  bool haveEnded() const override;
  CUresult copyInputs();
  void shape(uint32_t index, const int64_t *sizes);
  CUresult launchAll();
  CUresult launchOne(LaunchState &state);
  CUresult copyOutputs();
  tutti_status_t finish(bool event);

  Call &call;
  CudaDevice *on = nullptr;
  tutti_device_info_t about = {};
  const CudaDriver *driver = nullptr;
  CUstream stream = nullptr;
  bool ownsStream = false;
  CUevent ended = nullptr;           ///< of the last run that did not wait
  std::atomic<bool> isMarked{false}; ///< no run has begun since that event was recorded

  Memory memory = {};
  CUdeviceptr block = 0;
  char *pinned = nullptr;
  Array<uint64_t> places;  ///< by port: where it lies in its region
  uint64_t inputBytes = 0; ///< of the inputs that go through pinned memory
  bool staged = false;     ///< whether a run uses pinned memory of the session

  std::optional<uint32_t> tile; ///< of every launch, where the environment says so
  Array<LaunchState> launches;
  Array<BlockRoom> rooms; ///< of the launches' geometries
  Graph graphs[2];        ///< of the first geometries, of the last
  Graph *graph = nullptr; ///< that fits the sizes, if one does

  Array<Delivery> deliveries;
  uint32_t numDeliveries = 0;
  bool running = false; ///< something may be under way, and the weights are pinned
  /// Its number: a swap that finds the run's work done may free the version itself.
  uint64_t pinnedVersion = 0;
};

} // namespace tutti::rt
