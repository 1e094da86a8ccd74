// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The math functions against libm in wider precision, and scalar, AVX2 and AVX-512 code against each other, bit for
// bit.
#include "Bounds.h"
#include "Jit.h"
#include "Reference.h"
#include "Variants.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

using namespace tutti;

bool tutti::exhaustive = false;

std::vector<MathLoop> tutti::compile(const std::string &op, int operands, const std::string &element,
                                     const std::string &constant) {
  std::vector<MathLoop> loops;
  loops.emplace_back(MathLoop::Options{op, operands, element, 16, "x86-64-v3", constant});
  loops.emplace_back(MathLoop::Options{op, operands, element, 1, "x86-64-v3", constant});
  if (MathLoop::runsHere("x86-64-v4"))
    loops.emplace_back(MathLoop::Options{op, operands, element, 16, "x86-64-v4", constant});
  return loops;
}

void tutti::report(const std::string &name, const Worst &worst, double bound) {
  std::printf("| %s | %lld | %.3f | %.9g, %.9g | %g |\n", name.c_str(), (long long)worst.count, worst.error, worst.x,
              worst.y, bound);
  std::fflush(stdout);
  EXPECT_LE(worst.error, bound) << name << " at " << worst.x << ", " << worst.y;
  EXPECT_EQ(worst.different, 0) << name << ": variants differ, last at " << worst.differentAt;
}

namespace {

uint64_t part = 0, parts = 1; ///< of all floats, the ones that `exhaustive` goes through

/// Distance from the exact value in units of the last place of the binade it lies in (of a denormal: the smallest), or
/// of the binade that `floor` begins, where that is larger.
template <typename Float, typename Wide> double ulps(Float got, Wide exact, double floor) {
  if (std::isnan(exact) || std::isnan(got))
    return std::isnan(exact) == std::isnan(got) ? 0 : INFINITY;
  constexpr int digits = std::numeric_limits<Float>::digits, least = std::numeric_limits<Float>::min_exponent;
  if (std::isinf(Float(exact)) || std::isinf(got)) {
    // What is past the largest number, an infinity too, counts as the first power of two there.
    const Wide past = std::ldexp(Wide(1), std::numeric_limits<Float>::max_exponent);
    return double(std::abs(std::clamp(Wide(got), -past, past) - std::clamp(exact, -past, past)) /
                  (past * std::numeric_limits<Float>::epsilon() / 2));
  }
  if (exact == 0)
    return got == 0 && std::signbit(got) == std::signbit(exact) ? 0 : INFINITY;
  int exponent;
  std::frexp(std::max(std::abs(exact), Wide(floor)), &exponent);
  return double(std::abs(Wide(got) - exact) / std::ldexp(Wide(1), std::max(exponent, least) - digits));
}

/// Runs all variants over x (and y) and takes the errors of the first into `worst`. Where `op` is given, only those
/// that a first look finds suspect are compared: with a `bound` of 0.5 or more, those that err by 0.45 at least.
template <typename Float, typename Wide>
void check(const std::vector<MathLoop> &loops, Wide (*reference)(Wide, Wide), const std::vector<Float> &x,
           const std::vector<Float> &y, Worst &worst, const char *op = nullptr, double bound = 0) {
  int64_t n = x.size();
  worst.count += n;
  std::vector<Float> first(n), other(n);
  loops[0](first.data(), x.data(), y.data(), n);
  for (size_t v = 1; v < loops.size(); ++v) {
    loops[v](other.data(), x.data(), y.data(), n);
    if (std::memcmp(first.data(), other.data(), n * sizeof(Float)) == 0)
      continue;
    for (int64_t i = 0; i < n; ++i)
      if (!sameBits(first[i], other[i]))
        worst.differentAt = x[i], ++worst.different;
  }
  std::vector<int64_t> places;
  if constexpr (std::is_same_v<Float, float>)
    if (op)
      places = suspects(op, x.data(), first.data(), n, bound < 0.5 ? 0 : std::max(worst.error, 0.45) - 1e-6);
  if (!op) {
    places.resize(n);
    std::iota(places.begin(), places.end(), 0);
  }
  for (int64_t i : places) {
    Wide exact = reference(x[i], y.empty() ? Wide(0) : Wide(y[i]));
    if (worst.error >= 0.5 && sameBits(first[i], Float(exact)))
      continue; // Rounded to nearest: half a unit at most.
    double error = ulps<Float, Wide>(first[i], exact, worst.floor);
    if (!(error <= worst.error))
      worst.error = error, worst.x = x[i], worst.y = y.empty() ? 0 : y[i];
  }
}

/// The bound is that of the td entry of the tutti op that is this function.
struct Case {
  const char *op;
  double (*single)(double, double);
  double bound;
  long double (*twice)(long double, long double) = nullptr;
  double boundTwice = 0;
  double floor = 0;
};
void PrintTo(const Case &c, std::ostream *os) { *os << c.op; }

#define FUNCTION(f)                                                                                                    \
  {"math." #f, [](double x, double) { return std::f(x); }, boundOf("tutti." #f).ulps,                                  \
   [](long double x, long double) { return std::f(x); }, boundOf("tutti." #f).ulps64}
/// Whether e^x is no normal number of the format whose references are in Wide: these functions are 0 there.
template <typename Wide> bool vanishes(Wide x) {
  return x < (sizeof(Wide) == 8 ? -0x1.5d589ep+6 : -0x1.6232bdd7abcd2p+9);
}
template <typename Wide> Wide logistic(Wide x, Wide) { return vanishes(x) ? 0 : 1 / (1 + std::exp(-x)); }
template <typename Wide> Wide log1pExp(Wide x, Wide) {
  return vanishes(x) ? 0 : std::max(x, Wide(0)) + std::log1p(std::exp(-std::abs(x)));
}
/// tanh(ln(1 + e^x)), without cancellation.
template <typename Wide> Wide mishGate(Wide x, Wide) {
  if (vanishes(x))
    return 0;
  Wide e = std::exp(std::min(x, Wide(100))), n = e * (e + 2);
  return n / (n + 2);
}
template <typename Wide> Wide normalCdf(Wide x, Wide) { return std::erfc(-x * Wide(M_SQRT1_2l)) / 2; }
const Case cases[] = {
    FUNCTION(exp),
    FUNCTION(expm1),
    FUNCTION(log),
    FUNCTION(sinh),
    FUNCTION(cosh),
    FUNCTION(tanh),
    FUNCTION(asin),
    FUNCTION(acos),
    FUNCTION(atan),
    FUNCTION(asinh),
    FUNCTION(acosh),
    FUNCTION(atanh),
    FUNCTION(erf),
    FUNCTION(sin),
    FUNCTION(cos),
    FUNCTION(tan),
    {"tutti.logistic", logistic, boundOf("tutti.logistic").ulps, logistic, boundOf("tutti.logistic").ulps64},
    {"tutti.log1p_exp", log1pExp, boundOf("tutti.log1p_exp").ulps, log1pExp, boundOf("tutti.log1p_exp").ulps64},
    {"tutti.mish_gate", mishGate, boundOf("tutti.mish_gate").ulps, mishGate, boundOf("tutti.mish_gate").ulps64},
    {"tutti.normal_cdf", normalCdf, boundOf("tutti.normal_cdf").ulps, normalCdf, boundOf("tutti.normal_cdf").ulps64,
     0.125},
};

class Float32 : public testing::TestWithParam<Case> {};
class Float64 : public testing::TestWithParam<Case> {};

TEST_P(Float32, Math) {
  const Case &c = GetParam();
  std::vector<MathLoop> loops = compile(c.op, 1, "f32");
  Worst worst, looked;
  worst.floor = looked.floor = c.floor;
  const uint64_t step = exhaustive ? 1 : 4099, block = 1 << 14, total = uint64_t(1) << 32;
  std::vector<float> x(block);
  for (uint64_t bits = exhaustive ? total / parts * part : 0, end = exhaustive ? bits + total / parts : total;
       bits < end;) {
    for (float &v : x) {
      uint32_t word = bits < total ? bits : 0;
      std::memcpy(&v, &word, 4);
      bits += step;
    }
    check<float, double>(loops, c.single, x, {}, worst, exhaustive ? c.op : nullptr, c.bound);
    if (!exhaustive)
      check<float, double>(loops, c.single, x, {}, looked, c.op, c.bound);
  }
  if (!exhaustive)
    EXPECT_NEAR(looked.error, worst.error, 1e-6) << "a first look overlooks the worst";
  report(c.op, worst, c.bound);
}

TEST_P(Float64, Math) {
  const Case &c = GetParam();
  std::vector<MathLoop> loops = compile(c.op, 1, "f64");
  std::mt19937_64 random(1);
  std::vector<double> x(1 << 16);
  Worst worst;
  worst.floor = c.floor;
  for (int round = 0; round < (exhaustive ? 200 : 8); ++round) {
    for (size_t i = 0; i < x.size(); ++i) {
      uint64_t bits = random();
      // Half of any bits, half of moderate size.
      if (i % 2)
        bits = (bits & 0x800fffffffffffff) | ((1023 - 40 + random() % 52) << 52);
      std::memcpy(&x[i], &bits, 8);
    }
    const double special[] = {0.0,      -0.0,
                              INFINITY, -INFINITY,
                              NAN,      1,
                              -1,       5e-324,
                              -5e-324,  2.3e-308,
                              1.7e308,  -1.7e308,
                              709.78,   709.79,
                              -745.1,   -745.2,
                              -708.5,   1024,
                              -1074,    -1075,
                              0.5,      -0.5,
                              1.5,      2.5,
                              0.75,     5.319372648326541416707296656673541083813475031793921822105998164685e255};
    std::copy(std::begin(special), std::end(special), x.begin());
    // Multiples of pi / 2, of which little is left: every one below 2^15, and some more.
    for (size_t i = 0; i < 4096; ++i)
      x[x.size() - 1 - i] = double((round % 8 * 4096 + i + 1) * (M_PIl / 2));
    check<double, long double>(loops, c.twice, x, {}, worst);
  }
  report(std::string(c.op) + " f64", worst, c.boundTwice);
}

std::vector<Case> casesOfDouble() {
  std::vector<Case> some;
  std::copy_if(std::begin(cases), std::end(cases), std::back_inserter(some), [](const Case &c) { return c.twice; });
  return some;
}
std::string nameOf(const testing::TestParamInfo<Case> &info) {
  return llvm::StringRef(info.param.op).split('.').second.str();
}
INSTANTIATE_TEST_SUITE_P(All, Float32, testing::ValuesIn(cases), nameOf);
INSTANTIATE_TEST_SUITE_P(All, Float64, testing::ValuesIn(casesOfDouble()), nameOf);

template <typename Float, typename Wide> void testPower(const char *element, double bound) {
  std::vector<MathLoop> loops = compile("math.powf", 2, element);
  const double values[] = {0.0,    -0.0,     1,         -1,      INFINITY,  -INFINITY,   NAN,       0.5,       -0.5,
                           2,      -2,       3,         -3,      1.5,       -1.5,        1e30,      -1e30,     1e-40,
                           -1e-40, 16777215, -16777215, 8388607, 8388609.5, 0.333333343, 5,         -7,        127,
                           -149,   -150,     128,       1e-30,   3.4e38,    -3.4e38,     1.0000001, 0.99999994};
  std::vector<Float> x, y;
  for (double a : values)
    for (double b : values)
      x.push_back(a), y.push_back(b);
  while (x.size() % 16)
    x.push_back(1), y.push_back(1);
  auto reference = [](Wide a, Wide b) -> Wide { return std::pow(a, b); };
  Worst worst;
  check<Float, Wide>(loops, reference, x, y, worst);
  std::mt19937_64 random(2);
  x.resize(1 << 16), y.resize(1 << 16);
  for (int round = 0; round < (exhaustive ? 2000 : 24); ++round) {
    for (size_t i = 0; i < x.size(); ++i) {
      uint64_t a = random(), b = random();
      std::memcpy(&x[i], &a, sizeof(Float));
      std::memcpy(&y[i], &b, sizeof(Float));
      Float most = std::numeric_limits<Float>::max_exponent * 0.86;
      std::uniform_real_distribution<Float> base(0, 8), result(-most, most);
      if (i % 4 == 1) // A power whose result is a float.
        x[i] = std::abs(x[i]), y[i] = result(random) / std::log(x[i]);
      if (i % 4 == 2)
        x[i] = base(random), y[i] = base(random) - 4;
      if (i % 4 == 3)
        x[i] = base(random) - 4, y[i] = std::round(base(random) * 4);
    }
    check<Float, Wide>(loops, reference, x, y, worst);
  }
  report(std::string("powf ") + element, worst, bound);
}
TEST(Pow, Float32) { testPower<float, double>("f32", boundOf("tutti.pow").ulps); }
TEST(Pow, Float64) { testPower<double, long double>("f64", boundOf("tutti.pow").ulps64); }

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    exhaustive |= std::string_view(argv[i]) == "--exhaustive";
    // --part=I/N, N a power of two up to 65536
    if (llvm::StringRef(argv[i]).starts_with("--part=")) {
      auto [index, count] = llvm::StringRef(argv[i]).drop_front(7).split('/');
      if (index.getAsInteger(10, part) || count.getAsInteger(10, parts) || !llvm::isPowerOf2_64(parts) ||
          parts > 65536 || part >= parts)
        return std::fprintf(stderr, "expected --part=I/N, N a power of two up to 65536, got %s\n", argv[i]), 2;
    }
  }
  return RUN_ALL_TESTS();
}
