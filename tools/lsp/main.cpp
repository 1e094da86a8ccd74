// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tutti-lsp-server: the language server for .mlir files of the tutti and plan dialects; editors start it and talk to it
// over stdin and stdout.
#include "dialects/Dialects.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/PrettyStackTrace.h"

int main(int argc, char **argv) {
  llvm::setBugReportMsg("tutti-lsp-server crashed: please report it to Tutti, with the file and the stack below.\n");
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) { os << "tutti " TUTTI_VERSION "\n"; });
  mlir::DialectRegistry registry;
  tutti::insertDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
