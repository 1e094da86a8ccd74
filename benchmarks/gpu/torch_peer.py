# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: the members in a loop, by torch.func.vmap over stacked parameters, and that compiled."""
from __future__ import annotations

import contextlib

import numpy as np
import torch
import torch.nn.functional as F

from networks import Emitter

VERSION = torch.__version__
DTYPES = {"f32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


class Torch(Emitter):
    """An emitter of networks.py over one member's tensors, or over stacked ones under vmap."""

    def __init__(self, params: dict[str, torch.Tensor], constants: dict[str, torch.Tensor]):
        self.params, self.constants = params, constants

    def linear(self, x, name, inner, outer):
        return F.linear(x, self.params[f"{name}.weight"], self.params[f"{name}.bias"])

    def matmul(self, x, name, inner, outer):
        return x @ self.params[name].T

    def act(self, kind, x):
        if kind == "softmax":
            return torch.softmax(x, -1)
        if kind == "symexp":
            return torch.sign(x) * torch.expm1(torch.abs(x))
        if kind == "celu":
            return F.celu(x, .1)
        return {"relu": F.relu, "tanh": torch.tanh, "silu": F.silu, "mish": F.mish}[kind](x)

    def layer_norm(self, x, name, width):
        return F.layer_norm(x, (width,), self.params[f"{name}.weight"], self.params[f"{name}.bias"], 1e-5)

    def param(self, name, width, lo, hi):
        return self.params[name]

    def split(self, x, width):
        return x[..., :width], x[..., width:]

    def dot(self, x, name, values):
        if name not in self.constants:
            self.constants[name] = torch.as_tensor(values, dtype=x.dtype, device=x.device)[:, None]
        return x @ self.constants[name]

    def softplus(self, x):
        return F.softplus(x)


class Contestant:
    """`call(*xs)` gives a dict of outputs, or a list of them, one a member."""

    def __init__(self, name: str, call, inputs, stream, rounds_everything: bool, mark=lambda: None):
        self.name, self.call, self.inputs, self.stream, self.mark = name, call, inputs, stream, mark
        self.rounds_everything = rounds_everything
        if stream:
            torch.cuda.synchronize()                     # what made inputs and weights was on another stream
        for i in range(3):                               # compiles, and captures graphs, where there is anything of the kind
            self.run(i)

    def run(self, i: int):
        with torch.inference_mode(), torch.cuda.stream(self.stream) if self.stream else contextlib.nullcontext():
            self.mark()
            self.got = self.call(*self.inputs[i])

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        self.run(i)
        if self.stream:
            self.stream.synchronize()
        got = self.got
        if isinstance(got, list):
            got = {n: torch.stack([g[n] for g in got]) for n in got[0]}
        return {n: y.float().cpu().numpy() for n, y in got.items()}

    def close(self):
        self.call = self.inputs = self.got = None
        if self.stream:
            torch.cuda.empty_cache()


def makers(w, network, params: list[dict], inputs: list[tuple[np.ndarray, ...]], precision: str, cuda, compiled: bool):
    """Name and maker of each way; `cuda` is None on a CPU."""
    device, dtype = f"cuda:{cuda.ordinal}" if cuda else "cpu", DTYPES[precision]
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    if cuda:
        torch.cuda.set_device(cuda.ordinal)
    stream = torch.cuda.ExternalStream(cuda.stream.value, device) if cuda else None
    rounds = dtype != torch.float32
    made = {}

    def on(array: np.ndarray) -> torch.Tensor:
        return torch.as_tensor(array).to(device, dtype)

    def xs():
        if "xs" not in made:
            made["xs"] = [tuple(on(x) for x in xs) for xs in inputs]
        return made["xs"]

    def loop():
        constants, members = {}, [{n: on(v) for n, v in p.items()} for p in params]
        nets = [Torch(p, constants) for p in members]
        per_member = w.per_member_input
        return Contestant("torch loop", lambda *xs: [network.emit(n, *((x[m] for x in xs) if per_member else xs), member=m) for m, n in enumerate(nets)],
                          xs(), stream, rounds)

    def vmapped():
        stacked, constants = {n: on(np.stack([p[n] for p in params])) for n in params[0]}, {}
        dims = (0,) + (0 if w.per_member_input else None,) * len(network.inputs)
        mapped = torch.func.vmap(lambda p, *xs: network.emit(Torch(p, constants), *xs), in_dims=dims)
        mapped(stacked, *xs()[0])                        # fills in the constants
        return lambda *xs: mapped(stacked, *xs)

    def compile(name: str, mark=lambda: None, **options):
        torch._dynamo.reset()
        return Contestant(name, torch.compile(vmapped(), dynamic=False, fullgraph=True, **options), xs(), stream, rounds, mark)

    yield "torch loop", loop
    if network.unequal:                                  # nothing to stack
        return
    yield "torch vmap", lambda: Contestant("torch vmap", vmapped(), xs(), stream, rounds)
    if compiled:
        yield "torch vmap + compile", lambda: compile("torch vmap + compile")
        if cuda:
            yield "torch vmap + compile, CUDA graph", lambda: compile("torch vmap + compile, CUDA graph",
                                                                      torch.compiler.cudagraph_mark_step_begin, mode="reduce-overhead")
