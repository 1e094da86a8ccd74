// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitters, called for every kernel of a module.
#include "Build.h"
#include "Compiler.h"
#include "compiler/codegen/cpu/Emitters.h"
#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cuda/Image.h"
#include "compiler/codegen/cuda/Kernel.h"

#include "mlir/Parser/Parser.h"

#include <deque>
#include <future>

using namespace mlir;

namespace tutti {

plan::ProgramOp programOf(ModuleOp planned) { return *planned.getOps<plan::ProgramOp>().begin(); }

CudaLaunch launchOf(const CudaGeometry &geometry) {
  return {geometry.rows, geometry.threads, geometry.sharedBytes, geometry.cluster};
}

/// The symbols of the call's sizes, in the order in which kernels get them.
static std::vector<std::string> symbolsOf(plan::ProgramOp program) {
  std::vector<std::string> symbols{"active"};
  for (NamedAttribute size : program.getSizes())
    if (size.getName() != "active")
      symbols.push_back(size.getName().str());
  return symbols;
}

/// All kernels for one level.
static llvm::Expected<CpuImage> emitLevel(const CpuLevel &level, const std::string &planned) {
  DialectRegistry dialects;
  registerDialects(dialects);
  MLIRContext own(dialects, MLIRContext::Threading::DISABLED);
  own.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> source = parseSourceString<ModuleOp>(planned, &own);
  if (!source)
    return fail(ExitCode::internal, "the planned module does not parse");
  std::vector<std::string> symbols = symbolsOf(programOf(*source)), names;
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&own));
  for (auto kernel : source->getOps<plan::KernelOp>()) {
    names.push_back("tutti_" + kernel.getSymName().str());
    if (failed(emitKernel(*code, kernel, symbols, level, names.back())))
      return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted as it was analysed");
  }
  return buildCpuImage(*code, level, names);
}

llvm::Expected<ProgramCode> buildCpu(ModuleOp planned, ArrayRef<std::string> levels, unsigned jobs) {
  std::string text;
  llvm::raw_string_ostream(text) << planned;
  ProgramCode code{planned, {}, {}, {}};
  for (auto [i, kernel] : llvm::enumerate(planned.getOps<plan::KernelOp>()))
    code.kernels.push_back({unsigned(i), kernel.getSymName().str(), {}});
  std::vector<std::future<llvm::Expected<CpuImage>>> running;
  auto policy = jobs > 1 ? std::launch::async : std::launch::deferred;
  for (const CpuLevel &level : cpuLevels())
    if (llvm::is_contained(levels, level.name)) {
      code.images.push_back({level.name.str(), 0, "", {}});
      running.push_back(std::async(policy, [&level, &text] { return emitLevel(level, text); }));
    }
  llvm::Error errors = llvm::Error::success();
  for (auto [image, future] : llvm::zip_equal(code.images, running)) {
    llvm::Expected<CpuImage> built = future.get();
    if (!built) {
      errors = llvm::joinErrors(std::move(errors), built.takeError());
      continue;
    }
    image.bytes = std::move(built->bytes);
    for (uint64_t offset : built->offsets)
      image.kernels.push_back({.offset = offset});
  }
  if (errors)
    return errors;
  return code;
}

namespace {
/// Architectures whose lists of geometries agree, kernel by kernel.
struct CudaClass {
  std::vector<std::vector<CudaGeometry>> geometries;
  std::vector<const Architecture *> architectures;
};
} // namespace

static llvm::Expected<std::vector<CudaClass>> classesOf(ModuleOp planned, ArrayRef<const Architecture *> architectures) {
  std::vector<CudaClass> classes;
  for (const Architecture *architecture : architectures) {
    std::vector<std::vector<CudaGeometry>> geometries;
    for (auto kernel : planned.getOps<plan::KernelOp>()) {
      geometries.push_back(cudaGeometries(kernel, *architecture));
      if (geometries.back().empty())
        return fail(ExitCode::unsupported, "kernel " + kernel.getSymName() + " needs more shared memory for a row than a block of " +
                                               architecture->name + " has");
    }
    auto known = llvm::find_if(classes, [&](const CudaClass &c) { return c.geometries == geometries; });
    if (known == classes.end())
      known = classes.insert(known, {std::move(geometries), {}});
    known->architectures.push_back(architecture);
  }
  return classes;
}

llvm::Expected<std::vector<ProgramCode>>
buildCuda(ModuleOp planned, ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &, const std::string &)> dump) {
  auto classes = classesOf(planned, architectures);
  if (!classes)
    return classes.takeError();
  std::vector<ProgramCode> programs;
  std::vector<CudaSource> sources;
  std::vector<std::string> symbols = symbolsOf(programOf(planned));
  std::deque<CudaText> texts;
  std::map<std::string, std::vector<std::pair<CudaGeometry, const CudaText *>>> known; // by name
  for (const CudaClass &each : *classes) {
    ProgramCode code{planned, {}, {}, {}};
    std::vector<const CudaText *> own;
    for (auto [i, kernel] : llvm::enumerate(planned.getOps<plan::KernelOp>())) {
      for (const CudaGeometry &geometry : each.geometries[i]) {
        std::string name = (kernel.getSymName() + "_" + llvm::Twine(geometry.rows)).str();
        if (geometry.cluster > 1)
          name += "x" + std::to_string(geometry.cluster);
        code.kernels.push_back({unsigned(i), name, launchOf(geometry)});
        auto &same = known[name];
        auto text = llvm::find_if(same, [&](auto &entry) { return entry.first == geometry; });
        if (text == same.end()) {
          llvm::Expected<std::string> fresh = emitCudaKernel(kernel, symbols, name, geometry);
          if (!fresh)
            return fresh.takeError();
          if (llvm::Error error = dump(name + (same.empty() ? "" : "." + each.architectures.front()->name.str()) + ".cu", *fresh))
            return error;
          texts.push_back({name, std::move(*fresh), {unsigned(geometry.threads), unsigned(geometry.sharedBytes)}});
          same.push_back({geometry, &texts.back()});
          text = std::prev(same.end());
        }
        own.push_back(text->second);
      }
    }
    for (const Architecture *architecture : each.architectures) {
      code.architectures.push_back(architecture->name.str());
      sources.push_back({architecture, own});
    }
    programs.push_back(std::move(code));
  }
  auto built = buildCudaImages(sources, jobs);
  if (!built)
    return built.takeError();
  auto image = built->begin();
  for (ProgramCode &code : programs)
    for (size_t i = 0; i < code.architectures.size(); ++i, ++image) {
      TargetImage target{image->architecture->name.str(), unsigned(image->minDriver), std::move(image->bytes), {}};
      for (const auto &[offset, length, r] : image->kernels)
        target.kernels.push_back({offset, length, r.registers, r.stack, r.staticShared, r.barriers, r.maxThreads});
      code.images.push_back(std::move(target));
    }
  return programs;
}

} // namespace tutti
