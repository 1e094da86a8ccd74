// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of Python as tensors of the runtime, and new arrays of NumPy.
#pragma once

#include "Module.h"

#include <nanobind/ndarray.h>

namespace tutti::python {

/// An array whose elements the runtime may use as long as this lives: of NumPy, or of any library that has DLPack or
/// the buffer protocol, in memory of the host or of a CUDA device.
class Array {
public:
  /// What it is for. Copied is an array of the host's whose elements are not dense, or of NumPy not aligned or
  /// big-endian.
  enum class For { reading, copying, writing };

  /// `what` is the array in messages ("input 'x'"). Strides are kept: what they may be, the runtime knows.
  static Array of(nb::handle object, const std::string &what, For use);
  /// A new array of NumPy's, in the host's memory; its elements are not set. `*object` is the array itself.
  static Array empty(tutti_dtype_t dtype, std::span<const int64_t> dims, const std::string &what, nb::object *object);

  std::span<const int64_t> dims() const { return {elements.shape_ptr(), elements.ndim()}; }
  /// Points into this.
  tutti_tensor_t tensor(const char *name) const;

private:
  bool import(nb::handle object, bool written);
  /// Leaves the elements out where they have to be copied.
  void importNumPy(nb::handle object, const std::string &what, For use);
  void makeDense(const std::string &what);
  bool isStrided() const;
  bool isAligned() const;

  nb::ndarray<nb::ro> elements;
  std::vector<int64_t> strides; ///< in bytes, where the elements are not dense
  tutti_dtype_t dtype = TUTTI_NONE;
  tutti_memory_t memory = TUTTI_MEMORY_HOST;
};

} // namespace tutti::python
