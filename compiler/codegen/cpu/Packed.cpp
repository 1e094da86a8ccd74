// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of few columns, of which a vector has several: the tile is one long row.
#include "Emitters.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"
#include "passes/analysis/Scratch.h"
#include "runtime/schema/Digest.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tutti {

bool isPacked(StepEmitter &e, Value value, int64_t work) {
  constexpr int64_t workOfGather = 16, workOfPlaces = 8; // of a row's own indices
  int64_t saved = work, gathered = 0;
  Size columns = RowForm::of(typeOf(value)).columns;
  if (!columns.isFixed() || columns.getFixed() < 1 || columns.getFixed() > mostPacked ||
      e.fixedRowStride(value) != columns.getFixed())
    return false;
  llvm::DenseSet<std::pair<Value, AffineMap>> seen;
  SmallVector<std::pair<Value, AffineMap>> open = {{value, e.own(value)}};
  while (!open.empty()) {
    auto [next, access] = open.pop_back_val();
    if (!seen.insert({next, access}).second)
      continue;
    if (next == value || !e.steps.isStored(next)) {
      auto map = next.getDefiningOp<MapOp>();
      if (!map)
        return false;
      for (auto [index, input] : llvm::enumerate(map.getInputs()))
        open.emplace_back(input, operandAccess(map, index, access));
      continue;
    }
    bool ofNoRow = e.isOfNoRow(next, access);
    if (!ofNoRow && !e.liesPacked(next, access, columns.getFixed())) {
      const Scattered *scattered = e.scatteredOf(next, access, columns.getFixed());
      if (!scattered)
        return false;
      saved += workOfPlaces;
      gathered += scattered->inPairs ? workOfGather / 2 : workOfGather;
      continue;
    }
    bool differs =
        ofNoRow ? access.isFunctionOfDim(e.steps.form.dims() - 1) : RowForm::of(typeOf(next)).columns != columns;
    if (differs && lanes % columns.getFixed() != 0)
      gathered += workOfGather;
  }
  return saved * (lanes / columns.getFixed()) > gathered;
}

void emitPacked(StepEmitter &e, Value value) {
  e.overPacked(RowForm::of(typeOf(value)).columns.getFixed(), [&] {
    emitElements(e, value, e.code.num(0),
                 [&](MutableArrayRef<Point> points) { return e.compute(value, e.own(value), points); });
  });
}

bool StepEmitter::liesPacked(Value value, AffineMap access, int64_t columns) {
  RowForm form = RowForm::of(typeOf(value));
  return form.rows == steps.form.rows && !isWeight(value) && isOwnElement(access, form) && form.columns.isFixed() &&
         (form.columns == Size(columns) || form.columns == Size(1)) && fixedRowStride(value) == form.columns.getFixed();
}

bool StepEmitter::isOfNoRow(Value value, AffineMap access) {
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  return steps.placeOf(value).kind != Place::scratch &&
         llvm::none_of(llvm::seq(1u, steps.form.dims() - 1),
                       [&](unsigned row) { return access.isFunctionOfDim(row); }) &&
         llvm::none_of(shape.drop_front(!shape.empty()), ShapedType::isDynamic);
}

/// Loads lanes of several rows: consecutive elements, or for each lane its row's element or its column's.
Value StepEmitter::loadPacked(Value value, AffineMap access, Point &point) {
  Type element = elementOf(value), i32 = code.b.getI32Type();
  int64_t bytes = storageBytes(element);
  bool ofRows = !isOfNoRow(value, access);
  if (ofRows && !liesPacked(value, access, packed))
    return loadScattered(value, access, point);
  Point first(code.num(0), code.num(0));
  Value start = pointerTo(value, access, first);
  if (ofRows && RowForm::of(typeOf(value)).columns == Size(packed))
    return code.loadVector(element, code.at(start, code.mul(point.column, bytes)), point.mask);
  // A vector consists of whole rows, so each lane's row and column within it are known.
  if (lanes % packed == 0 && ofRows && !point.mask) {
    Value place = code.at(start, code.mul(code.div(point.column, code.num(packed)), bytes));
    Value rows = code.loadVector(element, place, code.firstLanes(lanes / packed));
    return code.shuffled(rows, rows, [&](int64_t lane) { return lane / packed; });
  }
  Address address = addressOf(value, access, first);
  if (lanes % packed == 0 && !ofRows && stepOf(address) == 1) {
    Value columns = code.loadVector(element, start, code.firstLanes(packed));
    return code.shuffled(columns, columns, [&](int64_t lane) { return lane % packed; });
  }
  // A tile has fewer than 2^31 elements, and a vector instruction handles twice as many 32-bit numbers.
  auto all = [&](int64_t number) { return code.splat(arith::ConstantIntOp::create(code.b, i32, number)); };
  Value from = arith::TruncIOp::create(code.b, i32, point.column);
  Value place = code.add(code.splat(from), code.laneNumbers(i32));
  Value row = arith::DivUIOp::create(code.b, place, all(packed));
  if (ofRows)
    return code.gather(element, start, code.mul(row, all(bytes)), point.mask);
  SmallVector<Value> dims = dimensions(first);
  dims[steps.form.dims() - 1] = code.fromUnsigned(code.sub(place, code.mul(row, all(packed))));
  Value offsets = code.splat(code.num(0));
  for (const Address::Term &term : address.terms) {
    Value stride = code.splat(code.num(*term.fixed * bytes));
    offsets = code.add(offsets, code.mul(code.splat(evaluate(term.index, dims)), stride));
  }
  return code.gather(element, address.base, offsets, point.mask);
}

/// The largest number of elements of a block with a table of places: a few pages, which the L1 cache holds.
static constexpr int64_t mostListed = 4096;

const Scattered *StepEmitter::scatteredOf(Value value, AffineMap access, int64_t columns) {
  auto [known, isNew] = scattered.try_emplace({value, access, columns});
  if (isNew)
    if (std::optional<Scattered> found = findScattered(value, access, columns))
      known->second = std::make_unique<Scattered>(std::move(*found));
  return known->second.get();
}

/// The lengths of the rows' axes behind the first one, and of the columns, if all are known and the block has not too
/// many elements.
static std::optional<SmallVector<int64_t>> blockOf(ArrayRef<Size> rows, int64_t columns) {
  SmallVector<int64_t> shape;
  int64_t count = columns;
  for (const Size &size : rows.drop_front()) {
    if (!size.isFixed() || size.getFixed() > mostListed || (count *= size.getFixed()) > mostListed)
      return std::nullopt;
    shape.push_back(size.getFixed());
  }
  shape.push_back(columns);
  return count < lanes ? std::nullopt : std::optional(shape);
}

std::optional<Scattered> StepEmitter::findScattered(Value value, AffineMap access, int64_t columns) {
  int64_t bytes = storageBytes(elementOf(value)), dims = steps.form.dims();
  if (steps.placeOf(value).kind == Place::scratch || (bytes != 4 && bytes != 8) || steps.form.rows.empty() ||
      access.getNumDims() != dims)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> shape = blockOf(steps.form.rows, columns);
  if (!shape)
    return std::nullopt;

  // Terms are separated: member and block on one side, dimensions within a block on the other.
  constexpr unsigned block = 1, within = 2;
  int64_t next = 0;
  SmallVector<AffineExpr> parts;
  SmallVector<int64_t> strides;
  for (auto [axis, stride] : stridesOf(value)) {
    SmallVector<AffineExpr> summands = summandsOf(access.getResult(axis));
    for (AffineExpr summand : summands) {
      bool isWithin =
          llvm::any_of(llvm::seq<unsigned>(within, dims), [&](unsigned d) { return summand.isFunctionOfDim(d); });
      std::optional<int64_t> along = slope(summand, block);
      if (!along || (*along != 0 && isWithin) || (isWithin && summand.isFunctionOfDim(0)) ||
          ((*along != 0 || isWithin) && !stride.isFixed()))
        return std::nullopt;
      if (*along != 0)
        next += *along * stride.getFixed();
      if (isWithin) {
        parts.push_back(summand);
        strides.push_back(stride.getFixed());
      }
    }
  }
  AffineMap map = AffineMap::get(dims, 0, parts, access.getContext());
  SmallVector<int64_t> at(dims, 0);
  auto placeOf = [&](int64_t element) {
    for (unsigned i = shape->size(); i-- > 0; element /= (*shape)[i])
      at[within + i] = element % (*shape)[i];
    int64_t place = 0;
    for (auto [index, stride] : llvm::zip_equal(map.compose(at), strides))
      place += index * stride;
    return place;
  };
  Scattered found;
  found.block = llvm::product_of(*shape);
  int64_t first = placeOf(0);
  for (int64_t i = 0; i < found.block + lanes - 1; ++i) {
    int64_t place = (placeOf(i % found.block) - first + i / found.block * next) * bytes;
    if (place != static_cast<int32_t>(place))
      return std::nullopt;
    found.places.push_back(static_cast<int32_t>(place));
  }
  found.inPairs = bytes == 4 && columns % 2 == 0;
  for (int64_t i = 0; i + 1 < int64_t(found.places.size()); i += 2)
    found.inPairs &= found.places[i + 1] == found.places[i] + bytes;
  return found;
}

Value StepEmitter::tableOf(ArrayRef<int32_t> numbers) {
  auto module = function->getParentOfType<ModuleOp>();
  Type i32 = code.b.getI32Type();
  auto value = DenseElementsAttr::get(RankedTensorType::get(int64_t(numbers.size()), i32), numbers);
  std::string name = "places_" + llvm::utohexstr(rt::xxh64(numbers.data(), numbers.size() * sizeof(int32_t)));
  auto known = module.lookupSymbol<LLVM::GlobalOp>(name);
  while (known && known.getValueAttr() != value) // another of the same digest
    known = module.lookupSymbol<LLVM::GlobalOp>(name += "_");
  if (!known) {
    OpBuilder::InsertionGuard guard(code.b);
    code.b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(code.b, LLVM::LLVMArrayType::get(i32, numbers.size()), /*isConstant=*/true,
                           LLVM::Linkage::Private, name, value, /*alignment=*/plan::lineBytes);
  }
  return LLVM::AddressOfOp::create(code.b, code.ptr(), name);
}

/// Loads lanes of several rows, each from its own place, by a table of places relative to the block's beginning.
Value StepEmitter::loadScattered(Value value, AffineMap access, Point &point) {
  const Scattered &from = *scatteredOf(value, access, packed);
  Type element = elementOf(value), i32 = code.b.getI32Type();
  Value place = code.add(code.mul(need(Need::firstRow), packed), point.column);
  Value block = code.div(place, code.num(from.block)), within = code.sub(place, code.mul(block, from.block));
  SmallVector<Value> dims(steps.form.dims(), code.num(0));
  dims[0] = need(Need::member);
  dims[1] = block;
  Value start = pointerOf(wholeAddressOf(value, access), dims, storageBytes(element));
  Value table = tableOf(from.places);
  Value offsets = code.loadVector(i32, code.at(table, code.mul(within, sizeof(int32_t))), {});
  if (!from.inPairs || point.mask)
    return code.gather(element, start, offsets, point.mask);
  SmallVector<int64_t> even =
      llvm::to_vector(llvm::map_range(llvm::seq<int64_t>(0, lanes / 2), [](int64_t i) { return 2 * i; }));
  Value pairs = vector::ShuffleOp::create(code.b, offsets, offsets, even);
  return vector::BitCastOp::create(code.b, code.vec(scalarType(element)),
                                   code.gather(code.i64(), start, pairs, {}, storageBytes(element)));
}

} // namespace tutti
