# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: jit(vmap) over stacked parameters. It has streams of its own, so it is timed by the host's clock over many calls."""
from __future__ import annotations

import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")      # others need memory, too

import jax
import jax.numpy as jnp
import numpy as np

from networks import Emitter

VERSION = jax.__version__
DTYPES = {"f32": jnp.float32, "tf32": jnp.float32, "bf16": jnp.bfloat16, "f16": jnp.float16}


class Jax(Emitter):
    """An emitter of networks.py."""

    def __init__(self, params):
        self.params = params

    def linear(self, x, name, inner, outer):
        return x @ self.params[f"{name}.weight"].T + self.params[f"{name}.bias"]

    def matmul(self, x, name, inner, outer):
        return x @ self.params[name].T

    def act(self, kind, x):
        if kind == "symexp":
            return jnp.sign(x) * jnp.expm1(jnp.abs(x))
        if kind == "celu":
            return jax.nn.celu(x, .1)
        if kind == "mish":
            return x * jnp.tanh(jax.nn.softplus(x))
        return {"relu": jax.nn.relu, "tanh": jnp.tanh, "silu": jax.nn.silu, "softmax": jax.nn.softmax}[kind](x)

    def layer_norm(self, x, name, width):
        x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        return x * self.params[f"{name}.weight"] + self.params[f"{name}.bias"]

    def param(self, name, width, lo, hi):
        return self.params[name]

    def split(self, x, width):
        return x[..., :width], x[..., width:]

    def dot(self, x, name, values):
        return x @ jnp.asarray(values, x.dtype)[:, None]

    def softplus(self, x):
        return jax.nn.softplus(x)


class Contestant:
    name = "JAX jit(vmap)"
    own_stream = True

    def __init__(self, call, stacked, inputs, rounds_everything: bool):
        self.call, self.stacked, self.inputs, self.rounds_everything = call, stacked, inputs, rounds_everything
        self.run(0)
        self.wait()

    def run(self, i: int):
        self.got = self.call(self.stacked, *self.inputs[i])

    def wait(self):
        jax.block_until_ready(self.got)

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        self.run(i)
        return {n: np.asarray(y.astype(jnp.float32)) for n, y in self.got.items()}

    def close(self):
        self.stacked = self.inputs = self.got = None


def makers(w, network, params: list[dict], inputs: list[tuple[np.ndarray, ...]], precision: str, cuda, compiled: bool):
    dtype, device = DTYPES[precision], jax.devices("cuda" if cuda else "cpu")[cuda.ordinal if cuda else 0]
    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if precision == "tf32" else "highest" if precision == "f32" else "default")

    def make():
        stacked = {n: jax.device_put(jnp.asarray(np.stack([p[n] for p in params]), dtype), device) for n in params[0]}
        xs = [tuple(jax.device_put(jnp.asarray(x, dtype), device) for x in xs) for xs in inputs]
        axes = (0,) + (0 if w.per_member_input else None,) * len(network.inputs)
        call = jax.jit(jax.vmap(lambda p, *xs: network.emit(Jax(p), *xs), in_axes=axes))
        return Contestant(call, stacked, xs, dtype != jnp.float32)
    if not network.unequal:                              # nothing to stack
        yield Contestant.name, make
