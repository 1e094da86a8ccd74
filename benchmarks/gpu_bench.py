# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the workloads on a GPU: Tutti, and PyTorch, JAX and ONNX Runtime where they are installed, in one process.

    ./dev bench --gpu [--quick] [--only NAME] [--precision f32,bf16] [--artifacts DIR]
    ./dev bench --gpu --prepare DIR      makes DIR/*.tutti, where the compiler is; it takes no GPU

Exit status: 0, 1 when outputs of ours are wrong or nothing was measured, 2 for arguments, 5 when there is no GPU.
"""
from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.util
import os
import platform
import re
import sys
import time
from pathlib import Path

from gpu import report
from gpu.cuda import Cuda, NoDevice, Smi
from gpu.prepare import Artifacts, prepare
from gpu.workloads import PRECISIONS, call_bytes, needed, workloads
from measure import commit
from networks import NETWORKS, output_shapes, weights

ROOT = Path(__file__).resolve().parent.parent
PEERS = {"torch": ("torch", "gpu.torch_peer"), "jax": ("jax", "gpu.jax_peer"), "onnxruntime": ("onnxruntime", "gpu.ort_peer")}
WARM_S = .5                    # before each workload, so that the clocks are up


def tell(text: str):
    print(text, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, args, cuda, artifacts: Artifacts):
        from gpu.clock import EventClock, HostClock
        from ours import Library
        self.args, self.cuda, self.artifacts = args, cuda, artifacts
        self.library = Library(args.build)
        self.clock = EventClock(cuda) if cuda else HostClock()
        self.rounds, self.block_s = (2, .05) if args.quick else (args.rounds, .15)
        self.peers, self.missing, self.params = {}, {}, (None, [])
        for name, (package, module) in PEERS.items():
            if args.no_peers or args.device == "emulated":
                continue
            try:
                self.peers[name] = importlib.import_module(module)
            except Exception as error:           # a broken installation fails in ways of its own
                self.missing[name] = f"{type(error).__name__}: {error}"
                tell(f"without {package}: {self.missing[name]}")

    def weights(self, w):
        if self.params[0] != (w.network, w.members):
            self.params = ((w.network, w.members), weights(NETWORKS[w.network], w.members))
        return self.params[1]

    def ours(self, w, entry: dict, inputs):
        from gpu.tutti import Tutti
        ours = Tutti(self.library, self.artifacts.folder / entry["file"], self.args.device, self.cuda, list(NETWORKS[w.network].inputs),
                     inputs, output_shapes(w), self.args.threads)
        if entry["bare"]:
            ours.fill(self.weights(w))
        return ours

    def contestants(self, w, precision: str, entry: dict, inputs, skipped: dict):
        """Ours, then every peer that can be made; what cannot is said."""
        yield self.ours(w, entry, inputs)
        for package, module in self.peers.items():
            more = {"files": self.artifacts.folder / "onnx"} if package == "onnxruntime" else {}
            try:
                made = module.makers(w, NETWORKS[w.network], self.weights(w), inputs, precision, self.cuda, not self.args.no_compile, **more)
                for name, make in made:
                    tell(f"  making {name}")
                    try:
                        yield make()
                    except Exception as error:   # a peer's failure is a line in the result, not the end of it
                        skipped[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
            except LookupError as error:
                skipped[package] = str(error.args[0])
            except RuntimeError as error:
                skipped[package] = str(error).strip().splitlines()[0]
        for name, reason in skipped.items():
            tell(f"  without {name}: {reason}")

    def warm(self, contestant) -> dict | None:
        """Brings the clocks up; what nvidia-smi says while the device works."""
        smi, end, i = Smi(self.cuda.bus()) if self.cuda else None, time.perf_counter() + (0 if self.cuda is None or self.cuda.emulated else WARM_S), 0
        while time.perf_counter() < end or (smi and smi.pending()):
            contestant.run(i % 8)
            self.clock.wait()
            i += 1
        return smi.answer() if smi else None

    def measure(self, w, precision: str) -> dict:
        from gpu.clock import alternate
        from gpu.truth import PreciseTruth
        entry = self.artifacts.entry(needed(w, precision))
        truth = PreciseTruth(w, NETWORKS[w.network], self.weights(w), precision)
        skipped, contestants, errors = {}, [], {}
        for contestant in self.contestants(w, precision, entry, truth.inputs, skipped):
            try:
                errors[contestant.name] = truth.error(contestant)
                contestants.append(contestant)
            except Exception as error:
                if contestant.name == "Tutti":
                    raise
                skipped[contestant.name] = f"{type(error).__name__}: {error}"
        clocks = self.warm(contestants[0])
        times = alternate(self.clock, contestants, "Tutti", self.rounds, self.block_s)
        peaks, bytes, flops = contestants[0].peaks, call_bytes(w, precision), 2e6 * w.madds
        limits = {}
        if peaks["bandwidth"]:
            limits["bytes"] = 1e6 * bytes / peaks["bandwidth"]
            if precision == "f32":               # the attributes of a device say nothing of its tensor cores
                limits["flops"] = 1e6 * flops / peaks["flops"]
        bound = max(limits, key=limits.get, default=None)
        row = {"name": w.name, "precision": precision, "members": w.members, "rows": w.rows, "million_madds": w.madds, "bytes": bytes,
               "limit_us": limits.get(bound), "bound": bound, "clocks": clocks, "launches": entry["launches"], "skipped": skipped,
               "contestants": {}}
        for contestant in contestants:
            by = "the host's clock over a queue" if getattr(contestant, "own_stream", False) and self.cuda else self.clock.by
            error = max(errors[contestant.name], truth.error(contestant, range(2)))
            row["contestants"][contestant.name] = {**times[contestant.name].summary(), "by": by, "error_of_bound": error}
        for contestant in contestants:
            contestant.close()
        return row


def about(args, bench: Bench) -> dict:
    device = bench.cuda.about() if bench.cuda else {"name": platform.processor() or platform.machine()}
    smi = Smi(bench.cuda.bus()).answer() if bench.cuda and not bench.cuda.emulated else None
    return {"date": datetime.date.today().isoformat(), "device": device, "smi": smi, "emulated": args.device == "emulated", "on_cpu": args.device == "cpu",
            "slug": re.sub(r"[^a-z0-9]+", "-", device["name"].lower()).strip("-"), "commit": commit() or None,
            "compiler": bench.artifacts.manifest["compiler"], "targets": bench.artifacts.manifest["targets"], "python": platform.python_version(),
            "versions": {n: p.VERSION for n, p in bench.peers.items()}, "missing": bench.missing, "quick": args.quick,
            "command": "./dev bench --gpu " + " ".join(sys.argv[1:])}


def dry_run(args, pairs: list, artifacts: Artifacts | None) -> int:
    for package, (name, _) in PEERS.items():
        print(f"{package}: {'installed' if importlib.util.find_spec(name) else 'not installed, would be skipped'}")
    for w, precision in pairs:
        try:
            state = artifacts.entry(needed(w, precision))["file"] if artifacts else f"{needed(w, precision).key}.tutti, to be made"
        except LookupError as error:
            state = f"would be skipped: {error.args[0]}"
        print(f"{w.name}, {precision}: {w.madds:.4g} million multiply-adds, {call_bytes(w, precision) / 1e6:.3g} MB; {state}")
    return 0


def arguments():
    parser = argparse.ArgumentParser(prog="./dev bench --gpu", description=__doc__.split("\n\n")[0],
                                     epilog="Without a GPU it says so and exits with 5. Example: ./dev bench --gpu --quick --only twin")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--artifacts", type=Path, metavar="DIR", help="what --prepare has made; without it, artifacts are made first")
    parser.add_argument("--prepare", type=Path, metavar="DIR", help="only make the artifacts and ONNX files")
    parser.add_argument("--targets", default="cuda", help="with --prepare: the --target of tutti-compile (cuda: all architectures)")
    parser.add_argument("--bare", action="store_true", help="with --prepare: artifacts of two members' weights, the rest filled in where they run")
    parser.add_argument("--only", action="append", metavar="NAME", help="the workload of this name, or those that start so (repeats)")
    parser.add_argument("--precision", default="f32,bf16", help="a list of " + ", ".join(PRECISIONS))
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N; for trying out: emulated, cpu (host clock, nothing is kept)")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--no-compile", action="store_true", help="without torch.compile, which takes tens of seconds a workload")
    parser.add_argument("--quick", action="store_true", help="fewer rounds; no result to keep")
    parser.add_argument("--rounds", type=int, default=6, help="how often everybody has its turn (%(default)s)")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no workload after so long")
    parser.add_argument("--tiny", action="store_true", help="workloads for trying out")
    parser.add_argument("--threads", type=int, default=1, help="of ours with --device cpu")
    parser.add_argument("--dry-run", action="store_true", help="list what would be run")
    parser.add_argument("--out", type=Path, metavar="DIR", help="of the results (benchmarks/results; of a part build/bench/results)")
    args = parser.parse_args()
    args.build = args.build.resolve()
    args.device, _, ordinal = args.device.partition(":")
    args.ordinal = int(ordinal) if ordinal.isdigit() else 0
    if args.device not in ("cuda", "emulated", "cpu") or (ordinal and not ordinal.isdigit()):
        parser.error("--device is one of cuda, cuda:N, emulated, cpu")
    if args.rounds < 1:
        parser.error(f"--rounds is {args.rounds}: at least 1 is needed")
    precisions = args.precision.split(",")
    if unknown := [p for p in precisions if p not in PRECISIONS]:
        parser.error(f"no precision {', '.join(unknown)}; there are {', '.join(PRECISIONS)}")
    known = workloads(args.tiny)
    names = {w.name for w in known}
    chosen = [w for w in known if not args.only or any(w.name == n or (n not in names and w.name.startswith(n)) for n in args.only)]
    if not chosen:
        parser.error(f"no workload starts with {args.only}; there are: {', '.join(w.name for w in known)}")
    return args, chosen, precisions


def main() -> int:
    args, chosen, precisions = arguments()
    if args.prepare and not args.dry_run:
        return prepare(args.build, args.prepare.resolve(), chosen, precisions, args.targets, args.bare, args.tiny, tell)
    pairs = [(w, p) for w in chosen for p in precisions]
    folder = args.artifacts or args.build / "bench" / "gpu"
    try:
        if args.dry_run:
            return dry_run(args, pairs, Artifacts(folder) if args.artifacts else None)
        if args.device == "emulated":
            os.environ.setdefault("TUTTI_CUDA_DRIVER", str(args.build / "lib" / "libcuda-emulated.so"))
        cuda = None if args.device == "cpu" else Cuda(args.ordinal, args.device == "emulated")
        if not args.artifacts and (status := prepare(args.build, folder, chosen, precisions, args.targets, args.bare, args.tiny, tell)):
            return status
        bench = Bench(args, cuda, Artifacts(folder))
    except NoDevice as error:
        tell(f"./dev bench --gpu: there is no GPU to run on: {error}")
        return 5
    except LookupError as error:
        tell(f"./dev bench --gpu: {error.args[0]}")
        return 2
    except OSError as error:                                           # of loading it
        tell(f"./dev bench --gpu: the runtime is not to be had: {error}; ./dev build tutti_shared makes it")
        return 2
    result = {"about": about(args, bench), "workloads": [], "notes": [f"Without {n}: {reason}." for n, reason in bench.missing.items()]}
    part = args.only or args.quick or args.tiny or args.device != "cuda"   # no result to keep, unless somebody says where
    args.out = args.out or (args.build / "bench" if part else ROOT / "benchmarks") / "results"
    start = time.perf_counter()
    for w, precision in pairs:
        if time.perf_counter() - start > 60 * args.minutes:
            result["notes"].append(f"{w.name}, {precision}: not started, the time was over.")
            continue
        tell(f"{w.name}, {precision}: {w.madds:.4g} million multiply-adds")
        try:
            row = bench.measure(w, precision)
        except (LookupError, RuntimeError, MemoryError) as error:
            result["notes"].append(f"{w.name}, {precision}: not measured: {error.args[0] if error.args else type(error).__name__}")
            tell("  " + result["notes"][-1])
            continue
        result["workloads"].append(row)
        result["about"]["nothing_us"] = 1e6 * bench.clock.nothing() if cuda else None
        report.write(result, args.out)                                 # after each: what was measured is not lost
        print(report.table([row])[2], flush=True)
    print("\n" + report.markdown(result))
    print(report.write(result, args.out))
    wrong = [r for r in result["workloads"] if not r["contestants"]["Tutti"]["error_of_bound"] <= 1]
    for r in wrong:
        tell(f"./dev bench --gpu: {r['name']}, {r['precision']}: our outputs are off by {r['contestants']['Tutti']['error_of_bound']:.2f} times the bound")
    return 1 if wrong or not result["workloads"] else 0


if __name__ == "__main__":
    sys.exit(main())
