// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-opt: reads, verifies and prints modules of the tutti and plan dialects and runs single passes on them; for
// tests and for debugging.
#include "dialects/Dialects.h"

#include "compiler/codegen/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::setBugReportMsg("tutti-opt crashed: please report it to Tutti, with the input and the stack below.\n");
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "tutti " TUTTI_VERSION "\n"; });
  mlir::DialectRegistry registry;
  tutti::insertDialects(registry);
  registry.insert<mlir::LLVM::LLVMDialect, mlir::scf::SCFDialect>(); // of the code of kernels
  tutti::registerTuttiPasses();
  tutti::registerStagePipelines();
  tutti::registerTuttiCodegenPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tutti-opt: passes of the Tutti compiler\n", registry));
}
