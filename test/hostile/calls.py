# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bad files and calls: each ends by itself, soon and in little memory, with the exit code of its class (docs/DESIGN.md, 12), with a
message that names the thing, in text that neither steers a terminal nor fills it, and leaves no output.

    python calls.py BIN [NAME]       BIN: where the tools are; NAME: only the cases whose names contain it

The cases are those of cases.py, and of names.py.
"""
import concurrent.futures
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
from cases import ARTIFACTS, CALLS, FLAGS, NPY, ONNX, SAFETENSORS  # noqa: E402
from files import ADD, F32, GOOD, GOOD_NPY, GOOD_ST, MUL, external, flip, node, npy, onnx, tensor, value_info  # noqa: E402

import models  # noqa: E402
import names  # noqa: E402

SECONDS, BYTES, LINE = 10, 2 << 30, 4096


def cases(artifact: bytes):
    """Name, exit code, pattern, arguments, and the file that they name, if it is made for the case."""
    compiled = "-o out/a.tutti"
    for kind, table, suffix, command in (
        ("onnx", ONNX, ".onnx", "tutti-compile {} " + compiled),
        ("npy", NPY, ".npy", "tutti-run good.tutti --output-dir out --input x={}"),
        ("bind", [row for row in NPY if row[0] == 3], ".npy", "tutti-compile good.onnx --bind x={} " + compiled),
        ("safetensors", SAFETENSORS, ".safetensors", "tutti-compile good.onnx --weights {} " + compiled),
        ("mlir", models.MLIR, ".mlir", "tutti-compile {} " + compiled),
        ("artifact", [(code, words, make(artifact)) for code, words, make in ARTIFACTS], ".tutti",
         "tutti-run {} --output-dir out --input x=good.npy"),
        ("inspect", [(code, words, make(artifact)) for code, words, make in ARTIFACTS], ".tutti", "tutti-inspect {} --json"),
    ):
        for i, (code, words, data) in enumerate(table):
            file = f"{kind}-{i}{suffix}"
            yield file, code, words, command.format(file), data.encode() if isinstance(data, str) else data
    for i, (code, words, arguments) in enumerate(FLAGS):
        yield f"flags-{i}", code, words, f"tutti-compile good.onnx {compiled} {arguments}", None
    for i, (code, words, command) in enumerate(CALLS):
        yield f"calls-{i}", code, words, command, None
    yield from names.cases()


def prepare(folder: Path, tools: Path):
    """What cases share, and what they name that is no file of theirs."""
    folder.mkdir(parents=True)
    relu = onnx([MUL, node("Add", ["t", "b"], "s"), node("Relu", ["s"], "y")])
    wide = onnx([MUL], (tensor("w", (4, 3), F32, bytes(48)),), outputs=(value_info("t", ["batch", 3]),))
    double = onnx(weights=(tensor("w", (4, 2), 11, bytes(64)), tensor("b", (2,), 11, bytes(16))), inputs=(value_info("x", ["batch", 4], 11),))
    deep = onnx([MUL, node("Relu", ["t"], "r"), node("Add", ["r", "b"], "y")])
    for name, data in {"good.onnx": GOOD, "relu.onnx": relu, "wide.onnx": wide, "double.onnx": double, "deep.onnx": deep,
                       "good.npy": GOOD_NPY, "double.npy": npy(descr="<f8", data=bytes(96)), "good.safetensors": GOOD_ST, "w.bin": bytes(32),
                       "short.bin": bytes(31), "text.txt": b"hello\n", "text.onnx": b"hello\n", "list.txt": b"@list.txt\n", "empty.txt": b"",
                       "../secret": bytes(32)}.items():
        (folder / name).write_bytes(data)
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("../secret")
    (folder / "up").symlink_to("..")
    # As caches of models have them: links to files that lie side by side elsewhere, and one whose tensor lies in a third place.
    blobs = folder.parent / "blobs"
    blobs.mkdir()
    for name, data in {"model": external(location="hub.bin"), "data": bytes(32), "far": external(location="link")}.items():
        (blobs / name).write_bytes(data)
    for name, to in {"hub.onnx": "model", "hub.bin": "data", "far.onnx": "far"}.items():
        (folder / name).symlink_to("../blobs/" + to)
    subprocess.run([tools / "tutti-compile", "hub.onnx", "-o", "../hub.tutti"], cwd=folder, check=True)
    subprocess.run([tools / "tutti-compile", "good.onnx", "good.onnx", "-o", "good.tutti"], cwd=folder, check=True)
    artifact = (folder / "good.tutti").read_bytes()
    (folder / "weights.tutti").write_bytes(flip(artifact, len(artifact) - 60, 1))
    return artifact


def listen(process: subprocess.Popen, end: float) -> bytes:
    """What a process says until it is silent for good, of which the first MiB; one that has not ended then is killed."""
    said, pipe = b"", process.stdout.fileno()
    while (left := end - time.monotonic()) > 0:
        if select.select([pipe], [], [], left)[0]:
            if not (part := os.read(pipe, 1 << 16)):
                return said
            said = (said + part)[:1 << 20]
    os.killpg(process.pid, signal.SIGKILL)
    return said


def attempt(shared: Path, tools: Path, case):
    """What is wrong with how the case ends, '' if nothing is; and the seconds of a processor that it took."""
    name, code, words, command, data = case
    with tempfile.TemporaryDirectory(dir=shared.parent) as temporary:
        folder = Path(temporary)
        for entry in shared.iterdir():
            own = folder / entry.name
            if entry.is_symlink():
                own.symlink_to(os.readlink(entry))
            elif entry.is_fifo():
                os.mkfifo(own)
            elif entry.is_dir():
                own.mkdir()
            else:
                os.link(entry, own)
        if data is not None:
            (folder / name).write_bytes(data)
        (folder / "out").mkdir()
        before = sorted(p.name for p in folder.iterdir())
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "TMPDIR": temporary}
        environment.pop("TUTTI_CUDA_DRIVER", None)
        start = time.monotonic()
        process = subprocess.Popen(["sh", "-c", "exec " + command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)))
        said = listen(process, start + 6 * SECONDS)
        output = said.decode(errors="replace")
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        left = [p.name for p in (folder / "out").iterdir()]
        left += [n for n in sorted(p.name for p in folder.iterdir()) if n not in before]
    wrong = []
    if process.returncode != code:
        wrong.append(f"exit {process.returncode}, expected {code}")
    if not re.search(words, output):
        wrong.append(f"no /{words}/ in the message")
    if odd := re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffd]", output):
        wrong.append(f"bytes that are no text: {odd[0]!r}")
    if longest := max((len(line) for line in said.split(b"\n") if len(line) > LINE), default=0):
        wrong.append(f"a line of {longest} bytes")
    if left:
        wrong.append(f"left behind: {left}")
    if usage.ru_maxrss * 1024 > BYTES:
        wrong.append(f"{usage.ru_maxrss >> 10} MiB of memory")
    if seconds > 6 * SECONDS:  # of a machine that may be busy; the limit itself is on the processor's time
        wrong.append(f"{seconds:.1f} s")
    text = f"{name}: {'; '.join(wrong)}\n  {command}\n  {output.strip()[:600]}" if wrong else ""
    return text, usage.ru_utime + usage.ru_stime


def main(tools: Path, only: str) -> int:
    with tempfile.TemporaryDirectory() as name:
        shared = Path(name) / "shared" / "files"
        shared.parent.mkdir()
        artifact = prepare(shared, tools)
        chosen = [case for case in cases(artifact) if only in case[0]]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ends = list(pool.map(lambda case: attempt(shared, tools, case), chosen))
    wrong = [text for text, _ in ends if text]
    longest = sorted(((seconds, case[0]) for (_, seconds), case in zip(ends, chosen)), reverse=True)[:5]
    print("\n".join(wrong + [f"{len(chosen) - len(wrong)} of {len(chosen)} end as they should; of {SECONDS} s took most: " +
                             ", ".join(f"{name} {seconds:.1f}" for seconds, name in longest)]))
    return 1 if wrong or (len(chosen) < 200 and not only) else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""))
