// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tensor cores compute: exact sums, rounded once; or, where $TUTTI_EMULATED_TENSOR_CORES is "hardware", bit for
// bit what the hardware is known to make of them, in fixed point.
//
// There, of a group of products and the sum so far, the largest exponent is taken (a product's is that of its factors
// together); each term is cut to so many bits behind it, the terms are added exactly, and the result is cut to float32.
// Ampere and Ada keep 24 bits and take an instruction's k in two halves, Hopper and Blackwell keep 25 and take them at
// once. Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ CS 7:e330, 2021;
// Khattak, Mikaitis, "Accurate Models of NVIDIA Tensor Cores", arXiv:2512.07004, 2025; the models of both and of
// Microsoft's MMA-Sim agree, and were compared with devices. The sign of a zero and the kind of a NaN are not modelled.
#include "Launcher.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tutti::emulated {

namespace {

/// A finite number: significand * 2^(exponent - bits), as its format has it. Of a zero, the exponent counts for
/// nothing.
struct Unpacked {
  int32_t significand, exponent;
};

struct Format {
  int bits, exponentBits; ///< of the significand behind the point
  int perRegister;
};
constexpr Format formats[] = {{10, 8, 1}, {7, 8, 2}, {10, 5, 2}}; // by MmaType

/// An element of a fragment, in the low bits of its format; false where it is not finite.
bool unpack(uint32_t bits, const Format &format, Unpacked &to) {
  int bias = (1 << (format.exponentBits - 1)) - 1, most = (1 << format.exponentBits) - 1;
  int exponent = int(bits >> format.bits) & most, fraction = int(bits) & ((1 << format.bits) - 1);
  bool negative = bits >> (format.bits + format.exponentBits) & 1;
  int32_t significand = exponent ? fraction | 1 << format.bits : fraction;
  to = {negative ? -significand : significand, std::max(exponent, 1) - bias};
  return exponent != most;
}

double valueOf(uint32_t bits, const Format &format) {
  Unpacked x;
  if (unpack(bits, format, x))
    return x.significand * __builtin_bit_cast(double, uint64_t(1023 + x.exponent - format.bits) << 52);
  return bits & ((1u << format.bits) - 1) ? NAN : x.significand < 0 ? -INFINITY : INFINITY;
}

/// Towards zero. What is 2^128 or more is infinite.
float truncated(double x) {
  auto result = float(x);
  if (std::isinf(result))
    return std::fabs(x) < 0x1p128 ? std::copysign(0x1.fffffep127f, result) : result;
  return std::fabs(double(result)) > std::fabs(x) ? std::nextafter(result, 0.0f) : result;
}

/// The term in units of 2^(most - kept), cut.
int64_t aligned(int64_t significand, int shift) {
  if (shift >= 0)
    return significand * (int64_t(1) << shift);
  return shift <= -63 ? 0 : significand / (int64_t(1) << -shift);
}

float add(float sum, const Unpacked *a, const Unpacked *b, int count, int bits, int kept) {
  uint32_t sumBits;
  memcpy(&sumBits, &sum, 4);
  Unpacked c;
  if (!unpack(sumBits, {23, 8, 1}, c))
    return sum; // has overflowed in the first half
  int most = c.significand ? c.exponent : -126;
  for (int i = 0; i < count; ++i)
    if (a[i].significand && b[i].significand)
      most = std::max(most, a[i].exponent + b[i].exponent);
  int64_t total = aligned(c.significand, kept - 23 + c.exponent - most);
  for (int i = 0; i < count; ++i)
    total +=
        aligned(int64_t(a[i].significand) * b[i].significand, kept - 2 * bits + a[i].exponent + b[i].exponent - most);
  return truncated(std::ldexp(double(total), most - kept));
}

} // namespace

void Launcher::multiply(void *const *lanes, uint32_t mask, Where where) {
  if (mask != 0xffffffff)
    active->failHere(CUDA_ERROR_LAUNCH_FAILED, "mma.sync without all lanes of the warp", where);
  const auto *first = static_cast<const MmaOperand *>(lanes[0]);
  const Format &format = formats[int(first->type)];
  // The registers of a fragment cover k in two halves of `half`.
  int pair = format.perRegister, half = 4 * pair, k = 2 * half;
  uint32_t as[16][16], bs[8][16];
  auto element = [&](uint32_t word, int e) { return pair == 1 ? word >> 13 : word >> 16 * e & 0xffff; };
  for (int lane = 0; lane < 32; ++lane) {
    const auto *operand = static_cast<const MmaOperand *>(lanes[lane]);
    int g = lane / 4, t = lane % 4;
    for (int e = 0; e < pair; ++e) {
      for (int r = 0; r < 4; ++r)
        as[g + r % 2 * 8][t * pair + r / 2 * half + e] = element(operand->a[r], e);
      for (int r = 0; r < 2; ++r)
        bs[g][t * pair + r * half + e] = element(operand->b[r], e);
    }
  }
  Unpacked a[16][16], b[8][16];
  double exactA[16][16], exactB[8][16];
  bool finite = true;
  for (int i = 0; i < k; ++i) {
    for (int row = 0; row < 16; ++row) {
      finite &= unpack(as[row][i], format, a[row][i]);
      exactA[row][i] = valueOf(as[row][i], format);
    }
    for (int column = 0; column < 8; ++column) {
      finite &= unpack(bs[column][i], format, b[column][i]);
      exactB[column][i] = valueOf(bs[column][i], format);
    }
  }
  int kept = first->capability < 90 ? 24 : 25, step = first->capability < 90 ? half : k;
  for (int lane = 0; lane < 32; ++lane) {
    float *d = static_cast<const MmaOperand *>(lanes[lane])->d;
    for (int r = 0; r < 4; ++r) {
      int row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
      if (!active->hardwareSums || !finite || !std::isfinite(d[r])) {
        double sum = d[r];
        for (int i = 0; i < k; ++i)
          sum += exactA[row][i] * exactB[column][i];
        if (!active->hardwareSums || !std::isfinite(sum)) {
          d[r] = std::isnan(sum) ? __builtin_bit_cast(float, 0x7fffffff) : float(sum);
          continue;
        }
      }
      for (int i = 0; i < k; i += step)
        d[r] = add(d[r], a[row] + i, b[column] + i, step, format.bits, kept);
    }
  }
}

} // namespace tutti::emulated
