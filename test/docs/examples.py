# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of the project's pages, as a reader would who has installed it.

    python3 examples.py BUILD [PAGE...]

Every page has at least one ```sh block; all of them are run by bash, in order, in a folder of the page's own. A block whose fence names a
file (```c main.c) is written to it first. A block of text behind an sh block has lines that this prints, in their order ("..." is anything);
so has one of CUDA, whose comments are the page's. The folder has the ten digit classifiers: member_0.onnx to member_9.onnx, their weights
as member_0.safetensors ..., and images.npy; for the README of an example it is a copy of the example, beside one of examples/digits. On the
paths: the tools and libraries of the build, installed to a scratch folder, and the Python package, if the build has it.
Blocks of other kinds, and indented ones, are not run: what takes a GPU, the network or many minutes. Pages point at nothing that is not there, here and where
they are installed.
"""
from __future__ import annotations

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages without an example of their own: the design, the state of work, the list of changes.
WITHOUT = {"docs/DESIGN.md", "docs/status.md", "docs/tried.md", "CHANGELOG.md"}
PYTHON = "docs/python.md"
DIGITS = ROOT / "examples" / "digits"
SECONDS = 300


def pages() -> list[str]:
    try:
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True, text=True)
        known = listed.returncode == 0
    except OSError:  # there is no git
        known = False
    names = listed.stdout.split() if known else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md")]
    return sorted(n for n in names if n not in WITHOUT and (n == "README.md" or n.startswith(("docs/", "benchmarks/README", "examples/"))))


def fields(data: bytes):
    """The fields of a protobuf message, as (number, value)."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte, at = data[at], at + 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            length = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + length]
            at += length


def weights_of(model: bytes) -> bytes:
    """A safetensors file of a model's float32 initializers."""
    graph = next(value for number, value in fields(model) if number == 7)
    header, data = {}, b""
    for tensor in (list(fields(value)) for number, value in fields(graph) if number == 5):
        one = dict(tensor)
        if one.get(2) == 1 and 9 in one:
            dims = [value for number, value in tensor if number == 1]
            header[one[8].decode()] = {"dtype": "F32", "shape": dims, "data_offsets": [len(data), len(data) + len(one[9])]}
            data += one[9]
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def not_in(expected: str, printed: str) -> str:
    """The first line that was not printed behind those before it; empty if all were."""
    at = 0
    for line in filter(str.strip, expected.splitlines()):
        pattern = r"[^\n]*?".join(r"\s+".join(re.escape(word) for word in part.split()) for part in line.split("..."))
        found = re.compile(pattern).search(printed, at)
        if not found:
            return line
        at = found.end()
    return ""


def run(page: str, environment: dict, scratch: Path) -> str:
    """What went wrong; empty when nothing did."""
    blocks = re.findall(r"^```(\w+)[ \t]*(\S*)\n(.*?)^```$", (ROOT / page).read_text(), re.M | re.S)
    if not any(language == "sh" for language, _, _ in blocks):
        return "has no example that could be run"
    folder = scratch / page.replace("/", "_")
    if page.startswith("examples/"):
        for example in {(ROOT / page).parent, DIGITS}:
            shutil.copytree(example, folder / example.name)
        folder /= (ROOT / page).parent.name
    else:
        folder.mkdir()
        for model in DIGITS.glob("models/member_*.onnx"):
            shutil.copy(model, folder)
            (folder / model.with_suffix(".safetensors").name).write_bytes(weights_of(model.read_bytes()))
        shutil.copy(DIGITS / "images.npy", folder)
    printed = None
    for language, name, text in blocks:
        if name:
            (folder / name).write_text(text)
        elif language in ("text", "cuda") and printed is not None:
            if missing := not_in(re.sub("//.*", "", text) if language == "cuda" else text, printed):
                return f"the page has\n{missing}\nand this was printed:\n{printed[-2000:]}"
        printed = None
        if language == "sh" and not name:
            done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=SECONDS)
            if done.returncode:
                return f"exit {done.returncode} from\n{text}\n{done.stdout[-4000:]}"
            printed = done.stdout
    return ""


def anchors(page: Path) -> set[str]:
    """What links call the page's headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def dangling(root: Path, names: list[str]) -> str:
    """Links of pages to files, or headings of pages, that are not there, a line each."""
    lines = []
    for name in names:
        text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", (root / name).read_text(), flags=re.M | re.S)
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", text):
            file = (root / name).parent.joinpath(target) if target else root / name
            if "://" not in target and not (file.exists() and (not anchor or file.suffix != ".md" or anchor in anchors(file))):
                lines.append(f"{name} points at {target}{'#' * bool(anchor)}{anchor}, which is not there")
    return "\n".join(lines)


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="tutti-examples-") as scratch:
        prefix, shims = Path(scratch) / "tutti", Path(scratch) / "shims"
        subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
        library = next(prefix.rglob("libtutti.so")).parent
        cache = (build / "CMakeCache.txt").read_text()
        shims.mkdir()
        for name, language in (("cc", "C"), ("c++", "CXX")):
            compiler = re.search(rf"^CMAKE_{language}_COMPILER:.*=(.*)$", cache, re.M)[1]
            (shims / name).symlink_to(shutil.which(compiler))
        # FileCheck and lit lie in LLVM's own folder; without a compiler there is none.
        mlir = re.search(r"^MLIR_DIR:.*=(.*)$", cache, re.M)
        llvm = Path(mlir[1]).parents[2] / "bin" if mlir else shims
        package = build / "python"
        environment = {**os.environ, "PATH": f"{prefix / 'bin'}:{shims}:{build / 'venv' / 'bin'}:{os.environ['PATH']}:{llvm}", "PYTHONPATH": str(package), "CC": "cc", "CXX": "c++", "LD_LIBRARY_PATH": str(library), "HOME": scratch,
                       "PKG_CONFIG_PATH": str(library / "pkgconfig"), "CMAKE_PREFIX_PATH": str(prefix),
                       "TUTTI_CUDA_DRIVER": str(build / "lib" / "libcuda-emulated.so")}
        failed = 0
        installed = next(prefix.rglob("CHANGELOG.md")).parent
        for root, names in (ROOT, [*WITHOUT, *pages()]), (installed, [str(p.relative_to(installed)) for p in installed.rglob("*.md")]):
            if lost := dangling(root, names):
                failed += 1
                print(lost, flush=True)
        for page in sys.argv[2:] or pages():
            if page == PYTHON and not (package / "tutti").is_dir():
                print(f"{page}: skipped, as the build has no Python package (the test `python` says why)")
                continue
            wrong = run(page, environment, Path(scratch))
            failed += bool(wrong)
            print(f"{page}: {wrong or 'ok'}", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
