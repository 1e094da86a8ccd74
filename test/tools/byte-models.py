# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes three members with a product of bytes each, of several kinds and sizes, and rows for them, made by hand.

    python byte-models.py FOLDER
"""
import random
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import save_raw  # noqa: E402
from onnxfile import field, model, node, tensor, value_info  # noqa: E402

folder = Path(sys.argv[1])
UINT8, INT8, INT32 = 2, 3, 6


def byte(data_type: int, draw: random.Random) -> int:
    """Often at an end of the range, where sums are largest."""
    low, high = (0, 255) if data_type == UINT8 else (-128, 127)
    return draw.choice([low, high, draw.randint(low, high)])


def stored(data_type: int, values: list) -> bytes:
    return bytes(v & 255 for v in values)


# Terms, columns, types of rows and weights, zero points a column (or one for all), if there are any.
for k, n, rows, weight, zeros in [(1, 1, UINT8, INT8, 0), (4, 5, UINT8, UINT8, 1), (7, 70, INT8, INT8, 0), (64, 32, INT8, UINT8, 32), (101, 12, UINT8, INT8, 1),
                                  (300, 45, UINT8, INT8, 0), (1030, 100, INT8, INT8, 100)]:
    name = f"{k}x{n}"
    (folder / name).mkdir(parents=True, exist_ok=True)
    for member in range(3):
        draw = random.Random(f"{name} {member}")
        weights = [tensor("w", (k, n), weight, stored(weight, [byte(weight, draw) for _ in range(k * n)]))]
        operands = ["x", "w"]
        if zeros:
            weights += [tensor("p", (), rows, stored(rows, [byte(rows, draw)])),
                        tensor("q", (zeros,) if zeros > 1 else (), weight, stored(weight, [byte(weight, draw) for _ in range(zeros)]))]
            operands += ["p", "q"]
        (folder / name / f"{member}.onnx").write_bytes(
            model([node("MatMulInteger", operands, "y")], weights, [value_info("x", ["batch", k], rows)], [value_info("y", ["batch", n], INT32)]))
    draw = random.Random(name)
    for count in (1, 2, 17, 40):
        save_raw(folder / name / f"{count}.npy", "|u1" if rows == UINT8 else "|i1", (count, k), stored(rows, [byte(rows, draw) for _ in range(count * k)]))
# A layer of one column, whose bias is a single number.
(folder / "column").mkdir(exist_ok=True)
for member in range(2):
    draw = random.Random(member)
    weights = [tensor("w", (8, 1), INT8, stored(INT8, [byte(INT8, draw) for _ in range(8)])), tensor("s", (), 1, struct.pack("<f", .02)),
               tensor("p", (), UINT8, bytes([7])), tensor("q", (), INT8, bytes([0])), tensor("b", (1,), INT32, struct.pack("<i", draw.randint(-500, 500)))]
    (folder / "column" / f"{member}.onnx").write_bytes(
        model([node("QGemm", ["x", "s", "p", "w", "s", "q", "b"], "y", domain="com.microsoft")], weights, [value_info("x", ["batch", 8], UINT8)],
              [value_info("y", ["batch", 1])], field(8, field(1, "com.microsoft") + field(2, 1))))
