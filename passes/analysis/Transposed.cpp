// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands that rows read transposed, and the block of them that is copied at a time.
#include "Transposed.h"
#include "Access.h"
#include "Numerics.h"
#include "Steps.h"

using namespace mlir;

namespace tutti {

namespace {

// The size of a block, which stays in the first cache. It has few enough columns, each in a page of its own, not to
// exhaust the TLB.
constexpr int64_t blockBytes = 16 << 10, blockRows = 64, leastColumns = 64;
// Phases of a row need whole rows, of as many rows as vectors have lanes. A larger block would not stay in the second
// cache.
constexpr int64_t phaseRows = 16, phaseBytes = 256 << 10;
constexpr size_t mostOperands = 4;
// The most elements of a task where rows that are neighbours in an operand lie apart in the result: the task has the
// rows between them, too, and threads want several tasks.
constexpr int64_t mostApart = 4 << 20;

class Finder {
public:
  /// `axis` is the axis of the rows along which neighbours may lie.
  Finder(plan::KernelOp kernel, const Steps &steps, unsigned axis) : kernel(kernel), steps(steps), axis(axis) {
    ArrayRef<Size> rows = steps.form.rows;
    std::optional<Size> between = product(rows.drop_front(axis + 1));
    if (rows[axis].isFixed() && between && between->isFixed()) {
      found.axis = axis;
      found.length = rows[axis].getFixed();
      found.step = between->getFixed();
    }
  }

  SmallVector<TransposedReads::Operand> readBy(ArrayRef<Step> some) {
    if (found.length > 1)
      for (const Step &step : some)
        if (!step.contraction)
          for (Value value : step.stores)
            visitStored(value);
    return found.operands;
  }

  TransposedReads find() {
    bool any = !readBy(steps.steps).empty();
    return any && !mixed && found.operands.size() <= mostOperands && layOut() ? found : TransposedReads();
  }

private:
  plan::KernelOp kernel;
  const Steps &steps;
  unsigned axis;
  TransposedReads found;
  llvm::DenseMap<std::pair<Value, AffineMap>, Size> seen; ///< and how many columns of it
  llvm::DenseMap<Value, bool> made;                       ///< what readsMade says of what no step stores
  std::optional<Size> stored;                             ///< columns of what is stored
  bool whole = false;                                     ///< something reads a row as a whole, or in runs
  bool mixed = false;                                     ///< two read different parts of one row
  bool scattered = false;                                 ///< rows of something read in place do not lie end to end

  unsigned column() { return steps.form.dims() - 1; }
  static int64_t bytesOf(const TransposedReads::Operand &operand) {
    return storageBytes(typeOf(operand.value).getElementType());
  }

  void visitStored(Value value) {
    Operation *op = value.getDefiningOp();
    Size columns = RowForm::of(typeOf(value)).columns;
    whole |= !isa<MapOp>(op) || (stored && *stored != columns);
    stored = columns;
    auto own = [&](Value value) { return ownRow(RowForm::of(typeOf(value)), kernel.getContext()); };
    if (auto map = dyn_cast<MapOp>(op))
      return visitOperands(map, own(value), columns);
    if (isRowPhase(op) || isa<ConcatOp>(op))
      for (Value x : op->getOperands().take_front(isRowPhase(op) ? 1 : op->getNumOperands()))
        visit(x, own(x), RowForm::of(typeOf(x)).columns);
  }

  void visitOperands(MapOp map, AffineMap access, Size columns) {
    for (auto [index, input] : llvm::enumerate(map.getInputs()))
      visit(input, operandAccess(map, index, access), columns);
  }

  void visit(Value value, AffineMap access, Size columns) {
    auto [known, fresh] = seen.try_emplace({value, access}, columns);
    mixed |= known->second != columns;
    if (!fresh)
      return;
    llvm::SmallSetVector<int64_t, 2> runs;
    addRuns(access, column(), runs);
    whole |= !runs.empty();
    if (!steps.isStored(value)) {
      auto map = value.getDefiningOp<MapOp>();
      scattered |= !map;
      if (map)
        visitOperands(map, access, columns);
      else
        whole |= readsMade(value);
      return;
    }
    if (std::optional<int64_t> stride = strideIfTransposed(value, access)) {
      found.operands.push_back({value, access, columns, *stride});
      return;
    }
    RowForm form = RowForm::of(typeOf(value));
    bool own = form.rows == steps.form.rows && form.columns == columns && isOwnElement(access, form);
    bool one =
        llvm::none_of(llvm::seq(1u, steps.form.dims()), [&](unsigned dim) { return access.isFunctionOfDim(dim); });
    scattered |= !own && !one;
    whole |= !own && readsMade(value); // of which there is what the chunks of columns so far have made
  }

  /// Whether computing a value reads something that a step makes.
  bool readsMade(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || steps.isStored(value))
      return op;
    if (auto known = made.find(value); known != made.end())
      return known->second;
    bool reads = llvm::any_of(op->getOperands(), [&](Value operand) { return readsMade(operand); });
    return made[value] = reads;
  }

  /// The stride from column to column, if the elements of successive rows are neighbours.
  std::optional<int64_t> strideIfTransposed(Value value, AffineMap access) {
    if (!isa<BlockArgument>(value))
      return std::nullopt;
    int64_t alongColumns = 0, alongRows = 0;
    Sizes sizes = getSizes(typeOf(value));
    for (unsigned i = 0; i < sizes.size(); ++i) {
      std::optional<int64_t> byColumn = slope(access.getResult(i), column()),
                             byRow = slope(access.getResult(i), axis + 1);
      std::optional<Size> stride = product(ArrayRef(sizes).drop_front(i + 1));
      bool isFixed = stride && stride->isFixed();
      if (!byColumn || !byRow || (!isFixed && (*byColumn != 0 || *byRow != 0)))
        return std::nullopt;
      if (isFixed) {
        alongColumns += *byColumn * stride->getFixed();
        alongRows += *byRow * stride->getFixed();
      }
    }
    bool transposed = alongRows == 1 && alongColumns != 0 && alongColumns != 1;
    return transposed ? std::optional(alongColumns) : std::nullopt;
  }

  /// Sets the size of a block and the places of its copies; false where it would be too large.
  bool layOut() {
    int64_t element = 1;             // the largest
    std::optional<int64_t> most = 0; // columns, where they are known
    for (const TransposedReads::Operand &operand : found.operands) {
      if (operand.columns.isFixed() && operand.columns.getFixed() == 0)
        return false;
      element = std::max(element, bytesOf(operand));
      most =
          most && operand.columns.isFixed() ? std::optional(std::max(*most, operand.columns.getFixed())) : std::nullopt;
    }
    if (found.step > 1) {
      const Size &columns = found.operands.front().columns;
      if (whole || steps.scratchPerRow > 0 || !columns.isFixed() || found.quantum() > mostApart / columns.getFixed())
        return false;
    }
    if (whole) {
      found.rows = phaseRows;
      if (!most || found.rows * *most * element * int64_t(found.operands.size()) > phaseBytes)
        return false;
    } else {
      found.endToEnd =
          most && *most < lanes && found.length >= lanes && found.step == 1 && !scattered && steps.scratchPerRow == 0;
      int64_t fit = found.endToEnd   ? llvm::alignDown(blockBytes / (*most * element), blockRows)
                    : found.step > 1 ? lanes
                                     : blockRows;
      found.rows = std::min<int64_t>(fit, llvm::alignTo(found.length, lanes));
      int64_t columns =
          std::max<int64_t>(leastColumns, llvm::alignDown(blockBytes / (found.rows * element), leastColumns));
      if (!most || *most > columns)
        found.columns = columns;
    }
    for (TransposedReads::Operand &operand : found.operands) {
      if (found.endToEnd) {
        operand.pitch = *most;
      } else {
        operand.pitch = found.columns ? *found.columns : llvm::alignTo(operand.columns.getFixed(), lanes);
        // Another cache line keeps rows off the same cache set, and what is stored behind the last column off the next
        // row.
        if (operand.pitch % 256 == 0 || !operand.columns.isFixed())
          operand.pitch += lanes;
      }
      operand.offset = found.bytes;
      found.bytes += llvm::alignTo((found.rows * operand.pitch + lanes) * bytesOf(operand), plan::lineBytes);
    }
    return true;
  }
};

} // namespace

TransposedReads TransposedReads::of(plan::KernelOp kernel, const Steps &steps) {
  for (unsigned axis = steps.form.rows.size(); axis-- > 0;)
    if (TransposedReads found = Finder(kernel, steps, axis).find(); !found.operands.empty())
      return found;
  return {};
}

SmallVector<TransposedReads::Operand> TransposedReads::readBy(plan::KernelOp kernel, const Steps &steps,
                                                              ArrayRef<Step> some) const {
  SmallVector<Operand> result;
  if (operands.empty())
    return result;
  SmallVector<Operand> read = Finder(kernel, steps, axis).readBy(some);
  llvm::copy_if(operands, std::back_inserter(result), [&](const Operand &operand) {
    return llvm::any_of(read,
                        [&](const Operand &one) { return one.value == operand.value && one.access == operand.access; });
  });
  return result;
}

} // namespace tutti
