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
  /// Of a single element, whose weights lie side by side, those that are in the result, which are then all of it. False
  /// where there is more than one element, or more in the result.
  bool isOfOne() const { return size == 1 && gap == 1 && before >= 0 && before + count <= length; }
  /// That of these weights alone, from the one at `before` on.
  Spread ofOne() const { return {1, count, count, 1, 0, count}; }
  /// The elements, and the weights of each, that land at a place.
  llvm::SmallVector<std::pair<int64_t, int64_t>> landing(int64_t place) const;
};

/// Along an axis of the image the places of a step, which lie behind each other, are columns of one product: of the
/// windows of all elements that land in it. Or each place has a product of its own.
class StepsAlong {
public:
  WindowAxis windows;
  /// The elements that land at one place of each step, and their weights.
  struct Place {
    WindowAxis windows;
    llvm::SmallVector<int64_t> weights;
  };

  /// Nothing where weights have gaps or do not fill a step, most of whose columns would be zeros, or padding takes away
  /// whole steps.
  static std::optional<StepsAlong> of(const Spread &along);
  /// For each element of a window and each place of a step its weight; `length` where it has none.
  llvm::SmallVector<int64_t> weights() const;
  /// The places of a step, each by itself; none where what lands at one begins behind its step.
  llvm::SmallVector<Place> places() const;
  /// How many times as many products all places together take as each by itself.
  double waste() const { return double(windows.length * along.stride) / double(along.length); }
  const Spread &spread() const { return along; }

private:
  Spread along;
  explicit StepsAlong(const Spread &along);
};

/// The axes of the image x under weights of these lengths along them. Nothing behind a problem.
std::optional<llvm::SmallVector<Spread>> spreadsOf(Node &node, const Operand &x, llvm::ArrayRef<int64_t> kernel);
/// Of all axes; nothing where one has none.
std::optional<llvm::SmallVector<StepsAlong>> stepsOf(llvm::ArrayRef<Spread> spreads);
/// At steps of one what lands at a place comes from a window of the image, by the weights turned around: a
/// convolution's. Nothing where steps are longer, or padding takes away more than a window reaches.
std::optional<llvm::SmallVector<Windows>> windowsOfLandings(llvm::ArrayRef<Spread> spreads);
/// Of each place of the result in turn the products that land there, as element times weights plus weight, -1 for none:
/// as many for each place. Nothing, and a problem, where they are too many.
std::optional<llvm::SmallVector<int64_t>> landingsOf(Node &node, llvm::ArrayRef<Spread> spreads, Counts &counts);

} // namespace tutti

#endif
