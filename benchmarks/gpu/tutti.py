# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our side: a session through the C interface, on the stream and in the memory that all contestants share."""
from __future__ import annotations

import ctypes as c
from pathlib import Path

import numpy as np

from ours import DTYPES, Error, Library, Options, Tensor

DEVICES = {"cpu": 1, "cuda": 2, "emulated": 3}       # tutti_device_t
HOST, DEVICE = 0, 1                                  # tutti_memory_t


def tensor(name: str, shape: tuple[int, ...], address: int, memory: int) -> Tensor:
    return Tensor(name.encode(), DTYPES[np.float32], len(shape), (c.c_int64 * len(shape))(*shape), None, address, memory)


class Tutti:
    """`outs` are output names and shapes, member axis first. On a CPU (`cuda` is None) a call returns when it is over."""

    name = "Tutti"

    def __init__(self, library: Library, artifact: Path, device: str, cuda, names: list[str], inputs: list[tuple[np.ndarray, ...]],
                 outs: dict[str, tuple[int, ...]], threads: int = 1):
        self.lib, self.cuda, self.outs = library.lib, cuda, outs
        self.artifact, self.session, self.memory = c.c_void_p(), c.c_void_p(), []
        error = self.error = Error()
        self.must(self.lib.tutti_artifact_open(str(artifact).encode(), c.byref(self.artifact), c.byref(error)))
        options = Options(c.sizeof(Options), threads, 0, False, None, DEVICES[device], cuda.ordinal if cuda else 0, None, None)
        self.must(self.lib.tutti_artifact_choose_device(self.artifact, c.byref(options), c.byref(error)))
        if cuda:
            options.context, options.stream = cuda.context, cuda.stream
        self.must(self.lib.tutti_session_create(self.artifact, c.byref(options), c.byref(self.session), c.byref(error)))
        about = self.lib.tutti_session_device(self.session).contents
        self.peaks = {"flops": about.flops, "bandwidth": about.bandwidth}
        memory = DEVICE if cuda else HOST
        self.keep = inputs if cuda is None else []
        self.tensors = [[tensor(name, x.shape, self.place(x), memory) for name, x in zip(names, xs)] for xs in inputs]
        self.references = [[c.byref(t) for t in tensors] for tensors in self.tensors]
        self.results = {}
        for out, shape in outs.items():
            array = np.full(shape, np.nan, np.float32)
            self.results[out] = array if cuda is None else self.place(array)
            address = array.ctypes.data if cuda is None else self.results[out]
            self.check(self.lib.tutti_session_bind_output(self.session, b"members", c.byref(tensor(out, shape, address, memory))))
        self.bind = self.lib.tutti_session_bind_input
        self.go = self.lib.tutti_session_run_async if cuda else self.lib.tutti_session_run

    def place(self, array: np.ndarray) -> int:
        if self.cuda is None:
            return array.ctypes.data
        self.memory.append(self.cuda.upload(array))
        return self.memory[-1]

    def must(self, status: int):
        if status:
            raise RuntimeError(f"Tutti: {self.error.message.decode()}")

    def check(self, status: int):
        if status:
            raise RuntimeError(f"Tutti: {self.lib.tutti_session_message(self.session).decode()}")

    def fill(self, params: list[dict[str, np.ndarray]]):
        """Gives every member the weights that it is to have: of an artifact that was prepared without them."""
        for m, weights in enumerate(params):
            arrays = {n: np.ascontiguousarray(w) for n, w in weights.items()}
            tensors = (Tensor * len(arrays))(*[tensor(n, w.shape, w.ctypes.data, HOST) for n, w in arrays.items()])
            self.must(self.lib.tutti_artifact_swap_weights(self.artifact, m, tensors, len(arrays), c.byref(self.error)))

    def run(self, i: int):
        for reference in self.references[i]:
            if self.bind(self.session, reference):
                self.check(1)
        if self.go(self.session):
            self.check(1)

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        blank = {n: np.full(shape, np.nan, np.float32) for n, shape in self.outs.items()}
        for n, array in blank.items():               # what a run does not write stays no number
            if self.cuda is None:
                self.results[n][...] = array
            else:
                self.cuda.write(self.results[n], array)
        self.run(i)
        self.check(self.lib.tutti_session_wait(self.session))
        return {n: r.copy() if self.cuda is None else self.cuda.download(r, self.outs[n]) for n, r in self.results.items()}

    def close(self):
        self.lib.tutti_session_destroy(self.session)
        self.lib.tutti_artifact_close(self.artifact)
        for address in self.memory:
            self.cuda.free(address)
        self.memory = []
