# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small networks of many kinds, for `./dev bench --loop`: what dense, tabular and scientific models are made of.

A kind is a function of a graph and its inputs' names. The first axis of every input is the batch.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import numpy as np
from onnx import ModelProto, helper, numpy_helper

OPSET = 21


class Graph:
    """One member's model, node by node. Weights are drawn as they are asked for, so that members differ in nothing else."""

    def __init__(self, member: int, element=np.float32):
        self.rng, self.element, self.nodes, self.constants = np.random.default_rng([5, member]), element, [], []

    def __getattr__(self, op: str):
        """`g.Relu(x)` adds a node and returns its output's name; `outputs=2` several."""
        def node(*inputs: str, outputs: int = 1, **attributes):
            names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
            self.nodes.append(helper.make_node(op, list(inputs), names, **attributes))
            return names[0] if outputs == 1 else names
        return node

    def constant(self, values) -> str:
        """The same in all members; integers are int64."""
        values = np.asarray(values)
        return self.typed(values.astype(np.int64 if values.dtype.kind == "i" else self.element if values.dtype.kind == "f" else values.dtype))

    def typed(self, values: np.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(values, f"c{len(self.constants)}"))
        return self.constants[-1].name

    def weight(self, *shape: int, low: float | None = None, high: float = 1) -> str:
        """A member's own; normal, of variance 1 / the terms of a sum over the last axis but one, or uniform in low..high."""
        if low is None:
            values = self.rng.standard_normal(shape) / np.sqrt(shape[-2] if len(shape) > 1 else 1)
        else:
            values = self.rng.uniform(low, high, shape)
        return self.constant(values)

    def linear(self, x: str, inner: int, outer: int) -> str:
        return self.Gemm(x, self.weight(inner, outer), self.weight(outer))

    def dense(self, x: str, inner: int, outer: int) -> str:
        """A layer of any number of axes before the last."""
        return self.Add(self.MatMul(x, self.weight(inner, outer)), self.weight(outer))

    def mlp(self, x: str, *widths: int, act: str = "Relu") -> str:
        for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
            x = self.linear(x, inner, outer)
            if i + 2 < len(widths):
                x = getattr(self, act)(x)
        return x

    def norm(self, x: str, width: int) -> str:
        return self.LayerNormalization(x, self.weight(width, low=.5, high=1.5), self.weight(width))

    def shape(self, x: str, *dims: int) -> str:
        """Dimension 0 stays, one may be -1."""
        return self.Reshape(x, self.constant([0, *dims]))

    def model(self, outputs: tuple[str, ...], inputs: dict[str, tuple]) -> ModelProto:
        kind = lambda element: helper.np_dtype_to_tensor_dtype(np.dtype(element))
        given = [helper.make_tensor_value_info(n, kind(element), ["batch", *dims]) for n, (dims, element) in inputs.items()]
        named = [helper.make_node("Identity", [v], [f"y{i}"]) for i, v in enumerate(outputs)]
        made = [helper.make_tensor_value_info(f"y{i}", kind(self.element), None) for i in range(len(outputs))]
        graph = helper.make_graph(self.nodes + named, "main_graph", given, made, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10, producer_name="tutti-benchmarks")


@dataclass(frozen=True)
class Kind:
    network: Callable
    inputs: tuple[tuple[int, ...], ...]          # of each input, the dimensions behind the batch
    integers: int = 0                            # inputs of int64, in 0..integers, and no floats
    element: type = np.float32

    def model(self, member: int) -> ModelProto:
        graph = Graph(member, self.element)
        inputs = {f"x{i}": (dims, np.int64 if self.integers else self.element) for i, dims in enumerate(self.inputs)}
        made = self.network(graph, *inputs)
        return graph.model(made if isinstance(made, tuple) else (made,), inputs)


KINDS: dict[str, Kind] = {}


def kind(name: str, *inputs: tuple[int, ...], **more):
    def add(network: Callable):
        KINDS[name] = Kind(network, inputs, **more)
        return network
    return add


def layers(name: str, *widths: int, act: str = "Relu", end: str = "", **more):
    def network(g: Graph, x: str):
        x = g.mlp(x, *widths, act=act)
        if end in ("Softmax", "LogSoftmax"):
            return getattr(g, end)(x, axis=-1)
        return getattr(g, end)(x) if end else x
    KINDS[name] = Kind(network, ((widths[0],),), **more)


# Layers.
layers("classifier 64-64-10 softmax", 64, 64, 10, end="Softmax")
layers("critic 23-256-256-1", 23, 256, 256, 1)
layers("logistic regression 10-1", 10, 1, end="Sigmoid")
layers("softmax regression 20-3", 20, 3, end="Softmax")
layers("wide output 64-1000 softmax", 64, 1000, end="Softmax")
layers("vocabulary 64-5000 log-softmax", 64, 5000, end="LogSoftmax")
layers("one layer 1000-3", 1000, 3)
layers("PINN 2-64-64-64-1 tanh", 2, 64, 64, 64, 1, act="Tanh")
layers("SELU 30-128-128-2", 30, 128, 128, 2, act="Selu")
layers("float64 16-64-64-1 tanh", 16, 64, 64, 1, act="Tanh", element=np.float64)
layers("float64 64-64-64-4", 64, 64, 64, 4, element=np.float64)
layers("one layer 2000-8", 2000, 8)
layers("autoencoder 96-32-8-32-96", 96, 32, 8, 32, 96, act="Elu", end="Sigmoid")


def quantized(name: str, *widths: int):
    """As quantizers write layers, with what is between them in bytes, too. All scales are powers of two, so that no rounding of a float turns a half."""
    def network(g: Graph, x: str):
        zero = g.typed(np.int8(0))
        def bytes_of(x: str, scale: float) -> str:
            scale = g.typed(np.float32(scale))
            return g.DequantizeLinear(g.QuantizeLinear(x, scale, zero), scale, zero)
        x = bytes_of(x, 2.**-5)
        for i, (inner, outer) in enumerate(zip(widths, widths[1:])):
            weight = np.clip(g.rng.standard_normal((outer, inner)) * 128 * 2 / np.sqrt(inner), -128, 127).astype(np.int8)
            w = g.DequantizeLinear(g.typed(weight), g.typed(np.float32(2.**-7)), zero)
            b = g.DequantizeLinear(g.typed(g.rng.integers(-4000, 4000, outer).astype(np.int32)), g.typed(np.float32(2.**-12)))
            x = g.Gemm(x, w, b, transB=1)
            x = bytes_of(g.Relu(x) if i + 2 < len(widths) else x, 2.**-5)
        return x
    KINDS[name] = Kind(network, ((widths[0],),))


quantized("bytes 64-256-256-8", 64, 256, 256, 8)
quantized("bytes 300-300-300-7", 300, 300, 300, 7)


@kind("BatchNorm MLP", (40,))
def batch_norm(g, x):
    for inner, outer in ((40, 96), (96, 96)):
        v = [g.weight(outer, low=.5) for _ in range(4)]
        x = g.Relu(g.BatchNormalization(g.linear(x, inner, outer), *v))
    return g.linear(x, 96, 4)


@kind("residual MLP with layer norms", (32,))
def residual(g, x):
    x = g.linear(x, 32, 128)
    for _ in range(3):
        x = g.Add(x, g.linear(g.Mish(g.linear(g.norm(x, 128), 128, 256)), 256, 128))
    return g.linear(g.norm(x, 128), 128, 1)


@kind("gated linear units", (48,))
def glu(g, x):
    for inner in (48, 64):
        a, b = g.Split(g.linear(x, inner, 128), outputs=2, axis=1, num_outputs=2)
        x = g.Mul(a, g.Sigmoid(b))
    return g.linear(x, 64, 2)


@kind("mean and bounded log-variance", (24,))
def gaussian(g, x):
    x = g.linear(x, 24, 100)
    x = g.linear(g.Mul(x, g.Sigmoid(x)), 100, 12)
    mean, v = g.Split(x, outputs=2, axis=1, num_outputs=2)
    hi, lo = g.constant(np.float32(.5)), g.constant(np.float32(-10))
    return mean, g.Add(lo, g.Softplus(g.Sub(g.Sub(hi, g.Softplus(g.Sub(hi, v))), lo)))


@kind("prototypes of 10 x 100", (10, 100))
def prototypes(g, x):
    apart = g.Sub(g.shape(x, 1, 10, 100), g.weight(20, 10, 100))
    return g.Softmax(g.Neg(g.ReduceSum(g.Mul(apart, apart), g.typed(np.array([2, 3])), keepdims=0)), axis=-1)


@kind("sum of 7 x 100, scaled", (7, 100))
def scaled(g, x):
    return g.ReduceSum(g.Mul(x, g.weight(100)), g.typed(np.array([1, 2])), keepdims=0)


@kind("mixture density", (8,))
def mixture(g, x):
    x = g.Tanh(g.linear(x, 8, 64))
    return g.Softmax(g.linear(x, 64, 5), axis=1), g.linear(x, 64, 5), g.Exp(g.linear(x, 64, 5))


@kind("standardised features, quantiles", (12,))
def quantiles(g, x):
    x = g.Clip(g.Div(g.Sub(x, g.weight(1, 12)), g.weight(1, 12, low=.5)), g.constant(np.float32(-5)), g.constant(np.float32(5)))
    y = g.mlp(x, 12, 64, 64, 9)
    return g.CumSum(g.Softplus(y), g.constant(1))


@kind("mixture of four experts", (32,))
def experts(g, x):
    gates = g.Softmax(g.linear(x, 32, 4), axis=1)
    hidden = g.Relu(g.Einsum(x, g.weight(4, 32, 64), equation="bi,eih->beh"))
    return g.Einsum(g.Einsum(hidden, g.weight(4, 64, 8), equation="beh,eho->beo"), gates, equation="beo,be->bo")


@kind("Fourier features", (3,))
def fourier(g, x):
    x = g.MatMul(x, g.weight(3, 64))
    return g.mlp(g.Concat(g.Sin(x), g.Cos(x), axis=1), 128, 64, 1, act="Tanh")


@kind("SIREN", (2,))
def siren(g, x):
    w = g.constant(np.float32(30))
    for inner, outer in ((2, 64), (64, 64)):
        x = g.Sin(g.Mul(w, g.linear(x, inner, outer)))
    return g.linear(x, 64, 3)


@kind("radial basis functions", (6,))
def rbf(g, x):
    d = g.Sub(g.Unsqueeze(x, g.constant([1])), g.weight(1, 50, 6))
    r = g.ReduceSum(g.Mul(d, d), g.constant([2]), keepdims=0)
    return g.linear(g.Exp(g.Neg(r)), 50, 2)


@kind("squared distances by products", (16,))
def distances(g, x):
    centres = g.rng.standard_normal((100, 16)).astype(np.float32)
    square = g.ReduceSum(g.Mul(x, x), g.constant([1]), keepdims=1)
    r = g.Add(g.Sub(square, g.Mul(g.constant(np.float32(2)), g.MatMul(x, g.constant(centres.T.copy())))), g.constant((centres ** 2).sum(1)))
    return g.MatMul(g.Exp(g.Mul(r, g.constant(np.float32(-.05)))), g.weight(100, 1))


@kind("splines (KAN)", (8,))
def splines(g, x):
    knots = g.constant(np.linspace(-2, 2, 12, dtype=np.float32).reshape(1, 1, 12))
    d = g.Sub(g.Unsqueeze(x, g.constant([2])), knots)
    return g.linear(g.Flatten(g.Exp(g.Neg(g.Mul(d, d)))), 96, 4)


@kind("polynomial features", (10,))
def polynomial(g, x):
    a, b = np.triu_indices(10)
    pairs = g.Mul(g.Gather(x, g.constant(a), axis=1), g.Gather(x, g.constant(b), axis=1))
    return g.linear(g.Concat(x, pairs, axis=1), 65, 1)


@kind("one coupling of a flow", (10,))
def flow(g, x):
    a, b = g.Split(x, outputs=2, axis=1, num_outputs=2)
    s, t = g.Split(g.mlp(a, 5, 64, 10, act="Tanh"), outputs=2, axis=1, num_outputs=2)
    s = g.Tanh(s)
    return g.Concat(a, g.Add(g.Mul(b, g.Exp(s)), t), axis=1), g.ReduceSum(s, g.constant([1]), keepdims=0)


@kind("categories and numbers", (8,), (3,))
def tabular(g, x, y):
    codes = g.Cast(g.Clip(g.Floor(g.Abs(g.Mul(y, g.constant(np.float32(4))))), g.constant(np.float32(0)), g.constant(np.float32(9))), to=7)
    parts = []
    for i in range(3):
        column = g.Gather(codes, g.constant(i), axis=1)
        parts.append(g.Gather(g.weight(10, 4), column, axis=0))
    return g.mlp(g.Concat(x, *parts, axis=1), 20, 64, 1)


@kind("mean of 20 embeddings", (20,), integers=500)
def words(g, x):
    return g.mlp(g.ReduceMean(g.Gather(g.weight(500, 32, low=-1), x, axis=0), g.constant([1]), keepdims=0), 32, 32, 4)


@kind("factorisation machine", (20,))
def factorisation(g, x):
    v = g.rng.standard_normal((20, 8)).astype(np.float32) / 4
    a, b = g.MatMul(x, g.constant(v)), g.MatMul(g.Mul(x, x), g.constant(v * v))
    return g.Add(g.linear(x, 20, 1), g.Mul(g.constant(np.float32(.5)), g.ReduceSum(g.Sub(g.Mul(a, a), b), g.constant([1]), keepdims=1)))


@kind("cross network", (24,))
def cross(g, x0):
    x = x0
    for _ in range(3):
        x = g.Add(g.Mul(x0, g.linear(x, 24, 24)), x)
    return g.linear(x, 24, 1)


@kind("unrolled GRU of 8 steps", (8, 6))
def gru(g, x):
    w, u, b = g.weight(6, 96), g.weight(32, 96), g.weight(96)
    h = g.Mul(g.ReduceSum(x, g.constant([1, 2]), keepdims=0), g.constant(np.float32(0)))
    h = g.Add(g.Unsqueeze(h, g.constant([1])), g.constant(np.zeros((1, 32), np.float32)))
    for t in range(8):
        a, c = g.Gemm(g.Gather(x, g.constant(t), axis=1), w, b), g.MatMul(h, u)
        (ar, az, an), (cr, cz, cn) = (g.Split(v, outputs=3, axis=1, num_outputs=3) for v in (a, c))
        r, z = g.Sigmoid(g.Add(ar, cr)), g.Sigmoid(g.Add(az, cz))
        n = g.Tanh(g.Add(an, g.Mul(r, cn)))
        h = g.Add(n, g.Mul(z, g.Sub(h, n)))
    return g.linear(h, 32, 1)


# Rows of sets, sequences, images.
@kind("deep sets of 16 x 8", (16, 8))
def deep_sets(g, x):
    x = g.Relu(g.dense(g.Relu(g.dense(x, 8, 64)), 64, 64))
    return g.mlp(g.ReduceMean(x, g.constant([1]), keepdims=0), 64, 64, 1)


@kind("points, largest of 64", (64, 3))
def points(g, x):
    x = g.Relu(g.dense(g.Relu(g.dense(x, 3, 32)), 32, 64))
    return g.mlp(g.ReduceMax(x, g.constant([1]), keepdims=0), 64, 32, 4)


def attention(g, x, tokens, width, heads):
    def of(kind):
        y = g.shape(g.dense(x, width, width), tokens, heads, width // heads)
        return g.Transpose(y, perm=[0, 2, 3, 1] if kind == "k" else [0, 2, 1, 3])
    q, k, v = (of(n) for n in "qkv")
    p = g.Softmax(g.Mul(g.MatMul(q, k), g.constant(np.float32((width // heads) ** -.5))), axis=-1)
    return g.dense(g.shape(g.Transpose(g.MatMul(p, v), perm=[0, 2, 1, 3]), tokens, width), width, width)


@kind("encoder, 16 tokens of 64", (16, 64))
def encoder(g, x):
    x = g.norm(g.Add(x, attention(g, x, 16, 64, 4)), 64)
    x = g.norm(g.Add(x, g.dense(g.Relu(g.dense(x, 64, 128)), 128, 64)), 64)
    return g.linear(g.ReduceMean(x, g.constant([1]), keepdims=0), 64, 10)


@kind("attention, 64 tokens of 32", (64, 32))
def tokens(g, x):
    return attention(g, x, 64, 32, 2)


@kind("mixer of 16 patches", (16, 48))
def mixer(g, x):
    x = g.dense(x, 48, 32)
    t = g.Transpose(g.norm(x, 32), perm=[0, 2, 1])
    x = g.Add(x, g.Transpose(g.dense(g.Mish(g.dense(t, 16, 32)), 32, 16), perm=[0, 2, 1]))
    return g.linear(g.ReduceMean(x, g.constant([1]), keepdims=0), 32, 5)


@kind("graph convolution, 12 nodes", (12, 6), (12, 12))
def graph(g, x, adjacency):
    a = g.Softmax(adjacency, axis=-1)
    for inner in (6, 32):
        x = g.Relu(g.dense(g.MatMul(a, x), inner, 32))
    return g.linear(g.ReduceMean(x, g.constant([1]), keepdims=0), 32, 1)


@kind("DeepONet", (50,), (2,))
def deeponet(g, x, at):
    branch, trunk = g.mlp(x, 50, 64, 40), g.mlp(at, 2, 64, 40, act="Tanh")
    return g.ReduceSum(g.Mul(branch, trunk), g.constant([1]), keepdims=1)


@kind("Gram matrices of 24 x 16", (24, 16))
def gram(g, x):
    y = g.dense(x, 16, 16)
    return g.MatMul(y, g.Transpose(y, perm=[0, 2, 1]))


@kind("bilinear", (20,), (30,))
def bilinear(g, x, y):
    return g.Einsum(g.Einsum(x, g.weight(8, 20, 30, low=-.2, high=.2), equation="bi,oij->boj"), y, equation="boj,bj->bo")


@kind("a layer for each of 16 channels", (16, 24))
def channels(g, x):
    return g.Einsum(g.Relu(g.Einsum(x, g.weight(16, 24, 32), equation="bci,cio->bco")), g.weight(16, 32, 4), equation="bco,cop->bcp")


@kind("patches of 4 x 4, two layers", (3, 16, 16))
def patches(g, x):
    x = g.Conv(x, g.weight(32, 3, 4, 4, low=-.2, high=.2), g.weight(32), kernel_shape=[4, 4], strides=[4, 4])
    x = g.Conv(g.Relu(x), g.weight(32, 32, 1, 1, low=-.2, high=.2), g.weight(32), kernel_shape=[1, 1])
    return g.linear(g.ReduceMean(g.Relu(x), g.constant([2, 3]), keepdims=0), 32, 10)


@kind("patches of 2 x 2 and a pool", (3, 16, 16))
def small_patches(g, x):
    x = g.Conv(x, g.weight(16, 3, 2, 2, low=-.3, high=.3), g.weight(16), kernel_shape=[2, 2], strides=[2, 2])
    return g.linear(g.Flatten(g.MaxPool(g.Relu(x), kernel_shape=[2, 2], strides=[2, 2])), 256, 10)


def convolution(g, x, inner, outer, size, silu=False, **attributes):
    weights = g.weight(outer, inner // attributes.get("group", 1), size, size, low=-1 / size, high=1 / size)
    y = g.Conv(x, weights, g.weight(outer), kernel_shape=[size, size], pads=[size // 2] * 4, **attributes)
    return g.Mul(y, g.Sigmoid(y)) if silu else g.Relu(y)


@kind("convolutions of 3 x 3 and pools", (1, 8, 8))
def convolutions(g, x):
    x = g.MaxPool(convolution(g, x, 1, 16, 3), kernel_shape=[2, 2], strides=[2, 2])
    x = g.AveragePool(convolution(g, x, 16, 32, 3), kernel_shape=[2, 2], strides=[2, 2])
    return g.linear(g.Flatten(x), 128, 10)


@kind("convolutions of 5 x 5 and pools", (1, 12, 12))
def wide_convolutions(g, x):
    x = g.MaxPool(convolution(g, x, 1, 8, 5), kernel_shape=[2, 2], strides=[2, 2])
    x = g.MaxPool(convolution(g, x, 8, 16, 5), kernel_shape=[2, 2], strides=[2, 2])
    return g.linear(g.Flatten(x), 144, 10)


@kind("convolutions of stride 2", (3, 16, 16))
def strided_convolutions(g, x):
    x = convolution(g, convolution(g, x, 3, 16, 3, strides=[2, 2]), 16, 32, 3, strides=[2, 2])
    return g.linear(g.Flatten(x), 512, 64)


@kind("convolution of each channel", (3, 8, 8))
def depthwise(g, x):
    x = convolution(g, convolution(g, x, 3, 16, 3), 16, 16, 3, group=16)
    return g.linear(g.ReduceMean(convolution(g, x, 16, 32, 1), g.constant([2, 3]), keepdims=0), 32, 10)


@kind("convolutions with SiLU, joined", (3, 16, 16))
def joined(g, x):
    x = convolution(g, x, 3, 16, 3, silu=True)
    y = g.Add(x, convolution(g, x, 16, 16, 3, silu=True))
    x = convolution(g, g.Concat(x, y, axis=1), 32, 16, 1, silu=True)
    return g.linear(g.ReduceMean(x, g.constant([2, 3]), keepdims=0), 16, 10)


@kind("group norm", (8, 6, 6))
def groups(g, x):
    x = g.GroupNormalization(x, g.weight(8, low=.5), g.weight(8), num_groups=4)
    return g.linear(g.Flatten(g.Relu(x)), 288, 10)


@kind("pair forces of 8 atoms", (8, 3))
def forces(g, x):
    d = g.Sub(g.Unsqueeze(x, g.constant([1])), g.Unsqueeze(x, g.constant([2])))
    r = g.Sqrt(g.Add(g.ReduceSum(g.Mul(d, d), g.constant([3]), keepdims=1), g.constant(np.float32(1e-3))))
    scale = g.dense(g.Tanh(g.dense(r, 1, 16)), 16, 1)
    return g.ReduceSum(g.Mul(g.Div(d, r), scale), g.constant([2]), keepdims=0)


@kind("largest 8 of 64", (64,))
def largest(g, x):
    return g.linear(g.TopK(g.linear(x, 64, 64), g.constant([8]), outputs=2, axis=1)[0], 8, 2)
