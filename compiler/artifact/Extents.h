// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes as the artifact has them: sums of products of a program's sizes, which the runtime evaluates at each call.
#ifndef TUTTI_COMPILER_ARTIFACT_EXTENTS_H
#define TUTTI_COMPILER_ARTIFACT_EXTENTS_H

#include "compiler/codegen/ProgramCode.h"
#include "dialects/tutti/Sizes.h"

#include "runtime/schema/artifact_generated.h"

namespace tutti {

/// Makes extents of a program's sizes, which are counted in its order.
class Extents {
public:
  explicit Extents(plan::ProgramOp program) : program(program), symbols(program.sizeOrder()) {}

  llvm::ArrayRef<std::string> order() const { return symbols; }
  unsigned indexOf(llvm::StringRef symbol) const { return llvm::find(symbols, symbol) - symbols.begin(); }

  std::unique_ptr<fb::ExtentT> of(const Size &size) const;
  void add(fb::ExtentT &extent, const Size &size) const;
  /// The number of tiles for so many rows, which are a number times symbols. It may exceed the need; a block without
  /// rows ends at once.
  std::unique_ptr<fb::ExtentT> tiles(const Size &rows, int64_t tile) const;

  /// The launch parameters of a way on a CUDA device.
  struct Grid {
    std::vector<std::unique_ptr<fb::ExtentT>> blocks; ///< x, y, z
    std::vector<uint32_t> block, cluster;             ///< threads, and blocks
    std::unique_ptr<fb::ExtentT> shared;              ///< dynamic bytes
  };
  Grid gridOf(llvm::ArrayRef<plan::LaunchOp> parts, const CudaLaunch &how) const;

private:
  void multiply(fb::ExtentT &extent, llvm::StringRef symbol) const;

  plan::ProgramOp program;
  std::vector<std::string> symbols;
};

} // namespace tutti

#endif
