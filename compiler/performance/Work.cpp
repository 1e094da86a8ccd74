// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts a kernel step by step, as the skeletons of codegen/cuda/device run it. Blocks are counted as if their tiles
// were full.
#include "Counter.h"
#include "dialects/tutti/Module.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tutti {

int64_t valueOf(const Size &size, const CallSizes &sizes) {
  auto valueOf = [&](StringRef symbol) {
    auto it = sizes.find(symbol.str());
    return it == sizes.end() ? 0 : it->second;
  };
  return size.at(valueOf).value_or(INT64_MAX);
}

KernelWork countKernel(plan::KernelOp kernel, const CudaGeometry &geometry, const CallSizes &sizes) {
  return Counter(kernel, geometry, sizes).count();
}

/// Instructions of a warp, as NVRTC 13 prints them for sm_90a: for the beginning of a block, with a ring and without;
/// for the beginning of each member; and to find the first of the elements that threads compute one by one.
constexpr double perRingsBegin = 85, perBegin = 65, perMembersBegin = 30, perElements = 40;
/// Zeros that pad a row of 16-bit floats to groups of 16, and rounding a single bfloat16, of which two are one
/// instruction.
constexpr double perZeros = 40, perZero = 2.5, perRounded = 6;

KernelWork Counter::count() {
  rowsInAll = product(steps.form.rows);
  rows = std::min<double>(double(geometry.rows), rowsInAll);
  work.name = kernel.getSymName().str();
  work.threads = int(geometry.blockThreads());
  work.ofTask = int(geometry.threads);
  work.sharedBytes = geometry.sharedBytes;
  work.tiles = int64_t(std::ceil(rowsInAll / double(geometry.rows)));
  work.blocks = work.tiles * valueOf(steps.form.members, sizes) * geometry.warps.cluster;
  work.persistent = geometry.persistent;
  work.cluster = geometry.warps.cluster;
  // The most registers that leave room for the blocks of the launch bounds: each of the processor's four partitions has
  // the same number of warps.
  int64_t warps = llvm::alignTo(geometry.residentBlocks * llvm::divideCeil(geometry.blockThreads(), 32), 4);
  work.registers =
      int(std::min<int64_t>(Architecture::registersPerThread, Architecture::registersPerBlock / (warps * 32) / 8 * 8));
  countMemory();
  for (const Step &one : steps.steps) {
    one.contraction ? countContraction(one) : countRows(one);
    // All threads of the block meet after a step, except that heads begin with a barrier of their own, and so does each
    // stage of a ring by cp.async. Blocks of a cluster meet before they hand over their values, which are then on their
    // way for as long as an arrival at the cluster's barrier. At that barrier they meet only where others have written
    // values that are not their own.
    const Step *next = &one == &steps.steps.back() ? nullptr : &one + 1;
    bool ofRing = next && isOnTensorCores(*next) && geometry.warps;
    if (!next || (ofRing && geometry.ring && !geometry.ring.bulkCopies))
      continue;
    bool hands = handsOver(one, next, steps, geometry), own = !one.contraction && storesInScratch(one, steps);
    step->chain.barriers += geometry.warps.cluster == 1 || hands || own;
    step->chain.clusterBarriers += geometry.warps.cluster > 1 && !own;
  }
  countBegin();
  countHeads();
  return std::move(work);
}

/// The beginning of a block, which reads its member's tables, and that of each member. A block with a ring also waits
/// for the data that the tables name and, as one of few on its processor, for parameters and code, which no cache there
/// has.
void Counter::countBegin() {
  if (work.steps.empty()) // heads alone
    begin("begin");
  step = &work.steps.front();
  if (geometry.persistent) {
    addToAll(1, Reading::plain(perMembersBegin));
    step->chain.l2 += geometry.keepsAddresses;
    step = &once();
  }
  addToAll(1, Reading::plain(geometry.warps ? perRingsBegin : perBegin));
  step->chain.l2 += geometry.warps ? 4 : 1;
}

StepWork &Counter::once() {
  if (work.once.empty())
    work.once.push_back({.what = "begin"});
  return work.once.front();
}

double Counter::product(ArrayRef<Size> of) {
  double all = 1;
  for (const Size &size : of)
    all *= double(valueOf(size, sizes));
  return all;
}

double Counter::termsOf(ContractOp op) { return product(op.mixedSizes()); }

static Type elementOf(Value value) { return typeOf(value).getElementType(); }

double Counter::bytesOf(Value value) {
  RankedTensorType type = typeOf(value);
  Sizes own = getSizes(type);
  if (RowForm::of(type).lifted)
    own.erase(own.begin());
  if (ContractOp reader = isa<BlockArgument>(value) ? readerOfWeight(value) : ContractOp()) {
    Contraction c(reader); // weights are stored padded
    return double(rt::layoutBytes(c.layout(), c.K, c.N));
  }
  return product(own) * double(storageBytes(type.getElementType()));
}

double Counter::bytesOfAll(Value value) {
  RankedTensorType type = typeOf(value);
  double copies = RowForm::of(type).lifted ? double(valueOf(getSizes(type).front(), sizes)) : 1;
  return copies * bytesOf(value);
}

double Counter::bytesOfBlock(Value value) {
  RowForm form = RowForm::of(typeOf(value));
  double all = bytesOf(value);
  return form.rows == steps.form.rows && rowsInAll > 0 ? all * rows / rowsInAll : all;
}

void Counter::countMemory() {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (!argument.use_empty())
      work.dramBytes += bytesOfAll(argument);
  for (auto &[value, place] : steps.places)
    if (place.kind == Place::result)
      work.dramBytes += bytesOfAll(value);
  for (HeadOp head : steps.heads)
    if (!steps.isStored(head.getResult()))
      work.dramBytes += bytesOfAll(head.getResult());
  kernel.getBody().walk([&](ContractOp op) {
    if (std::optional<Size> flops = op.flops())
      work.flops += double(valueOf(*flops, sizes));
  });
}

void Counter::begin(const llvm::Twine &what) {
  work.steps.push_back({.what = what.str()});
  step = &work.steps.back();
  readers = INFINITY;
}

void Counter::touch(Value value, bool neighbours) {
  constexpr double sector = 32; // bytes, the least that the L2 cache delivers
  double each = neighbours ? double(storageBytes(typeOf(value).getElementType())) : sector;
  if (touched.insert(value).second)
    step->l2Bytes += std::min(bytesOfBlock(value), readers * each);
}

ScalarWork Counter::scalarOf(MapOp map) {
  auto [it, fresh] = scalars.try_emplace(map);
  if (fresh)
    it->second = countScalar(map);
  return it->second;
}

Reading Counter::element(Value value) {
  known.clear();
  return computing(value);
}

Reading Counter::reading(Value value, bool neighbours) {
  if (!known.insert(value).second)
    return {};
  if (!steps.isStored(value))
    return computing(value);
  bool isFar = steps.placeOf(value).kind != Place::scratch;
  if (isFar)
    touch(value, neighbours);
  return {.integer = 2, .moves = 1, .waits = 1, .far = double(isFar)}; // with its address
}

/// Whether consecutive elements along a dimension are neighbours in memory.
static bool goesAlong(AffineMap access, unsigned dim) {
  if (access.getNumResults() == 0)
    return false;
  AffineExpr last = access.getResults().back(), step = getAffineDimExpr(dim, access.getContext());
  AffineExpr rest = simplifyAffineExpr(last - step, access.getNumDims(), access.getNumSymbols());
  return last.isFunctionOfDim(dim) && !rest.isFunctionOfDim(dim);
}

Reading Counter::computing(Value value) {
  Operation *op = value.getDefiningOp();
  Reading all;
  if (auto map = dyn_cast<MapOp>(op)) {
    for (auto [i, input] : llvm::enumerate(map.getInputs()))
      all += reading(input, goesAlong(map.getAccess(i), typeOf(value).getRank() - 1));
    all += Reading::of(scalarOf(map));
    return all;
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (Value input : concat.getInputs()) {
      Reading one = reading(input);
      if (one.fp32 + one.integer + one.moves > all.fp32 + all.integer + all.moves)
        all = one;
    }
    all.integer += double(concat.getInputs().size());
    return all;
  }
  if (auto gather = dyn_cast<GatherOp>(op)) {
    all += reading(gather.getIndices());
    all += reading(gather.getX());
    all.integer += 8, all.waits += 1;
    return all;
  }
  if (auto contract = dyn_cast<ContractOp>(op)) {
    llvm::SaveAndRestore terms(readers, readers * termsOf(contract));
    all += reading(contract.getLhs());
    all += reading(contract.getRhs());
    all += Reading::arithmetic(elementOf(value), 1); // the fma
    all += {.integer = 2};                           // the loop
    return all.times(termsOf(contract));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    double terms = 1;
    Sizes own = getSizes(typeOf(reduce.getX()));
    for (int64_t axis : reduce.getAxes())
      terms *= double(valueOf(own[axis], sizes));
    llvm::SaveAndRestore inAll(readers, readers * terms);
    all += reading(reduce.getX());
    all += Reading::arithmetic(elementOf(value), 1);
    all += {.integer = 2};
    return all.times(terms);
  }
  if (auto arg = dyn_cast<ArgOp>(op)) {
    double terms = double(valueOf(getSizes(typeOf(arg.getX()))[arg.getAxis()], sizes));
    llvm::SaveAndRestore inAll(readers, readers * terms);
    all += reading(arg.getX());
    all += Reading::arithmetic(elementOf(arg.getX()), 1); // the comparison
    all += {.integer = 7};                                // the key
    return all.times(terms);
  }
  return {.integer = 1};
}

double Counter::sharedBytesOf(Value value) {
  return std::max<double>(4, double(storageBytes(elementOf(value)))); // 16-bit floats and less lie as they are computed
}

void Counter::add(double elements, const Reading &one) {
  step->fp32 += elements * one.fp32;
  step->integer += elements * one.integer;
  step->special += elements * one.special;
  step->fp64 += elements * one.fp64;
  step->moves += elements * one.moves;
}

void Counter::addToAll(double each, const Reading &one) {
  add(each * double(geometry.threads), one);
  step->chain.fp32 += each * one.inTurn();
}

void Counter::countElements(double elements, const Reading &one, Value stored) {
  double each = std::ceil(elements / double(geometry.threads));
  Reading own = one;
  Place place = stored ? steps.placeOf(stored) : Place{};
  own += {.integer = 6 + (place.narrow ? rounding(1) : 0), .moves = 1}; // the loop, row and column, and its store
  add(elements, own);
  add(std::min(double(geometry.threads), std::ceil(elements / 32) * 32), Reading::plain(perElements));
  step->sharedBytes += elements * (stored ? sharedBytesOf(stored) : 4) * own.moves;
  step->chain.fp32 += perElements + each * own.inTurn();
  step->chain.shared += each * one.waits;
  step->chain.l2 += one.far; // only the first time; then they are in L1
  if (place.narrow)
    countZeros(double(valueOf(RowForm::of(typeOf(stored)).columns, sizes)));
  if (place.kind == Place::result)
    step->l2Bytes += bytesOfBlock(stored);
}

/// Counts the zeros behind rows of 16-bit floats with so many columns, one thread per row.
void Counter::countZeros(double columns) {
  double zeros = std::ceil(columns / 16) * 16 - columns;
  if (zeros == 0)
    return;
  Reading ofRow = Reading::plain(perZeros + perZero * zeros);
  add(std::ceil(rows / 32) * 32, ofRow);
  step->chain.fp32 += ofRow.inTurn();
}

/// Instructions to round an element for a row of 16-bit floats that stores `together` of them at once.
double Counter::rounding(double together) {
  bool alone = getPrecision(kernel->getParentOfType<ModuleOp>()) == Precision::bf16 && together == 1;
  return alone ? perRounded : 1 / std::min(2.0, together);
}

namespace {
/// How a phase goes over a row: its passes from end to end, its trees over the lanes, and the integer instructions for
/// an element's key and place.
struct RowPhase {
  double passes, trees, keys;
};
} // namespace

/// The phase of an op on rows of which each lane has `each` elements.
static RowPhase phaseOf(Operation *op, double each) {
  return llvm::TypeSwitch<Operation *, RowPhase>(op)
      .Case([](ReduceOp) { return RowPhase{1, 1, 0}; })
      .Case([](ArgOp) { return RowPhase{1, 1, 7}; })
      // A scan shuffles for every sixteen elements.
      .Case([&](ScanOp) { return RowPhase{1, each, 0}; })
      // A top-k passes over the row once for each element that it chooses.
      .Case([](TopOp top) { return RowPhase{double(top.getCount()), double(top.getCount()), 7}; })
      .DefaultUnreachable("every phase of a row is listed");
}

/// Counts rows: half a warp computes a phase of a row; everything else is computed element by element.
void Counter::countRows(const Step &of) {
  for (Value value : of.stores) {
    Operation *op = value.getDefiningOp();
    if (auto scatter = dyn_cast<ScatterOp>(op)) {
      countScatter(scatter);
      continue;
    }
    begin(op->getName().stripDialect());
    if (!isRowPhase(op)) {
      readers = rows * double(valueOf(RowForm::of(typeOf(value)).columns, sizes));
      countElements(readers, element(value), value);
      continue;
    }
    Value x = op->getOperand(0);
    double columns = double(valueOf(RowForm::of(typeOf(x)).columns, sizes)), lanes = rows * 16;
    double rounds = std::ceil(lanes / double(geometry.threads)), each = std::ceil(columns / 16);
    auto [passes, trees, keys] = phaseOf(op, each);
    known.clear();
    Reading one = reading(x);
    Reading tree = Reading::arithmetic(elementOf(x), 4);
    tree += {.integer = 8, .moves = 4};
    step->sharedBytes += lanes * sharedBytesOf(x) * (each * passes * one.moves + 4 * trees);
    one += Reading::arithmetic(elementOf(x), 1);
    one += {.integer = 3 + keys};
    add(lanes * each * passes, one);
    add(lanes * trees, tree);
    step->chain.fp32 += rounds * (each * passes * one.inTurn() + trees * tree.inTurn());
    step->chain.shared += rounds * (passes * one.waits + 4 * trees);
  }
}

/// A scatter copies x element by element; then one thread per lane of a row's blocks applies the updates.
void Counter::countScatter(ScatterOp op) {
  begin("scatter");
  auto columnsOf = [&](Value value) { return double(valueOf(RowForm::of(typeOf(value)).columns, sizes)); };
  known.clear();
  countElements(rows * columnsOf(op.getX()), reading(op.getX()), op.getResult());
  known.clear();
  double updates = columnsOf(op.getUpdates());
  Reading one = reading(op.getIndices());
  one += reading(op.getUpdates());
  one += Reading::arithmetic(elementOf(op.getX()), 1);
  one += {.integer = 10, .moves = 2, .waits = 2};
  add(rows * updates, one);
  step->sharedBytes += rows * updates * sharedBytesOf(op.getX()) * one.moves;
  double width = double(op.getWidth().value_or(1));
  double each = std::ceil(rows * width / double(geometry.threads)) * updates / width;
  step->chain.fp32 += each * one.inTurn();
  step->chain.shared += each * one.waits;
  step->chain.barriers += 1;
}

/// The lanes that share the members of one answer (device/head.cuh, Sharers).
static double sharersOf(HeadKind kind, double count) {
  bool shares = kind == HeadKind::quantile || kind == HeadKind::vote;
  return shares ? std::exp2(std::ceil(std::log2(std::min(count, 32.0)))) : 1;
}

/// The work of one answer for `count` members' elements, or for as many rows of `columns` elements that vote, over all
/// sharers.
static Reading ofHead(HeadOp head, double count, double columns) {
  Type element = elementOf(head.getX());
  auto linear = [&](double each, double reads) {
    Reading one = Reading::arithmetic(element, each * count);
    one += {.integer = 3 * reads * count, .moves = reads * count};
    return one;
  };
  switch (head.getKind()) {
  case HeadKind::mean:
    return linear(1, 1);
  case HeadKind::var:
  case HeadKind::std:
    return linear(4, 2);
  case HeadKind::min:
  case HeadKind::max:
    return linear(2, 1);
  case HeadKind::quantile: {
    // Up to a warp's lanes, each lane has one member and sees all; beyond that there is a pass for each bit of the
    // keys, whose counts the lanes add up.
    double lanes = sharersOf(head.getKind(), count);
    if (count <= lanes)
      return {.integer = 5 * lanes * count, .moves = lanes * count + count};
    double passes = 8 * double(storageBytes(element)) + 2, shuffles = passes * lanes * std::log2(lanes);
    return {.integer = 6 * passes * count + 2 * shuffles, .moves = passes * count + shuffles};
  }
  case HeadKind::vote: {
    // A pass for each distinct value; there may be as many as members.
    double values = isa<FloatType>(element) ? std::min(columns, count) : count;
    Reading one = isa<FloatType>(element) ? linear(2 * columns, columns) : Reading();
    one += {.integer = 5 * values * count, .moves = values * count};
    return one;
  }
  }
  llvm_unreachable("every kind of head is listed");
}

void Counter::countHeads() {
  if (steps.heads.empty())
    return;
  double count = double(valueOf(steps.form.members, sizes));
  std::vector<StepWork> own = std::move(work.steps);
  work.steps.clear();
  for (HeadOp head : steps.heads) {
    double columns = double(valueOf(RowForm::of(typeOf(head.getX())).columns, sizes));
    bool rowsVote = head.votesByScores();
    double elements = rows * (rowsVote ? 1 : columns);
    begin("head " + stringifyHeadKind(head.getKind()));
    step->l2Bytes = rows * columns * count * double(storageBytes(elementOf(head.getX()))) +
                    elements * double(storageBytes(elementOf(head.getResult())));
    double lanes = sharersOf(head.getKind(), count);
    Reading one = ofHead(head, count, columns).times(1 / lanes);
    one += {.special = 1};
    countElements(elements * lanes, one, Value());
    // The members' values are loaded a few at a time, from the L2 cache: other processors wrote them.
    step->chain.l2 = std::ceil(elements / double(geometry.threads)) * std::ceil(count / 4);
  }
  // The ticket: a fence, an addition in the L2 cache, and a fence.
  work.steps.front().chain.l2 += 3;
  work.steps.front().chain.barriers += 2;
  work.last = std::move(work.steps);
  work.steps = std::move(own);
}

} // namespace tutti
