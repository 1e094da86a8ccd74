// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Says what is in an artifact.
#include "../common/Programs.h"
#include "Description.h"

#include <CLI/CLI.hpp>

using namespace tutti;
using namespace tutti::tool;

namespace {

struct Arguments {
  std::string artifact;
  bool json = false, verify = false;
};

Failure inspect(const Arguments &arguments) {
  Artifact artifact;
  if (auto failure = openArtifact(arguments.artifact, artifact))
    return failure;
  if (arguments.verify)
    if (auto error = artifact.verifyWeights())
      return {error.status(), shown(arguments.artifact) + ": " + error.message()};
  Json all = describe(artifact);
  if (arguments.verify)
    all["verified"] = true;
  if (arguments.json) {
    std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return {};
  }
  print(artifact, all);
  if (arguments.verify)
    std::printf("verified   all digests are right\n");
  return {};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Says what is in an artifact: members, inputs, outputs, programs, kernels, weights and what is shared.",
               "tutti-inspect");
  app.footer("Example:\n  tutti-inspect digits.tutti --verify");
  Arguments a;
  app.add_option("FILE", a.artifact, "the artifact")->required();
  app.add_flag("--json", a.json, "as JSON");
  app.add_flag("--verify", a.verify, "also read all weights and compare their digests");
  return toolMain(app, argc, argv, [&] { return inspect(a); });
}
