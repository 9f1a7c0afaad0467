#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The picture in README: tools/make-picture draws it, and it shows what the program prints today."""
import importlib.machinery
import importlib.util
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, ROOT, case, check, environment, finish, rows  # noqa: E402

TOOL = os.path.join(ROOT, "tools", "make-picture")
SHOWN = pathlib.Path(ROOT, "docs", "pictures")
MOST = 64 << 10  # bytes of a picture

loader = importlib.machinery.SourceFileLoader("make_picture", TOOL)
picture = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_picture", loader))
loader.exec_module(picture)


def lines(path):
    """The text of a picture, a line per height, in the order of reading."""
    runs = {}
    for text in xml.parse(path).iter("{http://www.w3.org/2000/svg}text"):
        runs.setdefault(float(text.get("y")), []).append((float(text.get("x")), text.text))
    return ["  ".join(words for _, words in sorted(runs[y])) for y in sorted(runs)]


def form(path):
    """The lines without their figures: what stays the same from run to run."""
    found = []
    for line in lines(path):
        line = re.sub(r"\b(ns|us|ms|s)\b", "s", re.sub(r"[0-9][0-9.,:]*", "0", line))
        line = re.sub(r"(pattern /\S+, ).*", r"\1", line)  # whichever verdict came first
        line = re.sub(r"limited by .*", "limited by", line)  # whoever it is
        line = re.sub(r"^(0 %  0/0  0/s).*", r"\1", line)  # whatever is known of the end
        if not re.match(r"0( s)?  0|URLs were|.*brought nothing new$", line):  # the hosts, the histogram, the shares, the rest of a verdict
            found.append(line)
    return found


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
        p = subprocess.run([TOOL, os.path.abspath(os.path.join(BUILD, "seine")), where], capture_output=True, timeout=240, env=env)
        check(p.returncode, 0, p.stderr.decode())
        shown, printed = form(SHOWN / "crawl-light.svg"), form(os.path.join(where, "crawl-light.svg"))
    for was, now in itertools.zip_longest(shown, printed):
        check(was, now, "the program prints something else now, run tools/make-picture")


finish()
