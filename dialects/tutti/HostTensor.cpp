// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of the reference evaluator.
#include "Tutti.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;

namespace tutti {

double nearest(double value, Type type) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  bool lost;
  llvm::APFloat number(value);
  number.convert(cast<FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

int64_t wrapped(uint64_t value, Type type) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width == 1)
    return value & 1;
  if (width >= 64)
    return static_cast<int64_t>(value);
  int64_t low = static_cast<int64_t>(value << (64 - width));
  return type.isUnsignedInteger() ? static_cast<int64_t>(static_cast<uint64_t>(low) >> (64 - width))
                                  : low >> (64 - width);
}

int64_t saturated(double value, Type type) {
  bool isUnsigned = type.isUnsignedInteger();
  unsigned width = type.getIntOrFloatBitWidth(), bits = isUnsigned ? width : width - 1;
  double bound = std::ldexp(1.0, bits), least = isUnsigned ? 0 : -bound;
  uint64_t largest = llvm::maskTrailingOnes<uint64_t>(bits);
  if (std::isnan(value))
    return 0;
  if (value >= bound)
    return static_cast<int64_t>(largest);
  if (value < least)
    return isUnsigned ? 0 : static_cast<int64_t>(~largest);
  return isUnsigned ? static_cast<int64_t>(static_cast<uint64_t>(value)) : static_cast<int64_t>(value);
}

HostTensor HostTensor::zeros(Type element, ArrayRef<int64_t> dims) {
  HostTensor tensor{element, SmallVector<int64_t>(dims), {}, {}};
  if (tensor.isFloat())
    tensor.floats.resize(tensor.count());
  else
    tensor.ints.resize(tensor.count());
  return tensor;
}

HostTensor HostTensor::fromAttr(ElementsAttr attr) {
  HostTensor tensor = zeros(attr.getElementType(), attr.getShapedType().getShape());
  if (tensor.isFloat()) {
    bool lost;
    for (auto [place, value] : llvm::zip_equal(tensor.floats, attr.getValues<APFloat>())) {
      APFloat wide = value;
      wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
      place = wide.convertToDouble();
    }
    return tensor;
  }
  for (auto [place, value] : llvm::zip_equal(tensor.ints, attr.getValues<APInt>()))
    place = wrapped(value.getZExtValue(), tensor.element);
  return tensor;
}

HostTensor HostTensor::fromBytes(Type element, ArrayRef<int64_t> dims, const void *bytes) {
  HostTensor tensor = zeros(element, dims);
  const char *next = static_cast<const char *>(bytes);
  int64_t width = storageBytes(element);
  if (element.isF32()) { // most weights are; the general way is twenty times slower
    for (double &value : tensor.floats) {
      float number;
      std::memcpy(&number, next, width);
      value = number;
      next += width;
    }
    return tensor;
  }
  if (element.isInteger(64)) { // and most indices
    if (!tensor.ints.empty())
      std::memcpy(tensor.ints.data(), next, tensor.ints.size() * width);
    return tensor;
  }
  for (int64_t i = 0, count = tensor.count(); i < count; ++i, next += width) {
    uint64_t bits = 0;
    std::memcpy(&bits, next, width);
    if (!tensor.isFloat()) {
      tensor.ints[i] = isTruth(element) ? bits != 0 : wrapped(bits, element);
      continue;
    }
    const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
    APFloat value(semantics, APInt(element.getIntOrFloatBitWidth(), bits));
    bool lost;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    tensor.floats[i] = value.convertToDouble();
  }
  return tensor;
}

void HostTensor::toBytes(void *bytes) const {
  char *next = static_cast<char *>(bytes);
  int64_t width = storageBytes(element);
  if (element.isInteger(64) && !ints.empty()) {
    std::memcpy(next, ints.data(), ints.size() * width);
    return;
  }
  if (element.isF32()) { // as fromBytes has it
    for (double value : floats) {
      float number = static_cast<float>(value);
      std::memcpy(next, &number, width);
      next += width;
    }
    return;
  }
  for (int64_t i = 0, n = count(); i < n; ++i, next += width) {
    uint64_t bits;
    if (isFloat()) {
      APFloat value(floats[i]);
      bool lost;
      value.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
      bits = value.bitcastToAPInt().getZExtValue();
    } else {
      bits = static_cast<uint64_t>(ints[i]);
    }
    std::memcpy(next, &bits, width);
  }
}

int64_t HostTensor::count() const {
  // Beside an axis of length 0 the product of the others may be anything.
  return llvm::is_contained(dims, 0) ? 0 : std::accumulate(dims.begin(), dims.end(), int64_t(1), std::multiplies());
}

SmallVector<int64_t> HostTensor::strides() const {
  SmallVector<int64_t> strides(dims.size(), 1);
  if (count() > 0)
    for (int64_t i = static_cast<int64_t>(dims.size()) - 2; i >= 0; --i)
      strides[i] = strides[i + 1] * dims[i + 1];
  return strides;
}

void HostTensor::take(int64_t to, const HostTensor &x, int64_t from) {
  if (isFloat())
    floats[to] = x.floats[from];
  else
    ints[to] = x.ints[from];
}

double EvaluateContext::round(double value, Type element) const {
  if (!plain || !isa<FloatType>(element))
    return value;
  int dropped = element.isF64() ? 53 - float64Bits : 0;
  if (dropped == 0 || !std::isfinite(value))
    return nearest(value, element);
  uint64_t half = uint64_t(1) << (dropped - 1);
  uint64_t word;
  std::memcpy(&word, &value, sizeof(word));
  word = (word + half) & ~(2 * half - 1);
  std::memcpy(&value, &word, sizeof(word));
  return value;
}

SmallVector<int64_t> EvaluateContext::dimsOf(RankedTensorType type) const {
  SmallVector<int64_t> dims;
  for (const Size &size : getSizes(type)) // past 63 bits there is no tensor to evaluate
    dims.push_back(size.at([&](StringRef name) { return sizes.lookup(name); }).value_or(INT64_MAX));
  return dims;
}

void forEachIndex(ArrayRef<int64_t> dims, llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(dims, 0))
    return;
  SmallVector<int64_t> index(dims.size(), 0);
  while (true) {
    visit(index);
    int64_t axis = static_cast<int64_t>(dims.size()) - 1;
    while (axis >= 0 && ++index[axis] == dims[axis])
      index[axis--] = 0;
    if (axis < 0)
      return;
  }
}

void forEachPlace(ArrayRef<int64_t> dims, ArrayRef<HostTensor> operands,
                  llvm::function_ref<void(int64_t, ArrayRef<int64_t>)> visit) {
  // Per operand, the stride along each axis of the result; 0 where the operand is repeated.
  SmallVector<SmallVector<int64_t>> strides;
  for (const HostTensor &operand : operands) {
    SmallVector<int64_t> own = operand.strides(), along(dims.size() - own.size(), 0);
    for (auto [length, stride] : llvm::zip_equal(operand.dims, own))
      along.push_back(length == 1 ? 0 : stride);
    strides.push_back(along);
  }
  SmallVector<int64_t> sources(operands.size());
  int64_t place = 0;
  forEachIndex(dims, [&](ArrayRef<int64_t> index) {
    for (auto [source, along] : llvm::zip_equal(sources, strides))
      source = linearize(index, along);
    visit(place++, sources);
  });
}

SmallVector<int64_t> broadcastDims(ArrayRef<HostTensor> operands) {
  SmallVector<int64_t> dims;
  for (const HostTensor &operand : operands) {
    if (operand.dims.size() > dims.size())
      dims.insert(dims.begin(), operand.dims.size() - dims.size(), 1);
    for (size_t i = 0; i < operand.dims.size(); ++i)
      if (int64_t length = operand.dims[operand.dims.size() - 1 - i]; length != 1)
        dims[dims.size() - 1 - i] = length;
  }
  return dims;
}

HostTensor rearranged(const HostTensor &x, ArrayRef<int64_t> dims,
                      llvm::function_ref<int64_t(ArrayRef<int64_t>)> source) {
  HostTensor y = HostTensor::zeros(x.element, dims);
  int64_t place = 0;
  forEachIndex(dims, [&](ArrayRef<int64_t> index) { y.take(place++, x, source(index)); });
  return y;
}

HostTensor inOrder(HostTensor x) {
  if (x.element.isUnsignedInteger(64))
    for (int64_t &value : x.ints)
      value ^= INT64_MIN;
  return x;
}

} // namespace tutti
