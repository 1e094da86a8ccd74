# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes three members whose first layer reads a scaled part of x, its Fourier features, and rows of tables by columns of x
that are categories, as ONNX files made by hand: all but the tables is the same for all members.

    python front-models.py FOLDER     0.onnx to 2.onnx; x has 9 columns
"""
import array
import random
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402


def floats(generator: random.Random, name: str, dims: tuple) -> bytes:
    count = 1
    for d in dims:
        count *= d
    return tensor(name, dims, 1, array.array("f", [generator.gauss(0, 1) for _ in range(count)]).tobytes())


def ints(name: str, values: list) -> bytes:
    return tensor(name, (len(values),), 7, struct.pack(f"<{len(values)}q", *values))


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for member in range(3):
    shared, own = random.Random(0), random.Random(member + 1)
    weights = [floats(shared, "mean", (6,)), floats(shared, "std", (6,)), floats(shared, "waves", (6, 6)), floats(own, "t", (4, 3)), floats(own, "u", (5, 2)),
               floats(own, "w", (19, 16)), floats(own, "b", (16,)), floats(own, "v", (16, 2)),
               ints("0", [0]), ints("1", [1]), ints("6", [6]), ints("7", [7]), ints("9", [9]), ints("row", [0, 4]),
               tensor("sixth", (), 7, struct.pack("<q", 6))]
    nodes = [node("Slice", ["x", "0", "6", "1"], "p"), node("Sub", ["p", "mean"], "c"), node("Div", ["c", "std"], "s"), node("MatMul", ["s", "waves"], "k"), node("Sin", ["k"], "a"),
             node("Gather", ["x", "sixth"], "i", axis=1), node("Cast", ["i"], "ii", to=7), node("Gather", ["t", "ii"], "e"),
             node("Slice", ["x", "7", "9", "1"], "j"), node("Cast", ["j"], "jj", to=7), node("Gather", ["u", "jj"], "f"), node("Reshape", ["f", "row"], "g"),
             node("Concat", ["s", "a", "e", "g"], "h", axis=1), node("MatMul", ["h", "w"], "l"), node("Add", ["l", "b"], "m"), node("Tanh", ["m"], "n"),
             node("MatMul", ["n", "v"], "y")]
    (folder / f"{member}.onnx").write_bytes(model(nodes, weights, [value_info("x", ["batch", 9])], [value_info("y", ["batch", 2])]))
