# SPDX-License-Identifier: Apache-2.0
"""bench/INSTRUCTIONS.md: the figures that `make test` holds the program to, and the CPU they were counted on."""
import platform

from measure import ROOT

PAGE = ROOT / "bench" / "INSTRUCTIONS.md"
PLAIN, WHOLE = ROOT / "build" / "release" / "seine", ROOT / "build" / "lto" / "seine"
MORE = 1.10  # so much more than the figure that was kept is a slow-down
BARS = {"fetch": 20000, "crawl": 130000}


def cpu(text=None):
    """The model of the CPU. The C library chooses code by it, so counts of two models differ."""
    if text is None:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            text = f.read()
    said = dict(line.split(":", 1) for line in text.split("\n\n")[0].splitlines() if ":" in line)
    said = {name.strip(): value.strip() for name, value in said.items()}
    if "model name" not in said:
        return platform.machine()
    return f"{said['model name']}, family {said.get('cpu family', '?')} model {said.get('model', '?')}"


def rows_of(text):
    """The rows of the page, as `page` takes them: (CPU, scene, plain, whole)."""
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    rows = [row for row in rows if len(row) == 5 and row[2].replace(",", "").isdigit()]
    return [(row[0], row[1], float(row[2].replace(",", "")), float(row[3].replace(",", ""))) for row in rows]


def read(text):
    """The figures of the page: {(CPU, scene): instructions of the plain program}."""
    return {(name, scene): plain for name, scene, plain, _ in rows_of(text)}


def renewed(text, rows):
    """The rows of the page with those of these CPUs replaced: figures of other CPUs stay."""
    counted = {name for name, *_ in rows}
    return [row for row in rows_of(text) if row[0] not in counted] + rows


def is_slower(now, kept):
    return now > kept * MORE


def page(rows):
    """The page; rows are (CPU, scene, plain, whole)."""
    lines = [f"| {name} | {scene} | {plain:,.0f} | {whole:,.0f} | {BARS[scene]:,} {'met' if whole <= BARS[scene] else 'missed'} |"
             for name, scene, plain, whole in rows]
    return f"""# Instructions of a request and of a page

User instructions, counted by callgrind as `docs/internals/bench.md` says. `make bench-instructions B=--keep` writes
this page. `make test` counts *plain* again, on the CPU model that stands here, and fails when it needs more than
{MORE - 1:.0%} more; on another CPU one line says that it was skipped. *Plain* is `build/release/seine`, which the tests
build; *as a whole* is `build/lto/seine`, which `make install` installs.

| CPU | scene | plain | as a whole | bar |
|---|---|---:|---:|---|
{chr(10).join(lines)}
"""
