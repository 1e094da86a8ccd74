// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers of rows. Exporters write x[arange(batch), i], a row's own element, as a choice among all rows. The functions
// here follow row numbers through such models to find that the chosen element is the row's own.
#include "compiler/import/emit/Emit.h"

#include "llvm/Support/SaveAndRestore.h"

#include <map>

using namespace mlir;

namespace tutti {

/// For each axis of `to`, the axis of `from` that it is, if a reshape only adds and drops axes of length 1; -1 for an
/// axis of length 1. Nothing if the reshape does more.
static std::optional<SmallVector<int64_t>> keptAxes(ArrayRef<Size> from, ArrayRef<Size> to) {
  SmallVector<int64_t> result;
  size_t next = 0;
  auto skip = [&] {
    while (next < from.size() && from[next] == Size(1))
      ++next;
  };
  for (const Size &size : to) {
    skip();
    if (size != Size(1) && (next == from.size() || from[next] != size))
      return std::nullopt;
    result.push_back(size == Size(1) ? -1 : int64_t(next++));
  }
  skip();
  return next == from.size() ? std::optional(result) : std::nullopt;
}

namespace {
/// Finds values that are the same along an axis, through at most `depth` ops. A value may be part of another more than
/// once, but is visited once.
struct Repeats {
  Emit &emit;
  int64_t depth = 64;
  std::map<std::pair<const void *, int64_t>, std::optional<Operand>> found = {};

  std::optional<Operand> drop(const Operand &x, int64_t axis) {
    if (x.sizes()[axis] == Size(1))
      return emit.dropAxes(x, axis);
    if (x.isConstant() && x.constant().strides[axis] == 0)
      return emit.dropAxes(emit.part(x, axis, 0, 1), axis);
    if (!x.isValue() || !x.value().getDefiningOp() || depth == 0)
      return std::nullopt;
    llvm::SaveAndRestore deeper(depth, depth - 1);
    std::pair<const void *, int64_t> key(x.value().getAsOpaquePointer(), axis);
    auto [known, fresh] = found.try_emplace(key);
    return fresh ? found[key] = behind(x, x.value().getDefiningOp(), axis) : known->second;
  }

private:
  std::optional<Operand> behind(const Operand &x, Operation *by, int64_t axis) {
    Sizes sizes = x.sizes();
    sizes.erase(sizes.begin() + axis);
    if (auto repeat = dyn_cast<BroadcastOp>(by)) {
      auto constant = repeat.getX().getDefiningOp<ConstantOp>();
      Operand source(repeat.getX());
      if (std::optional<HostTensor> known = emit.known(constant))
        source = Operand(computedSource(*known));
      int64_t there = axis - (x.rank() - source.rank());
      if (there < 0)
        return emit.broadcast(source, sizes);
      if (std::optional<Operand> once = drop(source, there))
        return emit.broadcast(*once, sizes);
    }
    if (auto view = dyn_cast<ReshapeOp>(by)) {
      Operand source(view.getX());
      if (std::optional<SmallVector<int64_t>> from = keptAxes(source.sizes(), x.sizes()))
        if (std::optional<Operand> once = drop(source, (*from)[axis]))
          return emit.reshape(*once, sizes);
    }
    if (auto join = dyn_cast<ConcatOp>(by); join && int64_t(join.getAxis()) != axis) {
      SmallVector<Operand> once;
      for (Value each : join.getOperands()) {
        std::optional<Operand> one = drop(Operand(each), axis);
        if (!one)
          return std::nullopt;
        once.push_back(*one);
      }
      return emit.concat(once, int64_t(join.getAxis()) - (int64_t(join.getAxis()) > axis));
    }
    return std::nullopt;
  }
};
} // namespace

std::optional<Operand> Emit::withoutRepeats(const Operand &x, int64_t axis) { return Repeats{*this}.drop(x, axis); }

/// The result of comparing a row's number, which is at least 0 and less than the length of the axis, if it is the same
/// for every row.
std::optional<bool> Emit::compareRows(StringRef name, const Operand &a, const Operand &b) const {
  const RowNumbers &numbers = (a.isRowNumbers() ? a : b).rowNumbers();
  const Operand &other = a.isRowNumbers() ? b : a;
  // A multiple of a row's number could wrap.
  if (!numbers.axis || numbers.factor != 1 || numbers.rest || numbers.behind || other.isRowNumbers())
    return std::nullopt;
  std::optional<double> number = other.scalarForProgram();
  bool above = other.isShape() && other.shape().elements.size() == 1 &&
               other.shape().elements[0] == numbers.sizes[*numbers.axis];
  bool below = number && *number < 0;
  if (name == EqualOp::getOperationName() && (above || below))
    return false;
  bool orEqual = name == GreaterEqualOp::getOperationName();
  if (!orEqual && name != GreaterOp::getOperationName())
    return std::nullopt;
  // 0 decides two comparisons: number >= 0 holds for every row, 0 > number for none.
  bool atMost = below || (number && *number == 0 && orEqual == a.isRowNumbers());
  if (above || atMost)
    return a.isRowNumbers() == atMost;
  return std::nullopt;
}

Operand Emit::pointwiseOfRows(StringRef name, ArrayRef<Operand> xs, ArrayRef<Size> sizes, Type element) {
  RowNumbers result{Sizes(sizes), element};
  if (xs.size() != 2)
    return result;
  if (std::optional<bool> answer = compareRows(name, xs[0], xs[1]))
    return broadcast(Operand(scalarSource(element, *answer)), sizes);
  const Operand &other = xs[xs[0].isRowNumbers() ? 1 : 0];
  Operand same = broadcast(xs[xs[0].isRowNumbers() ? 0 : 1], sizes);
  if (!same)
    return Operand();
  const RowNumbers &numbers = same.rowNumbers();
  if (!numbers.axis || numbers.behind || other.isRowNumbers() || other.isShape())
    return result;
  RowNumbers next = numbers;
  std::optional<double> times = other.scalarForProgram();
  if (name == AddOp::getOperationName()) {
    next.rest = next.rest ? add(next.rest, other) : other;
  } else if (name == MulOp::getOperationName() && times && *times >= 1 && *times < 0x1p53 &&
             !llvm::MulOverflow(next.factor, int64_t(*times), next.factor)) {
    next.rest = next.rest ? mul(next.rest, other) : next.rest;
  } else {
    return result;
  }
  return next;
}

Operand Emit::castRows(const RowNumbers &x, Type element) {
  if (!element.isInteger(64) && !element.isInteger(32))
    return dependsOnPlace(x);
  RowNumbers result = x;
  result.element = element;
  result.rest = cast(x.rest, element);
  result.behind = cast(x.behind, element);
  return result;
}

Operand Emit::reshapeRows(const RowNumbers &x, ArrayRef<Size> sizes) {
  RowNumbers result{Sizes(sizes), x.element};
  std::optional<SmallVector<int64_t>> from = keptAxes(x.sizes, sizes);
  int64_t last = x.sizes.size() - 1;
  if (!x.axis || !from || (x.behind && (sizes.empty() || from->back() != last)))
    return result;
  result = x;
  result.sizes = Sizes(sizes);
  result.axis = llvm::find(*from, *x.axis) - from->begin();
  if (x.behind) {
    Sizes tuple(sizes);
    tuple.back() = x.behind.sizes().back();
    result.behind = reshape(x.behind, tuple);
  }
  if (x.rest) {
    Sizes before = x.rest.sizes(), after;
    int64_t absent = x.sizes.size() - before.size();
    for (int64_t axis : *from)
      after.push_back(axis < absent ? Size(1) : before[axis - absent]);
    result.rest = reshape(x.rest, after);
  }
  return result;
}

Operand Emit::broadcastRows(const RowNumbers &x, ArrayRef<Size> sizes) {
  RowNumbers result{Sizes(sizes), x.element};
  std::optional<Sizes> both = tutti::broadcast(x.sizes, sizes);
  if (!both || !llvm::equal(*both, sizes))
    return malformed("shape " + tutti::str(x.sizes) + " does not broadcast to " + tutti::str(sizes));
  if (!x.axis || (x.behind && sizes.back() != x.sizes.back()))
    return result;
  result = x;
  result.sizes = Sizes(sizes);
  *result.axis += sizes.size() - x.sizes.size();
  if (x.behind) {
    Sizes tuple(sizes);
    tuple.back() = x.behind.sizes().back();
    result.behind = broadcast(x.behind, tuple);
  }
  return result;
}

/// Concatenates a row's number and the places behind it, along the last axis, to a tuple.
Operand Emit::concatRows(ArrayRef<Operand> xs, int64_t axis, ArrayRef<Size> sizes) {
  RowNumbers result{Sizes(sizes), xs[0].element()};
  int64_t last = sizes.size() - 1;
  if (!xs[0].isRowNumbers() || axis != last || xs[0].sizes()[last] != Size(1))
    return result;
  const RowNumbers &first = xs[0].rowNumbers();
  bool others = llvm::any_of(xs.drop_front(), [](const Operand &x) { return x.isRowNumbers(); });
  if (!first.axis || first.factor != 1 || first.rest || first.behind || others)
    return result;
  result.axis = first.axis;
  result.behind = concat(xs.drop_front(), axis);
  return result;
}

namespace {
/// The smallest and the largest value that integers can have.
struct Bounds {
  int64_t least, most;
};
} // namespace

/// The bounds of a sum, difference, minimum or maximum; nothing if 64 bits do not hold them.
static std::optional<Bounds> combine(Operation *by, const Bounds &a, const Bounds &b) {
  if (isa<MaxOp>(by))
    return Bounds{std::max(a.least, b.least), std::max(a.most, b.most)};
  if (isa<MinOp>(by))
    return Bounds{std::min(a.least, b.least), std::min(a.most, b.most)};
  Bounds result;
  bool over = isa<AddOp>(by)
                  ? llvm::AddOverflow(a.least, b.least, result.least) || llvm::AddOverflow(a.most, b.most, result.most)
                  : llvm::SubOverflow(a.least, b.most, result.least) || llvm::SubOverflow(a.most, b.least, result.most);
  return over ? std::nullopt : std::optional(result);
}

/// The bounds of signed integers of 32 or 64 bits, found through at most `depth` ops; nothing for any others. The
/// search spends the budget.
static std::optional<Bounds> boundsOf(const Operand &x, Budget &budget, int64_t depth = 8) {
  unsigned bits = x.element().isSignlessInteger(32) ? 32 : x.element().isSignlessInteger(64) ? 64 : 0;
  if (!bits)
    return std::nullopt;
  Bounds all{llvm::minIntN(bits), llvm::maxIntN(bits)};
  auto held = [&](const std::optional<Bounds> &bounds) {
    return bounds && bounds->least >= all.least && bounds->most <= all.most ? *bounds : all;
  };
  if (depth == 0)
    return all;
  if (x.isConstant()) {
    if (!budget.spend(x.constant().count()))
      return all;
    HostTensor host = readForProgram(x.constant());
    auto [least, most] = std::minmax_element(host.ints.begin(), host.ints.end());
    return least == host.ints.end() ? all : held(Bounds{*least, *most});
  }
  Operation *by = x.isValue() ? x.value().getDefiningOp() : nullptr;
  if (!by)
    return all;
  // The places of a row's extremes: along an axis, or along the last one.
  if (isa<ArgOp, TopOp>(by)) {
    Sizes sizes = Operand(by->getOperand(0)).sizes();
    auto arg = dyn_cast<ArgOp>(by);
    const Size &along = arg ? sizes[arg.getAxis()] : sizes.back();
    return along.isFixed() ? held(Bounds{0, along.getFixed() - 1}) : all;
  }
  if (auto constant = dyn_cast<ConstantOp>(by)) {
    if (constant.getType().getNumElements() > budget.left())
      return all;
    return boundsOf(Operand(computedSource(HostTensor::fromAttr(constant.getValue()))), budget, depth);
  }
  if (isa<ReshapeOp, BroadcastOp, TransposeOp, SliceOp, GatherOp, CastOp>(by))
    return held(boundsOf(Operand(by->getOperand(0)), budget, depth - 1));
  if (isa<AddOp, SubOp, MinOp, MaxOp>(by)) {
    std::optional<Bounds> a = boundsOf(Operand(by->getOperand(0)), budget, depth - 1),
                          b = boundsOf(Operand(by->getOperand(1)), budget, depth - 1);
    return held(a && b ? combine(by, *a, *b) : std::nullopt);
  }
  return all;
}

bool Emit::isWithin(const Operand &x, int64_t length) {
  std::optional<Bounds> bounds = boundsOf(x, budget);
  return bounds && bounds->least >= 0 && bounds->most < length;
}

/// Gathers each row's own elements of x, whose axis 0 is all rows behind each other, or each row's places: at places
/// that are added to where the row begins.
Operand Emit::gatherRows(const Operand &x, const RowNumbers &numbers, int64_t axis) {
  if (!numbers.axis || numbers.behind)
    return dependsOnPlace(numbers);
  int64_t rows = *numbers.axis;
  Sizes sizes = x.sizes(), listed = numbers.sizes;
  Size count = listed[rows];
  std::optional<Size> all = count.times(Size(numbers.factor));
  // The rows at the front of a table may be meant, so the table's length binds no dimension.
  if (!all || sizes[axis].isFixed() || !same(sizes[axis], *all))
    return restart ? Operand() : dependsOnPlace(numbers);
  if (numbers.factor == 1 && !numbers.rest) {
    Sizes apart(listed.size(), Size(1));
    apart[rows] = count;
    for (Sizes *each : {&apart, &listed}) {
      each->insert(each->begin(), sizes.begin(), sizes.begin() + axis);
      each->append(sizes.begin() + axis + 1, sizes.end());
    }
    return broadcast(reshape(x, apart), listed);
  }
  Operand places = numbers.rest ? numbers.rest : Operand(scalarSource(numbers.element, 0));
  bool within = isWithin(places, numbers.factor);
  if (axis != 0 || (!within && numbers.factor == 1))
    return dependsOnPlace(numbers);
  if (!within)
    return unsupported("chooses among all rows along dimension " + quote(count.getSymbols()[0]) +
                           " at indices that are " + "not known to stay in their row's " + Twine(numbers.factor) +
                           " places",
                       "bring them into 0 to " + Twine(numbers.factor - 1) + " with Clip, export the choice as " +
                           "GatherND (torch.onnx.export with dynamo=True does), or bind the dimension to one value " +
                           "with --dim " + shown(count.getSymbols()[0]) + "=VALUE");
  Sizes own = places.sizes();
  own.insert(own.begin(), listed.size() - own.size(), Size(1));
  places = reshape(places, own);
  sizes[0] = Size(numbers.factor);
  sizes.insert(sizes.begin(), count);
  listed[rows] = own[rows];
  places = broadcast(places, listed);
  if (!places)
    return Operand();
  std::optional<Operand> forAll = withoutRepeats(places, rows);
  Operand y =
      forAll ? gather(reshape(x, sizes), *forAll, 1) : gather(reshape(x, sizes), moveAxis(places, rows, 0), 1, 1);
  return moveAxis(y, 0, rows);
}

} // namespace tutti
