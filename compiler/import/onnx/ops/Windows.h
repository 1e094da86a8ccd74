// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What convolutions and pools share: attributes of an image's axes, and windows whose elements are gathered.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H

#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

/// An image of more or longer axes is no model's.
constexpr int64_t maxAxes = 3, maxLength = 1 << 20;

/// How many windows there are, and elements in each.
struct Counts {
  int64_t windows = 1, elements = 1;
};

/// An attribute with a number for each axis of the image; nothing, and a problem, where it has another count of them.
std::optional<llvm::SmallVector<int64_t>> perAxis(Node &node, llvm::StringRef name, size_t count, int64_t otherwise);
/// x (rows, channels, image) as (rows, image, channels), with one axis for the image.
Operand channelsLast(Emit &emit, const Operand &x);
/// Of x (rows, image, channels) the elements at `places`, those of each window in turn, as (rows, windows, elements,
/// channels); 0 where a place is -1.
Operand takenAt(Emit &emit, const Operand &x, const Counts &counts, llvm::ArrayRef<int64_t> places);

} // namespace tutti

#endif
