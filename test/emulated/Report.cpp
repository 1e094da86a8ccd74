// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch has done wrong, in words.
#include "Launcher.h"

#include <algorithm>

namespace tutti::emulated {

std::string print(uint3 v) {
  return "(" + std::to_string(v.x) + ", " + std::to_string(v.y) + ", " + std::to_string(v.z) + ")";
}

std::string print(Where where) { return std::string(where.file) + ":" + std::to_string(where.line); }

/// Nobody can go on: says who waits where.
void Launcher::reportDeadlock() {
  struct Group {
    std::string place;
    uint32_t first, number;
  };
  std::vector<Group> groups;
  auto isThread = [&](uint32_t i) { return i % stride < numThreads; };
  for (uint32_t i = 0; i < clusterSize * stride; ++i) {
    if (!isThread(i))
      continue;
    const Thread &thread = threads[i];
    std::string place = "have returned";
    if (thread.status == Thread::Status::waiting)
      place = std::string("wait at ") + thread.what + " in " + print(thread.where);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group &g) { return g.place == place; });
    if (group == groups.end())
      groups.push_back({place, i, 1});
    else
      ++group->number;
  }
  std::string text = std::string(clusterSize > 1 ? "the cluster" : "the block") + " can not go on:";
  for (const Group &group : groups)
    text += (&group == groups.data() ? " " : "; ") + std::to_string(group.number) + " thread" +
            (group.number > 1 ? "s" : "") + " " + group.place + " (the first is " +
            nameOf(blockOf(group.first), group.first % stride) + ")";
  for (uint32_t rank = 0; rank < clusterSize; ++rank)
    for (const auto &[offset, mbarrier] : blocks[rank]->mbarriers)
      if (!mbarrier.waiting.empty())
        text += "; phase " + std::to_string(mbarrier.phase) + " of the mbarrier of " + print(mbarrier.where) +
                " at byte " + std::to_string(offset) + " lacks " + std::to_string(mbarrier.pending) + " of " +
                std::to_string(mbarrier.count) + " arrivals and " + std::to_string(mbarrier.bytes) + " bytes";
  uint32_t waits = 0;
  while (!isThread(waits) || threads[waits].status != Thread::Status::waiting)
    ++waits;
  failAt(waits, CUDA_ERROR_LAUNCH_TIMEOUT, text, threads[waits].where);
}

std::string Launcher::nameOf(const Block &block, uint32_t thread) const {
  return print(threads[block.rank * stride + thread].index) +
         (clusterSize > 1 ? " of block " + print(block.index) : std::string());
}

void Launcher::failAt(uint32_t thread, CUresult result, const std::string &text, Where where) {
  if (failure.result == CUDA_SUCCESS)
    failure = {result, "kernel " + *name + ", block " + print(blockOf(thread).index) + ", thread " +
                           print(threads[thread].index) + ", " + print(where) + ": " + text};
}

void Launcher::abandon() {
  FiberState lost;
  tuttiSwitchFiber(&lost, scheduler);
  __builtin_unreachable();
}

void Launcher::failHere(CUresult result, const std::string &text, Where where) {
  failAt(running, result, text, where);
  abandon();
}

void Launcher::checkConflict(const std::optional<Conflict> &conflict, const char *verb, Where where) {
  if (!conflict)
    return;
  std::string text = std::string(verb) + " byte " + std::to_string(conflict->offset) + " of shared memory";
  if (!conflict->other)
    failHere(CUDA_ERROR_LAUNCH_FAILED, text + ", which nobody has written", where);
  const Mark &other = *conflict->other;
  text += ", which thread " + nameOf(*blocks[other.rank], other.thread()) +
          (other.bulk              ? " copies in bulk"
           : other.landing         ? " copies asynchronously"
           : conflict->otherWrites ? " writes"
                                   : " reads") +
          " at " + print(Where{other.file, other.line}) +
          (other.landing ? ", without a wait between them" : ", without a barrier between them");
  failHere(CUDA_ERROR_LAUNCH_FAILED, "a race: " + text, where);
}

} // namespace tutti::emulated
