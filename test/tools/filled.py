# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a model in MLIR with random numbers where its weights are one number each, of about that size: columns that are all alike hide
one that is taken for another.

    python filled.py MODEL.mlir > FILLED.mlir
"""
import random
import re
import struct
import sys

draw = random.Random(3)


def fill(splat: re.Match) -> str:
    count = 1
    for d in splat[2].split("x"):
        count *= int(d)
    values = struct.pack(f"<{count}f", *(float(splat[1]) * draw.gauss(0, 1) for _ in range(count)))
    return f'values = dense<"0x{values.hex().upper()}"> : tensor<{splat[2]}xf32>'


with open(sys.argv[1]) as file:
    print(re.sub(r"values = dense<(-?[0-9.]+)> : tensor<([0-9x]+)xf32>", fill, file.read()))
