// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way from files to artifact.
//
// Up to the stage `batched` there is one module. From then on each class of targets has its own: numerics, fusion, launches and
// arena of a CPU and of a GPU differ. They meet again in the artifact, where the weights are.
#include "Build.h"
#include "Compiler.h"
#include "compiler/import/Groups.h"
#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Target.h"

#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

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

/// Registers of a kernel as its cubin has them, if there is one for the architecture.
struct RegistersOf {
  ArrayRef<ProgramCode> programs;

  std::optional<unsigned> operator()(StringRef architecture, plan::KernelOp kernel, const CudaGeometry &geometry) const {
    for (const ProgramCode &code : programs)
      for (const TargetImage &image : code.images)
        if (image.target == architecture)
          for (auto [which, built] : llvm::zip_equal(code.kernels, image.kernels))
            if (which.launch == launchOf(geometry) && isKernel(code.planned, which.kernel, kernel))
              return built.registers;
    return std::nullopt;
  }

  static bool isKernel(ModuleOp planned, unsigned index, plan::KernelOp kernel) {
    return *std::next(planned.getOps<plan::KernelOp>().begin(), index) == kernel;
  }
};

class Compilation {
public:
  Compilation(const CompileRequest &request, Ensemble ensemble)
      : request(request), context(*ensemble.module->getContext()), ensemble(std::move(ensemble)) {
    modules.emplace_back("", std::move(this->ensemble.module));
  }

  llvm::Expected<CompileResult> run() {
    if (llvm::Error error = nameInputsAndHeads())
      return error;
    for (auto [name, stage] : stages()) {
      if (stage == Stage::binary)
        break;
      if (stage == Stage::kernels)
        split();
      for (auto &[target, module] : modules) {
        if (llvm::Error error = runTo(stage, *module))
          return error;
        if (llvm::Error error = dump(name + (modules.size() > 1 && target == "cuda" ? ".cuda.mlir" : ".mlir"), print(*module)))
          return error;
      }
      if (stage == request.stopAfter) {
        for (auto &[target, module] : modules)
          result.text += (result.text.empty() ? "" : "// -----\n") + print(*module);
        return std::move(result);
      }
    }
    for (auto &[target, module] : modules) {
      if (llvm::Error error = checkMemory(*module))
        return error;
      describe(*module);
    }
    if (llvm::Error error = emit())
      return error;
    return std::move(result);
  }

private:
  const CompileRequest &request;
  MLIRContext &context;
  Ensemble ensemble;
  /// One, for all targets; then one a class of targets.
  std::vector<std::pair<StringRef, OwningOpRef<ModuleOp>>> modules;
  CompileResult result;

  /// A copy for each class of targets, which knows what it is for.
  void split() {
    OwningOpRef<ModuleOp> batched = std::move(modules.front().second);
    modules.clear();
    if (!request.cudaTargets.empty())
      modules.emplace_back("cuda", batched->clone());
    if (!request.levels.empty() || modules.empty())
      modules.emplace(modules.begin(), "cpu", std::move(batched));
    Builder b(&context);
    for (auto &[target, module] : modules) {
      (*module)->setAttr("tutti.target", b.getStringAttr(target));
      (*module)->setAttr("tutti.precision", b.getStringAttr(target == "cuda" ? request.precision : "f32"));
      if (target == "cuda")
        (*module)->setAttr("tutti.scratch_per_row", b.getI64IntegerAttr(scratchPerRow(request.cudaTargets)));
    }
  }

  static std::string nameOf(DictionaryAttr attributes) {
    auto name = attributes ? dyn_cast_or_null<StringAttr>(attributes.get("tutti.name")) : StringAttr();
    return name ? name.str() : "";
  }

  llvm::Error nameInputsAndHeads() {
    auto function = modules.front().second->lookupSymbol<func::FuncOp>("main");
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

  llvm::Error runTo(Stage stage, ModuleOp module) {
    DiagnosticCapture diagnostics(&context);
    PassManager passes(&context);
    addPasses(passes, stage);
    if (succeeded(passes.run(module)))
      return llvm::Error::success();
    return fail(ExitCode::unsupported, diagnostics.take());
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

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

  llvm::Error checkMemory(ModuleOp module) {
    plan::ProgramOp program = programOf(module);
    bool cuda = targetOf(module) == "cuda"; // scratch is memory of its multiprocessors
    uint64_t scratch = 0;
    program.walk([&](plan::LaunchOp launch) { scratch = cuda ? 0 : std::max<uint64_t>(scratch, launch.getScratch()); });
    uint64_t needed = program.getArena() + scratch;
    if (request.memoryLimit && needed > *request.memoryLimit)
      return fail(ExitCode::resource, "the ensemble needs " + llvm::Twine(needed) + " bytes of working memory " +
                                          (cuda ? "on cuda" : "for one thread") + ", the limit is " + llvm::Twine(*request.memoryLimit) +
                                          "; raise --memory-limit, or bind a smaller range with --dim");
    return llvm::Error::success();
  }

  void describe(ModuleOp module) {
    plan::ProgramOp program = programOf(module);
    ProgramReport whole{targetOf(module).str(), 0, int64_t(program.getArena())};
    size_t first = result.kernels.size();
    for (auto kernel : module.getOps<plan::KernelOp>()) {
      KernelReport report{whole.target, kernel.getSymName().str(), kernel.getFamily().str(), "", kernel.getLifted(), {}, 0, 0, 0, 0, ""};
      for (Attribute size : kernel.getRows())
        report.rows.push_back(cast<StringAttr>(size).str());
      program.walk([&](plan::LaunchOp launch) {
        if (launch.getKernel() == kernel.getSymName()) {
          ++report.launches;
          report.tile = launch.getTile();
          report.scratch = launch.getScratch();
        }
      });
      kernel.walk([&](Operation *op) {
        report.heads += isa<HeadOp>(op);
        if (op->hasAttr("numerics"))
          report.numerics += (report.numerics.empty() ? "" : ", ") + op->getName().stripDialect().str() + ":" +
                             (numericsProduct(op) == "fma" ? numericsRule(op) : numericsProduct(op)).str();
      });
      result.kernels.push_back(report);
    }
    for (Operation &op : program.getBody().front())
      whole.launches += isa<plan::LaunchOp, plan::ParallelOp>(op);
    MutableArrayRef<KernelReport> own = MutableArrayRef(result.kernels).drop_front(first);
    for (Attribute flops : program.getFlops())
      for (KernelReport &report : own)
        if (report.family == "chain" || own.size() == 1) {
          report.flops += (report.flops.empty() ? "" : " + ") + cast<StringAttr>(flops).str();
          break;
        }
    result.programs.push_back(std::move(whole));
  }

  llvm::Error emit() {
    std::vector<ProgramCode> programs;
    for (auto &[target, module] : modules) {
      if (target == "cuda") {
        auto codes = buildCuda(*module, request.cudaTargets, request.jobs,
                               [&](const std::string &file, const std::string &text) { return dump(file, text); });
        if (!codes)
          return codes.takeError();
        if (request.estimate) {
          auto estimate = tutti::estimate(*module, request.estimateAt, RegistersOf{*codes});
          if (!estimate)
            return estimate.takeError();
          result.estimates.push_back(std::move(*estimate));
        }
        llvm::move(*codes, std::back_inserter(programs));
        continue;
      }
      auto code = buildCpu(*module, request.levels, request.jobs);
      if (!code)
        return code.takeError();
      programs.push_back(std::move(*code));
    }
    for (const ProgramCode &program : programs)
      for (const TargetImage &image : program.images)
        result.codeBytes[image.target] = image.bytes.size();
    if (request.output.empty())
      return llvm::Error::success();
    return writeArtifact(request.output, ensemble, programs,
                         {request.shareByContent ? "content" : "none", "tutti " TUTTI_VERSION, request.progress});
  }
};

} // namespace

llvm::Expected<CompileResult> compile(const CompileRequest &request) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto aligned = (request.unequal ? alignGroups : align)(context, request.models, request.import, {request.shareByContent});
  if (!aligned)
    return aligned.takeError();
  return compile(request, std::move(*aligned));
}

llvm::Expected<CompileResult> compile(const CompileRequest &request, Ensemble ensemble) {
  return Compilation(request, std::move(ensemble)).run();
}

} // namespace tutti
