// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every launch of a program on every device.
#include "Estimate.h"
#include "compiler/Error.h"
#include "compiler/codegen/cuda/Launches.h"
#include "runtime/schema/Tile.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tutti {

static llvm::Expected<CallSizes> sizesOf(plan::ProgramOp program, const CallSizes &at) {
  CallSizes sizes;
  std::string known;
  for (NamedAttribute size : program.getSizes()) {
    std::string name = size.getName().str();
    auto range = cast<DenseI64ArrayAttr>(size.getValue()).asArrayRef();
    known += (known.empty() ? "" : ", ") + shown(name);
    sizes[name] = range.back();
    if (auto given = at.find(name); given != at.end()) {
      if (given->second < range.front() || given->second > range.back())
        return fail(ExitCode::usage, "--explain-at " + shown(name) + "=" + llvm::Twine(given->second) + ": " +
                                         shown(name) + " is " + llvm::Twine(range.front()) + ".." +
                                         llvm::Twine(range.back()));
      sizes[name] = given->second;
    }
  }
  for (const auto &[name, value] : at)
    if (!sizes.contains(name))
      return fail(ExitCode::usage, "--explain-at " + shown(name) + ": no size is called so; the sizes are: " + known);
  return sizes;
}

static LaunchEstimate estimateOn(const DeviceModel &device, ArrayRef<plan::KernelOp> parts, const CallSizes &sizes,
                                 KnownCode built) {
  LaunchEstimate result{&device, {}, {}, {}};
  auto count = [&](const LaunchWay &way) {
    std::vector<KernelWork> works;
    for (auto [kernel, geometry] : llvm::zip_equal(parts, way.geometries))
      works.push_back(countKernel(kernel, geometry, sizes));
    return together(std::move(works));
  };
  // As the runtime takes them.
  std::vector<LaunchWay> ways = launchWays(parts, device.limits());
  size_t taken = 0;
  for (size_t i = 0; i < ways.size(); ++i) {
    taken = i;
    result.work = count(ways[i]);
    bool last = i + 1 == ways.size();
    if (last || rt::takesTile(result.work.blocks, count(ways[i + 1]).blocks, device.processors))
      break;
  }
  if (result.work.layers() == 0) // not even a row has room
    return result;
  if (auto known = built(device.architecture, parts, ways[taken].geometries)) {
    result.work.registers = int(known->registers);
    result.work.registersEstimated = false;
    result.work.persistent = known->persistent;
  }
  result.work.members = membersOfBlock(result.work, device);
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
