# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile names, at every place where a file or a call has one, for calls.py: what steers a terminal is spelled in hexadecimal, and
what fills it is cut in the middle. calls.py looks at the bytes of every message; here stands what it is to show."""
import re
import shlex

from files import ADD, F32, I64, MUL, ST_B, W, const, field, floats, mlir, node, onnx, safetensors, tensor, value_info

# A name, and how a message shows it.
NAMES = {
    "line": (b"first\nsecond: error: none", r"first\x0asecond: error: none"),
    "escape": (b"\x1b]0;title\x07\x1b[2J", r"\x1b]0;title\x07\x1b[2J"),
    "latin": (b"caf\xe9", r"caf\xe9"),
    "overlong": (b"\xc0\xae\xed\xa0\x80", r"\xc0\xae\xed\xa0\x80"),
    "turned": ("a\u202eb\u0085c".encode(), r"a\xe2\x80\xaeb\xc2\x85c"),
    "long": (b"begin" + b"n" * (1 << 20) + b"end", "begin" + "n" * 95 + "..." + "n" * 94 + "end"),
}
UTF8 = [name for name in NAMES if name not in ("latin", "overlong")]  # what JSON and other text can spell
SHORT = [name for name in NAMES if name != "long"]


def named(kind: str, name: bytes) -> bytes:
    """y = kind(x), by a node of this name."""
    return field(1, field(1, "x") + field(2, "y") + field(3, name) + field(4, kind))


def typed(kind: bytes, domain: bytes = b"") -> bytes:
    return field(1, field(1, "x") + field(2, "y") + field(4, kind) + field(7, domain))


def external(key: str, value: bytes, name: bytes = b"w") -> bytes:
    entries = field(13, field(1, "location") + field(2, b"w.bin" if key != "location" else value))
    entries += field(13, field(1, key) + field(2, value)) if key != "location" else b""
    return onnx(weights=(field(8, name) + field(1, 4) + field(1, 2) + field(2, F32) + field(14, 1) + entries,),
                nodes=[node("MatMul", ["x", name], "y")])


def renamed(name: bytes, dim="batch") -> bytes:
    """A good model whose input has this name."""
    return onnx([node("MatMul", [name, "w"], "t"), ADD], inputs=(value_info(name, [dim, 4]),))


RELU = [node("Relu", ["x"], "y")]
# Exit code, and a model with the name in it; and which names, where not all.
ONNX = [
    (4, lambda n: onnx([named("Det", n)])),
    (4, lambda n: onnx([typed(n)])),
    (4, lambda n: onnx([typed(b"Relu", n)])),
    (3, lambda n: onnx([named("MatMul", n)])),
    (3, lambda n: onnx([node("Add", ["x", n], "y")])),
    (3, lambda n: onnx([MUL, node("Relu", ["t"], n), node("Tanh", ["t"], n), ADD])),
    (3, lambda n: onnx([field(1, field(1, "x") + field(2, "y") + field(4, "Softmax") + 2 * field(5, field(1, n) + field(3, 1) + field(20, 2)))])),
    (4, lambda n: onnx([field(1, field(1, "x") + field(2, "y") + field(4, "Relu") + field(5, field(1, n) + field(3, 1) + field(20, 2)))])),
    (3, lambda n: onnx([field(1, field(1, "x") + field(1, "c") + field(2, "y") + field(4, "Pad") + field(5, field(1, "mode") + field(4, n) + field(20, 3)))],
                       (field(8, "c") + const((4,), I64, bytes(32)),))),
    (3, lambda n: onnx(weights=(tensor(n, (4, 2), F32, bytes(31)),), nodes=[node("MatMul", ["x", n], "y")])),
    (3, lambda n: onnx(weights=(tensor(n, (2,), F32, floats(1, 2)),) * 2)),
    (4, lambda n: onnx(graph=field(15, field(1, tensor(n, (2,), F32, floats(1, 2)))))),
    (3, lambda n: onnx(inputs=(value_info(n, ["batch", 4]),) * 2)),
    (4, lambda n: onnx(RELU, (), (value_info("x", ["batch", 4]), field(1, n)))),
    (3, lambda n: onnx(outputs=(value_info(n, ["batch", 2]),))),
    (2, lambda n: onnx(RELU, (), (value_info(n, ["batch", 4, "b"]), value_info("x", ["batch"])))),
    (2, lambda n: onnx(RELU, (), (value_info("x", [n, "b"]),), (value_info("y", []),))),
    (4, lambda n: onnx([node("Softmax", ["x"], "y", axis=0)], (), (value_info("x", [n, 4]),), (value_info("y", []),))),
    (4, lambda n: onnx([field(1, field(1, "x") + field(2, "y") + field(3, n) + field(4, "Softmax") + field(5, field(1, "axis") + field(3, 0) + field(20, 2)))])),
    (2, lambda n: external("location", n), SHORT),
    (7, lambda n: external("location", b"../" + n), SHORT),
    (3, lambda n: external("offset", n)),
    (3, lambda n: external("length", b"31", n)),
    (3, lambda n: onnx(more=field(8, field(1, n) + field(2, 1)) + field(8, field(1, n) + field(2, 2)))),
]


def json(name: bytes) -> str:
    return "".join(f"\\u{ord(c):04x}" if ord(c) < 32 else c for c in name.decode())


SAFETENSORS = [
    (2, lambda n: safetensors('{"%s":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]},%s}' % (json(n), ST_B))),
    (3, lambda n: safetensors('{"%s":{"dtype":"F32","shape":[4,2],"data_offsets":[0,36]},%s}' % (json(n), ST_B))),
    (3, lambda n: safetensors('{"%s":{"dtype":"F32"},%s}' % (json(n), ST_B))),
    (3, lambda n: safetensors('{"w":{"%s":"F32"},%s}' % (json(n), ST_B))),
    (4, lambda n: safetensors('{"w":{"dtype":"%s","shape":[4,2],"data_offsets":[0,32]},%s}' % (json(n), ST_B))),
]


def quoted(name: bytes) -> str:
    """As MLIR's text spells it."""
    return '"' + "".join(chr(b) if 32 <= b < 127 else f"\\{b:02X}" for b in name) + '"'


MLIR = [
    (2, lambda n: mlir("return %%x : tensor<?x?xf32, #tutti.sizes<%s, b>>" % quoted(n), "%%x: tensor<?x?xf32, #tutti.sizes<%s, b>>" % quoted(n), "tensor<?x?xf32, #tutti.sizes<%s, b>>" % quoted(n))),
    (3, lambda n: "func.func @main() {\n  return\n}\nfunc.func private @%s()\n" % quoted(n), SHORT),
]

# An input is called so, or its first dimension; the artifact is made, and this is done with it.
USES = [
    (2, "tutti-run out/n.tutti --output-dir out/o", renamed),
    (2, "tutti-run out/n.tutti --output-dir out/o --input z=good.npy", renamed),
    (2, "tutti-run out/n.tutti --output-dir out/o", lambda n: renamed(b"x", n)),
    (0, "tutti-verify out/n.tutti {}", lambda n: renamed(b"x", n)),
    (0, "tutti-inspect out/n.tutti", renamed),
    (0, "tutti-inspect out/n.tutti", lambda n: renamed(b"x", n)),
    (0, "tutti-bench out/n.tutti --threads 1 --seconds 0.01", lambda n: renamed(b"x", n)),
    (2, "tutti-verify out/n.tutti {} --dim z=1", lambda n: renamed(b"x", n)),
    (0, "tutti-verify out/n.tutti {}", lambda n: onnx([MUL, node("Add", ["t", "b"], n)], outputs=(value_info(n, ["batch", 2]),))),
]

# Of the call itself; an argument is not longer than 128 KiB, and one that has several lines is shown in them by what parses arguments.
FLAGS = ["tutti-compile good.onnx -o out/a.tutti " + flag for flag in (
    "--dim {}=2", "--dim {}", "--input {}=member", "--output {}=mean", "--output y={}", "--bind {}=good.npy", "--bind x={}", "--memory-limit {}", "{}",
    "--weights {}", "--target {}", "--precision {}", "--share {}", "--stop-after {}", "--target emulated --explain --explain-for {}")]
FLAGS += ["tutti-run good.tutti --output-dir out " + flag for flag in ("--input {}=good.npy", "--input x={}", "--active {}", "--device {}")]
FLAGS += ["tutti-inspect {}", "tutti-bench good.tutti --dim {}=1", "tutti-verify good.tutti {} good.onnx", "tutti {}"]
PARSED = ["tutti-compile good.onnx -o out/a.tutti --no-such-{}", "tutti-run good.tutti --output-dir out {}"]


def cases():
    """As calls.py has them."""
    compiled = "tutti-compile {} -o out/a.tutti"
    for kind, table, suffix, command, names in (("onnx", ONNX, ".onnx", compiled, NAMES), ("mlir", MLIR, ".mlir", compiled, NAMES),
                                                ("safetensors", SAFETENSORS, ".safetensors", "tutti-compile good.onnx -o out/a.tutti --weights {}", UTF8)):
        for i, (code, make, *only) in enumerate(table):
            for name in only[0] if only else names:
                bad, shown = NAMES[name]
                file, data = f"names-{kind}-{i}-{name}{suffix}", make(bad)
                yield file, code, re.escape(shown), command.format(file), data.encode() if isinstance(data, str) else data
    for i, (code, use, make, *only) in enumerate(USES):
        for name in only[0] if only else NAMES:
            bad, shown = NAMES[name]
            file = f"names-use-{i}-{name}.onnx"
            run = f"tutti-compile {file} -o out/n.tutti && {use.format(file)}; code=$?; rm -r out/*; exit $code"
            yield file, code, re.escape(shown), f"sh -c {shlex.quote(run)}", make(bad)
    for i, command in enumerate(FLAGS + PARSED):
        for name in SHORT if command in FLAGS else SHORT[1:]:
            bad, shown = NAMES[name]
            yield f"names-flags-{i}-{name}", 2, re.escape(shown), command.format(shlex.quote(bad.decode(errors="surrogateescape"))), None
