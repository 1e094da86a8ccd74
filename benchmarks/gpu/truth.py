# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What right outputs are at a precision: float64 on some rows, and a bound from a plain evaluation at that precision."""
from __future__ import annotations

import numpy as np

from measure import SETS, Truth
from networks import Network, Reference, Workload, row_counts

CHECKED = 16_000          # at most so many rows of members are checked of one input set


def to_bits(x: np.ndarray, kept: int) -> np.ndarray:
    """float32 with `kept` bits of the fraction, rounded to nearest even."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32)
    drop = 23 - kept
    odd = (bits >> np.uint32(drop)) & np.uint32(1)
    return ((bits + np.uint32((1 << (drop - 1)) - 1) + odd) & ~np.uint32((1 << drop) - 1)).view(np.float32)


ROUND = {"f32": lambda x: x, "tf32": lambda x: to_bits(x, 10), "bf16": lambda x: to_bits(x, 7),
         "f16": lambda x: x.astype(np.float16).astype(np.float32)}


class Operands(Reference):
    """float32, but for the operands of contractions: these are rounded to the precision."""

    def __init__(self, params, round):
        super().__init__(params, np.float32)
        self.round = round

    def linear(self, x, name, inner, outer):
        return self.round(x) @ self.round(self.get(f"{name}.weight")).T + self.get(f"{name}.bias")

    def matmul(self, x, name, inner, outer):
        return self.round(x) @ self.round(self.get(name)).T


class Everything(Operands):
    """Every op's result is rounded to the precision: a network that was converted as a whole."""

    def get(self, name):
        return self.round(super().get(name))

    def __getattribute__(self, name):
        attribute = super().__getattribute__(name)
        if name not in ("linear", "matmul", "act", "layer_norm", "dot", "sub", "add", "mul", "softplus"):
            return attribute
        round = super().__getattribute__("round")
        return lambda *arguments: round(attribute(*arguments))


class PreciseTruth(Truth):
    """Truth with a bound for those who round operands only, and a wider one for those who round everything."""

    def __init__(self, workload: Workload, network: Network, params: list[dict], precision: str):
        rng = np.random.default_rng(5)
        fewest = min(row_counts(workload))                   # of inputs with rows of their own, the same are checked of each
        count = max(1, min(fewest, CHECKED // workload.members))
        rows = np.sort(rng.choice(fewest, count, replace=False))
        round = ROUND[precision]
        super().__init__(workload, network, params, rows=rows, plain=lambda p: Operands(p, round))
        self.bounds = {False: self.bound, True: self.bound_of(lambda p: Everything(p, round))}

    def error(self, contestant, sets=range(SETS)) -> float:
        self.bound = self.bounds[getattr(contestant, "rounds_everything", False)]
        return super().error(contestant, sets)
