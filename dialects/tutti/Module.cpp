// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes of a module as values.
#include "Module.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tutti {

static std::optional<int64_t> getNumber(ModuleOp module, StringRef name) {
  auto number = module->getAttrOfType<IntegerAttr>(name);
  return number ? std::optional(number.getInt()) : std::nullopt;
}
static void setNumber(ModuleOp module, StringRef name, int64_t number) {
  module->setAttr(name, Builder(module.getContext()).getI64IntegerAttr(number));
}

std::optional<int64_t> getMembers(ModuleOp module) { return getNumber(module, membersName); }
void setMembers(ModuleOp module, int64_t members) { setNumber(module, membersName, members); }

SmallVector<SizeRange> getSizeRanges(ModuleOp module) {
  SmallVector<SizeRange> ranges;
  if (auto sizes = module->getAttrOfType<DictionaryAttr>(sizesName))
    for (NamedAttribute size : sizes) {
      auto ends = cast<DenseI64ArrayAttr>(size.getValue());
      ranges.push_back({size.getName().str(), ends[0], ends[1]});
    }
  return ranges;
}
void setSizeRanges(ModuleOp module, ArrayRef<SizeRange> ranges) {
  Builder b(module.getContext());
  NamedAttrList sizes;
  for (const SizeRange &range : ranges)
    sizes.append(range.symbol, b.getDenseI64ArrayAttr({range.least, range.most}));
  module->setAttr(sizesName, sizes.getDictionary(module.getContext()));
}

SmallVector<ArrayRef<int64_t>> getGroups(ModuleOp module) {
  SmallVector<ArrayRef<int64_t>> groups;
  if (auto lists = module->getAttrOfType<ArrayAttr>(groupsName))
    for (auto members : lists.getAsRange<DenseI64ArrayAttr>())
      groups.push_back(members);
  return groups;
}
void setGroups(ModuleOp module, ArrayRef<ArrayRef<int64_t>> groups) {
  Builder b(module.getContext());
  auto lists = llvm::map_to_vector(
      groups, [&](ArrayRef<int64_t> members) -> Attribute { return b.getDenseI64ArrayAttr(members); });
  module->setAttr(groupsName, b.getArrayAttr(lists));
}

Target getTarget(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(targetName);
  return target ? target.getValue() : Target::cpu;
}
void setTarget(ModuleOp module, Target target) {
  module->setAttr(targetName, TargetAttr::get(module.getContext(), target));
}

Precision getPrecision(ModuleOp module) {
  auto precision = module->getAttrOfType<PrecisionAttr>(precisionName);
  return precision ? precision.getValue() : Precision::f32;
}
void setPrecision(ModuleOp module, Precision precision) {
  module->setAttr(precisionName, PrecisionAttr::get(module.getContext(), precision));
}

std::optional<int64_t> getScratchPerRow(ModuleOp module) { return getNumber(module, scratchPerRowName); }
void setScratchPerRow(ModuleOp module, int64_t bytes) { setNumber(module, scratchPerRowName, bytes); }

std::optional<int64_t> getChunk(ModuleOp module) { return getNumber(module, chunkName); }
void setChunk(ModuleOp module, int64_t members) { setNumber(module, chunkName, members); }

void eraseWhatIsWrittenLater(ModuleOp module) {
  for (StringRef name : {groupsName, targetName, precisionName, scratchPerRowName, chunkName})
    module->removeAttr(name);
}

} // namespace tutti
