// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The synchronization between a kernel's steps: a step waits until its operands are there, and until nobody still reads
// the memory that it overwrites.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_WAITS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_WAITS_H

#include "Layers.h"

namespace tutti {

/// The threads that meet at a barrier: the warps with the same rows of a tile, all threads of a block, or the blocks of
/// a cluster.
enum class Meet { nobody, rows, block, cluster };
/// The barrier call as a line; empty for `nobody`.
llvm::StringRef textOf(Meet meet);

/// The barrier behind steps that are no layers of the ring.
Meet meetBehind(llvm::ArrayRef<Step> steps, const Steps &all, const CudaGeometry &geometry);

/// The lines that wait behind a layer of the ring, before the steps `next` that follow it up to the next such layer.
/// `handsOver`: whether the layer hands over its values to the blocks of its cluster.
std::string waitBehindLayer(const Step &layer, bool handsOver, llvm::ArrayRef<Step> next, const Steps &all,
                            const CudaGeometry &geometry);

/// The lines with which the loop over the layers of the ring waits.
struct LoopWaits {
  struct Layer {
    std::string begin;   ///< before the products of a pass
    std::string late;    ///< behind the products, before any value made of them is stored
    std::string handing; ///< there, too, if values are stored to other blocks' memory
    std::string behind;  ///< behind all passes and the steps that follow; empty for the last layer
  };
  std::string before; ///< the loop
  std::vector<Layer> layers;
  std::string behind; ///< behind the loop, before the next member's
};
/// `others[i]` run before layer i; the last entry runs behind all layers.
LoopWaits waitsOf(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                  llvm::ArrayRef<Others> others);

} // namespace tutti

#endif
