// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums what the runtime allocates (device/cpu/Engine.cpp, device/cuda/Engine.cpp and Device.cpp).
#include "Footprint.h"
#include "dialects/tutti/Sizes.h"
#include "runtime/schema/Format.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tutti {

namespace {
using rt::kDeviceAlign, rt::kDeviceCopyAlign, rt::kPageBytes;

class Counter {
public:
  Counter(plan::ProgramOp program, uint64_t members) : program(program), members(members) {}

  /// The bytes of a buffer that holds the values of all members.
  uint64_t bytesOf(plan::BufferOp buffer) {
    std::optional<int64_t> bytes = tutti::bytesOf(cast<RankedTensorType>(buffer.getType()))->at([&](StringRef symbol) {
      return symbol == activeName ? std::optional<int64_t>(members) : program.mostOf(symbol);
    });
    counted = counted && bytes;
    return bytes.value_or(0);
  }
  void add(uint64_t &sum, uint64_t bytes, uint64_t alignment) {
    counted = counted && bytes < (uint64_t(1) << 62) && sum < (uint64_t(1) << 62);
    if (counted)
      sum += llvm::alignTo(bytes, alignment);
  }
  bool counted = true;

private:
  plan::ProgramOp program;
  uint64_t members;
};
} // namespace

uint64_t arenaBytes(plan::ProgramOp program) { return llvm::alignTo(program.getArena(), kPageBytes); }

std::optional<Footprint> footprintOf(plan::ProgramOp program, const WeightLayout &weights, uint64_t members) {
  bool cuda = program.getTarget() == Target::cuda;
  uint64_t portBytes = cuda ? kDeviceAlign : kPageBytes;
  Footprint all;
  Counter counter(program, members);
  llvm::DenseSet<unsigned> seen;
  counter.add(all.arena, arenaBytes(program), kPageBytes);
  for (auto buffer : program.getBody().getOps<plan::BufferOp>()) {
    plan::Space space = buffer.getSpace();
    if (space == plan::Space::input)
      counter.add(all.inputs, counter.bytesOf(buffer), cuda ? portBytes : 1);
    else if (space == plan::Space::output)
      counter.add(all.outputs, counter.bytesOf(buffer), portBytes);
    else if (space == plan::Space::state)
      counter.add(all.state, counter.bytesOf(buffer), kPageBytes);
    if (space != plan::Space::constant)
      continue;
    unsigned slot = weights.slotOf(buffer);
    if (weights.slots[slot]->per_member)
      counter.add(all.tables, members * sizeof(void *), 1);
    if (seen.insert(slot).second)
      counter.add(all.weights,
                  weights.copiesOf(slot, members) * llvm::alignTo(weights.slots[slot]->bytes_each, kDeviceCopyAlign),
                  cuda ? kDeviceAlign : 1);
  }
  program.walk([&](plan::LaunchOp launch) {
    plan::KernelOp kernel = launch.lookupKernel();
    if (auto placed = kernel.getPlaced())
      counter.add(all.tables, placed->size() * members * sizeof(void *), 1);
    if (auto schedule = kernel.getSchedule())
      all.scratch = std::max<uint64_t>(all.scratch, llvm::alignTo(schedule->getScratch(), kPageBytes));
  });
  if (cuda)
    all.tables = llvm::alignTo(all.tables, kDeviceAlign);
  return counter.counted ? std::optional(all) : std::nullopt;
}

} // namespace tutti
