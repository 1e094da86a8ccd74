// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles of rows, and whether tasks go along members or rows first.
#include "Tasks.h"

#include "../../core/Check.h"

#include <algorithm>
#include <unistd.h>

namespace tutti::rt {

int64_t cacheBytes() {
  long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : int64_t(1) << 20;
}

int64_t chooseTile(const fb::Launch &launch, int64_t rows, int64_t members, uint32_t threads) {
  int64_t quantum = launch.row_quantum(), most = launch.row_tile_max() / quantum * quantum;
  most = std::min<int64_t>(most, std::max<int64_t>(divideCeil(rows, quantum) * quantum, quantum));
  // Real launches have tens of candidates; a limit keeps odd ones from costing time.
  int64_t step = quantum * std::max<int64_t>(1, most / quantum / 1024);
  int64_t best = most;
  double bestCost = 0;
  for (int64_t tile = most; tile >= quantum; tile -= step) {
    int64_t tasks = (launch.lifted() ? members : 1) * divideCeil(rows, tile);
    double rounds = double(divideCeil(tasks, threads));
    double cost = rounds * double(std::min(tile, rows) + launch.row_overhead());
    if (tile == most || cost < bestCost)
      best = tile, bestCost = cost;
  }
  return best;
}

/// Member by member, what all members read comes to a cache once for each of them; along the rows it comes once, and
/// the weights once for each tile. The second is chosen where the first does not fit, and is more.
static bool goesByRows(const Call &call, const Call::Launch &launch, int64_t members, int64_t tiles,
                       const int64_t *sizes, int64_t cache) {
  if (members < 2 || tiles < 2)
    return false;
  int64_t ofNone[kMaxSizes]; // at which what each member has for itself is nothing
  for (uint32_t i = 0; i < call.sizes.size(); ++i)
    ofNone[i] = call.program->sizes()->Get(i)->kind() == fb::SizeKind::active ? 0 : sizes[i];
  double shared = 0, own = 0;
  for (uint32_t a = 0; a < launch.numArgs; ++a) {
    const fb::Buffer &b = *call.program->buffers()->Get(call.args[launch.firstArg + a].buffer);
    if (b.space() == fb::Space::input || b.space() == fb::Space::arena)
      shared += double(valueOf(b.bytes(), ofNone));
    else if (b.space() == fb::Space::constant)
      own += double(call.artifact.root().slots()->Get(uint32_t(b.slot()))->bytes_each());
  }
  return shared > double(cache) && double(tiles) * own < shared;
}

void LaunchTasks::choose(const Call &call, uint32_t launch, uint32_t ofSet, const int64_t *at, uint32_t threads,
                         int64_t cache) {
  const fb::Launch &l = *call.launches[launch].launch;
  int64_t rows = valueOf(l.rows(), at);
  members = l.lifted() ? ofSet : 1;
  tile = chooseTile(l, rows, ofSet, threads);
  int64_t tiles = divideCeil(rows, tile);
  tasks = members * tiles;
  byRows = goesByRows(call, call.launches[launch], members, tiles, at, cache);
}

void LaunchTasks::run(int64_t begin, int64_t end, char *scratch) const {
  if (!byRows)
    return kernel(args, sizes, tile, begin, end, scratch);
  for (int64_t i = begin; i < end; ++i) {
    int64_t task = i % members * (tasks / members) + i / members;
    kernel(args, sizes, tile, task, task + 1, scratch);
  }
}

StepTasks::StepTasks(const LaunchTasks *first, const LaunchTasks *last, uint32_t threads) : first(first), last(last) {
  for (const LaunchTasks *l = first; l != last; ++l) {
    count += l->runs ? l->tasks : 0;
    if (threads > 1 && last - first > 1)
      rounds = std::max<int64_t>(rounds, std::min(l->members, mostRounds));
  }
}

int64_t StepTasks::before(int64_t round) const {
  int64_t tasks = 0;
  for (const LaunchTasks *l = first; l != last; ++l)
    tasks += before(*l, round);
  return tasks;
}

void StepTasks::run(int64_t begin, int64_t end, char *scratch) const {
  int64_t round = 0; // the last that begins before `begin`, or there
  for (int64_t behind = rounds; behind - round > 1;) {
    int64_t middle = (round + behind) / 2;
    (before(middle) <= begin ? round : behind) = middle;
  }
  for (int64_t at = before(round); at < end; ++round)
    for (const LaunchTasks *l = first; l != last; ++l) {
      int64_t from = before(*l, round), some = before(*l, round + 1) - from;
      if (int64_t skipped = std::max<int64_t>(begin - at, 0), taken = std::min(end - at, some); skipped < taken)
        l->run(from + skipped, from + taken, scratch);
      at += some;
    }
}

} // namespace tutti::rt
