// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX ops that we import: one function an op, one table.
#ifndef TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H
#define TUTTI_COMPILER_IMPORT_ONNX_OPS_OPS_H

#include "compiler/import/onnx/Node.h"

namespace tutti {

/// The opset versions that we know: every version of every op in the table from 7 to this one.
constexpr int64_t oldestOpset = 7, newestOpset = 28;

struct OnnxOp {
  const char *name;
  int64_t since; ///< the opset that brought it
  void (*import)(Node &node);
};

/// Why an op of ONNX's default domain is not imported, and what to do.
struct Why {
  std::string reason, advice;
};
Why whyNot(llvm::StringRef name);

/// The op of ONNX's default domain; null when there is none.
const OnnxOp *findOp(llvm::StringRef name);

// A family's functions are named import<Op>, in onnx/<Family>.cpp.
// clang-format off
#define TUTTI_ONNX_ROWS(X)                                                                                             \
  X(ArgMax, 7) X(ArgMin, 7) X(BatchNormalization, 7) X(CumProd, 26) X(CumSum, 11) X(Einsum, 12)                        \
  X(GroupNormalization, 18) X(Hardmax, 7) X(InstanceNormalization, 7) X(LRN, 7) X(LpNormalization, 7)                  \
  X(MeanVarianceNormalization, 9) X(RMSNormalization, 23) X(ReduceL1, 7) X(ReduceL2, 7) X(ReduceLogSum, 7)             \
  X(ReduceLogSumExp, 7) X(ReduceProd, 7) X(ReduceSumSquare, 7) X(TopK, 7)
#define TUTTI_ONNX_MOVES(X)                                                                                            \
  X(Compress, 9) X(DepthToSpace, 7) X(EyeLike, 9) X(GatherElements, 11) X(GatherND, 11) X(NonZero, 9) X(OneHot, 9)     \
  X(Pad, 7) X(Range, 11) X(ReverseSequence, 10) X(Scatter, 9) X(ScatterElements, 11) X(ScatterND, 11)                  \
  X(SpaceToDepth, 7) X(Tile, 7) X(Trilu, 14) X(Unique, 11)
#define TUTTI_ONNX_POINTWISE(X)                                                                                        \
  X(Acos, 7) X(Acosh, 9) X(Asin, 7) X(Asinh, 9) X(Atan, 7) X(Atanh, 9) X(BitShift, 11) X(BitwiseAnd, 18)               \
  X(BitwiseNot, 18) X(BitwiseOr, 18) X(BitwiseXor, 18) X(Ceil, 7) X(Celu, 12) X(Cosh, 9) X(Elu, 7) X(Floor, 7)         \
  X(HardSigmoid, 7) X(HardSwish, 14) X(IsInf, 10) X(IsNaN, 9) X(LeakyRelu, 7) X(Mean, 7) X(Mod, 10) X(PRelu, 7)        \
  X(Round, 11) X(Selu, 7) X(Shrink, 9) X(Sinh, 9) X(Softsign, 7) X(Tan, 7) X(ThresholdedRelu, 10) X(Xor, 7)
#define TUTTI_ONNX_OPS(X)                                                                                              \
  X(Abs, 7) X(Add, 7) X(And, 7) X(Cast, 7) X(CastLike, 15) X(Clip, 7) X(Concat, 7) X(Constant, 7)                      \
  X(ConstantOfShape, 9) X(Cos, 7) X(Div, 7) X(Dropout, 7) X(Equal, 7) X(Erf, 9) X(Exp, 7) X(Expand, 8) X(Flatten, 7)   \
  X(Gather, 7) X(Gelu, 20) X(Gemm, 7) X(Greater, 7) X(GreaterOrEqual, 12) X(Identity, 7) X(LayerNormalization, 17)     \
  X(Less, 7) X(LessOrEqual, 12) X(Log, 7) X(LogSoftmax, 7) X(MatMul, 7) X(Max, 7) X(Min, 7) X(Mish, 18) X(Mul, 7)      \
  X(Neg, 7) X(Not, 7) X(Or, 7) X(Pow, 7) X(Reciprocal, 7) X(ReduceMax, 7) X(ReduceMean, 7) X(ReduceMin, 7)             \
  X(ReduceSum, 7) X(Relu, 7) X(Reshape, 7) X(Shape, 7) X(Sigmoid, 7) X(Sign, 9) X(Sin, 7) X(Size, 7) X(Slice, 7)       \
  X(Softmax, 7) X(Softplus, 7) X(Split, 7) X(Sqrt, 7) X(Squeeze, 7) X(Sub, 7) X(Sum, 7) X(Swish, 24) X(Tanh, 7)        \
  X(Transpose, 7) X(Unsqueeze, 7) X(Where, 9) TUTTI_ONNX_ROWS(X) TUTTI_ONNX_MOVES(X) TUTTI_ONNX_POINTWISE(X)
// clang-format on

#define TUTTI_DECLARE(name, since) void import##name(Node &node);
TUTTI_ONNX_OPS(TUTTI_DECLARE)
#undef TUTTI_DECLARE

} // namespace tutti

#endif
