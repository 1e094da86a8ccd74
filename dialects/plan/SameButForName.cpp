// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Equality by MLIR's own, with the values of two regions matched as they come.
#include "SameButForName.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace tutti {

static DictionaryAttr attributesButName(Operation *op) {
  NamedAttrList attributes(op->getAttrDictionary());
  attributes.erase(SymbolTable::getSymbolAttrName());
  return attributes.getDictionary(op->getContext());
}

unsigned SameButForName::getHashValue(const Operation *constOp) {
  auto *op = const_cast<Operation *>(constOp);
  llvm::hash_code hash = llvm::hash_combine(op->getName(), attributesButName(op));
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(inner, OperationEquivalence::ignoreHashValue,
                                                                        OperationEquivalence::ignoreHashValue,
                                                                        OperationEquivalence::Flags::IgnoreLocations));
    });
  return hash;
}

bool SameButForName::isEqual(const Operation *constA, const Operation *constB) {
  auto isKey = [](const Operation *op) { return op != getEmptyKey() && op != getTombstoneKey(); };
  if (constA == constB || !isKey(constA) || !isKey(constB))
    return constA == constB;
  auto *a = const_cast<Operation *>(constA), *b = const_cast<Operation *>(constB);
  if (a->getName() != b->getName() || attributesButName(a) != attributesButName(b) ||
      a->getNumRegions() != b->getNumRegions())
    return false;
  llvm::DenseMap<Value, Value> matched;
  auto match = [&](Value x, Value y) { matched[x] = y; };
  auto areMatched = [&](Value x, Value y) { return success(matched.lookup(x) == y); };
  return llvm::all_of(llvm::zip_equal(a->getRegions(), b->getRegions()), [&](auto regions) {
    return OperationEquivalence::isRegionEquivalentTo(&std::get<0>(regions), &std::get<1>(regions), areMatched, match,
                                                      OperationEquivalence::Flags::IgnoreLocations);
  });
}

} // namespace tutti
