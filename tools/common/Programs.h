// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An artifact's programs, sessions and inputs, by what a tool's arguments say.
#ifndef TUTTI_TOOLS_COMMON_PROGRAMS_H
#define TUTTI_TOOLS_COMMON_PROGRAMS_H

#include "Tool.h"

namespace tutti::tool {

Failure openArtifact(const std::string &path, Artifact &artifact);
/// A session on the first device that can run the artifact, and whichever program that is: options.program says. Of
/// programs for several sizes it is one that takes the inputs.
Failure createSession(const Artifact &artifact, tutti_session_options_t &options, Session &session,
                      std::span<const tutti_tensor_t> inputs = {});

/// Binds an input. `from`: where its numbers come from, which the message of a failure begins with.
Failure bindInput(Session &session, const tutti_tensor_t &tensor, const std::string &from = "");

/// Sizes by name.
using Binding = std::vector<std::pair<std::string, int64_t>>;
/// Options for programs of the device that `options` names or leaves open: for each list of dimensions that can have
/// these values the first one. Where there are several lists, values that none of them has are an error that says what
/// there is; a single one is chosen whatever the values, as its sizes are for whoever binds them to check.
Failure choosePrograms(const Artifact &artifact, const Binding &binding, const tutti_session_options_t &options,
                       std::vector<tutti_session_options_t> &chosen);
/// "h=12, batch=1..64": a program's dimensions.
std::string dimensionsText(const tutti_program_t &program);

/// Which file each input comes from, by arguments NAME=FILE.npy; NAME may be the input's name as fileNameOf spells it.
/// Empty for an input that none names.
Failure matchInputs(const std::vector<std::string> &arguments, std::span<const tutti_port_t> ports,
                    std::vector<std::string> &files);

/// "[batch, 784]".
std::string dimsText(const tutti_port_t &port);

} // namespace tutti::tool

#endif
