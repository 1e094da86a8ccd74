// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fuzzes the loader and the host's side of a run: the bytes are the head of an artifact, whose digests are made right.
// What it has for CUDA devices runs on the fake driver.
#include "FakeDriver.h"
#include "Probe.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace tutti::rt;
using namespace tutti::rt::test;

static void setUpDriver() {
  setenv("TUTTI_CUDA_DRIVER", TUTTI_TEST_DRIVER, 1);
  void *library = dlopen(TUTTI_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    std::abort();
  FakeDriver &fake = *reinterpret_cast<FakeDriver *(*)()>(dlsym(library, "tuttiFakeDriver"))();
  fake.memory = uint64_t(64) << 20;
  fake.probe = probeOnDevice;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  [[maybe_unused]] static const bool ready = (setUpDriver(), true);
  if (size < sizeof(FileHeader))
    return 0;
  static const std::string module = emptyModule();
  bool device = false;
  for (std::string_view code : {std::string_view(), std::string_view(module)}) {
    File file = expand({reinterpret_cast<const char *>(data), size}, code);
    std::memcpy(file.header().magic, kMagic, sizeof(kMagic));
    file.redigest();
    if (!exercise(file, device ? TUTTI_DEVICE_EMULATED : TUTTI_DEVICE_CPU).elsewhere)
      break;
    device = true;
  }
  return 0;
}
