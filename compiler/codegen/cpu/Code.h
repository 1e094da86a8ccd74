// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words in which the CPU emitters write: 64-bit arithmetic, pointers, 16-lane vectors, loops.
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

/// What of a level decides speed: tile shapes that fit its registers.
struct CpuLevel {
  llvm::StringRef name; ///< as in the artifact, and LLVM's: "x86-64-v3", with a feature: "x86-64-v4+avx512vnni"
  int64_t vectorBits;
  int64_t registers;    ///< of so many bits
  int64_t tileVectors;  ///< 16-lane vectors of columns of a tile of floats
  int64_t wideVectors;  ///< the same for a tile of one or two rows
  int64_t mathVectors;  ///< 16-lane vectors that a math function takes at once
  bool sharesRequests;  ///< whether all full tiles share the requests for the weights to come; else a line a term each
  bool asksForStreams;  ///< whether code asks for what it reads from end to end, and for the rows of tasks to come
  bool storesMasked;    ///< whether a store of some lanes is as good as one of all
  bool multipliesBytes; ///< whether one instruction multiplies words of bytes and adds up (AVX-512 VNNI)
};
/// In rising order.
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
  /// The type of such elements: of a vector of them if `type` is a vector's.
  mlir::Type like(mlir::Type type, mlir::Type element) { return isa<mlir::VectorType>(type) ? vec(element) : element; }
  /// How an element lies in memory: booleans are bytes. bfloat16 lies as an integer: LLVM would call a function for
  /// what no level has an instruction for.
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
  /// Of integers of any width, and of truths.
  mlir::Value bitAnd(mlir::Value a, mlir::Value c);
  mlir::Value bitOr(mlir::Value a, mlir::Value c);
  mlir::Value bitXor(mlir::Value a, mlir::Value c);
  mlir::Value shiftLeft(mlir::Value a, mlir::Value by);
  /// Copies of the sign come in.
  mlir::Value shiftRight(mlir::Value a, mlir::Value by);
  /// An unsigned integer, or the lanes of a vector, as i64.
  mlir::Value fromUnsigned(mlir::Value x);
  /// Of floats.
  mlir::Value addF(mlir::Value a, mlir::Value c);
  mlir::Value subF(mlir::Value a, mlir::Value c);
  mlir::Value mulF(mlir::Value a, mlir::Value c);
  mlir::Value divF(mlir::Value a, mlir::Value c);

  mlir::Value at(mlir::Value pointer, mlir::Value bytes);
  mlir::Value at(mlir::Value pointer, int64_t bytes);
  mlir::Value loadPointer(mlir::Value pointer) { return raw(ptr(), pointer, 8); }
  mlir::Value loadNumber(mlir::Value pointer) { return raw(i64(), pointer, 8); }
  /// A number of a table (StepEmitter::tableOf).
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
  /// The first of every `step` elements, 16 of them: vectors side by side, from which they are taken. `mask`: null, or
  /// a constant; nothing behind the last element that counts is touched.
  mlir::Value loadStrided(mlir::Type element, mlir::Value pointer, int64_t step, mlir::Value mask);
  /// Elements side by side, each of them `times` times, from the first one's first on: 16 in all. `mask` as there.
  mlir::Value loadRepeated(mlir::Type element, mlir::Value pointer, int64_t times, mlir::Value mask);
  /// Elements at `offsets` (vector of i64 or i32, in bytes) from the pointer, as many, at multiples of `align` bytes
  /// (0: of their size).
  mlir::Value gather(mlir::Type element, mlir::Value pointer, mlir::Value offsets, mlir::Value mask,
                     unsigned align = 0);

  /// Asks for the line to be brought into a cache, to be read. Any address will do.
  enum class Cache { first, second };
  void prefetch(mlir::Value pointer, Cache cache = Cache::first);

  mlir::Value constant(mlir::Type type, mlir::Attribute scalar);
  mlir::Value zero(mlir::Type type) { return mlir::arith::ConstantOp::create(b, b.getZeroAttr(type)); }
  mlir::Value splat(mlir::Value scalar, int64_t count = lanes);
  /// The first `count` lanes of 16, or of `all`; null if that is all of them.
  mlir::Value firstLanes(int64_t count, int64_t all = lanes);
  mlir::Value firstLanes(mlir::Value count);
  /// 0, 1, .. 15, as i64 or another type.
  mlir::Value laneNumbers() { return laneNumbers(i64()); }
  mlir::Value laneNumbers(mlir::Type type);
  /// Numbers, or the lanes of two vectors.
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
  /// The lanes of a vector of i1 as the bits of an i16, and how many are set.
  mlir::Value maskBits(mlir::Value truths);
  mlir::Value countOf(mlir::Value truths);
  /// The lanes where `mask` is set, in their order, in the first lanes.
  mlir::Value compressed(mlir::Value vector, mlir::Value mask);
  /// Integers in the order of the elements, the larger key the one that a choice prefers: of floats -0 and +0 have one
  /// key, and all NaN one, the largest or the smallest.
  mlir::Value keyOf(mlir::Value x, bool preferSmall, bool preferNan);
  /// Lane i with lane i + half, until one is left: the tree of docs/numerics.md.
  mlir::Value tree(mlir::Value vector, llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// The trees of sixteen vectors, of which some may be null, that of vectors[l] in lane l.
  mlir::Value trees(llvm::ArrayRef<mlir::Value> vectors,
                    llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// Lane l of the result is lane source(l) of the two vectors, one after the other.
  mlir::Value shuffled(mlir::Value first, mlir::Value second, llvm::function_ref<int64_t(int64_t)> source);
  /// As many vectors as those given have lanes, the i-th of the i-th lanes of all; both powers of two. A shuffle takes
  /// `registerBits`.
  llvm::SmallVector<mlir::Value> transposed(llvm::ArrayRef<mlir::Value> vectors, int64_t registerBits);
  /// Lane l of the result is lane source(l) of all vectors, one after the other; none where that is behind them.
  mlir::Value picked(llvm::ArrayRef<mlir::Value> vectors, llvm::function_ref<int64_t(int64_t)> source);
  mlir::Value reversed(mlir::Value vector) {
    return shuffled(vector, vector, [](int64_t lane) { return lanes - 1 - lane; });
  }
  /// Lane l of the result is lane l + by, modulo the lanes.
  mlir::Value rotated(mlir::Value vector, int64_t by);
  /// Every lane of the result is this one.
  mlir::Value repeated(mlir::Value vector, int64_t lane);

  using Body = llvm::function_ref<void(mlir::Value)>;
  using Carry = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)>;
  void loop(mlir::Value from, mlir::Value to, int64_t step, Body body);
  llvm::SmallVector<mlir::Value> loop(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange init,
                                      Carry body);
  /// While the first of what `head` gives holds: head's other values go to `body`, whose result goes to `head`. The
  /// last of them.
  llvm::SmallVector<mlir::Value> loopWhile(mlir::ValueRange init,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> head,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// What `then` gives, or else `otherwise`.
  mlir::Value either(mlir::Value condition, mlir::Type type, llvm::function_ref<mlir::Value()> then,
                     llvm::function_ref<mlir::Value()> otherwise);

private:
  llvm::SmallVector<mlir::Value> transposedSquare(llvm::ArrayRef<mlir::Value> vectors);
  mlir::Value raw(mlir::Type type, mlir::Value pointer, unsigned align);
  mlir::Value fromStorage(mlir::Value value, mlir::Type element);
  mlir::Value toStorage(mlir::Value value);
};

/// A sum of something and a number that is known: the two.
std::pair<mlir::Value, int64_t> withoutNumber(mlir::Value sum);
/// Whether a number is a multiple of another one, as far as loops, sums and products tell.
bool isMultiple(mlir::Value number, int64_t of);

} // namespace tutti

#endif
