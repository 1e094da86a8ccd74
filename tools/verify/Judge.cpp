// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors and their bounds.
#include "Judge.h"

#include "dialects/tutti/Tutti.h"

#include <cmath>
#include <unordered_set>

using namespace mlir;

namespace tutti {

namespace {

/// The 2-norm of what is added to it, without overflow.
class Norm {
public:
  void add(double x) {
    if (x = std::fabs(x); x > scale) {
      sum = 1 + sum * (scale / x) * (scale / x);
      scale = x;
    } else if (x > 0) {
      sum += (x / scale) * (x / scale);
    }
  }
  double get() const { return scale * std::sqrt(sum); }

private:
  double scale = 0, sum = 0;
};

} // namespace

static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

static Verdict judgeInts(const HostTensor &got, const Answer &answer) {
  Verdict verdict;
  verdict.elements = got.count();
  for (int64_t i = 0; i < verdict.elements; ++i)
    if (answer.exact.ints[i] != answer.other.ints[i])
      ++verdict.undecided;
    else if (got.ints[i] != answer.exact.ints[i])
      ++verdict.different;
  verdict.ok = verdict.different == 0;
  return verdict;
}

Verdict judge(const HostTensor &got, const Answer &answer, double usual) {
  if (!got.isFloat())
    return judgeInts(got, answer);
  Type type = got.element;
  double unit = std::ldexp(1.0, -int(APFloat::semanticsPrecision(cast<FloatType>(type).getFloatSemantics())));
  double largest = 0;
  for (double value : answer.exact.floats)
    largest = std::fmax(largest, std::isfinite(value) ? std::fabs(value) : 0);

  Verdict verdict;
  verdict.elements = got.count();
  std::unordered_set<double> compared; // equal results, of rows that have come to be alike, say, have equal errors
  Norm ours, plain, perturbed, norm;
  for (int64_t i = 0; i < verdict.elements; ++i) {
    double x = got.floats[i], exact = answer.exact.floats[i], rounded = nearest(exact, type),
           p = nearest(answer.plain.floats[i], type), off = answer.perturbed.floats[i];
    // A choice at a kink moves the result no more than rounding does; one at a jump does.
    if (std::fabs(exact - answer.other.floats[i]) > 64 * std::fmax(unit, answer.unit) * largest) {
      ++verdict.undecided;
    } else if (!std::isfinite(rounded)) {
      // Where plain float32 has another answer, an overflow hangs on rounding.
      if (!same(x, rounded))
        ++(same(p, rounded) ? verdict.different : verdict.undecided);
    } else if (!std::isfinite(p)) {
      ++verdict.undecided; // plain float32 cannot do it either
    } else if (!std::isfinite(x)) {
      ++verdict.different;
    } else {
      compared.insert(rounded);
      norm.add(exact);
      ours.add(x - exact);
      plain.add(p - exact);
      perturbed.add((std::isfinite(off) ? off : p) - exact);
      verdict.largest = std::fmax(verdict.largest, std::fabs(x - exact));
    }
  }
  double scale = norm.get() > 0 ? norm.get() : 1;
  verdict.error = ours.get() / scale;
  verdict.plain = plain.get() / scale;
  verdict.perturbed = perturbed.get() / scale;
  // Two norms of n equally large, independent normal errors differ by more than this once in a thousand times: the
  // root of the quantile of F(n, n).
  double errors = std::clamp<double>(compared.size(), 1, std::max(answer.independent, 1.0));
  double chance = std::exp(3.1 / std::sqrt(errors));
  double factor = (answer.contracts ? 1.25 : 2) * chance;
  // Rounding the result alone may cost half a unit in the last place. The float64 reference rounds as much as ours
  // does. Below float32, math functions are no better than the numbers that are multiplied; what is made of products
  // has their error in `plain`.
  double least = type.isF64() ? 1024 * unit : answer.contracts ? unit : std::fmax(unit, answer.unit);
  // So little as two units may be a function's behind the contractions, which is allowed twice what plain float32 has.
  double expected = std::max({verdict.plain, verdict.perturbed, usual}),
         last = std::fmin(2 * chance * expected, 2 * unit);
  verdict.bound = std::max({factor * expected, least, last});
  verdict.ok = verdict.different == 0 && verdict.error <= verdict.bound;
  return verdict;
}

size_t Row::worst() const {
  auto badness = [](const Verdict &v) { return v.different ? HUGE_VAL : v.bound > 0 ? v.error / v.bound : v.error; };
  auto worse = [&](const Verdict &a, const Verdict &b) { return badness(a) < badness(b); };
  return std::max_element(members.begin(), members.end(), worse) - members.begin();
}

Row judge(const HostTensor &got, const Answer &answer, std::string name, std::string head, std::string dtype,
          ArrayRef<uint32_t> active) {
  Row row{std::move(name), std::move(head), std::move(dtype), judge(got, answer), {}, {}};
  if (row.head != "members")
    return row;
  row.active.assign(active.begin(), active.end());
  for (size_t i = 0; i < active.size(); ++i)
    row.members.push_back(
        judge(unstack(got, i),
              {unstack(answer.exact, i), unstack(answer.plain, i), unstack(answer.other, i),
               unstack(answer.perturbed, i), answer.contracts, answer.unit, answer.independent / double(active.size())},
              std::fmax(row.whole.plain, row.whole.perturbed)));
  return row;
}

} // namespace tutti
