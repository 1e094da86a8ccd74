// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who waits for whom between a kernel's steps: until what is read next is there, and until nobody reads what is stored
// over next.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_WAITS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_WAITS_H

#include "Layers.h"

namespace tutti {

/// Who meets at a barrier: the warps that have the same rows of a tile, all of a block, the blocks of a cluster.
enum class Meet { nobody, rows, block, cluster };
/// The call, as a line; empty where nobody meets.
llvm::StringRef textOf(Meet meet);

/// Behind steps that are no layers of the ring.
Meet meetBehind(llvm::ArrayRef<Step> steps, const Steps &all, const CudaGeometry &geometry);

/// Behind a layer of the ring that hands over what it makes, or does not, and before the steps that follow it up to the
/// next such layer: the lines.
std::string waitBehindLayer(const Step &layer, bool handsOver, llvm::ArrayRef<Step> next, const Steps &all,
                            const CudaGeometry &geometry);

/// The lines with which the loop over the layers of the ring waits.
struct LoopWaits {
  struct Layer {
    std::string begin;   ///< before a pass' products
    std::string late;    ///< behind them, before anything made of them is stored
    std::string handing; ///< there, too, where it is stored to the memory of others
    std::string behind;  ///< behind all passes and the steps that follow them; of the last one nothing
  };
  std::string before; ///< the loop
  std::vector<Layer> layers;
  std::string behind; ///< the loop, before the next member's
};
/// `others[i]` run before layer i, the last of them behind all layers.
LoopWaits waitsOf(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                  llvm::ArrayRef<Others> others);

} // namespace tutti

#endif
