// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every launch of a program on every device.
#include "Estimate.h"
#include "compiler/Error.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace tutti {

static llvm::Expected<CallSizes> sizesOf(plan::ProgramOp program, const CallSizes &at) {
  CallSizes sizes;
  std::string known;
  for (NamedAttribute size : program.getSizes()) {
    std::string name = size.getName().str();
    auto range = cast<DenseI64ArrayAttr>(size.getValue()).asArrayRef();
    known += (known.empty() ? "" : ", ") + name;
    sizes[name] = range.back();
    if (auto given = at.find(name); given != at.end()) {
      if (given->second < range.front() || given->second > range.back())
        return fail(ExitCode::usage, "--explain-at " + name + "=" + llvm::Twine(given->second) + ": " + name + " is " +
                                         llvm::Twine(range.front()) + ".." + llvm::Twine(range.back()));
      sizes[name] = given->second;
    }
  }
  for (const auto &[name, value] : at)
    if (!sizes.contains(name))
      return fail(ExitCode::usage, "--explain-at " + name + ": no size is called so; the sizes are: " + known);
  return sizes;
}

static LaunchEstimate estimateOn(const DeviceModel &device, plan::KernelOp kernel, const CallSizes &sizes,
                                 KnownRegisters registers) {
  LaunchEstimate result{&device, {}, {}, {}};
  // As the runtime takes them: the largest tile that gives every second processor a block and is not half empty, else
  // the smallest.
  CudaGeometry taken;
  std::vector<CudaGeometry> geometries = cudaGeometries(kernel, device.limits());
  for (size_t i = 0; i < geometries.size(); ++i) {
    taken = geometries[i];
    result.work = countKernel(kernel, taken, sizes);
    bool last = i + 1 == geometries.size();
    if (last || (2 * result.work.blocks >= device.processors &&
                 countKernel(kernel, geometries[i + 1], sizes).blocks > result.work.blocks))
      break;
  }
  if (result.work.steps.empty()) // not even a row has room
    return result;
  if (auto known = registers(device.architecture, kernel, taken)) {
    result.work.registers = int(*known);
    result.work.registersEstimated = false;
  }
  result.cold = predict(result.work, device);
  KernelWork warm = result.work;
  warm.warm = true;
  result.warm = predict(warm, device);
  return result;
}

llvm::Expected<ProgramEstimate> estimate(ModuleOp planned, const CallSizes &at, KnownRegisters registers) {
  ProgramEstimate all;
  plan::ProgramOp program = *planned.getOps<plan::ProgramOp>().begin();
  auto sizes = sizesOf(program, at);
  if (!sizes)
    return sizes.takeError();
  all.sizes = std::move(*sizes);
  llvm::ArrayRef<DeviceModel> devices = deviceModels();
  all.times.resize(devices.size());
  program.walk([&](plan::LaunchOp launch) {
    auto kernel = planned.lookupSymbol<plan::KernelOp>(launch.getKernel());
    all.kernels.push_back(kernel.getSymName().str());
    std::vector<LaunchEstimate> &own = all.launches.emplace_back();
    for (const DeviceModel &device : devices)
      own.push_back(estimateOn(device, kernel, all.sizes, registers));
  });
  for (size_t i = 0; i < devices.size(); ++i) {
    double bytes = 0;
    for (const std::vector<LaunchEstimate> &launch : all.launches) {
      bytes += launch[i].work.dramBytes;
      all.times[i].cold += launch[i].cold.seconds;
      all.times[i].warm += launch[i].warm.seconds;
    }
    bool room = llvm::all_of(all.launches, [&](const auto &launch) { return launch[i].cold.resident > 0; });
    if (!room)
      all.times[i] = {-1, -1, false};
    all.times[i].fits = room && bytes <= double(devices[i].l2Size);
  }
  return all;
}

} // namespace tutti
