// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes N members, which are one model except for their weights, one module.
#ifndef TUTTI_COMPILER_IMPORT_ALIGN_ALIGN_H
#define TUTTI_COMPILER_IMPORT_ALIGN_ALIGN_H

#include "compiler/import/Model.h"

#include <set>
#include <vector>

namespace tutti {

struct Ensemble {
  struct Member {
    std::string name, file;
    uint64_t digest;
  };
  /// Member 0's module with `tutti.members`; a param without `per_member` is shared.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Member> members;
  /// By the param's symbol: one source if it is shared, else one per member (of its group, if there are several).
  llvm::StringMap<std::vector<WeightSource>> weights;
  /// The members of each group, if they are unequal; empty if all are equal. `groupOf` has the params of groups behind
  /// the first.
  std::vector<std::vector<unsigned>> groups;
  llvm::StringMap<unsigned> groupOf;
  /// By group, its first member's names of initializers whose numbers went into the program.
  std::set<std::pair<unsigned, std::string>> computedWith;
};

struct Ports;

struct AlignOptions {
  /// Shares float weights that are byte-equal in all members; scalars among them become constants of the module.
  /// Otherwise every weight stays per member, except constants that no file stores as an initializer: these are not
  /// weights.
  bool shareByContent = true;
  /// The ports whose names and types the inputs have; null: the first file's.
  const Ports *ports = nullptr;
};

/// Imports the files and compares their normal forms; the first difference is an error (exit code `unsupported`) that
/// names the member, the node or port, and both sides. Of one member nothing is shared but scalars.
llvm::Expected<Ensemble> align(mlir::MLIRContext &context, llvm::ArrayRef<std::string> paths,
                               const ImportOptions &options, const AlignOptions &alignOptions);
/// One ensemble for each binding of the sizes. Each file is opened once, so equal weights of two ensembles are views of
/// the same bytes.
llvm::Expected<std::vector<Ensemble>> alignBindings(mlir::MLIRContext &context, llvm::ArrayRef<MemberFiles> members,
                                                    llvm::ArrayRef<ImportOptions> bindings,
                                                    const AlignOptions &alignOptions);

} // namespace tutti

#endif
