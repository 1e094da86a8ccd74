# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Swaps every initializer of a member for another file's, as that file has them, dense and with strides: the answers are
those of an artifact that was compiled with that file in the member's place, bit for bit.

    python swap-members.py FOLDER TARGET    of CPUs, or emulated
"""
import ctypes as c
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import field, model, node, tensor, value_info  # noqa: E402

folder, target = Path(sys.argv[1]), sys.argv[2]
folder.mkdir(parents=True, exist_ok=True)
ROWS = 3
F32, F64 = 22, 23  # TUTTI_F32, TUTTI_F64

# Of float32, but those that say otherwise. Name: inputs' dims behind the batch, initializers' dims, nodes, output's dims behind the batch.
NETWORKS = {
    "dense": ([40], {"w": (40, 24), "b": (24,), "scale": ()},
              [node("MatMul", ["x", "w"], "h"), node("Add", ["h", "b"], "s"), node("Mul", ["s", "scale"], "y")], [24]),
    "gemm": ([40], {"w": (24, 40), "b": (24,), "v": (3, 24)},
             [node("Gemm", ["x", "w", "b"], "h", transB=1), node("Relu", ["h"], "r"), node("Gemm", ["r", "v"], "y", transB=1)], [3]),
    "transposed": ([40], {"w": (2, 12, 40)},
                   [node("Transpose", ["w"], "t", perm=[2, 0, 1]), node("Reshape", ["t", "shape"], "m"), node("MatMul", ["x", "m"], "y")], [24]),
    "conv1x1": ([4, 6, 6], {"w": (8, 4, 1, 1), "b": (8,)}, [node("Conv", ["x", "w", "b"], "y")], [8, 6, 6]),
    "conv3x3": ([4, 6, 6], {"w": (8, 4, 3, 3), "b": (8,)}, [node("Conv", ["x", "w", "b"], "y", pads=[1, 1, 1, 1])], [8, 6, 6]),
    "groups": ([4, 6, 6], {"w": (8, 2, 3, 3)}, [node("Conv", ["x", "w"], "y", group=2, pads=[1, 1, 1, 1])], [8, 6, 6]),
    "channels": ([4, 6, 6], {"w": (4, 1, 3, 3)}, [node("Conv", ["x", "w"], "y", group=4, pads=[1, 1, 1, 1])], [4, 6, 6]),
    "patches": ([3, 8, 8], {"w": (16, 3, 4, 4), "b": (16,)}, [node("Conv", ["x", "w", "b"], "y", strides=[4, 4])], [16, 2, 2]),
    "back": ([4, 5, 5], {"w": (4, 6, 2, 2)}, [node("ConvTranspose", ["x", "w"], "y", strides=[2, 2])], [6, 10, 10]),
    "computed": ([40], {"w": (40, 24)}, [node("Mul", ["w", "w"], "v"), node("MatMul", ["x", "w"], "h"), node("MatMul", ["x", "v"], "g"), node("Sub", ["h", "g"], "y")], [24]),
    "heads": ([5, 8], {"q": (2, 8, 4), "k": (2, 8, 4)},
              [node("Unsqueeze", ["x", "axis"], "u"), node("MatMul", ["u", "q"], "qs"), node("MatMul", ["u", "k"], "ks"),
               node("Transpose", ["ks"], "kt", perm=[0, 1, 3, 2]), node("MatMul", ["qs", "kt"], "y")], [2, 5, 5]),
}
SHAPES = {"transposed": [tensor("shape", (2,), 7, struct.pack("<2q", 40, 24))], "heads": [tensor("axis", (1,), 7, struct.pack("<q", 1))]}
# Those whose weights go into a kernel part by part, or into a value computed when compiling, which no tensor takes the place of; and
# numbers that decide how the program computes.
TWOS = {
    "divided": ([8], {"w": ()}, [node("Div", ["x", "w"], "d"), node("Add", ["x", "w"], "s"), node("Sub", ["d", "s"], "y")], [8]),
    "power": ([8], {"w": ()}, [node("Pow", ["x", "w"], "p"), node("Add", ["p", "w"], "y")], [8]),
    "equal": ([8], {"w": (), "v": ()}, [node("Add", ["x", "w"], "a"), node("Add", ["x", "v"], "b"), node("Mul", ["a", "b"], "y")], [8]),
}
FIXED = {"groups", "channels", "computed", *TWOS}
DOUBLES = {"dense": "dense of doubles", "gemm": "gemm of doubles"}
NETWORKS |= {double: NETWORKS[name] for name, double in DOUBLES.items()}
size = 4  # of an element of the network at hand


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("message", c.c_char * 1020)]


class Tensor(c.Structure):
    _fields_ = [("name", c.c_char_p), ("dtype", c.c_int), ("rank", c.c_int32), ("dims", c.POINTER(c.c_int64)),
                ("strides", c.POINTER(c.c_int64)), ("data", c.c_void_p), ("memory", c.c_int)]


class Options(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("threads", c.c_uint32), ("program", c.c_uint32), ("verify_weights", c.c_bool),
                ("target", c.c_char_p), ("device", c.c_int), ("ordinal", c.c_uint32), ("context", c.c_void_p), ("stream", c.c_void_p)]


lib = c.CDLL(str(Path(os.environ["TUTTI_LIBRARIES"]) / "libtutti.so"))
lib.tutti_session_message.restype = c.c_char_p


def count(dims) -> int:
    return dims[0] * count(dims[1:]) if dims else 1


def floats(generator: random.Random, dims) -> bytes:
    return struct.pack(f"<{count(dims)}{'f' if size == 4 else 'd'}", *(generator.gauss(0, 1) for _ in range(count(dims))))


def steps(dims, order) -> list[int]:
    """Strides in bytes of a tensor whose axes lie in this order, the outermost first."""
    strides, step = [0] * len(dims), size
    for axis in reversed(order):
        strides[axis], step = step, step * dims[axis]
    return strides


def laid(raw: bytes, dims, strides) -> bytes:
    """The elements of a dense tensor, each where the strides say."""
    dense, out = steps(dims, range(len(dims))), bytearray(len(raw))
    for i in range(count(dims)):
        places = [i * size // step % dim for dim, step in zip(dims, dense)]
        to = sum(place * step for place, step in zip(places, strides))
        out[to:to + size] = raw[size * i:size * i + size]
    return bytes(out)


kept = []  # what tensors point at


def view(name: str, dims, raw, strides=None) -> Tensor:
    buffer = raw if isinstance(raw, c.Array) else (c.c_char * max(len(raw), 1)).from_buffer_copy(raw or b"\0")
    kept.append(buffer)
    return Tensor(name.encode(), F32 if size == 4 else F64, len(dims), (c.c_int64 * len(dims))(*dims), (c.c_int64 * len(dims))(*strides) if strides else None,
                  c.cast(buffer, c.c_void_p), 0)


class Opened:
    def __init__(self, path: Path):
        self.artifact, self.session, error = c.c_void_p(), c.c_void_p(), Error()
        assert lib.tutti_artifact_open(str(path).encode(), c.byref(self.artifact), c.byref(error)) == 0, error.message
        options = Options(c.sizeof(Options), 1, 0, False, None, 3 if target == "emulated" else 1)
        assert lib.tutti_session_create(self.artifact, c.byref(options), c.byref(self.session), c.byref(error)) == 0, error.message

    def run(self, x: Tensor, dims: list[int]) -> bytes:
        out = (c.c_char * (size * count(dims)))()
        for status in (lib.tutti_session_bind_input(self.session, c.byref(x)),
                       lib.tutti_session_bind_output(self.session, b"members", c.byref(view("y", dims, out))), lib.tutti_session_run(self.session)):
            assert status == 0, lib.tutti_session_message(self.session)
        return bytes(out)

    def swap(self, member: int, tensors: list[Tensor]) -> str:
        error = Error()
        failed = lib.tutti_artifact_swap_weights(self.artifact, c.c_uint32(member), (Tensor * len(tensors))(*tensors), c.c_size_t(len(tensors)), c.byref(error))
        return error.message.decode() if failed else ""


for name, (inputs, weights, nodes, outputs) in (NETWORKS | TWOS).items():
    generator, size = random.Random(name), 8 if name in DOUBLES.values() else 4
    type_of = 11 if size == 8 else 1
    if name in TWOS:
        members = [{w: struct.pack("<f", 2 ** (m + 1) if name == "divided" else 2) for w in weights} for m in range(3)]
    else:
        members = [{w: floats(generator, dims) for w, dims in weights.items()} for _ in range(3)]
    files = []
    for m, own in enumerate(members):
        files.append(folder / f"{name}_{m}.onnx")
        tensors = [tensor(w, weights[w], type_of, raw) for w, raw in own.items()] + SHAPES.get(name, [])
        files[-1].write_bytes(model(nodes, tensors, [value_info("x", ["batch", *inputs], type_of)], [value_info("y", ["batch", *outputs], type_of)]))
    for pair, path in ((files[:2], "given"), (files[1:], "expected")):
        order = pair if path == "given" else [pair[1], pair[0]]
        subprocess.check_call(["tutti-compile", *order, "-o", folder / f"{name}.{path}.tutti", "--target", target, "--share", "none", "--dim", "batch=1..4"])
    x, dims = view("x", [ROWS, *inputs], floats(generator, [ROWS, *inputs])), [2, ROWS, *outputs]
    expected = Opened(folder / f"{name}.expected.tutti").run(x, dims)
    given = Opened(folder / f"{name}.given.tutti")
    first = given.run(x, dims)
    assert first != expected or name in TWOS, name
    if name in FIXED:
        message = given.swap(0, [view("w", weights["w"], members[2]["w"])])
        # Copies that all members have in common are named as such.
        assert "went into values computed when compiling" in message or (name in TWOS and "stored once" in message), f"{name}: {message}"
        assert given.run(x, dims) == first, name
        continue
    for kind in ("dense", "reversed"):
        tensors = []
        for w, raw in members[2].items():
            strides = None if kind == "dense" else steps(weights[w], range(len(weights[w]) - 1, -1, -1))
            tensors.append(view(w, weights[w], laid(raw, weights[w], strides) if strides else raw, strides))
        message = given.swap(0, tensors)
        assert not message, f"{name}, {kind}: {message}"
        assert given.run(x, dims) == expected, f"{name}, {kind}: other bits than when compiled so"
        back = [view(w, weights[w], raw) for w, raw in members[0].items()]
        assert not given.swap(0, back) and given.run(x, dims) == first, f"{name}: the first weights, given back"
    wrong = view(next(iter(weights)), [7, 7], bytes(49 * size))
    assert f"has dims {list(next(iter(weights.values())))}, given [7, 7]" in given.swap(0, [wrong]), name

size = 4
# One program multiplies by w, the other by its square: that of no other numbers.
branches = [field(2, "test") + n + field(12, value_info(o, ["batch", "h", 8])) for n, o in (
    (node("Mul", ["x", "w"], "a"), "a"), (node("Mul", ["w", "w"], "v") + node("Mul", ["x", "v"], "b"), "b"))]
nodes = [node("Shape", ["x"], "s", start=1, end=2), node("Equal", ["s", "three"], "e"), node("Squeeze", ["e"], "c"),
         node("If", ["c"], "y", then_branch=branches[0], else_branch=branches[1])]
generator = random.Random(0)
for m in range(2):
    weights = [tensor("w", (8,), 1, floats(generator, (8,))), tensor("three", (1,), 7, struct.pack("<q", 3))]
    (folder / f"branch{m}.onnx").write_bytes(model(nodes, weights, [value_info("x", ["batch", "h", 8])], [value_info("y", ["batch", "h", 8])]))
for dims in ("h=3,4", "h=4,3"):
    subprocess.check_call(["tutti-compile", *(folder / f"branch{m}.onnx" for m in range(2)), "-o", folder / "branch.tutti", "--target", target, "--dim", dims, "--dim", "batch=1..4"])
    message = Opened(folder / "branch.tutti").swap(0, [view("w", (8,), floats(generator, (8,)))])
    assert "went into values computed when compiling" in message, message
