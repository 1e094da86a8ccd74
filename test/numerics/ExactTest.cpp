// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that have one right answer: remainders, extremes, divisions, powers of integers; every bit of it.
#include "Variants.h"

#include <bit>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace tutti;

namespace {

/// Remainders are exact, whatever the exponents.
template <typename Float, typename Bits> void testRemainder(const char *element) {
  std::vector<MathLoop> loops = compile("arith.remf", 2, element);
  std::mt19937_64 random(3);
  std::vector<Float> x(1 << 14), y(x.size()), got(x.size());
  using Limits = std::numeric_limits<Float>;
  const Float special[] = {0,
                           -0.0f,
                           1,
                           -1,
                           Limits::infinity(),
                           -Limits::infinity(),
                           Limits::quiet_NaN(),
                           Limits::max(),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::min(),
                           3,
                           Float(0.1),
                           -7,
                           Float(1e30)};
  const int rounds = exhaustive ? 2000 : 20;
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < x.size(); ++i) {
      Bits a = random(), b = random();
      bool isShort = round % 2;                  // all quotients, so that no lane takes the long way
      if (i % 3 == 1 || (i % 3 == 0 && isShort)) // quotients of moderate size
        b = (a & ~Bits(0) << (Limits::digits - 1)) ^ (b & ((Bits(1) << (Limits::digits + (isShort ? 3 : 4))) - 1));
      std::memcpy(&x[i], &a, sizeof a);
      std::memcpy(&y[i], &b, sizeof b);
      if (i % 3 == 2) // multiples, and their neighbours
        x[i] = std::nextafter(y[i] * Float(int(random() % 1000)), random() % 2 ? x[i] : y[i] * 1000);
    }
    size_t at = 0;
    for (Float a : special)
      for (Float b : special)
        x[at] = a, y[at++] = b;
    for (const MathLoop &loop : loops) {
      loop(got.data(), x.data(), y.data(), x.size());
      int64_t wrong = 0;
      for (size_t i = 0; i < x.size(); ++i)
        if (!sameBits(got[i], std::fmod(x[i], y[i])) && ++wrong == 1)
          ADD_FAILURE() << x[i] << " rem " << y[i] << ": " << got[i] << ", not " << std::fmod(x[i], y[i]);
      ASSERT_EQ(wrong, 0);
    }
  }
  report(std::string("remf ") + element, {.count = int64_t(rounds * x.size())}, 0);
}
TEST(Remainder, Float32) { testRemainder<float, uint32_t>("f32"); }
TEST(Remainder, Float64) { testRemainder<double, uint64_t>("f64"); }

/// max and min with a number have every bit of IEEE 754-2019's maximum and minimum, the sign of a zero too.
TEST(Bounds, Float32) {
  const uint64_t step = exhaustive ? 1 : 4099, total = uint64_t(1) << 32;
  for (bool largest : {false, true})
    for (const char *constant : {"0.0", "-0.0", "1.5", "-3.0", "0x7F800000", "0xFF800000"}) {
      std::vector<MathLoop> loops = compile(largest ? "arith.maximumf" : "arith.minimumf", 2, "f32", constant);
      float bound = std::string_view(constant) == "0x7F800000"   ? INFINITY
                    : std::string_view(constant) == "0xFF800000" ? -INFINITY
                                                                 : std::atof(constant);
      std::vector<float> x(1 << 16), got(x.size());
      for (uint64_t bits = 0; bits < total;) {
        for (float &v : x) {
          uint32_t word = bits < total ? bits : 0x80000000;
          std::memcpy(&v, &word, 4);
          bits += step;
        }
        for (const MathLoop &loop : loops) {
          loop(got.data(), x.data(), nullptr, x.size());
          int64_t wrong = 0;
          for (size_t i = 0; i < x.size(); ++i) {
            float want = largest ? std::max(x[i], bound) : std::min(x[i], bound);
            if (x[i] == 0 && bound == 0)
              want = (largest ? std::signbit(x[i]) && std::signbit(bound) : std::signbit(x[i]) || std::signbit(bound))
                         ? -0.0f
                         : 0.0f;
            wrong += !sameBits(got[i], std::isnan(x[i]) ? x[i] : want);
          }
          ASSERT_EQ(wrong, 0) << (largest ? "max" : "min") << " with " << constant;
        }
      }
    }
}

/// The larger and the smaller of two values, too: of all pairs of special ones, and of random bits.
template <typename T, typename Word> static void testExtremes(const char *element) {
  std::mt19937_64 random(5);
  std::vector<T> special = {0, T(-0.0), 1, -3, INFINITY, -INFINITY, NAN, -NAN, std::numeric_limits<T>::denorm_min()}, x,
                 y;
  for (T a : special)
    for (T b : special)
      x.push_back(a), y.push_back(b);
  while (x.size() < size_t(exhaustive ? 1 << 24 : 1 << 16)) {
    Word a = random(), b = random() % 8 ? random() : a ^ (Word(1) << (sizeof(Word) * 8 - 1));
    x.push_back(std::bit_cast<T>(a)), y.push_back(std::bit_cast<T>(b));
  }
  std::vector<T> got(x.size());
  for (bool largest : {false, true})
    for (const MathLoop &loop : compile(largest ? "arith.maximumf" : "arith.minimumf", 2, element)) {
      loop(got.data(), x.data(), y.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        bool xFirst = x[i] != y[i] ? x[i] > y[i] : std::signbit(x[i]) < std::signbit(y[i]);
        T want = std::isnan(x[i]) || std::isnan(y[i]) ? T(NAN) : xFirst == largest ? x[i] : y[i];
        ASSERT_TRUE(sameBits(got[i], want))
            << (largest ? "max" : "min") << " of " << x[i] << " and " << y[i] << ": " << got[i];
      }
    }
}
TEST(Extremes, Float32) { testExtremes<float, uint32_t>("f32"); }
TEST(Extremes, Float64) { testExtremes<double, uint64_t>("f64"); }

/// A division by one number has the divider's bits: of every mantissa, and of numbers of every exponent.
TEST(Division, ByOneNumber) {
  std::vector<MathLoop> loops;
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"})
    if (MathLoop::runsHere(cpu))
      loops.emplace_back(MathLoop::Options{"arith.divf", 2, "f32", 16, cpu, "", true});
  std::mt19937 random(4);
  std::vector<float> x(1 << 16), got(x.size()),
      divisors = {0, -0.0f, INFINITY, NAN, 1e-45f, 3e38f, 1, -3, 0x1.fffffep0f, 0x1.000002p0f};
  for (int i = 0; i < (exhaustive ? 4000 : 20); ++i)
    divisors.push_back(std::ldexp(1 + (random() & 0x7fffff) * 0x1p-23f, int(random() % 80) - 40));
  for (float y : divisors)
    for (uint32_t from = 0; from < 1u << 23; from += x.size() * (exhaustive ? 1 : 16)) {
      bool anyExponent = from % (1u << 20) == 0;
      for (uint32_t i = 0; i < x.size(); ++i) {
        uint32_t bits = anyExponent ? random() : 0x3f800000 | (from + i);
        std::memcpy(&x[i], &bits, 4);
        if (anyExponent && i % 64 < 4)
          x[i] = i % 2 ? -0.0f : 0;
      }
      for (const MathLoop &loop : loops) {
        loop(got.data(), x.data(), &y, x.size());
        int64_t wrong = 0;
        for (size_t i = 0; i < x.size(); ++i)
          wrong += !sameBits(got[i], x[i] / y);
        ASSERT_EQ(wrong, 0) << "divided by " << y;
      }
    }
}

template <typename Int> void testIntegerPower(const char *element) {
  std::vector<MathLoop> loops = compile("math.ipowi", 2, element);
  std::vector<Int> x, n;
  for (Int base : {0, 1, -1, 2, -2, 3, -7, 10, 46341})
    for (Int power = -5; power < 67; ++power)
      x.push_back(base), n.push_back(power);
  while (x.size() % 16)
    x.push_back(1), n.push_back(1);
  std::vector<Int> got(x.size());
  for (const MathLoop &loop : loops) {
    loop(got.data(), x.data(), n.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      std::make_unsigned_t<Int> want = 1;
      for (Int k = 0; k < n[i]; ++k)
        want *= x[i];
      if (n[i] < 0)
        want = x[i] == 1 ? 1 : x[i] == -1 ? (n[i] % 2 ? -1 : 1) : 0;
      EXPECT_EQ(got[i], Int(want)) << x[i] << " to the power of " << n[i];
    }
  }
}
TEST(Pow, Int32) { testIntegerPower<int32_t>("i32"); }
TEST(Pow, Int64) { testIntegerPower<int64_t>("i64"); }

} // namespace
