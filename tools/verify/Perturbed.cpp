// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Perturbed.h"
#include "Precision.h"

#include <cmath>

using namespace mlir;

namespace tutti {

void perturb(HostTensor &tensor, std::minstd_rand &random) {
  if (!tensor.isFloat())
    return;
  auto type = cast<FloatType>(tensor.element);
  int bits = type.isF64() ? plainFloat64Bits : int(APFloat::semanticsPrecision(type.getFloatSemantics()));
  std::uniform_real_distribution<double> move(-std::ldexp(1.0, -bits), std::ldexp(1.0, -bits));
  for (double &value : tensor.floats)
    value += value * move(random);
}

} // namespace tutti
