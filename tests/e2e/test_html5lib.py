#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real pages beside python3-html5lib: trees, links, titles and texts. `make soak` takes 2,000 pages, `make test` some of them."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, SANITIZED, SOAKED, case, check, finish, rows  # noqa: E402

TOOL = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "compare-html5lib")
FOLDERS = [os.path.join("/usr/share/doc", name) for name in ("cmake-data", "git-doc", "harden-doc", "libxml2", "libxml2-doc")]
MOST = 2000 if SOAKED else 20 if SANITIZED else 50


def compare(program, most):
    return subprocess.run(["/usr/bin/python3", TOOL, program, str(most), *FOLDERS], capture_output=True, text=True, timeout=PATIENCE * (10 if SOAKED else 1))


@case
def pages_give_what_html5lib_finds():
    r = compare(os.path.abspath(PROGRAM), MOST)
    check(r.returncode, 0, r.stdout[-2000:] + r.stderr[-2000:])
    said = re.search(r"^(\d+) pages: (\d+) agree, (\d+) but for what html5lib is known to do, 0 differ$", r.stdout, re.M)
    check((int(said[1]), int(said[2]) + int(said[3])), (MOST, MOST))
    print("     " + said[0])


@rows([("a link", 's/"tag":"a"/"tag":"b"/'), ("a title", 's/"title":"./"title":"/'), ("a text", 's/"text":"[^"][^"]/"text":"/g'), ("a node", r's/<body>\\n/<body>\\n|     <p>\\n/')])
def a_difference_is_seen(_, change):
    """The same with a program that says something else."""
    with tempfile.TemporaryDirectory() as d:
        liar = os.path.join(d, "liar")
        with open(liar, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n'{os.path.abspath(PROGRAM)}' \"$@\" | sed '{change}'\n")
        os.chmod(liar, 0o755)
        r = compare(liar, 3)
        check((r.returncode, "html5lib has" in r.stdout), (1, True), r.stdout[-500:] + r.stderr[-500:])


finish(at_once=2)
