// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's function: its tasks, the steps of each, and the head by whoever finishes a tile of rows last.
#include "Emitters.h"
#include "compiler/support/Error.h"
#include "passes/analysis/Numerics.h"

using namespace mlir;

namespace tutti {

namespace {

class KernelEmitter {
public:
  KernelEmitter(ModuleOp module, StepFunctions &known, plan::KernelOp kernel, ArrayRef<std::string> sizes,
                const CpuLevel &level)
      : module(module), known(known), kernel(kernel), symbols(sizes), level(level), steps(Steps::of(kernel)),
        code(kernel.getLoc()) {}

  llvm::Error emit(StringRef name) {
    // Steps first: the kernel's function calls them.
    for (ArrayRef<Step> rest = steps.steps; !rest.empty();) {
      size_t count = 1;
      int64_t work = rest[0].work;
      while (!rest[0].contraction && count < rest.size() && !rest[count].contraction &&
             (work += rest[count].work) <= mostWork)
        ++count;
      emitStep(rest.take_front(count));
      rest = rest.drop_front(count);
    }
    code.b.setInsertionPointToEnd(module.getBody());
    Type i64 = code.i64(), ptr = code.ptr();
    auto function =
        func::FuncOp::create(code.b, name, FunctionType::get(module.getContext(), {ptr, ptr, i64, i64, i64, ptr}, {}));
    code.b.setInsertionPointToStart(function.addEntryBlock());
    arguments = function.getArgument(0);
    sizeTable = function.getArgument(1);
    Value tile = function.getArgument(2);
    scratch = function.getArgument(5);
    tileRows = tile;
    totalRows = code.num(1);
    for (const Size &size : steps.form.rows)
      totalRows = code.mul(totalRows, sizeOf(size));
    Value tiles = code.div(code.sub(code.add(totalRows, tile), code.num(1)), tile);
    code.loop(function.getArgument(3), function.getArgument(4), 1, [&](Value task) {
      position = code.div(task, tiles);
      Value tileNumber = code.sub(task, code.mul(position, tiles));
      firstRow = code.mul(tileNumber, tile);
      rows = code.min(tile, code.sub(totalRows, firstRow));
      askForNext();
      for (const auto &[callee, needs] : calls) {
        SmallVector<Value> given;
        for (const Need &need : needs)
          given.push_back(provide(need));
        func::CallOp::create(code.b, callee, TypeRange(), given);
      }
      if (!steps.heads.empty())
        emitHeads(tileNumber);
    });
    func::ReturnOp::create(code.b);
    if (!broken.empty())
      return fail(ExitCode::internal, "kernel " + kernel.getSymName() + " cannot be emitted for CPUs: " + broken);
    return llvm::Error::success();
  }

private:
  ModuleOp module;
  StepFunctions &known;
  std::string broken; ///< the first step's reason that has any
  plan::KernelOp kernel;
  ArrayRef<std::string> symbols;
  const CpuLevel &level;
  Steps steps;
  Code code;
  std::vector<std::pair<std::string, SmallVector<Need>>> calls;
  Value arguments, sizeTable, scratch, tileRows, totalRows, position, firstRow, rows;

  /// The largest work of steps that share a function and store row by row; compile time grows faster than a function's
  /// length.
  static constexpr int64_t mostWork = 300;
  /// The most bytes that are prefetched: a page, at whose end the hardware prefetcher stops.
  static constexpr int64_t mostAsked = 4 << 10;
  static constexpr int64_t mostAskedArguments = 4;

  void emitStep(ArrayRef<Step> group) {
    StepEmitter emitter(kernel, steps, level);
    emitter.begin(module);
    ContractOp contraction = group.front().contraction;
    if (contraction && isPanels(contraction))
      emitContraction(emitter, group.front());
    else if (contraction)
      emitProduct(emitter, group.front());
    else
      emitRows(emitter, group);
    emitter.finish();
    if (broken.empty())
      broken = emitter.broken;
    auto [place, isNew] = known.try_emplace(emitter.function, "step" + std::to_string(known.size()));
    if (isNew)
      emitter.function.setSymName(place->second);
    else
      emitter.function.erase();
    calls.emplace_back(place->second, emitter.needs);
  }

  Value sizeOf(const Size &size) {
    Value total = code.num(size.getFactor());
    for (const std::string &symbol : size.getSymbols())
      total = code.mul(total, sizeBySymbol(symbol));
    return total;
  }
  Value sizeBySymbol(StringRef symbol) {
    int64_t place = llvm::find(symbols, symbol) - symbols.begin(); // it is there: LaunchOp::verifySymbolUses
    return code.loadNumber(code.at(sizeTable, place * 8));
  }

  /// The pointer to a buffer of the launch: arguments first, then results.
  Value buffer(unsigned index) { return code.loadPointer(code.at(arguments, index * 8)); }
  Value basePointer(Value value) {
    const Place &place = steps.placeOf(value);
    if (place.kind == Place::scratch)
      return code.at(scratch, code.mul(tileRows, place.offset));
    Value pointer =
        buffer(place.kind == Place::result ? kernel.getBody().getNumArguments() + place.index : place.index);
    return isTable(kernel, value, place) ? code.loadPointer(code.at(pointer, code.mul(position, 8))) : pointer;
  }
  Value rowPointer(Value value) {
    Value pointer = basePointer(value);
    const Place &place = steps.placeOf(value);
    if (place.kind == Place::scratch)
      return pointer;
    auto type = typeOf(value);
    RowForm form = RowForm::of(type);
    Value row = firstRow;
    if (form.lifted && !isTable(kernel, value, place))
      row = code.add(code.mul(position, totalRows), row);
    return code.at(pointer, code.mul(code.mul(row, sizeOf(form.columns)), storageBytes(type.getElementType())));
  }

  /// Prefetches the rows of the next task, which lie behind this one's, if they are few bytes: so short a stream ends
  /// before the hardware prefetcher reacts.
  void askForNext() {
    int64_t asked = 0;
    for (BlockArgument argument : kernel.getBody().getArguments()) {
      auto type = typeOf(argument);
      RowForm form = RowForm::of(type);
      if (isTable(kernel, argument, steps.placeOf(argument)) || !form.sameRows(steps.form))
        continue;
      if (++asked > mostAskedArguments) // a kernel may have thousands
        return;
      Value bytes = code.mul(code.mul(rows, sizeOf(form.columns)), storageBytes(type.getElementType()));
      code.when(code.less(bytes, code.num(mostAsked + 1)), [&] {
        Value next = code.at(rowPointer(argument), bytes);
        code.loop(code.num(0), bytes, plan::lineBytes, [&](Value line) { code.prefetch(code.at(next, line)); });
      });
    }
  }

  Value provide(const Need &need) {
    switch (need.kind) {
    case Need::rowPointer:
      return rowPointer(need.value);
    case Need::basePointer: {
      Value pointer = basePointer(need.value);
      for (const Size &size : need.offset)
        pointer = code.at(pointer, sizeOf(size));
      return pointer;
    }
    case Need::member:
      return position;
    case Need::firstRow:
      return firstRow;
    case Need::rows:
      return rows;
    case Need::size:
      return sizeBySymbol(need.symbol);
    case Need::partials:
      return code.at(scratch, code.mul(tileRows, steps.scratchPerRow));
    case Need::work:
      return code.at(scratch, code.mul(tileRows, steps.rowBytes()));
    }
    llvm_unreachable("every need is listed");
  }

  /// Emits the heads. The last member to finish these rows, which its ticket identifies, computes the answer of all
  /// members.
  void emitHeads(Value tileNumber) {
    unsigned tickets = kernel.getBody().getNumArguments() + kernel.getYielded().size();
    Value ticket = code.at(buffer(tickets), code.mul(tileNumber, 4));
    Type i32 = code.b.getI32Type();
    Value one = arith::ConstantIntOp::create(code.b, i32, 1);
    Value before =
        LLVM::AtomicRMWOp::create(code.b, LLVM::AtomicBinOp::add, ticket, one, LLVM::AtomicOrdering::acq_rel);
    Value active = sizeBySymbol(kernel.membersSize());
    Value finished = code.add(code.fromUnsigned(before), 1);
    Value isLast = code.equal(finished, active);
    code.when(isLast, [&] {
      code.storeScalar(arith::ConstantIntOp::create(code.b, i32, 0), ticket);
      for (HeadOp head : steps.heads) {
        RowForm form = RowForm::of(typeOf(head.getX()));
        HeadPlace place{basePointer(head.getX()),
                        basePointer(head.getResult()),
                        active,
                        totalRows,
                        sizeOf(form.columns),
                        firstRow,
                        rows,
                        scratch};
        emitHead(code, head, place);
      }
    });
  }
};

} // namespace

llvm::Error emitKernel(ModuleOp module, StepFunctions &steps, plan::KernelOp kernel, ArrayRef<std::string> sizes,
                       const CpuLevel &level, StringRef name) {
  return KernelEmitter(module, steps, kernel, sizes, level).emit(name);
}

} // namespace tutti
