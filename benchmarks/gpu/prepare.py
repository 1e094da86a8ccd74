# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes artifacts where the compiler is, for machines that have none: a folder with a manifest."""
from __future__ import annotations

import datetime
import json
import subprocess
from pathlib import Path

import ours
from gpu.workloads import MAX_ROWS, needed
from networks import NETWORKS, count

MANIFEST = "manifest.json"
BARE_MEMBERS = 2          # different files behind an artifact whose weights are filled in later


class Artifacts:
    """A folder of prepared artifacts, or why one is not there."""

    def __init__(self, folder: Path):
        self.folder = folder
        try:
            self.manifest = json.loads((folder / MANIFEST).read_text())
        except (OSError, ValueError) as error:
            raise LookupError(f"{folder} holds no prepared artifacts ({error}); make them with ./dev bench --gpu --prepare {folder}") from None

    def entry(self, need) -> dict:
        """Of an artifact: `file`, `bare`, `seconds`; LookupError says why there is none."""
        entry = self.manifest["artifacts"].get(need.key)
        if entry is None:
            raise LookupError(f"{need.key} was not prepared")
        if "skipped" in entry:
            raise LookupError(entry["skipped"])
        return entry


def compile_one(build: Path, folder: Path, need, targets: str, bare: bool, tiny: bool) -> dict:
    """One entry of the manifest. A bare artifact is made from two files over and over: equal copies are stored once,
    so it holds two members' weights whatever E is, and every member is given its own where it runs."""
    from models import write_members
    network = NETWORKS[need.network]
    bare = bare and not any(count(network, m).shared for m in range(len(network.emits))) # those cannot be replaced a member
    paths = write_members(need.network, min(need.members, BARE_MEMBERS) if bare else need.members, folder / "onnx")
    members = [paths[m % len(paths)] for m in range(need.members)]
    flags = ["--target", targets]
    for name, x in network.inputs.items():
        flags += ["--dim", f"{x.rows}=1..{8 if tiny else MAX_ROWS[need.network]}"]
        if need.per_member:
            flags += ["--input", f"{name}=member"]
    if need.precision != "f32":
        flags += ["--precision", need.precision]
    path = folder / f"{need.key}.tutti"
    try:
        compiled = ours.compile(build, members, path, *flags)
    except RuntimeError as error:
        return {"skipped": str(error)}
    finally:
        path.with_suffix(".names").unlink(missing_ok=True)
    about = ours.inspect(build, path)
    launches = {p["target"]: p["launches"] for p in about["programs"]}
    return {"file": path.name, "bare": bare, "seconds": compiled.seconds, "bytes": path.stat().st_size, "launches": launches,
            "flags": flags}


def prepare(build: Path, folder: Path, chosen: list, precisions: list[str], targets: str, bare: bool, tiny: bool, tell) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    version = subprocess.run([build / "bin" / "tutti-compile", "--version"], capture_output=True, text=True).stdout.strip()
    manifest = {"date": datetime.date.today().isoformat(), "compiler": version, "targets": targets, "artifacts": {}}
    for need in dict.fromkeys(needed(w, p) for p in precisions for w in chosen):
        entry = compile_one(build, folder, need, targets, bare, tiny)
        manifest["artifacts"][need.key] = entry
        tell(f"{need.key}: " + (entry.get("skipped") or f"{entry['seconds']:.1f} s, {entry['bytes'] / 1e6:.1f} MB, launches {entry['launches']}"))
        part = folder / (MANIFEST + ".part")
        part.write_text(json.dumps(manifest, indent=1) + "\n")
        part.rename(folder / MANIFEST)
    made = [e for e in manifest["artifacts"].values() if "file" in e]
    tell(f"{len(made)} artifacts, {sum(e['bytes'] for e in made) / 1e6:.1f} MB, and {len(manifest['artifacts']) - len(made)} that could not be made, in {folder}")
    return 0 if made else 1
