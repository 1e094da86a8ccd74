// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the reader of a model file.
#include "compiler/import/Member.h"
#include "compiler/import/Supplied.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/mlir/MlirFile.h"
#include "compiler/import/onnx/Importer.h"
#include "compiler/support/Error.h"

using namespace mlir;

namespace tutti {

bool isMlir(StringRef path) { return path.ends_with(".mlir"); }

MemberReader::MemberReader(MLIRContext &context) : context(context) {}
MemberReader::~MemberReader() = default;

llvm::Error MemberReader::open(const MemberFiles &given) {
  if (first.empty())
    first = given.model;
  if (isMlir(given.model) != readsText())
    return fail(ExitCode::usage, quote(given.model) + " and " + quote(first) +
                                     " are of different formats; all members are ONNX, or all are MLIR");
  if (!readsText() && (!model || given.model != files.model)) {
    llvm::Expected<std::unique_ptr<OnnxFile>> opened = OnnxFile::open(given.model);
    if (!opened)
      return opened.takeError();
    model = std::move(*opened);
  }
  files = given;
  auto beside = openWeights(files);
  if (!beside)
    return beside.takeError();
  weights = std::move(*beside);
  return llvm::Error::success();
}

llvm::Expected<std::vector<MemberModel>> MemberReader::read(const ImportOptions &options, const Ports *ports,
                                                            size_t member) {
  if (readsText())
    return importMlir(context, files, weights.get(), options);
  llvm::Expected<MemberModel> one = importOnnx(context, *model, weights.get(), files, options, ports, member);
  if (!one)
    return one.takeError();
  if (llvm::Error error = model->checkNotRead(options.output))
    return std::move(error);
  std::vector<MemberModel> models;
  models.push_back(std::move(*one));
  return models;
}

llvm::Expected<MemberModel> importMember(MLIRContext &context, const MemberFiles &files, const ImportOptions &options,
                                         const Ports *ports, size_t member) {
  MemberReader reader(context);
  if (llvm::Error error = reader.open(files))
    return std::move(error);
  auto models = reader.read(options, ports, member);
  if (!models)
    return models.takeError();
  return std::move(models->front());
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
