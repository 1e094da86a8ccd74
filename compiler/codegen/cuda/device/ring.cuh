// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A ring of stages in shared memory: copies fill the next ones with weights and rows while the block works on one.
//
// The stages of all layers follow each other, and those of all members of the block, so that the next ones' weights
// arrive while the current one is finished. Layers are numbers, not types, so the code that copies exists once for all
// of them. A ring is used as follows:
//
//   if (ring.isProducer())       in a warp of its own, if the ring has one (bulk_ring.cuh)
//     return ring.produce();
//   ring.fill();
//   for each stage { int stage = ring.take(); ...; ring.leave(); }
//   behind the products of a pass that brings Layer::own: ... ring.columnsAt() ...; ring.leaveColumns();
#pragma once

#include "tutti/async.cuh"
#include "tutti/barrier.cuh"
#include "tutti/layer.cuh"
#include "tutti/shape.cuh"

namespace tutti {

/// The stages of a pass. Each has some k of the weights of the pass' panels, side by side as they lie in the matrix,
/// and the same k of each row, or nothing if the rows lie in shared memory.
template <class Math, class Tile> class Stages {
public:
  static constexpr int groupWords = Math::words * 32; ///< of a tile
  int words = 0;                                      ///< of 16 k of the pass; 0: this block has no panel in it

  Stages() = default;
  __device__ __forceinline__ Stages(const Layer &layer, int pass)
      : words(passTiles<Tile>(layer.tiles, pass) * groupWords), K(layer.K), rows(layer.input),
        streams(Tile::streamsRows && layer.left == ofInput) {
    const PassWords<Math> of(firstTileOf(layer.tiles, Tile::firstPanel(pass)), layer.tiles, K);
    stride = of.stride;
    if (words > 0)
      weights = layer.weights.slice(of.first, (groupsOf(K) - 1) * stride + words);
  }

  // The functions below describe the stage whose first k is `from`.
  /// The number of its groups of 16 k, and the words of one of them.
  __device__ __forceinline__ int groups(int from) const {
    int left = groupsOf(K - from);
    return left < Tile::stageK / 16 ? left : Tile::stageK / 16;
  }
  __device__ __forceinline__ Global<const uint32_t> group(int from, int group) const {
    return weights.slice((from / 16 + group) * stride, words);
  }
  /// Whether all groups are one run of words; it starts with group 0.
  __device__ __forceinline__ bool isOneRun() const { return words == stride; }
  __device__ __forceinline__ Global<const uint32_t> run(int from) const {
    return weights.slice(from / 16 * stride, groups(from) * words);
  }
  /// Its elements of row i, and their number.
  __device__ __forceinline__ auto row(int i, int from) const { return &rows[i * K + from]; }
  __device__ __forceinline__ int columns(int from) const {
    return !streams ? 0 : K - from < Tile::stageK ? K - from : Tile::stageK;
  }

private:
  int K = 0, stride = 0; ///< words from one group to the next
  Global<const uint32_t> weights = {uint64_t(0), 0};
  Global<const float> rows = {uint64_t(0), 0};
  bool streams = false;
};

/// The members that a block works on, one after the other: from `first`, every `step`-th one before `end`.
struct Members {
  static constexpr bool several = true;
  int first, end, step;
};
/// The single member of a block, which its layers know.
struct OneMember {
  static constexpr bool several = false;
  static constexpr int first = 0;
};

/// The number of rows of this block, which is alone in its tile of `most`. It is recomputed at each use, so that it
/// keeps no register from pass to pass.
template <int most> __device__ __forceinline__ int rowsOfBlock(int64_t totalRows) {
  const int64_t left = totalRows - int64_t(blockIdx.x) * most;
  return int(left < most ? left : most);
}

/// The order of a ring's copies: through all of a member's layers, then the next one's; within a layer pass by pass,
/// within a pass stage by stage. layerOf(member, n) is layer n of `layers`.
template <class Math, class Tile, class Members, class LayerOf> class Course {
public:
  int from = 0; ///< the stage's first k
  Stages<Math, Tile> stages;

  __device__ __forceinline__ Course(const Members &members, int layers, const LayerOf &layerOf)
      : layerOf(layerOf), members(members), layers(layers), member(members.first) {}

  __device__ __forceinline__ bool isOver() const {
    if constexpr (Members::several)
      return member >= members.end;
    else
      return layer == layers;
  }
  /// Looks up, at a pass' first stage, what belongs to the pass.
  __device__ __forceinline__ void begin() {
    if (from > 0)
      return;
    const Layer of = layerOf(member, layer);
    K = of.K;
    passes = of.passes<Tile>();
    stages = Stages<Math, Tile>(of, pass);
  }
  __device__ __forceinline__ void next() {
    from += Tile::stageK;
    if (from < K)
      return;
    from = 0;
    if (++pass < passes)
      return;
    pass = 0, ++layer;
    if constexpr (Members::several)
      if (layer == layers)
        layer = 0, member += members.step;
  }

  /// The layer, and the first column of the block in this pass: recomputed, as a producer has few registers.
  __device__ __forceinline__ Layer ofPass() const { return layerOf(member, layer); }
  __device__ __forceinline__ int firstColumn(const Layer &of) const {
    return firstTileOf(of.tiles, Tile::firstPanel(pass)) * 8;
  }

private:
  const LayerOf &layerOf;
  Members members;
  int layers, member, layer = 0, pass = 0, K = 0, passes = 0; ///< K and passes are the layer's
};

/// Copies the `columns` elements from `from` on of each row by cp.async. Thread `mine` of `threads` copies the same
/// columns of every (threads / units)-th row, `unit` floats at a time.
template <class Tile, int unit, int threads, class Math>
__device__ __forceinline__ void copyRows(const Stages<Math, Tile> &stages, const Shared<float> &to, int rows, int from,
                                         int columns, int mine) {
  constexpr int units = Tile::stageK / unit;
  static_assert(threads % units == 0, "a thread has the same columns of all its rows");
  int column = mine % units * unit;
  if (column >= columns)
    return;
  constexpr int most = Tile::rows / (threads / units); // a thread's rows
#pragma unroll(most > 4 ? 4 : 1)
  for (int row = mine / units; row < rows; row += threads / units)
    __pipeline_memcpy_async(&to[row * rowPitch(Tile::stageK) + column], stages.row(row, from + column), unit * 4);
}

/// Bytes that a stage needs at most; the compiler lays stages out (addRing, Geometry.cpp).
template <class Math, class Tile, bool ofRows>
constexpr int stageNeeds = Tile::template weightBytes<Math> + (ofRows ? Tile::rows * rowPitch(Tile::stageK) * 4 : 0);

/// A ring by cp.async: each thread copies its part and waits for it, and a barrier makes the parts a stage. All threads
/// of the task come to fill() and take(). A row is copied `rowUnit` floats at a time, as its alignment allows.
template <class Math, class Tile, int depth, int stageBytes, int offset, int rowUnit, class Members, class LayerOf>
class AsyncRing {
public:
  static_assert(taskThreadsOf(Tile::threads) == Tile::threads, "all threads have the task");
  static_assert(stageNeeds<Math, Tile, false> <= stageBytes, "a stage has room for its weights");
  __device__ __forceinline__ AsyncRing(const Members &members, int layers, int rows, const LayerOf &layerOf)
      : rows(rows), ahead(members, layers, layerOf) {}
  __device__ __forceinline__ static bool isProducer() { return false; }
  __device__ __forceinline__ static void produce() {}
  __device__ __forceinline__ void fill() {
#pragma unroll 1
    for (int i = 0; i < depth - 1; ++i)
      bring();
  }
  /// Waits for the next stage; returns its byte offset in shared memory. The stage before may be overwritten from now
  /// on.
  __device__ __forceinline__ int take() {
    __pipeline_wait_prior(depth - 2);
    taskSync(); // everybody's copies are there, and everybody has done with the stage before
    bring();
    int stage = taken;
    taken = after(taken);
    return stage;
  }
  __device__ __forceinline__ void leave() {}

private:
  __device__ __forceinline__ static int after(int stage) {
    return stage == offset + (depth - 1) * stageBytes ? offset : stage + stageBytes;
  }
  __device__ __forceinline__ void bring() {
    if (!ahead.isOver()) {
      ahead.begin();
      const Stages<Math, Tile> &stages = ahead.stages;
      int from = ahead.from, columns = stages.columns(from), pitch = rowPitch(Tile::stageK), words = stages.words;
      const Shared<uint32_t> to = shared<uint32_t>(filled, Tile::template weightBytes<Math> / 4);
#pragma unroll 1
      for (int group = 0; group < stages.groups(from); ++group)
        for (int word = threadIdx.x * 4; word < words; word += Tile::threads * 4)
          __pipeline_memcpy_async(&to[group * words + word], &stages.group(from, group)[word], 16);
      const Shared<float> beside =
          shared<float>(filled + Tile::template weightBytes<Math>, columns ? Tile::rows * pitch : 0);
      copyRows<Tile, rowUnit, Tile::threads>(stages, beside, rows, from, columns, threadIdx.x);
      ahead.next();
    }
    filled = after(filled);
    __pipeline_commit(); // an empty one too: waits count groups
  }
  int rows, filled = offset, taken = offset;
  Course<Math, Tile, Members, LayerOf> ahead; ///< at the stage that is copied next
};

} // namespace tutti
