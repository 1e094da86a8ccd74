// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What callers and artifacts say in Python: devices, sets, dicts; and values of tutti/info.py.
#pragma once

#include "Module.h"

namespace tutti::python {

const char *kindOf(tutti_device_t device);
/// Sets the device of this name, "cuda:1", and which; fails where there is none.
void chooseDevice(tutti_session_options_t &options, nb::handle name);
/// The members of a set, a sequence of numbers.
std::vector<uint32_t> membersOf(nb::handle members);
/// A dict, or what can be one; it is a copy, so that its arrays live while they are looked at.
nb::dict dictOf(nb::handle arrays, const char *what);
/// tutti.info.Program
nb::object describe(const tutti_program_t &program);

} // namespace tutti::python
