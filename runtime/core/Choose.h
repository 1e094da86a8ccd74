// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which program of an artifact runs, and on what device.
#pragma once

#include "Engine.h"

namespace tutti::rt {

/// tutti_artifact_choose_program.
tutti_status_t chooseProgram(Artifact &artifact, const tutti_tensor_t *inputs, size_t numInputs,
                             tutti_session_options_t &options, tutti_error_t *error);

/// Whether no dim of the inputs is outside of the program's. A name that it has not, or another rank, is for binding to
/// refuse.
bool takes(const tutti_program_t &program, const tutti_tensor_t *inputs, size_t numInputs);

/// Whether two programs have one entry, and so the same inputs and outputs but for their dims.
inline bool haveOneEntry(const tutti_program_t &a, const tutti_program_t &b) {
  return std::strcmp(a.entry, b.entry) == 0;
}

const char *nameOf(const tutti_device_t &device);
/// Whether the program was compiled for the device that options name, which may be TUTTI_DEVICE_DEFAULT.
bool isFor(const tutti_program_t &program, tutti_device_t device);
/// Whether the options can be meant, and name a program that there is; and the device that they ask for, which may be
/// TUTTI_DEVICE_DEFAULT.
tutti_status_t checkAsked(const tutti_info_t &info, const tutti_session_options_t &options, tutti_device_t &asked,
                          tutti_error_t *error);
/// The error that none of the programs from `first` on is for the device.
tutti_status_t noProgram(const tutti_info_t &info, uint32_t first, tutti_device_t device, tutti_error_t *error);

} // namespace tutti::rt
