// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of two values of a call: tiles of the rows that read the same columns of the right operand.
//
// If terms of a sum, not columns, are neighbours in the right operand, the columns of a tile are copied so that columns
// become neighbours: a transposition in registers, done once for all rows of the task that read them.
#include "Tile.h"
#include "passes/analysis/Products.h"

using namespace mlir;

namespace tutti {

namespace {

class Product : TileEmitter {
public:
  Product(StepEmitter &emitter, const Step &step)
      : TileEmitter(emitter, step), form(*ProductForm::of(op)), spec(op.labels()) {
    K = op.terms()->getFixed();
    count = RowForm::of(op.getType()).columns;
    if (step.longMaps)
      partials = e.need(Need::partials);
    if (form.transposed)
      packed = e.need(Need::work);
    left.stride = strideOf(op.getLhs(), spec.lhs, form.summed);
    left.rowStride = readsOwnRowOfLeft(op, form) ? e.rowStride(op.getLhs())
                     : form.run                  ? strideOf(op.getLhs(), spec.lhs, spec.result[spec.result.size() - 2])
                                                 : code.num(0);
    rightStride = strideOf(op.getRhs(), spec.rhs, form.transposed ? spec.result.back() : form.summed);
  }

  void emit() {
    ArrayRef<Size> rows = e.steps.form.rows;
    if (form.run == rows.size())
      return emitRun(code.num(0), e.rows());
    run = Size(1);
    for (const Size &size : rows.take_back(form.run))
      run = run ? run->times(size) : run;
    code.loopWhile(
        {code.num(0)}, [&](ValueRange at) { return SmallVector<Value>{code.less(at[0], e.rows()), at[0]}; },
        [&](ValueRange at) {
          Value length = code.num(1);
          for (const Size &size : rows.take_back(form.run))
            length = code.mul(length, e.sizeOf(size));
          Value before = e.need(Need::firstRow), all = code.add(before, at[0]);
          Value next = code.mul(code.add(code.div(all, length), 1), length);
          Value last = code.min(code.sub(next, before), e.rows());
          emitRun(at[0], last);
          return SmallVector<Value>{last};
        });
  }

private:
  ProductForm form;
  ContractSpec spec;
  Size count;              // of columns
  std::optional<Size> run; // rows that read the same columns, if there are others
  Value right, rightStride, packed;

  /// Elements between neighbours along an axis of an operand.
  Value strideOf(Value operand, StringRef labels, char label) {
    Value stride = code.num(1);
    for (const Size &size : ArrayRef(getSizes(typeOf(operand))).drop_front(labels.find(label) + 1))
      stride = code.mul(stride, e.sizeOf(size));
    return stride;
  }

  /// Where an operand's element of a row, column 0 and term 0 lies.
  Value pointerTo(Value operand, StringRef labels, Value row) {
    AffineMap own = e.own(op.getResult());
    SmallVector<AffineExpr> exprs;
    for (char label : labels) {
      size_t place = spec.result.find(label);
      exprs.push_back(place != std::string::npos ? own.getResult(place)
                                                 : getAffineDimExpr(own.getNumDims(), own.getContext()));
    }
    Point first(row, code.num(0), {}, {code.num(0)});
    return e.pointerTo(operand, AffineMap::get(own.getNumDims() + 1, 0, exprs, own.getContext()), first);
  }

  /// Emits a run of rows that read the same columns.
  void emitRun(Value first, Value last) {
    firstRow = first;
    endRow = last;
    right = pointerTo(op.getRhs(), spec.rhs, first);
    Value before = code.mul(code.mul(first, left.rowStride), -bytes);
    left.pointer = code.at(pointerTo(op.getLhs(), spec.lhs, first), before);
    // For transposed columns the copy dominates, so wide tiles of few rows gain nothing.
    if (form.transposed || (run && run->isFixed() && run->getFixed() > wideRows))
      emitTiles();
    else if (run && run->isFixed())
      emitWide();
    else
      code.when(code.less(code.sub(last, first), code.num(wideRows + 1)), [&] { emitWide(); }, [&] { emitTiles(); });
  }

  /// Calls `take` for all columns, `vectors` at a time, with the first of them and how many there are.
  void overColumns(int64_t vectors, llvm::function_ref<void(Value column, int64_t vectors, Value valid)> take) {
    int64_t group = vectors * lanes;
    if (count.isFixed()) {
      int64_t whole = llvm::alignDown(count.getFixed(), group), rest = count.getFixed() - whole;
      if (whole > 0)
        code.loop(code.num(0), code.num(whole), group, [&](Value column) { take(column, vectors, {}); });
      if (rest > 0)
        take(code.num(whole), llvm::divideCeil(rest, lanes), code.num(rest));
      return;
    }
    Value all = e.sizeOf(count), whole = code.mul(code.div(all, code.num(group)), group);
    code.loop(code.num(0), whole, group, [&](Value column) { take(column, vectors, {}); });
    code.when(code.less(whole, all), [&] { take(whole, vectors, code.sub(all, whole)); });
  }

  SmallVector<Column> columnsAt(Value column, int64_t vectors, Value valid) {
    SmallVector<Column> columns;
    for (int64_t v = 0; v < vectors; ++v) {
      Value mask = valid ? code.firstLanes(code.sub(valid, code.num(v * lanes))) : Value();
      Value mine = code.add(column, v * lanes);
      if (form.transposed)
        columns.push_back(
            {code.at(packed, v * lanes * bytes), code.num(partialBytes / bytes), {}, mine, mask, v * lanes});
      else
        columns.push_back({code.at(right, code.mul(mine, bytes)), rightStride, mask, mine, mask, v * lanes});
    }
    return columns;
  }

  void emitTiles() {
    overColumns(tileVectors, [&](Value column, int64_t vectors, Value valid) {
      if (form.transposed)
        pack(column, vectors, valid);
      SmallVector<Column> columns = columnsAt(column, vectors, valid);
      auto finish = [&](Value row, int64_t rows) {
        SmallVector<Value> total = wholeSums(row, rows, columns);
        if (!step.longMaps)
          return store(row, rows, columns, total);
        for (int64_t i = 0; i < rows; ++i)
          for (unsigned c = 0; c < columns.size(); ++c)
            code.storeVector(total[i * columns.size() + c], partialAt(row, i, columns[c]), {});
      };
      if (step.longMaps)
        overTiles(finish, [&](Value row, Value rows) { storeWaiting(row, rows, columns); });
      else
        overTiles(finish);
    });
  }

  void emitWide() {
    overColumns(wideVectors, [&](Value column, int64_t vectors, Value valid) {
      SmallVector<Column> columns = columnsAt(column, vectors, valid);
      overRows(wideRows, [&](Value row, int64_t rows) { store(row, rows, columns, wholeSums(row, rows, columns)); });
    });
  }

  /// Copies some columns of the right operand, term by term; columns past the last repeat the last.
  void pack(Value column, int64_t vectors, Value valid) {
    for (int64_t v = 0; v < vectors; ++v) {
      SmallVector<Value> from;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Value place = code.num(v * lanes + lane);
        if (valid)
          place = code.min(place, code.sub(valid, code.num(1)));
        from.push_back(code.at(right, code.mul(code.mul(code.add(column, place), rightStride), bytes)));
      }
      auto turn = [&](Value k, Value mask) {
        SmallVector<Value> block;
        for (Value pointer : from)
          block.push_back(code.loadVector(element, code.at(pointer, code.mul(k, bytes)), mask));
        for (auto [i, terms] : llvm::enumerate(code.transposed(block, e.level.vectorBits))) {
          Value place = code.add(code.mul(code.add(k, i), partialBytes), v * lanes * bytes);
          code.storeVector(terms, code.at(packed, place), {});
        }
      };
      int64_t whole = llvm::alignDown(K, lanes);
      if (whole > 0)
        code.loop(code.num(0), code.num(whole), lanes, [&](Value k) { turn(k, {}); });
      if (whole < K)
        turn(code.num(whole), code.firstLanes(K - whole));
    }
  }
};

} // namespace

void emitProduct(StepEmitter &emitter, const Step &step) { Product(emitter, step).emit(); }

} // namespace tutti
