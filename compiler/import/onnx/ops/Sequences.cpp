// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of sequences of tensors, whose lengths and places are known when compiling, so none remains in the module.
#include "compiler/import/Limits.h"
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

/// The budget that an element of a sequence takes.
static constexpr int64_t elementCost = 16;

bool affordSequence(Emit &emit, size_t count) {
  int64_t cost = elementCost * int64_t(std::min<size_t>(count, mostTensors));
  if (count <= mostTensors && emit.budget.spend(cost))
    return true;
  emit.unsupported(count > mostTensors ? "makes a sequence of more than " + Twine(mostTensors) + " tensors"
                                       : "makes more sequences than there is room for",
                   "export the model with one tensor in its place");
  return false;
}

static void setSequence(Node &n, SequenceValue value) {
  if (!n.emit.failed() && affordSequence(n.emit, value.elements.size()))
    n.set(0, Operand(std::move(value)));
}

static bool expectElement(Node &n, const Operand &x, Type element) {
  if (x && x.element() != element)
    n.emit.malformed("a tensor " + x.str() + " in a sequence of " + elementName(element));
  return x && x.element() == element;
}

/// Input i, or the last one if it is omitted, as a place among `places` in a sequence of `count` tensors; negative ones
/// count from the last tensor.
static std::optional<int64_t> placeIn(Node &n, size_t i, int64_t count, int64_t places) {
  std::optional<SmallVector<int64_t>> given = n.has(i) ? n.intsIn(i) : SmallVector<int64_t>{places - 1};
  if (!given)
    return std::nullopt;
  if (given->size() != 1) {
    n.emit.malformed("input " + Twine(i) + " has " + Twine(given->size()) + " elements where a position is due");
    return std::nullopt;
  }
  int64_t at = given->front();
  if (at < -count || at >= places) {
    n.emit.malformed("position " + Twine(at) + " of a sequence of " + Twine(count) + " tensors");
    return std::nullopt;
  }
  return at < 0 ? at + count : at;
}

void importSequenceConstruct(Node &n) {
  SequenceValue value;
  for (size_t i = 0; i < std::max<size_t>(n.inputs(), 1); ++i) {
    Operand x = n.in(i);
    value.element = i == 0 && x ? x.element() : value.element;
    if (!expectElement(n, x, value.element))
      return;
    value.elements.push_back(x);
  }
  setSequence(n, std::move(value));
}

void importSequenceEmpty(Node &n) {
  if (Type element = n.elementAttr("dtype", Float32Type::get(&n.emit.context)))
    setSequence(n, {{}, element});
}

void importSequenceAt(Node &n) {
  const SequenceValue *given = n.sequenceIn(0);
  if (!given || !n.in(1))
    return;
  int64_t count = given->elements.size();
  if (std::optional<int64_t> at = placeIn(n, 1, count, count))
    n.set(0, given->elements[*at]);
}

/// Inserts a tensor before a position, or at the end.
void importSequenceInsert(Node &n) {
  const SequenceValue *given = n.sequenceIn(0);
  Operand x = n.in(1);
  if (!given || !expectElement(n, x, given->element))
    return;
  int64_t count = given->elements.size();
  std::optional<int64_t> at = placeIn(n, 2, count, count + 1);
  if (!at || !affordSequence(n.emit, count))
    return;
  SequenceValue value = *given;
  value.elements.insert(value.elements.begin() + *at, x);
  setSequence(n, std::move(value));
}

/// Removes the tensor at a position, or the last one.
void importSequenceErase(Node &n) {
  const SequenceValue *given = n.sequenceIn(0);
  if (!given)
    return;
  int64_t count = given->elements.size();
  std::optional<int64_t> at = placeIn(n, 1, count, count);
  if (!at || !affordSequence(n.emit, count))
    return;
  SequenceValue value = *given;
  value.elements.erase(value.elements.begin() + *at);
  setSequence(n, std::move(value));
}

void importSequenceLength(Node &n) {
  if (const SequenceValue *given = n.sequenceIn(0))
    n.set(0, Operand(scalarSource(IntegerType::get(&n.emit.context, 64), double(given->elements.size()))));
}

/// The lengths of the parts into which an axis of this length is split: 1 each, one number for all but a smaller last
/// one, or a list.
static std::optional<SmallVector<int64_t>> partsOf(Node &n, int64_t length) {
  SmallVector<int64_t> lengths;
  std::optional<SmallVector<int64_t>> given;
  if (n.has(1) && !(given = n.intsIn(1)))
    return std::nullopt;
  if (given && n.in(1).rank() == 1) {
    int64_t left = length;
    for (int64_t each : *given)
      left = each < 0 || each > left ? -1 : left - each;
    if (left != 0) {
      n.emit.malformed("the parts do not make up the length " + Twine(length));
      return std::nullopt;
    }
    return given;
  }
  int64_t each = given && given->size() == 1 ? given->front() : 1;
  if (each < 1) {
    n.emit.malformed("parts of length " + Twine(each));
    return std::nullopt;
  }
  if (!affordSequence(n.emit, length / each))
    return std::nullopt;
  for (int64_t start = 0; start < length; start += std::min(each, length - start))
    lengths.push_back(std::min(each, length - start));
  return lengths;
}

/// Without lengths the axis is dropped unless `keepdims` is set.
void importSplitToSequence(Node &n) {
  Operand x = n.in(0);
  bool keep = n.intAttr("keepdims", 1) != 0 || n.has(1);
  int64_t given = n.intAttr("axis", 0);
  std::optional<int64_t> axis = x ? n.axis(given, x.rank()) : std::nullopt;
  if (!axis || !n.emit.isKnown(x, *axis, "splits"))
    return;
  std::optional<SmallVector<int64_t>> lengths = partsOf(n, x.sizes()[*axis].getFixed());
  if (!lengths || !affordSequence(n.emit, lengths->size()))
    return;
  SequenceValue value{{}, x.element()};
  int64_t start = 0;
  for (int64_t each : *lengths) {
    Operand part = n.emit.part(x, *axis, start, each);
    value.elements.push_back(keep ? part : n.emit.dropAxes(part, {*axis}));
    start += each;
  }
  setSequence(n, std::move(value));
}

/// Joins the sequence's tensors along an axis that they have, or along a new one.
void importConcatFromSequence(Node &n) {
  const SequenceValue *given = n.sequenceIn(0);
  bool isNew = n.intAttr("new_axis", 0) != 0;
  int64_t at = n.intAttr("axis", 0);
  if (!given)
    return;
  if (!n.hasAttr("axis"))
    n.emit.malformed("attribute 'axis' is missing");
  if (given->elements.empty())
    n.emit.malformed("joins an empty sequence");
  if (n.emit.failed())
    return;
  if (std::optional<int64_t> axis = n.axis(at, given->elements[0].rank() + isNew))
    n.set(0, isNew ? n.emit.stack(given->elements, *axis) : n.emit.concat(given->elements, *axis));
}

} // namespace tutti
