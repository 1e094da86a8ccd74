// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of a kernel's code a CUDA device can load.
#pragma once

#include "../../core/Artifact.h"

#include <string_view>

namespace tutti::rt {

/// What decides which code fits.
struct CudaTarget {
  char name[96] = ""; ///< "NVIDIA H200 (sm_90)"
  int major = 0, minor = 0;
  bool emulated = false;
  int driver = 0;                  ///< as cuDriverGetVersion counts
  int maxShared = 0;               ///< bytes that a block may have, static and dynamic
  uint32_t multiprocessors = 0;    ///< 0: unknown
  double flops = 0, bandwidth = 0; ///< a second; see tutti_device_info_t
};

/// How well code for `target` fits a device of compute capability major.minor; 0 when it cannot run there. In this
/// order: sm_XYa and sm_XYf of that very device, sm_XY of the same major version with the largest minor one up to the
/// device's, compute_XY (PTX, which the driver compiles) with the largest XY up to the device's. ("CUDA C++ Programming
/// Guide", Binary and PTX Compatibility, Architecture-Specific and Family-Specific Features.)
int fitOf(std::string_view target, int major, int minor);
/// The same for an emulated device: text for the largest compute capability up to the device's. "emulated" is text for
/// 9.0, "emulated-sm_80" for 8.0.
int fitOfEmulated(std::string_view target, int major, int minor);
inline bool isPtx(const fb::Image &image) { return view(image.target()).starts_with("compute_"); }

/// The image of a kernel that fits the device best, and whose driver is new enough; how well it `fit`s. Errors:
/// TUTTI_NO_DEVICE names what the artifact has and what the device is; TUTTI_DRIVER_TOO_OLD the driver that it takes.
tutti_status_t chooseImage(const fb::Root &root, uint32_t kernel, const CudaTarget &device, const fb::Image *&image,
                           int &fit, tutti_error_t *error);

/// Whether the driver, which gets no size, stays inside the image: an ELF file whose tables lie inside, or text that
/// ends.
bool isContained(const char *data, uint64_t bytes, bool ptx);

} // namespace tutti::rt
