// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC, NVIDIA's compiler of kernel text: found when models are compiled, never linked. It needs no GPU.
#ifndef TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_NVRTC_H
#define TUTTI_COMPILER_CODEGEN_CUDA_IMAGES_NVRTC_H

#include "Architectures.h"
#include "DeviceText.h"

#include <memory>

namespace tutti {

/// A translation unit to be compiled for one architecture.
struct KernelUnit {
  std::string name; ///< what messages call the text
  std::string text;
  const Architecture *architecture;
};

/// The result of compiling a unit.
struct CompiledUnit {
  std::string code; ///< as Nvrtc::compile says
  /// NVRTC found no way to let products of warpgroups follow each other: it waits for each, and they take twice as
  /// long.
  bool waits = false;

  bool operator==(const CompiledUnit &) const = default;
};

struct NvrtcOptions {
  llvm::ArrayRef<DeviceHeader> headers = deviceHeaders(); ///< the headers that the text may include
  std::vector<std::string> flags = {};                    ///< more for NVRTC
  std::string *log = nullptr;                             ///< receives NVRTC's log for a text that it compiles
};

/// A loaded NVRTC. Copies are the same library; it stays loaded. All of it may be called from several threads at once.
class Nvrtc {
public:
  /// The oldest usable version: kernel text is C++20.
  static constexpr int oldest = 12000;

  /// The first of: $TUTTI_NVRTC (the library or its folder; where it is set, nothing else is tried); the toolkits
  /// $CUDA_HOME and $CUDA_PATH; the wheel nvidia-cuda-nvrtc in $VIRTUAL_ENV; /usr/local/cuda, /usr/local/cuda-*; the
  /// loader's own path; the wheel in python3's folders. None, or none that is new enough: an error (device) that says
  /// what to install.
  static llvm::Expected<Nvrtc> load();
  /// The library at this path.
  static llvm::Expected<Nvrtc> open(const std::string &path);

  /// The version as CUDA counts it: 12080 is 12.8.
  int version() const;
  const std::string &path() const;
  /// "NVRTC 13.0 (PATH)".
  std::string describe() const;

  bool supports(const Architecture &architecture) const;
  /// An error (device) that names both versions where an architecture is not supported.
  llvm::Error check(const Architecture &architecture) const;
  /// The oldest driver that loads what this NVRTC makes, as cuDriverGetVersion counts. A cubin runs on every driver of
  /// the same major version that knows the GPU, PTX needs one as new as NVRTC (CUDA Compatibility guide).
  int minDriver(const Architecture &architecture) const;

  /// A cubin; for a compute_XX, PTX with its closing 0 byte. The same text gives the same bytes. Floats are IEEE:
  /// nothing is fused, flushed or approximated that the text does not ask for. Text that NVRTC refuses is our own
  /// mistake (internal): the message has NVRTC's log, and the text as well if $TUTTI_SHOW_KERNELS is set.
  llvm::Expected<std::string> compile(llvm::StringRef text, llvm::StringRef name, const Architecture &architecture,
                                      const NvrtcOptions &options = {}) const;
  /// The same for many units, on up to `jobs` threads (0: one a core). Equal texts for one architecture are compiled
  /// once. The error is that of the first unit that has one.
  llvm::Expected<std::vector<CompiledUnit>> compile(llvm::ArrayRef<KernelUnit> units, unsigned jobs) const;

private:
  struct Library;
  /// As `open`, but an error is the reason alone.
  static llvm::Expected<Nvrtc> tryOpen(const std::string &path);
  explicit Nvrtc(std::shared_ptr<const Library> library) : library(std::move(library)) {}
  std::shared_ptr<const Library> library;
};

} // namespace tutti

#endif
