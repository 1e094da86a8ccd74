# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an artifact on the CPU and on the emulated device, with several active sets, and compares every byte.

    python same-bits.py FILE.tutti FOLDER [ROWS | ROWS:MEMBER,MEMBER...]...     ROWS: a number for all sizes, or a=1+b=40
    python same-bits.py --close FILE.tutti FOLDER ...     float32 outputs, to 2^-18 of the largest: sums may be in another order
"""
import array
import json
import os
import random
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import elements, save  # noqa: E402

close = sys.argv[1] == "--close"
artifact, folder, *asked = sys.argv[1 + close:]
folder = Path(folder)
calls = [(rows, active) for rows, _, active in (word.partition(":") for word in asked)] or [("1", ""), ("19", ""), ("40", "3,0")]
library = Path(os.environ["TUTTI_LIBRARIES"]) / "libcuda-emulated.so"
environment = dict(os.environ, TUTTI_CUDA_DRIVER=str(library))


about = json.loads(subprocess.check_output(["tutti-inspect", artifact, "--json"]))
generator = random.Random(1)
for rows, active in calls:
    sizes = dict(word.split("=") for word in rows.split("+")) if "=" in rows else {}
    arguments = ["tutti-run", artifact] + (["--active", active] if active else [])
    for port in about["inputs"]:
        members = len(active.split(",")) if active else len(about["members"])
        shape = tuple(d if isinstance(d, int) else members if d == "members" else int(sizes.get(d, rows)) for d in port["dims"])
        count = 1
        for d in shape:
            count *= d
        save(folder / "in.npy", shape, [generator.gauss(0, 1) for _ in range(count)])
        arguments += ["--input", f"{port['name']}={folder / 'in.npy'}"]
    for device in ("cpu", "emulated"):
        subprocess.check_call(arguments + ["--device", device, "--output-dir", folder / device], env=environment)
    names = sorted(p.name for p in (folder / "cpu").iterdir())
    assert names == sorted(p.name for p in (folder / "emulated").iterdir()) and names, names
    for name in names:
        a, b = ((folder / device / name).read_bytes() for device in ("cpu", "emulated"))
        if close:
            a, b = (array.array("f", elements(raw)) for raw in (a, b))
            assert len(a) == len(b) and all(abs(x - y) <= 2 ** -18 * max(map(abs, a)) for x, y in zip(a, b)), f"{name}: too far apart"
            continue
        assert a == b, f"{name} with {rows} rows, active {active}: the bytes differ"
