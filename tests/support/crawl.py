# SPDX-License-Identifier: Apache-2.0
"""One crawl: what it recorded, how it ended, what it held in memory.

    run = crawl(o.url("/p/0"), "--scope", "any")
    check(run.code, 0)
    check(run.by_key["http://127.1.0.1:8080/p/1"]["outcome"], "ok")
"""
import collections
import json
import subprocess
import tempfile
import threading
import time

from e2e import PATIENCE, PROGRAM, UNHURRIED, environment

QUICK = ("--host-rate", "off", "--no-adaptive", "--per-host", "64", "--per-ip", "64")  # robots.txt is obeyed all the same
EAGER = ("--backoff", "5ms..20ms", "--retry-budget", "1000%")


class Run:
    """Records by type, by key; `doubled` are keys with more than one."""

    def __init__(self, code, out, err, seconds, peak_mb):
        self.code, self.err, self.seconds, self.peak_mb = code, err, seconds, peak_mb
        self.records = json.loads("[" + ",".join(out.splitlines()) + "]")
        self.told = [r for r in self.records if r["type"] in ("result", "skip")]
        self.results = [r for r in self.told if r["type"] == "result"]
        self.skips = [r for r in self.told if r["type"] == "skip"]
        self.summary = self.records[-1] if self.records else {}
        self.by_key = {r["key"]: r for r in self.told if "key" in r}
        self.doubled = sorted(k for k, n in collections.Counter(r.get("key") for r in self.told).items() if k and n > 1)

    def reasons(self):
        return dict(collections.Counter(r["reason"] for r in self.skips))

    def outcomes(self):
        return dict(collections.Counter(r["outcome"] for r in self.results))

    def ending(self):
        """One line for a message: how it ended."""
        return f"code {self.code}, {self.outcomes()}, {self.reasons()}, {self.seconds:.1f} s, {self.peak_mb:.0f} MB {self.err[-300:]}"


class Peak:
    """The most a process held, looked at a hundred times a second. What the kernel tells its parent includes the parent."""

    def __init__(self, pid):
        self.path, self.kb, self.over = f"/proc/{pid}/status", 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    def look(self):
        while not self.over.wait(0.01):
            try:
                with open(self.path, encoding="ascii", errors="replace") as f:
                    self.kb = max([self.kb, *(int(line.split()[1]) for line in f if line.startswith("VmHWM"))])
            except OSError:
                return

    def end(self):
        self.over.set()
        self.thread.join()
        return self.kb / 1024


def crawl(*words, timeout=PATIENCE, stdin=""):
    with tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as into:
        into.write(stdin.encode())
        into.seek(0)
        start = time.monotonic()
        unhurried = () if {"-t", "--timeout", "--head-timeout"} & set(words) else UNHURRIED
        p = subprocess.Popen([PROGRAM, "crawl", *words, *unhurried, "--format", "jsonl", "--progress", "off", "--fail-on", "none"], stdin=into, stdout=subprocess.PIPE,
                             stderr=err, env=environment())
        late = threading.Timer(timeout, p.kill)
        late.start()
        peak = Peak(p.pid)
        out = p.stdout.read()
        p.wait()
        took = time.monotonic() - start
        late.cancel()
        p.stdout.close()
        err.seek(0)
        said = err.read().decode(errors="replace")
    if p.returncode < 0:
        raise AssertionError(f"crawl ended by signal {-p.returncode} after {took:.1f} s: {said[-500:]}")
    return Run(p.returncode, out.decode(), said, took, peak.end())


def balanced(run):
    """What the summary says of itself, and of the records, is true; or the sums that are not."""
    s = run.summary
    wrong = []
    if s.get("type") != "summary":
        return ["no summary: " + run.ending()]
    if s["total"] != s["ok"] + s["failed"] + s["blocked"] + s["skipped"] + s["pending"]:
        wrong.append(("total", s["total"]))
    if s["total"] != len(run.told) or s["skipped"] != len(run.skips) or s["ok"] != sum(r["outcome"] == "ok" for r in run.results):
        wrong.append(("records", len(run.told), s["total"], s["skipped"], s["ok"]))
    if sum(s.get("skips", {}).values()) != s["skipped"] or s.get("skips", {}) != run.reasons():
        wrong.append(("skips", s.get("skips"), run.reasons()))
    return wrong + ([("doubled", run.doubled[:3])] if run.doubled else [])
