#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs that nobody reads, and how a run ends all the same: the second signal ends any
state within 100 ms, `--max-time` and `--grace` end a run, and no line is torn that could
be written whole."""
import contextlib
import fcntl
import json
import os
import pty
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, SANITIZED, case, check, environment, finish, rows, taken, until  # noqa: E402
from origin import origin  # noqa: E402
from pages import pages  # noqa: E402

SLOWER = 10 if SANITIZED else 1
AT_ONCE = 0.1 * SLOWER   # seconds after the second signal
CHANCES = 30  # of a machine that has other things to do


def in_time(seconds, run):
    """Runs it until it takes no longer than that, and returns nothing; run() returns how long it took."""
    took = []
    while len(took) < CHANCES:
        took.append(run())
        if took[-1] <= seconds:
            return
    raise AssertionError(f"took {took}")


class Pipe:
    """A small pipe that nobody reads."""
    def __init__(self, size=4096):
        self.out, self.into = os.pipe()
        fcntl.fcntl(self.out, fcntl.F_SETPIPE_SZ, size)

    def waiting(self):
        return struct.unpack("i", fcntl.ioctl(self.out, termios.FIONREAD, b"\0\0\0\0"))[0]

    def is_stuck(self, least=1):
        """So much came, and nothing more for a while."""
        before = self.waiting()
        if before < least:
            return False
        for _ in range(5):
            time.sleep(0.01)
            if self.waiting() != before:
                return False
        return True

    def fill(self):
        os.set_blocking(self.into, False)
        with contextlib.suppress(BlockingIOError):
            while os.write(self.into, b"x"):
                pass
        os.set_blocking(self.into, True)

    def read(self):
        os.close(self.into)
        with os.fdopen(self.out, "rb") as f:
            return f.read()


# The second signal ends the program while threads have ended that nobody has joined yet: for ThreadSanitizer that is a leak, which
# it would write to the output that is blocked.
UNJOINED = {"TSAN_OPTIONS": os.environ.get("TSAN_OPTIONS", "") + ":report_thread_leaks=0"}


class Program:
    def __init__(self, *words, **kw):
        for stream in ("stdin", "stdout", "stderr"):
            kw.setdefault(stream, subprocess.DEVNULL)
        self.process = subprocess.Popen([PROGRAM, *words], env=environment({**UNJOINED, **kw.pop("env", {})}), start_new_session=True, **kw)
        self.timer = threading.Timer(PATIENCE, self.process.kill)
        self.timer.daemon = True  # a case that fails does not wait for it
        self.timer.start()

    def kill(self, number):
        self.process.send_signal(number)

    def kill_twice(self, first, second):
        """Two that come at once are one."""
        self.kill(first)
        taken(self.process, first)
        self.kill(second)

    def is_running(self):
        return self.process.poll() is None

    def code(self):
        """Waits for the end; -9: it did not come."""
        code = self.process.wait()
        self.timer.cancel()
        return code


@contextlib.contextmanager
def deaf_port():
    """A port that takes no connection: its queue is full."""
    with socket.socket() as s, contextlib.ExitStack() as callers:
        s.bind(("127.0.0.1", 0))
        s.listen(0)
        for _ in range(4):
            c = callers.enter_context(socket.socket())
            c.setblocking(False)
            c.connect_ex(s.getsockname())
        yield s.getsockname()[1]


def urls(o, n=60, path="/ok"):
    return [o.url(f"{path}?n={i}") for i in range(n)]


# States. Each starts the program, waits until it is in that state, and yields it.

def in_state(words, stream=None, ready=lambda o: o.report()["totals"]["requests"] >= 1):
    @contextlib.contextmanager
    def state():
        with origin() as o:
            p = Program(*words(o), stdin=stream if stream else subprocess.DEVNULL)
            until(lambda: ready(o))
            yield p
    return state


@contextlib.contextmanager
def waits_for_input():
    p = Program("fetch", "-", stdin=subprocess.PIPE)
    until(lambda: "sn-feed" in threads(p))
    yield p
    p.process.stdin.close()


def threads(p):
    names = []
    with contextlib.suppress(OSError):
        for t in os.listdir(f"/proc/{p.process.pid}/task"):
            with open(f"/proc/{p.process.pid}/task/{t}/comm") as f:
                names.append(f.read().strip())
    return names


@contextlib.contextmanager
def connects():
    with deaf_port() as port:
        p = Program("fetch", "--mine", "--connect-timeout", "10s", f"http://127.0.0.1:{port}/")
        until(lambda: "sn-feed" in threads(p))
        time.sleep(0.05)
        yield p


@contextlib.contextmanager
def looks_up_a_name():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        p = Program("fetch", "--dns", f"127.0.0.1:{s.getsockname()[1]}", "http://silent.example/")
        s.settimeout(PATIENCE)
        s.recvfrom(512)
        yield p


@contextlib.contextmanager
def opens_a_fifo(name="out.jsonl"):
    with tempfile.TemporaryDirectory() as d:
        os.mkfifo(os.path.join(d, name))
        p = Program("fetch", "-o", os.path.join(d, name), "http://127.0.0.1:9/")
        until(lambda: "sn-watchdog" in threads(p))
        time.sleep(0.03)
        check(p.is_running(), True)
        yield p


class Silent:
    """A port that takes connections, reads, and never answers."""
    def __init__(self):
        self.heard = threading.Event()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                s, _ = self.socket.accept()
                threading.Thread(target=self.listen, args=(s,), daemon=True).start()

    def listen(self, s):
        with contextlib.suppress(OSError), s:
            while s.recv(4096):
                self.heard.set()


def unanswered(*words):
    """Something was said to a peer that says nothing; {port} stands for its port."""
    @contextlib.contextmanager
    def state():
        peer = Silent()
        with contextlib.closing(peer.socket):
            p = Program(*[word.replace("{port}", str(peer.port)) for word in words])
            check(peer.heard.wait(PATIENCE), True, "a word of the program")
            yield p
    return state


def held_at(path, *words):
    """A crawl of a site that has all but this, which never comes."""
    @contextlib.contextmanager
    def state():
        asked, over = threading.Event(), threading.Event()

        def hold(_):
            asked.set()
            over.wait(PATIENCE)
            return ""
        with pages({"/": '<a href="/a">a</a>', "/a": "<p>a", path: hold}) as site:
            p = Program("crawl", *(words or ("--host-rate", "off")), site.base + "/")
            check(asked.wait(PATIENCE), True, path)
            yield p
            over.set()
    return state


@contextlib.contextmanager
def waits_as_it_was_told():
    """The server wants to be left alone for a minute."""
    with pages({"*": (429, {"Retry-After": "60"}, "")}) as site:
        p = Program("fetch", "--mine", site.base + "/", stderr=subprocess.PIPE)

        def is_told():
            p.kill(signal.SIGUSR1)
            return b"wait for Retry-After" in p.process.stderr.readline()
        until(lambda: site.asked)
        until(is_told)
        yield p
        p.process.stderr.close()


@contextlib.contextmanager
def waits_for_a_lock():
    """Somebody else writes to the database."""
    with origin() as o, tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "out.sqlite")
        p = Program("fetch", "-q", "--host-rate", "50/s", "--no-adaptive", "-o", path, *urls(o, 600))
        until(lambda: os.path.exists(path) and o.report()["totals"]["requests"] >= 3)
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            before = o.report()["totals"]["requests"]
            until(lambda: o.report()["totals"]["requests"] > before + 5)
            yield p


def blocked_stdout(*words, path="/ok"):
    @contextlib.contextmanager
    def state():
        with origin() as o:
            pipe = Pipe()
            p = Program("fetch", "--mine", "-q", *words, *urls(o, path=path), stdout=pipe.into)
            until(pipe.is_stuck)
            yield p
            pipe.read()
    return state


def blocked_fifo(name, *words, page="/ok", n=60):
    @contextlib.contextmanager
    def state():
        with origin() as o, tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, name)
            os.mkfifo(path)
            reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
            pipe = Pipe()
            os.close(pipe.out)
            pipe.out = reader
            p = Program("fetch", "--mine", "-q", *words, "-o", path, *urls(o, n, path=page))
            until(pipe.is_stuck)
            yield p
            os.close(pipe.into)
            os.close(reader)
    return state


@contextlib.contextmanager
def blocked_log():
    with origin() as o:
        pipe = Pipe()
        p = Program("fetch", "--mine", "-vvv", *urls(o), stderr=pipe.into)
        until(pipe.is_stuck)
        yield p
        pipe.read()


@contextlib.contextmanager
def blocked_closing_lines():
    with origin() as o:
        pipe = Pipe()
        pipe.fill()
        p = Program("fetch", "--mine", o.url("/ok"), stderr=pipe.into)
        until(lambda: o.report()["totals"]["requests"] >= 1)
        until(lambda: "sn-feed" not in threads(p))
        yield p
        pipe.read()


@contextlib.contextmanager
def blocked_summary():
    """All records are written, and there is no room for the last line."""
    with origin() as o:
        pipe = Pipe(8192)
        os.write(pipe.into, b"x" * 4096)
        p = Program("fetch", "--mine", "-q", o.url("/ok"), stdout=pipe.into)
        until(lambda: pipe.waiting() > 4096)
        until(lambda: "sn-feed" not in threads(p))
        yield p
        pipe.read()


@contextlib.contextmanager
def blocked_summary_file():
    with origin() as o, tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "summary.json")
        os.mkfifo(path)
        p = Program("fetch", "--mine", "-q", "--summary", path, o.url("/ok"))
        until(lambda: o.report()["totals"]["requests"] >= 1)
        time.sleep(0.05)
        yield p


@contextlib.contextmanager
def blocked_terminal():
    """A terminal that is stopped, as by ^S, under the table and the bar."""
    with origin() as o:
        master, slave = pty.openpty()
        termios.tcflow(slave, termios.TCOOFF)
        p = Program("fetch", "--mine", *urls(o), stdout=slave, stderr=slave, env={"TERM": "xterm"})
        until(lambda: o.report()["totals"]["requests"] >= 1)
        time.sleep(0.05)
        yield p
        os.close(slave)
        os.close(master)


@contextlib.contextmanager
def blocked_crawl():
    with origin() as o:
        pipe = Pipe()
        p = Program("crawl", "--mine", "-q", o.url("/site:1:200/p/0"), stdout=pipe.into)
        until(pipe.is_stuck)
        yield p
        pipe.read()


STATES = [
    ("opens a FIFO", opens_a_fifo),
    ("opens a FIFO for an archive", lambda: opens_a_fifo("out.warc")),
    ("waits for input", waits_for_input),
    ("looks up a name", looks_up_a_name),
    ("connects", connects),
    ("waits for a head", in_state(lambda o: ["fetch", "--mine", o.url("/delay:20s/ok")])),
    ("shakes hands", unanswered("fetch", "--mine", "https://127.0.0.1:{port}/")),
    ("asks a proxy", unanswered("fetch", "--mine", "--proxy", "http://127.0.0.1:{port}", "https://a.test/")),
    ("waits for a robots.txt", held_at("/robots.txt")),
    ("waits for a sitemap", held_at("/sitemap.xml", "--mine")),
    ("waits for a page of a crawl", held_at("/a", "--mine", "--sitemap", "off")),
    ("waits as it was told", waits_as_it_was_told),
    ("waits for a lock of the database", waits_for_a_lock),
    ("waits for memory", blocked_stdout("--body", "b64", "--max-memory", "4M", path="/bytes:1000000")),
    ("waits for memory, in order", blocked_stdout("--body", "b64", "--max-memory", "4M", "--ordered", path="/bytes:1000000")),
    ("reads a body", in_state(lambda o: ["fetch", "--mine", o.url("/drip:1x100ms:body/bytes:1000")])),
    ("waits for a retry", in_state(lambda o: ["fetch", "--mine", "--backoff", "20s..30s", o.url("/status:503")])),
    ("waits for its turn", in_state(lambda o: ["fetch", "--host-rate", "1/30s", *urls(o, 5)])),
    ("JSON lines to a pipe", blocked_stdout()),
    ("CSV to a pipe", blocked_stdout("--format", "csv")),
    ("rows to a pipe", blocked_stdout("-w", "%{url}\\n" * 20)),
    ("bodies to a pipe", blocked_stdout("--raw")),
    ("bodies in JSON to a pipe", blocked_stdout("--body", "b64")),
    ("gzip to a pipe", blocked_stdout("-o", "jsonl.gz:-")),
    ("JSON lines to a FIFO", blocked_fifo("out.jsonl")),
    ("CSV to a FIFO", blocked_fifo("out.csv")),
    ("an archive to a FIFO", blocked_fifo("out.warc")),
    ("packed lines to a FIFO", blocked_fifo("out.jsonl.gz", "--body", "b64", page="/bytes:9000")),
    ("packed rows to a FIFO", blocked_fifo("out.csv.zst", n=3000)),  # sixty of them fit into it
    ("a packed archive to a FIFO", blocked_fifo("out.warc.gz", page="/bytes:9000")),
    ("the log", blocked_log),
    ("closing lines", blocked_closing_lines),
    ("the summary", blocked_summary),
    ("the file of the summary", blocked_summary_file),
    ("a stopped terminal", blocked_terminal),
    ("a crawl to a pipe", blocked_crawl),
]


def end_twice(state, number):
    """The seconds from the second signal to the end."""
    with state() as p:
        check(p.is_running(), True)
        p.kill_twice(number, number)
        began = time.monotonic()
        check(p.code(), 128 + number)
        return time.monotonic() - began


@rows(STATES)
def the_second_signal_ends_any_state_at_once(_, state):
    in_time(AT_ONCE, lambda: end_twice(state, signal.SIGTERM))


@case
def the_code_is_that_of_the_first_signal():
    with blocked_stdout()() as p:
        p.kill_twice(signal.SIGINT, signal.SIGTERM)
        check(p.code(), 130)


@case
def one_signal_is_enough_before_the_run_has_begun():
    with opens_a_fifo() as p:
        p.kill(signal.SIGINT)
        check(p.code(), 130)


@case
def one_signal_waits_for_a_slow_reader():
    with origin() as o:
        pipe = Pipe()
        p = Program("fetch", "--mine", "-q", "--grace", "10ms", *urls(o), stdout=pipe.into)
        until(pipe.is_stuck)
        p.kill(signal.SIGINT)
        time.sleep(0.2)
        check(p.is_running(), True)
        lines = [json.loads(line) for line in pipe.read().splitlines()]
        check((p.code(), len(lines), lines[-1]["type"]), (130, 61, "summary"))


LIMITED = ("--max-time", "300ms", "--grace", "100ms")


@rows([("JSON lines", ("stdout",), ()), ("the log", ("stderr",), ("-vvv",)), ("both", ("stdout", "stderr"), ("-vvv",))])
def max_time_and_grace_end_a_run_that_nobody_reads(_, streams, words):
    def run():
        pipes = {s: Pipe() for s in streams}
        began = time.monotonic()
        p = Program("fetch", "--mine", *words, *LIMITED, *urls(o), **{s: pipe.into for s, pipe in pipes.items()})
        code, took = p.code(), time.monotonic() - began
        for pipe in pipes.values():
            pipe.read()
        if "stdout" in streams:  # without it every record was written
            check(code, 4)
        return took
    with origin() as o:
        in_time(1.5 * SLOWER, run)


@rows([("out.jsonl",), ("out.warc",)])
def max_time_and_grace_end_a_wait_for_the_reader_of_a_fifo(name):
    def run():
        err = Pipe()
        began = time.monotonic()
        p = Program("fetch", *LIMITED, "-o", os.path.join(d, "new.csv"), "-o", path, "http://127.0.0.1:9/", stderr=err.into)
        code, took = p.code(), time.monotonic() - began
        check((code, sorted(os.listdir(d))), (4, [name]))
        check(f"nobody reads {path}".encode() in err.read(), True)
        return took
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, name)
        os.mkfifo(path)
        in_time(1.5 * SLOWER, run)


@rows([("signals",), ("time",)])
def no_line_of_a_blocked_pipe_is_torn(how):
    with origin() as o:
        pipe = Pipe(16384)
        p = Program("fetch", "--mine", "-q", *(("--max-time", f"{2 * SLOWER}s", "--grace", "100ms") if how == "time" else ()), *urls(o, 300), stdout=pipe.into)
        until(lambda: pipe.is_stuck(8192) or not p.is_running())
        if how == "signals":
            p.kill_twice(signal.SIGTERM, signal.SIGTERM)
        check(p.code(), 143 if how == "signals" else 4)
        out = pipe.read()
        check(out.endswith(b"\n"), True)
        check(len({json.loads(line)["url"] for line in out.splitlines()}) > 2, True)


@case
def no_line_of_a_file_is_torn_by_two_signals():
    with origin() as o, tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "out.jsonl")
        p = Program("fetch", "--mine", "-q", "-o", path, *urls(o, 3000))
        until(lambda: os.path.exists(path) and os.path.getsize(path) > 100000)
        p.kill_twice(signal.SIGTERM, signal.SIGTERM)
        check(p.code() in (143, 0), True)
        with open(path, "rb") as f:
            out = f.read()
        check(out.endswith(b"\n"), True)
        check(all(json.loads(line)["v"] == 1 for line in out.splitlines()), True)


@case
def a_run_in_time_is_written_whole_to_a_slow_reader():
    with origin() as o:
        pipe = Pipe()
        p = Program("fetch", "--mine", "-q", "--max-time", "100s", *urls(o, 100), stdout=pipe.into)
        until(pipe.is_stuck)
        lines = pipe.read().splitlines()
        check((p.code(), len(lines)), (0, 101))


@case
def a_signal_ends_a_sitemap_that_nobody_reads():
    with origin() as o:
        pipe = Pipe()
        p = Program("sitemap", o.url("/site:1:2000:sitemap=on/sitemap.xml"), stdout=pipe.into)
        until(pipe.is_stuck)
        p.kill(signal.SIGTERM)
        check(p.code(), 143)
        pipe.read()


finish(at_once=4)
