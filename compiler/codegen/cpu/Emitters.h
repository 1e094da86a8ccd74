// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a kernel, each emitted by a function of its own.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_EMITTERS_H
#define TUTTI_COMPILER_CODEGEN_CPU_EMITTERS_H

#include "Step.h"
#include "dialects/plan/SameButForName.h"
#include "passes/analysis/TopPlan.h"

namespace tutti {

/// Rows times a packed weight, and the values computed from the sums in registers (Contract.cpp).
void emitContraction(StepEmitter &emitter, const Step &step);
/// Rows of one value times columns of another, in the same way (Product.cpp).
void emitProduct(StepEmitter &emitter, const Step &step);

/// Calls `rows` for one block of the tile's rows after the other, for some or all columns, after copying the operands
/// that these rows read transposed (Transposed.cpp).
using RowRange = llvm::function_ref<void(mlir::Value from, mlir::Value to, int64_t step)>;
void emitTransposed(StepEmitter &emitter, llvm::ArrayRef<TransposedReads::Operand> operands, RowRange rows);
/// Values stored row by row; all steps finish a row before the next row begins (Rows.cpp).
void emitRows(StepEmitter &emitter, llvm::ArrayRef<Step> steps);

/// Whether a value can and should be computed with lanes of several rows. It is made of maps alone, and its rows lie
/// end to end. Each read of memory is the same element of such a value, a row's only element, an element that depends
/// on the column alone, or one at known places. Packing must pay: it saves vectors of `work` per element, as each row
/// would take one of its own, and costs gathers (Packed.cpp).
bool isPacked(StepEmitter &emitter, mlir::Value value, int64_t work);
/// Emits such a value for all rows of the tile at once.
void emitPacked(StepEmitter &emitter, mlir::Value value);

// The phases of a row that are more than one element after the other; each makes one row of its op's result.
/// A reduction: lane l combines elements l, l + 16, ..., and a fixed tree combines the lanes (Reduce.cpp). Several rows
/// are interleaved, since each addition of a row waits for the one before.
void emitReduction(StepEmitter &emitter, ReduceOp op, llvm::ArrayRef<mlir::Value> rows);
void emitArg(StepEmitter &emitter, ArgOp op, mlir::Value row);
/// A scan: prefix sums of 16 neighbours, plus the sum of all before (Scan.cpp).
void emitScan(StepEmitter &emitter, ScanOp op, mlir::Value row);
/// A top-k: by ranks, by a heap of the best so far, or by sorting the whole row (Top.cpp).
void emitTop(StepEmitter &emitter, TopOp op, mlir::Value row);

/// A scatter: stores x, then applies the updates in their order (Scatter.cpp).
void emitScatter(StepEmitter &emitter, ScatterOp op, mlir::Value row);

/// Writes a value at rows, as many vectors at a time as math functions like; `elements` computes it at some points
/// (Rows.cpp).
using Elements = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::MutableArrayRef<Point>)>;
void emitElements(StepEmitter &emitter, mlir::Value value, llvm::ArrayRef<mlir::Value> rows, Elements elements);

/// Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M) of `count` vectors, every lane
/// by itself (Sort.cpp). `exchange` puts vector i and the one `distance` behind it in order.
void emitExchanges(Code &code, mlir::Value count,
                   llvm::function_ref<void(mlir::Value i, mlir::Value distance)> exchange);

/// Sorts `count` 64-bit numbers, a multiple of 16, the largest first, in memory for twice as many (Sort.cpp). Returns
/// the address of the sorted numbers.
mlir::Value emitSort(Code &code, mlir::Value memory, int64_t count);

/// Writes the places of the `wanted` largest of a row's keys to `target`; among equal keys the first ones win
/// (Ranks.cpp). `keysAt` gives the keys of 16 columns as i32, with any value where the mask is not set.
using KeysAt = llvm::function_ref<mlir::Value(mlir::Value column, mlir::Value mask)>;
void emitRanks(Code &code, const TopPlan &plan, int64_t columns, int64_t wanted, KeysAt keysAt, mlir::Value work,
               mlir::Value target);

/// The combination of two elements by a reduction or a head; a sum for a mean. Bools have only extremes.
mlir::Value combined(Code &code, ReduceKind kind, mlir::Value a, mlir::Value c);

/// sum + left right, of words of four bytes (tutti.contract with `bytes`): vectors or numbers.
mlir::Value multiplyAddBytes(Code &code, const CpuLevel &level, mlir::Value left, mlir::Value right, mlir::Value sum);

/// The state of a reduction over some elements, scalars or vectors, as the values carried through its loop. A maximum
/// of floats that keeps a NaN and both zeros is a chain of six instructions that wait for each other. An extreme is
/// instead found from the elements' bits: the largest as signed numbers, the smallest and the largest as unsigned ones,
/// where no instruction waits for another and any order will do.
class Fold {
public:
  Fold(Code &code, ReduceKind kind, mlir::Type type);
  unsigned width() const { return element ? 3 : 1; }
  llvm::SmallVector<mlir::Value> none();
  llvm::SmallVector<mlir::Value> with(mlir::ValueRange sofar, mlir::Value x);
  llvm::SmallVector<mlir::Value> merged(mlir::ValueRange a, mlir::ValueRange c);
  /// The result of the reduction. `together` reduces the lanes of one carried value, in which numbers have the order of
  /// the elements.
  mlir::Value result(mlir::ValueRange sofar, llvm::function_ref<mlir::Value(mlir::Value)> together);

private:
  Code &code;
  ReduceKind kind;
  mlir::Type type, bits;
  mlir::FloatType element; ///< of a float extreme, else null
  mlir::Value number(mlir::Type type, const llvm::APInt &value);
  mlir::Value turned(mlir::Value x);
};

/// The memory of a head: its members' values and its answer.
struct HeadPlace {
  mlir::Value members; ///< all members' values
  mlir::Value answer;
  mlir::Value count;     ///< active members
  mlir::Value totalRows; ///< of the call
  mlir::Value columns;   ///< of a row
  mlir::Value firstRow, rows;
  mlir::Value scratch; ///< headScratchBytes
};
/// Computes a head's answer from the members for a tile of rows (Heads.cpp).
void emitHead(Code &code, HeadOp head, const HeadPlace &place);

/// The names of the step functions in a module; equal steps, of one kernel or several, share a function.
using StepFunctions = MapButForName<std::string>;

/// The kernel's function, named `name`, for one level, into a module of llvm, scf, arith, math and vector ops
/// (Kernel.cpp); how it is called stands in runtime/device/cpu/Engine.h. `steps` are those that the module has, and
/// `sizes` the call's symbols in the order of the kernel's `sizes` argument. Fails on a body that the
/// analysis and the emitters see differently: our own mistake.
llvm::Error emitKernel(mlir::ModuleOp module, StepFunctions &steps, plan::KernelOp kernel,
                       llvm::ArrayRef<std::string> sizes, const CpuLevel &level, llvm::StringRef name);

} // namespace tutti

#endif
