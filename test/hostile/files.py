# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files of every kind for cases.py: good ones, and with what is given in the place of what is good."""
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
from onnxfile import field, node, tensor, value_info  # noqa: E402

F32, I64, STRING, COMPLEX = 1, 7, 8, 14
BIG = 2**31


def floats(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def ints(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}q", *values)


W, B = tensor("w", (4, 2), F32, floats(*range(8))), tensor("b", (2,), F32, floats(1, 2))
X, Y = value_info("x", ["batch", 4]), value_info("y", ["batch", 2])
MUL, ADD = node("MatMul", ["x", "w"], "t"), node("Add", ["t", "b"], "y")


def onnx(nodes=(MUL, ADD), weights=(W, B), inputs=(X,), outputs=(Y,), opset=17, more=b"", graph=b"") -> bytes:
    """y = x w + b, but for what is given; `more` fields of the model and of the graph."""
    body = b"".join(nodes) + field(2, "g") + b"".join(field(5, w) for w in weights)
    body += b"".join(field(11, i) for i in inputs) + b"".join(field(12, o) for o in outputs) + graph
    versions = field(8, field(1, "") + field(2, opset % 2**64)) if opset is not None else b""
    return field(1, 8) + versions + more + field(7, body)


def op(kind: str, *constants: bytes, **attributes) -> bytes:
    """y = kind(x, constants), an initializer each."""
    names = [f"c{i}" for i in range(len(constants))]
    weights = [field(8, n) + c for n, c in zip(names, constants)]
    return onnx([node(kind, ["x", *names], "y", **attributes)], weights, outputs=[value_info("y", [])])


def const(dims: tuple, kind: int, raw: bytes) -> bytes:
    return b"".join(field(1, d % 2**64) for d in dims) + field(2, kind) + field(9, raw)


def weight(dims: tuple, raw: bytes, kind: int = F32) -> bytes:
    return onnx(weights=(field(8, "w") + const(dims, kind, raw), B))


def external(**entries) -> bytes:
    pairs = b"".join(field(13, field(1, k) + field(2, v)) for k, v in entries.items())
    return onnx(weights=(field(8, "w") + field(1, 4) + field(1, 2) + field(2, F32) + field(14, 1) + pairs, B))


def nested(depth: int) -> bytes:
    graph = b""
    for _ in range(depth):
        graph = field(1, field(4, "If") + field(2, "y") + field(5, field(1, "then_branch") + field(6, graph)))
    return field(7, graph + field(12, field(1, "y"))) + field(8, field(2, 17))


def attempts(first: list, others: int, last: str = "Relu", weights=()) -> bytes:
    """last(s0 + x0 + ...): the nodes named come first, and each x is of a length of its own."""
    more = [f"x{i}" for i in range(others)]
    sums = [node("Add", [f"s{i}", x], f"s{i + 1}") for i, x in enumerate(more)]
    return onnx([*first, *sums, node(last, [f"s{others}"], "y")], weights, [value_info(i, [f"length of {i}"]) for i in ("x", *more)], [value_info("y", [])])


def loop(steps: int, names: list, others: int = 0) -> bytes:
    """The same behind a loop, each step of which hands x on from name to name."""
    body = b"".join(node("Identity", [a], b) for a, b in zip(names, names[1:]))
    body += b"".join(field(11, field(1, i)) for i in ("i", "go", names[0])) + b"".join(field(12, field(1, o)) for o in ("go", names[-1]))
    return attempts([node("Loop", ["n", "", "x"], "s0", body=body)], others, weights=[field(8, "n") + const((), I64, ints(steps))])


def looped(inputs: list, graph: bytes = b"") -> bytes:
    """A loop of one step, whose body has inputs of these names, and more fields."""
    body = node("Identity", ["c"], "go") + node("Identity", ["v"], "o") + graph
    body += b"".join(field(11, field(1, i)) for i in inputs) + b"".join(field(12, field(1, o)) for o in ("go", "o"))
    return onnx([node("Loop", ["n", "", "x"], "y", body=body)], [field(8, "n") + const((), I64, ints(1))], outputs=[value_info("y", [])])


def folded(count: int, others: int) -> bytes:
    """The same behind a million sines of sines of ... nothing, which are computed when compiling."""
    names = [f"c{i}" for i in range(count + 1)]
    sines = [node("Sin", [a], b) for a, b in zip(names, names[1:])]
    return attempts([node("ConstantOfShape", ["n"], "c0"), *sines, node("ReduceMax", [names[-1]], "q"), node("Add", ["x", "q"], "s0")], others, "Det",
                    [field(8, "n") + const((1,), I64, ints(1 << 20))])


def call(function: str) -> bytes:
    return field(1, field(1, "x") + field(2, "y") + field(4, function) + field(7, "own"))


def function(name: str, callee: str) -> bytes:
    inner = field(1, "x") + field(2, "y") + field(4, callee) + field(7, "own")
    return field(25, field(1, name) + field(4, "x") + field(5, "y") + field(7, inner) + field(10, "own") + field(9, field(2, 17)))


def flip(data: bytes, at: int, bits: int) -> bytes:
    return data[:at] + bytes([data[at] ^ bits]) + data[at + 1:]


def npy(descr="<f4", shape="(3, 4)", data=bytes(48), order="False", header=None, version=b"\x01\x00", magic=b"\x93NUMPY") -> bytes:
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}" if header is None else header
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return magic + version + struct.pack("<H", len(text)) + text.encode("latin1") + data


def safetensors(header: str, data: bytes = bytes(40)) -> bytes:
    text = header.encode()
    return struct.pack("<Q", len(text)) + text + data


ST_W, ST_B = '"w":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}', '"b":{"dtype":"F32","shape":[2],"data_offsets":[32,40]}'
GOOD, GOOD_NPY, GOOD_ST = onnx(), npy(), safetensors("{%s,%s}" % (ST_W, ST_B))


def mlir(body: str, arguments="%x: tensor<2xf32>", result="tensor<2xf32>", head="") -> str:
    return f"{head}\nfunc.func @main({arguments}) -> {result} {{\n  {body}\n}}\n"
