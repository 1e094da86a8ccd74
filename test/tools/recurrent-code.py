# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps of recurrent networks share their code: on a CPU whether the input has the steps first or the batch; in CUDA kernels however many there are.

    python recurrent-code.py FOLDER TARGET
"""
import array
import json
import os
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import model, node, tensor, value_info  # noqa: E402

INPUTS = 4
numbers = random.Random(0)
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def weight(name: str, *dims: int) -> bytes:
    count = dims[0] * dims[1] * dims[2]
    return tensor(name, dims, 1, array.array("f", [numbers.uniform(-0.3, 0.3) for _ in range(count)]).tobytes())


def compiled(name: str, kind: str, gates: int, steps: int, hidden: int, stepsFirst: bool, *options) -> Path:
    weights = [weight("w", 1, gates * hidden, INPUTS), weight("r", 1, gates * hidden, hidden)]
    turn = [] if stepsFirst else [node("Transpose", ["x"], "t", perm=[1, 0, 2])]
    op = node(kind, ["t" if turn else "x", "w", "r"], ["", "h"], hidden_size=hidden)
    dims = [steps, "batch", INPUTS] if stepsFirst else ["batch", steps, INPUTS]
    file, artifact = folder / f"{name}.onnx", folder / f"{name}.tutti"
    file.write_bytes(model([*turn, op], weights, [value_info("x", dims)], [value_info("h", [1, "batch", hidden])]))
    subprocess.run(["tutti-compile", file, "-o", artifact, "--dim", "batch=1..64", *options], check=True)
    device = ["--device", "emulated"] if "emulated" in options else []
    environment = dict(os.environ, TUTTI_CUDA_DRIVER=str(Path(os.environ["TUTTI_LIBRARIES"]) / "libcuda-emulated.so"))
    subprocess.run(["tutti-verify", artifact, file, *device], check=True, stdout=subprocess.DEVNULL, env=environment)
    return artifact


def codeBytes(artifact: Path) -> int:
    said = json.loads(subprocess.run(["tutti-inspect", artifact, "--json"], check=True, capture_output=True).stdout)
    return sum(target["code_bytes"] for target in said["targets"])


first, behind = (codeBytes(compiled(f"layout-{isFirst}", "GRU", 3, 40, 8, isFirst, "--target", sys.argv[2])) for isFirst in (True, False))
print(f"with the steps first {first} bytes, behind the batch {behind}")
if first > 1.25 * behind:
    sys.exit("steps that lie first do not share their code")

for kind, gates in {"LSTM": 4, "GRU": 3}.items():
    lengths = []
    for steps in (8, 16):
        texts = folder / f"{kind}-{steps}"
        compiled(f"{kind}-{steps}", kind, gates, steps, 48, False, "--target", "emulated", "--dump-stages", texts)
        lengths.append(sum(len(text.read_text()) for text in texts.glob("*.cu")))
    print(f"{kind}: kernels of 8 steps have {lengths[0]} characters, of 16 steps {lengths[1]}")
    if lengths[1] > 1.02 * lengths[0]:
        sys.exit("steps of a CUDA kernel have texts of their own")
