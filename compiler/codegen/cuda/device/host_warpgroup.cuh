// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host only: wgmma as in warpgroup.cuh, each warp by itself. Products are computed when they are waited for, which
// reveals missing waits and rows that are overwritten too early.
#pragma once

#include "tutti/host_mma.cuh"

namespace tutti {

/// See warpgroup.cuh.
class CoreMatrices {
public:
  CoreMatrices(int at, int words, int tileWords TUTTI_AND_WHERE)
      : words(shared<uint32_t>(at, words, where)), tileWords(tileWords) {}
  CoreMatrices behind(int fours) const {
    CoreMatrices there = *this;
    there.first += 4 * fours;
    return there;
  }
  /// This lane's two words of a tile for mma.sync, one of each core matrix.
  void read(int tile, uint32_t (&b)[2], Where where) const {
    for (int half = 0; half < 2; ++half)
      b[half] = words.loadAsync(first + tile * tileWords + half * 32 + int(threadIdx.x) % 32, where);
  }

private:
  Shared<uint32_t> words;
  int tileWords, first = 0;
};

template <int n> void giveRegisters() {}
template <int n> void takeRegisters() {}

class Warpgroup {
public:
  template <class Sums> void begin(Sums &TUTTI_AND_WHERE) { fence(where); }
  template <class Sums, class Rows> void begin(Sums &, Rows &, Rows &TUTTI_AND_WHERE) { fence(where); }
  void fence(TUTTI_WHERE) { begun |= !emulator().lacks(where); }
  void commit(TUTTI_WHERE) {
    if (!emulator().lacks(where))
      before = committed, committed = asked, begun = false;
  }
  template <class Sums> void wait(Sums &TUTTI_AND_WHERE) { finish(committed, where); }
  void waitButLast(TUTTI_WHERE) { finish(before, where); }
  void ask(MmaType type, int tiles, float *const *sums, const uint32_t (&a)[4], const CoreMatrices &b, bool adds,
           Where where) {
    if (!begun)
      fault(Fault::failure, "wgmma without a fence since the sums were last touched", 0, 0, where);
    if (asked == most)
      fault(Fault::failure, "%ld products of a warpgroup are not waited for: at most %ld", asked + 1, most, where);
    Product &product = pending[asked++];
    product = {type, tiles, adds, {}, {a[0], a[1], a[2], a[3]}, a, b};
    for (int i = 0; i < tiles; ++i)
      product.sums[i] = sums[i];
  }

private:
  void finish(int count, Where where) {
    if (emulator().lacks(where))
      return;
    for (int i = 0; i < count; ++i)
      pending[i].multiply(where);
    for (int i = count; i < asked; ++i)
      pending[i - count] = pending[i];
    asked -= count, committed -= count, before = 0;
  }
  struct Product {
    MmaType type = MmaType::bf16;
    int tiles = 0;
    bool adds = true; ///< to the sums; else they begin at zero
    float *sums[32] = {};
    uint32_t a[4] = {};
    const uint32_t *rows = nullptr; ///< the registers that held `a`
    CoreMatrices b = {0, 0, 0, {"", 0}};

    void multiply(Where where) const {
      for (int i = 0; i < 4; ++i)
        if (rows[i] != a[i])
          fault(Fault::failure, "rows of a warpgroup's product are overwritten before it is waited for", 0, 0, where);
      for (int i = 0; i < tiles; ++i) {
        uint32_t words[2];
        b.read(i, words, where);
        for (int e = 0; !adds && e < 4; ++e)
          sums[i][e] = 0;
        MmaOperand operand = {sums[i], a, words, type, TUTTI_CAPABILITY};
        emulator().warp(0xffffffff, &operand, emulator().multiply, false, "wgmma", where);
      }
    }
  };
  static constexpr int most = 12;
  Product pending[most];
  int asked = 0, committed = 0,
      before = 0; ///< of pending products; those before the last commit(), and those before the one before it
  bool begun = false;
};

} // namespace tutti

#define TUTTI_TILE(panel, tile) d[panel][0][tile]
#define TUTTI_WARPGROUP_PRODUCT(tiles, columns, type, numbers, rows, weight, ...)                                      \
  template <int panels>                                                                                                \
  static void multiply(Tiles<tiles>, Warpgroup &group, float (&d)[panels][1][4][4], const uint32_t (&a)[4],            \
                       const CoreMatrices &b TUTTI_AND_WHERE) {                                                        \
    float *const sums[] = {__VA_ARGS__};                                                                               \
    static_assert(sizeof(sums) / sizeof(sums[0]) == tiles && columns == tiles * 8);                                    \
    group.ask(type[0] == 'b' ? MmaType::bf16 : MmaType::f16, tiles, sums, a, b, true, where);                          \
  }
#define TUTTI_WARPGROUP_CHUNK(tiles, columns, numbers, rows, weight, adding, ...)                                      \
  template <int panels>                                                                                                \
  static void multiply(Tiles<tiles>, Warpgroup &group, float (&d)[panels][1][4][4], const uint32_t (&a)[4],            \
                       const CoreMatrices &b, bool adds TUTTI_AND_WHERE) {                                             \
    float *const sums[] = {__VA_ARGS__};                                                                               \
    static_assert(sizeof(sums) / sizeof(sums[0]) == tiles && columns == tiles * 8);                                    \
    group.ask(MmaType::tf32, tiles, sums, a, b, adds, where);                                                          \
  }
