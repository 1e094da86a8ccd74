# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes members with layers of thousands of columns, or a chain of a hundred, as ONNX files made by hand: it needs no package.

    python wide-models.py mlp|row|input|chain|narrow|residual|norm|skip|rows FOLDER [MEMBERS]
"""
import array
import random
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import field, value_info  # noqa: E402


class Model:
    def __init__(self, seed: int, width: int, *rows: int):
        self.random, self.nodes, self.weights, self.value, self.width = random.Random(seed), b"", b"", "x", width
        self.rows, self.names = ["batch", *rows], 0
        self.inputs = field(11, value_info("x", [*self.rows, width]))

    def weight(self, *dims: int) -> str:
        name, count = f"w{self.names}", 1
        self.names += 1
        for d in dims:
            count *= d
        words = array.array("h", self.random.randbytes(2 * count))
        scale = 2 ** -15 / dims[0] ** 0.5 if len(dims) > 1 else 2 ** -15
        data = array.array("f", [word * scale for word in words]).tobytes()
        self.weights += field(5, b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, data))
        return name

    def op(self, kind: str, *more: str, **integers: int):
        result = f"v{self.names}"
        self.names += 1
        attributes = b"".join(field(5, field(1, name) + field(3, value % 2 ** 64) + field(20, 2)) for name, value in integers.items())
        self.nodes += field(1, b"".join(field(1, i) for i in (self.value, *more)) + field(2, result) + field(4, kind) + attributes)
        self.value = result

    def layer(self, width: int, activation: str = ""):
        self.op("MatMul", self.weight(self.width, width))
        self.op("Add", self.weight(width))
        if activation:
            self.op(activation)
        self.width = width

    def write(self, path: Path):
        graph = self.nodes + field(2, "wide") + self.weights + self.inputs + field(12, value_info(self.value, [*self.rows, self.width]))
        path.write_bytes(field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph))


def build(kind: str, seed: int) -> Model:
    if kind == "input":  # one row as long as a picture, and a narrow chain behind it
        model = Model(seed, 16384)
        model.layer(24, "Relu")
        model.layer(5)
    elif kind == "chain":
        model = Model(seed, 640)
        model.layer(104, "Relu")
        model.layer(96, "Relu")
        model.layer(12)
    elif kind == "narrow":  # a chain whose first layer is too narrow for tensor cores
        model = Model(seed, 23)
        model.layer(104, "Relu")
        model.layer(104, "Relu")
        model.layer(12)
    elif kind == "residual":  # what the last layer adds lies where the first one's wider rows go
        model = Model(seed, 64)
        model.layer(96, "Relu")
        early = []
        for _ in range(2):
            model.layer(64, "Relu")
            early.append(model.value)
        for value in early:
            model.op("MatMul", model.weight(64, 64))
            model.op("Add", value)
            model.op("Relu")
    elif kind == "norm":  # rows that a layer reads are made right before it
        model = Model(seed, 128)
        model.op("LayerNormalization", model.weight(128), axis=-1)
        model.layer(256)
    elif kind == "skip":  # the last layer adds what the first one made
        model = Model(seed, 64)
        model.layer(64, "Relu")
        first = model.value
        model.layer(64)
        model.op("Add", first)
    elif kind == "rows":  # sixteen a sample; the middle layer stores where the last one reads
        model = Model(seed, 15, 16)
        model.op("MatMul", model.weight(15, 47))
        model.op("Elu")
        first, model.width = model.value, 47
        model.layer(47)
        model.op("Max", first)
        model.op("MatMul", model.weight(47, 15))
        model.width = 15
    elif kind == "mlp":  # narrow, wide, narrow, wide
        model = Model(seed, 24)
        model.layer(8192, "Relu")
        model.layer(40, "Tanh")
        model.layer(8192, "Sigmoid")
        model.layer(3)
    else:  # reductions along rows that a block's shared memory has no room for
        model = Model(seed, 16384)
        model.op("Softmax", axis=-1)
        model.op("LayerNormalization", model.weight(16384), model.weight(16384), axis=-1)
        model.layer(4)
    return model


folder = Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for member in range(int(sys.argv[3]) if len(sys.argv) > 3 else 2):
    build(sys.argv[1], member).write(folder / f"{member}.onnx")
