#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make run` shows: a whole site in a few seconds, each trouble named, and the files are there. And its picture in README:
tools/make-picture draws it, and it shows what the program prints today."""
import csv
import importlib.machinery
import importlib.util
import itertools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, case, check, environment, finish, rows, seine, until  # noqa: E402
from picture_text import form, lines  # noqa: E402

DEMO = os.path.join(ROOT, "tools", "demo")
TOOL = os.path.join(ROOT, "tools", "make-picture")
SHOWN = pathlib.Path(ROOT, "docs", "pictures")
MOST = 64 << 10  # bytes of a picture

loader = importlib.machinery.SourceFileLoader("make_picture", TOOL)
picture = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_picture", loader))
loader.exec_module(picture)


def demo(where, *words):
    env = environment({"PROGRAM": os.path.join(os.path.abspath(BUILD), "seine"), "DEMO": os.path.join(where, "demo")})
    return subprocess.run([DEMO, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, env=env)


@case
def the_demo_crawls_the_whole_site_and_leaves_its_files():
    with tempfile.TemporaryDirectory() as where:
        p = demo(where)
        out, err = p.stdout.decode(), p.stderr.decode()
        check(p.returncode, 0, out + err)
        check(bool(re.search(r"done: 2,[0-9]+ pages, 2,[0-9]+ ok, 23 http_error \(404\), ", err)) and "latency" in err, True, err)
        for said in ("28 are forbidden by robots.txt", "--pattern-budget 20: pattern /cal/#/#/#, ", "15 stand on the dead host", "0 of the 1,000 pages are missing in the records, 0 are there twice",
                     "What to try next"):
            check(said in out, True, said + out)
        check("\x1b" in out + err, False)
        with open(os.path.join(where, "demo", "pages.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        told = [x for x in lines if x["type"] in ("result", "skip")]
        with open(os.path.join(where, "demo", "pages.csv"), encoding="utf-8") as f:
            check(len(list(csv.DictReader(f))), len(told))
        with open(os.path.join(where, "demo", "report.html"), encoding="utf-8") as f:
            page = json.loads(re.search('<script type="application/json" id="data">(.*?)</script>', f.read(), re.S).group(1))
        check((page["total"], page["exit_code"]), (len(told), lines[-1]["exit_code"]))
        check(len({x["key"] for x in told}), len(told))  # nothing doubled
        by_path = {"/".join(x["url"].split("/")[3:]): x for x in told if "/cal/" not in x["url"]}
        truth = {x["url"].split("/", 3)[3]: x for x in map(json.loads, seine("chaos", "site", "demo", "--list", "--base", "http://h").out.splitlines())}
        check(sorted(by_path), sorted(truth))  # nothing lost, nothing made up
        wrong = [x["url"] for path, x in by_path.items() if (x.get("reason") or x["outcome"]) !=
                 {"disallowed": "robots", "dead": "robots_unreachable", "broken": "http_error"}.get(truth[path]["kind"], "ok")]
        check(wrong[:3], [])
        check(any(x["url"] for x in told if x.get("parent", "").endswith("/sitemap.xml")), True)
        rules = {x["rule"] for x in told if x.get("reason") == "trap"}
        check(rules and all(re.match("--pattern-budget 20: pattern /cal/#/#/#, ((1[89][0-9]|200) of (its|the) last 200 pages|the pages of /)", r) for r in rules), True, str(rules))
        again = demo(where, "--max-pages", "20")  # over its own old files
        check(again.returncode, 0, again.stderr.decode())


@rows([("the run", False)])
def a_demo_that_was_killed_half_way_goes_on_and_is_complete(_, and_site):
    with tempfile.TemporaryDirectory() as where:
        env = environment({"PROGRAM": os.path.join(os.path.abspath(BUILD), "seine"), "DEMO": os.path.join(where, "demo"), "SEINE_DURABILITY": "full"})
        pages = os.path.join(where, "demo", "pages.jsonl")
        p = subprocess.Popen([DEMO], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env, start_new_session=True)
        until(lambda: p.poll() is not None or (os.path.exists(pages) and os.path.getsize(pages) > 400000), "half of the demo")
        check(p.poll(), None, "it ended before it could be killed")
        os.killpg(p.pid, signal.SIGKILL)  # the script and the crawl
        p.wait()
        if and_site:
            with open(os.path.join(where, "demo", "server.pid"), encoding="utf-8") as f:
                os.kill(int(f.read()), signal.SIGKILL)
        again = subprocess.run([DEMO], capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, env=env)
        out, err = again.stdout.decode(), again.stderr.decode()
        check(again.returncode, 0, out + err)
        check("goes on" in err, True, err)
        check("0 of the 1,000 pages are missing in the records, 0 are there twice" in out, True, out)
        check("15 stand on the dead host" in out and "latency" in err, True, out + err)
        with open(pages, encoding="utf-8") as f:
            told = [x for x in map(json.loads, f) if x["type"] in ("result", "skip")]
        check(len({x["key"] for x in told}), len(told))
        with open(os.path.join(where, "demo", "pages.csv"), encoding="utf-8") as f:
            check(len(list(csv.DictReader(f))), len(told))
        check(bool(re.search(r"done: 2,[0-9]+ pages", err)), True, "the closing line is about the whole job: " + err)


@case
def its_options_go_to_crawl_and_a_word_is_a_command():
    with tempfile.TemporaryDirectory() as where:
        p = demo(where, "-q", "--max-pages", "10")
        check((p.returncode, p.stderr), (0, b""))
        check(demo(where, "version").stdout.decode(), seine("version").out)
        check(os.listdir(where), ["demo"])


# The picture


@rows([
    ("words", "ab\r\ncd", ["ab", "cd"]),
    ("a line is written over", "abcd\rxy", ["xycd"]),
    ("the rest of a line is erased", "abcd\r\x1b[Kx", ["x"]),
    ("all below is erased", "ab\r\ncd\x1b[1A\r\x1b[J", [""]),
    ("the bar goes and a line takes its place", "\rone\n\x1b[Ktwo\r\x1b[1A\r\x1b[Jdone\r\n", ["done", ""]),
    ("a long line wraps", "abcdefghij", ["abcdefgh", "ij"]),
    ("and is cut where wrapping is off", "\x1b[?7labcdefghij\x1b[?7h", ["abcdefgh"]),
])
def the_screen_does_what_a_terminal_does(_, text, want):
    check([picture.plain(row) for row in picture.Screen(8).feed(text).rows], want)


@case
def a_cell_keeps_its_colour():
    row = picture.Screen().feed("\x1b[32m━━\x1b[0m\x1b[31m━\x1b[0m x").rows[0]
    drawn = list(picture.draw_row(row, 0))
    check([re.search(r'width="([^"]+)".*class="(\w+)"', part).groups() for part in drawn[:2]], [("16.8", "good"), ("8.4", "bad")])
    check(drawn[2].endswith(">x</text>"), True, drawn[2])


@case
def the_first_moment_is_the_first_bar_past_the_middle():
    pieces = [(0, "$ x\r\n")]
    for at, n in enumerate((20, 61, 90), 1):
        pieces.append((at, f"\r\x1b[K  {n} %  ━━\r\n\x1b[Kok {n}\r\x1b[1A"))
    pieces.append((5, "\r\x1b[Jdone\r\n0 pages are missing\r\nnot drawn\r\n"))
    middle, end, seconds = picture.moments(pieces)
    check([picture.plain(row) for row in middle], ["$ x", "  61 %  ━━", "ok 61"])
    check([picture.plain(row) for row in end], ["done", "0 pages are missing"])
    check(seconds, 3)


@case
def light_and_dark_are_small_and_say_the_same():
    light, dark = SHOWN / "crawl-light.svg", SHOWN / "crawl-dark.svg"
    check(lines(light), lines(dark))
    check(max(light.stat().st_size, dark.stat().st_size) <= MOST, True)
    text = pathlib.Path(ROOT, "README.md").read_text(encoding="utf-8")
    for path in (light, dark):
        check(str(path.relative_to(ROOT)) in text, True, str(path))


@case
def the_picture_shows_what_the_program_prints_today():
    with tempfile.TemporaryDirectory() as where:
        env = environment({"DEMO": os.path.join(where, "demo")})
        p = subprocess.run([TOOL, os.path.abspath(os.path.join(BUILD, "seine")), where], capture_output=True, timeout=PATIENCE, env=env)
        check(p.returncode, 0, p.stderr.decode())
        shown, printed = form(SHOWN / "crawl-light.svg"), form(os.path.join(where, "crawl-light.svg"))
    for was, now in itertools.zip_longest(shown, printed):
        check(was, now, "the program prints something else now, run tools/make-picture")


finish(at_once=4)
