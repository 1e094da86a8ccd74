// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each weight goes in the weights segment, and how its bytes get there.
#ifndef TUTTI_COMPILER_ARTIFACT_WEIGHTLAYOUT_H
#define TUTTI_COMPILER_ARTIFACT_WEIGHTLAYOUT_H

#include "compiler/import/align/Align.h"
#include "dialects/plan/Plan.h"

#include "runtime/schema/Layout.h"
#include "runtime/schema/artifact_generated.h"

namespace tutti {

/// The slots of the constants of all programs, and the bytes of each copy.
class WeightLayout {
public:
  /// A program, and the ensemble whose weights it names.
  struct Use {
    plan::ProgramOp program;
    const Ensemble *ensemble;
  };
  /// The ensembles have the same members.
  explicit WeightLayout(llvm::ArrayRef<Use> programs);

  /// One table a slot. Buffers of equal weight and layout have one slot, whichever ensemble names it.
  std::vector<std::unique_ptr<fb::SlotT>> slots;
  unsigned slotOf(plan::BufferOp buffer) const { return slotOfBuffer.lookup(buffer); }
  uint64_t bytes() const { return total; }
  /// The number of copies of a slot that the first `members` members of the ensemble need.
  uint64_t copiesOf(unsigned slot, uint64_t members) const;

  /// Calls write(offset in the segment, bytes) for every copy, in ascending order of offsets.
  llvm::Error forEachCopy(llvm::function_ref<llvm::Error(uint64_t, llvm::ArrayRef<char>)> write) const;

private:
  struct Source {
    const std::vector<WeightSource> *members = nullptr; ///< one for all members, or one per member
    mlir::ElementsAttr value;                           ///< null, or a constant of the IR instead
    rt::Layout layout = rt::Layout::raw;
    unsigned group = 0;
    /// The group's members whose copies are stored, in order; the others have the same bytes as one of these.
    std::vector<unsigned> stored;
  };
  void addSlot(const Ensemble &ensemble, plan::BufferOp buffer);
  /// Sets the length of a copy, in the model's layout and as stored.
  static void setBytes(fb::SlotT &slot, const Source &source, llvm::ArrayRef<int64_t> dims, uint64_t elementBytes);
  /// Chooses the members whose copies are stored, and the copy that each member uses.
  static void chooseCopies(fb::SlotT &slot, Source &source, const Ensemble &ensemble);
  void place(const Ensemble &ensemble);
  std::optional<unsigned> findSlot(const Source &source, const fb::SlotT &slot) const;
  void pack(const Source &source, unsigned copy, std::vector<char> &bytes) const;

  const Ensemble *ensemble; ///< the first
  std::vector<Source> sources;
  llvm::DenseMap<mlir::Operation *, unsigned> slotOfBuffer;
  uint64_t total = 0;
};

fb::DType dtypeOf(mlir::Type element);

} // namespace tutti

#endif
