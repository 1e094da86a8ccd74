#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who may include whom (dialects <- passes <- compiler <- tools; the runtime stands alone), and how long a file may be."""
import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
FOLDERS = ["dialects", "passes", "compiler", "runtime", "tools", "test", "examples", "benchmarks"]
MOST_LINES = 450

# What a folder may include beside the C and C++ libraries: folders of ours, and other people's headers. First match.
OURS, THEIRS = "ours", "theirs"
RULES = [
    ("dialects", {OURS: ["dialects"], THEIRS: ["mlir", "llvm"]}),
    ("passes", {OURS: ["dialects", "passes"], THEIRS: ["mlir", "llvm"]}),
    ("compiler", {OURS: ["dialects", "passes", "compiler", "runtime/schema"], THEIRS: None}),
    ("runtime/schema", {OURS: ["runtime/schema"], THEIRS: ["flatbuffers"]}),
    ("runtime/include", {OURS: ["runtime/include"], THEIRS: []}),
    ("runtime", {OURS: ["runtime"], THEIRS: ["flatbuffers"]}),
    ("tools/common", {OURS: ["runtime", "tools/common"], THEIRS: ["CLI", "nlohmann", "flatbuffers"]}),
    ("tools/run", {OURS: ["runtime", "tools/common", "tools/run"], THEIRS: ["CLI", "nlohmann", "flatbuffers"]}),
    ("tools/bench", {OURS: ["runtime", "tools/common", "tools/bench"], THEIRS: ["CLI", "nlohmann", "flatbuffers"]}),
    ("tools/inspect", {OURS: ["runtime", "tools/common", "tools/inspect"], THEIRS: ["CLI", "nlohmann", "flatbuffers"]}),
    ("tools/tutti", {OURS: ["runtime", "tools/tutti"], THEIRS: []}),
]
# Where a quoted name is looked for, beside the file's own folder; and where generated headers come from.
SEARCH = ["", "runtime", "runtime/schema", "runtime/include"]
GENERATED = {"artifact_generated.h": "runtime/schema"}
LIBRARIES = ["mlir", "llvm", "lld", "clang", "flatbuffers", "nlohmann", "CLI", "google", "onnx", "gtest"]


def within(path: str, folders: list[str]) -> bool:
    return any(path == f or path.startswith(f + "/") for f in folders)


def where(name: str, file: Path) -> str | None:
    """The place of an included file of ours, from the root; None for one that is not ours."""
    if name in GENERATED:
        return GENERATED[name] + "/" + name
    for folder in [file.parent, *(ROOT / s for s in SEARCH)]:
        if (folder / name).is_file():
            return str((folder / name).resolve().relative_to(ROOT))
    return None


def main() -> int:
    complaints, seen = [], 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in {".h", ".hpp", ".cpp", ".c", ".td", ".py"} or "build" in file.parts:
                continue
            path = str(file.relative_to(ROOT))
            text = file.read_text()
            seen += 1
            lines = text.count("\n")
            if lines > MOST_LINES:
                complaints.append(f"{path}: {lines} lines, expected at most {MOST_LINES}")
            rule = next((r for prefix, r in RULES if within(path, [prefix])), None)
            if rule is None or file.suffix == ".py":
                continue
            for quote, name in re.findall(r'^\s*(?:#\s*)?include\s*([<"])([^>"]+)[>"]', text, re.M):
                place = where(name, file)
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
