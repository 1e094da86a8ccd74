// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of words of four bytes, unsigned ones on the left and signed ones on the right (tutti.contract with
// `bytes`).
#include "Emitters.h"

using namespace mlir;

namespace tutti {

namespace {

class Words {
public:
  explicit Words(Code &code) : code(code), b(code.b) {}

  /// sum + left right, one register at a time.
  Value multiplyAdd(const CpuLevel &level, Value left, Value right, Value sum) {
    auto type = dyn_cast<VectorType>(sum.getType());
    int64_t fit = level.vectorBits / 32, count = type ? type.getNumElements() : 1;
    if (count % fit != 0)
      return plain(left, right, sum);
    Value all;
    for (int64_t at = 0; at < count; at += fit) {
      auto part = [&](Value value) -> Value {
        return count == fit ? value
                            : vector::ExtractStridedSliceOp::create(b, value, ArrayRef<int64_t>{at},
                                                                    ArrayRef<int64_t>{fit}, ArrayRef<int64_t>{1});
      };
      Value made = level.multipliesBytes ? byOne(part(left), part(right), part(sum))
                                         : byPairs(level, part(left), part(right), part(sum));
      all = count == fit ? made
            : !all ? vector::InsertStridedSliceOp::create(b, made, code.zero(type), ArrayRef<int64_t>{at},
                                                          ArrayRef<int64_t>{1})
                   : vector::InsertStridedSliceOp::create(b, made, all, ArrayRef<int64_t>{at}, ArrayRef<int64_t>{1});
    }
    return all;
  }

private:
  Code &code;
  ImplicitLocOpBuilder &b;

  Value like(Value value, int64_t number) {
    Type type = value.getType();
    return code.constant(type, b.getIntegerAttr(getElementTypeOrSelf(type), number));
  }
  Value shiftLeft(Value value, int64_t by) { return code.shiftLeft(value, like(value, by)); }
  Value shiftRight(Value value, int64_t by) { return code.shiftRight(value, like(value, by)); }
  Value cast(Value value, Type element) {
    int64_t bits = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(),
            count = llvm::cast<VectorType>(value.getType()).getNumElements();
    return vector::BitCastOp::create(b, code.vec(element, count * bits / element.getIntOrFloatBitWidth()), value);
  }
  Value call(StringRef intrinsic, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic), operands).getResult(0);
  }

  /// The same byte by byte, in plain arithmetic.
  Value plain(Value left, Value right, Value sum) {
    for (int64_t byte = 0; byte < 4; ++byte) {
      Value own = code.bitAnd(shiftRight(left, 8 * byte), like(left, 255));
      sum = code.add(sum, code.mul(own, shiftRight(shiftLeft(right, 24 - 8 * byte), 24)));
    }
    return sum;
  }

  Value byOne(Value left, Value right, Value sum) {
    Type byte = b.getI8Type();
    return call("llvm.x86.avx512.vpdpbusd.512", sum.getType(), {sum, cast(left, byte), cast(right, byte)});
  }

  /// The same on bytes widened to 16 bits, whose pairs one instruction multiplies: the bytes at even places, then those
  /// at odd ones. The instruction for bytes adds two products in 16 bits, which overflows.
  Value byPairs(const CpuLevel &level, Value left, Value right, Value sum) {
    StringRef intrinsic = level.vectorBits == 512 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
    Type half = b.getI16Type();
    Value pairs = cast(right, half);
    for (int64_t odd : {0, 1}) {
      Value own = code.bitAnd(shiftRight(left, 8 * odd), like(left, 0x00ff00ff));
      Value other = shiftRight(odd ? pairs : shiftLeft(pairs, 8), 8);
      sum = code.add(sum, call(intrinsic, sum.getType(), {cast(own, half), other}));
    }
    return sum;
  }
};

} // namespace

Value multiplyAddBytes(Code &code, const CpuLevel &level, Value left, Value right, Value sum) {
  return Words(code).multiplyAdd(level, left, right, sum);
}

} // namespace tutti
