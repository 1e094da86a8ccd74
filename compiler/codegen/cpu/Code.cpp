// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words in which the CPU emitters write.
#include "Code.h"
#include "compiler/codegen/cpu/lowering/Vectors.h"

#include "runtime/schema/Levels.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tutti {

static CpuLevel wide(llvm::StringRef name, bool multipliesBytes) {
  return {.name = name,
          .vectorBits = 512,
          .registers = 32,
          .tileVectors = 2,
          .wideVectors = 8,
          .mathVectors = 4,
          .sharesRequests = false,
          .asksForStreams = true,
          .storesMasked = true,
          .multipliesBytes = multipliesBytes};
}

llvm::ArrayRef<CpuLevel> cpuLevels() {
  // The hardware prefetcher of a Zen 3 suffices; software prefetches slow it down.
  static const CpuLevel levels[] = {
      {.name = rt::kCpuTargets[0].level,
       .vectorBits = 256,
       .registers = 16,
       .tileVectors = 1,
       .wideVectors = 4,
       .mathVectors = 2,
       .sharesRequests = true,
       .asksForStreams = false,
       .storesMasked = false,
       .multipliesBytes = false},
      wide(rt::kCpuTargets[1].level, /*multipliesBytes=*/false),
      wide(rt::kLevelWithBytes, /*multipliesBytes=*/true),
  };
  return levels;
}

Value Code::num(int64_t value) { return arith::ConstantIntOp::create(b, i64(), value); }
Value Code::add(Value a, Value c) { return arith::AddIOp::create(b, a, c); }
Value Code::sub(Value a, Value c) { return arith::SubIOp::create(b, a, c); }
Value Code::mul(Value a, Value c) { return arith::MulIOp::create(b, a, c); }
Value Code::mul(Value a, int64_t c) { return c == 1 ? a : mul(a, num(c)); }
Value Code::add(Value a, int64_t c) { return c == 0 ? a : add(a, num(c)); }
Value Code::div(Value a, Value c) { return arith::DivSIOp::create(b, a, c); }
Value Code::remainder(Value a, Value c) { return arith::RemSIOp::create(b, a, c); }
Value Code::floorRemainder(Value a, Value c) {
  Value rest = remainder(a, c);
  return select(less(rest, zero(rest.getType())), add(rest, c), rest);
}
Value Code::min(Value a, Value c) { return arith::MinSIOp::create(b, a, c); }
Value Code::max(Value a, Value c) { return arith::MaxSIOp::create(b, a, c); }
Value Code::less(Value a, Value c) { return compare(arith::CmpIPredicate::slt, a, c); }
Value Code::equal(Value a, Value c) { return compare(arith::CmpIPredicate::eq, a, c); }
Value Code::bitAnd(Value a, Value c) { return arith::AndIOp::create(b, a, c); }
Value Code::bitOr(Value a, Value c) { return arith::OrIOp::create(b, a, c); }
Value Code::bitXor(Value a, Value c) { return arith::XOrIOp::create(b, a, c); }
Value Code::shiftLeft(Value a, Value by) { return arith::ShLIOp::create(b, a, by); }
Value Code::shiftRight(Value a, Value by) { return arith::ShRSIOp::create(b, a, by); }
Value Code::fromUnsigned(Value x) { return arith::ExtUIOp::create(b, like(x.getType(), i64()), x); }
Value Code::addF(Value a, Value c) { return arith::AddFOp::create(b, a, c); }
Value Code::subF(Value a, Value c) { return arith::SubFOp::create(b, a, c); }
Value Code::mulF(Value a, Value c) { return arith::MulFOp::create(b, a, c); }
Value Code::divF(Value a, Value c) { return arith::DivFOp::create(b, a, c); }

Value Code::at(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, ptr(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}
Value Code::at(Value pointer, int64_t bytes) { return bytes == 0 ? pointer : at(pointer, num(bytes)); }

Value Code::raw(Type type, Value pointer, unsigned align) { return LLVM::LoadOp::create(b, type, pointer, align); }

Type Code::storageType(Type element) {
  return element.isInteger(1) ? b.getI8Type() : element.isBF16() ? b.getI16Type() : scalarType(element);
}

Value Code::fromStorage(Value value, Type element) {
  if (element.isBF16())
    return arith::BitcastOp::create(b, like(value.getType(), element), value);
  if (!element.isInteger(1))
    return value;
  return compare(arith::CmpIPredicate::ne, value, zero(value.getType()));
}
Value Code::toStorage(Value value) {
  Type element = getElementTypeOrSelf(value.getType()), type = like(value.getType(), storageType(element));
  if (element.isBF16())
    return arith::BitcastOp::create(b, type, value);
  if (!element.isInteger(1))
    return value;
  return arith::ExtUIOp::create(b, type, value);
}

Value Code::loadScalar(Type element, Value pointer) {
  Type type = storageType(element);
  return fromStorage(raw(type, pointer, storageBytes(type)), element);
}
void Code::storeScalar(Value value, Value pointer) {
  value = toStorage(value);
  LLVM::StoreOp::create(b, value, pointer, storageBytes(value.getType()));
}
Value Code::loadVector(Type element, Value pointer, Value mask, int64_t count) {
  VectorType type = vec(storageType(element), count);
  unsigned align = storageBytes(type.getElementType());
  Value loaded = mask
                     ? Value(LLVM::MaskedLoadOp::create(b, type, pointer, mask, zero(type), b.getI32IntegerAttr(align)))
                     : raw(type, pointer, align);
  return fromStorage(loaded, element);
}
void Code::storeVector(Value value, Value pointer, Value mask) {
  value = toStorage(value);
  unsigned align = storageBytes(getElementTypeOrSelf(value.getType()));
  if (mask)
    LLVM::MaskedStoreOp::create(b, value, pointer, mask, b.getI32IntegerAttr(align));
  else
    LLVM::StoreOp::create(b, value, pointer, align);
}
/// The number of lanes up to the last one that is set, as far as a mask is known.
static int64_t lanesThatCount(Value mask) {
  int64_t count = lanes;
  if (DenseElementsAttr bits; mask && matchPattern(mask, m_Constant(&bits)))
    while (count > 1 && !bits.getValues<bool>()[count - 1])
      --count;
  return count;
}
Value Code::loadStrided(Type element, Value pointer, int64_t step, Value mask) {
  int64_t bytes = storageBytes(storageType(element)), read = (lanesThatCount(mask) - 1) * step + 1;
  SmallVector<Value> vectors;
  for (int64_t from = 0; from < read; from += lanes)
    vectors.push_back(loadVector(element, at(pointer, from * bytes), firstLanes(read - from)));
  return picked(vectors, [&](int64_t lane) { return lane * step; });
}
Value Code::loadRepeated(Type element, Value pointer, int64_t times, Value mask) {
  int64_t read = llvm::divideCeil(lanesThatCount(mask), times);
  Value vector = loadVector(element, pointer, firstLanes(read));
  return shuffled(vector, vector, [&](int64_t lane) { return lane / times; });
}
Value Code::gather(Type element, Value pointer, Value offsets, Value mask, unsigned align) {
  int64_t count = cast<VectorType>(offsets.getType()).getNumElements();
  VectorType type = vec(storageType(element), count);
  Type pointers = VectorType::get({count}, ptr());
  Value places = LLVM::GEPOp::create(b, pointers, b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{offsets});
  if (!mask)
    mask = constant(vec(b.getI1Type(), count), b.getBoolAttr(true));
  return fromStorage(LLVM::masked_gather::create(b, type, places, mask, ValueRange{zero(type)},
                                                 align ? align : storageBytes(type.getElementType())),
                     element);
}

void Code::prefetch(Value pointer, Cache cache) {
  LLVM::Prefetch::create(b, pointer, /*rw=*/0, /*hint=*/cache == Cache::first ? 3 : 2, /*cache: of data=*/1);
}

Value Code::constant(Type type, Attribute scalar) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, cast<TypedAttr>(scalar));
}
Value Code::splat(Value scalar, int64_t count) {
  if (isa<VectorType>(scalar.getType()))
    return scalar;
  return vector::BroadcastOp::create(b, vec(scalar.getType(), count), scalar);
}
Value Code::firstLanes(int64_t count, int64_t all) {
  if (count >= all)
    return nullptr;
  SmallVector<bool> bits(all, false);
  std::fill_n(bits.begin(), count, true);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(vec(b.getI1Type(), all), ArrayRef<bool>(bits)));
}
Value Code::firstLanes(Value count) { return less(laneNumbers(), splat(count)); }
Value Code::laneNumbers(Type type) {
  SmallVector<Attribute> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(b.getIntegerAttr(type, i));
  return arith::ConstantOp::create(b, DenseElementsAttr::get(vec(type), numbers));
}

Value Code::maskBits(Value truths) { return LLVM::BitcastOp::create(b, b.getI16Type(), truths); }
Value Code::countOf(Value truths) { return fromUnsigned(math::CtPopOp::create(b, maskBits(truths))); }
Value Code::compressed(Value vector, Value mask) {
  return LLVM::CallIntrinsicOp::create(b, vector.getType(), b.getStringAttr("llvm.experimental.vector.compress"),
                                       ValueRange{vector, mask, zero(vector.getType())})
      .getResult(0);
}

Value Code::keyOf(Value x, bool preferSmall, bool preferNan) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  auto flipped = [&](Value key) -> Value {
    if (!preferSmall)
      return key;
    return bitXor(key, constant(key.getType(), b.getIntegerAttr(getElementTypeOrSelf(key.getType()), -1)));
  };
  if (!isa<FloatType>(element))
    return flipped(x);
  unsigned width = element.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(width), whole = like(type, integer);
  auto number = [&](APInt value) { return constant(whole, b.getIntegerAttr(integer, value)); };
  Value isNan = compare(arith::CmpFPredicate::UNO, x, x);
  // -0 + 0 is +0. The bits of negative floats are ordered in reverse.
  Value bits = arith::BitcastOp::create(b, whole, addF(x, zero(type)));
  Value sign = shiftRight(bits, number(APInt(width, width - 1)));
  sign = bitAnd(sign, number(APInt::getSignedMaxValue(width)));
  Value key = flipped(bitXor(bits, sign));
  return select(isNan, number(preferNan ? APInt::getSignedMaxValue(width) : APInt::getSignedMinValue(width)), key);
}

Value Code::tree(Value vector, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t half = lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(i + half);
    }
    Value first = vector::ShuffleOp::create(b, vector, vector, low);
    Value second = vector::ShuffleOp::create(b, vector, vector, high);
    vector = combine(first, second);
  }
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}

Value Code::shuffled(Value first, Value second, llvm::function_ref<int64_t(int64_t)> source) {
  SmallVector<int64_t> sources;
  for (int64_t lane = 0; lane < lanes; ++lane)
    sources.push_back(source(lane));
  return vector::ShuffleOp::create(b, first, second, sources);
}

SmallVector<Value> Code::transposed(ArrayRef<Value> vectors, int64_t registerBits) {
  auto type = cast<VectorType>(vectors.front().getType());
  int64_t rows = vectors.size(), columns = type.getNumElements();
  int64_t side = std::min({registerBits / int64_t(type.getElementTypeBitWidth()), rows, columns});
  auto numbers = [](int64_t from, int64_t count) { return llvm::to_vector(llvm::seq(from, from + count)); };
  SmallVector<Value> result;
  for (int64_t column = 0; column < columns; column += side) {
    SmallVector<SmallVector<Value>> squares; // of each of the next `side` results its parts
    for (int64_t row = 0; row < rows; row += side) {
      SmallVector<Value> square;
      for (Value vector : vectors.slice(row, side))
        square.push_back(side == columns ? vector
                                         : vector::ShuffleOp::create(b, vector, vector, numbers(column, side)));
      squares.push_back(transposedSquare(square));
    }
    for (int64_t i = 0; i < side; ++i)
      result.push_back(endToEnd(b, llvm::map_to_vector(squares, [&](const auto &square) { return square[i]; })));
  }
  return result;
}

SmallVector<Value> Code::transposedSquare(ArrayRef<Value> vectors) {
  // Shuffles work within 128-bit segments first, then on whole segments: a shuffle that does both is slow, or becomes
  // several.
  auto type = cast<VectorType>(vectors.front().getType());
  int64_t side = vectors.size(), segment = std::min<int64_t>(side, 128 / type.getElementTypeBitWidth());
  SmallVector<Value> from(vectors);
  auto shuffled = [&](Value first, Value second, llvm::function_ref<int64_t(int64_t)> source) -> Value {
    return vector::ShuffleOp::create(b, first, second, llvm::map_to_vector(llvm::seq(side), source));
  };
  // The position of an element is the bits of its vector's number and of its lane. Interleaving the vectors of the
  // lower half with those of the upper half moves the highest bit of the number behind the lane's bits, and the lane's
  // highest bit behind the number's.
  for (int64_t bits = segment; bits > 1; bits /= 2) {
    SmallVector<Value> next;
    for (int64_t group = 0; group < side; group += segment)
      for (int64_t i = group; i < group + segment / 2; ++i)
        for (int64_t start : {int64_t(0), segment / 2})
          next.push_back(shuffled(from[i], from[i + segment / 2], [&](int64_t lane) {
            return lane / segment * segment + start + lane % segment / 2 + lane % 2 * side;
          }));
    from = next;
  }
  // For segments the reverse step is used, as they cannot be interleaved by one shuffle: it takes the even segments of
  // two neighbours, and the odd ones.
  int64_t segments = side / segment;
  for (int64_t bits = segments; bits > 1; bits /= 2) {
    SmallVector<Value> next;
    for (int64_t start : {0, 1})
      for (int64_t group = 0; group < segments; group += 2)
        for (int64_t i = 0; i < segment; ++i)
          next.push_back(shuffled(from[group * segment + i], from[(group + 1) * segment + i], [&](int64_t lane) {
            int64_t place = 2 * (lane / segment) + start; // among the segments of both
            return place * segment + lane % segment;
          }));
    from = next;
  }
  return from;
}

Value Code::picked(ArrayRef<Value> vectors, llvm::function_ref<int64_t(int64_t)> source) {
  // Each shuffle adds one vector; lanes that have their element keep it.
  constexpr int64_t none = vector::ShuffleOp::kPoisonIndex;
  auto within = [&](int64_t lane, int64_t first, int64_t last) {
    return source(lane) >= first * lanes && source(lane) < last * lanes;
  };
  Value result = shuffled(vectors.front(), vectors.front(),
                          [&](int64_t lane) { return within(lane, 0, 1) ? source(lane) : none; });
  for (int64_t next = 1; next < int64_t(vectors.size()); ++next)
    result = shuffled(result, vectors[next], [&](int64_t lane) {
      return within(lane, 0, next) ? lane : within(lane, next, next + 1) ? source(lane) - (next - 1) * lanes : none;
    });
  return result;
}

Value Code::rotated(Value vector, int64_t by) {
  return by == 0 ? vector : shuffled(vector, vector, [&](int64_t lane) { return (lane + by) % lanes; });
}

Value Code::repeated(Value vector, int64_t lane) {
  return shuffled(vector, vector, [&](int64_t) { return lane; });
}

Value Code::trees(ArrayRef<Value> vectors, llvm::function_ref<Value(Value, Value)> combine) {
  // Each level combines the halves of two partly reduced trees and holds both results in one vector: sixteen trees take
  // fifteen combinations. Halves that are short enough stay within 128 bits, where shuffles are fast. With the levels'
  // shuffles undone, the tree that ends in lane l begins at the place whose bits are those of l in the order 1, 0, 3,
  // 2.
  assert(vectors.size() == size_t(lanes));
  SmallVector<Value> level(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    level[(i >> 1 & 1) << 3 | (i & 1) << 2 | (i >> 3 & 1) << 1 | (i >> 2 & 1)] = vectors[i];
  // The lane of the two concatenated vectors that is the first operand of lane l of their combination; the second
  // operand lies `half` further.
  struct Level {
    int64_t half;
    int64_t (*source)(int64_t lane);
  };
  static const Level levels[] = {
      {8, [](int64_t l) { return l < 8 ? l : l - 8 + lanes; }},
      {4, [](int64_t l) { return (l & 8 ? lanes : 0) + (l & 4 ? 8 : 0) + (l & 3); }},
      {2, [](int64_t l) { return (l & 2 ? lanes : 0) + (l & 12) + (l & 1); }},
      {1, [](int64_t l) { return (l & 2 ? lanes : 0) + (l & 12) + (l & 1) * 2; }},
  };
  for (auto [half, source] : levels) {
    SmallVector<Value> next;
    for (size_t i = 0; i < level.size(); i += 2) {
      Value first = level[i] ? level[i] : level[i + 1], second = level[i + 1] ? level[i + 1] : first;
      if (!first) {
        next.push_back({});
        continue;
      }
      Value high = shuffled(first, second, [&](int64_t lane) { return source(lane) + half; });
      next.push_back(combine(shuffled(first, second, source), high));
    }
    level = next;
  }
  return level.front();
}

void Code::loop(Value from, Value to, int64_t step, Body body) {
  auto op = scf::ForOp::create(b, from, to, num(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  body(op.getInductionVar());
}
SmallVector<Value> Code::loop(Value from, Value to, int64_t step, ValueRange init, Carry body) {
  auto op = scf::ForOp::create(b, from, to, num(step), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  SmallVector<Value> carried = body(op.getInductionVar(), op.getRegionIterArgs());
  scf::YieldOp::create(b, carried);
  return op.getResults();
}
SmallVector<Value> Code::loopWhile(ValueRange init, llvm::function_ref<SmallVector<Value>(ValueRange)> head,
                                   llvm::function_ref<SmallVector<Value>(ValueRange)> body) {
  SmallVector<Value> forwarded;
  auto op = scf::WhileOp::create(b, TypeRange(), init);
  OpBuilder::InsertionGuard guard(b);
  auto enter = [&](Region &region, TypeRange types) {
    return b.createBlock(&region, region.end(), types, SmallVector<Location>(types.size(), b.getLoc()))->getArguments();
  };
  forwarded = head(enter(op.getBefore(), init.getTypes()));
  scf::ConditionOp::create(b, forwarded[0], ValueRange(forwarded).drop_front());
  SmallVector<Type> types(ValueRange(forwarded).drop_front().getTypes());
  scf::YieldOp::create(b, body(enter(op.getAfter(), types)));
  // The forwarded values are known only now.
  b.setInsertionPoint(op);
  auto typed = scf::WhileOp::create(b, types, init);
  typed.getBefore().takeBody(op.getBefore());
  typed.getAfter().takeBody(op.getAfter());
  op.erase();
  return typed.getResults();
}
Value Code::either(Value condition, Type type, llvm::function_ref<Value()> then,
                   llvm::function_ref<Value()> otherwise) {
  auto op = scf::IfOp::create(b, type, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  scf::YieldOp::create(b, then());
  b.setInsertionPointToStart(&op.getElseRegion().front());
  scf::YieldOp::create(b, otherwise());
  return op.getResult(0);
}
void Code::when(Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(b, condition, /*withElse=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  then();
  if (otherwise) {
    b.setInsertionPointToStart(&op.getElseRegion().front());
    otherwise();
  }
}

std::pair<Value, int64_t> withoutNumber(Value sum) {
  APInt number;
  auto add = sum.getDefiningOp<arith::AddIOp>();
  if (add && matchPattern(add.getRhs(), m_ConstantInt(&number)))
    return {add.getLhs(), number.getSExtValue()};
  return {sum, 0};
}

bool isMultiple(Value number, int64_t of) {
  APInt known;
  if (matchPattern(number, m_ConstantInt(&known)))
    return known.getSExtValue() % of == 0;
  if (auto argument = dyn_cast<BlockArgument>(number)) {
    auto loop = dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && loop.getInductionVar() == argument && isMultiple(loop.getLowerBound(), of) &&
           isMultiple(loop.getStep(), of);
  }
  if (auto sum = number.getDefiningOp<arith::AddIOp>())
    return isMultiple(sum.getLhs(), of) && isMultiple(sum.getRhs(), of);
  auto product = number.getDefiningOp<arith::MulIOp>();
  return product && (isMultiple(product.getLhs(), of) || isMultiple(product.getRhs(), of));
}

} // namespace tutti
