# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the workloads: Tutti and its peers, in one run, by the rules of benchmarks/README.md.

    ./dev bench [--quick] [--only NAME] [--no-peers | --all-peers]
"""
from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")      # of the float64 reference

import argparse
import datetime
import importlib
import importlib.metadata
import re
import sys
import time
from pathlib import Path

import extras
import measure
import ours
import report
from models import ROOT, write_members
from networks import NETWORKS, WORKLOADS, Workload, call_bytes, madds, output_shapes, weights

APART = .05               # two peaks further apart than this make a run void
TRIES = 3


MORE_PEERS = ("torch", "jax")      # with --all-peers; the modules of gpu/ run on a CPU as well


def import_peer(name: str, threads: int):
    if name == "jax":
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        if threads == 1:                         # else as many as the affinity mask has, which no flag bounds
            os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    module = importlib.import_module(f"gpu.{name}_peer")
    if name == "torch":
        module.torch.set_num_threads(threads)
    return module


class Waiting:
    """A contestant whose calls return before they are over."""

    def __init__(self, contestant):
        self.contestant, self.name = contestant, contestant.name
        self.outputs, self.close = contestant.outputs, contestant.close

    def run(self, i: int):
        self.contestant.run(i)
        self.contestant.wait()


class Bench:
    """What all measurements share: the build, the artifacts made so far, and the machine's peaks."""

    def __init__(self, args):
        self.build, self.threads, self.quick = args.build, args.threads, args.quick
        self.rounds = 4 if args.quick else 12
        self.library = ours.Library(self.build)
        self.folder = self.build / "bench"
        self.artifacts: dict[str, ours.Compiled] = {}
        self.params: dict[tuple[str, int], list[dict]] = {}
        self.notes: list[str] = []

        self.more_peers = {}
        for name in MORE_PEERS if args.all_peers else ():
            try:
                self.more_peers[name] = import_peer(name, self.threads)
            except Exception as error:           # a broken installation fails in ways of its own
                self.notes.append(f"Without {name}: {type(error).__name__}: {error}.")
                self.tell(self.notes[-1])

    def tell(self, text: str):
        print(text, file=sys.stderr, flush=True)

    def members(self, network: str, members: int) -> list[Path]:
        return write_members(network, members, self.folder)

    def weights(self, network: str, members: int) -> list[dict]:
        key = (network, members)
        if key not in self.params:
            self.params.clear()                          # 470 MB each at worst: one at a time
            self.params[key] = weights(NETWORKS[network], members)
        return self.params[key]

    def artifact(self, network: str, members: int, *flags: str, per_member: bool = False) -> ours.Compiled:
        """The ensemble of the first members, compiled in this run."""
        n = NETWORKS[network]
        for name in n.inputs if per_member else ():
            flags += ("--input", f"{name}=member")
        for x in n.inputs.values():
            flags += ("--dim", f"{x.rows}=1..{x.max_rows}")
        if n.unequal:
            flags += ("--unequal",)
        key = " ".join([network, str(members), *flags])
        if key not in self.artifacts:
            path = self.folder / (re.sub(r"[^A-Za-z0-9]+", "-", key) + ".tutti")
            self.artifacts[key] = ours.compile(self.build, self.members(network, members), path, *flags)
        return self.artifacts[key]

    def session(self, w: Workload, artifact: Path, inputs, **more) -> ours.Ours:
        """With the members' outputs bound."""
        outs = [(n, "members", shape) for n, shape in output_shapes(w).items()]
        return ours.Ours(self.library, artifact, list(NETWORKS[w.network].inputs), inputs, outs, more.pop("threads", self.threads), **more)

    def peaks(self, bytes: int) -> dict:
        """GFLOP/s of register FMAs, and GB/s of reading a buffer of that many bytes."""
        return ours.peaks(self.build, self.threads, bytes)


def measure_workload(bench: Bench, w: Workload, with_peers: bool) -> dict:
    """One row of the table: repeated while the machine's peak moves under it."""
    network = NETWORKS[w.network]
    artifact = bench.artifact(w.network, w.members, per_member=w.per_member_input)
    params = bench.weights(w.network, w.members)
    truth = measure.Truth(w, network, params)
    contestants = [bench.session(w, artifact.path, truth.inputs, name="Tutti")]
    if with_peers:
        import peers
        for name, make in peers.makers(w, network, params, truth.inputs, bench.threads):
            bench.tell(f"  making {name}")
            contestants.append(make())
        for module in bench.more_peers.values():
            for name, make in module.makers(w, network, params, truth.inputs, "f32", None, True):
                bench.tell(f"  making {name}")
                try:
                    contestants.append(Waiting(make()) if name.startswith("JAX") else make())
                except Exception as error:               # a failure of theirs is a line in the result, not the end of it
                    bench.notes.append(f"{w.name}: without {name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:200]}")
                    bench.tell("  " + bench.notes[-1])
    errors = {c.name: truth.error(c) for c in contestants}
    bytes = call_bytes(w)
    row = {}
    for attempt in range(TRIES):
        before = bench.peaks(bytes)
        times = measure.alternate(contestants, "Tutti", bench.rounds)
        after = bench.peaks(bytes)
        apart = abs(before["gflops"] / after["gflops"] - 1)
        if row and apart >= row["peaks_apart"]:
            continue
        for name, t in times.items():
            t.error = errors[name]
        peak = {k: max(before[k], after[k]) for k in before}
        limits = {"flops": 2e3 * madds(w) / (peak["gflops"] * 1e9), "bytes": 1e3 * bytes / (peak["gbytes"] * 1e9)}
        bound = max(limits, key=limits.get)
        row = {"name": w.name, "goal": w.goal, "limit_ms": limits[bound], "bound": bound, "limits_ms": limits, "peak": peak,
               "peaks_apart": apart, "attempts": attempt + 1, "compile_s": artifact.seconds,
               "contestants": {n: t.summary() for n, t in times.items()}}
        if apart <= APART:
            break
        bench.tell(f"  peaks {percent(apart)} apart, again")
    for c in contestants:
        again = truth.error(c)
        row["contestants"][c.name]["error_of_bound"] = max(errors[c.name], again)
        if max(errors[c.name], again) > 1:
            bench.notes.append(f"{w.name}: {c.name} is off by {max(errors[c.name], again):.2f} times the bound.")
        c.close()
    if row["peaks_apart"] > APART:
        bench.notes.append(f"{w.name}: the FMA peaks before and after stayed {percent(row['peaks_apart'])} apart in {TRIES} runs.")
    return row


def percent(x: float) -> str:
    return f"{100 * x:.1f} %"


def about(args, bench: Bench) -> dict:
    info = Path("/proc/cpuinfo").read_text()
    cpu = re.search(r"model name\s*: (.*)", info).group(1)
    flags = set(re.search(r"flags\s*: (.*)", info).group(1).split())
    versions = {}
    for package in ("onnxruntime", "openvino", *bench.more_peers, "numpy"):
        versions[package] = importlib.metadata.version(package)
    return {"date": datetime.date.today().isoformat(), "cpu": cpu, "slug": re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-"),
            "level": "AVX-512" if "avx512f" in flags else "AVX2", "threads": args.threads, "commit": measure.commit(), "versions": versions,
            "load": os.getloadavg()[0], "quick": args.quick}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measures the workloads beside ONNX Runtime and OpenVINO.",
                                     epilog="example: ./dev bench --quick --only twin")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--threads", type=int, default=min(2, len(os.sched_getaffinity(0))))
    parser.add_argument("--only", action="append", metavar="NAME", help="workloads whose name starts so (repeats); no extra numbers")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; none of the ensembles of 500 and more, no extra numbers")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--all-peers", action="store_true", help="also PyTorch (loop, vmap, compiled) and JAX, where they are installed")
    parser.add_argument("--extras", action="store_true", help="only the numbers beside the workloads")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    args = parser.parse_args()
    args.build = args.build.resolve()
    if args.only:
        chosen = [w for w in WORKLOADS if any(w.name.startswith(n) for n in args.only)]
        if not chosen:
            parser.error(f"no workload starts with {args.only}; there are: {', '.join(w.name for w in WORKLOADS)}")
    else:
        chosen = [w for w in WORKLOADS if not (args.quick and w.members >= 500)]
    bench = Bench(args)
    result = {"about": about(args, bench), "workloads": [], "extras": [], "notes": bench.notes}
    for w in [] if args.extras else chosen:
        bench.tell(f"{w.name}: {madds(w) / 1e6:.4g} million multiply-adds")
        start = time.perf_counter()
        row = measure_workload(bench, w, not args.no_peers)
        result["workloads"].append(row)
        print("\n".join(report.table([row])[2:]), flush=True)
        bench.tell(f"  {time.perf_counter() - start:.0f} s")
    if args.extras or not (args.only or args.quick):
        result["extras"] = extras.measure_all(bench)
    rows = result["workloads"]
    result["about"]["gflops"] = max((r["peak"]["gflops"] for r in rows), default=0) or bench.peaks(1 << 20)["gflops"]
    print("\n" + report.markdown(result))
    if args.only or args.quick or args.extras or args.no_peers:      # a part is no result to keep
        args.out = bench.folder / "results"
    print(report.write(result, args.out))
    return 1 if any("times the bound" in n for n in bench.notes) else 0


if __name__ == "__main__":
    sys.exit(main())
