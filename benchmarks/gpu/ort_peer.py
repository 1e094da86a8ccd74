# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX Runtime: the members' files one after another, and one file with batched MatMul; inputs and outputs on the device."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort

from networks import row_counts

VERSION = ort.__version__
MAX_LOOP = 100            # sessions
MOST_BYTES = 1 << 31      # an ONNX file with its weights inside cannot be larger


class Engine:
    """One model on the shared stream, its inputs and outputs bound once for each input set."""

    def __init__(self, model: bytes | str, inputs, cuda):
        options = ort.SessionOptions()
        options.log_severity_level = 3
        providers = ["CPUExecutionProvider"]
        if cuda:
            providers.insert(0, ("CUDAExecutionProvider", {"device_id": str(cuda.ordinal), "user_compute_stream": str(cuda.stream.value),
                                                           "use_tf32": "0"}))
        self.session = ort.InferenceSession(model, options, providers=providers)
        self.outs = [o.name for o in self.session.get_outputs()]
        self.options = ort.RunOptions()
        if cuda:
            self.options.add_run_config_entry("disable_synchronize_execution_providers", "1")
        self.bindings = []
        for xs in inputs:
            binding = self.session.io_binding()
            for about, x in zip(self.session.get_inputs(), xs):
                binding.bind_ortvalue_input(about.name, x)
            for out in self.outs:
                binding.bind_output(out, "cuda" if cuda else "cpu", cuda.ordinal if cuda else 0)
            self.bindings.append(binding)

    def run(self, i: int):
        self.session.run_with_iobinding(self.bindings[i], self.options)

    def outputs(self, i: int) -> list[np.ndarray]:
        return self.bindings[i].copy_outputs_to_cpu()


class Contestant:
    def __init__(self, name: str, engines: list[Engine], cuda):
        self.name, self.engines, self.cuda = name, engines, cuda
        if cuda:
            cuda.settle()
        for i in range(2):
            self.run(i)

    def run(self, i: int):
        for engine in self.engines:
            engine.run(i)

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        self.run(i)
        if self.cuda:
            self.cuda.wait()
        parts = [e.outputs(i) for e in self.engines]
        if len(parts) == 1:
            return dict(zip(self.engines[0].outs, (y if y.ndim == 3 else y[None] for y in parts[0])))
        return {n: np.stack([p[k] for p in parts]) for k, n in enumerate(self.engines[0].outs)}

    def close(self):
        self.engines = []


def value(array: np.ndarray, cuda):
    array = np.ascontiguousarray(array)
    return ort.OrtValue.ortvalue_from_numpy(array, "cuda", cuda.ordinal) if cuda else ort.OrtValue.ortvalue_from_numpy(array)


def makers(w, network, params: list[dict], inputs: list[tuple[np.ndarray, ...]], precision: str, cuda, compiled: bool, files: Path | None = None):
    """Models are those in `files`, else made here, which takes the onnx package."""
    if precision != "f32":
        raise LookupError("measured at f32 only")
    if cuda and "CUDAExecutionProvider" not in ort.get_available_providers():
        raise LookupError("this onnxruntime has no CUDAExecutionProvider")

    def member(m: int):
        path = files and files / w.network / f"member_{m:04}.onnx"
        if path and path.exists():
            return str(path)
        from models import member_model
        return member_model(network, params[m], m).SerializeToString()

    def loop():
        if w.per_member_input:
            each = [[[value(x[m], cuda) for x in xs] for xs in inputs] for m in range(w.members)]
        else:
            each = [[[value(x, cuda) for x in xs] for xs in inputs]] * w.members
        return Contestant("ONNX Runtime loop", [Engine(member(m), each[m], cuda) for m in range(w.members)], cuda)

    def merged():
        from models import merged_model
        model = merged_model(network, params, w.per_member_input, row_counts(w)).SerializeToString()
        return Contestant("ONNX Runtime merged", [Engine(model, [[value(x, cuda) for x in xs] for xs in inputs], cuda)], cuda)

    if w.members <= MAX_LOOP:
        yield "ONNX Runtime loop", loop
    if not network.unequal and sum(p.nbytes for p in params[0].values()) * w.members < MOST_BYTES:
        yield "ONNX Runtime merged", merged
