// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Index maps, with what is known of the sizes that they go through.
#ifndef TUTTI_PASSES_ANALYSIS_ACCESS_H
#define TUTTI_PASSES_ANALYSIS_ACCESS_H

#include "dialects/tutti/Tutti.h"

namespace tutti {

/// The same map without the divisions and remainders that its dimensions, each in [0, size), make superfluous:
/// (16 d0 + d1) floordiv 64 with d0 < 4 and d1 < 16 is 0.
mlir::AffineMap simplifyAccess(mlir::AffineMap access, llvm::ArrayRef<Size> sizes);

/// Where the element of a result with these sizes comes from, by `outer` and then by `inner`, simplified. Nothing if
/// sizes that only the inner op knows take part.
std::optional<mlir::AffineMap> composed(mlir::AffineMap inner, mlir::AffineMap outer, llvm::ArrayRef<Size> sizes);

/// Divisions and remainders in a map.
unsigned divisionsOf(mlir::AffineMap access);

/// The same map without symbols, the sizes of its own type; nothing where one takes part.
std::optional<mlir::AffineMap> withoutSymbols(mlir::AffineMap access);

/// Whether an access to a tensor of the type `from` reads, for each element of a result of the type `to`, the one at
/// its own place. The only place along an axis of length 1 is 0.
bool isOwnPlace(mlir::AffineMap access, mlir::RankedTensorType from, mlir::RankedTensorType to);

/// The access of a move that only gives axes another order, and keeps all elements: a permutation that reads an axis
/// in part is a slice from its begin.
std::optional<mlir::AffineMap> transpositionOf(MapOp map);

/// What a sum adds up; of any other expression itself.
llvm::SmallVector<mlir::AffineExpr> summandsOf(mlir::AffineExpr expr);

/// How much an expression grows with a dimension; nothing if not evenly.
std::optional<int64_t> slope(mlir::AffineExpr expr, unsigned dim);
/// Whether the elements of a row lie along one axis of what is read, which is not the last, so apart.
bool isTurn(mlir::AffineMap access, mlir::RankedTensorType from);

/// The dimensions of an access, [0, sizes) each, in the order in which the elements lie that it reads of a tensor of
/// the sizes `from`, if it reads each of these once: `from`'s axes are the dimensions, or several of them in one.
std::optional<llvm::SmallVector<unsigned>> axesAsTheyLie(mlir::AffineMap access, llvm::ArrayRef<Size> from,
                                                         llvm::ArrayRef<Size> sizes);
/// The same of an access that may read part of a tensor: of each axis a place, or a run of places.
std::optional<llvm::SmallVector<unsigned>> axesAsPartsLie(mlir::AffineMap access, llvm::ArrayRef<Size> from,
                                                          llvm::ArrayRef<Size> sizes);

} // namespace tutti

#endif
