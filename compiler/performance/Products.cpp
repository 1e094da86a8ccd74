// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting contractions as device/contract.cuh, device/tensor.cuh and device/tile.cuh do them.
#include "passes/analysis/Products.h"
#include "Counter.h"
#include "Device.h"
#include "passes/analysis/Numerics.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace tutti {

/// Instructions of an element of the rows, and of one of the weights, that becomes part of a fragment:
/// device/product.cuh as NVRTC 13 prints it for sm_90. Two 16-bit elements share one; weights of 16 bits are stored as
/// fragments want them.
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
/// Hopper's peak, of which they reach 62.9 % (Devices.cpp, [L]). Other devices are taken to be alike.
constexpr double mmaInterval = 4 / 0.629;

/// What a block makes of a contraction on tensor cores; where a cluster shares it, the first block, which has most.
Counter::Share Counter::shareOf(Contraction c) {
  Share share;
  const CudaGeometry &g = geometry;
  std::vector<rt::FragmentPanel> panels = rt::planFragments(layoutOf(c), c.K, c.N);
  int64_t passPanels = g.warpColumns * g.warpPanels, count = int64_t(panels.size());
  int warpRows = int(std::min<double>(g.warpRows, std::ceil(rows / (16 * g.rowTiles))));
  // A panel makes as many tiles as the widest of the kernel's has, and throws away what it lacks.
  int64_t widest = 1;
  for (const Step &other : steps.steps)
    if (other.contraction && Contraction(other.contraction).onTensorCores())
      widest = std::max(
          widest,
          std::min<int64_t>(4, llvm::bit_floor(uint64_t(llvm::divideCeil(Contraction(other.contraction).N, 8)))));
  int64_t most = 4 / g.panelWarps; // of a panel's tiles, that a warp has
  double parts[4] = {}, all = 0;
  for (int64_t from = 0; from < count; from += passPanels * g.cluster)
    for (int64_t i = 0; i < passPanels && from + i < count; ++i) {
      share.tiles += double(panels[from + i].tiles);
      for (int of = 0; of < g.panelWarps && of * most < int64_t(panels[from + i].tiles); ++of) {
        share.panels += 1;
        share.made += g.wide ? double(panels[from + i].tiles) : double(std::min(widest, most));
        share.visits += i < g.warpColumns;
        // device/shape.cuh: the warps that have this part of a panel, one of each row and slice; of the processor's
        // parts, warp w is on w % 4.
        for (int row = 0; row < warpRows; ++row)
          for (int slice = 0; slice < g.slices; ++slice) {
            int shift = g.wide ? 0 : row * (g.warpColumns / g.warpRows),
                column = int(i + g.warpColumns - shift) % g.warpColumns;
            parts[(((row * g.warpColumns + column) * g.panelWarps + of) * g.slices + slice) % 4] += 1, all += 1;
          }
      }
    }
  share.uneven = *std::max_element(parts, parts + 4) * 4 / all;
  return share;
}

void Counter::countContraction(const Step &of) {
  if (!isPanels(of.contraction))
    return countProduct(of);
  Contraction c(of.contraction);
  bool fragments = c.onTensorCores() && geometry.warpRows;
  NumericsProduct product = fragments ? c.product : NumericsProduct::fma;
  begin(llvm::Twine(c.K) + " x " + llvm::Twine(c.N) + ", " + stringifyNumericsProduct(product));
  step->product = product;
  step->wide = fragments && geometry.wide;
  if (fragments) {
    Share share = shareOf(c);
    countFragments(c, share);
    // A warp's sums are done before it makes anything of them.
    begin(llvm::Twine(c.K) + " x " + llvm::Twine(c.N) + ", what follows");
    countEnd(of, std::min(double(c.N), share.tiles * 8), /*fragments=*/true);
    step->uneven = 1;
    return;
  }
  touch(c.op.getRhs());
  if (steps.places.lookup(c.op.getLhs()).kind != Place::scratch)
    touch(c.op.getLhs());
  if (copiesRows(c)) {
    double elements = rows * double(c.K);
    step->moves += elements * 2;
    step->sharedBytes += elements * 8;
    step->integer += elements * 6;
    step->chain.l2 += 1;
    step->chain.barriers += 1;
  }
  countPanels(c);
  countEnd(of, double(c.N));
}

/// device/tile.cuh: a thread loads a term of its rows and of its columns, four rows' neighbours at once, and multiplies
/// each with each. Threads beside each other ask for the same rows.
void Counter::countProduct(const Step &of) {
  ContractOp op = of.contraction;
  ContractSpec spec = op.labels();
  ProductForm form = *ProductForm::of(op);
  ProductTile tile = ProductTile::of(of, steps, geometry);
  double K = termsOf(op), columns = double(valueOf(RowForm::of(op.getType()).columns, sizes));
  begin(op.getSpec() + ", fma");
  double run = std::min(product(ArrayRef(steps.form.rows).take_back(form.run)), rows), atOnce = double(tile.rows);
  double groups = rows / run * std::ceil(run / atOnce);
  auto read = [&](Value operand, double terms) {
    llvm::SaveAndRestore asked(readers, terms);
    if (steps.places.lookup(operand).kind != Place::scratch)
      touch(operand);
  };
  read(op.getLhs(), rows * K);
  read(op.getRhs(), std::ceil(rows / run) * columns * K); // once for all rows of a run
  double units = groups * std::ceil(columns / double(tile.columns)), each = std::ceil(units / double(geometry.threads));
  double leftLoads = spec.lhs.back() == form.summed ? K / 4 : K, rightLoads = form.transposed ? K / 4 : K;
  double loads = atOnce * leftLoads + double(tile.columns) * rightLoads;
  step->products += units * K * atOnce * double(tile.columns);
  step->moves += units * loads;
  // What a warp asks for of a row is one word or four, of the columns a word or four each.
  step->sharedBytes += units * (atOnce * K * 4 / 32 + double(tile.columns) * K * 4);
  step->integer += units * (loads + 40); // addresses, and where rows and columns begin
  step->chain.shared += each * std::ceil(K / 4);
  step->chain.fp32 += each * (K + 20);
  countEnd(of, columns);
}

/// Panels of a width follow each other without a barrier, and so do those of another width.
void Counter::countPanels(Contraction c) {
  if (c.onTensorCores()) { // on a device without them
    countPanels(c, llvm::divideCeil(c.N, 32));
    return;
  }
  std::vector<rt::PanelBlock> blocks = rt::planPanels(c.K, c.N);
  for (size_t i = 0, end = 0; i < blocks.size(); i = end) {
    for (end = i + 1; end < blocks.size() && !blocks[i].lanes && !blocks[end].lanes;)
      if (blocks[end].width == blocks[i].width)
        ++end;
      else
        break;
    if (blocks[i].width <= 8)
      countLast(c, blocks[i]);
    else
      countPanels(c, int64_t(end - i));
  }
}

/// contract.cuh: a warp's units are panels of 32 columns and some rows, one panel's after the other. Where it keeps the
/// weights it loads them once a panel, else eight at a time for each unit. tensor.cuh, on a device without tensor
/// cores: a weight and eight elements for each k.
void Counter::countPanels(Contraction c, int64_t panels) {
  double K = double(c.K), atOnce = rowsAtOnce(c), most = 0, loads = 0; // of a panel's weights, by a warp and by all
  int64_t groups = int64_t(std::ceil(rows / atOnce)), units = panels * groups, count = int64_t(warps());
  bool plain = c.onTensorCores(), keeps = keepsWeights(c);
  for (int64_t warp = 0; keeps && warp < count; ++warp)
    if (int64_t begin = units * warp / count, end = units * (warp + 1) / count; begin < end) {
      double own = double((end - 1) / groups - begin / groups + 1);
      loads += own, most = std::max(most, own);
    }
  double all = double(units), each = std::ceil(all / warps());
  double words = (keeps ? loads : all) * K + all * atOnce * (plain ? K : rowLoads(c));
  step->products += all * K * atOnce * 32;
  step->moves += words * 32;
  step->sharedBytes += words * 128;
  step->integer += (all * 3 * atOnce + (keeps ? 0 : all * K)) * 32; // addresses and the loop
  step->fp32 += all * std::ceil(K / double(numericsChunk(c.op))) * atOnce * 32;
  // The weights of a run are loaded together, and the next run waits for its products.
  step->chain.l2 += keeps ? most : each * std::ceil(K / (plain ? 4 : 8));
  step->chain.fp32 += each * K;
}

/// Of few k the weights of a column stay in registers.
bool Counter::keepsWeights(Contraction c) {
  return !c.onTensorCores() && c.K <= std::min<int64_t>(24, numericsChunk(c.op));
}
double Counter::rowsAtOnce(Contraction c) { return keepsWeights(c) ? 4 : 8; }

/// Of the elements of a row: four neighbours are one load, where they lie so.
double Counter::rowLoads(Contraction c) {
  bool inScratch = steps.places.lookup(c.op.getLhs()).kind == Place::scratch, copied = copiesRows(c);
  return c.K % 4 == 0 || inScratch || copied ? double(c.K / 4 + c.K % 4) : double(c.K);
}
bool Counter::copiesRows(Contraction c) { return geometry.copyOffset >= 0 && c.copiesRows(steps); }

/// The last one to eight columns: up to 64 k a thread a sum, else half a warp, 16 lanes over k.
void Counter::countLast(Contraction c, const rt::PanelBlock &block) {
  double K = double(c.K), columns = double(block.cols), rounds = std::ceil(K / 16);
  if (K <= 64) {
    double units = std::ceil(rows * columns / 32), words = units * (K + rowLoads(c));
    step->products += units * (block.lanes ? rounds * 16 : K) * 32;
    step->moves += words * 32;
    step->sharedBytes += words * 128;
    step->fp32 += units * (block.lanes ? 15 * 32 : 0);
    step->integer += units * 20 * 32;
    step->chain.l2 += std::ceil(units / warps());
    step->chain.fp32 += std::ceil(units / warps()) * (block.lanes ? rounds + 4 : K);
    return;
  }
  double pairs = std::ceil(rows * columns / 2), each = std::ceil(pairs / warps());
  step->products += pairs * rounds * 32;
  step->moves += pairs * (rounds * 2 + 4) * 32;
  step->sharedBytes += pairs * (rounds * 2 + 4) * 128;
  step->fp32 += pairs * 4 * 32;
  step->integer += pairs * (rounds * 6 + 12) * 32;
  step->chain.l2 += each * rounds;
  step->chain.shared += each * 4;
  step->chain.fp32 += each * (rounds + 4);
}

/// tensor.cuh: a grid of warps, each with 16 rowTiles rows and a panel of up to four tiles of eight columns; a stage of
/// the ring has 32 k of a pass's panels for each slice.
void Counter::countFragments(Contraction c, Share own) {
  double groups = std::ceil(double(c.K) / 16), stages = double(c.stages(geometry)), m = geometry.rowTiles;
  double warpRows = std::min<double>(geometry.warpRows, std::ceil(rows / (16 * m)));
  if (geometry.wide) // a warpgroup is never a part of one
    warpRows = std::ceil(warpRows / 4) * 4;
  double words = c.wordBytes() == 2 ? 2 : 4; // registers of 16 k of a weight's column and lane
  Conversion each = conversionOf(step->product);
  Place left = steps.places.lookup(c.op.getLhs());
  // Rows of an input come with the weights, or slices read them themselves, a stage ahead.
  bool streams = c.streamsRows(steps, geometry), readAhead = c.readsInput(steps, geometry) && !streams;
  bool chunks = step->product == NumericsProduct::tf32x3, copied = geometry.copyOffset >= 0 && c.copiesRows(steps),
       halves = left.narrow || copied;
  if (halves) // they are in shared memory as fragments want them
    each.left = {};
  if (copied) { // device/rows.cuh: eight loads of four elements at a time by each thread
    double elements = rows * double(c.K), threads = double(geometry.threads);
    // All of a block's members have the rows of one input in common.
    StepWork &own = geometry.persistent && !RowForm::of(typeOf(c.op.getLhs())).lifted ? once() : *step;
    own.moves += elements / 2;
    own.integer += elements * 3;
    own.sharedBytes += elements * 2;
    own.l2Bytes += elements * 4;
    own.chain.l2 += std::ceil(elements / (threads * 32));
    own.chain.barriers += 1;
  }

  // Each row of warps reads all weights, and each warp that has panels all of its rows.
  double visits = warpRows * groups * 32; // lanes, in a group of 16 k
  step->products += warpRows * 16 * m * groups * 16 * own.made * 8;
  step->uneven = own.uneven;
  // Of a warpgroup the tensor cores read the weights themselves, once for four warps, and a warp its rows once for all
  // its panels.
  double reads = geometry.wide ? std::ceil(own.panels / double(geometry.warpPanels)) : own.visits;
  step->moves += visits * (reads * (halves ? 1 : words == 2 ? 4 : 2) * m + (geometry.wide ? 0 : own.made * words / 4));
  step->sharedBytes += visits * (reads * 2 * m * (halves ? 8 : 16) + own.made * words * (geometry.wide ? 1 : 4));
  double rowElements = visits * reads * 8 * m, weightElements = visits * own.made * 4;
  step->fp32 += rowElements * each.left.fp32 + weightElements * each.right.fp32;
  step->integer += rowElements * each.left.integer + weightElements * each.right.integer;
  step->integer += visits * (geometry.wide ? reads * 8 : own.visits + own.panels * words / 2); // addresses
  if (chunks) // a group is added up by itself, and then the pair of groups
    step->fp32 += visits * 4 * m * own.made * 1.5;

  // The ring: of each byte one copy. By cp.async every thread asks for 16 bytes at a time and looks up which stage is
  // next. Copies in bulk are asked for by one warp, rows by cp.async of all threads, or of a producer. (Instructions as
  // NVRTC 13 prints them for sm_90: of each warp 40 a stage and 180 a pass, of one warp 60 to ask for a stage.)
  double passes = stages / std::ceil(double(c.K) / double(geometry.stageK())), warps = double(geometry.threads) / 32;
  double weights = groups * 16 * own.tiles * 8 * double(c.wordBytes());
  double streamed = streams ? passes * rows * double(c.K) * 4 : 0;
  step->l2Bytes += weights + streamed;
  step->sharedBytes += weights + streamed;
  step->ringBytes = weights + streamed;
  // In bulk without a producer the stage that is asked for is one that was left a turn ago.
  int64_t ahead = geometry.producerWarps ? 0 : geometry.bulkCopies ? 2 : 1;
  step->inFlight = double(std::max<int64_t>(1, geometry.stages - ahead)) * (weights + streamed) / stages;
  if (readAhead) {
    double elements = rows * double(c.K), ofStage = rows * double(geometry.stageK());
    step->l2Bytes += passes * elements * 4;
    if (double ofRows = elements / ofStage; ofRows > step->ringBytes / step->inFlight) // the slower of two streams
      step->ringBytes = elements * 4, step->inFlight = ofStage * 4;
  }
  double turns = 32 * (passes * warps * 180 + stages * warps * 40);
  double rowCopies = streamed / double(4 * std::gcd(c.K, int64_t(4))); // of as many floats as are aligned
  if (geometry.bulkCopies) {
    step->moves += rowCopies;
    turns += 32 * stages * (60 + (streams ? 30 * warps : 0));
  } else {
    double copies = weights / 16 + rowCopies;
    step->moves += copies;
    turns += copies * 10 + stages * double(geometry.threads) * 34;
    step->chain.barriers += stages;
  }
  step->integer += turns / 2; // the others are multiplications and moves, which IMAD does beside fma, and branches
  step->fp32 += turns / 2;
  // A warp does these one after the other: some 25 that wait for each other to leave a stage and take the next, 80
  // before a pass.
  step->chain.fp32 += stages * 25 + passes * 80;
  step->chain.shared += stages; // the stage's barrier

  // A stage: all wait for it and read its first fragments. Each pair of groups of 16 k is converted and multiplied, and
  // the chunk's sum is added; a slice has its share of the pairs.
  // The groups of a pair are sums of their own where there are chunks, else they are one chain.
  double products = chunks ? 6 : 2 * (step->product == NumericsProduct::tf32 ? 2 : 1);
  double pairs = passes * std::ceil(double(c.K) / double(32 * geometry.slices));
  bool inShared = streams || left.kind == Place::scratch;
  if (readAhead) // a pass begins with a wait for its first rows
    step->chain.l2 += passes;
  else
    (inShared ? step->chain.shared : step->chain.l2) += stages;
  step->chain.fp32 += pairs * (each.left.fp32 + each.left.integer + 4);
  // A warpgroup reads half a stage while the half before is multiplied, which takes as long as its columns do, and
  // waits for a pass' last.
  if (geometry.wide) {
    step->chain.mma += passes;
    step->chain.fp32 += groups * own.tiles / double(geometry.warpColumns) + stages * 8;
  } else {
    // Products of other sums stand between two of one sum: tiles, rows, and of chunks the other group.
    double between = own.made / own.panels * m * (chunks ? 2 : 1) - 1;
    step->chain.mma += pairs * products * std::max(0.0, 1 - between * mmaInterval / DeviceModel::mmaLatency);
  }
  if (geometry.slices > 1) {                                        // the slices' sums meet in shared memory
    double lanes = warpRows * std::ceil(double(c.K) / 32) * 4 * 32; // of a sum of 32 k in 8 columns
    step->moves += lanes * 2 * m;
    step->sharedBytes += lanes * 2 * m * 16;
    step->fp32 += lanes * 4 * m;
    step->chain.barriers += stages * 2 - 1; // the last time the layer's end follows
    step->chain.shared += stages;
    step->chain.fp32 += stages * geometry.slices;
  }
}

/// What follows the sums, from the registers: of each row `columns` elements.
void Counter::countEnd(const Step &of, double columns, bool fragments) {
  ContractOp op = of.contraction;
  double elements = rows * columns;
  for (Value value : of.stores) {
    known.clear();
    Reading ofColumn, one = throughRegisters(value, op.getResult(),
                                             ownRow(RowForm::of(typeOf(value)), kernel.getContext()), ofColumn);
    Place place = steps.places.lookup(value);
    // What all rows of a column share a lane reads once for its rows at a time, unless it is more than two words
    // (device/store.cuh). Of fragments each 16 rows are two of a lane.
    double atOnce = !isPanels(op)         ? double(ProductTile::of(of, steps, geometry).rows)
                    : !fragments          ? std::min(rowsAtOnce(Contraction(op)), rows)
                    : geometry.slices > 1 ? 1
                                          : 2 * geometry.rowTiles;
    step->chain.fp32 += one.depth + ofColumn.depth + 4; // a lane's sums are independent of each other
    step->chain.shared += std::max(one.waits, ofColumn.waits);
    one += ofColumn.times(ofColumn.moves <= 2 ? 1 / atOnce : 1);
    // On tensor cores a lane's columns are neighbours and go out four at a time; all blocks of a cluster are given the
    // activations.
    double each = fragments ? 4 : 1;
    double copies = place.kind == Place::scratch && geometry.cluster > 1 ? blocksThatRead(value, geometry) : 1;
    add(elements, one);
    step->integer += elements * 4 / each; // row, column and bounds
    step->moves += elements * copies / each;
    if (fragments &&
        geometry.slices == 1) // the next run's sums go where the first were, the next four rows', the next panel's
      step->moves += elements * (geometry.wide ? double(geometry.warpPanels > 4)
                                               : 1.0 + (geometry.rowTiles > 2) + (geometry.warpPanels - 1));
    if (fragments) // a run has its bounds, and its columns are read, before anything is made of it
      step->chain.fp32 += 2 * geometry.warpPanels * 25;
    step->sharedBytes += elements * (place.narrow ? 2 : 4) * copies;
    step->sharedBytes += elements * 4 * one.moves;
    if (place.kind == Place::result)
      step->l2Bytes += bytesOfBlock(value);
  }
}

Reading Counter::throughRegisters(Value value, Value sums, AffineMap access, Reading &ofColumn) {
  if (value == sums)
    return {};
  auto map = value.getDefiningOp<MapOp>();
  if (!map || !isMadeOf(value, sums)) {
    Reading one = reading(value);
    if (!isOfColumn(access))
      return one;
    ofColumn += one;
    return {};
  }
  if (!known.insert(value).second)
    return {};
  Reading all;
  for (auto [i, input] : llvm::enumerate(map.getInputs()))
    all += throughRegisters(input, sums, operandAccess(map, i, access), ofColumn);
  all += Reading::of(scalarOf(map));
  return all;
}

} // namespace tutti
