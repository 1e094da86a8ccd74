// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stages, and the passes that lead from one to the next.
#ifndef TUTTI_PASSES_PIPELINE_H
#define TUTTI_PASSES_PIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace tutti {

/// Named points of the pipeline, in order. docs/DESIGN.md, "The straight way", has the contract of each.
enum class Stage { model, batched, kernels, planned, binary };
llvm::ArrayRef<std::pair<llvm::StringRef, Stage>> stages();

/// The passes that lead to a stage from the one before it; none for `model`, which import makes, and `binary`, which
/// the emitters make.
void addPasses(mlir::OpPassManager &passes, Stage stage);
/// `--tutti-to-batched`, `-to-kernels` and `-to-planned` of tutti-opt: those passes, by the stage they lead to.
void registerStagePipelines();

} // namespace tutti

#endif
