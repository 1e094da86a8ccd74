// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the machine's limits with two loops that do nothing else.
#include "Peaks.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace tutti {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int nowhere = -1;
/// Whether each thread has a processor of its own.
bool areApart(const std::vector<std::atomic<int>> &processors) {
  for (size_t i = 0; i < processors.size(); ++i)
    for (size_t j = 0; j <= i; ++j)
      if (processors[i] == nowhere || (j < i && processors[i].load() == processors[j].load()))
        return false;
  return true;
}

/// Seconds from the moment all threads are there until the last one is done with body(thread). A system may begin a
/// thread on the processor that made it, and move it some milliseconds later: they wait for that, but not for long, as
/// there may be fewer processors.
template <typename Body> double together(unsigned threads, Body body) {
  std::atomic<unsigned> there{0};
  std::vector<Clock::time_point> begin(threads), end(threads);
  std::vector<std::atomic<int>> processors(threads);
  std::fill(processors.begin(), processors.end(), nowhere);
  const Clock::time_point latest = Clock::now() + std::chrono::milliseconds(200);
  auto work = [&](unsigned t) {
    there.fetch_add(1);
    do {
      processors[t] = sched_getcpu();
      _mm_pause();
    } while (there.load() < threads || (!areApart(processors) && Clock::now() < latest));
    begin[t] = Clock::now();
    body(t);
    end[t] = Clock::now();
  };
  std::vector<std::thread> others;
  auto join = [&] {
    for (std::thread &thread : others)
      thread.join();
  };
  try {
    for (unsigned t = 1; t < threads; ++t)
      others.emplace_back(work, t);
  } catch (...) { // the system has no more: those that are there wait for all
    there = threads;
    join();
    throw;
  }
  work(0);
  join();
  return std::chrono::duration<double>(*std::max_element(end.begin(), end.end()) -
                                       *std::min_element(begin.begin(), begin.end()))
      .count();
}

/// The accumulators go through an empty asm, or the compiler would drop them.
constexpr int accumulators = 12;

__attribute__((target("avx512f"))) void burst512(int64_t rounds) {
  __m512 sums[2 * accumulators], x = _mm512_set1_ps(1e-3f), y = _mm512_set1_ps(1e-5f);
  for (__m512 &s : sums)
    s = y;
  for (int64_t r = 0; r < rounds; ++r)
#pragma clang loop unroll(full)
    for (__m512 &s : sums)
      s = _mm512_fmadd_ps(s, x, y);
  for (__m512 &s : sums)
    asm volatile("" : : "v"(s));
}

__attribute__((target("avx2,fma"))) void burst256(int64_t rounds) {
  __m256 sums[accumulators], x = _mm256_set1_ps(1e-3f), y = _mm256_set1_ps(1e-5f);
  for (__m256 &s : sums)
    s = y;
  for (int64_t r = 0; r < rounds; ++r)
#pragma clang loop unroll(full)
    for (__m256 &s : sums)
      s = _mm256_fmadd_ps(s, x, y);
  for (__m256 &s : sums)
    asm volatile("" : : "x"(s));
}

__attribute__((target("avx512f"))) void read512(const char *data, size_t bytes) {
  __m512i sums[8] = {};
  size_t i = 0;
  for (; i + 512 <= bytes; i += 512)
#pragma clang loop unroll(full)
    for (int k = 0; k < 8; ++k)
      sums[k] = _mm512_or_si512(sums[k], _mm512_load_si512(data + i + 64 * k));
  for (; i + 64 <= bytes; i += 64)
    sums[0] = _mm512_or_si512(sums[0], _mm512_load_si512(data + i));
  for (__m512i &s : sums)
    asm volatile("" : : "v"(s));
}

__attribute__((target("avx2"))) void read256(const char *data, size_t bytes) {
  __m256i sums[8] = {};
  size_t i = 0;
  for (; i + 256 <= bytes; i += 256)
#pragma clang loop unroll(full)
    for (int k = 0; k < 8; ++k)
      sums[k] = _mm256_or_si256(sums[k], _mm256_load_si256(reinterpret_cast<const __m256i *>(data + i + 32 * k)));
  for (; i + 32 <= bytes; i += 32)
    sums[0] = _mm256_or_si256(sums[0], _mm256_load_si256(reinterpret_cast<const __m256i *>(data + i)));
  for (__m256i &s : sums)
    asm volatile("" : : "x"(s));
}

constexpr int bursts = 5;

} // namespace

double peakFlops(unsigned threads) {
  bool wide = __builtin_cpu_supports("avx512f");
  constexpr int64_t rounds = 400000;
  double flops = 2.0 * rounds * threads * (wide ? 2 * accumulators * 16 : accumulators * 8), best = 0;
  for (int b = 0; b < bursts; ++b)
    best = std::max(best, flops / together(threads, [&](unsigned) { wide ? burst512(rounds) : burst256(rounds); }));
  return best;
}

double readRate(size_t bytes, unsigned threads) {
  bool wide = __builtin_cpu_supports("avx512f");
  size_t part = (bytes / threads + 63) / 64 * 64;
  part = std::max<size_t>(part, 64);
  // Long enough that starting together costs nothing: 64 MB, or the buffer four times.
  size_t passes = std::max<size_t>(4, (size_t(64) << 20) / (part * threads));
  char *data = static_cast<char *>(std::aligned_alloc(64, part * threads));
  if (!data)
    return 0;
  double best = 0;
  for (int b = 0; b <= bursts; ++b) {
    double seconds = together(threads, [&](unsigned t) {
      char *mine = data + t * part;
      if (b == 0) {
        std::fill(mine, mine + part, char(1));
        return;
      }
      for (size_t p = 0; p < passes; ++p)
        wide ? read512(mine, part) : read256(mine, part);
    });
    if (b > 0)
      best = std::max(best, static_cast<double>(part * threads * passes) / seconds);
  }
  std::free(data);
  return best;
}

} // namespace tutti
