// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traits of CPUs and of CUDA devices.
#include "Target.h"

using namespace mlir;

namespace tutti {

static constexpr TargetTraits cpu{
    .hasTensorCores = false,
    .tilesFloat64 = true,
    .storesWhatIsGathered = true,
    .storesWhatRowsRepeat = true,
    .conflictingStride = 256,
    .hasWorkMemory = true,
    .leastBroughtTogether = 0,
    .readsByRuns = true,
    .launchWords = INT64_MAX,
    .countsRows = false,
};

static constexpr TargetTraits cuda{
    .hasTensorCores = true,
    .tilesFloat64 = false,
    .storesWhatIsGathered = false,
    .storesWhatRowsRepeat = false,
    .conflictingStride = 32,
    .hasWorkMemory = false,
    .leastBroughtTogether = 4096,
    .readsByRuns = false,
    .launchWords = mostLaunchWords,
    .countsRows = true,
};

const TargetTraits &TargetTraits::of(ModuleOp module) { return targetOf(module) == "cuda" ? cuda : cpu; }

int64_t mostBuffers(ModuleOp module) {
  auto sizes = module->getAttrOfType<DictionaryAttr>("tutti.sizes");
  auto groups = module->getAttrOfType<ArrayAttr>("tutti.groups");
  return TargetTraits::of(module).launchWords - 2 - int64_t(sizes ? sizes.size() : 0) -
         int64_t(groups ? groups.size() : 0);
}

} // namespace tutti
