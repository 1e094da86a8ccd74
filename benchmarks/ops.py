# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every pointwise op on a million elements, one thread, beside PyTorch's own, or ONNX Runtime's where there is no PyTorch."""
from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

import measure
import ours

ROOT = Path(__file__).resolve().parent.parent
SHAPE = (1000, 1000)


@dataclass
class Op:
    """An ONNX op of float32 tensors, and torch's `aten.<torch>.out` with the arguments behind the tensors."""
    onnx: str
    torch: str
    low: float = -4
    high: float = 4
    inputs: int = 1
    attributes: dict = field(default_factory=dict)
    arguments: tuple = ()
    scalars: tuple = ()                # further inputs of the ONNX op: constants
    keywords: dict = field(default_factory=dict)
    opset: int = 24

    @property
    def name(self) -> str:
        return self.onnx + "".join(f" {k}={v}" for k, v in self.attributes.items())


OPS = [
    Op("Abs", "abs"), Op("Neg", "neg"), Op("Sign", "sign"), Op("Floor", "floor"), Op("Ceil", "ceil"), Op("Round", "round"),
    Op("Sqrt", "sqrt", 0), Op("Reciprocal", "reciprocal", 1), Op("Exp", "exp"), Op("Log", "log", 1e-3), Op("Erf", "erf"),
    Op("Sin", "sin"), Op("Cos", "cos"), Op("Tan", "tan"), Op("Asin", "asin", -1, 1), Op("Acos", "acos", -1, 1), Op("Atan", "atan"),
    Op("Sinh", "sinh"), Op("Cosh", "cosh"), Op("Tanh", "tanh"), Op("Asinh", "asinh"), Op("Acosh", "acosh", 1), Op("Atanh", "atanh", -.99, .99),
    Op("Relu", "relu"), Op("LeakyRelu", "leaky_relu"), Op("Elu", "elu"), Op("Celu", "celu"), Op("Selu", "selu"),
    Op("Sigmoid", "sigmoid"), Op("HardSigmoid", "hardsigmoid", attributes={"alpha": 1 / 6}), Op("HardSwish", "hardswish"),
    Op("Softplus", "softplus"), Op("Softsign", "softsign"), Op("Mish", "mish"), Op("Swish", "silu"), Op("Gelu", "gelu"),
    Op("Gelu", "gelu", attributes={"approximate": "tanh"}, keywords={"approximate": "tanh"}), Op("ThresholdedRelu", "threshold", arguments=(1, 0)),
    Op("Shrink", "softshrink", attributes={"bias": .5}, arguments=(.5,)), Op("Clip", "clamp", scalars=(-1, 1), arguments=(-1, 1)),
    Op("Add", "add", inputs=2), Op("Sub", "sub", inputs=2), Op("Mul", "mul", inputs=2), Op("Div", "div", inputs=2),
    Op("Max", "maximum", inputs=2), Op("Min", "minimum", inputs=2), Op("Pow", "pow", .1, inputs=2),
    Op("Mod", "fmod", inputs=2, attributes={"fmod": 1}), Op("PRelu", "_prelu_kernel", inputs=2),
]


def model(op: Op, path: Path):
    names = [f"x{i}" for i in range(op.inputs)]
    constants = [numpy_helper.from_array(np.float32(v), f"c{i}") for i, v in enumerate(op.scalars)]
    node = helper.make_node(op.onnx, names + [c.name for c in constants], ["y"], **op.attributes)
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE)
    graph = helper.make_graph([node], op.onnx, [value(n) for n in names], [value("y")], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", op.opset)], ir_version=10), path)


class Torch:
    def __init__(self, op: Op, path: Path, sets: list[list[np.ndarray]]):
        import torch
        torch.set_num_threads(1)
        packet = getattr(torch.ops.aten, op.torch)
        self.name, self.sets = "torch", [[torch.from_numpy(a) for a in arrays] for arrays in sets]
        self.y = torch.empty(SHAPE)
        overloads = [getattr(packet, o) for o in packet.overloads() if o == "out" or o.endswith("_out")]
        keywords = dict(op.keywords)
        self.call = None
        for overload in overloads:
            try:
                overload(*self.sets[0], *op.arguments, out=self.y, **keywords)
            except RuntimeError:
                continue
            self.call = lambda *x, o=overload: o(*x, *op.arguments, out=self.y, **keywords)
            break
        if self.call is None:                    # no form with a result of ours: what users write
            plain = getattr(torch.nn.functional, op.torch, None) or getattr(torch, op.torch)
            self.call = lambda *x: setattr(self, "y", plain(*x, *op.arguments, **keywords))

    def run(self, i: int):
        self.call(*self.sets[i])

    def result(self) -> np.ndarray:
        return self.y.numpy()


class OnnxRuntime:
    def __init__(self, op: Op, path: Path, sets: list[list[np.ndarray]]):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.name, self.feeds = "onnxruntime", [{f"x{i}": a for i, a in enumerate(arrays)} for arrays in sets]

    def run(self, i: int):
        self.y, = self.session.run(None, self.feeds[i])

    def result(self) -> np.ndarray:
        return self.y


class Tutti:
    def __init__(self, library: ours.Library, artifact: Path, sets: list[list[np.ndarray]]):
        names = [f"x{i}" for i in range(len(sets[0]))]
        self.session = ours.Ours(library, artifact, names, sets, [("y", "members", (1, *SHAPE))], 1)
        self.name, self.run = "Tutti", self.session.run

    def result(self) -> np.ndarray:
        return self.session.results["y"][0]


def peer(op: Op, path: Path, sets):
    for kind in (Torch, OnnxRuntime):
        try:
            return kind(op, path, sets)
        except Exception as error:               # not installed, or no kernel
            why = error
    raise RuntimeError(f"no peer for {op.name}: {why}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev bench --ops", description=__doc__,
                                     epilog="PYTHON=... ./dev bench --ops --only Tan takes another Python, one with PyTorch, say")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder")
    parser.add_argument("--only", action="append", metavar="NAME", help="ops whose name starts so (repeats)")
    parser.add_argument("--rounds", type=int, default=6, help="turns of each contestant")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    args.build = args.build.resolve()
    chosen = [op for op in OPS if not args.only or any(op.name.startswith(n) for n in args.only)]
    if not chosen:
        parser.error(f"no op starts with {args.only}; there are: {', '.join(op.name for op in OPS)}")
    folder = args.build / "bench" / "ops"
    folder.mkdir(parents=True, exist_ok=True)
    library, rows, slower = ours.Library(args.build), [], []
    print("| op | Tutti, us | peer, us | peer | Tutti takes |\n|---|--:|--:|---|--:|")
    for op in chosen:
        rng = np.random.default_rng(1)
        sets = [[rng.uniform(op.low, op.high, SHAPE).astype(np.float32) for _ in range(op.inputs)] for _ in range(measure.SETS)]
        path = folder / f"{op.torch}{len(op.attributes)}.onnx"
        model(op, path)
        artifact = ours.compile(args.build, [path], path.with_suffix(".tutti"))
        mine, other = Tutti(library, artifact.path, sets), peer(op, path, sets)
        for contestant in (mine, other):
            contestant.run(0)
        if not np.allclose(mine.result(), other.result(), rtol=1e-4, atol=1e-5):
            raise RuntimeError(f"{op.name}: Tutti and {other.name} differ")
        times = measure.alternate([mine, other], "Tutti", args.rounds)
        # The best block of each: what shares the machine with us only ever adds.
        a, b = (1e6 * min(times[c.name].blocks) for c in (mine, other))
        rows.append({"op": op.name, "us": a, "peer": other.name, "peer_us": b})
        if a > b:
            slower.append(op.name)
        print(f"| {op.name} | {a:.0f} | {b:.0f} | {other.name} | {a / b:.2f} |", flush=True)
        mine.session.close()
    print(f"\n{len(rows) - len(slower)} of {len(rows)} ops no slower than their peer on a million elements, one thread"
          + (f"; slower: {', '.join(slower)}" if slower else ""))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
