#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory is a bound and a brake: large bodies in every output, with many connections and
little memory. Everything that fits alone comes home, once, and the peak keeps to
16 MiB + 4 KiB per connection + --max-memory."""
import contextlib
import csv
import gzip
import http.server
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, needs_plain_memory, patiently, rows  # noqa: E402
from origin import origin, results  # noqa: E402

SIZE, URLS, AT_ONCE, LIMIT = 4_000_000, 24, 24, 32 << 20


class Cost:
    """What a process took. A new process begins with the peak of this one, so nothing large is kept here."""
    def __init__(self, process):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.code, self.peak_kb = process.returncode, usage.ru_maxrss


def fetch(urls, *words, stdout=subprocess.DEVNULL, cwd=None, limit=LIMIT, timeout="10m", at_once=AT_ONCE):
    process = subprocess.Popen([os.path.abspath(PROGRAM), "fetch", "--mine", "-q", "-c", str(at_once), "--max-memory", str(limit), "-t", timeout,
                                "--head-timeout", timeout, "--min-speed", "off", *words, *urls],
                               stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL, env=environment(), cwd=cwd)
    return Cost(process)


def within(cost, limit=LIMIT, at_once=AT_ONCE):
    most_kb = (16 << 10) + 4 * at_once + (limit >> 10)
    needs_plain_memory()
    check(cost.peak_kb <= most_kb, True, f"{cost.peak_kb} KB, of {most_kb}")


OUTPUTS = [
    ("bodies as base64", ("--body", "b64")),
    ("bodies in order", ("--body", "b64", "--ordered")),
    ("bodies one after another", ("--raw",)),
    ("JSON lines", ("--body", "b64", "-o", "out.jsonl")),
    ("JSON lines, packed", ("--body", "b64", "-o", "out.jsonl.zst")),
    ("an archive", ("-o", "out.warc")),
    ("an archive and bodies", ("-o", "out.warc.zst", "-o", "out.jsonl", "--body", "b64")),
    ("CSV and saved bodies", ("-o", "out.csv", "--save", "bodies")),
    ("a database", ("-o", "out.sqlite", "--body", "b64")),
]


@rows(OUTPUTS)
def every_output_keeps_to_the_memory_and_loses_nothing(_, words):
    """In order, one that waits is dropped if for a while nobody is first: a machine with other things to do takes such a while."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as d:
            cost = fetch([o.url(f"/bytes:{SIZE}?n={n}") for n in range(URLS)], *words, cwd=d)
            check((cost.code, o.report()["totals"]["requests"]), (0, URLS))
            return cost
    within(patiently(run))


@rows([("a database",), ("a database in order", "--ordered"), ("a database and lines", "-o", "out.jsonl")])
def a_database_copies_each_row_within_the_memory(_, *words):
    """The copy of a body and the cache of pages take the more, the larger the bodies are."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as d:
            cost = fetch([o.url(f"/bytes:8000000?n={n}") for n in range(16)], "--body", "b64", "-o", "out.sqlite", *words, cwd=d, limit=64 << 20)
            with contextlib.closing(sqlite3.connect(os.path.join(d, "out.sqlite"))) as db:
                sizes = db.execute("SELECT count(*), min(length(body)), max(length(body)) FROM result").fetchone()
            check((cost.code, o.report()["totals"]["requests"], sizes), (0, 16, (16, 8_000_000, 8_000_000)))
            return cost
    within(patiently(run), 64 << 20)


LARGE = [
    ("JSON lines", 20_000_000, ("--body", "b64", "-o", "out.jsonl")),
    ("JSON lines in order", 20_000_000, ("--body", "b64", "--ordered", "-o", "out.jsonl")),
    ("nearly all there is", 33_000_000, ("--raw",)),
    ("an archive", 12_000_000, ("-o", "out.warc")),
    ("a database", 14_000_000, ("--body", "b64", "-o", "out.sqlite")),
    ("a database and packed lines", 11_000_000, ("--body", "b64", "-o", "out.sqlite", "-o", "out.jsonl.zst")),
]


@rows(LARGE)
def responses_of_more_than_half_of_the_memory_come_one_by_one(_, size, words):
    """They are announced, so none of them is dropped for another."""
    with origin() as o, tempfile.TemporaryDirectory() as d:
        cost = fetch([o.url(f"/bytes:{size}?n={n}") for n in range(3)], "--max-body", "100M", "--max-wire", "100M", *words, cwd=d)
        check((cost.code, o.report()["totals"]["requests"]), (0, 3))
        within(cost)


@rows([LARGE[0], LARGE[4], LARGE[5]])
def responses_of_unknown_length_of_more_than_half_of_it_do_too(_, size, words):
    """Those that have begun make room for the first, once: then it is known how large they are."""
    with origin() as o, tempfile.TemporaryDirectory() as d:
        cost = fetch([o.url(f"/chunked/bytes:{size}?n={n}") for n in range(4)], "--max-body", "100M", "--max-wire", "100M", *words, cwd=d)
        check((cost.code, o.report()["totals"]["requests"] <= 3 * 4), (0, True))
        within(cost)


@rows([("announced", "", 4), ("not announced", "chunked/", 3 * 4)])
def responses_larger_than_the_memory_end_within_it(_, how, requests):
    with origin() as o, tempfile.TemporaryDirectory() as d:
        cost = fetch([o.url(f"/{how}bytes:40000000?n={n}") for n in range(4)], "--max-body", "100M", "--max-wire", "100M",
                     "--body", "b64", "-o", "out.jsonl", "-o", "out.sqlite", cwd=d)
        check((cost.code, o.report()["totals"]["requests"] <= requests), (1, True))
        within(cost)


READER = """import sys, time
time.sleep(float(sys.argv[1]))
n = 0
while b := sys.stdin.buffer.read(1 << 20):
    n += b.count(b"\\n")
print(n)"""


@contextlib.contextmanager
def reader(seconds):
    """Begins to read after that time; yields it, whose output is the number of lines."""
    with subprocess.Popen([sys.executable, "-c", READER, str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as p:
        yield p


@case
def a_slow_reader_takes_no_memory_and_costs_no_attempt():
    """While nobody reads the output, connections are not read, and no time limit counts."""
    def run(scale):
        with origin() as o, reader(1.5 * scale) as r:
            cost = fetch([o.url(f"/bytes:{SIZE}?n={n}") for n in range(12)], "--body", "b64", "--retries", "0", stdout=r.stdin, timeout=f"{scale}s")
            r.stdin.close()
            check((cost.code, int(r.stdout.read()), o.report()["totals"]["requests"]), (0, 13, 12))
            return cost
    within(patiently(run))


@case
def many_small_bodies_that_nobody_reads_keep_to_it_too():
    """Records that wait for the output are counted, and memory that was given back is there no more."""
    at_once = 300
    with origin() as o, reader(1.0) as r, tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "urls"), "w") as f:
            f.writelines(o.url(f"/bytes:200000?n={n}") + "\n" for n in range(at_once))
        cost = fetch(["-i", "urls"], "--body", "b64", stdout=r.stdin, cwd=d, at_once=at_once)
        r.stdin.close()
        check((cost.code, int(r.stdout.read())), (0, at_once + 1))
        within(cost, at_once=at_once)


@case
def pages_in_an_archive_give_their_memory_back():
    """Visits that had ended kept the charge for their captures, until no other one could go on."""
    with origin() as o, tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "urls"), "w") as f:
            f.writelines(o.url(f"/bytes:20000?n={n}") + "\n" for n in range(1500))
        cost = fetch(["-i", "urls"], "--max-time", "2m", "-o", "out.warc", cwd=d)
        check((cost.code, o.report()["totals"]["requests"]), (0, 1500))
        within(cost)


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    packed = gzip.compress(os.urandom(1000) * (SIZE // 1000), 1)

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked += 1
        self.send_response(200)
        if self.path.startswith("/gzip"):
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(self.packed)))
            self.end_headers()
            self.wfile.write(self.packed)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for _ in range(SIZE // 10000):
            self.wfile.write(b"2710\r\n" + b"x" * 10000 + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")


@contextlib.contextmanager
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.asked = 0
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@rows([("gzip",), ("chunked",)])
def bodies_of_unknown_length_keep_to_it_too(kind):
    with site() as s, tempfile.TemporaryDirectory() as d:
        cost = fetch([f"http://127.0.0.1:{s.server_port}/{kind}?n={n}" for n in range(16)], "--save", "bodies", "-o", "out.csv", cwd=d)
        with open(os.path.join(d, "out.csv")) as f:
            sizes = {int(row["bytes_body"]) for row in csv.DictReader(f)}
        check((cost.code, s.asked, sizes), (0, 16, {SIZE}))
        within(cost)


@rows([("an archive", "-o", "out.warc"), ("an archive and lines", "-o", "out.warc", "-o", "out.jsonl", "--body", "b64")])
def several_that_cannot_fit_end_one_after_the_other(_, *words):
    """Those that make room for the first keep nothing while they wait: it used to wait for them for ever."""
    with origin() as o, tempfile.TemporaryDirectory() as d:
        cost = fetch([o.url(f"/bytes:20000000?n={n}") for n in range(3)], "--max-body", "100M", "-m", "200s", *words, cwd=d)
        check(cost.code, 1)


@case
def s0_27_what_cannot_fit_even_alone_is_said_so_and_asked_for_once():
    with origin() as o:
        small, large = o.url("/bytes:1000000"), o.url("/bytes:8000000")
        p = subprocess.run([PROGRAM, "fetch", "--mine", "-q", "--body", "b64", "--max-memory", "4M", "--retries", "3", small, large],
                           capture_output=True, env=environment(), timeout=PATIENCE)
        by = {r["url"]: r for r in results(p.stdout.decode())}
        check(by[small]["ok"], True)
        check((by[large]["error"]["kind"], by[large]["attempts"]), ("budget", 0))
        check("memory limit reached" in by[large]["error"]["message"], True)
        check(o.report()["totals"]["requests"], 2)


finish(at_once=2)
