// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that no special emitter takes, one element at a time: whatever imports also compiles.
#include "Emitters.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

/// An operand of a concat, read as the result would be, but along the joined axis at the point's last extra dimension.
static Value readOperand(StepEmitter &e, Value input, AffineMap access, unsigned axis, Point &there) {
  unsigned dims = e.steps.form.dims() + there.extra.size();
  SmallVector<AffineExpr> exprs(access.getResults());
  exprs[axis] = getAffineDimExpr(dims - 1, access.getContext());
  return e.read(input, AffineMap::get(dims, 0, exprs, access.getContext()), there);
}

Value StepEmitter::chooseOperand(ConcatOp op, AffineMap access, Value index, Point &point) {
  unsigned axis = op.getAxis();
  Type scalar = scalarType(elementOf(op.getResult())), type = varies(access, point) ? Type(code.vec(scalar)) : scalar;
  std::function<Value(OperandRange, int64_t)> choose = [&](OperandRange inputs, int64_t start) -> Value {
    size_t half = inputs.size() / 2;
    if (half == 0) {
      Point there = point.again();
      there.extra.push_back(code.sub(index, code.num(start)));
      Value piece = readOperand(*this, inputs[0], access, axis, there);
      return isa<VectorType>(type) ? code.splat(piece) : piece;
    }
    int64_t middle = start;
    for (Value input : inputs.take_front(half))
      middle += typeOf(input).getShape()[axis];
    return code.either(
        code.less(index, code.num(middle)), type, [&] { return choose(inputs.take_front(half), start); },
        [&] { return choose(inputs.drop_front(half), middle); });
  };
  return choose(op.getInputs(), 0);
}

Value StepEmitter::computeConcat(ConcatOp op, AffineMap access, Point &point) {
  unsigned axis = op.getAxis(), column = steps.form.dims() - 1;
  AffineExpr along = access.getResult(axis);
  SmallVector<Value> dims = dimensions(point);
  // Lanes that are consecutive elements are read through a mask; anything else at an index brought into the operand.
  bool masked = slope(along, column) == std::optional<int64_t>(1) && point.extra.empty();
  Value index;
  if (masked) {
    index = code.add(code.splat(evaluate(along, dims)), code.laneNumbers());
  } else {
    if (varies(AffineMap::get(access.getNumDims(), 0, along), point))
      dims[column] = code.add(code.splat(point.column), code.laneNumbers());
    index = evaluate(along, dims);
  }
  if (!isa<VectorType>(index.getType()))
    return chooseOperand(op, access, index, point);
  auto number = [&](int64_t value) { return code.splat(code.num(value)); };
  Value result;
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t length = typeOf(input).getShape()[axis];
    Value inside = code.bitAnd(code.compare(arith::CmpIPredicate::sge, index, number(start)),
                               code.less(index, number(start + length)));
    Point there = point.again();
    Value piece;
    if (masked) {
      there.mask = point.mask ? code.bitAnd(point.mask, inside) : inside;
      SmallVector<AffineExpr> exprs(access.getResults());
      exprs[axis] = along - start;
      piece = read(input, AffineMap::get(column + 1, 0, exprs, access.getContext()), there);
    } else {
      Value shifted = code.max(code.sub(index, number(start)), number(0));
      there.extra.push_back(code.min(shifted, number(length - 1)));
      piece = readOperand(*this, input, access, axis, there);
    }
    piece = code.splat(piece);
    result = result ? code.select(inside, piece, result) : piece;
    start += length;
  }
  return result;
}

Value StepEmitter::inRange(Value index, Value length) {
  auto typed = [&](Value scalar) { return isa<VectorType>(index.getType()) ? code.splat(scalar) : scalar; };
  Type wide = code.like(index.getType(), code.i64());
  if (index.getType() != wide)
    index = arith::ExtSIOp::create(code.b, wide, index);
  length = typed(length);
  Value negative = code.less(index, typed(code.num(0)));
  index = code.select(negative, code.add(index, length), index);
  index = code.max(index, typed(code.num(0)));
  return code.min(index, code.sub(length, typed(code.num(1))));
}

Value StepEmitter::computeGather(GatherOp op, AffineMap access, Point &point) {
  unsigned axis = op.getAxis(), column = steps.form.dims() - 1;
  unsigned batch = op.getBatch().value_or(0), chosen = typeOf(op.getIndices()).getRank() - batch;
  ArrayRef<AffineExpr> results = access.getResults();
  SmallVector<AffineExpr> places(results.take_front(batch));
  llvm::append_range(places, results.slice(axis, chosen));
  AffineMap indexAccess = AffineMap::get(access.getNumDims(), 0, places, access.getContext());
  Value index = inRange(read(op.getIndices(), indexAccess, point), sizeOf(getSizes(typeOf(op.getX()))[axis]));
  Point there = point.again();
  there.extra.push_back(index);
  SmallVector<AffineExpr> exprs(results.take_front(axis));
  exprs.push_back(getAffineDimExpr(column + there.extra.size(), access.getContext()));
  llvm::append_range(exprs, results.drop_front(axis + chosen));
  return read(op.getX(), AffineMap::get(column + 1 + there.extra.size(), 0, exprs, access.getContext()), there);
}

SmallVector<Value> StepEmitter::chainSums(int64_t count, int64_t chunk, Type type, size_t ways,
                                          Code::Carry accumulate) {
  auto chain = [&](Value from, Value to) {
    return code.loop(from, to, 1, SmallVector<Value>(ways, code.zero(type)), accumulate);
  };
  if (count <= chunk)
    return chain(code.num(0), code.num(count));
  // -0 + s is s, whatever s is.
  Type element = getElementTypeOrSelf(type);
  Value none = isa<FloatType>(element) ? code.constant(type, code.b.getFloatAttr(element, -0.0)) : code.zero(type);
  return code.loop(code.num(0), code.num(count), chunk, SmallVector<Value>(ways, none),
                   [&](Value from, ValueRange sums) {
                     SmallVector<Value> parts = chain(from, code.min(code.add(from, chunk), code.num(count)));
                     for (auto [part, sum] : llvm::zip_equal(parts, sums))
                       part = combined(code, ReduceKind::sum, sum, part);
                     return parts;
                   });
}

Value StepEmitter::computeContract(ContractOp op, AffineMap access, Point &point) {
  ContractSpec spec = op.labels();
  Type element = op.getType().getElementType();
  Type type = varies(access, point) ? Type(code.vec(element)) : element;
  unsigned first = steps.form.dims() + point.extra.size();
  std::string contracted = spec.contracted();
  auto exprOf = [&](char label) {
    size_t place = spec.result.find(label);
    if (place != std::string::npos)
      return access.getResult(place);
    return getAffineDimExpr(first + contracted.find(label), access.getContext());
  };
  auto mapOf = [&](const std::string &labels) {
    SmallVector<AffineExpr> exprs;
    for (char label : labels)
      exprs.push_back(exprOf(label));
    return AffineMap::get(first + contracted.size(), 0, exprs, access.getContext());
  };
  auto accumulate = [&](Value k, ValueRange sums) -> SmallVector<Value> {
    Value sum = sums[0];
    Point there = point.again();
    there.extra.append(unravel(k, op.mixedSizes()));
    Value a = read(op.getLhs(), mapOf(spec.lhs), there), c = read(op.getRhs(), mapOf(spec.rhs), there);
    if (isa<VectorType>(type)) {
      a = code.splat(a);
      c = code.splat(c);
    }
    if (op.getBytes())
      return {multiplyAddBytes(code, level, a, c, sum)};
    if (isa<FloatType>(element))
      return {math::FmaOp::create(code.b, a, c, sum)};
    return {code.add(sum, code.mul(a, c))};
  };
  return chainSums(op.terms()->getFixed(), numericsChunk(op), type, 1, accumulate)[0];
}

SmallVector<Value> StepEmitter::unravel(Value k, ArrayRef<Size> lengths) {
  SmallVector<Value> places(lengths.size());
  for (unsigned i = places.size(); i-- > 0;) {
    Value length = code.num(lengths[i].getFixed());
    places[i] = i == 0 ? k : code.remainder(k, length);
    k = code.div(k, length);
  }
  return places;
}

Value StepEmitter::reducedElement(Value x, ArrayRef<int64_t> axes, AffineMap access, Point &point, Value k) {
  unsigned first = steps.form.dims() + point.extra.size();
  Sizes sizes = getSizes(typeOf(x)), lengths;
  SmallVector<AffineExpr> exprs(access.getResults());
  for (auto [i, axis] : llvm::enumerate(axes)) {
    exprs[axis] = getAffineDimExpr(first + i, access.getContext());
    lengths.push_back(sizes[axis]);
  }
  AffineMap there = AffineMap::get(first + axes.size(), 0, exprs, access.getContext());
  Point inner = point.again();
  inner.extra.append(unravel(k, lengths));
  Value value = read(x, there, inner);
  return varies(access, point) ? code.splat(value) : value;
}

SmallVector<Value> StepEmitter::computeReduce(ReduceOp op, AffineMap access, MutableArrayRef<Point> points) {
  Type element = op.getType().getElementType();
  Type type = varies(access, points.front()) ? Type(code.vec(element)) : element;
  Sizes sizes = getSizes(typeOf(op.getX()));
  int64_t count = 1;
  for (int64_t axis : op.getAxes())
    count *= sizes[axis].getFixed();
  ReduceKind kind = op.getKind();
  Fold fold(code, kind, type);
  auto combine = [&](Value k, ValueRange sofar) {
    SmallVector<Value> next;
    for (auto [i, point] : llvm::enumerate(points))
      llvm::append_range(next, fold.with(sofar.slice(i * fold.width(), fold.width()),
                                         reducedElement(op.getX(), op.getAxes(), access, point, k)));
    return next;
  };
  if (kind != ReduceKind::sum && kind != ReduceKind::mean) {
    SmallVector<Value> all, results;
    for (size_t i = 0; i < points.size(); ++i)
      llvm::append_range(all, fold.none());
    all = code.loop(code.num(0), code.num(count), 1, all, combine);
    for (size_t i = 0; i < points.size(); ++i)
      results.push_back(
          fold.result(ValueRange(all).slice(i * fold.width(), fold.width()), [](Value one) { return one; }));
    return results;
  }
  SmallVector<Value> sums = chainSums(count, chunkOf(count), type, points.size(), combine);
  if (kind == ReduceKind::mean)
    for (Value &sum : sums)
      sum = code.divF(sum, code.constant(type, code.b.getFloatAttr(element, double(count))));
  return sums;
}

Value StepEmitter::computeArg(ArgOp op, AffineMap access, Point &point) {
  int64_t axis = op.getAxis(), count = getSizes(typeOf(op.getX()))[axis].getFixed();
  auto key = [&](Value k) {
    Value value = reducedElement(op.getX(), axis, access, point, k);
    return code.keyOf(value, op.getKind() == ArgKind::min, /*preferNan=*/true);
  };
  auto typed = [&](Value place) { return varies(access, point) ? code.splat(place) : place; };
  return code.loop(
      code.num(1), code.num(count), 1, {key(code.num(0)), typed(code.num(0))}, [&](Value k, ValueRange best) {
        Value mine = key(k);
        Value wins = code.compare(op.getLast() ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sgt, mine, best[0]);
        return SmallVector<Value>{code.select(wins, mine, best[0]), code.select(wins, typed(k), best[1])};
      })[1];
}

} // namespace tutti
