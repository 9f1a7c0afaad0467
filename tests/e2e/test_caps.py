#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits that keep something out say so: on standard error, in the summary, with the option to type; and in the exit code
where the user has not set them."""
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import Run, crawl  # noqa: E402
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from pages import pages  # noqa: E402

WORDS = ("--mine", "--sitemap", "off", "-l", "1")


def links(n, path="/p/"):
    return "".join(f"<a href={path}{i}>" for i in range(n))


def said(run):
    return [line for line in run.err.splitlines() if line.startswith(("seine: ", "try: "))]


def balanced(run):
    s = run.summary
    check(s["total"], s["ok"] + s["failed"] + s["blocked"] + s["skipped"] + s["pending"], run.ending())


@case
def links_beyond_the_limit_of_a_page_are_counted_and_said():
    with pages({"/": links(60), "*": "page"}) as p:
        run = crawl(p.base + "/", *WORDS)
        check((run.code, len(run.told), run.summary.get("limits", {})), (0, 61, {}), run.ending())
        typed = crawl(p.base + "/", *WORDS, "--max-links", "50")
    check((typed.code, len(typed.told), typed.summary.get("limits", {})), (0, 51, {"max_links": 10}), typed.ending())
    check(["links_capped" in r.get("notes", []) for r in typed.told if r["url"] == p.base + "/"], [True], typed.ending())
    check(said(typed)[0], "seine: pages have more links than --max-links 50: 10 URLs were not looked at; try: a larger --max-links")


@case
def a_limit_that_nobody_set_makes_exit_4():
    with pages({"/": links(50_003, "/"), "*": (404, {}, "")}) as p:
        run = crawl(p.base + "/", "--mine", "--sitemap", "off", "-q", "-l", "0")
    check((run.code, run.summary["exit_code"], run.summary.get("limits", {})), (4, 4, {"max_links": 3}), run.ending())
    check(said(run), ["seine: pages have more links than --max-links 50,000: 3 URLs were not looked at", "try: a larger --max-links"])


@case
def a_sitemap_that_is_too_long_is_said():
    urls = "".join(f"<url><loc>/s/{i}</loc></url>" for i in range(30))
    table = {"/": "home", "/sitemap.xml": (200, {"Content-Type": "application/xml"}, f"<urlset>{urls}</urlset>"), "*": "page"}
    with pages(table) as p:
        table["/sitemap.xml"] = (200, {"Content-Type": "application/xml"}, f"<urlset>{urls}</urlset>".replace("/s/", p.base + "/s/"))
        run = crawl(p.base + "/", "--mine", "-l", "1", "--max-links", "20")
    check((run.code, run.summary.get("limits", {}), len(run.told)), (4, {"sitemaps": 1}, 21), run.ending())
    check("sitemaps not read to their end, since they are too long, too many or nested too deep: 1" in run.err and "try: a larger --max-links" in run.err, True, run.err)


@case
def bodies_larger_than_the_default_are_said_and_make_exit_4():
    big = (200, {"Content-Encoding": "gzip"}, gzip.compress(os.urandom(1 << 20) * 17, 1))
    with pages({"/": '<a href="/big">', "/big": big}) as p:
        run = crawl(p.base + "/", *WORDS)
        typed = crawl(p.base + "/", *WORDS, "--max-body", "1M")
    check((run.code, run.summary.get("limits", {})), (4, {"max_body": 1}), run.ending())
    check("1 URL was not taken, larger than --max-body" in run.err and "try: a larger --max-body or --max-wire" in run.err, True, run.err)
    check((typed.code, typed.summary.get("limits", {})), (0, {"max_body": 1}), typed.ending())


@rows([(1,), (8,), (64,)], name=lambda row: f"{row[0]} connections")
def max_bytes_holds_within_a_body_per_connection(n):
    body = 100_000
    with pages({"/": links(400), "*": (200, {}, b"x" * body)}) as p:
        run = crawl(p.base + "/", *WORDS, "-c", str(n), "--max-bytes", "2M")
    most = (2 << 20) + n * body
    check((run.code, (2 << 20) <= run.summary["bytes_body"] <= most), (0, True), f"{run.summary['bytes_body']} {most}")
    left = run.summary.get("limits", {})["max_bytes"]
    check((left, len(run.told)), (run.summary["skips"]["budget"], 401), run.ending())
    check(said(run)[0], f"seine: --max-bytes 2.0 MB is used up: {left} URLs were not fetched; try: a larger --max-bytes")


@case
def pages_that_are_not_fetched_for_a_limit_are_said():
    with pages({"/": links(20), "*": "page"}) as p:
        run = crawl(p.base + "/", *WORDS, "-n", "5")
        host = crawl(p.base + "/", *WORDS, "--max-pages-per-host", "7")
    check((run.code, run.summary.get("limits", {}), "try: a larger --max-pages" in run.err), (0, {"max_pages": 16}, True), run.ending())
    check((host.code, host.summary.get("limits", {})), (0, {"max_pages_per_host": 14}), host.ending())


@case
def urls_that_memory_is_too_small_for_are_said():
    with pages({"/big": b"x" * 3_000_000, "*": "page"}) as p:
        r = seine("fetch", "--mine", "--max-memory", "2M", "--retries", "0", "--body", "b64", p.base + "/big", p.base + "/a")
    s = json.loads(r.out.splitlines()[-1])
    check((r.code, s["ok"], s.get("limits")), (1, 1, {"max_memory": 1}), r.err)
    check("seine: --max-memory 2.0 MB is reached: 1 URL was given up; try: a larger --max-memory" in r.err, True, r.err)


class Slow:
    """Answers `first` pages; the others wait until the end."""

    def __init__(self, first):
        self.left, self.go, self.waits = first, threading.Event(), threading.Event()

    def page(self, path):
        self.left -= 1
        if self.left < 0:
            self.waits.set()
            self.go.wait(PATIENCE)
        return "page"


def stopped(words, first, stdin=None, stop=signal.SIGTERM):
    """Fetches until a page waits, then stops the run."""
    site = Slow(first)
    with pages({"*": site.page}) as p:
        words = [w.replace("BASE", p.base) for w in words]
        r = subprocess.Popen([PROGRAM, "fetch", "--mine", "-c", "1", "--queue", "1", "--grace", "0s", *words], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, stdin=subprocess.PIPE, env=environment())
        if stdin:
            r.stdin.write(stdin.replace("BASE", p.base).encode())
            r.stdin.flush()
        site.waits.wait(PATIENCE)
        r.send_signal(stop)
        out, err = r.stdout.read(), r.stderr.read()  # its standard input stays open
        r.wait(PATIENCE)
        site.go.set()
        r.stdin.close()
    return Run(r.returncode, out.decode(), err.decode(), 0, 0)


def a_list(n, base):
    return "".join(f"{base}/{i}\n" for i in range(n))


@case
def input_that_was_not_read_is_pending_and_where_it_begins_is_said():
    with tempfile.TemporaryDirectory() as where:
        for first in (0, 3, 40):
            site = Slow(first)
            with pages({"*": site.page}) as p:
                name = os.path.join(where, "urls.txt")
                with open(name, "w", encoding="ascii") as f:
                    f.write("# a comment\n" + a_list(1000, p.base))
                r = subprocess.Popen([PROGRAM, "fetch", "--mine", "-c", "1", "--queue", "1", "--grace", "0s", "-i", name],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
                site.waits.wait(PATIENCE)
                r.send_signal(signal.SIGTERM)
                out, err = r.communicate(timeout=PATIENCE)
                site.go.set()
            run = Run(r.returncode, out.decode(), err.decode(), 0, 0)
            balanced(run)
            pending, line = run.summary["pending"], run.summary["stopped_at"]["line"]
            check((run.code, run.summary["total"], run.summary["stopped_at"]["input"]), (143, 1000, name), run.ending())
            check((len(run.told) + pending, line), (1000, 1001 - pending), run.ending())
            check(f"seine: reading stopped at line {line:,} of {name}: {pending:,} URLs were not read" in run.err, True, run.err)
            check(f"try: tail -n +{line + 1} {name} | seine fetch -" in run.err, True, run.err)


@case
def an_output_that_fails_sends_nobody_behind_lines_without_a_record():
    with tempfile.TemporaryDirectory() as where, pages({"*": "page"}) as p:
        name = os.path.join(where, "urls.txt")
        with open(name, "w", encoding="ascii") as f:
            f.write(a_list(20000, p.base))
        with open("/dev/full", "wb") as full:
            r = subprocess.run([PROGRAM, "fetch", "--mine", "--queue", "100", "-i", name], stdout=full, stderr=subprocess.PIPE, env=environment(), timeout=PATIENCE)
        err = r.stderr.decode()
        check((r.returncode, "reading stopped at line " in err, "tail -n" in err), (3, True, False), err)


@case
def words_that_were_not_given_are_pending():
    run = stopped([f"BASE/{i}" for i in range(50)], 3)
    balanced(run)
    check((run.code, run.summary["total"], run.summary["pending"] > 20), (143, 50, True), run.ending())


@case
def a_pipe_that_was_not_read_to_its_end_is_said():
    run = stopped(["-"], 3, stdin=a_list(40, "BASE"))
    balanced(run)
    check((run.code, run.summary["stopped_at"]["input"]), (143, "-"), run.ending())
    check("reading stopped at line " in run.err and " of standard input" in run.err, True, run.err)


@case
def all_of_the_input_is_no_news():
    with pages({"*": "page"}) as p:
        r = seine("fetch", "--mine", "-", stdin=a_list(20, p.base))
    s = json.loads(r.out.splitlines()[-1])
    check((r.code, s["pending"], "stopped_at" in s, "reading" in r.err), (0, 0, False, False), r.err)


BAD = [
    ("no URL", "BASE/a\nhttp://[bad\n", (), 1),
    ("too long", "BASE/a\nBASE/" + "x" * 9000 + "\n", (), 1),
    ("no JSON", '{"url":"BASE/a"}\n{"url":\n', ("--input-format", "jsonl"), 1),
    ("allowed", "BASE/a\nhttp://[bad\n", ("--fail-on", "none"), 0),
    ("two are too many", "BASE/a\nhttp://[bad\nhttp://[worse\n", ("--fail-on", "2"), 1),
    ("one is not", "BASE/a\nhttp://[bad\n", ("--fail-on", "2"), 0),
    ("half of them", "BASE/a\nhttp://[bad\n", ("--fail-on", "50%"), 1),
    ("less than that", "BASE/a\nBASE/b\nhttp://[bad\n", ("--fail-on", "50%"), 0),
    ("not all of them", "BASE/a\nhttp://[bad\n", ("--fail-on", "all"), 0),
]


@rows(BAD)
def a_bad_line_of_the_input_counts_for_fail_on(name, text, words, code):
    with pages({"*": "page"}) as p:
        r = seine("fetch", "--mine", *words, "-", stdin=text.replace("BASE", p.base))
    check(r.code, code, r.err)


@case
def a_bad_link_of_a_page_does_not():
    with pages({"/": '<a href="http://[bad">'}) as p:
        run = crawl(p.base + "/", *WORDS, "--fail-on", "any")
    check((run.code, run.reasons()), (0, {"bad_url": 1}), run.ending())


@case
def links_of_a_page_that_ends_after_a_stop_have_records():
    go, asked = threading.Event(), threading.Event()

    def late(path):
        asked.set()
        go.wait(PATIENCE)
        return links(500)

    with pages({"/": late, "*": "page"}) as p:
        r = subprocess.Popen([PROGRAM, "crawl", p.base + "/", *WORDS, "--grace", "200s", "-t", "200s", "--head-timeout", "200s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment())
        asked.wait(PATIENCE)
        r.send_signal(signal.SIGTERM)
        line = b""
        while b"stopping" not in line:  # until the signal has been taken
            r.send_signal(signal.SIGUSR1)
            line = r.stderr.readline()
        go.set()
        out, err = r.communicate(timeout=PATIENCE)
    run = Run(r.returncode, out.decode(), err.decode(), 0, 0)
    balanced(run)
    check((run.code, run.outcomes(), p.asked), (143, {"ok": 1, "canceled": 500}, ["/"]), run.ending())


finish(at_once=4)
