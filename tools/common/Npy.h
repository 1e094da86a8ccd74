// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors in NumPy's .npy files, format versions 1 to 3.
#ifndef TUTTI_TOOLS_COMMON_NPY_H
#define TUTTI_TOOLS_COMMON_NPY_H

#include "Tool.h"

namespace tutti::tool {

/// A dense, row-major tensor in memory. Elements below a byte are packed, the first in the low bits.
struct Tensor {
  tutti_dtype_t dtype = TUTTI_NONE;
  std::vector<int64_t> dims;
  std::vector<char> data;

  int64_t size() const {
    int64_t n = 1;
    for (int64_t dim : dims)
      n *= dim;
    return n;
  }
  /// As it is bound to an input; it points into this tensor.
  tutti_tensor_t boundTo(const char *input) const {
    return {
        input, dtype, int32_t(dims.size()), dims.data(), nullptr, const_cast<char *>(data.data()), TUTTI_MEMORY_HOST};
  }
};

/// Reads `path`. Both byte orders and Fortran order are read. `expected` says what raw cells ('V1', 'V2': bfloat16,
/// float8 and 4-bit types as numpy.save writes ml_dtypes arrays, one byte a cell below 8 bits) are. Errors: usage when
/// the file cannot be read, malformed when its header or length is wrong.
Failure readNpy(const std::string &path, tutti_dtype_t expected, Tensor &tensor);

/// The same from the file's bytes; `name` is for messages.
Failure parseNpy(std::string_view file, const std::string &name, tutti_dtype_t expected, Tensor &tensor);

/// The header of a .npy file for these dims: what has to stand before the data.
std::string npyHeader(tutti_dtype_t dtype, std::span<const int64_t> dims);
/// The cells of a .npy file for packed data: `data` itself, or one byte for each element below a byte, kept in `cells`.
std::string_view npyCells(tutti_dtype_t dtype, std::span<const int64_t> dims, const void *data, std::string &cells);

} // namespace tutti::tool

#endif
