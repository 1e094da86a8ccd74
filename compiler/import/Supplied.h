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

/// Reports all weights at once that are missing, do not fit, or belong to no initializer: exit code `usage`. Integers
/// and scalars may be missing, since exporters write a graph's constants so; they stay as the model has them.
/// Superfluous single integers are allowed, and so are tensors equal to one that belongs to an initializer.
llvm::Error checkSupplied(const SafetensorsFile &weights, const MemberFiles &files, llvm::ArrayRef<Wanted> wanted);

/// The file's tensor with an initializer's name and type, as a weight; nothing if there is none, or the type is
/// unsupported.
std::optional<WeightSource> suppliedTensor(mlir::MLIRContext &context, const SafetensorsFile &weights,
                                           const std::string &name, int32_t dataType);

/// digestOf the files, for a known digest of the model.
uint64_t digestOf(uint64_t model, const SafetensorsFile *weights, const ImportOptions &options);

} // namespace tutti

#endif
