// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of matrices of bytes: by words of four bytes if one is a weight, else in float32, with the same bits.
#include "compiler/import/onnx/ops/Quantized.h"

using namespace mlir;

namespace tutti {

namespace {

/// A weight of bytes [K, N] in the form that is multiplied: signed bytes (unsigned ones minus 128), four neighbours
/// along K to a word, padded with zeros; and what the zero points add to each column's sum.
struct ByteWeight {
  HostTensor words, sums;
};

/// `zero`: one for all bytes, one per column, or nothing. Sums are of bytes minus their zero points.
std::optional<ByteWeight> byteWeight(Emit &e, const Operand &b, int64_t less, const std::optional<HostTensor> &zero) {
  std::optional<HostTensor> bytes = e.elementsOf(b);
  if (!bytes)
    return std::nullopt;
  if (zero && zero->count() != 1 && (zero->dims.size() != 1 || zero->dims[0] != bytes->dims[1]))
    return e.malformed("zero points of shape " + str(Sizes(zero->dims.begin(), zero->dims.end())) +
                       " for the columns of " + b.str()),
           std::nullopt;
  int64_t K = bytes->dims[0], N = bytes->dims[1];
  Type word = IntegerType::get(&e.context, 32);
  ByteWeight weight{HostTensor::zeros(word, {int64_t(llvm::divideCeil(K, 4)), N}), HostTensor::zeros(word, {N})};
  for (int64_t k = 0; k < K; ++k)
    for (int64_t n = 0; n < N; ++n) {
      int64_t byte = bytes->ints[k * N + n];
      weight.words.ints[k / 4 * N + n] |= ((byte - less) & 255) << 8 * (k % 4);
      weight.sums.ints[n] += byte - (zero ? zero->ints[zero->count() == 1 ? 0 : n] : 0);
    }
  return weight;
}

/// Unsigned bytes, as int32 words of four neighbours along the last axis.
Operand wordsOf(Emit &e, Operand bytes) {
  int64_t last = bytes.rank() - 1, length = bytes.sizes()[last].getFixed();
  if (int64_t rest = llvm::alignTo(length, 4) - length) {
    bytes = e.padded(bytes, last, 0, rest, e.scalar(0, bytes));
    length += rest;
  }
  Operand words;
  for (int64_t byte = 0; bytes && byte < 4; ++byte) {
    Operand part = e.part(bytes, last, byte, length / 4, 4);
    words = byte == 0 ? part : e.add(words, e.mul(part, e.scalar(int64_t(1) << 8 * byte, part)));
  }
  return words;
}

/// The sum of (a - p)(b - q), computed from the sum of u s with u = a + (0 or 128) unsigned and s = b - (0 or 128)
/// signed. With the zero points p' of u and q' of s it is sum u s - p' sum (s - q') - q' sum u.
Operand multiplyWords(Emit &e, const Operand &a, const Operand &p, const Operand &b, const Operand &q) {
  Type word = IntegerType::get(&e.context, 32);
  int64_t more = a.element().isUnsignedInteger() ? 0 : 128, less = b.element().isUnsignedInteger() ? 128 : 0;
  auto asParameter = [&](HostTensor tensor) {
    for (int64_t &each : tensor.ints)
      each = wrapped(each, word);
    tensor.element = word;
    WeightSource source = computedSource(tensor);
    source.name = b.constant().name;
    return Operand(e.parameter(source));
  };
  std::optional<HostTensor> zero = q ? e.elementsOf(q) : std::nullopt;
  std::optional<ByteWeight> weight = byteWeight(e, b, less, zero);
  std::optional<std::string> rows = Emit::rowLabels(a.rank() - 1);
  if (!rows)
    return e.unsupported("tensors of rank " + Twine(a.rank()));
  Operand u = e.cast(a, word);
  if (more)
    u = e.add(u, e.scalar(more, u));
  if (!weight || !u)
    return Operand();
  Operand sum = e.contract(wordsOf(e, u), asParameter(weight->words), *rows + "k,kn->" + *rows + "n", Factors::bytes);
  if (p || more) {
    std::optional<double> known = p ? p.scalarForProgram() : 0;
    for (int64_t &each : weight->sums.ints)
      each *= known ? int64_t(*known) + more : 1;
    Operand sums = asParameter(weight->sums);
    sum = e.sub(sum, known ? sums : e.mul(e.add(e.cast(p, word), e.scalar(more, u)), sums));
  }
  if (zero || less) {
    HostTensor numbers = zero ? *zero : HostTensor::zeros(word, {});
    for (int64_t &each : numbers.ints)
      each -= less;
    sum = e.sub(sum, e.mul(e.reduce(ReduceKind::sum, u, {a.rank() - 1}, Axes::keep), asParameter(numbers)));
  }
  return sum;
}

/// Multiplies in float32, in parts whose sums it represents exactly; many parts are added in float64, which represents
/// all.
Operand multiplyFloats(Emit &e, const Operand &a, const Operand &zeroA, const Operand &b, const Operand &zeroB) {
  Operand left = shifted(e, a, zeroA), right = shifted(e, b, zeroB), sum;
  if (!left || !right)
    return Operand();
  int64_t last = a.rank() - 1, first = std::max<int64_t>(b.rank() - 2, 0), length = a.sizes()[last].getFixed();
  constexpr int64_t mostParts = 16;
  if (length > mostParts * exactProducts) {
    Type wide = Float64Type::get(&e.context), whole = IntegerType::get(&e.context, 64);
    sum = e.cast(multiplyMatrices(e, e.cast(left, wide), e.cast(right, wide)), whole);
    return e.cast(sum, IntegerType::get(&e.context, 32));
  }
  int64_t from = 0;
  do { // once even without terms
    int64_t count = std::min(exactProducts, length - from);
    Operand part = multiplyMatrices(e, e.part(left, last, from, count), e.part(right, first, from, count));
    part = e.cast(part, IntegerType::get(&e.context, 32));
    sum = sum ? e.add(sum, part) : part;
    from += exactProducts;
  } while (from < length);
  return sum;
}

/// Whether a zero point is 0 throughout, here and in the other members.
bool isZero(Emit &e, const Operand &zero) {
  if (e.keepsNumbers() || !zero.isConstant())
    return false;
  std::optional<HostTensor> numbers = e.elementsOf(zero);
  return numbers && llvm::all_of(numbers->ints, [](int64_t number) { return number == 0; });
}

} // namespace

Operand multiplyBytes(Emit &e, const Operand &a, const Operand &zeroA, const Operand &b, const Operand &zeroB) {
  if (!a || !b)
    return Operand();
  if (a.rank() == 0 || b.rank() == 0)
    return e.malformed("a scalar operand");
  int64_t last = a.rank() - 1, first = std::max<int64_t>(b.rank() - 2, 0);
  if (!e.isKnown(a, last, "sums integers along") || !e.isKnown(b, first, "sums integers along"))
    return Operand();
  if (b.sizes()[first] != a.sizes()[last])
    return e.malformed("a product of " + a.str() + " and " + b.str());
  // Most zero points are 0 and then cost nothing.
  Operand p = zeroA && !isZero(e, zeroA) ? zeroA : Operand(), q = zeroB && !isZero(e, zeroB) ? zeroB : Operand();
  bool isLayer = a.rank() >= 2 && !a.isConstant() && b.isConstant() && b.rank() == 2 && (!q || q.isConstant()) &&
                 a.sizes()[last] != Size(0);
  return isLayer ? multiplyWords(e, a, p, b, q) : multiplyFloats(e, a, p, b, q);
}

std::optional<Operand> multiplyQuantized(Emit &e, const Operand &a, const Operand &b, bool transposed) {
  const Quantized *left = e.quantized(a), *right = e.quantized(b);
  auto isByte = [](const Operand &x) { return x.element().getIntOrFloatBitWidth() == 8; };
  // One number for the whole tensor, or one per column.
  auto isSingle = [](const Operand &x) { return !x || x.rank() == 0 || (x.rank() == 1 && x.sizes()[0] == Size(1)); };
  if (!left || !right || !isByte(left->numbers) || !isByte(right->numbers) || left->numbers.isConstant() ||
      !right->numbers.isConstant() || a.rank() < 2 || b.rank() != 2 || !isSingle(left->scale) || !isSingle(left->zero))
    return std::nullopt;
  for (const Operand &x : {right->scale, right->zero})
    if (!isSingle(x) && (x.rank() != 1 || (right->axis + 2) % 2 != (transposed ? 0 : 1)))
      return std::nullopt;
  // A product of integers wraps modulo 2^32; this one is defined on floats.
  constexpr int64_t mostTerms = (int64_t(1) << 31) / (255 * 255);
  if (Size terms = a.sizes().back(); terms.isFixed() && terms.getFixed() > mostTerms)
    return std::nullopt;
  auto single = [&](const Operand &x) { return x && isSingle(x) ? e.reshape(x, {}) : x; };
  Operand weight = transposed ? e.transpose(right->numbers, {1, 0}) : right->numbers;
  Operand sum = multiplyBytes(e, left->numbers, single(left->zero), weight, single(right->zero));
  return e.mul(floatOf(e, sum), e.mul(floatOf(e, single(left->scale)), floatOf(e, single(right->scale))));
}

} // namespace tutti
