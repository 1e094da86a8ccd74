// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of ops that ONNX Runtime's optimizer puts in the place of several of ONNX, as those.
// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
#include "compiler/import/onnx/ops/Ops.h"

using namespace mlir;

namespace tutti {

void importRuntimeGelu(Node &n) { n.set(0, n.emit.unary<GeluOp>(n.in(0))); }

/// gelu(x + bias)
void importRuntimeBiasGelu(Node &n) { n.set(0, n.emit.unary<GeluOp>(n.emit.add(n.in(0), n.in(1)))); }

/// GELU by tanh, of x + bias where there is one.
void importRuntimeFastGelu(Node &n) { n.set(0, geluByTanh(n.emit, n.has(1) ? n.emit.add(n.in(0), n.in(1)) : n.in(0))); }

/// y = x sigmoid(alpha x)
void importRuntimeQuickGelu(Node &n) { n.set(0, swish(n.emit, n.in(0), n.floatAttr("alpha", 1.702f))); }

/// y = alpha a b; of the last two axes of each transposed where asked.
void importRuntimeFusedMatMul(Node &n) {
  Emit &e = n.emit;
  Operand operands[] = {n.in(0), n.in(1)};
  for (auto [x, transposed, batch] : {std::tuple(&operands[0], n.intAttr("transA", 0), n.intAttr("transBatchA", 0)),
                                      std::tuple(&operands[1], n.intAttr("transB", 0), n.intAttr("transBatchB", 0))}) {
    if (!*x)
      return;
    if (batch)
      return (void)e.unsupported("rows that stand before their batch",
                                 "optimize the model less: ORT_ENABLE_BASIC leaves ONNX's own ops");
    // A vector is none, as in ONNX' MatMul.
    if (int64_t rank = x->rank(); transposed && rank >= 2)
      *x = e.moveAxis(*x, rank - 1, rank - 2);
  }
  Operand y = multiplyMatrices(e, operands[0], operands[1]);
  double alpha = n.floatAttr("alpha", 1);
  n.set(0, alpha == 1 ? y : e.mul(y, e.scalar(alpha, y)));
}

/// activation(alpha a b + beta c), with the activation's attributes behind `activation_`.
void importRuntimeFusedGemm(Node &n) {
  Emit &e = n.emit;
  std::string activation = n.stringAttr("activation", "");
  onnx::NodeProto proto;
  for (StringRef name : {"alpha", "beta", "gamma"})
    if (std::string own = ("activation_" + name).str(); n.hasAttr(own)) {
      double value = n.floatAttr(own, 0);
      onnx::AttributeProto &attribute = *proto.add_attribute();
      attribute.set_name(name.str());
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(float(value));
    }
  const OnnxOp *op = findOp(activation);
  bool known = llvm::is_contained(
      {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"},
      StringRef(activation));
  importGemm(n);
  if (!known)
    e.unsupported("attribute 'activation' is " + quote(activation),
                  "optimize the model less: ORT_ENABLE_BASIC leaves ONNX's own ops");
  Operand y = n.outputsSet()[0];
  if (e.failed() || e.restart || !y)
    return;
  proto.add_output("");
  Node behind(e, n.file, proto, newestOpset, y);
  op->import(behind);
  // One that this activation has not, too: the runtime copies whatever the node had.
  n.set(0, behind.outputsSet()[0]);
}

/// The sum of input and skip, and of the bias where there is one; outputs 3 of both norms.
static Operand sumOfSkips(Node &n, size_t bias) {
  Emit &e = n.emit;
  Operand sum = e.add(n.in(0), n.in(1));
  if (n.has(bias))
    sum = e.add(sum, n.in(bias));
  for (size_t i : {1, 2})
    if (n.wants(i))
      return e.unsupported("output " + Twine(i) + ", of the statistics, is read");
  n.set(3, sum);
  return sum;
}

/// A norm of ONNX of what is in x, by its own import: along the last axis.
static void setNorm(Node &n, const Operand &x, ArrayRef<size_t> parameters, void (*norm)(Node &)) {
  SmallVector<Operand> operands{x};
  for (size_t i : parameters)
    operands.push_back(n.has(i) ? n.in(i) : Operand());
  onnx::NodeProto proto;
  onnx::AttributeProto &epsilon = *proto.add_attribute();
  epsilon.set_name("epsilon");
  epsilon.set_type(onnx::AttributeProto::FLOAT);
  epsilon.set_f(float(n.floatAttr("epsilon", 1e-12f)));
  proto.add_output("y");
  if (!x)
    return;
  Node inner(n.emit, n.file, proto, newestOpset, operands);
  norm(inner);
  n.set(0, inner.outputsSet()[0]);
}

void importRuntimeSkipLayerNormalization(Node &n) { setNorm(n, sumOfSkips(n, 4), {2, 3}, importLayerNormalization); }
void importRuntimeSkipSimplifiedLayerNormalization(Node &n) {
  setNorm(n, sumOfSkips(n, 3), {2}, importRMSNormalization);
}

/// What RMSNormalization is called at opsets that are older than it.
void importSimplifiedLayerNormalization(Node &n) { importRMSNormalization(n); }

/// Distances, or their squares, between every row of a and every row of b.
void importRuntimeCDist(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(1);
  std::string metric = n.stringAttr("metric", "sqeuclidean");
  if (!a || !b)
    return;
  if (a.rank() != 2 || b.rank() != 2 || a.sizes()[1] != b.sizes()[1] ||
      (metric != "euclidean" && metric != "sqeuclidean"))
    return (void)e.malformed("rows " + a.str() + " and " + b.str() + ", metric " + quote(metric));
  Sizes left = a.sizes(), right = b.sizes();
  Operand d = e.sub(e.reshape(a, {left[0], Size(1), left[1]}), e.reshape(b, {Size(1), right[0], right[1]}));
  Operand square = e.reduce(ReduceKind::sum, e.mul(d, d), 2, false);
  n.set(0, metric == "euclidean" ? e.unary<SqrtOp>(square) : square);
}

} // namespace tutti
