// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way from files to artifact.
#include "Compiler.h"
#include "compiler/artifact/Writer.h"
#include "compiler/codegen/cpu/Emitters.h"
#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cuda/Image.h"
#include "compiler/codegen/cuda/Kernel.h"
#include "dialects/plan/Plan.h"
#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Steps.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <future>

using namespace mlir;

namespace tutti {

void registerDialects(DialectRegistry &registry) {
  registry.insert<TuttiDialect, plan::PlanDialect, func::FuncDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                  vector::VectorDialect, LLVM::LLVMDialect, ub::UBDialect>();
}

namespace {

const DialectRegistry &registry() {
  static const DialectRegistry registry = [] {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }();
  return registry;
}

class Compilation {
public:
  Compilation(const CompileRequest &request, Ensemble ensemble)
      : request(request), context(*ensemble.module->getContext()), ensemble(std::move(ensemble)) {}

  llvm::Expected<CompileResult> run() {
    if (llvm::Error error = nameInputsAndHeads())
      return error;
    for (auto [name, stage] : stages()) {
      if (stage == Stage::binary)
        break;
      if (llvm::Error error = runTo(stage))
        return error;
      if (llvm::Error error = dump(name))
        return error;
      if (stage == request.stopAfter) {
        result.text = print();
        return std::move(result);
      }
    }
    if (llvm::Error error = checkMemory())
      return error;
    describe();
    if (llvm::Error error = emit())
      return error;
    return std::move(result);
  }

private:
  const CompileRequest &request;
  MLIRContext &context;
  Ensemble ensemble;
  CompileResult result;

  ModuleOp module() { return *ensemble.module; }

  static std::string nameOf(DictionaryAttr attributes) {
    auto name = attributes ? dyn_cast_or_null<StringAttr>(attributes.get("tutti.name")) : StringAttr();
    return name ? name.str() : "";
  }

  llvm::Error nameInputsAndHeads() {
    auto function = module().lookupSymbol<func::FuncOp>("main");
    std::string known;
    std::map<std::string, unsigned> inputs, outputs;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputs[nameOf(function.getArgAttrDict(i))] = i;
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      outputs[nameOf(function.getResultAttrDict(i))] = i;
    auto list = [](const std::map<std::string, unsigned> &names) {
      std::string text;
      for (const auto &[name, index] : names)
        text += (text.empty() ? "" : ", ") + name;
      return text;
    };
    Builder b(&context);
    for (const auto &[name, perMember] : request.perMember) {
      if (!inputs.contains(name))
        return fail(ExitCode::usage, "no input is called '" + name + "'; the inputs are: " + list(inputs));
      if (perMember)
        function.setArgAttr(inputs[name], "tutti.per_member", b.getUnitAttr());
    }
    for (const auto &[name, heads] : request.heads) {
      if (!outputs.contains(name))
        return fail(ExitCode::usage, "no output is called '" + name + "'; the outputs are: " + list(outputs));
      SmallVector<StringRef> refs(heads.begin(), heads.end());
      function.setResultAttr(outputs[name], "tutti.heads", b.getStrArrayAttr(refs));
    }
    return llvm::Error::success();
  }

  llvm::Error runTo(Stage stage) {
    DiagnosticCapture diagnostics(&context);
    PassManager passes(&context);
    addPasses(passes, stage);
    if (succeeded(passes.run(module())))
      return llvm::Error::success();
    return fail(ExitCode::unsupported, diagnostics.take());
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module()->print(stream);
    return text;
  }

  llvm::Error dump(StringRef stage) { return dump(stage + ".mlir", print()); }
  llvm::Error dump(const llvm::Twine &file, const std::string &text) {
    if (request.dumpFolder.empty())
      return llvm::Error::success();
    if (std::error_code code = llvm::sys::fs::create_directories(request.dumpFolder))
      return fail(ExitCode::resource, "cannot create '" + request.dumpFolder + "': " + code.message());
    llvm::SmallString<128> path(request.dumpFolder);
    llvm::sys::path::append(path, file);
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    if (!code) {
      stream << text << '\n';
      stream.close();
      code = stream.error();
      stream.clear_error(); // it would end the process
    }
    return code ? fail(ExitCode::resource, "cannot write '" + path.str() + "': " + code.message()) : llvm::Error::success();
  }

  plan::ProgramOp program() { return *module().getOps<plan::ProgramOp>().begin(); }

  llvm::Error checkMemory() {
    uint64_t scratch = 0;
    for (auto launch : program().getBody().getOps<plan::LaunchOp>())
      scratch = std::max<uint64_t>(scratch, launch.getScratch());
    uint64_t needed = program().getArena() + scratch;
    if (request.memoryLimit && needed > *request.memoryLimit)
      return fail(ExitCode::resource, "the ensemble needs " + llvm::Twine(needed) + " bytes of working memory for one thread, the limit is " +
                                          llvm::Twine(*request.memoryLimit) + "; raise --memory-limit, or bind a smaller range with --dim");
    return llvm::Error::success();
  }

  void describe() {
    result.arenaBytes = program().getArena();
    for (auto kernel : module().getOps<plan::KernelOp>()) {
      KernelReport report{kernel.getSymName().str(), kernel.getFamily().str(), "", kernel.getLifted(), {}, 0, 0, 0, 0, ""};
      for (Attribute size : kernel.getRows())
        report.rows.push_back(cast<StringAttr>(size).str());
      for (auto launch : program().getBody().getOps<plan::LaunchOp>())
        if (launch.getKernel() == kernel.getSymName()) {
          ++report.launches;
          report.tile = launch.getTile();
          report.scratch = launch.getScratch();
        }
      kernel.walk([&](Operation *op) {
        report.heads += isa<HeadOp>(op);
        if (op->hasAttr("numerics"))
          report.numerics += (report.numerics.empty() ? "" : ", ") + op->getName().stripDialect().str() + ":" + numericsRule(op).str();
      });
      result.launches += report.launches;
      result.kernels.push_back(report);
    }
    for (Attribute flops : program().getFlops())
      for (KernelReport &report : result.kernels)
        if (report.family == "chain" || result.kernels.size() == 1) {
          report.flops += (report.flops.empty() ? "" : " + ") + cast<StringAttr>(flops).str();
          break;
        }
  }

  /// The symbols of the call's sizes, in the order in which kernels get them.
  static std::vector<std::string> symbolsOf(plan::ProgramOp program) {
    std::vector<std::string> symbols{"active"};
    for (NamedAttribute size : program.getSizes())
      if (size.getName() != "active")
        symbols.push_back(size.getName().str());
    return symbols;
  }

  /// All kernels for one level. Levels are independent, each in a context of its own.
  llvm::Expected<CpuImage> emitLevel(const CpuLevel &level, const std::string &planned) {
    MLIRContext own(registry(), MLIRContext::Threading::DISABLED);
    own.loadAllAvailableDialects();
    OwningOpRef<ModuleOp> source = parseSourceString<ModuleOp>(planned, &own);
    if (!source)
      return fail(ExitCode::internal, "the planned module does not parse");
    std::vector<std::string> symbols = symbolsOf(*source->getOps<plan::ProgramOp>().begin()), names;
    OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&own));
    for (auto kernel : source->getOps<plan::KernelOp>()) {
      names.push_back("tutti_" + kernel.getSymName().str());
      if (failed(emitKernel(*code, kernel, symbols, level, names.back())))
        return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted as it was analysed");
    }
    return buildCpuImage(*code, level, names);
  }

  llvm::Error emitCuda(std::vector<TargetImage> &images, std::vector<CudaLaunch> &launches) {
    std::vector<CudaText> texts;
    for (auto kernel : module().getOps<plan::KernelOp>()) {
      std::string name = kernel.getSymName().str();
      llvm::Expected<std::string> text = emitCudaKernel(kernel, symbolsOf(program()), name);
      if (!text)
        return text.takeError();
      if (llvm::Error error = dump(name + ".cu", *text))
        return error;
      std::optional<CudaGeometry> geometry = cudaGeometry(kernel);
      launches.push_back({geometry->rows, geometry->threads, geometry->sharedBytes});
      texts.push_back({name, std::move(*text), {unsigned(geometry->threads), unsigned(geometry->sharedBytes)}});
    }
    auto built = buildCudaImages(texts, request.cudaTargets, request.jobs);
    if (!built)
      return built.takeError();
    for (CudaImage &image : *built) {
      TargetImage target{image.architecture->name.str(), true, unsigned(image.minDriver), std::move(image.bytes), {}};
      for (const auto &[offset, length, r] : image.kernels)
        target.kernels.push_back({offset, length, r.registers, r.stack, r.staticShared, r.barriers, r.maxThreads});
      result.codeBytes[target.target] = target.bytes.size();
      images.push_back(std::move(target));
    }
    return llvm::Error::success();
  }

  llvm::Error emit() {
    std::string planned = print();
    std::vector<std::future<llvm::Expected<CpuImage>>> running;
    std::vector<TargetImage> images;
    auto policy = request.jobs > 1 ? std::launch::async : std::launch::deferred;
    for (const CpuLevel &level : cpuLevels())
      if (llvm::is_contained(request.levels, level.name)) {
        images.push_back({level.name.str(), false, 0, "", {}});
        running.push_back(std::async(policy, [this, &level, &planned] { return emitLevel(level, planned); }));
      }
    llvm::Error errors = llvm::Error::success();
    for (auto [image, future] : llvm::zip_equal(images, running)) {
      llvm::Expected<CpuImage> built = future.get();
      if (!built) {
        errors = llvm::joinErrors(std::move(errors), built.takeError());
        continue;
      }
      image.bytes = std::move(built->bytes);
      for (uint64_t offset : built->offsets)
        image.kernels.push_back({.offset = offset});
      result.codeBytes[image.target] = image.bytes.size();
    }
    if (errors)
      return errors;
    WriteOptions options{request.shareByContent ? "content" : "none", "tutti " TUTTI_VERSION, {}, request.progress};
    if (!request.cudaTargets.empty())
      if (llvm::Error error = emitCuda(images, options.cudaLaunches))
        return error;
    if (request.output.empty())
      return llvm::Error::success();
    return writeArtifact(request.output, module(), ensemble, images, options);
  }
};

} // namespace

llvm::Expected<CompileResult> compile(const CompileRequest &request) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto aligned = align(context, request.models, request.import, {request.shareByContent});
  if (!aligned)
    return aligned.takeError();
  return compile(request, std::move(*aligned));
}

llvm::Expected<CompileResult> compile(const CompileRequest &request, Ensemble ensemble) {
  return Compilation(request, std::move(ensemble)).run();
}

} // namespace tutti
