#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom (dialects <- passes <- compiler <- tools; the runtime stands alone; in each, its rooms), how long a
file may be, what include guards are called, how a file begins, and what stands beside the folders."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
SUFFIXES = {".h", ".hpp", ".cpp", ".c", ".cuh", ".def", ".td", ".py"}
FOLDERS = ["dialects", "passes", "compiler", "runtime", "python", "tools", "test", "examples", "benchmarks"]
MOST_LINES = 450
BESIDE = {".ci", ".clang-format", ".gitignore", "CHANGELOG.md", "CMakeLists.txt", "LICENSE", "README.md", "cmake", "dev", "docs", "pyproject.toml"}

# What a file may include beside the C and C++ libraries: files and folders of ours ("folder/*": the files that lie in it,
# not its folders), and other people's headers. First match. docs/DESIGN.md, "The house", has the same in words.
OURS, THEIRS = "ours", "theirs"
SHARED = ["runtime/schema", "runtime/support"]
BELOW = ["dialects", "passes/analysis", *SHARED, "compiler/support"]
PRIVATE = {"dialects/tutti/ops": "dialects"}  # what nobody outside may include
TOOL = ["CLI", "nlohmann", "flatbuffers"]
RULES = [
    ("dialects", {OURS: ["dialects"], THEIRS: ["mlir", "llvm"]}),
    ("passes/analysis", {OURS: ["dialects", "passes/analysis", "runtime/schema/Layout.h", "runtime/schema/Limits.h"], THEIRS: ["mlir", "llvm"]}),
    ("passes", {OURS: ["dialects", "passes", "runtime/schema/Limits.h"], THEIRS: ["mlir", "llvm"]}),
    # The rooms of the compiler. Those of code know nothing of files; those of files nothing of each other.
    ("compiler/codegen/cuda/device", {OURS: ["compiler/codegen/cuda/device"], THEIRS: []}),
    ("compiler/codegen/math", {OURS: ["dialects", "compiler/codegen/*", "compiler/codegen/math"], THEIRS: ["mlir", "llvm"]}),
    ("compiler/codegen/cpu", {OURS: BELOW + ["compiler/codegen/*", "compiler/codegen/math", "compiler/codegen/cpu"], THEIRS: None}),
    ("compiler/codegen/cuda", {OURS: BELOW + ["compiler/codegen/*", "compiler/codegen/math", "compiler/codegen/cuda"], THEIRS: None}),
    ("compiler/codegen", {OURS: ["dialects", *SHARED, "compiler/codegen/*"], THEIRS: ["mlir", "llvm"]}),
    ("compiler/performance", {OURS: BELOW + ["compiler/codegen/*", "compiler/codegen/cuda", "compiler/performance"], THEIRS: None}),
    ("compiler/reference", {OURS: BELOW + ["compiler/reference"], THEIRS: None}),
    ("compiler/import/files", {OURS: BELOW + ["compiler/import/*", "compiler/import/files"], THEIRS: None}),
    ("compiler/import/emit", {OURS: BELOW + ["compiler/import/*", "compiler/import/emit"], THEIRS: None}),
    ("compiler/import/onnx", {OURS: BELOW + ["compiler/import/*", "compiler/import/files", "compiler/import/emit",
                                             "compiler/import/onnx"], THEIRS: None}),
    ("compiler/import/mlir", {OURS: BELOW + ["compiler/import/*", "compiler/import/files", "compiler/import/mlir"], THEIRS: None}),
    ("compiler/import/align", {OURS: BELOW + ["compiler/import/*", "compiler/import/emit", "compiler/import/align"], THEIRS: None}),
    ("compiler/import", {OURS: BELOW + ["compiler/import"], THEIRS: None}),
    ("compiler/artifact", {OURS: BELOW + ["compiler/import", "compiler/codegen/*", "compiler/codegen/cuda", "compiler/artifact"], THEIRS: None}),
    ("compiler", {OURS: ["dialects", "passes", "compiler", *SHARED], THEIRS: None}),
    # The runtime. What runs on a device knows nothing of the other one, and the core of neither.
    ("runtime/schema", {OURS: ["runtime/schema"], THEIRS: ["flatbuffers"]}),
    ("runtime/support", {OURS: SHARED, THEIRS: []}),
    ("runtime/include", {OURS: ["runtime/include"], THEIRS: []}),
    ("runtime/device/cpu", {OURS: ["runtime/include", *SHARED, "runtime/core", "runtime/device/cpu"], THEIRS: ["flatbuffers"]}),
    ("runtime/device/cuda", {OURS: ["runtime/include", *SHARED, "runtime/core", "runtime/device/cuda"], THEIRS: ["flatbuffers"]}),
    ("runtime", {OURS: ["runtime/include", *SHARED, "runtime/core"], THEIRS: ["flatbuffers"]}),
    ("python", {OURS: ["runtime/include", "python"], THEIRS: ["nanobind"]}),
    # The tools: those that link only the runtime, then the compiler's. A tool knows nothing of another one.
    ("tools/common", {OURS: ["runtime", "tools/common"], THEIRS: TOOL}),
    ("tools/run", {OURS: ["runtime", "tools/common", "tools/run"], THEIRS: TOOL}),
    ("tools/bench", {OURS: ["runtime", "tools/common", "tools/bench"], THEIRS: TOOL}),
    ("tools/inspect", {OURS: ["runtime", "tools/common", "tools/inspect"], THEIRS: TOOL}),
    ("tools/tutti", {OURS: ["runtime", "tools/tutti"], THEIRS: []}),
    *((f"tools/{tool}", {OURS: ["dialects", "passes", "compiler", *SHARED, "runtime/include", "tools/common",
                                "tools/models", f"tools/{tool}"], THEIRS: None}) for tool in ("models", "compile", "verify", "opt", "lsp")),
]
# Where a quoted name is looked for, beside the file's own folder; and where generated headers come from.
SEARCH = ["", "runtime", "runtime/include"]
GENERATED = {"runtime/schema/artifact_generated.h"}
GUARDED = ["dialects", "passes", "compiler", "tools"]  # whose headers have guards, named as their place; others have #pragma once
LIBRARIES = ["mlir", "llvm", "lld", "clang", "flatbuffers", "nanobind", "nlohmann", "CLI", "google", "onnx", "gtest"]


def within(path: str, folders: list[str]) -> bool:
    return any(path == f or path.startswith(f + "/") or (f.endswith("/*") and str(Path(path).parent) == f[:-2]) for f in folders)


def where(name: str, file: Path) -> str | None:
    """The place of an included file of ours, from the root; None for one that is not ours."""
    if name in GENERATED:
        return name
    if name.startswith("tutti/") and name.endswith(".cuh"):  # what the kernels' text calls them
        return "compiler/codegen/cuda/device/" + name.removeprefix("tutti/")
    for folder in [file.parent, *(ROOT / s for s in SEARCH)]:
        if (folder / name).is_file():
            return str((folder / name).resolve().relative_to(ROOT))
    return None


def strangers() -> list[str]:
    """What is committed beside the folders and is none of BESIDE, such as what a trial has left; of no repository nothing."""
    if not shutil.which("git"):
        return []
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files"], capture_output=True, text=True, check=False).stdout.splitlines()
    return sorted({path.split("/")[0] for path in listed} - BESIDE - set(FOLDERS))


def main() -> int:
    complaints, seen = [f"{name}: expected beside the folders only {', '.join(sorted(BESIDE))}" for name in strangers()], 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in SUFFIXES or "build" in file.parts:
                continue
            path = str(file.relative_to(ROOT))
            text = file.read_text()
            seen += 1
            lines = text.count("\n")
            said = text.splitlines()
            if file.suffix in {".h", ".hpp", ".cpp", ".cuh", ".def", ".td"} and not (len(said) > 1 and "SPDX" in said[0] and said[1].lstrip(" /*")):
                complaints.append(f"{path}: expected the license on line 1, and on line 2 what the file is for")
            if lines > MOST_LINES:
                complaints.append(f"{path}: {lines} lines, expected at most {MOST_LINES}")
            guard = "TUTTI_" + re.sub(r"\W", "_", path).upper()
            if file.suffix == ".h" and within(path, GUARDED) and f"#ifndef {guard}\n#define {guard}\n" not in text:
                complaints.append(f"{path}: expected the include guard {guard}")
            rule = next((r for prefix, r in RULES if within(path, [prefix])), None)
            if file.suffix == ".py":
                continue
            for quote, name in re.findall(r'^\s*(?:#\s*)?include\s*([<"])([^>"]+)[>"]', text, re.M):
                place = where(name, file)
                for folder, owner in PRIVATE.items():
                    if place is not None and within(place, [folder]) and not within(path, [owner]):
                        complaints.append(f"{path}: includes {place}, which is of {owner} alone")
                if rule is None:
                    continue
                if place is not None:
                    if not within(place, rule[OURS]):
                        complaints.append(f"{path}: includes {place}, expected only {', '.join(rule[OURS])}")
                    continue
                library = name.split("/")[0]
                if library in LIBRARIES and rule[THEIRS] is not None and library not in rule[THEIRS]:
                    complaints.append(f"{path}: includes <{name}>, expected only {', '.join(rule[THEIRS]) or 'the C++ library'}")
    for complaint in complaints:
        print(complaint)
    print(f"{seen} files, {len(complaints)} complaints")
    return 1 if complaints or not seen else 0


sys.exit(main())
