// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The vocabulary of the CPU emitters: 64-bit arithmetic, pointers, 16-lane vectors, loops.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_CODE_H
#define TUTTI_COMPILER_CODEGEN_CPU_CODE_H

#include "dialects/tutti/Tutti.h"
#include "passes/analysis/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tutti {

/// The properties of a level that decide speed, such as tile shapes that fit its registers.
struct CpuLevel {
  llvm::StringRef name; ///< as in the artifact, and LLVM's: "x86-64-v3", with a feature: "x86-64-v4+avx512vnni"
  int64_t vectorBits;
  int64_t registers;   ///< of so many bits
  int64_t tileVectors; ///< 16-lane vectors of columns of a tile of floats
  int64_t wideVectors; ///< the same for a tile of one or two rows
  int64_t mathVectors; ///< 16-lane vectors that a math function takes at once
  bool sharesRequests; ///< whether the full tiles share the prefetches of the next weights; else each prefetches a line
                       ///< per term
  bool asksForStreams; ///< whether code prefetches streams that it reads end to end, and the rows of later tasks
  bool storesMasked;   ///< whether a masked store is as fast as a full one
  bool multipliesBytes; ///< whether one instruction multiplies words of bytes and accumulates (AVX-512 VNNI)
};
/// The levels, in ascending order.
llvm::ArrayRef<CpuLevel> cpuLevels();

/// Writes code at the builder's place, all of it from one location. Sizes and offsets are i64; offsets into memory
/// count bytes.
class Code {
public:
  explicit Code(mlir::Location loc) : b(loc, loc.getContext()) {}
  Code(const Code &) = delete; // it would write at a place of its own

  mlir::ImplicitLocOpBuilder b;

  mlir::Type i64() { return b.getI64Type(); }
  mlir::Type f32() { return b.getF32Type(); }
  mlir::Type ptr() { return mlir::LLVM::LLVMPointerType::get(b.getContext()); }
  mlir::VectorType vec(mlir::Type element, int64_t count = lanes) { return mlir::VectorType::get({count}, element); }
  /// The type of such elements, or of a vector of them if `type` is a vector.
  mlir::Type like(mlir::Type type, mlir::Type element) { return isa<mlir::VectorType>(type) ? vec(element) : element; }
  /// The type of an element in memory. Booleans are bytes. bfloat16 is stored as an integer, since no level has
  /// instructions for it and LLVM would call a library function.
  mlir::Type storageType(mlir::Type element);

  mlir::Value num(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value sub(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, int64_t c);
  mlir::Value add(mlir::Value a, int64_t c);
  /// Quotients and remainders round to zero, or down where they say so; c is positive then.
  mlir::Value div(mlir::Value a, mlir::Value c);
  mlir::Value remainder(mlir::Value a, mlir::Value c);
  mlir::Value floorRemainder(mlir::Value a, mlir::Value c);
  mlir::Value min(mlir::Value a, mlir::Value c);
  mlir::Value max(mlir::Value a, mlir::Value c);
  mlir::Value less(mlir::Value a, mlir::Value c);
  mlir::Value equal(mlir::Value a, mlir::Value c);
  /// Bitwise operations on integers of any width, including i1.
  mlir::Value bitAnd(mlir::Value a, mlir::Value c);
  mlir::Value bitOr(mlir::Value a, mlir::Value c);
  mlir::Value bitXor(mlir::Value a, mlir::Value c);
  mlir::Value shiftLeft(mlir::Value a, mlir::Value by);
  /// Arithmetic shift: copies of the sign bit come in.
  mlir::Value shiftRight(mlir::Value a, mlir::Value by);
  /// An unsigned integer, or the lanes of a vector, as i64.
  mlir::Value fromUnsigned(mlir::Value x);
  /// Arithmetic on floats.
  mlir::Value addF(mlir::Value a, mlir::Value c);
  mlir::Value subF(mlir::Value a, mlir::Value c);
  mlir::Value mulF(mlir::Value a, mlir::Value c);
  mlir::Value divF(mlir::Value a, mlir::Value c);

  mlir::Value at(mlir::Value pointer, mlir::Value bytes);
  mlir::Value at(mlir::Value pointer, int64_t bytes);
  mlir::Value loadPointer(mlir::Value pointer) { return raw(ptr(), pointer, 8); }
  mlir::Value loadNumber(mlir::Value pointer) { return raw(i64(), pointer, 8); }
  /// Loads a number of a table (StepEmitter::tableOf).
  mlir::Value loadTold(mlir::Value pointer) {
    return mlir::arith::ExtSIOp::create(b, i64(), raw(b.getI32Type(), pointer, 4));
  }

  /// One element; booleans are bytes in memory and i1 in registers, and integers have no sign there.
  mlir::Value loadScalar(mlir::Type element, mlir::Value pointer);
  void storeScalar(mlir::Value value, mlir::Value pointer);
  /// 16 elements, or `count`, that lie side by side; lanes outside of `mask` (null: none) are not touched and read as
  /// zero.
  mlir::Value loadVector(mlir::Type element, mlir::Value pointer, mlir::Value mask, int64_t count = lanes);
  void storeVector(mlir::Value value, mlir::Value pointer, mlir::Value mask);
  /// Loads 16 elements that are `step` apart, by shuffles of consecutive vectors. `mask` is null or a constant. Nothing
  /// behind the last masked-in element is touched.
  mlir::Value loadStrided(mlir::Type element, mlir::Value pointer, int64_t step, mlir::Value mask);
  /// Loads consecutive elements and repeats each `times` times, 16 lanes in all, beginning with the first element's
  /// first copy. `mask` as for loadStrided.
  mlir::Value loadRepeated(mlir::Type element, mlir::Value pointer, int64_t times, mlir::Value mask);
  /// Loads one element for each of `offsets` (vector of i64 or i32, in bytes) from the pointer. Addresses are multiples
  /// of `align` bytes (0: of the element's size).
  mlir::Value gather(mlir::Type element, mlir::Value pointer, mlir::Value offsets, mlir::Value mask,
                     unsigned align = 0);

  /// Prefetches a cache line for reading. Any address is allowed.
  enum class Cache { first, second };
  void prefetch(mlir::Value pointer, Cache cache = Cache::first);

  mlir::Value constant(mlir::Type type, mlir::Attribute scalar);
  mlir::Value zero(mlir::Type type) { return mlir::arith::ConstantOp::create(b, b.getZeroAttr(type)); }
  mlir::Value splat(mlir::Value scalar, int64_t count = lanes);
  /// The mask of the first `count` lanes of 16, or of `all`; null if it would be all of them.
  mlir::Value firstLanes(int64_t count, int64_t all = lanes);
  mlir::Value firstLanes(mlir::Value count);
  /// 0, 1, .. 15, as i64 or another type.
  mlir::Value laneNumbers() { return laneNumbers(i64()); }
  mlir::Value laneNumbers(mlir::Type type);
  /// Compares scalars, or two vectors lane by lane.
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value c) {
    return mlir::arith::CmpIOp::create(b, predicate, a, c);
  }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value c) {
    return mlir::arith::CmpFOp::create(b, predicate, a, c);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value c) {
    return mlir::arith::SelectOp::create(b, condition, a, c);
  }
  /// Whether a lane of a vector of i1 is set.
  mlir::Value anyOf(mlir::Value truths) {
    return compare(mlir::arith::CmpIPredicate::ne, maskBits(truths), zero(b.getI16Type()));
  }
  /// The lanes of a vector of i1 as the bits of an i16; and the number of set lanes.
  mlir::Value maskBits(mlir::Value truths);
  mlir::Value countOf(mlir::Value truths);
  /// The lanes where `mask` is set, moved to the first lanes in their order.
  mlir::Value compressed(mlir::Value vector, mlir::Value mask);
  /// Integer keys in the order of the elements; a choice prefers the larger key. For floats, -0 and +0 share a key, and
  /// all NaN share one, the largest or the smallest.
  mlir::Value keyOf(mlir::Value x, bool preferSmall, bool preferNan);
  /// The reduction tree of docs/numerics.md: combines lane i with lane i + half until one lane is left.
  mlir::Value tree(mlir::Value vector, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// The reduction trees of sixteen vectors, some of which may be null; lane l has the result of vectors[l].
  mlir::Value trees(llvm::ArrayRef<mlir::Value> vectors,
                    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Lane l of the result is lane source(l) of the two vectors, one after the other.
  mlir::Value shuffled(mlir::Value first, mlir::Value second, llvm::function_ref<int64_t(int64_t)> source);
  /// Transposes vectors: result i consists of the i-th lanes of all given ones. The numbers of vectors and of lanes are
  /// powers of two. A shuffle works on `registerBits`.
  llvm::SmallVector<mlir::Value> transposed(llvm::ArrayRef<mlir::Value> vectors, int64_t registerBits);
  /// Lane l of the result is lane source(l) of the concatenated vectors; undefined if that is past their end.
  mlir::Value picked(llvm::ArrayRef<mlir::Value> vectors, llvm::function_ref<int64_t(int64_t)> source);
  mlir::Value reversed(mlir::Value vector) {
    return shuffled(vector, vector, [](int64_t lane) { return lanes - 1 - lane; });
  }
  /// Lane l of the result is lane l + by, modulo the lanes.
  mlir::Value rotated(mlir::Value vector, int64_t by);
  /// A vector with this lane in every lane.
  mlir::Value repeated(mlir::Value vector, int64_t lane);

  using Body = llvm::function_ref<void(mlir::Value)>;
  using Carry = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  void loop(mlir::Value from, mlir::Value to, int64_t step, Body body);
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
                                      Carry body);
  /// A loop that runs while the first value of `head` holds. The other values of `head` go to `body`, and the results
  /// of `body` go back to `head`. Returns the last values of `head`.
  llvm::SmallVector<mlir::Value> loopWhile(mlir::ValueRange init,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> head,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// The value of `then` if the condition holds, else of `otherwise`.
  mlir::Value either(mlir::Value condition, mlir::Type type, llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);

private:
  llvm::SmallVector<mlir::Value> transposedSquare(llvm::ArrayRef<mlir::Value> vectors);
  mlir::Value raw(mlir::Type type, mlir::Value pointer, unsigned align);
  mlir::Value fromStorage(mlir::Value value, mlir::Type element);
  mlir::Value toStorage(mlir::Value value);
};

/// Splits a sum into a value and a constant.
std::pair<mlir::Value, int64_t> withoutNumber(mlir::Value sum);
/// Whether a number is provably a multiple of `of`, by looking at loops, sums and products.
bool isMultiple(mlir::Value number, int64_t of);

} // namespace tutti

#endif
