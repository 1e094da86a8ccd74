// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the hand-built artifacts of the runtime's tests: relu(x W + b) for every member, then the mean of the
// members.
#include <stdint.h>

enum { K = 6, N = 45 };

// W lies in panels: 32 columns, then 13 in a panel of 16 (runtime/schema/Layout.h), each stored [K][width].
static float weight(const float *panels, int64_t k, int64_t n) {
  return n < 32 ? panels[k * 32 + n] : panels[K * 32 + k * 16 + (n - 32)];
}

// args: x [batch, K], table of W, table of b, h [members, batch, N]. Lifted.
void dense(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end, char *scratch) {
  const float *x = args[0];
  const float *const *w = args[1], *const *b = args[2];
  float *h = args[3], *sums = (float *)scratch;
  int64_t batch = sizes[1], tiles = (batch + tile - 1) / tile;
  for (int64_t task = begin; task < end; ++task) {
    int64_t p = task / tiles, first = task % tiles * tile, last = first + tile < batch ? first + tile : batch;
    for (int64_t r = first; r < last; ++r) {
      for (int64_t n = 0; n < N; ++n)
        sums[n] = b[p][n];
      for (int64_t k = 0; k < K; ++k)
        for (int64_t n = 0; n < N; ++n)
          sums[n] += x[r * K + k] * weight(w[p], k, n);
      for (int64_t n = 0; n < N; ++n)
        h[(p * batch + r) * N + n] = sums[n] > 0 ? sums[n] : 0;
    }
  }
}

// args: h [members, batch, N], y [members, batch, N], mean [batch, N], calls [1] (state).
void finish(void *const *args, const int64_t *sizes, int64_t tile, int64_t begin, int64_t end, char *scratch) {
  const float *h = args[0];
  float *y = args[1], *mean = args[2];
  int64_t members = sizes[0], batch = sizes[1];
  __atomic_fetch_add((int64_t *)args[3], end - begin, __ATOMIC_RELAXED);
  for (int64_t r = begin * tile; r < end * tile && r < batch; ++r)
    for (int64_t n = 0; n < N; ++n) {
      float sum = 0;
      for (int64_t p = 0; p < members; ++p) {
        float value = h[(p * batch + r) * N + n];
        y[(p * batch + r) * N + n] = value;
        sum += value;
      }
      mean[r * N + n] = sum / (float)members;
    }
}

__attribute__((section(".entries"), used)) void (*const entries[])(void *const *, const int64_t *, int64_t, int64_t,
                                                                   int64_t, char *) = {dense, finish};
