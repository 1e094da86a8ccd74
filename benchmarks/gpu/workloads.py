# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured on a GPU: the networks of networks.py at the sizes that people run there."""
from __future__ import annotations

import dataclasses

from networks import NETWORKS, Workload, madds
from networks import call_bytes as counted_bytes

PRECISIONS = ("f32", "bf16", "tf32", "f16")
WEIGHT_BYTES = {"f32": 4, "tf32": 4, "bf16": 2, "f16": 2}
MAX_ROWS = {"mlp": 64, "twin": 16, "redq": 256, "sacn": 256, "pets": 100_000, "tglf": 1000, "tdmpc": 536, "ppo": 4, "tabm": 256, "fbpinn": 60, "ani": 12288}

# Small enough that the emulated device, or a CPU, gets through them while somebody waits.
TINY = [("mlp", 3, 5, False), ("mlp", 3, 5, True), ("twin", 2, 3, False)]


def workload(network: str, members: int, rows: int | tuple[int, ...], per_member: bool = False) -> Workload:
    batch = f"{sum(rows)} atoms" if isinstance(rows, tuple) else f"B={rows}"
    w = Workload(f"{network} E={members} {batch}" + (" per-member input" if per_member else ""), network, members, rows, 0, 0, per_member_input=per_member)
    return dataclasses.replace(w, madds=madds(w) / 1e6)


def workloads(tiny: bool = False) -> list[Workload]:
    if tiny:
        return [workload(*w) for w in TINY]
    found = [workload("mlp", members, rows, per_member) for members in (10, 100, 1000) for rows in (1, 64) for per_member in (False, True)]
    found += [workload("twin", 2, 16), workload("redq", 10, 256), workload("redq", 20, 256), workload("sacn", 500, 256),
              workload("pets", 7, 256), workload("pets", 7, 100_000), workload("tglf", 5, 1000),
              workload("tdmpc", 5, 256), workload("tdmpc", 5, 536),
              workload("ppo", 2048, 4, True), workload("tabm", 32, 256), workload("fbpinn", 1000, 60, True),
              workload("ani", 8, (12, 8, 3, 2)), workload("ani", 8, (12288, 8192, 3072, 2048))]
    return found


@dataclasses.dataclass(frozen=True)
class Needed:
    """An artifact: workloads that differ in rows alone share one."""
    network: str
    members: int
    per_member: bool
    precision: str

    @property
    def key(self) -> str:
        return f"{self.network}-{self.members}{'-own' if self.per_member else ''}-{self.precision}"


def needed(w: Workload, precision: str) -> Needed:
    return Needed(w.network, w.members, w.per_member_input, precision)


def call_bytes(w: Workload, precision: str) -> int:
    return counted_bytes(w, WEIGHT_BYTES[precision])
