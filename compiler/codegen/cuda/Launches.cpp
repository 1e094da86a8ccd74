// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches are one, and how their geometries go together.
#include "Launches.h"
#include "Contraction.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Target.h"
#include "runtime/schema/Limits.h"

using namespace mlir;

namespace tutti {

namespace {

std::vector<CudaGeometry> withoutClusters(plan::KernelOp kernel, const Architecture &architecture) {
  std::vector<CudaGeometry> geometries = cudaGeometries(kernel, architecture, /*sharesLaunch=*/true);
  llvm::erase_if(geometries, [](const CudaGeometry &g) { return g.warps.cluster > 1; });
  return geometries;
}

/// The threads of a kernel's block; 0 if tiles differ in it, or if the kernel does not run on the architecture.
int64_t threadsOf(plan::KernelOp kernel, const Architecture &architecture) {
  std::vector<CudaGeometry> ways = withoutClusters(kernel, architecture);
  bool equal =
      !ways.empty() && llvm::all_of(ways, [&](const CudaGeometry &g) { return g.threads == ways.front().threads; });
  return equal ? ways.front().threads : 0;
}

/// The multiply-adds of a row, a measure of how long a task takes relative to others.
int64_t workOf(plan::KernelOp kernel) {
  int64_t all = 0;
  kernel.walk([&](ContractOp op) {
    if (isPanels(op))
      all += Contraction(op).K * Contraction(op).N;
  });
  return all;
}

/// Collects launches that become one.
class Together {
public:
  /// `threads`: of a block of the launch; 0 if the launch stays alone.
  Together(plan::ProgramOp program, plan::LaunchOp first, int64_t threads)
      : program(program), kernel(first.lookupKernel()), threads(threads), words(int64_t(program.getSizes().size())) {
    add(first);
  }

  bool takes(plan::LaunchOp launch, int64_t itsThreads) {
    plan::KernelOp other = launch.lookupKernel();
    // A piece (chunk of members) has only the lifted launches.
    bool atOnce = launch.getWhole() == plan::LaunchOp(parts.front()).getWhole() &&
                  (!program.getChunk() || other.getLifted() == kernel.getLifted());
    return atOnce && other.getFamily() == kernel.getFamily() && threads && itsThreads == threads &&
           words + int64_t(launch.getNumOperands()) <= mostLaunchWords && blocks + blocksOf(launch) <= rt::kMaxGrid[0];
  }
  void add(plan::LaunchOp launch) {
    parts.push_back(launch);
    words += int64_t(launch.getNumOperands());
    blocks += blocksOf(launch);
  }
  DeviceLaunch take() {
    SmallVector<std::pair<int64_t, size_t>> order;
    for (auto [i, part] : llvm::enumerate(parts))
      order.push_back({-workOf(part.lookupKernel()), i});
    llvm::sort(order);
    return llvm::map_to_vector(order, [&](auto &at) { return parts[at.second]; });
  }

private:
  plan::ProgramOp program;
  plan::KernelOp kernel;
  int64_t threads;
  DeviceLaunch parts;
  int64_t words, blocks = 0;

  /// An upper bound of the launch's blocks. A tile has at least one row; a cluster of up to eight blocks has a tile of
  /// 16. If the rows are a product of sizes, tiles are counted per element of all sizes but one (Extents::tiles).
  int64_t blocksOf(plan::LaunchOp launch) {
    auto mostOf = [&](StringRef symbol) { return program.mostOf(symbol); };
    auto most = [](std::optional<int64_t> count) { return std::min(count.value_or(rt::kMaxGrid[0]), rt::kMaxGrid[0]); };
    plan::KernelOp kernel = launch.lookupKernel();
    Size size = *kernel.rowCount();
    int64_t rows = most(size.at(mostOf));
    int64_t members = kernel.getLifted() ? most(mostOf(kernel.membersSize())) : 1;
    return most(most(size.getSymbols().size() > 1 ? rows * mostCluster : rows + mostCluster - 1) * members);
  }
};

/// Gives all parts with the same warps one ring (or one exchange), placed behind the largest of their other shared
/// memory. Then their texts differ in numbers only and can share code (Kernel.cpp).
void shareRings(MutableArrayRef<CudaGeometry> parts) {
  for (CudaGeometry &first : parts) {
    CudaGeometry shared = first;
    int64_t room = 0, weightBytes = 0;
    auto isOne = [&](const CudaGeometry &g) {
      return g.hasWarpsOf(first) && g.ring.bulkCopies == first.ring.bulkCopies;
    };
    for (const CudaGeometry &g : llvm::make_filter_range(parts, isOne)) {
      shared.flagOffset = std::max(shared.flagOffset, g.flagOffset);
      shared.exchange.offset = std::max(shared.exchange.offset, g.exchange.offset);
      shared.exchange.stages = std::max(shared.exchange.stages, g.exchange.stages);
      shared.ring.offset = std::max(shared.ring.offset, g.ring.offset);
      shared.ring.rowBytes = std::max(shared.ring.rowBytes, g.ring.rowBytes);
      weightBytes = std::max(weightBytes, g.ring.stageBytes - g.ring.rowBytes);
      shared.passTiles = std::max(shared.passTiles, g.passTiles);
      shared.ring.stages = std::max(shared.ring.stages, g.ring.stages);
      shared.residentBlocks = std::min(shared.residentBlocks, g.residentBlocks);
      room = std::max(room, g.sharedBytes);
    }
    shared.ring.stageBytes = weightBytes + shared.ring.rowBytes;
    if (shared.exchange.stages > 0) {
      int64_t end = room - Exchange::handoverBytes, bytes = shared.gatheredBytes();
      shared.exchange.stages = std::min(shared.exchange.stages, (end - shared.exchange.offset) / bytes);
      shared.exchange.handovers = shared.exchange.offset + shared.exchange.stages * bytes;
    }
    bool haveRing = bool(shared.ring);
    if (haveRing)
      shared.ring.stages = std::min(shared.ring.stages, (room - shared.ring.offset) / shared.ring.stageBytes);
    if (haveRing && shared.ring.stages < 2) // they are better off alone
      continue;
    shared.sharedBytes = haveRing ? shared.ring.end() : room;
    for (CudaGeometry &g : llvm::make_filter_range(parts, isOne)) {
      int64_t copies = g.copyOffset;
      g = shared;
      g.copyOffset = copies;
    }
  }
}

/// The way that launches all kernels in clusters, of the largest size that all of them can have.
std::optional<LaunchWay> inClusters(ArrayRef<plan::KernelOp> parts, const Architecture &architecture) {
  LaunchWay way{0, {}};
  int cluster = mostCluster;
  for (plan::KernelOp kernel : parts) {
    std::optional<CudaGeometry> own = clusterGeometry(kernel, architecture);
    if (!own)
      return std::nullopt;
    cluster = std::min(cluster, own->warps.cluster);
    way.geometries.push_back(*own);
  }
  for (CudaGeometry &geometry : way.geometries)
    geometry.warps.cluster = cluster; // each block has more of the columns
  way.rows = way.geometries.front().rows;
  shareRings(way.geometries);
  return way;
}

} // namespace

std::vector<DeviceLaunch> deviceLaunches(plan::ProgramOp program, const Architecture &architecture) {
  std::vector<DeviceLaunch> launches;
  for (Operation &op : program.getBody().front()) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      launches.push_back({launch});
    auto parallel = dyn_cast<plan::ParallelOp>(op);
    if (!parallel)
      continue;
    std::vector<Together> sets;
    for (auto launch : parallel.getBody().getOps<plan::LaunchOp>()) {
      int64_t threads = threadsOf(launch.lookupKernel(), architecture);
      auto set = llvm::find_if(sets, [&](Together &set) { return set.takes(launch, threads); });
      if (set == sets.end())
        sets.emplace_back(program, launch, threads);
      else
        set->add(launch);
    }
    for (Together &set : sets)
      launches.push_back(set.take());
  }
  return launches;
}

llvm::SmallVector<plan::KernelOp> kernelsOf(ArrayRef<plan::LaunchOp> parts) {
  return llvm::map_to_vector(parts, [](plan::LaunchOp part) { return part.lookupKernel(); });
}

std::vector<LaunchWay> launchWays(ArrayRef<plan::KernelOp> parts, const Architecture &architecture) {
  std::vector<LaunchWay> ways;
  if (parts.size() == 1) {
    for (const CudaGeometry &geometry : cudaGeometries(parts.front(), architecture))
      ways.push_back({geometry.rows, {geometry}});
    return ways;
  }
  std::vector<std::vector<CudaGeometry>> own;
  for (plan::KernelOp kernel : parts) {
    own.push_back(withoutClusters(kernel, architecture));
    if (own.back().empty())
      return {};
  }
  // The part with the longest tasks leads.
  for (const CudaGeometry &first : own.front()) {
    LaunchWay way{first.rows, {}};
    for (auto [kernel, geometries] : llvm::zip_equal(parts, own)) {
      auto fits = llvm::find_if(geometries, [&](const CudaGeometry &g) { return g.rows <= first.rows; });
      CudaGeometry geometry = fits == geometries.end() ? geometries.back() : *fits;
      if (geometry.rows < first.rows && geometries.front().rows > first.rows)
        geometry = cudaGeometryLike(kernel, architecture, first).value_or(geometry);
      way.geometries.push_back(geometry);
    }
    shareRings(way.geometries);
    // All blocks of a launch have the same number of threads: no part has a producer if one has no registers to spare
    // for it.
    int warps = way.geometries.front().ring.producerWarps;
    bool alike = llvm::all_of(way.geometries, [&](const CudaGeometry &g) { return g.ring.producerWarps == warps; });
    for (CudaGeometry &geometry : way.geometries)
      geometry.ring.producerWarps = alike ? warps : 0;
    ways.push_back(std::move(way));
  }
  if (std::optional<LaunchWay> way = inClusters(parts, architecture))
    ways.push_back(std::move(*way)); // for calls that do not fill the device
  return ways;
}

} // namespace tutti
