// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of support vector machines (ai.onnx.ml). Where the standard is open, they follow ONNX Runtime, that is libsvm
// (Chang and Lin, ACM TIST 2, 2011).
#include "compiler/import/onnx/ops/Ml.h"

using namespace mlir;

namespace tutti {

namespace {

/// K(x, v) of each row x and each support vector v.
struct Kernel {
  std::string type;
  SmallVector<double> vectors, parameters; ///< gamma, coef0, degree

  static Kernel of(Node &n) {
    return {n.stringAttr("kernel_type", "LINEAR"), n.floatsAttr("support_vectors").value_or(SmallVector<double>()),
            n.floatsAttr("kernel_params").value_or(SmallVector<double>())};
  }
  Operand apply(Node &n, const Operand &x, int64_t count, const Twine &expected) const;
};

} // namespace

/// A problem, which says what was `expected`, if there are not `count` vectors.
Operand Kernel::apply(Node &n, const Operand &x, int64_t count, const Twine &expected) const {
  Emit &e = n.emit;
  int64_t features = countOfFeatures(x);
  if (!expectCount(n, "support_vectors", vectors.size(), expected,
                   count > 0 && features > 0 && int64_t(vectors.size()) / features == count &&
                       vectors.size() % features == 0) ||
      (type != "LINEAR" &&
       !expectCount(n, "kernel_params", parameters.size(), "3: gamma, coef0, degree", parameters.size() == 3)))
    return Operand();
  Operand support = floatsOf(e, vectors, {count, features}, x.element());
  auto number = [&](size_t i) { return e.scalar(parameters[i], x); };
  if (type == "RBF") { // e^(-gamma |x - vector|^2)
    Operand d = e.sub(e.reshape(x, {x.sizes()[0], Size(1), Size(features)}), support);
    Operand square = e.reduce(ReduceKind::sum, e.mul(d, d), 2, Axes::drop);
    return e.unary<ExpOp>(e.mul(square, e.scalar(-parameters[0], x)));
  }
  Operand k = e.contract(x, e.transpose(support, {1, 0}), "bk,kn->bn");
  if (type == "LINEAR")
    return k;
  if (type == "POLY")
    return e.pow(e.add(e.mul(k, number(0)), number(1)), number(2));
  if (type == "SIGMOID")
    return e.unary<TanhOp>(e.add(e.mul(k, number(0)), number(1)));
  return e.malformed("attribute 'kernel_type' is " + quote(type) + ", expected LINEAR, POLY, RBF or SIGMOID");
}

static bool refuseTransform(Node &n) {
  std::string after = n.stringAttr("post_transform", "NONE");
  if (after != "NONE")
    n.emit.unsupported("post_transform " + shown(after), "apply it behind the op");
  return after != "NONE";
}

/// sum_s coefficients[s] K(x, vector_s) + rho, with the kernel K; for one class the sign of that. Without vectors the
/// coefficients are a linear regressor's.
void importSVMRegressor(Node &n) {
  Emit &e = n.emit;
  Operand x = rowsIn(n, 0);
  Kernel kernel = Kernel::of(n);
  SmallVector<double> coefficients = n.floatsAttr("coefficients").value_or(SmallVector<double>()),
                      rho = n.floatsAttr("rho").value_or(SmallVector<double>());
  int64_t count = n.intAttr("n_supports", 0);
  bool isOneClass = n.intAttr("one_class", 0) != 0;
  if (!x || refuseTransform(n) || !expectCount(n, "rho", rho.size(), "1", rho.size() == 1))
    return;
  Operand k = x;
  if (count != 0)
    k = kernel.apply(n, x, count,
                     Twine(count) + " times " + Twine(countOfFeatures(x)) + " (n_supports times features)");
  Operand y = k ? linearScores(n, k, 1, coefficients, rho) : k;
  if (isOneClass && y)
    y = e.select(e.compare<GreaterOp>(y, e.scalar(0, y)), e.scalar(1, y), e.scalar(-1, y));
  n.set(0, y);
}

namespace {

/// The decisions between each two classes: the first against all others, the second against those behind it, and so on.
/// A decision is positive for the first of its two classes.
struct Pairs {
  int64_t classes;
  SmallVector<std::pair<int64_t, int64_t>> of = {};

  explicit Pairs(int64_t classes) : classes(classes) {
    for (int64_t i = 0; i < classes; ++i)
      for (int64_t j = i + 1; j < classes; ++j)
        of.push_back({i, j});
  }
  int64_t count() const { return of.size(); }

  /// A row of coefficients of all vectors for each decision. The attribute has classes - 1 rows over all vectors: for
  /// each vector the coefficients of its class against the others in turn.
  SmallVector<double> coefficients(ArrayRef<double> given, ArrayRef<int64_t> perClass) const {
    int64_t vectors = given.size() / (classes - 1);
    SmallVector<int64_t> classOf;
    for (auto [number, many] : llvm::enumerate(perClass))
      classOf.append(many, int64_t(number));
    SmallVector<double> all(count() * vectors, 0);
    for (auto [pair, both] : llvm::enumerate(of))
      for (int64_t v = 0; v < vectors; ++v) {
        auto [i, j] = both;
        if (classOf[v] == i)
          all[pair * vectors + v] = given[(j - 1) * vectors + v];
        else if (classOf[v] == j)
          all[pair * vectors + v] = given[i * vectors + v];
      }
    return all;
  }

  /// The class with the most decisions, among several the first.
  Operand winner(Emit &e, const Operand &decisions) const {
    // Each decision is a vote for its first class if it is positive, else for its second one.
    SmallVector<double> change(count() * classes, 0), votes(classes, 0);
    for (auto [pair, both] : llvm::enumerate(of)) {
      auto [i, j] = both;
      change[pair * classes + i] = 1;
      change[pair * classes + j] = -1;
      votes[j] += 1;
    }
    Type real = decisions.element();
    Operand first = e.cast(e.compare<GreaterOp>(decisions, e.scalar(0, decisions)), real);
    Operand all = e.add(e.contract(first, floatsOf(e, change, {count(), classes}, real), "bk,kn->bn"),
                        floatsOf(e, votes, {classes}, real));
    return e.arg(ArgKind::max, all, 1, Tie::first, Axes::drop);
  }

  /// Probabilities of the classes from the pairwise probabilities: Wu, Lin and Weng, JMLR 5 (2004), their second
  /// method, solved as libsvm does, one class after the other until nothing changes by more than 0.005 / classes. Five
  /// rounds suffice: with 2 to 10 classes none of 40 000 random rows took more than four.
  Operand coupled(Emit &e, const Operand &pairs) const;
};

} // namespace

Operand Pairs::coupled(Emit &e, const Operand &pairs) const {
  Type real = pairs.element();
  Size rows = pairs.sizes()[0], all(classes);
  Operand one = e.scalar(1, pairs), zero = e.scalar(0, pairs);
  // r[i, j]: the probability of i against j; 0 where they are equal.
  SmallVector<int64_t> places(classes * classes, 2 * count());
  for (auto [pair, both] : llvm::enumerate(of)) {
    places[both.first * classes + both.second] = int64_t(pair);
    places[both.second * classes + both.first] = count() + int64_t(pair);
  }
  Operand three = e.concat({pairs, e.sub(one, pairs), e.broadcast(zero, {rows, Size(1)})}, 1);
  Operand r = e.reshape(e.gather(three, e.list(places), 1), {rows, all, all}), turned = e.transpose(r, {0, 2, 1});
  // Q[i, j] = -r[j, i] r[i, j]; on the diagonal the sum of r[j, i]^2.
  Operand diagonal = e.reduce(ReduceKind::sum, e.mul(r, r), 1, Axes::drop);
  SmallVector<double> unit(classes * classes, 0);
  for (int64_t i = 0; i < classes; ++i)
    unit[i * classes + i] = 1;
  Operand eye = floatsOf(e, unit, {classes, classes}, real);
  Operand q = e.sub(e.mul(eye, e.reshape(diagonal, {rows, Size(1), all})), e.mul(r, turned));
  Operand p = e.broadcast(e.scalar(1.0 / double(classes), pairs), {rows, all});
  constexpr int rounds = 5;
  for (int round = 0; round < rounds; ++round) {
    Operand qp = e.reduce(ReduceKind::sum, e.mul(q, e.reshape(p, {rows, Size(1), all})), 2, Axes::drop);
    Operand pqp = e.reduce(ReduceKind::sum, e.mul(p, qp), 1, Axes::keep);
    Operand error = e.reduce(ReduceKind::max, e.unary<AbsOp>(e.sub(qp, pqp)), 1, Axes::keep);
    Operand isOver = e.compare<GreaterOp>(e.scalar(0.005 / double(classes), pairs), error), before = p;
    for (int64_t t = 0; t < classes; ++t) {
      Operand own = e.part(qp, 1, t, 1), square = e.part(diagonal, 1, t, 1),
              row = e.reshape(e.part(q, 1, t, 1), {rows, all}),
              ofClass = floatsOf(e, ArrayRef(unit).slice(t * classes, classes), {classes}, real);
      Operand change = e.div(e.sub(pqp, own), square), scale = e.add(one, change);
      Operand more = e.mul(change, e.add(e.mul(change, square), e.add(own, own)));
      pqp = e.div(e.div(e.add(pqp, more), scale), scale);
      qp = e.div(e.add(qp, e.mul(change, row)), scale);
      p = e.div(e.add(p, e.mul(change, ofClass)), scale);
    }
    p = e.select(isOver, before, p);
  }
  return p;
}

/// Without vectors there is a score for each class, and the label is the largest one's. (With two classes, ONNX Runtime
/// takes the second one for any score above 0, the standard's reference the largest.) With vectors there is a decision
/// between each two classes. The label is the class with the most decisions. The scores are the decisions (with two
/// classes preceded by the opposite) or, if the node has the numbers of a logistic function for each decision,
/// probabilities.
void importSVMClassifier(Node &n) {
  Emit &e = n.emit;
  Operand x = rowsIn(n, 0);
  Kernel kernel = Kernel::of(n);
  auto floats = [&](StringRef name) { return n.floatsAttr(name).value_or(SmallVector<double>()); };
  SmallVector<double> coefficients = floats("coefficients"), rho = floats("rho"), slopes = floats("prob_a"),
                      offsets = floats("prob_b");
  SmallVector<int64_t> labels = n.intsAttr("classlabels_ints").value_or(SmallVector<int64_t>()),
                       perClass = n.intsAttr("vectors_per_class").value_or(SmallVector<int64_t>());
  if (!x || refuseStrings(n, {"classlabels_strings"}, labelAdvice) || refuseTransform(n))
    return;
  size_t classes = labels.size();
  if (!expectCount(n, "classlabels_ints", classes, "at least 2", classes >= 2))
    return;
  if (perClass.empty()) {
    if (!expectCount(n, "rho", rho.size(), "at least 1", !rho.empty()))
      return;
    Operand scores = linearScores(n, x, int64_t(classes), coefficients, SmallVector<double>(classes, rho.front()));
    if (scores)
      n.set(0, labelsAt(e, labels, e.arg(ArgKind::max, scores, 1, Tie::first, Axes::drop)));
    n.set(1, scores);
    return;
  }
  int64_t vectors = 0, count = int64_t(classes * (classes - 1) / 2);
  for (int64_t many : perClass)
    vectors = vectors < 0 || many < 0 || many > int64_t(kernel.vectors.size()) ? -1 : vectors + many;
  auto onePerPair = [&](StringRef name, size_t given) {
    return expectCount(n, name, given, Twine(count) + ", one for each two classes", int64_t(given) == count);
  };
  if (!expectCount(n, "vectors_per_class", perClass.size(), Twine(classes) + ", one for each class, none negative",
                   perClass.size() == classes && vectors > 0) ||
      !expectCount(n, "coefficients", coefficients.size(),
                   Twine(classes - 1) + " for each of " + Twine(vectors) + " support vectors",
                   coefficients.size() == (classes - 1) * size_t(vectors)) ||
      !onePerPair("rho", rho.size()) ||
      (!slopes.empty() && (!onePerPair("prob_a", slopes.size()) || !onePerPair("prob_b", offsets.size()))))
    return;
  // A decision has a coefficient for each vector and a vote for each class, most of them 0; the coupling of
  // probabilities is unrolled.
  constexpr int64_t mostNumbers = 1 << 24, mostCoupled = 16;
  if (count > mostNumbers / (vectors + int64_t(classes)) || !e.budget.spend(count * (vectors + int64_t(classes)))) {
    e.unsupported("decisions between each two of " + Twine(classes) + " classes by " + Twine(vectors) + " vectors",
                  "train a linear classifier over features of the kernel (Nystroem, RBFSampler), or a network");
    return;
  }
  if (!slopes.empty() && int64_t(classes) > mostCoupled) {
    e.unsupported("probabilities of " + Twine(classes) + " classes, of at most " + Twine(mostCoupled),
                  "train with probability=False, and take its decisions");
    return;
  }
  Operand k =
      kernel.apply(n, x, vectors, Twine(vectors) + " times " + Twine(countOfFeatures(x)) + " (vectors times features)");
  const Pairs pairs{int64_t(classes)};
  Operand decisions = k ? linearScores(n, k, count, pairs.coefficients(coefficients, perClass), rho) : k;
  if (!decisions)
    return;
  n.set(0, labelsAt(e, labels, pairs.winner(e, decisions)));
  if (slopes.empty()) {
    n.set(1, classes > 2 ? decisions : e.concat({e.unary<NegOp>(decisions), decisions}, 1));
    return;
  }
  // 1 / (1 + e^(a d + b)), kept away from 0 and 1.
  Type real = decisions.element();
  auto each = [&](ArrayRef<double> numbers) { return floatsOf(e, numbers, {count}, real); };
  Operand right = e.unary<SigmoidOp>(e.unary<NegOp>(e.add(e.mul(decisions, each(slopes)), each(offsets))));
  Operand least = e.scalar(1e-7, right), largest = e.scalar(1 - 1e-7, right);
  n.set(1, pairs.coupled(e, e.binary<MinOp>(e.binary<MaxOp>(right, least), largest)));
}

} // namespace tutti
