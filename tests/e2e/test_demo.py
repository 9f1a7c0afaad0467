#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make run` shows: a whole site in a few seconds, each trouble named, and the files are there."""
import csv
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, ROOT, case, check, environment, finish, seine  # noqa: E402

DEMO = os.path.join(ROOT, "tools", "demo")


def demo(where, *words):
    env = environment({"PROGRAM": os.path.join(os.path.abspath(BUILD), "seine"), "DEMO": os.path.join(where, "demo")})
    return subprocess.run([DEMO, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=240, env=env)


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


@case
def its_options_go_to_crawl_and_a_word_is_a_command():
    with tempfile.TemporaryDirectory() as where:
        p = demo(where, "-q", "--max-pages", "10")
        check((p.returncode, p.stderr), (0, b""))
        check(demo(where, "version").stdout.decode(), seine("version").out)
        check(os.listdir(where), ["demo"])


finish(at_once=2)
