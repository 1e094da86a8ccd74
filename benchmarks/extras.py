# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers beside the workloads: active sets, heads, growth with E, compile time and memory, cold start, a busy machine."""
from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import numpy as np

import measure
import ours
from networks import NETWORKS, Workload


def line(what: str, measured: str, goal: str, met: bool | None) -> dict:
    return {"what": what, "measured": measured, "goal": goal, "met": met}


def workload(network: str, members: int, rows: int) -> Workload:
    return Workload("", network, members, rows, 0, 0)


def inputs(network: str, rows: int) -> list[tuple[np.ndarray]]:
    rng = np.random.default_rng(3)
    return [tuple(rng.standard_normal((rows, x.width), np.float32) for x in NETWORKS[network].inputs.values()) for _ in range(measure.SETS)]


def compare(sessions: list, rounds: int) -> list[float]:
    """Median seconds of each, alternating."""
    times = measure.alternate(sessions, None, rounds)
    for s in sessions:
        s.close()
    return [float(np.median(times[s.name].calls)) for s in sessions]


def active_set(bench):
    path, xs = bench.artifact("redq", 10).path, inputs("redq", 256)
    both = [bench.session(workload("redq", 10, 256), path, xs, name="all"),
            bench.session(workload("redq", 2, 256), path, xs, name="two", active=[7, 2])]
    everyone, two = compare(both, bench.rounds)
    return line("redq, 2 of 10 active, cost against all", f"{two / everyone:.3f}", "at most 0.22", two / everyone <= .22)


def heads(bench, network: str, rows: int, head_list: list[str], flat: int):
    """Members and heads in one artifact against the members alone."""
    plain, xs = bench.artifact(network, 10).path, inputs(network, rows)
    fused = bench.artifact(network, 10, "--output", "y=members," + ",".join(head_list)).path
    outs = [("y", "members", (10, rows, flat))] + [("y", h, (rows, flat)) for h in head_list]
    alone = bench.session(workload(network, 10, rows), plain, xs, name="members")
    together = ours.Ours(bench.library, fused, list(NETWORKS[network].inputs), xs, outs, bench.threads, name="heads")
    a, b = compare([alone, together], bench.rounds)
    launches = ours.inspect(bench.build, fused)["programs"][0]["launches"]
    return line(f"{network} B={rows}, heads {', '.join(head_list)} fused, overhead", f"{100 * (b / a - 1):.1f} % ({launches} launches)",
                "under 3 %", b / a < 1.03)


def flat_in_members(bench):
    xs, counts = inputs("mlp", 64), [10, 20, 50, 100]
    sessions = [bench.session(workload("mlp", e, 64), bench.artifact("mlp", e).path, xs, name=str(e)) for e in counts]
    each = [t / e for t, e in zip(compare(sessions, bench.rounds), counts)]
    text = ", ".join(f"E={e}: {1e6 * t:.1f} us" for e, t in zip(counts, each))
    return line("mlp B=64, cost per member", text, "flat within 10 %", max(each) / each[0] <= 1.10)


def code_bytes(bench, compiled: ours.Compiled) -> dict[str, int]:
    return {t["name"]: t["code_bytes"] for t in ours.inspect(bench.build, compiled.path)["targets"]}


def growth(bench):
    small = bench.artifact("mlp", 10)
    bench.artifacts.pop("mlp 1000", None)
    large = bench.artifact("mlp", 1000)
    weights = sum(w.nbytes for w in bench.weights("mlp", 1)[0].values()) * 1000
    code = [code_bytes(bench, c) for c in (small, large)]
    copying = time.perf_counter()
    target = bench.folder / "copy.bin"
    with open(target, "wb") as out:                     # what reading and writing these files costs by itself
        for m in bench.members("mlp", 1000):
            with open(m, "rb") as file:
                shutil.copyfileobj(file, out, 1 << 20)
    copying = time.perf_counter() - copying
    target.unlink()
    return [
        line("1000 members of mlp, compile time", f"{large.seconds:.1f} s (10 members: {small.seconds:.2f} s; copying the files: {copying:.1f} s)",
             "under 15 s", large.seconds < 15),
        line("same, anonymous memory at its peak", f"{large.anon_bytes / 1e6:.0f} MB = {large.anon_bytes / weights:.2f} x the weights",
             "under 0.2 x", large.anon_bytes < .2 * weights),
        line("code, E = 10 and 1000", "; ".join(f"{t}: {n} and {code[1].get(t)} bytes" for t, n in code[0].items()), "equal", code[0] == code[1]),
    ]


def cold_start(bench):
    out = []
    for members, goal in ((10, 2.0), (1000, 20.0)):
        path = bench.artifact("mlp", members).path
        path.read_bytes()                               # into the page cache
        runs = [ours.bench_json(bench.build, path, "--dim", "batch=1", "--threads", bench.threads) for _ in range(5)]
        cold = float(np.median([(r[0] if isinstance(r, list) else r)["cold_us"] for r in runs])) / 1e3
        out.append(line(f"mlp E={members} B=1, open to first answer", f"{cold:.2f} ms", f"{goal:.0f} ms", cold <= goal))
    return out


def busy_machine(bench):
    path, xs = bench.artifact("mlp", 10).path, inputs("mlp", 64)
    def median(threads: int) -> float:
        return compare([bench.session(workload("mlp", 10, 64), path, xs, name=f"{threads}", threads=threads)], bench.rounds)[0]
    one = median(1)
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        time.sleep(.5)
        two, one_busy = median(2), median(1)
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    return line("mlp E=10 B=64 beside two busy processes, 2 threads", f"{1e3 * two:.3f} ms = {two / one:.2f} x one thread undisturbed ({1e3 * one:.3f} ms; disturbed {1e3 * one_busy:.3f} ms)",
                "at most 1.2 x", two <= 1.2 * one)


class Loop:
    """Sessions called one after another."""

    def __init__(self, name: str, sessions: list[ours.Ours]):
        self.name, self.sessions = name, sessions

    def run(self, i: int):
        for session in self.sessions:
            session.run(i)

    def close(self):
        for session in self.sessions:
            session.close()


def unequal(bench):
    """Members of unequal structure in one artifact, against an artifact for each."""
    members, xs = 8, inputs("unequal", 64)
    together = bench.session(workload("unequal", members, 64), bench.artifact("unequal", members).path, xs, name="together")
    alone = []
    for m, file in enumerate(bench.members("unequal", members)):
        path = ours.compile(bench.build, [file], bench.folder / f"unequal-alone-{m}.tutti").path
        alone.append(bench.session(workload("unequal", 1, 64), path, xs, name=str(m)))
    a, b = compare([together, Loop("loop", alone)], bench.rounds)
    launches = ours.inspect(bench.build, bench.artifact("unequal", members).path)["programs"][0]["launches"]
    return line("8 MLPs of four structures by --unequal, against a loop over their own artifacts", f"{1e3 * a:.3f} ms = {a / b:.2f} x ({launches} launches)",
                "under 1 x", a < b)


def library_size(bench):
    stripped = bench.folder / "libtutti-stripped.so"
    strip = next(s for s in ("llvm-strip-22", "llvm-strip", "strip") if shutil.which(s))
    subprocess.run([strip, "-o", stripped, Path(bench.library.path).resolve()], check=True)
    size = stripped.stat().st_size
    return line("runtime library, stripped", f"{size / 1000:.0f} kB", "under 500 kB", size < 500_000)


def measure_all(bench) -> list[dict]:
    """Every one that works; one that fails says how, and the others go on."""
    out = []
    for name, make in (("active set", active_set), ("heads of redq", lambda b: heads(b, "redq", 256, ["min"], 1)),
                       ("heads of mlp", lambda b: heads(b, "mlp", 64, ["mean", "var"], 10)), ("growth", flat_in_members),
                       ("a thousand members", growth), ("cold start", cold_start), ("busy machine", busy_machine), ("unequal members", unequal),
                       ("library", library_size)):
        bench.tell(f"extra: {name}")
        try:
            lines = make(bench)
        except (RuntimeError, KeyError, OSError, subprocess.CalledProcessError) as error:
            lines = line(name, f"failed: {error}", "", False)
        out += lines if isinstance(lines, list) else [lines]
    return out
