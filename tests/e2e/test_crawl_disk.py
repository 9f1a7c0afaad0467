#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""URLs that wait on a disk which fails: damaged, cut, full or gone. The crawl ends with exit 3 and one line, keeps its records,
records what can be read and counts what cannot. Files beside the outputs, too, are missed."""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import Run  # noqa: E402
from e2e import PATIENCE, PROGRAM, TSAN_FILE, case, check, environment, finish, rows, seine, until  # noqa: E402
from faults import fault_environment  # noqa: E402
from pages import pages  # noqa: E402

LISTS, LINKS = 10, 400  # pages with links, and links on each
LONG = "x" * 240  # in every URL: bytes are spilled
PAGES = 1 + LISTS + LISTS * LINKS
SPILL = ("--mine", "--progress", "off", "-c", "8", "--max-memory", "2M", "--sitemap", "off", "-l", "off", "--pattern-budget", "off", "--grace", "2s", "-t", "200s", "--head-timeout", "200s")


class Site:
    """Lists of many links; the pages they lead to wait until `go` is set."""

    def __init__(self):
        self.go = threading.Event()
        self.table = {"/": "".join(f'<a href="/list/{i}">{i}</a>' for i in range(LISTS)), "*": self.page}

    def page(self, path):
        if path.startswith("/list/"):
            return "".join(f'<a href="/{i * 7919 % LINKS:06d}/of{path}/{LONG}.html">{i}</a>' for i in range(LINKS))
        self.go.wait(PATIENCE)
        return "a page"


def spilled(pid, where):
    """The descriptor of the spill file, once bytes are in it; None: not yet."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        name = f"/proc/{pid}/fd/{fd}"
        try:
            if os.readlink(name).startswith(where + "/") and os.stat(name).st_size > 0:
                return name
        except OSError:
            continue
    return None


def threads(pid):
    """State and time of each thread."""
    got = []
    for task in sorted(os.listdir(f"/proc/{pid}/task")):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8", errors="replace") as f:
            words = f.read().rpartition(")")[2].split()
        got.append((words[0], words[11], words[12]))
    return got


def is_idle(pid):
    """All threads sleep, and none has run between two looks: all links are read, which takes as many turns as it takes."""
    before = threads(pid)
    time.sleep(0.1)
    return before == threads(pid) and all(state == "S" for state, *_ in before)


def crawl(site, where, harm=None, words=(), before=(), limit=None):
    """Crawls with its spill file in `where`, and harms that once all links are found."""
    with pages(site.table) as p:
        r = subprocess.Popen([*before, PROGRAM, "crawl", p.base + "/", *SPILL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=environment({"TMPDIR": where}), preexec_fn=limit)
        out = []
        reader = threading.Thread(target=lambda: out.extend(r.communicate(timeout=PATIENCE)), daemon=True)
        reader.start()
        try:
            if harm:
                until(lambda: len(p.asked) >= 1 + LISTS + 8)
                until(lambda: is_idle(r.pid))
                harm(r.pid, until(lambda: spilled(r.pid, where)))
            site.go.set()
            reader.join(PATIENCE)
        finally:
            site.go.set()
            if r.poll() is None:
                r.kill()
                reader.join()
                raise AssertionError("the crawl did not end")
    run = Run(r.returncode, out[0].decode(), out[1].decode(), 0, 0)
    run.lines = [line for line in run.err.splitlines() if line.startswith("seine: ")]
    return run


def flip(pid, name):
    with open(name, "r+b") as f:
        for at in range(0, os.stat(name).st_size, 4096):
            f.seek(at + 100)
            byte = f.read(1)
            f.seek(at + 100)
            f.write(bytes([byte[0] ^ 0x40]))


def cut(pid, name):
    os.truncate(name, os.stat(name).st_size // 2)


def cut_all(pid, name):
    os.truncate(name, 0)


def found(run):
    """How many URLs the pages that came home name."""
    lists = {r["url"]: r["outcome"] for r in run.results if "/list/" in r["url"] and "/of/" not in r["url"]}
    whole = sum(outcome == "ok" for outcome in lists.values())
    part = sum(lists.get(r.get("parent"), "ok") != "ok" for r in run.results)  # the stop came while their list was read
    return 1 + LISTS + LINKS * whole + part


def balance(run, code, word):
    """Exit code, message and figures of a crawl that a disk has ended."""
    s = run.summary
    check((run.code, s["type"], s["stopped_by"], s["exit_code"]), (code, "summary", "disk", code), run.ending())
    check(s["total"], s["ok"] + s["failed"] + s["blocked"] + s["skipped"] + s["pending"], run.ending())
    check((len(run.told) + s["pending"], len(run.doubled)), (found(run), 0), run.ending())
    check((len(run.lines), bool(re.search(word, run.err))), (1, True), run.err)
    check("TMPDIR=" in run.err and "--max-memory" in run.err, True, run.err)


@case
def a_crawl_that_spills_to_tmpdir_loses_nothing():
    seen = []
    with tempfile.TemporaryDirectory() as where:
        run = crawl(Site(), where, harm=lambda pid, name: seen.append(os.readlink(name)))
        check(seen[0].startswith(where + "/"), True, seen[0])
    check((run.code, run.outcomes(), run.summary["pending"], run.err.count("seine:")), (0, {"ok": PAGES}, 0, 0), run.ending())


DAMAGES = [
    ("flipped", flip, "other bytes than were written"),
    ("half of it cut", cut, "bytes are missing"),
    ("all of it cut", cut_all, "bytes are missing"),
]


@rows(DAMAGES)
def a_damaged_spill_file_ends_the_crawl(name, harm, word):
    with tempfile.TemporaryDirectory() as where:
        run = crawl(Site(), where, harm)
        balance(run, 3, word)
        check(where in run.err, True, run.err)
    check(run.summary["pending"] > 100, True, run.ending())
    check(re.search(r"[\d,]+ URLs cannot be read", run.err) is not None, True, run.err)
    check(set(run.outcomes()), {"ok", "canceled"}, run.ending())


@case
def a_disk_that_is_full_ends_the_crawl_and_loses_nothing():
    script = f'mount -t tmpfs -o size={(300 << 10) + TSAN_FILE} tmpfs "$TMPDIR" && exec "$@"'
    with tempfile.TemporaryDirectory() as where:
        run = crawl(Site(), where, before=("unshare", "-rm", "sh", "-c", script, "sh"))
    balance(run, 3, "no space left on device")
    check(run.summary["pending"], 0, run.ending())


@case
def a_limit_of_file_sizes_ends_the_crawl_and_loses_nothing():
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000 + TSAN_FILE, 200_000 + TSAN_FILE))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    with tempfile.TemporaryDirectory() as where:
        run = crawl(Site(), where, limit=limit)
    balance(run, 3, "file too large")
    check(run.summary["pending"], 0, run.ending())


@case
def a_directory_that_is_not_there_ends_the_crawl_and_loses_nothing():
    with tempfile.TemporaryDirectory() as where:
        run = crawl(Site(), where + "/none")
    balance(run, 3, "/none: no such file or directory")
    check(run.summary["pending"], 0, run.ending())


@case
def a_signal_ends_a_crawl_whose_disk_fails():
    site = Site()

    def harm(pid, name):
        cut_all(pid, name)
        os.kill(pid, signal.SIGTERM)

    with tempfile.TemporaryDirectory() as where:
        run = crawl(site, where, harm)
    check(run.code, 3, run.ending())
    check(len(run.told) + run.summary["pending"], found(run), run.ending())


# A rule for the calls on the spill file; the words of the message, or None if the crawl does not mind.
CALLS = [
    ("write:ENOSPC@1", "no space left on device"),
    ("write:EIO@2", "input/output error"),
    ("write:EIO@3+", "input/output error"),
    ("write:EINTR@1", None),
    ("write:SHORT@1", None),
    ("read:EIO@1", "input/output error"),
    ("read:EIO@2+", "input/output error"),
    ("read:EINTR@1", None),
    ("read:SHORT@1", None),
    ("read:SHORT@2+", None),
]


@rows(CALLS)
def a_failing_call_on_the_spill_file_ends_the_crawl(rule, word):
    with tempfile.TemporaryDirectory() as where, tempfile.TemporaryDirectory() as beside:
        log = os.path.join(beside, "log")
        faults = [f"{name}={value}" for name, value in fault_environment(f"{rule}:{where}/*", log).items()]
        run = crawl(Site(), where, before=("env", *faults))
        with open(log, encoding="utf-8") as f:
            check(rule.partition("@")[0].replace(":", " ") in re.sub(r" \d+ ", " ", f.read()), True, "the call has failed")
    if word:
        balance(run, 3, word)
    else:
        check((run.code, run.outcomes(), run.summary["pending"], run.err.count("seine:")), (0, {"ok": PAGES}, 0, 0), run.ending())


@case
def a_log_that_cannot_be_written_is_exit_3():
    with pages({"*": "page"}) as p:
        for log in ("text", "json"):
            r = seine("fetch", "--mine", "-vvv", "--log", log, "--log-file", "/dev/full", p.base + "/")
            check((r.code, bool(re.search(r"seine: --log-file: '/dev/full' did not take \d+ lines?\ntry: another name", r.err))), (3, True), r.err)


@case
def metrics_that_cannot_be_written_at_the_end_are_exit_3():
    site = Site()
    with tempfile.TemporaryDirectory() as where, pages(site.table) as p:
        name = os.path.join(where, "sub", "m.prom")
        os.mkdir(os.path.dirname(name))
        r = subprocess.Popen([PROGRAM, "fetch", "--mine", "--metrics-file", name, p.base + "/page"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment())
        until(lambda: p.asked)
        os.remove(name)
        os.rmdir(os.path.dirname(name))
        site.go.set()
        out, err = r.communicate(timeout=PATIENCE)
    check((r.returncode, b'"ok":true' in out, f"--metrics-file: cannot write '{name}'" in err.decode()), (3, True, True), err.decode())


finish(at_once=3)
