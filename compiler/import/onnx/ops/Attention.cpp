// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of attention and of rotary embeddings, as the products, softmax and moves that older opsets spell them with.
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

static constexpr double infinity = std::numeric_limits<double>::infinity();

Operand splitHeads(Node &n, const Operand &x, int64_t heads, StringRef attribute) {
  Emit &e = n.emit;
  Sizes sizes = x.sizes();
  if (!e.isKnown(x, 2, "splits into heads"))
    return Operand();
  int64_t columns = sizes[2].getFixed();
  if (heads < 1 || columns % heads != 0)
    return e.malformed("attribute '" + attribute + "' is " + Twine(heads) + " for rows of " + Twine(columns));
  return e.transpose(e.reshape(x, {sizes[0], sizes[1], Size(heads), Size(columns / heads)}), {0, 2, 1, 3});
}

Operand counted(Emit &e, int64_t length, ArrayRef<Size> sizes) { return e.reshape(e.counted(length), sizes); }

/// 0 where `allowed`, -inf elsewhere.
static Operand biasWhere(Emit &e, const Operand &allowed, const Operand &like) {
  return e.select(allowed, e.scalar(0, like), e.scalar(-infinity, like));
}

/// The mask of input 3 as a bias; keys past the mask's end are masked.
static Operand maskOf(Node &n, const Operand &q, int64_t keys) {
  Emit &e = n.emit;
  Operand mask = n.in(3);
  if (!mask)
    return mask;
  bool isBool = mask.element().isInteger(1);
  if (mask.rank() < 1 || mask.rank() > 4 || !(isBool || mask.isFloat()))
    return e.malformed("a mask " + mask.str());
  if (Sizes sizes = mask.sizes(); sizes.back() != Size(keys) && (n.opset >= 24 || sizes.back() != Size(1))) {
    if (!e.isKnown(mask, mask.rank() - 1, "masks keys along"))
      return Operand();
    int64_t missing = keys - sizes.back().getFixed();
    if (n.opset < 24 || missing < 0)
      return e.malformed("a mask " + mask.str() + " for " + Twine(keys) + " keys");
    mask = e.padded(mask, mask.rank() - 1, 0, missing, e.scalar(isBool ? 0 : -infinity, mask));
  }
  return isBool ? biasWhere(e, mask, q) : e.cast(mask, q.element());
}

/// The bias of the scores: the sum of the given mask and of causality, windows and padded keys; nothing if all queries
/// see all keys. `past`: keys before the first query.
static Operand biasOf(Node &n, const Operand &q, int64_t keys, int64_t past) {
  Emit &e = n.emit;
  int64_t rows = q.sizes()[2].getFixed();
  bool causal = n.intAttr("is_causal", 0) != 0;
  int64_t left = n.opset < 25 ? -1 : n.intAttr("left_window_size", -1);
  int64_t right = n.opset < 25 ? -1 : n.intAttr("right_window_size", -1);
  for (auto [name, width] : {std::pair("left_window_size", left), std::pair("right_window_size", right)})
    if (width < -1)
      e.malformed("attribute '" + Twine(name) + "' is " + Twine(width) + " where -1 or more is due");
  Operand sum;
  auto add = [&](const Operand &bias) { sum = sum ? e.add(sum, bias) : bias; };
  if (n.has(3))
    add(maskOf(n, q, keys));
  if (!causal && left < 0 && right < 0 && !n.has(6))
    return sum;
  // A query's place among the keys, and a key's distance behind it.
  Operand place = counted(e, rows, {Size(rows), Size(1)}), key = counted(e, keys, {Size(1), Size(keys)}), valid;
  if (n.has(6)) {
    valid = e.cast(e.reshape(n.in(6), {q.sizes()[0], Size(1), Size(1), Size(1)}), place ? place.element() : Type());
    place = e.add(place, e.sub(valid, e.scalar(double(rows), place)));
  } else {
    place = e.add(place, e.scalar(double(past), place));
  }
  Operand behind = e.sub(place, key);
  auto forbid = [&](const Operand &forbidden) { add(biasWhere(e, e.unary<NotOp>(forbidden), q)); };
  if (causal)
    forbid(e.compare<GreaterOp>(e.scalar(0, behind), behind));
  if (left >= 0)
    forbid(e.compare<GreaterOp>(behind, e.scalar(double(left), behind)));
  if (right >= 0)
    forbid(e.compare<GreaterOp>(e.scalar(-double(right), behind), behind));
  if (valid)
    add(biasWhere(e, e.compare<GreaterOp>(valid, key), q));
  return sum;
}

/// Whether it is known that no row of a bias is -inf throughout.
static bool everyRowSees(Emit &e, const Operand &bias) {
  if (!bias)
    return true;
  std::optional<HostTensor> known = e.known(bias);
  if (!known)
    return false;
  size_t width = known->dims.empty() ? 1 : known->dims.back();
  for (size_t row = 0; row < known->floats.size(); row += width)
    if (llvm::all_of(ArrayRef(known->floats).slice(row, width), [](double x) { return x == -infinity; }))
      return false;
  e.setRead(bias);
  return true;
}

/// e^(x - max) / sum along the last axis of the scores, which include the bias; 0 in rows whose bias is -inf
/// throughout.
static Operand weightsOf(Emit &e, const Operand &scores, const Operand &bias) {
  if (!scores)
    return Operand();
  int64_t axis = scores.rank() - 1;
  Operand most = e.reduce(ReduceKind::max, scores, axis, Axes::keep), blind;
  if (!everyRowSees(e, bias)) {
    Operand best = e.reduce(ReduceKind::max, bias, bias.rank() - 1, Axes::keep);
    blind = e.compare<EqualOp>(best, e.scalar(-infinity, best));
    most = e.select(blind, e.scalar(0, most), most);
  }
  Operand power = e.unary<ExpOp>(e.sub(scores, most));
  Operand y = e.div(power, e.reduce(ReduceKind::sum, power, axis, Axes::keep));
  return blind ? e.select(blind, e.scalar(0, y), y) : y;
}

namespace {
/// Queries, keys and values, (batch, heads, length, size). A head of keys and values may serve several of queries.
struct Heads {
  Operand q, k, v;
  int64_t past = 0; ///< keys before the first query
};
} // namespace

/// Inputs 0 to 2 split into heads; nothing, and a problem, if they do not match.
static std::optional<Heads> headsOf(Node &n, int64_t mode) {
  Emit &e = n.emit;
  Heads heads{n.in(0), n.in(1), n.in(2)};
  auto &[q, k, v, past] = heads;
  int64_t queryHeads = n.intAttr("q_num_heads", 0), keyHeads = n.intAttr("kv_num_heads", 0);
  if (!q || !k || !v)
    return std::nullopt;
  int64_t rank = q.rank();
  if ((rank != 3 && rank != 4) || k.rank() != rank || v.rank() != rank || !q.isFloat() || mode < 0 || mode > 3 ||
      n.has(4) != n.has(5) || (n.has(4) && n.has(6))) {
    e.malformed("queries " + q.str() + ", keys " + k.str() + " and values " + v.str() + ", " + (n.has(4) ? "" : "no ") +
                "past keys, " + (n.has(5) ? "" : "no ") + "past values, " + (n.has(6) ? "" : "no ") +
                "counts of keys, mode " + Twine(mode));
    return std::nullopt;
  }
  if (rank == 3) {
    q = splitHeads(n, q, queryHeads, "q_num_heads");
    k = splitHeads(n, k, keyHeads, "kv_num_heads");
    v = splitHeads(n, v, keyHeads, "kv_num_heads");
  }
  return q && k && v ? std::optional(heads) : std::nullopt;
}

/// Puts past keys and values, inputs 4 and 5, before those of this call; false, and a problem, if they do not fit.
static bool joinPast(Node &n, Heads &heads) {
  Emit &e = n.emit;
  Operand keys = n.in(4), values = n.in(5);
  for (const Operand &each : {keys, values})
    if (each && each.rank() != 4)
      e.malformed("past keys or values " + each.str() + " where four axes are due");
  if (e.failed() || !e.isKnown(keys, 2, "joins along"))
    return false;
  heads.past = keys.sizes()[2].getFixed();
  heads.k = e.concat({keys, heads.k}, 2);
  heads.v = e.concat({values, heads.v}, 2);
  return heads.k && heads.v;
}

/// Whether the sizes that the scores need are known, and every head of keys has queries and values.
static bool areWhole(Emit &e, const Heads &heads) {
  const auto &[q, k, v, past] = heads;
  if (!e.isKnown(q, 2, "attends from") || !e.isKnown(k, 2, "attends to") || !e.isKnown(q, 1, "takes heads along") ||
      !e.isKnown(k, 1, "takes heads along") || !e.isKnown(q, 3, "sums over"))
    return false;
  int64_t queries = q.sizes()[1].getFixed(), keys = k.sizes()[1].getFixed();
  if (keys >= 1 && queries % keys == 0 && v.sizes()[1] == Size(keys))
    return true;
  e.malformed(Twine(queries) + " heads of queries for " + Twine(keys) + " of keys and " + v.sizes()[1].str() +
              " of values");
  return false;
}

/// Heads of x that share one of y become further rows of one product.
Operand multiplyHeads(Emit &e, const Operand &x, const Operand &y) {
  if (!x || !y)
    return Operand();
  Sizes left = x.sizes(), right = y.sizes();
  int64_t rows = left[1].getFixed() / right[1].getFixed() * left[2].getFixed();
  Operand product = e.contract(e.reshape(x, {left[0], right[1], Size(rows), left[3]}), y, "bhsk,bhkt->bhst");
  return e.reshape(product, {left[0], left[1], left[2], right[3]});
}

Operand joinHeads(Emit &e, const Operand &x) { return e.flattenFrom(e.transpose(x, {0, 2, 1, 3}), 2); }

/// q and k each get the root of the scale, as the op is defined and as exporters spell it.
Operand attentionScores(Emit &e, const Operand &q, const Operand &k, double scale) {
  Operand keys = e.transpose(k, {0, 1, 3, 2});
  if (!(scale >= 0))
    return multiplyHeads(e, e.mul(q, e.scalar(scale, q)), keys);
  Operand queries = e.mul(q, e.scalar(std::sqrt(scale), q));
  return multiplyHeads(e, queries, e.mul(keys, e.scalar(std::sqrt(scale), keys)));
}

/// softmax(q k^T scale + bias) v for each head, computed in float32 at least, and rounded once.
void importAttention(Node &n) {
  Emit &e = n.emit;
  int64_t mode = n.intAttr("qk_matmul_output_mode", 0), precision = n.intAttr("softmax_precision", 1);
  double cap = n.floatAttr("softcap", 0);
  std::optional<Heads> heads = headsOf(n, mode);
  if (!heads || (n.has(4) && !joinPast(n, *heads)))
    return;
  auto &[q, k, v, past] = *heads;
  n.set(1, k);
  n.set(2, v);
  if (!areWhole(e, *heads))
    return;
  Type given = q.element(), wide = precision == 11 ? Type(Float64Type::get(&e.context)) : Type(); // double
  q = e.widened(q, wide), k = e.widened(k, wide), v = e.widened(v, wide);
  double scale = n.floatAttr("scale", 1 / std::sqrt(double(q.sizes()[3].getFixed())));
  Operand bias = biasOf(n, q, k.sizes()[2].getFixed(), past);
  if (e.failed())
    return;
  Operand scores = attentionScores(e, q, k, scale), capped = scores;
  if (cap > 0)
    capped = e.mul(e.unary<TanhOp>(e.div(scores, e.scalar(cap, scores))), e.scalar(cap, scores));
  Operand biased = bias ? e.add(capped, bias) : capped;
  if (biased && biased.sizes() != scores.sizes()) {
    e.malformed("a mask " + n.in(3).str() + " for scores of shape " + str(scores.sizes()));
    return;
  }
  Operand weights = weightsOf(e, biased, bias), shown[] = {scores, capped, biased, weights};
  n.set(3, e.cast(shown[mode], given));
  if (!weights || !e.isKnown(v, 3, "sums to"))
    return;
  Operand y = e.cast(multiplyHeads(e, weights, v), given);
  if (n.in(0).rank() == 3)
    y = joinHeads(e, y);
  n.set(0, y);
}

/// Pairs (a, b) of a row's first elements become (a cos - b sin, a sin + b cos): neighbours, or elements half a row
/// apart.
void importRotaryEmbedding(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  bool neighbours = n.intAttr("interleaved", 0) != 0;
  int64_t turned = n.intAttr("rotary_embedding_dim", 0), heads = n.intAttr("num_heads", 0);
  if (!x)
    return;
  if (x.rank() != 3 && x.rank() != 4) {
    e.malformed("input 0 has rank " + Twine(x.rank()) + " where 3 or 4 is due");
    return;
  }
  Sizes given = x.sizes(), sizes = given;
  bool flat = x.rank() == 3; // (batch, length, heads size), else (batch, heads, length, size)
  if (!e.isKnown(x, x.rank() - 1, "turns pairs along"))
    return;
  int64_t width = given.back().getFixed();
  if (flat && (heads < 1 || width % heads != 0)) {
    e.malformed("attribute 'num_heads' is " + Twine(heads) + " for rows of " + Twine(width));
    return;
  }
  width = flat ? width / heads : width;
  turned = turned == 0 ? width : turned;
  if (turned < 2 || turned % 2 != 0 || turned > width) {
    e.malformed("attribute 'rotary_embedding_dim' is " + Twine(turned) + " for heads of " + Twine(width));
    return;
  }
  if (flat) {
    sizes = {given[0], given[1], Size(heads), Size(width)};
    x = e.reshape(x, sizes);
  }
  int64_t headAxis = flat ? 2 : 1;
  auto angles = [&](size_t i) {
    Operand table = n.in(i);
    if (table && n.has(3))
      table = e.gather(table, n.in(3), 0);
    if (!table || table.rank() != 3 || table.sizes().back() != Size(turned / 2))
      return table
                 ? e.malformed("input " + Twine(i) + " " + n.in(i).str() + " for " + Twine(turned / 2) + " pairs a row")
                 : Operand();
    Sizes beside = table.sizes();
    beside.insert(beside.begin() + headAxis, Size(1));
    return e.reshape(table, beside);
  };
  Operand cosine = angles(1), sine = angles(2);
  int64_t half = turned / 2, step = neighbours ? 2 : 1;
  Operand a = e.part(x, 3, 0, half, step), b = e.part(x, 3, neighbours ? 1 : half, half, step);
  Operand real = e.sub(e.mul(cosine, a), e.mul(sine, b)), imaginary = e.add(e.mul(sine, a), e.mul(cosine, b));
  if (!real || !imaginary)
    return;
  Operand y;
  if (neighbours) {
    Sizes pair = real.sizes(), row = pair;
    pair.push_back(Size(1));
    row.back() = Size(turned);
    y = e.reshape(e.concat({e.reshape(real, pair), e.reshape(imaginary, pair)}, 4), row);
  } else {
    y = e.concat({real, imaginary}, 3);
  }
  if (turned < width)
    y = e.concat({y, e.part(x, 3, turned, width - turned)}, 3);
  n.set(0, e.reshape(y, given));
}

} // namespace tutti
