// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The nodes of a graph that are imported, their order, and the readers of each name.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_NODEORDER_H
#define TUTTI_COMPILER_IMPORT_ONNX_NODEORDER_H

#include "compiler/import/onnx/Node.h"

#include "onnx.pb.h"

namespace tutti {

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// The graphs in a node's attributes.
void forEachGraph(const onnx::NodeProto &proto, llvm::function_ref<void(const onnx::GraphProto &)> visit);

/// The nodes that `outputs` need, in the file's order except that a node precedes its readers: a converter may have
/// appended its casts at the end. In a cycle one node stays ahead of what it reads.
std::vector<const onnx::NodeProto *> orderFor(const Nodes &nodes, llvm::ArrayRef<std::string> outputs);

/// The readers of each name among these nodes; `outputs` are read from outside.
Readers readersAmong(llvm::ArrayRef<const onnx::NodeProto *> nodes, llvm::ArrayRef<std::string> outputs);

} // namespace tutti

#endif
