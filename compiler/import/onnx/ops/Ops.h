// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX ops that we import: one function an op, one table.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H

#include "compiler/import/onnx/Node.h"

namespace tutti {

/// The opset versions that we know: every version of every op in the table from 7 to this one.
constexpr int64_t oldestOpset = 7, newestOpset = 28;

/// How many inputs or outputs an op has at most: a number, and others from later opsets on.
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
  const char *name;
  int64_t since; ///< the opset that brought it
  Most inputs, outputs;
  void (*import)(Node &node);
};

/// Why an op of ONNX's default domain is not imported, and what to do.
struct Why {
  std::string reason, advice;
};
Why whyNot(llvm::StringRef name);

/// The op of ONNX's default domain; null when there is none.
const OnnxOp *findOp(llvm::StringRef name);

// X(op, since, inputs, outputs). A family's functions are named import<Op>, in onnx/<Family>.cpp.
// clang-format off
#define TUTTI_ONNX_ROWS(X)                                                                                             \
  X(ArgMax, 7, 1, 1) X(ArgMin, 7, 1, 1) X(BatchNormalization, 7, 5, Most(5).from(14, 3)) X(CumProd, 26, 2, 1)          \
  X(CumSum, 11, 2, 1) X(Einsum, 12, any, 1) X(GroupNormalization, 18, 3, 1) X(Hardmax, 7, 1, 1)                        \
  X(InstanceNormalization, 7, 3, 1) X(LRN, 7, 1, 1) X(LpNormalization, 7, 1, 1) X(MeanVarianceNormalization, 9, 1, 1)  \
  X(RMSNormalization, 23, 2, 1) X(ReduceL1, 7, Most(1).from(18, 2), 1) X(ReduceL2, 7, Most(1).from(18, 2), 1)          \
  X(ReduceLogSum, 7, Most(1).from(18, 2), 1) X(ReduceLogSumExp, 7, Most(1).from(18, 2), 1)                             \
  X(ReduceProd, 7, Most(1).from(18, 2), 1) X(ReduceSumSquare, 7, Most(1).from(18, 2), 1)                               \
  X(TopK, 7, Most(1).from(10, 2), 2)
#define TUTTI_ONNX_MOVES(X)                                                                                            \
  X(Compress, 9, 2, 1) X(DepthToSpace, 7, 1, 1) X(EyeLike, 9, 1, 1) X(GatherElements, 11, 2, 1) X(GatherND, 11, 2, 1)  \
  X(NonZero, 9, 1, 1) X(OneHot, 9, 3, 1) X(Pad, 7, Most(1).from(11, 3).from(18, 4), 1) X(Range, 11, 3, 1)              \
  X(ReverseSequence, 10, 2, 1) X(Scatter, 9, 3, 1) X(ScatterElements, 11, 3, 1) X(ScatterND, 11, 3, 1)                 \
  X(SpaceToDepth, 7, 1, 1) X(Tile, 7, 2, 1) X(Trilu, 14, 2, 1) X(Unique, 11, 1, 4)
#define TUTTI_ONNX_POINTWISE(X)                                                                                        \
  X(Acos, 7, 1, 1) X(Acosh, 9, 1, 1) X(Asin, 7, 1, 1) X(Asinh, 9, 1, 1) X(Atan, 7, 1, 1) X(Atanh, 9, 1, 1)             \
  X(BitShift, 11, 2, 1) X(BitwiseAnd, 18, 2, 1) X(BitwiseNot, 18, 1, 1) X(BitwiseOr, 18, 2, 1)                         \
  X(BitwiseXor, 18, 2, 1) X(Ceil, 7, 1, 1) X(Celu, 12, 1, 1) X(Cosh, 9, 1, 1) X(Elu, 7, 1, 1) X(Floor, 7, 1, 1)        \
  X(HardSigmoid, 7, 1, 1) X(HardSwish, 14, 1, 1) X(IsInf, 10, 1, 1) X(IsNaN, 9, 1, 1) X(LeakyRelu, 7, 1, 1)            \
  X(Mean, 7, any, 1) X(Mod, 10, 2, 1) X(PRelu, 7, 2, 1) X(Round, 11, 1, 1) X(Selu, 7, 1, 1) X(Shrink, 9, 1, 1)         \
  X(Sinh, 9, 1, 1) X(Softsign, 7, 1, 1) X(Tan, 7, 1, 1) X(ThresholdedRelu, 10, 1, 1) X(Xor, 7, 2, 1)
#define TUTTI_ONNX_OPS(X)                                                                                              \
  X(Abs, 7, 1, 1) X(Add, 7, 2, 1) X(And, 7, 2, 1) X(Cast, 7, 1, 1) X(CastLike, 15, 2, 1)                               \
  X(Clip, 7, Most(1).from(11, 3), 1) X(Concat, 7, any, 1) X(Constant, 7, 0, 1) X(ConstantOfShape, 9, 1, 1)             \
  X(Cos, 7, 1, 1) X(Div, 7, 2, 1) X(Dropout, 7, Most(1).from(12, 3), 2) X(Equal, 7, 2, 1) X(Erf, 9, 1, 1)              \
  X(Exp, 7, 1, 1) X(Expand, 8, 2, 1) X(Flatten, 7, 1, 1) X(Gather, 7, 2, 1) X(Gelu, 20, 1, 1) X(Gemm, 7, 3, 1)         \
  X(Greater, 7, 2, 1) X(GreaterOrEqual, 12, 2, 1) X(Identity, 7, 1, 1) X(LayerNormalization, 17, 3, 3)                 \
  X(Less, 7, 2, 1) X(LessOrEqual, 12, 2, 1) X(Log, 7, 1, 1) X(LogSoftmax, 7, 1, 1) X(MatMul, 7, 2, 1)                  \
  X(Max, 7, any, 1) X(Min, 7, any, 1) X(Mish, 18, 1, 1) X(Mul, 7, 2, 1) X(Neg, 7, 1, 1) X(Not, 7, 1, 1)                \
  X(Or, 7, 2, 1) X(Pow, 7, 2, 1) X(Reciprocal, 7, 1, 1) X(ReduceMax, 7, Most(1).from(18, 2), 1)                        \
  X(ReduceMean, 7, Most(1).from(18, 2), 1) X(ReduceMin, 7, Most(1).from(18, 2), 1)                                     \
  X(ReduceSum, 7, Most(1).from(13, 2), 1) X(Relu, 7, 1, 1) X(Reshape, 7, 2, 1) X(Shape, 7, 1, 1) X(Sigmoid, 7, 1, 1)   \
  X(Sign, 9, 1, 1) X(Sin, 7, 1, 1) X(Size, 7, 1, 1) X(Slice, 7, Most(1).from(10, 5), 1) X(Softmax, 7, 1, 1)            \
  X(Softplus, 7, 1, 1) X(Split, 7, Most(1).from(13, 2), any) X(Sqrt, 7, 1, 1) X(Squeeze, 7, Most(1).from(13, 2), 1)    \
  X(Sub, 7, 2, 1) X(Sum, 7, any, 1) X(Swish, 24, 1, 1) X(Tanh, 7, 1, 1) X(Transpose, 7, 1, 1)                          \
  X(Unsqueeze, 7, Most(1).from(13, 2), 1) X(Where, 9, 3, 1) TUTTI_ONNX_ROWS(X) TUTTI_ONNX_MOVES(X)                     \
  TUTTI_ONNX_POINTWISE(X)
// clang-format on

#define TUTTI_DECLARE(name, since, inputs, outputs) void import##name(Node &node);
TUTTI_ONNX_OPS(TUTTI_DECLARE)
#undef TUTTI_DECLARE

} // namespace tutti

#endif
