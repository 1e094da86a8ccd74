# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark networks, each written once over an emitter: ONNX writers, the float64 reference and the counter read it.

An emitter has the methods of `Emitter`; a value is whatever that emitter makes of one (a tensor name, an array, a width).
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np


class Emitter:
    """What a network may use. `linear` is torch's Linear: y = x W^T + b, W of [out, in]. Arrays have their own arithmetic."""

    def linear(self, x, name: str, inner: int, outer: int): ...
    def matmul(self, x, name: str, inner: int, outer: int): ...        # the same matrix in all members, no bias
    def act(self, kind: str, x): ...                 # relu, tanh, silu, mish, celu (of alpha 0.1), softmax (last axis), symexp: sign(x)(exp|x| - 1)
    def layer_norm(self, x, name: str, width: int): ...
    def param(self, name: str, width: int, lo: float, hi: float): ...   # a row vector, uniform in lo..hi
    def dot(self, x, name: str, values: np.ndarray): ...               # with the same vector in all members: one column
    def split(self, x, width: int): ...              # two halves of the last axis, `width` each
    def sub(self, a, b): return a - b
    def add(self, a, b): return a + b
    def mul(self, a, b): return a * b
    def softplus(self, x): ...                       # torch's: x itself above 20


def mlp(widths: list[int], act: str) -> Callable[[Emitter, object], dict]:
    def network(e: Emitter, x):
        for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
            x = e.linear(x, str(2 * i), inner, outer)
            if i + 2 < len(widths):
                x = e.act(act, x)
        return {"y": x}
    return network


def pets(e: Emitter, x):
    """A dynamics model of Chua et al. 2018: mean and softly bounded log-variance."""
    for i, inner in enumerate([24, 200, 200, 200]):
        x = e.act("silu", e.linear(x, f"hidden.{2 * i}", inner, 200))
    mean, v = e.split(e.linear(x, "head", 200, 36), 18)
    lo, hi = e.param("min_logvar", 18, -10.5, -9.5), e.param("max_logvar", 18, 0.25, 0.75)
    v = e.sub(hi, e.softplus(e.sub(hi, v)))
    return {"mean": mean, "logvar": e.add(lo, e.softplus(e.sub(v, lo)))}


def tdmpc(e: Emitter, z):
    """A value head of TD-MPC2 (Hansen et al. 2024): 101 bins of a symmetric logarithm, and the value that they mean."""
    for i, inner in enumerate([518, 512]):
        z = e.linear(z, f"{i}.linear", inner, 512)
        z = e.act("mish", e.layer_norm(z, f"{i}.norm", 512))
    p = e.act("softmax", e.linear(z, "2", 512, 101))
    return {"q": e.act("symexp", e.dot(p, "bins", np.linspace(-10, 10, 101, dtype=np.float32)))}


def tabm(e: Emitter, x):
    """TabM (Gorishniy et al. 2024): one network's matrices for all members, and vectors of a member's own on either side of each."""
    inner = 24
    for i in range(3):
        x = e.matmul(e.mul(x, e.param(f"{i}.r", inner, .5, 1.5)), f"{i}.weight", inner, 512)
        x = e.act("relu", e.add(e.mul(x, e.param(f"{i}.s", 512, .5, 1.5)), e.param(f"{i}.bias", 512, -.2, .2)))
        inner = 512
    return {"y": e.linear(x, "head", 512, 1)}


def fbpinn(e: Emitter, x):
    """A subdomain's network of FBPINNs (Moseley et al. 2023): its points are scaled to its own centre and width first."""
    x = e.mul(e.sub(x, e.param("centre", 2, -1, 1)), e.param("scale", 2, 1, 4))
    return {"u": e.linear(e.act("tanh", e.linear(x, "0", 2, 16)), "2", 16, 1)}


ANI = {"h": (256, 192, 160), "c": (224, 192, 160), "n": (192, 160, 128), "o": (192, 160, 128)}


def ani(e: Emitter, *atoms):
    """ANI-2x (Devereux et al. 2020): each element has a network of its own, and each atom goes through its element's."""
    energies = {}
    for (element, hidden), x in zip(ANI.items(), atoms):
        widths = [1008, *hidden, 1]
        for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
            x = e.linear(x, f"{element}.{2 * i}", inner, outer)
            if outer != 1:
                x = e.act("celu", x)
        energies[f"energy_{element}"] = x
    return energies


@dataclass(frozen=True)
class Workload:
    """One row of the table: a network, how many members, how many rows, and what it is held to."""
    name: str
    network: str              # key of NETWORKS: workloads of one network share its member files
    members: int
    rows: int | tuple[int, ...]   # of each input, or of all
    madds: float              # millions, of all members, as docs state them; the maker checks itself against it
    goal: float               # share of the limit that we want, 0..1
    per_member_input: bool = False


@dataclass(frozen=True)
class Input:
    width: int
    max_rows: int = 64        # the range that artifacts are compiled for
    rows: str = "batch"       # the dimension's name


@dataclass(frozen=True)
class Network:
    emits: tuple[Callable, ...]   # of member m the one at m modulo their number: members of unequal structure
    inputs: dict[str, Input]

    def emit(self, e: Emitter, *values, member: int = 0) -> dict:
        return self.emits[member % len(self.emits)](e, *values)

    @property
    def unequal(self) -> bool:
        return len(self.emits) > 1


def single(emit: Callable, width: int, input: str = "x", max_rows: int = 64) -> Network:
    return Network((emit,), {input: Input(width, max_rows)})


NETWORKS = {
    "mlp": single(mlp([784, 128, 128, 10], "relu"), 784),
    "twin": single(mlp([30, 256, 256, 256, 1], "relu"), 30),
    "redq": single(mlp([23, 256, 256, 1], "relu"), 23, max_rows=256),
    "sacn": single(mlp([23, 256, 256, 256, 1], "relu"), 23, max_rows=256),
    "ppo": single(mlp([4, 64, 64, 2], "tanh"), 4),
    "tglf": single(mlp([15, 512, 512, 512, 512, 512, 2], "relu"), 15, max_rows=1000),
    "pets": single(pets, 24, max_rows=20000),
    "tdmpc": single(tdmpc, 518, input="z", max_rows=256),
    "tabm": single(tabm, 24, max_rows=256),
    "fbpinn": single(fbpinn, 2),
    "ani": Network((ani,), {f"aev_{element}": Input(1008, 4096, f"atoms_{element}") for element in ANI}),
    "unequal": Network(tuple(mlp([784, h, h, 10], "relu") for h in (512, 256, 128, 64)), {"x": Input(784)}),
}

WORKLOADS = [
    Workload("mlp E=10 B=64", "mlp", 10, 64, 75.53, .93),
    Workload("mlp E=10 B=64 per-member input", "mlp", 10, 64, 75.53, .92, per_member_input=True),
    Workload("mlp E=10 B=1", "mlp", 10, 1, 1.18, .85),
    Workload("mlp E=100 B=64", "mlp", 100, 64, 755.3, .92),
    Workload("mlp E=1000 B=64", "mlp", 1000, 64, 7553, .88),
    Workload("twin", "twin", 2, 16, 4.448, .75),
    Workload("redq E=10", "redq", 10, 256, 183.5, .92),
    Workload("sacn E=500", "sacn", 500, 256, 17564, .92),
    Workload("tglf", "tglf", 5, 1000, 5286, .94),
    Workload("pets B=256", "pets", 7, 256, 236.5, .78),
    Workload("pets B=20k", "pets", 7, 20000, 18480, .80),
    Workload("tdmpc B=256", "tdmpc", 5, 256, 741.2, .86),
    Workload("ppo E=2048 B=4", "ppo", 2048, 4, 36.70, .75, per_member_input=True),
    Workload("tabm E=32 B=256", "tabm", 32, 256, 4400, .80),
    Workload("fbpinn E=1000 B=60", "fbpinn", 1000, 60, 2.88, .80, per_member_input=True),
    Workload("ani E=8, 25 atoms", "ani", 8, (12, 8, 3, 2), 61.43, .80),
    Workload("ani E=8, 2560 atoms", "ani", 8, (1229, 819, 307, 205), 6290, .80),
    Workload("unequal MLPs E=8 B=64", "unequal", 8, 64, 142.1, .80),
]


class Counter:
    """Reads a network's parameters, in order, and the multiply-adds of a row of each input. A value is the number of the input
    whose rows it has, None for a parameter."""

    def __init__(self, inputs: int):
        self.params: list[tuple[str, tuple[int, ...], float, float]] = []   # name, shape, uniform lo..hi
        self.shared: set[str] = set()                # of which all members have the same
        self.madds = [0] * inputs
        self.widths: dict[str, tuple[int, int]] = {} # of each output: the input whose rows it has, and its width

    def linear(self, x, name, inner, outer):
        bound = inner ** -0.5                        # torch's init of Linear, for weight and bias alike
        self.params += [(f"{name}.weight", (outer, inner), -bound, bound), (f"{name}.bias", (outer,), -bound, bound)]
        self.madds[x] += inner * outer
        return x

    def matmul(self, x, name, inner, outer):
        self.params.append((name, (outer, inner), -inner ** -0.5, inner ** -0.5))
        self.shared.add(name)
        self.madds[x] += inner * outer
        return x

    def layer_norm(self, x, name, width):            # torch starts at 1 and 0, where a mistake would not show
        self.params += [(f"{name}.weight", (width,), 0.5, 1.5), (f"{name}.bias", (width,), -0.5, 0.5)]
        return x

    def param(self, name, width, lo, hi):
        self.params.append((name, (1, width), lo, hi))

    def split(self, x, width):
        return x, x

    def dot(self, x, name, values):
        return x

    def act(self, kind, x):
        return x

    def sub(self, a, b):
        return b if a is None else a

    add = mul = sub

    def softplus(self, x):
        return x


def count(network: Network, member: int = 0) -> Counter:
    counter = Counter(len(network.inputs))
    outs = network.emit(counter, *range(len(network.inputs)), member=member)
    params = {name: np.zeros(shape, np.float32) for name, shape, _, _ in counter.params}
    made = network.emit(Reference(params), *(np.zeros((1, x.width)) for x in network.inputs.values()), member=member)
    counter.widths = {name: (outs[name], y.shape[-1]) for name, y in made.items()}
    return counter


def row_counts(w: Workload) -> tuple[int, ...]:
    """Rows of each input."""
    return w.rows if isinstance(w.rows, tuple) else (w.rows,) * len(NETWORKS[w.network].inputs)


def madds(w: Workload) -> float:
    """Multiply-adds of one call of all members, counted from the network itself."""
    network, rows = NETWORKS[w.network], row_counts(w)
    kinds = [sum(r * n for r, n in zip(rows, count(network, m).madds)) for m in range(len(network.emits))]
    return sum(kinds[m % len(kinds)] for m in range(w.members))


def output_shapes(w: Workload) -> dict[str, tuple[int, int, int]]:
    """Members, rows and columns of every output."""
    rows = row_counts(w)
    return {name: (w.members, rows[x], width) for name, (x, width) in count(NETWORKS[w.network]).widths.items()}


def call_bytes(w: Workload, weight_bytes: int = 4) -> int:
    """Weights, inputs and outputs of a call, once each, unpadded. Inputs and outputs are float32."""
    network = NETWORKS[w.network]
    kinds = []
    for m in range(len(network.emits)):
        counted = count(network, m)
        sizes = {name: weight_bytes * int(np.prod(shape)) for name, shape, _, _ in counted.params}
        shared = sum(sizes[name] for name in counted.shared)
        kinds.append((shared, sum(sizes.values()) - shared))
    each = sum(kinds[m % len(kinds)][1] for m in range(w.members)) + kinds[0][0]
    inputs = 4 * sum(r * x.width for r, x in zip(row_counts(w), network.inputs.values()))
    outputs = 4 * sum(int(np.prod(shape)) for shape in output_shapes(w).values())
    return each + inputs * (w.members if w.per_member_input else 1) + outputs


def weights(network: Network, members: int, seed: int = 1) -> list[dict[str, np.ndarray]]:
    """Every member's parameters. Member m's are the same in an ensemble of any size."""
    kinds = [count(network, m) for m in range(len(network.emits))]
    out = []
    for m in range(members):
        counted = kinds[m % len(kinds)]
        rng = np.random.Generator(np.random.SFC64([seed, m]))
        out.append({name: lo + np.float32(hi - lo) * rng.random(shape, np.float32) for name, shape, lo, hi in counted.params})
        for name in counted.shared:
            out[m][name] = out[0][name]
    return out


class Reference(Emitter):
    """Evaluates one member in `dtype`, rows last but one; float64 is the truth, float32 tells what rounding alone does."""

    def __init__(self, params: dict[str, np.ndarray], dtype=np.float64):
        self.params, self.dtype = params, dtype

    def get(self, name):
        return self.params[name].astype(self.dtype)

    def linear(self, x, name, inner, outer):
        return x @ self.get(f"{name}.weight").T + self.get(f"{name}.bias")

    def matmul(self, x, name, inner, outer):
        return x @ self.get(name).T

    def act(self, kind, x):
        if kind == "relu":
            return np.maximum(x, 0)
        if kind == "tanh":
            return np.tanh(x)
        if kind == "silu":
            return x / (1 + np.exp(-x))
        if kind == "mish":
            return x * np.tanh(np.logaddexp(x, 0))
        if kind == "symexp":
            return np.sign(x) * np.expm1(np.abs(x))
        if kind == "celu":
            return np.maximum(x, 0) + np.minimum(self.dtype(.1) * np.expm1(x / self.dtype(.1)), 0)
        x = np.exp(x - x.max(-1, keepdims=True))     # softmax
        return x / x.sum(-1, keepdims=True)

    def layer_norm(self, x, name, width):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.dtype(1e-5))
        return x * self.get(f"{name}.weight") + self.get(f"{name}.bias")

    def param(self, name, width, lo, hi):
        return self.get(name)

    def split(self, x, width):
        return x[..., :width], x[..., width:]

    def dot(self, x, name, values):
        return x @ values.astype(self.dtype)[:, None]

    def softplus(self, x):
        return np.logaddexp(x, 0)


def reference(network: Network, params: list[dict], xs: tuple[np.ndarray, ...], per_member: bool, dtype=np.float64, make=None) -> dict[str, np.ndarray]:
    """All members' outputs, the member axis first; `make` makes the emitter of a member's parameters."""
    make = make or (lambda p: Reference(p, dtype))
    outs = [network.emit(make(p), *((x[m] if per_member else x).astype(dtype) for x in xs), member=m) for m, p in enumerate(params)]
    return {name: np.stack([o[name] for o in outs]) for name in outs[0]}
