// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor types: what they may be, and their sizes.
#include "Tensors.h"
#include "Tutti.h"

using namespace mlir;

namespace tutti {

bool isElement(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.isSigned())
    return false;
  return llvm::is_contained({8, 16, 32, 64}, integer.getWidth()) || integer.isSignlessInteger(1);
}

std::string textOf(Type type) {
  constexpr size_t most = 200;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text.size() > most ? text.substr(0, most) + "..." : text;
}

std::optional<std::string> faultOf(Type given) {
  auto type = dyn_cast<RankedTensorType>(given);
  auto text = [&] { return textOf(given); };
  if (!type)
    return "a value of type " + text() + ", expected a ranked tensor";
  if (!isElement(type.getElementType()))
    return "elements of type " + textOf(type.getElementType()) + " are not supported";
  if (Attribute encoding = type.getEncoding(); encoding ? !isa<SizesAttr>(encoding) : !type.hasStaticShape())
    return text() + ": expected the size of each '?' in its encoding, as in #tutti.sizes<batch>";
  // Others are counted where memory is given to them; of these the product says nothing of the strides.
  if (Sizes sizes = getSizes(type); llvm::is_contained(sizes, Size(0))) {
    llvm::erase(sizes, Size(0));
    if (!product(sizes))
      return text() + " has no elements, and axes whose product leaves 63 bits";
  }
  return std::nullopt;
}

Sizes getSizes(RankedTensorType type) {
  auto named = dyn_cast_or_null<SizesAttr>(type.getEncoding());
  Sizes sizes;
  unsigned next = 0;
  for (int64_t length : type.getShape())
    if (!ShapedType::isDynamic(length))
      sizes.push_back(length);
    else if (unsigned index = next++; named)
      sizes.push_back(named.getValue()[index]);
    else // can only come from hand-written IR; it is a symbol of its own
      sizes.push_back(Size::symbol("?" + std::to_string(index)));
  return sizes;
}

RankedTensorType getTensorType(llvm::ArrayRef<Size> sizes, Type element) {
  SmallVector<int64_t> shape;
  Sizes open;
  for (const Size &size : sizes) {
    shape.push_back(size.isFixed() ? size.getFixed() : ShapedType::kDynamic);
    if (!size.isFixed())
      open.push_back(size);
  }
  Attribute encoding = open.empty() ? Attribute() : SizesAttr::get(element.getContext(), open);
  return RankedTensorType::get(shape, element, encoding);
}

std::optional<Size> bytesOf(RankedTensorType type) {
  std::optional<Size> count = product(getSizes(type));
  return count ? count->times(Size(storageBytes(type.getElementType()))) : std::nullopt;
}

} // namespace tutti
