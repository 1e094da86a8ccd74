// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA devices that an artifact's sessions use, and the driver that they came from.
#pragma once

#include "../../core/Fork.h"
#include "Driver.h"

namespace tutti::fb {
struct Program;
}

namespace tutti::rt {

class Artifact;
class CudaDevice;
struct CudaTarget;

/// Each artifact has its own, so that there is no state outside of handles. Nothing is loaded before the first session
/// asks.
class CudaDevices {
public:
  explicit CudaDevices(Artifact &artifact) : artifact(artifact) {}

  /// Whether the device that the options name has code for every launch of the program, and how well the worst of it
  /// `fit`s.
  tutti_status_t check(const fb::Program &program, const tutti_session_options_t &options, int &fit,
                       tutti_error_t *error);

  /// The device that the options name, with the program's code and weights on it; to be released.
  tutti_status_t acquire(const fb::Program &program, const tutti_session_options_t &options, CudaDevice *&device,
                         tutti_error_t *error);
  /// The last one out frees code and weights.
  void release(CudaDevice *device);

private:
  struct Place;
  tutti_status_t locate(const tutti_session_options_t &options, Place &place, tutti_error_t *error) const;
  tutti_status_t enter(bool emulated, tutti_error_t *error);
  tutti_status_t find(const tutti_session_options_t &options, CudaDevice *&device, tutti_error_t *error);

  Artifact &artifact;
  ForkMutex mutex;       ///< for all below
  CudaDriver drivers[2]; ///< of CUDA devices, of the emulated one
  bool loaded[2] = {};
  pid_t starter = 0; ///< the process that loaded a driver
  CudaDevice *first = nullptr;
};

} // namespace tutti::rt
