// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every launch of a program on every device.
#include "Estimate.h"
#include "compiler/codegen/cuda/Build.h"
#include "compiler/support/Error.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tutti {

static llvm::Expected<CallSizes> sizesOf(plan::ProgramOp program, const CallSizes &at) {
  CallSizes sizes;
  std::string known;
  for (const auto &[name, least, most] : program.ranges()) {
    known += (known.empty() ? "" : ", ") + shown(name);
    sizes[name] = most;
    if (auto given = at.find(name); given != at.end()) {
      if (given->second < least || given->second > most)
        return fail(ExitCode::usage, "--explain-at " + shown(name) + "=" + llvm::Twine(given->second) + ": " +
                                         shown(name) + " is " + llvm::Twine(least) + ".." + llvm::Twine(most));
      sizes[name] = given->second;
    }
  }
  for (const auto &[name, value] : at)
    if (!sizes.contains(name))
      return fail(ExitCode::usage, "--explain-at " + shown(name) + ": no size is called so; the sizes are: " + known);
  return sizes;
}

/// Whose blocks' costs the runtime knows of an architecture: the first device of it in the table, else of the one whose
/// capability is nearest.
static const DeviceModel &deviceOf(const Architecture &architecture) {
  auto distance = [&](const DeviceModel &device) {
    return std::abs(int(device.limits().capability) - int(architecture.capability));
  };
  return *llvm::min_element(deviceModels(),
                            [&](const DeviceModel &a, const DeviceModel &b) { return distance(a) < distance(b); });
}

/// Sizes that are no rows are taken at their largest.
static rt::BlockCost costOf(plan::KernelOp kernel, const CudaGeometry &geometry, const Architecture &architecture) {
  CallSizes full, one;
  for (const SizeRange &size : programOf(kernel->getParentOfType<ModuleOp>()).ranges())
    full[size.symbol] = size.most;
  one = full;
  for (const Size &rows : kernel.rowSizes())
    for (const std::string &symbol : rows.getSymbols()) {
      full[symbol] = std::max(full[symbol], geometry.rows);
      one[symbol] = 1;
    }
  return blockCost(countKernel(kernel, geometry, full), countKernel(kernel, geometry, one), geometry.rows,
                   deviceOf(architecture));
}

/// Of several kernels in one launch as if each had as many blocks, all of them as long as the longest: their tiles have
/// all rows, as each kernel has rows of its own.
static rt::BlockCost costOf(ArrayRef<plan::KernelOp> parts, const LaunchWay &way, const Architecture &architecture) {
  if (parts.size() == 1)
    return costOf(parts.front(), way.geometries.front(), architecture);
  rt::BlockCost all = {};
  auto share = 1 / double(parts.size());
  for (auto [kernel, geometry] : llvm::zip_equal(parts, way.geometries)) {
    rt::BlockCost own = costOf(kernel, geometry, architecture);
    all.rows = own.rows;
    all.begin = std::max(all.begin, own.begin);
    all.alone = all.rowAlone = std::max(all.alone, own.alone);
    all.busy = all.rowBusy += share * own.busy;
    all.l2 += share * own.l2;
  }
  return all;
}

void addCosts(llvm::MutableArrayRef<ProgramCode> programs) {
  for (ProgramCode &code : programs) {
    auto ofModule = llvm::to_vector(ModuleOp(code.planned).getOps<plan::KernelOp>());
    const Architecture &architecture = *findArchitecture(code.architectures.front());
    for (KernelCode &kernel : code.kernels) {
      llvm::SmallVector<plan::KernelOp> parts;
      for (unsigned number : kernel.kernels)
        parts.push_back(ofModule[number]);
      for (const LaunchWay &way : launchWays(parts, architecture))
        if (isVersionOf(kernel.launch, way.geometries))
          kernel.cost = costOf(parts, way, architecture);
    }
  }
}

static LaunchEstimate estimateOn(const DeviceModel &device, ArrayRef<plan::KernelOp> parts, const CallSizes &sizes,
                                 KnownCode built) {
  LaunchEstimate result{&device, {}, {}, {}};
  auto workOf = [&](const LaunchWay &way) {
    std::vector<KernelWork> works;
    for (auto [kernel, geometry] : llvm::zip_equal(parts, way.geometries))
      works.push_back(countKernel(kernel, geometry, sizes));
    KernelWork work = together(std::move(works));
    if (auto known = built(device.architecture, parts, way.geometries)) {
      work.registers = int(known->registers);
      work.threads = int(known->threads);
      work.registersEstimated = false;
      work.persistent = known->persistent;
    }
    work.members = membersOfBlock(work, device);
    return work;
  };
  // As the runtime takes them.
  std::vector<LaunchWay> ways = launchWays(parts, device.limits());
  std::optional<Size> rows = plan::KernelOp(parts.front()).rowCount();
  int64_t callRows = rows ? valueOf(*rows, sizes) : INT64_MAX;
  std::vector<KernelWork> works;
  for (const LaunchWay &way : ways)
    works.push_back(workOf(way));
  if (works.empty()) // not even a row has room
    return result;
  result.work = works[rt::chooseGeometry(uint32_t(works.size()), uint64_t(device.processors), [&](uint32_t i) {
    const KernelWork &work = works[i];
    rt::BlockCost cost = costOf(parts, ways[i], device.limits()).inCall(callRows);
    double clocks = rt::launchClocks(cost, uint64_t(work.launched()), uint64_t(work.members), roomOf(work, device));
    return rt::Candidate{clocks, uint64_t(work.blocks)};
  })];
  if (result.work.layers() == 0)
    return result;
  result.cold = predict(result.work, device);
  KernelWork warm = result.work;
  warm.warm = true;
  for (KernelWork &part : warm.parts)
    part.warm = true;
  result.warm = predict(warm, device);
  return result;
}

llvm::Expected<ProgramEstimate> estimate(ModuleOp planned, const CallSizes &at, KnownCode built) {
  ProgramEstimate all;
  plan::ProgramOp program = programOf(planned);
  auto sizes = sizesOf(program, at);
  if (!sizes)
    return sizes.takeError();
  all.sizes = std::move(*sizes);
  llvm::ArrayRef<DeviceModel> devices = deviceModels();
  all.times.resize(devices.size());
  std::map<std::vector<Operation *>, size_t> known; // launches by their parts
  for (auto [time, device] : llvm::zip_equal(all.times, devices)) {
    double bytes = 0;
    bool room = true;
    for (const DeviceLaunch &launch : deviceLaunches(program, device.limits())) {
      llvm::SmallVector<plan::KernelOp> parts = kernelsOf(launch);
      auto [place, fresh] = known.try_emplace({launch.begin(), launch.end()}, all.kernels.size());
      if (fresh) {
        all.launches.emplace_back();
        std::string &name = all.kernels.emplace_back();
        for (plan::KernelOp kernel : parts)
          name += (name.empty() ? "" : " + ") + kernel.getSymName().str();
      }
      LaunchEstimate own = estimateOn(device, parts, all.sizes, built);
      bytes += own.work.dramBytes;
      time.cold += own.cold.seconds;
      time.warm += own.warm.seconds;
      room &= own.cold.resident > 0;
      all.launches[place->second].push_back(std::move(own));
    }
    if (!room)
      time = {-1, -1, false};
    time.fits = room && bytes <= double(device.l2Size);
  }
  return all;
}

} // namespace tutti
