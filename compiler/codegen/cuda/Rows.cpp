// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The row and element families, over the skeletons of row.cuh and choice.cuh.
#include "Text.h"
#include "passes/analysis/Numerics.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using llvm::formatv;

namespace tutti {

/// The statement of a phase, `skeleton`, over the elements of `x`, which `wrap` may transform.
static std::string overRows(KernelText &k, const std::string &skeleton, Value x, const std::string &wrap,
                            const std::string &lines, ArrayRef<std::string> dims, const std::string &parameters,
                            const std::string &store) {
  std::string element = formatv(wrap.c_str(), "t." + k.at(x, k.text(k.own(x), dims))).str();
  return formatv("  {0}, [&](int row, int column) {{\n{1}    return {2};\n  }, [&]({3}) {{\n{4}  });\n", skeleton,
                 lines, element, parameters, store)
      .str();
}

static const char *ruleOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return "SumOf";
  case ReduceKind::max:
    return "LargestOf";
  case ReduceKind::min:
    return "SmallestOf";
  case ReduceKind::prod:
    return "ProductOf";
  }
  llvm_unreachable("a reduction without a rule");
}

static std::string reduction(KernelText &k, ReduceOp op, const std::string &lines, ArrayRef<std::string> dims) {
  RankedTensorType type = typeOf(op.getX());
  int64_t count = RowForm::of(type).columns.getFixed();
  std::string name = cudaType(type.getElementType());
  std::string result = op.getKind() == ReduceKind::mean ? formatv("all / {0}({1})", name, count).str() : "all";
  return overRows(k,
                  formatv("reduceRows<{0}<{1}>, {2}>(t.rows, {3}", ruleOf(op.getKind()), name, count,
                          cudaConstant(neutralOf(op.getKind(), type.getElementType())))
                      .str(),
                  op.getX(), "{0}", lines, dims, "int row, " + name + " all",
                  formatv("    const int column = 0;\n{0}    {1}", lines, k.store(op.getResult(), result, dims)).str());
}

static std::string scan(KernelText &k, ScanOp op, const std::string &lines, ArrayRef<std::string> dims) {
  RankedTensorType type = typeOf(op.getX());
  bool sums = op.getKind() == ScanKind::sum;
  std::string name = cudaType(type.getElementType()), one = formatv("static_cast<{0}>(1)", name);
  std::string none = sums ? formatv("noSum<{0}>()", name).str() : one,
              empty = sums ? formatv("static_cast<{0}>(0)", name).str() : one;
  std::string rule = formatv("{0}<{1}>, {2}", sums ? "SumOf" : "ProductOf", name, RowForm::of(type).columns.getFixed()),
              ways = formatv("{0}, {1}, {2}", op.getExclusive(), op.getReverse(), name),
              skeleton = op.getStep()
                             ? formatv("scanColumns<{0}, {1}, {2}>(t.rows, {3}", rule, *op.getStep(), ways, empty).str()
                             : formatv("scanRows<{0}, {1}>(t.rows, {2}, {3}", rule, ways, none, empty).str();
  return overRows(k, skeleton, op.getX(), "{0}", lines, dims, "int row, int column, " + name + " all",
                  lines + "    " + k.store(op.getResult(), "all", dims));
}

/// The choice of the first elements by key; an ArgOp chooses one.
static std::string choice(KernelText &k, Operation *op, const std::string &lines, ArrayRef<std::string> dims) {
  Value x = op->getOperand(0), result = op->getResult(0);
  auto arg = dyn_cast<ArgOp>(op);
  int64_t count = arg ? 1 : int64_t(cast<TopOp>(op).getCount());
  bool last = arg && arg.getLast();
  return overRows(
      k, formatv("chooseInRows<{0}, {1}, {2}>(t.rows", RowForm::of(typeOf(x)).columns.getFixed(), count, last).str(), x,
      keyText(op), lines, dims, "int row, int column, long long place",
      lines + "    " + k.store(result, "place", dims));
}

std::string keyText(Operation *op) {
  auto arg = dyn_cast<ArgOp>(op);
  bool smallest = arg ? arg.getKind() == ArgKind::min : cast<TopOp>(op).getSmallest();
  return formatv("keyOf<{0}, {1}>({{0})", smallest, arg || !smallest);
}

/// Stores x and then, once all of it is there, applies each row's updates in their order, with a thread per lane of the
/// blocks.
static std::string scatter(KernelText &k, ScatterOp op, const std::string &lines, std::vector<std::string> dims) {
  Value x = op.getX(), y = op.getResult();
  int64_t width = op.getWidth().value_or(1);
  Size given = RowForm::of(typeOf(op.getUpdates())).columns, kept = RowForm::of(typeOf(y)).columns;
  bool ofBlocks = RowForm::of(typeOf(op.getIndices())).columns != given;
  std::string copied = k.store(y, "t." + k.at(x, k.text(k.own(x), dims)), dims);
  std::string met = formatv("t.{0}[{1}]", k.view(y), k.placeOf(y, dims)), combined = k.combine(op);
  std::vector<std::string> there(dims);
  auto each = [&](Value value, const char *column) {
    there.back() = column;
    return "t." + k.at(value, k.text(k.own(value), there));
  };
  std::string update = each(op.getUpdates(), "from");
  return formatv(R"(  forElements(t.rows, int({0}), [&](int row, int column) {{
{1}    {2}  });
  taskSync();
  forElements(t.rows, {6}, [&](int row, int s) {{
{1}    for (int j = 0; j < {3}; ++j) {{
      const int from = j * {6} + s, column = inRange({4}, {7}) * {6} + s;
      {5}    }
  });
)",
                 k.sizeText(kept), lines, copied, k.sizeText(*given.dividedBy(Size(width))),
                 each(op.getIndices(), ofBlocks ? "j" : "from"),
                 k.store(y, combined.empty() ? update : formatv("{0}({1}, {2})", combined, met, update).str(), dims),
                 numberText(width), k.sizeText(*kept.dividedBy(Size(width))))
      .str();
}

std::string zeroText(KernelText &k, Value value) {
  const Place &place = k.steps.placeOf(value);
  int64_t columns = place.narrow ? RowForm::of(typeOf(value)).columns.getFixed() : 0;
  return columns % 16 == 0 ? std::string()
                           : formatv("  zeroBeyond(t.{0}, t.rows, {1}, {2});\n", k.view(value), numberText(columns),
                                     numberText(place.stride))
                                 .str();
}

/// A phase of rows.
static std::string phase(KernelText &k, Operation *op, const std::string &lines, const std::vector<std::string> &dims) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](ReduceOp reduce) { return reduction(k, reduce, lines, dims); })
      .Case<ArgOp, TopOp>([&](auto) { return choice(k, op, lines, dims); })
      .Case([&](ScanOp scanned) { return scan(k, scanned, lines, dims); })
      .Case([&](ScatterOp put) { return scatter(k, put, lines, dims); })
      .Default([&](Operation *) {
        k.cannot("no text for the phase " + op->getName().getStringRef());
        return "";
      });
}

std::string emitRows(KernelText &k, const Step &step) {
  std::string all;
  for (Value value : step.stores) {
    Operation *op = value.getDefiningOp();
    std::string lines;
    std::vector<std::string> dims = k.space(lines);
    if (isRowPhase(op)) {
      all += phase(k, op, lines, dims) + zeroText(k, value);
      continue;
    }
    Size columns = RowForm::of(typeOf(value)).columns;
    k.addMaker(value);
    std::string made = formatv("t.make{0}({1})", k.numberOf(value), k.text(k.own(value), dims)).str();
    all += formatv("  forElements(t.rows, int({0}), [&](int row, int column) {{\n{1}    {2}  });\n",
                   k.sizeText(columns), lines, k.store(value, made, dims))
               .str() +
           zeroText(k, value);
  }
  return all;
}

} // namespace tutti
