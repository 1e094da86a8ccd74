// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a kernel may be launched: tiles, warps, and what of shared memory is whose.
#include "Geometry.h"
#include "Contraction.h"
#include "Counts.h"
#include "passes/analysis/Numerics.h"

#include "runtime/schema/Layout.h"

#include "mlir/IR/BuiltinOps.h"

#include <limits>

using namespace mlir;

namespace tutti {

namespace {

constexpr int64_t flagBytes = 16; ///< of the heads
constexpr int64_t blockThreads = 256;
constexpr int64_t mostStages = 6; ///< of the ring; more are of no use
/// Places for the floats that arrive with a pass' columns. One is filled while another is read; with too few of them
/// the producer waits for endings.
constexpr int64_t leastColumnPlaces = 2, mostColumnPlaces = 4;
static_assert((2 * mostStages + mostColumnPlaces) * 8 <= WeightRing::barrierBytes);

/// `g` with its shared memory laid out except for a ring: rows of activations, copied rows if wanted and if they fit,
/// and the flag.
CudaGeometry withMemory(CudaGeometry g, const Steps &steps, bool copies) {
  g.flagOffset = llvm::alignTo(g.rows * steps.scratchPerRow, 16);
  int64_t copied = 0;
  for (const Step &step : steps.steps)
    if (copies && step.contraction && Contraction(step.contraction).wantsCopies(steps, g))
      copied = std::max(copied, Contraction(step.contraction).copiedBytes(g));
  if (copied) {
    g.copyOffset = g.flagOffset;
    g.flagOffset += g.rows * copied;
  }
  g.sharedBytes = g.flagOffset + flagBytes;
  g.ring.offset = llvm::alignTo(g.sharedBytes, 128) + WeightRing::barrierBytes;
  return g;
}

/// Geometries without tensor cores. The largest tile has as many rows as fit, up to 16. Smaller tiles, for calls of few
/// rows, go down to what still fills a warp's registers or a block's threads.
std::vector<CudaGeometry> plainGeometries(const Steps &steps, const Architecture &architecture,
                                          llvm::function_ref<bool(const CudaGeometry &)> isCounted) {
  bool multiplies = llvm::any_of(steps.steps, [](const Step &step) { return isPanels(step.contraction); });
  std::vector<CudaGeometry> fitting;
  for (int64_t rows = 16; rows >= 1; rows /= 2)
    for (bool copies : {true, false})
      if (CudaGeometry g = withMemory({rows, blockThreads}, steps, copies);
          g.sharedBytes <= std::min(architecture.sharedPerBlock, 64 << 10) && isCounted(g)) {
        if (fitting.empty() || rows == (multiplies ? 8 : 2))
          fitting.push_back(g);
        break;
      }
  return fitting;
}

/// Whether `such` holds for all products on tensor cores.
bool haveOnly(const Steps &steps, llvm::function_ref<bool(const Contraction &)> such) {
  return llvm::all_of(tensorContractions(steps), such);
}
bool onlyPairs(const Steps &steps) { // of 16 bits
  return haveOnly(steps, [](const Contraction &c) { return c.wordBytes() == 2; });
}
bool onlySplit(const Steps &steps) { // three of floats
  return haveOnly(steps, [](const Contraction &c) { return c.product == NumericsProduct::tf32x3; });
}

/// The grid in which several warps share a panel, if no layer has a panel for each column of warps.
WarpGrid narrowedTo(int64_t panels, WarpGrid grid) {
  while (panels * 2 <= grid.columns && grid.panelParts < 4)
    grid.columns /= 2, grid.panelParts *= 2;
  return grid;
}

// A split product (three of floats) is bound by registers, a product of halves by shared-memory bandwidth. So a warp of
// the latter takes more rows and two panels of columns, which reuses what it loads.
constexpr WarpGrid splitGrids[] = {{.rowTiles = 2, .rows = 2, .columns = 4},
                                   {.rowTiles = 2, .rows = 1, .columns = 8},
                                   {.rowTiles = 1, .rows = 1, .columns = 8}};
constexpr WarpGrid pairGrids[] = {{.rowTiles = 4, .rows = 2, .columns = 4, .panels = 2},
                                  {.rowTiles = 2, .rows = 2, .columns = 4, .panels = 2},
                                  {.rowTiles = 2, .rows = 1, .columns = 8},
                                  {.rowTiles = 1, .rows = 1, .columns = 8}};
// Grids for kernels whose activations leave little shared memory. Such kernels stay on tensor cores, since the numerics
// of a product must not depend on what it is fused with.
constexpr WarpGrid narrowGrids[] = {{.rowTiles = 1, .rows = 1, .columns = 4}, {.rowTiles = 1, .rows = 1, .columns = 2}};

/// A grid of warpgroups, each of which is four rows of warps.
WarpGrid wideGrid(int warpgroups, int columns, int panels) {
  return {.rowTiles = 1, .rows = 4 * warpgroups, .columns = columns, .panels = panels, .wide = true};
}

/// Grids for products of halves. On Hopper warpgroups compute them, except for tiles of so few rows that most of a
/// warpgroup's 64 would be padding.
std::vector<WarpGrid> pairGridsOf(const Architecture &architecture, int64_t panels, bool sharesLaunch) {
  std::vector<WarpGrid> grids(std::begin(pairGrids), std::end(pairGrids));
  if (!architecture.hasWarpgroups() || sharesLaunch) // parts' widths are numbers, not instructions
    return grids;
  // Two warpgroups split the rows, or for few rows the columns: half of the panels each.
  auto panelsOf = [](int64_t panels, int64_t most) {
    return int(std::min(most, int64_t(llvm::bit_ceil(uint64_t(panels)))));
  };
  grids[0] = wideGrid(2, 1, panelsOf(panels, 8));
  grids[1] = wideGrid(1, panels > 1 ? 2 : 1, panelsOf(llvm::divideCeil(panels, 2), 4));
  grids.insert(grids.begin(), wideGrid(3, 1, panelsOf(panels, 4)));
  return grids;
}

/// Grids for products of floats. For split products (three of TF32), two warpgroups share the columns of 64 rows. They
/// take as many columns at a time as registers hold sums for, or as the ring has room for beside the rows.
std::vector<WarpGrid> splitGridsOf(const Steps &steps, const Architecture &architecture, bool sharesLaunch) {
  std::vector<WarpGrid> grids(std::begin(splitGrids), std::end(splitGrids)), wide;
  int64_t whole = 0; // panels of the widest layer
  for (const Contraction &c : tensorContractions(steps))
    whole = std::max(whole, c.N / rt::panelColumns());
  if (architecture.hasWarpgroups() && !sharesLaunch && onlySplit(steps))
    for (int own : {2, 1})
      if (whole >= 2 * own)
        wide.push_back(wideGrid(1, 2, own));
  grids.insert(grids.begin(), wide.begin(), wide.end());
  return grids;
}

/// The number of terms of the longest sum on tensor cores.
int64_t mostTermsOf(const Steps &steps) {
  int64_t most = 0;
  for (const Contraction &c : tensorContractions(steps))
    most = std::max(most, c.K);
  return most;
}

/// The largest number of eight-column tiles that a block computes in a pass.
int passTilesOf(const CudaGeometry &g, const Steps &steps) {
  int64_t most = 0;
  for (const Contraction &c : tensorContractions(steps))
    most = std::max<int64_t>(most, llvm::divideCeil(c.N, 8));
  return int(std::min<int64_t>(most, g.warps.ownPanels() * 4));
}

/// Lays out the ring: as many stages as are useful, each with `pairs` x 32 terms per slice.
void addRing(CudaGeometry &g, const Steps &steps, int pairs, const Architecture &architecture) {
  g.pairs = pairs;
  g.ring.bulkCopies = architecture.hasBulkCopies();
  g.passTiles = passTilesOf(g, steps);
  g.ring.rowBytes = 0;
  int64_t wordBytes = 0;
  for (Contraction c : tensorContractions(steps)) {
    wordBytes = std::max(wordBytes, c.wordBytes());
    if (c.streamsRows(steps, g)) {
      g.ring.rowBytes = g.rows * (g.stageK() + 16) * 4; // rowPitch of device/layer.cuh
      g.ring.bulkCopies &= c.K % 2 == 0; // a producer's lanes have 64 k of a row, in units of 8 bytes or 16
    }
  }
  g.ring.stageBytes = g.passTiles * 8 * g.stageK() * wordBytes + g.ring.rowBytes;
  // Two resident blocks hide each other's latencies; a single one takes all shared memory.
  int64_t half = architecture.sharedPerProcessor / 2 - architecture.sharedReserved;
  auto stagesIn = [&](int64_t bytes) {
    return std::min<int64_t>(mostStages, (bytes - g.ring.offset) / g.ring.stageBytes);
  };
  g.residentBlocks = 2;
  g.ring.stages = stagesIn(half);
  if (g.warps.rowTiles > 1 || g.ring.stages < 3 || (g.warps.wide && (g.warps.rows > 4 || !onlyPairs(steps)))) {
    g.ring.stages = stagesIn(architecture.sharedPerBlock);
    g.residentBlocks = 1;
  }
  g.sharedBytes = g.ring.end();
  // A ninth warp, the producer, leaves the others a third fewer registers. That is too few for split products of more
  // than 16 rows, for split products of whole panels beside another block, and for warpgroups. If a warpgroup can give
  // registers away and the block is alone on its processor, the producer is a warpgroup.
  bool fits =
      !g.warps.wide && (onlyPairs(steps) ? g.warps.rowTiles * g.warps.panels <= 4
                                         : g.warps.rowTiles == 1 && (g.residentBlocks == 1 || g.warps.panelParts > 1));
  bool gives = architecture.hasWarpgroups() && g.residentBlocks == 1 && g.threads >= 256;
  g.ring.producerWarps = !g.ring.bulkCopies ? 0 : fits ? 1 : gives ? 4 : 0;
  // The ring of warpgroups uses remaining shared memory for the floats of its passes' columns.
  int64_t bytes = g.warps.ownPanels() * rt::panelColumns() * 4, left = architecture.sharedPerBlock - g.sharedBytes;
  g.ring.columnPlaces = g.warps.wide && g.ring.producerWarps ? std::min(mostColumnPlaces, left / bytes) : 0;
  if (g.ring.columnPlaces < leastColumnPlaces)
    g.ring.columnPlaces = 0;
  g.ring.offset += g.ring.columnPlaces * bytes;
  g.sharedBytes += g.ring.columnPlaces * bytes;
}

/// Lays out the exchange, where the slices' sums meet: for as many stages as the longest layer has, or as fit.
bool addExchange(CudaGeometry &g, const Steps &steps, const Architecture &architecture) {
  int64_t bytes = g.gatheredBytes();
  g.passTiles = passTilesOf(g, steps);
  g.exchange.offset = llvm::alignTo(g.sharedBytes, 128);
  g.exchange.stages =
      std::min<int64_t>(llvm::divideCeil(mostTermsOf(steps), g.stageK()),
                        (architecture.sharedPerBlock - g.exchange.offset - Exchange::handoverBytes) / bytes);
  g.exchange.handovers = g.exchange.offset + g.exchange.stages * bytes;
  g.sharedBytes = g.exchange.handovers + Exchange::handoverBytes;
  g.residentBlocks = 2 * (g.sharedBytes + architecture.sharedReserved) <= architecture.sharedPerProcessor ? 2 : 1;
  return g.exchange.stages > 0;
}

/// A geometry on tensor cores with this grid. Each stage has `pairs` pairs, or the best number if it is not given.
std::optional<CudaGeometry> tensorGeometry(const Steps &steps, WarpGrid grid, const Architecture &architecture,
                                           std::optional<int> pairs, bool copies = true) {
  CudaGeometry g{16 * grid.rowTiles * grid.rows, grid.threads()};
  g.warps = grid;
  g = withMemory(g, steps, copies);
  if (g.warps.slices > 1)
    return addExchange(g, steps, architecture) ? std::optional(g) : std::nullopt;
  if (g.warps.wide && !onlyPairs(steps)) { // low parts of two stages (device/wide.cuh)
    g.exchange.offset = g.ring.offset - WeightRing::barrierBytes;
    g.ring.offset += 2 * g.warps.ownPanels() * 4 * g.stageK() * 8 * 4;
    pairs = 1;
  }
  CudaGeometry longer = g;
  addRing(g, steps, pairs.value_or(1), architecture);
  // The overhead of each stage costs as much as a group of products. So stages are longer if three of them fit without
  // reducing the resident blocks.
  if (!pairs && mostTermsOf(steps) > g.stageK()) {
    addRing(longer, steps, 2, architecture);
    if (longer.ring.stages >= 3 && longer.residentBlocks == g.residentBlocks)
      g = longer;
  }
  if (g.ring.stages < (g.copyOffset >= 0 || g.warps.wide ? 3 : 2)) // a warpgroup has two at a time
    return g.copyOffset >= 0 ? tensorGeometry(steps, grid, architecture, pairs, /*copies=*/false) : std::nullopt;
  if (g.warps.wide && !g.ring.bulkCopies) // tensor cores read what came through their own proxy
    return std::nullopt;
  return g;
}

/// Geometries on tensor cores without clusters: all grids of warps whose tiles fit.
std::vector<CudaGeometry> tensorGeometries(const Steps &steps, const Architecture &architecture, bool sharesLaunch,
                                           std::optional<int> stagePairs = std::nullopt) {
  bool pairs = onlyPairs(steps);
  // Steps between layers, or more layers than this, need the registers of a warp's second panel, even if no layer is
  // wide enough to use it.
  constexpr size_t mostBesidePairs = 8;
  int64_t most = 0;
  for (const Contraction &c : tensorContractions(steps))
    most = std::max(most, c.panels());
  bool fewLayers = steps.steps.size() <= mostBesidePairs &&
                   llvm::all_of(steps.steps, [](const Step &step) { return bool(step.contraction); });
  std::vector<CudaGeometry> fitting;
  for (WarpGrid grid :
       pairs ? pairGridsOf(architecture, most, sharesLaunch) : splitGridsOf(steps, architecture, sharesLaunch)) {
    if (!pairs && !fitting.empty() && fitting.front().warps.wide && grid.rowTiles * grid.rows == 4)
      continue; // warpgroups have 64 rows
    if (!fewLayers && most <= grid.columns)
      grid.panels = 1;
    if (!sharesLaunch && grid.panels == 1 && !grid.wide)
      grid = narrowedTo(most, grid);
    if (auto g = tensorGeometry(steps, grid, architecture, stagePairs))
      fitting.push_back(*g);
  }
  for (WarpGrid grid : narrowGrids)
    if (fitting.empty())
      if (auto g = tensorGeometry(steps, grid, architecture, stagePairs))
        fitting.push_back(*g);
  return fitting;
}

} // namespace

std::vector<CudaGeometry> cudaGeometries(plan::KernelOp kernel, const Architecture &architecture, bool sharesLaunch) {
  Steps steps = Steps::of(kernel);
  if (!countsOperands(kernel))
    return {};
  auto isCounted = [&](const CudaGeometry &g) { return countsTile(kernel, steps.form, g.rows); };
  if (tensorContractions(steps).empty() || !architecture.hasTensorCores())
    return plainGeometries(steps, architecture, isCounted);
  int64_t mostRows = mostOf(kernel, kernel.rowCount());
  std::vector<CudaGeometry> fitting = tensorGeometries(steps, architecture, sharesLaunch);
  llvm::erase_if(fitting, std::not_fn(isCounted));
  // Kept are the largest tile, for calls that fill the device with it, and the smallest. So are 64 rows if the largest
  // tile has more, and 32 rows of split products if each warp has a panel, as it then splits the panel's words once for
  // two tiles of rows.
  bool pairs = onlyPairs(steps);
  llvm::erase_if(fitting, [&](const CudaGeometry &g) {
    return g.rows > 16 && g.rows != fitting.front().rows && g.rows != 64 && !(g.warps.wide && g.rows == 128) &&
           (pairs || g.rows != 32 || g.warps.columns < 8);
  });
  while (fitting.size() > 1 && mostRows <= fitting[1].rows) // the largest would always be half empty
    fitting.erase(fitting.begin());
  if (!fitting.empty())
    for (int parts : {1, 2}) // half of a panel is less to do, by twice as many blocks
      if (auto g = clusterGeometry(kernel, architecture, parts))
        fitting.push_back(*g);
  // Persistent blocks need a producer: without one all warps would keep the state of the ring's copies, and some have
  // no registers for that. Split products of more than 16 rows also fill a warp's registers, so NVRTC generates a
  // slower loop for them beside other steps.
  bool onlyProducts = llvm::all_of(steps.steps, isOnTensorCores);
  for (CudaGeometry &g : fitting) {
    g.keepsAddresses = pairs && g.warps.panels <= 4;
    bool gains = pairs || onlyProducts || g.warps.wide || g.rows <= 16;
    g.persistent = g.ring.producerWarps > 0 && kernel.getLifted() && !sharesLaunch && gains;
  }
  return fitting;
}

std::optional<CudaGeometry> clusterGeometry(plan::KernelOp kernel, const Architecture &architecture, int panelParts) {
  Steps steps = Steps::of(kernel);
  int64_t panels = 0;
  for (const Contraction &c : tensorContractions(steps)) {
    if (c.product != NumericsProduct::tf32x3) // one chain cannot be cut into slices
      return std::nullopt;
    panels = std::max(panels, c.panels());
  }
  if (!architecture.hasClusters() || panels < 2)
    return std::nullopt;
  int64_t blocks = llvm::bit_ceil(uint64_t(panels)) * panelParts;
  if (panelParts > 1 && blocks > mostCluster)
    return std::nullopt;
  int cluster = int(std::min<int64_t>(mostCluster, blocks));
  for (WarpGrid grid : {WarpGrid{.rowTiles = 2, .rows = 1, .columns = 1, .slices = 8},
                        WarpGrid{.rowTiles = 1, .rows = 1, .columns = 2, .slices = 4}}) {
    grid.cluster = cluster;
    grid.panelParts = panelParts;
    if (auto g = tensorGeometry(steps, grid, architecture, 1))
      return g;
  }
  return std::nullopt;
}

std::optional<CudaGeometry> cudaGeometryLike(plan::KernelOp kernel, const Architecture &architecture,
                                             const CudaGeometry &other) {
  Steps steps = Steps::of(kernel);
  if (tensorContractions(steps).empty() || !architecture.hasTensorCores())
    return std::nullopt;
  for (const CudaGeometry &g : tensorGeometries(steps, architecture, /*sharesLaunch=*/true, other.pairs))
    if (g.hasWarpsOf(other))
      return g;
  return std::nullopt;
}

} // namespace tutti
