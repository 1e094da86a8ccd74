// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts whose kernels touch every byte that the metadata gives them: what is hostile in the metadata then shows,
// under a sanitizer or as a fault, and nothing else does.
#pragma once

#include "ArtifactBuilder.h"
#include "tutti/tutti.h"

#include <string_view>

namespace tutti::rt::test {

/// An artifact from its head, the header and the metadata: as long as the header says (at most 1 MiB), with weights of
/// zeros and, if no other `code` is given, code that leads to the probe wherever it is entered.
File expand(std::string_view head, std::string_view code = {});

/// Code that the runtime takes for a CUDA module: an empty one. The fake driver calls the probe, whatever there is.
std::string emptyModule();

/// The head of an artifact.
inline std::string_view headOf(const File &file) {
  const FileHeader &header = const_cast<File &>(file).header();
  return {file.data(), size_t(header.metadataOffset + header.metadataBytes)};
}

inline std::string_view codeOf(const File &file) {
  const FileHeader &header = const_cast<File &>(file).header();
  return {file.data() + header.codeOffset, size_t(header.codeBytes)};
}

/// What became of an artifact.
struct Outcome {
  tutti_status_t opened = TUTTI_OK; ///< and if that is good:
  int sessions = 0, runs = 0;       ///< that came about
  int launches = 0;                 ///< that the probe has seen
  int strips = 0;                   ///< calls that can run in strips, whose addresses were checked
  int elsewhere = 0;                ///< programs for other devices
};

/// Does everything with a file that the C interface offers, but runs it on CPUs only and only where no launch leads
/// past the probe: reads all that it says of itself, replaces weights, and for every program chooses it by its inputs,
/// makes a session, and runs it for several active sets and sizes, with outputs of the session's and of the caller's.
/// Aborts, and says why, where a status is none of those that a file can be the cause of, or kernels get what they
/// should not.
Outcome exercise(const File &file, tutti_device_t device = TUTTI_DEVICE_CPU);

/// For the fake driver: what it calls in place of a kernel, with the launch's parameters.
void probeOnDevice(const void *parameters);

} // namespace tutti::rt::test
