// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a test steers the fake CUDA driver.
#pragma once

#include "device/cuda/Driver.h"

namespace tutti::rt::test {

/// A library with the driver's entry points that does everything as late as it may: what is put on a stream happens
/// when somebody waits for it. Device memory cannot be touched but by copies and kernels. Functions other than those
/// that may be called without one fail when no context is current.
struct FakeDriver {
  int version = 12040;
  int devices = 2;
  int major = 9, minor = 0;
  uint64_t memory = uint64_t(1) << 30; ///< of each device
  int clusters = 16;                   ///< that can run at a time
  int resident = 2;                    ///< blocks on a multiprocessor
  int capturing = 0;                   ///< what cuStreamIsCapturing() says of every stream
  int captureMode = 0;                 ///< of all threads: what a capture forbids
  int maxThreads = 1024, fixedShared = 0, maxShared = 227 << 10, multiprocessors = 100;

  /// At its n-th call from now (1: the next), the named function returns `failure`; "kernel" is a kernel that runs, and
  /// spoils its context. One function at a time; null takes it back.
  const char *failing = nullptr;
  int failAt = 0;
  CUresult failure = CUDA_SUCCESS;
  /// The function that the driver has not got.
  const char *missing = nullptr;

  uint64_t used = 0; ///< bytes of device memory
  int contexts = 0;  ///< retained primary ones
  int modules = 0, streams = 0, events = 0, graphs = 0, pinned = 0;
  CUresult lost = CUDA_SUCCESS;
  uint64_t blocks = 0; ///< that have run
  /// Called by cuInit().
  void (*starting)() = nullptr;
  /// Called in place of each kernel that runs, once for all its blocks.
  void (*probe)(const void *parameters) = nullptr;

  /// How often a function was called since the last reset; kernels that ran, as "kernel".
  int (*calls)(const char *function) = nullptr;
  void (*reset)() = nullptr;
  CUdeviceptr (*allocate)(int device, size_t bytes) = nullptr;
  void *(*allocatePinned)(size_t bytes) = nullptr;
  void (*pin)(void *address, size_t bytes) = nullptr; ///< as cuMemHostRegister does; free() unpins
  void (*free)(void *address) = nullptr;
  /// Reads or writes device memory, at once.
  void (*read)(void *to, CUdeviceptr from, size_t bytes) = nullptr;
  void (*write)(CUdeviceptr to, const void *from, size_t bytes) = nullptr;
  CUcontext (*makeContext)(int device) = nullptr;
  /// Of the first device, to be given to a session; it lives as long as the process.
  CUstream (*makeStream)() = nullptr;
  CUcontext (*current)() = nullptr;
};

} // namespace tutti::rt::test
