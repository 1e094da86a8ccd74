// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows that move over an image: where their elements lie.
#ifndef TUTTI_DIALECTS_TUTTI_WINDOWS_H
#define TUTTI_DIALECTS_TUTTI_WINDOWS_H

#include "Enums.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tutti {

/// The most elements of all windows of an op together: a place is held for each.
constexpr int64_t mostWindowPlaces = 1 << 25;
/// The most that each number of an axis may be, so that places do not overflow.
constexpr int64_t mostAlongWindowAxis = 1 << 20;

/// The windows along an axis of the image.
struct WindowAxis {
  int64_t size; ///< of the image
  int64_t length, stride, count;
  int64_t gap = 1;    ///< from one element of a window to the next
  int64_t before = 0; ///< how far the first one begins before the image
  /// How far the last window reaches, from where the first one begins.
  int64_t reach() const { return (count - 1) * stride + (length - 1) * gap + 1; }
  bool leavesImage() const { return before > 0 || reach() - before > size; }
  /// Whether the windows are the whole image, each of its places and of those around it a window.
  bool isMargin() const { return length == 1 && stride == 1 && gap == 1 && count >= before + size; }
  /// The place of an element of a window in the image; it may be outside.
  int64_t place(int64_t window, int64_t element) const { return window * stride + element * gap - before; }
};

/// The element that a place in, before or behind an axis of `size` elements holds; -1 for 0.
inline int64_t elementAt(Outside outside, int64_t place, int64_t size) {
  if (place >= 0 && place < size)
    return place;
  auto modulo = [place](int64_t period) { return (place % period + period) % period; };
  switch (outside) {
  case Outside::zero:
    return -1;
  case Outside::edge:
    return std::clamp<int64_t>(place, 0, size - 1);
  case Outside::wrap:
    return modulo(size);
  case Outside::mirror: { // to and fro
    int64_t there = size == 1 ? 0 : modulo(2 * (size - 1));
    return std::min(there, 2 * (size - 1) - there);
  }
  }
  llvm_unreachable("no such place");
}

/// The image that windows just fill, with the margin that they reach into, each of its places as a window of one
/// element. Nothing where it has more places than all windows have elements. `axes` become those of the windows in it.
template <typename Axes> std::optional<llvm::SmallVector<WindowAxis>> takeMargin(Axes &axes) {
  llvm::SmallVector<WindowAxis> margin;
  int64_t places = 1, elements = 1;
  bool overflows = false;
  for (WindowAxis &along : axes) {
    int64_t reach = along.reach();
    margin.push_back({along.size, /*length=*/1, /*stride=*/1, /*count=*/reach, /*gap=*/1, along.before});
    overflows |= llvm::MulOverflow(places, reach, places);
    elements *= along.count * along.length;
    along.size = reach;
    along.before = 0;
  }
  return overflows || places > elements ? std::nullopt : std::optional(margin);
}

/// The places in the image of the elements of each window, window by window, all in row-major order; -1 for a 0.
template <typename Axes> llvm::SmallVector<int64_t> windowPlaces(const Axes &axes, Outside outside = Outside::zero) {
  int64_t windows = 1, elements = 1;
  for (const WindowAxis &along : axes)
    windows *= along.count, elements *= along.length;
  llvm::SmallVector<int64_t> all;
  all.reserve(windows * elements);
  for (int64_t i = 0; i < windows; ++i)
    for (int64_t j = 0; j < elements; ++j) {
      int64_t window = i, element = j, place = 0, stride = 1;
      bool inside = true;
      for (size_t axis = axes.size(); axis-- > 0;) {
        const WindowAxis &along = axes[axis];
        int64_t at = elementAt(outside, along.place(window % along.count, element % along.length), along.size);
        inside &= at >= 0;
        place += at * stride;
        stride *= along.size, window /= along.count, element /= along.length;
      }
      all.push_back(inside ? place : -1);
    }
  return all;
}

} // namespace tutti

#endif
