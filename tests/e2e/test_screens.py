#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/user/terminal.md: tools/make-screens draws them, and they show what the program prints today on terminals
of 80 and 140 columns."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, case, check, environment, finish, rows  # noqa: E402
from picture_text import form, lines  # noqa: E402

TOOL = os.path.join(ROOT, "tools", "make-screens")
SHOWN = pathlib.Path(ROOT, "docs", "pictures")
MOST = 16 << 10  # bytes of a picture

loader = importlib.machinery.SourceFileLoader("make_screens", TOOL)
screens = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_screens", loader))
loader.exec_module(screens)
NAMES = [f"{scene.name}-{columns}.svg" for scene in screens.SCENES for columns in screens.WIDTHS]


def steady(path):
    """What stays the same from run to run, in some order: pages come as they come, and what limits a run is the machine's affair."""
    found = [re.sub(r"connections?", "connection", line.replace(" 0 retries,", "")) for line in form(path) if not re.search("limited by|^try: .*--mine", line)]
    return sorted(line for line in found if not re.match("docs.example  0  0", line))  # the row of a host


@case
def the_pictures_show_what_the_program_prints_today():
    with tempfile.TemporaryDirectory() as where:
        p = subprocess.run([TOOL, os.path.join(BUILD, "seine"), where], capture_output=True, timeout=PATIENCE, env=environment())
        check(p.returncode, 0, p.stderr.decode())
        for name in NAMES:
            check(steady(os.path.join(where, name)), steady(SHOWN / name), f"{name}: the program prints something else now, run tools/make-screens")


@rows([(name,) for name in NAMES])
def a_picture_is_small_and_on_its_page(name):
    check((SHOWN / name).stat().st_size <= MOST, True)
    page = pathlib.Path(ROOT, "docs", "user", "terminal.md").read_text(encoding="utf-8")
    check(f"(../pictures/{name})" in page, True)


@rows([
    ("success", ["First steps", "docs.e…/manual/first-steps.html"]),
    ("gone", ["997 ok", "failed: 404", "https://docs.example/list/137.html", "try: check the path of the URL"]),
    ("tls", ["tls_untrusted", "try: --cacert FILE"]),
    ("dns", ["dns_nxdomain", "try: check the host name"]),
    ("dead", ["connect_refused", "try: nothing listens there"]),
    ("robots", ["skipped: robots, robots.txt:2 Disallow", "2 skipped (2 robots)"]),
    ("redirect", ["→", "first-steps.html"]),
    ("interrupt", ["is not finished", "try: the same command again", "stopped by a signal"]),
])
def a_narrow_screen_shows_what_matters(scene, words):
    text = "\n".join(lines(SHOWN / f"{scene}-80.svg"))
    for word in words:
        check(word in text, True, word + " in " + text)


finish()
