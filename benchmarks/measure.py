# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fair timing: contestants alternate in blocks over the same rotating inputs, and every answer is checked in float64."""
from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from networks import Network, Reference, Workload, reference, row_counts

SETS = 8                   # random input sets in rotation
BLOCK_S = .08              # one contestant's turn, in seconds
REST_S = .03               # between turns: idle workers of the last contestant stop spinning
HOPELESS = 2.5             # a peer this many times slower than the best peer is not measured further


@dataclass
class Times:
    """Seconds of every call, and for each block its median."""
    calls: list[float] = field(default_factory=list)
    blocks: list[float] = field(default_factory=list)
    error: float = 0.0                                   # largest, as a share of the bound

    def summary(self) -> dict:
        p10, p50, p90 = np.percentile(self.calls, [10, 50, 90]) * 1e3
        return {"median_ms": p50, "p10_ms": p10, "p90_ms": p90, "calls": len(self.calls), "error_of_bound": self.error}


class Truth:
    """Inputs of a workload, their float64 outputs, and how far a right program may be from those: four times as far as a
    plain float32 evaluation, or another that `plain` makes of a member's parameters. `rows`: the only ones that are checked."""

    def __init__(self, workload: Workload, network: Network, params: list[dict], seed: int = 7, rows: np.ndarray | None = None,
                 plain=lambda params: Reference(params, np.float32)):
        counts = row_counts(workload)
        rng = np.random.default_rng([seed, *counts])
        front = (workload.members,) if workload.per_member_input else ()
        shapes = [front + (r, x.width) for r, x in zip(counts, network.inputs.values())]
        self.inputs = [tuple(rng.standard_normal(shape, np.float32) for shape in shapes) for _ in range(SETS)]
        self.network, self.params, self.per_member = network, params, workload.per_member_input
        self.rows = slice(None) if rows is None else rows
        self.outputs = [reference(network, params, self.checked(xs), self.per_member) for xs in self.inputs]
        self.bound = self.bound_of(plain)

    def checked(self, xs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        return tuple(x[..., self.rows, :] for x in xs)

    def bound_of(self, plain) -> dict[str, float]:
        got = reference(self.network, self.params, self.checked(self.inputs[0]), self.per_member, np.float32, plain)
        eps, bound = np.finfo(np.float32).eps, {}
        for name, y in self.outputs[0].items():
            largest = max(np.abs(o[name]).max() for o in self.outputs)
            bound[name] = max(4 * np.abs(got[name] - y).max(), 16 * eps * largest)
        return bound

    def error(self, contestant, sets=range(SETS)) -> float:
        """The largest error over the input sets, as a share of the bound: above 1 the outputs are wrong."""
        worst = 0.0
        for i in sets:
            got = contestant.outputs(i)
            for name, y in self.outputs[i].items():
                mine = got[name][:, self.rows]
                if mine.shape != y.shape:
                    raise ValueError(f"{contestant.name}: output {name} has shape {got[name].shape}, expected {y.shape}")
                error = np.abs(mine - y).max() / self.bound[name]
                worst = max(worst, float(error) if np.isfinite(error) else float("inf"))
        return worst


def commit() -> str:
    """The sources' version; "" where git does not know."""
    try:
        return subprocess.run(["git", "-C", Path(__file__).parent, "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def block(run, seconds: float, least: int = 3) -> list[float]:
    """One turn: a few calls to warm up, then calls timed one by one."""
    now = time.perf_counter
    for i in range(2):
        run(i % SETS)
    start, first = now(), now()
    run(2)
    once = now() - first
    for i in range(min(20, int(.1 * seconds / max(once, 1e-7)))):
        run(i % SETS)
    calls, i, start = [], 0, now()
    while len(calls) < least or now() - start < seconds:
        begin = now()
        run(i % SETS)
        calls.append(now() - begin)
        i += 1
    return calls


def alternate(contestants: list, ours: str | None, rounds: int, block_s: float = BLOCK_S, tell=lambda text: None) -> dict[str, Times]:
    """Every contestant has one block in each round; after two rounds the peers of `ours` that are hopeless stop. Of none, all are ours."""
    times = {c.name: Times() for c in contestants}
    alive = list(contestants)
    for r in range(rounds):
        for c in alive if r % 2 == 0 else reversed(alive):
            calls = block(c.run, block_s)
            times[c.name].calls += calls
            times[c.name].blocks.append(float(np.median(calls)))
            time.sleep(REST_S)
        tell(f"round {r + 1} of {rounds}")
        if r == 1 and ours:
            medians = {c.name: np.median(times[c.name].calls) for c in alive if c.name != ours}
            best = min(medians.values(), default=0)
            alive = [c for c in alive if c.name == ours or medians[c.name] <= HOPELESS * best]
    return times
