// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts contractions on tensor cores as device/tensor.cuh, device/wide.cuh and the rings compute them.
//
// Instructions that belong to no product and no element were counted, loop by loop, in what NVRTC 13 prints for sm_90a
// of the kernels of the workloads in benchmarks/ (docs/performance-model.md, "What is counted").
#include "Counter.h"
#include "Device.h"
#include "passes/analysis/Numerics.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace tutti {

/// Instructions of each warp. A pass looks up its panels and sets sums to zero; with three products it also tests each
/// sum for being finite. A stage is waited for and left. A run of neighbouring columns has bounds and reads what its
/// columns share.
constexpr double perPass = 120, perSum = 2, perPassOfThree = 160, perSumOfThree = 3.5, perStage = 28, perRun = 20;
/// A warpgroup's panel, whose columns need no bounds (storePanels() of device/ending.cuh): with what a column shares
/// brought by the ring, or read from global memory.
constexpr double perBroughtPanel = 6, perReadPanel = 20;
/// Issuing a stage: by the one warp that does, and by each warp that copies rows. Without a producer each warp looks up
/// what the next stage and the next pass are.
constexpr double perAsking = 60, perCopying = 30, perNextStage = 38, perNextPass = 48;
/// With slices, whose warps read words themselves: a stage, including what is read next; a pass, including where its
/// words begin; and where to read the sums of a stage.
constexpr double perSlicesStage = 110, perSlicesPass = 100, perStageOfSums = 16;
/// Four elements of a row, if the kernel has a K that is not a multiple of 32: some may lie past it.
constexpr double perPartialFour = 7;
/// A warpgroup's instruction of 16 k: descriptors, fences, and the registers that it may not overwrite.
constexpr double perWideGroup = 25;
/// The same for its six instructions of a chunk, including the loop over stages (device/wide.cuh).
constexpr double perWideChunk = 56;
/// Converting rows of an input to 16 bits: per four elements, or per one where K is no multiple of four; the same for
/// long rows.
constexpr double perNarrowing = 40, perNarrowedFour = 20, perNarrowed = 10, perLongFour = 7, perLongOne = 9;

/// Instructions to make an element of the rows, and one of the weights, part of a fragment: device/product.cuh as NVRTC
/// 13 prints it for sm_90. Two 16-bit elements share one; weights of 16 bits are stored as fragments need them.
struct Conversion {
  ScalarWork left, right;
};
static Conversion conversionOf(NumericsProduct product) {
  switch (product) {
  case NumericsProduct::tf32x3:
    return {{.fp32 = 3}, {.fp32 = 3}};
  case NumericsProduct::tf32:
    return {{.fp32 = 1, .integer = 2}, {.fp32 = 1, .integer = 2}};
  default:
    return {{.integer = 0.5}, {}};
  }
}

/// Clocks from one mma.sync of 16 x 8 x 16 halves, or 16 x 8 x 8 floats, to the next on a quarter of a processor: 4 at
/// Hopper's peak, of which mma.sync reaches 62.9 % (Devices.cpp, [L]). Other devices are assumed to be alike.
constexpr double mmaInterval = 4 / 0.629;
/// Instructions of mma.sync for a tile of eight columns and 16 k.
static double productsOf(NumericsProduct product) {
  return product == NumericsProduct::tf32x3 ? 6 : product == NumericsProduct::tf32 ? 2 : 1;
}

/// A warp's tiles of 16 rows; with slices, tiles without rows are skipped.
double Counter::rowTiles() {
  return geometry.warps.slices > 1 ? std::min(double(geometry.warps.rowTiles), std::ceil(rows / 16))
                                   : double(geometry.warps.rowTiles);
}

double Counter::warpRows() {
  double own = std::min<double>(double(geometry.warps.rows), std::ceil(rows / double(16 * geometry.warps.rowTiles)));
  return geometry.warps.wide ? std::ceil(own / 4) * 4 : own; // a warpgroup is never a part of one
}

/// A block's share of a contraction on tensor cores; in a cluster that of the first block, which has most.
Counter::Share Counter::shareOf(Contraction c) {
  Share share;
  const CudaGeometry &g = geometry;
  std::vector<rt::FragmentPanel> panels = rt::planFragments(c.layout(), c.K, c.N);
  int64_t passPanels = g.warps.ownPanels(), ownParts = g.warps.cluster > 1 ? 1 : g.warps.panelParts,
          count = int64_t(panels.size());
  int rowsOfWarps = int(warpRows());
  // A panel computes as many tiles as the kernel's widest panel has, and discards those that it lacks.
  int64_t widest = 1;
  for (const Contraction &other : tensorContractions(steps))
    widest = std::max(widest, std::min<int64_t>(4, llvm::bit_floor(uint64_t(llvm::divideCeil(other.N, 8)))));
  int64_t most = 4 / g.warps.panelParts; // tiles of a panel that a warp has at most
  double parts[4] = {}, all = 0;
  std::vector<Part> warps(size_t(g.warps.columns * ownParts)); // of those with the same rows and k
  for (int64_t from = 0; from < count; from += g.warps.passPanels())
    for (int64_t i = 0; i < passPanels && from + i < count; ++i) {
      share.tiles += double(std::min(int64_t(panels[from + i].tiles), ownParts * most));
      for (int of = 0; of < ownParts && of * most < int64_t(panels[from + i].tiles); ++of) {
        int64_t column = g.warps.wide ? i / g.warps.panels : i % g.warps.columns;
        bool isFirst = g.warps.wide ? i % g.warps.panels == 0 : i < g.warps.columns;
        Part &warp = warps[size_t(column * ownParts + of)];
        warp.panels += 1, warp.visits += isFirst;
        warp.tiles += double(std::min(int64_t(panels[from + i].tiles) - of * most, most));
        warp.made += g.warps.wide ? double(panels[from + i].tiles) : double(std::min(widest, most));
        // device/shape.cuh: the warps that have this part of a panel, one for each row and slice. Warp w is on
        // partition w % 4 of the processor.
        for (int row = 0; row < rowsOfWarps; ++row)
          for (int slice = 0; slice < g.warps.slices; ++slice) {
            int shift = g.warps.wide ? 0 : row * (g.warps.columns / g.warps.rows),
                place = int(i + g.warps.columns - shift) % g.warps.columns;
            parts[(((row * g.warps.columns + place) * ownParts + of) * g.warps.slices + slice) % 4] += 1, all += 1;
          }
      }
    }
  for (const Part &warp : warps) {
    share.all.panels += warp.panels, share.all.visits += warp.visits;
    share.all.tiles += warp.tiles, share.all.made += warp.made;
    if (warp.made > share.busiest.made)
      share.busiest = warp;
  }
  share.uneven = *std::max_element(parts, parts + 4) * 4 / all;
  return share;
}

/// device/rows.cuh: all threads convert rows of an input to 16-bit floats; each loads some elements before it stores
/// the first.
void Counter::countCopiedRows(Contraction c) {
  double elements = rows * double(c.K), unit = c.K % 4 == 0 ? 4 : 1;
  Contraction::Narrowing how = c.narrowing(geometry);
  // All members of a block share the rows of one input.
  bool isShared = geometry.persistent && !RowForm::of(typeOf(c.op.getLhs())).lifted;
  llvm::SaveAndRestore mine(step, isShared ? &once() : step);
  addToAll(1, Reading::plain(perNarrowing));
  double ofOne = how.longRows ? (unit == 4 ? perLongFour : perLongOne) : unit == 4 ? perNarrowedFour : perNarrowed;
  Reading one = Reading::plain(ofOne - 2);
  one.moves = 2;
  add(elements / unit, one);
  step->chain.fp32 += double(how.own) * one.inTurn();
  countZeros(double(c.K));
  step->chain.l2 += double(how.rounds);
  step->chain.barriers += 1;
  step->sharedBytes += elements * 2;
  step->l2Bytes += elements * 4;
}

/// Whether its rows lie in shared memory as fragments need them.
bool Counter::liesInHalves(Contraction c) { return steps.placeOf(c.op.getLhs()).narrow || c.isCopied(steps, geometry); }

/// The instructions of a warp with these panels for 16 k, except the products.
Reading Counter::ofGroup(Contraction c, const Part &part) {
  bool halves = c.wordBytes() == 2, chunks = step->product == NumericsProduct::tf32x3;
  double m = rowTiles(), rowReads = part.visits * m;
  if (geometry.warps.wide && !chunks)
    return {.integer = part.visits * perWideGroup, .moves = rowReads};
  if (geometry.warps.wide) // only the low parts of weights, which the four warps share in shared memory
    return {.fp32 = rowReads * 8 * conversionOf(step->product).left.fp32 + part.made * (4 + 1),
            .integer = part.visits * perWideChunk + part.made * 2,
            .moves = rowReads * 2 + part.made / 2};
  Conversion each = conversionOf(step->product);
  bool inHalves = liesInHalves(c);
  if (inHalves)
    each.left = {};
  double words = halves ? 2 : 4, rowElements = rowReads * 8, weightElements = part.made * 4;
  Reading one;
  one.moves = rowReads * (inHalves ? 1 : halves ? 4 : 2) + part.made * words / (geometry.warps.slices > 1 ? 1 : 4);
  one.fp32 = rowElements * each.left.fp32 + weightElements * each.right.fp32;
  one.integer = rowElements * each.left.integer + weightElements * each.right.integer;
  one.integer += part.visits + part.panels * words / 2; // addresses
  if (chunks)                                           // a group is summed by itself, then added to its pair
    one.fp32 += part.made * m * 4;
  bool partial = llvm::any_of(tensorContractions(steps), [](const Contraction &other) { return other.K % 32 != 0; });
  if (partial && !inHalves)
    one += Reading::plain(rowReads * 2 * perPartialFour);
  return one;
}

/// tensor.cuh: a grid of warps, each with 16 rowTiles rows and a panel of up to four tiles of eight columns; a stage of
/// the ring has 32 k of a pass's panels for each slice.
void Counter::countFragments(Contraction c, const Share &own) {
  const CudaGeometry &g = geometry;
  double groups = std::ceil(double(c.K) / 16), stages = double(c.stages(g)), m = rowTiles();
  double passes = stages / std::ceil(double(c.K) / double(g.stageK()));
  bool chunks = step->product == NumericsProduct::tf32x3, streams = c.streamsRows(steps, g);
  if (c.isCopied(steps, g))
    countCopiedRows(c);

  // Each row of warps reads all weights, and each warp with panels reads all of its rows. A slice has its share of the
  // pairs of groups.
  double lanes = warpRows() * groups * 32, ofWarp = std::ceil(double(c.K) / double(32 * g.warps.slices)) * 2;
  step->products += warpRows() * 16 * m * groups * 16 * own.all.made * 8;
  step->uneven = own.uneven;
  add(lanes, ofGroup(c, own.all));
  double mma =
      g.warps.wide ? own.busiest.visits * productsOf(step->product) : own.busiest.made * m * productsOf(step->product);
  double chain = std::min(ofWarp, groups) * (ofGroup(c, own.busiest).inTurn() + mma);
  // With warpgroups the tensor cores read the weights themselves, once for four warps.
  bool inHalves = liesInHalves(c);
  double words = c.wordBytes() == 2 ? 2 : 4; // registers for 16 k of a weight, per column and lane
  step->sharedBytes +=
      lanes * (own.all.visits * 2 * m * (inHalves ? 8 : 16) + own.all.made * words * (g.warps.wide ? 1 : 4));
  // While half a stage is multiplied, the next half is read, or the low parts of a stage are computed. Multiplying
  // takes 4 clocks for each tile of 16 x 8 x 16 halves, and 8 for 16 x 8 x 16 floats.
  if (g.warps.wide)
    chain = std::max(chain, groups * own.busiest.made * (chunks ? 24 : 4) / DeviceModel::fp32Latency);
  step->chain.fp32 += chain;

  double sums = g.warps.slices > 1 ? 4 / double(g.warps.panelParts) : own.busiest.made / passes * m * 4;
  addToAll(passes, Reading::plain(chunks ? perPassOfThree + perSumOfThree * sums : perPass + perSum * sums));
  countWaits(c, own);
  double bytes = groups * 16 * own.tiles * 8 * double(c.wordBytes());
  if (g.warps.slices > 1)
    return countSlices(c, bytes);
  addToAll(stages, Reading::plain(perStage));
  if (!g.keepsAddresses) // the addresses of what is read for a pass' columns
    step->chain.l2 += passes;
  countRing(c, bytes, streams);
}

/// In each stage all warps wait for it and read its first fragments. A pass ends with a wait for its last products.
void Counter::countWaits(Contraction c, const Share &own) {
  const CudaGeometry &g = geometry;
  double stages = double(c.stages(g)), passes = stages / std::ceil(double(c.K) / double(g.stageK()));
  bool chunks = step->product == NumericsProduct::tf32x3, streams = c.streamsRows(steps, g);
  step->chain.shared += stages;
  bool inShared = streams || liesInHalves(c) || steps.placeOf(c.op.getLhs()).kind == Place::scratch;
  if (c.readsInput(steps, g) && !streams) // a pass begins with a wait for its first rows
    step->chain.l2 += passes;
  else
    (inShared ? step->chain.shared : step->chain.l2) += stages;
  if (g.warps.wide) {
    step->chain.mma += passes;
    if (chunks) // its warps meet once a stage's low parts are there, and before the first ones of a pass
      step->chain.barriers += stages + passes, step->chain.shared += stages;
    return;
  }
  // Between two products of one sum lie products of other sums: tiles, rows, and with chunks the other group. The
  // groups of a pair are separate sums where there are chunks; otherwise they form one chain.
  double pairs = passes * std::ceil(double(c.K) / double(32 * g.warps.slices));
  double ofPair = chunks ? 6 : 2 * productsOf(step->product);
  double between =
      own.all.made / own.all.panels * (g.warps.slices > 1 ? 1 : double(g.warps.rowTiles) * (chunks ? 2 : 1)) - 1;
  step->chain.mma += pairs * ofPair * std::max(0.0, 1 - between * mmaInterval / DeviceModel::mmaLatency);
}

/// The ring copies each byte once. With cp.async every thread issues 16 bytes at a time and looks up the next stage.
/// One warp issues bulk copies; all threads, or a producer's, copy rows by cp.async.
void Counter::countRing(Contraction c, double bytes, bool streams) {
  const CudaGeometry &g = geometry;
  double stages = double(c.stages(g)), passes = stages / std::ceil(double(c.K) / double(g.stageK()));
  double streamed = streams ? passes * rows * double(c.K) * 4 : 0, all = bytes + streamed;
  step->l2Bytes += all;
  step->sharedBytes += all;
  step->ringBytes = all;
  // Without a producer, bulk copies go into a stage that was left a turn ago.
  int64_t ahead = g.ring.producerWarps ? 0 : g.ring.bulkCopies ? 2 : 1;
  step->inFlight = double(std::max<int64_t>(1, g.ring.stages - ahead)) * all / stages;
  double rowCopies = streamed / double(4 * std::gcd(c.K, int64_t(4))); // in units of as many floats as are aligned
  step->moves += rowCopies;
  if (!g.ring.bulkCopies) {
    double copies = bytes / 16 + rowCopies, ofThread = copies / double(g.threads);
    step->moves += bytes / 16;
    addToAll(1, Reading::plain(ofThread * 10 + stages * 34));
    step->chain.fp32 += ofThread;
    step->chain.barriers += stages;
  } else if (g.ring.producerWarps) { // nobody waits for it as long as stages are there
    add(32 * stages, Reading::plain(perAsking));
    add(rowCopies, Reading::plain(perCopying / 4));
  } else {
    addToAll(stages, Reading::plain(perNextStage + perAsking / warps() + (streams ? perCopying : 0)));
    addToAll(passes, Reading::plain(perNextPass));
    step->chain.fp32 += rowCopies / double(g.threads);
    step->chain.l2 += passes; // the weight's address
  }
}

/// device/slices.cuh: words and rows come straight to the warp that uses them, half a stage ahead. The sums of all
/// slices are stored stage by stage; they are read once a pass is complete, or once their room is full.
void Counter::countSlices(Contraction c, double bytes) {
  const CudaGeometry &g = geometry;
  double stages = double(c.stages(g)), m = rowTiles(), neighbours = 4 / double(g.warps.panelParts);
  double passes = stages / std::ceil(double(c.K) / double(g.stageK()));
  double meetings = passes * std::ceil(double(c.K) / double(g.stageK() * g.exchange.stages));
  addToAll(stages, Reading::plain(perSlicesStage));
  addToAll(passes, Reading::plain(perSlicesPass));
  double rowBytes = c.readsInput(steps, g) ? passes * rows * double(c.K) * 4 : 0;
  step->l2Bytes += bytes + rowBytes;
  step->ringBytes = bytes + rowBytes;
  step->inFlight = step->ringBytes / stages / 2;
  Reading given = {.moves = m * 4}, added = {.fp32 = double(g.warps.slices) * neighbours,
                                             .integer = perStageOfSums,
                                             .moves = double(g.warps.slices)};
  addToAll(stages, given);
  addToAll(stages, added); // by the threads that have rows
  double words = double(g.threads) * stages * neighbours * 4;
  step->sharedBytes += words * (given.moves + added.moves);
  step->chain.sharedBytes += words * (given.moves + added.moves);
  step->chain.barriers += 2 * meetings - 1; // after the last one the layer's end follows
  step->chain.shared += meetings + stages;
}

/// The number of values shared by all rows of a column from which a step computes what it stores.
static size_t columnsReadBy(const Step &step, const Steps &steps) {
  llvm::DenseSet<std::pair<Value, AffineMap>> found;
  for (Value stored : step.stores)
    for (const EndingValue &each : endingOf(step, stored, steps))
      if (each.kind == EndingValue::column)
        found.insert({each.value, each.access});
  return found.size();
}

/// What all rows of a column share is read before the products, or for a panel while the one before is stored, unless
/// registers have no room for it. If they lack it for one of a kernel's layers, none reads early (device/ending.cuh).
bool Counter::readsColumnsLater() {
  const CudaGeometry &g = geometry;
  if (!g.warps.wide && g.warps.slices == 1 && (g.warps.panels > 1 || g.warps.rowTiles > 2))
    return true;
  return llvm::any_of(steps.steps, [&](const Step &of) { return isOnTensorCores(of) && columnsReadBy(of, steps) > 2; });
}

/// The ending of sums that lie in registers as fragments: a lane has two runs of a panel's neighbouring columns in each
/// of its rows, including rows past the last; with slices it has one.
void Counter::countFragmentsEnd(const Step &of, const Share &own) {
  const CudaGeometry &g = geometry;
  double each = own.busiest.tiles * rowTiles() * 4 / double(g.warps.slices);
  countEnd(of, warpRows() * own.all.tiles * rowTiles() * 4 * 32, each, /*fragments=*/true);
  double ofPanel = g.ring.columnPlaces > 0 ? perBroughtPanel
                   : g.warps.wide          ? perReadPanel
                   : g.warps.slices > 1    ? perRun
                                           : 2 * perRun;
  add(warpRows() * double(g.warps.slices) * own.all.panels * 32, Reading::plain(ofPanel));
  step->chain.fp32 += own.busiest.panels * ofPanel;
  if (readsColumnsLater())
    step->chain.l2 += own.busiest.panels * (g.warps.wide || g.warps.slices > 1 ? 1 : 2);
}

} // namespace tutti
