# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes two small ensembles of four members each, byte by byte: it needs no package.

    python make_models.py FOLDER

own/    members that share nothing: y = relu(x w + b) v
trunk/  members on a frozen trunk: y = relu(x trunk) w, the trunk the same bytes in each
tuned/  the same, but member 3 has fine-tuned its trunk
"""
import random
import struct
import sys
from pathlib import Path


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def field(number: int, value) -> bytes:
    """A protobuf field: an integer, or text, bytes and messages."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def port(name: str, columns: int) -> bytes:
    shape = field(1, field(2, "batch")) + field(1, field(1, columns))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))


def weight(name: str, seed: str, *dims: int) -> bytes:
    count, generator = 1, random.Random(seed)
    for d in dims:
        count *= d
    values = struct.pack(f"<{count}f", *(generator.gauss(0, 0.3) for _ in range(count)))
    return b"".join(field(1, d) for d in dims) + field(2, 1) + field(8, name) + field(9, values)


def node(kind: str, inputs: list, output: str) -> bytes:
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, kind))


def save(path: Path, nodes: list, weights: list):
    path.parent.mkdir(parents=True, exist_ok=True)
    graph = b"".join(nodes) + field(2, "network") + b"".join(field(5, w) for w in weights)
    graph += field(11, port("x", 8)) + field(12, port("y", 4))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))


def main():
    folder = Path(sys.argv[1])
    for m in range(4):
        save(folder / "own" / f"{m}.onnx",
             [node("MatMul", ["x", "w"], "p"), node("Add", ["p", "b"], "q"), node("Relu", ["q"], "h"), node("MatMul", ["h", "v"], "y")],
             [weight("w", f"w{m}", 8, 16), weight("b", f"b{m}", 16), weight("v", f"v{m}", 16, 4)])
        for name in ("trunk", "tuned"):
            seed = f"trunk of {m}" if name == "tuned" and m == 3 else "trunk"
            save(folder / name / f"{m}.onnx",
                 [node("MatMul", ["x", "trunk"], "p"), node("Relu", ["p"], "h"), node("MatMul", ["h", "w"], "y")],
                 [weight("trunk", seed, 8, 16), weight("w", f"w{m}", 16, 4)])


if __name__ == "__main__":
    main()
