// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where NVRTC may lie.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_NVRTCSEARCH_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_NVRTCSEARCH_H

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tutti {

/// The files in these folders that are NVRTC by their names, the newest first.
std::vector<std::string> nvrtcInFolders(llvm::ArrayRef<std::string> folders);
/// The NVRTC files of $CUDA_HOME, $CUDA_PATH, the wheels in $VIRTUAL_ENV, and the toolkits below /usr/local, in this
/// order.
std::vector<std::string> nvrtcCandidates();
/// The NVRTC files of the wheels that python3 sees. This runs python3, which takes a moment.
std::vector<std::string> nvrtcInPython();

} // namespace tutti

#endif
