# SPDX-License-Identifier: Apache-2.0
"""bench/net: seine beside its peers, and its own promises, on this machine. `make bench-net`; docs/internals/bench.md.

Every run is a JSON line on standard output and in build/bench-net.jsonl; a whole measurement writes bench/RESULTS.md.
"""
import argparse
import json
import os
import pathlib
import platform
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import bars  # noqa: E402
import compare  # noqa: E402
import results  # noqa: E402
from clients import Seine  # noqa: E402
from measure import ROOT, recorded  # noqa: E402

OUTPUT = ROOT / "build" / "bench-net.jsonl"
BARS = ["half", "dead", "million", "paced", "secure", "sinks"]
SCENES = [scene.name for scene in compare.SCENES]


def options(words):
    p = argparse.ArgumentParser(prog="bench/net", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=5, help="measure everything so often (%(default)s)")
    p.add_argument("--scale", type=float, default=1.0, help="times the usual number of requests; 0.05 is a quick look")
    p.add_argument("--seconds", type=float, default=2.0, help="how long wrk runs (%(default)s)")
    p.add_argument("--only", default="", help=f"some of {','.join(SCENES + BARS)}")
    p.add_argument("--programs", default="", help="some of the programs, by name")
    p.add_argument("--pin", action="store_true", help="clients on the first CPU, servers on the last")
    p.add_argument("--count", action="store_true", help="instructions of a request too, by callgrind")
    p.add_argument("--table", action="store_true", help="the table of issue and README in ten minutes: --pin --count, the peers that matter, printed at the end")
    p.add_argument("--dir", default=tempfile.gettempdir(), help="where records are written during a run (%(default)s)")
    p.add_argument("--results", help="write the page there (bench/RESULTS.md after a whole measurement)")
    p.add_argument("--from", dest="source", help="measure nothing: write the page from these lines")
    o = p.parse_args(words)
    if o.table:
        o.pin = o.count = True
        o.only, o.programs = o.only or "pages,tls,flight-10000", o.programs or "wrk,seine,h2load,wget2,curl,reqwest,go,scrapy"
    return o


def first_line(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip().split("\n")[0]


def file_system(folder):
    return first_line(["stat", "-f", "-c", "%T", str(folder)]).replace("ext2/ext3", "ext4") or "unknown"


def machine(o, words):
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")), platform.machine())
    # What a measurement writes itself does not make its source another one.
    changed = [line for line in subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()
               if not line.endswith("bench/RESULTS.md")]
    words = [word for word in words if "/" not in word and word not in ("--results", "--dir")]
    given = f" B='{shlex.join(words)}'" if words else ""
    return {"type": "machine", "cpu": model, "cpus": os.cpu_count(), "kernel": platform.release(), "files": file_system(o.dir),
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "commit": (first_line(["git", "rev-parse", "--short=12", "HEAD"]) or "unknown") + (" with changes" if changed else ""),
            "command": f"make bench-net{given}", "rounds": o.rounds, "load": round(os.getloadavg()[0], 1), "pinned": "clients to the first CPU, servers to the last" if o.pin else "nothing"}


def settings(o, folder):
    wanted = [w for w in o.only.split(",") if w] or SCENES + BARS
    for word in wanted:
        if word not in SCENES + BARS:
            raise SystemExit(f"bench-net: --only '{word}': one of {', '.join(SCENES + BARS)}")
    o.clients, o.folder, o.repeats = compare.chosen(o.programs), folder, 0
    o.scenes, o.bars = [s for s in compare.SCENES if s.name in wanted], [b for b in BARS if b in wanted]
    o.client_cpu, o.server_cpu = (0, os.cpu_count() - 1) if o.pin else (None, None)
    return o


def measured(o, words):
    """Measures; the lines, each printed as soon as it is known."""
    with recorded(OUTPUT, o.dir) as (folder, lines, emit):
        s = settings(o, folder)
        emit(machine(o, words))
        for scene in s.scenes:
            compare.compare(scene, s, emit)
        if s.bars and Seine().missing() is None:
            bars.measure(s, emit)
    return lines


def main(words):
    o = options(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as any error: servers end, folders go
    if o.source:
        with open(o.source, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
    else:
        lines = measured(o, words)
    whole = not (o.only or o.programs or o.source or o.scale != 1)
    page = o.results or (whole and ROOT / "bench" / "RESULTS.md")
    if page:
        page = pathlib.Path(page)
        page.write_text(results.joined(page.read_text(encoding="utf-8") if page.exists() else "", results.render(lines)), encoding="utf-8")
        print(f"written: {o.results or 'bench/RESULTS.md'}", file=sys.stderr)
    if o.table:
        print(results.tables(lines))
    for bar in results.bars(lines):
        if o.table and bar.verdict == "not measured":
            continue
        print(f"{bar.verdict.strip('*'):12}  {bar.what}: {bar.wanted}: {bar.measured}", file=sys.stderr)
    return 0


sys.exit(main(sys.argv[1:]))
