// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model against timings that others have published, each within 25 %. A kernel's work is counted as its source
// states or shows it; no constant of the model comes from one of these timings.
#include "compiler/performance/Predict.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tutti;

namespace {

const DeviceModel &device(const char *name) {
  const DeviceModel *found = findDeviceModel(name);
  EXPECT_TRUE(found) << name;
  return *found;
}

void expectWithin(const char *what, double published, const KernelWork &work, const char *name) {
  Prediction p = predict(work, device(name));
  ASSERT_GT(p.resident, 0) << what;
  double off = p.seconds / published - 1;
  std::printf("%-60s published %9.1f us, predicted %9.1f us (%+.0f %%), bound: %s\n", what, published * 1e6,
              p.seconds * 1e6, off * 100, boundName(p.bound).str().c_str());
  EXPECT_LE(std::abs(off), 0.25) << what;
}

/// The classic GEMM over mma.sync: blocks of 128 x 128 with 8 warps, each 64 x 32, k in steps of 32 through a ring of
/// cp.async (CUTLASS "efficient GEMM"; the sm_80 kernels of cuBLAS). With a product of fma: 256 threads with 8 x 8 sums
/// each.
KernelWork gemm(double m, double n, double k, NumericsProduct product, int bytes = 2) {
  constexpr double tile = 128, step = 32;
  double tilesM = std::ceil(m / tile), tilesN = std::ceil(n / tile), steps = std::ceil(k / step), depth = steps * step;
  KernelWork w;
  w.name = "gemm";
  w.threads = 256;
  w.registers = 128;
  w.sharedBytes = int64_t(2 * tile * step * bytes * 3);
  w.blocks = int64_t(tilesM * tilesN);
  w.flops = 2 * m * n * k;
  w.dramBytes = (m * k + k * n) * bytes + m * n * 4;
  w.inFlight = 2 * tile * step * bytes * 2;
  StepWork main{.what = "main loop", .product = product};
  main.products = tile * tile * depth;
  main.l2Bytes = 2 * tile * depth * bytes;
  if (product ==
      NumericsProduct::fma) { // per k a thread reads 8 of A and 8 of B, four at a time; lanes of a warp share them
    main.moves = 256 * depth * 4;
    main.sharedBytes = 8 * depth * (4 * 8 + 8 * 8) * 4.0 + main.l2Bytes;
    main.chain.fp32 = depth;
  } else { // per k of 16 a warp reads 64 x 16 of A and 16 x 32 of B by ldmatrix
    main.moves = 256 * depth / 16 * 6;
    main.sharedBytes = 8 * depth * (64 + 32) * bytes + main.l2Bytes;
    main.chain.mma = depth / (bytes == 2 ? 16 : 8);
  }
  main.chain.barriers = main.chain.shared = steps;
  StepWork end{.what = "store"};
  end.moves = tile * tile;
  end.sharedBytes = end.l2Bytes = tile * tile * 4;
  w.steps = {main, end};
  return w;
}

/// y[i] = f(x[i]), an element a thread.
KernelWork map(double elements, double bytesEach, int threads, bool warm) {
  KernelWork w;
  w.name = "map";
  w.threads = threads;
  w.registers = 16;
  w.blocks = int64_t(std::ceil(elements / threads));
  w.dramBytes = elements * bytesEach * 2;
  w.warm = warm;
  StepWork step{.what = "map"};
  step.fp32 = threads;
  step.integer = 7 * threads; // the index and the bound
  step.moves = 2 * threads * bytesEach / 4;
  step.sharedBytes = step.l2Bytes = 2 * threads * bytesEach;
  step.chain = {.l2 = 1, .fp32 = 8};
  w.steps = {step};
  return w;
}

double flopRate(double m, double n, double k, double teraflops) { return 2 * m * n * k / (teraflops * 1e12); }

// github.com/Azure/AI-benchmarking-guide, Azure_Results/ND_A100_v4_results.md: cuBLASLt, f16, random data, 10000 calls
// to warm up. (The model takes the memory's rate from the same page, which matters to none of these.)
TEST(Published, GemmA100) {
  expectWithin("f16 GEMM 2048, A100, cuBLASLt", flopRate(2048, 2048, 2048, 221.8),
               gemm(2048, 2048, 2048, NumericsProduct::f16), "A100");
  expectWithin("f16 GEMM 4096, A100, cuBLASLt", flopRate(4096, 4096, 4096, 228.0),
               gemm(4096, 4096, 4096, NumericsProduct::f16), "A100");
  expectWithin("f16 GEMM 8192, A100, cuBLASLt", flopRate(8192, 8192, 8192, 253.7),
               gemm(8192, 8192, 8192, NumericsProduct::f16), "A100");
  // github.com/stas00/ml-engineering, compute/accelerator/README.md, "Maximum Achievable Matmul FLOPS".
  expectWithin("bf16 GEMM 1024 x 10240 x 5120, A100, cuBLAS", flopRate(1024, 10240, 5120, 271.2),
               gemm(1024, 10240, 5120, NumericsProduct::bf16), "A100");
}

TEST(Published, GemmAda) {
  // spatters.ca/mma-matmul, "Implementing a fast Tensor Core matmul on the Ada Architecture": mma.sync m16n8k16, 895
  // us, as cuBLAS.
  expectWithin("f16 GEMM 4096, RTX 4090, hand-written mma.sync", 895e-6, gemm(4096, 4096, 4096, NumericsProduct::f16),
               "RTX 4090");
  // github.com/xytpai/gpuk, README: 6.7 ms by wmma.
  expectWithin("f16 GEMM 8192, RTX 4090, wmma", 6.7e-3, gemm(8192, 8192, 8192, NumericsProduct::f16), "RTX 4090");
  // github.com/mag-/gpu_benchmark, README: torch, bf16.
  expectWithin("bf16 GEMM 15360 x 6784 x 8192, RTX 4090, torch", flopRate(15360, 6784, 8192, 178.5),
               gemm(15360, 6784, 8192, NumericsProduct::bf16), "RTX 4090");
  expectWithin("bf16 GEMM 1024 x 6016 x 1792, L4, torch", flopRate(1024, 6016, 1792, 91.4),
               gemm(1024, 6016, 1792, NumericsProduct::bf16), "L4");
}

// github.com/waynehacking8/blackwell-tensorcore-kernels, results/bench_sm90a.csv: cublasSgemm, no tensor cores.
TEST(Published, GemmWithoutTensorCores) {
  expectWithin("f32 GEMM 8192, H100, cuBLAS", 21.776e-3, gemm(8192, 8192, 8192, NumericsProduct::fma, 4), "H100");
}

// github.com/RRZE-HPC/gpu-benches, gpu-small-kernels/a100_80_graph.txt and h200_graph.txt: b[i] = 0.25 a[i], doubles,
// in a graph, blocks of 512. What fits stays in the L2 cache from kernel to kernel. (The launch latency is from the
// first line of each file.)
TEST(Published, Copy) {
  auto rate = [](double elements, double gigabytes) { return elements * 16 / (gigabytes * 1e9); };
  expectWithin("scale, 48013 doubles, A100", rate(48013, 493), map(48013, 8, 512, true), "A100");
  expectWithin("scale, 163 k doubles, A100", rate(164478, 1238), map(164478, 8, 512, true), "A100");
  expectWithin("scale, 1.04 M doubles, A100", rate(1042953, 2881), map(1042953, 8, 512, true), "A100");
  expectWithin("scale, 61.6 M doubles, A100", rate(61620009, 1739), map(61620009, 8, 512, false), "A100");
  expectWithin("scale, 1.04 M doubles, GH100", rate(1042953, 3329), map(1042953, 8, 512, true), "H200");
}

// github.com/Dao-AILab/quack, media/2025-07-10-membound-sol.md: 16384 x 131072, float32, blocks of 256 in clusters of
// 4, 3.01 TB/s.
TEST(Published, SoftmaxH100) {
  double rows = 16384, columns = 131072, own = columns / 4;
  KernelWork w;
  w.name = "softmax";
  w.threads = 256;
  w.registers = 160; // 128 elements a thread stay in registers
  w.sharedBytes = int64_t(own * 4);
  w.blocks = int64_t(rows * 4);
  w.dramBytes = rows * columns * 8;
  w.inFlight = own * 4;
  StepWork read{.what = "maximum"}, sum{.what = "exponentials"}, write{.what = "quotients"};
  read.integer = own;
  read.moves = 2 * own;
  read.l2Bytes = own * 4;
  read.sharedBytes = 2 * own * 4;
  read.chain = {.l2 = 1, .shared = 8, .fp32 = own / 256, .barriers = 2, .clusterBarriers = 1};
  sum.fp32 = 3 * own;
  sum.special = own;
  sum.chain = {.shared = 8, .fp32 = own / 256, .barriers = 2, .clusterBarriers = 1};
  write.fp32 = own;
  write.moves = own;
  write.l2Bytes = write.sharedBytes = own * 4;
  w.steps = {read, sum, write};
  expectWithin("softmax 16384 x 131072 f32, H100, QuACK", rows * columns * 8 / 3.01e12, w, "H100");
}

} // namespace
