// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk over a graph's nodes: names and their scopes, functions of the model and branches put in where they are
// used.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_WALK_H
#define TUTTI_COMPILER_IMPORT_ONNX_WALK_H

#include "compiler/import/emit/Emit.h"
#include "compiler/import/files/OnnxFile.h"
#include "compiler/import/onnx/Node.h"
#include "compiler/import/onnx/NodeOrder.h"
#include "compiler/import/onnx/Report.h"

#include "llvm/ADT/StringSet.h"

namespace tutti {

struct OnnxOp;
class SafetensorsFile;

/// The version of each domain that a model or a function imports; the default domain is "".
using Opsets = llvm::StringMap<int64_t>;
Opsets opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);

/// The names that the nodes of one graph or function see.
struct Scope {
  const Opsets &opsets;
  Scope *outer = nullptr;          ///< whose names a branch sees too
  std::string prefix;              ///< of its nodes' names, in messages
  llvm::StringMap<Operand> values; ///< nothing: the result of a node that failed
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringSet<> absent; ///< inputs that a function's caller leaves out
  Readers readers;          ///< nodes that are walked through, and what is outside

  /// Whether a name is an input that is left out here.
  bool leavesOut(llvm::StringRef name) const;
};

class Walk {
public:
  /// With `weights`, tensors of that file take the place of the graph's own initializers of their names.
  Walk(mlir::MLIRContext &context, llvm::StringRef path, OnnxFile &file, const SafetensorsFile *weights = nullptr);

  /// Called once, first. Fails where two functions have one name.
  llvm::Error findFunctions();
  /// What no run of the walk can mend: names that are computed twice, or are `given` and computed.
  llvm::Error check(const Nodes &nodes, const llvm::StringSet<> &given);
  /// Imports the nodes that `outputs` need. What is unsupported is kept in `unsupported`; a restart that `emit` asks
  /// for ends it.
  llvm::Error run(Emit &emit, Scope &scope, const Nodes &nodes, llvm::ArrayRef<std::string> outputs);
  /// The operand of a name; one that nothing before its reader gives is malformed.
  llvm::Expected<Operand> lookup(Scope &scope, const std::string &name, const llvm::Twine &reader);
  /// A new attempt. What functions and branches have cost before counts on.
  void begin();

  /// The initializers that were looked up and whose numbers have gone into the program by now.
  std::vector<std::string> computedWith() const;

  std::vector<UnsupportedOp> unsupported;
  uint64_t walked = 0; ///< nodes, in all attempts

private:
  /// Counts the nodes of a function or a branch, and its bytes, `size`, before they are walked through, and checks
  /// them.
  llvm::Error enter(const Scope &scope, const Nodes &body, size_t size, const llvm::StringSet<> &given);
  llvm::Error node(Emit &emit, Scope &scope, const onnx::NodeProto &proto);
  /// Whether the op takes a node of this opset, with so many inputs and outputs; that it does not is reported.
  llvm::Expected<bool> isTaken(const Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                               llvm::ArrayRef<Operand> operands);
  llvm::Error importOp(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                       llvm::ArrayRef<Operand> operands);
  llvm::Error call(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const onnx::FunctionProto &function,
                   llvm::ArrayRef<Operand> operands);
  /// Nodes with graphs in them (Control.cpp).
  static bool isControl(llvm::StringRef op) {
    return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
  }
  llvm::Error control(Emit &emit, Scope &scope, const onnx::NodeProto &proto, llvm::ArrayRef<Operand> operands);
  using Results = llvm::SmallVector<Operand>;
  llvm::Expected<Results> branch(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> loop(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> scan(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> sequenceMap(Emit &emit, Scope &scope, Node &node);
  /// What the graph in an attribute gives for these inputs; none when `emit` asks for a restart.
  llvm::Expected<Results> inside(Emit &emit, Scope &scope, Node &node, llvm::StringRef attribute,
                                 const std::string &prefix, llvm::ArrayRef<Operand> given, size_t count);
  /// A loop that is put into the model step by step.
  struct Unrolled {
    Results state;              ///< what the last step left to the next
    std::vector<Results> shown; ///< of each output that joins what the steps show, one a step
  };
  /// Puts a step in: the node's body, which gives the next state, then what it shows. False where there is no going on:
  /// `emit` asks for a restart, or a node inside failed and was reported.
  llvm::Expected<bool> runStep(Emit &emit, Scope &scope, Node &node, int64_t step, llvm::ArrayRef<Operand> given,
                               Unrolled &unrolled);
  /// Takes `emit`'s problem, or names the results.
  llvm::Error settle(Emit &emit, Scope &scope, const onnx::NodeProto &proto, llvm::ArrayRef<Operand> operands,
                     llvm::ArrayRef<Operand> results);
  /// What is built from here on is this node's.
  void locate(Emit &emit, const Scope &scope, const onnx::NodeProto &proto);
  static std::string nameOf(const Scope &scope, const onnx::NodeProto &proto);
  const onnx::FunctionProto *functionOf(const onnx::NodeProto &proto) const;
  void report(const Scope &scope, const onnx::NodeProto &proto, llvm::ArrayRef<Operand> operands,
              llvm::StringRef reason, llvm::StringRef advice);
  llvm::Error wrong(const llvm::Twine &what) { return fail(ExitCode::malformed, quote(path) + ": " + what); }

  mlir::MLIRContext &context;
  llvm::StringRef path;
  OnnxFile &file;
  const SafetensorsFile *weights; ///< or null
  llvm::StringMap<const onnx::FunctionProto *> functions;
  llvm::StringMap<unsigned> initializers;               ///< how many of each name the model has, in all of its graphs
  llvm::SmallVector<const onnx::FunctionProto *> calls; ///< under way
  std::vector<std::pair<std::string, std::shared_ptr<bool>>> lookedUp; ///< initializers, and whether they were read
  uint64_t nodes = 0, bytes = 0; ///< of functions and branches, each time they are entered
};

} // namespace tutti

#endif
