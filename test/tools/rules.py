# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/numerics.md, sections 2 and 3, once more and by themselves: what sums come to, bit for bit.

    python rules.py FOLDER [DEVICE...]     compiles layers and sums, runs them on each device, a CPU by default, and compares
"""
import ctypes
import ctypes.util
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import elements, save  # noqa: E402
from onnxfile import model, node, tensor, value_info  # noqa: E402

libm = ctypes.CDLL(ctypes.util.find_library("m") or "libm.so.6")


class Numbers:
    """Of a type: as it is named by ONNX, by struct and by C, how it multiplies, and columns of a whole panel."""

    def __init__(self, onnx: int, code: str, c: type, fma, panel: int):
        self.onnx, self.code, self.c, self.fma, self.panel = onnx, code, c, fma, panel
        self.bytes = ctypes.sizeof(c)
        fma.restype, fma.argtypes = c, [c] * 3

    def add(self, a: float, b: float) -> float:
        return self.c(a + b).value  # float64 holds the sum of two float32 to more than twice their digits

    def draw(self, count: int) -> list:
        return [self.c(draw.gauss(0, 1)).value for _ in range(count)]

    def packed(self, values: list) -> bytes:
        return struct.pack(f"<{len(values)}{self.code}", *values)


float32 = Numbers(1, "f", ctypes.c_float, libm.fmaf, 32)
float64 = Numbers(11, "d", ctypes.c_double, libm.fma, 16)


def chunk(k: int) -> int:
    pieces = -(-k // 256)
    return k if k <= 256 else -(-(-(-k // pieces)) // 8) * 8


def chain(of: Numbers, a: list, b: list) -> float:
    sums = []
    for first in range(0, len(a), chunk(len(a))):
        s = 0.0
        for x, w in zip(a[first:first + chunk(len(a))], b[first:]):
            s = of.fma(x, w, s)
        sums.append(s)
    total = sums[0]
    for s in sums[1:]:
        total = of.add(total, s)
    return total


def lanes(of: Numbers, a: list, b: list) -> float:
    padded = -len(a) % 16
    lane = [0.0] * 16
    for k, (x, w) in enumerate(zip(a + [0.0] * padded, b + [0.0] * padded)):
        lane[k % 16] = of.fma(x, w, lane[k % 16])
    for apart in (8, 4, 2, 1):
        lane = [of.add(lane[i], lane[i + apart]) for i in range(apart)]
    return lane[0]


def rules(of: Numbers, k: int, columns: int) -> list:
    """Of each column."""
    chosen = []
    while (left := columns - len(chosen)) > 0:
        if left >= 9:
            chosen += [chain] * min(left, of.panel if left >= of.panel - 4 else 16 if left >= 12 else 12)
        elif of is float64:
            chosen += [chain] * left
        else:
            chosen += [chain if k <= (28 if left >= 5 else 10 if left >= 3 else 6) else lanes] * left
    return chosen


def check(what: str, of: Numbers, graph: bytes, rows: int, x: list, dims: tuple, want: list):
    (folder / "m.onnx").write_bytes(graph)
    save(folder / "x.npy", (rows, *dims), x, of.code)
    subprocess.run(["tutti-compile", folder / "m.onnx", "-o", folder / "m.tutti", "--precision", "f32-ffma", "--target", targets], check=True)
    for device in devices:
        subprocess.run(["tutti-run", folder / "m.tutti", "--device", device, "--input", f"x={folder}/x.npy", "--output-dir", folder / "y"], check=True)
        got = elements((folder / "y/y.npy").read_bytes())
        differ = [i for i in range(len(want)) if got[of.bytes * i:of.bytes * i + of.bytes] != of.packed(want[i:i + 1])]
        assert len(got) == of.bytes * len(want) and not differ, f"{what} on {device}: {len(differ)} of {len(want)} differ, the first at {differ[:1]}"


folder, draw = Path(sys.argv[1]), random.Random(5)
devices = sys.argv[2:] or ["cpu"]
targets = ",".join(devices)
folder.mkdir(parents=True, exist_ok=True)
# The last one's weights are more than the first cache holds: rows go by with a piece of half the columns.
shapes = ((300, 37), (784, 10), (64, 45), (23, 8), (29, 8), (600, 41), (10, 3), (11, 3), (6, 2), (7, 1), (520, 28), (3072, 8))
for of in (float32, float64):
    for k, n in shapes:
        rows = 40 if k > 3000 and devices == ["cpu"] else 2
        x, w, b = of.draw(rows * k), of.draw(k * n), of.draw(n)
        layer = model([node("MatMul", ["x", "w"], "p"), node("Add", ["p", "b"], "y")],
                      [tensor("w", (k, n), of.onnx, of.packed(w)), tensor("b", (n,), of.onnx, of.packed(b))],
                      [value_info("x", ["batch", k], of.onnx)], [value_info("y", ["batch", n], of.onnx)])
        want = [of.add(rule(of, x[r * k:r * k + k], w[j::n]), b[j]) for r in range(rows) for j, rule in enumerate(rules(of, k, n))]
        check(f"a layer of {k} by {n}", of, layer, rows, x, (k,), want)

for dims, axis, rule in (((37,), 1, lanes), ((300, 3), 1, chain), ((3, 300), 2, lanes)):
    of, rows = float32, 2
    count, length = dims[0] * (dims[1] if len(dims) > 1 else 1), dims[axis - 1]
    x, others = of.draw(rows * count), count // length
    total = model([node("ReduceSum", ["x", "axis"], "y", keepdims=0)], [tensor("axis", (1,), 7, struct.pack("<q", axis))],
                  [value_info("x", ["batch", *dims])], [value_info("y", ["batch", *(d for i, d in enumerate(dims) if i != axis - 1)])])
    places = [range(j, count, others) if rule is chain else range(j * length, (j + 1) * length) for j in range(others)]
    want = [rule(of, [x[r * count + i] for i in at], [1.0] * length) for r in range(rows) for at in places]
    check(f"a sum of {dims} along {axis}", of, total, rows, x, dims, want)
