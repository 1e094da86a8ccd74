// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on tensor cores: one loop over a kernel's layers, and the ring that brings what they multiply.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_LAYERS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_LAYERS_H

#include "Ending.h"

namespace tutti {

/// Steps outside of the ring, before a layer.
struct Others {
  std::vector<std::string> steps; ///< each with what is waited for before it
  bool inScratch = true;          ///< all that they store
};

/// A layer's rows of the tile in an argument or a result.
std::string globalRows(KernelText &k, Contraction c);

/// All rows of a tile are in shared memory: one of these layers stores them so.
bool hasAllRows(llvm::ArrayRef<Ending> endings, mlir::Value rows);

/// What all contractions on tensor cores share: the layers in numbers, and the ring that brings their weights, and of
/// some `vectors`; or of slices what is in its place.
std::string emitRing(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                     llvm::ArrayRef<std::string> vectors);
/// What blocks of a cluster hand over, layer by layer.
std::string emitHandovers(KernelText &k, llvm::ArrayRef<Ending> endings);

/// All layers: one loop goes through them, their passes and stages. `others[i]` stand before layer i, and the last
/// behind all of them.
BlockText emitLayers(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                     std::vector<Others> others);

} // namespace tutti

#endif
