// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The estimate of every launch of a program on every device.
#include "Estimate.h"
#include "compiler/codegen/cuda/Launches.h"
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

/// The device whose block costs the runtime gets for an architecture: the first one of it in the table, else the first
/// one whose capability is nearest.
static const DeviceModel &deviceOf(const Architecture &architecture) {
  auto distance = [&](const DeviceModel &device) {
    return std::abs(int(device.limits().capability) - int(architecture.capability));
  };
  return *llvm::min_element(deviceModels(),
                            [&](const DeviceModel &a, const DeviceModel &b) { return distance(a) < distance(b); });
}

/// The cost of a kernel's block. Sizes that are not rows are taken at their largest.
static rt::BlockCost costOf(plan::KernelOp kernel, const CudaGeometry &geometry, const Architecture &architecture) {
  CallSizes full, one;
  for (const SizeRange &size : programOf(kernel->getParentOfType<ModuleOp>()).ranges())
    full[size.symbol] = size.most;
  one = full;
  for (const Size &rows : kernel.getRows().getValue())
    for (const std::string &symbol : rows.getSymbols()) {
      full[symbol] = std::max(full[symbol], geometry.rows);
      one[symbol] = 1;
    }
  return blockCost(countKernel(kernel, geometry, full), countKernel(kernel, geometry, one), geometry.rows,
                   deviceOf(architecture));
}

/// The cost for several kernels in one launch, as if each had as many blocks, all as long as the longest. Their tiles
/// have all rows, as each kernel has rows of its own.
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

static SmallVector<plan::KernelOp> kernelsOf(const ProgramCode &code, const KernelCode &which) {
  auto all = llvm::to_vector(ModuleOp(code.planned).getOps<plan::KernelOp>());
  return llvm::map_to_vector(which.kernels, [&](unsigned number) { return all[number]; });
}

void addCosts(llvm::MutableArrayRef<ProgramCode> programs) {
  for (ProgramCode &code : programs)
    for (KernelCode &kernel : code.kernels)
      kernel.cost = costOf(kernelsOf(code, kernel), *kernel.way, *findArchitecture(code.architectures.front()));
}

namespace {
/// A program on a device.
class OnDevice {
public:
  OnDevice(ModuleOp planned, const DeviceModel &device, const CallSizes &sizes, ArrayRef<ProgramCode> codes)
      : device(device), sizes(sizes) {
    for (const ProgramCode &own : codes)
      for (const TargetImage &candidate : own.images)
        if (own.planned == planned && candidate.target == device.architecture)
          code = &own, image = &candidate;
    launches = code ? code->launches : deviceLaunches(programOf(planned), device.limits());
  }

  std::vector<DeviceLaunch> launches;

  /// The launch that the runtime would choose.
  LaunchEstimate estimate(ArrayRef<plan::KernelOp> parts) const {
    LaunchEstimate result{&device, {}, {}, {}};
    std::vector<Way> ways = waysOf(parts);
    if (ways.empty()) // not even one row has room
      return result;
    std::optional<Size> rows = plan::KernelOp(parts.front()).rowCount();
    int64_t callRows = rows ? valueOf(*rows, sizes) : INT64_MAX;
    auto candidate = [&](uint32_t i) {
      const KernelWork &work = ways[i].work;
      rt::BlockCost cost = costOf(parts, ways[i].how, device.limits()).inCall(callRows);
      double clocks = rt::launchClocks(cost, uint64_t(work.launched()), uint64_t(work.members), roomOf(work, device));
      return rt::Candidate{clocks, uint64_t(work.blocks)};
    };
    result.work = ways[rt::chooseGeometry(uint32_t(ways.size()), uint64_t(device.processors), candidate)].work;
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

private:
  const DeviceModel &device;
  const CallSizes &sizes;
  const ProgramCode *code = nullptr; ///< null: nothing was built for it
  const TargetImage *image = nullptr;

  struct Way {
    LaunchWay how;
    KernelWork work;
  };

  KernelWork workOf(ArrayRef<plan::KernelOp> parts, const LaunchWay &way) const {
    std::vector<KernelWork> works;
    for (auto [kernel, geometry] : llvm::zip_equal(parts, way.geometries))
      works.push_back(countKernel(kernel, geometry, sizes));
    return together(std::move(works));
  }

  std::vector<Way> waysOf(ArrayRef<plan::KernelOp> parts) const {
    std::vector<Way> ways;
    if (!code)
      for (LaunchWay &way : launchWays(parts, device.limits()))
        ways.push_back({way, workOf(parts, way)});
    else
      for (auto [kernel, built] : llvm::zip_equal(code->kernels, image->kernels))
        if (kernelsOf(*code, kernel) == parts) {
          KernelWork &work = ways.emplace_back(Way{*kernel.way, workOf(parts, *kernel.way)}).work;
          work.registers = int(built.registers);
          work.registersEstimated = false;
          work.threads = int(kernel.launch.threads);
          work.persistent = kernel.launch.persistent;
        }
    for (Way &way : ways)
      way.work.members = membersOfBlock(way.work, device);
    return ways;
  }
};
} // namespace

llvm::Expected<ProgramEstimate> estimate(ModuleOp planned, const CallSizes &at, ArrayRef<ProgramCode> codes) {
  ProgramEstimate all;
  plan::ProgramOp program = programOf(planned);
  auto sizes = sizesOf(program, at);
  if (!sizes)
    return sizes.takeError();
  all.sizes = std::move(*sizes);
  ArrayRef<DeviceModel> devices = deviceModels();
  all.times.resize(devices.size());
  std::map<std::vector<Operation *>, size_t> known; // launches by their parts
  for (auto [time, device] : llvm::zip_equal(all.times, devices)) {
    double bytes = 0;
    bool room = true;
    OnDevice on(planned, device, all.sizes, codes);
    for (const DeviceLaunch &launch : on.launches) {
      llvm::SmallVector<plan::KernelOp> parts = kernelsOf(launch);
      auto [place, fresh] = known.try_emplace({launch.begin(), launch.end()}, all.kernels.size());
      if (fresh) {
        all.launches.emplace_back();
        std::string &name = all.kernels.emplace_back();
        for (plan::KernelOp kernel : parts)
          name += (name.empty() ? "" : " + ") + kernel.getSymName().str();
      }
      LaunchEstimate own = on.estimate(parts);
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
