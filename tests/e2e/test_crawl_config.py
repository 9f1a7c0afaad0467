#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options of a crawl that mean nothing are one line and exit 2, before the first request."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, seine  # noqa: E402
from origin import origin  # noqa: E402

ROWS = [
    # words, what the line names
    (["--exclude", "("], "--exclude '('"),
    (["--include", "a(b"], "--include 'a(b'"),
    (["--exclude", r"(a)\1"], "back-references"),
    (["--exclude", "x", "--exclude", "a{2,1}"], "--exclude 'a{2,1}'"),
    (["--include", "x" * 1025], "longer than 1024 bytes"),
    (["-D", "a..b"], "--domains 'a..b'"),
    (["-D", "https://e.example"], "a URL, not the name of a host"),
    (["-D", "ok.example,e.example:0"], "'e.example:0': not a port"),
    (["-D", "e example"], "--domains 'e example'"),
    (["-l", "-1"], "--depth '-1'"),
    (["--depth", "deep"], "--depth 'deep'"),
    (["--scope", "world"], "--scope 'world'"),
    (["--scope", "domain", "--no-parent"], "--no-parent"),
    (["--sitemap", "maybe"], "--sitemap 'maybe'"),
    (["--robots", "maybe"], "--robots 'maybe'"),
    (["--max-crawl-delay", "soon"], "--max-crawl-delay 'soon'"),
    (["--pattern-budget", "x"], "--pattern-budget 'x'"),
    (["--max-pages-per-host", "x"], "--max-pages-per-host 'x'"),
    (["--accept-type", "html"], "--accept-type"),
]


@case
def a_bad_option_is_one_line_and_nothing_is_sent():
    with origin("--site", "1:5") as o, tempfile.TemporaryDirectory() as where:
        for words, names in ROWS:
            out = os.path.join(where, "x.jsonl")
            r = seine("crawl", o.url("/p/0"), "-o", out, *words)
            lines = r.err.splitlines()
            check((r.code, r.out), (2, ""), str(words) + r.err)
            check(lines[0].startswith("seine: ") and names in lines[0], True, r.err)
            check(len(lines) <= 2 and (len(lines) < 2 or lines[1].startswith("try: ")), True, r.err)
            check(os.path.exists(out), False, str(words))
        check(o.report()["totals"]["requests"], 0)


finish()
