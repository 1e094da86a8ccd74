# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad files and calls, which calls.py runs: a line a case, the exit code, a pattern of the message, and how it is made."""
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
    return struct.pack("<Q", len(header)) + header.encode() + data


ST_W, ST_B = '"w":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}', '"b":{"dtype":"F32","shape":[2],"data_offsets":[32,40]}'
GOOD, GOOD_NPY, GOOD_ST = onnx(), npy(), safetensors("{%s,%s}" % (ST_W, ST_B))


def mlir(body: str, arguments="%x: tensor<2xf32>", result="tensor<2xf32>", head="") -> str:
    return f"{head}\nfunc.func @main({arguments}) -> {result} {{\n  {body}\n}}\n"


# tutti-compile FILE.onnx -o out/a.tutti
ONNX = [
    (3, "is no ONNX model", b""),
    (3, "is no ONNX model", b"\xff" * 1000),
    (3, "is no ONNX model", b"hello, this is a text and no model\n"),
    (3, "is no ONNX model", GOOD_NPY),
    *((3, "is no ONNX model", GOOD[:n]) for n in (1, 3, 11, 20, 40, 70, 100, 130, len(GOOD) - 20, len(GOOD) - 1)),
    *((3, "is no ONNX model|which nothing before it gives", flip(GOOD, at, 7)) for at in (0, 2, 12, 15, 17)),
    (3, "is no ONNX model", GOOD + b"\x0f"),
    (3, "is no ONNX model", field(7, b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
    (3, "is no ONNX model", field(7, b"\x0a" + b"\x80" * 11)),
    (4, "opset", onnx(opset=None)),
    (4, "opset 0", onnx(opset=0)),
    (4, "opset -3", onnx(opset=-3)),
    (4, "opset 6", onnx(opset=6)),
    (4, "opset 2147483648", onnx(opset=BIG)),
    (3, "no graph", field(1, 8) + field(8, field(2, 17))),
    # The graph.
    (3, "'t'", onnx([node("MatMul", ["y", "w"], "t"), ADD])),
    (3, "'y'", onnx([node("Add", ["y", "y"], "y")])),
    (3, "'nobody'", onnx([node("Add", ["x", "nobody"], "y")])),
    (3, "'t'", onnx([MUL, node("Relu", ["x"], "t"), ADD])),
    (3, "'x'", onnx([node("Relu", ["x"], "x"), MUL, ADD])),
    (3, "'w'", onnx([node("Relu", ["x"], "w"), MUL, ADD])),
    (3, "'w'", onnx(weights=(W, W, B))),
    (3, "'x'", onnx(inputs=(X, X))),
    (3, "'y'", onnx(outputs=(Y, Y))),
    (3, "'z'", onnx(outputs=(value_info("z", ["batch", 2]),))),
    (3, "output", onnx(outputs=())),
    (3, "'x'", onnx(inputs=())),
    (3, "'b'", onnx(weights=(W,))),
    (3, "'x'", onnx(inputs=(value_info("", ["batch", 4]),))),
    (3, "input 1 is missing", onnx([node("MatMul", ["x"], "y")])),
    (3, "input 0 is missing", onnx([node("Relu", [], "y")])),
    (3, "output|'y'", onnx([field(1, field(1, "x") + field(4, "Relu"))])),
    (4, "NoSuchOp", op("NoSuchOp")),
    (4, "NoSuchOp", onnx([field(1, field(1, "x") + field(2, "y") + field(4, "NoSuchOp") + field(7, "com.example"))])),
    (4, "Loop", op("Loop")),
    (3, "more than 64", nested(3000)),
    (4, "StringNormalizer", op("StringNormalizer")),
    (3, "calls itself", onnx([call("F")], more=function("F", "F"))),
    (3, "calls itself", onnx([call("F")], more=function("F", "G") + function("G", "F"))),
    (4, "more than 64", onnx([call("F0")], more=b"".join(function(f"F{i}", f"F{i + 1}") for i in range(5000)))),
    (3, "'F'", onnx([call("F")], more=function("F", "F") + function("F", "F"))),
    # Types and dims.
    (4, "string|text", onnx(inputs=(value_info("x", ["batch", 4], STRING),))),
    (4, "complex", onnx(inputs=(value_info("x", ["batch", 4], COMPLEX),))),
    (4, "99", onnx(inputs=(value_info("x", ["batch", 4], 99),))),
    (4, "'x'", onnx(inputs=(field(1, "x"),))),
    (4, "string|text", weight((4, 2), b"", STRING)),
    (4, "complex", weight((4, 2), bytes(64), COMPLEX)),
    (4, "'w'", weight((4, 2), bytes(32), 99)),
    (4, "'w'", weight((4, 2), bytes(32), 0)),
    (4, "'w' is sparse", onnx(weights=(B,), graph=field(15, field(1, W)))),
    (3, "'w'", weight((4, 2), bytes(31))),
    (3, "'w'", weight((4, 2), bytes(33))),
    (3, "'w'", weight((4, 2), b"")),
    (3, "'w'", weight((4, -2), bytes(32))),
    (3, "'w'", weight((-1,), bytes(32))),
    (3, "'w'", weight((BIG, BIG), bytes(32))),
    (3, "'w'", weight((2**62,), bytes(32))),
    (3, "'w'", weight((2**32, 2**32), b"")),
    (3, "'w'", weight((BIG,), bytes(32))),
    (4, "rank|dimensions", weight((1,) * 40 + (4, 2), bytes(32))),
    (3, "x", weight((3, 2), bytes(24))),
    (3, "x", weight((4, 2, 5), bytes(160))),
    (3, "broadcast", onnx([node("Add", ["x", "w"], "y")])),
    (2, "'b'", onnx([node("Relu", ["x"], "y")], (), (value_info("x", ["a", "b"]),), (value_info("y", []),))),
    (3, "2147483648", onnx(inputs=(value_info("x", ["batch", BIG]),))),
    (3, "y|x", onnx(inputs=(value_info("x", []),))),
    (4, "2.63 bytes", onnx([node("Relu", ["x"], "y")], (), (value_info("x", ["batch", BIG, BIG]),), (value_info("y", []),))),
    (4, "2.63 bytes", onnx([node("Relu", ["x"], "y")], (), (value_info("x", ["batch", 2**62]),), (value_info("y", []),))),
    (4, "2.63 operations", onnx([node("MatMul", ["x", "z"], "y")], (), (value_info("x", [2**30] * 2), value_info("z", [2**30] * 2)), (value_info("y", []),))),
    # Attributes and constant operands.
    (3, "Transpose", op("Transpose", perm=[0, 0])),
    (3, "Transpose", op("Transpose", perm=[0, 7])),
    (3, "Transpose", op("Transpose", perm=[-1, 0])),
    (3, "Softmax", op("Softmax", axis=9)),
    (3, "Softmax", op("Softmax", axis=-2**63)),
    (3, "Concat", op("Concat", axis=BIG)),
    (3, "Concat", op("Concat")),
    (3, "ReduceSum", op("ReduceSum", const((1,), I64, ints(5)))),
    (3, "ReduceSum", op("ReduceSum", const((1,), I64, ints(-2**63)))),
    (3, "Reshape", op("Reshape", const((2,), I64, ints(-1, -1)))),
    (3, "Reshape", op("Reshape", const((2,), I64, ints(-2, 4)))),
    (4, "Reshape", op("Reshape", const((2,), I64, ints(7, 3)))),
    (4, "Reshape", op("Reshape", const((3,), I64, ints(2**62, 2**62, 4)))),
    (3, "Reshape", op("Reshape", const((2,), F32, floats(1, 4)))),
    (3, "Expand", op("Expand", const((2,), I64, ints(-5, 4)))),
    (4, "2147483648", op("Expand", const((4,), I64, ints(BIG, BIG, 1, 4)))),
    (4, "2147483648", op("Tile", const((2,), I64, ints(1, BIG)))),
    (3, "Tile", op("Tile", const((2,), I64, ints(1, -1)))),
    (3, "Gather", op("Gather", const((1,), I64, ints(9)), axis=1)),
    (3, "Gather", op("Gather", const((1,), I64, ints(-2**63)), axis=1)),
    (3, "Slice", op("Slice", const((1,), I64, ints(0)), const((1,), I64, ints(2)), const((1,), I64, ints(1)), const((1,), I64, ints(0)))),
    (3, "Split", op("Split", const((2,), I64, ints(-1, 5)), axis=1)),
    (3, "Pad", op("Pad", const((4,), I64, ints(0, -9, 0, 0)))),
    (3, "Pad", op("Pad", const((4,), I64, ints(0, 0, 0, 2**62)))),
    (3, "TopK", op("TopK", const((1,), I64, ints(9)))),
    (3, "TopK", op("TopK", const((1,), I64, ints(-1)))),
    (3, "Unsqueeze", op("Unsqueeze", const((2,), I64, ints(0, 0)))),
    (4, "Unsqueeze|dimensions", op("Unsqueeze", const((40,), I64, ints(*range(40))))),
    (3, "Squeeze", op("Squeeze", const((1,), I64, ints(1)))),
    (3, "Einsum", onnx([field(1, field(1, "x") + field(2, "y") + field(4, "Einsum") + field(5, field(1, "equation") + field(4, "ab->abc") + field(20, 3)))])),
    (3, "Einsum", onnx([field(1, field(1, "x") + field(2, "y") + field(4, "Einsum") + field(5, field(1, "equation") + field(4, "->->") + field(20, 3)))])),
    (4, "Range", onnx([node("Range", ["x", "x", "x"], "y")])),
    # Data outside of the file.
    (2, "missing.bin", external(location="missing.bin")),
    (3, "'w'", external()),
    (3, "too short", external(location="short.bin")),
    (3, "too short", external(location="w.bin", offset="8")),
    (3, "offset", external(location="w.bin", offset="-8")),
    (3, "offset", external(location="w.bin", offset="x")),
    (3, "offset|too short", external(location="w.bin", offset="18446744073709551600")),
    (3, "31 bytes", external(location="w.bin", length="31")),
    (3, "length", external(location="w.bin", length="99999999999999999999")),
    (7, "/etc/hostname", external(location="/etc/hostname")),
    (7, r"\.\./secret", external(location="../secret")),
    (7, "link", external(location="link")),
    (7, "up", external(location="up/secret")),
    (2, "folder", external(location="folder")),
    (2, "pipe", external(location="pipe")),
    (7, "/dev/zero", external(location="/dev/zero")),
]

# tutti-compile good.onnx -o out/a.tutti ARGUMENTS
FLAGS = [
    (2, "--no-such-flag", "--no-such-flag"),
    (2, "--target", "--target"),
    (2, "--target", "--target ''"),
    (2, "sm_1", "--target sm_1"),
    (2, "riscv", "--target cpu,riscv"),
    (2, "cpu-v9", "--target cpu-v9"),
    (4, "bf16", "--precision bf16"),
    (2, "f31", "--precision f31"),
    (2, "'batch'", "--dim batch"),
    (2, "batch=", "--dim batch="),
    (2, "batch=0", "--dim batch=0"),
    (2, "batch=-4", "--dim batch=-4"),
    (2, "batch=4..2", "--dim batch=4..2"),
    (2, "batch=1..", "--dim batch=1.."),
    (2, "batch=1...4", "--dim batch=1...4"),
    (2, "batch=four", "--dim batch=four"),
    (2, "batch=1e3", "--dim batch=1e3"),
    (2, "batch=9223372036854775808", "--dim batch=9223372036854775808"),
    (2, "batch=99999999999999999999999", "--dim batch=99999999999999999999999"),
    (2, "batch=1,,2", "--dim batch=1,,2"),
    (2, "batch=", "--dim batch=1..2,4"),
    (2, "batch", "--dim batch=2,2"),
    (2, "batch", "--dim batch=1 --dim batch=2"),
    (2, "rows", "--dim rows=4"),
    (2, "=4", "--dim =4"),
    (4, "a smaller range", "--dim batch=1..9223372036854775807"),
    (4, "4611686018427387904", "--dim batch=4611686018427387904"),
    (2, "x=each", "--input x=each"),
    (2, "'z'", "--input z=member"),
    (2, "'x'|x", "--input x"),
    (2, "x", "--input x=shared --input x=member"),
    (2, "'z'", "--output z=mean"),
    (2, "median", "--output y=median"),
    (2, "y=", "--output y="),
    (2, "quantile:2", "--output y=quantile:2"),
    (2, "quantile:-1", "--output y=quantile:-1"),
    (2, "quantile:nan", "--output y=quantile:nan"),
    (2, "quantile:", "--output y=quantile:"),
    (2, "mean", "--output y=mean,mean"),
    (2, "some", "--share some"),
    (4, "--randomness", "--randomness dice"),
    (2, "--memory-limit", "--memory-limit much"),
    (2, "--memory-limit", "--memory-limit -1"),
    (2, "--memory-limit", "--memory-limit 99999999999TB"),
    (6, "--memory-limit", "--memory-limit 1"),
    (2, "--jobs", "--jobs 0"),
    (2, "--jobs", "--jobs many"),
    (2, "lunch", "--stop-after lunch"),
    (2, "xml", "--explain=xml"),
    (2, "--explain-for", "--explain --explain-for Cray"),
    (2, "--explain-at", "--explain --explain-at rows=1"),
    (4, "--fast-math", "--fast-math"),
    (2, "nobody", "--bind nobody=good.npy"),
    (2, "'w'|w", "--bind w=good.npy"),
    (2, "missing.npy", "--bind x=missing.npy"),
    (2, "folder", "--bind x=folder"),
    (2, "x", "--bind x=good.npy --bind x=good.npy"),
    (2, "float64", "--bind x=double.npy"),
    (2, "missing.safetensors", "--weights missing.safetensors"),
    (2, "folder", "--weights folder"),
    (2, "missing.txt", "--weights @missing.txt"),
    (2, "one model|one MODEL|--weights", "good.onnx --weights good.safetensors"),
    (2, "missing.onnx", "missing.onnx"),
    (2, "folder", "folder"),
    (2, "pipe", "pipe"),
    (2, "/dev/null", "/dev/null"),
    (2, "missing.txt", "@missing.txt"),
    (4, "differs", "wide.onnx"),
    (4, "differs", "deep.onnx"),
    (4, "differs", "relu.onnx"),
    (4, "differs", "double.onnx"),
    (4, "output", "wide.onnx --unequal"),
    (3, "text.onnx", "text.onnx"),
    (3, "text.onnx", "text.onnx --unequal"),
    (6, "text.txt", "--dump-stages text.txt"),
    (2, "no artifact|-o", "-o"),
]

# tutti-run good.tutti --input x=FILE.npy --output-dir out
NPY = [
    (3, "npy", b""),
    (3, "npy", b"\x93NUMPY"),
    (3, "npy", npy(magic=b"\x93NUMPX")),
    (3, "version|npy", npy(version=b"\x09\x00")),
    *((3, "npy", GOOD_NPY[:n]) for n in (8, 9, 40, 127, 128, len(GOOD_NPY) - 1)),
    (3, "npy", GOOD_NPY + b"x"),
    (3, "npy", npy(header="")),
    (3, "npy", npy(header="[1, 2]")),
    (3, "npy", npy(header="{'descr': '<f4'}")),
    (3, "npy", npy(header="{" * 5000)),
    (3, "npy", npy(header="{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3, 4), }")),
    (3, "npy", npy(order="Maybe")),
    (3, "npy", npy(shape="(3, -4)")),
    (3, "npy", npy(shape="(3, x)")),
    (3, "npy", npy(shape="3, 4")),
    (3, "npy", npy(shape=f"({BIG}, {BIG})")),
    (3, "npy", npy(shape=f"({2**62},)")),
    (3, "npy", npy(shape=f"({2**63}, 4)")),
    (3, "npy", npy(shape="(0, 99999999999999999999999)")),
    (3, "npy", npy(shape="(4, 4)")),
    (4, "O|object", npy(descr="|O")),
    (4, "M8", npy(descr="<M8[ns]", data=bytes(96))),
    (4, "<f3", npy(descr="<f3")),
    (3, "npy", npy(descr="")),
    (3, "npy", npy(descr="<f99999999999")),
    (2, "float64", npy(descr="<f8", data=bytes(96))),
    (2, "int32", npy(descr="<i4")),
    (4, "<U3", npy(descr="<U3", data=bytes(144))),
    (2, r"\[4, 3\]", npy(shape="(4, 3)")),
    (2, r"\[12\]", npy(shape="(12,)")),
    (2, r"\[3, 4, 1\]", npy(shape="(3, 4, 1)")),
    (2, r"\[0, 4\]", npy(shape="(0, 4)", data=b"")),
    (2, r"\[65, 4\]", npy(shape="(65, 4)", data=bytes(1040))),
    (2, "'x'", npy(shape="()", data=bytes(4))),
    (3, "rank|dimensions|npy", npy(shape="(" + "1, " * 40 + ")", data=bytes(4))),
]

# tutti-compile good.onnx --weights FILE.safetensors -o out/a.tutti
SAFETENSORS = [
    (3, "safetensors", b""),
    *((3, "safetensors", GOOD_ST[:n]) for n in (4, 8, 20, len(GOOD_ST) - 1)),
    (3, "safetensors", GOOD_ST + b"x"),
    (3, "safetensors", struct.pack("<Q", 2**63) + GOOD_ST[8:]),
    (3, "safetensors", struct.pack("<Q", BIG) + GOOD_ST[8:]),
    (3, "safetensors", safetensors("")),
    (3, "safetensors", safetensors("[]")),
    (3, "safetensors", safetensors("{" * 90000)),
    (3, "safetensors", safetensors('{"a":' + "[" * 90000)),
    (3, "'w'|twice", safetensors("{%s,%s}" % (ST_W, ST_W))),
    (3, "'w'|safetensors", safetensors('{"w":{"dtype":"F32","shape":[4,-2],"data_offsets":[0,32]},%s}' % ST_B)),
    (3, "'w'", safetensors('{"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,32]},%s}' % ST_B)),
    (3, "'w'", safetensors('{"w":{"dtype":"F32","shape":[4,2],"data_offsets":[32,0]},%s}' % ST_B)),
    (3, "'w'", safetensors('{"w":{"dtype":"F32","shape":[4,2],"data_offsets":[0,36]},%s}' % ST_B)),
    (3, "'w'|'b'", safetensors('{"w":{"dtype":"F32","shape":[4,2],"data_offsets":[8,40]},%s}' % ST_B)),
    (3, "'w'", safetensors('{"w":{"dtype":"F32","shape":[4,2],"data_offsets":[0,18446744073709551615]},%s}' % ST_B)),
    (4, "F8_E9M9", safetensors('{"w":{"dtype":"F8_E9M9","shape":[4,2],"data_offsets":[0,32]},%s}' % ST_B)),
    (2, "w", safetensors("{%s}" % ST_B.replace("32,40", "0,8"), bytes(8))),
    (2, "c", safetensors('{%s,%s,"c":{"dtype":"F32","shape":[],"data_offsets":[40,44]}}' % (ST_W, ST_B), bytes(44))),
    (2, "w", safetensors('{"w":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]},%s}' % ST_B)),
    (2, "w", safetensors('{"w":{"dtype":"I32","shape":[4,2],"data_offsets":[0,32]},%s}' % ST_B)),
]

# tutti-compile FILE.mlir -o out/a.tutti
MLIR = [
    (3, "main", ""),
    (3, "mlir", "func.func @main("),
    (3, "mlir", "\0\0\0"),
    (3, "mlir", "module {" * 100),
    (3, "mlir", "#" * 1000),
    (3, "mlir", mlir("return %y : tensor<2xf32>")),
    (3, "mlir", mlir("%0 = tutti.no_such_op %x : tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (3, "mlir", mlir("%0 = tutti.tanh %x : tensor<3xf32>\n  return %0 : tensor<3xf32>")),
    (3, "mlir", mlir("return %x : tensor<2xf32>", head="!t = " + "tuple<" * 300)),
    (3, "main", "func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n"),
    (3, "mlir", mlir("return %x : tensor<2xf32>") * 2),
    (3, "mlir", mlir("%0 = tutti.get @w : tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (4, "arith|mlir", mlir("%c = arith.constant dense<1.0> : tensor<2xf32>\n  return %c : tensor<2xf32>")),
    (4, "call|main|mlir", mlir("%0 = call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>\n  return %0 : tensor<2xf32>")),
    (3, "mlir", mlir("return %x : tensor<2xf32>", head='tutti.param @w : tensor<4xf32> {values = dense<1.0> : tensor<5xf32>}')),
    (3, "mlir", mlir("return %x : tensor<2xf32>", head='tutti.param @w : tensor<4xf32> {values = dense<"0x00"> : tensor<4xf32>}')),
    (4, "complex|mlir", mlir("return %x : tensor<2xcomplex<f32>>", "%x: tensor<2xcomplex<f32>>", "tensor<2xcomplex<f32>>")),
    (3, "'tutti.no'", (mlir("return %x : tensor<2xf32>") + "tutti.no ").ljust(4096, "/")),  # a page, nothing behind it
    (3, "main|mlir", mlir("return %x : tensor<*xf32>", "%x: tensor<*xf32>", "tensor<*xf32>")),
    (3, "overflow|large|bytes|mlir", mlir("return %x : tensor<4294967296x4294967296xf32>", "%x: tensor<4294967296x4294967296xf32>", "tensor<4294967296x4294967296xf32>")),
]

# tutti-run FILE.tutti --input x=good.npy --output-dir out; made of good.tutti
ARTIFACTS = [
    (3, "tutti", lambda a: b""),
    (3, "'TUTT'|bytes", lambda a: b"TUTT"),
    (3, "'TUTT'", lambda a: GOOD * 9),
    (3, "'TUTT'", lambda a: bytes(len(a))),
    *((3, "bytes", lambda a, n=n: a[:n]) for n in (255, 256, 1000, 4096)),
    (3, "bytes", lambda a: a[:-1]),
    (3, "bytes", lambda a: a + b"x"),
    (4, "format", lambda a: flip(a, 5, 1)),
    *((3, "digest|damaged", lambda a, at=at: flip(a, at, 0x20)) for at in (8, 16, 24, 32, 40, 48, 56, 64, 72, 100, 240, 248, 256, 300, 1000, 2000)),
    (3, "code is damaged", lambda a: flip(a, 2 * 4096 if a[4096:4100] == bytes(4) else 4096, 1)),
]

# The call itself.
CALLS = [
    (2, "expected|usage|FILE|no model", "tutti-compile"),
    (2, "no model", "tutti-compile -o out/a.tutti"),
    (2, "no artifact", "tutti-compile good.onnx"),
    (2, "list.txt", "tutti-compile @list.txt -o out/a.tutti"),
    (2, "no model", "tutti-compile @empty.txt -o out/a.tutti"),
    (6, "nowhere", "tutti-compile good.onnx -o nowhere/a.tutti"),
    (6, "out", "tutti-compile good.onnx -o out"),
    (6, "/dev/full", "tutti-compile good.onnx -o /dev/full"),
    (2, "FILE|artifact", "tutti-run"),
    (2, "--output-dir", "tutti-run good.tutti --input x=good.npy"),
    (2, "missing.tutti", "tutti-run missing.tutti --output-dir out"),
    (2, "folder", "tutti-run folder --output-dir out"),
    (2, "pipe", "tutti-run pipe --output-dir out"),
    (2, "/dev/zero", "tutti-run /dev/zero --output-dir out"),
    (3, "good.onnx", "tutti-run good.onnx --output-dir out"),
    (2, "'x'", "tutti-run good.tutti --output-dir out"),
    (2, "'z'", "tutti-run good.tutti --output-dir out --input x=good.npy --input z=good.npy"),
    (2, "x", "tutti-run good.tutti --output-dir out --input x=good.npy --input x=good.npy"),
    (2, "x", "tutti-run good.tutti --output-dir out --input x"),
    (2, "missing.npy", "tutti-run good.tutti --output-dir out --input x=missing.npy"),
    (2, "folder", "tutti-run good.tutti --output-dir out --input x=folder"),
    (2, "member 2", "tutti-run good.tutti --output-dir out --input x=good.npy --active 0,2"),
    (2, "twice", "tutti-run good.tutti --output-dir out --input x=good.npy --active 0,0"),
    (2, "--active", "tutti-run good.tutti --output-dir out --input x=good.npy --active 0,-1"),
    (2, "--active", "tutti-run good.tutti --output-dir out --input x=good.npy --active ''"),
    (2, "--active", "tutti-run good.tutti --output-dir out --input x=good.npy --active 99999999999"),
    (2, "tpu", "tutti-run good.tutti --output-dir out --input x=good.npy --device tpu"),
    (5, "cuda", "tutti-run good.tutti --output-dir out --input x=good.npy --device cuda"),
    (5, "emulated", "tutti-run good.tutti --output-dir out --input x=good.npy --device emulated"),
    (2, "cuda:x", "tutti-run good.tutti --output-dir out --input x=good.npy --device cuda:x"),
    (2, "cpu-v9", "tutti-run good.tutti --output-dir out --input x=good.npy --target cpu-v9"),
    (2, "--threads", "tutti-run good.tutti --output-dir out --input x=good.npy --threads 0"),
    (2, "--threads", "tutti-run good.tutti --output-dir out --input x=good.npy --threads 5000"),
    (2, "--repeat", "tutti-run good.tutti --output-dir out --input x=good.npy --repeat 0"),
    (6, "text.txt", "tutti-run good.tutti --output-dir text.txt --input x=good.npy"),
    (2, "missing.tutti", "tutti-inspect missing.tutti"),
    (3, "text.txt", "tutti-inspect text.txt"),
    (3, "damaged", "tutti-inspect weights.tutti --verify"),
    (2, "missing.tutti", "tutti-bench missing.tutti"),
    (2, "'batch' is 65", "tutti-bench good.tutti --dim batch=65"),
    (2, "rows", "tutti-bench good.tutti --dim rows=1"),
    (2, "--seconds", "tutti-bench good.tutti --seconds 0"),
    (2, "digest", "tutti-verify good.tutti relu.onnx good.onnx"),
    (2, "2", "tutti-verify good.tutti good.onnx"),
    (2, "missing.onnx", "tutti-verify good.tutti good.onnx missing.onnx"),
    (2, "text.onnx", "tutti-verify good.tutti text.onnx good.onnx"),
    (2, "seed", "tutti-verify good.tutti good.onnx good.onnx --seed -1"),
]
