// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this machine can do at most: fused multiply-adds, and reads of a buffer of a given size.
#ifndef TUTTI_TOOLS_BENCH_PEAKS_H
#define TUTTI_TOOLS_BENCH_PEAKS_H

#include <cstddef>

namespace tutti {

/// Floating-point operations a second in float32, an fma counting as two: the best of five bursts of independent fmas
/// in registers on `threads` threads at once, with the widest vectors of this CPU.
double peakFlops(unsigned threads);

/// Bytes a second of a plain read loop over one buffer of `bytes` bytes, of which every thread reads its own part again
/// and again: the best of five bursts.
double readRate(size_t bytes, unsigned threads);

} // namespace tutti

#endif
