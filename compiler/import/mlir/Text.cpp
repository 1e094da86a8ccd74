// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of MLIR models: its nesting depth, and its weights.
#include "compiler/import/Limits.h"
#include "compiler/import/WeightSource.h"
#include "compiler/import/mlir/Parts.h"
#include "dialects/tutti/Tutti.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace tutti {

/// Calls visit(place) for each character outside of strings and comments until it returns true; returns that place.
static std::optional<size_t> findOutsideStrings(StringRef text, llvm::function_ref<bool(size_t)> visit) {
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
    if (visit(i))
      return i;
  }
  return std::nullopt;
}

std::optional<size_t> tooDeep(StringRef text) {
  unsigned depth = 0, signs = 0;
  return findOutsideStrings(text, [&](size_t i) {
    char c = text[i];
    if (StringRef("([{<").contains(c))
      ++depth;
    else if (StringRef(")]}").contains(c) || (c == '>' && i && text[i - 1] != '-'))
      depth -= depth > 0;
    signs = c == '-' ? signs + 1 : c == ' ' || c == '\n' || c == '\t' ? signs : 0;
    return depth > mostNesting || signs > mostNesting;
  });
}

std::optional<size_t> aliasIn(StringRef text) {
  auto isLetter = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  return findOutsideStrings(text, [&](size_t i) {
    if (i && isLetter(text[i - 1]))
      return false;
    StringRef rest = text.substr(i);
    if (rest.starts_with("affine_map") || rest.starts_with("affine_set"))
      return true;
    if (!rest.consume_front("#") && !rest.consume_front("!"))
      return false;
    return rest.drop_while(isLetter).ltrim().starts_with("=");
  });
}

bool hasUnalignedResource(StringRef text) {
  StringRef rest = text.substr(std::min(text.find("{-#"), text.size()));
  constexpr StringLiteral unaligned = "\"0x00000000"; // the first four bytes are the alignment
  for (size_t at = rest.find(unaligned); at != StringRef::npos; at = rest.find(unaligned, at + 1))
    if (at + unaligned.size() < rest.size() && llvm::isHexDigit(rest[at + unaligned.size()]))
      return true;
  return false;
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
    param.setValuesAttr(values.size() == 1 ? values[0] : b.getArrayAttr(values));
    // A part of an initializer, or a reshaped one, is not a weight that a file has under its name.
    const WeightSource &first = at->second.front();
    bool isSource = first.whole && first.permDims.empty();
    param.setSource(isSource ? first.name : "");
    SmallVector<int64_t> perm(first.perm.begin(), first.perm.end());
    if (isSource && !llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
      param.setPerm(perm);
  }
}

} // namespace tutti
