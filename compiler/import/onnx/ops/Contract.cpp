// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of matrix products.
#include "compiler/import/onnx/ops/Quantized.h"

using namespace mlir;

namespace tutti {

/// Labels: b for a single row axis, s (and batch labels b, h, ...) for more; k is summed over.
Operand multiplyMatrices(Emit &e, const Operand &a, const Operand &b) {
  if (!a || !b)
    return Operand();
  constexpr StringRef batchLabels = Emit::batchLabels;
  Sizes left = a.sizes(), right = b.sizes();
  int64_t batches = std::max<int64_t>({int64_t(left.size()) - 2, int64_t(right.size()) - 2, 0});
  if (left.empty() || right.empty())
    return e.malformed("a scalar operand");
  if (batches > int64_t(batchLabels.size()))
    return e.unsupported("tensors of rank " + Twine(std::max(left.size(), right.size())));
  // A weight matrix times single columns becomes rows times the transposed matrix.
  if (a.isConstant() && b.isValue() && left.size() == 2 && right.size() >= 2 && right.back() == Size(1)) {
    std::string rows = (batchLabels.take_front(right.size() - 2)).str();
    Operand x = e.reshape(b, Sizes(ArrayRef(right).drop_back()));
    Operand y = e.contract(x, e.transpose(a, {1, 0}), rows + "k,kn->" + rows + "n");
    if (!y)
      return y;
    Sizes column = y.sizes();
    column.push_back(Size(1));
    return e.reshape(y, column);
  }
  // Batch axes align at their ends; an axis of length 1 that meets a longer one is dropped from its operand.
  std::string lhs, rhs, result;
  SmallVector<int64_t> dropLeft, dropRight;
  Sizes full;
  for (int64_t i = 0; i < batches; ++i) {
    int64_t l = i - batches + int64_t(left.size()) - 2, r = i - batches + int64_t(right.size()) - 2;
    bool inLeft = l >= 0 && left.size() >= 2, inRight = r >= 0 && right.size() >= 2;
    if (inLeft && inRight && left[l] != right[r]) {
      if (left[l] == Size(1)) {
        dropLeft.push_back(l);
        inLeft = false;
      } else if (right[r] == Size(1)) {
        dropRight.push_back(r);
        inRight = false;
      }
    }
    char label = batchLabels[i];
    result += label;
    if (inLeft)
      lhs += label;
    if (inRight)
      rhs += label;
  }
  char row = batches ? 's' : 'b', column = right.size() > 2 ? 't' : 'n';
  if (left.size() >= 2)
    result += row, lhs += row;
  lhs += 'k';
  rhs += 'k';
  if (right.size() >= 2)
    result += column, rhs += column;
  return e.contract(e.dropAxes(a, dropLeft), e.dropAxes(b, dropRight), lhs + "," + rhs + "->" + result);
}

void importMatMul(Node &n) {
  Operand a = n.in(0), b = n.in(1);
  if (!a || !b)
    return;
  std::optional<Operand> y = multiplyQuantized(n.emit, a, b);
  n.set(0, y ? *y : multiplyMatrices(n.emit, a, b));
}

/// y = alpha a b + beta c, where a and b may be transposed.
void importGemm(Node &n) {
  Emit &e = n.emit;
  Operand a = n.in(0), b = n.in(1);
  if (!a || !b)
    return;
  if (a.rank() != 2 || b.rank() != 2) {
    e.malformed("operands of ranks " + Twine(a.rank()) + " and " + Twine(b.rank()) + " where matrices are due");
    return;
  }
  bool turnsA = n.intAttr("transA", 0), turnsB = n.intAttr("transB", 0);
  double alpha = n.floatAttr("alpha", 1), beta = n.floatAttr("beta", 1);
  std::optional<Operand> quantized = turnsA ? std::nullopt : multiplyQuantized(e, a, b, turnsB);
  Operand y = quantized
                  ? *quantized
                  : e.contract(turnsA ? e.transpose(a, {1, 0}) : a, turnsB ? e.transpose(b, {1, 0}) : b, "bk,kn->bn");
  if (alpha != 1)
    y = e.mul(y, e.scalar(alpha, y));
  if (n.has(2) && beta != 0) {
    Operand c = n.in(2);
    if (beta != 1)
      c = e.mul(c, e.scalar(beta, c));
    Operand sum = e.add(y, c);
    if (sum && y && sum.sizes() != y.sizes())
      e.malformed("a bias of shape " + str(c.sizes()) + " for a product of shape " + str(y.sizes()));
    y = sum;
  }
  n.set(0, y);
}

} // namespace tutti
