// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is read and stored over in a kernel's shared memory, and the barriers that follow from it.
#include "Waits.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tutti {

StringRef textOf(Meet meet) {
  switch (meet) {
  case Meet::nobody:
    return "";
  case Meet::rows:
    return "rowsSync<BlockTile>();\n";
  case Meet::block:
    return "taskSync();\n";
  case Meet::cluster:
    return "clusterSync();\n";
  }
  llvm_unreachable("unknown meeting");
}

/// Whether one of the steps overwrites a value that `layer` reads besides its rows and its sums. A warp that has
/// received all handovers, or has met the other warps of its rows, knows that everybody has read the rows, but not that
/// everybody has read such a value.
static bool storesOver(ArrayRef<Step> steps, const Step &layer, const Steps &all) {
  Value sums = ContractOp(layer.contraction).getResult();
  SmallVector<Value> todo(layer.stores);
  llvm::DenseSet<Value> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (value == sums || !seen.insert(value).second)
      continue;
    // A value that is made here, or that has no place and is recomputed by each reader, stands for its operands.
    if (Operation *op = value.getDefiningOp();
        op && (!all.isStored(value) || llvm::is_contained(layer.stores, value))) {
      llvm::append_range(todo, op->getOperands());
      continue;
    }
    auto read = ScratchRange::of(value, all);
    for (const Step &step : steps)
      if (llvm::any_of(step.stores, [&](Value stored) { return ScratchRange::of(stored, all).overlaps(read); }))
        return true;
  }
  return false;
}

Meet meetBehind(ArrayRef<Step> steps, const Steps &all, const CudaGeometry &geometry) {
  bool own = llvm::all_of(steps, [&](const Step &step) { return storesInScratch(step, all); });
  return geometry.warps.cluster == 1 || own ? Meet::block : Meet::cluster;
}

std::string waitBehindLayer(const Step &layer, bool handsOver, ArrayRef<Step> next, const Steps &all,
                            const CudaGeometry &geometry) {
  if (!handsOver)
    return textOf(geometry.warps.cluster > 1 ? Meet::cluster : Meet::block).str();
  std::string text = "handovers.wait(n);\n";
  return storesOver(next, layer, all) ? text + "taskSync(); // what warps read is stored over\n" : text;
}

namespace {
/// The loop over the layers of the ring, with the steps before and behind each.
struct Loop {
  KernelText &k;
  ArrayRef<Contraction> layers;
  ArrayRef<Ending> endings;
  ArrayRef<Others> others;

  LoopWaits waits() const {
    LoopWaits all;
    all.layers.resize(layers.size());
    bool byRows = false;
    // Each stage of a ring by cp.async begins with a barrier of its own.
    if (isCluster() || k.geometry.ring.bulkCopies) {
      bool meets = isCluster() && !givesNothing();
      if (!isCluster() && !others.front().steps.empty())
        all.before = textOf(Meet::block);
      for (size_t i = 0; i < layers.size(); ++i) {
        std::string &before = i > 0 ? all.layers[i - 1].behind : all.before;
        if (meets) {
          before += waitInCluster(i, all.layers[i]);
        } else if (i > 0 && !isCluster()) {
          bool own = waitsByRows(i);
          byRows |= own;
          before = textOf(own ? Meet::rows : Meet::block);
        }
      }
    }
    all.behind = textOf(meetBehindMember(byRows));
    return all;
  }

private:
  bool isCluster() const { return k.geometry.warps.cluster > 1; }

  /// Whether the blocks of a cluster exchange no values, and no step runs before the first layer.
  bool givesNothing() const {
    return layers.size() == 1 && others.front().inScratch && others.front().steps.empty() && !endings.front().givesAll;
  }

  /// How the blocks of a cluster wait before a layer and, in `within`, inside it. A block that has received all
  /// handovers goes on. If other steps precede the layer or nothing was handed over, the blocks meet at the cluster's
  /// barrier. They meet late if a block needs the others only to give them its values. The barrier has no fence, which
  /// would wait for all memory operations, if only the block's own memory was written.
  std::string waitInCluster(size_t layer, LoopWaits::Layer &within) const {
    constexpr auto allHaveArrived = "if (pass == 0) {\n  clusterWait(); // all have arrived\n}\n";
    const Others &between = others[layer];
    std::string before;
    bool follows = layer > 0 && between.steps.empty();
    if (follows && endings[layer - 1].handsOver()) {
      within.begin = "if (pass == 0) {\n  handovers.wait(n - 1);\n}\n";
    } else if (follows || !between.inScratch) {
      before = "clusterArrive();\n";
      within.begin = allHaveArrived;
    } else {
      before = textOf(between.steps.empty() ? Meet::nobody : Meet::block);
      if (endings[layer].givesAll) {
        before += "clusterArriveRelaxed(); // this block is there to be given activations\n";
        within.late = allHaveArrived;
      }
    }
    if (endings[layer].handsOver())
      within.handing = "taskSync(); // what others may store over when they have what follows is read\n";
    return before;
  }

  /// Whether warps without a row of their own read the rows of other warps. A warpgroup multiplies as a whole, so they
  /// do if the layer's rows are not stored past the last one (shareOf of device/tensor.cuh).
  bool readsOthersRows(size_t layer) const {
    Value rows = layers[layer].rows();
    return k.geometry.warps.wide && k.steps.placeOf(rows).kind == Place::scratch && !hasAllRows(endings, rows);
  }

  /// Whether a layer stores to shared memory that holds no other row of any value made before (values of the `later`
  /// layers do not count). It does if the memory is its own, or belongs to a value whose rows are equally long. Then it
  /// may store while other rows are still being multiplied.
  bool leavesOtherRows(size_t layer, ArrayRef<Ending> later) const {
    llvm::DenseSet<Value> madeLater;
    for (const Ending &ending : later)
      for (const Ending::Target &target : ending.targets)
        madeLater.insert(target.value);
    auto isApart = [&](const ScratchRange &mine, Value value, const Place &place) {
      auto other = ScratchRange::of(value, k.steps);
      return place.kind != Place::scratch || madeLater.contains(value) || mine == other || !mine.overlaps(other);
    };
    return llvm::all_of(endings[layer].targets, [&](const Ending::Target &target) {
      auto mine = ScratchRange::of(target.value, k.steps);
      return !target.isShared() ||
             llvm::all_of(k.steps.places, [&](const auto &entry) { return isApart(mine, entry.first, entry.second); });
    });
  }

  /// Whether warps wait before a layer only for the warps of the same rows, so that some multiply while others compute
  /// activations. No other step may stand between the two layers.
  bool waitsByRows(size_t layer) const {
    return k.geometry.warps.rows > 1 && others[layer].steps.empty() &&
           leavesOtherRows(layer, endings.drop_front(layer)) && !readsOthersRows(layer - 1) && !readsOthersRows(layer);
  }

  /// Whether a layer's stores to shared memory overwrite memory that a member's last layer reads.
  bool overwritesLast(const Ending &ending) const {
    auto read = ScratchRange::of(layers.back().rows(), k.steps);
    return llvm::any_of(ending.targets, [&](const Ending::Target &target) {
      return ScratchRange::of(target.value, k.steps).overlaps(read);
    });
  }

  /// The barrier before the next member's task, after which nobody reads the memory that this task overwrites.
  /// `byRows`: some layers wait for the warps of their own rows only.
  Meet meetBehindMember(bool byRows) const {
    if (!k.geometry.persistent || !k.steps.heads.empty()) // these begin with a barrier of their own
      return Meet::nobody;
    bool apart = true; // whatever other rows are at
    for (size_t i = 0; i < layers.size(); ++i)
      apart &= leavesOtherRows(i, endings[i]);
    if (!others.front().steps.empty() || !others.back().steps.empty() || (byRows && !apart) ||
        storesOver(k.steps.steps.front(), k.steps.steps.back(), k.steps))
      return Meet::block;
    auto overwrites = [&](const Ending &ending) { return overwritesLast(ending); };
    // The next task's layers may meet by rows only. Whichever of them stores there must not meet a read of another row.
    if (readsOthersRows(layers.size() - 1) && llvm::any_of(endings, overwrites))
      return Meet::block;
    if (!overwrites(endings.front()))
      return Meet::nobody;
    if (byRows && k.geometry.threads == 32 * k.geometry.warps.rows)
      return Meet::nobody; // a warp's lanes have met since, when they left the last stage
    return byRows ? Meet::rows : Meet::block;
  }
};
} // namespace

LoopWaits waitsOf(KernelText &k, ArrayRef<Contraction> layers, ArrayRef<Ending> endings, ArrayRef<Others> others) {
  return Loop{k, layers, endings, others}.waits();
}

} // namespace tutti
