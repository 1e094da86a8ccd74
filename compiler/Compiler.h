// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// compile(request): N model files to one artifact.
#ifndef TUTTI_COMPILER_COMPILER_H
#define TUTTI_COMPILER_COMPILER_H

#include "compiler/Report.h"
#include "compiler/codegen/cuda/images/Architectures.h"
#include "compiler/import/align/Align.h"
#include "compiler/performance/Estimate.h"
#include "compiler/support/Error.h"
#include "passes/Pipeline.h"

#include "runtime/schema/Levels.h"

#include <optional>

namespace tutti {

/// What to compile, and how. Names are member 0's.
struct CompileRequest {
  std::vector<std::string> models;  ///< one file a member,
  std::vector<std::string> weights; ///< or one model, and a file of weights a member
  std::string output;               ///< the artifact; not written when stopping before `binary`
  ImportOptions import;
  /// Dimensions bound to several values, as many each: the i-th of all of them together are a program of their own.
  std::map<std::string, std::vector<int64_t>> dimLists;
  std::map<std::string, bool> perMember; ///< by input, whether it has a member axis; one that is not here has none
  /// Heads by output; an output that is not here keeps "members".
  std::map<std::string, std::vector<std::string>> heads;
  bool shareByContent = true;
  bool unequal = false; ///< members may differ in structure: those that align are a group
  std::vector<std::string> levels = {rt::kCpuTargets[0].level, rt::kCpuTargets[1].level}; ///< of CPUs
  std::vector<const Architecture *> cudaTargets;
  /// How contractions may be computed on CUDA devices; CPUs compute in float32.
  Precision precision = Precision::f32;
  /// Bytes that a session of a program on one thread may take, with weights, inputs and outputs.
  std::optional<uint64_t> memoryLimit;
  Stage stopAfter = Stage::binary;
  std::string dumpFolder; ///< the IR after each stage; empty: none
  unsigned jobs = 1;      ///< threads
  bool estimate = false;  ///< what the CUDA program takes, by the model
  CallSizes estimateAt;   ///< for a call of these sizes; the largest of their ranges where nothing stands here
  std::function<void(uint64_t, uint64_t)> progress;
};

struct CompileResult {
  /// The IR at `stopAfter`, if that is before `binary`; of several classes of targets one after the other.
  std::string text;
  std::vector<ProgramReport> programs;
  std::map<std::string, uint64_t> codeBytes; ///< by level or architecture
  /// By architecture, what compiled its kernels' text: "NVRTC 13.0".
  std::map<std::string, std::string> codeCompilers;
  std::vector<ProgramEstimate> estimates; ///< of CUDA programs, if they were asked for
};

/// From model files to an artifact, or to the text of a stage. The error is a CompileError: an exit code of
/// docs/errors.md and a message; then nothing has been written.
llvm::Expected<CompileResult> compile(const CompileRequest &request);
/// The same from the stage `model` on, for an ensemble that is there already; of `request.models` and
/// `import` only the bindings are read. Its context has the dialects of `registerDialects`.
llvm::Expected<CompileResult> compile(const CompileRequest &request, Ensemble ensemble);
/// The same for one ensemble a binding of the sizes, all of the same members and in one context.
llvm::Expected<CompileResult> compile(const CompileRequest &request, std::vector<Ensemble> ensembles);

/// Every dialect that a stage may hold.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace tutti

#endif
