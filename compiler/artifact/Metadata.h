// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the artifact's FlatBuffer says: members, programs, kernels, slots.
#ifndef TUTTI_COMPILER_ARTIFACT_METADATA_H
#define TUTTI_COMPILER_ARTIFACT_METADATA_H

#include "Weights.h"
#include "Writer.h"

namespace tutti {

/// All of it but where segments lie and what their digests are: code first, in the order of the programs' images, then the weights.
class Metadata {
public:
  Metadata(const Ensemble &ensemble, llvm::ArrayRef<ProgramCode> programs, const WriteOptions &options);

  fb::RootT root;
  WeightLayout weights;

  std::string bytes() const;
};

std::vector<uint8_t> digestBytes(uint64_t digest);

} // namespace tutti

#endif
