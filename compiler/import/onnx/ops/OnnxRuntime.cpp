// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that ONNX Runtime's optimizer fuses from several ONNX ops, as those ops.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;

namespace tutti {

static constexpr const char *optimizeLess = "optimize the model less: ORT_ENABLE_BASIC leaves ONNX's own ops";

void importRuntimeGelu(Node &n) { n.set(0, n.emit.unary<GeluOp>(n.in(0))); }

/// gelu(x + bias)
void importRuntimeBiasGelu(Node &n) { n.set(0, n.emit.unary<GeluOp>(n.emit.add(n.in(0), n.in(1)))); }

/// GELU by tanh, of x + bias if there is one.
void importRuntimeFastGelu(Node &n) { n.set(0, geluByTanh(n.emit, n.has(1) ? n.emit.add(n.in(0), n.in(1)) : n.in(0))); }

/// y = x sigmoid(alpha x)
void importRuntimeQuickGelu(Node &n) { n.set(0, swish(n.emit, n.in(0), n.floatAttr("alpha", 1.702f))); }

/// y = alpha a b, where the last two axes of each may be transposed.
void importRuntimeFusedMatMul(Node &n) {
  Emit &e = n.emit;
  Operand operands[] = {n.in(0), n.in(1)};
  for (auto [x, transposed, batch] : {std::tuple(&operands[0], n.intAttr("transA", 0), n.intAttr("transBatchA", 0)),
                                      std::tuple(&operands[1], n.intAttr("transB", 0), n.intAttr("transBatchB", 0))}) {
    if (!*x)
      return;
    if (batch)
      return (void)e.unsupported("rows that stand before their batch", optimizeLess);
    // A vector is not transposed, as in ONNX' MatMul.
    if (int64_t rank = x->rank(); transposed && rank >= 2)
      *x = e.moveAxis(*x, rank - 1, rank - 2);
  }
  Operand y = multiplyMatrices(e, operands[0], operands[1]);
  double alpha = n.floatAttr("alpha", 1);
  n.set(0, alpha == 1 ? y : e.mul(y, e.scalar(alpha, y)));
}

/// activation(alpha a b + beta c), with the activation's attributes behind `activation_`.
void importRuntimeFusedGemm(Node &n) {
  Emit &e = n.emit;
  std::string name = n.stringAttr("activation", "");
  const NamedActivation *activation = findActivation(name);
  if (activation && (activation->name != name || std::isnan(activation->usual[0])))
    activation = nullptr;
  double numbers[2] = {0, 0};
  for (StringRef attribute : {"alpha", "beta", "gamma"}) // the runtime copies all of the node's attributes
    n.floatAttr(("activation_" + attribute).str(), 0);
  for (int i = 0; activation && i < 2 && !activation->numbers[i].empty(); ++i)
    numbers[i] = n.floatAttr(("activation_" + activation->numbers[i]).str(), float(activation->usual[i]));
  importGemm(n);
  if (!activation)
    e.unsupported("attribute 'activation' is " + quote(name), optimizeLess);
  Operand y = n.outputsSet()[0];
  if (!e.failed() && !e.restart && y)
    n.set(0, activation->make(e, y, numbers[0], numbers[1]));
}

/// The sum of input and skip, and of the bias, if there is one; it is output 3 of both norms.
static Operand sumOfSkips(Node &n, size_t bias) {
  Emit &e = n.emit;
  Operand sum = e.add(n.in(0), n.in(1));
  if (n.has(bias))
    sum = e.add(sum, n.in(bias));
  for (size_t i : {1, 2})
    if (n.wants(i))
      return e.unsupported("output " + Twine(i) + ", of the statistics, is read");
  n.set(3, sum);
  return sum;
}

/// Whether x is present and a float tensor.
static bool areFloats(Emit &e, const Operand &x) {
  if (x && !x.isFloat())
    e.malformed("a sum of " + elementName(x.element()) + " where floats are due");
  return x && x.isFloat();
}

/// A norm of x along its last axis; inputs `scale` and `bias` have its parameters.
static void setLayerNorm(Node &n, const Operand &x, size_t scale, size_t bias) {
  double epsilon = n.floatAttr("epsilon", 1e-12f);
  Operand factor = n.in(scale), added = n.has(bias) ? n.in(bias) : Operand();
  if (areFloats(n.emit, x) && factor && !n.emit.failed())
    n.set(0, layerNorm(n.emit, x, factor, added, epsilon));
}

void importRuntimeSkipLayerNormalization(Node &n) { setLayerNorm(n, sumOfSkips(n, 4), 2, 3); }
void importRuntimeSkipSimplifiedLayerNormalization(Node &n) {
  Operand x = sumOfSkips(n, 3), scale = n.in(2);
  double epsilon = n.floatAttr("epsilon", 1e-12f);
  if (areFloats(n.emit, x) && scale)
    n.set(0, rmsNorm(n.emit, x, scale, epsilon));
}

/// A norm of the sum of the embeddings of word, place and segment ids. Output 1, for masks of Attention, is the number
/// of ones in a row's mask.
void importRuntimeEmbedLayerNormalization(Node &n) {
  Emit &e = n.emit;
  Operand ids = n.in(0), words = n.in(2), places = n.in(3);
  n.intAttr("mask_index_type", 0); // the type of output 1
  if (!ids || !words || !places)
    return;
  if (ids.rank() != 2 || words.rank() != 2 || places.rank() != 2 || n.has(1) != n.has(4))
    return (void)e.malformed("ids " + ids.str() + ", embeddings " + words.str() + " and " + places.str() + ", " +
                             (n.has(1) ? "" : "no ") + "segments and " + (n.has(4) ? "an" : "no") +
                             " embedding of them");
  if (n.has(8)) {
    places = e.gather(places, n.in(8), 0);
  } else {
    if (!e.isKnown(ids, 1, "counts places along") || !e.isKnown(places, 0, "takes places of"))
      return;
    int64_t length = ids.sizes()[1].getFixed(), most = places.sizes()[0].getFixed();
    if (length > most)
      return (void)e.malformed("rows of " + Twine(length) + " ids, and an embedding of " + Twine(most) + " places");
    places = e.part(places, 0, 0, length);
  }
  Operand sum = e.add(e.gather(words, ids, 0), places);
  if (n.has(1))
    sum = e.add(sum, e.gather(n.in(4), n.in(1), 0));
  setLayerNorm(n, sum, 5, 6);
  n.set(2, sum);
  Type count = IntegerType::get(&e.context, 32);
  if (!n.wants(1))
    return;
  Operand mask = n.has(7) ? n.in(7) : Operand();
  if (mask && mask.rank() != 2)
    return (void)e.malformed("a mask " + mask.str() + " for ids " + ids.str());
  n.set(1, mask ? e.reduce(ReduceKind::sum, e.cast(e.compare<EqualOp>(mask, e.scalar(1, mask)), count), {1}, Axes::drop)
                : e.broadcast(e.list({0}, count), {ids.sizes()[0]}));
}

/// The name of RMSNormalization at opsets that are older than it.
void importSimplifiedLayerNormalization(Node &n) { importRMSNormalization(n); }

/// Which keys a query may see by Attention's input 3, broadcastable to the scores. The input is the number of keys
/// before the padding, (batch); that number and the number of padding keys before them, (2 batch); or a mask that is
/// above 0 where a query may look, (batch, keys) or (batch, queries, keys).
static Operand seenKeys(Node &n, const Size &batch, int64_t keys) {
  Emit &e = n.emit;
  Operand mask = n.in(3);
  if (!mask)
    return mask;
  Sizes sizes = mask.sizes();
  const Size one(1);
  auto above = [&](const Operand &a, const Operand &b) { return e.compare<GreaterOp>(a, b); };
  if (mask.rank() == 2)
    return above(e.reshape(mask, {sizes[0], one, one, sizes[1]}), e.scalar(0, mask));
  if (mask.rank() == 3)
    return above(e.reshape(mask, {sizes[0], one, sizes[1], sizes[2]}), e.scalar(0, mask));
  if (mask.rank() != 1)
    return e.unsupported("a mask " + mask.str() + ", expected one of 1 to 3 axes", optimizeLess);
  Operand key = e.cast(counted(e, keys, {one, one, one, Size(keys)}), mask.element());
  if (sizes[0] != batch.times(Size(2)))
    return above(e.reshape(mask, {sizes[0], one, one, one}), key);
  Operand ends = e.reshape(mask, {Size(2), batch, one, one, one});
  auto end = [&](int64_t i) { return e.dropAxes(e.part(ends, 0, i, 1), {0}); };
  return e.binary<AndOp>(above(end(0), key), e.unary<NotOp>(above(end(1), key)));
}

/// The bias of Attention's scores; nothing if all queries see all keys. `past` keys precede the first query.
static Operand runtimeBias(Node &n, const Operand &q, int64_t keys, int64_t past) {
  Emit &e = n.emit;
  int64_t rows = q.sizes()[2].getFixed();
  Operand bias, nothing = e.scalar(0, q);
  double filter = n.floatAttr("mask_filter_value", -10000);
  // A mask of one column is the same for all keys.
  if (n.has(3) && !(n.in(3) && n.in(3).rank() == 2 && n.in(3).sizes()[1] == Size(1)))
    bias = e.select(seenKeys(n, q.sizes()[0], keys), nothing, e.scalar(filter, q));
  if (n.intAttr("unidirectional", 0) != 0 && rows > 1) {
    Operand place = counted(e, rows, {Size(rows), Size(1)}), key = counted(e, keys, {Size(1), Size(keys)});
    Operand later = e.compare<GreaterOp>(key, e.add(place, e.scalar(double(past), place)));
    bias = e.select(later, e.scalar(-std::numeric_limits<double>::infinity(), q), bias ? bias : nothing);
  }
  return bias;
}

/// The numbers of columns of Attention's product that are queries, keys and values; nothing, and a problem, if they do
/// not add up.
static std::optional<SmallVector<int64_t>> attentionWidths(Node &n, const Operand &w) {
  int64_t columns = w.sizes()[1].getFixed();
  SmallVector<int64_t> widths = n.intsAttr("qkv_hidden_sizes").value_or(SmallVector<int64_t>());
  if (widths.empty())
    widths.assign(3, columns / 3);
  bool fit = llvm::all_of(widths, [&](int64_t width) { return width >= 1 && width <= columns; });
  if (fit && widths.size() == 3 && widths[0] == widths[1] &&
      std::accumulate(widths.begin(), widths.end(), int64_t(0)) == columns)
    return widths;
  n.emit.malformed("weights " + w.str() + " for queries, keys and values of [" +
                   llvm::join(llvm::map_range(widths, [](int64_t i) { return std::to_string(i); }), ", ") +
                   "] columns, attribute 'qkv_hidden_sizes'");
  return std::nullopt;
}

/// Puts the keys and values of Attention's input 4, if present, before k and v. Returns their number; nothing, and a
/// problem, if they do not fit.
static std::optional<int64_t> joinPast(Node &n, Operand &k, Operand &v) {
  Emit &e = n.emit;
  if (!n.has(4))
    return 0;
  Operand before = n.in(4);
  if (!before)
    return std::nullopt;
  if (before.rank() != 5 || before.sizes()[0] != Size(2)) {
    e.malformed("past keys and values " + before.str() + ", expected (2, batch, heads, length, size)");
    return std::nullopt;
  }
  if (!e.isKnown(before, 3, "joins along"))
    return std::nullopt;
  int64_t length = before.sizes()[3].getFixed();
  before = e.cast(before, k.element());
  for (auto [i, part] : {std::pair(0, &k), std::pair(1, &v)})
    *part = e.concat({e.dropAxes(e.part(before, 0, i, 1), {0}), *part}, 2);
  return length;
}

/// softmax(q k^T scale + mask + bias) v for each head, where one product gives queries, keys and values side by side.
/// It is computed in float32 at least, and rounded once.
void importRuntimeAttention(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), w = n.in(1);
  int64_t heads = n.intAttr("num_heads", 0);
  double scale = n.floatAttr("scale", 0);
  if (!x || !w)
    return;
  for (StringRef name : {"do_rotary", "past_present_share_buffer"})
    if (n.intAttr(name, 0) != 0)
      return (void)e.unsupported("attribute " + quote(name) + " is set", optimizeLess);
  n.intAttr("rotary_embedding_dim", 0); // it has no meaning without do_rotary
  if (n.has(6))
    return (void)e.unsupported("input 6, past_sequence_length", optimizeLess);
  if (x.rank() != 3 || w.rank() != 2 || !x.isFloat())
    return (void)e.malformed("rows " + x.str() + " and weights " + w.str());
  if (!e.isKnown(w, 1, "cuts queries, keys and values out of"))
    return;
  std::optional<SmallVector<int64_t>> widths = attentionWidths(n, w);
  if (!widths)
    return;
  Operand y = multiplyMatrices(e, x, w);
  if (n.has(2)) {
    Operand bias = n.in(2);
    if (bias && bias.sizes() != Sizes{w.sizes()[1]})
      return (void)e.malformed("a bias " + bias.str() + " for " + Twine(w.sizes()[1].getFixed()) + " columns");
    y = e.add(y, bias);
  }
  Type given = x.element();
  y = e.widened(y);
  Operand parts[3];
  for (int64_t i = 0, start = 0; i < 3; start += (*widths)[i++])
    if (Operand part = e.part(y, 2, start, (*widths)[i]))
      parts[i] = splitHeads(n, part, heads, "num_heads");
  auto &[q, k, v] = parts;
  if (!q || !k || !v || !e.isKnown(q, 2, "attends from"))
    return;
  std::optional<int64_t> past = joinPast(n, k, v);
  if (past && n.wants(1))
    n.set(1, e.cast(e.stack({k, v}, 0), given));
  if (!past || e.failed() || e.restart)
    return;
  Operand bias = runtimeBias(n, q, k.sizes()[2].getFixed(), *past);
  Operand scores = attentionScores(e, q, k, scale != 0 ? scale : 1 / std::sqrt(double(q.sizes()[3].getFixed())));
  Operand biased = bias ? e.add(scores, bias) : scores;
  if (n.has(5))
    biased = e.add(biased, e.widened(n.in(5)));
  if (biased && biased.sizes() != scores.sizes())
    return (void)e.malformed("masks of scores " + str(biased.sizes()) + ", expected " + str(scores.sizes()));
  if (biased)
    n.set(0, e.cast(joinHeads(e, multiplyHeads(e, e.softmax(biased, 3), v)), given));
}

/// Distances, or their squares, between every row of a and every row of b.
void importRuntimeCDist(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(1);
  std::string metric = n.stringAttr("metric", "sqeuclidean");
  if (!a || !b)
    return;
  if (a.rank() != 2 || b.rank() != 2 || a.sizes()[1] != b.sizes()[1] ||
      (metric != "euclidean" && metric != "sqeuclidean"))
    return (void)e.malformed("rows " + a.str() + " and " + b.str() + ", metric " + quote(metric));
  Sizes left = a.sizes(), right = b.sizes();
  Operand d = e.sub(e.reshape(a, {left[0], Size(1), left[1]}), e.reshape(b, {Size(1), right[0], right[1]}));
  Operand square = e.reduce(ReduceKind::sum, e.mul(d, d), 2, Axes::drop);
  n.set(0, metric == "euclidean" ? e.unary<SqrtOp>(square) : square);
}

} // namespace tutti
