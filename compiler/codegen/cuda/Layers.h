// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions on tensor cores: one loop over a kernel's layers, and the ring that brings their operands.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_LAYERS_H
#define TUTTI_COMPILER_CODEGEN_CUDA_LAYERS_H

#include "Ending.h"

namespace tutti {

/// The steps between two layers of the ring; they are no such layers themselves.
struct Others {
  std::vector<std::string> steps; ///< the text of each, beginning with what it waits for
  bool inScratch = true;          ///< whether they store to shared memory only
};

/// The kind of memory that holds a layer's rows, as device/layer.cuh names it, in the order in which text lists
/// several.
enum class Lefts { floats, halves, inGlobal, ofInput };
llvm::StringRef textOf(Lefts kind);
Lefts kindOfRows(KernelText &k, Contraction c);

/// The view of a layer's rows of the tile, in an argument or a result.
std::string globalRows(KernelText &k, Contraction c);

/// Whether one of these endings stores `rows` to shared memory for the whole tile, including rows behind the call's
/// last one.
bool hasAllRows(llvm::ArrayRef<Ending> endings, mlir::Value rows);

/// The text that all layers share: a function from a layer's number to its sizes and weight, and the ring that brings
/// weights and `vectors` to shared memory. If slices multiply, the exchange of their sums takes the ring's place.
std::string emitRing(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                     llvm::ArrayRef<std::string> vectors);
/// The bytes that blocks of a cluster hand over after each layer, and the barriers for them.
std::string emitHandovers(KernelText &k, llvm::ArrayRef<Ending> endings);

/// The loop over all layers, their passes and stages. `others[i]` run before layer i, the last of them behind all
/// layers.
BlockText emitLayers(KernelText &k, llvm::ArrayRef<Contraction> layers, llvm::ArrayRef<Ending> endings,
                     std::vector<Others> others);

} // namespace tutti

#endif
