// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far from its reference the result of an op may be.
#include "Within.h"
#include "Compiled.h"

#include "test/numerics/Bounds.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir;

namespace tutti::laws {

namespace {
/// How far a compiled result may be from the float64 reference, in units in the last place of the result and in
/// absolute terms.
struct Bound {
  double units, absolute;
};
} // namespace

/// What td entries state. Of scatters, heads and products, whose bounds are no such terms, generously: what the order
/// and the rounding can change of the sum of absolute values.
static Bound boundOf(Operation *op, ArrayRef<HostTensor> operands, FloatType type) {
  int digits = APFloat::semanticsPrecision(type.getFloatSemantics());
  const OpBound &stated = tutti::boundOf(op->getName().getStringRef());
  if (stated.isFormula) {
    double largest = 0, count = 8;
    for (const HostTensor &operand : operands)
      for (double value : operand.floats)
        largest = std::fmax(largest, std::fabs(value));
    return {8, count * count * std::fmax(largest * largest, largest) * std::ldexp(1.0, 1 - digits)};
  }
  double units = type.isF64() ? stated.ulps64 : stated.ulps;
  if (units > 0.5 && type.isF64())
    units += 1; // the reference, in float64 itself, is off by up to a unit
  if (units > 0 && digits < 24)
    units = 0.5 + units / 256; // float32's result, rounded once more
  if (units > 0.5 && cudaTarget() && !hasCpuBits())
    units += 4; // special-function units
  return {units, units * APFloat::getSmallest(type.getFloatSemantics()).convertToDouble()};
}

/// Of an op whose td entry has terms, and that sums: the bound of each element, from the same op on absolute values.
static std::optional<std::vector<double>> boundsOfSums(Operation *op, ArrayRef<HostTensor> operands, FloatType type) {
  auto reduce = dyn_cast<ReduceOp>(op);
  auto scan = dyn_cast<ScanOp>(op);
  const OpBound &stated = tutti::boundOf(op->getName().getStringRef());
  if (!stated.terms || (scan && scan.getKind() != ScanKind::sum) ||
      (reduce && reduce.getKind() != ReduceKind::sum && reduce.getKind() != ReduceKind::mean))
    return std::nullopt;
  std::vector<HostTensor> sizes(operands), ones(operands);
  for (auto [size, one] : llvm::zip_equal(sizes, ones)) {
    llvm::for_each(size.floats, [](double &value) { value = std::fabs(value); });
    std::fill(one.floats.begin(), one.floats.end(), 1);
  }
  EvaluateContext context;
  context.sizes = laws::sizes();
  auto evaluator = cast<EvaluateOpInterface>(op);
  FailureOr<HostTensor> sums = evaluator.evaluate(context, sizes), counts = evaluator.evaluate(context, ones);
  if (failed(sums) || failed(counts))
    return std::nullopt;
  double n = 1;
  for (double count : counts->floats)
    n = std::fmax(n, count);
  if (reduce) // the mean of ones is 1
    n = std::fmax(1, double(operands[0].count()) / std::fmax(1, double(sums->count())));
  double terms = scan && scan.getStep() ? n : stated.terms(n);
  int digits = APFloat::semanticsPrecision(type.getFloatSemantics());
  double unit = std::ldexp(1.0, -std::max(digits, 24)), last = digits < 24 ? std::ldexp(1.0, -digits) : 0;
  if (type.isF64())
    terms *= 2; // the reference's own
  std::vector<double> all;
  for (double sum : sums->floats)
    all.push_back((terms * unit + last) * sum);
  return all;
}

void expectWithin(Operation *op, const HostTensor &got, const HostTensor &want, ArrayRef<HostTensor> operands) {
  ASSERT_EQ(got.element, want.element);
  ASSERT_EQ(got.dims, want.dims);
  EXPECT_EQ(got.ints, want.ints);
  if (!want.isFloat())
    return;
  int digits = APFloat::semanticsPrecision(cast<FloatType>(want.element).getFloatSemantics());
  Bound bound = boundOf(op, operands, cast<FloatType>(want.element));
  std::optional<std::vector<double>> sums = boundsOfSums(op, operands, cast<FloatType>(want.element));
  for (size_t i = 0; i < want.floats.size(); ++i) {
    double a = want.floats[i], b = got.floats[i];
    double most = sums ? (*sums)[i] : bound.units * std::ldexp(std::fabs(a), 1 - digits) + bound.absolute;
    bool finite = std::isfinite(a) && std::isfinite(b); // no bound holds an infinity
    bool same = a == b || (std::isnan(a) && std::isnan(b)) || (finite && std::fabs(a - b) <= most);
    ASSERT_TRUE(same) << "element " << i << ": " << b << ", not " << a;
  }
}

} // namespace tutti::laws
