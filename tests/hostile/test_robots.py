#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""robots.txt that is made to be slow or to be large: the shard that obeys it goes on, and ends when it is told to."""
import json
import os
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import QUICK, balanced, crawl  # noqa: E402
from e2e import PATIENCE, PROGRAM, SANITIZED, case, check, environment, finish, rows  # noqa: E402
from hostile import attack  # noqa: E402
from pages import pages  # noqa: E402

TEXT = {"Content-Type": "text/plain"}
SLOW = "user-agent:*\n" + "disallow:*aaaab\n" * 32000  # each rule passes over all of a URL
LONG = ["/" + "a" * 8000 + str(i) for i in range(40)]
WORDS = (*QUICK, "--sitemap", "off")


def site(robots, links, **more):
    return {"/robots.txt": (200, TEXT, robots), "/": "".join(f'<a href="{link}">x</a>' for link in links), "*": "page", **more}


@rows([
    ("stars", "allow:" + "*" * 30 + "b\n"),
    ("stars with letters", "allow:" + "*a" * 10 + "*b\n"),
    ("short rules", "allow:/x\n"),
    ("agents", "user-agent:x\nallow:/\n"),
    ("agents of one group", "user-agent:x\n"),
    ("delays", "crawl-delay:1\n"),
    ("escapes", "allow:" + "%41" * 20 + "\n"),
    ("letters above ASCII", "allow:" + "\u00e9" * 40 + "\n"),
    ("one line", "a"),
    ("NUL bytes", "\0"),
    ("line ends", "\r"),
    ("sitemaps", "sitemap:x\n"),
])
def half_a_megabyte_of_anything_is_read_in_its_memory_and_time(_, line):
    text = "user-agent:*\n" + line * (600000 // len(line)) + "\nuser-agent: *\ndisallow: /\n"
    r = attack("robots", "check", "--robots", "-", "--agent", "seine", "/" + "a" * 8000, "/robots.txt", stdin=text)
    got = [json.loads(one) for one in r.out.splitlines()]
    check((len(got), got[1]["allowed"], r.peak < 64 << 20 or bool(SANITIZED)), (2, True, True), f"{r.peak >> 20} MB {r.err[-200:]}")


@case
def rules_that_pass_over_long_urls_refuse_them_and_say_so():
    with pages(site(SLOW, LONG)) as p:
        run = crawl(p.base + "/", *WORDS, timeout=PATIENCE)
        check(sorted(p.asked), ["/", "/robots.txt"])
    check((run.code, balanced(run), run.reasons()), (0, [], {"robots": 40}), run.ending())
    check({r["rule"] for r in run.skips}, {"robots.txt: its rules take more than 1000000 steps"})


@case
def a_crawl_that_judges_slow_rules_ends_at_its_time():
    """4,000 links of 3 KB are 20 s of steps; --max-time and a signal end them all the same."""
    links = ["/" + "a" * 3000 + str(i) for i in range(4000)]
    with pages(site(SLOW, links)) as p:
        run = crawl(p.base + "/", *WORDS, "--max-body", "100M", "--max-wire", "100M", "--max-time", "1s", "--grace", "60s", timeout=PATIENCE)
        check((run.code in (3, 4, 5, 130), run.summary["stopped_by"]), (True, "max_time"), run.ending())
        check((balanced(run), run.outcomes().get("canceled", 0) > 0), ([], True), "not all of them were judged in one turn")


def ends(process):
    """Seconds from the signal to the end."""
    hangs = threading.Timer(PATIENCE, process.kill)
    hangs.start()
    process.send_signal(signal.SIGTERM)
    start = time.monotonic()
    process.wait()
    hangs.cancel()
    return time.monotonic() - start


@case
def a_signal_ends_a_crawl_that_judges_slow_rules():
    links = ["/" + "a" * 3000 + str(i) for i in range(4000)]
    with pages(site(SLOW, links)) as p:
        words = [p.base + "/", *WORDS, "--max-body", "100M", "--max-wire", "100M", "--grace", "100ms", "--progress", "off", "--fail-on", "none"]
        with subprocess.Popen([PROGRAM, "crawl", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()) as process:
            first = json.loads(process.stdout.readline())
            check(first["type"], "skip", first.get("url", "")[:80])
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            check(ends(process) < PATIENCE, True)
            check(process.returncode, 128 + signal.SIGTERM)
            reader.join()


@case
def a_signal_ends_a_crawl_whose_patterns_are_slow():
    """2,000 links of 8 KB, on each of which three patterns of the user take 10 ms: they are read in slices of a turn."""
    links = ["/a" + ("/" * 64 + "x") * 120 + f"y{'z' * (i % 7)}/{i}" for i in range(2000)]
    patterns = [word for i in range(3) for word in ("--exclude", rf"/.*x.*y[{i}-9]")]
    with pages(site("", links)) as p:
        words = [p.base + "/", *WORDS, *patterns, "--max-body", "100M", "--max-wire", "100M", "--grace", "100ms", "--progress", "off", "--fail-on", "none"]
        with subprocess.Popen([PROGRAM, "crawl", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()) as process:
            got = [json.loads(process.stdout.readline())]
            check((got[0]["type"], got[0]["reason"]), ("skip", "pattern"), got[0].get("url", "")[:80])
            reader = threading.Thread(target=lambda: got.extend(map(json.loads, process.stdout)), daemon=True)
            reader.start()
            check(ends(process) < PATIENCE, True)
            check(process.returncode, 128 + signal.SIGTERM)
            reader.join()
    check([r["outcome"] for r in got if r["type"] == "result"], ["canceled"], "not all links were judged in one turn")


finish()
