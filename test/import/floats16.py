# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about ops of several steps on 16-bit floats, whose steps leave the range or the precision of such."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    def half(*values):
        return np.array([values], np.float16)

    def own(op, inputs, **attributes):
        return [node(op, inputs, domain="com.microsoft", **attributes)]

    wide, narrow = half(300, 400, 1, 2), half(1e-4, 2e-4, 1e-4, 3e-5)
    rows, column = half(300, 300), np.full((2, 1), 300, np.float16)
    for op, given in (("L2", wide), ("L2", narrow), ("LogSum", half(60000, 60000, 60000, 60000)), ("LogSumExp", half(9, 11, 10.5, -3))):
        name = f"float16-reduce-{op.lower()}" + ("-narrow" if given is narrow else "")
        case(name, 13, [node("Reduce" + op, "x", axes=[1])], {"x": given})
    case("float16-normalize", 13, [node("ReduceL2", "x", "n", axes=[1]), node("Div", "x n")], {"x": (rng(1, 768) * 12).astype(np.float16)})
    case("float16-mean", 13, [node("Mean", "x z")], {"x": half(40000, 1), "z": half(50000, 2)})
    case("float16-sum", 13, [node("Sum", "x z u")], {"x": half(40000, 1), "z": half(50000, 2), "u": half(-60000, .1)})
    case("float16-gemm", 13, [node("Gemm", "x w c", alpha=.01, beta=.5)], {"x": rows}, {"w": column, "c": half(60)[0]})
    case("float16-conv", 13, [node("Conv", "x w b")], {"x": np.full((1, 1, 2, 2), 200, np.float16)},
         {"w": np.full((1, 1, 2, 2), 100, np.float16), "b": half(-60000)[0]})
    case("float16-fused-matmul", 13, own("FusedMatMul", "x w", alpha=.125), {"x": rows}, {"w": column})
    case("float16-fast-gelu", 13, own("FastGelu", "x"), {"x": half(40000, 60, -1, .3)})
    case("float16-softmax", 13, [node("LogSoftmax", "x", axis=1)], {"x": half(.1, 9, -20, 3)})
