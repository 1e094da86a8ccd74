// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of constants, by which layout ops move no byte.
#ifndef TUTTI_COMPILER_IMPORT_WEIGHTSOURCE_H
#define TUTTI_COMPILER_IMPORT_WEIGHTSOURCE_H

#include "compiler/import/Model.h"
#include "dialects/tutti/HostTensor.h"

#include <optional>

namespace tutti {

/// The product of the dims; nothing when it leaves 63 bits or a dim is negative.
std::optional<int64_t> countOf(llvm::ArrayRef<int64_t> dims);

/// A view of dense row-major bytes.
WeightSource denseView(std::shared_ptr<void> owner, const char *data, mlir::Type element, llvm::ArrayRef<int64_t> dims);
/// A dense view as the whole of an initializer.
WeightSource asInitializer(WeightSource dense, llvm::StringRef name);
/// The source of a computed constant, with the tensor's elements in bytes of its type.
WeightSource computedSource(const HostTensor &tensor);
/// A scalar.
WeightSource scalarSource(mlir::Type element, double value);

WeightSource transposeView(const WeightSource &x, llvm::ArrayRef<int64_t> permutation);
/// Whether some strides show x as `dims` without a copy.
bool canReshape(const WeightSource &x, llvm::ArrayRef<int64_t> dims);
/// Copies when the strides do not allow a view. `dims` has as many elements as x.
WeightSource reshapeView(const WeightSource &x, llvm::ArrayRef<int64_t> dims);
/// `dims` is a shape that x broadcasts to.
WeightSource broadcastView(const WeightSource &x, llvm::ArrayRef<int64_t> dims);
WeightSource sliceView(const WeightSource &x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes,
                       llvm::ArrayRef<int64_t> steps);

HostTensor toHost(const WeightSource &x);
/// The same for computing a value that goes into the program, which then depends on x's numbers.
HostTensor readForProgram(const WeightSource &x);
/// The elements as an attribute of the IR.
mlir::DenseElementsAttr toAttr(const WeightSource &x);
/// The value of a constant with one element. `scalarForProgram`: for a value or decision that the program depends on.
std::optional<double> scalarOf(const WeightSource &x);
std::optional<double> scalarForProgram(const WeightSource &x);
/// Marks that the program depends on x's numbers, which then cannot be replaced.
void setRead(const WeightSource &x);

} // namespace tutti

#endif
