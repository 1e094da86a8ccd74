# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an artifact on the emulated device, and each of its members alone, and compares every byte of their rows.

    python alone.py FILE.tutti FOLDER MEMBER=ALONE.tutti...
"""
import json
import os
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import elements, save  # noqa: E402

artifact, folder, *alone = sys.argv[1:]
folder = Path(folder)
environment = dict(os.environ, TUTTI_CUDA_DRIVER=str(Path(os.environ["TUTTI_LIBRARIES"]) / "libcuda-emulated.so"))


def outputs(file: str, to: str, inputs: list, *more: str) -> dict:
    subprocess.check_call(["tutti-run", file, "--device", "emulated", "--output-dir", folder / to, *inputs, *more], env=environment)
    raw = {p.name: p.read_bytes() for p in sorted((folder / to).iterdir())}
    assert raw
    return {name: elements(b) for name, b in raw.items()}


about = json.loads(subprocess.check_output(["tutti-inspect", artifact, "--json"]))
generator = random.Random(2)
for rows in (1, 19, 64):
    inputs = []
    for port in about["inputs"]:
        shape = tuple(d if isinstance(d, int) else rows for d in port["dims"])
        count = 1
        for d in shape:
            count *= d
        save(folder / f"{port['name']}.npy", shape, [generator.gauss(0, 1) for _ in range(count)])
        inputs += ["--input", f"{port['name']}={folder / port['name']}.npy"]
    members = len(about["members"])
    together = outputs(artifact, "together", inputs)
    for word in alone:
        member, _, file = word.partition("=")
        own, picked = outputs(file, "alone", inputs), outputs(artifact, "picked", inputs, "--active", member)
        for name, bytes_ in own.items():
            each, m = len(bytes_), int(member)
            assert len(together[name]) == members * each
            assert together[name][m * each:(m + 1) * each] == bytes_, f"{name}: member {member} with {rows} rows has other bits among all"
            assert picked[name] == bytes_, f"{name}: member {member} with {rows} rows has other bits by itself"
