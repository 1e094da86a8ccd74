// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four doubles at a time by glibc's libmvec, whose functions err by at most 4 units of a double's last place. Compiled
// for AVX2, which the code under test takes too.
#include "Reference.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <immintrin.h>
#include <numeric>

namespace tutti {

namespace {
using Floats = float __attribute__((vector_size(16)));
using Doubles = double __attribute__((vector_size(32)));
using Words = int64_t __attribute__((vector_size(32)));
using Function = Doubles (*)(Doubles);

Function find(const std::string &name) {
  static void *library = dlopen("libmvec.so.1", RTLD_NOW);
  return library ? reinterpret_cast<Function>(dlsym(library, ("_ZGVdN4v_" + name).c_str())) : nullptr;
}
const Function vectorExp = find("exp"), vectorLog1p = find("log1p");

Doubles absolute(Doubles x) { return (Doubles)((Words)x & INT64_MAX); }
// As MathTest.cpp has them.
Words vanishes(Doubles x) { return x < -0x1.5d589ep+6; }
Doubles logistic(Doubles x) { return vanishes(x) ? Doubles{} : 1 / (1 + vectorExp(-x)); }
Doubles log1pExp(Doubles x) {
  return vanishes(x) ? Doubles{} : (x > 0 ? x : Doubles{}) + vectorLog1p(vectorExp(-absolute(x)));
}
Doubles mishGate(Doubles x) {
  Doubles e = vectorExp(x < 100 ? x : Doubles{} + 100), n = e * (e + 2);
  return vanishes(x) ? Doubles{} : x == x ? n / (n + 2) : x;
}

Function functionOf(const std::string &op) {
  if (!vectorExp || !vectorLog1p)
    return nullptr;
  return op == "tutti.logistic"    ? logistic
         : op == "tutti.log1p_exp" ? log1pExp
         : op == "tutti.mish_gate" ? mishGate
                                   : find(op.substr(op.find('.') + 1));
}
} // namespace

std::vector<int64_t> suspects(const std::string &op, const float *x, const float *got, int64_t n, double limit) {
  std::vector<int64_t> places;
  Function function = functionOf(op);
  if (!function) {
    places.resize(n);
    std::iota(places.begin(), places.end(), 0);
    return places;
  }
  auto load = [](const float *from) {
    Floats four;
    std::memcpy(&four, from, sizeof four);
    return __builtin_convertvector(four, Doubles);
  };
  for (int64_t i = 0; i < n; i += 4) {
    Doubles exact = function(load(x + i)), mine = load(got + i);
    // 1 / the last place, as MathTest.cpp has it: of a denormal the smallest's.
    Words exponent = ((Words)exact >> 52) & 0x7ff;
    exponent = exponent < 1023 - 126 ? Words{} + (1023 - 126) : exponent;
    Doubles error = absolute(mine - exact) * (Doubles)((2 * 1023 + 23 - exponent) << 52);
    Words fine = (error <= limit) & (exact != 0) & (absolute(exact) < 0x1.ffffffp127);
    fine |= (exact != exact) & (mine != mine);
    fine |= (Words)exact == (Words)mine; // zeros and infinities
    fine |= (absolute(exact) >= 0x1p128) & (mine == (exact > 0 ? Doubles{} + INFINITY : Doubles{} - INFINITY));
    if (_mm256_movemask_pd((__m256d)fine) != 15)
      for (int lane = 0; lane < 4; ++lane)
        if (!fine[lane])
          places.push_back(i + lane);
  }
  return places;
}

} // namespace tutti
