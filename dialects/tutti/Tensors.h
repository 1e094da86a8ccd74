// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor types as ops have them: of which elements, and of which sizes.
#ifndef TUTTI_DIALECTS_TUTTI_TENSORS_H
#define TUTTI_DIALECTS_TUTTI_TENSORS_H

#include "Sizes.h"

#include "mlir/IR/BuiltinTypes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace tutti {

/// Whether tensors have elements of this type: floats of 16, 32 and 64 bits, bfloat16, integers of 8 to 64 with and
/// without a sign (those with one are signless), and i1.
bool isElement(mlir::Type type);
/// Bytes of an element in memory and in files: booleans take one.
inline int64_t storageBytes(mlir::Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

/// A type as a message names it: not more of its text than a line takes.
std::string textOf(mlir::Type type);
/// The reason why ops do not take a type. Nothing if it is a ranked tensor of our elements whose encoding has the size
/// of each `?`.
std::optional<std::string> faultOf(mlir::Type type);

/// The sizes of a tensor type's axes, read from its shape and encoding.
Sizes getSizes(mlir::RankedTensorType type);
/// The tensor type with these sizes; its encoding names the ones that are not fixed.
mlir::RankedTensorType getTensorType(llvm::ArrayRef<Size> sizes, mlir::Type element);
/// How many bytes the elements take, one behind the other; nothing on overflow.
std::optional<Size> bytesOf(mlir::RankedTensorType type);

} // namespace tutti

#endif
