# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Single ops on a million elements, one thread, beside PyTorch's own, or ONNX Runtime's where there is no PyTorch.

Inputs and the output are the caller's for both, at multiples of 64 bytes: PyTorch writes into a tensor that is there already (`out=`),
where the op has that form (norms, padding and repetition have none), and is called through its dispatcher; ONNX Runtime and Tutti into a bound
buffer, Tutti through its C interface."""
from __future__ import annotations

import argparse
import functools
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnx import helper, numpy_helper, save

import measure
import ours

ROOT = Path(__file__).resolve().parent.parent
SHAPE = (1000, 1000)
ROWS = np.random.default_rng(2).permutation(1000)
MASK = np.random.default_rng(3).random(SHAPE) < .5


@functools.cache
def full(t, count: int, value: int):
    """A constant of torch's, made once."""
    return t.full((count,), float(value))


@functools.cache
def places(t):
    return t.from_numpy(ROWS)


@functools.cache
def mask(t):
    return t.from_numpy(MASK)


@dataclass
class Op:
    """An ONNX op of float32 tensors, and torch's `aten.<torch>.out` with the arguments behind the tensors, or what to call with
    torch, the tensors and the result."""
    onnx: str
    torch: str | Callable
    low: float = -4
    high: float = 4
    inputs: int = 1
    attributes: dict = field(default_factory=dict)
    arguments: tuple = ()
    scalars: tuple = ()                # further inputs of the ONNX op: constants
    keywords: dict = field(default_factory=dict)
    opset: int = 24
    shape: tuple = SHAPE               # of every input
    out: tuple = SHAPE
    type: type = np.float32            # of the result
    title: str = ""
    atol: float = 1e-5
    order: tuple = ()                  # of the ONNX op's operands: inputs, then constants

    @property
    def name(self) -> str:
        return self.title or self.onnx + "".join(f" {k}={v}" for k, v in self.attributes.items())

    @property
    def file(self) -> str:
        return re.sub(r"\W+", "-", self.name)


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


def ints(*values):
    return np.array(values, np.int64)


def ones(n):
    return np.ones(n, np.float32)


def reduction(onnx: str, torch: str, axis: int, **more) -> Op:
    call = lambda t, x, y: getattr(t, torch)(x, dim=axis, out=y)
    return Op(onnx, call, attributes={"keepdims": 0}, scalars=(ints(axis),), out=(1000,), title=f"{onnx} axis {axis}", atol=1e-3, **more)


# What goes by rows, or only moves elements.
OPS += [
    Op("Softmax", lambda t, x, y: t.softmax(x, 1, out=y)), Op("Softmax", lambda t, x, y: t.softmax(x, 0, out=y), attributes={"axis": 0}),
    Op("LogSoftmax", lambda t, x, y: t.log_softmax(x, 1, out=y)),
    *[reduction(*op, axis) for op in [("ReduceSum", "sum"), ("ReduceMean", "mean"), ("ReduceMax", "amax"), ("ReduceMin", "amin")] for axis in (0, 1)],
    reduction("ReduceL2", "norm", 1), reduction("ReduceLogSumExp", "logsumexp", 1), reduction("ReduceProd", "prod", 1, low=.99, high=1.01),
    Op("ArgMax", lambda t, x, y: t.argmax(x, 1, out=y), attributes={"axis": 1, "keepdims": 0}, out=(1000,), type=np.int64),
    Op("CumSum", lambda t, x, y: t.cumsum(x, 1, out=y), scalars=(np.int64(1),), title="CumSum axis 1", atol=1e-3),
    Op("CumSum", lambda t, x, y: t.cumsum(x, 0, out=y), scalars=(np.int64(0),), title="CumSum axis 0", atol=1e-3),
    *[Op("TopK", lambda t, x, y, k=k: t.topk(x, k, 1)[0], scalars=(ints(k),), out=(1000, k), title=f"TopK {k}") for k in (10, 512)],
    Op("LayerNormalization", lambda t, x, y: t.layer_norm(x, (1000,), full(t, 1000, 1), full(t, 1000, 0)), scalars=(ones(1000), 0 * ones(1000))),
    Op("RMSNormalization", lambda t, x, y: t.rms_norm(x, (1000,), full(t, 1000, 1), 1e-5), scalars=(ones(1000),)),
    Op("GroupNormalization", lambda t, x, y: t.group_norm(x, 4, full(t, 40, 1), full(t, 40, 0)), attributes={"num_groups": 4},
       scalars=(ones(40), 0 * ones(40)), shape=(100, 40, 250), out=(100, 40, 250)),
    Op("BatchNormalization", lambda t, x, y: t.batch_norm(x, full(t, 1000, 1), full(t, 1000, 0), full(t, 1000, 0), full(t, 1000, 1), False, 0, 1e-5, False),
       scalars=(ones(1000), 0 * ones(1000), 0 * ones(1000), ones(1000))),
    Op("Transpose", lambda t, x, y: y.copy_(x.t()), attributes={"perm": [1, 0]}),
    Op("Transpose", lambda t, x, y: y.copy_(x.permute(1, 0, 2)), attributes={"perm": [1, 0, 2]}, shape=(100, 100, 100), out=(100, 100, 100)),
    Op("Transpose", lambda t, x, y: y.copy_(x.permute(0, 2, 1)), attributes={"perm": [0, 2, 1]}, shape=(100, 100, 100), out=(100, 100, 100)),
    Op("Pad", lambda t, x, y: t.nn.functional.pad(x, (3, 5, 2, 4)), scalars=(ints(2, 3, 4, 5),), out=(1006, 1008)),
    Op("Tile", lambda t, x, y: x.repeat(2, 2), scalars=(ints(2, 2),), shape=(500, 500)),
    Op("Expand", lambda t, x, y: y.copy_(x.expand(1000, 1000)), scalars=(ints(1000, 1000),), shape=(1, 1000)),
    Op("Concat", lambda t, x, z, y: t.cat([x, z], 1, out=y), inputs=2, attributes={"axis": 1}, shape=(1000, 500)),
    Op("Slice", lambda t, x, y: y.copy_(x[:, 100:900]), scalars=(ints(100), ints(900), ints(1)), out=(1000, 800)),
    Op("Slice", lambda t, x, y: y.copy_(x[:, ::2]), scalars=(ints(0), ints(1000), ints(1), ints(2)), out=(1000, 500), title="Slice step 2"),
    Op("Gather", lambda t, x, y: t.index_select(x, 0, places(t), out=y), scalars=(ROWS,), attributes={"axis": 0}),
    Op("Gather", lambda t, x, y: t.index_select(x, 1, places(t), out=y), scalars=(ROWS,), attributes={"axis": 1}),
    Op("Where", lambda t, x, z, y: t.where(mask(t), x, z, out=y), inputs=2, scalars=(MASK,), order=(2, 0, 1)),
    Op("Trilu", lambda t, x, y: t.triu(x, out=y)),
]


def model(op: Op, path: Path):
    names = [f"x{i}" for i in range(op.inputs)]
    constants = [numpy_helper.from_array(np.asarray(v) if hasattr(v, "dtype") else np.float32(v), f"c{i}")
                 for i, v in enumerate(op.scalars)]
    operands = names + [c.name for c in constants]
    node = helper.make_node(op.onnx, [operands[i] for i in op.order] if op.order else operands, ["y", "places"] if op.onnx == "TopK" else ["y"], **op.attributes)
    value = lambda name, shape, kind=np.float32: helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape)
    graph = helper.make_graph([node], op.onnx, [value(n, op.shape) for n in names], [value("y", op.out, op.type)], constants)
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", op.opset)], ir_version=10), path)


class Torch:
    def __init__(self, op: Op, path: Path, sets: list[list[np.ndarray]]):
        import torch
        torch.set_num_threads(1)
        self.name, self.sets = "torch", [[torch.from_numpy(a) for a in arrays] for arrays in sets]
        self.y = torch.empty(op.out, dtype=torch.from_numpy(np.empty(0, op.type)).dtype)
        if callable(op.torch):
            self.call = lambda *x: setattr(self, "y", op.torch(torch, *x, self.y))
            return
        packet = getattr(torch.ops.aten, op.torch)
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
        self.name, self.y, self.bindings = "onnxruntime", ours.aligned(np.empty(op.out, op.type)), []
        value = onnxruntime.OrtValue.ortvalue_from_numpy
        self.bound = value(self.y)                # the array's own memory
        for arrays in sets:
            binding = self.session.io_binding()
            for i, array in enumerate(arrays):
                binding.bind_ortvalue_input(f"x{i}", value(array))
            binding.bind_ortvalue_output("y", self.bound)
            self.bindings.append(binding)

    def run(self, i: int):
        self.session.run_with_iobinding(self.bindings[i])

    def result(self) -> np.ndarray:
        return self.y


class Tutti:
    def __init__(self, library: ours.Library, op: Op, artifact: Path, sets: list[list[np.ndarray]]):
        names = [f"x{i}" for i in range(len(sets[0]))]
        self.session = ours.Ours(library, artifact, names, sets, [("y", "members", (1, *op.out))], 1, dtype=op.type)
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
    parser.add_argument("--rounds", type=int, default=6, help="turns of each contestant; 0: only compile")
    parser.add_argument("--keep", action="store_true", help="artifacts that are there already stay as they are")
    parser.add_argument("--json", type=Path, help="where to write the numbers")
    args = parser.parse_args()
    args.build = args.build.resolve()
    chosen = [op for op in OPS if not args.only or any(op.name.startswith(n) for n in args.only)]
    if not chosen:
        parser.error(f"no op starts with {args.only}; there are: {', '.join(op.name for op in OPS)}")
    folder = args.build / "bench" / "ops"
    folder.mkdir(parents=True, exist_ok=True)
    for op in chosen:
        model(op, folder / f"{op.file}.onnx")
        if not args.keep or not (folder / f"{op.file}.tutti").exists():
            ours.compile(args.build, [folder / f"{op.file}.onnx"], folder / f"{op.file}.tutti")
    if args.rounds == 0:
        return 0
    library, rows, slower = ours.Library(args.build), [], []
    print("| op | Tutti, us | peer, us | peer | Tutti takes |\n|---|--:|--:|---|--:|")
    for op in chosen:
        rng = np.random.default_rng(1)
        sets = [[ours.aligned(rng.uniform(op.low, op.high, op.shape).astype(np.float32)) for _ in range(op.inputs)]
                for _ in range(measure.SETS)]
        path = folder / f"{op.file}.onnx"
        mine, other = Tutti(library, op, path.with_suffix(".tutti"), sets), peer(op, path, sets)
        for contestant in (mine, other):
            contestant.run(0)
        if not np.allclose(mine.result(), other.result(), rtol=1e-4, atol=op.atol):
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
