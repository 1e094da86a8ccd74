// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which launches run in strips, how long a strip is, and where its values lie.
#include "Strips.h"
#include "Pool.h"
#include "Tasks.h"

#include <algorithm>

namespace tutti::rt {

namespace {
constexpr int64_t kLine = kLineBytes;
/// With fewer strips than this for each of several threads, the last ones would leave some of them idle for too long.
constexpr int64_t kStripsOfThread = 4;
/// The thread with most places may have so many times what each would have if they were even.
constexpr double kMostOfEven = 1.125;
int64_t leastStrips(uint32_t threads) { return threads == 1 ? 2 : kStripsOfThread * threads; }
/// A strip's values take this part of the second cache; weights, inputs and outputs pass through it, too.
constexpr int64_t kCacheShare = 3;

/// The places of a strip: about as many as fit, or so many fewer that the thread that has most is done soonest.
int64_t lengthOf(int64_t places, int64_t fit, int64_t members, uint32_t threads) {
  constexpr int64_t tried = 16;
  int64_t least = std::max(divideCeil(places, fit), divideCeil(leastStrips(threads), members));
  int64_t best = 1, bestCost = INT64_MAX;
  for (int64_t strips = std::min(places, least); strips <= std::min(places, least + tried); ++strips) {
    int64_t length = divideCeil(places, strips);
    int64_t cost = divideCeil(members * divideCeil(places, length), threads) * length;
    if (cost < bestCost)
      best = length, bestCost = cost;
  }
  return best;
}
} // namespace

bool Strips::build(const Call &call, uint32_t threads) {
  axis = call.program->strips();
  most = largestSizes(*call.program);
  wordsEach = alignUp(call.words.size(), kLine / sizeof(uint64_t));
  if (!uses.allocate(call.buffers.size()) || !phases.allocate(call.launches.size()))
    return false;
  possible = classify(call);
  return words.allocate(possible ? wordsEach * threads : 0);
}

/// Finds the launches' phases, and what holds of buffers at any size. Whether no phase needs what a later one makes.
bool Strips::classify(const Call &call) {
  const fb::Program &program = *call.program;
  if (count(program.steps()) < 2 || program.chunk() || numSets(program) > 1)
    return false;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const fb::Buffer &b = *program.buffers()->Get(i);
    int64_t start = b.space() == fb::Space::arena ? valueOf(b.offset(), most.data()) : 0;
    uses[i] = Use{};
    uses[i].start = start;
    uses[i].end = start + valueOf(b.bytes(), most.data());
  }
  for (uint32_t i = 0; i < phases.size(); ++i) {
    const Call::Launch &launch = call.launches[i];
    phases[i] = launch.launch->lifted() ? members : shared;
    for (uint32_t a = 0; a < launch.numArgs; ++a) {
      const fb::Arg &arg = *launch.launch->args()->Get(a);
      if (arg.set() >= 0 || arg.offset())
        return false;
      if (program.buffers()->Get(uint32_t(arg.buffer()))->space() == fb::Space::state)
        phases[i] = heads;
    }
    for (uint32_t a = 0; a < launch.numArgs; ++a) {
      uint32_t buffer = call.args[launch.firstArg + a].buffer;
      fb::Space space = program.buffers()->Get(buffer)->space();
      Use &use = uses[buffer];
      if (space != fb::Space::arena && space != fb::Space::output)
        continue;
      if (use.last > phases[i])
        return false;
      bool first = use.made < 0;
      use.made = first ? phases[i] : use.made;
      use.only = space == fb::Space::arena && (first || use.only == phases[i]) ? phases[i] : -1;
      use.last = phases[i];
    }
  }
  for (Use &use : uses)
    use.before = std::count_if(uses.begin(), uses.end(),
                               [&](const Use &other) { return other.only == use.only && other.start < use.start; });
  return true;
}

/// Finds how buffers go along the axis and the members. Whether all of a buffer's places and members have as many
/// bytes.
bool Strips::measure(const Call &call) {
  int64_t at[kMaxSizes], numMembers = call.numActive, places = placesOf(call);
  std::copy(call.sizes.begin(), call.sizes.end(), at);
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const fb::Buffer &b = *call.program->buffers()->Get(i);
    Use &use = uses[i];
    auto bytes = [&](int64_t m, int64_t p, int64_t &value) {
      at[axis] = p, at[0] = m;
      return call.bytesAt(i, at, value);
    };
    use.local = -1;
    if (b.space() == fb::Space::constant) {
      use.member = call.slotOf(i)->per_member() ? int64_t(sizeof(void *)) : 0;
    } else if (b.space() != fb::Space::state) {
      int64_t twoMembers, twoPlaces, all;
      if (!bytes(1, 1, use.each) || !bytes(2, 1, twoMembers) || !bytes(1, 2, twoPlaces) ||
          !bytes(numMembers, places, all))
        return false;
      bool ofMember = twoMembers != use.each, ofPlace = !axis || twoPlaces != use.each;
      int64_t ofAll;
      if (!checkedMul(use.each, ofPlace ? places : 1, use.member) ||
          !checkedMul(use.member, ofMember ? numMembers : 1, ofAll) || ofAll != all)
        return false;
      use.place = ofPlace ? use.each : 0;
      use.member = ofMember ? use.member : 0;
    }
  }
  return true;
}

/// Cuts a phase into strips. Whether that can be, and pays.
bool Strips::cut(const Call &call, uint32_t threads, Phase phase) {
  Run &run = runs[phase];
  bool always = call.inStrips == Call::InStrips::always;
  int64_t numMembers = phase == members ? call.numActive : 1, places = placesOf(call), tasks;
  if (places < 1 || !checkedMul(numMembers, places, tasks) || tasks > kMaxTasks)
    return false;
  int64_t now = 0, largest = 0, end = 0;
  for (const Use &use : uses) {
    if (use.made == phase && (!use.place || (use.member != 0) != (phase == members)))
      return false;
    if (use.only != phase)
      continue;
    now += use.each;
    largest += use.end - use.start;
    end = std::max(end, use.end);
  }
  if (!largest && !always)
    return false;
  // How much of a place lives at the same time, as far as the arena tells.
  double ofPlace = double(end) / double(std::max<int64_t>(largest, 1)) * double(now);
  double cache = double(cacheBytes()) / kCacheShare;
  // One thread gains nothing where a cache holds all; several wait for each other less often.
  if (!always && (tasks < leastStrips(threads) || (threads == 1 && ofPlace * double(tasks) <= cache)))
    return false;
  int64_t fit = std::max<int64_t>(1, int64_t(std::min(cache / ofPlace, double(places))));
  run.length = always ? 1 : lengthOf(places, fit, numMembers, threads);
  run.ofMember = divideCeil(places, run.length);
  double busiest = double(divideCeil(numMembers * run.ofMember, threads) * run.length) * threads;
  if (!always && busiest > kMostOfEven * double(tasks))
    return false;
  for (bool last : {false, true}) {
    std::copy(call.sizes.begin(), call.sizes.end(), run.sizes[last]);
    run.sizes[last][axis] = last ? places - (run.ofMember - 1) * run.length : run.length;
    run.sizes[last][0] = phase == members ? 1 : call.numActive;
  }
  if (!layOut(phase) || (!always && !pays(call, phase)))
    return false;
  run.strips = numMembers * run.ofMember;
  return true;
}

/// Lays out a thread's area: values lie to each other as those of the largest call do, which do not overlap, but all is
/// scaled down to the places of a strip. Each begins at a line, and a line further for each that begins before it,
/// which makes room for what rounding adds. Whether that can be counted.
bool Strips::layOut(Phase phase) {
  Run &run = runs[phase];
  int64_t all, product;
  if (!checkedMul(phase == members ? most[0] : 1, axis ? most[axis] : 1, all) || !checkedMul(all, run.length, product))
    return false;
  run.areaBytes = 0;
  for (Use &use : uses)
    if (use.only == phase) {
      int64_t scaled = use.start / all * run.length + use.start % all * run.length / all;
      use.local = int64_t(alignUp(uint64_t(scaled), kLine)) + use.before * kLine;
      run.areaBytes = std::max(run.areaBytes, int64_t(alignUp(uint64_t(use.local + use.each * run.length), kLine)));
    }
  return true;
}

/// Whether a phase saves more bytes of what launches make for each other than it reads of weights, which each strip
/// needs anew.
bool Strips::pays(const Call &call, Phase phase) const {
  const Run &run = runs[phase];
  double saved = 0, read = 0;
  for (const Use &use : uses)
    if (use.only == phase)
      saved += 2 * double(use.each) * double(placesOf(call));
  for (uint32_t i = 0; i < phases.size(); ++i) {
    const Call::Launch &launch = call.launches[i];
    if (phases[i] != phase)
      continue;
    auto tiles = [&](const int64_t *at) {
      return double(divideCeil(valueOf(launch.launch->rows(), at), launch.launch->row_tile_max()));
    };
    double more = double(run.ofMember) * tiles(run.sizes[false]) - tiles(call.sizes.data());
    for (uint32_t a = 0; a < launch.numArgs; ++a)
      if (const fb::Slot *slot = call.slotOf(call.args[launch.firstArg + a].buffer))
        read += more * double(slot->bytes_each());
  }
  return saved > read;
}

/// Places the threads' areas beside what is used at the same time. Whether there is room, and nothing is overwritten
/// before it is read, now that launches have another order.
bool Strips::place(const Call &call, uint32_t threads) {
  const fb::Program &program = *call.program;
  int64_t numSteps = count(program.steps());
  int64_t arena = count(program.arena()) ? valueOf(program.arena()->Get(0), most.data()) : 0;
  for (Use &use : uses)
    use.first = INT64_MAX, use.last = -1;
  for (uint32_t i = 0; i < phases.size(); ++i) {
    const Call::Launch &launch = call.launches[i];
    int64_t time = phases[i] * numSteps + (runs[phases[i]].strips ? 0 : launch.step);
    for (uint32_t a = 0; a < launch.numArgs; ++a) {
      Use &use = uses[call.args[launch.firstArg + a].buffer];
      use.first = std::min(use.first, time);
      use.last = std::max(use.last, time);
    }
  }
  runs[shared].areas = runs[members].areas = 0;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    auto isInPlace = [&](uint32_t buffer) {
      return program.buffers()->Get(buffer)->space() == fb::Space::arena && !isLocal(buffer);
    };
    const Use &use = uses[i];
    if (!isInPlace(i))
      continue;
    for (uint32_t j = 0; j < i; ++j)
      if (const Use &other = uses[j]; isInPlace(j) && use.start < other.end && other.start < use.end &&
                                      use.first <= other.last && other.first <= use.last)
        return false;
    for (Phase phase : {shared, members})
      if (runs[phase].strips && use.first <= phase * numSteps && use.last >= phase * numSteps)
        runs[phase].areas = std::max(runs[phase].areas, int64_t(alignUp(uint64_t(use.end), kLine)));
  }
  for (Phase phase : {shared, members})
    if (runs[phase].strips && runs[phase].areaBytes > (arena - runs[phase].areas) / threads)
      return false;
  return true;
}

int64_t Strips::placesOf(const Call &call) const { return axis ? call.sizes[axis] : 1; }

bool Strips::choose(const Call &call, uint32_t threads) {
  for (Run &run : runs)
    run.strips = 0;
  if (!possible || call.inStrips == Call::InStrips::never || !measure(call))
    return false;
  for (Phase phase : {shared, members})
    if (!cut(call, threads, phase))
      for (Use &use : uses)
        use.local = use.only == phase ? -1 : use.local;
  if (chosen() && !place(call, threads))
    runs[shared].strips = runs[members].strips = 0;
  return chosen();
}

uint64_t *Strips::argumentsOf(const Call &call, Phase phase, uint32_t thread, int64_t strip) {
  const Run &run = runs[phase];
  uint64_t *mine = words.data() + thread * wordsEach;
  int64_t member = strip / run.ofMember, place = strip % run.ofMember * run.length;
  char *area = call.arena + run.areas + thread * run.areaBytes;
  for (uint32_t i = 0; i < phases.size(); ++i) {
    const Call::Launch &launch = call.launches[i];
    for (uint32_t a = 0; phases[i] == phase && a < launch.numArgs; ++a) {
      const Call::Arg &arg = call.args[launch.firstArg + a];
      const Use &use = uses[arg.buffer];
      const char *start =
          isLocal(arg.buffer) ? area + use.local : call.buffers[arg.buffer] + member * use.member + place * use.place;
      mine[launch.firstWord + a] = reinterpret_cast<uint64_t>(start);
    }
  }
  return mine;
}

} // namespace tutti::rt
