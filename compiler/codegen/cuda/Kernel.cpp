// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's body to a translation unit.
//
// A block runs one task. `Task` holds the task's place and a view of every value that lies in memory; every other value
// is a member function of its own index, so the text reads like the body. The entry goes through the steps, a barrier
// between them.
#include "Text.h"
#include "compiler/Error.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

static std::string joined(const std::map<unsigned, std::string> &parts) {
  std::string all;
  for (const auto &[number, part] : parts)
    all += part;
  return all;
}

/// The skeletons of contractions on tensor cores, as this geometry has them.
static std::string skeletonsOf(const CudaGeometry &geometry, bool tensorCores) {
  std::string all;
  auto include = [&](bool needed, const char *name) {
    if (needed)
      all += formatv("#include \"tutti/{0}.cuh\"\n", name).str();
  };
  include(tensorCores, "tensor");
  include(tensorCores && geometry.warpRows, geometry.bulkCopies ? "bulk_ring" : "ring");
  include(geometry.cluster > 1, "share");
  return all;
}

llvm::Expected<std::string> emitCudaKernel(plan::KernelOp kernel, ArrayRef<std::string> sizes, StringRef name,
                                           const CudaGeometry &geometry) {
  KernelText text(kernel, sizes, geometry);
  std::string products = emitProducts(text);
  bool cluster = geometry.cluster > 1;
  std::string steps = emitSteps(text);
  steps += emitHeads(text);
  if (!text.broken.empty())
    return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted for cuda: " + text.broken);
  return formatv(R"(// {0}, a kernel of the family {1}.
#include "tutti/prelude.cuh"
#include "tutti/contract.cuh"
#include "tutti/choice.cuh"
#include "tutti/row.cuh"
#include "tutti/head.cuh"
#include "tutti/special.cuh"
{12}
using namespace tutti;

struct Params {{
  uint64_t args[{2}];
  int64_t sizes[{3}];
};

{13}{4}
struct Task {{
  const Params &p;
  int member, firstRow, rows;
{5}
  __device__ __forceinline__ Task(const Params &p, int member, int firstRow, int rows)
      : p(p), member(member), firstRow(firstRow), rows(rows){6} {{}

{7}};

extern "C" __global__ void __launch_bounds__({8}, {14}) {0}(const __grid_constant__ Params p) {{
  const int64_t totalRows = {9};
  const int tile = int(blockIdx.x{16});
  const int64_t firstRow = int64_t(tile) * {10};
  const int member = int(blockIdx.y + blockIdx.z * {15});
  if (firstRow >= totalRows || member >= {17})
    return;
  const int rows = int(totalRows - firstRow < {10} ? totalRows - firstRow : {10});
  const Task t(p, member, int(firstRow), rows);
{11}}
)",
                 name, kernel.getFamily(), text.argumentCount(), sizes.size(), joined(text.functions),
                 joined(text.members), joined(text.initializers), joined(text.methods), geometry.threads,
                 text.totalRows(), geometry.rows, steps, skeletonsOf(geometry, !products.empty()),
                 products.empty() ? products : products + "\n", geometry.residentBlocks, membersInPlane,
                 cluster ? " / " + std::to_string(geometry.cluster) : "", text.membersText())
      .str();
}

} // namespace tutti
