# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small models whose inputs and outputs are the matter, as ONNX files made by hand.

    python port-models.py FOLDER
"""
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import save  # noqa: E402
from onnxfile import model, node, value_info  # noqa: E402


def relu(x: str, outputs: list, declared: int = 1, kind: str = "Relu") -> bytes:
    """Every output is the same function of the one input."""
    return model([node(kind, [x], y) for y in outputs], [], [value_info(x, ["batch", 4])],
                 [value_info(y, ["batch", 4], declared) for y in outputs])


def difference(first: str, second: str, rows: object = "batch") -> bytes:
    return model([node("Sub", [first, second], "y")], [], [value_info(x, [rows, 4]) for x in ("x", "z")],
                 [value_info("y", [rows, 4])])


def reshape() -> bytes:
    return model([node("Reshape", ["x", "new/shape"], "y")], [], [value_info("x", ["batch", 4]), value_info("new/shape", [2], 7)],
                 [value_info("y", ["batch", 4])])


folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, file in {
    "plain": relu("x", ["y"]),
    "input": relu("z", ["y"], kind="Tanh"),
    "output": relu("x", ["w"], kind="Tanh"),
    "alike": relu("z", ["w"]),
    "renamed": relu("z", ["y"]),
    "pair": relu("x", ["y", "v"]),
    "other-pair": relu("z", ["y", "w"], kind="Tanh"),
    "swapped-pair": relu("x", ["v", "y"], kind="Tanh"),
    "renamed-pair": relu("x", ["p", "q"], kind="Tanh"),
    "integer": relu("x", ["y"], 7),
    "double": relu("x", ["y"], 11),
    "undeclared": relu("x", ["y"], 0),
    "odd": relu("in/x:0", ["out/y:0"]),
    "twins": relu("x", ["a/b", "a:b"]),
    "head": relu("x", ["y", "y.mean"]),
    "reshape": reshape(),
    "difference": difference("x", "z"),
    "turned": difference("z", "x"),
    "fixed": difference("x", "z", 1),
}.items():
    (folder / f"{name}.onnx").write_bytes(file)
save(folder / "x.npy", (2, 4), [float(i) for i in range(8)])
good = (folder / "x.npy").read_bytes()
for name, descr, cell in (("text", "<U1", 4), ("object", "|O", 8), ("date", "<M8[s]", 8), ("odd", "<f3", 3)):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 4), }}".ljust(117) + "\n"
    (folder / f"{name}.npy").write_bytes(good[:8] + struct.pack("<H", len(header)) + header.encode() + bytes(8 * cell))
