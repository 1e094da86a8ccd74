// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that Math.cpp substitutes for ops, by family, and their common helpers.
#ifndef TUTTI_COMPILER_CODEGEN_MATH_FUNCTIONS_H
#define TUTTI_COMPILER_CODEGEN_MATH_FUNCTIONS_H

#include "compiler/codegen/math/Coefficients.h"
#include "compiler/codegen/math/ValueExpr.h"

#include <limits>

namespace tutti {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLog2E = 0x1.71547652b82fep+0, kHalfPi = 0x1.921fb54442d18p+0;

/// The constants of a float format that an expansion needs. Both formats use the same sequences.
struct Format {
  explicit Format(Expr x) : isDouble(x.width() == 64) {}
  bool isDouble;
  double pick(double single, double twice) const { return isDouble ? twice : single; }
  llvm::ArrayRef<double> pick(llvm::ArrayRef<double> single, llvm::ArrayRef<double> twice) const {
    return isDouble ? twice : single;
  }
  unsigned mantissa() const { return isDouble ? 52 : 23; }
  int64_t bias() const { return isDouble ? 1023 : 127; }
  /// The number whose addition rounds a number of moderate size to an integer, half to even, in the low mantissa bits.
  double magic() const { return isDouble ? 0x1.8p52 : 0x1.8p23; }
  /// ln 2 rounded to the format, and the remainder.
  double ln2High() const { return pick(0x1.62e43p-1, kLn2); }
  double ln2Low() const { return pick(-0x1.05c61p-29, 0x1.abc9e3b39803fp-56); }
};

/// 2^k, where the low mantissa bits of `biased` hold k + bias (k a normal exponent).
inline Expr powerOfTwo(Expr biased, Format f) { return (biased.bits() << f.mantissa()).asFloat(); }

/// e^x as p 2^n: n an integer, p between 0.7 and 1.42. `biased` is n + shift, where shift is magic + an even number.
struct Power {
  Expr p, n, biased;
};
Power powerOf(Expr x, double shift, Format f);
/// The argument from which e^x is infinite.
inline double mostExp(Format f) { return f.pick(89, 710); }

/// The values of `make` in lanes where `rare` is true, `usual` in the others. `make` runs in a branch that is taken
/// only if some lane needs it; a lane's bits still depend on its own argument alone.
llvm::SmallVector<Expr> whereAny(Expr rare, llvm::ArrayRef<Expr> usual,
                                 llvm::function_ref<llvm::SmallVector<Expr>()> make);

/// A number as the sum of two floats, the second far below the first's last bit.
struct Pair {
  Expr high, low;
};

// Exp.cpp
/// e^x of a pair of doubles.
Expr exp(Pair x);
Expr exp(Expr x);
Expr expm1(Expr x);
Expr sinh(Expr x);
Expr cosh(Expr x);
Expr tanh(Expr x);
Expr erf(Expr x);
Expr logistic(Expr x);
Expr log1pExp(Expr x);
Expr mishGate(Expr x);
Expr normalCdf(Expr x);

// Log.cpp
Expr log(Expr x);
Expr log1p(Expr x);
Expr asinh(Expr x);
Expr acosh(Expr x);
Expr atanh(Expr x);
Expr pow(Expr x, Expr y);

// Trig.cpp
Expr sin(Expr x);
Expr cos(Expr x);
Expr tan(Expr x);
Expr asin(Expr x);
Expr acos(Expr x);
Expr atan(Expr x);

} // namespace tutti

#endif
