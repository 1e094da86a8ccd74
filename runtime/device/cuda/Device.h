// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One context of one CUDA device, with an artifact's code and weights in it.
#pragma once

#include "Devices.h"
#include "Image.h"

#include "../../core/Geometry.h"

#include <atomic>

namespace tutti::rt {

/// Shared by the sessions of an artifact that work in the context. Changed under the lock of CudaDevices only, but for
/// the weights' copies, which have the lock of Weights.
class CudaDevice final : public Weights::Mirror {
public:
  /// Makes the context current for as long as it lives, and then what was current before.
  class Scope {
  public:
    explicit Scope(const CudaDevice &device) : driver(device.driver), result(driver.cuCtxPushCurrent(device.context)) {}
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    ~Scope() {
      CUcontext popped;
      if (result == CUDA_SUCCESS)
        driver.cuCtxPopCurrent(&popped);
    }
    const CudaDriver &driver;
    CUresult result;
  };

  /// While it lives, this thread may allocate, free and wait though some stream of the process is being captured into a
  /// graph: that would end the capture, and what is freed would stay.
  class Relaxed {
  public:
    explicit Relaxed(const CudaDriver &driver) : driver(driver) { driver.cuThreadExchangeStreamCaptureMode(&mode); }
    Relaxed(const Relaxed &) = delete;
    Relaxed &operator=(const Relaxed &) = delete;
    ~Relaxed() { driver.cuThreadExchangeStreamCaptureMode(&mode); }

  private:
    const CudaDriver &driver;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED; ///< then the one before
  };

  CudaDevice(Artifact &artifact, const CudaDriver &driver, CUcontext context, CUdevice device)
      : driver(driver), context(context), device(device), artifact(artifact) {}

  /// Its name, limits, and a stream for uploads.
  tutti_status_t build(const CudaTarget &what, tutti_error_t *error);
  /// Loads the code of the program's launches and uploads its weights, as far as they are not there.
  tutti_status_t prepare(const fb::Program &program, tutti_error_t *error);
  void destroy();

  CUfunction functionOf(uint32_t kernel) const { return functions[kernel].handle; }
  /// How many blocks of a prepared geometry, with so many bytes of dynamic shared memory, a multiprocessor and the
  /// device have room for at a time.
  tutti_status_t measure(const Geometry &launch, int64_t shared, BlockRoom &room, tutti_error_t *error) const;
  /// Where the weight of a slot that is the same for all members lies.
  CUdeviceptr locate(uint32_t slot) const { return slots[slot].base; }
  /// Where member `m`'s copy lies.
  CUdeviceptr locate(const Weights::Version &version, uint32_t slot, uint32_t m) const;

  /// "not enough memory on DEVICE for WHAT: N bytes needed, M free; HINT".
  tutti_status_t outOfMemory(tutti_error_t *error, const char *what, uint64_t needed, const char *hint) const;
  uint64_t freeBytes() const;

  // Weights::Mirror
  bool holds(uint32_t slot) const override { // another session may be bringing weights, under the lock of CudaDevices
    return std::atomic_ref(const_cast<CUdeviceptr &>(slots[slot].base)).load() != 0;
  }
  tutti_status_t upload(uint32_t slot, const void *data, uint64_t &address, tutti_error_t *error) override;
  void free(uint64_t address) override;

  const CudaDriver &driver;
  const CUcontext context;
  const CUdevice device;
  CudaTarget target;
  bool primary = false; ///< the context has been retained, and is to be released
  uint32_t sessions = 0;
  CudaDevice *next = nullptr;

private:
  struct Slot {
    CUdeviceptr base;
    uint64_t stride;
  };
  struct Module {
    uint32_t segment;
    uint64_t offset;
    CUmodule handle;
  };
  struct Function {
    CUfunction handle;
    int shared; ///< dynamic bytes that have been allowed
  };
  /// Slots that are to come to the device, in one block.
  struct NewSlots {
    Array<uint64_t> places;            ///< by slot: 1 + where in the block; 0: not in it
    uint64_t total = 0, perMember = 0; ///< bytes
  };

  tutti_status_t loadKernel(uint32_t kernel, tutti_error_t *error);
  tutti_status_t allow(const Geometry &launch, int64_t shared, tutti_error_t *error);
  tutti_status_t allowCluster(const Geometry &launch, tutti_error_t *error);
  tutti_status_t uploadSlots(const fb::Program &program, tutti_error_t *error);
  void placeSlots(const fb::Program &program, NewSlots &added) const;
  tutti_status_t allocateSlots(const NewSlots &added, CUdeviceptr &block, tutti_error_t *error) const;
  tutti_status_t copySlots(const NewSlots &added, CUdeviceptr block, tutti_error_t *error);
  tutti_status_t copy(CUdeviceptr to, const void *from, uint64_t bytes, tutti_error_t *error);

  Artifact &artifact;
  CUstream stream = nullptr;
  Array<Slot> slots;         ///< by slot; base 0: not there
  Array<Function> functions; ///< by kernel
  Array<Module> modules;
  uint32_t numModules = 0;
  Array<CUdeviceptr> blocks; ///< of slots
  uint32_t numBlocks = 0;
};

} // namespace tutti::rt
