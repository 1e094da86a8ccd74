// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fuzzes the loader and the host's side of a run: the bytes are the head of an artifact, whose digests are made right.
#include "Probe.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tutti::rt;
  if (size < sizeof(FileHeader))
    return 0;
  test::File file = test::expand({reinterpret_cast<const char *>(data), size});
  std::memcpy(file.header().magic, kMagic, sizeof(kMagic));
  file.redigest();
  test::exercise(file);
  return 0;
}
