# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models whose values can be reached in 2^100 ways (doubled.onnx), and with a chain of 20000 ops (long.onnx).

    python long-chains.py FOLDER
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, value_info

folder = Path(sys.argv[1])
ports = [value_info("x", ["batch", 4])], [value_info("y", ["batch", 4])]
doubled, last = [], "x"
for i in range(100):
    doubled += [node("Abs", [last], f"a{i}"), node("Max", [last, f"a{i}"], f"b{i}")]
    last = f"b{i}"
(folder / "doubled.onnx").write_bytes(model(doubled + [node("Identity", [last], "y")], [], *ports))
names = ["x", *(f"v{i}" for i in range(1, 20000)), "y"]
long = [node("Neg" if i % 2 else "Abs", [a], b) for i, (a, b) in enumerate(zip(names, names[1:]))]
(folder / "long.onnx").write_bytes(model(long, [], *ports))
