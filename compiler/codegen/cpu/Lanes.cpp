// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums whose lanes run over the terms.
#include "Lanes.h"

using namespace mlir;

namespace tutti {

void LanesEmitter::putTogether(ArrayRef<Value> starts) {
  for (auto [row, start] : llvm::enumerate(starts))
    for (auto [first, place, length] : runs)
      for (int64_t done = 0; done < length; done += lanes) {
        Value mask = code.firstLanes(std::min(lanes, length - done));
        Value some = code.loadVector(element, code.at(start, (place + done) * bytes), mask);
        code.storeVector(some, code.at(together, placeTogether(row) + (first + done) * bytes), mask);
      }
}

Value LanesEmitter::vectorAt(ArrayRef<Value> starts, Value top, int64_t row, Value k, Value told, Value mask,
                             int64_t width) {
  if (told)
    return code.gather(element, starts[row], told, mask);
  if (together)
    return code.loadVector(element, code.at(together, code.add(code.mul(k, bytes), placeTogether(row))), mask, width);
  Value place = code.add(code.mul(code.add(top, row), left.rowStride), k);
  return code.loadVector(element, code.at(left.pointer, code.mul(place, bytes)), mask, width);
}

void LanesEmitter::addTerms(Columns columns, Value pointer, Value top, int64_t rows, ArrayRef<Value> starts,
                            Terms terms, FirstSum first, LastSum last) {
  int64_t width = lanesOfRegister(), whole = wholeTerms(), rowGroup = rows, columnGroup = columns.count;
  while (!fitRegisters(rowGroup, columnGroup)) {
    int64_t &larger = rowGroup < columnGroup ? columnGroup : rowGroup;
    larger = llvm::divideCeil(larger, 2);
  }
  int64_t end = columns.first + columns.count;
  for (int64_t part = 0; part < lanes / width; ++part)
    for (int64_t row = 0; row < rows; row += rowGroup)
      for (int64_t column = columns.first; column < end; column += columnGroup) {
        int64_t rowsNow = std::min(rowGroup, rows - row), columnsNow = std::min(columnGroup, end - column);
        auto accumulate = [&](Value k, ValueRange sums, Value tail) {
          Value told;
          if (left.termPlaces && !together)
            told = code.loadVector(code.b.getI32Type(), code.at(left.termPlaces, code.mul(k, sizeof(int32_t))), tail,
                                   width);
          auto termOf = [&](int64_t i) { return vectorAt(starts, top, row + i, k, told, tail, width); };
          auto weightOf = [&](int64_t n) {
            Value place = code.mul(code.add(k, (column + n) * K), bytes);
            return code.loadVector(element, code.at(pointer, place), tail, width);
          };
          SmallVector<Value> next(sums), there;
          auto add = [&](int64_t i, int64_t n, Value term, Value weight) {
            Value &sum = next[i * columnsNow + n];
            sum = multiplyAdd(term, weight, sum);
          };
          // The operands that are fewer, rows or columns, stay in registers beside the sums; the others are loaded one
          // by one.
          if (rowsNow < columnsNow) {
            for (int64_t i = 0; i < rowsNow; ++i)
              there.push_back(termOf(i));
            for (int64_t n = 0; n < columnsNow; ++n) {
              Value weight = weightOf(n);
              for (int64_t i = 0; i < rowsNow; ++i)
                add(i, n, there[i], weight);
            }
          } else {
            for (int64_t n = 0; n < columnsNow; ++n)
              there.push_back(weightOf(n));
            for (int64_t i = 0; i < rowsNow; ++i) {
              Value term = termOf(i);
              for (int64_t n = 0; n < columnsNow; ++n)
                add(i, n, term, there[n]);
            }
          }
          return next;
        };
        int64_t own = part * width;
        SmallVector<Value> sums;
        for (int64_t i = 0; i < rowsNow; ++i)
          for (int64_t n = 0; n < columnsNow; ++n)
            sums.push_back(first(part, row + i, column + n));
        if (terms.to)
          sums = code.loop(code.add(terms.from, own), terms.to, lanes, sums,
                           [&](Value k, ValueRange s) { return accumulate(k, s, {}); });
        if (terms.rest && whole < K) // what is past K counts, too: it makes +0 of -0
          sums = accumulate(code.num(whole + own), sums, code.firstLanes(std::max<int64_t>(0, K - whole - own), width));
        for (int64_t i = 0; i < rowsNow; ++i)
          for (int64_t n = 0; n < columnsNow; ++n)
            last(part, row + i, column + n, sums[i * columnsNow + n]);
      }
}

SmallVector<Value> LanesEmitter::sumsOf(const rt::PanelBlock &block, Value pointer, Value top, int64_t rows,
                                        std::optional<FirstSum> first) {
  int64_t width = lanesOfRegister(), whole = wholeTerms();
  SmallVector<Value> all(rows * block.cols), starts = rowPointers(top, rows);
  if (together)
    putTogether(starts);
  Terms terms{code.num(0), first || whole == 0 ? Value() : code.num(whole), /*rest=*/true};
  auto none = [&](int64_t, int64_t, int64_t) { return code.zero(code.vec(element, width)); };
  addTerms({0, block.cols}, pointer, top, rows, starts, terms, first ? *first : FirstSum(none),
           [&](int64_t part, int64_t row, int64_t column, Value mine) {
             Value &sum = all[row * block.cols + column];
             sum = !sum ? mine
                        : vector::ShuffleOp::create(code.b, sum, mine,
                                                    llvm::to_vector(llvm::seq<int64_t>(0, (part + 1) * width)));
           });
  return all;
}

void LanesEmitter::overPieces(const rt::PanelBlock &block, Value pointer, int64_t most, Value group,
                              llvm::function_ref<void(Value row, int64_t rows, FirstSum)> finish) {
  constexpr int64_t bytesOfPiece = 8 << 10;
  int64_t width = lanesOfRegister(), whole = wholeTerms();
  // If the registers do not hold all columns, half of them go first. That allows more rows at a time and touches fewer
  // lines of one cache set.
  int64_t columns = block.cols, rowsOfPiece = most;
  if (!fitRegisters(most, columns)) {
    columns = llvm::divideCeil(columns, 2);
    while (fitRegisters(rowsOfPiece + 1, columns))
      ++rowsOfPiece;
  }
  int64_t piece = llvm::alignDown(bytesOfPiece / (columns * bytes), lanes);
  code.loopWhile(
      {code.num(0)}, [&](ValueRange at) { return SmallVector<Value>{code.less(at[0], e.rows()), at[0]}; },
      [&](ValueRange at) {
        firstRow = at[0], endRow = code.min(code.add(at[0], group), e.rows());
        auto sumAt = [&](Value row, int64_t part, int64_t i, int64_t column) {
          Value place = code.mul(code.add(code.sub(row, at[0]), i), block.cols * lanes * bytes);
          return code.at(partials, code.add(place, (column * lanes + part * width) * bytes));
        };
        auto load = [&](Value row, int64_t part, int64_t i, int64_t column) {
          return code.loadVector(element, sumAt(row, part, i, column), {}, width);
        };
        code.loop(code.num(0), code.num(whole), piece, [&](Value from) {
          Value to = code.min(code.add(from, piece), code.num(whole)), isFirst = code.equal(from, code.num(0));
          for (int64_t column = 0; column < block.cols; column += columns)
            overRows(rowsOfPiece, [&](Value row, int64_t rows) {
              addTerms(
                  {column, std::min(columns, block.cols - column)}, pointer, row, rows, {}, {from, to, /*rest=*/false},
                  [&](int64_t part, int64_t i, int64_t column) {
                    return code.select(isFirst, code.zero(code.vec(element, width)), load(row, part, i, column));
                  },
                  [&](int64_t part, int64_t i, int64_t column, Value sum) {
                    code.storeVector(sum, sumAt(row, part, i, column), {});
                  });
            });
        });
        overRows(most, [&](Value row, int64_t rows) {
          finish(row, rows, [&](int64_t part, int64_t i, int64_t column) { return load(row, part, i, column); });
        });
        Value next = endRow;
        firstRow = endRow = {};
        return SmallVector<Value>{next};
      });
}

void LanesEmitter::emit(const rt::PanelBlock &block, Value pointer, Value column) {
  int64_t most = block.cols <= 2 ? 8 : block.cols <= 4 ? 4 : 2, part = lanes / most;
  Column only{{}, {}, {}, column, code.firstLanes(block.cols)};
  auto finish = [&](Value row, int64_t rows, std::optional<FirstSum> first) {
    SmallVector<Value> sums = sumsOf(block, pointer, row, rows, first);
    // One tree reduces the sums of all rows; each row's sums end up in the first lanes of its own part of the vector.
    SmallVector<Value> byLane(lanes);
    for (int64_t i = 0; i < rows; ++i)
      std::copy_n(sums.begin() + i * block.cols, block.cols, byLane.begin() + i * part);
    Value sumsOfRows = code.trees(byLane, [&](Value a, Value c) { return plus(a, c); });
    if (step.longMaps) // They wait as they are: row behind row.
      return code.storeVector(sumsOfRows, code.at(partials, code.mul(row, part * bytes)), {});
    SmallVector<Value> results;
    // A single column is repeated, not rotated, because of a bug in LLVM 22.1. It turns a comparison of rotated lanes
    // of which only lane 0 counts into a comparison of the lane before rotation (AVX-512: vcmpss of the unrotated
    // vector).
    for (int64_t i = 0; i < rows; ++i)
      results.push_back(block.cols == 1 ? code.repeated(sumsOfRows, i * part) : code.rotated(sumsOfRows, i * part));
    store(row, rows, only, results);
  };
  auto atOnce = [&] { overRows(most, [&](Value row, int64_t rows) { finish(row, rows, {}); }); };
  // Weights of at most this size stay in the L1 cache and are read again for every few rows.
  constexpr int64_t bytesThatStay = 24 << 10;
  if (block.cols * K * bytes > bytesThatStay && partials && !step.longMaps && !left.rowPlaces) {
    Value group =
        code.mul(code.div(code.mul(e.rows(), partialBytes), code.num(block.cols * lanes * bytes * most)), most);
    code.when(code.less(code.num(most), group), [&] { overPieces(block, pointer, most, group, finish); }, atOnce);
  } else {
    atOnce();
  }
  if (step.longMaps)
    overRows(e.level.mathVectors, [&](Value row, int64_t rows) {
      SmallVector<Value> waiting;
      for (int64_t i = 0; i < rows; ++i)
        waiting.push_back(code.loadVector(element, code.at(partials, code.mul(code.add(row, i), part * bytes)), {}));
      store(row, rows, only, waiting);
    });
}

} // namespace tutti
