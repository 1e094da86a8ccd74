# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What NVRTC takes for the workloads' kernels: CPU time of each text, the least of some runs. Needs NVRTC, no GPU."""
from __future__ import annotations

import argparse
import ctypes as c
import ctypes.util
import os
import shutil
import sys
import time
from pathlib import Path

import ours
from models import write_members
from networks import NETWORKS, WORKLOADS

ROOT = Path(__file__).resolve().parent.parent
DEVICE = ROOT / "compiler" / "codegen" / "cuda" / "device"
# As compiler/codegen/cuda/images/Nvrtc.cpp has them.
FLAGS = ["--std=c++20", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false", "--device-as-default-execution-space"]


def library() -> str | None:
    """$TUTTI_NVRTC, the library or its folder, and nothing else where that is set; else a toolkit's, or the loader's."""
    said = os.environ.get("TUTTI_NVRTC")
    place = Path(said or "/usr/local/cuda/lib64")
    found = [place] if place.is_file() else sorted(p for p in place.glob("libnvrtc.so*") if p.is_file())
    return str(found[0]) if found else None if said else ctypes.util.find_library("nvrtc")


class Nvrtc:
    def __init__(self):
        found = library()
        if found is None:
            sys.exit("no NVRTC here: TUTTI_NVRTC names the library, or the folder where it is")
        self.lib = c.CDLL(found)
        headers = sorted(DEVICE.glob("*.cuh"))
        self.names = (c.c_char_p * len(headers))(*(f"tutti/{h.name}".encode() for h in headers))
        self.texts = (c.c_char_p * len(headers))(*(h.read_bytes() for h in headers))
        major, minor = c.c_int(), c.c_int()
        self.lib.nvrtcVersion(c.byref(major), c.byref(minor))
        self.version = f"{major.value}.{minor.value}"

    def seconds(self, text: bytes, architecture: str) -> float:
        program, flags = c.c_void_p(), [f.encode() for f in [*FLAGS, f"--gpu-architecture={architecture}"]]
        self.lib.nvrtcCreateProgram(c.byref(program), text, b"kernel", len(self.names), self.texts, self.names)
        start = time.process_time()
        failed = self.lib.nvrtcCompileProgram(program, len(flags), (c.c_char_p * len(flags))(*flags))
        taken = time.process_time() - start
        self.lib.nvrtcDestroyProgram(c.byref(program))
        if failed:
            raise RuntimeError(f"NVRTC refuses a text for {architecture}: error {failed}")
        return taken


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --nvrtc", description=__doc__)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"networks: {', '.join(NETWORKS)} (repeats)")
    parser.add_argument("--precision", default="f32,bf16")
    parser.add_argument("--architecture", default="sm_90a")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    nvrtc, slow, all = Nvrtc(), 0, 0
    print(f"NVRTC {nvrtc.version}, {args.architecture}, CPU time, least of {args.runs}\n")
    print("| network | precision | text | ms |\n|---|---|---|--:|")
    for name in args.only or NETWORKS:
        network, members = NETWORKS[name], min(10, max(w.members for w in WORKLOADS if w.network == name))
        flags = [f for x in network.inputs.values() for f in ("--dim", f"{x.rows}=1..{x.max_rows}")] + ["--unequal"] * network.unequal
        for precision in args.precision.split(","):
            stages = args.build / "bench" / "nvrtc"
            shutil.rmtree(stages, ignore_errors=True)
            ours.compile(args.build, write_members(name, members, args.build / "bench"), stages.with_suffix(".tutti"), *flags,
                         "--target", args.architecture, "--precision", precision, "--dump-stages", stages)
            for text in sorted(stages.glob("*.cu")):
                ms = 1e3 * min(nvrtc.seconds(text.read_bytes(), args.architecture) for _ in range(args.runs))
                all, slow = all + 1, slow + (ms > 300)
                print(f"| {name} | {precision} | {text.stem} | {ms:.0f} |", flush=True)
    print(f"\n{all - slow} of {all} texts in 300 ms or less")
    return 0


if __name__ == "__main__":
    sys.exit(main())
