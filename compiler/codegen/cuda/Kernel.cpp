// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a kernel's body to a translation unit.
//
// A block runs one task, or those of several members, one after the other. `Task` holds a task's place and a view of
// every value that lies in memory; every other value is a member function of its own index, so the text reads like the
// body. The entry goes through the steps, a barrier between them.
#include "Ending.h"
#include "compiler/support/Error.h"
#include "passes/analysis/Numerics.h"

#include "runtime/schema/Layout.h"

#include <limits>

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The skeletons (names of device/*.cuh) that contractions on tensor cores need with this geometry.
static SmallVector<StringRef> skeletonsOf(const CudaGeometry &geometry, bool tensorCores) {
  SmallVector<StringRef> all;
  if (tensorCores)
    all.push_back("tensor");
  if (geometry.ring)
    all.push_back(geometry.ring.bulkCopies ? "bulk_ring" : "ring");
  if (geometry.warps.cluster > 1)
    all.push_back("share");
  return all;
}
static std::string includesOf(ArrayRef<StringRef> skeletons) {
  std::string all;
  for (StringRef name : skeletons)
    all += formatv("#include \"tutti/{0}.cuh\"\n", name).str();
  return all;
}

namespace {

/// A kernel's code: the text before its entry, and the text that a block runs.
struct Body {
  SmallVector<StringRef> skeletons;
  std::string functions, task, totalRows;
  BlockText block;
  unsigned arguments;
};

/// The code that parts share if their texts differ in numbers only; each part gets its numbers as arguments.
struct PartsCode {
  std::string functions; ///< which are told nothing
  std::vector<Numbered> texts;
  unsigned firstArgument; ///< of the first of them
  std::string names = {};

  bool takes(const std::string &otherFunctions, const Numbered &text) const {
    return functions == otherFunctions && texts.front().isLike(text);
  }
  std::string text() const {
    return oneText(texts, [](ArrayRef<std::string> own) {
      return llvm::all_equal(own) ? own.front() : "p.of(" + llvm::join(own, ", ") + ")";
    });
  }
};

} // namespace

/// Whether an int holds the number of words of a member's weight.
static bool holdsWords(Contraction c) {
  return rt::layoutBytes(c.layout(), c.K, c.N) / 4 <= std::numeric_limits<int32_t>::max();
}

/// With `isPart`, the launch's rows and members are `p.rows` and `p.members`.
static llvm::Expected<Body> bodyOf(plan::KernelOp kernel, ArrayRef<std::string> sizes, const CudaGeometry &geometry,
                                   bool isPart) {
  for (ContractOp op : kernel.getBody().getOps<ContractOp>())
    if (isPanels(op) && !holdsWords(Contraction(op)))
      return fail(ExitCode::unsupported, "a weight of " + llvm::Twine(Contraction(op).K) + " x " +
                                             llvm::Twine(Contraction(op).N) +
                                             " elements: kernels of CUDA devices count its words in 31 bits");
  KernelText text(kernel, sizes, geometry, isPart);
  BlockText block = emitSteps(text);
  block.each += emitHeads(text);
  if (!text.failure().empty())
    return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted for cuda: " + text.failure());
  std::string tile =
      geometry.warps.rows
          ? formatv(geometry.wordsApart
                        ? "struct BlockTile : Tile<{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}{9}> {{\n"
                          "  static constexpr bool wordsApart = true;\n};\n\n{10}"
                        : "using BlockTile = Tile<{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}{9}>;\n\n{10}",
                    geometry.warps.rowTiles, geometry.warps.rows, geometry.warps.columns, geometry.warps.slices,
                    geometry.warps.cluster, geometry.warps.panels, geometry.pairs, geometry.passTiles,
                    geometry.warps.panelParts, geometry.warps.wide ? ", true" : "",
                    geometry.warps.wide ? emitWideProducts(text) : "")
                .str()
          : "";
  KernelText whole(kernel, sizes, geometry, /*isPart=*/false);
  return Body{skeletonsOf(geometry, !tensorContractions(text.steps).empty()),
              tile + joined(text.functions),
              text.structText("Task") + llvm::join(text.stepStructs, ""),
              whole.totalRows(),
              std::move(block),
              text.argumentCount()};
}

static constexpr const char *headers = R"(#include "tutti/prelude.cuh"
#include "tutti/contract.cuh"
#include "tutti/choice.cuh"
#include "tutti/row.cuh"
#include "tutti/head.cuh"
#include "tutti/special.cuh"
#include "tutti/tile.cuh"
)";

/// The rest of a block's text, once its tile and its member, or the first of its members, are known.
static std::string wayOf(const Body &body, const CudaGeometry &geometry) {
  // Not a call of rowsOfBlock(): NVRTC would merge the two expressions and keep the value in a register.
  std::string rows = formatv("  const int rows = int(totalRows - firstRow < {0} ? totalRows - firstRow : {0});\n",
                             numberText(geometry.rows)),
              task = "  const Task t(p, member, int(firstRow), rows);\n";
  if (!geometry.persistent)
    return rows + task + body.block.once + body.block.each;
  return rows + body.block.once +
         formatv("#pragma unroll 1\n"
                 "  for (int member = members.first; member < members.end; member += members.step) {{\n{0}  }\n",
                 indented(task + body.block.each))
             .str();
}

/// The text that determines a block's member or members, and returns if there is none.
static std::string membersOf(const CudaGeometry &geometry, StringRef count) {
  std::string position = formatv("int(blockIdx.y + blockIdx.z * {0})", membersInPlane);
  if (geometry.persistent)
    return formatv("  const Members members = {{{0}, int({1}), int(gridDim.y * gridDim.z)};\n"
                   "  if (firstRow >= totalRows || members.first >= members.end)\n    return;\n",
                   position, count);
  return formatv("  const int member = {0};\n  if (firstRow >= totalRows || member >= {1})\n    return;\n", position,
                 count);
}

/// The attribute with the cluster size. The size belongs to the kernel, so that no launch can omit it.
static std::string clusterBounds(const CudaGeometry &geometry) {
  return geometry.warps.cluster > 1 ? formatv("__cluster_dims__({0}, 1, 1) ", geometry.warps.cluster).str() : "";
}
/// The text that turns a block's number into its cluster's.
static std::string perCluster(const CudaGeometry &geometry) {
  return geometry.warps.cluster > 1 ? " / " + std::to_string(geometry.warps.cluster) : "";
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
extern "C" __global__ void __launch_bounds__({7}, {8}) {9}{0}(const __grid_constant__ Params p) {{
  const int64_t totalRows = {10};
  const int tile = int(blockIdx.x{11});
  const int64_t firstRow = int64_t(tile) * {12};
{13}{14}}
)",
                 name, kernel.getFamily(), headers, includesOf(body->skeletons), body->arguments, sizes.size(),
                 body->functions + body->task, geometry.blockThreads(), geometry.residentBlocks,
                 clusterBounds(geometry), body->totalRows, perCluster(geometry), geometry.rows,
                 membersOf(geometry, sizeText(Size::symbol(kernel.membersSize()), sizes)), wayOf(*body, geometry))
      .str();
}

namespace {

/// The pieces of a launch of several kernels.
struct PartsText {
  std::vector<PartsCode> codes;
  llvm::SetVector<StringRef> skeletons; ///< of all parts
  std::string table;                    ///< a line for each part
  unsigned arguments = 0;               ///< of all parts

  llvm::Error add(plan::KernelOp kernel, ArrayRef<std::string> sizes, const CudaGeometry &geometry);
  /// The code of the parts, and who calls it.
  std::string bodies() const;
  std::string calls() const;
};

} // namespace

llvm::Error PartsText::add(plan::KernelOp kernel, ArrayRef<std::string> sizes, const CudaGeometry &geometry) {
  llvm::Expected<Body> body = bodyOf(kernel, sizes, geometry, /*isPart=*/true);
  if (!body)
    return body.takeError();
  skeletons.insert_range(body->skeletons);
  std::string run = formatv(R"({0}
__device__ __forceinline__ void run(const Params &p, int tile, int member) {{
  const int64_t totalRows = p.rows, firstRow = int64_t(tile) * {1};
{2}}
)",
                            body->task, numberText(geometry.rows), wayOf(*body, geometry))
                        .str();
  // For layers on tensor cores sharing one code gains more than constants do; for anything else constants gain more.
  Numbered text(geometry.warps.rows ? run : withoutMarks(run));
  auto code = llvm::find_if(codes, [&](const PartsCode &known) { return known.takes(body->functions, text); });
  if (code == codes.end())
    code = codes.insert(code, {body->functions, {}, arguments});
  std::string members = kernel.getLifted() ? sizeText(Size::symbol(kernel.membersSize()), sizes) : "1";
  table += formatv("      {{{0}, {1}, {2}, {3}, {4}, {5}}, // {6}\n", code - codes.begin(), code->texts.size(),
                   arguments, body->totalRows, geometry.rows, members, kernel.getSymName());
  code->texts.push_back(std::move(text));
  code->names += (code->names.empty() ? "" : ", ") + kernel.getSymName().str();
  arguments += body->arguments;
  return llvm::Error::success();
}

std::string PartsText::bodies() const {
  std::string all;
  for (auto [number, code] : llvm::enumerate(codes))
    all += formatv("namespace part{0} {{ // {1}\n\nusing Params = PartParams<Launch>;\n\n{2}{3}\n} // namespace "
                   "part{0}\n\n",
                   number, code.names, code.functions, code.text());
  return all;
}

std::string PartsText::calls() const {
  std::string all;
  for (auto [number, code] : llvm::enumerate(codes))
    all += formatv("  {0}if (task.code == {1})\n    part{1}::run({{p, {2}, task}, task.tile, task.member);\n",
                   number ? "else " : "", number,
                   code.texts.size() > 1 ? "task.firstArgument" : std::to_string(code.firstArgument));
  return all;
}

static llvm::Expected<std::string> emitTogether(ArrayRef<plan::KernelOp> parts, ArrayRef<std::string> sizes,
                                                StringRef name, ArrayRef<CudaGeometry> geometries) {
  PartsText all;
  int64_t residentBlocks = geometries.front().residentBlocks;
  for (auto [kernel, geometry] : llvm::zip_equal(parts, geometries)) {
    if (llvm::Error error = all.add(kernel, sizes, geometry))
      return std::move(error);
    residentBlocks = std::min<int64_t>(residentBlocks, geometry.residentBlocks);
  }
  return formatv(R"(// {0}: {1} kernels of the family {2} in one launch.
{3}#include "tutti/tasks.cuh"
{4}
using namespace tutti;

struct Launch {{
  uint64_t args[{5}];
  int64_t sizes[{6}];
};

{7}extern "C" __global__ void __launch_bounds__({8}, {9}) {12}{0}(const __grid_constant__ Launch p) {{
  // Of each part: its code, which it is of those that have it, its first argument, rows, rows of a tile, members.
  const TaskTable<{1}> tasks = {{{{
{10}  }};
  const TaskPlace task = tasks.find(blockIdx.x{13});
{11}}
)",
                 name, parts.size(), plan::KernelOp(parts.front()).getFamily(), headers,
                 includesOf(all.skeletons.getArrayRef()), all.arguments, sizes.size(), all.bodies(),
                 geometries.front().blockThreads(), residentBlocks, all.table, all.calls(),
                 clusterBounds(geometries.front()), perCluster(geometries.front()))
      .str();
}

llvm::Expected<std::string> emitCudaKernel(ArrayRef<plan::KernelOp> parts, ArrayRef<std::string> sizes, StringRef name,
                                           ArrayRef<CudaGeometry> geometries) {
  if (const CudaGeometry &g = geometries.front(); CudaGeometry::tasksOf(g.blockThreads()) != g.threads)
    return fail(ExitCode::internal, "a block of " + llvm::Twine(g.blockThreads()) + " threads has not " +
                                        llvm::Twine(g.threads) + " at work on its task");
  llvm::Expected<std::string> text = parts.size() == 1 ? emitAlone(parts.front(), sizes, name, geometries.front())
                                                       : emitTogether(parts, sizes, name, geometries);
  if (!text)
    return text.takeError();
  return withoutMarks(std::move(*text));
}

} // namespace tutti
