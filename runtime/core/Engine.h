// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What runs a session's launches: one for CPUs, one for CUDA devices.
#pragma once

#include "Call.h"

namespace tutti::rt {

/// That a session may ask for.
constexpr uint32_t kMaxThreads = 1024;

enum class Until : bool { started, done }; ///< what a run is waited for

/// Belongs to one session, which asks for one thing at a time. Nothing but `build` and `destroy` allocates.
class Engine {
public:
  /// Chooses code for every launch of the call, takes memory for its largest sizes, and fills in the call's arena, its
  /// constant and state buffers, its tables and the memory that outputs own.
  virtual tutti_status_t build(const tutti_session_options_t &options, tutti_error_t *error) = 0;

  /// A tensor that fits the port is about to be bound: whether the device reaches it, which sets port.inPlace.
  virtual tutti_status_t admit(PortState &port, const tutti_tensor_t &tensor) = 0;

  /// The call's sizes are others: its offsets have been updated, ports have their dims.
  virtual void resize() = 0;
  /// Ports are bound elsewhere, or sizes are others: fills in the buffers of all ports and updates the call's
  /// addresses.
  virtual void rebind() = 0;

  /// Starts the call and returns, or waits until the outputs are there.
  virtual tutti_status_t run(Until until) = 0;
  virtual tutti_status_t wait() = 0;

  virtual const tutti_device_info_t &device() const = 0;

  /// Ends what runs and frees everything, the engine itself too. In a child of fork() there are no threads to end, and
  /// the driver must not be called.
  virtual void destroy(bool forked) = 0;

protected:
  Engine() = default;
  ~Engine() = default; // by `destroy`
};

/// Null when there is not enough memory.
Engine *makeCpuEngine(Call &call);
Engine *makeCudaEngine(Call &call);

/// What an artifact's sessions share on CUDA devices. Null when there is not enough memory; nothing else can fail, as
/// no driver is asked for yet. Outlives the sessions.
CudaDevices *makeCudaDevices(Artifact &artifact);
void destroyCudaDevices(CudaDevices *devices);

/// Whether this machine can run all kernels of the program on the device that the options name, and how well the worst
/// of its code `fit`s there, to be compared with other programs'; why not, if not.
tutti_status_t checkCpu(Artifact &artifact, const fb::Program &program, const tutti_session_options_t &options,
                        int &fit, tutti_error_t *error);
tutti_status_t checkCuda(Artifact &artifact, const fb::Program &program, const tutti_session_options_t &options,
                         int &fit, tutti_error_t *error);

} // namespace tutti::rt
