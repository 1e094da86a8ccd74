# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are large in one direction, as ONNX files made by hand.

    python large-models.py FOLDER [KIND[=N]...]      all kinds, or some; N: how large, instead of what the table says
"""
import itertools
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import field, model, node, tensor, value_info  # noqa: E402

X, Y = value_info("x", ["batch", 4]), value_info("y", ["batch", 4])


def numbers(name: str, *values: int) -> bytes:
    return tensor(name, (len(values),), 7, struct.pack(f"<{len(values)}q", *values))


def floats(name: str, *dims: int) -> bytes:
    count = 1
    for d in dims:
        count *= d
    return tensor(name, dims, 1, struct.pack(f"<{count}f", *(0.1 * (i % 8) - 0.4 for i in range(count))))


def chain(links, inputs=(X,), outputs=(Y,), weights=(), more=b"") -> bytes:
    """`links` yields nodes that read the value of the link before, given the names of both; the last becomes y."""
    nodes = list(itertools.chain.from_iterable(links))
    return model([*nodes, node("Identity", [f"v{len(links)}"], "y")], list(weights), list(inputs), list(outputs), more)


def links(n: int, of):
    """Link i: of(i, what it reads, what it makes), a list of nodes."""
    return [of(i, f"v{i}" if i else "x", f"v{i + 1}") for i in range(n)]


def flat(kind: str, n: int, **attributes) -> bytes:
    """One op of n operands."""
    return model([node(kind, ["x"] * n, "t", **attributes), node("ReduceMax", ["t"], "y", axes=[1])], [], [X], [value_info("y", ["batch", 1])])


def wide(kind: str, n: int, **attributes) -> bytes:
    """One op of n operands, which are inputs of the model."""
    names = [f"x{i}" for i in range(n)]
    return model([node(kind, names, "t", **attributes), node("ReduceMax", ["t"], "y", axes=[1])], [],
                 [value_info(name, ["batch", 4]) for name in names], [value_info("y", ["batch", 1])])


def computed(kind: str, n: int, **attributes) -> bytes:
    """One op of n operands, each of its own node."""
    makers = [node("Slice", ["x", f"s{i % 4}", f"s{i % 4 + 1}", "one"], f"a{i}") for i in range(n)]
    makers += [node("Mul", [f"a{i}", f"w{i}"], f"b{i}") for i in range(n)]
    weights = [numbers(f"s{i}", i) for i in range(5)] + [numbers("one", 1)]
    weights += [tensor(f"w{i}", (1,), 1, struct.pack("<f", i)) for i in range(n)]
    return model([*makers, node(kind, [f"b{i}" for i in range(n)], "t", **attributes), node("ReduceMax", ["t"], "y", axes=[1])],
                 weights, [X], [value_info("y", ["batch", 1])])


def split(n: int, joined: bool) -> bytes:
    """Into n parts, each used alone; all are outputs, or put together again."""
    parts, ends = [f"p{i}" for i in range(n)], [f"y{i}" for i in range(n)]
    nodes = [node("Split", ["x", "sizes"], parts, axis=1), *(node("Abs", [p], y) for p, y in zip(parts, ends))]
    outputs = [value_info(y, ["batch", 2]) for y in ends]
    if joined:
        nodes.append(node("Concat", ends[::-1], "y", axis=1))
        outputs = [value_info("y", ["batch", 2 * n])]
    return model(nodes, [numbers("sizes", *[2] * n)], [value_info("x", ["batch", 2 * n])], outputs)


def near(n: int) -> bytes:
    """Distances of a scaled x to n rows."""
    nodes, weights = [node("Mul", ["x", "scale"], "s")], [floats("scale", 4), numbers("one", 1)]
    for i in range(n):
        nodes += [node("Sub", ["s", f"c{i}"], f"d{i}"), node("Mul", [f"d{i}", f"d{i}"], f"q{i}"), node("ReduceSum", [f"q{i}", "one"], f"r{i}")]
        weights.append(tensor(f"c{i}", (4,), 1, struct.pack("<4f", *(0.1 * (7 * i + j) % 1 for j in range(4)))))
    return model([*nodes, node("Concat", [f"r{i}" for i in range(n)], "y", axis=1)], weights, [X], [value_info("y", ["batch", n])])


def formulas(n: int, member: int = 0) -> bytes:
    """Formulas of a column and an earlier one, each with a number that is the member's own."""
    nodes = [node("Gather", ["x", f"s{i}"], f"x{i}", axis=1) for i in range(4)]
    weights = [tensor(f"s{i}", (), 7, struct.pack("<q", i)) for i in range(4)] + [numbers("one", 1)]
    for i in range(n):
        a, b = (f"f{i * 7 % i}" if i else "x0"), f"x{i % 4}"
        nodes += [node("Mul", [a, f"k{i}"], f"m{i}"), node(("Add", "Sub", "Max")[i % 3], [f"m{i}", b], f"a{i}"), node("Tanh", [f"a{i}"], f"f{i}"),
                  node("Unsqueeze", [f"f{i}", "one"], f"y{i}")]
        weights.append(tensor(f"k{i}", (1,), 1, struct.pack("<f", 0.1 * ((i + member) % 17) - 0.8)))
    return model([*nodes, node("Concat", [f"y{i}" for i in range(n)], "y", axis=1)], weights, [X], [value_info("y", ["batch", n])])


def outputs(n: int) -> bytes:
    """A value of one input each."""
    ends = [f"y{i}" for i in range(n)]
    weights = [tensor(f"w{i}", (1,), 1, struct.pack("<f", i)) for i in range(n)]
    return model([node("Mul", ["x", f"w{i}"], y) for i, y in enumerate(ends)], weights, [X], [value_info(y, ["batch", 4]) for y in ends])


def pairs(n: int) -> bytes:
    """n inputs, n outputs, nothing in common."""
    return model([node("Tanh", [f"x{i}"], f"y{i}") for i in range(n)], [], [value_info(f"x{i}", ["batch", 4]) for i in range(n)],
                 [value_info(f"y{i}", ["batch", 4]) for i in range(n)])


def readers(n: int) -> bytes:
    """A value that n nodes read, whose results are added one to the other."""
    weights = [tensor(f"w{i}", (1,), 1, struct.pack("<f", i)) for i in range(n)]
    nodes = [node("Tanh", ["x"], "t"), *(node("Add", ["t", f"w{i}"], f"m{i}") for i in range(n))]
    nodes += [node("Max", [f"m{i}", f"s{i - 1}" if i else "t"], f"s{i}") for i in range(n)]
    return model([*nodes, node("Identity", [f"s{n - 1}"], "y")], weights, [X], [Y])


def tree(n: int) -> bytes:
    """2^n leaves."""
    nodes = [node("Mul", ["x", f"w{i}"], f"l0_{i}") for i in range(2 ** n)]
    weights = [tensor(f"w{i}", (1,), 1, struct.pack("<f", i)) for i in range(2 ** n)]
    for level in range(n):
        nodes += [node("Add", [f"l{level}_{2 * i}", f"l{level}_{2 * i + 1}"], f"l{level + 1}_{i}") for i in range(2 ** (n - 1 - level))]
    return model([*nodes, node("Identity", [f"l{n}_0"], "y")], weights, [X], [Y])


def layers(n: int, width: int, *after: str) -> bytes:
    """Dense layers, each with weights of its own."""
    nodes, weights, last = [], [], "x"
    for i in range(n):
        weights += [floats(f"w{i}", width, width), floats(f"b{i}", width)]
        nodes.append(node("Gemm", [last, f"w{i}", f"b{i}"], f"g{i}"))
        last = f"g{i}"
        for kind in after:
            nodes.append(node(kind, [last], f"{kind}{i}"))
            last = f"{kind}{i}"
    port = ["batch", width]
    return model([*nodes, node("Identity", [last], "y")], weights, [value_info("x", port)], [value_info("y", port)])


def branches(n: int) -> bytes:
    """Small networks beside each other, put together."""
    nodes, weights = [], []
    for i in range(n):
        weights += [floats(f"w{i}", 4, 8), floats(f"v{i}", 8, 4)]
        nodes += [node("MatMul", ["x", f"w{i}"], f"h{i}"), node("Relu", [f"h{i}"], f"r{i}"), node("MatMul", [f"r{i}", f"v{i}"], f"o{i}")]
    nodes.append(node("Concat", [f"o{i}" for i in range(n)], "y", axis=1))
    return model(nodes, weights, [X], [value_info("y", ["batch", 4 * n])])


def dense(n: int) -> bytes:
    """Each layer reads what all before it gave."""
    nodes, weights, values = [], [], ["x"]
    for i in range(n):
        nodes.append(node("Concat", values, f"c{i}", axis=1))
        weights.append(floats(f"w{i}", 4 * len(values), 4))
        nodes += [node("MatMul", [f"c{i}", f"w{i}"], f"m{i}"), node("Relu", [f"m{i}"], f"r{i}")]
        values.append(f"r{i}")
    return model([*nodes, node("Identity", [values[-1]], "y")], weights, [X], [Y])


def rank(n: int) -> bytes:
    """Tensors of n dimensions, transposed."""
    dims = ["batch", 4, *[1] * (n - 2)]
    turned = [0, *range(n - 1, 0, -1)]
    return model([node("Tanh", ["x"], "t"), node("Transpose", ["t"], "u", perm=turned), node("Softmax", ["u"], "y", axis=-1)], [],
                 [value_info("x", dims)], [value_info("y", ["batch", *[1] * (n - 2), 4])])


def letters(n: int) -> bytes:
    """Einsum with n letters."""
    inner = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n - 1]
    left, right = "Z" + inner, inner[::-1]
    return model([node("Einsum", ["x", "w"], "y", equation=f"{left},{right}->Z")], [floats("w", *[1] * len(right))],
                 [value_info("x", ["batch", *[1] * (n - 1)])], [value_info("y", ["batch"])])


def gather(n: int) -> bytes:
    """n indices of a row, in no order."""
    return model([node("Gather", ["x", "i"], "g", axis=1), node("ReduceMax", ["g"], "y", axes=[1])],
                 [numbers("i", *((i * 7919) % 1009 for i in range(n)))], [value_info("x", ["batch", 1009])], [value_info("y", ["batch", 1])])


def shaped(kind: str, *constants: bytes, before: int = 4, **attributes) -> bytes:
    """A row of `before` elements becomes another, whose largest element is the output."""
    names = [f"c{i}" for i in range(len(constants))]
    weights = [field(8, name) + c for name, c in zip(names, constants)]
    return model([node(kind, ["x", *names], "t", **attributes), node("ReduceMax", ["t"], "y", axes=[1])], weights,
                 [value_info("x", [1, before])], [value_info("y", [1, 1])])


def ints(*values: int) -> bytes:
    return field(1, len(values)) + field(2, 7) + field(9, struct.pack(f"<{len(values)}q", *values))


def top(n: int, k: int) -> bytes:
    return model([node("TopK", ["x", "k"], ["y", "i"])], [numbers("k", k)], [value_info("x", [1, n])],
                 [value_info("y", [1, k]), value_info("i", [1, k], 7)])


def sums(n: int) -> bytes:
    return model([node("CumSum", ["x", "a"], "y")], [tensor("a", (), 7, struct.pack("<q", 1))], [value_info("x", [2, n])], [value_info("y", [2, n])])


def nested(n: int, fan: int) -> bytes:
    """Local functions that call the next one fan times: fan^n nodes."""
    functions = b""
    for i in range(n):
        names = ["x", *(f"t{k}" for k in range(fan - 1)), "y"]
        kind, domain = ("Tanh", "") if i == n - 1 else (f"F{i + 1}", "own")
        body = b"".join(field(7, field(1, a) + field(2, b) + field(4, kind) + field(7, domain)) for a, b in zip(names, names[1:]))
        functions += field(25, field(1, f"F{i}") + field(4, "x") + field(5, "y") + body + field(10, "own") + field(9, field(2, 17)))
    return model([node("F0", ["x"], "y", domain="own")], [], [X], [Y], field(8, field(1, "own") + field(2, 1)) + functions)


def ifs(n: int) -> bytes:
    """Branches in branches."""
    graph = node("Tanh", ["x"], "r0")
    for i in range(n):
        end = field(12, field(1, f"r{i}"))
        graph = node("If", ["c"], f"r{i + 1}", then_branch=graph + end, else_branch=node("Abs", ["x"], f"r{i}") + end)
    return model([graph, node("Identity", [f"r{n}"], "y")], [tensor("c", (), 9, b"\1")], [X], [Y])


def reshapes(n: int) -> bytes:
    def of(i, a, b):
        return [node("Reshape", [a, "s1" if i % 2 else "s0"], b)]
    return chain(links(n, of), inputs=[value_info("x", ["batch", 4, 6])], outputs=[value_info("y", ["batch", 4, 6])],
                 weights=[numbers("s0", -1, 24), numbers("s1", -1, 4, 6)])


def transposes(n: int) -> bytes:
    def of(i, a, b):
        return [node("Transpose", [a], f"{b}t", perm=[0, 2, 1]), node("Tanh", [f"{b}t"], b)]
    return chain(links(n, of), inputs=[value_info("x", ["batch", 4, 6])], outputs=[value_info("y", ["batch", 4, 6])])


def coupling(i, a, b):
    return [node("Slice", [a, "n0", "n2", "n1"], f"a{i}"), node("Slice", [a, "n2", "n4", "n1"], f"b{i}"),
            node("Mul", [f"a{i}", f"b{i}"], f"c{i}"), node("Concat", [f"b{i}", f"c{i}"], b, axis=1)]


BOUNDS = [numbers("n0", 0), numbers("n1", 1), numbers("n2", 2), numbers("n4", 4)]

# Kind: how large, and the model of that size.
def counted(made: bytes, n: int, outputs: list) -> bytes:
    return model([made], [numbers("last", 1, 2)], [value_info("x", ["batch", n, n])], outputs)


def counted_axis(n: int) -> bytes:
    return model([node("Gather", ["x", "i"], "y")], [], [value_info("x", [n], 2), value_info("i", ["batch", 4], 7)], [value_info("y", ["batch", 4], 2)])


def counted_places(n: int) -> bytes:
    """The largest of what is turned and cut anew: a place is computed of all n^2."""
    nodes = [node("Transpose", ["x"], "t", perm=[0, 2, 1]), node("Reshape", ["t", "rows"], "r"), node("ReduceMax", ["r"], "y", axes=[2], keepdims=0)]
    return model(nodes, [numbers("rows", 0, 2 * n, n // 2)], [value_info("x", ["batch", n, n])], [value_info("y", ["batch", 2 * n])])


KINDS = {
    # Chains, also of values that are read more than once, and so can be reached in 2^n ways.
    "long": (20000, lambda n: chain(links(n, lambda i, a, b: [node("Neg" if i % 2 else "Abs", [a], b)]))),
    "tanhs": (2000, lambda n: chain(links(n, lambda i, a, b: [node("Tanh", [a], b)]))),
    "softmaxes": (500, lambda n: chain(links(n, lambda i, a, b: [node("Softmax", [a], b, axis=1)]))),
    "square": (60, lambda n: chain(links(n, lambda i, a, b: [node("Mul", [a, a], b)]))),
    "doubled": (100, lambda n: chain(links(n, lambda i, a, b: [node("Abs", [a], f"a{i}"), node("Max", [a, f"a{i}"], b)]))),
    "swish": (60, lambda n: chain(links(n, lambda i, a, b: [node("Sigmoid", [a], f"s{i}"), node("Mul", [a, f"s{i}"], b)]))),
    "coupling": (30, lambda n: chain(links(n, coupling), weights=BOUNDS)),
    "reshapes": (20000, reshapes),
    "transposes": (500, transposes),
    "layers": (500, lambda n: layers(n, 8)),
    "perceptron": (500, lambda n: layers(n, 8, "Tanh")),
    "normed": (100, lambda n: layers(n, 8, "Softmax")),
    "dense": (30, dense),
    # Side by side.
    "concat": (4096, lambda n: flat("Concat", n, axis=1)),
    "sum": (4096, lambda n: flat("Sum", n)),
    "mean": (4096, lambda n: flat("Mean", n)),
    "concat_inputs": (2000, lambda n: wide("Concat", n, axis=1)),
    "max_inputs": (2000, lambda n: wide("Max", n)),
    "concat_computed": (500, lambda n: computed("Concat", n, axis=1)),
    "sum_computed": (2000, lambda n: computed("Sum", n)),
    "split": (500, lambda n: split(n, joined=True)),
    "split_outputs": (1000, lambda n: split(n, joined=False)),
    "near": (100, near),
    "formulas": (200, formulas),
    "formulas_other": (200, lambda n: formulas(n, 1)),
    "outputs": (1100, outputs),
    "pairs": (2000, pairs),
    "readers": (600, readers),
    "tree": (10, tree),
    "branches": (200, branches),
    # Large tensors.
    "rank": (15, rank),
    "letters": (15, letters),
    "gather": (10**6, gather),
    "reflect": (8 * 10**6, lambda n: shaped("Pad", ints(0, n - 1, 0, n - 1), before=n, mode="reflect")),
    "edge": (8 * 10**6, lambda n: shaped("Pad", ints(0, n - 1, 0, n - 1), before=n, mode="edge")),
    "reflected_once": (300, lambda n: shaped("Pad", ints(0, n - 1, 0, 7), before=n, mode="reflect")),
    "zeros": (2**31, lambda n: shaped("Pad", ints(0, 0, 0, n - 4))),
    "tile": (2**31, lambda n: shaped("Tile", ints(1, n // 4))),
    "expand": (2**31, lambda n: shaped("Expand", ints(1, n), before=1)),
    "top": (10**6, lambda n: top(n, n)),
    "top_few": (10**6, lambda n: top(n, 10)),
    "sums": (10**6, sums),
    # More than 31 bits count, along an axis, of a sum's terms or on the way to an index.
    "counted_axis": (2**31, counted_axis),
    "counted_terms": (50000, lambda n: counted(node("ReduceMax", ["x"], "y", axes=[1, 2], keepdims=0), n, [value_info("y", ["batch"])])),
    "counted_sum": (50000, lambda n: counted(node("ReduceSum", ["x", "last"], "y", keepdims=0), n, [value_info("y", ["batch"])])),
    "counted_places": (50000, counted_places),
    # Functions and branches.
    "called": (8, lambda n: nested(n, 2)),
    "nested": (30, lambda n: nested(n, 2)),
    "ifs": (15, ifs),
}

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for asked in sys.argv[2:] or KINDS:
        kind, _, size = asked.partition("=")
        (folder / f"{kind}.onnx").write_bytes(KINDS[kind][1](int(size or KINDS[kind][0])))
