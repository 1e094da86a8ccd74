# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes models, weights and constants for the tests of the ways in; it needs no package.

    python ways.py sizes FOLDER [N]   two (or N) members whose inputs have sizes h and w that no op treats as parallel, and inputs for them
    python ways.py apart FOLDER       the same with a last layer whose rows are the elements of the one before, which knows nothing of h and w
    python ways.py unequal FOLDER N   the same of three structures: layers of other widths, a third one a layer more
    python ways.py bind FOLDER        two members with a shape operand, indices and a mask as inputs (0.onnx ...) and as initializers
                                      (fixed0.onnx ...), and files for the inputs
    python ways.py weights FOLDER     three members as models and as one model with three files of weights, and files that do not fit
"""
import json
import random
import struct
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from onnxfile import field, model, node, tensor, value_info  # noqa: E402

F32, I64 = 1, 7


def floats(seed: int, *dims: int, scale: float = 1.0) -> bytes:
    generator, count = random.Random(seed), 1
    for d in dims:
        count *= d
    return struct.pack(f"<{count}f", *(generator.gauss(0, scale) for _ in range(count)))


def save(path: Path, descr: str, shape: tuple, data: bytes):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def sizes(folder: Path, structures=(0,), apart=False):
    for m in range(int(sys.argv[3]) if len(sys.argv) > 3 else 2):
        structure = structures[m % len(structures)]
        wide, narrow = [(40, 24), (24, 40), (40, 24)][structure]
        more = [node("MatMul", ["xa", "e"], "xe")] if structure == 2 else []
        nodes = [node("MatMul", ["x", "a"], "xa"), *more, node("Relu", ["xe" if more else "xa"], "xr"), node("ReduceMean", ["xr"], "xm", axes=[1], keepdims=0),
                 node("MatMul", ["z", "b"], "zb"), node("Tanh", ["zb"], "zt"), node("ReduceMax", ["zt"], "zm", axes=[1], keepdims=0),
                 node("Concat", ["xm", "zm"], "c", axis=1), node("MatMul", ["c", "d"], "l" if apart else "y")]
        nodes += [node("Reshape", ["l", "apart"], "u"), node("MatMul", ["u", "f"], "y")] if apart else []
        weights = [tensor("a", (6, wide), F32, floats(10 + m, 6, wide)), tensor("b", (5, narrow), F32, floats(20 + m, 5, narrow)),
                   tensor("d", (64, 3), F32, floats(30 + m, 64, 3))]
        weights += [tensor("apart", (3,), I64, struct.pack("<3q", 0, 3, 1)), tensor("f", (1, 2), F32, floats(50 + m, 1, 2))] if apart else []
        weights += [tensor("e", (40, 40), F32, floats(40 + m, 40, 40, scale=0.2))] if more else []
        (folder / f"{m}.onnx").write_bytes(model(nodes, weights, [value_info("x", ["batch", "h", 6]), value_info("z", ["batch", "w", 5])],
                                                 [value_info("y", ["batch", 3, 2] if apart else ["batch", 3])]))
    for rows, h, w in ((4, 12, 16), (4, 9, 7), (3, 5, 5)):
        save(folder / f"x{h}.npy", "<f4", (rows, h, 6), floats(h, rows, h, 6))
        save(folder / f"z{w}.npy", "<f4", (rows, w, 5), floats(w, rows, w, 5))


def bind(folder: Path):
    constants = {"shape": (I64, "<i8", (3,), struct.pack("<3q", 0, 3, 4)), "indices": (I64, "<i8", (2,), struct.pack("<2q", 2, 0)),
                 "mask": (F32, "<f4", (4,), struct.pack("<4f", 1, 0.5, 0, 2))}
    def nodes(shape: str, indices: str, mask: str) -> list:
        return [node("Reshape", ["x", shape], "r"), node("Mul", ["r", mask], "s"), node("Gather", ["s", indices], "g", axis=1),
                node("MatMul", ["g", "w"], "y")]

    for m in range(2):
        x, y = [value_info("x", ["batch", 12])], [value_info("y", ["batch", "n", 5])]
        w = [tensor("w", (4, 5), F32, floats(m, 4, 5))]
        names = ["shape", "indices", "mask"] if m == 0 else ["b", "c", "d"]
        own = [value_info(name, dims, kind) for name, dims, kind in zip(names, (["k"], ["n"], [4]), (I64, I64, F32))]
        (folder / f"{m}.onnx").write_bytes(model(nodes(*names), w, x + own, y))
        fixed = [tensor(name, dims, kind, data) for name, (kind, _, dims, data) in constants.items()]
        (folder / f"fixed{m}.onnx").write_bytes(model(nodes(*constants), w + fixed, x, y))
    for name, (_, descr, dims, data) in constants.items():
        save(folder / f"{name}.npy", descr, dims, data)
    save(folder / "x.npy", "<f4", (3, 12), floats(9, 3, 12))
    save(folder / "mask64.npy", "<f8", (4,), struct.pack("<4d", 1, 1, 1, 1))
    save(folder / "mask5.npy", "<f4", (5,), struct.pack("<5f", 1, 1, 1, 1, 1))
    save(folder / "mask2d.npy", "<f4", (2, 2), struct.pack("<4f", 1, 1, 1, 1))
    (folder / "damaged.npy").write_bytes((folder / "mask.npy").read_bytes()[:-3])


def safetensors(path: Path, tensors: dict, header=None, tail=b""):
    """name -> (dtype, shape, bytes); or the header as text."""
    entries, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (dtype, shape, raw) in tensors.items():
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = (json.dumps(entries) if header is None else header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data + tail)


def weights(folder: Path):
    nodes = [node("MatMul", ["x", "a"], "xa"), node("Add", ["xa", "b"], "xb"), node("Mul", ["xb", "scale"], "xs"), node("Tanh", ["xs"], "t"),
             node("MatMul", ["t", "d"], "y")]
    shapes = {"a": (6, 40), "b": (40,), "d": (40, 3)}
    ports = [value_info("x", ["batch", 6])], [value_info("y", ["batch", 3])]
    scale = tensor("scale", (), F32, struct.pack("<f", 0.75))  # a constant of the graph, as exporters write it

    def values(member: int) -> dict:
        return {name: ("F32", shape, floats(100 * member + i, *shape)) for i, (name, shape) in enumerate(shapes.items())}

    for m in range(3):
        (folder / f"{m}.onnx").write_bytes(model(nodes, [tensor(n, s, F32, raw) for n, (_, s, raw) in values(m).items()] + [scale], *ports))
        safetensors(folder / f"{m}.safetensors", values(m))
    (folder / "list.txt").write_text("".join(f"{folder}/{m}.safetensors\n" for m in range(3)))
    save(folder / "x.npy", "<f4", (5, 6), floats(5, 5, 6))
    wrong = {f"model.{name}": value for name, value in values(0).items() if name != "b"}
    wrong["b"] = ("F16", (40,), bytes(80))
    wrong["steps"] = ("F32", (), bytes(4))
    safetensors(folder / "wrong.safetensors", wrong)
    state = values(0)  # with a weight of two names, and a count of batches
    safetensors(folder / "state.safetensors", state | {"tied": state["a"], "norm.num_batches_tracked": ("I64", (), bytes(8))})
    safetensors(folder / "untied.safetensors", state | {"tied": values(1)["a"]})
    turned = values(0)
    turned["d"] = ("F32", (3, 40), turned["d"][2])
    safetensors(folder / "turned.safetensors", turned)
    body = b"".join([node("Add", ["h", "a"], "g"), node("Mul", ["g", "w"], "z")]) + field(2, "body") + field(5, tensor("w", (6,), F32, floats(7, 6)))
    body += b"".join(field(11, value_info(name, [6])) for name in ("h", "a")) + b"".join(field(12, value_info(name, [6])) for name in ("g", "z"))
    scan = [node("Scan", ["s", "x"], ["last", "y"], body=body, num_scan_inputs=1)]
    (folder / "scan.onnx").write_bytes(model(scan, [tensor("s", (6,), F32, floats(8, 6))], [value_info("x", [5, 6])], [value_info("y", [5, 6])]))
    safetensors(folder / "scan.safetensors", {"s": ("F32", (6,), floats(9, 6))})
    good = (folder / "0.safetensors").read_bytes()
    hostile = folder / "hostile"
    hostile.mkdir(exist_ok=True)
    for name, raw in {"empty": b"", "short": good[:5], "cut-header": good[:60], "cut-data": good[:-1], "longer": good + b"x",
                      "no-json": struct.pack("<Q", 4) + b"{abc" + good, "huge": struct.pack("<Q", 2 ** 63) + good[8:],
                      "list": struct.pack("<Q", 2) + b"[]", "zero": struct.pack("<Q", 0), "deep": struct.pack("<Q", 90000) + b'{"a":' + b"[" * 89995}.items():
        (hostile / name).write_bytes(raw)
    entry = '"dtype":"F32","shape":[2],"data_offsets":[0,8]'
    for name, header in {"overlap": '{"a":{%s},"b":{%s}}' % (entry, entry), "twice": '{"a":{%s},"a":{%s}}' % (entry, entry),
                         "gap": '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', "outside": '{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}',
                         "backwards": '{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}', "size": '{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}',
                         "overflow": '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}',
                         "negative": '{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}', "fraction": '{"a":{"dtype":"F32","shape":[2.5],"data_offsets":[0,8]}}',
                         "text": '{"a":"b"}', "lacks": '{"a":{"dtype":"F32","shape":[2]}}', "more": '{"a":{%s,"x":1}}' % entry, "again": '{"a":{%s,"dtype":"F32"}}' % entry,
                         "offsets": '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}}', "metadata": '{"__metadata__":{"a":1},"a":{%s}}' % entry,
                         "rank": '{"a":{"dtype":"F32","shape":[%s],"data_offsets":[0,8]}}' % ",".join("1" * 40), "tail": '{"a":{%s}} {}' % entry}.items():
        safetensors(hostile / name, {}, header, bytes(8))


what, folder = sys.argv[1], Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
{"sizes": sizes, "apart": lambda to: sizes(to, apart=True), "unequal": lambda to: sizes(to, (0, 1, 0, 2)), "bind": bind, "weights": weights}[what](folder)
