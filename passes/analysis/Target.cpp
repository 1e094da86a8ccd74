// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traits of CPUs and of CUDA devices.
#include "Target.h"
#include "dialects/tutti/Module.h"

using namespace mlir;

namespace tutti {

static constexpr TargetTraits cpu{
    .hasTensorCores = false,
    .hasPanelsOfBytes = true,
    .tilesFloat64 = true,
    .mostLayers = SIZE_MAX,
    .mostPhases = SIZE_MAX,
    .mostBuffersOfMaps = INT64_MAX,
    .readsInPlace = true,
    .storesWhatIsGathered = true,
    .storesWhatRowsRepeat = true,
    .storesBeforeFunctions = true,
    .packsNarrowRows = true,
    .conflictingStride = 256,
    .hasWorkMemory = true,
    .leastBroughtTogether = 0,
    .readsByRuns = true,
    .repeatsForLaunches = false,
    .launchWords = INT64_MAX,
    .schedulesTasks = true,
    .scratchBytes = rt::kMaxScratch,
};

static constexpr TargetTraits cuda{
    .hasTensorCores = true,
    .hasPanelsOfBytes = false,
    .tilesFloat64 = false,
    .mostLayers = mostCudaLayers,
    .mostPhases = 16,
    .mostBuffersOfMaps = 128,
    .readsInPlace = false,
    .storesWhatIsGathered = false,
    .storesWhatRowsRepeat = false,
    .storesBeforeFunctions = false,
    .packsNarrowRows = false,
    .conflictingStride = 32,
    .hasWorkMemory = false,
    .leastBroughtTogether = 4096,
    .readsByRuns = false,
    .repeatsForLaunches = true,
    .launchWords = mostLaunchWords,
    .schedulesTasks = false,
    .scratchBytes = INT64_MAX,
};

const TargetTraits &TargetTraits::of(ModuleOp module) { return getTarget(module) == Target::cuda ? cuda : cpu; }

int64_t mostBuffers(ModuleOp module) {
  int64_t words = TargetTraits::of(module).launchWords - 2 - int64_t(getSizeRanges(module).size()) -
                  int64_t(getGroups(module).size());
  return std::min(words, int64_t(rt::kMaxArgs));
}

} // namespace tutti
