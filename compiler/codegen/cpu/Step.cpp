// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing the values of a kernel's body.
#include "Step.h"
#include "passes/analysis/Access.h"
#include "passes/analysis/Numerics.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tutti {

StepEmitter::StepEmitter(plan::KernelOp kernel, const Steps &steps, const CpuLevel &level)
    : code(kernel.getLoc()), steps(steps), level(level), kernel(kernel) {}

void StepEmitter::begin(ModuleOp module) {
  code.b.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(code.b, "step", FunctionType::get(module.getContext(), {}, {}));
  function.setPrivate();
  code.b.setInsertionPointToStart(function.addEntryBlock());
}

void StepEmitter::finish() {
  func::ReturnOp::create(code.b);
  function.setFunctionType(FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(), {}));
}

void StepEmitter::overColumns(const Columns &columns, Body body) {
  llvm::SaveAndRestore now(chunk, std::optional(columns));
  body();
}

void StepEmitter::overPacked(int64_t columns, Body body) {
  llvm::SaveAndRestore now(packed, columns);
  overColumns({code.num(0), code.mul(rows(), columns), {}}, body);
}

void StepEmitter::overLine(Value number, Body body) {
  llvm::SaveAndRestore now(line, number);
  body();
}

void StepEmitter::readingCopies(const Copies &given, Body body) {
  llvm::SaveAndRestore now(copies, given);
  body();
}

SmallVector<Value> StepEmitter::streamsOf(Body body) {
  llvm::SaveAndRestore now(streams, SmallVector<Value>());
  body();
  return streams;
}

Value StepEmitter::need(Need::Kind kind, Value value, StringRef symbol, const Distance &offset) {
  Need asked{kind, value, symbol.str(), offset};
  auto [it, fresh] = given.try_emplace(asked);
  if (fresh) {
    bool number = kind == Need::member || kind == Need::firstRow || kind == Need::rows || kind == Need::size;
    it->second = function.getBody().front().addArgument(number ? code.i64() : code.ptr(), code.b.getLoc());
    needs.push_back(asked);
  }
  return it->second;
}

Value StepEmitter::sizeOf(const Size &size) {
  Value total = code.num(size.getFactor());
  for (const std::string &symbol : size.getSymbols())
    total = code.mul(total, need(Need::size, {}, symbol));
  return total;
}

Columns StepEmitter::columnsOf(Value value) {
  if (chunk)
    return *chunk;
  Size all = RowForm::of(typeOf(value)).columns;
  return all.isFixed() ? Columns{code.num(0), {}, all.getFixed()} : Columns{code.num(0), sizeOf(all), {}};
}

bool StepEmitter::isWeight(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && llvm::is_contained(kernel.getWeights(), int64_t(argument.getArgNumber()));
}

std::optional<int64_t> StepEmitter::fixedRowStride(Value value) {
  const Place &place = steps.placeOf(value);
  if (place.kind == Place::scratch)
    return place.stride;
  Size columns = RowForm::of(typeOf(value)).columns;
  return columns.isFixed() ? std::optional(columns.getFixed()) : std::nullopt;
}
Value StepEmitter::rowStride(Value value) {
  if (auto fixed = fixedRowStride(value))
    return code.num(*fixed);
  return sizeOf(RowForm::of(typeOf(value)).columns);
}

SmallVector<Value> StepEmitter::dimensions(Point &point) {
  SmallVector<Value> dims{need(Need::member)};
  unsigned count = steps.form.rows.size();
  if (count > 0) {
    Value rest = code.add(need(Need::firstRow), point.row);
    dims.append(count, Value());
    if (line) { // the distance from the first of rows that go together stays a number: they read the same elements
      auto [row, behind] = withoutNumber(point.row);
      Value start = code.mul(line, sizeOf(steps.form.rows.back()));
      dims[count] = code.add(code.sub(code.add(need(Need::firstRow), row), start), behind);
      rest = line;
      --count;
    }
    for (unsigned i = count; i-- > 1;) {
      Value length = sizeOf(steps.form.rows[i]);
      Value above = code.div(rest, length);
      dims[1 + i] = code.sub(rest, code.mul(above, length));
      rest = above;
    }
    dims[1] = rest;
  }
  dims.push_back(point.column);
  dims.append(point.extra);
  return dims;
}

Value StepEmitter::evaluate(AffineExpr expr, ArrayRef<Value> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return code.num(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value left = evaluate(binary.getLHS(), dims), right = evaluate(binary.getRHS(), dims);
  if (isa<VectorType>(left.getType()) || isa<VectorType>(right.getType())) {
    left = code.splat(left);
    right = code.splat(right);
  }
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return code.add(left, right);
  case AffineExprKind::Mul:
    return code.mul(left, right);
  case AffineExprKind::FloorDiv:
    if (mayBeNegative(binary.getLHS()))
      left = code.sub(left, code.floorRemainder(left, right));
    return code.div(left, right);
  case AffineExprKind::Mod:
    return mayBeNegative(binary.getLHS()) ? code.floorRemainder(left, right) : code.remainder(left, right);
  default:
    llvm_unreachable("no map has other expressions (MapOp::verify)");
  }
}

bool StepEmitter::varies(AffineMap access, Point &point) {
  unsigned column = steps.form.dims() - 1;
  if (access.isFunctionOfDim(column))
    return true;
  for (auto [i, value] : llvm::enumerate(point.extra))
    if (isa<VectorType>(value.getType()) && access.isFunctionOfDim(column + 1 + i))
      return true;
  return false;
}

AffineMap StepEmitter::inRun(AffineMap access, const Point &point) {
  if (point.run == 0)
    return access;
  AffineExpr column = getAffineDimExpr(steps.form.dims() - 1, access.getContext()),
             number = getAffineDimExpr(steps.form.dims(), access.getContext());
  unsigned dims = std::max<unsigned>(access.getNumDims(), steps.form.dims() + 1);
  return access.replace({{column.floorDiv(point.run), number}, {column % point.run, column - number * point.run}}, dims,
                        0);
}

Value StepEmitter::read(Value value, AffineMap access, Point &point) {
  if (auto copy = copies.find({value, access}); copy != copies.end() && point.inCopies) {
    auto [start, first, step, pitch] = copy->second;
    Value number = code.sub(point.row, first);
    Value place = code.add(code.mul(step == 1 ? number : code.div(number, code.num(step)), pitch), point.column);
    Value pointer = code.at(start, code.mul(place, storageBytes(elementOf(value))));
    return code.loadVector(elementOf(value), pointer, point.mask);
  }
  access = inRun(access, point);
  auto key = std::make_pair(value, access);
  if (auto it = point.memo.find(key); it != point.memo.end())
    return it->second;
  Value result = steps.isStored(value) ? load(value, access, point) : compute(value, access, point);
  return point.memo[key] = result;
}

StepEmitter::Address StepEmitter::addressOf(Value value, AffineMap access, Point &point) {
  RankedTensorType type = typeOf(value);
  int64_t bytes = storageBytes(type.getElementType());
  unsigned column = steps.form.dims() - 1;
  RowForm form = RowForm::of(type);
  Address address;
  // Whether the access stays in the kernel's own row, whatever the column.
  SmallVector<AffineExpr> rows(access.getResults());
  if (!rows.empty())
    rows.back() = getAffineConstantExpr(0, access.getContext());
  AffineMap inKernel = AffineMap::get(steps.form.dims(), 0, rows, access.getContext());
  address.ownRows = form.sameRows(steps.form) && !isWeight(value) && access.getNumResults() > 0 &&
                    llvm::all_of(rows,
                                 [&](AffineExpr e) {
                                   for (unsigned i = 0; i < point.extra.size(); ++i)
                                     if (e.isFunctionOfDim(column + 1 + i))
                                       return false;
                                   return true;
                                 }) &&
                    staysInRow(inKernel, form);
  if (address.ownRows || steps.placeOf(value).kind == Place::scratch) {
    address.base = code.at(rowPointer(value), code.mul(code.mul(point.row, rowStride(value)), bytes));
    address.terms.push_back(
        {access.getNumResults() ? access.getResults().back() : getAffineConstantExpr(0, access.getContext()), {}, 1});
    return address;
  }
  return wholeAddressOf(value, access);
}

SmallVector<std::pair<unsigned, Size>> StepEmitter::stridesOf(Value value) {
  Sizes sizes = getSizes(typeOf(value));
  SmallVector<std::pair<unsigned, Size>> strides;
  Size stride(1);
  for (unsigned i = sizes.size(); i-- > (isTable(kernel, value, steps.placeOf(value)) ? 1u : 0u);) {
    strides.emplace_back(i, stride);
    stride = *stride.times(sizes[i]);
  }
  return strides;
}

/// The most offsets of a value with a pointer argument of their own. Constant indices before the last axis, such as a
/// recurrent network's step, go into such pointers, so that the steps share one function. The limit bounds the number
/// of arguments.
static constexpr size_t mostOffsets = 4;

StepEmitter::Address StepEmitter::wholeAddressOf(Value value, AffineMap access) {
  Address address{{}, {}, /*ownRows=*/false};
  int64_t fixed = 0, last = access.getNumResults() - 1, bytes = storageBytes(elementOf(value));
  Distance offset;
  for (auto [axis, stride] : stridesOf(value)) {
    AffineExpr index = access.getResult(axis);
    auto known = dyn_cast<AffineConstantExpr>(index);
    std::optional<Size> before = known && axis != last ? stride.times(known.getValue() * bytes) : std::nullopt;
    if (before) {
      if (before->isFixed())
        fixed += before->getFixed();
      else if (known.getValue() != 0)
        offset.push_back(*before);
      index = getAffineConstantExpr(0, access.getContext());
    }
    if (stride.isFixed())
      address.terms.push_back({index, {}, stride.getFixed()});
    else
      address.terms.push_back({index, sizeOf(stride), std::nullopt});
  }
  if (fixed)
    offset.push_back(Size(fixed));
  std::set<Distance> &known = offsets[value];
  bool isGiven = known.size() < mostOffsets || known.contains(offset);
  if (isGiven)
    known.insert(offset);
  address.base = need(Need::basePointer, value, {}, isGiven ? offset : Distance());
  if (!isGiven)
    for (const Size &size : offset)
      address.base = code.at(address.base, sizeOf(size));
  return address;
}

std::optional<int64_t> StepEmitter::stepOf(const Address &address) {
  int64_t step = 0;
  for (const Address::Term &term : address.terms) {
    std::optional<int64_t> along = slope(term.index, steps.form.dims() - 1);
    if (!along || (*along != 0 && !term.fixed))
      return std::nullopt;
    if (term.fixed)
      step += *along * *term.fixed;
  }
  return step;
}

Value StepEmitter::pointerOf(const Address &address, ArrayRef<Value> dims, int64_t bytes) {
  Value pointer = address.base;
  for (const Address::Term &term : address.terms) {
    Value index = evaluate(term.index, dims);
    pointer =
        code.at(pointer, code.mul(term.fixed ? code.mul(index, *term.fixed) : code.mul(index, term.stride), bytes));
  }
  return pointer;
}

Value StepEmitter::pointerTo(Value value, AffineMap access, Point &point) {
  SmallVector<Value> dims = dimensions(point);
  return pointerOf(addressOf(value, access, point), dims, storageBytes(elementOf(value)));
}

/// The largest stride at which elements are shuffled out of consecutive vectors; beyond it a gather is as fast.
static constexpr int64_t mostShuffled = 4;

/// How many consecutive columns read the same element, if consecutive elements are repeated so; else nothing. The
/// address names no dims behind the column.
std::optional<int64_t> StepEmitter::timesOf(const Address &address) {
  unsigned column = steps.form.dims() - 1;
  for (int64_t times : {2, 4, 8}) {
    int64_t step = 0;
    bool are = true;
    for (const Address::Term &term : address.terms) {
      AffineExpr quotient = getAffineDimExpr(column, term.index.getContext()).floorDiv(times),
                 number = getAffineDimExpr(column + 1, term.index.getContext()),
                 index = term.index.replace(quotient, number);
      std::optional<int64_t> along = slope(index, column + 1);
      are &= !index.isFunctionOfDim(column) && along && (*along == 0 || term.fixed);
      step += are && *along ? *along * *term.fixed : 0;
    }
    if (are && step == 1)
      return times;
  }
  return std::nullopt;
}

Value StepEmitter::load(Value value, AffineMap access, Point &point) {
  Type element = elementOf(value);
  int64_t bytes = storageBytes(element);
  unsigned column = steps.form.dims() - 1;
  SmallVector<Value> dims = dimensions(point);
  if (packed && (!isOfNoRow(value, access) || access.isFunctionOfDim(column)))
    return loadPacked(value, access, point);
  Address address = addressOf(value, access, point);

  bool anyVector = false;
  for (const Address::Term &term : address.terms)
    for (auto [i, extra] : llvm::enumerate(point.extra))
      anyVector |= isa<VectorType>(extra.getType()) && term.index.isFunctionOfDim(column + 1 + i);
  std::optional<int64_t> step = stepOf(address);
  bool vary = varies(access, point);
  if (!anyVector && step && *step == -1 && vary && !point.mask) {
    Value last = code.at(pointerOf(address, dims, bytes), -(lanes - 1) * bytes);
    return code.reversed(code.loadVector(element, last, {}));
  }
  if (!anyVector && step && (*step == 0 || *step == 1)) {
    Value pointer = pointerOf(address, dims, bytes);
    if (*step != 1 || !vary)
      return code.loadScalar(element, pointer);
    // Only behind the kernel's own rows do the next reads follow; others are not prefetched.
    if (level.asksForStreams && address.ownRows && steps.placeOf(value).kind == Place::argument)
      streams.push_back(pointer);
    return code.loadVector(element, pointer, point.mask);
  }
  bool isKnown = !point.mask || matchPattern(point.mask, m_Constant());
  if (!anyVector && step && *step > 1 && *step <= mostShuffled && vary && isKnown)
    return code.loadStrided(element, pointerOf(address, dims, bytes), *step, point.mask);
  bool isPlain = vary && isKnown && point.extra.empty();
  if (std::optional<int64_t> times = isPlain ? timesOf(address) : std::nullopt;
      times && isMultiple(point.column, *times))
    return code.loadRepeated(element, pointerOf(address, dims, bytes), *times, point.mask);
  dims[column] = code.add(code.splat(point.column), code.laneNumbers());
  Value offsets = code.splat(code.num(0));
  for (const Address::Term &term : address.terms) {
    Value stride = term.fixed ? code.num(*term.fixed * bytes) : code.mul(term.stride, bytes);
    offsets = code.add(offsets, code.mul(code.splat(evaluate(term.index, dims)), code.splat(stride)));
  }
  // Places that the call decides lie anywhere in the row, and behind it is the next row.
  if (anyVector && address.ownRows && steps.placeOf(value).kind == Place::argument)
    streams.push_back(code.at(address.base, code.mul(point.column, bytes)));
  // Offsets within a row fit 32 bits, and a vector instruction handles twice as many of those.
  std::optional<int64_t> stride = address.terms.size() == 1 ? fixedRowStride(value) : std::nullopt;
  if (stride && *stride * bytes <= INT32_MAX)
    offsets = arith::TruncIOp::create(code.b, code.vec(code.b.getI32Type()), offsets);
  return code.gather(element, address.base, offsets, point.mask);
}

void StepEmitter::write(Value value, Value data, Point &point) {
  RankedTensorType type = typeOf(value);
  int64_t bytes = storageBytes(type.getElementType());
  Value place = code.add(code.mul(point.row, rowStride(value)), point.column);
  Value pointer = code.at(rowPointer(value), code.mul(place, bytes));
  if (!packed && RowForm::of(type).columns == Size(1) && !isa<VectorType>(data.getType()))
    code.storeScalar(data, pointer);
  else
    code.storeVector(code.splat(data), pointer, point.mask);
}

Value StepEmitter::compute(Value value, AffineMap access, Point &point) {
  Operation *op = value.getDefiningOp();
  // Sums by the panels rule and in phases have another order than here, so their own steps must have stored them.
  if (isRowPhase(op) || (isa<ContractOp>(op) && numericsRule(op) == NumericsRule::panels))
    cannot(op->getName().getStringRef() + " is read where no step has made it");
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](MapOp map) { return computeMap(map, access, point); })
      .Case([&](ConcatOp concat) { return computeConcat(concat, access, point); })
      .Case([&](GatherOp gather) { return computeGather(gather, access, point); })
      .Case([&](ContractOp contract) { return computeContract(contract, access, point); })
      .Case([&](ArgOp arg) { return computeArg(arg, access, point); })
      .Case([&](ReduceOp reduce) { return computeReduce(reduce, access, point)[0]; })
      .Default([&](Operation *) {
        cannot("no code for " + op->getName().getStringRef());
        return code.zero(elementOf(value));
      });
}

SmallVector<Value> StepEmitter::compute(Value value, AffineMap access, MutableArrayRef<Point> points) {
  if (auto reduce = value.getDefiningOp<ReduceOp>();
      reduce && numericsRule(reduce) == NumericsRule::chain && !points.empty())
    return computeReduce(reduce, access, points);
  SmallVector<Value> results;
  for (Point &point : points)
    results.push_back(compute(value, access, point));
  return results;
}

SmallVector<Value> StepEmitter::computeByMaps(Value value, AffineMap access, MutableArrayRef<Point> points) {
  auto map = value.getDefiningOp<MapOp>();
  if (!map)
    return compute(value, access, points);
  SmallVector<SmallVector<Value>> operands(points.size());
  for (auto [index, input] : llvm::enumerate(map.getInputs())) {
    AffineMap there = inRun(operandAccess(map, index, access), points.front());
    if (!steps.isStored(input) && !points.front().memo.contains({input, there}))
      for (auto [point, made] : llvm::zip_equal(points, computeByMaps(input, there, points)))
        point.memo[{input, there}] = made;
    for (auto [own, point] : llvm::zip_equal(operands, points))
      own.push_back(read(input, there, point));
  }
  return llvm::map_to_vector(operands, [&](ArrayRef<Value> own) { return applied(map, own); });
}

Value StepEmitter::computeMap(MapOp op, AffineMap access, Point &point) {
  SmallVector<Value> operands;
  for (auto [index, input] : llvm::enumerate(op.getInputs()))
    operands.push_back(read(input, operandAccess(op, index, access), point));
  return applied(op, operands);
}

Value StepEmitter::applied(MapOp op, ArrayRef<Value> operands) {
  bool vector = llvm::any_of(operands, [](Value operand) { return isa<VectorType>(operand.getType()); });
  IRMapping mapping;
  for (auto [argument, operand] : llvm::zip_equal(op.getBody().getArguments(), operands))
    mapping.map(argument, vector ? code.splat(operand) : operand);
  for (Operation &inner : op.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner); constant && vector) {
      mapping.map(constant.getResult(), code.splat(code.b.clone(inner)->getResult(0)));
      continue;
    }
    Operation *now = code.b.clone(inner, mapping);
    if (vector)
      for (Value result : now->getResults())
        result.setType(code.vec(result.getType()));
  }
  return mapping.lookup(cast<YieldOp>(op.getBody().front().getTerminator()).getValues().front());
}

} // namespace tutti
