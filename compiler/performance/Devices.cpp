// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model's table of constants, each with its public source. None is fitted to a goal of the project.
// clang-format off
//
// Sources, by the letters of the notes below:
//  [W] NVIDIA's architecture whitepapers and data sheets: A100 (GA100, 2020), H100 (GH100, 2022), H200, L4, Ada (AD102,
//      2022), B200.
//  [G] CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions".
//  [L] Luo et al., "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and Multiple Level Analysis",
//      arXiv:2501.12084: A100, RTX 4090 and H800; tables 3 (latencies) and 5 (throughput), sections 6.2 (mma.sync) and
//      7.1 (clusters).
//  [D] github.com/markdewing/AI_kernels, latency/README.md: pointer chasing on A100, 4090, H100, GH200 and B200.
//  [E] github.com/RRZE-HPC/gpu-benches (te42kyfo), results of gpu-l2-cache/, gpu-latency/ and gpu-small-kernels/.
//  [A] github.com/Azure/AI-benchmarking-guide, Azure_Results: BabelStream and FlashAttention-2 on A100, H100, H200 and
//      GB200.
//  [C] chipsandcheese.com, "Nvidia's B200: Keeping the CUDA Juggernaut Rolling" (2025).
//  [S] github.com/smallscientist1/cuda_microbenchmark, analysis_A100.md, analysis_RTX4090.md.
//  [K] github.com/new-TonyWang/KernelWiki, sources/experience/hw-probes/barrier-cost.md: an H200.
//  [P] github.com/deepseek-ai/DeepGEMM, csrc/jit_kernels/heuristics/sm90.hpp.
//  [N] github.com/xytpai/nvbench: a copy on the RTX 4090.
//  [M] newmind.ai/journal/18: a copy on the B200.
//  [I] github.com/NVIDIA/cutlass, issue 1921: cuBLAS launches 120 persistent blocks in clusters of eight on an H100 SXM.
//  [Q] github.com/accel-sim/gpu-app-collection, pull request 87: 17 clusters of eight touch 120 of an H100's processors.
// clang-format on
#include "Device.h"

#include "llvm/ADT/STLExtras.h"

#include <string>

namespace tutti {

// clang-format off
// clock, processors [W]: the boost at which the data sheet's tensor rates hold. H100 and H200 run small kernels at up to
//     1.98 GHz and long tensor kernels below 1.83.
// clustered: a cluster's processors are of one GPC, and not all of a GPC's are a multiple of four or eight: 120 of 132
//     [I, Q]; of clusters of four Nsight Compute, too, says that an H200 has room for 30. Of the B200 nothing is
//     published.
// fp32, fp64 [G].
// tf32, half [W] on sm_80 and sm_89: the dense peak is mma.sync's (GeForce: half the rate when sums are float32).
//     sm_90: 1024 and 2048 (wide) of wgmma, of which mma.sync reaches 62.9 % [L]. sm_100: no published rate;
//     FlashAttention-2, which is made of mma.sync, runs at 373.9 TFLOP/s on a GB200 and at 327.9 on an H100 [A], which
//     is the ratio of processors times clock, so Hopper's rate.
// l2: A100 5.41 TB/s at 1.41 GHz [E, S]. H100: 4472 bytes a clock [L]. RTX 4090: 1946 [S]. L4: half of that, as it has
//     half of the AD102's memory channels [W]. B200: 21 TB/s [C] at 1.965 GHz.
// l2Size [W].
// dram: BabelStream's triad on A100, H100, H200 [A]; copies on the 4090 [N] and the B200 [M]; L4: no published rate,
//     91 % of its 300 GB/s, the share that [L] measured of an H800.
// launch [E, gpu-small-kernels, -graph]: kernels of a graph that wait for each other and move 64 kB. An A100 gets
//     49 GB/s, an L40 70, an "h200" (the GH100 chip) 30: so 1.34, 0.94 and 2.18 us, less one latency of the L2 cache.
//     The L40 stands for the other Ada devices, the GH100 for H100, H200 and, as nothing newer is published, for the
//     B200.
// dramLatency, l2Latency [D], of the GH100 as H100 SXM; L4: an L40's [E].
// clusterBarrier: no published latency of barrier.cluster; the arrival has to reach the other processor and the answer
//     to come back, which is what a load from distributed shared memory does: 181 [L].
static constexpr DeviceModel table[] = {
    //                            pro-  clus-  of a processor, a clock            of the device                       latencies
    // name        arch   clock   cess. tered  fp32 fp64   tf32   half  wide     l2     l2Size    dram      launch    dram  l2  cluster
    {"A100",     "sm_80",  1.41e9, 108,    0,   64,  32,   512,  1024,    0,   3840,   40 << 20, 1.70e12, 1.19e-6,   550, 210,   0},
    {"H100",     "sm_90a", 1.83e9, 132,  120,  128,  64,   644,  1288, 2048,   4472,   50 << 20, 2.97e12, 2.02e-6,   700, 291, 181},
    {"H200",     "sm_90a", 1.83e9, 132,  120,  128,  64,   644,  1288, 2048,   4472,   50 << 20, 4.18e12, 2.02e-6,   700, 291, 181},
    {"L4",       "sm_89",  2.04e9,  58,    0,  128,   2,   256,   512,    0,    973,   48 << 20, 0.27e12, 0.83e-6,   631, 277,   0},
    {"RTX 4090", "sm_89",  2.52e9, 128,    0,  128,   2,   128,   256,    0,   1946,   72 << 20, 0.92e12, 0.82e-6,   636, 296,   0},
    {"B200",     "sm_100", 1.86e9, 148,  148,  128,  64,   644,  1288,    0,  10690,  126 << 20, 6.00e12, 2.02e-6,   860, 295, 181},
};
// clang-format on
//
// The constants of Device.h that all rows share:
// issue: four schedulers, a warp each [W]. integer: 64 lanes from GA100 to GH100 [W, G]; of the B200 nothing else is
//     published. special, sharedPath [G; L table 5: 127.9 bytes a clock]. l2Port [P].
// sharedLatency [L table 3]. fp32Latency [L].
// mmaLatency: HMMA.16816.F32, each waiting for the one before, measured as 35 on sm_120 (github, "SASS RE" notes,
//     chapter on HMMA); 32 follows from the rate of an RTX 4090 (spatters.ca/mma-matmul). The larger for all.

// [K]: 63, 72, 88 and 122 clocks for blocks of 128, 256, 512 and 1024 threads on an H200, which is this line; the only
// published series.
double DeviceModel::barrier(int threads) { return 54.6 + 2.1 * ((threads + 31) / 32); }

const Architecture &DeviceModel::limits() const { return *findArchitecture(architecture); }

llvm::ArrayRef<DeviceModel> deviceModels() { return table; }

static std::string plain(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    if (c != ' ' && c != '-' && c != '_')
      text += char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

const DeviceModel *findDeviceModel(llvm::StringRef name) {
  const DeviceModel *found =
      llvm::find_if(table, [&](const DeviceModel &device) { return plain(device.name) == plain(name); });
  return found == std::end(table) ? nullptr : found;
}

} // namespace tutti
