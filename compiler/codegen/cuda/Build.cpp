// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The texts of all launches of the modules, each once, and what is made of them for every architecture.
#include "Build.h"
#include "Counts.h"
#include "Kernel.h"
#include "Launches.h"
#include "compiler/codegen/KernelSet.h"
#include "compiler/support/Error.h"
#include "images/Image.h"
#include "passes/analysis/Steps.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <map>
#include <set>

using namespace mlir;

namespace tutti {

/// The launch parameters of the parts' geometries.
static CudaLaunch launchOf(ArrayRef<CudaGeometry> parts) {
  const CudaGeometry &first = parts.front();
  CudaLaunch launch{{}, first.blockThreads(), 0, first.warps.cluster, parts.size() == 1 && first.persistent};
  for (const CudaGeometry &geometry : parts) {
    launch.rows.push_back(geometry.rows);
    launch.sharedBytes = std::max(launch.sharedBytes, geometry.sharedBytes);
  }
  return launch;
}

namespace {
/// Architectures that have the same launches, and the same ways for each.
struct CudaClass {
  std::vector<DeviceLaunch> launches;
  std::vector<std::vector<LaunchWay>> ways;
  std::vector<const Architecture *> architectures;
};

/// Names for kernels that are launched at once: "k0_k1", or "k0_to_k17" for many parts.
class LaunchNames {
public:
  explicit LaunchNames(const KernelSet &set) : set(set) {}

  std::string of(const std::vector<unsigned> &kernels) {
    std::string &name = names[kernels];
    if (!name.empty())
      return name;
    auto own = [&](unsigned kernel) { return set.kernels[kernel].name; };
    name = llvm::join(llvm::map_range(kernels, own), "_");
    if (kernels.size() > mostListed)
      name = own(kernels.front()) + "_to_" + own(kernels.back());
    std::string first = name;
    for (unsigned i = 2; !used.insert(name).second; ++i)
      name = first + "b" + std::to_string(i);
    return name;
  }

private:
  static constexpr size_t mostListed = 6;
  const KernelSet &set;
  std::map<std::vector<unsigned>, std::string> names;
  llvm::StringSet<> used;
};

/// The versions of a way to launch kernels, as text, to be tried in order while they spill. Each later one needs fewer
/// registers: a producer warpgroup leaves fewer to the others, and persistent blocks, a second resident block and
/// weights that are read several words at a time cost some.
llvm::Expected<std::vector<CudaText::Version>> versionsOf(ArrayRef<plan::KernelOp> parts, ArrayRef<std::string> symbols,
                                                          const std::string &name, const LaunchWay &way) {
  std::vector<CudaText::Version> versions;
  auto add = [&](llvm::function_ref<void(CudaGeometry &)> change) -> llvm::Error {
    llvm::SmallVector<CudaGeometry> geometries(way.geometries.begin(), way.geometries.end());
    llvm::for_each(geometries, change);
    llvm::Expected<std::string> text = emitCudaKernel(parts, symbols, name, geometries);
    if (!text)
      return text.takeError();
    CudaLaunch launch = launchOf(geometries);
    versions.push_back({std::move(*text), {unsigned(launch.threads), unsigned(launch.sharedBytes)}, launch.persistent});
    return llvm::Error::success();
  };
  if (llvm::Error error = add([](CudaGeometry &) {}))
    return std::move(error);
  const CudaGeometry &first = way.geometries.front();
  if (first.persistent)
    if (llvm::Error error = add([](CudaGeometry &g) { g.persistent = false; }))
      return std::move(error);
  auto withoutProducer = [](CudaGeometry &g) {
    g.persistent = false;
    g.ring.producerWarps = 0;
    g.ring.columnPlaces = 0;
  };
  // Three warpgroups always have a producer (CudaGeometry::tasksOf).
  bool mayGo = first.ring.producerWarps > 0 && first.threads == CudaGeometry::tasksOf(first.threads);
  if (mayGo && first.ring.producerWarps == 4)
    if (llvm::Error error = add(withoutProducer))
      return std::move(error);
  if (llvm::any_of(way.geometries, [](const CudaGeometry &g) { return g.residentBlocks > 1; }))
    if (llvm::Error error = add([](CudaGeometry &g) { g.residentBlocks = 1; }))
      return std::move(error);
  if (first.ring && !first.warps.wide)
    if (llvm::Error error = add([](CudaGeometry &g) {
          g.persistent = false;
          g.residentBlocks = 1;
          g.wordsApart = true;
        }))
      return std::move(error);
  if (mayGo && first.ring.producerWarps == 1) // a warp more leaves a third less registers to the others
    if (llvm::Error error = add([&](CudaGeometry &g) {
          withoutProducer(g);
          g.residentBlocks = 1;
        }))
      return std::move(error);
  return versions;
}

/// The texts of kernels, each once.
class CudaTexts {
public:
  using Dump = llvm::function_ref<llvm::Error(const std::string &, const std::string &)>;
  explicit CudaTexts(Dump dump) : dump(dump) {}

  llvm::Expected<const CudaText *> of(ArrayRef<plan::KernelOp> parts, ArrayRef<std::string> symbols,
                                      const std::string &name, const LaunchWay &way, StringRef architecture) {
    auto &same = known[name];
    auto text = llvm::find_if(same, [&](auto &entry) { return entry.first == way; });
    if (text != same.end())
      return text->second;
    auto versions = versionsOf(parts, symbols, name, way);
    if (!versions)
      return versions.takeError();
    if (llvm::Error error = dump(name + (same.empty() ? "" : "." + architecture.str()) + ".cu", versions->front().text))
      return std::move(error);
    texts.push_back({name, std::move(*versions)});
    same.push_back({way, &texts.back()});
    return &texts.back();
  }

private:
  Dump dump;
  std::deque<CudaText> texts;
  std::map<std::string, std::vector<std::pair<LaunchWay, const CudaText *>>> known; ///< by name
};

/// The compiled code of all texts, by architecture.
class CudaCode {
public:
  CudaCode(ArrayRef<CudaSource> sources, std::vector<CudaImage> built) : sources(sources), images(std::move(built)) {
    for (CudaImage &image : images)
      bytes.push_back(std::make_shared<const std::string>(std::move(image.bytes)));
  }

  /// Gives a program the code of its kernels, whose texts these are. A way that spills is dropped if the launch has
  /// another one. A spill without an alternative, or a kernel that cannot be launched as planned, is our own mistake:
  /// an error (internal).
  llvm::Error addTo(ProgramCode &program, std::vector<const CudaText *> texts) const {
    leaveOutSpilling(program, texts);
    for (auto [kernel, text] : llvm::zip_equal(program.kernels, texts)) {
      std::set<int64_t> threads;
      for (StringRef name : program.architectures) {
        const CudaText::Version &version = text->versions[codeOf(placeOf(name), text).version];
        threads.insert(version.needs.threads);
        kernel.launch.persistent &= version.persistent; // of all: else a block for each member
      }
      if (threads.size() > 1) // a launch has one number: Image.cpp takes versions that agree
        return fail(ExitCode::internal, "kernel " + kernel.name + " has blocks of several sizes");
      kernel.launch.threads = *threads.begin();
    }
    for (const std::string &name : program.architectures) {
      size_t place = placeOf(name);
      TargetImage target{name, unsigned(images[place].minDriver), bytes[place], {}, images[place].compiler};
      for (auto [kernel, text] : llvm::zip_equal(program.kernels, texts)) {
        const auto &[offset, length, r, version] = codeOf(place, text);
        LaunchNeeds needs{unsigned(kernel.launch.threads), text->versions[version].needs.dynamicShared};
        if (sources[place].architecture->code == Architecture::Code::cubin)
          if (llvm::Error error = checkResources(r, *sources[place].architecture, needs))
            return error;
        target.kernels.push_back({offset, length, r.registers, r.stack, r.staticShared, r.barriers, r.maxThreads});
      }
      program.images.push_back(std::move(target));
    }
    return llvm::Error::success();
  }

private:
  ArrayRef<CudaSource> sources;
  std::vector<CudaImage> images; ///< of the sources
  std::vector<std::shared_ptr<const std::string>> bytes;

  size_t placeOf(StringRef architecture) const {
    return llvm::find_if(sources, [&](const CudaSource &s) { return s.architecture->name == architecture; }) -
           sources.begin();
  }
  const CudaImage::Kernel &codeOf(size_t place, const CudaText *text) const {
    return images[place].kernels[llvm::find(sources[place].kernels, text) - sources[place].kernels.begin()];
  }
  bool spills(const ProgramCode &program, const CudaText *text) const {
    return llvm::any_of(program.architectures,
                        [&](StringRef name) { return codeOf(placeOf(name), text).resources.stack != 0; });
  }
  void leaveOutSpilling(ProgramCode &program, std::vector<const CudaText *> &texts) const {
    std::vector<std::vector<unsigned>> launched;
    std::vector<bool> spilled;
    for (auto [kernel, text] : llvm::zip_equal(program.kernels, texts)) {
      launched.push_back(kernel.kernels);
      spilled.push_back(spills(program, text));
    }
    std::vector<bool> stays = waysThatStay(launched, spilled);
    for (size_t i = texts.size(); i-- > 0;)
      if (!stays[i]) {
        texts.erase(texts.begin() + i);
        program.kernels.erase(program.kernels.begin() + i);
      }
  }
};
} // namespace

/// The error that says why some kernels cannot be launched.
static llvm::Error noWay(const DeviceLaunch &launch, const Architecture &architecture) {
  llvm::SmallVector<plan::KernelOp> kernels = kernelsOf(launch);
  for (plan::KernelOp kernel : kernels)
    if (!countsOperands(kernel) || !countsTile(kernel, Steps::of(kernel).form, 1))
      return fail(ExitCode::unsupported, "kernel " + kernel.getSymName() +
                                             " has rows, axes or sums of more elements than kernels of CUDA devices "
                                             "count, in 31 bits; bind a smaller range with --dim");
  return fail(ExitCode::unsupported, "kernel " + kernels.front().getSymName() +
                                         " needs more shared memory for a row than a block of " + architecture.name +
                                         " has");
}

static llvm::Expected<std::vector<CudaClass>> classesOf(plan::ProgramOp program,
                                                        ArrayRef<const Architecture *> architectures) {
  std::vector<CudaClass> classes;
  for (const Architecture *architecture : architectures) {
    std::vector<DeviceLaunch> launches = deviceLaunches(program, *architecture);
    std::vector<std::vector<LaunchWay>> ways;
    for (const DeviceLaunch &launch : launches) {
      ways.push_back(launchWays(kernelsOf(launch), *architecture));
      if (ways.back().empty())
        return noWay(launch, *architecture);
    }
    auto known = llvm::find_if(classes, [&](const CudaClass &c) { return c.launches == launches && c.ways == ways; });
    if (known == classes.end())
      known = classes.insert(known, {std::move(launches), std::move(ways), {}});
    known->architectures.push_back(architecture);
  }
  return classes;
}

namespace {

/// Builds the programs of all modules, one for each class of architectures that launch alike: texts first, then their
/// code.
class CudaPrograms {
public:
  CudaPrograms(ArrayRef<PlannedModule> planned, ArrayRef<const Architecture *> architectures, CudaTexts::Dump dump)
      : planned(planned), set(planned), names(set), texts(dump) {
    for (const Architecture *architecture : architectures)
      sources.push_back({architecture, {}});
  }

  /// Adds a program of a module, with the text of each way to launch each of its kernels.
  llvm::Error add(size_t module, const CudaClass &alike) {
    const PlannedModule &of = planned[module];
    Program &program = programs.emplace_back(Program{{of.module, of.ensemble}, {}});
    program.code.launches = alike.launches;
    std::set<std::vector<unsigned>> done;
    for (auto [launch, ways] : llvm::zip_equal(alike.launches, alike.ways)) {
      llvm::SmallVector<plan::KernelOp> parts = kernelsOf(launch);
      std::vector<unsigned> inModule = placesOf(parts, of.module);
      if (!done.insert(inModule).second)
        continue;
      for (const LaunchWay &way : ways)
        if (llvm::Error error = addWay(program, module, parts, inModule, way, alike.architectures.front()->name))
          return error;
    }
    for (const Architecture *architecture : alike.architectures) {
      program.code.architectures.push_back(architecture->name.str());
      for (const CudaText *text : program.texts)
        if (auto &kernels = sourceOf(*architecture).kernels; !llvm::is_contained(kernels, text))
          kernels.push_back(text);
    }
    return llvm::Error::success();
  }

  llvm::Expected<std::vector<ProgramCode>> build(unsigned jobs) {
    llvm::Expected<std::vector<CudaImage>> built = buildCudaImages(sources, jobs);
    if (!built)
      return built.takeError();
    CudaCode all(sources, std::move(*built));
    std::vector<ProgramCode> codes;
    for (Program &program : programs) {
      if (llvm::Error error = all.addTo(program.code, std::move(program.texts)))
        return std::move(error);
      codes.push_back(std::move(program.code));
    }
    return codes;
  }

private:
  struct Program {
    ProgramCode code;
    std::vector<const CudaText *> texts; ///< of the code's kernels
  };
  ArrayRef<PlannedModule> planned;
  KernelSet set;
  LaunchNames names;
  CudaTexts texts;
  std::vector<CudaSource> sources; ///< one an architecture, for all programs
  std::vector<Program> programs;

  CudaSource &sourceOf(const Architecture &architecture) {
    return *llvm::find_if(sources, [&](const CudaSource &source) { return source.architecture == &architecture; });
  }
  static std::vector<unsigned> placesOf(ArrayRef<plan::KernelOp> parts, ModuleOp module) {
    auto kernels = llvm::to_vector(module.getOps<plan::KernelOp>());
    std::vector<unsigned> places;
    for (plan::KernelOp kernel : parts)
      places.push_back(llvm::find(kernels, kernel) - kernels.begin());
    return places;
  }
  llvm::Error addWay(Program &program, size_t module, ArrayRef<plan::KernelOp> parts,
                     const std::vector<unsigned> &inModule, const LaunchWay &way, StringRef architecture) {
    std::vector<unsigned> inSet;
    for (unsigned place : inModule)
      inSet.push_back(set.ofModule[module][place]);
    CudaLaunch how = launchOf(way.geometries);
    std::string name = names.of(inSet) + "_" + std::to_string(way.rows);
    if (how.cluster > 1)
      name += "x" + std::to_string(how.cluster);
    ModuleOp of = planned[module].module;
    auto text = texts.of(parts, programOf(of).sizeOrder(), name, way, architecture);
    if (!text)
      return text.takeError();
    program.code.kernels.push_back({inModule, name, how, std::make_shared<const LaunchWay>(way)});
    program.texts.push_back(*text);
    return llvm::Error::success();
  }
};

} // namespace

llvm::Expected<std::vector<ProgramCode>>
buildCuda(ArrayRef<PlannedModule> planned, ArrayRef<const Architecture *> architectures, unsigned jobs,
          llvm::function_ref<llvm::Error(const std::string &, const std::string &)> dump) {
  CudaPrograms programs(planned, architectures, dump);
  for (auto [module, each] : llvm::enumerate(planned)) {
    auto classes = classesOf(programOf(each.module), architectures);
    if (!classes)
      return classes.takeError();
    for (const CudaClass &alike : *classes)
      if (llvm::Error error = programs.add(module, alike))
        return std::move(error);
  }
  return programs.build(jobs);
}

} // namespace tutti
