// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fuzzes the reading of .npy files.
#include "common/Npy.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace tutti::tool;
  std::string_view file(reinterpret_cast<const char *>(data), size);
  for (tutti_dtype_t expected : {TUTTI_F32, TUTTI_BF16, TUTTI_I4}) {
    Tensor tensor;
    Failure failure = parseNpy(file, "the file", expected, tensor);
    if (!failure && tensor.data.size() > size)
      std::abort();
  }
  return 0;
}
