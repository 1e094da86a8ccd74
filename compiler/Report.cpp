// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reports are read off the planned modules.
#include "Report.h"
#include "compiler/artifact/Footprint.h"
#include "dialects/tutti/Module.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Rows.h"

using namespace mlir;

namespace tutti {

/// "a, b": the next of a list.
static void append(std::string &list, StringRef next, StringRef separator = ", ") {
  list += (list.empty() ? "" : separator).str() + next.str();
}

/// "contract:panels": an op, and the rule of its sum or what multiplies in it.
static std::string ruleOf(Operation *op) {
  NumericsProduct product = numericsProduct(op);
  StringRef rule =
      product == NumericsProduct::fma ? stringifyNumericsRule(numericsRule(op)) : stringifyNumericsProduct(product);
  return op->getName().stripDialect().str() + ":" + rule.str();
}

static KernelReport reportOf(plan::KernelOp kernel, plan::ProgramOp program, ArrayRef<DeviceLaunch> together) {
  KernelReport report;
  report.name = kernel.getSymName().str();
  report.family = plan::stringifyFamily(kernel.getFamily()).str();
  report.lifted = kernel.getLifted();
  for (const Size &size : kernel.getRows().getValue())
    report.rows.push_back(size.str());
  program.walk([&](plan::LaunchOp launch) { report.launches += launch.getKernel() == kernel.getSymName(); });
  if (auto schedule = kernel.getSchedule()) {
    report.tile = schedule->getTile();
    report.scratch = schedule->getScratch();
  }
  kernel.walk([&](Operation *op) {
    report.heads += isa<HeadOp>(op);
    if (auto contraction = dyn_cast<ContractOp>(op))
      if (std::optional<Size> flops = contraction.flops())
        append(report.flops, flops->str(), " + ");
    if (isa<NumericsOpInterface>(op))
      append(report.numerics, ruleOf(op));
  });
  auto isOfKernel = [&](plan::LaunchOp part) { return part.getKernel() == kernel.getSymName(); };
  for (const DeviceLaunch &launch : together)
    if (llvm::any_of(launch, isOfKernel))
      for (plan::LaunchOp part : launch)
        if (!isOfKernel(part))
          append(report.with, part.getKernel());
  return report;
}

ProgramReport reportOf(const ProgramCode &code, const std::string &sizes) {
  plan::ProgramOp program = programOf(code.planned);
  ProgramReport report;
  report.target = program.getTarget();
  report.sizes = sizes;
  report.arenaBytes = arenaBytes(program);
  report.chunk = program.getChunk().value_or(0);
  if (report.target == Target::cuda)
    report.launches = code.launches.size();
  else // those side by side are one list of tasks
    for (Operation &op : program.getBody().front())
      report.launches += isa<plan::LaunchOp, plan::ParallelOp>(op);
  for (auto kernel : ModuleOp(code.planned).getOps<plan::KernelOp>())
    report.kernels.push_back(reportOf(kernel, program, code.launches));
  return report;
}

} // namespace tutti
