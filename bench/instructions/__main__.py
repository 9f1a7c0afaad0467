# SPDX-License-Identifier: Apache-2.0
"""bench/instructions: how many instructions seine executes for a request and for a page, counted by callgrind.
`make bench-instructions`; docs/internals/bench.md.

Every run is a JSON line on standard output and in build/bench-instructions.jsonl, then one per figure; the figures stand
once more, as a table, on standard error.
"""
import argparse
import pathlib
import shlex
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
for neighbour in ("net", "crawl"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / neighbour))

import kept  # noqa: E402
import medians  # noqa: E402
import report  # noqa: E402
import scenes  # noqa: E402
import valgrind  # noqa: E402
from measure import ROOT, SEINE, recorded  # noqa: E402

OUTPUT = ROOT / "build" / "bench-instructions.jsonl"


def options(words):
    p = argparse.ArgumentParser(prog="bench/instructions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seine", type=pathlib.Path, default=SEINE, metavar="PATH", help="the program to count (build/seine)")
    p.add_argument("--against", type=pathlib.Path, metavar="PATH", help="a second program, counted in the same rounds; prints first ÷ second")
    p.add_argument("--rounds", type=int, default=3, help="count everything so often (%(default)s)")
    p.add_argument("--few", type=int, default=scenes.FEW, help="pages of the small run (%(default)s)")
    p.add_argument("--many", type=int, default=scenes.MANY, help="pages of the large run (%(default)s)")
    p.add_argument("--in-flight", type=int, default=scenes.IN_FLIGHT, help="requests at once (%(default)s)")
    p.add_argument("--only", default="", help=f"some of {','.join(scenes.SCENES)}")
    p.add_argument("--keep", action="store_true", help="count build/release/seine and build/lto/seine and write bench/INSTRUCTIONS.md")
    p.add_argument("--dir", default=tempfile.gettempdir(), help="where records are written during a run (%(default)s)")
    o = p.parse_args(words)
    if o.keep:
        o.seine, o.against, o.only = kept.PLAIN, kept.WHOLE, ""
    o.scenes = [w for w in o.only.split(",") if w] or list(scenes.SCENES)
    for word in o.scenes:
        if word not in scenes.SCENES:
            raise SystemExit(f"bench-instructions: --only '{word}': one of {', '.join(scenes.SCENES)}")
    o.scenes = [scenes.SCENES[word] for word in o.scenes]
    if not 0 < o.few < o.many or o.rounds < 1:
        raise SystemExit("bench-instructions: --few must be less than --many, and --rounds at least 1")
    return o


def programs(o):
    """The programs by their role, as absolute paths: each run has a folder of its own."""
    both = {"seine": o.seine, "against": o.against}
    return {role: path.resolve() for role, path in both.items() if path is not None}


def measure(o, emit, count=valgrind.count):
    """All programs in each round, one after the other."""
    for n in range(1, o.rounds + 1):
        for scene in o.scenes:
            for role, program in programs(o).items():
                line = {"type": "run", "scene": scene.name, "role": role, "program": str(program), "round": n, "pages": [o.few, o.many]}
                try:
                    emit({**line, **scenes.each(scene, program, o.folder, o, count)})
                except valgrind.Failed as e:
                    emit({**line, "failed": str(e)})


def measured(o, words):
    with recorded(OUTPUT, o.dir) as (o.folder, lines, emit):
        machine = report.machine(o, "make bench-instructions" + (f" B={shlex.quote(shlex.join(words))}" if words else ""))
        machine["harness"] = machine.pop("commit")  # the commit of this folder; the programs may come from others
        emit(machine)
        measure(o, emit)
        for figure in list(medians.of(lines, o.scenes)):
            emit({"type": "figure", **figure})
    return lines


def table(lines):
    """The figures for people, one row each; what failed comes last."""
    for f in (line for line in lines if line["type"] == "figure"):
        if f["role"] == "ratio":
            yield f"{f['name']:32} {f['role']:8} {f['value']:12.4f}  bar {f['bar']}: {'met' if f['ok'] else 'missed'}"
        else:
            yield f"{f['name']:32} {f['role']:8} {f['value']:12,.1f}  spread {f['spread_percent']:.2f} % of {f['rounds']} rounds"
    for line in lines:
        if "failed" in line:
            yield f"failed: {line['scene']}, {line['role']}, round {line['round']}: {line['failed']}"


def keep(lines, o):
    """Writes the figures of both programs to the page that `make test` reads."""
    value = {(f["name"], f["role"]): f["value"] for f in lines if f["type"] == "figure"}
    named = [(scene.name, f"instructions per {scene.unit}, {scene.name}") for scene in o.scenes]
    rows = [(kept.cpu(), scene, value[name, "seine"], value[name, "against"]) for scene, name in named]
    kept.PAGE.write_text(kept.page(kept.renewed(kept.PAGE.read_text(encoding="utf-8"), rows)), encoding="utf-8")


def main(words):
    o = options(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as any error: servers end, folders go
    reason = valgrind.missing()
    if reason:
        raise SystemExit(f"bench-instructions: {reason}")
    lines = measured(o, words)
    for row in table(lines):
        print(row, file=sys.stderr)
    failed = any("failed" in line for line in lines)
    if o.keep and not failed:
        keep(lines, o)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
