// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small examples of every op, and what the laws do with them.
#ifndef TUTTI_TEST_LAWS_INSTANCES_H
#define TUTTI_TEST_LAWS_INSTANCES_H

#include "dialects/tutti/Tutti.h"

#include "mlir/IR/OwningOpRef.h"

#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace tutti::laws {

/// One op applied to arguments: "%a: tensor<2xf32>" and "tutti.exp %a : tensor<2xf32>". Symbols in the types have the
/// sizes of `sizes()`.
struct Instance {
  std::string op; ///< "tutti.exp"
  std::string arguments;
  std::string text;
  std::string refused; ///< what the compiler says instead of compiling it; the reference takes it all the same
};

inline void PrintTo(const Instance &instance, std::ostream *os) { *os << instance.text; }

/// The pointwise ops' instances (PointwiseInstances.cpp).
void pointwise(std::vector<Instance> &all);
/// Those of other ops by element type (TypeInstances.cpp).
void typed(std::vector<Instance> &all);

/// Every instance of the tables in Instances.cpp.
const std::vector<Instance> &instances();

/// A module with the instance as the one op of @main, which returns its result. Null and a failed test if it does not
/// parse.
struct Subject {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::Operation *op = nullptr;
};
Subject parse(const Instance &instance);

/// The context with every dialect of the model stage.
mlir::MLIRContext &context();
/// The sizes that the instances' symbols have: batch = 5.
llvm::StringMap<int64_t> sizes();

/// Reproducible elements: floats in [-3, 3] with some zeros, integers in [-7, 7], i1.
HostTensor random(std::mt19937 &generator, mlir::Type element, llvm::ArrayRef<int64_t> dims);
HostTensor random(std::mt19937 &generator, mlir::RankedTensorType type);
/// One tensor of equal ones, each an index along a new first axis; and back.
HostTensor stack(llvm::ArrayRef<HostTensor> tensors);
HostTensor unstack(const HostTensor &tensor, int64_t index);
/// Bit for bit, any NaN equal to any NaN. An empty string, or where they differ.
std::string difference(const HostTensor &a, const HostTensor &b);

} // namespace tutti::laws

#endif
