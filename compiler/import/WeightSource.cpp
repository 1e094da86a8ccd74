// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided views.
#include "compiler/import/WeightSource.h"
#include "dialects/tutti/Sizes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;

namespace tutti {

std::optional<int64_t> countOf(ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    if (dim < 0 || llvm::MulOverflow(count, dim, count))
      return std::nullopt;
  return count;
}

static SmallVector<int64_t> denseStrides(ArrayRef<int64_t> dims) {
  SmallVector<int64_t> strides(dims.size());
  uint64_t stride = 1; // with an axis of length 0 the product of the others may be anything
  for (int64_t i = int64_t(dims.size()) - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

int64_t WeightSource::count() const { return countOf(dims).value_or(0); }
unsigned WeightSource::elementBytes() const { return storageBytes(element); }

bool WeightSource::contiguous() const {
  if (count() == 0)
    return true;
  int64_t stride = 1;
  for (int64_t i = int64_t(dims.size()) - 1; i >= 0; --i) {
    if (dims[i] != 1 && strides[i] != stride)
      return false;
    stride *= dims[i];
  }
  return true;
}

/// Calls `row(pointer, position)` for every innermost row of the view; stops when it returns false.
template <typename Row> static bool forRows(const WeightSource &x, unsigned axes, Row row) {
  SmallVector<int64_t> index(axes, 0);
  const char *at = x.data;
  int64_t bytes = x.elementBytes();
  if (x.count() == 0)
    return true;
  while (true) {
    if (!row(at))
      return false;
    int64_t axis = int64_t(axes) - 1;
    for (; axis >= 0; --axis) {
      at += x.strides[axis] * bytes;
      if (++index[axis] < x.dims[axis])
        break;
      at -= x.strides[axis] * x.dims[axis] * bytes;
      index[axis] = 0;
    }
    if (axis < 0)
      return true;
  }
}

void WeightSource::copyTo(char *dst) const {
  int64_t bytes = elementBytes();
  if (contiguous()) {
    if (int64_t all = count() * bytes)
      std::memcpy(dst, data, all);
    return;
  }
  unsigned outer = dims.size() - 1;
  int64_t length = dims.back(), stride = strides.back() * bytes;
  forRows(*this, outer, [&](const char *at) {
    for (int64_t i = 0; i < length; ++i, at += stride, dst += bytes)
      std::memcpy(dst, at, bytes);
    return true;
  });
}

bool WeightSource::sameView(const WeightSource &other) const {
  return data == other.data && name == other.name && element == other.element && dims == other.dims &&
         strides == other.strides;
}

bool WeightSource::sameBytes(const WeightSource &other) const {
  if (element != other.element || dims != other.dims)
    return false;
  if (sameView(other) || count() == 0)
    return true;
  int64_t bytes = elementBytes();
  // With equal dense strides in any order of the axes (a transposed whole), bytes compare in the order of memory.
  bool dense = strides == other.strides;
  if (dense) {
    int64_t span = 1;
    for (auto [dim, stride] : llvm::zip_equal(dims, strides)) {
      dense &= stride > 0;
      span += (dim - 1) * stride;
    }
    dense &= span == count();
  }
  if (dense)
    return std::memcmp(data, other.data, count() * bytes) == 0;

  SmallVector<int64_t> steps(denseStrides(dims));
  int64_t linear = 0;
  return forRows(*this, dims.size(), [&](const char *at) {
    const char *there = other.data;
    int64_t rest = linear++;
    for (auto [axis, step] : llvm::enumerate(steps)) {
      there += rest / step * other.strides[axis] * bytes;
      rest %= step;
    }
    return std::memcmp(at, there, bytes) == 0;
  });
}

WeightSource denseView(std::shared_ptr<void> owner, const char *data, Type element, ArrayRef<int64_t> dims) {
  WeightSource view;
  view.owner = std::move(owner);
  view.data = data;
  view.element = element;
  view.dims.assign(dims.begin(), dims.end());
  view.strides = denseStrides(dims);
  return view;
}

WeightSource asInitializer(WeightSource dense, StringRef name) {
  dense.name = name;
  dense.rawDims = dense.dims;
  dense.whole = true;
  dense.wasRead = std::make_shared<bool>(false);
  return dense;
}

WeightSource computedSource(const HostTensor &tensor) {
  size_t bytes = std::max<size_t>(tensor.count() * storageBytes(tensor.element), 1);
  auto buffer = std::make_shared<std::vector<char>>(bytes);
  tensor.toBytes(buffer->data());
  WeightSource view = denseView(buffer, buffer->data(), tensor.element, tensor.dims);
  return view;
}

WeightSource scalarSource(Type element, double value) {
  HostTensor tensor = HostTensor::zeros(element, {});
  if (tensor.isFloat())
    tensor.floats[0] = value;
  else
    tensor.ints[0] = static_cast<int64_t>(value);
  return computedSource(tensor);
}

/// Clears what no longer holds when a view does not show one initializer whole.
static void loseWhole(WeightSource &x) {
  x.whole = false;
  x.rawDims.clear();
  x.permDims.clear();
  x.perm.clear();
}

WeightSource transposeView(const WeightSource &x, ArrayRef<int64_t> permutation) {
  WeightSource y = x;
  for (auto [i, from] : llvm::enumerate(permutation)) {
    y.dims[i] = x.dims[from];
    y.strides[i] = x.strides[from];
  }
  if (!x.whole)
    return y;
  // Only one permutation is kept, of the dims that a reshape before it gave; a reshape behind another one loses the
  // whole.
  ArrayRef<int64_t> permuted = x.permDims.empty() ? x.rawDims : x.permDims;
  SmallVector<int64_t> before(permuted);
  for (auto [i, from] : llvm::enumerate(x.perm))
    before[i] = permuted[from];
  if (!llvm::equal(before, x.dims)) {
    if (!x.perm.empty()) {
      loseWhole(y);
      return y;
    }
    y.permDims = x.dims;
  }
  y.perm.clear();
  for (int64_t from : permutation)
    y.perm.push_back(x.perm.empty() ? from : x.perm[from]);
  if (llvm::equal(y.perm, llvm::seq<uint32_t>(0, y.perm.size()))) {
    y.perm.clear();
    y.permDims.clear();
  }
  return y;
}

/// Strides for `dims` over the same elements in the same order; nothing if there are none.
static std::optional<SmallVector<int64_t>> reshapedStrides(const WeightSource &x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> oldDims, oldStrides, strides(dims.size(), 0);
  for (auto [dim, stride] : llvm::zip_equal(x.dims, x.strides))
    if (dim != 1) {
      oldDims.push_back(dim);
      oldStrides.push_back(stride);
    }
  size_t i = 0, j = 0;
  while (i < oldDims.size() && j < dims.size()) {
    // Groups are the smallest runs of old and new axes with equal products; an old group must be one run of memory.
    int64_t old = oldDims[i], now = dims[j];
    size_t i1 = i + 1, j1 = j + 1;
    while (old != now) {
      if (old < now) {
        if (i1 == oldDims.size())
          return std::nullopt;
        old *= oldDims[i1++];
      } else {
        if (j1 == dims.size())
          return std::nullopt;
        now *= dims[j1++];
      }
    }
    for (size_t k = i; k + 1 < i1; ++k)
      if (oldStrides[k] != oldStrides[k + 1] * oldDims[k + 1])
        return std::nullopt;
    int64_t stride = oldStrides[i1 - 1];
    for (size_t k = j1; k-- > j;) {
      strides[k] = stride;
      stride *= dims[k];
    }
    i = i1;
    j = j1;
  }
  return strides;
}

bool canReshape(const WeightSource &x, ArrayRef<int64_t> dims) {
  return x.count() == 0 || x.contiguous() || reshapedStrides(x, dims).has_value();
}

WeightSource reshapeView(const WeightSource &x, ArrayRef<int64_t> dims) {
  WeightSource y = x;
  y.dims.assign(dims.begin(), dims.end());
  if (x.count() == 0 || x.contiguous()) {
    y.strides = denseStrides(dims);
    return y;
  }
  if (std::optional<SmallVector<int64_t>> strides = reshapedStrides(x, dims)) {
    y.strides = *strides;
    return y;
  }
  auto buffer = std::make_shared<std::vector<char>>(x.count() * x.elementBytes());
  x.copyTo(buffer->data());
  y.data = buffer->data();
  y.owner = buffer;
  y.strides = denseStrides(dims);
  return y;
}

WeightSource broadcastView(const WeightSource &x, ArrayRef<int64_t> dims) {
  WeightSource y = x;
  size_t missing = dims.size() - x.dims.size();
  y.dims.assign(dims.begin(), dims.end());
  y.strides.assign(dims.size(), 0);
  bool grows = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i >= missing && x.dims[i - missing] == dims[i])
      y.strides[i] = x.strides[i - missing];
    else
      grows |= dims[i] != 1;
  }
  if (grows)
    loseWhole(y);
  return y;
}

WeightSource sliceView(const WeightSource &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> steps) {
  WeightSource y = x;
  for (auto [i, start, size, step] : llvm::enumerate(starts, sizes, steps)) {
    y.data += start * x.strides[i] * int64_t(x.elementBytes());
    y.dims[i] = size;
    y.strides[i] = x.strides[i] * step;
    if (size != x.dims[i] || (size > 1 && step != 1))
      y.whole = false;
  }
  if (!y.whole)
    loseWhole(y);
  return y;
}

HostTensor toHost(const WeightSource &x) {
  if (x.contiguous())
    return HostTensor::fromBytes(x.element, x.dims, x.data);
  std::vector<char> bytes(x.count() * x.elementBytes());
  x.copyTo(bytes.data());
  return HostTensor::fromBytes(x.element, x.dims, bytes.data());
}

void setRead(const WeightSource &x) {
  if (x.wasRead)
    *x.wasRead = true;
}

HostTensor readForProgram(const WeightSource &x) {
  setRead(x);
  return toHost(x);
}

DenseElementsAttr toAttr(const WeightSource &x) {
  RankedTensorType type = RankedTensorType::get(x.dims, x.element);
  size_t size = x.count() * x.elementBytes();
  std::vector<char> own(x.contiguous() ? 0 : size);
  if (!x.contiguous())
    x.copyTo(own.data());
  ArrayRef<char> bytes(x.contiguous() ? x.data : own.data(), size);
  if (x.element.isInteger(1)) {
    SmallVector<bool> bits;
    for (char byte : bytes)
      bits.push_back(byte != 0);
    return DenseElementsAttr::get(type, bits);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

std::optional<double> scalarOf(const WeightSource &x) {
  if (x.count() != 1)
    return std::nullopt;
  HostTensor tensor = toHost(x);
  return tensor.isFloat() ? tensor.floats[0] : static_cast<double>(tensor.ints[0]);
}

std::optional<double> scalarForProgram(const WeightSource &x) {
  std::optional<double> scalar = scalarOf(x);
  if (scalar)
    setRead(x);
  return scalar;
}

} // namespace tutti
