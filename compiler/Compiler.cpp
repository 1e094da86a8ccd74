// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way from files to artifact.
//
// Each binding of the sizes has a module of its own. Up to the stage `batched` that is one for all targets. From then
// on each class of targets has its own: numerics, fusion, launches and arena of a CPU and of a GPU differ. They meet
// again in the artifact, where the weights are.
#include "Compiler.h"
#include "Memory.h"
#include "compiler/artifact/Writer.h"
#include "compiler/codegen/cpu/Build.h"
#include "compiler/codegen/cuda/Build.h"
#include "compiler/import/Member.h"
#include "compiler/import/align/Groups.h"
#include "compiler/import/mlir/MlirFile.h"
#include "dialects/tutti/Module.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tutti {

void registerDialects(DialectRegistry &registry) { insertCpuDialects(registry); }

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
  Compilation(const CompileRequest &request, std::vector<Ensemble> given)
      : request(request), context(*given.front().module->getContext()), ensembles(std::move(given)) {
    for (auto [i, ensemble] : llvm::enumerate(ensembles))
      units.push_back({unsigned(i), std::nullopt, std::move(ensemble.module), {}});
  }

  llvm::Expected<CompileResult> run() {
    if (llvm::Error error = notePorts())
      return error;
    for (auto [name, stage] : stages()) {
      if (stage == Stage::binary)
        break;
      if (stage == Stage::kernels)
        split();
      for (Unit &unit : units) {
        if (llvm::Error error = lower(unit, stage))
          return error;
        if (!request.dumpFolder.empty()) // text takes its time where constants are large
          if (llvm::Error error = dump(name + suffixOf(unit), print(*unit.module)))
            return error;
      }
      if (stage == request.stopAfter) {
        result.text = textAt(stage);
        return std::move(result);
      }
    }
    auto programs = build();
    if (!programs)
      return programs.takeError();
    for (Unit &unit : units) {
      auto isOf = [&](const ProgramCode &code) { return code.planned == *unit.module; };
      result.programs.push_back(reportOf(*llvm::find_if(*programs, isOf), sizesOf(unit)));
    }
    if (!request.output.empty())
      if (llvm::Error error = write(*programs))
        return error;
    return std::move(result);
  }

private:
  const CompileRequest &request;
  MLIRContext &context;
  std::vector<Ensemble> ensembles; ///< by binding; their modules are the units'
  struct Unit {
    unsigned binding;
    std::optional<Target> target; ///< none: all
    OwningOpRef<ModuleOp> module;
    OwningOpRef<ModuleOp> batched; ///< as it was at that stage, where it may be needed again
  };
  std::vector<Unit> units; ///< all bindings for one class of targets, then for the next
  CompileResult result;

  /// What is asked of inputs and outputs, on every module.
  llvm::Error notePorts() {
    for (const auto &[name, bound] : request.import.binds)
      if (request.perMember.contains(name))
        return fail(ExitCode::usage,
                    "--input " + shown(name) + ": the input is bound to " + quote(bound.file) + ", a constant");
    for (Unit &unit : units)
      if (llvm::Error error = askPorts(mainOf(*unit.module), request.perMember, request.heads))
        return error;
    return llvm::Error::success();
  }

  /// A copy for each class of targets, which knows what it is for.
  void split() {
    std::vector<Unit> batched = std::move(units);
    units.clear();
    auto add = [&](Target target) {
      for (Unit &unit : batched) {
        units.push_back({unit.binding, target, unit.module->clone(), {}});
        ModuleOp module = *units.back().module;
        setTarget(module, target);
        setPrecision(module, target == Target::cuda ? request.precision : Precision::f32);
        if (target == Target::cuda)
          setScratchPerRow(module, scratchPerRow(request.cudaTargets));
      }
    };
    if (!request.levels.empty() || request.cudaTargets.empty())
      add(Target::cpu);
    if (!request.cudaTargets.empty())
      add(Target::cuda);
  }

  /// Of the files that a unit is dumped to: ".mlir"; ".1.cuda.mlir" of the second binding's CUDA module, beside one for
  /// CPUs.
  std::string suffixOf(const Unit &unit) const {
    std::string suffix = ensembles.size() > 1 ? "." + std::to_string(unit.binding) : "";
    return suffix + (units.front().target != unit.target ? "." + stringifyTarget(*unit.target).str() : "") + ".mlir";
  }

  std::vector<PlannedModule> plannedFor(Target target) {
    std::vector<PlannedModule> planned;
    for (Unit &unit : units)
      if (unit.target == target)
        planned.push_back({*unit.module, &ensembles[unit.binding]});
    return planned;
  }

  /// From the stage before to this one, within the limit of memory.
  llvm::Error lower(Unit &unit, Stage stage) {
    if (stage == Stage::kernels && request.memoryLimit)
      unit.batched = unit.module->clone();
    if (llvm::Error error = runTo(stage, *unit.module))
      return error;
    return stage == Stage::planned && request.memoryLimit ? keepLimit(unit) : llvm::Error::success();
  }

  llvm::Error runTo(Stage stage, ModuleOp module) {
    DiagnosticCapture diagnostics(&context, /*namesNodes=*/true);
    PassManager passes(&context);
    addPasses(passes, stage);
    if (failed(passes.run(module))) {
      std::string text = diagnostics.take();
      // A pass that refuses a model says why, and leaves it as it is. What our rewrites spoil is a mistake of ours, and
      // so is what a pass says is one.
      bool refused = !text.empty() && !diagnostics.saidMistake() && succeeded(verify(module));
      return fail(refused ? ExitCode::unsupported : ExitCode::internal, text);
    }
    if (stage == Stage::planned && !programOf(module)) // what is behind it takes it for granted
      return fail(ExitCode::internal, "the stage planned made no program");
    return llvm::Error::success();
  }

  /// All modules; the stage `model` of a single one, with one group of members, as text that can be compiled.
  std::string textAt(Stage stage) {
    std::string text;
    for (Unit &unit : units)
      text += (text.empty() ? "" : "// -----\n") + (stage == Stage::model ? withValues(unit) : print(*unit.module));
    return text;
  }

  /// With the weights' values.
  std::string withValues(const Unit &unit) {
    OwningOpRef<ModuleOp> copy = OwningOpRef<ModuleOp>(ModuleOp(*unit.module).clone());
    attachValues(*copy, ensembles[unit.binding].weights);
    return print(*copy);
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
    if (std::error_code code = llvm::sys::fs::create_directories(request.dumpFolder, /*IgnoreExisting=*/true,
                                                                 llvm::sys::fs::all_all)) // less the umask, as mkdir
      return fail(ExitCode::resource, "cannot create " + quote(request.dumpFolder) + ": " + code.message());
    llvm::SmallString<128> path(request.dumpFolder);
    llvm::sys::path::append(path, file);
    return writeText(path, text + "\n");
  }

  /// The module as if there were the first so many members alone; of a group it may be none.
  static void keepFirst(ModuleOp module, int64_t members) {
    setMembers(module, members);
    SmallVector<ArrayRef<int64_t>> groups = getGroups(module);
    for (ArrayRef<int64_t> &group : groups)
      group = group.take_while([&](int64_t member) { return member < members; });
    if (!groups.empty())
      setGroups(module, groups);
  }

  /// Plans the unit again, in pieces of the active set, if it takes more memory than it may.
  llvm::Error keepLimit(Unit &unit) {
    auto replan = [&](const PlanRequest &asked) -> llvm::Expected<OwningOpRef<ModuleOp>> {
      OwningOpRef<ModuleOp> module = unit.batched->clone();
      if (asked.chunk)
        setChunk(*module, asked.chunk);
      if (asked.members)
        keepFirst(*module, asked.members);
      SmallVector<SizeRange> ranges = getSizeRanges(*module);
      for (SizeRange &range : ranges)
        if (auto most = asked.largest.find(range.symbol); most != asked.largest.end())
          range.most = most->second;
      setSizeRanges(*module, ranges);
      for (Stage stage : {Stage::kernels, Stage::planned})
        if (llvm::Error error = runTo(stage, *module))
          return std::move(error);
      return std::move(module);
    };
    auto planned = planWithin(*request.memoryLimit, ensembles[unit.binding], std::move(unit.module), replan);
    if (!planned)
      return planned.takeError();
    unit.module = std::move(*planned);
    unit.batched = nullptr;
    return llvm::Error::success();
  }

  /// Which of several bindings a unit is of; empty where there is but one.
  std::string sizesOf(const Unit &unit) const {
    std::string text;
    for (const auto &[name, values] : request.dimLists)
      text += (text.empty() ? "" : ", ") + name + "=" + std::to_string(values[unit.binding]);
    return text;
  }

  /// What the model says of each CUDA program, with what its cubins came to.
  llvm::Error predict(ArrayRef<PlannedModule> planned, ArrayRef<ProgramCode> codes) {
    for (const PlannedModule &each : planned) {
      auto estimate = tutti::estimate(each.module, request.estimateAt, codes);
      if (!estimate)
        return estimate.takeError();
      result.estimates.push_back(std::move(*estimate));
    }
    return llvm::Error::success();
  }

  /// Code for every target.
  llvm::Expected<std::vector<ProgramCode>> build() {
    std::vector<ProgramCode> programs;
    if (std::vector<PlannedModule> planned = plannedFor(Target::cpu); !planned.empty()) {
      auto codes = buildCpu(planned, request.levels, request.jobs);
      if (!codes)
        return codes.takeError();
      programs = std::move(*codes);
    }
    if (std::vector<PlannedModule> planned = plannedFor(Target::cuda); !planned.empty()) {
      auto codes = buildCuda(planned, request.cudaTargets, request.jobs,
                             [&](const std::string &file, const std::string &text) { return dump(file, text); });
      if (!codes)
        return codes.takeError();
      addCosts(*codes);
      if (request.estimate)
        if (llvm::Error error = predict(planned, *codes))
          return error;
      llvm::move(*codes, std::back_inserter(programs));
    }
    for (const ProgramCode &program : programs)
      for (const TargetImage &image : program.images) {
        result.codeBytes[image.target] = image.bytes->size();
        if (!image.compiler.empty())
          result.codeCompilers[image.target] = image.compiler;
      }
    return programs;
  }

  llvm::Error write(ArrayRef<ProgramCode> programs) {
    WriteOptions options{request.shareByContent ? "content" : "none", "tutti " TUTTI_VERSION, {}, request.progress};
    for (const auto &[name, bound] : request.import.binds)
      options.notes.push_back("input " + quote(name) + " is bound to " + quote(bound.file));
    std::map<std::string, std::string> by; // targets by what compiled their text
    for (const auto &[target, compiler] : result.codeCompilers)
      by[compiler] += (by[compiler].empty() ? "" : ", ") + target;
    for (const auto &[compiler, targets] : by)
      options.notes.push_back("code for " + targets + " is compiled by " + compiler);
    return writeArtifact(request.output, programs, options);
  }
};

/// One binding of the sizes after the other.
std::vector<ImportOptions> bindingsOf(const CompileRequest &request) {
  size_t count = request.dimLists.empty() ? 1 : request.dimLists.begin()->second.size();
  std::vector<ImportOptions> bindings(count, request.import);
  for (const auto &[name, values] : request.dimLists)
    for (auto [binding, value] : llvm::zip_equal(bindings, values))
      binding.dims[name] = {value, value, true};
  return bindings;
}

/// Groups of unequal members, of each binding the same ones.
llvm::Expected<std::vector<Ensemble>> alignUnequal(MLIRContext &context, const CompileRequest &request) {
  if (!request.weights.empty() || llvm::any_of(request.models, isMlir))
    return fail(ExitCode::unsupported, "--unequal takes ONNX files alone, without --weights");
  std::vector<Ensemble> ensembles;
  for (const ImportOptions &binding : bindingsOf(request)) {
    auto aligned = alignGroups(context, request.models, binding, {request.shareByContent});
    if (!aligned)
      return aligned.takeError();
    if (!ensembles.empty() && aligned->groups != ensembles.front().groups)
      return fail(ExitCode::unsupported,
                  "the members fall into other groups for some values of --dim than for the first: "
                  "compile them apart, a value each");
    ensembles.push_back(std::move(*aligned));
  }
  return ensembles;
}

} // namespace

llvm::Expected<CompileResult> compile(const CompileRequest &request) {
  MLIRContext context(registry(), MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto aligned = request.unequal ? alignUnequal(context, request)
                                 : alignBindings(context, membersOf(request.models, request.weights),
                                                 bindingsOf(request), {request.shareByContent});
  if (!aligned)
    return aligned.takeError();
  return compile(request, std::move(*aligned));
}

llvm::Expected<CompileResult> compile(const CompileRequest &request, std::vector<Ensemble> ensembles) {
  return Compilation(request, std::move(ensembles)).run();
}

llvm::Expected<CompileResult> compile(const CompileRequest &request, Ensemble ensemble) {
  std::vector<Ensemble> one;
  one.push_back(std::move(ensemble));
  return compile(request, std::move(one));
}

} // namespace tutti
