#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes Inputs/*.onnx: one small model a spelling of an op, at the opsets where its spelling changed.

Needs onnx, numpy and onnxruntime; not part of the tests, which read what it wrote. A model carries its test: the unused
initializers `in:NAME` and `out:NAME` hold inputs, and the outputs that ONNX Runtime (or onnx' reference) gives for them. Files
GROUP~SPELLING.onnx are one computation in several spellings and must align.
"""
import importlib
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "Inputs")
CASES = {}
# ONNX Runtime takes a NaN for any other element, adds bins past half a spectrum, and rounds rows before products with bytes.
BY_REFERENCE = ("unique-nan", "unique-nan-unsorted", "dft-back-shorter", "dequantize-weight", "layer-quantized", "layer-quantized-wide", "layer-quantized-transposed",
                "layer-quantized-rows", "layer-quantized-by-rows")


def node(op, inputs, outputs="y", **attributes):
    inputs = inputs.split() if isinstance(inputs, str) else inputs
    return helper.make_node(op, ["" if i == "-" else i for i in inputs], ["" if o == "-" else o for o in outputs.split()], **attributes)


def case(name, opset, nodes, inputs, inits=None, outputs="y", batch=True, functions=()):
    """inputs: name -> array; axis 0 of a float input of rank > 1 is the symbol `batch` unless batch is False."""
    CASES[name] = (opset, nodes, inputs, inits or {}, outputs.split(), batch, functions)


def rng(*shape, seed=1):
    return np.random.default_rng(seed + len(shape)).standard_normal(shape).astype(np.float32)


def i64(*values):
    return np.array(values, np.int64)


def f32(value):
    return np.array(value, np.float32)


x = {"x": rng(3, 8)}
w, b = rng(8, 5, seed=2), rng(5, seed=3)

# Products of matrices.
case("linear~gemm-transposed", 13, [node("Gemm", "x w b", transB=1)], x, {"w": w.T.copy(), "b": b})
case("linear~gemm", 7, [node("Gemm", "x w b")], x, {"w": w, "b": b.reshape(1, 5)})
case("linear~matmul", 13, [node("MatMul", "x w", "p"), node("Add", "b p")], x, {"w": w, "b": b})
case("linear~transpose", 21, [node("Transpose", "v", "w", perm=[1, 0]), node("MatMul", "x w", "p"), node("Add", "p b")],
     x, {"v": w.T.copy(), "b": b})
case("linear~reshaped-weight", 18, [node("Reshape", "v s", "w"), node("MatMul", "x w", "p"), node("Add", "p b")],
     x, {"v": w.reshape(2, 4, 5), "s": i64(8, 5), "b": b})
case("linear~column", 13, [node("Unsqueeze", "x a", "c"), node("MatMul", "v c", "m"), node("Squeeze", "m a", "p"), node("Add", "p b")],
     x, {"v": w.T.copy(), "a": i64(2), "b": b})
case("gemm-alpha-beta", 13, [node("Gemm", "x w b", alpha=0.3, beta=1.7)], x, {"w": w, "b": b})
case("gemm-no-bias", 13, [node("Gemm", "x w", transB=1)], x, {"w": w.T.copy()})
case("gemm-trans-a", 13, [node("Gemm", "v x b", transA=1)], {"x": rng(3, 5)}, {"v": rng(3, 4), "b": rng(5)}, batch=False)
case("matmul-3d", 13, [node("MatMul", "x w")], {"x": rng(2, 3, 8)}, {"w": w})
case("matmul-batched", 13, [node("Transpose", "x", "t", perm=[0, 1, 3, 2]), node("MatMul", "x t")], {"x": rng(2, 3, 4, 5)})
case("matmul-broadcast", 13, [node("MatMul", "x w")], {"x": rng(2, 1, 4, 5)}, {"w": rng(3, 5, 6)})
case("matmul-vector", 13, [node("MatMul", "x w")], x, {"w": rng(8)})
case("matmul-left-constant", 13, [node("MatMul", "w x")], {"x": rng(2, 8, 3)}, {"w": rng(5, 8)})

# Pointwise ops, each once at a low and once at a high opset.
for opset in (9, 13, 22):
    unary = ["Neg", "Abs", "Sign", "Exp", "Erf", "Sin", "Cos", "Tanh", "Sigmoid", "Relu", "Softplus"]
    nodes, last = [], "x"
    for i, op in enumerate(unary):
        nodes.append(node(op, last, f"t{i}"))
        last = f"t{i}"
    nodes.append(node("Abs", "x", "a"))
    nodes.append(node("Sqrt", "a", "r"))
    nodes.append(node("Reciprocal", "a", "c"))
    nodes.append(node("Log", "a", "l"))
    nodes.append(node("Sum", ["r", "c", "l", last]))
    case(f"unary-{opset}", opset, nodes, x)
for opset in (9, 22):
    nodes = [node("Tanh", "x", "n"), node("Asin", "n", "a"), node("Acos", "n", "c"), node("Tan", "x", "t"), node("Atan", "x", "u"),
             node("Sinh", "x", "s"), node("Cosh", "x", "h"), node("Asinh", "x", "i"), node("Acosh", "h", "j"), node("Atanh", "n", "k"),
             node("Floor", "s", "f"), node("Ceil", "t", "e"), node("Mean", "a c t u s h i j k f e".split())]
    case(f"trigonometric-{opset}", opset, nodes, x)
case("mean-one", 8, [node("Mean", "x", "m"), node("Neg", "m")], x)
case("round", 11, [node("Mul", "x k", "m"), node("Round", "m")], {"x": np.arange(-8, 8, dtype=np.float32).reshape(2, 8)}, {"k": f32(0.5)})
case("leaky-relu", 7, [node("LeakyRelu", "x", "a"), node("LeakyRelu", "a", alpha=0.3)], x)
case("leaky-relu-16", 16, [node("LeakyRelu", "x", alpha=0.25)], x)
case("prelu-7", 7, [node("PRelu", "x w")], x, {"w": rng(8)})
case("prelu-16", 16, [node("PRelu", "x w")], {"x": rng(2, 3, 4)}, {"w": rng(3, 1)})
case("prelu-integers", 9, [node("PRelu", "x w")], {"x": np.arange(-6, 6, dtype=np.int32).reshape(3, 4)}, {"w": np.array([2, 3, 4, 5], np.int32)})
for opset in (7, 22):
    case(f"elu-{opset}", opset, [node("Elu", "x", "a", alpha=1.7), node("Selu", "a", "b"), node("Selu", "b", alpha=1.5, gamma=0.9)], x)
case("celu", 12, [node("Celu", "x", "a"), node("Celu", "a", alpha=0.7)], x)
case("hard-sigmoid", 7, [node("HardSigmoid", "x", "a"), node("HardSigmoid", "x", "b", alpha=0.5, beta=0.3), node("Add", "a b")], x)
case("hard-swish~op", 14, [node("HardSwish", "x")], x)
case("hard-swish~spelled", 13, [node("HardSigmoid", "x", "h", alpha=float(f32(1 / 6)), beta=0.5), node("Mul", "x h")], x)
case("softsign", 7, [node("Softsign", "x")], x)
case("thresholded-relu", 10, [node("ThresholdedRelu", "x", "a"), node("ThresholdedRelu", "x", "b", alpha=0.2), node("Sub", "a b")], x)
case("shrink", 9, [node("Shrink", "x", "a"), node("Shrink", "x", "b", lambd=0.3, bias=0.1), node("Add", "a b")], x)
case("shrink-integers", 9, [node("Shrink", "x", lambd=1.5, bias=1.5)], {"x": np.arange(-6, 6, dtype=np.int32).reshape(3, 4)})
ints = {"x": np.array([[-7, -3, 0, 3], [7, 5, -5, 6]], np.int32)}
case("mod", 10, [node("Mod", "x k")], ints, {"k": np.array([3, -3, 4, -4], np.int32)})
case("mod-13-unsigned", 13, [node("Mod", "x k")], {"x": np.array([[250, 3], [0, 7]], np.uint8)}, {"k": np.array([7, 2], np.uint8)})
case("mod-fmod", 13, [node("Mod", "x k", fmod=1)], {"x": rng(3, 4)}, {"k": f32([0.3, -0.7, 2, -0.01])})
case("mod-fmod-integers", 10, [node("Mod", "x k", fmod=1)], ints, {"k": np.array([3, -3, 4, -4], np.int32)})
case("mod-28-floats", 28, [node("Mod", "x k")], {"x": rng(3, 4)}, {"k": f32([0.3, -0.7, 2, -0.01])})
case("xor", 7, [node("Greater", "x k", "a"), node("Less", "x l", "b"), node("Xor", "a b")], x, {"k": f32(0), "l": f32(0.5)})
case("bitwise", 18, [node("BitwiseAnd", "x k", "a"), node("BitwiseOr", "a l", "b"), node("BitwiseXor", "b x", "c"), node("BitwiseNot", "c")],
     {"x": np.array([[-7, 1000, 0, 3]], np.int32)}, {"k": np.array([12, 255, 3, -1], np.int32), "l": np.array(64, np.int32)})
shifted = {"x": np.array([[1, 200, 255, 16]], np.uint8)}
case("bit-shift", 11, [node("BitShift", "x k", "a", direction="LEFT"), node("BitShift", "a l", direction="RIGHT")], shifted,
     {"k": np.array([3, 1, 0, 4], np.uint8), "l": np.array(2, np.uint8)})
case("bit-shift-28", 28, [node("BitShift", "x k", direction="RIGHT")], {"x": np.array([[-100, 100, -1]], np.int16)},
     {"k": np.array([3, 20, 16], np.int16)})
odd = {"x": f32([[1, np.nan, np.inf, -np.inf], [0, -1, np.nan, 3e38]])}
case("is-nan", 9, [node("IsNaN", "x")], odd)
case("is-inf", 10, [node("IsInf", "x", "a"), node("IsInf", "x", "b", detect_negative=0), node("IsInf", "x", "c", detect_positive=0),
                    node("IsInf", "x", "d", detect_positive=0, detect_negative=0), node("Xor", "b c", "e"), node("Or", "e d", "f"),
                    node("And", "a f")], odd)
case("clip-integers", 12, [node("Clip", "x l u")], {"x": np.array([[-7, 100, 0, 3]], np.int8)}, {"l": np.array(-2, np.int8), "u": np.array(5, np.int8)})
case("clip-unsigned", 13, [node("Clip", "x l")], {"x": np.array([[7, 2**63 + 5, 0]], np.uint64)}, {"l": np.array(2**63, np.uint64)})
case("clip-double", 12, [node("Clip", "x l u")], {"x": rng(2, 4).astype(np.float64)}, {"l": np.array(-0.1), "u": np.array(0.3)})
case("pow-of-integers", 12, [node("Pow", "x k")], {"x": np.array([[2, 3, 10]], np.int32)}, {"k": f32([0.5, 3, 1.5])})
for name, dtype in (("f16", np.float16), ("f64", np.float64)):
    y = {"x": rng(3, 8).astype(dtype)}
    case(f"types-{name}", 22, [node("MatMul", "x w", "m"), node("Add", "m b", "a"), node("Relu", "a", "r"), node("Softmax", "r", "s"),
                               node("ReduceMean", "s ax", "e"), node("Sub", "s e", "d"), node("Concat", "d m", "y", axis=1)], y,
         {"w": w.astype(dtype), "b": b.astype(dtype), "ax": i64(1)})
for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    name = np.dtype(dtype).name
    y = {"x": np.array([[1, 2, 3, 100], [7, 0, 5, 120]], dtype)}
    case(f"types-{name}", 18, [node("Mul", "x k", "m"), node("Add", "m x", "a"), node("Max", "a k", "b"), node("Transpose", "b", "t", perm=[1, 0]),
                               node("Cast", "t", "f", to=TensorProto.FLOAT), node("Sub", "b k", "d"), node("Greater", "b x", "g"), node("Where", "g b d", "z")],
         y, {"k": np.array([3, 2, 1, 2], dtype)}, outputs="f z", batch=False)
for dtype in (np.int64, np.uint32, np.uint64):
    case(f"matmul-{np.dtype(dtype).name}", 13, [node("MatMul", "x w")], {"x": np.arange(8, dtype=dtype).reshape(2, 4)}, {"w": np.arange(12, dtype=dtype).reshape(4, 3)})
case("mish~op", 18, [node("Mish", "x")], x)
case("mish~spelled", 13, [node("Softplus", "x", "s"), node("Tanh", "s", "t"), node("Mul", "x t")], x)
case("mish~spelled-swapped", 13, [node("Softplus", "x", "s"), node("Tanh", "s", "t"), node("Mul", "t x")], x)
row = [node("Mul", "x x", "q"), node("ReduceMean", "q", "v", axes=[-1]), node("Add", "v e", "u"), node("Sqrt", "u", "t")]
case("rms-norm~div", 13, row + [node("Div", "x t", "n"), node("Mul", "n s")], x, {"e": f32(1e-5), "s": rng(8, seed=4)})
case("rms-norm~reciprocal", 13, row + [node("Reciprocal", "t", "r"), node("Mul", "x r", "n"), node("Mul", "n s")], x, {"e": f32(1e-5), "s": rng(8, seed=4)})
case("elu~op", 13, [node("Elu", "x")], x)
case("elu~scaled", 13, [node("Mul", "x one", "a"), node("Elu", "a", "e"), node("Mul", "one e", "m"), node("Div", "m one")], x, {"one": f32(1)})
case("reciprocal~op", 13, [node("Reciprocal", "x", "r"), node("Tanh", "r")], x)
case("reciprocal~div", 13, [node("Div", "one x", "r"), node("Tanh", "r")], x, {"one": f32(1)})
wide = {"x": 12 * rng(3, 8)}  # some above the bound
case("softplus~op", 13, [node("Softplus", "x")], wide)
case("softplus~guarded", 18, [node("Softplus", "x", "s"), node("Greater", "x bound", "c"), node("Where", "c x s")], wide,
     {"bound": f32(20)})
for name, places in (("own-places~0", (5, 2, 7, 1)), ("own-places~1", (0, 3, 6, 2)), ("own-places-evenly-apart", (1, 3, 5, 7))):
    case(name, 13, [node("Gather", "x i", axis=1)], x, {"i": i64(*places)})
for name, factor in (("own-factor~1", 1.0), ("own-factor~1.5", 1.5)):
    case(name, 13, [node("Constant", "", "c", value_float=factor), node("Mul", "x c")], x)
case("swish~op", 24, [node("Swish", "x")], x)
case("swish~spelled", 13, [node("Sigmoid", "x", "s"), node("Mul", "s x")], x)
case("swiglu", 28, [node("SwiGLU", "a b", alpha=1.5)], {"a": rng(3, 8), "b": rng(3, 8, seed=2)})
case("swish-alpha", 24, [node("Swish", "x", alpha=1.5)], x)
sqrt2, half, one = {"q": f32(2**0.5)}, {"h": f32(0.5)}, {"o": f32(1)}
inner = [node("Div", "x q", "d"), node("Erf", "d", "e"), node("Add", "e o", "f")]
case("gelu~op", 20, [node("Gelu", "x")], x)
case("gelu~half-last", 13, inner + [node("Mul", "x f", "g"), node("Mul", "g h")], x, sqrt2 | half | one)
case("gelu~half-first", 13, inner + [node("Mul", "x h", "g"), node("Mul", "g f")], x, sqrt2 | {"h": f32([0.5])} | one)
case("gelu~half-inside", 14, inner + [node("Mul", "h f", "g"), node("Mul", "x g")], x, sqrt2 | half | one)
case("gelu~by-two", 13, inner + [node("Div", "f t", "g"), node("Mul", "g x")], x, sqrt2 | {"t": f32([[2]])} | one)
cubic = [node("Mul", "v k", "w"), node("Add", "x w", "s"), node("Mul", "s p", "u"), node("Tanh", "u", "t"),
         node("Add", "t o", "f"), node("Mul", "x f", "g"), node("Mul", "g h")]
numbers = {"k": f32(0.044715), "p": f32(0.7978845608028654)} | half | one
case("gelu-tanh~op", 20, [node("Gelu", "x", approximate="tanh")], x)
case("gelu-tanh~pow", 13, [node("Pow", "x n", "v")] + cubic, x, numbers | {"n": f32(3)})
case("gelu-tanh~mul", 13, [node("Mul", "x x", "z"), node("Mul", "z x", "v")] + cubic, x, numbers)
for name, exponent in (("two", 2), ("half", 0.5), ("one", 1), ("minus-one", -1), ("other", 1.7), ("three", 3)):
    case(f"pow-{name}", 13, [node("Abs", "x", "a"), node("Pow", "a n")], x, {"n": f32(exponent)})
case("pow-odd-exponent", 15, [node("Pow", "x n")], {"x": f32([[-1, 1]])}, {"n": i64(2 ** 24 + 1)})
case("pow-integer-exponent", 15, [node("Pow", "x n")], x, {"n": i64(2)})
for opset in (9, 16):
    case(f"compare-{opset}", opset,
         [node("Greater", "x k", "a"), node("Less", "x k", "b"), node("Not", "a", "c"), node("And", "b c", "d"),
          node("Or", "a d", "e"), node("Where", "e x k")], x, {"k": rng(8)})
case("compare-equal", 12, [node("GreaterOrEqual", "x k", "a"), node("LessOrEqual", "x k", "b"), node("And", "a b", "c"),
                           node("Equal", "x k", "d"), node("Or", "c d", "e"), node("Where", "e x k")],
     x, {"k": x["x"][1]})
case("clip~attributes", 7, [node("Clip", "x", min=-0.5, max=0.5)], x)
case("clip~inputs", 13, [node("Clip", "x l u")], x, {"l": f32(-0.5), "u": f32(0.5)})
case("clip~min-max", 13, [node("Max", "x l", "m"), node("Min", "m u")], x, {"l": f32(-0.5), "u": f32(0.5)})
case("clip-upper", 12, [node("Clip", "x - u")], x, {"u": f32(0.5)})
case("min-max-many", 13, [node("Max", "x a b", "m"), node("Min", "m c")], x, {"a": rng(8), "b": rng(1, 8), "c": rng(1)})
case("cast", 13, [node("Cast", "x", "i", to=TensorProto.INT64), node("Cast", "i", "f", to=TensorProto.FLOAT),
                  node("Cast", "f", "g", to=TensorProto.FLOAT), node("Mul", "g k")], x, {"k": f32(0.3)})
case("cast-like", 19, [node("Cast", "x", "i", to=TensorProto.INT32), node("CastLike", "i x", "f"), node("Mul", "f k")],
     x, {"k": f32(0.3)})
case("dropout-7", 7, [node("Dropout", "x", "d", ratio=0.3), node("Identity", "d")], x)
case("dropout-8", 8, [node("Dropout", "x", "d m", ratio=0.3), node("Mul", "m o", "z"), node("Add", "d z")], x, {"o": f32(0)})
case("dropout-13", 13, [node("Dropout", "x r t", "d m"), node("Where", "m d x")], x, {"r": f32(0.3), "t": np.array(False)})
case("constants", 13, [node("Constant", [], "a", value_float=0.3), node("Constant", [], "b", value_floats=[0.1] * 8),
                       node("Constant", [], "c", value=numpy_helper.from_array(rng(8))), node("Mul", "x a", "d"),
                       node("Add", "d b", "e"), node("Sub", "e c")], x)
case("constant-folding", 13, [node("Mul", "v g", "w"), node("Sqrt", "k", "r"), node("Div", "w r", "u"), node("MatMul", "x u")],
     x, {"v": w, "g": rng(1, 5), "k": f32(7)})

# Norms and softmax.
scale, bias = rng(8, seed=4), rng(8, seed=5)
eps = {"eps": f32(1e-5)}
deviation = [node("Add", "v eps", "a"), node("Sqrt", "a", "r"), node("Div", "d r", "n"), node("Mul", "n s", "m"), node("Add", "m b")]
case("layernorm~op", 17, [node("LayerNormalization", "x s b", axis=-1, epsilon=1e-5)], x, {"s": scale, "b": bias})
case("layernorm~spelled", 13, [node("ReduceMean", "x", "u", axes=[-1]), node("Sub", "x u", "d"), node("Mul", "d d", "q"),
                               node("ReduceMean", "q", "v", axes=[1])] + deviation, x, {"s": scale, "b": bias} | eps)
case("layernorm~spelled-18", 18, [node("ReduceMean", "x ax", "u"), node("Sub", "x u", "d"), node("Pow", "d two", "q"),
                                  node("ReduceMean", "q ax", "v")] + deviation, x,
     {"s": scale, "b": bias, "ax": i64(-1), "two": f32(2)} | eps)
case("layernorm-of-rows", 17, [node("LayerNormalization", "x s b")], {"x": rng(2, 3, 4)}, {"s": rng(3, 1), "b": rng(1, 1, 4)})
case("layernorm-two-axes", 17, [node("LayerNormalization", "x s", axis=1)], {"x": rng(2, 3, 4)}, {"s": rng(3, 4)})
case("softmax~op", 13, [node("Softmax", "x", axis=-1)], x)
case("softmax~old", 11, [node("Softmax", "x")], x)
case("softmax~spelled", 18, [node("ReduceMax", "x ax", "m"), node("Sub", "x m", "d"), node("Exp", "d", "e"),
                             node("ReduceSum", "e ax", "s"), node("Div", "e s")], x, {"ax": i64(1)})
case("softmax-flattened", 11, [node("Softmax", "x", axis=1)], {"x": rng(2, 3, 4)})
case("softmax-middle", 13, [node("Softmax", "x", axis=1)], {"x": rng(2, 3, 4)})
case("logsoftmax", 13, [node("LogSoftmax", "x")], x)
case("logsoftmax-11", 11, [node("LogSoftmax", "x", axis=1)], x)
image = {"x": rng(2, 6, 3, 2)}
channels = {"s": rng(6, seed=6), "b": rng(6, seed=7)}
case("layernorm-outputs", 17, [node("LayerNormalization", "x s b", "y m d", axis=1)], {"x": rng(2, 3, 4)},
     {"s": rng(3, 4), "b": rng(3, 4, seed=8)}, outputs="y m d")
case("rmsnorm", 23, [node("RMSNormalization", "x s", epsilon=1e-3)], x, {"s": scale})
case("rmsnorm-two-axes", 23, [node("RMSNormalization", "x s", axis=1)], {"x": rng(2, 3, 4)}, {"s": rng(3, 4)})
for opset in (7, 9, 14, 15):
    case(f"batchnorm-{opset}", opset, [node("BatchNormalization", "x s b m v", epsilon=1e-3)], image,
         channels | {"m": rng(6, seed=9), "v": np.abs(rng(6, seed=10))})
case("batchnorm-rows", 15, [node("BatchNormalization", "x s b m v")], {"x": rng(3, 6)},
     channels | {"m": rng(6, seed=9), "v": np.abs(rng(6, seed=10))})
case("instancenorm", 6 + 1, [node("InstanceNormalization", "x s b", epsilon=1e-3)], image, channels)
case("groupnorm-18", 18, [node("GroupNormalization", "x s b", num_groups=3, epsilon=1e-3)], image, {"s": rng(3, seed=6), "b": rng(3, seed=7)})
case("groupnorm-21", 21, [node("GroupNormalization", "x s b", num_groups=3)], image, channels)
for p in (1, 2):
    case(f"lpnorm-{p}", 7, [node("LpNormalization", "x", axis=1, p=p)], {"x": rng(2, 3, 4)})
zeros = rng(3, 4)
zeros[1] = 0
case("lpnorm-zero", 22, [node("LpNormalization", "x")], {"x": zeros})
case("mvn", 13, [node("MeanVarianceNormalization", "x")], image, batch=False)
case("mvn-axes", 9, [node("MeanVarianceNormalization", "x", axes=[2, 3])], image)
for size in (1, 3, 5):
    case(f"lrn-{size}", 13, [node("LRN", "x", size=size, alpha=0.3, beta=0.6, bias=1.5)], image)

case("matmul-int32", 13, [node("MatMul", "x w")], {"x": np.arange(6, dtype=np.int32).reshape(2, 3)}, {"w": np.arange(-6, 6, dtype=np.int32).reshape(3, 4)})
for op in ("ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"):
    z = {"x": rng(2, 3, 4)}
    case(f"{op}~attribute", 11, [node(op, "x", axes=[-1, 1], keepdims=0)], z)
    case(f"{op}~input", 18, [node(op, "x ax", keepdims=0)], z, {"ax": i64(1, 2)})
    case(f"{op}-all", 13, [node(op, "x")], {"x": rng(2, 3)}, batch=False)
for op in ("ReduceProd", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"):
    z = {"x": rng(2, 3, 4)}
    pre, given = ([node("Abs", "x", "a")], "a") if op == "ReduceLogSum" else ([], "x")
    case(f"{op}~attribute", 11, pre + [node(op, given, axes=[-1, 1], keepdims=0)], z)
    case(f"{op}~input", 18, pre + [node(op, given + " ax", keepdims=0)], z, {"ax": i64(1, 2)})
    case(f"{op}-middle", 18, pre + [node(op, given + " ax")], z, {"ax": i64(1)})
    case(f"{op}-noop", 18, pre + [node(op, given, noop_with_empty_axes=1)], z)
    if op != "ReduceLogSum":
        whole = {"x": np.arange(1, 13, dtype=np.int32).reshape(2, 6)}
        case(f"{op}-int32", 18, [node(op, "x ax")], whole, {"ax": i64(1)})
case("ReduceMean-int32", 18, [node("ReduceMean", "x ax")], {"x": np.arange(-7, 5, dtype=np.int32).reshape(2, 6)}, {"ax": i64(1)})
case("ReduceMean-int32-wide", 18, [node("ReduceMean", "x ax")], {"x": np.array([[2 ** 31 - 1, 5], [-2 ** 31, -7]], np.int32)}, {"ax": i64(1)})
case("ReduceMax-bool", 20, [node("Greater", "x k", "a"), node("ReduceMax", "a ax", "y"), node("ReduceMin", "a ax", "z")], x,
     {"k": f32(1), "ax": i64(1)}, outputs="y z")
case("ReduceMax-bool-of-none", 20, [node("ReduceMax", "e ax", "m"), node("Where", "m k x", "y")], {"x": rng(2, 4)},
     {"e": np.zeros((0, 4), bool), "k": f32(1), "ax": i64(0)})
infinite = rng(3, 4)
infinite[0] = -np.inf
infinite[1, 2] = np.inf
case("ReduceLogSumExp-infinite", 18, [node("ReduceLogSumExp", "x ax", keepdims=0)], {"x": infinite}, {"ax": i64(1)})
for op in ("Max", "Min"):
    ties = {"x": np.array([[[1, 3, 3, 0], [0, 0, -2, -2], [5, 1, 1, 5]], [[2, 2, 2, 2], [0, 1, 0, 1], [-1, -3, -3, 4]]], np.float32)}
    case(f"Arg{op}-last", 13, [node(f"Arg{op}", "x", axis=-1, keepdims=0)], ties)
    case(f"Arg{op}-middle", 11, [node(f"Arg{op}", "x", axis=1)], ties)
    case(f"Arg{op}-select-last", 13, [node(f"Arg{op}", "x", axis=2, select_last_index=1)], ties)
    case(f"Arg{op}-int32", 13, [node(f"Arg{op}", "x", axis=1)], {"x": ties["x"][0].astype(np.int32)})
case("hardmax", 13, [node("Hardmax", "x", axis=1)], ties)
case("hardmax-flattened", 11, [node("Hardmax", "x")], ties)
for exclusive in (0, 1):
    for reverse in (0, 1):
        case(f"cumsum-{exclusive}{reverse}", 14, [node("CumSum", "x ax", exclusive=exclusive, reverse=reverse)], {"x": rng(3, 37)},
             {"ax": np.array(-1, np.int64)})
case("cumsum-middle", 11, [node("CumSum", "x ax")], {"x": rng(2, 5, 4)}, {"ax": i64(1)[:]})
case("cumsum-int64", 14, [node("CumSum", "x ax", reverse=1)], {"x": np.arange(10, dtype=np.int64).reshape(2, 5)}, {"ax": np.array(1, np.int32)})
case("cumprod", 26, [node("CumProd", "x ax", exclusive=1)], {"x": rng(3, 9)}, {"ax": np.array(1, np.int64)})
case("topk-9", 9, [node("TopK", "x", "y i", k=3)], {"x": rng(3, 20)}, outputs="y i")
case("topk-10", 10, [node("TopK", "x k", "y i", axis=1)], {"x": rng(2, 5, 4)}, {"k": i64(2)}, outputs="y i")
case("topk-smallest", 11, [node("TopK", "x k", "y i", largest=0)], ties, {"k": i64(4)}, outputs="y i")
case("topk-ties", 11, [node("TopK", "x k", "y i")], ties, {"k": i64(4)}, outputs="y i")
case("topk-int64", 11, [node("TopK", "x k", "y i")], {"x": ties["x"][1].astype(np.int64)}, {"k": i64(2)}, outputs="y i")
case("reduce-noop", 18, [node("ReduceSum", "x", "a", noop_with_empty_axes=1), node("Relu", "a")], x)

# Attention as one op, and as the exporters of older opsets spell it.
q, k, v = rng(2, 4, 5, 8), rng(2, 4, 6, 8, seed=7), rng(2, 4, 6, 3, seed=8)
qkv = {"q": q, "k": k, "v": v}
case("attention~op", 23, [node("Attention", "q k v")], qkv)
case("attention~spelled", 18, [node("Mul", "q r", "qs"), node("Transpose", "k", "t", perm=[0, 1, 3, 2]), node("Mul", "t r", "ks"),
                               node("MatMul", "qs ks", "s"), node("Softmax", "s", "p", axis=-1), node("MatMul", "p v")],
     qkv, {"r": f32(8 ** -0.25)})
case("attention-scale", 23, [node("Attention", "q k v", scale=0.3, softcap=2.0)], qkv)
case("attention-causal", 23, [node("Attention", "q k v", is_causal=1)], qkv)
case("attention-causal-16", 23, [node("Attention", "q k v", is_causal=1)], {key: value.astype(np.float16) for key, value in qkv.items()})
case("attention-mask-float", 23, [node("Attention", "q k v m")], {**qkv, "m": rng(2, 1, 5, 6)})
blind = rng(5, 6) > 0
blind[2] = False
case("attention-mask-blind", 24, [node("Attention", "q k v m")], qkv, {"m": blind})
case("attention-mask-short", 24, [node("Attention", "q k v m", is_causal=1)], qkv, {"m": rng(5, 4)})
flat = {"q": rng(2, 5, 24), "k": rng(2, 6, 12, seed=7), "v": rng(2, 6, 10, seed=8)}
case("attention-grouped-heads", 23, [node("Attention", "q k v", q_num_heads=4, kv_num_heads=2)], flat)
case("attention-past", 23, [node("Attention", "q k v - pk pv", "y k1 v1", is_causal=1)],
     {**qkv, "pk": rng(2, 4, 3, 8, seed=9), "pv": rng(2, 4, 3, 3, seed=10)}, outputs="y k1 v1")
case("attention-scores", 23, [node("Attention", "q k v m", "y - - s", softcap=2.0, qk_matmul_output_mode=2)], {**qkv, "m": rng(5, 6)}, outputs="y s", batch=False)
case("attention-counts", 24, [node("Attention", "q k v - - - n", is_causal=1)], {**qkv, "n": i64(6, 3)}, batch=False)
case("attention-window", 25, [node("Attention", "q k v", left_window_size=1, right_window_size=2)], qkv)
turned, cosine, sine = {"x": rng(2, 3, 4, 8)}, np.cos(rng(10, 4)), np.sin(rng(10, 4))
where = np.array([[1, 2, 9, 0], [3, 3, 4, 5]], np.int64)
case("rotary", 23, [node("RotaryEmbedding", "x c s i")], {**turned, "i": where}, {"c": cosine, "s": sine}, batch=False)
case("rotary-neighbours", 23, [node("RotaryEmbedding", "x c s i", interleaved=1)], {**turned, "i": where}, {"c": cosine, "s": sine}, batch=False)
case("rotary-part", 23, [node("RotaryEmbedding", "x c s", num_heads=3, rotary_embedding_dim=4)], {"x": rng(2, 4, 24)},
     {"c": np.cos(rng(2, 4, 2)), "s": np.sin(rng(2, 4, 2))}, batch=False)

# Moving of elements.
z = {"x": rng(2, 6, 4)}
case("reshape-zero", 7, [node("Reshape", "x s")], z, {"s": i64(0, 3, -1)})
case("reshape-merge", 21, [node("Reshape", "x s", "a"), node("Relu", "a", "r"), node("Reshape", "r t")], z,
     {"s": i64(-1, 4), "t": i64(-1, 6, 4)})
case("flatten", 13, [node("Flatten", "x")], z)
case("flatten-axis", 11, [node("Flatten", "x", axis=-1)], z)
case("transpose-twice", 13, [node("Transpose", "x", "a", perm=[0, 2, 1]), node("Transpose", "a", "b", perm=[0, 2, 1]),
                             node("Relu", "b")], z)
heads, split = {"x": rng(6, 12, 4)}, {"s": i64(3, 4, 6, 4), "t": i64(3, 4, 4, 6)}
case("transpose-split~twice", 13, [node("Transpose", "x", "a", perm=[1, 0, 2]), node("Reshape", "a s", "b"), node("Transpose", "b", perm=[0, 1, 3, 2])],
     heads, split, batch=False)
case("transpose-split~once", 13, [node("Transpose", "x", "a", perm=[1, 2, 0]), node("Reshape", "a t")], heads, split, batch=False)
case("transpose-default", 13, [node("Transpose", "x", "a"), node("Relu", "a")], z, batch=False)
case("split~attribute", 11, [node("Split", "x", "a b", axis=1, split=[2, 4]), node("ReduceSum", "a", "c", axes=[1]),
                             node("Add", "b c")], z)
case("split~input", 13, [node("Split", "x s", "a b", axis=1), node("ReduceSum", "a ax", "c"), node("Add", "b c")], z,
     {"s": i64(2, 4), "ax": i64(1)})
case("split~slice", 13, [node("Slice", "x s0 e0 ax", "a"), node("Slice", "x s1 e1 ax", "b"), node("ReduceSum", "a ax", "c"),
                         node("Add", "b c")], z,
     {"s0": i64(0), "e0": i64(2), "s1": i64(2), "e1": i64(2**62), "ax": i64(1)})
case("split-outputs", 18, [node("Split", "x", "a b", axis=-1, num_outputs=2), node("Sub", "a b")], z)
case("split-uneven", 18, [node("Split", "x", "a b c d", axis=1, num_outputs=4), node("Add", "a b", "e"), node("Concat", "e c", "y", axis=1)],
     {"x": rng(2, 7, 4)})
case("slice-9", 9, [node("Slice", "x", axes=[1, 2], starts=[1, -3], ends=[5, 1000])], z)
case("slice-steps", 13, [node("Slice", "x s e ax st")], z, {"s": i64(-1, 0), "e": i64(-(2**62), 4), "ax": i64(1, 2), "st": i64(-2, 3)})
case("slice-joined", 13, [node("Slice", "x z z o", "e"), node("Slice", "x o b o", "s"), node("Concat", "e x s", axis=1)], {"x": rng(2, 3)}, {"z": i64(0), "o": i64(1), "b": i64(2**31)})
case("pad-moved", 13, [node("Pad", "x p")], {"x": rng(2, 1)}, {"p": i64(0, -1, 0, 2)})
case("slice-nothing", 13, [node("Slice", "k s e z s", "n"), node("Concat", "n x", axis=0)], {"x": rng(3)}, {"k": rng(0), "s": i64(-1), "e": i64(-(2**62)), "z": i64(0)}, batch=False)
case("slice-batch-whole", 13, [node("Slice", "x s e", "a"), node("Relu", "a")], z, {"s": i64(0, 1), "e": i64(2**62, 3)})
case("concat", 13, [node("Relu", "x", "a"), node("Concat", "a x k", "y", axis=-1)], {"x": rng(3, 4)}, {"k": rng(3, 2)}, batch=False)
case("squeeze-unsqueeze-11", 11, [node("Unsqueeze", "x", "a", axes=[0, 3]), node("Relu", "a", "r"), node("Squeeze", "r", axes=[0, -1])], x)
case("squeeze-unsqueeze-13", 13, [node("Unsqueeze", "x ax", "a"), node("Relu", "a", "r"), node("Squeeze", "r ax")], x, {"ax": i64(0, -1)})
case("expand", 13, [node("Expand", "v s", "a"), node("Mul", "a x")], x, {"v": rng(1, 8), "s": i64(1, 8)})
case("expand-value", 13, [node("Unsqueeze", "x ax", "u"), node("Expand", "u s")], x, {"ax": i64(1), "s": i64(1, 4, 1)})
case("gather-scalar~gather", 13, [node("Gather", "x i", axis=1)], z, {"i": np.array(-2, np.int64)})
case("gather-scalar~slice", 13, [node("Slice", "x s e ax", "a"), node("Squeeze", "a ax")], z, {"s": i64(4), "e": i64(5), "ax": i64(1)})
case("gather-vector", 13, [node("Gather", "x i", axis=2)], z, {"i": i64(3, 0, -1)})
case("embedding", 13, [node("Gather", "v i", axis=0)], {"i": np.array([[1, 2, 0], [3, 3, 1]], np.int64)}, {"v": rng(4, 6)})
case("shape-arithmetic", 15,
     [node("Shape", "x", "s"), node("Gather", "s zero", "n"), node("Shape", "x", "t", start=1, end=3),
      node("ReduceSum", "x ax", "r"), node("Unsqueeze", "n ax0", "n1"), node("Concat", "n1 m", "target", axis=0),
      node("Gather", "t zero", "h"), node("Gather", "t one", "d"), node("Mul", "h d", "hd"), node("Div", "hd three", "hd3"),
      node("Unsqueeze", "hd3 ax0", "h1"), node("Concat", "n1 h1 k3", "target2", axis=0), node("Reshape", "x target", "f"),
      node("Reshape", "f target2")],
     z, {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "three": np.array(3, np.int64), "ax": i64(1), "ax0": i64(0), "m": i64(-1),
         "k3": i64(3)})
case("shape-scale", 13, [node("Shape", "x", "s"), node("Gather", "s two", "d"), node("Cast", "d", "f", to=TensorProto.FLOAT),
                         node("Sqrt", "f", "r"), node("Div", "x r")], z, {"two": np.array(2, np.int64)})
case("shape-expand", 13, [node("Shape", "x", "s"), node("Equal", "want minus", "e"), node("Where", "e ones want", "w"),
                          node("Expand", "x w")], {"x": rng(3, 1, 8)},
     {"want": i64(-1, 4, -1), "minus": i64(-1), "ones": i64(1, 1, 1)})
case("constant-of-shape", 9, [node("Shape", "x", "s"),
                              node("ConstantOfShape", "s", "c", value=helper.make_tensor("v", TensorProto.FLOAT, [1], [0.3])),
                              node("Add", "x c")], x)
case("size", 13, [node("Size", "v", "n"), node("Cast", "n", "f", to=TensorProto.FLOAT), node("Div", "x f")], x, {"v": rng(2, 3)})
case("typed-fields", 13, [node("MatMul", "x w", "p"), node("Add", "p b")], x, {"w": w, "b": b})
case("float64", 13, [node("MatMul", "x w")], {"x": rng(3, 8).astype(np.float64)}, {"w": w.astype(np.float64)})
case("dead-unsupported", 13, [node("Relu", "x"), node("NonZero", "x", "never")], x)
case("two-outputs", 13, [node("Relu", "x", "y"), node("Neg", "x", "z")], x, outputs="y z")
case("passed-through", 13, [node("Relu", "x", "y"), node("Identity", "x", "z")], x, outputs="y z")
for family in "classical einsums floats16 moves quantized recurrent resizes rows runtime sequences signals windows".split():
    importlib.import_module(family).add_cases(case, node, rng, i64, f32)


def value_info(name, array, batch):
    dims = list(array.shape)
    if batch and array.ndim > 1:
        dims[0] = "batch"
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), dims)


def run(model, inputs, outputs):
    try:
        if model.graph.name in BY_REFERENCE:
            raise NotImplementedError("ONNX Runtime gives something else")
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(outputs, inputs)
    except Exception as error:  # an opset or op that ONNX Runtime has no kernel for
        print("   by reference:", str(error).splitlines()[0][:100])
        from onnx.reference import ReferenceEvaluator
        return ReferenceEvaluator(model).run(outputs, inputs)


os.makedirs(OUT, exist_ok=True)
for name, (opset, nodes, inputs, inits, outputs, batch, functions) in CASES.items():
    tensors = [numpy_helper.from_array(np.asarray(value), key) for key, value in inits.items()]
    if name == "typed-fields":
        tensors = [helper.make_tensor(key, TensorProto.FLOAT, value.shape, value.flatten()) for key, value in inits.items()]
    graph = helper.make_graph(
        nodes, name, [value_info(key, value, batch) for key, value in inputs.items()],
        [helper.make_value_info(key, onnx.TypeProto()) for key in outputs], tensors)
    opsets = [helper.make_opsetid("", opset)] + ([helper.make_opsetid("own", 1)] if functions else [])
    if any(n.domain == "com.microsoft" for n in nodes):
        opsets.append(helper.make_opsetid("com.microsoft", 1))
    if any(n.domain == "ai.onnx.ml" for n in nodes) and not functions:
        opsets.append(helper.make_opsetid("ai.onnx.ml", 4 if name.endswith("-nan") or any(a.name == "keys_tensor" for n in nodes for a in n.attribute) else 3))
    model = helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=8 if opset < 21 else 10)
    for output in list(model.graph.output):
        output.ClearField("type")
    shaped = onnx.shape_inference.infer_shapes(model)
    known = {value.name: value for value in [*shaped.graph.value_info, *shaped.graph.output]}
    del model.graph.output[:]
    for output in outputs:
        value = known.get(output)
        if value is None or not value.type.tensor_type.elem_type:
            # Shape inference knows little of other domains.
            kind = TensorProto.INT64 if output == "label" or name.endswith("-integers") and nodes[-1].op_type in ("Imputer", "Binarizer") else TensorProto.FLOAT
            kind = TensorProto.INT32 if output == "ones" else TensorProto.FLOAT16 if name.startswith("float16") else kind
            value = helper.make_tensor_value_info(output, kind, None)
        model.graph.output.append(value)
    print(name)
    for key, value in zip(outputs, run(model, inputs, outputs)):
        model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), "out:" + key))
    for key, value in inputs.items():
        model.graph.initializer.append(numpy_helper.from_array(value, "in:" + key))
    model.producer_name = ""
    onnx.save(model, os.path.join(OUT, name + ".onnx"))
