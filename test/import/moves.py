# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of make_inputs.py that move elements: repeats, padding, choice by index, ranges; functions of the model, branches and loops."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def add_cases(case, node, rng, i64, f32):
    pair, v = {"x": rng(3, 8), "z": rng(3, 8, seed=9)}, rng(8, 5, seed=2)
    case("joined-batches", 13, [node("Concat", "x z", "j", axis=0), node("MatMul", "j v", "m"), node("Split", "m", "a b", axis=0), node("Mul", "a b")], pair, {"v": v})
    case("joined-rows", 13, [node("Concat", "x z x", "j", axis=0), node("Tanh", "j")], pair)
    x, z, image = {"x": rng(3, 8)}, {"x": rng(2, 6, 4)}, {"x": rng(2, 8, 2, 3)}
    same = dict(batch=False)

    # Repeats and padding.
    joined = {"x": rng(3, 5), "z": rng(3, 4, seed=9)}
    case("joins~flat", 13, [node("Relu", "x", "p"), node("Concat", "p x z", "j", axis=1), node("Tanh", "j")], joined)
    case("joins~nested", 13, [node("Relu", "x", "p"), node("Concat", "p x", "i", axis=1), node("Concat", "i z", "j", axis=-1), node("Tanh", "j")], joined)
    case("tile", 13, [node("Tile", "x r")], z, {"r": i64(1, 2, 3)})
    case("tile-new-rows", 15, [node("Shape", "x", "s", start=0, end=1), node("Concat", "s one", "r", axis=0), node("Tile", "v r", "t"),
                               node("Concat", "t x", "y", axis=1)], x, {"v": rng(1, 2), "one": i64(1)})
    case("pad~attributes", 7, [node("Pad", "x", pads=[0, 1, 2, 0, 3, 0], value=0.5)], z)
    case("pad~inputs", 13, [node("Pad", "x p v")], z, {"p": i64(0, 1, 2, 0, 3, 0), "v": f32(0.5)})
    case("pad~axes", 18, [node("Pad", "x p v ax")], z, {"p": i64(2, 1, 0, 3), "v": f32(0.5), "ax": i64(-1, 1)})
    case("pad-negative", 13, [node("Pad", "x p")], z, {"p": i64(0, -2, 1, 0, 1, -3)})
    for mode in ("reflect", "edge", "wrap"):
        case(f"pad-{mode}", 19, [node("Pad", "x p", mode=mode)], z, {"p": i64(0, 3, 1, 0, 4, 3)})
    case("pad-wrap-early", 18, [node("Pad", "x p", mode="wrap")], z, {"p": i64(0, 3, 1, 0, 4, 3)})
    case("depth-to-space-dcr", 11, [node("DepthToSpace", "x", blocksize=2)], image)
    case("depth-to-space-crd", 13, [node("DepthToSpace", "x", blocksize=2, mode="CRD")], image)
    case("space-to-depth-crd", 28, [node("SpaceToDepth", "x", blocksize=2, mode="CRD")], {"x": rng(2, 3, 4, 6)})
    case("space-to-depth", 13, [node("SpaceToDepth", "x", blocksize=2)], {"x": rng(2, 3, 4, 6)})

    # Rows of a step and a batch as one axis, for a Gemm and a norm, and as two again.
    steps, dense = {"x": rng(2, 3, 8)}, {"w": rng(8, 5), "b": rng(5), "s": rng(5)}
    turned = node("Transpose", "x", "t", perm=[1, 0, 2])
    case("rows~merged", 17, [turned, node("Reshape", "t flat", "f"), node("Gemm", "f w b", "g"), node("LayerNormalization", "g s", "n"),
                             node("Reshape", "n apart", "a"), node("Transpose", "a", perm=[1, 0, 2])],
         steps, dense | {"flat": i64(-1, 8), "apart": i64(3, -1, 5)})
    case("rows~apart", 17, [turned, node("MatMul", "t w", "m"), node("Add", "m b", "g"), node("LayerNormalization", "g s", "n"),
                            node("Transpose", "n", perm=[1, 0, 2])], steps, dense)
    # Behind heads that stand beside the batch.
    heads = [turned, node("Reshape", "t h", "p"), node("Tanh", "p", "q")]
    shapes = {"w": dense["w"], "h": i64(3, -1, 4), "flat": i64(-1, 8), "apart": i64(3, -1, 5), "both": i64(3, -1, 8)}
    case("rows-of-heads~merged", 17, [*heads, node("Reshape", "q flat", "f"), node("MatMul", "f w", "g"), node("Reshape", "g apart", "a"),
                                      node("Transpose", "a", perm=[1, 0, 2])], steps, shapes)
    case("rows-of-heads~apart", 17, [*heads, node("Reshape", "q both", "f"), node("MatMul", "f w", "g"), node("Transpose", "g", perm=[1, 0, 2])],
         steps, shapes)

    # Of another type, cut and joined in another order.
    def swapped(x, axis, y):
        return [node("Cast", x, "k", to=6), node("Slice", f"k two four {axis}", "left"), node("Slice", f"k zero two {axis}", "right"),
                node("Concat", "left right", "j", axis=1 if axis == "behind" else 2), node("Cast", "j", y, to=1)]
    ends = {"zero": i64(0), "two": i64(2), "four": i64(4), "behind": i64(1), "last": i64(2), "flat": i64(-1, 8), "apart": i64(3, -1, 4)}
    case("rows-in-parts~merged", 17, [turned, node("Mul", "t ten", "m"), node("Reshape", "m flat", "f"), *swapped("f", "behind", "g"), node("Reshape", "g apart", "a"),
                                      node("Transpose", "a", perm=[1, 0, 2])], steps, ends | {"ten": f32(10)})
    case("rows-in-parts~apart", 17, [turned, node("Mul", "t ten", "m"), *swapped("m", "last", "g"), node("Transpose", "g", perm=[1, 0, 2])], steps, ends | {"ten": f32(10)})

    # Choice by index.
    turned = {"x": rng(2, 6, 4)}
    case("gather-columns~gather", 18, [node("Gather", "x i", axis=2)], turned, {"i": i64(3, 0, 2)})
    case("gather-columns~turned", 18, [node("Transpose", "x", "t", perm=[2, 0, 1]), node("GatherND", "t i", "g"), node("Transpose", "g", perm=[1, 2, 0])], turned, {"i": i64(3, 0, 2).reshape(3, 1)})
    case("gather-turned-table", 18, [node("Transpose", "x", "t", perm=[2, 1, 0]), node("Gather", "t i", "g"), node("Reshape", "g s", "r"), node("Transpose", "r", perm=[2, 1, 0])], turned,
         {"i": i64(3, 0, 2).reshape(3, 1), "s": i64(3, 6, -1)})
    case("gather-pairs~gather", 18, [node("Reshape", "x s", "f"), node("Gather", "f i", axis=1)], turned, {"s": i64(-1, 24), "i": i64(2, 19, 7)})
    case("gather-pairs~turned", 18, [node("Transpose", "x", "t", perm=[1, 2, 0]), node("Reshape", "t s", "f"), node("Gather", "f i", "g"), node("Transpose", "g", perm=[1, 0])],
         turned, {"s": i64(24, -1), "i": i64(2, 19, 7)})
    case("gather-table~rows", 18, [node("Gather", "w i")], {"i": i64(2, 0, 4)}, {"w": rng(5, 2)})
    case("gather-table~turned", 18, [node("Gather", "w i", "g", axis=1), node("Transpose", "g", perm=[1, 0])], {"i": i64(2, 0, 4)}, {"w": rng(2, 5)})
    case("gather-even~gather", 13, [node("Gather", "x i", axis=1)], z, {"i": i64(5, 3, 1)})
    case("gather-even~slice", 13, [node("Slice", "x s e ax st")], z, {"s": i64(-1), "e": i64(0), "ax": i64(1), "st": i64(-2)})
    chosen = np.array([[[1, -1, 0, 2]], [[5, 0, -6, 3]]], np.int64)
    case("gather-elements", 13, [node("GatherElements", "x i", axis=1)], {"x": z["x"], "i": chosen})
    case("gather-elements-fewer", 13, [node("GatherElements", "x i", axis=-1)], {"x": rng(4, 5)}, {"i": i64([0, -1], [4, 2], [3, 3])}, **same)
    case("gather-nd", 13, [node("GatherND", "x i")], {"x": rng(3, 4, 5)}, {"i": i64([0, -1], [2, 1], [-3, 3])}, **same)
    case("gather-nd-computed", 13, [node("GatherND", "x i", batch_dims=1)],
         {"x": rng(3, 4, 5, 2), "i": i64([[0, -1]], [[3, 1]], [[-4, 3]])})
    case("reverse-sequence", 10, [node("ReverseSequence", "x n", batch_axis=0, time_axis=1)], {"x": rng(3, 5, 2), "n": i64(5, 1, 3)},
         batch=False)
    case("compress", 11, [node("Compress", "x c", axis=1)], z, {"c": np.array([True, False, True, True, False])})
    case("compress-flat", 11, [node("Compress", "x c")], {"x": rng(2, 3)}, {"c": np.array([False, True, True, False, True])}, **same)
    case("one-hot", 11, [node("OneHot", "i d v", axis=1)], {"i": i64([0, -1, 7], [2, 3, -9])}, {"d": i64(4), "v": f32([0.25, 2])})

    # Updates. Repeated indices, where an order is left open, have sums that are exact.
    few = {"u": rng(2, 2, 4)}
    places = i64([[5, -6, 2, 3], [0, 1, 3, -1]], [[1, 2, 3, 4], [0, 0, 0, 0]])
    case("scatter-elements~constant", 13, [node("ScatterElements", "x i u", axis=1)], z | few, {"i": places})
    case("scatter-elements~old", 10, [node("Scatter", "x i u", axis=1)], z | few, {"i": places})
    case("scatter-elements-computed", 13, [node("ScatterElements", "x i u", axis=1)], z | few | {"i": places})
    for kind in ("add", "mul", "min", "max"):
        case(f"scatter-elements-{kind}", 18, [node("ScatterElements", "x i u", axis=-1, reduction=kind)],
             {"x": rng(3, 5), "u": np.arange(1, 13, dtype=np.float32).reshape(3, 4) / 4, "i": i64([1, 1, -4, 0], [2, 2, 2, 2], [0, 1, 2, -5])})
    for kind in ("add", "max"):
        case(f"scatter-elements-unsigned-{kind}", 18, [node("ScatterElements", "x i u", axis=-1, reduction=kind)],
             {"x": np.array([[200, 3, 127, 0]], np.uint8), "u": np.array([[100, 128, 250]], np.uint8), "i": i64([0, 2, 3])})
    case("scatter-elements-corner", 18, [node("ScatterElements", "x i u", axis=0, reduction="add")], {"x": rng(4, 5, 3)},
         {"i": i64([[0, -1], [2, 2]], [[0, 1], [2, 3]]), "u": rng(2, 2, 2)}, **same)
    case("scatter-nd", 13, [node("ScatterND", "x i u")], {"x": rng(4, 5, 3)}, {"i": i64([0, -1], [3, 2]), "u": rng(2, 3)}, **same)
    case("scatter-nd-columns", 13, [node("Transpose", "x", "t", perm=[1, 0]), node("ScatterND", "t i u", "s"),
                                    node("Transpose", "s", perm=[1, 0])], x, {"i": i64([1], [-2]), "u": np.zeros((2, 3), np.float32)}, **same)
    case("scatter-nd-add", 18, [node("ScatterND", "x i u", reduction="add")],
         {"x": rng(6), "u": np.array([1, 2, 4, 8], np.float32), "i": i64([1], [1], [-5], [0])}, batch=False)

    # Ranges, diagonals, and constants that are looked through.
    case("range", 13, [node("Range", "a b c", "r"), node("Mul", "x r")], x, {"a": f32(1), "b": f32(-1.4), "c": f32(-0.3)})
    case("range-float16", 27, [node("Range", "a b c", "r"), node("Mul", "x r")], {"x": rng(3, 77).astype(np.float16)},
         {"a": np.float16(1), "b": np.float16(2), "c": np.float16(.013)})
    case("range-of-shape", 13, [node("Shape", "x", "s"), node("Gather", "s one", "n"), node("Range", "zero n one", "r"),
                                node("Cast", "r", "f", to=TensorProto.FLOAT), node("Mul", "x f")], x,
         {"zero": np.array(0, np.int64), "one": np.array(1, np.int64)})
    case("trilu-upper", 14, [node("Trilu", "x k")], {"x": rng(2, 4, 5)}, {"k": np.array(-1, np.int64)})
    case("trilu-lower", 14, [node("Trilu", "x", upper=0)], {"x": rng(2, 4, 5)})
    case("eye-like", 9, [node("EyeLike", "x", "e", k=1), node("Add", "x e")], {"x": rng(3, 4)}, **same)
    case("non-zero", 13, [node("NonZero", "m", "n"), node("Transpose", "n", "i", perm=[1, 0]), node("GatherND", "x i")], {"x": rng(2, 3)},
         {"m": np.array([[0, 1, 1], [1, 0, 0]], np.float32)}, **same)
    case("unique", 11, [node("Unique", "m", "u f i c"), node("Gather", "x i", axis=1)], x, {"m": f32([3, 1, 3, 2, 1])})
    for name, order in (("unique-nan", 1), ("unique-nan-unsorted", 0)):
        case(name, 11, [node("Unique", "m", "u f i c", sorted=order), node("Relu", "x")], x, {"m": f32([3, np.nan, 1, 3, np.nan, 1])},
             outputs="y u f i c", **same)

    # A branch that is known, with a constant of its own and a name from outside.
    def graph(name, *nodes, tensors=()):
        return helper.make_graph(list(nodes), name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)],
                                 [numpy_helper.from_array(value, key) for key, value in tensors])
    taken = graph("yes", node("Mul", "x k", "t"), node("Relu", "t", "yes"), tensors=[("k", f32(2))])
    other = graph("no", node("NonZero", "x", "never"), node("Cast", "never", "no", to=TensorProto.FLOAT))
    case("if", 16, [helper.make_node("If", ["c"], ["y"], then_branch=taken, else_branch=other)], x, {"c": np.array(True)})
    # One that each call decides: both are computed.
    other = graph("no", node("Neg", "x", "no"))
    for condition in (True, False):
        case(f"if-a-call-says-{condition}", 16, [helper.make_node("If", ["c"], ["y"], then_branch=taken, else_branch=other)], {**x, "c": np.array([condition])})

    # Loops whose length is known are their steps: a layer three times, with what each step gives; as long as a condition holds.
    def graph(name, nodes, inputs, outputs):
        port = lambda key: helper.make_tensor_value_info(key, *PORTS.get(key, (TensorProto.FLOAT, None)))
        return helper.make_graph(nodes, name, [port(key) for key in inputs], [port(key) for key in outputs])

    PORTS = {"i": (TensorProto.INT64, []), "go": (TensorProto.BOOL, []), "on": (TensorProto.BOOL, []), "further": (TensorProto.BOOL, []),
             "count": (TensorProto.INT64, []), "next": (TensorProto.INT64, [])}
    layer = [node("MatMul", "h w", "p"), node("Cast", "i", "s", to=TensorProto.FLOAT), node("Add", "p s", "q"), node("Tanh", "q", "z")]
    weights = {"w": rng(8, 8, seed=5)}
    steps = graph("step", [node("Identity", "go", "on"), *layer, node("ReduceSum", "z", "shown", keepdims=0)], ["i", "go", "h"], ["on", "z", "shown"])
    case("loop~op", 13, [node("Loop", "n - x", "y all", body=steps)], x, {**weights, "n": np.array(3, np.int64)}, outputs="y all", batch=False)
    case("loop~unrolled", 13, [each for k in range(3) for each in (
        node("MatMul", f"h{k} w" if k else "x w", f"p{k}"), node("Add", f"p{k} s{k}", f"q{k}"), node("Tanh", f"q{k}", "y" if k == 2 else f"h{k + 1}"),
        node("ReduceSum", "y" if k == 2 else f"h{k + 1}", f"r{k}", keepdims=0), node("Reshape", f"r{k} one", f"v{k}"))] +
        [node("Concat", "v0 v1 v2", "all", axis=0)],
        x, {**weights, "one": i64(1), **{f"s{k}": f32(k) for k in range(3)}}, outputs="y all", batch=False)
    until = graph("until", [*layer, node("Add", "count step", "next"), node("Less", "next most", "further")], ["i", "go", "h", "count"], ["further", "z", "next"])
    case("loop-while", 18, [node("Less", "zero most", "start"), node("Loop", "- start x zero", "y last", body=until)], x,
         {**weights, "zero": np.array(0, np.int64), "step": np.array(2, np.int64), "most": np.array(7, np.int64)}, outputs="y last")
    never = graph("never", [node("Identity", "go", "on"), node("Exp", "h", "z")], ["i", "go", "h"], ["on", "z"])
    ends = graph("ends", [*layer, node("Identity", "no", "on")], ["i", "go", "h"], ["on", "z"])
    case("loop-one-step", 13, [node("Loop", "- - x", "y", body=ends)], x, {**weights, "no": np.array(False)})
    case("loop-no-step", 13, [node("Loop", "n - x", "a", body=never), node("Relu", "a")], x, {"n": np.array(0, np.int64)})
    scanned = graph("scanned", [node("Mul", "a b", "ab"), node("Add", "h ab", "z"), node("Neg", "z", "minus")], ["h", "a", "b"], ["z", "minus", "ab"])
    case("scan", 16, [node("Scan", "h0 u v", "y m p", body=scanned, num_scan_inputs=2, scan_input_axes=[1, -1], scan_input_directions=[0, 1],
                           scan_output_axes=[1, 0], scan_output_directions=[0, 1])],
         {"u": rng(2, 4, 3), "v": rng(2, 3, 4), "h0": rng(2, 3)}, outputs="y m p", batch=False)

    # Functions of the model: one calls the other, hands an attribute on or takes its default, and leaves an input out.
    def refers(name, to):
        return onnx.AttributeProto(name=name, ref_attr_name=to, type=onnx.AttributeProto.FLOAT)
    low, call = helper.make_node("Constant", [], ["low"]), helper.make_node("Bounded", ["s"], ["q"], "first", domain="own")
    low.attribute.append(refers("value_float", "floor"))
    call.attribute.append(refers("floor", "lowest"))
    bounded = helper.make_function("own", "Bounded", ["t", "high"], ["r"], [low, node("Clip", "t low high", "r")],
                                   [helper.make_opsetid("", 17)], [], [helper.make_attribute("floor", -0.5)])
    layer = helper.make_function("own", "Layer", ["x", "w"], ["r"],
                                 [node("MatMul", "x w", "s"), call, helper.make_node("Constant", [], ["one"], value_float=0.75),
                                  helper.make_node("Bounded", ["q", "one"], ["r"], "second", domain="own")],
                                 [helper.make_opsetid("", 13), helper.make_opsetid("own", 1)], ["lowest"])
    case("functions~called", 18, [helper.make_node("Layer", ["x", "w"], ["y"], "layer", domain="own", lowest=-1.5)], x, {"w": rng(8, 5)},
         functions=[bounded, layer])
    case("functions~spelled", 18, [node("MatMul", "x w", "s"), node("Clip", "s a", "q"), node("Clip", "q b c")], x,
         {"w": rng(8, 5), "a": f32(-1.5), "b": f32(-0.5), "c": f32(0.75)})
    # An input that a caller leaves out is left out in the function's branches, too.
    result = [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)]
    limited, free = (helper.make_graph([made], made.op_type, [], result) for made in (node("Clip", "t - high", "r"), node("Identity", "t", "r")))
    limits = helper.make_function("own", "Limits", ["t", "high"], ["r"], [node("Constant", [], "yes", value=numpy_helper.from_array(np.array(True))),
                                                                         node("If", "yes", "r", then_branch=limited, else_branch=free)], [helper.make_opsetid("", 17)])
    case("left-out~called", 17, [node("Limits", "x", "l", domain="own"), node("Relu", "l")], x, functions=[limits])
    case("left-out~spelled", 17, [node("Relu", "x")], x)
