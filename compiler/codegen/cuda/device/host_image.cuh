// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: the image's side of the emulated device, and how kernel text reaches the driver's side.
#pragma once

#include "tutti/host_emulator.cuh"

#define TUTTI_EXPORTED __attribute__((visibility("default"), used))

extern "C" TUTTI_EXPORTED inline tutti::EmulatedImage tuttiImage = {
    tutti::emulatorVersion, TUTTI_CAPABILITY, nullptr, {}, {}, {}, {}, 0, 0, 1};

/// Follows the kernels of a translation unit, once for each.
#define TUTTI_EMULATED_KERNEL(name, maxThreads)                                                                        \
  extern "C" TUTTI_EXPORTED constinit const tutti::EmulatedKernel tuttiKernel_##name = {                               \
      tutti::KernelCall<&name>::run, tutti::KernelCall<&name>::parameterBytes, maxThreads};

namespace tutti {
inline const Emulator &emulator() { return *tuttiImage.emulator; }

[[noreturn]] inline void fault(Fault kind, const char *format, long a, long b, Where where) {
  emulator().fault(kind, format, a, b, where);
  __builtin_unreachable();
}
} // namespace tutti
