// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers that are off by as much as rounding may make them. Plain float32 of these has errors of the size that the
// model's conditioning makes of roundings, also where its own few errors happen to be small or none.
#ifndef TUTTI_TOOLS_VERIFY_PERTURBED_H
#define TUTTI_TOOLS_VERIFY_PERTURBED_H

#include "dialects/tutti/Tutti.h"

#include <random>

namespace tutti {

/// Fewer errors than these may all be small by chance.
constexpr double fewErrors = 32;

/// Moves each number by up to the unit roundoff of its type, up or down, evenly distributed; float64 by that of
/// plainFloat64Bits. Integers and bools stay.
void perturb(HostTensor &tensor, std::minstd_rand &random);

} // namespace tutti

#endif
