# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a GRU of 40 steps whose input has the steps first, and one that has the batch first: steps share their code in either.

    python recurrent-layouts.py FOLDER TARGET
"""
import array
import json
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402

STEPS, INPUTS, HIDDEN = 40, 4, 8
numbers = random.Random(0)


def weight(name: str, *dims: int) -> bytes:
    count = dims[0] * dims[1] * dims[2]
    return tensor(name, dims, 1, array.array("f", [numbers.uniform(-0.3, 0.3) for _ in range(count)]).tobytes())


folder, sizes = Path(sys.argv[1]), {}
folder.mkdir(parents=True, exist_ok=True)
weights = [weight("w", 1, 3 * HIDDEN, INPUTS), weight("r", 1, 3 * HIDDEN, HIDDEN)]
for layout, dims in {"steps": [STEPS, "batch", INPUTS], "batch": ["batch", STEPS, INPUTS]}.items():
    turn = [node("Transpose", ["x"], "t", perm=[1, 0, 2])] if layout == "batch" else []
    gru = node("GRU", ["t" if turn else "x", "w", "r"], ["", "h"], hidden_size=HIDDEN)
    file, artifact = folder / f"{layout}.onnx", folder / f"{layout}.tutti"
    file.write_bytes(model([*turn, gru], weights, [value_info("x", dims)], [value_info("h", [1, "batch", HIDDEN])]))
    subprocess.run(["tutti-compile", file, "-o", artifact, "--target", sys.argv[2], "--dim", "batch=1..64"], check=True)
    subprocess.run(["tutti-verify", artifact, file], check=True, stdout=subprocess.DEVNULL)
    said = json.loads(subprocess.run(["tutti-inspect", artifact, "--json"], check=True, capture_output=True).stdout)
    sizes[layout] = sum(target["code_bytes"] for target in said["targets"])
print(sizes)
if sizes["steps"] > 1.25 * sizes["batch"]:
    sys.exit("steps that lie first do not share their code")
