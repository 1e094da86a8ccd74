# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What artifacts and sessions say of themselves."""
from __future__ import annotations

from typing import NamedTuple


class Dim(NamedTuple):
    """One dimension of a port."""

    symbol: str
    """Empty when fixed, else the dimension's name, or an expression in names; "members" of the member axis."""
    lo: int
    hi: int
    """Inclusive; equal to `lo` when fixed."""


class Port(NamedTuple):
    """An input or an output. An output with several heads is several ports."""

    name: str
    head: str
    """Empty for an input; "members", "mean", "quantile:0.25" ... for an output."""
    dtype: str
    """As NumPy spells it, or ml_dtypes (bfloat16)."""
    dims: tuple[Dim, ...]
    per_member: bool
    """The first axis is the member axis: as long as the active set, in its order."""

    @property
    def key(self) -> str:
        """What it is called in dicts of arrays: its name, behind which another head than `members` stands: "y.mean"."""
        return self.name if self.head in ("", "members") else f"{self.name}.{self.head}"

    @property
    def shape(self) -> tuple[int | str, ...]:
        """A number for each fixed dimension, a symbol for each other one."""
        return tuple(dim.symbol or dim.lo for dim in self.dims)


class Program(NamedTuple):
    """One way to run the artifact: compiled for targets and for one binding of its dimensions."""

    entry: str
    precision: str
    device: str
    """What it was compiled for: "cpu" or "cuda"."""
    targets: tuple[str, ...]
    """"cpu"; or "cuda", then the architectures: "sm_80" ..."""
    dimensions: dict[str, tuple[int, int]]
    """Those that a call decides, and the range of each, inclusive."""
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    launches: int
    """Kernel launches of a call."""
    arena_bytes: int
    """Intermediate values of a session, at the largest sizes."""


class Member(NamedTuple):
    """One model of the ensemble."""

    name: str
    group: int
    """Members of one structure are a group: 0, but of unequal members."""
    source: str
    """The model file's name."""
    digest: int
    """XXH64 of what it was compiled from."""


class Weight(NamedTuple):
    """A weight that kept its identity, under the initializer's name of member 0, or of the first member of its structure."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    """As in the model file."""
    group: int | None
    """The members that have it; None: all."""
    shared: bool
    """One copy for all members."""
    swappable: bool
    """`Artifact.swap_weights` takes it."""


class Device(NamedTuple):
    """What a session runs on."""

    name: str
    """"x86-64-v4", the level of the code that runs; "NVIDIA H200 (sm_90)"."""
    kind: str
    """"cpu", "cuda" or "emulated"."""
    ordinal: int
    """Which CUDA device."""
