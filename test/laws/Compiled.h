// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models as text, compiled to artifacts and run through the C interface, for the laws that speak of compiled code. They
// hold on the CPU, and on the CUDA target that the variable TUTTI_LAWS_TARGET names ("emulated", "sm_90a").
#ifndef TUTTI_TEST_LAWS_COMPILED_H
#define TUTTI_TEST_LAWS_COMPILED_H

#include "Instances.h"

#include "compiler/Compiler.h"

#include "tutti/tutti.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>

namespace tutti::laws {

/// An ensemble at the stage `model`.
struct Model {
  /// The module's ops: the params without `per_member`, and @main with `tutti.per_member` where wanted.
  std::string text;
  std::map<std::string, std::vector<HostTensor>> params; ///< by symbol: one for all members, or one each
  int64_t members = 1;
  std::vector<std::string> levels = {"x86-64-v3"}; ///< of the CPU; the CUDA target comes to them, or
                                                   ///< takes their place where nothing is compared
  bool ownInputs = false;                          ///< every input has the member axis
  int64_t mostRows = 64;                           ///< of the batch, in a call

  /// Whether a call decides a size: here that is the batch.
  bool hasBatch() const { return text.find("#tutti.sizes<") != std::string::npos; }
};

/// The CUDA target that is tested beside the CPU; null where the CPU alone is.
const Architecture *cudaTarget();
/// What it computes products with: "f32-ffma", which has the CPU's bits, or what TUTTI_LAWS_PRECISION says.
const std::string &cudaPrecision();
/// Whether a GPU's driver is there.
bool hasGpu();
/// Whether its bits are the CPU's.
inline bool hasCpuBits() { return cudaPrecision() == "f32-ffma"; }
/// Whether this machine runs code for x86-64-v4.
inline bool hasWide() { return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"); }
/// Numbers of threads that a law tries: a GPU has its own.
inline std::vector<uint32_t> threadCounts() {
  return cudaTarget() ? std::vector<uint32_t>{1} : std::vector<uint32_t>{1, 2};
}

/// The CPU levels of an artifact whose results are compared with another's: a CUDA target's run there alone.
inline std::vector<std::string> levelsBeside() {
  return cudaTarget() ? std::vector<std::string>{} : std::vector<std::string>{"x86-64-v3"};
}

/// What differs from call to call.
struct Call {
  std::vector<uint32_t> active; ///< empty: all
  uint32_t threads = 1;
  std::string level = cudaTarget() ? "" : "x86-64-v3"; ///< of the CPU; empty: on the CUDA target
  int64_t batch = 0;                                   ///< the size, where no input has it
  bool strips = false; ///< on a CPU: whatever can run strip by strip does, in the shortest strips
};

/// Compiles a model to `request.output` for what the request names.
llvm::Expected<CompileResult> compile(const Model &model, const CompileRequest &request);

class Artifact {
public:
  static llvm::Expected<std::unique_ptr<Artifact>> compile(const Model &model);
  static llvm::Expected<std::unique_ptr<Artifact>> open(const std::string &path);
  ~Artifact();

  /// Whether there is a device to run it on; without one, that it compiles is all that is tested.
  bool runs() const;

  /// The results of @main in their order. Inputs are named x0, x1 ... and outputs y0, y1 ... by their places.
  llvm::Expected<std::vector<HostTensor>> run(llvm::ArrayRef<HostTensor> inputs, const Call &call = {}) const;

private:
  tutti_artifact_t *handle = nullptr;
};

/// Null and a failed test if the text does not parse.
mlir::OwningOpRef<mlir::ModuleOp> parseModule(const std::string &text);

/// The members chosen from a lifted tensor.
HostTensor choose(const HostTensor &lifted, llvm::ArrayRef<uint32_t> members);
/// The elements `places` along an axis.
HostTensor take(const HostTensor &tensor, int64_t axis, llvm::ArrayRef<int64_t> places);

} // namespace tutti::laws

#endif
