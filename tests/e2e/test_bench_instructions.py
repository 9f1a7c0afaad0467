#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pieces of bench/instructions: its runs, its figures and its bar. The program runs without callgrind here, so that
the test needs no valgrind and runs under sanitizers; a stand-in gives the counts."""
import importlib.util
import os
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
for folder in ("net", "crawl", "instructions"):
    sys.path.insert(0, str(BENCH / folder))
from e2e import BUILD, PROGRAM, case, check, finish, rows  # noqa: E402
import measure  # noqa: E402

measure.BUILT = pathlib.Path(BUILD).resolve() / "peers"
import medians  # noqa: E402
import scenes  # noqa: E402
import valgrind  # noqa: E402

spec = importlib.util.spec_from_file_location("bench_instructions", BENCH / "instructions" / "__main__.py")
bench = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bench)
measure.build()
START, EACH = 1000000, 250  # what the stand-in says of a program: so much to start and end, so much for a page


def counted(words, folder):
    """Runs the program as it is; counts the lines of its records in place of instructions."""
    cost = measure.run(words, folder)
    if cost.code != 0:
        raise valgrind.Failed(measure.why(cost))
    return START + EACH * scenes.count_good(folder / "out.jsonl")


def lines_of(*words, count=counted):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        o = bench.options(["--seine", PROGRAM, "--few", "20", "--many", "60", "--rounds", "1", *words])
        o.folder = pathlib.Path(folder)
        bench.measure(o, lines.append, count)
    return lines, o


@rows([("fetch",), ("crawl",)])
def a_page_more_costs_what_the_large_run_has_more_than_the_small(scene):
    lines, _ = lines_of("--only", scene)
    check([(line["scene"], line["few"], line["many"], line["each"]) for line in lines],
          [(scene, START + 20 * EACH, START + 60 * EACH, float(EACH))])


@case
def two_programs_take_turns_in_each_round():
    lines, o = lines_of("--only", "fetch", "--against", PROGRAM, "--rounds", "2")
    check([(line["round"], line["role"]) for line in lines], [(1, "seine"), (1, "against"), (2, "seine"), (2, "against")])
    check([(f["role"], f["value"]) for f in medians.of(lines, o.scenes)], [("seine", 250.0), ("against", 250.0), ("ratio", 1.0)])


def forgetful(words, folder):
    """Asks for every page and loses the last record."""
    counted(words, folder)
    path = folder / "out.jsonl"
    kept = [line for line in path.read_text().splitlines(True) if '"type":"result"' in line]
    path.write_text("".join(kept[:-1]))
    return START


def idle(words, folder):
    """Asks for nothing and says that all is well."""
    (folder / "out.jsonl").write_text('{"type":"result","outcome":"ok","status":200}\n' * 20)
    return START


def broken(words, folder):
    return counted([pathlib.Path(PROGRAM).resolve(), "fetch", "--no-such-option"], folder)


@rows([
    ("a_record_is_missing", forgetful, "19 good records of 20, the server gave 20 pages and 0 other answers"),
    ("no_page_was_asked_for", idle, "20 good records of 20, the server gave 0 pages and 0 other answers"),
    ("the_program_failed", broken, "exit code 2"),
])
def a_run_without_all_its_pages_has_no_figure(_, count, why):
    lines, o = lines_of("--only", "fetch", count=count)
    check([line["failed"][:len(why)] for line in lines], [why])
    check(list(medians.of(lines, o.scenes)), [])
    check([row.startswith("failed: fetch, seine, round 1: ") for row in bench.table(lines)], [True])


def made(role, *values):
    return [{"type": "run", "scene": "crawl", "role": role, "round": n, "each": value} for n, value in enumerate(values)]


@case
def a_figure_is_the_median_of_its_rounds_with_their_spread():
    figure, = medians.of(made("seine", 1000.0, 990.0, 5000.0), [scenes.SCENES["crawl"]])
    check((figure["name"], figure["value"], figure["spread_percent"], figure["rounds"]), ("instructions per page, crawl", 1000.0, 401.0, 3))


@rows([("just", 10200.0, True), ("just_not", 10201.0, False), ("fewer_is_no_fault", 5000.0, True)])
def the_bar_is_judged_by_medians_at_its_edge(_, ours, ok):
    ratio = list(medians.of(made("seine", ours, 1.0, 99999.0) + made("against", 10000.0, 1.0, 99999.0), [scenes.SCENES["crawl"]]))[-1]
    check((ratio["role"], ratio["value"], ratio["ok"]), ("ratio", round(ours / 10000, 4), ok))


@case
def the_total_of_a_profile_is_read_and_a_profile_without_one_refused():
    check(valgrind.total("version: 1\nevents: Ir\nfn=(1) main\n1 7\n\ntotals: 29372406\n"), 29372406)
    try:
        valgrind.total("version: 1\nevents: Ir\n")
    except valgrind.Failed as e:
        check(str(e), "callgrind wrote no total")
    else:
        check("accepted", "refused")


@rows([("unknown_scene", ["--only", "fish"]), ("nothing_to_divide_by", ["--few", "5", "--many", "5"]), ("no_round", ["--rounds", "0"])])
def options_that_give_no_figure_are_refused(_, words):
    try:
        bench.options(words)
    except SystemExit as e:
        check(str(e).startswith("bench-instructions: --"), True)
    else:
        check("accepted", "refused")


finish()
