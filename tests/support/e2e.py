# SPDX-License-Identifier: Apache-2.0
"""What whole-program tests share: run the program, count cases, end with the count.

    from e2e import case, check, seine, finish

    @case
    def no_rate_is_offered_to_a_request_larger_than_the_bucket():
        r = seine("limit", "simulate", "--rate", "1/s", "--burst", "2", stdin="0 3")
        check("with --burst 3." in r.out, True)

    finish()

A case that raises has failed; the others go on. Cases wait for conditions, with until();
how long a machine takes is no fact about the program, so deadlines are generous. A case that compares with recorded
answers of other projects is marked @needs_vectors below @case or @rows, and is counted
as skipped where they are not there. The build directory is the first argument, a part
of a case's name the second.
"""
import collections
import concurrent.futures
import functools
import itertools
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import time
import traceback

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/dev"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(BUILD, "seine")
VECTORS = os.environ.get("SEINE_VECTORS")


def sanitizers():
    """What the program was built with, "address,undefined" or "thread"; "": it is as quick and as small as it should be."""
    try:
        with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as f:
            return next((line.strip().partition("=")[2] for line in f if line.startswith("SEINE_SANITIZE:")), "")
    except OSError:
        return ""


SANITIZED = sanitizers()
UNHURRIED = ("-t", "300s", "--head-timeout", "300s") if SANITIZED else ()  # options of a run whose subject is no limit in time
PATIENCE = 1000 if SANITIZED else 240  # seconds after which a test gives up waiting; ctest does so a little later
# ThreadSanitizer writes a file of 512 KiB to TMPDIR as a program starts, and breaks where only a part of it fits. Where there is no
# such directory it does without: for programs that may write little.
TSAN_FILE = 512 << 10 if SANITIZED == "thread" else 0
NO_TSAN_FILE = {"TMPDIR": "/nonexistent"} if TSAN_FILE else {}
SEED = int(os.environ.get("CHECK_SEED", "20261115"))  # of whatever a test leaves to chance
SOAKED = "SOAK" in os.environ  # tools/soak runs this: campaigns have the length that finds what is rare
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would every program that is started here
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it
_cases = []


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


HANDED = set()


def free_port():
    """A port of loopback on which nobody listens, below those that the kernel hands out: no connection of another test takes it meanwhile."""
    while True:
        port = random.randrange(10240, 32768)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in HANDED:
            HANDED.add(port)
            return port


def environment(extra=None):
    """The caller's environment without what would change the output."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("SEINE_") and not k.lower().endswith("_proxy") and k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")}
    env.update({"LC_ALL": "C.UTF-8", "TZ": "UTC", "SEINE_DURABILITY": "none"})  # a test that is about jobs says so
    env["XDG_CONFIG_HOME"] = "/nonexistent"  # the settings of whoever runs the tests do not count
    env.update(extra or {})
    return env


def seine(*words, stdin="", env=None, cwd=None):
    if isinstance(stdin, str):
        stdin = stdin.encode()
    p = subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, env=environment(env), cwd=cwd, timeout=PATIENCE)
    return Result(p.returncode, p.stdout.decode(), p.stderr.decode())


def check(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what + ': ' if what else ''}got {got!r}, want {want!r}")


def until(condition, what="the condition"):
    """Looks again and again until the condition is true, and returns its value."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not come within {PATIENCE} s")
        time.sleep(0.01)
    return value


def taken(process, number):
    """Waits until the process has taken the signal: one that is sent before is the same one."""
    def is_pending():
        try:
            with open(f"/proc/{process.pid}/status", encoding="ascii", errors="replace") as f:
                return any(int(line.split()[1], 16) >> (number - 1) & 1 for line in f if line.startswith(("SigPnd:", "ShdPnd:")))
        except OSError:
            return False  # it has ended
    until(lambda: not is_pending(), f"the end of signal {number}")


def stopping(process):
    """Waits until a run says that it has taken a signal; its standard error is a pipe."""
    def says():
        process.send_signal(signal.SIGUSR1)
        said = process.stderr.readline()
        check(said != b"", True, "it ended before it said that it is stopping")
        return b"stopping" in said
    until(says, "a run that is stopping")


def patiently(run):
    """Calls run(scale) with more and more time until it passes. A machine that has other things to do misses limits that it would
    keep otherwise; what is wrong is wrong at every scale."""
    for scale in (1, 4):
        try:
            return run(scale)
        except AssertionError:
            continue
    return run(16)


def case(fn):
    _cases.append((fn.__name__, fn))
    return fn


def plain(text):
    return str(text).encode("unicode_escape").decode()[:100]


def rows(table, name=lambda row: row[0]):
    """A case per row of the table; the function gets the row's members."""
    def wrap(fn):
        for i, row in enumerate(table):
            _cases.append((f"{fn.__name__}[{plain(name(row))}]", lambda row=row: fn(*row)))
        return fn
    return wrap


class Skip(Exception):
    """Raised in a case that lacks what it needs; its text says what."""


def needs_plain_memory():
    """Called before memory is judged: with sanitizers a process takes several times of what it takes otherwise."""
    if SANITIZED:
        raise Skip("a build with sanitizers says nothing about memory")


def needs_vectors(fn):
    @functools.wraps(fn)
    def checked(*args):
        if not VECTORS:
            raise Skip("SEINE_VECTORS, the folder of conformance vectors, is not set")
        fn(*args)
    return checked


def outcome(fn):
    """How a case ends: "ok", "skipped" and why, or "not ok" and the line that says why."""
    try:
        fn()
        return "ok", ""
    except Skip as why:
        return "skipped", str(why)
    except Exception as e:
        trace = traceback.extract_tb(e.__traceback__)
        where = trace[-2 if isinstance(e, AssertionError) and len(trace) > 1 else -1]
        return "not ok", f"  {os.path.basename(where.filename)}:{where.lineno}: {e}"


def nth(n):
    return outcome(_cases[n][1])


def finish(at_once=1, last=None, apart=False):
    """Runs the cases and prints how each ends, in the order of the file. at_once: how many run at a time, in a file whose
    cases share nothing that one of them changes. apart: in processes of their own, for cases that keep Python itself busy and
    share nothing at all. last: a case that runs when the others have ended."""
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    chosen = [n for n, (name, _) in enumerate(_cases) if wanted in name]
    ends = collections.Counter()
    crew = concurrent.futures.ProcessPoolExecutor(at_once, multiprocessing.get_context("fork")) if apart else concurrent.futures.ThreadPoolExecutor(at_once)
    with crew:
        found = itertools.chain(zip((_cases[n] for n in chosen), crew.map(nth, chosen)), (((f.__name__, f), outcome(f)) for f in [last] if f and not wanted))
        for (name, _), (end, why) in found:
            ends[end] += 1
            if end == "not ok":
                print(why)
            print(f"{end} {name}" + (f": {why}" if end == "skipped" else ""), flush=True)
    print(f"{ends['ok']} passed, {ends['not ok']} failed, {ends['skipped']} skipped")
    sys.exit(1 if ends["not ok"] or not ends["ok"] + ends["skipped"] else 0)
