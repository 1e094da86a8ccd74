# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes what a benchmark run found: a table, the numbers, and a plot."""
from __future__ import annotations

import json
from html import escape
from pathlib import Path


def best_peer(row: dict) -> tuple[str, dict] | None:
    peers = {n: t for n, t in row["contestants"].items() if n != "Tutti"}
    return min(peers.items(), key=lambda item: item[1]["median_ms"]) if peers else None


def milliseconds(t: float) -> str:
    return f"{t:.4f}" if t < .1 else f"{t:.3f}" if t < 10 else f"{t:.1f}"


def percent(x: float) -> str:
    return f"{100 * x:.0f} %"


def table(rows: list[dict]) -> list[str]:
    lines = ["| workload | limit, ms | Tutti, ms (p10 to p90) | share of the limit | goal | best peer, ms | its share | peer / Tutti | error / bound | peaks apart |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        limit, ours, peer = row["limit_ms"], row["contestants"].get("Tutti"), best_peer(row)
        mine = ["", "", "", "", ""]
        if ours:
            share = limit / ours["median_ms"]
            mine = [f"{milliseconds(ours['median_ms'])} ({milliseconds(ours['p10_ms'])} to {milliseconds(ours['p90_ms'])})",
                    f"**{percent(share)}**" if share >= row["goal"] else percent(share), "", "", f"{ours['error_of_bound']:.2f}"]
        other = [f"{milliseconds(peer[1]['median_ms'])} {peer[0]}", percent(limit / peer[1]["median_ms"])] if peer else ["", ""]
        ratio = f"{peer[1]['median_ms'] / ours['median_ms']:.2f}" if peer and ours else ""
        lines.append("| " + " | ".join([row["name"], f"{milliseconds(limit)} {row['bound']}", mine[0], mine[1], percent(row["goal"]),
                                        *other, ratio, mine[4], percent(row["peaks_apart"])]) + " |")
    return lines


def peers_table(rows: list[dict]) -> list[str]:
    names = list(dict.fromkeys(n for row in rows for n in row["contestants"]))
    lines = ["| workload | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in rows:
        cells = [milliseconds(t["median_ms"]) if (t := row["contestants"].get(n)) else "" for n in names]
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    return lines


def extras_table(extras: list[dict]) -> list[str]:
    lines = ["| what | measured | goal | |", "|---|---|---|---|"]
    return lines + [f"| {e['what']} | {e['measured']} | {e['goal']} | {'met' if e['met'] else '**not met**' if e['met'] is False else ''} |" for e in extras]


def markdown(result: dict) -> str:
    about = result["about"]
    parts = [f"# Benchmarks, {about['date']}", "",
             f"{about['cpu']}, {about['threads']} threads, {about['level']}; Tutti {about['commit']}, "
             + ", ".join(f"{n} {v}" for n, v in about["versions"].items()) + ". "
             f"FMA peak {about['gflops']:.0f} GFLOP/s; load of the machine when it started {about['load']:.2f}.", "",
             "Medians; both sides alternate in blocks over eight input sets, and every output was checked against float64 before and after. "
             "The limit is the larger of multiply-adds over the FMA peak and bytes over the read rate of a buffer of that size.", "",
             *table(result["workloads"]), "", "All that ran, median milliseconds:", "", *peers_table(result["workloads"])]
    if result["extras"]:
        parts += ["", *extras_table(result["extras"])]
    for note in result["notes"]:
        parts += ["", f"- {note}"]
    return "\n".join(parts) + "\n"


def plot(rows: list[dict]) -> str:
    """Share of the limit: a bar for us, one for the best peer, a tick for the goal."""
    left, width, step, top = 250, 620, 46, 64
    height = top + step * len(rows) + 40
    x = lambda share: left + width * min(share, 1.05)
    s = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 70} {height}" font-family="system-ui, sans-serif" font-size="13">',
         '<style>text{fill:#3a3f47}.s{fill:#6b717c;font-size:12px}.g{stroke:#e4e1da}.o{fill:#0a7d70}.p{fill:#b9bdc6}.t{stroke:#c8452c;stroke-width:2.5}'
         '@media(prefers-color-scheme:dark){text{fill:#dfe3e8}.s{fill:#9aa1ad}.g{stroke:#2b2f37}.o{fill:#3fc6b2}.p{fill:#555c68}.t{stroke:#ff8163}}</style>',
         f'<rect class="o" x="{left}" y="14" width="13" height="13" rx="3"/><text x="{left + 20}" y="25">Tutti</text>',
         f'<rect class="p" x="{left + 80}" y="14" width="13" height="13" rx="3"/><text x="{left + 100}" y="25">best peer</text>',
         f'<path class="t" d="M{left + 190} 13v15"/><text x="{left + 200}" y="25">goal</text>',
         f'<text class="s" x="{left + width}" y="25" text-anchor="end">share of the machine\'s limit</text>']
    for k in range(0, 101, 20):
        s.append(f'<path class="g" d="M{x(k / 100)} {top - 16}V{height - 28}"/><text class="s" x="{x(k / 100)}" y="{height - 10}" text-anchor="middle">{k} %</text>')
    for i, row in enumerate(rows):
        y, ours, peer = top + step * i, row["contestants"].get("Tutti"), best_peer(row)
        s.append(f'<text x="{left - 12}" y="{y + 19}" text-anchor="end">{escape(row["name"])}</text>')
        for t, css, dy in ((ours, "o", 0), (peer[1] if peer else None, "p", 16)):
            if t:
                share = row["limit_ms"] / t["median_ms"]
                s.append(f'<rect class="{css}" x="{left}" y="{y + dy}" width="{x(share) - left:.1f}" height="14" rx="3"/>'
                         f'<text class="s" x="{x(share) + 7:.1f}" y="{y + dy + 11}">{100 * share:.0f}</text>')
        s.append(f'<path class="t" d="M{x(row["goal"]):.1f} {y - 4}v22"/>')
    return "\n".join(s) + "\n</svg>\n"


def write(result: dict, folder: Path) -> Path:
    """Writes <date>-<cpu>.md, .json and .svg; returns the first."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"{result['about']['date']}-{result['about']['slug']}"
    for suffix, text in ((".json", json.dumps(result, indent=1) + "\n"), (".svg", plot(result["workloads"])),
                         (".md", markdown(result) + f"\n![share of the limit]({stem.name}.svg)\n")):
        part = stem.with_name(stem.name + suffix + ".part")
        part.write_text(text)
        part.rename(stem.with_name(stem.name + suffix))
    return stem.with_name(stem.name + ".md")
