// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps, with what is known of the sizes that they go through.
#ifndef TUTTI_PASSES_ANALYSIS_ACCESS_H
#define TUTTI_PASSES_ANALYSIS_ACCESS_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// The same map without the divisions and remainders that its dimensions, each in [0, size), make superfluous:
/// (16 d0 + d1) floordiv 64 with d0 < 4 and d1 < 16 is 0.
mlir::AffineMap simplifyAccess(mlir::AffineMap access, llvm::ArrayRef<Size> sizes);

/// The access that applies `outer`, then `inner`, simplified: where an element of a result with these sizes comes from.
/// Nothing if it uses sizes that only the inner op knows.
std::optional<mlir::AffineMap> composed(mlir::AffineMap inner, mlir::AffineMap outer, llvm::ArrayRef<Size> sizes);

/// The number of divisions and remainders in a map.
unsigned divisionsOf(mlir::AffineMap access);

/// The map without its symbols, which are sizes of its own type; nothing where it uses one.
std::optional<mlir::AffineMap> withoutSymbols(mlir::AffineMap access);

/// Whether an access is the identity: an element of a result of the type `to` reads the element at its own index of a
/// tensor of the type `from`. Along an axis of length 1 that index may be the constant 0.
bool isOwnPlace(mlir::AffineMap access, mlir::RankedTensorType from, mlir::RankedTensorType to);

/// The access of a move that is a transposition: it permutes the axes and keeps all elements. A permutation that reads
/// an axis in part is not: it is a slice from its begin.
std::optional<mlir::AffineMap> transpositionOf(MapOp map);

/// The summands of a sum; of any other expression, itself.
llvm::SmallVector<mlir::AffineExpr> summandsOf(mlir::AffineExpr expr);

/// The coefficient of a dimension in an expression; nothing if the expression is not linear in it.
std::optional<int64_t> slope(mlir::AffineExpr expr, unsigned dim);
/// Whether the elements of a row lie along one axis of the tensor that is read other than its last, and so with a
/// stride.
bool isTurn(mlir::AffineMap access, mlir::RankedTensorType from);

/// The dimensions of an access, [0, sizes) each, in the memory order of the elements that it reads of a tensor of the
/// sizes `from`, outermost first. Nothing unless it reads each element once, and each axis of `from` is one dimension
/// or several merged ones.
std::optional<llvm::SmallVector<unsigned>> axesAsTheyLie(mlir::AffineMap access, llvm::ArrayRef<Size> from,
                                                         llvm::ArrayRef<Size> sizes);
/// The same for an access that may read part of a tensor: of each axis one index, or a run of indices.
std::optional<llvm::SmallVector<unsigned>> axesAsPartsLie(mlir::AffineMap access, llvm::ArrayRef<Size> from,
                                                          llvm::ArrayRef<Size> sizes);

} // namespace tutti

#endif
