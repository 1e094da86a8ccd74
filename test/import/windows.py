# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cases of make_inputs.py about windows of images, with products and reductions that say the same; and about arithmetic on sizes."""
import numpy as np


def add_cases(case, node, rng, i64, f32):
    image, line, b = {"x": rng(2, 3, 8, 4)}, {"x": rng(2, 3, 6)}, rng(5, seed=3)
    w, narrow, whole = rng(5, 3, 4, 2, seed=4), rng(5, 3, 1, seed=5), rng(5, 3, 8, 4, seed=6)
    case("windows-patches~conv", 13, [node("Conv", "x w b", strides=[4, 2])], image, {"w": w, "b": b})
    case("windows-patches~same", 22, [node("Conv", "x w b", strides=[4, 2], kernel_shape=[4, 2], auto_pad="SAME_UPPER", dilations=[1, 1], group=1)], image,
         {"w": w, "b": b})
    case("windows-patches~product", 13, [node("Reshape", "x s", "r"), node("Transpose", "r", "t", perm=[0, 2, 4, 1, 3, 5]), node("Reshape", "t p", "q"),
                                         node("MatMul", "q v", "m"), node("Add", "m b", "a"), node("Transpose", "a", "z", perm=[0, 2, 1]), node("Reshape", "z o")],
         image, {"s": i64(0, 3, 2, 4, 2, 2), "p": i64(0, 4, 24), "v": w.reshape(5, 24).T.copy(), "b": b, "o": i64(0, 5, 2, 2)})
    case("windows-of-one~conv", 13, [node("Conv", "x w b")], line, {"w": narrow, "b": b})
    case("windows-of-one~product", 13, [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "t v", "m"), node("Add", "m b", "a"),
                                        node("Transpose", "a", "y", perm=[0, 2, 1])], line, {"v": narrow[:, :, 0].T.copy(), "b": b})
    case("windows-whole~conv", 13, [node("Conv", "x w b")], image, {"w": whole, "b": b})
    case("windows-whole~product", 13, [node("Flatten", "x", "f"), node("Gemm", "f v b", "g", transB=1), node("Unsqueeze", "g a")], image,
         {"v": whole.reshape(5, 96), "b": b, "a": i64(2, 3)})
    case("windows-of-groups", 13, [node("Conv", "x w b", strides=[4, 2], group=2)], {"x": rng(2, 4, 8, 4)}, {"w": rng(6, 2, 4, 2, seed=9), "b": rng(6, seed=10)})
    case("windows-of-one-in-groups", 13, [node("Conv", "x w", group=3)], line, {"w": rng(6, 1, 1, seed=11)})
    case("windows-whole-of-groups", 13, [node("Conv", "x w", group=3)], line, {"w": rng(6, 1, 6, seed=12)})
    case("windows-apart", 13, [node("Conv", "x w", strides=[2])], line, {"w": narrow})
    case("windows-far-apart", 13, [node("Conv", "x w", strides=[4])], line, {"w": rng(5, 3, 2, seed=7)})
    case("windows-that-leave-a-rest", 13, [node("Conv", "x w b", strides=[3, 3])], image, {"w": rng(5, 3, 3, 3, seed=8), "b": b})
    for opset in (7, 22):
        case(f"pool-average-{opset}", opset, [node("AveragePool", "x", kernel_shape=[4, 2], strides=[4, 2])], image)
        case(f"pool-max-{opset}", opset, [node("MaxPool", "x", kernel_shape=[3, 2], strides=[3, 2])], image)
    case("pool-max-places-unread", 13, [node("MaxPool", "x", "y unread", kernel_shape=[3, 2], strides=[3, 2])], image)
    case("pool-line", 19, [node("AveragePool", "x", "a", kernel_shape=[3], strides=[3], count_include_pad=1), node("MaxPool", "a", kernel_shape=[2], ceil_mode=1, strides=[2])], line)
    case("pool-rounding-up-past-the-end", 18, [node("MaxPool", "x", "m", kernel_shape=[3], strides=[4], ceil_mode=1), node("AveragePool", "m", kernel_shape=[3], strides=[2], pads=[1, 0], ceil_mode=1)],
         {"x": rng(2, 3, 2)})
    case("pool-volume", 13, [node("MaxPool", "x", kernel_shape=[1, 2, 2], strides=[1, 2, 2])], {"x": rng(2, 3, 2, 4, 4)})
    case("pool-overlapping", 19, [node("MaxPool", "x", "m", kernel_shape=[3, 2], strides=[2, 1]), node("AveragePool", "m", kernel_shape=[2, 2], strides=[1, 1])], image)
    case("pool-long", 19, [node("AveragePool", "x", "a", kernel_shape=[40], strides=[40]), node("MaxPool", "a", kernel_shape=[2])], {"x": rng(2, 3, 80)})
    for name, reduce in (("Average", "Mean"), ("Max", "Max")):
        case(f"pool-all-{reduce.lower()}~op", 13, [node(f"Global{name}Pool", "x")], image)
        case(f"pool-all-{reduce.lower()}~reduce", 13, [node(f"Reduce{reduce}", "x", axes=[2, 3])], image)
    case("pool-all-of-a-line", 13, [node("GlobalAveragePool", "x")], line)

    # Windows that overlap, leave the image or have gaps.
    w3, depth = rng(5, 3, 3, 3, seed=13), rng(3, 1, 3, 3, seed=14)
    case("windows-overlapping", 13, [node("Conv", "x w b")], image, {"w": w3, "b": b})
    case("windows-padded", 22, [node("Conv", "x w b", pads=[1, 1, 1, 1], strides=[2, 1])], image, {"w": w3, "b": b})
    case("windows-padded-unevenly", 11, [node("Conv", "x w", pads=[2, 0, 1, 1])], image, {"w": w3})
    case("windows-causal", 13, [node("Conv", "x w b", pads=[4, 0], dilations=[2])], line, {"w": rng(5, 3, 3, seed=15), "b": b})
    for where in ("UPPER", "LOWER"):
        case(f"windows-same-{where.lower()}", 13, [node("Conv", "x w", auto_pad=f"SAME_{where}", strides=[2, 2])], image, {"w": rng(5, 3, 4, 2, seed=16)})
    case("windows-valid", 13, [node("Conv", "x w", auto_pad="VALID")], image, {"w": w3})
    case("windows-of-each-channel", 13, [node("Conv", "x w", pads=[1, 1, 1, 1], group=3)], image, {"w": depth})
    case("windows-of-49-in-each-channel", 13, [node("Conv", "x w", pads=[3, 3, 3, 3], group=3)], image, {"w": rng(3, 1, 7, 7, seed=41)})
    case("windows-of-72-in-each-channel", 13, [node("Conv", "x w", pads=[4, 3, 4, 4], group=3)], image, {"w": rng(3, 1, 9, 8, seed=42)})
    case("windows-of-two-from-each-channel", 13, [node("Conv", "x w b", pads=[1, 1, 1, 1], group=8)], {"x": rng(2, 8, 5, 4)}, {"w": rng(16, 1, 3, 3, seed=43), "b": rng(16, seed=44)})
    case("windows-of-nine-narrow-groups", 13, [node("Conv", "x w", pads=[1, 0, 0, 1], group=9)], {"x": rng(2, 18, 5, 4)}, {"w": rng(27, 2, 2, 2, seed=45)})
    case("windows-of-nine-wide-groups", 13, [node("Conv", "x w", pads=[1, 0, 0, 1], group=9)], {"x": rng(2, 18, 5, 4)}, {"w": rng(72, 2, 2, 2, seed=46)})
    case("windows-of-17-wide-groups", 13, [node("Conv", "x w", pads=[1, 0], group=17)], {"x": rng(2, 34, 5)}, {"w": rng(136, 2, 2, seed=47)})
    case("windows-overlapping-groups", 13, [node("Conv", "x w", pads=[1, 0, 0, 1], group=2)], {"x": rng(2, 4, 6, 5)}, {"w": rng(6, 2, 2, 2, seed=17)})
    case("windows-padded-whole", 13, [node("Conv", "x w b", pads=[1, 1])], {"x": rng(2, 3, 4)}, {"w": rng(5, 3, 6, seed=18), "b": b})
    case("windows-of-a-volume", 13, [node("Conv", "x w", pads=[1, 0, 1, 0, 1, 0])], {"x": rng(2, 2, 3, 4, 3)}, {"w": rng(3, 2, 2, 3, 2, seed=19)})
    case("windows-twice", 13, [node("Conv", "x w b", "c", pads=[1, 1, 1, 1]), node("Relu", "c", "r"), node("MaxPool", "r", "m", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]),
                               node("Conv", "m v", pads=[1, 1, 1, 1])], image, {"w": w3, "b": b, "v": rng(4, 5, 3, 3, seed=20)})
    case("windows-nan-outside", 13, [node("Div", "x zero", "d"), node("Conv", "d w", pads=[1, 1])], {"x": np.zeros((2, 1, 4), np.float32)}, {"zero": f32(0), "w": rng(2, 1, 3, seed=21)})
    # Padding before convolutions, which read it as their margin.
    def padded(name, opset, pads, conv, x=image, weights=w3, after=(), **mode):
        case(name, opset, [node("Pad", "x p", "q", **mode), node("Conv", "q w b", "c" if after else "y", **conv), *after], x, {"p": i64(*pads), "w": weights, "b": b})
    for mode in ("reflect", "edge", "wrap"):
        padded(f"margin-{mode}", 19, [0, 0, 2, 1, 0, 0, 1, 2], {"strides": [2, 1]}, mode=mode)
    padded("margin-line", 13, [0, 0, 4, 0, 0, 0], {"dilations": [2]}, line, rng(5, 3, 3, seed=15), mode="reflect")
    padded("margin-zero", 13, [0, 0, 1, 0, 0, 0, 2, 1], {"pads": [1, 1, 0, 0]})
    padded("margin-around-margin", 19, [0, 0, 0, 1, 0, 0, 0, 1], {"pads": [1, 0, 1, 0]}, mode="wrap")
    padded("margin-read-twice", 13, [0, 0, 1, 1, 0, 0, 1, 1], {}, mode="edge", after=[node("ReduceMean", "q", "m", axes=[1, 2, 3], keepdims=1), node("Add", "c m")])
    padded("margin-of-channels", 13, [0, 1, 1, 1, 0, 0, 1, 1], {}, weights=rng(5, 4, 3, 3, seed=13), mode="edge")
    ends = lambda x, y, axis, first, last: [node("Slice", f"{x} {first} far a{axis}", f"t{axis}"), node("Slice", f"{x} zero {last} a{axis}", f"h{axis}"),
                                            node("Concat", f"t{axis} {x} h{axis}", y, axis=axis)]
    case("margin-of-ends", 13, [*ends("x", "q", 3, "n1", "p2"), *ends("q", "r", 2, "n2", "p1"), node("Conv", "r w b")], image,
         {"w": w3, "b": b, "n1": i64(-1), "n2": i64(-2), "zero": i64(0), "p1": i64(1), "p2": i64(2), "far": i64(99), "a2": i64(2), "a3": i64(3)})
    case("margin-of-other-ends", 13, [*ends("x", "q", 3, "zero", "p2"), node("Conv", "q w b")], image,
         {"w": w3, "b": b, "zero": i64(0), "p2": i64(2), "far": i64(1), "a3": i64(3)})
    case("margin-twice", 13, [node("Pad", "x p", "q", mode="reflect"), node("Conv", "q w b", "c"), node("Relu", "c", "r"), node("Pad", "r p", "s", mode="reflect"), node("Conv", "s v")], image,
         {"p": i64(0, 0, 1, 1, 0, 0, 1, 1), "w": w3, "b": b, "v": rng(4, 5, 3, 3, seed=20)})

    # Transposed convolutions: of one weight a place, of several, and with a rest behind.
    small, spread = {"x": rng(2, 3, 3, 2)}, rng(3, 4, 3, 4, seed=22)
    for steps, gaps, pads in (([1, 1], [1, 1], [1, 0, 2, 1]), ([2, 1], [1, 2], [0, 2, 0, 1])): # lines of eight places and more
        case(f"each-channel-along-lines-{steps[0]}", 13, [node("Conv", "x w b", group=3, strides=steps, dilations=gaps, pads=pads)], {"x": rng(2, 3, 7, 11)},
             {"w": rng(3, 1, 3, 2, seed=61), "b": rng(3, seed=62)})
    case("transposed-apart", 13, [node("ConvTranspose", "x w b", strides=[2, 3])], small, {"w": rng(3, 4, 2, 3, seed=23), "b": rng(4, seed=24)})
    case("transposed-apart-one-channel", 13, [node("ConvTranspose", "x w b", strides=[2, 3])], small, {"w": rng(3, 1, 2, 3, seed=23), "b": rng(1, seed=24)})
    case("transposed-overlapping", 22, [node("ConvTranspose", "x w", strides=[2, 2], pads=[1, 0, 1, 2], output_padding=[1, 0])], small, {"w": spread})
    case("transposed-line", 11, [node("ConvTranspose", "x w b", pads=[1, 0])], line, {"w": rng(3, 5, 3, seed=25), "b": b})
    case("transposed-of-groups", 13, [node("ConvTranspose", "x w b", group=2, strides=[2], dilations=[2])], {"x": rng(2, 4, 5)}, {"w": rng(4, 3, 3, seed=26), "b": rng(6, seed=27)})
    for name, attributes in {"": {}, "-dilated": {"dilations": [2, 1]}, "-longer": {"strides": [2, 1], "output_padding": [1, 0]}}.items():
        case(f"transposed-of-groups-padded{name}", 13, [node("ConvTranspose", "x w b", group=2, pads=[1, 0, 1, 1], **attributes)], {"x": rng(2, 4, 5, 4)},
             {"w": rng(4, 3, 3, 2, seed=51), "b": rng(6, seed=52)})
    case("transposed-dilated", 13, [node("ConvTranspose", "x w", dilations=[2, 3], pads=[1, 2, 0, 1])], {"x": rng(2, 3, 5, 4)}, {"w": rng(3, 2, 3, 2, seed=53)})
    case("transposed-cropped", 13, [node("ConvTranspose", "x w", pads=[2, 2], group=2)], {"x": rng(2, 4, 7)}, {"w": rng(4, 1, 2, seed=54)})
    case("transposed-of-nine-groups", 13, [node("ConvTranspose", "x w", pads=[1, 1], group=9)], {"x": rng(2, 18, 7)}, {"w": rng(18, 2, 3, seed=55)})
    case("transposed-of-each-channel", 13, [node("ConvTranspose", "x w", group=3, strides=[2, 1])], small, {"w": rng(3, 1, 2, 2, seed=28)})
    for where in ("UPPER", "LOWER"):
        case(f"transposed-same-{where.lower()}", 11, [node("ConvTranspose", "x w", auto_pad=f"SAME_{where}", strides=[2, 1])], small, {"w": spread})
    case("transposed-shape", 11, [node("ConvTranspose", "x w", output_shape=[6, 8], strides=[2, 4])], small, {"w": spread})
    case("transposed-of-a-volume", 13, [node("ConvTranspose", "x w", strides=[1, 2, 1])], {"x": rng(2, 2, 2, 2, 3)}, {"w": rng(2, 2, 1, 3, 2, seed=29)})
    case("windows-of-each-channel-wide", 13, [node("Conv", "x w b", group=3, pads=[4, 4, 4, 4])], {"x": rng(2, 3, 7, 6)}, {"w": rng(3, 1, 9, 9, seed=68), "b": rng(3, seed=69)})
    case("transposed-of-one-element", 13, [node("ConvTranspose", "x w b", pads=[1, 0, 0, 2])], {"x": rng(2, 6, 1, 1)}, {"w": rng(6, 4, 4, 5, seed=61), "b": rng(4, seed=62)})
    case("transposed-of-one-element-to-a-margin", 13, [node("ConvTranspose", "x w", strides=[3, 3], output_padding=[2, 0])], {"x": rng(2, 6, 1, 2)}, {"w": rng(6, 4, 3, 4, seed=63)})
    case("transposed-of-a-small-image", 13, [node("ConvTranspose", "x w b", dilations=[1, 2])], {"x": rng(2, 40, 2, 3)}, {"w": rng(40, 4, 3, 3, seed=64), "b": rng(4, seed=65)})
    for name, attributes in (("", {"strides": [2, 2], "pads": [1, 1, 1, 1]}), ("-by-threes", {"strides": [3, 1], "pads": [2, 0, 1, 1], "output_padding": [1, 0]}),
                             ("-in-groups", {"strides": [2, 2], "pads": [0, 1, 1, 0], "group": 2})):
        case(f"transposed-place-by-place{name}", 13, [node("ConvTranspose", "x w b", **attributes)], {"x": rng(2, 4, 3, 4)},
             {"w": rng(4, 14, 4, 4, seed=66), "b": rng(14 * attributes.get("group", 1), seed=67)})
    for kind in (np.uint8, np.int8):
        bytes = (rng(2, 3, 8, 6) * 100).astype(kind)
        case(f"pool-max-{kind.__name__}", 12, [node("MaxPool", "x", "m", kernel_shape=[2, 2], strides=[2, 2]), node("MaxPool", "m", kernel_shape=[3, 2], pads=[1, 1, 1, 0])], {"x": bytes})
    case("pool-max-padded", 12, [node("MaxPool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1])], image)
    case("pool-max-gaps", 12, [node("MaxPool", "x", kernel_shape=[3, 2], dilations=[2, 2], ceil_mode=1, strides=[2, 1])], image)
    case("pool-average-padded", 19, [node("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])], image)
    case("pool-average-padding-counts", 19, [node("AveragePool", "x", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1, ceil_mode=1)], image)
    case("pool-max-wide", 19, [node("MaxPool", "x", kernel_shape=[9, 7], strides=[1, 1], pads=[4, 3, 4, 3])], {"x": rng(2, 3, 12, 11)})
    case("pool-max-wide-gaps", 19, [node("MaxPool", "x", kernel_shape=[5, 4], dilations=[2, 3], pads=[4, 3, 4, 6])], {"x": rng(2, 3, 12, 11)})
    case("pool-max-large", 19, [node("MaxPool", "x", kernel_shape=[9, 8], strides=[9, 9])], {"x": rng(2, 3, 18, 20)})
    case("pool-average-large", 19, [node("AveragePool", "x", kernel_shape=[9, 8], strides=[9, 9], pads=[0, 2, 0, 2])], {"x": rng(2, 3, 18, 20)})
    case("pool-average-wide", 19, [node("AveragePool", "x", kernel_shape=[7, 7], strides=[2, 1], pads=[3, 3, 3, 3], count_include_pad=0)], {"x": rng(2, 3, 12, 11)})
    case("pool-average-wide-inside", 19, [node("AveragePool", "x", kernel_shape=[7, 6], strides=[1, 1])], {"x": rng(2, 3, 12, 11)})
    case("pool-average-long", 19, [node("AveragePool", "x", kernel_shape=[40], strides=[3])], {"x": rng(2, 3, 80)})

    # What TensorFlow's einsum becomes.
    case("sizes-product", 13, [node("Shape", "x", "s"), node("Gather", "s p", "g"), node("ReduceProd", "g", "n"), node("Concat", "n last", "t", axis=0), node("Reshape", "x t")],
         line, {"p": i64(0, 1), "last": i64(6)})
    case("sizes-extremes", 13, [node("Shape", "x", "s"), node("Shape", "x", "t"), node("Max", "s t ones", "m"), node("Min", "m t", "n"), node("Min", "n ones", "o"),
                                node("Mul", "n o", "r"), node("Expand", "v r", "e"), node("Add", "x e")], line, {"ones": i64(1, 1, 1), "v": f32(0.5)})
