// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks over elements, and the numbers that several families choose by.
#include "Family.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace tutti {

double minimum(double a, double b) { return std::isnan(a) || a < b || (a == b && std::signbit(a)) ? a : b; }
double maximum(double a, double b) { return std::isnan(a) || a > b || (a == b && std::signbit(b)) ? a : b; }

SmallVector<int64_t> axesOf(int64_t rank) { return llvm::to_vector(llvm::seq<int64_t>(rank)); }

SmallVector<int64_t> shifted(ArrayRef<int64_t> axes) {
  return llvm::map_to_vector(axes, [](int64_t axis) { return axis + 1; });
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
  forEachIndex(dims, [&](ArrayRef<int64_t> index) {
    int64_t from = source(index);
    if (x.isFloat())
      y.floats[place++] = x.floats[from];
    else
      y.ints[place++] = x.ints[from];
  });
  return y;
}

} // namespace tutti
