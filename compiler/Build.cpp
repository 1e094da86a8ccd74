// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emitters, called for every kernel of the modules.
#include "Build.h"
#include "Compiler.h"
#include "compiler/codegen/cpu/Emitters.h"
#include "compiler/codegen/cpu/Image.h"
#include "compiler/codegen/cuda/Image.h"
#include "compiler/codegen/cuda/Kernel.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <future>
#include <map>

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

namespace {
/// The kernels of several modules; those that are equal but for their names are one.
class KernelSet {
public:
  struct Kernel {
    unsigned module, index; ///< where it was met first
    std::string name;
  };
  explicit KernelSet(ArrayRef<PlannedModule> planned) {
    std::map<std::string, unsigned> known;
    llvm::StringSet<> names;
    for (auto [m, each] : llvm::enumerate(planned)) {
      std::string sizes = llvm::join(symbolsOf(programOf(each.module)), " ");
      ofModule.emplace_back();
      for (auto [k, kernel] : llvm::enumerate(ModuleOp(each.module).getOps<plan::KernelOp>())) {
        auto [place, fresh] = known.try_emplace(sizes + "\n" + textOf(kernel), kernels.size());
        if (fresh) {
          std::string name = kernel.getSymName().str();
          for (unsigned i = 2; !names.insert(name).second; ++i)
            name = (kernel.getSymName() + "b" + llvm::Twine(i)).str();
          kernels.push_back({unsigned(m), unsigned(k), name});
        }
        ofModule.back().push_back(place->second);
      }
    }
  }

  std::vector<Kernel> kernels;
  std::vector<std::vector<unsigned>> ofModule; ///< by module, its kernels' places in `kernels`

private:
  /// All of it but its name.
  static std::string textOf(plan::KernelOp kernel) {
    std::string text, name = "@" + kernel.getSymName().str();
    llvm::raw_string_ostream(text) << kernel;
    if (size_t at = text.find(name); at != std::string::npos)
      text.erase(at, name.size());
    return text;
  }
};
} // namespace

/// All kernels for one level.
static llvm::Expected<CpuImage> emitLevel(const CpuLevel &level, ArrayRef<std::string> planned, const KernelSet &set) {
  DialectRegistry dialects;
  registerDialects(dialects);
  MLIRContext own(dialects, MLIRContext::Threading::DISABLED);
  own.loadAllAvailableDialects();
  std::vector<std::string> names;
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&own)), source;
  auto next = set.kernels.begin();
  for (auto [m, text] : llvm::enumerate(planned)) {
    source = parseSourceString<ModuleOp>(text, &own);
    if (!source)
      return fail(ExitCode::internal, "the planned module does not parse");
    std::vector<std::string> symbols = symbolsOf(programOf(*source));
    for (auto [k, kernel] : llvm::enumerate(source->getOps<plan::KernelOp>())) {
      if (next == set.kernels.end() || next->module != m || next->index != k)
        continue;
      names.push_back("tutti_" + next++->name);
      if (failed(emitKernel(*code, kernel, symbols, level, names.back())))
        return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted as it was analysed");
    }
  }
  return buildCpuImage(*code, level, names);
}

llvm::Expected<std::vector<ProgramCode>> buildCpu(ArrayRef<PlannedModule> planned, ArrayRef<std::string> levels,
                                                  unsigned jobs) {
  KernelSet set(planned);
  std::vector<std::string> texts(planned.size());
  std::vector<ProgramCode> programs;
  for (auto [m, each] : llvm::enumerate(planned)) {
    llvm::raw_string_ostream(texts[m]) << each.module;
    programs.push_back({each.module, each.ensemble, {}, {}, {}});
    for (auto [k, kernel] : llvm::enumerate(set.ofModule[m]))
      programs.back().kernels.push_back({unsigned(k), set.kernels[kernel].name, {}});
  }
  std::vector<const CpuLevel *> building;
  std::vector<std::future<llvm::Expected<CpuImage>>> running;
  auto policy = jobs > 1 ? std::launch::async : std::launch::deferred;
  for (const CpuLevel &level : cpuLevels())
    if (llvm::is_contained(levels, level.name)) {
      building.push_back(&level);
      running.push_back(std::async(policy, [&level, &texts, &set] { return emitLevel(level, texts, set); }));
    }
  llvm::Error errors = llvm::Error::success();
  for (auto [level, future] : llvm::zip_equal(building, running)) {
    llvm::Expected<CpuImage> built = future.get();
    if (!built) {
      errors = llvm::joinErrors(std::move(errors), built.takeError());
      continue;
    }
    auto bytes = std::make_shared<const std::string>(std::move(built->bytes));
    for (auto [program, kernels] : llvm::zip_equal(programs, set.ofModule)) {
      program.images.push_back({level->name.str(), 0, bytes, {}});
      for (unsigned kernel : kernels)
        program.images.back().kernels.push_back({.offset = built->offsets[kernel]});
    }
  }
  if (errors)
    return errors;
  return programs;
}

namespace {
/// Architectures whose lists of geometries agree, kernel by kernel.
struct CudaClass {
  std::vector<std::vector<CudaGeometry>> geometries;
  std::vector<const Architecture *> architectures;
};
} // namespace

static llvm::Expected<std::vector<CudaClass>> classesOf(ModuleOp planned,
                                                        ArrayRef<const Architecture *> architectures) {
  std::vector<CudaClass> classes;
  for (const Architecture *architecture : architectures) {
    std::vector<std::vector<CudaGeometry>> geometries;
    for (auto kernel : planned.getOps<plan::KernelOp>()) {
      geometries.push_back(cudaGeometries(kernel, *architecture));
      if (geometries.back().empty())
        return fail(ExitCode::unsupported, "kernel " + kernel.getSymName() +
                                               " needs more shared memory for a row than a block of " +
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
buildCuda(ArrayRef<PlannedModule> planned, ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &, const std::string &)> dump) {
  KernelSet set(planned);
  std::vector<ProgramCode> programs;
  std::vector<CudaSource> sources; // one an architecture, for all programs
  for (const Architecture *architecture : architectures)
    sources.push_back({architecture, {}});
  auto sourceOf = [&](StringRef architecture) -> CudaSource & {
    return *llvm::find_if(sources, [&](const CudaSource &source) { return source.architecture->name == architecture; });
  };
  std::deque<CudaText> texts;
  std::map<std::string, std::vector<std::pair<CudaGeometry, const CudaText *>>> known; // by name
  std::vector<std::vector<const CudaText *>> ofProgram;
  for (auto [m, each] : llvm::enumerate(planned)) {
    auto classes = classesOf(each.module, architectures);
    if (!classes)
      return classes.takeError();
    std::vector<std::string> symbols = symbolsOf(programOf(each.module));
    for (const CudaClass &alike : *classes) {
      ProgramCode code{each.module, each.ensemble, {}, {}, {}};
      std::vector<const CudaText *> &own = ofProgram.emplace_back();
      for (auto [i, kernel] : llvm::enumerate(ModuleOp(each.module).getOps<plan::KernelOp>())) {
        for (const CudaGeometry &geometry : alike.geometries[i]) {
          std::string name = set.kernels[set.ofModule[m][i]].name + "_" + std::to_string(geometry.rows);
          if (geometry.cluster > 1)
            name += "x" + std::to_string(geometry.cluster);
          code.kernels.push_back({unsigned(i), name, launchOf(geometry)});
          auto &same = known[name];
          auto text = llvm::find_if(same, [&](auto &entry) { return entry.first == geometry; });
          if (text == same.end()) {
            llvm::Expected<std::string> fresh = emitCudaKernel(kernel, symbols, name, geometry);
            if (!fresh)
              return fresh.takeError();
            if (llvm::Error error =
                    dump(name + (same.empty() ? "" : "." + alike.architectures.front()->name.str()) + ".cu", *fresh))
              return std::move(error);
            texts.push_back({name, std::move(*fresh), {unsigned(geometry.threads), unsigned(geometry.sharedBytes)}});
            same.push_back({geometry, &texts.back()});
            text = std::prev(same.end());
          }
          own.push_back(text->second);
        }
      }
      for (const Architecture *architecture : alike.architectures) {
        code.architectures.push_back(architecture->name.str());
        for (const CudaText *text : own)
          if (auto &kernels = sourceOf(architecture->name).kernels; !llvm::is_contained(kernels, text))
            kernels.push_back(text);
      }
      programs.push_back(std::move(code));
    }
  }
  auto built = buildCudaImages(sources, jobs);
  if (!built)
    return built.takeError();
  std::vector<std::shared_ptr<const std::string>> bytes;
  for (CudaImage &image : *built)
    bytes.push_back(std::make_shared<const std::string>(std::move(image.bytes)));
  for (auto [code, own] : llvm::zip_equal(programs, ofProgram))
    for (const std::string &architecture : code.architectures) {
      const CudaSource &source = sourceOf(architecture);
      size_t place = &source - sources.data();
      TargetImage target{architecture, unsigned((*built)[place].minDriver), bytes[place], {}};
      for (const CudaText *text : own) {
        const auto &[offset, length, r] =
            (*built)[place].kernels[llvm::find(source.kernels, text) - source.kernels.begin()];
        target.kernels.push_back({offset, length, r.registers, r.stack, r.staticShared, r.barriers, r.maxThreads});
      }
      code.images.push_back(std::move(target));
    }
  return programs;
}

} // namespace tutti
