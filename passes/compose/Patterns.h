// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The patterns of tutti-compose, by what they are about.
#ifndef TUTTI_PASSES_COMPOSE_PATTERNS_H
#define TUTTI_PASSES_COMPOSE_PATTERNS_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/PatternMatch.h"

namespace tutti {

/// Moves of what has been moved: one move.
void addMovePatterns(mlir::RewritePatternSet &patterns);
/// What a move leaves where it was is read there.
void addStillPatterns(mlir::RewritePatternSet &patterns);
/// Maps read what has been moved where it was.
void addReadPatterns(mlir::RewritePatternSet &patterns);
/// Maps go along what are neighbours in what they read, and reshapes sink below parameters.
void addShapePatterns(mlir::RewritePatternSet &patterns);
/// Rows come in the order of the moves before or behind them.
void addRowOrderPatterns(mlir::RewritePatternSet &patterns);
/// Maps of a layer's sums are computed before the moves behind it that turn columns to the front.
void addLayerPatterns(mlir::RewritePatternSet &patterns);
/// Contractions that are no product as they are spelled become one.
void addEinsumPatterns(mlir::RewritePatternSet &patterns);
/// Products of two values read their operands as these lie.
void addProductPatterns(mlir::RewritePatternSet &patterns);
/// A single number is computed where it is read.
void addScalarPatterns(mlir::RewritePatternSet &patterns);
/// What is computed of inputs alone has the shape in which it is read.
void addInputPatterns(mlir::RewritePatternSet &patterns);
/// Axes that stay neighbours while others change places are moved as one.
void addAxisPatterns(mlir::RewritePatternSet &patterns);

/// A map with the body of another, before the rewriter's place: of a type, with inputs and accesses of its own.
MapOp remapped(mlir::PatternRewriter &rewriter, MapOp map, mlir::RankedTensorType type, mlir::ValueRange inputs,
               llvm::ArrayRef<mlir::AffineMap> accesses);

} // namespace tutti

#endif
