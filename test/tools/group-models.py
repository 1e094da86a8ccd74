# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes three members with a norm over groups of channels, as exporters spell it, as ONNX files made by hand.

    python group-models.py FOLDER CHANNELS GROUPS [LENGTH]     0.onnx to 2.onnx; without a length x has two axes
"""
import array
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402

folder, channels, groups = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
length = [int(word) for word in sys.argv[4:]]


def numbers(generator: random.Random, name: str, dims: list, mean: float = 0) -> bytes:
    count = 1
    for d in dims:
        count *= d
    return tensor(name, tuple(dims), 1, array.array("f", [generator.gauss(mean, 1) for _ in range(count)]).tobytes())


def shape(name: str, dims: list) -> bytes:
    return tensor(name, (len(dims),), 7, array.array("q", dims).tobytes())


folder.mkdir(parents=True, exist_ok=True)
for member in range(3):
    generator = random.Random(member)
    weights = [shape("in", [0, groups, -1]), shape("out", [0, channels, *length]),
               numbers(generator, "one", [groups], 1), numbers(generator, "zero", [groups]),
               *(numbers(generator, name, [channels] + [1 for _ in length]) for name in ("gain", "scale", "bias"))]
    nodes = [node("Mul", ["x", "gain"], "t"), node("Reshape", ["t", "in"], "g"), node("InstanceNormalization", ["g", "one", "zero"], "n"),
             node("Reshape", ["n", "out"], "r"), node("Mul", ["r", "scale"], "m"), node("Add", ["m", "bias"], "a"), node("Relu", ["a"], "y")]
    ports = [value_info(name, ["batch", channels, *length]) for name in "xy"]
    (folder / f"{member}.onnx").write_bytes(model(nodes, weights, ports[:1], ports[1:]))
