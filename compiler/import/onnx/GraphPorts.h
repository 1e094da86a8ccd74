// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The inputs, outputs and initializers of a graph.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_GRAPHPORTS_H
#define TUTTI_COMPILER_IMPORT_ONNX_GRAPHPORTS_H

#include "compiler/import/Ports.h"
#include "compiler/import/emit/Operand.h"
#include "compiler/import/files/OnnxFile.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace tutti {

/// The inputs and outputs of one member's graph, in the order of the first one's.
class GraphPorts {
public:
  GraphPorts(mlir::MLIRContext &context, llvm::StringRef path, const onnx::GraphProto &graph)
      : context(context), path(path), graph(graph) {}

  /// Fails on names that are duplicate or invalid, on sparse initializers, and without an output.
  llvm::Error find();
  /// Puts the ports into the order of the first member's, if there are as many; `member` is this member's number.
  llvm::Error orderLike(const Ports &first, size_t member);
  /// Separates the inputs that are bound to constants from the others, by the first member's names (`first` is null for
  /// that member itself). For the first member, dimensions that the constants' files determine are bound in `options`.
  llvm::Error bind(ImportOptions &options, const Ports *first);

  /// Names that no node may compute, as they are given.
  llvm::StringSet<> given() const;

  llvm::StringMap<const onnx::TensorProto *> initializers;
  std::vector<const onnx::ValueInfoProto *> inputs; ///< without initializers and bound ones
  std::vector<std::string> allInputs;               ///< with bound ones
  std::vector<std::pair<const onnx::ValueInfoProto *, WeightSource>> bound;
  std::vector<const onnx::ValueInfoProto *> outputs;
  std::vector<std::string> outputNames() const;

private:
  llvm::Error bindInput(const onnx::ValueInfoProto &input, const std::string &name, const BoundInput &constant,
                        ImportOptions *dims);
  llvm::Error wrong(const llvm::Twine &what);

  mlir::MLIRContext &context;
  llvm::StringRef path;
  const onnx::GraphProto &graph;
};

/// The initializers of a graph by name. Fails on duplicate names and on sparse initializers.
llvm::Error findInitializers(llvm::StringRef path, const onnx::GraphProto &graph,
                             llvm::StringMap<const onnx::TensorProto *> &initializers);

/// The kind of a port's value that is not a tensor, for messages.
llvm::StringRef kindOf(const onnx::TypeProto &type);

} // namespace tutti

#endif
