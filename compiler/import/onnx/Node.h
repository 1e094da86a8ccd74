// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The view of one ONNX node that its op's import function gets.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_NODE_H
#define TUTTI_COMPILER_IMPORT_ONNX_NODE_H

#include "compiler/import/emit/Emit.h"
#include "compiler/import/files/OnnxFile.h"

#include "llvm/ADT/StringMap.h"

namespace tutti {

/// The ops that read each name; "" stands for a reader outside of the graph.
using Readers = llvm::StringMap<llvm::SmallVector<llvm::StringRef, 1>>;

/// Reads inputs and attributes, checks them, and takes the outputs. An input or attribute that is missing or of the
/// wrong kind becomes a problem of `emit`, and the getter returns nothing or the default.
class Node {
public:
  /// `readers` null: all names may be read.
  Node(Emit &emit, OnnxFile &file, const onnx::NodeProto &proto, int64_t opset, llvm::ArrayRef<Operand> operands,
       const Readers *readers = nullptr)
      : emit(emit), file(file), proto(proto), opset(opset), operands(operands), outputs(proto.output_size()),
        readers(readers) {}

  Emit &emit;
  OnnxFile &file;
  const onnx::NodeProto &proto;
  const int64_t opset; ///< the version of the op's domain that the file imports

  size_t inputs() const { return operands.size(); }
  bool has(size_t i) const { return i < operands.size() && operands[i]; }
  /// Input i, a tensor; a problem if it is missing or a sequence.
  Operand in(size_t i);
  /// Input i, a sequence; null and a problem if it is none.
  const SequenceValue *sequenceIn(size_t i);
  /// Input i, a tensor or a sequence.
  Operand eitherIn(size_t i);
  bool hasNamed(size_t i) const { return i < outputs.size() && !proto.output(i).empty(); }
  /// Whether anything may read this output.
  bool wants(size_t i) const { return hasNamed(i) && (!readers || readers->contains(proto.output(i))); }
  /// Whether this output is read, and by nodes of this op alone.
  bool isForAlone(size_t i, llvm::StringRef op) const;
  void set(size_t i, Operand value) {
    if (i < outputs.size())
      outputs[i] = std::move(value);
  }

  bool hasAttr(llvm::StringRef name);
  int64_t intAttr(llvm::StringRef name, int64_t otherwise);
  double floatAttr(llvm::StringRef name, double otherwise);
  std::string stringAttr(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<llvm::SmallVector<int64_t>> intsAttr(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> floatsAttr(llvm::StringRef name);
  Operand tensorAttr(llvm::StringRef name);
  /// Null if there is none.
  const onnx::GraphProto *graphAttr(llvm::StringRef name);
  /// The element type of an attribute that holds ONNX' number; a problem if it is unsupported.
  mlir::Type elementAttr(llvm::StringRef name, mlir::Type otherwise);
  /// Empty if there are none.
  llvm::SmallVector<std::string> stringsAttr(llvm::StringRef name);

  /// Input i as numbers known now; a problem if it is computed.
  std::optional<llvm::SmallVector<int64_t>> intsIn(size_t i);
  /// Input i as sizes: numbers, or expressions in the call's sizes.
  std::optional<Sizes> sizesIn(size_t i);
  /// The advice about an operand that must be known when compiling.
  std::string toBeKnown(const Operand &x);
  /// The axes: from the attribute before opset `since`, from input i since then. `given`: whether there were any.
  llvm::SmallVector<int64_t> axesOf(llvm::StringRef attribute, size_t i, int64_t since, bool &given);

  /// Input i as sizes, none of them negative; else a problem.
  std::optional<Sizes> lengthsIn(size_t i);
  /// An axis among `rank` axes, counted from the end when negative; a problem if there is no such axis.
  std::optional<int64_t> axis(int64_t axis, int64_t rank);
  std::optional<llvm::SmallVector<int64_t>> axes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  /// The first output of another ONNX op, at an opset, on other operands and with this node's attributes.
  Operand importAs(void (*import)(Node &), int64_t opset, llvm::ArrayRef<Operand> operands);

  /// Called after an import without a problem: reports an attribute of the node that the import has not read.
  void refuseUnread();
  llvm::SmallVector<Operand> outputsSet() const { return outputs; }

private:
  const onnx::AttributeProto *attr(llvm::StringRef name, onnx::AttributeProto::AttributeType type);

  llvm::ArrayRef<Operand> operands;
  llvm::SmallVector<Operand> outputs;
  const Readers *readers;
  llvm::SmallVector<llvm::StringRef> read; ///< attributes
};

/// The problem of an op whose input i is a sequence.
std::string notATensor(size_t i, const Operand &given);

} // namespace tutti

#endif
