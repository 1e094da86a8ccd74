// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The geometry of a transposed convolution: where the product of each image element and each weight lands.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_SPREADS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_SPREADS_H

#include "compiler/import/onnx/ops/Windows.h"

namespace tutti {

/// How an axis of the image is spread: element i times weight j lands at i stride + j gap - before.
struct Spread {
  int64_t size, length, stride, gap, before;
  int64_t count; ///< places

  /// Whether products of two elements can land at one place.
  bool overlap() const { return size > 1 && length > stride; }
  /// Whether the products of neighbouring elements lie side by side and fill the result exactly.
  bool tile() const { return length == stride && gap == 1 && before == 0 && count == size * stride; }
  /// Whether it has a single element, whose weights are contiguous and cover the whole result. False if there is more
  /// than one element, or more in the result.
  bool isOfOne() const { return size == 1 && gap == 1 && before >= 0 && before + count <= length; }
  /// The spread of these weights alone, from the one at `before` on.
  Spread ofOne() const { return {1, count, count, 1, 0, count}; }
  /// The elements, and the weights of each, that land at a place.
  llvm::SmallVector<std::pair<int64_t, int64_t>> landing(int64_t place) const;
};

/// A spread by steps. The places of a step, which are adjacent, are columns of one product with the windows of all
/// elements that land in it. Or each place has a product of its own.
class StepsAlong {
public:
  WindowAxis windows;
  /// The elements that land at one place of each step, and their weights.
  struct Place {
    WindowAxis windows;
    llvm::SmallVector<int64_t> weights;
  };

  /// Nothing if weights have gaps or do not fill a step, so that most columns would be zeros, or if padding removes
  /// whole steps.
  static std::optional<StepsAlong> of(const Spread &along);
  /// The weight for each element of a window and each place of a step; `length` if there is none.
  llvm::SmallVector<int64_t> weights() const;
  /// The places of a step, each by itself; empty if a landing at a place begins behind its step.
  llvm::SmallVector<Place> places() const;
  /// The ratio of products between all places together and each by itself.
  double waste() const { return double(windows.length * along.stride) / double(along.length); }
  const Spread &spread() const { return along; }

private:
  Spread along;
  explicit StepsAlong(const Spread &along);
};

/// The spreads along the axes of the image x, under weights of these lengths. Nothing after a problem.
std::optional<llvm::SmallVector<Spread>> spreadsOf(Node &node, const Operand &x, llvm::ArrayRef<int64_t> kernel);
/// The steps along all axes; nothing if an axis has none.
std::optional<llvm::SmallVector<StepsAlong>> stepsOf(llvm::ArrayRef<Spread> spreads);
/// With a stride of one, what lands at a place comes from a window of the image times the reversed weights, as in a
/// convolution. Nothing for longer strides, or if padding removes more than a window reaches.
std::optional<llvm::SmallVector<Windows>> windowsOfLandings(llvm::ArrayRef<Spread> spreads);
/// For each place of the result in turn the products that land there, as element times weights plus weight, or -1 for
/// none, with the same number for each place. Nothing, and a problem, if they are too many.
std::optional<llvm::SmallVector<int64_t>> landingsOf(Node &node, llvm::ArrayRef<Spread> spreads, Counts &counts);

} // namespace tutti

#endif
