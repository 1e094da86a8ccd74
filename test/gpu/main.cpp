// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpu-tests FOLDER [--device cuda|cuda:N|emulated] [--quick]: tests of the device on the artifacts in FOLDER.
#include "Ensemble.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string_view>

using namespace tutti::gpu;

static std::vector<Case> read(const nlohmann::json &manifest) {
  std::vector<Case> cases;
  for (const auto &set : manifest["sets"])
    for (const auto &entry : set["artifacts"]) {
      Case &made = cases.emplace_back();
      made.set = set["name"];
      made.precision = entry["precision"];
      made.file = entry["file"];
      made.cpu = set["cpu"];
      made.bits = entry["bits"];
      made.tolerance = entry["tolerance"];
      for (const auto &one : entry["alone"])
        made.alone.emplace_back(one["member"].get<uint32_t>(), one["file"].get<std::string>());
    }
  return cases;
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (argument == "--quick") {
      options.quick = true;
    } else if (argument == "--device" && i + 1 < argc) {
      argument = argv[++i];
      options.device = argument == "emulated" ? TUTTI_DEVICE_EMULATED : TUTTI_DEVICE_CUDA;
      options.ordinal = argument.starts_with("cuda:") ? uint32_t(std::atoi(argv[i] + 5)) : 0;
    } else {
      options.folder = argument;
    }
  }
  std::ifstream file(options.folder + "/manifest.json");
  nlohmann::json manifest = nlohmann::json::parse(file, nullptr, false);
  if (manifest.is_discarded()) {
    std::fprintf(stderr, "gpu-tests: '%s' holds no prepared artifacts; ./dev test --gpu --prepare makes them\n",
                 options.folder.c_str());
    return 2;
  }
  registerCases(read(manifest));
  driver();
  return RUN_ALL_TESTS();
}
