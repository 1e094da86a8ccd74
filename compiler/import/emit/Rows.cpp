// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves reshapes of rows behind the ops that compute row by row. Exporters reshape (step, batch, width) to (step *
// batch, width) for a Gemm and back again: then both reshapes meet and vanish. Only reshapes move that would mix places
// of an axis whose length a call decides, which no kernel supports.
#include "compiler/import/emit/Emit.h"

using namespace mlir;

namespace tutti {

namespace {
/// A reshape of rows that mixes: axes `before` become axes `after`, and `tail` axes behind them have x's sizes.
struct Mixing {
  Value source;
  Sizes before, after;
  size_t tail;
};
} // namespace

/// The sizes, where every constant factor of a symbol gets an axis of its own behind the symbol.
static Sizes apart(ArrayRef<Size> sizes) {
  Sizes parts;
  for (const Size &size : sizes) {
    Size factor = size.getFactor();
    std::optional<Size> symbols = factor == Size(0) ? std::nullopt : size.dividedBy(factor);
    if (size.isFixed() || factor == Size(1) || !symbols)
      parts.push_back(size);
    else
      parts.append({*symbols, factor});
  }
  return parts;
}

/// The reshape that x is, if it mixes rows.
static std::optional<Mixing> mixing(const Operand &x) {
  auto reshape = x.isValue() ? x.value().getDefiningOp<ReshapeOp>() : ReshapeOp();
  if (!reshape)
    return std::nullopt;
  Sizes from = Operand(reshape.getX()).sizes(), to = x.sizes();
  std::optional<AxisRuns> run = mixedByReshape(from, to);
  if (!run)
    return std::nullopt;
  auto behind = [&](const AxisRuns &run) { return to.size() - (run.first[1] + run.count[1]); };
  // Heads beside a batch, (step, 2*batch, width), become (step, batch, 2*width) before their rows are joined: that
  // mixes only steps and batch, and leaves an axis behind them to compute along.
  Sizes parts = apart(from);
  if (std::optional<AxisRuns> fewer = mixedByReshape(parts, to); fewer && behind(*fewer) > behind(*run)) {
    parts.truncate(fewer->first[0] + fewer->count[0]);
    Sizes between = parts;
    between.append(to.end() - behind(*fewer), to.end());
    if (!mixedByReshape(from, between)) {
      from = parts;
      run = fewer;
    }
  }
  from.truncate(run->first[0] + run->count[0]);
  size_t tail = behind(*run);
  to.pop_back_n(tail);
  return Mixing{reshape.getX(), from, to, tail};
}

/// The reshape's source, with x's own axes behind the rows.
static Operand unmixed(Emit &emit, const Mixing &mixing, const Operand &x) {
  Sizes sizes = mixing.before, own = x.sizes();
  sizes.append(own.end() - mixing.tail, own.end());
  return emit.reshape(Operand(mixing.source), sizes);
}

std::optional<Operand> Emit::pointwiseBelowReshape(StringRef name, ArrayRef<Operand> xs, Type element) {
  std::optional<Mixing> first;
  for (const Operand &x : xs)
    if (!first)
      first = mixing(x);
  if (!first)
    return std::nullopt;
  for (const Operand &x : xs) {
    Sizes sizes = x.sizes();
    if (std::optional<Mixing> own = mixing(x)) {
      if (own->before != first->before || own->after != first->after || own->tail != first->tail)
        return std::nullopt;
    } else if (x.isShape() || sizes.size() > first->after.size() + first->tail ||
               llvm::any_of(ArrayRef(sizes).drop_back(std::min(first->tail, sizes.size())),
                            [](const Size &size) { return size != Size(1); })) {
      return std::nullopt; // not the same for all rows
    }
  }
  SmallVector<Operand> inner;
  for (const Operand &x : xs) {
    if (std::optional<Mixing> own = mixing(x)) {
      inner.push_back(unmixed(*this, *own, x));
      continue;
    }
    Sizes sizes = x.sizes();
    inner.push_back(reshape(x, ArrayRef(sizes).take_back(first->tail)));
  }
  Operand result = pointwise(name, inner, element);
  if (!result)
    return result;
  Sizes sizes = first->after, own = result.sizes();
  sizes.append(own.end() - first->tail, own.end());
  return reshape(result, sizes);
}

std::optional<Operand> Emit::contractBelowReshape(const Operand &a, const Operand &b, const ContractSpec &labels,
                                                  Factors factors) {
  std::optional<Mixing> mixed = mixing(a);
  if (!mixed)
    return std::nullopt;
  size_t front = mixed->after.size(), rows = mixed->before.size();
  std::string joined = labels.lhs.substr(0, front), rest = labels.lhs.substr(front);
  std::string names = rowLabels(rows).value_or("");
  auto meets = [](StringRef text, StringRef other) { return text.find_first_of(other) != StringRef::npos; };
  if (names.empty() || !StringRef(labels.result).starts_with(joined) || meets(labels.rhs, joined) ||
      meets(names, rest) || meets(names, labels.rhs))
    return std::nullopt;
  std::string behind = labels.result.substr(front);
  Operand result =
      contract(unmixed(*this, *mixed, a), b, names + rest + "," + labels.rhs + "->" + names + behind, factors);
  if (!result)
    return result;
  Sizes sizes = mixed->after, own = result.sizes();
  sizes.append(own.begin() + rows, own.end());
  return reshape(result, sizes);
}

std::optional<Operand> Emit::reduceBelowReshape(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes) {
  std::optional<Mixing> mixed = mixing(x);
  int64_t front = mixed ? mixed->after.size() : 0;
  if (!mixed || llvm::any_of(axes, [&](int64_t axis) { return axis < front; }))
    return std::nullopt;
  Sizes sizes = x.sizes();
  SmallVector<int64_t> there;
  for (int64_t axis : axes) {
    there.push_back(axis - front + int64_t(mixed->before.size()));
    sizes[axis] = Size(1);
  }
  Operand result = reduce(kind, unmixed(*this, *mixed, x), there, Axes::keep);
  return result ? reshape(result, sizes) : result;
}

std::optional<Operand> Emit::sliceBelowReshape(const Operand &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> lengths,
                                               ArrayRef<int64_t> steps) {
  std::optional<Mixing> mixed = mixing(x);
  if (!mixed)
    return std::nullopt;
  Sizes sizes = x.sizes(), rows = mixed->before;
  size_t front = mixed->after.size();
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    bool isWhole = lengths[axis] < 0 || (sizes[axis] == Size(lengths[axis]) && starts[axis] == 0 && steps[axis] == 1);
    if (axis < front && !isWhole)
      return std::nullopt;
    if (lengths[axis] >= 0)
      sizes[axis] = Size(lengths[axis]);
  }
  // Takes all rows, and these parts of the axes behind them.
  auto behindRows = [&](ArrayRef<int64_t> behind, llvm::function_ref<int64_t(const Size &)> ofRows) {
    SmallVector<int64_t> all = llvm::map_to_vector(rows, ofRows);
    llvm::append_range(all, behind.drop_front(front));
    return all;
  };
  Operand result = slice(unmixed(*this, *mixed, x), behindRows(starts, [](const Size &) { return 0; }),
                         behindRows(lengths, [](const Size &size) { return size.isFixed() ? size.getFixed() : -1; }),
                         behindRows(steps, [](const Size &) { return 1; }));
  return result ? reshape(result, sizes) : result;
}

std::optional<Operand> Emit::concatBelowReshape(ArrayRef<Operand> xs, int64_t axis) {
  std::optional<Mixing> first = mixing(xs.front());
  SmallVector<Operand> inner;
  for (const Operand &x : xs) {
    std::optional<Mixing> own = mixing(x);
    if (!own || axis < int64_t(own->after.size()) || own->before != first->before || own->after != first->after)
      return std::nullopt;
    inner.push_back(unmixed(*this, *own, x));
  }
  Operand result = concat(inner, axis - int64_t(first->after.size()) + int64_t(first->before.size()));
  if (!result)
    return result;
  Sizes sizes = first->after, own = result.sizes();
  sizes.append(own.begin() + first->before.size(), own.end());
  return reshape(result, sizes);
}

} // namespace tutti
