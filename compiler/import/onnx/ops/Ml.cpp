// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of dense ops of the domain ai.onnx.ml, as exporters of scikit-learn write them; unknown categories become
// zeros.
#include "compiler/import/onnx/ops/Ml.h"

#include <cmath>

using namespace mlir;

namespace tutti {

Operand floatsOf(Emit &e, ArrayRef<double> numbers, ArrayRef<int64_t> dims, Type element) {
  HostTensor tensor = HostTensor::zeros(element, dims);
  for (auto [to, from] : llvm::zip_equal(tensor.floats, numbers))
    to = from;
  return Operand(computedSource(tensor));
}

Operand featuresIn(Node &n, size_t i) {
  Operand x = n.in(i);
  if (!x)
    return Operand();
  if (x.rank() < 1 || x.rank() > 2 || x.element().isInteger(1))
    return n.emit.malformed("input " + Twine(i) + " is " + x.str() +
                            ", expected numbers of shape (rows, features) or (features)");
  return n.emit.isKnown(x, x.rank() - 1, "has features along") ? x : Operand();
}
int64_t countOfFeatures(const Operand &x) { return x.sizes().back().getFixed(); }

Operand rowsIn(Node &n, size_t i) {
  Operand x = featuresIn(n, i);
  if (x && x.rank() == 1)
    x = n.emit.reshape(x, {Size(1), x.sizes()[0]});
  return x ? n.emit.cast(x, Float32Type::get(&n.emit.context)) : x;
}

bool expectCount(Node &n, StringRef attribute, size_t given, const Twine &expected, bool isRight) {
  if (!isRight)
    n.emit.malformed("attribute " + quote(attribute) + " has " + Twine(given) + " numbers, expected " + expected);
  return isRight;
}
static bool expectPerFeature(Node &n, StringRef attribute, size_t given, int64_t features) {
  return expectCount(n, attribute, given, "1 or one for each of " + Twine(features) + " features",
                     given == 1 || int64_t(given) == features);
}

bool refuseStrings(Node &n, ArrayRef<StringRef> attributes, const Twine &advice) {
  for (StringRef attribute : attributes)
    if (!n.stringsAttr(attribute).empty()) {
      n.emit.unsupported("attribute " + quote(attribute) + ": strings are not supported", advice);
      return true;
    }
  return false;
}

/// (x - offset) scale, in float32 except for the difference of float64.
void importScaler(Node &n) {
  Emit &e = n.emit;
  Operand given = featuresIn(n, 0);
  std::optional<SmallVector<double>> offset = n.floatsAttr("offset"), scale = n.floatsAttr("scale");
  if (!given)
    return;
  Type real = Float32Type::get(&e.context);
  Operand x = given.element().isF64() ? given : e.cast(given, real);
  if (offset && expectPerFeature(n, "offset", offset->size(), countOfFeatures(x)))
    x = e.sub(x, floatsOf(e, *offset, {int64_t(offset->size())}, x.element()));
  if (scale && x && expectPerFeature(n, "scale", scale->size(), countOfFeatures(given)))
    x = e.mul(x, floatsOf(e, *scale, {int64_t(scale->size())}, x.element()));
  n.set(0, e.cast(x, real));
}

/// Divides each row by its largest magnitude, by their sum, or by its Euclidean norm; rows of zeros stay. (For MAX the
/// standard's text says max(x), while its reference and scikit-learn take magnitudes; ONNX Runtime follows the text.)
void importNormalizer(Node &n) {
  Emit &e = n.emit;
  Operand x = featuresIn(n, 0);
  std::string kind = n.stringAttr("norm", "MAX");
  if (!x)
    return;
  x = e.cast(x, Float32Type::get(&e.context));
  int64_t last = x.rank() - 1;
  Operand norm;
  if (kind == "MAX")
    norm = e.reduce(ReduceKind::max, e.unary<AbsOp>(x), last, Axes::keep);
  else if (kind == "L1")
    norm = e.reduce(ReduceKind::sum, e.unary<AbsOp>(x), last, Axes::keep);
  else if (kind == "L2")
    norm = e.unary<SqrtOp>(e.reduce(ReduceKind::sum, e.mul(x, x), last, Axes::keep));
  else
    e.malformed("attribute 'norm' is " + quote(kind) + ", expected MAX, L1 or L2");
  Operand zero = e.scalar(0, x);
  n.set(0, e.select(e.compare<EqualOp>(norm, zero), zero, e.div(x, norm)));
}

/// 1 above the threshold, else 0.
void importBinarizer(Node &n) {
  Operand x = n.in(0);
  if (x && x.element().isInteger(1))
    n.emit.malformed("input 0 is " + x.str() + " where numbers are due");
  double threshold = n.floatAttr("threshold", 0);
  if (!x)
    return;
  if (!x.isFloat()) {
    // An integer is above a threshold if it is above the threshold rounded down.
    unsigned width = x.element().getIntOrFloatBitWidth();
    bool isUnsigned = x.element().isUnsignedInteger();
    double end = std::ldexp(1.0, std::min(isUnsigned ? width : width - 1, 63u)), low = isUnsigned ? 0 : -end;
    threshold = std::min(std::floor(threshold), std::min(end - 1, std::nextafter(end, 0)));
    if (threshold < low) // all are above
      return n.set(0, n.emit.broadcast(n.emit.scalar(1, x), x.sizes()));
  }
  n.set(0, n.emit.cast(n.emit.compare<GreaterOp>(x, n.emit.scalar(threshold, x)), x.element()));
}

/// Replaces elements equal to the number that stands for missing ones by their feature's number, or by the only number.
void importImputer(Node &n) {
  Emit &e = n.emit;
  Operand x = featuresIn(n, 0);
  std::optional<SmallVector<double>> floats = n.floatsAttr("imputed_value_floats");
  std::optional<SmallVector<int64_t>> ints = n.intsAttr("imputed_value_int64s");
  double missingFloat = n.floatAttr("replaced_value_float", 0);
  int64_t missingInt = n.intAttr("replaced_value_int64", 0);
  if (!x)
    return;
  StringRef attribute = x.isFloat() ? "imputed_value_floats" : "imputed_value_int64s";
  size_t count = x.isFloat() ? (floats ? floats->size() : 0) : ints ? ints->size() : 0;
  if (!expectPerFeature(n, attribute, count, countOfFeatures(x)))
    return;
  if (!x.isFloat() && wrapped(uint64_t(missingInt), x.element()) != missingInt)
    return n.set(0, x); // no element is that number
  if (count == 0)
    return n.set(0, x); // there are no features
  Operand numbers = x.isFloat() ? floatsOf(e, *floats, {int64_t(count)}, x.element()) : e.list(*ints, x.element());
  Operand missing;
  if (x.isFloat() && std::isnan(missingFloat))
    missing = e.unary<NotOp>(e.compare<EqualOp>(x, x));
  else
    missing = e.compare<EqualOp>(x, x.isFloat() ? e.scalar(missingFloat, x)
                                                : e.reshape(e.list({missingInt}, x.element()), {}));
  n.set(0, e.select(missing, numbers, x));
}

/// Selects elements of the last axis; one row of features gives one row.
void importArrayFeatureExtractor(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), places = n.in(1);
  if (!x || !places)
    return;
  if (x.rank() < 1 || !isa<IntegerType>(places.element()) || places.element().isInteger(1)) {
    e.malformed("x is " + x.str() + ", the indices are " + places.str());
    return;
  }
  Operand y = e.gather(x, e.flattenFrom(places, 0), x.rank() - 1);
  n.set(0, y && y.rank() == 1 ? e.reshape(y, {Size(1), y.sizes()[0]}) : y);
}

/// Concatenates all features, in float32.
void importFeatureVectorizer(Node &n) {
  SmallVector<Operand> xs;
  std::optional<SmallVector<int64_t>> lengths = n.intsAttr("inputdimensions");
  for (size_t i = 0; i < std::max<size_t>(n.inputs(), 1); ++i) {
    xs.push_back(rowsIn(n, i));
    if (!xs.back())
      return;
  }
  if (lengths && !expectCount(n, "inputdimensions", lengths->size(), "one for each of " + Twine(xs.size()) + " inputs",
                              lengths->size() == xs.size()))
    return;
  for (size_t i = 0; lengths && i < xs.size(); ++i)
    if ((*lengths)[i] != countOfFeatures(xs[i])) {
      n.emit.unsupported("input " + Twine(i) + " has " + Twine(countOfFeatures(xs[i])) +
                             " features, and attribute 'inputdimensions' says " + Twine((*lengths)[i]),
                         "slice or pad the input in the model");
      return;
    }
  n.set(0, n.emit.concat(xs, 1));
}

/// A number for each category along a new last axis: 1 at the one that x is. An unknown category gives zeros, even if
/// `zeros` is 0, where other runtimes fail in the call.
void importOneHotEncoder(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  std::optional<SmallVector<int64_t>> categories = n.intsAttr("cats_int64s");
  n.intAttr("zeros", 1);
  if (!x || refuseStrings(n, {"cats_strings"}, "encode strings as integers before the model"))
    return;
  if (x.element().isInteger(1) || !categories || categories->empty()) {
    e.malformed("x is " + x.str() + ", with " + Twine(categories ? categories->size() : 0) + " categories");
    return;
  }
  Sizes sizes = x.sizes();
  sizes.push_back(Size(1));
  Operand hits = e.compare<EqualOp>(e.reshape(e.cast(x, IntegerType::get(&e.context, 64)), sizes), e.list(*categories));
  n.set(0, e.cast(hits, Float32Type::get(&e.context)));
}

namespace {
/// One side of a LabelEncoder's table: numbers of one type, and what stands for a key that is in none.
struct Labels {
  Operand numbers, otherwise;
};
} // namespace

/// Reads the attributes of one side, exactly one of which may be present.
static Labels labelsOf(Node &n, StringRef side) {
  Emit &e = n.emit;
  std::string ints = (side + "_int64s").str(), floats = (side + "_floats").str(), tensor = (side + "_tensor").str();
  std::optional<SmallVector<int64_t>> ofInts = n.intsAttr(ints);
  std::optional<SmallVector<double>> ofFloats = n.floatsAttr(floats);
  Operand ofTensor = n.hasAttr(tensor) ? n.tensorAttr(tensor) : Operand();
  double otherFloat = n.floatAttr("default_float", -0.0);
  int64_t otherInt = n.intAttr("default_int64", -1);
  n.stringAttr("default_string", "");
  Operand otherwise = n.hasAttr("default_tensor") ? n.tensorAttr("default_tensor") : Operand();
  if (bool(ofInts) + bool(ofFloats) + bool(ofTensor) != 1) {
    e.malformed("expected one of the attributes " + quote(ints) + ", " + quote(floats) + " and " + quote(tensor));
    return {};
  }
  if (ofInts)
    return {e.list(*ofInts), e.reshape(e.list({otherInt}), {})};
  if (ofFloats) {
    Type real = Float32Type::get(&e.context);
    return {floatsOf(e, *ofFloats, {int64_t(ofFloats->size())}, real), floatsOf(e, {otherFloat}, {}, real)};
  }
  if (side == "keys")
    return {ofTensor, ofTensor};
  if (!otherwise || otherwise.element() != ofTensor.element() || otherwise.constant().count() != 1) {
    e.malformed("attribute 'default_tensor' is " + (otherwise ? otherwise.str() : "missing") + ", expected one " +
                elementName(ofTensor.element()));
    return {};
  }
  return {ofTensor, e.reshape(otherwise, {})};
}

/// The value of the key that x is, or the default.
void importLabelEncoder(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  if (!x || refuseStrings(n, {"classes_strings", "keys_strings", "values_strings"},
                          "encode strings as integers before the model"))
    return;
  auto [keys, none] = labelsOf(n, "keys");
  auto [values, otherwise] = labelsOf(n, "values");
  if (!keys || !values || !otherwise)
    return;
  if (keys.element() != x.element() || keys.rank() != 1 || keys.sizes() != values.sizes() ||
      keys.sizes()[0] == Size(0)) {
    e.malformed("x is " + x.str() + ", the keys are " + keys.str() + " and the values " + values.str());
    return;
  }
  Sizes sizes = x.sizes();
  int64_t last = sizes.size();
  sizes.push_back(Size(1));
  // A NaN finds a key that is NaN; in ONNX Runtime from opset 4 on.
  auto isKey = [&](const Operand &value, const Operand &key) {
    Operand equal = e.compare<EqualOp>(value, key);
    auto isNan = [&](const Operand &x) { return e.unary<NotOp>(e.compare<EqualOp>(x, x)); };
    return x.isFloat() && n.opset >= 4 ? e.binary<OrOp>(equal, e.binary<AndOp>(isNan(value), isNan(key))) : equal;
  };
  Operand hits = isKey(e.reshape(x, sizes), keys);
  Operand place = e.arg(ArgKind::max, e.cast(hits, IntegerType::get(&e.context, 32)), last, Tie::first, Axes::drop);
  Operand found = isKey(e.gather(keys, place, 0), x);
  n.set(0, e.select(found, e.gather(values, place, 0), otherwise));
}

/// Applies post_transform to rows of scores. Some runtimes, but not the standard, leave a single score alone.
static Operand transformed(Node &n, const Operand &scores) {
  std::string kind = n.stringAttr("post_transform", "NONE");
  if (!scores || kind == "NONE")
    return scores;
  if (kind != "LOGISTIC" && kind != "SOFTMAX" && kind != "SOFTMAX_ZERO" && kind != "PROBIT")
    return n.emit.malformed("attribute 'post_transform' is " + quote(kind));
  if (scores.sizes().back() == Size(1))
    return n.emit.unsupported("post_transform " + kind + " of a single score", "apply it behind the op");
  if (kind == "LOGISTIC")
    return n.emit.unary<SigmoidOp>(scores);
  if (kind == "SOFTMAX")
    return n.emit.softmax(scores, scores.rank() - 1);
  return n.emit.unsupported("post_transform " + kind, "apply it to the scores behind the model");
}

Operand linearScores(Node &n, const Operand &x, int64_t rows, ArrayRef<double> coefficients,
                     ArrayRef<double> intercepts) {
  Emit &e = n.emit;
  int64_t features = countOfFeatures(x);
  if (!expectCount(n, "coefficients", coefficients.size(),
                   Twine(rows) + " times " + Twine(features) + " (scores times features)",
                   rows > 0 && features > 0 && int64_t(coefficients.size()) / features == rows &&
                       coefficients.size() % features == 0) ||
      !expectCount(n, "intercepts", intercepts.size(), "none or " + Twine(rows),
                   intercepts.empty() || int64_t(intercepts.size()) == rows))
    return Operand();
  Operand weight = e.transpose(floatsOf(e, coefficients, {rows, features}, x.element()), {1, 0});
  Operand y = e.contract(x, weight, "bk,kn->bn");
  return intercepts.empty() ? y : e.add(y, floatsOf(e, intercepts, {rows}, x.element()));
}

void importLinearRegressor(Node &n) {
  Operand x = rowsIn(n, 0);
  int64_t targets = n.intAttr("targets", 1);
  SmallVector<double> coefficients = n.floatsAttr("coefficients").value_or(SmallVector<double>()),
                      intercepts = n.floatsAttr("intercepts").value_or(SmallVector<double>());
  if (x)
    n.set(0, transformed(n, linearScores(n, x, targets, coefficients, intercepts)));
}

const llvm::StringLiteral labelAdvice = "train with integer labels, or export with the option 'nocl' "
                                        "(options={'nocl': True, 'zipmap': False} of skl2onnx)";

Operand labelsAt(Emit &e, ArrayRef<int64_t> labels, const Operand &places) {
  bool isPlace = llvm::equal(labels, llvm::seq<int64_t>(0, labels.size()));
  return isPlace ? places : e.gather(e.list(labels), places, 0);
}

/// The label of the largest score, and the scores. One row of coefficients for two labels gives the second one's score.
void importLinearClassifier(Node &n) {
  Emit &e = n.emit;
  Operand x = rowsIn(n, 0);
  SmallVector<double> coefficients = n.floatsAttr("coefficients").value_or(SmallVector<double>()),
                      intercepts = n.floatsAttr("intercepts").value_or(SmallVector<double>());
  SmallVector<int64_t> labels = n.intsAttr("classlabels_ints").value_or(SmallVector<int64_t>());
  n.intAttr("multi_class", 0);
  std::string kind = n.stringAttr("post_transform", "NONE");
  if (!x || refuseStrings(n, {"classlabels_strings"}, labelAdvice))
    return;
  int64_t count = labels.size(), features = std::max<int64_t>(countOfFeatures(x), 1);
  bool isOne = count == 2 && int64_t(coefficients.size()) == features;
  if (!expectCount(n, "classlabels_ints", count, "at least 2", count >= 2))
    return;
  Operand scores = linearScores(n, x, isOne ? 1 : count, coefficients, intercepts);
  if (!scores)
    return;
  Sizes rows = {scores.sizes()[0]};
  if (isOne) {
    if (kind != "LOGISTIC") {
      e.unsupported("one row of coefficients for two labels with post_transform " + shown(kind),
                    "give a row of coefficients for each label");
      return;
    }
    Operand zero = e.scalar(0, scores), first = e.list({labels[0]}), second = e.list({labels[1]});
    n.set(0, e.select(e.compare<GreaterOp>(e.reshape(scores, rows), zero), second, first));
    n.set(1, e.concat({e.unary<SigmoidOp>(e.unary<NegOp>(scores)), e.unary<SigmoidOp>(scores)}, 1));
    return;
  }
  Operand place = e.arg(ArgKind::max, scores, 1, Tie::first, Axes::drop);
  n.set(0, labelsAt(e, labels, place));
  n.set(1, transformed(n, scores));
}

} // namespace tutti
