// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What convolutions and pools share: attributes of an image's axes, and windows whose elements are gathered.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H

#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

/// An image of more or longer axes is no model's.
constexpr int64_t maxAxes = 3, maxLength = 1 << 20;

/// The windows along an axis of the image.
struct Windows {
  int64_t size; ///< the image's
  int64_t length, stride, count;
  int64_t gap = 1;                ///< from one element of a window to the next
  int64_t before = 0, behind = 0; ///< elements of padding that belong to the image
  bool overlap() const { return count > 1 && stride < length; }
  bool leavesImage() const { return before > 0 || (count - 1) * stride + (length - 1) * gap - before >= size; }
  /// Whether the image can be split into them.
  bool lieApart() const { return !overlap() && !leavesImage() && (gap == 1 || length == 1); }
  /// Where an element of a window is in the image; it may be outside.
  int64_t place(int64_t window, int64_t element) const { return window * stride + element * gap - before; }
};

/// How many windows there are, and elements in each.
struct Counts {
  int64_t windows = 1, elements = 1;
};

/// An attribute with a number for each axis of the image; nothing, and a problem, where it has another count of them.
std::optional<llvm::SmallVector<int64_t>> perAxis(Node &node, llvm::StringRef name, size_t count, int64_t otherwise);
/// x (rows, channels, image) as (rows, image, channels), with one axis for the image.
Operand channelsLast(Emit &emit, const Operand &x);
/// The elements at `places`, which have this shape, of each row of x (rows, image) or (rows, image, channels), in the
/// image's place; 0 where a place is -1.
Operand takenAt(Emit &emit, const Operand &x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> places);

} // namespace tutti

#endif
