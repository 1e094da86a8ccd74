// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an artifact says of itself, as values of tutti/info.py.
#pragma once

#include "Module.h"

namespace tutti::python {

const char *kindOf(tutti_device_t device);
/// The device of this name; fails where there is none.
tutti_device_t deviceOf(nb::handle name);
/// tutti.info.Program
nb::object describe(const tutti_program_t &program);

} // namespace tutti::python
