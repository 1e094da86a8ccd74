// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts contractions by fma, as device/contract.cuh and device/tile.cuh compute them, and what follows a sum.
#include "passes/analysis/Products.h"
#include "Counter.h"
#include "Device.h"
#include "passes/analysis/Numerics.h"

#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

using namespace mlir;

namespace tutti {

/// Instructions of a warp that multiplies panels by fma, as NVRTC 13 prints them for sm_90a: finding its panels and
/// rows, which takes divisions; the same for each of its panels; and for the last columns, by a thread or half a warp
/// each.
constexpr double perPanels = 58, perPanel = 50, perLast = 20;

/// A warp's time for products of independent sums, in latencies of one product: it waits for its own longest sum, or
/// for its turn, as `warps` share the processor's four partitions.
static double inTurn(double products, double longest, double warps) {
  return std::max(longest, products * std::ceil(warps / 4) / DeviceModel::fp32Latency);
}

void Counter::countContraction(const Step &of) {
  if (!isPanels(of.contraction))
    return countProduct(of);
  Contraction c(of.contraction);
  bool fragments = c.onTensorCores() && geometry.warps;
  NumericsProduct product = fragments ? c.product : NumericsProduct::fma;
  begin(llvm::Twine(c.K) + " x " + llvm::Twine(c.N) + ", " + stringifyNumericsProduct(product));
  step->product = product;
  step->wide = fragments && geometry.warps.wide;
  if (fragments) {
    Share share = shareOf(c);
    countFragments(c, share);
    // A warp completes its sums before it computes anything from them.
    begin(llvm::Twine(c.K) + " x " + llvm::Twine(c.N) + ", what follows");
    countFragmentsEnd(of, share);
    return;
  }
  touch(c.op.getRhs());
  if (steps.placeOf(c.op.getLhs()).kind != Place::scratch)
    touch(c.op.getLhs());
  if (c.isCopied(steps, geometry)) {
    double elements = rows * double(c.K);
    Reading one = {.integer = 6, .moves = 2};
    add(elements, one);
    step->sharedBytes += elements * 8;
    step->chain.fp32 += std::ceil(elements / double(geometry.threads)) * one.inTurn();
    step->chain.l2 += 1;
    step->chain.barriers += 1;
  }
  if (geometry.persistent && !geometry.keepsAddresses) // for the addresses of the weight and of what its columns read
    step->chain.l2 += 1;
  double each = countPanels(c);
  countEnd(of, rows * double(c.N), each);
}

/// device/tile.cuh: a thread loads a term of its rows and of its columns, four neighbours of a row at once, and
/// multiplies each with each. Neighbouring threads read the same rows.
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
    if (steps.placeOf(operand).kind != Place::scratch)
      touch(operand);
  };
  read(op.getLhs(), rows * K);
  read(op.getRhs(), std::ceil(rows / run) * columns * K); // once for all rows of a run
  double units = groups * std::ceil(columns / double(tile.columns)), each = std::ceil(units / double(geometry.threads));
  double leftLoads = spec.lhs.back() == form.summed ? K / 4 : K, rightLoads = form.transposed ? K / 4 : K;
  double loads = atOnce * leftLoads + double(tile.columns) * rightLoads;
  step->products += units * K * atOnce * double(tile.columns);
  Reading one = {.integer = loads + 40, .moves = loads}; // addresses, and the starts of rows and columns
  add(units, one);
  // A warp reads one word or four of a row, and a word or four of each column.
  step->sharedBytes += units * (atOnce * K * 4 / 32 + double(tile.columns) * K * 4);
  step->chain.shared += each * std::ceil(K / 4);
  step->chain.fp32 +=
      each * (inTurn(K * atOnce * double(tile.columns), K, std::min(std::ceil(units / 32), warps())) + one.inTurn());
  countEnd(of, rows * columns, each * atOnce * double(tile.columns));
}

/// Panels of one width follow each other without a barrier, and so do those of another width. Returns the number of
/// elements that the busiest warp's lanes compute one after the other.
double Counter::countPanels(Contraction c) {
  if (c.onTensorCores()) // on a device without them
    return countPanels(c, llvm::divideCeil(c.N, 32));
  double each = 0;
  std::vector<rt::PanelBlock> blocks = rt::planPanels(c.K, c.N);
  for (size_t i = 0, end = 0; i < blocks.size(); i = end) {
    for (end = i + 1; end < blocks.size() && !blocks[i].lanes && !blocks[end].lanes;)
      if (blocks[end].width == blocks[i].width)
        ++end;
      else
        break;
    each += blocks[i].width <= 8 ? countLast(c, blocks[i]) : countPanels(c, int64_t(end - i));
  }
  return each;
}

/// contract.cuh: a warp's units are panels of 32 columns and some rows, one panel's after the other. A warp that keeps
/// the weights loads them once a panel; otherwise it loads a run at a time for each unit. plain.cuh, on a device
/// without tensor cores, loads a weight and eight elements for each k.
double Counter::countPanels(Contraction c, int64_t panels) {
  Contraction::Walk walk = c.walk();
  double K = double(c.K), atOnce = double(walk.rowsAtOnce);
  double most = 0, loads = 0; // loads of a panel's weights, by a warp and by all
  int64_t groups = int64_t(std::ceil(rows / atOnce)), units = panels * groups, count = int64_t(warps());
  bool plain = c.onTensorCores(), keeps = walk.keepsWeights;
  for (int64_t warp = 0; warp < count; ++warp)
    if (int64_t begin = units * warp / count, end = units * (warp + 1) / count; begin < end) {
      double own = double((end - 1) / groups - begin / groups + 1);
      loads += own, most = std::max(most, own);
    }
  double all = double(units), each = std::ceil(all / warps());
  Reading ofPanel = Reading::plain(perPanel), one; // `one` is for a unit
  (keeps ? ofPanel : one).moves += K;              // the weights
  one.moves += atOnce * (plain ? K : rowLoads(c));
  one.integer = 3 * atOnce + (keeps ? 0 : K); // addresses and the loop
  one.fp32 = std::ceil(K / double(numericsChunk(c.op))) * atOnce;
  addToAll(1, Reading::plain(perPanels));
  add(loads * 32, ofPanel);
  add(all * 32, one);
  step->products += all * K * atOnce * 32;
  step->sharedBytes += (loads * ofPanel.moves + all * one.moves) * 128;
  // A run's weights are loaded together, and the next run waits for its products. What a column reads follows.
  step->chain.l2 += keeps ? most : each * std::ceil(K / (plain ? 4 : double(walk.run)));
  step->chain.l2 += most;
  step->chain.fp32 += most * ofPanel.inTurn() + each * (inTurn(K * atOnce, K, std::min(all, warps())) + one.inTurn());
  return each * std::min(atOnce, rows);
}

/// Loads of a row's elements: four neighbours are one load if the row's layout allows it.
double Counter::rowLoads(Contraction c) {
  bool inScratch = steps.placeOf(c.op.getLhs()).kind == Place::scratch, copied = c.isCopied(steps, geometry);
  return c.K % 4 == 0 || inScratch || copied ? double(c.K / 4 + c.K % 4) : double(c.K);
}

/// The last one to eight columns: one sum per thread, or per half a warp with 16 lanes over k.
double Counter::countLast(Contraction c, const rt::PanelBlock &block) {
  double K = double(c.K), columns = double(block.cols), rounds = std::ceil(K / 16);
  bool ofThread = c.isSumOfThread();
  Reading one = {.fp32 = 4, .integer = rounds * 2 + 20, .moves = rounds * 2 + 4};
  if (ofThread)
    one = {.fp32 = block.lanes ? 15.0 : 0.0, .integer = 20, .moves = K + rowLoads(c)};
  double units = std::ceil(rows * columns / (ofThread ? 32 : 2)), each = std::ceil(units / warps());
  double products = ofThread && !block.lanes ? K : ofThread ? rounds * 16 : rounds;
  addToAll(1, Reading::plain(perLast));
  add(units * 32, one);
  step->products += units * products * 32;
  step->sharedBytes += units * one.moves * 128;
  // The weights, up to sixteen of which are loaded together; half a warp then reads, behind the sum, what the column
  // shares.
  step->chain.l2 += each * (ofThread ? 1 : std::ceil(rounds / 16) + 1);
  step->chain.shared += ofThread ? 0 : each * 4;
  step->chain.fp32 += each * (products + one.inTurn());
  return each;
}

/// What follows the sums in registers: maps of them are computed even if they are stored elsewhere.
void Counter::countEnd(const Step &of, double elements, double each, bool fragments) {
  ContractOp op = of.contraction;
  for (Value value : of.stores) {
    known.clear();
    Reading ofColumn, one;
    for (const EndingValue &needed : endingOf(of, value, steps))
      if (needed.kind == EndingValue::made)
        one += Reading::of(scalarOf(cast<MapOp>(needed.value.getDefiningOp())));
      else if (needed.kind != EndingValue::sum)
        (needed.kind == EndingValue::column ? ofColumn : one) += reading(needed.value);
    Place place = steps.placeOf(value);
    // A lane reads what all rows of a column share once for its rows at a time, unless it is more than two words
    // (device/store.cuh). With fragments, each 16 rows are two of a lane, without a branch between them, and neighbours
    // share one address.
    double atOnce = !isPanels(op)               ? double(ProductTile::of(of, steps, geometry).rows)
                    : !fragments                ? std::min(double(Contraction(op).walk().rowsAtOnce), rows)
                    : geometry.warps.slices > 1 ? 1
                                                : 2 * double(geometry.warps.rowTiles);
    if (fragments)
      ofColumn.integer -= 1.5 * ofColumn.moves;
    step->chain.shared += std::max(one.waits, ofColumn.waits);
    step->chain.l2 += one.far;
    one += ofColumn.times(fragments || ofColumn.moves <= 2 ? 1 / atOnce : 1);
    // On tensor cores a lane's columns are neighbours and are stored four at a time, or as many as a warp has tiles of
    // a panel. All blocks of a cluster receive the activations.
    double together = fragments ? 4 / double(geometry.warps.panelParts) : 1;
    double copies =
        place.kind == Place::scratch && geometry.warps.cluster > 1 ? blocksThatRead(value, steps, geometry) : 1;
    one.integer += fragments ? 1 / together : 4; // row, column and bounds
    if (place.narrow) {
      one.integer += rounding(together);
      countZeros(double(valueOf(RowForm::of(typeOf(value)).columns, sizes)));
    }
    // The sums are shifted to the front for the next run, for the next four rows, and for the next panel.
    if (fragments && geometry.warps.slices == 1 && geometry.warps.panels < 4)
      one.moves += 1.0 + (geometry.warps.rowTiles > 2) + double(geometry.warps.panels - 1);
    double words = one.moves; // except those that are stored
    one.moves += copies / together;
    add(elements, one);
    step->chain.fp32 += each * one.inTurn();
    step->sharedBytes += elements * (place.narrow ? 2 : 4) * copies;
    step->sharedBytes += elements * 4 * words;
    if (place.kind == Place::result)
      step->l2Bytes += bytesOfBlock(value);
  }
}

} // namespace tutti
