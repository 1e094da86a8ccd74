# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what a run on a GPU found: a table and the numbers."""
from __future__ import annotations

import json
from pathlib import Path


def best_peer(row: dict, key: str = "device_us") -> tuple[str, dict] | None:
    peers = {n: t for n, t in row["contestants"].items() if n != "Tutti"}
    return min(peers.items(), key=lambda item: item[1][key]) if peers else None


def us(t: float | None) -> str:
    return "" if t is None else f"{t:.2f}" if t < 100 else f"{t:.0f}"


def table(rows: list[dict]) -> list[str]:
    lines = ["| workload | precision | limit, us | Tutti, us (p10 to p90) | share of the limit | best peer, us | peer / Tutti | a call from the host: Tutti, us | peer / Tutti | error / bound |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        ours, peer, waiting = row["contestants"]["Tutti"], best_peer(row), best_peer(row, "host_us")
        limit = f"{us(row['limit_us'])} {row['bound']}" if row["bound"] else ""
        share = f"{100 * row['limit_us'] / ours['device_us']:.0f} %" if row["bound"] else ""
        lines.append("| " + " | ".join([
            row["name"], row["precision"], limit, f"{us(ours['device_us'])} ({us(ours['device_p10_us'])} to {us(ours['device_p90_us'])})", share,
            f"{us(peer[1]['device_us'])} {peer[0]}" if peer else "", f"{peer[1]['device_us'] / ours['device_us']:.2f}" if peer else "",
            us(ours["host_us"]), f"{waiting[1]['host_us'] / ours['host_us']:.2f}" if waiting else "", f"{ours['error_of_bound']:.2f}"]) + " |")
    return lines


def everything(rows: list[dict]) -> list[str]:
    names = list(dict.fromkeys(n for row in rows for n in row["contestants"]))
    lines = ["| workload | precision | SM MHz | " + " | ".join(names) + " |", "|---" * (len(names) + 3) + "|"]
    for row in rows:
        cells = [us(t["device_us"]) + (" **wrong**" if t["error_of_bound"] > 1 else "") if (t := row["contestants"].get(n)) else "" for n in names]
        clock = (row["clocks"] or {}).get("clocks.sm", "")
        lines.append(f"| {row['name']} | {row['precision']} | {clock} | " + " | ".join(cells) + " |")
    return lines


def markdown(result: dict) -> str:
    about, rows = result["about"], result["workloads"]
    device, smi = about["device"], about["smi"] or {}
    title = "a CPU, to try the bench out" if about["on_cpu"] else "an emulated device, to try the bench out: its times mean nothing" if about["emulated"] else device["name"]
    facts = [f"{device['name']}" + (f", {device['multiprocessors']} multiprocessors, at most {device['max_clock_mhz']} MHz" if "multiprocessors" in device else "")]
    if "driver_cuda" in device:
        facts.append(f"driver {smi.get('driver_version', '')} for CUDA {device['driver_cuda']}".replace("  ", " "))
    if smi:
        facts.append(f"memory at {smi['clocks.mem']} MHz, {smi['power.draw']} W and {smi['temperature.gpu']} degrees when it ended" )
    facts += [f"Tutti {about['commit'] or ''}, compiled by {about['compiler']} for {about['targets']}", f"Python {about['python']}"]
    facts += [f"{n} {v}" for n, v in about["versions"].items()]
    parts = [f"# Benchmarks on {title}, {about['date']}", "", "; ".join(facts) + ".", "", f"    {about['command']}", "",
             "Medians. On the device: between two CUDA events around each call, inputs and outputs in its memory, eight random input sets in rotation, the "
             "stream kept busy meanwhile, so that asking for work costs nothing up to a few milliseconds of it (JAX: the host's clock over many calls in a row). From the host: one call and the wait for it. "
             + (f"Two events with nothing between them are {about['nothing_us']:.2f} us apart, which these times have in them. " if about.get("nothing_us") else "") +
             "The limit is the larger of multiply-adds over the float32 FMA peak (f32 only) and bytes over the memory's rate, both from the device's attributes. "
             "Outputs of all were checked against float64. At 16 bits peers have their weights, inputs and every result in that type, ours float32 inputs and outputs.", ""]
    if rows:
        parts += [*table(rows), "", "All that ran, microseconds on the device:", "", *everything(rows)]
    skipped = {(n, reason) for row in rows for n, reason in row["skipped"].items()}
    for note in result["notes"] + [f"{n}: {reason}" for n, reason in sorted(skipped)]:
        parts += ["", f"- {note}"]
    return "\n".join(parts) + "\n"


def write(result: dict, folder: Path) -> Path:
    """Writes <date>-<device>.md and .json; returns the first."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{result['about']['date']}-gpu-{result['about']['slug']}"
    for suffix, text in ((".json", json.dumps(result, indent=1) + "\n"), (".md", markdown(result))):
        part = folder / (stem + suffix + ".part")
        part.write_text(text)
        part.rename(folder / (stem + suffix))
    return folder / (stem + ".md")
