#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `make run` shows: all pages brought home in a few seconds, and the files are there."""
import csv
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, ROOT, case, check, environment, finish, seine  # noqa: E402

DEMO = os.path.join(ROOT, "tools", "demo")
SANITIZED = any(word in os.path.abspath(BUILD) for word in ("asan", "tsan"))


def demo(where, *words):
    env = environment({"PROGRAM": os.path.join(os.path.abspath(BUILD), "seine"), "DEMO": os.path.join(where, "demo")})
    return subprocess.run([DEMO, *words], capture_output=True, stdin=subprocess.DEVNULL, timeout=120, env=env)


@case
def the_demo_brings_everything_home_and_leaves_its_files():
    with tempfile.TemporaryDirectory() as where:
        began = time.monotonic()
        p = demo(where)
        took = time.monotonic() - began
        out, err = p.stdout.decode(), p.stderr.decode()
        check(p.returncode, 0, out + err)
        check(took < (60 if SANITIZED else 12), True, f"{took:.1f} s")
        check("What to try next" in out and "done: 1,000 URLs" in err and "latency" in err, True, out + err)
        check("\x1b" in out + err, False)
        with open(os.path.join(where, "demo", "results.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f]
        with open(os.path.join(where, "demo", "results.csv"), encoding="utf-8") as f:
            check(len(list(csv.DictReader(f))), 1000)
        pages = [x for x in lines if x["type"] == "result"]
        check(len({x["url"] for x in pages}), 1000)
        truth = {x["url"].split("/", 3)[3]: x for x in map(json.loads, seine("chaos", "site", "demo", "--list", "--base", "http://h").out.splitlines())}
        wrong = [x["url"] for x in pages if x["ok"] != (truth[x["url"].split("/", 3)[3]]["error"] in (None, "robots"))]
        check(wrong[:3], [])
        again = demo(where, "--max-pages", "20")  # over its own old files
        check(again.returncode, 0, again.stderr.decode())


@case
def its_options_go_to_fetch_and_a_word_is_a_command():
    with tempfile.TemporaryDirectory() as where:
        p = demo(where, "-q", "--max-pages", "10")
        check((p.returncode, p.stderr), (0, b""))
        check(demo(where, "version").stdout.decode(), seine("version").out)
        check(os.listdir(where), ["demo"])


finish()
