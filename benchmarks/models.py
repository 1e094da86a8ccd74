# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the workloads' ONNX files: the members as torch's exporter spells them, and the merged graphs that peers run.

    python models.py [--out DIR] [NAME...]       member files DIR/NETWORK/member_0000.onnx ..., and their multiply-adds
"""
from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from networks import NETWORKS, WORKLOADS, Network, count, madds, weights

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_OUT = ROOT / "build" / "bench"
GEMM = dict(alpha=1.0, beta=1.0, transA=0, transB=1)


class OnnxEmitter:
    """Nodes and initializers of one or of all members. A value is a tensor's name.

    `member`: one member's graph, as torch.onnx.export writes it.
    `branch`: the same graph once for each member, under names of its own.
    `merged`: one graph over stacked parameters, contractions as batched MatMul."""

    def __init__(self, mode: str, params: list[dict[str, np.ndarray]], prefix: str = ""):
        self.mode, self.params, self.prefix = mode, params, prefix
        self.nodes, self.initializers, self.counts = [], {}, {}

    def node(self, op: str, inputs: list[str], outputs: int = 1, **attributes):
        n = self.counts[op] = self.counts.get(op, -1) + 1
        base = self.prefix + op.lower() + (f"_{n}" if n else "")
        names = [base if outputs == 1 else f"{base}_split_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"node_{base}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, name: str, array: np.ndarray) -> str:
        self.initializers.setdefault(self.prefix + name, array)
        return self.prefix + name

    def stacked(self, name: str) -> np.ndarray:
        return np.stack([p[name] for p in self.params])

    def vector(self, name: str) -> str:
        """A parameter of one row, broadcast over the batch."""
        if self.mode == "merged":
            return self.constant(name, self.stacked(name).reshape(len(self.params), 1, -1))
        return self.constant(name, self.params[0][name])

    def linear(self, x, name, inner, outer):
        if self.mode != "merged":
            w = self.constant(f"{name}.weight", self.params[0][f"{name}.weight"])
            return self.node("Gemm", [x, w, self.vector(f"{name}.bias")], **GEMM)
        w = np.ascontiguousarray(self.stacked(f"{name}.weight").transpose(0, 2, 1))
        return self.add(self.node("MatMul", [x, self.constant(f"{name}.weight", w)]), self.vector(f"{name}.bias"))

    def matmul(self, x, name, inner, outer):
        return self.node("MatMul", [x, self.constant(name, np.ascontiguousarray(self.params[0][name].T))])

    def act(self, kind, x):
        if kind == "silu":
            return self.node("Mul", [x, self.node("Sigmoid", [x])])
        if kind == "softmax":
            return self.node("Softmax", [x], axis=-1)
        if kind == "celu":
            return self.node("Celu", [x], alpha=.1)
        if kind == "symexp":
            grown = self.node("Sub", [self.node("Exp", [self.node("Abs", [x])]), self.constant("one", np.array(1, np.float32))])
            return self.node("Mul", [self.node("Sign", [x]), grown])
        return self.node({"relu": "Relu", "tanh": "Tanh", "mish": "Mish"}[kind], [x])

    def layer_norm(self, x, name, width):
        attributes = dict(axis=-1, epsilon=1e-5, stash_type=1)
        if self.mode != "merged":
            return self.node("LayerNormalization", [x, self.vector(f"{name}.weight"), self.vector(f"{name}.bias")], **attributes)
        # ONNX has one scale for the rows of all members, so theirs follow the norm.
        one = self.constant("ones", np.ones(width, np.float32))
        x = self.node("Mul", [self.node("LayerNormalization", [x, one], **attributes), self.vector(f"{name}.weight")])
        return self.add(x, self.vector(f"{name}.bias"))

    def param(self, name, width, lo, hi):
        return self.vector(name)

    def split(self, x, width):
        return self.node("Split", [x], outputs=2, axis=-1 if self.mode == "merged" else 1, num_outputs=2)

    def dot(self, x, name, values):
        return self.node("MatMul", [x, self.constant(name, values[:, None])])

    def sub(self, a, b):
        return self.node("Sub", [a, b])

    def add(self, a, b):
        return self.node("Add", [a, b])

    def mul(self, a, b):
        return self.node("Mul", [a, b])

    def softplus(self, x):
        limit = self.constant("threshold", np.array(20, np.float32))
        return self.node("Where", [self.node("Greater", [x, limit]), x, self.node("Softplus", [x])])


def model(emitters: list[OnnxEmitter], nodes, inputs: dict[str, list], outputs: dict[str, list]):
    def info(name, dims):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    tensors = [numpy_helper.from_array(a, n) for e in emitters for n, a in e.initializers.items()]
    graph = helper.make_graph(nodes, "main_graph", [info(n, d) for n, d in inputs.items()], [info(n, d) for n, d in outputs.items()], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10, producer_name="tutti-benchmarks")


def rename(nodes, names: dict[str, str]):
    """Gives graph outputs the names they are known by, as exporters do."""
    for node in nodes:
        for field in (node.input, node.output):
            for i, name in enumerate(field):
                if name in names:
                    field[i] = names[name]


def member_model(network: Network, params: dict[str, np.ndarray], member: int = 0):
    """One member; the rows of an input are a symbolic dimension."""
    e = OnnxEmitter("member", [params])
    outs = network.emit(e, *network.inputs, member=member)
    rename(e.nodes, {v: k for k, v in outs.items()})
    inputs, dims = list(network.inputs.items()), count(network, member).widths
    return model([e], e.nodes, {n: [x.rows, x.width] for n, x in inputs}, {n: [inputs[i][1].rows, w] for n, (i, w) in dims.items()})


def merged_model(network: Network, params: list[dict], per_member: bool, rows: tuple[int, ...]):
    """All members by batched MatMul, as a vmapped function exports; outputs of [members, rows, width]."""
    e = OnnxEmitter("merged", params)
    outs = network.emit(e, *network.inputs)
    rename(e.nodes, {v: k for k, v in outs.items()})
    return model([e], e.nodes, fixed_inputs(network, len(params), per_member, rows),
                 {n: [len(params), rows[i], w] for n, (i, w) in count(network).widths.items()})


def fixed_inputs(network: Network, members: int, per_member: bool, rows: tuple[int, ...]) -> dict[str, list]:
    return {n: ([members] if per_member else []) + [r, x.width] for (n, x), r in zip(network.inputs.items(), rows)}


def branch_model(network: Network, params: list[dict], per_member: bool, rows: tuple[int, ...], first: int = 0):
    """Members from `first` on as branches of one graph; an output is theirs one after another, [members * rows, width]."""
    emitters, nodes, parts = [], [], {}
    entries = [list(network.inputs)] * len(params)
    if per_member:
        entries = [[f"{n}_{m}" for n in network.inputs] for m in range(len(params))]
        axes = OnnxEmitter("branch", [])
        axes.constant("axes", np.array([0], np.int64))
        emitters.append(axes)
        for i, name in enumerate(network.inputs):
            nodes.append(helper.make_node("Split", [name], [f"{e[i]}_slice" for e in entries], axis=0, num_outputs=len(params)))
            nodes += [helper.make_node("Squeeze", [f"{e[i]}_slice", "axes"], [e[i]]) for e in entries]
    for m, p in enumerate(params):
        e = OnnxEmitter("branch", [p], prefix=f"m{m}/")
        for name, value in network.emit(e, *entries[m], member=first + m).items():
            parts.setdefault(name, []).append(value)
        emitters.append(e)
        nodes += e.nodes
    nodes += [helper.make_node("Concat", values, [name], axis=0) for name, values in parts.items()]
    return model(emitters, nodes, fixed_inputs(network, len(params), per_member, rows),
                 {n: [len(params) * rows[i], w] for n, (i, w) in count(network).widths.items()})


def write_members(name: str, members: int, out: Path = DEFAULT_OUT) -> list[Path]:
    """The first `members` member files of a network; those that lie there already are kept."""
    network, folder = NETWORKS[name], out / name
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"member_{m:04}.onnx" for m in range(members)]
    if not all(p.exists() for p in paths):
        for m, (path, params) in enumerate(zip(paths, weights(network, members))):
            part = path.with_suffix(".part")
            part.write_bytes(member_model(network, params, m).SerializeToString())
            part.rename(path)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=DEFAULT_OUT)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"networks: {' '.join(NETWORKS)}; all when none is given")
    args = parser.parse_args()
    if unknown := [n for n in args.names if n not in NETWORKS]:
        parser.error(f"no such network: {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    off = 0
    for name in args.names or NETWORKS:
        mine = [w for w in WORKLOADS if w.network == name]
        start = time.perf_counter()
        paths = write_members(name, max(w.members for w in mine), args.out)
        size = sum(p.stat().st_size for p in paths) / 1e6
        print(f"{name}: {len(paths)} members, {size:.1f} MB, {time.perf_counter() - start:.1f} s, {paths[0].parent}")
        for w in mine:
            got = madds(w) / 1e6
            good = abs(got / w.madds - 1) < .01
            off += not good
            print(f"  {w.name:32} {got:10.3f} million multiply-adds, stated {w.madds:10.3f}{'' if good else '   OFF BY MORE THAN 1 %'}")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
