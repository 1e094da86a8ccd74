// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of resampling along axes of known lengths: weighted sums of few neighbours, one axis after the other.
// Coordinates and weights are those of Resize-10 to -19, Upsample-7 and -9.
#include "compiler/import/onnx/ops/Ops.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace tutti {

/// The most neighbours of an element.
static constexpr int64_t mostNeighbours = 64;

namespace {
enum class Coordinates {
  halfPixel,
  halfPixelSymmetric,
  pytorchHalfPixel,
  halfPixelForNearest,
  alignCorners,
  asymmetric
};
enum class Rounding { preferFloor, preferCeil, floor, ceil, downOrUp };
enum class Mode { nearest, linear, cubic };

/// How a node resamples.
struct Method {
  Mode mode;
  Coordinates coordinates;
  Rounding rounding;
  double cubic; ///< a of the cubic kernel
  bool excludesOutside, antialias;
};

/// An axis: its length before and after, and the factor.
struct Along {
  int64_t axis, from, to;
  float scale;
};

/// For each element of the result its neighbours: the first ones of all elements, then the second ones, and so on.
struct Neighbours {
  SmallVector<SmallVector<int64_t>> places;
  SmallVector<SmallVector<double>> weights;
};
} // namespace

/// The place of element i of the result among the elements before.
template <typename T> static T placeOf(int64_t i, const Along &along, T scale, Coordinates coordinates) {
  T from = T(along.from), to = T(along.to), center = (T(i) + T(0.5)) / scale;
  switch (coordinates) {
  case Coordinates::halfPixel:
    return center - T(0.5);
  case Coordinates::halfPixelSymmetric: {
    T half = from / 2, adjusted = to / (scale * from);
    return half * (1 - adjusted) + center - T(0.5);
  }
  case Coordinates::pytorchHalfPixel:
    return along.to > 1 ? center - T(0.5) : T(0);
  case Coordinates::halfPixelForNearest:
    return center;
  case Coordinates::alignCorners:
    return along.to > 1 ? T(i) * (from - 1) / (to - 1) : T(0);
  case Coordinates::asymmetric:
    return T(i) / scale;
  }
  llvm_unreachable("coordinates of another kind");
}

/// Rounds places that are as near to the middle between two elements as float32's error allows as the middle, as ONNX
/// Runtime does.
static float rounded(float place, float scale, Rounding rounding) {
  constexpr float near = 1e-6f;
  float floor = std::floor(place);
  bool isBetween = std::abs(place - floor - 0.5f) <= near;
  switch (rounding) {
  case Rounding::preferFloor:
    return isBetween ? floor : std::round(place);
  case Rounding::preferCeil:
    return isBetween ? floor + 1 : std::round(place);
  case Rounding::floor:
    return std::floor(place);
  case Rounding::ceil:
    return std::ceil(place);
  case Rounding::downOrUp:
    return scale < 1 ? std::ceil(place) : std::floor(place);
  }
  llvm_unreachable("rounding of another kind");
}

/// The weight of a neighbour at a distance.
static double weightAt(double distance, const Method &method) {
  double d = std::abs(distance), a = method.cubic;
  if (method.mode == Mode::linear)
    return std::max(0.0, 1 - d);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// The nearest neighbour, in float32 as other runtimes compute it: if two are equally near, the rounding decides.
static Neighbours nearestOf(const Along &along, const Method &method) {
  Neighbours all;
  SmallVector<int64_t> &places = all.places.emplace_back();
  for (int64_t i = 0; i < along.to; ++i) {
    float place = rounded(placeOf<float>(i, along, along.scale, method.coordinates), along.scale, method.rounding);
    places.push_back(int64_t(std::clamp<float>(place, 0, along.from - 1)));
  }
  return all;
}

/// The stretching of the kernel that removes aliases when the result has fewer elements.
static double stretchOf(const Along &along, const Method &method) {
  return method.antialias ? std::min<double>(along.scale, 1) : 1;
}

/// The number of neighbours on either side of an element.
static int64_t reachOf(const Along &along, const Method &method) {
  double reach = (method.mode == Mode::linear ? 1 : 2) / stretchOf(along, method);
  return int64_t(std::ceil(std::min(reach, 1e6)));
}

static Neighbours weightedOf(const Along &along, const Method &method) {
  double scale = along.scale, stretch = stretchOf(along, method);
  int64_t reach = reachOf(along, method), first = 1 - reach, count = 2 * reach;
  Neighbours all;
  all.places.resize(count);
  all.weights.resize(count);
  for (int64_t i = 0; i < along.to; ++i) {
    double place = placeOf<double>(i, along, scale, method.coordinates), floor = std::floor(place), sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      double at = floor + double(first + k);
      bool outside = at < 0 || at > double(along.from - 1);
      double weight = method.excludesOutside && outside ? 0 : weightAt((at - place) * stretch, method);
      all.places[k].push_back(int64_t(std::clamp<double>(at, 0, along.from - 1)));
      all.weights[k].push_back(weight);
      sum += weight;
    }
    for (int64_t k = 0; k < count; ++k)
      all.weights[k][i] /= sum;
  }
  return all;
}

/// x resampled along an axis: each element from its neighbours.
static Operand resampled(Node &n, const Operand &x, const Along &along, const Method &method) {
  Emit &e = n.emit;
  if (along.from == 1) { // the weights add up to 1
    Sizes sizes = x.sizes();
    sizes[along.axis] = Size(along.to);
    return e.broadcast(x, sizes);
  }
  if (method.mode == Mode::nearest && !n.emit.affords(along.to))
    return Operand();
  if (method.mode == Mode::nearest)
    return e.gather(x, e.list(nearestOf(along, method).places.front()), along.axis);
  int64_t count = 2 * reachOf(along, method);
  if (count > mostNeighbours)
    return e.unsupported("elements made of " + Twine(count) + " others each", "resample in several steps");
  if (!n.emit.affords(2 * count * along.to))
    return Operand();
  Neighbours all = weightedOf(along, method);
  Sizes across(x.rank() - along.axis, Size(1));
  across[0] = Size(along.to);
  Operand y;
  for (auto [places, weights] : llvm::zip_equal(all.places, all.weights)) {
    if (llvm::all_of(weights, [](double weight) { return weight == 0; }))
      continue;
    HostTensor factors = HostTensor::zeros(x.element(), {along.to});
    for (int64_t i = 0; i < along.to; ++i)
      factors.floats[i] = nearest(weights[i], x.element());
    Operand term = e.mul(e.gather(x, e.list(places), along.axis), e.reshape(Operand(computedSource(factors)), across));
    y = y ? e.add(y, term) : term;
  }
  return y;
}

/// The method that the attributes name; nothing, and a problem, if it is unknown.
static std::optional<Method> methodOf(Node &n) {
  bool early = n.opset < 11 || n.proto.op_type() == "Upsample"; // Upsample has not changed since
  std::string mode = n.stringAttr("mode", "nearest"),
              coordinates = n.stringAttr("coordinate_transformation_mode", early ? "asymmetric" : "half_pixel"),
              rounding = n.stringAttr("nearest_mode", early ? "" : "round_prefer_floor");
  n.floatAttr("extrapolation_value", 0); // for regions that no supported method has
  auto modes = llvm::StringSwitch<std::optional<Mode>>(mode)
                   .Case("nearest", Mode::nearest)
                   .Cases({"linear", "bilinear"}, Mode::linear)
                   .Case("cubic", Mode::cubic)
                   .Default(std::nullopt);
  auto transformed = llvm::StringSwitch<std::optional<Coordinates>>(coordinates)
                         .Case("half_pixel", Coordinates::halfPixel)
                         .Case("half_pixel_symmetric", Coordinates::halfPixelSymmetric)
                         .Case("pytorch_half_pixel", Coordinates::pytorchHalfPixel)
                         .Case("tf_half_pixel_for_nn", Coordinates::halfPixelForNearest)
                         .Case("align_corners", Coordinates::alignCorners)
                         .Case("asymmetric", Coordinates::asymmetric)
                         .Default(std::nullopt);
  auto roundings = llvm::StringSwitch<std::optional<Rounding>>(rounding)
                       .Case("round_prefer_floor", Rounding::preferFloor)
                       .Case("round_prefer_ceil", Rounding::preferCeil)
                       .Case("floor", Rounding::floor)
                       .Case("ceil", Rounding::ceil)
                       .Case("", Rounding::downOrUp)
                       .Default(std::nullopt);
  if (coordinates == "tf_crop_and_resize") {
    n.emit.unsupported("resampling of regions is not supported", "take a region of whole pixels with Slice before it");
    return std::nullopt;
  }
  if (!modes || !transformed || !roundings) {
    n.emit.malformed("resampling by " + quote(mode) + ", " + quote(coordinates) + ", " + quote(rounding));
    return std::nullopt;
  }
  return Method{*modes,
                *transformed,
                *roundings,
                n.floatAttr("cubic_coeff_a", -0.75),
                n.intAttr("exclude_outside", 0) != 0,
                n.intAttr("antialias", 0) != 0};
}

/// Input i as known factors of lengths; nothing, and a problem, if it is not that.
static std::optional<std::vector<double>> factorsIn(Node &n, size_t i) {
  Operand given = n.in(i);
  if (given && given.isConstant() && given.isFloat() && given.rank() == 1 && given.sizes()[0].getFixed() <= 64)
    return readForProgram(given.constant()).floats;
  if (given && !given.isConstant())
    n.emit.unsupported("input " + Twine(i) + " is computed from the model's inputs", n.toBeKnown(given));
  else if (given)
    n.emit.malformed("input " + Twine(i) + " is " + given.str() + " where a factor for each axis is due");
  return std::nullopt;
}

/// The axis resampled to `to` elements; nothing, and a problem, if that is not a supported length.
static std::optional<Along> alongOf(Node &n, int64_t axis, int64_t from, double to, float scale) {
  std::string change = "axis " + std::to_string(axis) + " of length " + std::to_string(from) + " becomes one of " +
                       llvm::formatv("{0:F0}", to).str();
  if (from < 1 || !(to >= 1))
    n.emit.malformed(change);
  else if (to > double(n.emit.budget.left()))
    n.emit.unsupported(change);
  else
    return Along{axis, from, int64_t(to), scale};
  return std::nullopt;
}

/// The axes among `axes` that these factors change; nothing, and a problem, if one does not fit.
static std::optional<SmallVector<Along>> byFactors(Node &n, const Operand &x, ArrayRef<int64_t> axes,
                                                   ArrayRef<double> factors) {
  if (factors.size() != axes.size()) {
    n.emit.malformed(Twine(factors.size()) + " factors for " + Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  SmallVector<Along> all;
  for (auto [axis, factor] : llvm::zip_equal(axes, factors)) {
    if (factor == 1)
      continue;
    if (!n.emit.isKnown(x, axis, "resamples along"))
      return std::nullopt;
    int64_t from = x.sizes()[axis].getFixed();
    std::optional<Along> along = alongOf(n, axis, from, std::floor(float(from) * float(factor)), float(factor));
    if (!along)
      return std::nullopt;
    all.push_back(*along);
  }
  return all;
}

/// The axes among `axes` that these lengths change: all by one factor, unless the policy is to stretch each. Nothing,
/// and a problem, if one does not fit.
static std::optional<SmallVector<Along>> byLengths(Node &n, const Operand &x, ArrayRef<int64_t> axes,
                                                   ArrayRef<Size> lengths, StringRef policy) {
  if (lengths.size() != axes.size()) {
    n.emit.malformed(Twine(lengths.size()) + " lengths for " + Twine(axes.size()) + " axes");
    return std::nullopt;
  }
  bool stretches = policy == "stretch", larger = policy == "not_smaller";
  if (!stretches && !larger && policy != "not_larger") {
    n.emit.malformed("attribute 'keep_aspect_ratio_policy' is " + quote(policy));
    return std::nullopt;
  }
  SmallVector<Along> all;
  for (auto [axis, length] : llvm::zip_equal(axes, lengths)) {
    if (stretches && x.sizes()[axis] == length)
      continue;
    if (!n.emit.isKnown(x, axis, "resamples along"))
      return std::nullopt;
    if (!length.isFixed()) {
      n.emit.unknownLength("resamples to", length);
      return std::nullopt;
    }
    int64_t from = x.sizes()[axis].getFixed(), to = length.getFixed();
    std::optional<Along> along = alongOf(n, axis, from, double(to), float(to) / float(from));
    if (!along)
      return std::nullopt;
    all.push_back(*along);
  }
  if (stretches || all.empty())
    return all;
  auto [least, most] =
      std::minmax_element(all.begin(), all.end(), [](const Along &a, const Along &b) { return a.scale < b.scale; });
  float scale = larger ? most->scale : least->scale;
  for (Along &along : all) {
    std::optional<Along> same = alongOf(n, along.axis, along.from, std::floor(scale * float(along.from) + 0.5f), scale);
    if (!same)
      return std::nullopt;
    along = *same;
  }
  llvm::erase_if(all, [](const Along &along) { return along.scale == 1; });
  return all;
}

/// Resamples one axis after the other.
static void resample(Node &n, const Operand &given, ArrayRef<Along> all) {
  Emit &e = n.emit;
  std::optional<Method> method = methodOf(n);
  if (!method)
    return;
  Operand x = given;
  if (method->mode != Mode::nearest && !x.isFloat())
    return (void)e.unsupported("resampling of " + elementName(x.element()), "cast it to a float before");
  if (method->mode != Mode::nearest && x.element().getIntOrFloatBitWidth() < 32)
    x = e.cast(x, Float32Type::get(&e.context));
  for (const Along &along : all) {
    if (x)
      x = resampled(n, x, along, *method);
  }
  n.set(0, x ? e.cast(x, given.element()) : x);
}

/// The axes of attribute 'axes' in its order, or all; nothing, and a problem, if it names others.
static std::optional<SmallVector<int64_t>> axesOf(Node &n, int64_t rank) {
  std::optional<SmallVector<int64_t>> named = n.intsAttr("axes");
  if (!named)
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (!n.axes(*named, rank)) // sorts them, but factors and lengths come in the order of the names
    return std::nullopt;
  return llvm::map_to_vector(*named, [&](int64_t axis) { return axis < 0 ? axis + rank : axis; });
}

void importResize(Node &n) {
  Operand x = n.in(0);
  std::optional<SmallVector<int64_t>> axes = x ? axesOf(n, x.rank()) : std::nullopt;
  if (!axes)
    return;
  std::optional<SmallVector<Along>> changed;
  std::string policy = n.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (n.opset >= 11 && n.has(3)) {
    if (std::optional<Sizes> lengths = n.sizesIn(3))
      changed = byLengths(n, x, *axes, *lengths, policy);
  } else if (std::optional<std::vector<double>> factors = factorsIn(n, n.opset < 11 ? 1 : 2)) {
    changed = byFactors(n, x, *axes, *factors);
  }
  if (changed)
    resample(n, x, *changed);
}

/// The predecessor of Resize.
void importUpsample(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  std::optional<std::vector<double>> factors;
  if (n.opset >= 9)
    factors = factorsIn(n, 1);
  else if (std::optional<SmallVector<double>> given = n.floatsAttr("scales"))
    factors.emplace(given->begin(), given->end());
  else
    n.emit.malformed("attribute 'scales' is missing");
  std::optional<SmallVector<Along>> changed =
      factors ? byFactors(n, x, llvm::to_vector(llvm::seq<int64_t>(0, x.rank())), *factors) : std::nullopt;
  if (changed)
    resample(n, x, *changed);
}

} // namespace tutti
