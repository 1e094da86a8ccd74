// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitters, called for every kernel of a module.
#include "Build.h"
#include "Compiler.h"
#include "compiler/codegen/cpu/Emitters.h"
#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cuda/Image.h"
#include "compiler/codegen/cuda/Kernel.h"

#include "mlir/Parser/Parser.h"

#include <future>

using namespace mlir;

namespace tutti {

plan::ProgramOp programOf(ModuleOp planned) { return *planned.getOps<plan::ProgramOp>().begin(); }

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
  ProgramCode code{planned, {}, {}};
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

llvm::Expected<ProgramCode> buildCuda(ModuleOp planned, ArrayRef<const Architecture *> architectures, unsigned jobs,
                                      llvm::function_ref<llvm::Error(const std::string &, const std::string &)> dump) {
  ProgramCode code{planned, {}, {}};
  std::vector<CudaText> texts;
  std::vector<std::string> symbols = symbolsOf(programOf(planned));
  for (auto kernel : planned.getOps<plan::KernelOp>()) {
    std::string name = kernel.getSymName().str();
    // One that every architecture has room for.
    std::vector<CudaGeometry> fitting =
        cudaGeometries(kernel, **llvm::min_element(architectures, [](const Architecture *a, const Architecture *b) {
          return a->sharedPerBlock < b->sharedPerBlock;
        }));
    if (fitting.empty())
      return fail(ExitCode::unsupported, "kernel " + name + " needs more shared memory for a row than a block has; layers so wide are "
                                                            "not supported on cuda yet");
    const CudaGeometry &geometry = fitting.back();
    llvm::Expected<std::string> text = emitCudaKernel(kernel, symbols, name, geometry);
    if (!text)
      return text.takeError();
    if (llvm::Error error = dump(name + ".cu", *text))
      return error;
    code.launches.push_back({geometry.rows, geometry.threads, geometry.sharedBytes});
    texts.push_back({name, std::move(*text), {unsigned(geometry.threads), unsigned(geometry.sharedBytes)}});
  }
  auto built = buildCudaImages(texts, architectures, jobs);
  if (!built)
    return built.takeError();
  for (CudaImage &image : *built) {
    TargetImage target{image.architecture->name.str(), unsigned(image.minDriver), std::move(image.bytes), {}};
    for (const auto &[offset, length, r] : image.kernels)
      target.kernels.push_back({offset, length, r.registers, r.stack, r.staticShared, r.barriers, r.maxThreads});
    code.images.push_back(std::move(target));
  }
  return code;
}

} // namespace tutti
