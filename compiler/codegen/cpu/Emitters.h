// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a kernel, each emitted by a function of its own.
#ifndef TUTTI_COMPILER_CODEGEN_CPU_EMITTERS_H
#define TUTTI_COMPILER_CODEGEN_CPU_EMITTERS_H

#include "Step.h"
#include "dialects/plan/SameButForName.h"
#include "passes/analysis/TopPlan.h"

namespace tutti {

/// Rows times a packed weight, with what is computed from the registers (Contract.cpp).
void emitContraction(StepEmitter &emitter, const Step &step);
/// Rows of one value times columns of another, in the same way (Product.cpp).
void emitProduct(StepEmitter &emitter, const Step &step);

/// Calls `rows` with one block of the tile's rows after the other, for some columns or all, once copies of what they
/// read transposed are there (Transposed.cpp).
using RowRange = llvm::function_ref<void(mlir::Value from, mlir::Value to, int64_t step)>;
void emitTransposed(StepEmitter &emitter, llvm::ArrayRef<TransposedReads::Operand> operands, RowRange rows);
/// Values stored row by row; all steps go through a row before the next row begins (Rows.cpp).
void emitRows(StepEmitter &emitter, llvm::ArrayRef<Step> steps);

/// Whether a value is made of maps alone, whose lanes can be those of several rows: it lies row behind row, and what
/// is read of memory is the same element of such a value, a row's only one, what depends on the column alone, or at
/// places that are known. And that is worth it: `work` for an element, of which each row would take a vector, against
/// what is gathered (Packed.cpp).
bool isPacked(StepEmitter &emitter, mlir::Value value, int64_t work);
/// All rows of the tile at once.
void emitPacked(StepEmitter &emitter, mlir::Value value);

// The phases of a row that are more than one element after the other; each makes one row of its op's result.
/// Lane l takes elements l, l + 16, ... and a fixed tree makes one of the lanes (Reduce.cpp). Of several rows alike,
/// since each addition waits for the one before.
void emitReduction(StepEmitter &emitter, ReduceOp op, llvm::ArrayRef<mlir::Value> rows);
void emitArg(StepEmitter &emitter, ArgOp op, mlir::Value row);
/// Sums of 16 neighbours and of what came before (Scan.cpp).
void emitScan(StepEmitter &emitter, ScanOp op, mlir::Value row);
/// Ranks, the best so far in a heap, or the whole row in order (Top.cpp).
void emitTop(StepEmitter &emitter, TopOp op, mlir::Value row);

/// x, then the updates in their order (Scatter.cpp).
void emitScatter(StepEmitter &emitter, ScatterOp op, mlir::Value row);

/// Writes a value at rows, as many vectors at a time as math functions like; `elements` computes it at some points
/// (Rows.cpp).
using Elements = llvm::function_ref<llvm::SmallVector<mlir::Value>(llvm::MutableArrayRef<Point>)>;
void emitElements(StepEmitter &emitter, mlir::Value value, llvm::ArrayRef<mlir::Value> rows, Elements elements);

/// Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2, algorithm M) of `count` vectors, every lane
/// by itself (Sort.cpp). `exchange` puts vector i and the one `distance` behind it in order.
void emitExchanges(Code &code, mlir::Value count,
                   llvm::function_ref<void(mlir::Value i, mlir::Value distance)> exchange);

/// Sorts `count` 64-bit numbers, a multiple of 16, the largest first, in memory for twice as many (Sort.cpp). Where
/// they are then.
mlir::Value emitSort(Code &code, mlir::Value memory, int64_t count);

/// The places of the `wanted` largest of a row's keys, those of equal ones that come first, into `target` (Ranks.cpp).
/// `keysAt` gives those of 16 columns as i32, any where the mask is not set.
using KeysAt = llvm::function_ref<mlir::Value(mlir::Value column, mlir::Value mask)>;
void emitRanks(Code &code, const TopPlan &plan, int64_t columns, int64_t wanted, KeysAt keysAt, mlir::Value work,
               mlir::Value target);

/// What a reduction, or a head, makes of two: sums for a mean. Bools have extremes alone.
mlir::Value combined(Code &code, ReduceKind kind, mlir::Value a, mlir::Value c);

/// sum + left right, of words of four bytes (tutti.contract with `bytes`): vectors or numbers.
mlir::Value multiplyAddBytes(Code &code, const CpuLevel &level, mlir::Value left, mlir::Value right, mlir::Value sum);

/// What a reduction has made of some elements, scalars or vectors, in as many values as are carried through its loop.
/// A maximum of floats that keeps a NaN and both zeros is a chain of six instructions that wait for each other. An
/// extreme is instead found from the elements' bits: the largest as signed numbers, the smallest and the largest as
/// unsigned ones, where no instruction waits for another and any order will do.
class Fold {
public:
  Fold(Code &code, ReduceKind kind, mlir::Type type);
  unsigned width() const { return element ? 3 : 1; }
  llvm::SmallVector<mlir::Value> none();
  llvm::SmallVector<mlir::Value> with(mlir::ValueRange sofar, mlir::Value x);
  llvm::SmallVector<mlir::Value> merged(mlir::ValueRange a, mlir::ValueRange c);
  /// `together` makes one of lanes, or of what it is given: of numbers in the order of the elements.
  mlir::Value result(mlir::ValueRange sofar, llvm::function_ref<mlir::Value(mlir::Value)> together);

private:
  Code &code;
  ReduceKind kind;
  mlir::Type type, bits;
  mlir::FloatType element; ///< of a float extreme, else null
  mlir::Value number(mlir::Type type, const llvm::APInt &value);
  mlir::Value turned(mlir::Value x);
};

/// Where a head finds its members and leaves its answer.
struct HeadPlace {
  mlir::Value members; ///< all members' values
  mlir::Value answer;
  mlir::Value count;     ///< active members
  mlir::Value totalRows; ///< of the call
  mlir::Value columns;   ///< of a row
  mlir::Value firstRow, rows;
  mlir::Value scratch; ///< headScratchBytes
};
/// One answer of the members for a tile of rows (Heads.cpp).
void emitHead(Code &code, HeadOp head, const HeadPlace &place);

/// The functions of steps in a module, and their names: steps that are equal, of one kernel or of several, are one.
using StepFunctions = MapButForName<std::string>;

/// The kernel's function, named `name`, for one level, into a module of llvm, scf, arith, math and vector ops
/// (Kernel.cpp); how it is called stands in runtime/device/cpu/Engine.h. `steps` are those that the module has, and
/// `sizes` the call's symbols in the order of the kernel's `sizes` argument. Fails on a body that the
/// analysis and the emitters see differently: our own mistake.
llvm::Error emitKernel(mlir::ModuleOp module, StepFunctions &steps, plan::KernelOp kernel,
                       llvm::ArrayRef<std::string> sizes, const CpuLevel &level, llvm::StringRef name);

} // namespace tutti

#endif
