// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A translation unit a kernel, compiled side by side and laid end to end; for the emulated device, all in one file.
#include "Image.h"
#include "Emulated.h"
#include "Nvrtc.h"
#include "compiler/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <mutex>
#include <set>

namespace tutti {

static llvm::Error append(CudaImage &image, const CudaText &kernel, llvm::StringRef code) {
  CudaImage::Kernel placed{llvm::alignTo(image.bytes.size(), 64), code.size(), {}};
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

/// The text with all registers for one block on a processor; empty where it does not ask for room for more.
static std::string forOneBlock(llvm::StringRef text) {
  llvm::StringRef before = text.take_front(text.find("__launch_bounds__(")), rest = text.drop_front(before.size());
  auto [threads, behind] = rest.split(", ");
  auto [blocks, after] = behind.split(')');
  return rest.empty() || blocks == "1" ? "" : (before + threads + ", 1)" + after).str();
}

/// Compiles once more what spills, by its alternative, or with the registers that two blocks leave each other; PTX too,
/// whose registers nobody knows.
static llvm::Error compileSpilling(const Nvrtc &nvrtc, llvm::ArrayRef<KernelUnit> units,
                                   llvm::ArrayRef<llvm::StringRef> alternatives, std::vector<std::string> &compiled,
                                   unsigned jobs) {
  auto spills = [&](size_t i) -> llvm::Expected<bool> {
    if (units[i].architecture->code != Architecture::Code::cubin)
      return false;
    auto kernels = readCubin(compiled[i]);
    if (!kernels)
      return kernels.takeError();
    return llvm::any_of(*kernels, [](const KernelResources &r) { return r.stack != 0; });
  };
  std::map<std::string, std::string> looser;
  std::vector<bool> spilled;
  for (size_t i = 0; i < units.size(); ++i) {
    auto own = spills(i);
    if (!own)
      return own.takeError();
    spilled.push_back(*own);
    if (*own)
      looser[units[i].text] = alternatives[i].empty() ? forOneBlock(units[i].text) : alternatives[i].str();
  }
  std::vector<size_t> places;
  std::vector<KernelUnit> again;
  for (size_t i = 0; i < units.size(); ++i) {
    auto text = looser.find(units[i].text);
    if (text == looser.end() || text->second.empty() ||
        (!spilled[i] && units[i].architecture->code != Architecture::Code::ptx))
      continue;
    places.push_back(i);
    again.push_back({units[i].name, text->second, units[i].architecture});
  }
  if (again.empty())
    return llvm::Error::success();
  auto results = nvrtc.compile(again, jobs);
  if (!results)
    return results.takeError();
  for (auto [place, code] : llvm::zip_equal(places, *results))
    compiled[place] = std::move(code);
  return llvm::Error::success();
}

/// All kernels in one file: the host's compiler reads the headers once. The same kernels are compiled once in a
/// process, as for an ensemble and then for its members alone.
static llvm::Error buildEmulated(CudaImage &image, llvm::ArrayRef<const CudaText *> kernels) {
  std::vector<EmulatedUnit> units;
  for (const CudaText *kernel : kernels)
    units.push_back({kernel->name + ".cu", kernel->text});
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
  image.kernels.assign(kernels.size(), {0, image.bytes.size(), {}});
  return llvm::Error::success();
}

llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaSource> sources, unsigned jobs) {
  std::vector<KernelUnit> units;
  std::vector<llvm::StringRef> alternatives;
  std::vector<CudaImage> images;
  for (const CudaSource &source : sources) {
    images.push_back({source.architecture, 0, {}, {}});
    if (source.architecture->code != Architecture::Code::emulated)
      for (const CudaText *kernel : source.kernels) {
        units.push_back({kernel->name + ".cu", kernel->text, source.architecture});
        alternatives.push_back(kernel->alternative);
      }
  }
  std::vector<std::string> compiled;
  if (!units.empty()) {
    llvm::Expected<Nvrtc> nvrtc = Nvrtc::load();
    if (!nvrtc)
      return nvrtc.takeError();
    auto results = nvrtc->compile(units, jobs);
    if (!results)
      return results.takeError();
    compiled = std::move(*results);
    if (llvm::Error error = compileSpilling(*nvrtc, units, alternatives, compiled, jobs))
      return error;
    for (CudaImage &image : images)
      if (image.architecture->code != Architecture::Code::emulated) {
        image.minDriver = nvrtc->minDriver(*image.architecture);
        image.compiler = "NVRTC " + cudaVersionText(nvrtc->version());
      }
  }
  auto next = compiled.begin();
  for (auto [image, source] : llvm::zip_equal(images, sources)) {
    if (image.architecture->code == Architecture::Code::emulated) {
      if (llvm::Error error = buildEmulated(image, source.kernels))
        return error;
      continue;
    }
    for (const CudaText *kernel : source.kernels)
      if (llvm::Error error = append(image, *kernel, *next++))
        return error;
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
