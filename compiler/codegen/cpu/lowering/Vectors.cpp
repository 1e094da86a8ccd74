// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parts of vectors, and vectors of parts.
#include "Vectors.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tutti {

static SmallVector<int64_t> numbers(int64_t from, int64_t count) {
  return llvm::to_vector(llvm::seq(from, from + count));
}

Value partOf(ImplicitLocOpBuilder &b, Value vector, int64_t at, int64_t lanes) {
  return vector::ShuffleOp::create(b, vector, vector, numbers(at * lanes, lanes));
}

Value endToEnd(ImplicitLocOpBuilder &b, SmallVector<Value> parts) {
  for (; parts.size() > 1; parts.resize(parts.size() / 2))
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      int64_t lanes = cast<VectorType>(parts[2 * i].getType()).getNumElements();
      parts[i] = vector::ShuffleOp::create(b, parts[2 * i], parts[2 * i + 1], numbers(0, 2 * lanes));
    }
  return parts.front();
}

/// The number of lanes of a register with this type's elements.
static int64_t registerLanes(Type type) { return registerBits / getElementTypeOrSelf(type).getIntOrFloatBitWidth(); }

bool hasLanes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && !vector.isScalable();
}

bool fillsRegisters(Type type) {
  if (!hasLanes(type) || !isa<Float32Type, Float64Type>(getElementTypeOrSelf(type)))
    return false;
  int64_t lanes = cast<VectorType>(type).getNumElements();
  return llvm::isPowerOf2_64(lanes) && lanes >= registerLanes(type);
}

Value byRegister(ImplicitLocOpBuilder &b, ValueRange vectors, llvm::function_ref<Value(ValueRange)> of) {
  auto type = cast<VectorType>(vectors.front().getType());
  int64_t lanes = registerLanes(type);
  SmallVector<Value> results;
  for (int64_t i = 0; i < type.getNumElements() / lanes; ++i) {
    SmallVector<Value> parts;
    for (Value vector : vectors)
      parts.push_back(partOf(b, vector, i, lanes));
    results.push_back(of(parts));
  }
  return endToEnd(b, std::move(results));
}

} // namespace tutti
