// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formula.
#include "Predict.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tutti {

namespace {

using Pipes = std::array<double, pipes>;

/// The clocks for which a block keeps each pipe of its processor busy.
Pipes busyOf(const StepWork &step, const DeviceModel &device) {
  bool tensor = step.product != NumericsProduct::fma;
  bool half = step.product == NumericsProduct::bf16 || step.product == NumericsProduct::f16;
  double products = step.products * (step.product == NumericsProduct::tf32x3 ? 3 : 1);
  double fma = tensor ? 0 : products;
  // An mma.sync of a warp does 16 x 8 x 8 products, with 16-bit operands 16 x 8 x 16; a wgmma all columns of 16 x 16.
  double mma = tensor && !step.wide ? products / (half ? 2048 : 1024) * 32 : 0;
  Pipes busy{};
  busy[unsigned(Bound::tensor)] = tensor ? products * step.uneven /
                                               (step.wide ? device.wide / (half ? 1 : 2)
                                                : half    ? device.half
                                                          : device.tf32)
                                         : 0;
  busy[unsigned(Bound::fp32)] = (fma + step.fp32) / device.fp32;
  busy[unsigned(Bound::integer)] = step.integer / DeviceModel::integer;
  busy[unsigned(Bound::fp64)] = step.fp64 / device.fp64;
  busy[unsigned(Bound::special)] = step.special / DeviceModel::special;
  busy[unsigned(Bound::issue)] =
      (fma + mma + step.fp32 + step.integer + step.fp64 + step.special + step.moves) / DeviceModel::issue;
  busy[unsigned(Bound::shared)] = step.sharedBytes / DeviceModel::sharedPath;
  busy[unsigned(Bound::l2)] = step.l2Bytes / DeviceModel::l2Port;
  return busy;
}

/// The clocks of a chain of dependent operations, from the first to the last.
double lengthOf(const Chain &chain, const DeviceModel &device, int threads) {
  return chain.l2 * device.l2Latency + chain.shared * DeviceModel::sharedLatency +
         chain.fp32 * DeviceModel::fp32Latency + chain.mma * DeviceModel::mmaLatency +
         chain.sharedBytes / DeviceModel::sharedPath + chain.barriers * DeviceModel::barrier(threads) +
         chain.clusterBarriers * device.clusterBarrier;
}

/// The clocks that a block takes for its steps.
struct Passage {
  double busy = 0;   ///< of the busiest pipe of each step: what another block on the processor adds
  double alone = 0;  ///< with no other block: the longer of a step's chain and its busiest pipe
  double later = 0;  ///< the same for later blocks, when what blocks share is in the L2 cache
  double layers = 0; ///< the chains
  Pipes pipes{};

  /// Sums what a block does once and what it does for each of its members.
  static Passage through(const KernelWork &work, const DeviceModel &device) {
    Passage all(work.once, work, device), one(work.steps, work, device);
    auto each = double(work.members);
    all.busy += each * one.busy;
    all.alone += one.alone + (each - 1) * one.later;
    all.later += each * one.later;
    all.layers += one.layers;
    for (auto [sum, own] : llvm::zip_equal(all.pipes, one.pipes))
      sum += each * own;
    return all;
  }

  Passage(const std::vector<StepWork> &steps, const KernelWork &work, const DeviceModel &device) {
    int threads = work.ofTask ? work.ofTask : work.threads;
    double all = work.total(&StepWork::l2Bytes), fromDram = work.dramBytes < all ? work.dramBytes / all : 1,
           seldom = work.warm ? 1 : fromDram + (1 - fromDram) * device.l2Latency / device.dramLatency;
    for (const StepWork &step : steps) {
      Pipes own = busyOf(step, device);
      double most = *std::max_element(own.begin(), own.end()), chain = lengthOf(step.chain, device, threads),
             stream = 0;
      // inFlight bytes are on their way at a time, and each takes a latency.
      double inFlight = step.inFlight > 0 ? step.inFlight : work.inFlight;
      if (inFlight > 0)
        stream = (step.inFlight > 0 ? step.ringBytes : step.l2Bytes) *
                 (work.warm ? device.l2Latency : device.dramLatency) / inFlight;
      // Each of the processor's four partitions has some of the warps, which share its pipes.
      int64_t warps = llvm::divideCeil(threads, 128);
      busy += most;
      double contended = rt::sideBySide(warps, most / double(warps), chain);
      alone += std::max(contended, stream);
      later += std::max(contended, stream * seldom);
      layers += chain;
      for (unsigned i = 0; i < own.size(); ++i)
        this->pipes[i] += own[i];
    }
  }
};

/// The clocks of a processor that runs so many blocks of each kind, one kind after the other, `resident` at a time.
double clocksOf(const std::vector<std::pair<Passage, int64_t>> &passages, int resident) {
  double clocks = 0, busy = 0, longest = 0;
  int64_t together = 0;
  bool first = true;
  auto end = [&] {
    clocks += rt::sideBySide(together, busy / double(together), longest);
    busy = longest = 0;
    together = 0;
    first = false;
  };
  for (const auto &[passage, blocks] : passages)
    for (int64_t left = blocks; left;) {
      if (!first && !together && left >= resident) { // many rounds of the same kind
        clocks += double(left / resident) * rt::sideBySide(resident, passage.busy, passage.later);
        left %= resident;
        continue;
      }
      int64_t taken = std::min<int64_t>(left, resident - together);
      busy += double(taken) * passage.busy;
      longest = std::max(longest, first ? passage.alone : passage.later);
      together += taken;
      left -= taken;
      if (together == resident)
        end();
    }
  if (together)
    end();
  return clocks;
}

} // namespace

llvm::StringRef boundName(Bound bound) {
  static constexpr llvm::StringLiteral names[] = {
      "tensor cores", "FP32", "integers", "FP64",  "special functions", "issue", "shared memory",
      "L2 cache",     "DRAM", "latency",  "launch"};
  return names[unsigned(bound)];
}

int64_t KernelWork::launched() const {
  return members == 1 ? blocks : tiles * int64_t(llvm::divideCeil(blocks / tiles, members));
}

int KernelWork::processors(const DeviceModel &device) const {
  return cluster > 2 && device.clustered ? device.clustered : device.processors;
}

double KernelWork::total(double StepWork::*count) const {
  double all = 0;
  for (const KernelWork &part : parts)
    all += part.total(count);
  for (const StepWork &step : once)
    all += step.*count * double(launched());
  for (const StepWork &step : steps)
    all += step.*count * double(blocks);
  for (const StepWork &step : last)
    all += step.*count * double(tiles);
  return all;
}

size_t KernelWork::layers() const {
  size_t most = 0;
  for (const KernelWork &part : each())
    most = std::max(most, part.steps.size() + part.last.size());
  return most;
}

KernelWork together(std::vector<KernelWork> parts) {
  if (parts.size() == 1)
    return std::move(parts.front());
  KernelWork all;
  all.blocks = 0;
  for (const KernelWork &part : parts) {
    all.name += (all.name.empty() ? "" : " + ") + part.name;
    all.blocks += part.blocks;
    all.cluster = std::max(all.cluster, part.cluster);
    all.threads = std::max(all.threads, part.threads);
    all.registers = std::max(all.registers, part.registers);
    all.sharedBytes = std::max(all.sharedBytes, part.sharedBytes);
    all.flops += part.flops;
    all.dramBytes += part.dramBytes;
  }
  all.parts = std::move(parts);
  return all;
}

int residentBlocks(const Architecture &architecture, int threads, int registers, int64_t sharedBytes) {
  // Registers are allocated by 256 a warp, warps by four (one per scheduler), shared memory by 128 bytes:
  // cuda_occupancy.h.
  int64_t warps = llvm::divideCeil(threads, 32), perWarp = llvm::alignTo(registers * 32, 256);
  int64_t byRegisters = Architecture::registersPerBlock / perWarp / 4 * 4 / warps;
  int64_t byShared = architecture.sharedPerProcessor /
                     std::max<int64_t>(1, llvm::alignTo(sharedBytes + architecture.sharedReserved, 128));
  if (threads > Architecture::threadsPerBlock || sharedBytes > architecture.sharedPerBlock)
    return 0;
  return int(std::min<int64_t>(
      {byRegisters, byShared, architecture.threadsPerProcessor / (warps * 32), architecture.blocksPerProcessor}));
}

rt::BlockRoom roomOf(const KernelWork &work, const DeviceModel &device) {
  auto resident = uint64_t(residentBlocks(device.limits(), work.threads, work.registers, work.sharedBytes));
  return {resident, resident * uint64_t(work.processors(device))};
}

int64_t membersOfBlock(const KernelWork &work, const DeviceModel &device) {
  if (!work.persistent || !work.blocks || !work.tiles)
    return 1;
  auto members = uint64_t(work.blocks / work.tiles);
  return int64_t(
      llvm::divideCeil(members, rt::membersAtOnce(uint64_t(work.tiles), members, roomOf(work, device).slots)));
}

rt::BlockCost blockCost(KernelWork full, KernelWork one, int64_t rows, const DeviceModel &device) {
  full.warm = one.warm = true;
  Passage once(full.once, full, device), each(full.steps, full, device), row(one.steps, one, device);
  double bytes = 0;
  for (const StepWork &step : full.steps)
    bytes += step.l2Bytes;
  return {.rows = double(rows),
          .begin = once.alone,
          .alone = each.alone,
          .busy = each.busy,
          .l2 = bytes * device.processors / device.l2,
          .rowAlone = row.alone,
          .rowBusy = row.busy};
}

Prediction predict(const KernelWork &work, const DeviceModel &device) {
  Prediction p;
  const Architecture &limits = device.limits();
  p.resident = residentBlocks(limits, work.threads, work.registers, work.sharedBytes);
  if (p.resident == 0)
    return p;
  int processors = work.processors(device);
  auto seconds = [&](double clocks) { return clocks / device.clock; };
  p.waves = double(work.launched()) / (double(p.resident) * processors);
  p.occupancy = std::min<double>(p.resident, llvm::divideCeil(work.launched(), processors)) *
                llvm::alignTo(work.threads, 32) / limits.threadsPerProcessor;

  p.launch = device.launch;
  p.firstByte = seconds(work.warm ? device.l2Latency : device.dramLatency);
  // The processor with the most blocks decides, unless the memory that all share is slower. Blocks of a part follow
  // those of the parts before it.
  std::vector<std::pair<Passage, int64_t>> passages, lasts;
  int64_t blocks = 0, tiles = 0;
  auto share = [&](int64_t &before, int64_t more) {
    int64_t own = llvm::divideCeil(before + more, processors) - llvm::divideCeil(before, processors);
    before += more;
    return own;
  };
  for (const KernelWork &part : work.each()) {
    passages.push_back({Passage::through(part, device), share(blocks, part.launched())});
    lasts.push_back({Passage(part.last, part, device), share(tiles, part.last.empty() ? 0 : part.tiles)});
    p.layers = std::max(p.layers, seconds(passages.back().first.layers + lasts.back().first.layers));
  }
  double processor = seconds(clocksOf(passages, p.resident));
  p.dram = work.warm ? 0 : work.dramBytes / device.dram;
  p.l2 = seconds(work.total(&StepWork::l2Bytes) / device.l2);
  double body = std::max({processor, p.dram, p.l2}), heads = seconds(clocksOf(lasts, p.resident));
  p.seconds = std::max(p.launch + p.firstByte + body + heads, p.launch + p.firstByte + p.layers);

  for (const auto *of : {&passages, &lasts})
    for (const auto &[passage, count] : *of)
      for (unsigned i = 0; i < pipes; ++i)
        p.busy[i] += seconds(passage.pipes[i] * double(count));
  // The bound is what takes the largest part of the time: a pipe, the memory, or time in which no pipe is busy.
  unsigned pipe = unsigned(std::max_element(p.busy.begin(), p.busy.end()) - p.busy.begin());
  double largest = p.busy[pipe];
  p.bound = Bound(pipe);
  auto larger = [&](double part, Bound bound) {
    if (part > largest)
      largest = part, p.bound = bound;
  };
  larger(p.l2, Bound::l2);
  larger(p.dram, Bound::dram);
  larger(p.firstByte + body + heads - largest, Bound::latency);
  larger(p.launch, Bound::launch);
  return p;
}

} // namespace tutti
