# SPDX-License-Identifier: Apache-2.0
"""bench/crawl: whole sites, beside wget2 -r and Scrapy; does a page cost the same at the end; what do URLs that wait hold?
`make bench-crawl`; docs/internals/bench.md.

Every run is a JSON line on standard output and in build/bench-crawl.jsonl, then one per figure with its bar; a whole
measurement writes its part of bench/RESULTS.md.
"""
import argparse
import json
import pathlib
import shlex
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "net"))

import figures  # noqa: E402
import growth  # noqa: E402
import parts  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
from measure import ROOT, recorded  # noqa: E402

OUTPUT = ROOT / "build" / "bench-crawl.jsonl"
PAGE = ROOT / "bench" / "RESULTS.md"
SCENES = {"peers": peers.measure, "growth": growth.measure, "queue": growth.queue, "parts": parts.measure}


def options(words):
    p = argparse.ArgumentParser(prog="bench/crawl", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--rounds", type=int, default=3, help="measure everything so often (%(default)s)")
    p.add_argument("--scale", type=float, default=1.0, help="times the usual number of pages; 0.05 is a quick look")
    p.add_argument("--only", default="", help=f"some of {','.join(SCENES)}")
    p.add_argument("--dir", default=tempfile.gettempdir(), help="where pages and records are written during a run (%(default)s)")
    p.add_argument("--results", help="write the part there (bench/RESULTS.md after a whole measurement)")
    p.add_argument("--from", dest="source", help="measure nothing: write the part from these lines")
    o = p.parse_args(words)
    o.scenes = [w for w in o.only.split(",") if w] or list(SCENES)
    for word in o.scenes:
        if word not in SCENES:
            raise SystemExit(f"bench-crawl: --only '{word}': one of {', '.join(SCENES)}")
    return o


def measured(o, words):
    with recorded(OUTPUT, o.dir) as (o.folder, lines, emit):
        words = [word for word in words if "/" not in word and word not in ("--results", "--dir")]
        emit(report.machine(o, "make bench-crawl" + (f" B='{shlex.join(words)}'" if words else "")))
        for name in o.scenes:
            SCENES[name](o, emit)
        for figure in figures.of(lines):
            emit({"type": "figure", **figure})
    return lines


def main(words):
    o = options(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as any error: servers end, folders go
    if o.source:
        with open(o.source, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
    else:
        lines = measured(o, words)
    if o.results or not (o.only or o.source or o.scale != 1):
        report.write(pathlib.Path(o.results or PAGE), lines)
        print(f"written: {o.results or 'bench/RESULTS.md'}", file=sys.stderr)
    for f in figures.of(lines):
        verdict = {True: "met", False: "missed", None: ""}[f.get("ok")]
        print(f"{verdict:7} {f['name']}: {f['value']:,} {f['unit']}" + (f" (bar {f['bar']})" if "bar" in f else ""), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
