// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pointwise ops.
#include "compiler/import/emit/Emit.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;

namespace tutti {

std::optional<Sizes> Emit::broadcastAll(ArrayRef<Operand> xs) {
  Sizes all = xs[0].sizes();
  for (const Operand &x : xs.drop_front()) {
    Sizes mine = x.sizes();
    std::optional<Sizes> both = tutti::broadcast(all, mine);
    if (!both) {
      if (std::optional<SizePair> apart = meet(all, mine))
        misfit(apart->first, apart->second, "shapes " + tutti::str(all) + " and " + tutti::str(mine), "broadcast");
      return std::nullopt;
    }
    all = *both;
  }
  return all;
}

/// A constant without the axes along which it only repeats.
static WeightSource unrepeated(WeightSource x) {
  SmallVector<int64_t> zeros(x.dims.size(), 0), ones(x.dims.size(), 1), sizes(x.dims);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (x.strides[i] == 0)
      sizes[i] = std::min<int64_t>(sizes[i], 1);
  bool whole = sizes == x.dims;
  x = whole ? x : sliceView(x, zeros, sizes, ones);
  size_t lead = 0;
  while (lead < sizes.size() && sizes[lead] == 1)
    ++lead;
  return lead ? reshapeView(x, ArrayRef(sizes).drop_front(lead)) : x;
}

Operand Emit::pointwise(StringRef name, ArrayRef<Operand> xs, Type element) {
  if (!llvm::all_of(xs, [](const Operand &x) { return bool(x); }))
    return Operand();
  std::optional<Sizes> sizes = broadcastAll(xs);
  if (!sizes)
    return Operand();
  if (llvm::any_of(xs, [](const Operand &x) { return x.isRowNumbers(); }))
    return pointwiseOfRows(name, xs, *sizes, element);
  if (std::optional<Operand> result = pointwiseBelowReshape(name, xs, element))
    return *result;
  // Broadcasting is implicit here: operands drop the axes that it would restore, so that all spellings look alike.
  SmallVector<Operand> lean(xs);
  if (!llvm::all_of(xs, [](const Operand &x) { return x.isConstant(); }))
    for (size_t i = 0; i < lean.size(); ++i) {
      Operand before = lean[i];
      if (before.isConstant())
        lean[i] = unrepeated(before.constant());
      else if (before.isValue())
        if (auto repeat = before.value().getDefiningOp<BroadcastOp>())
          lean[i] = Operand(repeat.getX());
      std::optional<Sizes> now;
      if (lean[i].sizes() != before.sizes()) {
        now = lean[0].sizes();
        for (const Operand &x : lean)
          now = now ? tutti::broadcast(*now, x.sizes()) : now;
        if (now)
          now->insert(now->begin(), sizes->size() - now->size(), Size(1));
        if (!now || *now != *sizes)
          lean[i] = before;
      }
    }
  Sizes inner = lean[0].sizes();
  for (const Operand &x : lean)
    inner = *tutti::broadcast(inner, x.sizes());
  Operand result = op(name, getTensorType(inner, element), lean);
  return inner == *sizes ? result : reshape(result, *sizes);
}

Operand Emit::binary(StringRef name, const Operand &a, const Operand &b, Type element) {
  if (!a || !b)
    return Operand();
  if ((a.isShape() || b.isShape()) && !a.isRowNumbers() && !b.isRowNumbers())
    return shapeArithmetic(name, a, b);
  if (a.element() != b.element())
    return malformed("operands of types " + elementName(a.element()) + " and " + elementName(b.element()));
  return pointwise(name, {a, b}, element);
}

/// Whether all elements of a view are one element.
static bool repeatsOne(const WeightSource &x) {
  return x.count() > 0 && llvm::all_of(llvm::zip_equal(x.dims, x.strides),
                                       [](auto axis) { return std::get<0>(axis) == 1 || std::get<1>(axis) == 0; });
}

std::optional<bool> Emit::uniformMask(const Operand &condition) {
  std::optional<HostTensor> mask;
  if (condition.isConstant() && repeatsOne(condition.constant())) {
    WeightSource one = condition.constant();
    one.dims.clear();
    one.strides.clear();
    mask = toHost(one);
  } else if (condition.isConstant() && !keepsNumbers()) {
    mask = known(condition);
  } else if (condition.isValue()) {
    auto repeat = condition.value().getDefiningOp<BroadcastOp>();
    mask = known(repeat ? repeat.getX().getDefiningOp<ConstantOp>() : ConstantOp());
  }
  if (!mask || mask->ints.empty() || !llvm::all_equal(mask->ints))
    return std::nullopt;
  if (condition.isConstant())
    setRead(condition);
  return mask->ints[0] != 0;
}

/// Whether a select gives x where x > bound and softplus(x) elsewhere, as PyTorch writes it: from 16 on both are the
/// same number of 32 bits or less, as e^-16 is less than half a unit of its last place.
static bool isGuardedSoftplus(const Emit &e, const Operand &condition, const Operand &x, const Operand &soft) {
  auto softplus = soft.isValue() ? soft.value().getDefiningOp<SoftplusOp>() : SoftplusOp();
  auto greater = condition.isValue() ? condition.value().getDefiningOp<GreaterOp>() : GreaterOp();
  if (!softplus || !greater || !x.isValue() || softplus.getX() != x.value() || greater->getOperand(0) != x.value() ||
      x.element().getIntOrFloatBitWidth() > 32)
    return false;
  const WeightSource *source = e.sourceOf(greater->getOperand(1));
  std::optional<double> bound = source ? scalarOf(*source) : std::nullopt;
  if (!bound || *bound < 16)
    return false;
  setRead(*source);
  return true;
}

Operand Emit::select(const Operand &condition, const Operand &a, const Operand &b) {
  if (!condition || !a || !b)
    return Operand();
  if (!condition.element().isInteger(1))
    return malformed("a condition of type " + elementName(condition.element()));
  if (a.element() != b.element())
    return malformed("branches of types " + elementName(a.element()) + " and " + elementName(b.element()));
  std::optional<ShapeValue> yes = a.asShape(), no = b.asShape();
  if ((a.isShape() || b.isShape()) && yes && no && condition.isConstant() && condition.rank() < 2) {
    std::optional<HostTensor> known = elementsOf(condition);
    if (!known)
      return Operand();
    HostTensor &chosen = *known;
    ShapeValue result{{}, yes->vector || no->vector || !chosen.dims.empty(), yes->element};
    size_t length = std::max({yes->elements.size(), no->elements.size(), chosen.ints.size()});
    auto at = [](const auto &list, size_t i) { return list.size() == 1 ? list[0] : list[i]; };
    for (size_t count : {yes->elements.size(), no->elements.size(), chosen.ints.size()})
      if (count != 1 && count != length)
        return malformed("lengths that do not broadcast");
    for (size_t i = 0; i < length; ++i)
      result.elements.push_back(at(chosen.ints, i) ? at(yes->elements, i) : at(no->elements, i));
    return shape(std::move(result));
  }
  if (std::optional<bool> mask = uniformMask(condition)) {
    const Operand &chosen = *mask ? a : b;
    std::optional<Sizes> sizes = broadcastAll({condition, a, b});
    if (sizes && *sizes == chosen.sizes())
      return chosen;
  }
  if (isGuardedSoftplus(*this, condition, a, b))
    return b;
  return pointwise(SelectOp::getOperationName(), {condition, a, b}, a.element());
}

/// Whether a type of integers, or of bools, represents a number.
static bool holds(Type element, double value) {
  unsigned width = element.getIntOrFloatBitWidth();
  bool fromZero = element.isUnsignedInteger() || width == 1;
  double end = std::ldexp(1.0, std::min(fromZero ? width : width - 1, 63u));
  return value == std::trunc(value) && value >= (fromZero ? 0 : -end) && value < end;
}

Operand Emit::scalar(double value, const Operand &like) {
  if (!like)
    return Operand();
  if (!like.isFloat() && !holds(like.element(), value)) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g", value);
    return malformed("the number " + text + " beside elements of " + elementName(like.element()));
  }
  return Operand(scalarSource(like.element(), value));
}

static const void *identityOf(const Operand &x) {
  return x.isValue() ? x.value().getAsOpaquePointer() : x.isConstant() ? &x.constant() : nullptr;
}
void Emit::setQuantized(const Operand &x, Quantized from) {
  if (const void *identity = identityOf(x))
    quantizations[identity] = {x, std::move(from)};
}
const Quantized *Emit::quantized(const Operand &x) const {
  auto known = quantizations.find(identityOf(x));
  return known == quantizations.end() ? nullptr : &known->second.second;
}

} // namespace tutti
