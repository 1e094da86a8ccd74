// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers of convolutions and pools: attributes of an image's axes, and windows whose elements are gathered.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_WINDOWS_H

#include "compiler/import/Limits.h"
#include "compiler/import/onnx/ops/Ops.h"

namespace tutti {

/// The windows along an axis of the image.
struct Windows : WindowAxis {
  int64_t behind = 0; ///< elements of padding behind the image that belong to it
  bool overlap() const { return count > 1 && stride < length; }
  /// Whether the image can be split into them.
  bool lieApart() const { return !overlap() && !leavesImage() && (gap == 1 || length == 1); }
};

/// The most elements of a window that are taken one by one, each as a strided slice of the image.
constexpr int64_t mostTaken = 32;
/// The most groups of channels that get a product each.
constexpr int64_t mostProducts = 16;

/// The number of windows, and of elements in each.
struct Counts {
  int64_t windows = 1, elements = 1;
  int64_t all() const { return windows * elements; }
};

/// A convolution's operands, or a transposed one's.
struct Convolution {
  Operand x;    ///< (rows, channels, a, b ...)
  Operand w;    ///< with as many axes, all of a known length
  Operand bias; ///< or none
  int64_t groups;
  llvm::SmallVector<int64_t> kernel; ///< the lengths of w's axes

  /// The node's operands; nothing after a problem. The caller checks the channels, whose meaning differs between the
  /// ops.
  static std::optional<Convolution> of(Node &node);
  /// Whether the bias, if there is one, has this number of channels; a problem if not.
  bool hasBiasOf(Emit &emit, const Size &made) const;
};
/// y (rows, image, made) with a bias, if there is one. Nothing if y is nothing.
Operand withBias(Emit &emit, const Operand &y, const Operand &bias);

/// An attribute with a number for each axis of the image; nothing, and a problem, if it has another count.
std::optional<llvm::SmallVector<int64_t>> perAxis(Node &node, llvm::StringRef name, size_t count, int64_t otherwise);
/// The attribute `auto_pad`; nothing, and a problem, if its value is not one of the standard's.
std::optional<std::string> paddingOf(Node &node);
/// The windows of x (rows, channels, a, b ...) along each axis of the image. Attributes say their lengths, or `kernel`
/// does. Nothing after a problem.
std::optional<llvm::SmallVector<Windows>> windowsOf(Node &node, const Operand &x, llvm::ArrayRef<int64_t> kernel);
/// The counts; nothing, and a problem, if they exceed the limit. A caller that lists all elements pays for that from
/// the budget.
std::optional<Counts> countsOf(Node &node, llvm::ArrayRef<Windows> windows);

/// An image split into windows: each axis becomes one over the windows and, if these are longer than 1, one within a
/// window.
struct Split {
  Operand image;
  llvm::SmallVector<int64_t> across, inside; ///< axes that tell windows apart, and that go through one
};
/// Nothing behind a problem.
std::optional<Split> splitOf(Node &node, const Operand &x, llvm::ArrayRef<Windows> windows);
/// The convolution of x (rows, channels, a, b ...) with w (made, channels of a group, a, b ...), as `channelsFirst`
/// takes it.
Operand convolved(Node &node, const Operand &x, const Operand &w, llvm::ArrayRef<Windows> windows, int64_t groups);
/// x (rows, channels, a, b ...) as (rows, image, channels), with one axis for the image.
Operand channelsLast(Emit &emit, const Operand &x);
/// The way back: y (rows, image, channels), with one axis for the image or each of its own, or of one place (rows,
/// channels), as (rows, channels, a, b ...).
Operand channelsFirst(Emit &emit, const Operand &y, llvm::ArrayRef<Size> image);

/// Whether x contains a transposition that moved channels to the front, as behind a layer, whose channels lie last.
bool liesTurned(const Operand &x);

/// x with a margin of `outside` along an axis, so that all windows lie in it.
Operand paddedFor(Emit &emit, const Operand &x, int64_t axis, const WindowAxis &along, const Operand &outside);
/// The i-th element of all windows along the axes of x from `first` on, which none of them leaves.
Operand elementOf(Emit &emit, const Operand &x, llvm::ArrayRef<WindowAxis> windows, int64_t first, int64_t i);

/// Elements added before and behind an axis, or cropped if negative.
struct Padding {
  int64_t axis, before, behind;
};
/// An image x (rows, channels, a, b ...) padded along a, b ..., as convolutions take it: windows of one element.
/// Nothing if it cannot have such a margin.
std::optional<Operand> imageWithMargin(Node &node, const Operand &x, llvm::ArrayRef<Padding> pads, Outside outside);
/// The same for an image that joins its own ends around itself, as circular padding is exported; else x.
Operand wrapsAround(Node &node, const Operand &x);
/// The elements at `places`, which have this shape, of each row of x (rows, image) or (rows, image, channels), in the
/// image's place; 0 where a place is -1.
Operand takenAt(Emit &emit, const Operand &x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> places);

} // namespace tutti

#endif
