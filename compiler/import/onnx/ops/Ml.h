// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of the ops of the domain ai.onnx.ml: rows of features, and attributes full of numbers.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_ML_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_ML_H

#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

/// Numbers of an attribute as a tensor.
Operand floatsOf(Emit &emit, llvm::ArrayRef<double> numbers, llvm::ArrayRef<int64_t> dims, mlir::Type element);

/// Input i as numbers whose last axis is features of a known count; else a problem.
Operand featuresIn(Node &node, size_t i);
int64_t countOfFeatures(const Operand &x);
/// The same as rows, in float32.
Operand rowsIn(Node &node, size_t i);

/// Reports a problem if an attribute has the wrong number of elements.
bool expectCount(Node &node, llvm::StringRef attribute, size_t given, const llvm::Twine &expected, bool isRight);
/// Reports a problem if one of these attributes has strings.
bool refuseStrings(Node &node, llvm::ArrayRef<llvm::StringRef> attributes, const llvm::Twine &advice);

/// x w + b, with a row of coefficients and an intercept, if any, for each score.
Operand linearScores(Node &node, const Operand &x, int64_t rows, llvm::ArrayRef<double> coefficients,
                     llvm::ArrayRef<double> intercepts);
/// The labels at these places.
Operand labelsAt(Emit &emit, llvm::ArrayRef<int64_t> labels, const Operand &places);
/// The advice about classes whose labels are strings.
extern const llvm::StringLiteral labelAdvice;

} // namespace tutti

#endif
