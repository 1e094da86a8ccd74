// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which reader a model file takes.
#include "compiler/import/Member.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/mlir/MlirFile.h"
#include "compiler/import/onnx/Importer.h"

using namespace mlir;

namespace tutti {

llvm::Expected<MemberModel> importMember(MLIRContext &context, const MemberFiles &files, const ImportOptions &options,
                                         const Ports *ports, size_t member) {
  auto weights = openWeights(files);
  if (!weights)
    return weights.takeError();
  if (isMlir(files.model)) {
    auto models = importMlir(context, files, weights->get(), options);
    if (!models)
      return models.takeError();
    return std::move(models->front());
  }
  llvm::Expected<std::unique_ptr<OnnxFile>> model = OnnxFile::open(files.model);
  if (!model)
    return model.takeError();
  return importOnnx(context, **model, weights->get(), files, options, ports, member);
}

llvm::Expected<InputSymbols> symbolsOf(StringRef path) {
  if (isMlir(path))
    return mlirSymbols(path);
  llvm::Expected<std::unique_ptr<OnnxFile>> file = OnnxFile::open(path);
  if (!file)
    return file.takeError();
  return symbolsOf(**file);
}

} // namespace tutti
