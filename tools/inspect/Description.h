// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is in an artifact, as JSON and as text.
#ifndef TUTTI_TOOLS_INSPECT_DESCRIPTION_H
#define TUTTI_TOOLS_INSPECT_DESCRIPTION_H

#include "../common/Tool.h"

#include <nlohmann/json.hpp>

namespace tutti::tool {

/// In the order in which it is printed.
using Json = nlohmann::ordered_json;

/// The fields are those of docs/artifact.md, sizes at their largest.
Json describe(const Artifact &artifact);

/// The same for people, to standard output; `all` is the artifact's description.
void print(const Artifact &artifact, const Json &all);

} // namespace tutti::tool

#endif
