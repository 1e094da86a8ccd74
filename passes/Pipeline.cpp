// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The single list of stages.
#include "Pipeline.h"
#include "Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tutti {

llvm::ArrayRef<std::pair<llvm::StringRef, Stage>> stages() {
  static constexpr std::pair<llvm::StringRef, Stage> list[] = {{"model", Stage::model},
                                                               {"batched", Stage::batched},
                                                               {"kernels", Stage::kernels},
                                                               {"planned", Stage::planned},
                                                               {"binary", Stage::binary}};
  return list;
}

void addPasses(OpPassManager &passes, Stage stage) {
  switch (stage) {
  case Stage::model:
  case Stage::binary:
    return;
  case Stage::batched:
    passes.addPass(createVmapPass());
    passes.addPass(createParallelPass()); // while the message can still name the model's own op
    return;
  case Stage::kernels:
    passes.addPass(createCSEPass());       // what two members' uses had apart may be one computation
    passes.addPass(createDecomposePass()); // few kinds of ops for fusion and emitters to know
    passes.addPass(createComposePass());   // before rows decide what is a kernel
    passes.addPass(createNumericsPass());  // while parameters are in sight, before anything knows of speed
    passes.addPass(createFusePass());
    passes.addPass(createSchedulePass()); // needs whole kernels
    return;
  case Stage::planned:
    passes.addPass(createPlanPass()); // needs every kernel's tile
    return;
  }
}

void registerStagePipelines() {
  for (auto [name, stage] : stages()) {
    OpPassManager any;
    addPasses(any, stage);
    if (any.empty())
      continue;
    PassPipelineRegistration<>(("tutti-to-" + name).str(),
                               ("what leads to the stage `" + name + "` from the one before").str(),
                               [stage](OpPassManager &passes) { addPasses(passes, stage); });
  }
}

} // namespace tutti
