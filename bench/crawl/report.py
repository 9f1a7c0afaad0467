# SPDX-License-Identifier: Apache-2.0
"""The part of bench/RESULTS.md about crawls, from the lines of a measurement and nothing else."""
import os
import platform
import subprocess
import time

import figures
from measure import ROOT, median
from results import joined, number, table

TITLE = "Figures of a crawl"


def first_line(words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True).stdout.strip().split("\n")[0]


def machine(o, command):
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    changed = [line for line in subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
               if not line.endswith("bench/RESULTS.md")]
    return {"type": "machine", "cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "files": first_line(["stat", "-f", "-c", "%T", str(o.folder)]).replace("ext2/ext3", "ext4"), "rounds": o.rounds, "command": command,
            "load": round(os.getloadavg()[0], 1), "commit": (first_line(["git", "rev-parse", "--short=12", "HEAD"]) or "unknown") + (" with changes" if changed else "")}


def bars(lines):
    head = ["what", "measured", "bar", "ratio", "verdict"]
    rows = [[f["name"], f"{number(f['value'], 1)} {f['unit']}", f"{f['bar']:,}" if not isinstance(f["bar"], str) else f["bar"], number(f["ratio"], 2),
             "**met**" if f["ok"] else "**missed**"] for f in figures.of(lines)]
    return table(head, rows, text=("what", "measured", "bar", "verdict"))


def beside(lines):
    """One row per program: medians of its rounds, or why there are none."""
    rows, there = [], {}
    for r in lines:
        if r.get("scene") == "peers":
            there.setdefault(r["program"], []).append(r)
    for program, got in there.items():
        wrong = next((r.get("why") or r.get("failed") for r in got if r["type"] == "absent" or "failed" in r), None)
        if wrong:
            rows.append([program, wrong, *[""] * 6])
            continue
        rates = [r["per_second"] for r in got]
        rows.append([program, number(median(rates), 0), f"{min(rates):,.0f} – {max(rates):,.0f}", number(median([r["cpu_us"] for r in got]), 1),
                     number(median([r["peak_mb"] for r in got]), 1), number(got[0]["pages"], 0), str(len(got)), got[0]["note"]])
    return table(["program", "pages/s", "slowest – fastest", "CPU µs/page", "peak MB", "pages", "runs", "note"], rows)


def grown(lines):
    rows = []
    for urls in sorted({r["urls"] for r in lines if r.get("scene") == "growth"}):
        got = figures.runs(lines, "growth", urls=urls)
        wrong = next((r["failed"] for r in got if "failed" in r), None)
        rows.append([number(urls, 0), wrong, "", "", str(len(got))] if wrong else
                    [number(urls, 0), *(number(median([r[m] for r in got]), 1) for m in ("cpu_us", "per_second", "peak_mb")), str(len(got))])
    return table(["URLs", "CPU µs/page", "pages/s", "peak MB", "runs"], rows)


def commands(lines):
    seen = {}
    for r in lines:
        if r["type"] == "run" and "command" in r:
            seen.setdefault(r["program"], [r["program"], r["version"], f"`{r['command']}`"])
    head = ["program", "version", "command"]
    return table(head, seen.values(), text=head)


def render(lines):
    m = next(line for line in lines if line["type"] == "machine")
    parts = [f"""# {TITLE}

Written by `make bench-crawl` from one measurement, never by hand. What the columns mean:
[docs/internals/bench.md](../docs/internals/bench.md).

| | |
|---|---|
| machine | {m['cpu']}, {m['cpus']} CPUs, Linux {m['kernel']}; pages and records on {m['files']}; load {m['load']} at the start |
| date, commit | {m['date']}, {m['commit']} |
| command | `{m['command']}` |
| rounds | {m['rounds']}, all programs in each; figures are medians |
""", "## Bars of a crawl\n", bars(lines)]
    if any(r.get("scene") == "peers" for r in lines):
        parts += ["## A site of 10 KB pages with 30 links each, 64 in flight\nFiles on nginx, one worker; robots.txt and sitemaps are not asked for.\n", beside(lines)]
    if any(r.get("scene") == "growth" for r in lines):
        parts += ["## What a page costs when many URLs are known\nPages of 2 KB with 10 links, made by `bench/peers/site.c`; CPU of seine alone.\n", grown(lines)]
    return "\n".join([*parts, "## Commands of the crawls\n", commands(lines)])


def write(path, lines):
    """Puts the part into the page; others in it stay."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text(joined(old, render(lines)), encoding="utf-8")
