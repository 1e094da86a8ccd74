# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times contestants where they run: by events on a stream that never waits for the host, or by the host's clock."""
from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

from measure import HOPELESS, SETS

IN_BLOCK = 64                  # calls between two waits; a driver holds about a thousand launches before the host waits
BLOCK_S = 2e-3                 # asking for one block should take no longer
FILL, EMULATED_FILL = 64 << 20, 4096
MOST_FILLS = 200


@dataclass
class Samples:
    """Seconds of calls: on the device, and as somebody sees them who waits for each."""
    device: list[float] = field(default_factory=list)
    host: list[float] = field(default_factory=list)

    def summary(self) -> dict:
        p10, p50, p90 = np.percentile(self.device, [10, 50, 90]) * 1e6
        return {"device_us": p50, "device_p10_us": p10, "device_p90_us": p90, "calls": len(self.device),
                "host_us": float(np.median(self.host)) * 1e6}


class HostClock:
    """For a CPU: a call is over when it returns, or when the contestant says so."""

    by = "host clock"

    def wait(self):
        pass

    def block(self, contestant, seconds: float, least: int = 3) -> Samples:
        samples, end, i = Samples(), time.perf_counter() + seconds, 0
        wait = getattr(contestant, "wait", self.wait)
        while len(samples.host) < least or time.perf_counter() < end:
            start = time.perf_counter()
            contestant.run(i % SETS)
            wait()
            samples.host.append(time.perf_counter() - start)
            i += 1
        samples.device = samples.host
        return samples


class EventClock:
    """Each call between two events on the stream of `cuda`. Fills run ahead of the calls, so that the time is what the
    work takes and not what it takes to ask for it: a courtesy to contestants of many launches."""

    by = "CUDA events"

    def __init__(self, cuda):
        self.cuda = cuda
        self.fill_bytes = EMULATED_FILL if cuda.emulated else FILL
        self.memory = cuda.allocate(self.fill_bytes)
        self.most = 4 if cuda.emulated else IN_BLOCK
        self.events = [(cuda.event(), cuda.event()) for _ in range(IN_BLOCK)]
        for _ in range(2):     # the first wakes the device
            times, _ = self.ask(lambda i: self.fill(), 16, 0)
        self.fill_s = max(float(np.percentile(times, 10)), 1e-6)

    def fill(self):
        self.cuda.check(self.cuda.cuMemsetD8Async(self.memory, 1, self.fill_bytes, self.cuda.stream))

    def wait(self):
        self.cuda.wait()

    def ask(self, run, count: int, fills: int, first: int = 0) -> tuple[list[float], float]:
        """Seconds of each call on the device, and what asking for one takes the host."""
        cuda, record, stream = self.cuda, self.cuda.cuEventRecord, self.cuda.stream
        for _ in range(fills):
            self.fill()
        start = time.perf_counter()
        for i in range(count):
            before, after = self.events[i]
            failed = record(before, stream)
            run((first + i) % SETS)
            cuda.check(failed or record(after, stream))
        asking = (time.perf_counter() - start) / count
        cuda.wait()
        return [cuda.between(*self.events[i]) for i in range(count)], asking

    def nothing(self) -> float:
        """Seconds between two events with no work between them, which every time on the device has in it."""
        return float(np.median(self.ask(lambda i: None, self.most, 2)[0]))

    def block(self, contestant, seconds: float, least: int = 3) -> Samples:
        if getattr(contestant, "own_stream", False):
            return self.queue(contestant, seconds, least)
        samples, run = Samples(), contestant.run
        for _ in range(2):
            _, asking = self.ask(run, 1, 0)
        end, i = time.perf_counter() + seconds, 0
        while len(samples.device) < least or time.perf_counter() < end:
            count = int(min(max(BLOCK_S / asking, 1), self.most))
            fills = min(math.ceil(1.5 * asking * count / self.fill_s), MOST_FILLS)
            times, asking = self.ask(run, count, fills, i)
            samples.device += times
            for _ in range(max(1, count // 8)):
                start = time.perf_counter()
                run(i % SETS)
                self.wait()
                samples.host.append(time.perf_counter() - start)
                i += 1
        return samples

    def queue(self, contestant, seconds: float, least: int) -> Samples:
        """One that has streams of its own: many calls in a row by the host's clock, a share for each."""
        samples, end, i = Samples(), time.perf_counter() + seconds, 0
        while len(samples.device) < least or time.perf_counter() < end:
            start = time.perf_counter()
            contestant.run(i % SETS)
            contestant.wait()
            samples.host.append(once := time.perf_counter() - start)
            count = int(min(max(BLOCK_S / once, 1), self.most))
            start = time.perf_counter()
            for k in range(count):
                contestant.run((i + k) % SETS)
            contestant.wait()
            samples.device.append((time.perf_counter() - start) / count)
            i += 1
        return samples


def alternate(clock, contestants: list, ours: str, rounds: int, block_s: float) -> dict[str, Samples]:
    """Every contestant has one block in each round; after two rounds the hopeless peers stop."""
    times = {c.name: Samples() for c in contestants}
    alive = list(contestants)
    for r in range(rounds):
        for c in alive if r % 2 == 0 else reversed(alive):
            samples = clock.block(c, block_s)
            times[c.name].device += samples.device
            times[c.name].host += samples.host
        if r == 1:
            medians = {c.name: np.median(times[c.name].device) for c in alive if c.name != ours}
            best = min(medians.values(), default=0)
            alive = [c for c in alive if c.name == ours or medians[c.name] <= HOPELESS * best]
    return times
