// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The module tutti._tutti, and what failures of the runtime become.
#include "Module.h"

#include <cstring>

namespace tutti::python {

void fail(tutti_status_t status, const std::string &message, nb::object cause, nb::object file) {
  nb::object error = nb::module_::import_("tutti.errors").attr("of")(status, textOf(message.c_str()), file);
  if (cause.is_valid())
    PyException_SetCause(error.ptr(), cause.release().ptr());
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

nb::object textOf(const char *name) {
  PyObject *text = PyUnicode_DecodeUTF8(name, Py_ssize_t(std::strlen(name)), "surrogateescape");
  if (!text)
    throw nb::python_error();
  return nb::steal(text);
}

std::string bytesOf(nb::handle name) {
  if (!PyUnicode_Check(name.ptr()))
    fail(TUTTI_INVALID_ARGUMENT,
         std::string("a name is of type ") + nb::type_name(name.type()).c_str() + ", expected a string");
  PyObject *bytes = PyUnicode_AsEncodedString(name.ptr(), "utf-8", "surrogateescape");
  if (!bytes) {
    PyErr_Clear();
    fail(TUTTI_INVALID_ARGUMENT, "a name is no text: it has surrogates by themselves");
  }
  nb::bytes owner = nb::steal<nb::bytes>(bytes);
  std::string text(owner.c_str(), owner.size());
  if (text.find('\0') != std::string::npos)
    fail(TUTTI_INVALID_ARGUMENT, "a name has a NUL in it: '" + std::string(text.c_str()) + "'");
  return text;
}

static void bindStatus(nb::module_ &module) {
  nb::enum_<tutti_status_t>(module, "Status", nb::is_arithmetic(),
                            "What a call of the runtime came to (`tutti_status_t`); `status >> 8` is its class.")
      .value("OK", TUTTI_OK)
      .value("INVALID_ARGUMENT", TUTTI_INVALID_ARGUMENT)
      .value("NOT_FOUND", TUTTI_NOT_FOUND)
      .value("SHAPE_MISMATCH", TUTTI_SHAPE_MISMATCH)
      .value("DTYPE_MISMATCH", TUTTI_DTYPE_MISMATCH)
      .value("NOT_BOUND", TUTTI_NOT_BOUND)
      .value("SHARED_WEIGHT", TUTTI_SHARED_WEIGHT)
      .value("BUSY", TUTTI_BUSY)
      .value("FORKED", TUTTI_FORKED)
      .value("TRUNCATED", TUTTI_TRUNCATED)
      .value("DIGEST_MISMATCH", TUTTI_DIGEST_MISMATCH)
      .value("MALFORMED", TUTTI_MALFORMED)
      .value("NEWER_FORMAT", TUTTI_NEWER_FORMAT)
      .value("UNSUPPORTED", TUTTI_UNSUPPORTED)
      .value("NO_DEVICE", TUTTI_NO_DEVICE)
      .value("DRIVER_TOO_OLD", TUTTI_DRIVER_TOO_OLD)
      .value("DEVICE_LOST", TUTTI_DEVICE_LOST)
      .value("DRIVER_ERROR", TUTTI_DRIVER_ERROR)
      .value("OUT_OF_MEMORY", TUTTI_OUT_OF_MEMORY)
      .value("IO_ERROR", TUTTI_IO_ERROR)
      .value("INTERNAL", TUTTI_INTERNAL);
}

} // namespace tutti::python

NB_MODULE(_tutti, module) {
  using namespace tutti::python;
  // Objects that live as long as the interpreter are no leaks.
  nb::set_leak_warnings(false);
  bindStatus(module);
  bindArtifact(module);
  bindSession(module);
  const uint32_t version = tutti_version();
  module.attr("version") =
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  module.attr("format_version") = tutti_format_version();
}
