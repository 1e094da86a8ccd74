// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What layers of one loop have in common: the steps of a recurrent network, the blocks of a residual one.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_COMMON_H
#define TUTTI_COMPILER_CODEGEN_CUDA_COMMON_H

#include "Ending.h"

#include <memory>

namespace tutti {

/// What a layer does, in a scope of its own: `t` in the text is its struct.
struct ScopedText {
  std::shared_ptr<KernelText> scope;
  std::string text;
};

/// Of each of these layers the text that it has in common with others that differ from it in numbers and places of
/// memory alone, if these are three texts or more: it asks for n, the layer, and its struct is one of the kernel's.
/// Else it is empty. `sameAreOne`: without a scope, layers that differ in nothing have the same text.
std::vector<std::string> commonTexts(KernelText &k, llvm::ArrayRef<size_t> layers, llvm::ArrayRef<ScopedText> texts,
                                     bool sameAreOne);

} // namespace tutti

#endif
