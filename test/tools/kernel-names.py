# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the kernels of an artifact have different names, and its launches name kernels that its architectures have code of.

    python kernel-names.py INSPECTED.json
"""
import json
import sys

artifact = json.load(open(sys.argv[1]))
kernels = {kernel["name"]: kernel for kernel in artifact["kernels"]}
assert len(kernels) == len(artifact["kernels"]), sorted(kernel["name"] for kernel in artifact["kernels"])
for place, program in enumerate(artifact["programs"]):
    for launch in program.get("grids", []):
        for way in [launch, *launch["alternatives"]]:
            kernel = kernels[way["kernel"]]
            assert place in kernel["programs"], (place, way["kernel"])
            assert set(program["architectures"]) <= {image["target"] for image in kernel["images"]}, way["kernel"]
