// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The patterns of tutti-compose, by what they are about.
#ifndef TUTTI_PASSES_COMPOSE_PATTERNS_H
#define TUTTI_PASSES_COMPOSE_PATTERNS_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/PatternMatch.h"

namespace tutti {

/// Merges moves that follow each other into one.
void addMovePatterns(mlir::RewritePatternSet &patterns);
/// Replaces moves that move nothing by their operands.
void addStillPatterns(mlir::RewritePatternSet &patterns);
/// Lets maps read the operands of moves instead of their results.
void addReadPatterns(mlir::RewritePatternSet &patterns);
/// Lets maps run along the contiguous axis of what they read, and sinks reshapes below parameters.
void addShapePatterns(mlir::RewritePatternSet &patterns);
/// Computes rows in the order that they have before a move, or behind it.
void addRowOrderPatterns(mlir::RewritePatternSet &patterns);
/// Computes maps of a layer's sums before the moves behind it that turn columns to the front.
void addLayerPatterns(mlir::RewritePatternSet &patterns);
/// Turns contractions that are no product as they are spelled into products.
void addEinsumPatterns(mlir::RewritePatternSet &patterns);
/// Lets products of two values read their operands as these lie in memory.
void addProductPatterns(mlir::RewritePatternSet &patterns);
/// Computes a single number where it is read.
void addScalarPatterns(mlir::RewritePatternSet &patterns);
/// Computes what depends on inputs alone in the shape in which it is read.
void addInputPatterns(mlir::RewritePatternSet &patterns);
/// Merges axes that stay neighbours while others change places, so that they are moved as one.
void addAxisPatterns(mlir::RewritePatternSet &patterns);

/// Creates a map at the rewriter's place that takes over the body of `map`, with a type, inputs and accesses of its
/// own.
MapOp remapped(mlir::PatternRewriter &rewriter, MapOp map, mlir::RankedTensorType type, mlir::ValueRange inputs,
               llvm::ArrayRef<mlir::AffineMap> accesses);

} // namespace tutti

#endif
