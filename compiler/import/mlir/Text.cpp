// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of MLIR models: how deep it is, and weights in it.
#include "compiler/import/Weights.h"
#include "compiler/import/mlir/Parts.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tutti {

std::optional<size_t> tooDeep(StringRef text) {
  unsigned depth = 0, signs = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"' && c != '\n';
      continue;
    }
    if (c == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    quoted = c == '"';
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}").contains(c) || (c == '>' && i && text[i - 1] != '-'))
      depth -= depth > 0;
    signs = c == '-' ? signs + 1 : c == ' ' || c == '\n' || c == '\t' ? signs : 0;
    if (depth > maxMlirDepth || signs > maxMlirDepth)
      return i;
  }
  return std::nullopt;
}

void attachValues(ModuleOp module, const llvm::StringMap<std::vector<WeightSource>> &weights) {
  Builder b(module.getContext());
  for (ParamOp param : module.getOps<ParamOp>()) {
    auto at = weights.find(param.getSymName());
    if (at == weights.end())
      continue;
    SmallVector<Attribute> values;
    for (auto [m, source] : llvm::enumerate(at->second)) {
      size_t bytes = source.count() * source.elementBytes();
      AsmResourceBlob blob = HeapAsmResourceBlob::allocate(bytes, 64);
      source.copyTo(blob.getMutableData().data());
      std::string key = param.getSymName().str() + (at->second.size() > 1 ? "." + std::to_string(m) : "");
      values.push_back(DenseResourceElementsAttr::get(cast<RankedTensorType>(param.getType()), key, std::move(blob)));
    }
    param->setAttr("values", values.size() == 1 ? values[0] : b.getArrayAttr(values));
    param->setAttr("source", b.getStringAttr(at->second.front().name));
  }
}

} // namespace tutti
