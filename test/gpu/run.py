# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests on a GPU. The last line is `N passed, N failed, N skipped`.

    ./dev test --gpu [--artifacts DIR]       runs them; exit 1 when one failed, 5 when there is no GPU
    ./dev test --gpu --prepare DIR           makes the artifacts, where the compiler is; it takes no GPU
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRECISIONS = {"f32": 1e-5, "f32-ffma": 0, "tf32": 5e-3, "f16": 5e-3, "bf16": 4e-2}     # how far from the CPU's float32, by 2-norm
SANITIZERS = ("memcheck", "racecheck", "synccheck")
HEADS = "members,mean,std,quantile:0.25"
# Networks of the benchmarks at few members, where Python can make models.
NETWORKS = {"mlp": 3, "twin": 2, "redq": 3, "ppo": 4, "pets": 3, "tglf": 2, "tdmpc": 2}
ROWS = 300


def tell(text: str):
    print(text, file=sys.stderr, flush=True)


class Preparer:
    def __init__(self, args):
        self.args, self.folder = args, args.prepare.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)

    def compile(self, name: str, members: list[Path], *flags: str) -> str | None:
        """None, or why it cannot be."""
        ran = subprocess.run([self.args.build / "bin" / "tutti-compile", *members, "-o", self.folder / name, *flags], capture_output=True, text=True)
        return None if ran.returncode == 0 else f"exit {ran.returncode}: {ran.stderr.strip()}"

    def sets(self):
        """Name, members, and more of the command line."""
        folders = [p.parent for root in [ROOT / "test" / "models", *self.args.models] for p in sorted(root.glob("*/set.json"))]
        for folder in folders:
            about = json.loads((folder / "set.json").read_text())
            if not about["exit"]:
                yield about["name"], [folder / m for m in about["members"]], [f"--dim={n}={v}" for n, v in about["dims"].items()]
        yield "digits", sorted((ROOT / "examples" / "digits" / "models").glob("*.onnx")), []
        unequal = self.folder / "onnx" / "unequal"
        subprocess.run([sys.executable, ROOT / "test" / "tools" / "unequal-models.py", "groups", unequal], check=True)
        yield "unequal", sorted(unequal.glob("*.onnx")), ["--unequal"]
        if not self.args.alone and all(importlib.util.find_spec(n) for n in ("numpy", "onnx")):
            sys.path.insert(0, str(ROOT / "benchmarks"))
            from models import write_members
            for network, members in NETWORKS.items():
                yield network, write_members(network, members, self.folder / "onnx"), []
        elif not self.args.alone:
            tell("without the benchmarks' networks: this Python has no numpy or onnx")

    def prepare_set(self, name: str, members: list[Path], flags: list[str]) -> dict | None:
        flags = flags if any(f.startswith("--dim") for f in flags) else flags + [f"--dim=batch=1..{ROWS}"]
        if why := self.compile(f"{name}-cpu.tutti", members, "--target", "cpu", *flags):
            tell(f"{name}: skipped: {why}")
            return None
        output = json.loads(subprocess.run([self.args.build / "bin" / "tutti-inspect", self.folder / f"{name}-cpu.tutti", "--json"],
                                           capture_output=True, check=True).stdout)["outputs"][0]["name"]
        flags += ["--output", f"{output}={HEADS}"]
        if why := self.compile(f"{name}-cpu.tutti", members, "--target", "cpu", *flags):
            raise SystemExit(f"{name}: {why}")
        made = {"name": name, "cpu": f"{name}-cpu.tutti", "artifacts": []}
        known = self.args.precision.split(",")
        for precision in known:
            more = flags + ["--target", self.args.targets] + (["--precision", precision] if precision != "f32" else [])
            file = f"{name}-{precision}.tutti"
            if why := self.compile(file, members, *more):
                tell(f"{name}, {precision}: skipped: {why}")
                continue
            alone = []
            for m in sorted({0, len(members) - 1}):
                one = f"{name}-{precision}-{m}.tutti"
                if why := self.compile(one, [members[m]], *more):
                    raise SystemExit(f"{name}, {precision}, member {m} alone: {why}")
                alone.append({"member": m, "file": one})
            made["artifacts"].append({"precision": precision, "file": file, "tolerance": PRECISIONS[precision], "bits": precision == "f32-ffma", "alone": alone})
        # A compiler that knows one product only has the CPU's bits in it.
        if {a["precision"] for a in made["artifacts"]} == {"f32"} and "f32-ffma" in known:
            made["artifacts"][0]["bits"] = True
        tell(f"{name}: {', '.join(a['precision'] for a in made['artifacts']) or 'nothing'}")
        return made if made["artifacts"] else None

    def run(self) -> int:
        made, members, own = [], [], []                 # the first set's files serve the tests of the device itself
        for name, files, flags in self.sets():
            if self.args.only and name not in self.args.only:
                continue
            if found := self.prepare_set(name, files, flags):
                made.append(found)
                if not members:
                    members, own = files, [f for f in flags if not f.startswith("--dim")]
        if not made:
            tell("./dev test --gpu: no set could be prepared")
            return 1
        for file, target, most in (("first.tutti", self.args.targets, ROWS), ("first-cpu.tutti", f"cpu,{self.args.targets}", ROWS),
                                   ("huge.tutti", self.args.targets, 2_000_000_000)):
            if why := self.compile(file, members, *own, "--target", target, "--dim", f"batch=1..{most}"):
                raise SystemExit(f"{file}: {why}")
        (self.folder / "manifest.json").write_text(json.dumps({"targets": self.args.targets, "sets": made}, indent=1) + "\n")
        tell(f"{len(made)} sets in {self.folder}")
        return 0


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, what: str, command: list, report: Path, environment: dict) -> None:
        """Runs gpu-tests, and counts its tests."""
        report.unlink(missing_ok=True)
        code = subprocess.run([*command, f"--gtest_output=json:{report}"], env=environment, stdout=subprocess.DEVNULL).returncode
        failed = self.failed
        try:
            suites = json.loads(report.read_text())["testsuites"]
        except (OSError, ValueError):
            suites = []
        for suite in suites:
            for test in suite["testsuite"]:
                if test.get("result") == "SKIPPED":
                    self.skipped += 1
                elif test.get("failures"):
                    self.failed += 1
                    print(f"FAILED {what} {suite['name']}.{test['name']}: {test['failures'][0]['failure'].strip().splitlines()[-1]}")
                else:
                    self.passed += 1
        if code and self.failed == failed:        # a crash, or a sanitizer's complaint, that no test stands for
            self.failed += 1
            print(f"FAILED {what}: exit {code}")

    def end(self) -> int:
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed or not self.passed else 0


def has_gpu() -> bool:
    asked = subprocess.run([sys.executable, ROOT / "benchmarks" / "gpu" / "cuda.py"], capture_output=True, text=True)
    tell(asked.stdout.strip() or asked.stderr.strip())
    return asked.returncode == 0


def test(args) -> int:
    tests = args.build / "bin" / "gpu-tests"
    for needed, how in ((tests, "./dev build gpu-tests"), (args.artifacts / "manifest.json", f"./dev test --gpu --prepare {args.artifacts}")):
        if not needed.exists():
            tell(f"./dev test --gpu: there is no {needed}; {how} makes it")
            return 2
    environment = dict(os.environ)
    if args.device == "emulated":
        environment.setdefault("TUTTI_CUDA_DRIVER", str(args.build / "lib" / "libcuda-emulated.so"))
    results = args.build / "results"
    results.mkdir(parents=True, exist_ok=True)
    tally = Tally()
    command = [tests, args.artifacts, "--device", args.device]
    tally.add("device", command + (["--quick"] if args.quick else []), results / "gpu.json", environment)
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin" / "compute-sanitizer"
    sanitizer = args.sanitizer or shutil.which("compute-sanitizer") or (toolkit if toolkit.exists() else None)
    for tool in SANITIZERS if args.device != "emulated" or args.sanitizer else ():
        if not sanitizer:
            tally.skipped += 1
            tell(f"compute-sanitizer {tool}: skipped: it is not installed")
            continue
        # What a test provokes on purpose is an API error, and no kernel's.
        more = ["--report-api-errors", "no"] if tool == "memcheck" else []
        tally.add(tool, [sanitizer, "--tool", tool, *more, "--error-exitcode", "9", "--log-file", results / f"gpu-{tool}.log", *command, "--quick"],
                  results / f"gpu-{tool}.json", environment)
    return tally.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev test --gpu", description="Tests on a GPU: the CPU's answers, members whose bits depend on nothing "
                                     "else, memory, streams and mistakes; then the same under compute-sanitizer.", epilog="Without a GPU it says so and exits with 5.")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--artifacts", type=Path, metavar="DIR", help="what --prepare has made; without it, artifacts are made first")
    parser.add_argument("--prepare", type=Path, metavar="DIR", help="only make the artifacts")
    parser.add_argument("--targets", default="cuda", help="with --prepare: the --target of tutti-compile (cuda: all architectures)")
    parser.add_argument("--precision", default="f32,f32-ffma,tf32,bf16,f16", help="with --prepare; what the compiler refuses is skipped")
    parser.add_argument("--models", type=Path, action="append", default=[], metavar="DIR", help="with --prepare: more sets, as in test/models")
    parser.add_argument("--only", action="append", metavar="SET", help="with --prepare: these sets (repeats)")
    parser.add_argument("--alone", action="store_true", help="with --prepare: the sets that lie in files, none that Python makes")
    parser.add_argument("--device", default="cuda", help="cuda, cuda:N, or emulated to try the tests out")
    parser.add_argument("--quick", action="store_true", help="fewer sizes")
    parser.add_argument("--sanitizer", metavar="PROGRAM", help="compute-sanitizer, where it is not found by itself")
    args = parser.parse_args()
    args.build = args.build.resolve()
    if args.prepare:
        return Preparer(args).run()
    if args.device != "emulated" and not has_gpu():
        print("0 passed, 0 failed, 1 skipped")
        return 5
    if args.artifacts is None:
        args.artifacts = args.prepare = args.build / "gpu"
        if status := Preparer(args).run():
            return status
    return test(args)


if __name__ == "__main__":
    sys.exit(main())
