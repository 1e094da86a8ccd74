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

/// What NumPy has, looked up once, and kept as long as the process lives.
static nb::handle numpy(const char *name, nb::handle &kept) {
  if (!kept)
    kept = nb::object(nb::module_::import_("numpy").attr(name)).release();
  return kept;
}
static nb::handle ndarrayType, numpyEmpty, numpyRequire, numpyDense;

static bool isNumPy(nb::handle object) { return nb::isinstance(object, numpy("ndarray", ndarrayType)); }

static std::string typeName(nb::handle object) { return nb::type_name(object.type()).c_str(); }

bool Array::import(nb::handle object, bool written) {
  if (!written)
    return nb::try_cast(object, elements, false);
  nb::ndarray<> writable;
  if (!nb::try_cast(object, writable, false))
    return false;
  elements = nb::ndarray<nb::ro>(writable);
  return true;
}

/// What the object's library hands over, with its reasons where it does not. (nanobind would ask, too, and go on to
/// other ways when it is told no, or when somebody presses ^C.)
static nb::object exported(nb::handle object, const std::string &what) {
  try {
    nb::object ask = object.attr("__dlpack__");
    try {
      nb::dict versioned;
      versioned["max_version"] = nb::make_tuple(nb::dlpack::major_version, nb::dlpack::minor_version);
      return ask(**versioned);
    } catch (nb::python_error &error) { // of a library older than that
      if (!error.matches(PyExc_TypeError))
        throw;
    }
    return ask();
  } catch (nb::python_error &error) {
    if (!error.matches(PyExc_Exception))
      throw;
    fail(TUTTI_INVALID_ARGUMENT,
         what + " is of type " + typeName(object) +
             ", which does not hand it over: " + nb::cast<std::string>(nb::str(error.value())),
         nb::borrow(error.value()));
  }
}

void Array::importNumPy(nb::handle object, const std::string &what, For use) {
  if (!object.type().is(numpy("ndarray", ndarrayType)) &&
      nb::isinstance(object, nb::module_::import_("numpy").attr("ma").attr("MaskedArray")))
    fail(TUTTI_INVALID_ARGUMENT, what + " is a masked array, expected one without a mask");
  if (import(object, use == For::writing)) {
    dtype = dtypeOf(elements.dtype());
    return;
  }
  // Elements of ml_dtypes NumPy hands to nobody, but as integers of their size; of another byte order none.
  nb::object type = object.attr("dtype");
  const auto name = nb::cast<std::string>(nb::str(type));
  dtype = dtypeNamed(nb::cast<std::string>(type.attr("name")));
  if (dtype != TUTTI_NONE && !nb::cast<bool>(type.attr("isnative"))) {
    if (use == For::copying)
      return importNumPy(object.attr("astype")(type.attr("newbyteorder")("="), nb::arg("order") = "C"), what,
                         For::reading);
    const std::string native = tutti_dtype_name(dtype);
    fail(TUTTI_DTYPE_MISMATCH, what + " has big-endian elements, " + name + ", expected " + native + ": give " +
                                   (use == For::reading ? "array.astype('" + native + "')" : "another array"));
  }
  const uint32_t bits = tutti_dtype_bits(dtype);
  if (dtype == TUTTI_NONE || bits < 8)
    fail(TUTTI_DTYPE_MISMATCH, what + " has elements of " + name + ", which no artifact has");
  nb::object cells =
      dtype > TUTTI_U64 && bits <= 16 ? object.attr("view")(bits == 8 ? "uint8" : "uint16") : nb::borrow(object);
  if (import(cells, use == For::writing))
    return;
  if (use == For::writing && import(cells, false))
    fail(TUTTI_INVALID_ARGUMENT, what + " is read-only");
  // What lies at no multiple of an element's size, as a field of packed records.
  if (use != For::copying)
    fail(TUTTI_INVALID_ARGUMENT, what + " has elements of " + name + " that are not aligned");
}

/// Of other libraries what lies in the host's memory with strides, dense, in an array of NumPy's. NumPy knows not all
/// types: cells of their size are as good.
void Array::makeDense(const std::string &what) {
  const nb::dlpack::dtype own = elements.dtype(), cells{uint8_t(own.bits == 128 ? nb::dlpack::dtype_code::Complex
                                                                                : nb::dlpack::dtype_code::UInt),
                                                        own.bits, 1};
  std::vector<size_t> shape(elements.shape_ptr(), elements.shape_ptr() + elements.ndim());
  nb::ndarray<nb::numpy, nb::ro> view(elements.data(), shape.size(), shape.data(), nb::none(), elements.stride_ptr(),
                                      cells, nb::device::cpu::value);
  const tutti_dtype_t kept = dtype;
  importNumPy(numpy("ascontiguousarray", numpyDense)(view.cast()), what, For::reading);
  dtype = kept;
}

Array Array::of(nb::handle object, const std::string &what, For use) {
  Array array;
  if (isNumPy(object)) {
    array.importNumPy(object, what, use);
    if (use == For::copying && (!array.elements.is_valid() || array.isStrided() || !array.isAligned()))
      array.importNumPy(numpy("require", numpyRequire)(object, nb::none(), "CA"), what, For::reading);
  } else {
    nb::object source = nb::borrow(object);
    if (nb::hasattr(object, "__dlpack__")) {
      // Arrays of JAX never change, and nothing that it hands over says so.
      if (use == For::writing && nb::cast<std::string>(nb::str(object.type().attr("__module__"))).starts_with("jax"))
        fail(TUTTI_INVALID_ARGUMENT, what + " is an array of JAX, which nobody may write");
      source = exported(object, what);
    } else if (PyObject_CheckBuffer(object.ptr())) {
      source = nb::steal(PyMemoryView_FromObject(object.ptr()));
    }
    if (!source.is_valid() || !array.import(source, use == For::writing)) {
      PyErr_Clear();
      fail(TUTTI_INVALID_ARGUMENT,
           what + " is of type " + typeName(object) +
               (use == For::writing ? ", expected an array that may be written" : ", expected an array") +
               ": of NumPy, or with DLPack (PyTorch, JAX, CuPy ...)");
    }
    array.dtype = dtypeOf(array.elements.dtype());
  }
  if (auto type = array.elements.dtype(); array.dtype == TUTTI_NONE)
    fail(TUTTI_DTYPE_MISMATCH, what + " has elements of DLPack's type " + std::to_string(type.code) + " of " +
                                   std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                                   " lanes, which no artifact has");
  // Some libraries give no address of nothing.
  if (!array.elements.data() && array.elements.size() > 0)
    fail(TUTTI_INVALID_ARGUMENT, what + " has no data");
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

  if (use == For::copying && array.memory == TUTTI_MEMORY_HOST && array.isStrided())
    array.makeDense(what);
  if (array.isStrided())
    for (size_t d = 0; d < array.elements.ndim(); ++d)
      array.strides.push_back(array.elements.stride(d) * int64_t(array.elements.itemsize()));
  return array;
}

bool Array::isStrided() const {
  int64_t step = 1;
  for (size_t d = elements.ndim(); d-- > 0; step *= int64_t(elements.shape(d)))
    if (elements.shape(d) != 1 && elements.stride(d) != step)
      return true;
  return false;
}

bool Array::isAligned() const {
  return reinterpret_cast<uintptr_t>(elements.data()) % std::max<size_t>(elements.itemsize(), 1) == 0;
}

Array Array::empty(tutti_dtype_t dtype, std::span<const int64_t> dims, const std::string &what, nb::object *object) {
  const char *name = tutti_dtype_name(dtype);
  nb::object type = nb::str(name);
  if (dtype == TUTTI_BF16 || (tutti_dtype_bits(dtype) == 8 && dtype > TUTTI_U64)) {
    try {
      type = nb::module_::import_("ml_dtypes").attr(name);
    } catch (nb::python_error &error) {
      if (!error.matches(PyExc_ImportError))
        throw;
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
  return of(*object, what, For::writing);
}

tutti_tensor_t Array::tensor(const char *name) const {
  // Without an address an output would be given back to the session.
  alignas(16) static constexpr char nothing[16] = {};
  return {name,
          dtype,
          int32_t(elements.ndim()),
          elements.shape_ptr(),
          strides.empty() ? nullptr : strides.data(),
          elements.data() ? const_cast<void *>(elements.data()) : const_cast<char *>(nothing),
          memory};
}

} // namespace tutti::python
