#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the seeds in corpus/ that no other test has: heads of artifacts (header and metadata), models of the tutti dialect, files of
weights, and .npy files. Findings of the fuzzers lie beside them and stay.

    python make_corpus.py BIN        BIN: where tutti-compile is
"""
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

here = Path(__file__).parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(here.parent / "tools"))
from onnxfile import model, node, tensor, value_info  # noqa: E402

F32 = 1


def dense(path: Path, *widths: int, rows="batch", seed: int = 0):
    nodes, weights, last = [], [], "x"
    for i, (k, n) in enumerate(zip(widths, widths[1:])):
        numbers = struct.pack(f"<{k * n}f", *(((seed + 3 * j) % 7 - 3) / 4 for j in range(k * n)))
        weights.append(tensor(f"w{i}", (k, n), F32, numbers))
        nodes += [node("MatMul", [last, f"w{i}"], f"m{i}"), node("Relu", [f"m{i}"], f"r{i}")]
        last = f"r{i}"
    nodes.append(node("Identity", [last], "y"))
    ports = [value_info("x", [rows, widths[0]])], [value_info("y", [rows, widths[-1]])]
    path.write_bytes(model(nodes, weights, *ports))


def turned(path: Path, seed: int):
    """Two layers with a transposition between them: launches that run in strips."""
    weights = [tensor(f"w{i}", (k, n), F32, struct.pack(f"<{k * n}f", *(((seed + j) % 5 - 2) / 4 for j in range(k * n))))
               for i, (k, n) in enumerate(((6, 5), (4, 3)))]
    nodes = [node("MatMul", ["x", "w0"], "m"), node("Transpose", ["m"], "t", perm=[0, 2, 1]), node("MatMul", ["t", "w1"], "y")]
    path.write_bytes(model(nodes, weights, [value_info("x", ["batch", 4, 6])], [value_info("y", ["batch", 5, 3])]))


def head(artifact: Path) -> bytes:
    data = artifact.read_bytes()
    offset, size = struct.unpack_from("<QQ", data, 24)
    return data[: offset + size]


def main(compiler: Path):
    for kind in ("artifact", "onnx", "mlir", "safetensors", "npy"):
        (here / "corpus" / kind).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for m in range(3):
            dense(folder / f"{m}.onnx", 4, 6, 2, seed=m)
            dense(folder / f"s{m}.onnx", 4, 2, rows="n", seed=m)
            turned(folder / f"t{m}.onnx", seed=m)
        dense(folder / "other.onnx", 4, 3, 5, 2)
        subprocess.run([sys.executable, here.parent / "tools/ways.py", "sizes", folder / "large", "5"], check=True)
        subprocess.run([sys.executable, here.parent / "tools/ways.py", "unequal", folder / "unlike", "3"], check=True)
        large = [f"large/{m}.onnx" for m in range(5)]
        equal, sized = [f"{m}.onnx" for m in range(3)], [f"s{m}.onnx" for m in range(2)]
        limit = ["--dim", "h=12", "--dim", "w=16", "--dim", "batch=1..64", "--memory-limit", "1200KB"]
        unlike = [f"unlike/{m}.onnx" for m in range(3)] + ["--unequal", "--input", "x=member", "--output", "y=members,std"] + limit[:-1] + ["700KB"]
        unequal = equal[:2] + ["other.onnx", "--unequal", "--output", "y=members,mean"]
        heads = ["--output", "y=members,std,quantile:0.5"]
        for name, arguments in {
            "plain": equal[:1],
            "heads": equal + heads,
            "own-inputs": equal[:2] + ["--input", "x=member", "--share", "none"],
            "groups": unequal,
            "sizes": sized + ["--dim", "n=3,5"],
            "strips": [f"t{m}.onnx" for m in range(3)] + ["--dim", "batch=1..16"],
            "pieces": large + ["--output", "y=members,std"] + limit,
            "group-pieces": unlike,
            "device": equal + heads + ["--precision", "tf32"],
            "device-groups": unequal + ["--input", "x=member"],
            "device-pieces": large + ["--output", "y=members,std"] + limit,
            "device-group-pieces": unlike,
        }.items():
            target = "emulated" if name.startswith("device") else "cpu-v3"
            subprocess.run([compiler, *arguments, "--target", target, "-o", "out.tutti"], check=True, cwd=folder)
            (here / "corpus/artifact" / name).write_bytes(head(folder / "out.tutti"))
        (here / "corpus/onnx/dense").write_bytes((folder / "0.onnx").read_bytes())
        stage = subprocess.run([compiler, equal[0], "--stop-after", "model"], check=True, cwd=folder, capture_output=True)
        (here / "corpus/mlir/dense").write_bytes(stage.stdout)
    header = b'{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},"b":{"dtype":"BF16","shape":[],"data_offsets":[8,10]}}'
    (here / "corpus/safetensors/two").write_bytes(struct.pack("<Q", len(header)) + header + bytes(10))
    for name, descr, order, shape, size in (("float", "<f4", False, (2, 3), 24), ("turned", ">i8", True, (2, 2), 32),
                                            ("raw", "|V2", False, (3,), 6), ("text", "<U3", False, (1,), 12)):
        text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"
        text += " " * (63 - (10 + len(text)) % 64) + "\n"
        (here / "corpus/npy" / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + bytes(size))


main(Path(sys.argv[1]).resolve() / "tutti-compile")
