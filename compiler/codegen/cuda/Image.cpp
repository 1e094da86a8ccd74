// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A translation unit a kernel, compiled side by side.
#include "Image.h"
#include "Emulated.h"
#include "compiler/Error.h"

#include <atomic>
#include <optional>
#include <thread>

namespace tutti {

llvm::Expected<CudaImage> buildCudaImage(llvm::ArrayRef<CudaText> kernels, llvm::StringRef target, unsigned jobs) {
  if (target != "emulated")
    return fail(ExitCode::unsupported, "no code for " + target + " yet");
  std::vector<std::optional<llvm::Expected<std::string>>> built(kernels.size());
  std::atomic<size_t> next = 0;
  auto work = [&] {
    for (size_t i; (i = next++) < kernels.size();)
      built[i].emplace(compileEmulated(kernels[i].text, {kernels[i].name + ".cu", {}}));
  };
  std::vector<std::thread> workers;
  for (unsigned i = 1; i < std::min<size_t>(jobs, kernels.size()); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();

  CudaImage image;
  llvm::Error errors = llvm::Error::success();
  for (auto &one : built) {
    if (!*one) {
      errors = llvm::joinErrors(std::move(errors), one->takeError());
      continue;
    }
    image.bytes.resize((image.bytes.size() + 63) / 64 * 64, '\0');
    image.offsets.push_back(image.bytes.size());
    image.lengths.push_back((*one)->size());
    image.bytes += **one;
  }
  if (errors)
    return errors;
  return image;
}

} // namespace tutti
