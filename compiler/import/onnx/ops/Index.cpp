// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of gathers, scatters, and other ops that choose elements by index.
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

/// Input i as indices; a problem if they are not integers.
static Operand indicesIn(Node &n, size_t i) {
  Operand indices = n.in(i);
  if (indices && (!isa<IntegerType>(indices.element()) || indices.element().isInteger(1)))
    return n.emit.malformed("indices of type " + elementName(indices.element()));
  return indices;
}

/// x with an axis moved to the end, and back.
static Operand toLast(Emit &e, const Operand &x, int64_t axis) { return x ? e.moveAxis(x, axis, x.rank() - 1) : x; }
static Operand fromLast(Emit &e, const Operand &x, int64_t axis) { return x ? e.moveAxis(x, x.rank() - 1, axis) : x; }

/// x with axes [first, first + count) merged into one.
static Operand joined(Emit &e, const Operand &x, int64_t first, int64_t count) {
  Sizes sizes = x.sizes();
  std::optional<Size> all = product(ArrayRef(sizes).slice(first, count));
  if (!all)
    return e.malformed("more elements than there are numbers");
  sizes.erase(sizes.begin() + first, sizes.begin() + first + count);
  sizes.insert(sizes.begin() + first, *all);
  return e.reshape(x, sizes);
}

/// Reports sizes a and b of axis `axis` that do not fit; b should be the smaller.
static void misfits(Node &n, int64_t axis, const Size &a, const Size &b) {
  n.emit.misfit(a, b, "axis " + Twine(axis) + " of x, " + a.str() + ", and of the indices, " + b.str() + ",", "fit");
}

void importGather(Node &n) {
  Operand x = n.in(0), indices = indicesIn(n, 1);
  if (!x || !indices)
    return;
  if (std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), x.rank()))
    n.set(0, n.emit.gather(x, indices, *axis));
}

/// Whether indices are as long as x along an axis other than theirs. The front of a table may be meant, so its length
/// binds no dimension.
static bool meetAlong(Emit &e, const Size &x, const Size &indices) {
  return x == indices || (!x.isFixed() && e.same(x, indices));
}

/// y[i, j, ...] = x[i, indices[i, j, ...], ...], with the index in place of the axis. Along other axes, x may be
/// longer.
void importGatherElements(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), indices = indicesIn(n, 1);
  if (!x || !indices)
    return;
  int64_t rank = x.rank();
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), rank);
  if (!axis)
    return;
  if (indices.rank() != rank) {
    e.malformed("indices of rank " + Twine(indices.rank()) + " where x has rank " + Twine(rank));
    return;
  }
  Sizes chosen = indices.sizes();
  for (int64_t i = 0; i < rank; ++i) {
    Size size = x.sizes()[i];
    if (i == *axis || meetAlong(e, size, chosen[i]))
      continue;
    if (!size.isFixed() || !chosen[i].isFixed() || chosen[i].getFixed() > size.getFixed())
      return misfits(n, i, size, chosen[i]);
    x = e.part(x, i, 0, chosen[i].getFixed());
  }
  // With the axes behind it, if their lengths are fixed, the axis becomes one, and an index a place in it. Else it
  // moves to the end.
  Sizes behind(ArrayRef(x.sizes()).drop_front(*axis + 1));
  std::optional<Size> inner = product(behind);
  if (!inner || !inner->isFixed() || inner->getFixed() > e.budget.left() || !x.sizes()[*axis].isFixed() ||
      *axis == rank - 1) {
    Operand y = e.gather(toLast(e, x, *axis), toLast(e, indices, *axis), rank - 1, rank - 1);
    n.set(0, fromLast(e, y, *axis));
    return;
  }
  Operand steps = e.counted(inner->getFixed());
  Operand places = e.places(indices, x.sizes()[*axis].getFixed());
  places = places ? e.add(e.mul(places, e.scalar(inner->getFixed(), places)), e.reshape(steps, behind)) : places;
  places = places ? joined(e, places, *axis, rank - *axis) : places;
  Operand y = e.gather(joined(e, x, *axis, rank - *axis), places, *axis, *axis);
  n.set(0, y ? e.reshape(y, chosen) : y);
}

/// Whether tuples of `count` indices fit the axes from `first` on; a problem if not.
static bool areTuples(Node &n, const Sizes &sizes, int64_t first, const Size &count) {
  if (count.isFixed() && count.getFixed() >= 1 && count.getFixed() <= int64_t(sizes.size()) - first)
    return true;
  n.emit.malformed("tuples of " + count.str() + " indices into " + Twine(sizes.size() - first) + " axes");
  return false;
}

/// The lengths of the `count` axes from `first` on that tuples index; nothing if one is not fixed.
static std::optional<SmallVector<int64_t>> lengthsOf(Node &n, const Sizes &sizes, int64_t first, const Size &count) {
  SmallVector<int64_t> lengths;
  if (!areTuples(n, sizes, first, count))
    return std::nullopt;
  for (const Size &size : ArrayRef(sizes).slice(first, count.getFixed())) {
    if (!size.isFixed()) {
      n.emit.unknownLength("places elements along", size);
      return std::nullopt;
    }
    lengths.push_back(size.getFixed());
  }
  return lengths;
}

/// Tuples of a row's number and places behind it that name each row's own elements.
struct OwnPlaces {
  int64_t rows;                 ///< the axis of the tuples' list that is the rows
  SmallVector<int64_t> lengths; ///< of x's axes that the places index, behind its rows
  Operand places;               ///< merged into one axis; with the rows as first axis, unless `forAll`
  bool forAll;                  ///< whether they are the same for all rows
};

/// Nothing, and a problem, if tuples of row numbers are anything else.
static std::optional<OwnPlaces> ownPlaces(Node &n, const Operand &x, const RowNumbers &tuples) {
  Emit &e = n.emit;
  Sizes sizes = x.sizes();
  if (!tuples.axis || !tuples.behind) {
    e.dependsOnPlace(tuples);
    return std::nullopt;
  }
  if (!areTuples(n, sizes, 0, tuples.sizes.back()))
    return std::nullopt;
  // A table may be longer than there are rows, so its length binds no dimension.
  if (sizes[0].isFixed() || !e.same(sizes[0], tuples.sizes[*tuples.axis])) {
    misfits(n, 0, sizes[0], tuples.sizes[*tuples.axis]);
    return std::nullopt;
  }
  std::optional<SmallVector<int64_t>> lengths = lengthsOf(n, sizes, 1, tuples.behind.sizes().back());
  if (!lengths)
    return std::nullopt;
  std::optional<Operand> forAll = e.withoutRepeats(tuples.behind, *tuples.axis);
  Operand places = e.linear(forAll ? *forAll : e.moveAxis(tuples.behind, *tuples.axis, 0), *lengths);
  return places ? std::optional(OwnPlaces{*tuples.axis, *lengths, places, forAll.has_value()}) : std::nullopt;
}

/// The last axis of the indices is a tuple of places in x's axes behind the common ones.
void importGatherND(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), indices = indicesIn(n, 1);
  int64_t batch = n.intAttr("batch_dims", 0);
  if (!x || !indices)
    return;
  if (batch < 0 || batch >= x.rank() || batch >= indices.rank()) {
    e.malformed("attribute 'batch_dims' is " + Twine(batch) + " for " + x.str() + " and indices " + indices.str());
    return;
  }
  if (indices.isRowNumbers() && batch == 0) {
    if (std::optional<OwnPlaces> own = ownPlaces(n, x, indices.rowNumbers())) {
      Operand y = e.gather(joined(e, x, 1, own->lengths.size()), own->places, 1, own->forAll ? 0 : 1);
      n.set(0, e.moveAxis(y, 0, own->rows));
    }
    return;
  }
  Sizes sizes = x.sizes(), places = indices.sizes();
  for (int64_t i = 0; i < batch; ++i)
    if (!e.same(sizes[i], places[i]))
      return misfits(n, i, sizes[i], places[i]);
  if (std::optional<SmallVector<int64_t>> lengths = lengthsOf(n, sizes, batch, places.back()))
    n.set(0, e.gather(joined(e, x, batch, lengths->size()), e.linear(indices, *lengths), batch, batch));
}

static std::optional<ScatterKind> kindOf(Node &n) {
  std::string name = n.stringAttr("reduction", "none");
  std::optional<ScatterKind> kind = symbolizeScatterKind(name == "none" ? "set" : name);
  if (!kind || name == "set") {
    n.emit.malformed("attribute 'reduction' is " + quote(name));
    return std::nullopt;
  }
  return kind;
}

/// Scatters updates along an axis of x. Along its other axes, x keeps what lies past the updates.
static Operand scattered(Emit &e, ScatterKind kind, const Operand &x, const Operand &indices, const Operand &updates,
                         int64_t axis) {
  Sizes sizes = x.sizes(), few = updates.sizes();
  for (int64_t i = 0; i < int64_t(sizes.size()); ++i)
    if (i != axis && sizes[i] != few[i]) {
      int64_t count = few[i].getFixed();
      Operand rest = e.part(x, i, count, sizes[i].getFixed() - count), met = e.part(x, i, 0, count);
      return e.concat({met ? scattered(e, kind, met, indices, updates, axis) : met, rest}, i);
    }
  // With the axes behind it, if their lengths are fixed, the axis becomes one of blocks. Else it moves to the end.
  int64_t rank = sizes.size();
  std::optional<Size> behind = product(ArrayRef(sizes).drop_front(axis + 1));
  if (!behind || !behind->isFixed()) {
    Operand y = e.scatter(kind, toLast(e, x, axis), toLast(e, indices, axis), toLast(e, updates, axis));
    return fromLast(e, y, axis);
  }
  auto flat = [&](const Operand &of) { return joined(e, of, axis, rank - axis); };
  Operand y = e.scatter(kind, flat(x), flat(indices), flat(updates), behind->getFixed());
  return y ? e.reshape(y, sizes) : y;
}

static void scatterElements(Node &n, std::optional<ScatterKind> kind) {
  Emit &e = n.emit;
  Operand x = n.in(0), indices = indicesIn(n, 1), updates = n.in(2);
  if (!x || !indices || !updates || !kind)
    return;
  int64_t rank = x.rank();
  std::optional<int64_t> axis = n.axis(n.intAttr("axis", 0), rank);
  if (!axis)
    return;
  if (indices.rank() != rank || updates.rank() != rank || updates.element() != x.element()) {
    e.malformed("x is " + x.str() + ", the indices " + indices.str() + ", the updates " + updates.str());
    return;
  }
  Sizes sizes = x.sizes(), places = indices.sizes(), given = updates.sizes();
  for (int64_t i = 0; i < rank; ++i) {
    if (!e.same(places[i], given[i]))
      return (void)e.misfit(places[i], given[i], "indices " + str(places) + " and updates " + str(given), "fit");
    if (i == *axis || meetAlong(e, sizes[i], places[i]))
      continue;
    if (!sizes[i].isFixed() || !places[i].isFixed() || places[i].getFixed() > sizes[i].getFixed())
      return misfits(n, i, sizes[i], places[i]);
  }
  n.set(0, llvm::is_contained(places, Size(0)) ? x : scattered(e, *kind, x, indices, updates, *axis));
}

void importScatter(Node &n) { scatterElements(n, ScatterKind::set); }
void importScatterElements(Node &n) { scatterElements(n, kindOf(n)); }

/// Scatters slices of updates to places in x's first axes, which tuples of indices name. If one is named twice, the
/// last update stays (ONNX leaves that open), and sums have this order.
void importScatterND(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), indices = indicesIn(n, 1), updates = n.in(2);
  std::optional<ScatterKind> kind = kindOf(n);
  if (!x || !indices || !updates || !kind)
    return;
  if (indices.rank() == 0 || updates.element() != x.element()) {
    e.malformed("x is " + x.str() + ", the indices " + indices.str() + ", the updates " + updates.str());
    return;
  }
  Sizes sizes = x.sizes(), places = indices.sizes(), wanted(ArrayRef(places).drop_back());
  std::optional<OwnPlaces> own;
  std::optional<SmallVector<int64_t>> lengths;
  if (!indices.isRowNumbers())
    lengths = lengthsOf(n, sizes, 0, places.back());
  else if ((own = ownPlaces(n, x, indices.rowNumbers())))
    lengths = own->lengths;
  if (!lengths)
    return;
  int64_t tuple = lengths->size() + own.has_value(), listed = wanted.size();
  wanted.append(sizes.begin() + tuple, sizes.end());
  Sizes given = updates.sizes();
  std::string shapes = "updates of shape " + str(given) + " and indices that ask for " + str(wanted);
  if (given.size() != wanted.size())
    return (void)e.malformed(shapes);
  for (auto [mine, theirs] : llvm::zip_equal(given, wanted))
    if (!e.same(mine, theirs))
      return (void)e.misfit(mine, theirs, shapes, "fit");
  if (llvm::is_contained(places, Size(0)))
    return n.set(0, x);
  ArrayRef<Size> sliced = ArrayRef(sizes).drop_front(tuple);
  std::optional<Size> slice = product(sliced);
  if (own) { // each row has slices of its own
    if (const Size *open = llvm::find_if(sliced, [](const Size &size) { return !size.isFixed(); });
        open != sliced.end())
      return (void)e.unknownLength("puts slices of", *open);
    if (!slice)
      return (void)e.malformed("more elements than there are numbers");
    Operand y = e.scatter(*kind, e.flattenFrom(x, 1), e.flattenFrom(own->places, own->forAll ? 0 : 1),
                          e.flattenFrom(e.moveAxis(updates, own->rows, 0), 1), slice->getFixed());
    n.set(0, y ? e.reshape(y, sizes) : y);
    return;
  }
  if (slice && slice->isFixed()) { // a single row of slices
    Operand flat = e.linear(indices, *lengths);
    flat = flat ? joined(e, flat, 0, listed) : flat;
    Operand y =
        e.scatter(*kind, joined(e, x, 0, sizes.size()), flat, joined(e, updates, 0, given.size()), slice->getFixed());
    n.set(0, y ? e.reshape(y, sizes) : y);
    return;
  }
  // One row per element of a slice, which contains the places.
  Operand flat = e.linear(indices, *lengths), rows = toLast(e, joined(e, x, 0, tuple), 0);
  flat = flat ? joined(e, flat, 0, listed) : flat;
  Operand y = e.scatter(*kind, rows, flat, toLast(e, joined(e, updates, 0, listed), 0));
  y = fromLast(e, y, 0);
  n.set(0, y ? e.reshape(y, sizes) : y);
}

/// Reverses the first elements of each sequence, as many as its length.
void importReverseSequence(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), lengths = indicesIn(n, 1);
  int64_t batchAxis = n.intAttr("batch_axis", 1), timeAxis = n.intAttr("time_axis", 0);
  if (!x || !lengths)
    return;
  std::optional<int64_t> batch = n.axis(batchAxis, x.rank()), time = n.axis(timeAxis, x.rank());
  if (!batch || !time)
    return;
  Sizes sizes = x.sizes();
  if (*batch == *time || lengths.rank() != 1) {
    e.malformed("batch axis " + Twine(batchAxis) + ", time axis " + Twine(timeAxis) + " and lengths " + lengths.str());
    return;
  }
  if (!e.same(sizes[*batch], lengths.sizes()[0]))
    return misfits(n, *batch, sizes[*batch], lengths.sizes()[0]);
  if (!sizes[*time].isFixed()) {
    e.unknownLength("reverses", sizes[*time]);
    return;
  }
  SmallVector<int64_t> permutation{*batch, *time}, back(sizes.size());
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != *batch && i != *time)
      permutation.push_back(i);
  for (auto [i, from] : llvm::enumerate(permutation))
    back[from] = i;
  Operand wide = e.reshape(e.cast(lengths, IntegerType::get(&e.context, 64)), {sizes[*batch], Size(1)});
  Operand steps = e.counted(sizes[*time].getFixed());
  Operand mirrored = e.sub(e.sub(wide, e.scalar(1, steps)), steps);
  Operand from = e.select(e.compare<GreaterOp>(wide, steps), mirrored, steps);
  Operand y = e.gather(e.transpose(x, permutation), from, 1, 1);
  n.set(0, y ? e.transpose(y, back) : y);
}

/// The problem of an op whose result's size depends on data; `why` is the input that would have to be known.
static void dependsOnData(Node &n, const Twine &why) {
  n.emit.unsupported("the size of its output depends on " + why + ", which is computed from the model's inputs",
                     "make that a constant of the graph, or write the model with a mask of a fixed size (Where)");
}

/// Selects the elements, or slices along an axis, at which a known condition is true.
void importCompress(Node &n) {
  Emit &e = n.emit;
  Operand x = n.in(0), condition = n.in(1);
  if (!x || !condition)
    return;
  if (!condition.isConstant())
    return dependsOnData(n, "its condition");
  std::optional<int64_t> axis = 0;
  if (n.hasAttr("axis"))
    axis = n.axis(n.intAttr("axis", 0), x.rank());
  else
    x = joined(e, x, 0, x.rank());
  if (!x || !axis)
    return;
  Size size = x.sizes()[*axis];
  if (condition.rank() != 1 || !condition.element().isInteger(1) ||
      (size.isFixed() && condition.constant().count() > size.getFixed())) {
    e.malformed("a condition " + condition.str() + " for an axis of length " + size.str());
    return;
  }
  std::optional<HostTensor> known = e.elementsOf(condition);
  if (!known)
    return;
  SmallVector<int64_t> chosen;
  for (auto [i, yes] : llvm::enumerate(known->ints))
    if (yes)
      chosen.push_back(i);
  n.set(0, e.gather(x, e.list(chosen), *axis));
}

void importNonZero(Node &n) {
  Operand x = n.in(0);
  if (!x)
    return;
  if (!x.isConstant())
    return dependsOnData(n, "its input");
  std::optional<HostTensor> known = n.emit.elementsOf(x);
  if (!known)
    return;
  HostTensor &host = *known;
  SmallVector<int64_t> strides = host.strides(), found;
  for (int64_t i = 0; i < host.count(); ++i)
    if (host.isFloat() ? host.floats[i] != 0 : host.ints[i] != 0)
      found.push_back(i);
  HostTensor places = HostTensor::zeros(IntegerType::get(&n.emit.context, 64), {x.rank(), int64_t(found.size())});
  auto next = places.ints.begin();
  for (auto [stride, length] : llvm::zip_equal(strides, host.dims))
    for (int64_t place : found)
      *next++ = place / stride % length;
  n.set(0, Operand(computedSource(places)));
}

} // namespace tutti
