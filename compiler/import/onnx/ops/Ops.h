// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX ops that are imported: one function per op, and one table.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H

#include "compiler/import/onnx/Node.h"

namespace tutti {

/// The known opset versions: every version of every op in the table from 7 to this one; for the domain ai.onnx.ml from
/// 1 on.
constexpr int64_t oldestOpset = 7, newestOpset = 28, newestMlOpset = 5;
constexpr llvm::StringLiteral mlDomain = "ai.onnx.ml";
/// ONNX Runtime's own ops, of opset 1.
constexpr llvm::StringLiteral runtimeDomain = "com.microsoft";
constexpr int64_t newestOpsetOf(llvm::StringRef domain) {
  return domain.empty() ? newestOpset : domain == mlDomain ? newestMlOpset : 1;
}

/// The most inputs or outputs of an op: a number, and others from later opsets on.
struct Most {
  constexpr Most(int64_t number) : numbers{number} {}
  constexpr Most from(int64_t opset, int64_t number) const {
    Most more = *this;
    more.opsets[more.later] = opset;
    more.numbers[++more.later] = number;
    return more;
  }
  constexpr int64_t at(int64_t opset) const {
    int step = 0;
    while (step < later && opsets[step] <= opset)
      ++step;
    return numbers[step];
  }

  int later = 0;
  int64_t opsets[2] = {}, numbers[3];
};

struct OnnxOp {
  const char *name; ///< "Add", "ai.onnx.ml::Scaler"
  int64_t since;    ///< the opset of its domain that brought it
  Most inputs, outputs;
  void (*import)(Node &node);
  bool takesSequences = false;
  bool isWide = false; ///< 16-bit floats are float32 from its inputs to its outputs
};

/// An op's name beside others': without its domain if that is the default one.
std::string qualified(llvm::StringRef domain, llvm::StringRef name);

/// Why an op that is not in the table is not imported, and what to do.
struct Why {
  std::string reason, advice;
};
Why whyNot(llvm::StringRef qualified);

/// The op of the table; null when there is none.
const OnnxOp *findOp(llvm::StringRef qualified);

/// Reserves budget for a sequence of `count` tensors (Sequences.cpp); false and a problem if there is none left.
bool affordSequence(Emit &emit, size_t count);

// Building blocks of ops of several domains.
/// NumPy's matmul.
Operand multiplyMatrices(Emit &emit, const Operand &a, const Operand &b);
/// x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) 0.5
Operand geluByTanh(Emit &emit, const Operand &x);
/// x, below 0 slope x
Operand leakyRelu(Emit &emit, const Operand &x, const Operand &slope);
/// x, below 0 alpha (e^x - 1)
Operand elu(Emit &emit, const Operand &x, double alpha);
/// max(0, min(1, alpha x + beta))
Operand hardSigmoid(Emit &emit, const Operand &x, double alpha, double beta);
/// x / (1 + |x|)
Operand softsign(Emit &emit, const Operand &x);
/// x above alpha, else 0
Operand thresholdedRelu(Emit &emit, const Operand &x, double alpha);
/// An activation that other ops (recurrent ones and FusedGemm) refer to by name.
struct NamedActivation {
  llvm::StringLiteral name; ///< of its op, where there is one
  Operand (*make)(Emit &emit, const Operand &x, double first, double second);
  llvm::StringLiteral numbers[2] = {"", ""}; ///< the attributes' names of its parameters, if it has any
  /// The parameters' defaults, which are the op's. NaN if the model must give them, as there is no such op (Affine and
  /// ScaledTanh) and runtimes do not agree.
  double usual[2] = {0, 0};
};
/// The activation of this name, in any case; null if there is none.
const NamedActivation *findActivation(llvm::StringRef name);
/// (x - mean) / sqrt(variance + epsilon) scale + bias, and x / sqrt(mean(x x) + epsilon) scale, along the last axis, in
/// float32 at least. A bias may be nothing.
Operand layerNorm(Emit &emit, const Operand &x, const Operand &scale, const Operand &bias, double epsilon);
Operand rmsNorm(Emit &emit, const Operand &x, const Operand &scale, double epsilon);
/// x sigmoid(alpha x)
Operand swish(Emit &emit, const Operand &x, double alpha);
/// The numbers from 0 on as an operand of these sizes.
Operand counted(Emit &emit, int64_t length, llvm::ArrayRef<Size> sizes);
/// splitHeads turns rows of several heads side by side, (batch, length, heads size), into (batch, heads, length, size);
/// `attribute` has the number of heads. joinHeads is the way back.
Operand splitHeads(Node &node, const Operand &x, int64_t heads, llvm::StringRef attribute);
Operand joinHeads(Emit &emit, const Operand &x);
/// q k^T scale of each head.
Operand attentionScores(Emit &emit, const Operand &q, const Operand &k, double scale);
/// x y for each head of x, several of which may share one of y.
Operand multiplyHeads(Emit &emit, const Operand &x, const Operand &y);

// import<Op>, in the file that Ops.def names; importRuntime<Op> of ONNX Runtime's domain.
#define ONNX_OP(name, since, inputs, outputs) void import##name(Node &node);
#define ONNX_RUNTIME_OP(name, inputs, outputs) void importRuntime##name(Node &node);
#include "compiler/import/onnx/ops/Ops.def"

} // namespace tutti

#endif
