// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gathers at places of an image: when one is of one long row, and the indices of its elements then.
#ifndef TUTTI_PASSES_ANALYSIS_LONGROWS_H
#define TUTTI_PASSES_ANALYSIS_LONGROWS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace tutti {

/// Whether a gather of `places`, of `channels` each, is one long row with an index for each element, as channels are
/// few and the image is small. Otherwise it has a row of channels for each place.
inline bool isOneLongRow(int64_t channels, int64_t places) {
  constexpr int64_t few = 4, most = 1 << 14;
  return channels >= 1 && channels <= few && places <= most / channels;
}

/// The indices of such a row's elements in the image, the channels of a place side by side. The channels of the image
/// come before its `size` places or behind them. -1 stands for elements outside.
inline llvm::SmallVector<int64_t> elementsOfPlaces(llvm::ArrayRef<int64_t> places, int64_t channels, int64_t size,
                                                   bool channelsFirst) {
  llvm::SmallVector<int64_t> all;
  for (int64_t place : places)
    for (int64_t channel = 0; channel < channels; ++channel)
      all.push_back(place < 0 ? -1 : channelsFirst ? channel * size + place : place * channels + channel);
  return all;
}

} // namespace tutti

#endif
