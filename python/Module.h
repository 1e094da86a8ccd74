// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the module's files have in common: text and errors between the runtime and Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <tutti/tutti.hpp>

namespace tutti::python {

namespace nb = nanobind;

/// Raises the exception of tutti/errors.py that the status has; `cause` is another exception, or none;
/// `file`, the path of what it is about, if that is a file.
[[noreturn]] void fail(tutti_status_t status, const std::string &message, nb::object cause = {},
                       nb::object file = nb::none());

inline void check(const Error &error) {
  if (error)
    fail(error.status(), error.message());
}

template <typename T> T check(Result<T> result) {
  check(result.error());
  return std::move(*result);
}

/// Names out of model files are bytes, mostly UTF-8: what is not becomes a surrogate, as Python does it with file
/// names.
nb::object textOf(const char *name);
/// The way back, of text without a NUL.
std::string bytesOf(nb::handle name);

void bindArtifact(nb::module_ &module);
void bindSession(nb::module_ &module);

} // namespace tutti::python
