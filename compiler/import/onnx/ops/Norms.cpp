// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of softmax and of norms, as the primitives that older exporters spell them with.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

namespace {
/// The rows of a softmax: one axis from opset 13 on; before that all axes from `axis` on, as one.
struct SoftmaxRows {
  Operand x;
  int64_t axis = 0;
};
} // namespace

static SoftmaxRows softmaxRows(Node &n) {
  Operand x = n.in(0);
  int64_t given = n.intAttr("axis", n.opset < 13 ? 1 : -1);
  std::optional<int64_t> axis = x ? n.axis(given, x.rank()) : std::nullopt;
  if (!axis)
    return {};
  return {n.opset < 13 ? n.emit.flattenFrom(x, *axis) : x, *axis};
}

void importSoftmax(Node &n) {
  Emit &e = n.emit;
  if (auto [x, axis] = softmaxRows(n); x)
    n.set(0, e.reshape(e.softmax(x, axis), n.in(0).sizes()));
}

/// x - max - ln sum e^(x - max)
void importLogSoftmax(Node &n) {
  Emit &e = n.emit;
  if (auto [x, axis] = softmaxRows(n); x) {
    Operand below = e.sub(x, e.reduce(ReduceKind::max, x, axis, Axes::keep));
    Operand sum = e.reduce(ReduceKind::sum, e.unary<ExpOp>(below), axis, Axes::keep);
    n.set(0, e.reshape(e.sub(below, e.unary<LogOp>(sum)), n.in(0).sizes()));
  }
}

/// The type of attribute `stash_type`; null and a problem if it is not a float type.
static Type stashType(Node &n) {
  Type wide = n.elementAttr("stash_type", Float32Type::get(&n.emit.context));
  if (!wide || isa<FloatType>(wide))
    return wide;
  n.emit.malformed("attribute 'stash_type' is " + elementName(wide) + ", expected a type of floats");
  return nullptr;
}

static bool expectFloats(Node &n, const Operand &x) {
  if (x && !x.isFloat())
    n.emit.malformed("input 0 has elements of " + elementName(x.element()) + " where floats are due");
  return x && x.isFloat();
}

/// A parameter that broadcasts to x, as one number for each column of `flattenFrom(x, axis)` or, if rows have their
/// own, for each of its elements.
static Operand perColumn(Emit &e, const Operand &parameter, const Operand &x, int64_t axis) {
  if (!parameter || !x)
    return Operand();
  Sizes all = x.sizes(), own = parameter.sizes();
  while (int64_t(own.size()) > x.rank() - axis && own.front() == Size(1))
    own.erase(own.begin());
  bool isOfRows = int64_t(own.size()) > x.rank() - axis;
  ArrayRef<Size> to = isOfRows ? ArrayRef(all) : ArrayRef(all).drop_front(axis);
  std::optional<Sizes> both = broadcast(own, to);
  if (!both || ArrayRef(*both) != to)
    return e.malformed("a parameter of shape " + str(parameter.sizes()) + " for axes of shape " + str(to));
  return e.flattenFrom(e.broadcast(e.reshape(parameter, own), to), isOfRows ? axis : 0);
}

namespace {
struct Normal {
  Operand mean, deviation, y;
};
} // namespace

/// d = x - mean; y = d / sqrt(mean(d d) + epsilon), along an axis.
static Normal normalise(Emit &e, const Operand &x, int64_t axis, double epsilon) {
  Operand mean = e.reduce(ReduceKind::mean, x, axis, Axes::keep);
  Operand d = e.sub(x, mean);
  Operand variance = e.reduce(ReduceKind::mean, e.mul(d, d), axis, Axes::keep);
  Operand deviation = e.unary<SqrtOp>(e.add(variance, e.scalar(epsilon, x)));
  return {mean, deviation, e.div(d, deviation)};
}

/// normal scale + bias, over the axes from `axis` on, in `wide` or a wider type.
static Normal layerNorm(Emit &e, const Operand &x, int64_t axis, const Operand &scale, const Operand &bias,
                        double epsilon, Type wide) {
  Normal normal = normalise(e, e.widened(e.flattenFrom(x, axis), wide), axis, epsilon);
  Operand y = e.mul(e.cast(normal.y, x.element()), perColumn(e, scale, x, axis));
  if (bias)
    y = e.add(y, perColumn(e, bias, x, axis));
  normal.y = e.reshape(y, x.sizes());
  return normal;
}
Operand layerNorm(Emit &e, const Operand &x, const Operand &scale, const Operand &bias, double epsilon) {
  return layerNorm(e, x, x.rank() - 1, scale, bias, epsilon, Float32Type::get(&e.context)).y;
}

void importLayerNormalization(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (!expectFloats(n, x))
    return;
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", -1), x.rank());
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  Type wide = stashType(n);
  if (!axis || !wide)
    return;
  Operand scale = n.in(1), bias = n.has(2) ? n.in(2) : Operand();
  if (e.failed())
    return;
  Normal normal = layerNorm(e, x, *axis, scale, bias, epsilon, wide);
  n.set(0, normal.y);
  Sizes statistics = x.sizes();
  std::fill(statistics.begin() + *axis, statistics.end(), Size(1));
  if (n.wants(1))
    n.set(1, e.reshape(normal.mean, statistics));
  if (n.wants(2))
    n.set(2, e.reshape(e.unary<ReciprocalOp>(normal.deviation), statistics));
}

/// x / sqrt(mean(x x) + epsilon) scale, over the axes from `axis` on.
static Operand rmsNorm(Emit &e, const Operand &given, int64_t axis, const Operand &scale, double epsilon, Type wide) {
  Operand x = e.widened(e.flattenFrom(given, axis), wide);
  Operand square = e.reduce(ReduceKind::mean, e.mul(x, x), axis, Axes::keep);
  Operand y = e.div(x, e.unary<SqrtOp>(e.add(square, e.scalar(epsilon, x))));
  return e.reshape(e.mul(e.cast(y, given.element()), perColumn(e, scale, given, axis)), given.sizes());
}
Operand rmsNorm(Emit &e, const Operand &x, const Operand &scale, double epsilon) {
  return rmsNorm(e, x, x.rank() - 1, scale, epsilon, Float32Type::get(&e.context));
}

void importRMSNormalization(Node &n) {
  Operand given = n.in(0);
  if (!expectFloats(n, given))
    return;
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", -1), given.rank());
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  Type wide = stashType(n);
  if (!axis || !wide)
    return;
  n.set(0, rmsNorm(n.emit, given, *axis, n.in(1), epsilon, wide));
}

/// A number for each channel, axis 1 of x, as a tensor that broadcasts to a tensor of `rank` axes.
static Operand perChannel(Emit &e, const Operand &parameter, const Operand &x, int64_t rank) {
  if (!parameter || !x)
    return Operand();
  std::string sizesOf = "a parameter of shape " + str(parameter.sizes()) + " and " + x.sizes()[1].str() + " channels";
  if (parameter.rank() != 1)
    return e.malformed(sizesOf);
  if (!e.same(parameter.sizes()[0], x.sizes()[1]))
    return e.misfit(parameter.sizes()[0], x.sizes()[1], sizesOf, "fit");
  Sizes sizes(rank - 1, Size(1));
  sizes[0] = x.sizes()[1];
  return e.reshape(parameter, sizes);
}

static bool expectRank(Node &n, const Operand &x, int64_t least) {
  if (x && x.rank() < least)
    n.emit.malformed("input 0 has rank " + Twine(x.rank()) + " where at least " + Twine(least) + " is due");
  return x && x.rank() >= least;
}

/// (x - mean) (scale / sqrt(variance + epsilon)) + bias, where the model has numbers for each channel.
void importBatchNormalization(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  n.floatAttr("momentum", 0.9f);
  bool perElement = n.opset < 9 && n.intAttr("spatial", 1) == 0;
  bool training = n.opset >= 14 && n.intAttr("training_mode", 0) != 0;
  if (!expectFloats(n, given) || !expectRank(n, given, 2))
    return;
  for (size_t i = 1; i < 5; ++i)
    training |= n.hasNamed(i);
  if (training) {
    e.unsupported("training mode", "export the model for inference");
    return;
  }
  Operand x = e.widened(given);
  auto number = [&](size_t i) {
    Operand parameter = n.in(i);
    parameter = parameter ? e.cast(parameter, x.element()) : parameter;
    return perElement ? parameter : perChannel(e, parameter, x, x.rank());
  };
  Operand variance = number(4);
  Operand factor = e.div(number(1), e.unary<SqrtOp>(e.add(variance, e.scalar(epsilon, x))));
  n.set(0, e.cast(e.add(e.mul(e.sub(x, number(3)), factor), number(2)), given.element()));
}

/// Normalizes each channel of each instance over all axes behind it.
void importInstanceNormalization(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  if (!expectFloats(n, given) || !expectRank(n, given, 3))
    return;
  Operand x = e.widened(e.flattenFrom(given, 2));
  auto number = [&](size_t i) { return perChannel(e, e.widened(n.in(i)), x, 3); };
  Operand y = e.add(e.mul(normalise(e, x, 2, epsilon).y, number(1)), number(2));
  n.set(0, e.reshape(e.cast(y, given.element()), given.sizes()));
}

/// Normalizes groups of neighbouring channels. Scale and bias are per group before opset 21, per channel from then on.
void importGroupNormalization(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  double epsilon = n.floatAttr("epsilon", 1e-5f);
  int64_t groups = n.intAttr("num_groups", 0);
  Type wide = n.opset < 21 ? Type(Float32Type::get(&e.context)) : stashType(n);
  if (!wide || !expectFloats(n, given) || !expectRank(n, given, 2))
    return;
  for (int64_t axis = 1; axis < given.rank(); ++axis)
    if (!e.isKnown(given, axis, "normalises along"))
      return;
  Sizes before = given.sizes();
  std::optional<Size> columns = product(ArrayRef(before).drop_front(1));
  int64_t channels = before[1].getFixed();
  if (groups < 1 || channels % groups != 0 || !columns || channels == 0) {
    e.malformed(Twine(groups) + " groups of " + Twine(channels) + " channels");
    return;
  }
  Operand x = e.widened(e.reshape(given, {before[0], Size(groups), Size(columns->getFixed() / groups)}), wide);
  Operand y = e.cast(normalise(e, x, 2, epsilon).y, given.element());
  bool perGroup = n.opset < 21;
  if (perGroup) {
    for (size_t i : {1, 2}) {
      Operand parameter = perChannel(e, n.in(i), x, 3);
      y = i == 1 ? e.mul(y, parameter) : e.add(y, parameter);
    }
  } else {
    y = e.reshape(y, {before[0], before[1], Size(columns->getFixed() / channels)});
    y = e.add(e.mul(y, perChannel(e, n.in(1), given, 3)), perChannel(e, n.in(2), given, 3));
  }
  n.set(0, e.reshape(y, before));
}

/// x / norm along an axis; 0 where the norm is 0.
void importLpNormalization(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  int64_t p = n.intAttr("p", 2), at = n.intAttr("axis", -1);
  std::optional<int64_t> axis = expectFloats(n, given) ? n.axis(at, given.rank()) : std::nullopt;
  if (!axis)
    return;
  if (p != 1 && p != 2) {
    e.malformed("attribute 'p' is " + Twine(p) + ", neither 1 nor 2");
    return;
  }
  Operand x = e.widened(given);
  Operand norm = e.reduce(ReduceKind::sum, p == 1 ? e.unary<AbsOp>(x) : e.mul(x, x), *axis, Axes::keep);
  norm = p == 1 ? norm : e.unary<SqrtOp>(norm);
  Operand zero = e.scalar(0, x);
  n.set(0, e.cast(e.select(e.compare<EqualOp>(norm, zero), zero, e.div(x, norm)), given.element()));
}

/// (x - mean) / (sqrt(mean (x - mean)^2) + 1e-9) over the axes.
void importMeanVarianceNormalization(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  std::optional<SmallVector<int64_t>> listed = n.intsAttr("axes");
  std::optional<SmallVector<int64_t>> axes =
      expectFloats(n, given) ? n.axes(listed ? *listed : SmallVector<int64_t>{0, 2, 3}, given.rank()) : std::nullopt;
  if (!axes)
    return;
  Operand x = e.widened(given);
  Operand d = e.sub(x, e.reduce(ReduceKind::mean, x, *axes, Axes::keep));
  Operand deviation = e.unary<SqrtOp>(e.reduce(ReduceKind::mean, e.mul(d, d), *axes, Axes::keep));
  n.set(0, e.cast(e.div(d, e.add(deviation, e.scalar(1e-9, x))), given.element()));
}

/// The most channels in the sum of a local response.
static constexpr int64_t mostChannels = 1024;

/// x / (bias + alpha / size sum)^beta, where sum is that of the squares of `size` channels around each.
void importLRN(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0);
  double alpha = n.floatAttr("alpha", 1e-4f), beta = n.floatAttr("beta", 0.75), bias = n.floatAttr("bias", 1);
  int64_t size = n.intAttr("size", 0);
  if (!expectFloats(n, given) || !expectRank(n, given, 3) || !e.isKnown(given, 1, "sums along"))
    return;
  Sizes sizes = given.sizes();
  if (size < 1)
    return (void)e.malformed("attribute 'size' is " + Twine(size) + ", expected 1 or more");
  if (size > mostChannels)
    return (void)e.unsupported("attribute 'size' is " + Twine(size) + ", expected at most " + Twine(mostChannels));
  Operand x = e.widened(given), square = e.mul(x, x);
  int64_t before = (size - 1) / 2;
  Operand padded = e.padded(square, 1, before, size - 1 - before, e.scalar(0, x)), sum;
  for (int64_t i = 0; i < size; ++i) {
    Operand part = size == 1 ? padded : e.part(padded, 1, i, sizes[1].getFixed());
    sum = i == 0 ? part : e.add(sum, part);
  }
  Operand base = e.add(e.mul(sum, e.scalar(alpha / double(size), x)), e.scalar(bias, x));
  n.set(0, e.cast(e.div(x, e.pow(base, e.scalar(beta, x))), given.element()));
}

} // namespace tutti
