// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of kernels.c as the fake driver runs them: called once a block, with the launch's parameter struct, the
// block's place and the grid's extents.
#include <stdint.h>

enum { K = 6, N = 45 };

static float weight(const float *panels, int64_t k, int64_t n) {
  return n < 32 ? panels[k * 32 + n] : panels[K * 32 + k * 16 + (n - 32)];
}

// W in matrices.bf16: 32 columns, then 13 in 16, so every fourth or second column in a tile, of which eight rows come
// before the next eight; two rows to a word.
static float weightBf16(const uint32_t *matrices, int64_t k, int64_t n) {
  int64_t tiles = n < 32 ? 4 : 2, column = n % 32;
  uint32_t word = matrices[(n < 32 ? 0 : 4 * 64) + column % tiles * 64 + k / 8 * 32 + column / tiles * 4 + k % 8 / 2];
  union {
    uint32_t bits;
    float value;
  } wide = {k % 2 ? word & 0xffff0000 : word << 16};
  return wide.value;
}

// What a real module says of its kernels: bytes of parameters.
const uint64_t dense_bytes = 48, dense_bf16_bytes = 48, finish_bytes = 48, dense8_bytes = 48, finish8_bytes = 48;

struct Params {
  uint64_t args[4];
  int64_t members, batch;
};

// x [batch, K], table of W, table of b, h [members, batch, N]; a block has `rows` rows of the member blockIdx.y, and of
// those that are so many as the grid has behind it.
static void denseRows(const struct Params *p, const unsigned *block, int rows, int bf16) {
  const float *x = (const float *)p->args[0];
  const float *const *b = (const float *const *)p->args[2];
  const void *const *w = (const void *const *)p->args[1];
  float *h = (float *)p->args[3];
  for (int64_t m = block[1]; m < p->members; m += block[4])
    for (int64_t r = block[0] * rows; r < (block[0] + 1) * rows && r < p->batch; ++r)
      for (int64_t n = 0; n < N; ++n) {
        float sum = b[m][n];
        for (int64_t k = 0; k < K; ++k)
          sum += x[r * K + k] * (bf16 ? weightBf16(w[m], k, n) : weight(w[m], k, n));
        h[(m * p->batch + r) * N + n] = sum > 0 ? sum : 0;
      }
}

// h [members, batch, N], y [members, batch, N], mean [batch, N], calls [1] (state).
static void finishRows(const struct Params *p, const unsigned *block, int rows) {
  const float *h = (const float *)p->args[0];
  float *y = (float *)p->args[1], *mean = (float *)p->args[2];
  *(int64_t *)p->args[3] += 1;
  for (int64_t r = block[0] * rows; r < (block[0] + 1) * rows && r < p->batch; ++r)
    for (int64_t n = 0; n < N; ++n) {
      float sum = 0;
      for (int64_t m = 0; m < p->members; ++m) {
        float value = h[(m * p->batch + r) * N + n];
        y[(m * p->batch + r) * N + n] = value;
        sum += value;
      }
      mean[r * N + n] = sum / (float)p->members;
    }
}

void dense(const struct Params *p, const unsigned *block) { denseRows(p, block, 4, 0); }
void dense_bf16(const struct Params *p, const unsigned *block) { denseRows(p, block, 4, 1); }
void finish(const struct Params *p, const unsigned *block) { finishRows(p, block, 4); }
void dense8(const struct Params *p, const unsigned *block) { denseRows(p, block, 8, 0); }
void finish8(const struct Params *p, const unsigned *block) { finishRows(p, block, 8); }
