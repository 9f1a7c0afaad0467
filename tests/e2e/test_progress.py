#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run says of its progress over many seconds: the line every ten of them, the interval of the ETA. The cases run at
the same time."""
import os
import re
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently  # noqa: E402
from origin import origin  # noqa: E402
from terminal import Terminal  # noqa: E402


def holds_the_truth(t, slack):
    """The run took what its ETA said, in four of five drawings; nothing was said in the first 5 s."""
    end = next(at for at, piece in t.pieces if b"done:" in piece)
    seen = held = 0
    for at, piece in t.pieces:
        text = piece.decode(errors="replace")
        check(at < 4.9 and "ETA" in text, False, "nothing is said in the first 5 s")
        for low, high in re.findall(r"ETA (?:(\d+)(?: s)?–|< )(\d+) s", text):
            seen += 1
            held += int(low or 0) - slack <= end - at <= int(high) + slack
    check(seen >= 10, True, str(seen))
    check(held >= 0.8 * seen, True, f"{held} of {seen}")


@case
def a_line_of_progress_names_the_crawl_and_what_limits_it():
    with origin("--site", "7:300") as o:
        p = subprocess.Popen([PROGRAM, "crawl", o.url("/p/0"), "--host-rate", "15/s", "--no-adaptive", "--progress", "line", "-q", "--no-quiet"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        line = ""
        while "progress" not in line and "in flight" not in line and line is not None:
            line = p.stderr.readline().decode()
            if not line:
                break
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=PATIENCE)
        want = r"seine: 127\.0\.0\.1:\d+  [\d,]+/[\d,]+  \d+ %  [\d.]+/s  ok \d+  err 0(  skipped \d+)?  \d+ in flight  (ETA .*|growing, [\d.]+ new per page)  \(limited by --host-rate on 127\.0\.0\.1:?\d*\)\n"
        check(re.fullmatch(want, line) is not None, True, line)


@case
def the_eta_is_an_interval_that_holds_the_truth():
    """A steady run: 12 a second for 10 s."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as where:
            t = Terminal(["fetch", "-r", "12/s", "--mine", "-o", "a.jsonl", *[o.url(f"/ok?n={n}") for n in range(120)]], cwd=where, columns=110)
            check(t.wait(), 0)
            holds_the_truth(t, 0.3)
    patiently(run)


@case
def the_eta_of_a_steady_crawl_holds_the_truth():
    """A site whose pages are all known from its sitemap: 12 a second for some 10 s."""
    def run(_):
        with origin("--site", "7:118:sitemap=on") as o, tempfile.TemporaryDirectory() as where:
            t = Terminal(["crawl", o.url("/p/0"), "--host-rate", "12/s", "--no-adaptive", "-o", "a.jsonl"], cwd=where, columns=120)
            check(t.wait(), 0)
            holds_the_truth(t, 0.5)
    patiently(run)


finish(at_once=3)
