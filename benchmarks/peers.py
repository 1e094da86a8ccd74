# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime and OpenVINO, each with every way of running an ensemble that a user would think of.

A contestant has `name`, `run(i)`, one call on input set i with nothing around it, and `outputs(i)`: the same call's
results, members first. Making one is not timed.
"""
from __future__ import annotations

import threading
from typing import Callable, Iterator

import numpy as np
import onnxruntime as ort
import openvino as ov
from openvino._pyopenvino import InferRequest as PlainRequest   # `infer` without the Python around it

from models import branch_model, member_model, merged_model
from networks import Network, Workload, output_shapes, row_counts

MAX_BRANCHES = 100        # members in one graph of branches; beyond it both peers plan for minutes
MAX_LOOP = 100            # members that are called one by one


class OrtSession:
    """One model, its inputs and outputs bound once for each input set."""

    def __init__(self, model: bytes, inputs: list[tuple[np.ndarray, ...]], threads: int, polite: bool = False):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        if polite:                        # or the pools of many sessions spin against each other
            options.add_session_config_entry("session.force_spinning_stop", "1")
        options.log_severity_level = 3
        self.session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.outs = [o.name for o in self.session.get_outputs()]
        self.bindings, self.keep = [], []
        for xs in inputs:
            values = [ort.OrtValue.ortvalue_from_numpy(x) for x in xs]
            binding = self.session.io_binding()
            for about, value in zip(self.session.get_inputs(), values):
                binding.bind_ortvalue_input(about.name, value)
            for out in self.outs:
                binding.bind_output(out, "cpu")
            self.bindings.append(binding)
            self.keep.append(values)

    def run(self, i: int):
        self.session.run_with_iobinding(self.bindings[i])

    def outputs(self, i: int) -> list[np.ndarray]:
        self.run(i)
        return self.bindings[i].copy_outputs_to_cpu()


class OvRequest:
    """One compiled model and one request, whose input tensors are changed from call to call."""

    core = ov.Core()

    def __init__(self, model: bytes, inputs: list[tuple[np.ndarray, ...]], threads: int):
        self.compiled = self.core.compile_model(self.core.read_model(model), "CPU", {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_PRECISION_HINT": "f32"})
        self.request = self.compiled.create_infer_request()
        self.tensors = [list(enumerate(ov.Tensor(x, shared_memory=True) for x in xs)) for xs in inputs]
        self.outs = [o.get_any_name() for o in self.compiled.outputs]

    def run(self, i: int):
        for place, tensor in self.tensors[i]:
            self.request.set_input_tensor(place, tensor)
        PlainRequest.infer(self.request, {}, share_outputs=True, decode_strings=False)

    def outputs(self, i: int) -> list[np.ndarray]:
        self.run(i)
        return [np.array(self.request.get_output_tensor(k).data) for k in range(len(self.outs))]


class Contestant:
    """Some engines called one after another, whose outputs together are the ensemble's."""

    def __init__(self, name: str, engines: list, workload: Workload):
        self.name, self.engines, self.workload = name, engines, workload

    def run(self, i: int):
        for engine in self.engines:
            engine.run(i)

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        parts = [e.outputs(i) for e in self.engines]
        shapes, names = output_shapes(self.workload), self.engines[0].outs
        return {n: np.concatenate([p[k].reshape(-1, p[k].shape[-1]) for p in parts]).reshape(shapes[n]) for k, n in enumerate(names)}

    def close(self):
        self.engines = []


class TwoByOne(Contestant):
    """Two threads, half of the one-thread engines each; the caller is one of the two."""

    def __init__(self, name, engines, workload):
        super().__init__(name, engines, workload)
        self.half = (len(engines) + 1) // 2
        self.go, self.done, self.index = threading.Semaphore(0), threading.Semaphore(0), 0
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        while True:
            self.go.acquire()
            if self.index < 0:
                return
            for engine in self.engines[self.half:]:
                engine.run(self.index)
            self.done.release()

    def run(self, i):
        self.index = i
        self.go.release()
        for engine in self.engines[:self.half]:
            engine.run(i)
        self.done.acquire()

    def close(self):
        self.index = -1
        self.go.release()
        self.thread.join()
        super().close()


def makers(workload: Workload, network: Network, params: list[dict], inputs: list[tuple[np.ndarray, ...]],
           threads: int) -> Iterator[tuple[str, Callable[[], Contestant]]]:
    """Name and maker of every way that makes sense at this size; models are built when a maker is called."""
    rows, per_member, members = row_counts(workload), workload.per_member_input, len(params)

    def part(lo: int, hi: int) -> list[tuple[np.ndarray, ...]]:
        return [tuple(np.ascontiguousarray(x[lo:hi]) for x in xs) for xs in inputs] if per_member else inputs

    def branches(pieces: int, engine, n: int):
        cuts = [members * k // pieces for k in range(pieces + 1)]
        return [engine(branch_model(network, params[a:b], per_member, rows, a).SerializeToString(), part(a, b), n)
                for a, b in zip(cuts, cuts[1:])]

    def loop(engine):
        bare = [[tuple(x[m] for x in xs) for xs in inputs] if per_member else inputs for m in range(members)]
        more = {"polite": True} if engine is OrtSession else {}
        return [engine(member_model(network, p, m).SerializeToString(), xs, threads, **more) for m, (p, xs) in enumerate(zip(params, bare))]

    for name, engine in (("OpenVINO", OvRequest), ("ONNX Runtime", OrtSession)):
        def merged(engine=engine, name=name):
            model = merged_model(network, params, per_member, rows).SerializeToString()
            return Contestant(f"{name} merged", [engine(model, inputs, threads)], workload)
        if not network.unequal:
            yield f"{name} merged", merged
        if members <= MAX_BRANCHES or (members <= 500 and name == "OpenVINO"):
            yield f"{name} branches", lambda engine=engine, name=name: Contestant(
                f"{name} branches", branches(1, engine, threads), workload)
        if members <= MAX_LOOP:
            yield f"{name} loop", lambda engine=engine, name=name: Contestant(f"{name} loop", loop(engine), workload)
    if threads == 2 and members >= 2:
        pieces = 2 * max(1, -(-members // (2 * MAX_BRANCHES)))
        yield "ONNX Runtime 2x1", lambda: TwoByOne("ONNX Runtime 2x1", branches(pieces, OrtSession, 1), workload)
