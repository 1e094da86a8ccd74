// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of reductions, places of extremes, scans, and the largest elements.
#include "compiler/import/onnx/ops/Ops.h"

#include <limits>

using namespace mlir;

namespace tutti {

using Step = llvm::function_ref<Operand(const Operand &)>;

static Axes keptOrDropped(Node &n) { return n.intAttr("keepdims", 1) != 0 ? Axes::keep : Axes::drop; }

/// Axes are an attribute before opset `since`, an input from then on; an absent list means all. If an empty list means
/// none, the op's other steps are still done.
static void reduction(Node &n, llvm::function_ref<Operand(const Operand &, ArrayRef<int64_t>, Axes)> reduce,
                      int64_t since = 18) {
  Operand x = n.in(0);
  if (!x)
    return;
  bool given;
  SmallVector<int64_t> listed = n.axesOf("axes", 1, since, given);
  Axes reduced = keptOrDropped(n);
  bool emptyIsNone = n.opset >= since && n.intAttr("noop_with_empty_axes", 0) != 0;
  if (n.emit.failed())
    return;
  std::optional<SmallVector<int64_t>> axes;
  if (listed.empty() && !emptyIsNone)
    axes = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  else
    axes = n.axes(listed, x.rank());
  if (axes)
    n.set(0, reduce(x, *axes, reduced));
}

/// The maximum or minimum; truth values are reduced as unsigned integers, whose maximum of no elements is 0, false.
static void extreme(Node &n, ReduceKind kind) {
  reduction(n, [&](const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
    bool truths = x.element().isInteger(1);
    Operand numbers = truths ? n.emit.cast(x, IntegerType::get(&n.emit.context, 8, IntegerType::Unsigned)) : x;
    return n.emit.cast(n.emit.reduce(kind, numbers, axes, reduced), x.element());
  });
}

namespace {
/// How integers are summed: exactly, or in float64 if the following steps need floats.
enum class Integers : bool { exact, asFloats };
} // namespace

/// A sum of `term(x)`, followed by `after`.
static void sumOf(Node &n, Step term, Step after, Integers integers) {
  reduction(n, [&](const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
    Type element = x.element();
    Operand numbers =
        integers == Integers::asFloats && !x.isFloat() ? n.emit.cast(x, Float64Type::get(&n.emit.context)) : x;
    return n.emit.cast(after(n.emit.reduce(ReduceKind::sum, term(numbers), axes, reduced)), element);
  });
}

static Operand same(const Operand &x) { return x; }

void importReduceMax(Node &n) { extreme(n, ReduceKind::max); }
void importReduceMin(Node &n) { extreme(n, ReduceKind::min); }
void importReduceSum(Node &n) {
  reduction(
      n,
      [&](const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
        return n.emit.reduce(ReduceKind::sum, x, axes, reduced);
      },
      13);
}
void importReduceProd(Node &n) {
  reduction(n, [&](const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
    return n.emit.reduce(ReduceKind::prod, x, axes, reduced);
  });
}

/// For integers, the sum, which fits 64 bits, divided by their number and truncated.
void importReduceMean(Node &n) {
  reduction(n, [&](const Operand &x, ArrayRef<int64_t> axes, Axes reduced) {
    Emit &e = n.emit;
    if (x.isFloat())
      return e.reduce(ReduceKind::mean, x, axes, reduced);
    double count = 1;
    for (int64_t axis : axes)
      count *= x.sizes()[axis].isFixed() ? double(x.sizes()[axis].getFixed()) : 1;
    if (axes.empty())
      return x;
    Type wide = IntegerType::get(&e.context, 64, cast<IntegerType>(x.element()).getSignedness());
    Operand sum = e.reduce(ReduceKind::sum, e.cast(x, wide), axes, reduced);
    return e.cast(e.div(sum, e.scalar(count, sum)), x.element());
  });
}

void importReduceL1(Node &n) {
  sumOf(n, [&](const Operand &x) { return n.emit.unary<AbsOp>(x); }, same, Integers::exact);
}
void importReduceL2(Node &n) {
  sumOf(
      n, [&](const Operand &x) { return n.emit.mul(x, x); },
      [&](const Operand &sum) { return n.emit.unary<SqrtOp>(sum); }, Integers::asFloats);
}
void importReduceSumSquare(Node &n) {
  sumOf(n, [&](const Operand &x) { return n.emit.mul(x, x); }, same, Integers::exact);
}
void importReduceLogSum(Node &n) {
  sumOf(n, same, [&](const Operand &sum) { return n.emit.unary<LogOp>(sum); }, Integers::asFloats);
}

/// m + ln sum e^(x - m), where m is the largest x, or 0 if that is infinite, so that x - m is not NaN.
void importReduceLogSumExp(Node &n) {
  reduction(n, [&](const Operand &given, ArrayRef<int64_t> axes, Axes reduced) {
    Emit &e = n.emit;
    Operand x = given.isFloat() ? given : e.cast(given, Float64Type::get(&e.context));
    auto finite = [&](const Operand &most) {
      Operand limit = e.scalar(std::numeric_limits<double>::infinity(), most);
      return e.select(e.compare<EqualOp>(e.unary<AbsOp>(most), limit), e.scalar(0, most), most);
    };
    Operand most = finite(e.reduce(ReduceKind::max, x, axes, Axes::keep));
    Operand sum = e.reduce(ReduceKind::sum, e.unary<ExpOp>(e.sub(x, most)), axes, Axes::keep);
    Operand all = e.cast(e.add(most, e.unary<LogOp>(sum)), given.element());
    return reduced == Axes::keep ? all : e.dropAxes(all, axes);
  });
}

static void place(Node &n, ArgKind kind) {
  Operand x = n.in(0);
  Axes reduced = keptOrDropped(n);
  Tie tie = n.intAttr("select_last_index", 0) != 0 ? Tie::last : Tie::first;
  int64_t given = n.intAttr("axis", 0);
  std::optional<int64_t> axis = x ? n.axis(given, x.rank()) : std::nullopt;
  if (axis)
    n.set(0, n.emit.arg(kind, x, *axis, tie, reduced));
}
void importArgMax(Node &n) { place(n, ArgKind::max); }
void importArgMin(Node &n) { place(n, ArgKind::min); }

/// 1 at the first of the largest, 0 elsewhere. Before opset 13 all axes from `axis` on are one.
void importHardmax(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  int64_t given = n.intAttr("axis", n.opset < 13 ? 1 : -1);
  std::optional<int64_t> axis = x ? n.axis(given, x.rank()) : std::nullopt;
  if (!axis)
    return;
  Operand rows = n.opset < 13 ? e.flattenFrom(x, *axis) : x;
  Operand most = e.arg(ArgKind::max, rows, *axis, Tie::first, Axes::keep);
  if (!most)
    return;
  if (int64_t length = rows.sizes()[*axis].getFixed(); length > 1 << 20) {
    e.unsupported("compares along " + Twine(length) + " elements");
    return;
  }
  ShapeValue places{{}, true, most.element()};
  for (int64_t i = 0; i < rows.sizes()[*axis].getFixed(); ++i)
    places.elements.push_back(Size(i));
  Sizes along(rows.rank() - *axis, Size(1));
  along[0] = rows.sizes()[*axis];
  Operand chosen = e.compare<EqualOp>(most, e.reshape(e.shape(std::move(places)), along));
  n.set(0, e.reshape(e.cast(chosen, x.element()), x.sizes()));
}

static void scan(Node &n, ScanKind kind) {
  Operand x = n.in(0);
  bool exclusive = n.intAttr("exclusive", 0) != 0, reverse = n.intAttr("reverse", 0) != 0;
  std::optional<SmallVector<int64_t>> given = n.intsIn(1);
  if (!x || !given)
    return;
  if (given->size() != 1) {
    n.emit.malformed("input 1 has " + Twine(given->size()) + " elements where an axis is due");
    return;
  }
  if (std::optional<int64_t> axis = n.axis(given->front(), x.rank()))
    n.set(0, n.emit.scan(kind, x, *axis, {.exclusive = exclusive, .reverse = reverse}));
}
void importCumSum(Node &n) { scan(n, ScanKind::sum); }
void importCumProd(Node &n) { scan(n, ScanKind::prod); }

/// The count is an attribute before opset 10, an input from then on. The result is sorted even if it need not be.
void importTopK(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0);
  int64_t count = n.opset < 10 ? n.intAttr("k", 0) : 0, given = n.intAttr("axis", -1);
  bool largest = n.opset < 11 || n.intAttr("largest", 1) != 0;
  if (n.opset >= 11)
    n.intAttr("sorted", 1);
  if (n.opset >= 10) {
    std::optional<SmallVector<int64_t>> k = n.intsIn(1);
    if (!k)
      return;
    if (k->size() != 1) {
      e.malformed("input 1 has " + Twine(k->size()) + " elements where a number is due");
      return;
    }
    count = k->front();
  }
  std::optional<int64_t> axis = x ? n.axis(given, x.rank()) : std::nullopt;
  if (!axis)
    return;
  int64_t last = x.rank() - 1;
  Operand rows = e.moveAxis(x, *axis, last), places = e.top(largest ? ArgKind::max : ArgKind::min, rows, count);
  n.set(0, e.moveAxis(e.gather(rows, places, last, last), last, *axis));
  n.set(1, e.moveAxis(places, last, *axis));
}

} // namespace tutti
