// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shares one text among layers that do the same: the steps of a recurrent network, the blocks of a residual one.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_COMMON_H
#define TUTTI_COMPILER_CODEGEN_CUDA_COMMON_H

#include "Ending.h"

#include <memory>

namespace tutti {

/// The text of a layer, and the scope that it was made in; `t` in the text is the scope's struct.
struct ScopedText {
  std::shared_ptr<KernelText> scope;
  std::string text;
};

/// For each layer, the text that it shares with others, or an empty string. Layers share a text if they differ only in
/// numbers and places of memory, and if at least three texts become one that way. The shared text chooses by n, the
/// layer's number, and its struct is added to the kernel's. `sameAreOne`: equal layers without a scope share their
/// text, too.
std::vector<std::string> commonTexts(KernelText &k, llvm::ArrayRef<size_t> layers, llvm::ArrayRef<ScopedText> texts,
                                     bool sameAreOne);

} // namespace tutti

#endif
