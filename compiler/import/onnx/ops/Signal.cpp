// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of Fourier transforms of known lengths, as products with a matrix of cosines and sines, and window functions.
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace tutti {

namespace {
/// A transform along an axis. `taken` numbers of `parts` each (1: real, 2: complex), followed by zeros up to `length`,
/// give `bins` complex numbers; the inverse of half a spectrum gives `bins` real numbers.
struct Transform {
  int64_t taken, length, bins, parts;
  bool inverse, halved; ///< halved: the other half of the spectrum is the conjugate, in the input or output

  int64_t rows() const { return taken * parts; }
  int64_t made() const { return inverse && halved ? 1 : 2; }
};
} // namespace

/// cos and sin of 2 pi places / length, exact at quarters of the circle.
static std::pair<double, double> turned(int64_t places, int64_t length) {
  static constexpr double quarters[] = {1, 0, -1, 0};
  places %= length;
  if (places * 4 % length == 0) {
    int64_t quarter = places * 4 / length;
    return {quarters[quarter], quarters[(quarter + 3) % 4]};
  }
  double angle = 2 * std::numbers::pi * double(places) / double(length);
  return {std::cos(angle), std::sin(angle)};
}

/// The matrix of a transform, (rows, bins * made), scaled by `window` for each transformed element.
static Operand matrixOf(Node &n, const Transform &t, Type element, ArrayRef<double> window = {}) {
  int64_t columns = t.bins * t.made(), count;
  if (!n.emit.affords(llvm::MulOverflow(t.rows(), columns, count) ? INT64_MAX : count))
    return Operand();
  HostTensor matrix = HostTensor::zeros(element, {t.rows(), columns});
  double sign = t.inverse ? 1 : -1, scale = t.inverse ? 1.0 / double(t.length) : 1;
  for (int64_t i = 0; i < t.taken; ++i)
    for (int64_t k = 0; k < t.bins; ++k) {
      auto [cosine, sine] = turned(int64_t((__int128(i) * k) % t.length), t.length);
      double factor = scale * (window.empty() ? 1 : window[i]);
      // In half a spectrum each number also stands for its conjugate, unless it is its own.
      if (t.inverse && t.halved && i != 0 && 2 * i != t.length)
        factor *= 2;
      double *at = &matrix.floats[i * t.parts * columns + k * t.made()];
      at[0] = nearest(factor * cosine, element);
      if (t.made() == 2)
        at[1] = nearest(factor * sign * sine, element);
      if (t.parts == 2) {
        at[columns] = nearest(-factor * sign * sine, element);
        if (t.made() == 2)
          at[columns + 1] = nearest(factor * cosine, element);
      }
    }
  return Operand(computedSource(matrix));
}

/// x (..., length, parts), of which the matrix takes the first `taken`, as (..., bins, made).
static Operand transformed(Emit &e, const Operand &given, const Transform &t, const Operand &matrix) {
  if (!given || !matrix)
    return Operand();
  int64_t rank = given.rank();
  bool fewer = given.sizes()[rank - 2] != Size(t.taken);
  Operand x = e.flattenFrom(fewer ? e.part(given, rank - 2, 0, t.taken) : given, rank - 2);
  std::optional<std::string> rows = Emit::rowLabels(rank - 2);
  if (!rows)
    return e.unsupported("a signal of rank " + Twine(rank));
  Operand y = e.contract(x, matrix, *rows + "k,kn->" + *rows + "n");
  if (!y)
    return y;
  Sizes sizes = y.sizes();
  sizes.back() = Size(t.bins);
  sizes.push_back(Size(t.made()));
  return e.reshape(y, sizes);
}

/// The length of a signal's last axis: 1, real numbers, or 2, complex ones; nothing, and a problem, if it is neither.
static std::optional<int64_t> partsOf(Node &n, const Operand &x) {
  Size parts = x.rank() > 1 ? x.sizes().back() : Size(0);
  if (x.isFloat() && (parts == Size(1) || parts == Size(2)))
    return parts.getFixed();
  n.emit.malformed("a signal " + x.str() + ", expected floats whose last axis is a number's real and imaginary part");
  return std::nullopt;
}

/// Input i as a known number; nothing, and a problem, if it is unknown or less than `least`.
static std::optional<int64_t> numberIn(Node &n, size_t i, StringRef name, int64_t least) {
  std::optional<SmallVector<int64_t>> given = n.intsIn(i);
  if (!given)
    return std::nullopt;
  if (given->size() == 1 && given->front() >= least)
    return given->front();
  n.emit.malformed("input " + Twine(i) + ", the " + name + ", is no number of at least " + Twine(least));
  return std::nullopt;
}

void importDFT(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  bool inverse = n.intAttr("inverse", 0) != 0, halved = n.intAttr("onesided", 0) != 0;
  std::optional<int64_t> along = n.opset < 20 ? n.intAttr("axis", 1) : -2;
  if (n.opset >= 20 && n.has(2))
    along = numberIn(n, 2, "axis", INT64_MIN);
  std::optional<int64_t> parts = x ? partsOf(n, x) : std::nullopt;
  std::optional<int64_t> axis = parts && along ? n.axis(*along, x.rank()) : std::nullopt;
  if (!axis)
    return;
  if (*axis == x.rank() - 1)
    return (void)e.malformed("a transform along the axis of real and imaginary parts");
  if (halved && *parts != (inverse ? 2 : 1))
    return (void)e.malformed(Twine("half a spectrum ") + (inverse ? "of real numbers" : "of complex numbers"));
  if (!e.isKnown(x, *axis, "transforms along"))
    return;
  int64_t given = x.sizes()[*axis].getFixed();
  if (!n.emit.affords(given))
    return;
  std::optional<int64_t> length = inverse && halved ? 2 * (given - 1) : given;
  if (n.has(1))
    length = numberIn(n, 1, "length", 1);
  if (!length || !n.emit.affords(*length))
    return;
  if (*length < 1 || given < 1)
    return (void)e.malformed("a transform of " + Twine(given) + " numbers to " + Twine(*length));
  int64_t half = *length / 2 + 1, used = inverse && halved ? half : *length;
  Transform t{std::min(given, used), *length, halved && !inverse ? half : *length, *parts, inverse, halved};
  Operand moved = e.moveAxis(x, *axis, x.rank() - 2);
  n.set(0, e.moveAxis(transformed(e, moved, t, matrixOf(n, t, x.element())), x.rank() - 2, *axis));
}

/// Transforms of frames of a signal, `step` apart, each multiplied by a window.
void importSTFT(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), window = n.has(2) ? n.in(2) : Operand();
  std::optional<int64_t> step = numberIn(n, 1, "step", 1);
  bool halved = n.intAttr("onesided", 1) != 0;
  std::optional<int64_t> parts = x ? partsOf(n, x) : std::nullopt;
  if (!parts || !step || e.failed())
    return;
  if (x.rank() != 3 || (halved && *parts == 2) ||
      (window && (window.rank() != 1 || window.element() != x.element() || !window.sizes()[0].isFixed())))
    return (void)e.malformed("a signal " + x.str() + (window ? ", a window " + window.str() : std::string()) +
                             (halved ? ", and half of its spectrum" : ""));
  if (!e.isKnown(x, 1, "transforms along"))
    return;
  int64_t length = x.sizes()[1].getFixed();
  std::optional<int64_t> frame = window ? window.sizes()[0].getFixed() : length;
  if (n.has(3))
    frame = numberIn(n, 3, "length of a frame", 1);
  if (!frame)
    return;
  if (*frame < 1 || *frame > length || (window && window.sizes()[0] != Size(*frame)))
    return (void)e.malformed("frames of " + Twine(*frame) + " in a signal of " + Twine(length) +
                             (window ? " and a window of " + window.sizes()[0].str() : ""));
  int64_t frames = (length - *frame) / *step + 1, count;
  Transform t{*frame, *frame, halved ? *frame / 2 + 1 : *frame, *parts, false, halved};
  if (!n.emit.affords(llvm::MulOverflow(frames, *frame, count) ? INT64_MAX : count))
    return;
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < frames; ++i)
    for (int64_t j = 0; j < *frame; ++j)
      places.push_back(i * *step + j);
  Operand framed = e.reshape(e.gather(x, e.list(places), 1), {x.sizes()[0], Size(frames), Size(*frame), Size(*parts)});
  // A known window is folded into the matrix.
  if (window && !window.isConstant())
    framed = e.mul(framed, e.reshape(window, {Size(*frame), Size(1)}));
  std::vector<double> factors =
      window && window.isConstant() ? readForProgram(window.constant()).floats : std::vector<double>();
  n.set(0, transformed(e, framed, t, matrixOf(n, t, x.element(), factors)));
}

/// a - b cos(2 pi i / length) + c cos(4 pi i / length)
static void importWindow(Node &n, double a, double b, double c) {
  std::optional<int64_t> size = numberIn(n, 0, "size", 1);
  bool periodic = n.intAttr("periodic", 1) != 0;
  Type element = n.elementAttr("output_datatype", Float32Type::get(&n.emit.context));
  if (!size || !element || !n.emit.affords(*size))
    return;
  // Two cosines cost more than an element of another constant.
  constexpr int64_t more = 7;
  if (*size > n.emit.budget.left() / more || !n.emit.budget.spend(more * *size))
    return (void)n.emit.unsupported("a window of " + Twine(*size) + " elements", "make it an initializer");
  if (!isa<FloatType>(element))
    return (void)n.emit.unsupported("a window of " + elementName(element));
  HostTensor window = HostTensor::zeros(element, {*size});
  int64_t length = periodic ? *size : std::max<int64_t>(*size - 1, 1);
  for (int64_t i = 0; i < *size; ++i)
    window.floats[i] = nearest(a - b * turned(i, length).first + c * turned(2 * i, length).first, element);
  n.set(0, Operand(computedSource(window)));
}

void importHannWindow(Node &n) { importWindow(n, 0.5, 0.5, 0); }
void importHammingWindow(Node &n) { importWindow(n, 25.0 / 46, 21.0 / 46, 0); }
void importBlackmanWindow(Node &n) { importWindow(n, 0.42, 0.5, 0.08); }

} // namespace tutti
