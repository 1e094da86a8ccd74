# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our side of a comparison: tutti-compile as a user calls it, and libtutti.so through its C interface."""
from __future__ import annotations

import ctypes as c
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# Numbers of tutti_dtype_t in tutti.h.
DTYPES = {np.bool_: 1, np.int8: 6, np.uint8: 7, np.int16: 8, np.uint16: 9, np.int32: 10, np.uint32: 11, np.int64: 12, np.uint64: 13, np.float16: 20,
          np.float32: 22, np.float64: 23}


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 1020)]


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("dtype", c.c_int), ("rank", c.c_int32), ("dims", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("data", c.c_void_p), ("memory", c.c_int)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("threads", c.c_uint32), ("program", c.c_uint32),
                ("verify_weights", c.c_bool), ("target", c.c_char_p), ("device", c.c_int), ("ordinal", c.c_uint32),
                ("context", c.c_void_p), ("stream", c.c_void_p)]


class DeviceInfo(c.Structure):
    _fields_ = [("name", c.c_char_p), ("device", c.c_int), ("ordinal", c.c_uint32), ("flops", c.c_double), ("bandwidth", c.c_double)]


class Library:
    """libtutti.so of a build folder."""

    def __init__(self, build: Path):
        self.path = build / "lib" / "libtutti.so"
        lib = self.lib = c.CDLL(str(self.path))
        p, out, error = c.c_void_p, c.POINTER(c.c_void_p), c.POINTER(Error)
        lib.tutti_artifact_open.argtypes = [c.c_char_p, out, error]
        lib.tutti_artifact_close.argtypes = lib.tutti_session_destroy.argtypes = [p]
        lib.tutti_artifact_close.restype = lib.tutti_session_destroy.restype = None
        lib.tutti_session_create.argtypes = [p, c.POINTER(Options), out, error]
        lib.tutti_session_message.argtypes, lib.tutti_session_message.restype = [p], c.c_char_p
        lib.tutti_session_set_active.argtypes = [p, c.POINTER(c.c_uint32), c.c_size_t]
        lib.tutti_session_bind_input.argtypes = [p, c.POINTER(Tensor)]
        lib.tutti_session_bind_output.argtypes = [p, c.c_char_p, c.POINTER(Tensor)]
        lib.tutti_session_run.argtypes = lib.tutti_session_run_async.argtypes = lib.tutti_session_wait.argtypes = [p]
        lib.tutti_artifact_choose_device.argtypes = [p, c.POINTER(Options), error]
        lib.tutti_artifact_swap_weights.argtypes = [p, c.c_uint32, c.POINTER(Tensor), c.c_size_t, error]
        lib.tutti_session_get_output.argtypes = [p, c.c_char_p, c.c_char_p, c.POINTER(Tensor)]
        lib.tutti_session_device.argtypes, lib.tutti_session_device.restype = [p], c.POINTER(DeviceInfo)


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy at a multiple of 64 bytes, where PyTorch and ONNX Runtime put their own tensors; NumPy puts large ones 16 behind a page."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy = room[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def tensor(name: str, array: np.ndarray) -> Tensor:
    """Points at the array, which has to outlive it."""
    assert array.flags.c_contiguous
    return Tensor(name.encode(), DTYPES[np.dtype(array.dtype.name).type], array.ndim, (c.c_int64 * array.ndim)(*array.shape), None, array.ctypes.data)


class Ours:
    """A session: `outs` are its outputs as (name, head, shape), of `dtype`, or of the one that it has for a name."""

    def __init__(self, library: Library, artifact: Path, names: list[str], inputs: list[tuple[np.ndarray, ...]],
                 outs: list[tuple[str, str, tuple[int, ...]]], threads: int, active: list[int] | None = None,
                 name: str = "Tutti", target: str | None = None, dtype: type | dict[str, type] = np.float32):
        self.name, self.lib = name, library.lib
        self.artifact, self.session, error = c.c_void_p(), c.c_void_p(), Error()
        if self.lib.tutti_artifact_open(str(artifact).encode(), c.byref(self.artifact), c.byref(error)):
            raise RuntimeError(f"{artifact}: {error.message.decode()}")
        options = Options(c.sizeof(Options), threads, 0, False, target.encode() if target else None)
        if self.lib.tutti_session_create(self.artifact, c.byref(options), c.byref(self.session), c.byref(error)):
            raise RuntimeError(f"{artifact}: {error.message.decode()}")
        if active is not None:
            self.check(self.lib.tutti_session_set_active(self.session, (c.c_uint32 * len(active))(*active), len(active)))
        self.inputs = inputs
        self.tensors = [[tensor(name, x) for name, x in zip(names, xs)] for xs in inputs]
        self.references = [[c.byref(t) for t in tensors] for tensors in self.tensors]
        self.results = {}
        for out, head, shape in outs:
            element = dtype[out] if isinstance(dtype, dict) else dtype
            unwritten = np.array(np.nan if issubclass(element, np.floating) else -1).astype(element)
            array = aligned(np.full(shape, unwritten, element))
            self.results[out if head == "members" else f"{out}.{head}"] = array
            self.check(self.lib.tutti_session_bind_output(self.session, head.encode(), c.byref(tensor(out, array))))
        self.bind, self.go = self.lib.tutti_session_bind_input, self.lib.tutti_session_run

    def check(self, status: int):
        if status:
            raise RuntimeError(f"{self.name}: {self.lib.tutti_session_message(self.session).decode()}")

    def run(self, i: int):
        for reference in self.references[i]:
            if self.bind(self.session, reference):
                self.check(1)
        if self.go(self.session):
            self.check(1)

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        for array in self.results.values():
            array.fill(np.nan)
        self.run(i)
        return {n: a.copy() for n, a in self.results.items()}

    def close(self):
        self.lib.tutti_session_destroy(self.session)
        self.lib.tutti_artifact_close(self.artifact)


@dataclass
class Compiled:
    path: Path
    seconds: float
    anon_bytes: int            # the compiler's largest RssAnon


def compile(build: Path, members: list[Path], path: Path, *flags: str) -> Compiled:
    """Runs tutti-compile and watches its anonymous memory."""
    names = path.with_suffix(".names")
    names.write_text("".join(f"{m}\n" for m in members))
    start = time.perf_counter()
    process = subprocess.Popen([build / "bin" / "tutti-compile", f"@{names}", "-o", path, *flags],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    most = 0
    while process.poll() is None:
        try:
            for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
                if line.startswith("RssAnon:"):
                    most = max(most, int(line.split()[1]) * 1024)
        except OSError:
            pass
        time.sleep(.003)
    seconds = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError(f"tutti-compile of {path.name} exited with {process.returncode}: {process.stderr.read().strip()}")
    return Compiled(path, seconds, most)


def bench_json(build: Path, *arguments) -> dict | list:
    """What tutti-bench --json wrote."""
    out = build / "bench" / f"tutti-bench-{os.getpid()}.json"
    subprocess.run([build / "bin" / "tutti-bench", *map(str, arguments), "--json", out], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        return json.loads(out.read_text())
    finally:
        out.unlink()


def inspect(build: Path, path: Path) -> dict:
    return json.loads(subprocess.run([build / "bin" / "tutti-inspect", path, "--json"], check=True, capture_output=True).stdout)


def peaks(build: Path, threads: int, bytes: int) -> dict:
    """GFLOP/s of register FMAs, and GB/s of reading a buffer of that many bytes, on so many threads."""
    found = bench_json(build, "--peaks", "--threads", threads, "--bytes", bytes)
    return {"gflops": found["flops"] / 1e9, "gbytes": found["bytes_per_s"] / 1e9}
