// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What callers give beside arrays: devices, sets of members, dicts.
#pragma once

#include "Module.h"

namespace tutti::python {

/// Sets the device of this name, "cuda:1", and which; fails where there is none.
void chooseDevice(tutti_session_options_t &options, nb::handle name);
/// The members of a set, a sequence of numbers.
std::vector<uint32_t> membersOf(nb::handle members);
/// A dict, or what can be one; it is a copy, so that its values live while they are looked at. In messages it is
/// `what`, and has `values` for names.
nb::dict dictOf(nb::handle given, const char *what, const char *values = "arrays");

} // namespace tutti::python
