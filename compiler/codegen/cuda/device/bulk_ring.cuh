// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ring of stages (ring.cuh) by bulk copies and mbarriers, from sm_90 on.
#pragma once

#include "tutti/bulk.cuh"
#include "tutti/ring.cuh"
#include "tutti/warpgroup.cuh"

#if TUTTI_CAPABILITY >= 90

namespace tutti {

/// One bulk copy brings a stage's weights, or one for each 16 k where the block does not have all panels of their band.
/// Rows, if a stage has any, come by cp.async, `rowUnit` floats at a time (0: no rows): a stage has few bytes of each
/// row, and bulk copies are issued one after the other whichever lane issues them. Two barriers a stage lie before the
/// ring, in `barrierBytes`: `full` counts bytes and the threads that issued copies, `empty` counts warps. With
/// warpgroups and a producer, a pass' first stage also brings Layer::own, by cp.async, to one of `places` places before
/// these barriers; each place has one more barrier, which counts the warps that have read it.
///
/// With a producer, a warp beside the others issues all copies, as far ahead as stages are free, and the others only
/// wait for what they need. It is the block's last warp, or the first of four more warps, which as a warpgroup can give
/// registers away; all four copy rows, as one would take longer for a stage's rows than the tensor cores for the stage.
/// Without a producer (where a ninth warp would take registers from the others) each warp that takes a stage issues
/// copies into a stage that was left a turn ago, so that nobody waits for the slowest: all warps copy rows, and they
/// take turns to copy weights.
template <class Math, class Tile, int depth, int stageBytes, int offset, int barrierBytes, int rowUnit,
          int producerWarps, int places, class Members, class LayerOf>
class BulkRing {
public:
  static constexpr bool producer = producerWarps > 0;
  static_assert(taskThreadsOf(Tile::threads + 32 * producerWarps) == Tile::threads, "the producer has no task");
  static_assert(stageNeeds<Math, Tile, (rowUnit > 0)> <= stageBytes, "a stage has room for all that comes");

  /// All threads of the block come here.
  __device__ __forceinline__ BulkRing(const Members &members, int layers, int rows, const LayerOf &layerOf)
      : thread(kept(threadIdx.x)), isFirst(thread % 32 == 0), barriers(offset - barrierBytes, 2 * depth + places),
        rows(rows), ahead(members, layers, layerOf) {
    static_assert((2 * depth + places) * 8 <= barrierBytes && (places == 0 || producer));
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int i = 0; i < depth; ++i) {
        mbarrierInit(barriers[i], 1 + (streams ? copiers : 0));
        mbarrierInit(barriers[depth + i], Tile::threads / 32);
      }
#pragma unroll 1
      for (int i = 0; i < places; ++i)
        mbarrierInit(barriers[2 * depth + i], Tile::threads / 32);
      mbarrierInitFence();
    }
    __syncthreads();
  }
  __device__ __forceinline__ static bool isProducer() { return producer && int(threadIdx.x) >= Tile::threads; }
  __device__ __forceinline__ void produce() {
#if TUTTI_CAPABILITY == 90
    if constexpr (producerWarps == 4) {
      giveRegisters<producersRegisters>();
      if (!streams && int(threadIdx.x) >= Tile::threads + 32)
        return;
    }
#endif
#pragma unroll 1
    while (!ahead.isOver())
      bring();
    if constexpr (streams || bringsColumns)
#pragma unroll 1
      for (int i = 0; i < depth; ++i) {
        mbarrierWait(barriers[depth + filled], filledRound); // so its copies end before this thread does
        nextFilled();
      }
  }
  __device__ __forceinline__ void fill() {
#if TUTTI_CAPABILITY == 90
    if constexpr (producerWarps == 4)
      takeRegisters<workersRegisters>();
#endif
    if constexpr (!producer)
#pragma unroll 1
      for (int i = 0; i < (depth > 2 ? depth - 2 : 1); ++i)
        bringNext();
  }
  /// Waits for the next stage; returns its byte offset in shared memory.
  __device__ __forceinline__ int take() {
    if constexpr (!producer)
      bringNext();
    mbarrierWait(barriers[taken], takenRound);
    return offset + taken * stageBytes;
  }
  /// The same for the stage behind it, before that one is left.
  __device__ __forceinline__ int takeNext() {
    static_assert(producer || depth > 2, "who has not left a stage asks for none to take its place");
    if constexpr (!producer)
      bringNext();
    bool last = taken == depth - 1;
    int next = last ? 0 : taken + 1;
    mbarrierWait(barriers[next], takenRound ^ last);
    return offset + next * stageBytes;
  }
  /// Says that this warp has read what it needs of the first stage that it has not left.
  __device__ __forceinline__ void leave() {
    __syncwarp(); // all its lanes have read
    if (isFirst) {
      mbarrierArrive(barriers[depth + taken]);
    }
    bool last = taken == depth - 1;
    taken = last ? 0 : taken + 1;
    takenRound ^= last;
  }

  /// The byte offset of a pass' columns in shared memory, from the block's first one on; valid once the pass' first
  /// stage is taken.
  __device__ __forceinline__ int columnsAt() const { return columnPlaces + columnsTaken * Tile::passColumns * 4; }
  /// Says that this warp has read what it needs of them.
  __device__ __forceinline__ void leaveColumns() {
    __syncwarp(); // all its lanes have read
    if (isFirst) {
      mbarrierArrive(barriers[2 * depth + columnsTaken]);
    }
    columnsTaken = columnsTaken + 1 == places ? 0 : columnsTaken + 1;
  }

private:
  static constexpr bool streams = rowUnit > 0, bringsColumns = places > 0;
  /// Registers of a thread once the producer's warpgroup has given away what it does not need of the 168 or 128 that a
  /// thread of three or four warpgroups has. With more than 208, NVRTC 13 keeps more values of 16-bit products at a
  /// time, and spills.
  static constexpr int producersRegisters = 40, workersRegisters = Tile::threads != 256          ? 152
                                                                   : Tile::wide && Math::chunked ? 232
                                                                                                 : 208;
  static_assert(producerWarps < 4 || 128 * producersRegisters + Tile::threads * workersRegisters <= 65536,
                "a multiprocessor has so many");
  static constexpr int columnPlaces = offset - barrierBytes - places * Tile::passColumns * 4;
  static constexpr int copiers = producer ? 32 * producerWarps : Tile::threads; ///< of rows
  static constexpr int warps = Tile::threads / 32;

  __device__ __forceinline__ void nextFilled() {
    filled = filled + 1 == depth ? 0 : filled + 1;
    filledRound ^= filled == 0;
  }
  __device__ __forceinline__ void bringNext() {
    if (!ahead.isOver())
      bring();
  }
  /// Issues the copies of the next stage. Called by all lanes of a producer, or by all warps.
  __device__ __forceinline__ void bring() {
    ahead.begin();
    const Stages<Math, Tile> &stages = ahead.stages;
    constexpr int pitch = rowPitch(Tile::stageK);
    int from = ahead.from, at = offset + filled * stageBytes, columns = streams ? stages.columns(from) : 0,
        mine = thread - (producer ? Tile::threads : 0), warp = mine / 32;
    bool asks = warp == (producer ? 0 : turn);
    if (producer || asks || columns > 0) { // all of a producer's warps: none overtakes another by a whole turn
      mbarrierWait(barriers[depth + filled], filledRound); // in the first round over from the start
      __syncwarp(); // a lane that came later than the next round's end would wait for the one after it
    }
    if constexpr (bringsColumns)
      if (warp == 0 && from == 0)
        bringColumns(mine);
    if (isFirst && asks) {
      if constexpr (!Tile::wide ||
                    Math::chunked) { // else tensor cores alone have read it, through the copies' own proxy
        bulkFence();                 // what the warps have read comes before a copy that overwrites it
      }
      bringWeights(stages, from, at);
    }
    if (streams && columns == 0 && isFirst && (producer || asks)) {
      mbarrierArriveTimes(barriers[filled], producer ? 32 : copiers);
    }
    if constexpr (streams)
      if (columns > 0) {
        copyRows<Tile, rowUnit, copiers>(stages,
                                         shared<float>(at + Tile::template weightBytes<Math>, Tile::rows * pitch), rows,
                                         from, columns, mine);
        copyAsyncArrive(barriers[filled]); // in the next phase, as this thread has seen the last one end
      }
    nextFilled();
    if (!producer)
      turn = turn + 1 == warps ? 0 : turn + 1;
    ahead.next();
  }
  /// Copies a stage's groups of weights to byte `at`.
  __device__ __forceinline__ void bringWeights(const Stages<Math, Tile> &stages, int from, int at) {
    int words = stages.words, groups = words > 0 ? stages.groups(from) : 0;
    mbarrierExpect(barriers[filled], groups * words * 4);
    if (stages.isOneRun()) {
      barriers.copy(filled, at, &stages.run(from)[0], groups * words * 4);
      return;
    }
#pragma unroll 1
    for (int group = 0; group < groups; ++group)
      barriers.copy(filled, at + group * words * 4, &stages.group(from, group)[0], words * 4);
  }

  /// Called by the warp that issues the weights, before it does: the stage's barrier covers these floats, too, so that
  /// nobody waits for more.
  __device__ __forceinline__ void bringColumns(int lane) {
    const Layer of = ahead.ofPass();
    if (!of.brings)
      return;
    int place = columnsBrought % places, first = ahead.firstColumn(of) + lane;
    const unsigned free = ~(columnsBrought / places) & 1; // in the first round over from the start
    mbarrierWait(barriers[2 * depth + place], free);
    const Shared<float> to = shared<float>(columnPlaces + place * Tile::passColumns * 4, Tile::passColumns);
#pragma unroll
    for (int i = 0; i < Tile::passColumns; i += 32)
      __pipeline_memcpy_async(&to[lane + i], &of.own[first + i < of.N ? first + i : of.N - 1], 4);
    copyAsyncArriveToo(barriers[filled]);
    __syncwarp(); // all lanes are counted before the phase may end
    ++columnsBrought;
  }

  int thread;   ///< index in the block
  bool isFirst; ///< of the lanes of its warp
  Mbarriers barriers;
  int rows, filled = 0, filledRound = 1, taken = 0, takenRound = 0;
  int turn = 0;                               ///< the warp that issues the next weights
  int columnsTaken = 0;                       ///< the place of this pass' columns
  unsigned columnsBrought = 0;                ///< passes whose columns were requested
  Course<Math, Tile, Members, LayerOf> ahead; ///< at the stage that is copied next
};

} // namespace tutti

#endif
