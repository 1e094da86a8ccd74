// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several kernels in one launch: which part a block belongs to, and what that part sees of the launch's parameters.
#pragma once

#include "tutti/base.cuh"

namespace tutti {

/// A part of a launch: its code, its index among the parts with this code, where its arguments begin, its rows, how
/// many of them a tile has, and its members.
struct TaskPart {
  int code, index, firstArgument;
  int64_t rows;
  int tileRows;
  int64_t members;
};

/// A block's task; `code` stays -1 where the grid has more blocks than there are tasks.
struct TaskPlace {
  int code = -1, index = 0, firstArgument = 0, tile = 0, member = 0;
  int64_t rows = 0, members = 0;
};

/// The parts' tasks one after the other; within a part all tiles of a member, then the next member's. No table is read:
/// the search is a chain of comparisons with sums of tiles x members, uniform for all threads.
template <int N> struct TaskTable {
  TaskPart parts[N];

  __device__ __forceinline__ TaskPlace find(unsigned block) const {
    TaskPlace place;
    int64_t left = block;
#pragma unroll
    for (int i = 0; i < N; ++i) {
      const TaskPart &part = parts[i];
      int64_t tiles = (part.rows + part.tileRows - 1) / part.tileRows, tasks = tiles * part.members;
      if (left >= 0 && left < tasks)
        place = {part.code,
                 part.index,
                 part.firstArgument,
                 int(unsigned(left) % unsigned(tiles)),
                 int(unsigned(left) / unsigned(tiles)),
                 part.rows,
                 part.members};
      left -= tasks;
    }
    return place;
  }
};

/// The launch's parameters as the code of a part reads them: its own arguments, counted from 0, its rows and members.
template <class Launch> class PartParams {
  struct Arguments {
    const Launch &launch;
    int first;
    __device__ __forceinline__ uint64_t operator[](int i) const { return launch.args[first + i]; }
  };
  struct Sizes {
    const Launch &launch;
    __device__ __forceinline__ int64_t operator[](int i) const { return launch.sizes[i]; }
  };

public:
  __device__ __forceinline__ PartParams(const Launch &launch, int firstArgument, const TaskPlace &task)
      : args{launch, firstArgument}, sizes{launch}, rows(task.rows), members(task.members), index(task.index) {}

  Arguments args;
  Sizes sizes;
  int64_t rows, members;
  int index; ///< among the parts that have the same code

  /// Selects this part's number from those of all parts, given in their order.
  template <class... Numbers> __device__ __forceinline__ int of(int first, Numbers... others) const {
    int number = first, at = 0;
    ((number = ++at == index ? others : number), ...);
    return number;
  }
};

} // namespace tutti
