// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Axes, and the numbers that several families choose by.
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

} // namespace tutti
