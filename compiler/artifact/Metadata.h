// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The content of the artifact's FlatBuffer: members, programs, kernels, slots.
#ifndef TUTTI_COMPILER_ARTIFACT_METADATA_H
#define TUTTI_COMPILER_ARTIFACT_METADATA_H

#include "WeightLayout.h"
#include "Writer.h"

namespace tutti {

/// All metadata except the places and digests of the segments, which are those of `code`, then the weights.
class Metadata {
public:
  Metadata(llvm::ArrayRef<ProgramCode> programs, const WriteOptions &options);

  fb::RootT root;
  WeightLayout weights;
  std::vector<std::shared_ptr<const std::string>> code; ///< the programs' images, each once

  std::string bytes() const;
};

std::vector<uint8_t> digestBytes(uint64_t digest);

} // namespace tutti

#endif
