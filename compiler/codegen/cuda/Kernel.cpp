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

namespace {

/// A kernel's code: what stands before its entry, and what a task does.
struct Body {
  std::string skeletons, before, steps, totalRows;
  unsigned arguments;
};

} // namespace

/// With `isPart`, the launch's rows and members are `p.rows` and `p.members`.
static llvm::Expected<Body> bodyOf(plan::KernelOp kernel, ArrayRef<std::string> sizes, const CudaGeometry &geometry,
                                   bool isPart) {
  KernelText text(kernel, sizes, geometry, isPart);
  std::string products = emitProducts(text);
  std::string steps = emitSteps(text);
  steps += emitHeads(text);
  if (!text.broken.empty())
    return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted for cuda: " + text.broken);
  std::string before = formatv(R"({0}{1}
struct Task {{
  const Params &p;
  int member, firstRow, rows;
{2}
  __device__ __forceinline__ Task(const Params &p, int member, int firstRow, int rows)
      : p(p), member(member), firstRow(firstRow), rows(rows){3} {{}

{4}};
)",
                               products.empty() ? products : products + "\n", joined(text.functions),
                               joined(text.members), joined(text.initializers), joined(text.methods));
  KernelText whole(kernel, sizes, geometry, /*isPart=*/false);
  return Body{skeletonsOf(geometry, !products.empty()), before, steps, whole.totalRows(), text.argumentCount()};
}

static constexpr const char *headers = R"(#include "tutti/prelude.cuh"
#include "tutti/contract.cuh"
#include "tutti/choice.cuh"
#include "tutti/row.cuh"
#include "tutti/head.cuh"
#include "tutti/special.cuh"
#include "tutti/tile.cuh"
)";

/// Of a block that has its tile and member: the rest of its way.
static std::string wayOf(const Body &body, const CudaGeometry &geometry) {
  return formatv("  const int rows = int(totalRows - firstRow < {0} ? totalRows - firstRow : {0});\n"
                 "  const Task t(p, member, int(firstRow), rows);\n{1}",
                 geometry.rows, body.steps);
}

static llvm::Expected<std::string> emitAlone(plan::KernelOp kernel, ArrayRef<std::string> sizes, StringRef name,
                                             const CudaGeometry &geometry) {
  llvm::Expected<Body> body = bodyOf(kernel, sizes, geometry, /*isPart=*/false);
  if (!body)
    return body.takeError();
  return formatv(R"(// {0}, a kernel of the family {1}.
{2}{3}
using namespace tutti;

struct Params {{
  uint64_t args[{4}];
  int64_t sizes[{5}];
};

{6}
extern "C" __global__ void __launch_bounds__({7}, {8}) {0}(const __grid_constant__ Params p) {{
  const int64_t totalRows = {9};
  const int tile = int(blockIdx.x{10});
  const int64_t firstRow = int64_t(tile) * {11};
  const int member = int(blockIdx.y + blockIdx.z * {12});
  if (firstRow >= totalRows || member >= {13})
    return;
{14}}
)",
                 name, kernel.getFamily(), headers, body->skeletons, body->arguments, sizes.size(), body->before,
                 geometry.threads, geometry.residentBlocks, body->totalRows,
                 geometry.cluster > 1 ? " / " + std::to_string(geometry.cluster) : "", geometry.rows, membersInPlane,
                 sizeText(Size::symbol(kernel.membersSize()), sizes), wayOf(*body, geometry))
      .str();
}

llvm::Expected<std::string> emitCudaKernel(ArrayRef<plan::KernelOp> parts, ArrayRef<std::string> sizes, StringRef name,
                                           ArrayRef<CudaGeometry> geometries) {
  if (parts.size() == 1)
    return emitAlone(parts.front(), sizes, name, geometries.front());
  // Parts of equal text have one code: it is told where its arguments begin.
  std::vector<std::pair<std::string, unsigned>> codes; ///< and how many parts have it
  std::string skeletons, bodies, table, calls;
  unsigned arguments = 0;
  std::vector<unsigned> firstArguments;
  for (size_t i = 0; i < parts.size(); ++i) {
    plan::KernelOp kernel = parts[i];
    const CudaGeometry &geometry = geometries[i];
    llvm::Expected<Body> body = bodyOf(kernel, sizes, geometry, /*isPart=*/true);
    if (!body)
      return body.takeError();
    for (StringRef line : llvm::split(StringRef(body->skeletons), '\n'))
      if (!line.empty() && !StringRef(skeletons).contains(line))
        skeletons += (line + "\n").str();
    std::string text = formatv(R"({0}
__device__ __forceinline__ void run(const Params &p, int tile, int member) {{
  const int64_t totalRows = p.rows, firstRow = int64_t(tile) * {1};
{2}}
)",
                               body->before, geometry.rows, wayOf(*body, geometry));
    size_t code = llvm::find_if(codes, [&](auto &known) { return known.first == text; }) - codes.begin();
    if (code == codes.size()) {
      codes.push_back({text, 0});
      firstArguments.push_back(arguments);
      bodies +=
          formatv("namespace part{0} {{ // {1}, tiles of {2} rows\n\nusing Params = PartParams<Launch>;\n\n{3}\n} "
                  "// namespace part{0}\n\n",
                  code, kernel.getSymName(), geometry.rows, text);
    }
    ++codes[code].second;
    std::string members = kernel.getLifted() ? sizeText(Size::symbol(kernel.membersSize()), sizes) : "1";
    table += formatv("      {{{0}, {1}, {2}, {3}, {4}}, // {5}\n", code, arguments, body->totalRows, geometry.rows,
                     members, kernel.getSymName());
    arguments += body->arguments;
  }
  int64_t residentBlocks = geometries.front().residentBlocks;
  for (const CudaGeometry &geometry : geometries)
    residentBlocks = std::min<int64_t>(residentBlocks, geometry.residentBlocks);
  for (auto [code, first] : llvm::enumerate(firstArguments))
    calls += formatv("  {0}if (task.code == {1})\n    part{1}::run({{p, {2}, task}, task.tile, task.member);\n",
                     code ? "else " : "", code, codes[code].second > 1 ? "task.firstArgument" : std::to_string(first));
  return formatv(R"(// {0}: {1} kernels of the family {2} in one launch.
{3}#include "tutti/tasks.cuh"
{4}
using namespace tutti;

struct Launch {{
  uint64_t args[{5}];
  int64_t sizes[{6}];
};

{7}extern "C" __global__ void __launch_bounds__({8}, {9}) {0}(const __grid_constant__ Launch p) {{
  // Of each part: its code, its first argument, rows, rows of a tile, members.
  const TaskTable<{1}> tasks = {{{{
{10}  }};
  const TaskPlace task = tasks.find(blockIdx.x);
{11}}
)",
                 name, parts.size(), plan::KernelOp(parts.front()).getFamily(), headers, skeletons, arguments,
                 sizes.size(), bodies, geometries.front().threads, residentBlocks, table, calls)
      .str();
}

} // namespace tutti
