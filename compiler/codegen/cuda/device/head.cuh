// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Heads combine the active members' values into one answer, in the order of the set (docs/numerics.md, "Heads").
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/memory.cuh"
#include "tutti/scalar.cuh"

namespace tutti {

/// Whether this block is the last of `count` to take this ticket; the last one resets it to zero. What the other blocks
/// have written before is visible then. All threads of the block come here.
__device__ __forceinline__ bool isLastOf(int count, Global<unsigned> tickets, int ticket, Shared<int> flag) {
  taskSync(); // all have written
  if (threadIdx.x == 0) {
    __threadfence(); // what the barrier has shown to this thread comes before its ticket
    bool last = atomicAdd(&tickets[ticket], 1u) + 1 == unsigned(count);
    if (last)
      tickets[ticket] = 0;
    __threadfence(); // the ticket comes before what the next barrier lets all read
    flag[0] = last;
  }
  taskSync(); // all see the flag
  return flag[0] != 0;
}

/// The mean of `count` members' values, added in their order in type T.
template <class T, class At> __device__ __forceinline__ T meanOf(int count, At at) {
  T sum = T(0);
  for (int m = 0; m < count; ++m)
    sum = sum + T(at(m));
  return sum / T(count);
}
template <class T, class At> __device__ __forceinline__ T varOf(int count, At at) {
  T mean = meanOf<T>(count, at), sum = T(0);
  for (int m = 0; m < count; ++m) {
    T distance = T(at(m)) - mean;
    sum = sum + distance * distance;
  }
  return sum / T(count);
}
__device__ __forceinline__ float squareRoot(float x) { return __fsqrt_rn(x); }
__device__ __forceinline__ double squareRoot(double x) { return __dsqrt_rn(x); }
template <class T, class At> __device__ __forceinline__ T stdOf(int count, At at) {
  return squareRoot(varOf<T>(count, at));
}
template <class T, class At> __device__ __forceinline__ T maxOf(int count, At at) {
  T best = at(0);
  for (int m = 1; m < count; ++m)
    best = maximum(best, T(at(m)));
  return best;
}
template <class T, class At> __device__ __forceinline__ T minOf(int count, At at) {
  T best = at(0);
  for (int m = 1; m < count; ++m)
    best = minimum(best, T(at(m)));
  return best;
}

/// Neighbouring threads of a warp that share the members of one element: `lanes`, a power of two; this one is `lane`.
struct Sharers {
  int lanes = 1, lane;
  /// Rounds the number of members up to a power of two, at most a warp.
  __device__ __forceinline__ explicit Sharers(int count) {
    while (lanes < count && lanes < 32)
      lanes *= 2;
    lane = int(threadIdx.x) % lanes;
  }
  /// Combines the values of all lanes; each lane gets the result.
  template <class T, class Combine> __device__ __forceinline__ T all(T mine, Combine combine) const {
    for (int distance = lanes / 2; distance > 0; distance /= 2)
      mine = combine(mine, T(__shfl_xor_sync(0xffffffff, mine, distance)));
    return mine;
  }
  __device__ __forceinline__ int sum(int mine) const {
    return all(mine, [](int a, int b) { return a + b; });
  }
};

/// Calls store(row, column, answer(row, column, sharers)) for each element of a tile. All threads of the block come
/// here, and the lanes of a warp stay together, so that they may shuffle.
template <class Answer, class Store>
__device__ __forceinline__ void forShared(int rows, int columns, int count, Answer answer, Store store) {
  const Sharers sharers(count);
  int groups = taskThreads() / sharers.lanes, elements = rows * columns;
  for (int first = 0; first < elements; first += groups) {
    int i = first + int(threadIdx.x) / sharers.lanes;
    bool inside = i < elements;
    int element = inside ? i : elements - 1, row = element / columns, column = element % columns;
    auto result = answer(row, column, sharers);
    if (inside && sharers.lane == 0)
      store(row, column, result);
  }
}

/// Floats as integers in the same order, -0 before +0, and back. The place of a NaN in that order is arbitrary.
__device__ __forceinline__ unsigned orderOf(float x) {
  unsigned bits = __float_as_uint(x);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
__device__ __forceinline__ unsigned long long orderOf(double x) {
  auto bits = static_cast<unsigned long long>(__double_as_longlong(x));
  return bits >> 63 ? ~bits : bits | 1ull << 63;
}
__device__ __forceinline__ float ofOrder(unsigned order) {
  return __uint_as_float(order >> 31 ? order & 0x7fffffffu : ~order);
}
__device__ __forceinline__ double ofOrder(unsigned long long order) {
  return __longlong_as_double(static_cast<long long>(order >> 63 ? order & ~(1ull << 63) : ~order));
}

/// The keys of rank `rank` and of the next rank, if there is one, in ascending order.
template <class Key> struct RankPair {
  Key low, high;
};
template <class Key, class At>
__device__ __forceinline__ RankPair<Key> pairAt(const Sharers &s, int count, int rank, At at) {
  int nextRank = rank + 1 < count ? rank + 1 : rank;
  const auto either = [](Key a, Key b) { return a | b; };
  if (count <= s.lanes) { // one member a thread, which counts the members before its own
    Key mine = at(s.lane < count ? s.lane : 0);
    int before = 0;
    for (int m = 0; m < count; ++m) {
      Key other = __shfl_sync(0xffffffff, mine, m, s.lanes);
      before += other < mine || (other == mine && m < s.lane);
    }
    bool isMember = s.lane < count;
    return {s.all(isMember && before == rank ? mine : Key(0), either),
            s.all(isMember && before == nextRank ? mine : Key(0), either)};
  }
  // Bit by bit from the top, find the largest key with at most `rank` members below it.
  Key low = 0;
  for (Key bit = Key(1) << (8 * sizeof(Key) - 1); bit; bit >>= 1) {
    int below = 0;
    for (int m = s.lane; m < count; m += s.lanes)
      below += at(m) < (low | bit);
    if (s.sum(below) <= rank)
      low |= bit;
  }
  int upTo = 0;
  Key above = ~Key(0);
  for (int m = s.lane; m < count; m += s.lanes) {
    Key key = at(m);
    upTo += key <= low;
    above = key > low && key < above ? key : above;
  }
  above = s.all(above, [](Key a, Key b) { return a < b ? a : b; });
  return {low, s.sum(upTo) > nextRank ? low : above};
}

/// Interpolates linearly between the two nearest ranks; NaN if a member is NaN.
template <class T, class At> __device__ __forceinline__ T quantileOf(const Sharers &s, int count, double q, At at) {
  int nans = 0;
  for (int m = s.lane; m < count; m += s.lanes) {
    T mine = T(at(m));
    nans += mine != mine;
  }
  using Key = decltype(orderOf(T()));
  double place = double(count - 1) * q;
  int below = int(place);
  RankPair<Key> found = pairAt<Key>(s, count, below, [&](int m) { return orderOf(T(at(m))); });
  T low = ofOrder(found.low), high = ofOrder(found.high), part = T(place - double(below));
  if (s.sum(nans))
    return ofOrder(~Key(0));
  // An infinity cannot be interpolated: below a finite `high` it is the answer itself. (For infinite x, x - x is NaN.)
  const bool isBottomless = low - low != T(0) && high - high == T(0);
  const bool isLow = part == T(0) || low == high || isBottomless;
  return isLow ? low : low + (high - low) * part;
}

/// The most frequent value, of equally frequent ones the smallest. Each pass over the members counts one value, in
/// ascending order, until no later one can be more frequent.
template <class At> __device__ __forceinline__ long long mostFrequent(const Sharers &s, int count, At at) {
  long long first = at(s.lane < count ? s.lane : 0), best = 0, done = 0;
  int most = 0, left = count;
  // The groups of a warp go on until all are done, as they shuffle together.
  while (__any_sync(0xffffffff, left > most)) {
    long long next = 0;
    int votes = 0;
    const auto add = [&](long long value, int more) {
      if (more && (!votes || value < next)) {
        next = value;
        votes = more;
      } else if (value == next) {
        votes += more;
      }
    };
    for (int m = s.lane; m < count; m += s.lanes) {
      long long value = m == s.lane ? first : static_cast<long long>(at(m));
      add(value, left == count || value > done);
    }
    for (int distance = s.lanes / 2; distance > 0; distance /= 2) {
      long long value = __shfl_xor_sync(0xffffffff, next, distance);
      int more = __shfl_xor_sync(0xffffffff, votes, distance);
      add(value, more);
    }
    if (votes > most) {
      best = next;
      most = votes;
    }
    left -= votes;
    done = next;
  }
  return best;
}
/// The place of a row's largest element, the first of equal ones; the first NaN if there is one.
template <class At> __device__ __forceinline__ int placeOfLargest(int columns, At at) {
  auto best = at(0);
  int place = 0;
  for (int column = 1; column < columns; ++column) {
    auto value = at(column);
    if (value > best || (value != value && best == best)) {
      best = value;
      place = column;
    }
  }
  return place;
}

} // namespace tutti
