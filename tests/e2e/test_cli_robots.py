#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine robots check: arguments, cases, and the decisions of others.

Those are found through SEINE_VECTORS and are no part of the project. Every row must
agree, but for the two that are Google's own: docs/robots.md.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, case, check, environment, finish, seine, skip  # noqa: E402

VECTORS = os.environ.get("SEINE_VECTORS")
TEXT = "Sitemap: https://e.example/s.xml\nUser-agent: *\nCrawl-delay: 2\nDisallow: /cgi # no\n"


def ask(cases):
    text = "".join(json.dumps(c) + "\n" for c in cases)
    p = subprocess.run([PROGRAM, "robots", "check", "--jsonl"], input=text.encode(), capture_output=True, env=environment())
    check((p.returncode, p.stderr), (0, b""))
    return [json.loads(line) for line in p.stdout.splitlines()]


@case
def a_file_decides_and_says_with_which_line():
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "robots.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TEXT)
        r = seine("robots", "check", "--robots", path, "https://e.example/cgi/x")
        check((r.code, r.err, json.loads(r.out)), (1, "", {
            "url": "https://e.example/cgi/x", "agent": "seine", "allowed": False, "rule": "Disallow: /cgi", "line": 4, "group": "*",
            "state": "parsed", "crawl_delay": 2, "sitemaps": ["https://e.example/s.xml"]}))
        r = seine("robots", "check", "--robots", path, "--agent", "x", "/", "/a")
        check((r.code, [json.loads(line)["allowed"] for line in r.out.splitlines()]), (0, [True, True]))
        for words in (["/"], ["--robots", path], ["--robots", path + "x", "/"], ["--jsonl", "/"], ["--jsonl", "--agent", "x"]):
            r = seine("robots", "check", *words)
            check((r.code, r.out), (2, ""), str(words))


@case
def cases_come_line_by_line():
    out = ask([{"id": 1, "robots": TEXT, "agent": "a", "url": "/cgi"}, {"id": 2, "robots_b64": "", "url": "/"}, {"id": 3, "robots": TEXT},
               {"id": 4, "url": "/"}, {"id": 5, "robots": "", "url": "/", "what": 1}])
    check([o["ok"] for o in out], [True, True, False, False, False])
    check((out[0]["allowed"], out[0]["line"], out[1]["allowed"], out[1]["rule"], out[1]["group"]), (False, 4, True, None, None))
    check([o["id"] for o in out], [1, 2, 3, 4, 5])


def tests():
    @case
    def decisions_of_google_agree():
        bad, n = [], 0
        for name in ("robots_test", "spec_test"):
            with open(os.path.join(VECTORS, "robots-google", name + ".json"), encoding="utf-8") as f:
                rows = json.load(f)["cases"]
            n += len(rows)
            bad += [row["id"] for row, got in zip(rows, ask(rows)) if not got["ok"] or got["allowed"] != row["allowed"]]
        check(bad, ["google/GoogleOnly_IndexHTMLisDirectory/78", "spec/correctness/index-page/37"])
        check(n > 500, True)

    @case
    def decisions_about_the_wild_agree():
        home = os.path.join(VECTORS, "robots-wild")
        with open(os.path.join(home, "consensus.sample.jsonl"), encoding="utf-8") as f:
            rows = [json.loads(line) for line in f]
        out = ask([{"robots_file": os.path.join(home, "files", row["file"]), "agent": row["agent"], "url": row["url"]} for row in rows])
        check([row for row, got in zip(rows, out) if not got["ok"] or got["allowed"] != row["allowed"]], [])
        check(len(rows) > 2000, True)


if VECTORS:
    tests()
else:
    skip("SEINE_VECTORS is not set: recorded decisions are not looked at")
finish()
