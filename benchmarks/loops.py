# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ensembles of many kinds, each beside its own loop in ONNX Runtime: a session a member, called one after another.

Without files: a small network of every kind in kinds.py. Outputs are bound once on both sides, and so are
ONNX Runtime's inputs, those of each set; ours are bound in the call."""
from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

import measure
import ours
from kinds import KINDS, Kind

ROOT = Path(__file__).resolve().parent.parent
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(int64)": np.int64, "tensor(bool)": np.bool_,
         "tensor(int32)": np.int32, "tensor(float16)": np.float16}


class Loop:
    name = "loop"

    def __init__(self, models: list[Path], threads: int):
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        self.sessions = [ort.InferenceSession(m, options, providers=["CPUExecutionProvider"]) for m in models]
        self.inputs, self.outs = self.sessions[0].get_inputs(), [o.name for o in self.sessions[0].get_outputs()]

    def draw(self, dims: dict[str, int], integers: int) -> list[list[np.ndarray]]:
        """Random inputs, of which floats are normal and integers in 0..integers."""
        rng, sets = np.random.default_rng(1), []
        for _ in range(measure.SETS):
            arrays = []
            for about in self.inputs:
                shape = [d if isinstance(d, int) else dims[d or f"{about.name}.{i}"] for i, d in enumerate(about.shape)]
                element = np.dtype(TYPES[about.type])
                array = rng.standard_normal(shape) if element.kind == "f" else rng.integers(0, integers, shape)
                arrays.append(ours.aligned(array.astype(element)))
            sets.append(arrays)
        return sets

    def bind(self, sets: list[list[np.ndarray]]):
        self.bindings = []
        for session in self.sessions:
            mine = []
            for arrays in sets:
                binding = session.io_binding()
                for about, array in zip(self.inputs, arrays):
                    binding.bind_ortvalue_input(about.name, ort.OrtValue.ortvalue_from_numpy(array))
                for out in self.outs:
                    binding.bind_output(out, "cpu")
                mine.append(binding)
            self.bindings.append(mine)

    def run(self, i: int):
        for session, bindings in zip(self.sessions, self.bindings):
            session.run_with_iobinding(bindings[i])

    def outputs(self, i: int) -> dict[str, np.ndarray]:
        self.run(i)
        members = [bindings[i].copy_outputs_to_cpu() for bindings in self.bindings]
        return {name: np.stack([m[k] for m in members]) for k, name in enumerate(self.outs)}


def far(mine: np.ndarray, other: np.ndarray) -> bool:
    """Whether two answers are further apart than rounding brings two programs."""
    if mine.dtype.kind != "f":
        return not np.array_equal(mine, other)
    rounding = max(1, np.finfo(other.dtype).eps / 1e-4)  # of 16-bit floats
    return not np.allclose(mine, other, rtol=1e-3 * rounding, atol=1e-4 * rounding * max(1, np.abs(other).max(initial=0)), equal_nan=True)


def compare(args, library: ours.Library, models: list[Path], artifact: Path, dims: dict[str, int], integers: int) -> tuple[float, float]:
    """Seconds of a call of the ensemble, and of the loop: of each the median of its best block."""
    loop = Loop(models, args.threads)
    sets = loop.draw(dims, integers)
    loop.bind(sets)
    expected = loop.outputs(0)
    outs = [(name, "members", y.shape) for name, y in expected.items()]
    mine = ours.Ours(library, artifact, [i.name for i in loop.inputs], sets, outs, args.threads,
                     dtype={name: y.dtype.type for name, y in expected.items()})
    mine.run(0)
    for name, y in expected.items():
        if far(mine.results[name], y):
            raise RuntimeError(f"{models[0].name}: output {name} differs from ONNX Runtime's by {np.abs(mine.results[name] - y).max():.3g}")
    times = measure.alternate([mine, loop], "Tutti", args.rounds)
    mine.close()
    return min(times["Tutti"].blocks), min(times["loop"].blocks)


def members(name: str, kind: Kind, count: int, folder: Path) -> list[Path]:
    stem = "".join(c if c.isalnum() else "-" for c in name)
    paths = [folder / f"{stem}-{m}.onnx" for m in range(count)]
    for m, path in enumerate(paths):
        path.write_bytes(kind.model(m).SerializeToString())
    return paths


def symbols(model: Path) -> list[str]:
    """The symbolic dimensions of a file's inputs; one without a name is its input's, by its place."""
    graph = onnx.load(model, load_external_data=False).graph
    known = {i.name for i in graph.initializer}
    dims = ((i.name, place, d) for i in graph.input if i.name not in known for place, d in enumerate(i.type.tensor_type.shape.dim))
    return list(dict.fromkeys(d.dim_param or f"{name}.{place}" for name, place, d in dims if not d.HasField("dim_value")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --loop", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="example: ./dev bench --loop --rows 1,256 member_0.onnx member_1.onnx")
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx", help="an ensemble of one's own")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--only", action="append", metavar="NAME", help="kinds whose name starts so (repeats)")
    parser.add_argument("--members", type=int, default=4, help="of each kind")
    parser.add_argument("--rows", default="1,64,1024", help="values of every symbolic dimension (default: 1,64,1024)")
    parser.add_argument("--integers", type=int, default=2, help="inputs of integers are below this; those of kinds say themselves")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=4, help="turns of each contestant")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    args.build = args.build.resolve()
    rows = [int(r) for r in args.rows.split(",")]
    folder = args.build / "bench" / "loop"
    folder.mkdir(parents=True, exist_ok=True)
    if args.models:
        ensembles = [(args.models[0].stem, args.models, args.integers)]
    else:
        chosen = [n for n in KINDS if not args.only or any(n.startswith(o) for o in args.only)]
        if not chosen:
            parser.error(f"no kind starts with {args.only}; there are: {', '.join(KINDS)}")
        ensembles = [(n, members(n, KINDS[n], args.members, folder), KINDS[n].integers) for n in chosen]
    library, found, slower = ours.Library(args.build), [], []
    print("| ensemble | rows | Tutti, us | loop, us | loop / Tutti |\n|---|--:|--:|--:|--:|")
    for name, models, integers in ensembles:
        artifact, names = folder / f"{models[0].stem}.tutti", symbols(models[0])
        flags = [flag for n in names for flag in ("--dim", f"{n}={min(rows)}..{max(rows)}")]
        ours.compile(args.build, models, artifact, *flags)
        for count in rows if names else [0]:
            a, b = compare(args, library, models, artifact, dict.fromkeys(names, count), integers)
            found.append({"ensemble": name, "rows": count, "us": 1e6 * a, "loop_us": 1e6 * b})
            if a > b:
                slower.append(f"{name} of {count} rows")
            print(f"| {name} | {count or ''} | {1e6 * a:.1f} | {1e6 * b:.1f} | {b / a:.2f} |", flush=True)
    print(f"\n{len(found) - len(slower)} of {len(found)} no slower than their loop in ONNX Runtime, {args.threads} threads"
          + (f"; slower: {', '.join(slower)}" if slower else ""))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
