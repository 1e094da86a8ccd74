// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an artifact says of itself, as values of tutti/info.py.
#pragma once

#include "Module.h"

namespace tutti::python {

/// tutti.info.Program
nb::object describe(const tutti_program_t &program);

} // namespace tutti::python
