// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads a node's inputs and attributes.
#include "compiler/import/onnx/Node.h"
#include "compiler/import/Limits.h"
#include "dialects/tutti/Ports.h"

using namespace mlir;

namespace tutti {

Operand Node::eitherIn(size_t i) {
  if (has(i))
    return operands[i];
  return emit.malformed("input " + Twine(i) + " is missing");
}

std::string notATensor(size_t i, const Operand &given) {
  return ("input " + Twine(i) + " is a " + given.str() + " where a tensor is due").str();
}

Operand Node::in(size_t i) {
  Operand x = eitherIn(i);
  return x.isSequence() ? emit.malformed(notATensor(i, x)) : x;
}

const SequenceValue *Node::sequenceIn(size_t i) {
  Operand x = eitherIn(i);
  if (x && !x.isSequence())
    emit.malformed("input " + Twine(i) + " is " + x.str() + " where a sequence of tensors is due");
  return x.isSequence() ? &operands[i].sequence() : nullptr;
}

const onnx::AttributeProto *Node::attr(StringRef name, onnx::AttributeProto::AttributeType type) {
  for (const onnx::AttributeProto &each : proto.attribute()) {
    if (each.name() != name)
      continue;
    read.push_back(each.name());
    // Files of the first IR versions give no type.
    if (each.type() != type && each.type() != onnx::AttributeProto::UNDEFINED) {
      emit.malformed("attribute " + quote(name) + " is of the wrong type");
      return nullptr;
    }
    if (!each.ref_attr_name().empty()) {
      emit.malformed("attribute " + quote(name) + " refers to a function's attribute outside of a function");
      return nullptr;
    }
    return &each;
  }
  return nullptr;
}

bool Node::hasAttr(StringRef name) {
  return llvm::any_of(proto.attribute(), [&](const onnx::AttributeProto &each) { return each.name() == name; });
}

const onnx::GraphProto *Node::graphAttr(StringRef name) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::GRAPH);
  return found && found->has_g() ? &found->g() : nullptr;
}

int64_t Node::intAttr(StringRef name, int64_t otherwise) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::INT);
  return found ? found->i() : otherwise;
}

double Node::floatAttr(StringRef name, double otherwise) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::FLOAT);
  return found ? found->f() : otherwise;
}

std::string Node::stringAttr(StringRef name, StringRef otherwise) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::STRING);
  return found ? found->s() : otherwise.str();
}

std::optional<SmallVector<int64_t>> Node::intsAttr(StringRef name) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::INTS);
  if (!found)
    return std::nullopt;
  return SmallVector<int64_t>(found->ints().begin(), found->ints().end());
}

std::optional<SmallVector<double>> Node::floatsAttr(StringRef name) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::FLOATS);
  if (!found)
    return std::nullopt;
  return SmallVector<double>(found->floats().begin(), found->floats().end());
}

SmallVector<std::string> Node::stringsAttr(StringRef name) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::STRINGS);
  return found ? SmallVector<std::string>(found->strings().begin(), found->strings().end())
               : SmallVector<std::string>();
}

Operand Node::tensorAttr(StringRef name) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::TENSOR);
  if (!found)
    return Operand();
  llvm::Expected<WeightSource> source = file.tensor(emit.context, found->t());
  if (source) {
    // A constant that the graph spells out is not a weight that could be replaced.
    source->name.clear();
    return Operand(std::move(*source));
  }
  CompileError error = compileErrorOf(source.takeError());
  return error.code == ExitCode::malformed ? emit.malformed(error.message) : emit.unsupported(error.message);
}

Type Node::elementAttr(StringRef name, Type otherwise) {
  const onnx::AttributeProto *found = attr(name, onnx::AttributeProto::INT);
  if (!found)
    return otherwise;
  Type element = elementOf(emit.context, found->i());
  if (!element)
    emit.unsupported("attribute " + quote(name) + " is " + dataTypeName(found->i()) + ", which is not supported yet");
  return element;
}

std::string Node::toBeKnown(const Operand &x) {
  auto input = x.isValue() ? dyn_cast<BlockArgument>(x.value()) : BlockArgument();
  auto main = input ? dyn_cast<func::FuncOp>(input.getOwner()->getParentOp()) : func::FuncOp();
  StringAttr name = main ? inputName(main, input.getArgNumber()) : StringAttr();
  std::string bind = name ? "bind the input: --bind " + shown(name.getValue()) + "=FILE.npy"
                          : "bind the inputs that it is computed from: --bind NAME=FILE.npy";
  return "make it a constant of the graph, or " + bind;
}

std::optional<Sizes> Node::sizesIn(size_t i) {
  Operand x = in(i);
  if (!x)
    return std::nullopt;
  if (std::optional<ShapeValue> value = x.asShape())
    return value->elements;
  if (x.isConstant())
    emit.malformed("input " + Twine(i) + " is " + x.str() + " where a list of integers is due");
  else
    emit.unsupported("input " + Twine(i) + " is computed from the model's inputs", toBeKnown(x));
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> Node::intsIn(size_t i) {
  std::optional<Sizes> sizes = sizesIn(i);
  if (!sizes)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (const Size &size : *sizes) {
    if (!size.isFixed()) {
      emit.unsupported("input " + Twine(i) + " is " + size.str() + ", which is known at a call only",
                       "bind the dimension to one value with --dim");
      return std::nullopt;
    }
    result.push_back(size.getFixed());
  }
  return result;
}

SmallVector<int64_t> Node::axesOf(StringRef attribute, size_t i, int64_t since, bool &given) {
  std::optional<SmallVector<int64_t>> axes;
  if (opset < since)
    axes = intsAttr(attribute);
  else if (has(i))
    axes = intsIn(i);
  given = axes.has_value();
  return axes.value_or(SmallVector<int64_t>());
}

std::optional<Sizes> Node::lengthsIn(size_t i) {
  std::optional<Sizes> sizes = sizesIn(i);
  for (const Size &size : sizes.value_or(Sizes()))
    if (size.isFixed() && size.getFixed() < 0) {
      emit.malformed("a dimension of " + size.str());
      return std::nullopt;
    }
  return sizes;
}

std::optional<int64_t> Node::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    emit.malformed("axis " + Twine(axis) + " of a tensor of rank " + Twine(rank));
    return std::nullopt;
  }
  return axis < 0 ? axis + rank : axis;
}

std::optional<SmallVector<int64_t>> Node::axes(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> result;
  if (rank > mostRank) {
    emit.unsupported("a tensor of rank " + Twine(rank));
    return std::nullopt;
  }
  for (int64_t each : axes) {
    std::optional<int64_t> place = axis(each, rank);
    if (!place)
      return std::nullopt;
    if (llvm::is_contained(result, *place)) {
      emit.malformed("axis " + Twine(each) + " is named twice");
      return std::nullopt;
    }
    result.push_back(*place);
  }
  llvm::sort(result);
  return result;
}

bool Node::isForAlone(size_t i, StringRef op) const {
  if (!hasNamed(i) || !readers)
    return false;
  auto at = readers->find(proto.output(i));
  return at != readers->end() && llvm::all_of(at->second, [&](StringRef reader) { return reader == op; });
}

Operand Node::importAs(void (*import)(Node &), int64_t opset, ArrayRef<Operand> operands) {
  Node inner(emit, file, proto, opset, operands);
  import(inner);
  read.append(inner.read);
  return inner.outputs.front();
}

void Node::refuseUnread() {
  for (const onnx::AttributeProto &each : proto.attribute())
    if (!emit.failed() && !llvm::is_contained(read, each.name()))
      emit.unsupported("attribute " + quote(each.name()) + " is not known of this op at this opset");
}

} // namespace tutti
