// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fuzzes import: TUTTI_FUZZ says what the bytes are, an .onnx, an .mlir or a .safetensors file. An .mlir file that is
// imported goes through the passes, too: what they make of the ops that a file may combine is refused or planned.
#include "compiler/import/files/Safetensors.h"
#include "compiler/import/mlir/MlirFile.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/support/Error.h"
#include "dialects/tutti/Module.h"
#include "passes/Pipeline.h"

#include <cstdlib>
#include <memory>
#include <sys/mman.h>
#include <unistd.h>

using namespace tutti;

/// Any error is as good as none, if a file can be the cause of it.
static void check(llvm::Error error) {
  llvm::handleAllErrors(std::move(error), [](const CompileError &e) {
    if (e.message.empty() || !llvm::is_contained({2, 3, 4, 6, 7}, static_cast<int>(e.code)))
      llvm::errs() << "code " << static_cast<int>(e.code) << ": " << e.message << "\n", std::abort();
  });
}

static void runPasses(mlir::ModuleOp model, Target target) {
  mlir::OwningOpRef<mlir::ModuleOp> module(model.clone());
  setMembers(*module, 2);
  setTarget(*module, target);
  DiagnosticCapture diagnostics(module->getContext());
  mlir::PassManager passes(module->getContext());
  for (Stage stage : {Stage::batched, Stage::kernels, Stage::planned})
    addPasses(passes, stage);
  if (mlir::succeeded(passes.run(*module)))
    return;
  std::string why = diagnostics.take();
  if (why.empty() || diagnostics.saidMistake())
    llvm::errs() << "the passes fail: " << why << "\n", std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // A context keeps every type and attribute that it has seen.
  static std::unique_ptr<mlir::MLIRContext> context;
  static int runs = 0;
  if (runs++ % 500 == 0)
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  static const int file = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != ssize_t(size))
    std::abort();
  std::string_view kind = TUTTI_FUZZ;
  if (kind == "onnx")
    check(importOnnx(*context, path, {}).takeError());
  else if (kind == "mlir") {
    auto models = importMlir(*context, {path, "", -1}, nullptr, {});
    if (!models)
      check(models.takeError());
    else
      for (Target target : {Target::cpu, Target::cuda})
        runPasses(*models->front().module, target);
  } else
    check(SafetensorsFile::open(path).takeError());
  return 0;
}
