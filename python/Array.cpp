// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arrays of Python as tensors of the runtime, and new arrays of NumPy.
#include "Array.h"

#include <bit>

namespace tutti::python {

/// The type of this name, which is NumPy's or that of ml_dtypes.
static tutti_dtype_t dtypeNamed(const std::string &name) {
  for (int dtype = TUTTI_BOOL; dtype <= TUTTI_COMPLEX128; ++dtype)
    if (name == tutti_dtype_name(tutti_dtype_t(dtype)))
      return tutti_dtype_t(dtype);
  return TUTTI_NONE;
}

/// DLPack's type as one of ours; none for what no artifact has.
static tutti_dtype_t dtypeOf(nb::dlpack::dtype type) {
  using enum nb::dlpack::dtype_code;
  // By the bytes of an element: 1, 2, 4, 8, 16.
  constexpr tutti_dtype_t ints[] = {TUTTI_I8, TUTTI_I16, TUTTI_I32, TUTTI_I64, TUTTI_NONE};
  constexpr tutti_dtype_t uints[] = {TUTTI_U8, TUTTI_U16, TUTTI_U32, TUTTI_U64, TUTTI_NONE};
  constexpr tutti_dtype_t floats[] = {TUTTI_NONE, TUTTI_F16, TUTTI_F32, TUTTI_F64, TUTTI_NONE};
  constexpr tutti_dtype_t complexes[] = {TUTTI_NONE, TUTTI_NONE, TUTTI_NONE, TUTTI_COMPLEX64, TUTTI_COMPLEX128};
  const int size = std::countr_zero(type.bits / 8u);
  if (type.lanes != 1 || type.bits % 8 || !std::has_single_bit(type.bits / 8u) || size > 4)
    return TUTTI_NONE;
  switch (nb::dlpack::dtype_code(type.code)) {
  case Int:
    return ints[size];
  case UInt:
    return uints[size];
  case Float:
    return floats[size];
  case Complex:
    return complexes[size];
  case Bfloat:
    return size == 1 ? TUTTI_BF16 : TUTTI_NONE;
  case Bool:
    return size == 0 ? TUTTI_BOOL : TUTTI_NONE;
  case Float8_E4M3FN:
    return TUTTI_F8E4M3FN;
  case Float8_E4M3FNUZ:
    return TUTTI_F8E4M3FNUZ;
  case Float8_E5M2:
    return TUTTI_F8E5M2;
  case Float8_E5M2FNUZ:
    return TUTTI_F8E5M2FNUZ;
  case Float8_E8M0FNU:
    return TUTTI_F8E8M0;
  default:
    return TUTTI_NONE;
  }
}

/// NumPy's ndarray, and numpy.empty. Looked up once, and kept as long as the process lives.
static nb::handle numpy(const char *name, nb::handle &kept) {
  if (!kept)
    kept = nb::object(nb::module_::import_("numpy").attr(name)).release();
  return kept;
}
static nb::handle ndarrayType, numpyEmpty;

bool isNumPy(nb::handle object) { return nb::isinstance(object, numpy("ndarray", ndarrayType)); }

bool Array::import(nb::handle object, bool written) {
  if (!written)
    return nb::try_cast(object, elements, false);
  nb::ndarray<> writable;
  if (!nb::try_cast(object, writable, false))
    return false;
  elements = nb::ndarray<nb::ro>(writable);
  return true;
}

Array Array::of(nb::handle object, const std::string &what, bool written) {
  Array array;
  if (array.import(object, written)) {
    array.dtype = dtypeOf(array.elements.dtype());
    if (auto type = array.elements.dtype(); array.dtype == TUTTI_NONE)
      fail(TUTTI_DTYPE_MISMATCH, what + " has elements of DLPack's type " + std::to_string(type.code) + " of " +
                                     std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                     " lanes, which no artifact has");
  } else {
    if (written && array.import(object, false))
      fail(TUTTI_INVALID_ARGUMENT, what + " is read-only");
    // NumPy hands elements of ml_dtypes to nobody, but as integers of their size.
    std::string type = nb::type_name(object.type()).c_str();
    if (isNumPy(object)) {
      const auto name = nb::cast<std::string>(object.attr("dtype").attr("name"));
      array.dtype = dtypeNamed(name);
      type += " of " + name;
    }
    const uint32_t bits = tutti_dtype_bits(array.dtype);
    if ((bits != 8 && bits != 16) || !array.import(object.attr("view")(bits == 8 ? "uint8" : "uint16"), written))
      fail(TUTTI_INVALID_ARGUMENT,
           what + " is of type " + type + ", expected an array: of NumPy, or with DLPack (PyTorch, JAX, CuPy ...)");
  }
  switch (array.elements.device_type()) {
  case nb::device::cpu::value:
  case nb::device::cuda_host::value:
    break;
  case nb::device::cuda::value:
  case nb::device::cuda_managed::value:
    array.memory = TUTTI_MEMORY_DEVICE;
    break;
  default:
    fail(TUTTI_UNSUPPORTED, what + " is on a device of DLPack's type " + std::to_string(array.elements.device_type()) +
                                "; expected the CPU or CUDA");
  }

  int64_t step = 1;
  for (size_t d = array.elements.ndim(); d-- > 0;) {
    array.strided |= array.elements.shape(d) != 1 && array.elements.stride(d) != step;
    step *= int64_t(array.elements.shape(d));
  }
  if (array.strided)
    for (size_t d = 0; d < array.elements.ndim(); ++d)
      array.strides.push_back(array.elements.stride(d) * int64_t(array.elements.itemsize()));
  return array;
}

Array Array::empty(tutti_dtype_t dtype, std::span<const int64_t> dims, const std::string &what, nb::object *object) {
  const char *name = tutti_dtype_name(dtype);
  nb::object type = nb::str(name);
  if (dtype == TUTTI_BF16 || (tutti_dtype_bits(dtype) == 8 && dtype > TUTTI_U64)) {
    try {
      type = nb::module_::import_("ml_dtypes").attr(name);
    } catch (nb::python_error &) {
      fail(TUTTI_UNSUPPORTED, what + " has elements of " + name +
                                  ", for which NumPy needs the package ml_dtypes; or give the array yourself (out=)");
    }
  } else if (tutti_dtype_bits(dtype) < 8) {
    fail(TUTTI_UNSUPPORTED, what + " has elements of " + name + ", below a byte");
  }
  nb::list shape;
  for (int64_t dim : dims)
    shape.append(dim);
  *object = numpy("empty", numpyEmpty)(nb::tuple(shape), type);
  return of(*object, what, true);
}

tutti_tensor_t Array::tensor(const char *name) const {
  return {name,
          dtype,
          int32_t(elements.ndim()),
          elements.shape_ptr(),
          strided ? strides.data() : nullptr,
          const_cast<void *>(elements.data()),
          memory};
}

} // namespace tutti::python
