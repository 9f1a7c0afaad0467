#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program takes no more instructions for a request and for a page than bench/INSTRUCTIONS.md allows: callgrind
counts them, no clock is involved. The figures belong to one CPU model; elsewhere the case is skipped."""
import os
import pathlib
import sys
import tempfile
import types

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
for folder in ("net", "crawl", "instructions"):
    sys.path.insert(0, str(BENCH / folder))
from e2e import BUILD, Skip, case, check, finish, rows  # noqa: E402
import measure  # noqa: E402

measure.BUILT = pathlib.Path(BUILD).resolve() / "peers"
import kept  # noqa: E402
import scenes  # noqa: E402
import valgrind  # noqa: E402


def needs_what_was_kept():
    if pathlib.Path(BUILD).resolve().name != "dev":
        raise Skip("instructions are counted with the tests of dev alone")
    if valgrind.missing():
        raise Skip(valgrind.missing())
    if not any(model == kept.cpu() for model, _ in kept.read(kept.PAGE.read_text(encoding="utf-8"))):
        raise Skip(f"bench/INSTRUCTIONS.md has no figures of this CPU ({kept.cpu()})")
    if not kept.PLAIN.exists():
        raise Skip("build/release/seine is not built: make")


@rows([("fetch",), ("crawl",)])
def the_program_is_not_slower_than_was_kept(scene):
    needs_what_was_kept()
    measure.build()
    o = types.SimpleNamespace(few=scenes.FEW, many=scenes.MANY, in_flight=scenes.IN_FLIGHT)
    with tempfile.TemporaryDirectory() as folder:
        now = scenes.each(scenes.SCENES[scene], kept.PLAIN, pathlib.Path(folder), o, valgrind.count)["each"]
    before = kept.read(kept.PAGE.read_text(encoding="utf-8"))[kept.cpu(), scene]
    print(f"     {scene}: {now:,.0f} instructions, {before:,.0f} were kept")
    if kept.is_slower(now, before):
        raise AssertionError(f"{scene}: {now:,.0f} instructions, {now / before - 1:.0%} more than the {before:,.0f} of bench/INSTRUCTIONS.md. "
                             "A change made the program slower; if it has to be, make bench-instructions B=--keep")


@case
def what_is_written_to_the_page_is_read_from_it():
    text = kept.page([("A CPU, family 6 model 1", "fetch", 29876.5, 19000.4), ("A CPU, family 6 model 1", "crawl", 130000, 140000)])
    check(kept.read(text), {("A CPU, family 6 model 1", "fetch"): 29876.0, ("A CPU, family 6 model 1", "crawl"): 130000.0})
    check("20,000 met" in text and "130,000 missed" in text, True)


@case
def figures_of_other_cpus_stay_on_the_page():
    text = kept.page([("Old", "fetch", 3, 2), ("New", "fetch", 5, 4), ("New", "crawl", 7, 6)])
    check(kept.renewed(text, [("New", "fetch", 1, 1)]), [("Old", "fetch", 3.0, 2.0), ("New", "fetch", 1, 1)])


@case
def a_tenth_more_is_a_slow_down():
    check([kept.is_slower(n, 1000) for n in (900, 1000, 1100, 1101)], [False, False, False, True])


@case
def a_cpu_is_its_name_and_model():
    check(kept.cpu("processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Some CPU\n\nprocessor\t: 1\n"), "Some CPU, family 6 model 207")


finish()
