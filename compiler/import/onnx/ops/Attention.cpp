// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of attention and of rotary embeddings, as the products, softmax and moves that older opsets spell them with.
#include "compiler/import/onnx/ops/Ops.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace tutti {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Rows of several heads side by side, (batch, length, heads size), as (batch, heads, length, size).
static Operand splitHeads(Node &n, const Operand &x, int64_t heads, StringRef attribute) {
  Emit &e = n.emit;
  Sizes sizes = x.sizes();
  if (!e.isKnown(x, 2, "splits into heads"))
    return Operand();
  int64_t columns = sizes[2].getFixed();
  if (heads < 1 || columns % heads != 0)
    return e.malformed("attribute '" + attribute + "' is " + Twine(heads) + " for rows of " + Twine(columns));
  return e.transpose(e.reshape(x, {sizes[0], sizes[1], Size(heads), Size(columns / heads)}), {0, 2, 1, 3});
}

/// The numbers from 0 on as an operand of these sizes.
static Operand counted(Emit &e, int64_t length, ArrayRef<Size> sizes) {
  return e.reshape(e.list(llvm::to_vector(llvm::seq<int64_t>(0, length))), sizes);
}

namespace {
/// What attention may look at.
struct Sight {
  Operand bias;             ///< to add to the scores; nothing: all of all
  bool everyRowSees = true; ///< no row has a bias of -inf alone
};
} // namespace

/// 0 where `allowed`, -inf elsewhere.
static Operand biasOf(Emit &e, const Operand &allowed, const Operand &like) {
  return e.select(allowed, e.scalar(0, like), e.scalar(-infinity, like));
}

/// The sum of the mask given and of what causality, windows and padded keys leave; `past`: keys before the first query.
static Sight sightOf(Node &n, const Operand &q, int64_t rows, int64_t keys, int64_t past) {
  Emit &e = n.emit;
  bool causal = n.intAttr("is_causal", 0) != 0;
  int64_t left = n.opset < 25 ? -1 : n.intAttr("left_window_size", -1);
  int64_t right = n.opset < 25 ? -1 : n.intAttr("right_window_size", -1);
  for (auto [name, width] : {std::pair("left_window_size", left), std::pair("right_window_size", right)})
    if (width < -1)
      e.malformed("attribute '" + Twine(name) + "' is " + Twine(width) + " where -1 or more is due");
  Sight sight;
  auto add = [&](const Operand &bias) { sight.bias = sight.bias ? e.add(sight.bias, bias) : bias; };
  if (n.has(3)) {
    Operand mask = n.in(3);
    bool isBool = mask.element().isInteger(1);
    if (mask.rank() < 1 || mask.rank() > 4 || !(isBool || mask.isFloat())) {
      e.malformed("a mask " + mask.str());
      return {};
    }
    if (Sizes sizes = mask.sizes(); sizes.back() != Size(keys) && (n.opset >= 24 || sizes.back() != Size(1))) {
      if (!e.isKnown(mask, mask.rank() - 1, "masks keys along"))
        return {};
      int64_t missing = keys - sizes.back().getFixed();
      if (n.opset < 24 || missing < 0) {
        e.malformed("a mask " + mask.str() + " for " + Twine(keys) + " keys");
        return {};
      }
      sizes.back() = Size(missing);
      mask = e.concat({mask, e.broadcast(e.scalar(isBool ? 0 : -infinity, mask), sizes)}, mask.rank() - 1);
    }
    add(isBool ? biasOf(e, mask, q) : e.cast(mask, q.element()));
  }
  // Where a query stands among the keys, and how far behind it a key is.
  Operand place = counted(e, rows, {Size(rows), Size(1)}), key = counted(e, keys, {Size(1), Size(keys)}), valid;
  if (n.has(6)) {
    valid = e.cast(e.reshape(n.in(6), {q.sizes()[0], Size(1), Size(1), Size(1)}), place ? place.element() : Type());
    place = e.add(place, e.sub(valid, e.scalar(double(rows), place)));
  } else {
    place = e.add(place, e.scalar(double(past), place));
  }
  Operand behind = e.sub(place, key);
  auto forbid = [&](const Operand &forbidden) { add(biasOf(e, e.unary<NotOp>(forbidden), q)); };
  if (causal)
    forbid(e.compare<GreaterOp>(e.scalar(0, behind), behind));
  if (left >= 0)
    forbid(e.compare<GreaterOp>(behind, e.scalar(double(left), behind)));
  if (right >= 0)
    forbid(e.compare<GreaterOp>(e.scalar(-double(right), behind), behind));
  if (valid)
    add(biasOf(e, e.compare<GreaterOp>(valid, key), q));
  if (sight.bias && sight.bias.isConstant() && sight.bias.constant().count() <= e.budget) {
    HostTensor bias = toHost(sight.bias.constant());
    size_t width = bias.dims.empty() ? 1 : bias.dims.back();
    for (size_t row = 0; row < bias.floats.size(); row += width)
      sight.everyRowSees &=
          llvm::any_of(ArrayRef(bias.floats).slice(row, width), [](double x) { return x != -infinity; });
  } else {
    sight.everyRowSees = !sight.bias;
  }
  return sight;
}

/// e^(x - max) / sum along the last axis; 0 in rows whose bias is -inf alone.
static Operand seeing(Emit &e, const Operand &scores, const Sight &sight) {
  if (!scores)
    return Operand();
  int64_t axis = scores.rank() - 1;
  Operand most = e.reduce(ReduceKind::max, scores, axis, true), blind;
  if (!sight.everyRowSees) {
    Operand best = e.reduce(ReduceKind::max, sight.bias, sight.bias.rank() - 1, true);
    blind = e.compare<EqualOp>(best, e.scalar(-infinity, best));
    most = e.select(blind, e.scalar(0, most), most);
  }
  Operand power = e.unary<ExpOp>(e.sub(scores, most));
  Operand y = e.div(power, e.reduce(ReduceKind::sum, power, axis, true));
  return blind ? e.select(blind, e.scalar(0, y), y) : y;
}

/// softmax(q k^T scale + bias) v for each head; a head of k and v may serve several of q. It is all in float32 at
/// least, and rounded once.
void importAttention(Node &n) {
  Emit &e = n.emit;
  Operand given = n.in(0), keys = n.in(1), values = n.in(2);
  int64_t queryHeads = n.intAttr("q_num_heads", 0), keyHeads = n.intAttr("kv_num_heads", 0);
  int64_t mode = n.intAttr("qk_matmul_output_mode", 0), precision = n.intAttr("softmax_precision", 1);
  double cap = n.floatAttr("softcap", 0);
  if (!given || !keys || !values)
    return;
  int64_t rank = given.rank();
  if ((rank != 3 && rank != 4) || keys.rank() != rank || values.rank() != rank || !given.isFloat() || mode < 0 ||
      mode > 3 || n.has(4) != n.has(5) || (n.has(4) && n.has(6))) {
    e.malformed("queries " + given.str() + ", keys " + keys.str() + " and values " + values.str() + ", " +
                (n.has(4) ? "" : "no ") + "past keys, " + (n.has(5) ? "" : "no ") + "past values, " +
                (n.has(6) ? "" : "no ") + "counts of keys, mode " + Twine(mode));
    return;
  }
  Operand q = given, k = keys, v = values;
  if (rank == 3) {
    q = splitHeads(n, q, queryHeads, "q_num_heads");
    k = splitHeads(n, k, keyHeads, "kv_num_heads");
    v = splitHeads(n, v, keyHeads, "kv_num_heads");
  }
  if (!q || !k || !v)
    return;
  int64_t past = 0;
  if (n.has(4)) {
    for (const Operand &each : {n.in(4), n.in(5)})
      if (each.rank() != 4) {
        e.malformed("past keys or values " + each.str() + " where four axes are due");
        return;
      }
    if (!e.isKnown(n.in(4), 2, "joins along"))
      return;
    past = n.in(4).sizes()[2].getFixed();
    k = e.concat({n.in(4), k}, 2);
    v = e.concat({n.in(5), v}, 2);
  }
  n.set(1, k);
  n.set(2, v);
  if (!k || !v || !e.isKnown(q, 2, "attends from") || !e.isKnown(k, 2, "attends to") ||
      !e.isKnown(q, 1, "takes heads along") || !e.isKnown(k, 1, "takes heads along") || !e.isKnown(q, 3, "sums over"))
    return;
  Type wide = q.element().getIntOrFloatBitWidth() < 32 ? Type(Float32Type::get(&e.context)) : q.element();
  if (precision == 11) // double
    wide = Float64Type::get(&e.context);
  q = e.cast(q, wide), k = e.cast(k, wide), v = e.cast(v, wide);
  Sizes shape = q.sizes();
  int64_t heads = shape[1].getFixed(), shared = k.sizes()[1].getFixed(), rows = shape[2].getFixed();
  double scale = n.floatAttr("scale", 1 / std::sqrt(double(shape[3].getFixed())));
  if (shared < 1 || heads % shared != 0 || v.sizes()[1] != Size(shared)) {
    e.malformed(Twine(heads) + " heads of queries for " + Twine(shared) + " of keys and " + v.sizes()[1].str() +
                " of values");
    return;
  }
  Sight sight = sightOf(n, q, rows, k.sizes()[2].getFixed(), past);
  if (e.failed())
    return;
  // A root of the scale goes to each, as the op is defined, and as exporters spell it.
  k = e.transpose(k, {0, 1, 3, 2});
  if (scale >= 0) {
    q = e.mul(q, e.scalar(std::sqrt(scale), q));
    k = e.mul(k, e.scalar(std::sqrt(scale), k));
  } else {
    q = e.mul(q, e.scalar(scale, q));
  }
  // Queries of heads that share keys are further rows of one product.
  auto perKeyHead = [&](const Operand &x, int64_t columns) {
    return e.reshape(x, {shape[0], Size(shared), Size(heads / shared * rows), Size(columns)});
  };
  int64_t width = shape[3].getFixed(), count = k ? k.sizes()[3].getFixed() : 0;
  Operand scores = e.contract(perKeyHead(q, width), k, "bhsk,bhkt->bhst");
  scores = e.reshape(scores, {shape[0], Size(heads), Size(rows), Size(count)});
  Operand shown = scores;
  if (cap > 0)
    scores = e.mul(e.unary<TanhOp>(e.div(scores, e.scalar(cap, scores))), e.scalar(cap, scores));
  shown = mode == 0 ? shown : scores;
  if (sight.bias)
    scores = e.add(scores, sight.bias);
  if (scores && scores.sizes() != Sizes{shape[0], Size(heads), Size(rows), Size(count)}) {
    e.malformed("a mask " + n.in(3).str() + " for scores of shape " +
                str({shape[0], Size(heads), Size(rows), Size(count)}));
    return;
  }
  shown = mode == 2 ? scores : shown;
  Operand weights = seeing(e, scores, sight);
  n.set(3, e.cast(mode == 3 ? weights : shown, given.element()));
  if (!weights || !e.isKnown(v, 3, "sums to"))
    return;
  int64_t columns = v.sizes()[3].getFixed();
  Operand y = e.contract(perKeyHead(weights, count), v, "bhsk,bhkt->bhst");
  y = e.cast(e.reshape(y, {shape[0], Size(heads), Size(rows), Size(columns)}), given.element());
  if (rank == 3)
    y = e.reshape(e.transpose(y, {0, 2, 1, 3}), {shape[0], Size(rows), Size(heads * columns)});
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
