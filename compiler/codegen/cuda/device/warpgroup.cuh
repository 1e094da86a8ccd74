// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core products of four warps, a warpgroup: wgmma, which only Hopper has (sm_90a). Each warp has 16 of 64 rows,
// in fragments as in mma.cuh; the weight's columns stay in shared memory, which the tensor cores read themselves. So no
// fragment of them costs a load or a register, and a group of 16 k is one instruction for any number of columns. Sums
// are those of mma.sync, bit for bit (docs/cuda.md).
#pragma once

#include "tutti/barrier.cuh"
#include "tutti/mma.cuh"

#if TUTTI_CAPABILITY == 90

// A kernel has a struct with the widths of its products, in tiles of eight columns, by where a layer's rows lie
// (RowsKind of tensor.cuh). TUTTI_WARPGROUP_PRODUCT defines a function for each width, as its asm names every register
// of the sums:
//
//   struct WideProducts {
//     static Numbers<2> widthsOf(RowsKind<halves>);
//     TUTTI_WARPGROUP_PRODUCT(2, 16, "bf16", "%0, ..., %7", "%8, ..., %11", "%12", TUTTI_TILE(0, 0), TUTTI_TILE(0, 1))
//   };
//
// Products of floats have 8 k and one width, and the first of a chunk does not add:
//
//   static constexpr bool hasRest = true;                  some passes leave a warpgroup fewer tiles
//   TUTTI_WARPGROUP_CHUNK(2, 16, "%0, ..., %7", "%8, ..., %11", "%12", "%13", TUTTI_TILE(0, 0), TUTTI_TILE(0, 1))
//   WideProducts::multiply(Tiles<2>(), group, d, a, b, adds);
//
// Products are asynchronous:
//
//   Warpgroup group;
//   group.begin(d);                                       registers may be read from now on
//   WideProducts::multiply(Tiles<2>(), group, d, a, b);   d += a b, 64 x 16 by 16 x 16 elements; as often as it takes
//   group.commit();
//   group.wait(d);                                        d is there, what is read is free
//
// and while they go on, more of them may be issued: group.fence(); multiply ...; group.commit(); group.waitButLast();

namespace tutti {

template <int... n> struct Numbers {};
template <int n> struct Tiles {};

} // namespace tutti

#if TUTTI_ON_DEVICE

namespace tutti {

/// A weight in shared memory, from byte `at` on, a multiple of 16: for each 16 k some tiles of `tileWords` words, that
/// is two core matrices of 16-bit elements or four of floats, 128 bytes each. A product reads two of them
/// (runtime/schema/Layout.h). PTX calls this a matrix descriptor, here without swizzling.
struct CoreMatrices {
  uint32_t place,
      step; ///< the descriptor's halves: start and stride along k; stride along columns
  __device__ __forceinline__ CoreMatrices(int at, int, int tileWords)
      : place(sharedAddress(&shared<uint32_t>(at, 0)[0]) / 16 | 128 / 16 << 16), step(unsigned(tileWords) / 4) {}
  /// The matrices that begin 4 `fours` words further on.
  __device__ __forceinline__ CoreMatrices behind(int fours) const {
    CoreMatrices there = *this;
    there.place += fours;
    return there;
  }
  __device__ __forceinline__ uint64_t descriptor() const { return uint64_t(step) << 32 | place; }
};

/// Changes the registers of a thread to `n`, a multiple of 8. Each warpgroup of the block calls one of the two
/// functions.
template <int n> __device__ __forceinline__ void giveRegisters() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n> __device__ __forceinline__ void takeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}

/// A sequence of products of a warpgroup.
class Warpgroup {
public:
  /// Starts products whose sums and rows are `registers`, which are written by now.
  template <class... Registers> __device__ __forceinline__ void begin(Registers &...registers) {
    (keep(registers), ...);
    fence();
  }
  /// begin() for more products while some go on with the same sums; what these read must not be overwritten yet.
  __device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
  __device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
  template <class Sums> __device__ __forceinline__ void wait(Sums &sums) {
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    keep(sums);
  }
  /// Waits for the products before the last commit(): what they read is free, but the sums are not there.
  __device__ __forceinline__ void waitButLast() { asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory"); }

private:
  /// Keeps the compiler from moving what uses these registers to the other side.
  __device__ __forceinline__ static void keep(float &sum) { asm volatile("" : "+f"(sum)::"memory"); }
  __device__ __forceinline__ static void keep(uint32_t &word) { asm volatile("" : "+r"(word)::"memory"); }
  template <class T, int n> __device__ __forceinline__ static void keep(T (&sums)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i)
      keep(sums[i]);
  }
};

} // namespace tutti

#define TUTTI_TILE(panel, tile)                                                                                        \
  "+f"(d[panel][0][tile][0]), "+f"(d[panel][0][tile][1]), "+f"(d[panel][0][tile][2]), "+f"(d[panel][0][tile][3])
#define TUTTI_WARPGROUP_PRODUCT(tiles, columns, type, sums, rows, weight, ...)                                         \
  template <int panels>                                                                                                \
  __device__ __forceinline__ static void multiply(Tiles<tiles>, Warpgroup &, float (&d)[panels][1][4][4],              \
                                                  const uint32_t (&a)[4], const CoreMatrices &b) {                     \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." type "." type " {" sums "}, {" rows           \
                 "}, " weight ", 1, 1, 1, 0;"                                                                          \
                 : __VA_ARGS__                                                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor()));                                   \
  }

#define TUTTI_WARPGROUP_CHUNK(tiles, columns, sums, rows, weight, adding, ...)                                         \
  template <int panels>                                                                                                \
  __device__ __forceinline__ static void multiply(Tiles<tiles>, Warpgroup &, float (&d)[panels][1][4][4],              \
                                                  const uint32_t (&a)[4], const CoreMatrices &b, bool adds) {          \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, " adding ", 0;\n"                                             \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 {" sums "}, {" rows "}, " weight       \
                 ", adds, 1, 1;\n}"                                                                                    \
                 : __VA_ARGS__                                                                                         \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.descriptor()), "r"(int(adds)));                   \
  }

#else
#include "tutti/host_warpgroup.cuh"
#endif
#endif
