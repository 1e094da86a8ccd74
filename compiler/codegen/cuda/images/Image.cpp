// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A translation unit a kernel, compiled side by side and laid end to end; for the emulated device, all in one file.
#include "Image.h"
#include "Emulated.h"
#include "Nvrtc.h"
#include "compiler/support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <mutex>
#include <set>

namespace tutti {

static llvm::Error append(CudaImage &image, const CudaText &kernel, llvm::StringRef code, unsigned version) {
  CudaImage::Kernel placed{llvm::alignTo(image.bytes.size(), 64), code.size(), {}, version};
  if (image.architecture->code == Architecture::Code::cubin) {
    auto found = readCubin(code);
    if (!found)
      return found.takeError();
    auto own = llvm::find_if(*found, [&](const KernelResources &r) { return r.name == kernel.name; });
    if (own == found->end())
      return fail(ExitCode::internal, "the cubin of kernel " + kernel.name + " has no such kernel");
    placed.resources = *own;
  }
  image.bytes.resize(placed.offset, '\0');
  image.bytes += code;
  image.kernels.push_back(std::move(placed));
  return llvm::Error::success();
}

namespace {
/// A version of a kernel, for an architecture.
struct CudaUnit {
  const CudaText *kernel;
  const Architecture *architecture;
  std::string code = {};
  unsigned version = 0;
  std::optional<std::pair<std::string, unsigned>> slower = {}; ///< the first version that does not spill, but waits

  unsigned threads() const { return kernel->versions[version].needs.threads; }
  bool isPtx() const { return architecture->code == Architecture::Code::ptx; }
  KernelUnit unit() const { return {kernel->name + ".cu", kernel->versions[version].text, architecture}; }

  /// Accepts the result, or moves on to the next version. True if a version is left to compile.
  llvm::Expected<bool> takes(CompiledUnit result) {
    code = std::move(result.code);
    if (isPtx())
      return false;
    auto kernels = readCubin(code);
    if (!kernels)
      return kernels.takeError();
    bool spills = llvm::any_of(*kernels, [](const KernelResources &r) { return r.stack > 0; });
    if (!spills && !result.waits)
      return false;
    if (!spills && !slower)
      slower = {code, version};
    if (version + 1 < kernel->versions.size()) {
      ++version;
      return true;
    }
    if (slower)
      std::tie(code, version) = *slower;
    return false;
  }
};
} // namespace

/// The version that each kernel's cubins came to: the last of them.
using Versions = std::map<const CudaText *, unsigned>;

/// Compiles cubins. A kernel that spills or waits is compiled again in its next version, and so is one whose blocks
/// would have another size than on the last architecture, since a launch has one size. Then compiles PTX of the
/// resulting versions.
static llvm::Error compile(const Nvrtc &nvrtc, std::vector<CudaUnit> &all, unsigned jobs, Versions &versions) {
  for (bool ptx : {false, true}) {
    std::vector<CudaUnit *> now;
    for (CudaUnit &unit : all)
      if (unit.isPtx() == ptx) {
        unit.version = versions[unit.kernel];
        now.push_back(&unit);
      }
    while (!now.empty()) {
      std::vector<KernelUnit> units;
      for (CudaUnit *unit : now)
        units.push_back(unit->unit());
      auto results = nvrtc.compile(units, jobs);
      if (!results)
        return results.takeError();
      std::vector<CudaUnit *> again;
      for (auto [unit, result] : llvm::zip_equal(now, *results)) {
        auto more = unit->takes(std::move(result));
        if (!more)
          return more.takeError();
        if (*more)
          again.push_back(unit);
      }
      now = std::move(again);
      if (!now.empty())
        continue;
      for (const CudaUnit &unit : all)
        versions[unit.kernel] = std::max(versions[unit.kernel], unit.version);
      for (CudaUnit &unit : all)
        if (unsigned last = versions[unit.kernel];
            !ptx && !unit.isPtx() && unit.threads() != unit.kernel->versions[last].needs.threads) {
          unit.version = last;
          unit.slower.reset();
          now.push_back(&unit);
        }
    }
  }
  return llvm::Error::success();
}

/// All kernels in one file: the host's compiler reads the headers once. The same kernels are compiled once in a
/// process, as for an ensemble and then for its members alone.
static llvm::Error buildEmulated(CudaImage &image, llvm::ArrayRef<const CudaText *> kernels, const Versions &versions) {
  std::vector<EmulatedUnit> units;
  std::vector<unsigned> taken;
  for (const CudaText *kernel : kernels) {
    auto version = versions.find(kernel);
    taken.push_back(version == versions.end() ? 0 : version->second);
    units.push_back({kernel->name + ".cu", kernel->versions[taken.back()].text});
  }
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  std::string key = image.architecture->name.str() + "\n";
  for (const EmulatedUnit &unit : units)
    key += (unit.name + "\n" + unit.text + "\n").str();
  {
    std::lock_guard lock(mutex);
    image.bytes = known[key];
  }
  if (image.bytes.empty()) {
    llvm::Expected<std::string> built = compileEmulated(units, {.capability = image.architecture->capability});
    if (!built)
      return built.takeError();
    image.bytes = std::move(*built);
    std::lock_guard lock(mutex);
    known[key] = image.bytes;
  }
  for (unsigned version : taken)
    image.kernels.push_back({0, image.bytes.size(), {}, version});
  return llvm::Error::success();
}

llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaSource> sources, unsigned jobs) {
  std::vector<CudaUnit> units;
  std::vector<CudaImage> images;
  Versions versions;
  for (const CudaSource &source : sources) {
    images.push_back({source.architecture, 0, {}, {}});
    if (source.architecture->code != Architecture::Code::emulated)
      for (const CudaText *kernel : source.kernels)
        units.push_back({kernel, source.architecture});
  }
  if (!units.empty()) {
    llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
    if (!nvrtc)
      return nvrtc.takeError();
    if (llvm::Error error = compile(*nvrtc, units, jobs, versions))
      return error;
    for (CudaImage &image : images)
      if (image.architecture->code != Architecture::Code::emulated) {
        image.minDriver = nvrtc->minDriver(*image.architecture);
        image.compiler = "NVRTC " + cudaVersionText(nvrtc->version());
      }
  }
  auto next = units.begin();
  for (auto [image, source] : llvm::zip_equal(images, sources)) {
    if (image.architecture->code == Architecture::Code::emulated) {
      if (llvm::Error error = buildEmulated(image, source.kernels, versions))
        return error;
      continue;
    }
    for (const CudaText *kernel : source.kernels) {
      if (llvm::Error error = append(image, *kernel, next->code, next->version))
        return error;
      ++next;
    }
  }
  return images;
}

std::vector<bool> waysThatStay(llvm::ArrayRef<std::vector<unsigned>> launched, const std::vector<bool> &spills) {
  std::set<std::vector<unsigned>> sound;
  for (size_t i = 0; i < launched.size(); ++i)
    if (!spills[i])
      sound.insert(launched[i]);
  std::vector<bool> stays;
  for (size_t i = 0; i < launched.size(); ++i)
    stays.push_back(!spills[i] || !sound.count(launched[i]));
  return stays;
}

} // namespace tutti
