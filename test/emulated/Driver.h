// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated driver: contexts, streams and what waits in them, and the guard that every entry point begins with.
#ifndef TUTTI_TEST_EMULATED_DRIVER_H
#define TUTTI_TEST_EMULATED_DRIVER_H

#include "Emulated.h"
#include "Entries.h"
#include "Launcher.h"
#include "Memory.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

struct CUfunc_st {
  CUmodule module;
  std::string name;
  const tutti::EmulatedKernel *kernel;
  std::vector<uint32_t> parameterBytes;
  int maxDynamicShared = 48 << 10;
  bool largeClusters = false; ///< of more than 8 blocks, which not every device has
};

namespace tutti::emulated {

/// What a stream or a graph node does.
struct Work {
  enum class Kind { nothing, launch, copy, set, host } kind = Kind::nothing;
  // launch
  CUfunction function = nullptr;
  LaunchShape shape;
  std::vector<std::vector<unsigned char>> parameters;
  // copy and set: rows of `width` bytes
  bool toDevice = false, fromDevice = false;
  uint64_t to = 0, from = 0;
  size_t width = 0, height = 1, toPitch = 0, fromPitch = 0;
  uint32_t value = 0, elementSize = 1;
  std::shared_ptr<std::vector<unsigned char>> staged; ///< of pageable host memory, copied when the call was made
  // host
  CUhostFn hostFunction = nullptr;
  void *userData = nullptr;
};

/// What was asked of a stream and has not happened yet.
struct Queue {
  struct Operation {
    std::function<CUresult()> run;
    std::vector<std::pair<std::shared_ptr<Queue>, uint64_t>> after; ///< queues, each up to a position
  };
  CUcontext context = nullptr;
  bool blocking = true; ///< ordered with the default stream
  uint64_t asked = 0, done = 0;
  std::deque<Operation> waiting;
};

} // namespace tutti::emulated

struct CUgraphNode_st {
  tutti::emulated::Work work;
  std::vector<CUgraphNode> dependencies;
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
  struct Node {
    CUgraphNode origin; ///< an identity only
    tutti::emulated::Work work;
    std::vector<size_t> dependencies;
  };
  std::vector<Node> nodes;
};

struct CUstream_st {
  std::shared_ptr<tutti::emulated::Queue> queue;
  unsigned flags = 0;
  int priority = 0;
  // While work is captured:
  CUgraph graph = nullptr;
  bool origin = false, invalidated = false;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::vector<CUgraphNode> tail; ///< what the next node depends on
};

struct CUevent_st {
  CUcontext context;
  unsigned flags;
  std::shared_ptr<tutti::emulated::Queue> queue; ///< null until it is recorded
  uint64_t position = 0;
  double milliseconds = 0;
  CUgraph graph = nullptr;
  std::vector<CUgraphNode> tail;
};

struct CUctx_st {
  int device = 0;
  bool primary = false;
  int references = 0;
  unsigned flags = 0;
  CUresult error = CUDA_SUCCESS; ///< once a launch has failed, every call says so
  std::set<CUstream> streams;    ///< the default streams too
  CUstream defaultStream = nullptr;
  std::map<std::thread::id, CUstream> threadStreams; ///< the default stream of each thread that has asked for it
};

namespace tutti::emulated {

/// What the device claims to be.
struct DeviceLimits {
  int count = 1, multiprocessors = 8, maxThreads = 1024;
  int capability = 90, threadsMultiprocessor = 2048, blocksMultiprocessor = 32;
  int sharedDefault = 48 << 10, sharedMost = 227 << 10, sharedMultiprocessor = 228 << 10, sharedReserved = 1 << 10;
  size_t memory = size_t(4) << 30;

  /// Sets what depends on it.
  void setCapability(int value);
};

class Driver {
public:
  static Driver &get();

  CUresult initialize();
  void report(const std::string &text);

  CUcontext createContext(int device, bool primary);
  void destroyContext(CUcontext context);
  /// The stream of a handle, or null. 0, 1: the current context's default stream, 2: that of this thread.
  CUstream stream(CUstream handle);

  /// Puts work into a stream, or into the graph that it captures into.
  CUresult submit(CUstream stream, Work work);
  void submit(CUstream stream, std::function<CUresult()> run);
  /// Lets everything up to a position happen.
  CUresult drain(Queue &queue, uint64_t position);
  CUresult drainAll(CUcontext context);
  /// What is wrong with the work as it is asked for.
  CUresult check(const Work &work);
  CUresult execute(CUcontext context, const Work &work);
  CUresult executeGraph(CUcontext context, const CUgraphExec_st &graph);
  /// Copies that must be there on return.
  CUresult executeNow(CUstream stream, Work work);
  /// Whether a call that may not be made while work is captured meets a capture; ends that.
  CUresult refuseCapture(CUstream stream);

  std::recursive_mutex mutex;
  bool initialized = false;
  DeviceLimits limits;
  DeviceMemory memory;
  Launcher launcher{memory};
  std::vector<CUcontext> primary; ///< one a device
  std::set<CUcontext> contexts;
  std::set<CUevent> events;
  std::set<CUmodule> modules;
  std::set<CUgraph> graphs;
  std::set<CUgraphExec> graphExecs;
  std::map<uint64_t, size_t> pinned; ///< host memory that the driver knows
  TuttiEmulatedCounters counters = {};
  std::string lastReport;
  uint64_t seed = 1;
  std::string failName;
  long failAt = 0;
  CUresult failResult = CUDA_SUCCESS;
  double clock = 0; ///< milliseconds of a device whose every operation takes a microsecond

  bool isPinned(const void *address, size_t bytes) const;
  /// Whether some of it is pinned.
  bool touchesPinned(const void *address, size_t bytes) const;

private:
  uint64_t numLaunches = 0;
};

/// The contexts of this host thread, the current one last.
std::vector<CUcontext> &contextStack();

/// Begins an entry point: takes the lock, and finds what already stands against the call.
class Call {
public:
  enum class Needs { nothing, initialization, context };
  explicit Call(const char *name, Needs needs = Needs::context);
  Driver &driver;
  CUcontext context = nullptr;
  CUresult error = CUDA_SUCCESS;

private:
  std::lock_guard<std::recursive_mutex> lock;
};

} // namespace tutti::emulated

/// An entry point's first line.
#define TUTTI_CALL(...)                                                                                                \
  tutti::emulated::Call call(__func__ __VA_OPT__(, tutti::emulated::Call::Needs::__VA_ARGS__));                        \
  if (call.error)                                                                                                      \
    return call.error;                                                                                                 \
  [[maybe_unused]] tutti::emulated::Driver &driver = call.driver
#define TUTTI_ENTRY extern "C" __attribute__((visibility("default"))) CUresult
/// Ends an entry point whose argument is none.
#define TUTTI_EXPECT(condition, result)                                                                                \
  if (!(condition))                                                                                                    \
  return result

#endif
