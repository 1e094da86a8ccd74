// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data supplied beside a model: weights in a separate file, constants for inputs.
#ifndef TUTTI_COMPILER_IMPORT_SUPPLIED_H
#define TUTTI_COMPILER_IMPORT_SUPPLIED_H

#include "compiler/import/Model.h"
#include "compiler/import/files/Safetensors.h"

namespace tutti {

/// The file of weights that a member has beside its model; null where it has none.
llvm::Expected<std::shared_ptr<SafetensorsFile>> openWeights(const MemberFiles &files);

/// An initializer as the model has it; `dataType` as ONNX numbers it.
struct Wanted {
  std::string name;
  int32_t dataType;
  std::vector<int64_t> dims;
  bool used; ///< by the graph
};

/// Every weight that is missing, does not fit, or belongs to no initializer, all at once: exit code `usage`. Integers
/// and scalars may be missing: exporters write a graph's constants so, and they stay as the model has them. Single
/// integers may be there for nothing, and so may what equals a tensor that belongs to one.
llvm::Error checkSupplied(const SafetensorsFile &weights, const MemberFiles &files, llvm::ArrayRef<Wanted> wanted);

/// The file's tensor of an initializer's name and type, as a weight; nothing where it has none, or the type is one that
/// we do not hold.
std::optional<WeightSource> suppliedTensor(mlir::MLIRContext &context, const SafetensorsFile &weights,
                                           const std::string &name, int32_t dataType);

/// The same as digestOf of the files, if the model's digest is known.
uint64_t digestOf(uint64_t model, const SafetensorsFile *weights, const ImportOptions &options);

} // namespace tutti

#endif
