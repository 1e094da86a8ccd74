// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A translation unit a kernel, compiled side by side and laid end to end.
#include "Image.h"
#include "Emulated.h"
#include "Nvrtc.h"
#include "compiler/Error.h"

#include "llvm/ADT/STLExtras.h"

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
    if (llvm::Error error = checkResources(*own, *image.architecture, kernel.needs))
      return error;
    placed.resources = *own;
  }
  image.bytes.resize(placed.offset, '\0');
  image.bytes += code;
  image.kernels.push_back(std::move(placed));
  return llvm::Error::success();
}

llvm::Expected<std::vector<CudaImage>> buildCudaImages(llvm::ArrayRef<CudaText> kernels,
                                                       llvm::ArrayRef<const Architecture *> architectures,
                                                       unsigned jobs) {
  std::vector<KernelUnit> units;
  std::vector<CudaImage> images;
  for (const Architecture *architecture : architectures) {
    images.push_back({architecture, 0, {}, {}});
    if (architecture->code != Architecture::Code::emulated)
      for (const CudaText &kernel : kernels)
        units.push_back({kernel.name + ".cu", kernel.text, architecture});
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
    for (CudaImage &image : images)
      if (image.architecture->code != Architecture::Code::emulated)
        image.minDriver = nvrtc->minDriver(*image.architecture);
  }
  auto next = compiled.begin();
  for (CudaImage &image : images)
    for (const CudaText &kernel : kernels) {
      std::string code;
      if (image.architecture->code == Architecture::Code::emulated) {
        llvm::Expected<std::string> built = compileEmulated(kernel.text, {kernel.name + ".cu", {}});
        if (!built)
          return built.takeError();
        code = std::move(*built);
      } else {
        code = std::move(*next++);
      }
      if (llvm::Error error = append(image, kernel, code))
        return error;
    }
  return images;
}

} // namespace tutti
