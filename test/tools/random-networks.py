# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random ensembles of networks on the emulated device: within the bounds of tutti-verify; and each member's bits, with all members, some,
in another order and alone, with all rows and some, on devices of other sizes, which take other tiles, and at f32-ffma on a CPU.

    python random-networks.py FOLDER FIRST LAST     the seeds FIRST to LAST - 1; files of those that fail stay in FOLDER/SEED
"""
import array
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from npyfile import elements, save  # noqa: E402
from networkmodels import STYLES, Network  # noqa: E402

WORK = 1.2e6  # multiplications of a call, about: seconds
MOST = {"wide": 30000}  # elements a row of a value
HEADS = ["mean", "var", "std", "min", "max", "vote", "quantile:0.3"]
ROWS = [1, 2, 5, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129]


class Ensemble:
    """What a seed says. Each precision, device and style has its turn."""

    def __init__(self, seed: int, folder: Path):
        draw = self.draw = random.Random(f"ensemble {seed}")
        self.seed, self.folder = seed, folder
        self.precision = ["f32", "f32-ffma", "bf16", "f32", "tf32", "f16"][seed % 6]
        self.device = draw.choice(["", "", "", "-sm_80", "-sm_80", "-sm_75"])
        self.style = list(STYLES)[seed % len(STYLES)]
        self.members = draw.choice([1, 2, 2, 3, 3, 4])
        groups = draw.choice([2, 2, 3]) if self.members > 1 and draw.random() < 0.25 else 1
        variants = [m % groups for m in range(self.members)]
        draw.shuffle(variants)
        inputs, equal = draw.choice([1, 1, 1, 2]), draw.choice([0, 15, 40])
        networks = [Network(seed, self.style, m, variants[m], inputs, equal) for m in range(self.members)]
        self.files = [folder / f"{m}.onnx" for m in range(self.members)]
        for file, network in zip(self.files, networks):
            file.write_bytes(network.file(groups > 1, MOST.get(self.style, 6000)))
        self.sizes = draw.choice(["1..64", "1..64", "1..130", "1..16", "33", "1"])
        self.rows = max(1, min(int(self.sizes.split("..")[-1]), int(WORK / self.members * len(networks) / sum(n.work + 100 for n in networks))))
        if ".." not in self.sizes:
            self.sizes = str(self.rows)
        self.limit = draw.choice([0, 0, 0, 0.6, 0.9])
        self.own = draw.random() < 0.25
        self.options = ["--precision", self.precision, "--dim", f"batch={self.sizes}", "--share", draw.choice(["content", "content", "content", "none"]),
                        "--target", f"emulated{self.device}" + ",cpu" * (self.precision == "f32-ffma")]
        self.options += [word for name, _ in networks[0].inputs if self.own for word in ("--input", f"{name}=member")]
        heads = draw.sample(HEADS, draw.choice([0, 0, 1, 2]))
        self.all = ["--unequal"] * (groups > 1) + [w for i in range(len(networks[0].results)) if heads for w in ("--output", f"y{i}=" + ",".join(["members", *heads]))]
        self.environment = dict(os.environ, TUTTI_CUDA_DRIVER=str(Path(os.environ["TUTTI_LIBRARIES"]) / "libcuda-emulated.so"),
                                TUTTI_EMULATED_SEED=str(draw.randrange(100)), TUTTI_EMULATED_CAPABILITY=self.device[4:] or "90")
        if draw.random() < 0.3:
            self.environment["TUTTI_EMULATED_TENSOR_CORES"] = "hardware"
        self.inputs = {}
        for name, dims in networks[0].inputs:
            each = dims[0] * dims[-1] ** (len(dims) - 1)
            raw = array.array("i", draw.randbytes(4 * each * self.rows * (self.members if self.own else 1)))
            self.inputs[name] = dims, each, array.array("f", [x * (1.7 / 2 ** 31) for x in raw])

    def call(self, *words, codes: tuple = (0,), **variables: str) -> int:
        """A tool; on a device that is small or large, with any of the tiles or the one that is chosen there, if the variables do not say."""
        environment = dict(self.environment, TUTTI_EMULATED_MULTIPROCESSORS=str(self.draw.choice([1, 2, 8, 40, 132, 1000])),
                           TUTTI_CUDA_TILE=self.draw.choice(["", "", "0", "1", "2", "9"])) | variables
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, env=environment)
        self.log = f"{' '.join(map(str, words))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        assert done.returncode in codes, f"exit {done.returncode}: {self.log}"
        return done.returncode

    def compile(self, to: Path, files: list, *more) -> Path:
        self.call("tutti-compile", *files, "-o", to, "--jobs", "1", *self.options, *more)
        return to

    def limited(self, file: Path):
        """The same with less memory than it takes: in pieces, where that is possible."""
        programs = json.loads(subprocess.check_output(["tutti-inspect", file, "--json"]))["programs"]
        memory = max((p["memory"] for p in programs if p["target"] == "cuda"), key=lambda m: m["peak_bytes"])
        most = memory["peak_bytes"] - int(memory["arena_bytes"] * (1 - self.limit))
        if self.members > 1 and self.limit:
            self.call("tutti-compile", *self.files, "-o", file, "--jobs", "1", *self.options, *self.all, "--memory-limit", most, codes=(0, 6))

    def run(self, artifact: Path, first: int, last: int, members: list, *more, device: str = "emulated", **variables: str) -> dict:
        """Of these rows and members, the elements of each output."""
        words, out = [], self.folder / "out"
        for name, (dims, each, values) in self.inputs.items():
            parts = [(m * self.rows + first, m * self.rows + last) for m in (members if self.own else [0])]
            shape = (*([len(members)] if self.own else []), last - first, *dims)
            save(self.folder / f"{name}.npy", shape, [v for a, b in parts for v in values[a * each:b * each]])
            words += ["--input", f"{name}={self.folder / name}.npy"]
        shutil.rmtree(out, ignore_errors=True)
        self.call("tutti-run", artifact, "--device", device, "--output-dir", out, *words, *more, **variables)
        return {p.name: elements(p.read_bytes()) for p in sorted(out.iterdir())}

    def check(self):
        every, one = list(range(self.members)), self.draw.randrange(self.members)
        artifact = self.compile(self.folder / "all.tutti", self.files, *self.all)
        self.limited(artifact)
        fixed = ".." not in self.sizes
        self.call("tutti-verify", artifact, *self.files, "--device", "emulated", "--seed", self.seed, "--dim", f"batch={self.rows if fixed else min(self.rows, 19)}")
        whole = self.run(artifact, 0, self.rows, every)

        def compare(got: dict, first: int, last: int, members: list, what: str, heads: bool = False):
            for name, raw in got.items():
                size = len(whole[name]) // self.rows
                ofMembers = name.count(".") == 1
                if not ofMembers and not heads:
                    continue
                starts = [m * len(whole[name]) // self.members for m in members] if ofMembers else [0]
                size //= self.members if ofMembers else 1
                want = b"".join(whole[name][at + first * size:at + last * size] for at in starts)
                assert raw == want, f"{name} of members {members}, rows {first} to {last}, {what}: the bits differ\n{self.log}"

        for tile in "01" if self.members > 1 else "":
            alone = {"TUTTI_EMULATED_MULTIPROCESSORS": "1", "TUTTI_EMULATED_BLOCKS": "1", "TUTTI_CUDA_TILE": tile}
            compare(self.run(artifact, 0, self.rows, every, **alone), 0, self.rows, every, "one member after the other")
        if self.precision == "f32-ffma":
            compare(self.run(artifact, 0, self.rows, every, device="cpu"), 0, self.rows, every, "on the CPU", True)
        for count in self.draw.sample([r for r in ROWS if r <= self.rows], min(2, sum(r <= self.rows for r in ROWS))) if not fixed else []:
            first = self.draw.randint(0, self.rows - count)
            compare(self.run(artifact, first, first + count, every), first, first + count, every, "these rows", True)
        for members in ([self.draw.sample(every, self.draw.randint(1, self.members - 1)), every[::-1]] if self.members > 1 else []):
            last = self.rows if fixed else self.draw.randint(1, self.rows)
            compare(self.run(artifact, 0, last, members, "--active", ",".join(map(str, members))), 0, last, members, "a set")
        if self.members > 1:
            compare(self.run(self.compile(self.folder / "one.tutti", [self.files[one]]), 0, self.rows, [one]), 0, self.rows, [one], "alone")


failed = 0
for seed in range(int(sys.argv[2]), int(sys.argv[3])):
    folder = Path(sys.argv[1]) / str(seed)
    folder.mkdir(parents=True, exist_ok=True)
    ensemble = Ensemble(seed, folder)
    about = f"seed {seed}: {ensemble.style}, {ensemble.precision}, emulated{ensemble.device}, {ensemble.members} members, batch={ensemble.sizes}"
    try:
        ensemble.check()
        print(about, flush=True)
        shutil.rmtree(folder)
    except AssertionError as error:
        failed += 1
        print(f"{about}\nFAILED: {error}", flush=True)
sys.exit(failed > 0)
