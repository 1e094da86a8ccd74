// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitters, called for every kernel of the modules and every level.
#include "Build.h"
#include "Emitters.h"
#include "Image.h"
#include "compiler/codegen/KernelSet.h"
#include "compiler/support/Error.h"
#include "compiler/support/Parallel.h"
#include "dialects/Dialects.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace tutti {

namespace {
/// The parts of a module that emitters need, as text, since each level has a context of its own. Constants and the
/// program, which may be large, are left out.
struct ModuleText {
  std::string text;
  std::vector<std::string> symbols, names; ///< of the call's sizes; of the kernels, in their order
};
} // namespace

void insertCpuDialects(DialectRegistry &registry) {
  insertDialects(registry);
  registry.insert<scf::SCFDialect, LLVM::LLVMDialect, ub::UBDialect>();
}

static std::vector<ModuleText> textsOf(ArrayRef<PlannedModule> planned, const KernelSet &set) {
  std::vector<ModuleText> texts;
  for (const PlannedModule &each : planned) {
    ModuleText &own = texts.emplace_back();
    own.symbols = programOf(each.module).sizeOrder();
    OwningOpRef<ModuleOp> kernels = ModuleOp::create(ModuleOp(each.module).getLoc());
    (*kernels)->setAttrs(each.module->getAttrDictionary());
    for (const KernelSet::Kernel &kernel : set.kernels)
      if (kernel.kernel->getParentOp() == each.module) {
        kernels->push_back(kernel.kernel->clone());
        own.names.push_back("tutti_" + kernel.name);
      }
    llvm::raw_string_ostream(own.text) << *kernels;
  }
  return texts;
}

/// Emits all kernels for one level.
static llvm::Expected<CpuImage> emitLevel(const CpuLevel &level, ArrayRef<ModuleText> texts) {
  DialectRegistry dialects;
  insertCpuDialects(dialects);
  MLIRContext own(dialects, MLIRContext::Threading::DISABLED);
  own.loadAllAvailableDialects();
  std::vector<std::string> names;
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&own)), source;
  StepFunctions steps;
  for (const ModuleText &each : texts) {
    source = parseSourceString<ModuleOp>(each.text, &own);
    if (!source)
      return fail(ExitCode::internal, "the kernels' text does not parse");
    for (auto [kernel, name] : llvm::zip_equal(source->getOps<plan::KernelOp>(), each.names)) {
      if (llvm::Error error = emitKernel(*code, steps, kernel, each.symbols, level, name))
        return std::move(error);
      names.push_back(name);
    }
  }
  return buildCpuImage(*code, level, names);
}

/// Whether the code for a level would differ from the code for the level below.
static bool isWorthBuilding(const CpuLevel &level, const KernelSet &set) {
  return !level.multipliesBytes || llvm::any_of(set.kernels, [](const KernelSet::Kernel &kernel) {
    return llvm::any_of(plan::KernelOp(kernel.kernel).getBody().getOps<ContractOp>(),
                        [](ContractOp op) { return op.getBytes(); });
  });
}

llvm::Expected<std::vector<ProgramCode>> buildCpu(ArrayRef<PlannedModule> planned, ArrayRef<std::string> levels,
                                                  unsigned jobs) {
  KernelSet set(planned);
  std::vector<ModuleText> texts = textsOf(planned, set);
  std::vector<ProgramCode> programs;
  for (auto [m, each] : llvm::enumerate(planned)) {
    ProgramCode &code = programs.emplace_back(ProgramCode{each.module, each.ensemble});
    programOf(each.module).walk([&](plan::LaunchOp launch) { code.launches.push_back({launch}); });
    for (auto [k, kernel] : llvm::enumerate(set.ofModule[m]))
      code.kernels.push_back({{unsigned(k)}, set.kernels[kernel].name});
  }
  std::vector<const CpuLevel *> building;
  for (const CpuLevel &level : cpuLevels())
    if (llvm::is_contained(levels, level.name.split('+').first) && isWorthBuilding(level, set))
      building.push_back(&level);
  std::vector<std::optional<llvm::Expected<CpuImage>>> images(building.size());
  inParallel(building.size(), jobs, [&](size_t i) { images[i] = emitLevel(*building[i], texts); });
  llvm::Error first = llvm::Error::success(); // the levels' are alike
  for (auto [level, built] : llvm::zip_equal(building, images)) {
    if (llvm::Error error = built->takeError()) {
      if (first)
        llvm::consumeError(std::move(error));
      else
        first = std::move(error);
      continue;
    }
    auto bytes = std::make_shared<const std::string>(std::move((*built)->bytes));
    for (auto [program, kernels] : llvm::zip_equal(programs, set.ofModule)) {
      program.images.push_back({level->name.str(), 0, bytes, {}});
      for (unsigned kernel : kernels)
        program.images.back().kernels.push_back({.offset = (*built)->offsets[kernel]});
    }
  }
  if (first)
    return first;
  return programs;
}

} // namespace tutti
