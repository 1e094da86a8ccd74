# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes models that differ in numbers alone, in a layer of one weight for one, one whose results are parts of one
tensor, some that choose and add elements, and casts with the right answers, as ONNX files made by hand.

    python number-models.py FOLDER
"""
import random
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import save, save_raw  # noqa: E402
from onnxfile import model, node, tensor, value_info  # noqa: E402

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def floats(name: str, dims: tuple, *values: float) -> bytes:
    return tensor(name, dims, 1, struct.pack(f"<{len(values)}f", *values))


def integers(name: str, *values: int) -> bytes:
    return tensor(name, (len(values),), 7, struct.pack(f"<{len(values)}q", *values))


def scaled(member: int, divisor: float, factor: float) -> bytes:
    """GELU as it is spelled, with a half by division, of x w over a scale and times another."""
    draw = random.Random(member)
    weights = [floats("w", (6, 5), *(draw.gauss(0, 1) for _ in range(30))), floats("scale", (), divisor), floats("factor", (1,), factor),
               floats("root", (), 2 ** 0.5), floats("one", (), 1), floats("two", (), 2)]
    nodes = [node("MatMul", ["x", "w"], "a"), node("Div", ["a", "scale"], "b"), node("Mul", ["factor", "b"], "c"), node("Div", ["c", "root"], "d"),
             node("Erf", ["d"], "e"), node("Add", ["e", "one"], "f"), node("Mul", ["c", "f"], "g"), node("Div", ["g", "two"], "y")]
    return model(nodes, weights, [value_info("x", ["batch", 6])], [value_info("y", ["batch", 5])])


for member, (divisor, factor) in enumerate([(1.37, 3), (1, 0.3), (2, 1), (0.25, 0.5)]):
    (folder / f"{member}.onnx").write_bytes(scaled(member, divisor, factor))
for member, weight in enumerate((1.37, -0.3)):
    (folder / f"layer{member}.onnx").write_bytes(model([node("MatMul", ["x", "w"], "y")], [floats("w", (1, 1), weight)],
                                                       [value_info("x", ["batch", 1])], [value_info("y", ["batch", 1])]))
parts = [node("Slice", ["x", "from", f"to{n}", "last"], f"y{n}") for n in (2, 8, 5)]
(folder / "parts.onnx").write_bytes(model(parts, [integers("from", 0), integers("last", 2), *(integers(f"to{n}", n) for n in (2, 8, 5))],
                                          [value_info("x", ["batch", 8, 16])], [value_info(f"y{n}", ["batch", 8, n]) for n in (2, 8, 5)]))
# A mask of each member, of which one is all true.
for member, mask in enumerate(([1, 0, 1, 1, 0, 0], [1] * 6, [0] * 6)):
    draw = random.Random(member)
    weights = [tensor("mask", (6,), 9, bytes(mask)), floats("zero", (), 0), floats("w", (6, 3), *(draw.gauss(0, 1) for _ in range(18)))]
    (folder / f"mask{member}.onnx").write_bytes(model([node("Where", ["mask", "x", "zero"], "h"), node("MatMul", ["h", "w"], "y")], weights,
                                                      [value_info("x", ["batch", 6])], [value_info("y", ["batch", 3])]))
# Lists and constants of which two are equal in one member, and a number over x that is 1 in one.
for member, (places, factor, over) in enumerate((((0, 5, 1), .3, 1), ((6, 0, 2), .7, 3))):
    nodes = [node("Gather", ["x", "i"], "g", axis=1), node("Gather", ["x", "j"], "h", axis=1), node("Constant", [], "c", value_float=.3), node("Constant", [], "d", value_float=factor),
             node("Mul", ["g", "c"], "a"), node("Mul", ["h", "d"], "b"), node("Sub", ["a", "b"], "s"), node("Exp", ["s"], "e"), node("Div", ["over", "e"], "y")]
    (folder / f"twice{member}.onnx").write_bytes(model(nodes, [integers("i", 0, 5, 1), integers("j", *places), floats("over", (), over)],
                                                       [value_info("x", ["batch", 7])], [value_info("y", ["batch", 3])]))
# A weight that multiplies from the left, and one from the right: 7 terms.
draw = random.Random(7)
mixer = [floats(name, dims, *(draw.gauss(0, 1) for _ in range(dims[0] * dims[1]))) for name, dims in (("v", (5, 3)), ("w", (7, 9)))]
(folder / "mixer.onnx").write_bytes(model([node("MatMul", ["v", "x"], "h"), node("Relu", ["h"], "r"), node("MatMul", ["r", "w"], "y")], mixer,
                                          [value_info("x", ["batch", 3, 7])], [value_info("y", ["batch", 5, 9])]))
# Layers with their own rows added, and the largest of each row taken off.
for member in range(2):
    draw = random.Random(member)
    weights = [floats(name, dims, *(draw.gauss(0, .1) for _ in range(dims[0] * dims[1]))) for name, dims in (("s", (1, 72)), ("u", (72, 104)), ("v", (104, 72)), ("w", (72, 40)))]
    nodes = [node("Mul", ["x", "s"], "a"), node("MatMul", ["a", "u"], "b"), node("Relu", ["b"], "c"), node("MatMul", ["c", "v"], "d"), node("Add", ["d", "a"], "e"),
             node("ReduceMax", ["e"], "f", axes=[1], keepdims=1), node("Sub", ["e", "f"], "g"), node("MatMul", ["g", "w"], "y")]
    (folder / f"residual{member}.onnx").write_bytes(model(nodes, weights, [value_info("x", ["batch", 72])], [value_info("y", ["batch", 40])]))
# Two layers of the same rows, added; and channels of a member's own number, of which a layer gets the means.
for member, channels in enumerate((8, 4)):
    draw = random.Random(member)
    def layer(name: str, *dims: int) -> bytes:
        count = 1
        for d in dims:
            count *= d
        return floats(name, dims, *(draw.gauss(0, .3) for _ in range(count)))
    nodes = [node("MatMul", ["x", "u"], "a"), node("MatMul", ["x", "v"], "b"), node("Add", ["a", "b"], "c"), node("MatMul", ["c", "w"], "y")]
    (folder / f"twofold{member}.onnx").write_bytes(model(nodes, [layer("u", 37, 24), layer("v", 37, 24), layer("w", 24, 5)], [value_info("x", ["batch", 37])],
                                                         [value_info("y", ["batch", 5])]))
    nodes = [node("Conv", ["x", "u"], "a"), node("Relu", ["a"], "b"), node("GlobalAveragePool", ["b"], "c"), node("Flatten", ["c"], "d"), node("MatMul", ["d", "w"], "y")]
    (folder / f"pooled{member}.onnx").write_bytes(model(nodes, [layer("u", channels, 3, 1, 1), layer("w", channels, 5)], [value_info("x", ["batch", 3, 4, 4])],
                                                        [value_info("y", ["batch", 5])]))
# A few places of a row, and of columns.
for member, places in enumerate(([0, 3, 2, 1], [1, 3, 5, 7], [0, 5, 6, 7])):
    chosen = [tensor("places", (4,), 7, struct.pack("<4q", *places)), tensor("axis", (1,), 7, struct.pack("<q", 1))]
    # Half of -relu(x) is -0, and a sum of such begins with +0.
    nodes = [node("Relu", ["x"], "r"), node("Neg", ["r"], "n"), node("Gather", ["n", "places"], "g", axis=1), node("ReduceSum", ["g", "axis"], "y")]
    for name, dims in (("row", ["batch", 8]), ("column", ["batch", 8, 3])):
        (folder / f"{name}{member}.onnx").write_bytes(model(nodes, chosen, [value_info("x", dims)], [value_info("y", ["batch", 1, *dims[2:]])]))
# Integers that two roundings get wrong, as bfloat16 and back.
for name, kind, letter, numbers in (("signed", 7, "q", {2**60 + 2**52 + 1: 2**60 + 2**53, -(2**60 + 2**52 + 1): -(2**60 + 2**53), 2**60 + 2**52: 2**60, 257: 256}),
                                    ("unsigned", 13, "Q", {2**63 + 2**55 + 1: 2**63 + 2**56, 2**63 + 2**55: 2**63, 2**52 + 2**44 + 1: 2**52 + 2**45, 259: 260})):
    nodes = [node("Cast", ["x"], "b", to=16), node("Cast", ["b"], "y", to=1)]
    (folder / f"{name}.onnx").write_bytes(model(nodes, [], [value_info("x", ["batch", 4], kind)], [value_info("y", ["batch", 4])]))
    save_raw(folder / f"{name}.npy", f"<{'i' if letter == 'q' else 'u'}8", (1, 4), struct.pack(f"<4{letter}", *numbers))
    save(folder / f"{name}.right.npy", (1, 1, 4), list(numbers.values()))
# Of 16 bits, ops whose steps leave their range: the length of a row, and a product that is scaled.
half = tensor("w", (2, 1), 10, struct.pack("<2e", 300, 300))
nodes = [node("Cast", ["x"], "h", to=10), node("ReduceL2", ["h"], "n", axes=[1]), node("Gemm", ["h", "w"], "g", alpha=.01), node("Concat", ["n", "g"], "b", axis=1),
         node("Cast", ["b"], "y", to=1)]
(folder / "steps.onnx").write_bytes(model(nodes, [half], [value_info("x", ["batch", 2])], [value_info("y", ["batch", 2])]))
save(folder / "steps.npy", (1, 2), [300, 400])
save(folder / "steps.right.npy", (1, 1, 2), [500, 2100])
# Two slopes of one value, which are equal in one member, as they were before it was trained.
for member, slopes in enumerate(((.25, .25), (.2, .3))):
    nodes = [node("PRelu", ["x", "a"], "p"), node("PRelu", ["x", "b"], "q"), node("Mul", ["p", "q"], "y")]
    (folder / f"slopes{member}.onnx").write_bytes(model(nodes, [floats(name, (1,), slope) for name, slope in zip("ab", slopes)], [value_info("x", ["batch", 6])],
                                                        [value_info("y", ["batch", 6])]))
# A number that is 1 in one member spells another op there, which rounds otherwise: a division by a root, and Mish.
for member, factor in enumerate((1, 3)):
    draw = random.Random(member)
    w = floats("w", (6, 16), *(draw.gauss(0, 1) for _ in range(96)))
    nodes = [node("MatMul", ["x", "w"], "a"), node("Mul", ["a", "a"], "s"), node("ReduceMean", ["s"], "m", axes=[1], keepdims=1), node("Add", ["m", "small"], "e"), node("Sqrt", ["e"], "r"),
             node("Div", ["one", "r"], "i"), node("Mul", ["a", "i"], "n"), node("Mul", ["n", "scale"], "y")]
    (folder / f"norm{member}.onnx").write_bytes(model(nodes, [w, floats("small", (), 1e-5), floats("one", (), 1), floats("scale", (), factor)],
                                                      [value_info("x", ["batch", 6])], [value_info("y", ["batch", 16])]))
    nodes = [node("MatMul", ["x", "w"], "a"), node("Mul", ["a", "beta"], "b"), node("Softplus", ["b"], "s"), node("Tanh", ["s"], "t"), node("Mul", ["a", "t"], "y")]
    (folder / f"mish{member}.onnx").write_bytes(model(nodes, [w, floats("beta", (), factor)], [value_info("x", ["batch", 6])], [value_info("y", ["batch", 16])]))
# A state of zeros that is given is a state: +0 and what is added to it, -0 here, is +0.
for member, scale in enumerate((1, 2)):
    weights = [floats("W", (1, 3, 1), 40, 0, -1), floats("R", (1, 3, 1), .5, .5, .5), floats("scale", (), scale), integers("one", 1)]
    nodes = [node("Shape", ["x"], "dims"), node("Gather", ["dims", "one"], "rows"), node("Concat", ["one", "rows", "one"], "all", axis=0), node("ConstantOfShape", ["all"], "zeros"),
             node("GRU", ["x", "W", "R", "", "", "zeros"], "g", hidden_size=1), node("Mul", ["g", "scale"], "y")]
    (folder / f"state{member}.onnx").write_bytes(model(nodes, weights, [value_info("x", [1, "batch", 1])], [value_info("y", [1, 1, "batch", 1])]))
save(folder / "state.npy", (1, 3, 1), [1] * 3)
save(folder / "state.right.npy", (1, 1, 1, 3, 1), [0] * 3)
# An exponent that the base's type does not hold.
(folder / "power.onnx").write_bytes(model([node("Pow", ["x", "e"], "p"), node("Cast", ["p"], "y", to=1)], [integers("e", 2 ** 32, 2 ** 32 + 1, 2 ** 32 + 1, 2 ** 31)],
                                          [value_info("x", ["batch", 4], 6)], [value_info("y", ["batch", 4])]))
save_raw(folder / "power.npy", "<i4", (1, 4), struct.pack("<4i", 2, 3, -1, 3))
save(folder / "power.right.npy", (1, 1, 4), [0, 3, -1, 1])
# Bytes whose product is more than 31 bits have.
terms = 2 ** 18
scales = [floats("s", (), 1), tensor("z", (), 2, b"\0"), tensor("q", (), 3, b"\xff"), tensor("w", (terms, 1), 3, b"\x7f" * terms)]
nodes = [node("QuantizeLinear", ["x", "s", "z"], "b"), node("DequantizeLinear", ["b", "s", "z"], "a"), node("DequantizeLinear", ["w", "s", "q"], "v"), node("MatMul", ["a", "v"], "y")]
(folder / "bytes.onnx").write_bytes(model(nodes, scales, [value_info("x", ["batch", terms])], [value_info("y", ["batch", 1])]))
save(folder / "bytes.npy", (1, terms), [128] * terms)
save(folder / "bytes.right.npy", (1, 1, 1), [2 ** 32])
