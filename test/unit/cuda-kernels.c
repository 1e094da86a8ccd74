// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of kernels.c as the fake driver runs them: called once a block, with the launch's parameter struct.
#include <stdint.h>

enum { K = 6, N = 45, ROWS = 4 };

static float weight(const float *panels, int64_t k, int64_t n) {
  return n < 32 ? panels[k * 32 + n] : panels[K * 32 + k * 16 + (n - 32)];
}

// What a real module says of its kernels: bytes of parameters.
const uint64_t dense_bytes = 48, finish_bytes = 48;

struct Params {
  uint64_t args[4];
  int64_t members, batch;
};

// x [batch, K], table of W, table of b, h [members, batch, N]; a block has ROWS rows of the member blockIdx.y.
void dense(const struct Params *p, const unsigned *block) {
  const float *x = (const float *)p->args[0];
  const float *const *w = (const float *const *)p->args[1], *const *b = (const float *const *)p->args[2];
  float *h = (float *)p->args[3];
  int64_t m = block[1];
  for (int64_t r = block[0] * ROWS; r < (block[0] + 1) * ROWS && r < p->batch; ++r)
    for (int64_t n = 0; n < N; ++n) {
      float sum = b[m][n];
      for (int64_t k = 0; k < K; ++k)
        sum += x[r * K + k] * weight(w[m], k, n);
      h[(m * p->batch + r) * N + n] = sum > 0 ? sum : 0;
    }
}

// h [members, batch, N], y [members, batch, N], mean [batch, N], calls [1] (state).
void finish(const struct Params *p, const unsigned *block) {
  const float *h = (const float *)p->args[0];
  float *y = (float *)p->args[1], *mean = (float *)p->args[2];
  *(int64_t *)p->args[3] += 1;
  for (int64_t r = block[0] * ROWS; r < (block[0] + 1) * ROWS && r < p->batch; ++r)
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
