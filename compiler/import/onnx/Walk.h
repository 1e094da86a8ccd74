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
  Scope *outer = nullptr;          ///< a branch sees its names, too
  std::string prefix;              ///< of its nodes' names, in messages
  llvm::StringMap<Operand> values; ///< nothing: the result of a node that failed
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringSet<> absent; ///< inputs that a function's caller leaves out
  Readers readers;          ///< nodes that are walked through, and what is outside

  /// Whether a name is an input that the function's caller leaves out.
  bool leavesOut(llvm::StringRef name) const;
};

class Walk {
public:
  /// With `weights`, tensors of that file take the place of the graph's own initializers of their names.
  Walk(mlir::MLIRContext &context, llvm::StringRef path, OnnxFile &file, const SafetensorsFile *weights = nullptr);

  /// Finds the model's functions; called once, first. Fails if two functions have one name.
  llvm::Error findFunctions();
  /// Fails on errors that no run of the walk can mend: names that are computed twice, or are both `given` and computed.
  llvm::Error check(const Nodes &nodes, const llvm::StringSet<> &given);
  /// Imports the nodes that `outputs` need. What is unsupported is kept in `unsupported`; a restart that `emit` asks
  /// for ends it.
  llvm::Error run(Emit &emit, Scope &scope, const Nodes &nodes, llvm::ArrayRef<std::string> outputs);
  /// The operand of a name. A name that nothing before its reader defines is malformed.
  llvm::Expected<Operand> lookup(Scope &scope, const std::string &name, const llvm::Twine &reader);
  /// Begins a new attempt. The cost of functions and branches so far still counts.
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
  /// Whether the op supports a node of this opset with this number of inputs and outputs; if not, that is reported.
  llvm::Expected<bool> isTaken(const Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                               llvm::ArrayRef<Operand> operands);
  llvm::Error importOp(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const OnnxOp &op,
                       llvm::ArrayRef<Operand> operands);
  llvm::Error call(Emit &emit, Scope &scope, const onnx::NodeProto &proto, const onnx::FunctionProto &function,
                   llvm::ArrayRef<Operand> operands);
  /// Whether an op's nodes contain graphs (Control.cpp).
  static bool isControl(llvm::StringRef op) {
    return op == "If" || op == "Loop" || op == "Scan" || op == "SequenceMap";
  }
  llvm::Error control(Emit &emit, Scope &scope, const onnx::NodeProto &proto, llvm::ArrayRef<Operand> operands);
  using Results = llvm::SmallVector<Operand>;
  llvm::Expected<Results> branch(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> loop(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> scan(Emit &emit, Scope &scope, Node &node);
  llvm::Expected<Results> sequenceMap(Emit &emit, Scope &scope, Node &node);
  /// The results of the graph in an attribute for these inputs; none if `emit` requests a restart.
  llvm::Expected<Results> inside(Emit &emit, Scope &scope, Node &node, llvm::StringRef attribute,
                                 const std::string &prefix, llvm::ArrayRef<Operand> given, size_t count);
  /// The state of a loop that is unrolled into the model.
  struct Unrolled {
    Results state;              ///< the values that the last step passes to the next
    std::vector<Results> shown; ///< for each scan output, one value per step
  };
  /// Imports the node's body for one step; its results are the next state, then the scan outputs. False if the loop
  /// cannot go on: `emit` requests a restart, or a node inside failed and was reported.
  llvm::Expected<bool> runStep(Emit &emit, Scope &scope, Node &node, int64_t step, llvm::ArrayRef<Operand> given,
                               Unrolled &unrolled);
  /// Reports `emit`'s problem, if there is one, or binds the results to their names.
  llvm::Error settle(Emit &emit, Scope &scope, const onnx::NodeProto &proto, llvm::ArrayRef<Operand> operands,
                     llvm::ArrayRef<Operand> results);
  /// Sets the location of the ops built from here on to this node.
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
  uint64_t nodes = 0, bytes = 0; ///< of functions and branches, counted each time they are entered
};

} // namespace tutti

#endif
