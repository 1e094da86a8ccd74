# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes models whose parts need nothing of each other and are of different widths and depths, as ONNX files made by hand.

    python unequal-models.py groups FOLDER     six members of three structures, 0.onnx to 5.onnx
    python unequal-models.py widths FOLDER     four members of three structures that differ in widths only
    python unequal-models.py elements FOLDER   two members, each with a network for each of four inputs with rows of their own
    python unequal-models.py towers FOLDER     the same with three networks that are alike
    python unequal-models.py places FOLDER     two members, each with the distances to 70 places, one after the other
    python unequal-models.py joined FOLDER     four members of two structures, which read their part of an output long after they made it
"""
import array
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402


class Network:
    """A chain of dense layers from the value `x`."""

    def __init__(self, generator: random.Random, prefix: str, x: str, widths: list, activation: str):
        self.nodes, self.weights, value = [], [], x
        for i, (k, n) in enumerate(zip(widths, widths[1:])):
            names = [f"{prefix}{kind}{i}" for kind in "wbmsa"]
            for name, dims in ((names[0], (k, n)), (names[1], (n,))):
                count = k * n if len(dims) == 2 else n
                data = array.array("f", [generator.gauss(0, k ** -0.5) for _ in range(count)])
                self.weights.append(tensor(name, dims, 1, data.tobytes()))
            last = i + 2 == len(widths)
            self.nodes.append(node("MatMul", [value, names[0]], names[2]))
            self.nodes.append(node("Add", [names[2], names[1]], f"{prefix}y" if last else names[3]))
            if not last:
                self.nodes.append(node(activation, [names[3]], names[4]))
            value = names[4]


def groups(member: int) -> bytes:
    structures = [([24, 96, 64, 3], "Relu"), ([24, 48, 3], "Tanh"), ([24, 72, 72, 56, 3], "Sigmoid")]
    widths, activation = structures[[0, 1, 0, 2, 1, 0][member]]
    own = Network(random.Random(member), "", "x", widths, activation)
    return model(own.nodes, own.weights, [value_info("x", ["batch", 24])], [value_info("y", ["batch", 3])])


def widths(member: int) -> bytes:
    width = (64, 160, 96)[member % 3]
    net = Network(random.Random(member), "", "x", [40, width, width + 32, width, 10], "Celu")
    return model(net.nodes, net.weights, [value_info("x", ["batch", 40])], [value_info("y", ["batch", 10])])


def elements(member: int) -> bytes:
    widths = {"h": [48, 64, 48, 1], "c": [48, 56, 40, 1], "n": [48, 56, 40, 32, 1], "o": [48, 40, 1]}
    generator = random.Random(member)
    own = [Network(generator, e, f"x{e}", w, "Celu") for e, w in widths.items()]
    return model([n for net in own for n in net.nodes], [w for net in own for w in net.weights],
                 [value_info(f"x{e}", [f"n{e}", 48]) for e in widths], [value_info(f"{e}y", [f"n{e}", 1]) for e in widths])


def towers(member: int) -> bytes:
    generator = random.Random(member)
    own = [Network(generator, t, f"x{t}", [24, 64, 64, 2], "Relu") for t in "abc"]
    return model([n for net in own for n in net.nodes], [w for net in own for w in net.weights],
                 [value_info(f"x{t}", [f"n{t}", 24]) for t in "abc"], [value_info(f"{t}y", [f"n{t}", 2]) for t in "abc"])


def places(member: int) -> bytes:
    generator, nodes, weights = random.Random(member), [], [tensor("axes", (1,), 7, array.array("q", [1]).tobytes())]
    for i in range(70):
        weights.append(tensor(f"p{i}", (8,), 1, array.array("f", [generator.gauss(0, 1) for _ in range(8)]).tobytes()))
        nodes += [node("Sub", ["x", f"p{i}"], f"d{i}"), node("Mul", [f"d{i}", f"d{i}"], f"q{i}"),
                  node("ReduceSum", [f"q{i}", "axes"], f"s{i}")]
    nodes.append(node("Concat", [f"s{i}" for i in range(70)], "y", axis=1))
    return model(nodes, weights, [value_info("x", ["batch", 8])], [value_info("y", ["batch", 70])])


def joined(member: int) -> bytes:
    own = Network(random.Random(member), "", "x", [6, (8, 12)[member % 2], 16], "Relu")
    nodes = own.nodes + [node("Reshape", ["y", "shape"], "r0")]
    for i in range(3):
        nodes += [node("Transpose", [f"r{i}"], f"t{i}", perm=[0, 2, 1]), node("Softmax", [f"t{i}"], f"r{i + 1}", axis=2)]
    nodes.append(node("Add", ["r3", "r0"], "z"))
    shape = tensor("shape", (3,), 7, array.array("q", [-1, 4, 4]).tobytes())
    return model(nodes, own.weights + [shape], [value_info("x", ["batch", 6])], [value_info("y", ["batch", 16]), value_info("z", ["batch", 4, 4])])


kinds = {"groups": (groups, 6), "widths": (widths, 4), "elements": (elements, 2), "towers": (towers, 2), "places": (places, 2), "joined": (joined, 4)}
build, count = kinds[sys.argv[1]]
folder = Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for member in range(count):
    (folder / f"{member}.onnx").write_bytes(build(member))
