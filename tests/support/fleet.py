# SPDX-License-Identifier: Apache-2.0
"""A fleet on one machine: a private Redis, a generated site, workers that can be killed, and what the site saw.

    with fleet("1:300:hosts=8") as f:
        f.submit("--partitions", "16")
        workers = [f.worker(i) for i in range(3)]
        workers[0].kill()
        f.wait(workers[1:])
        f.judge()
"""
import collections
import contextlib
import itertools
import json
import os
import signal
import subprocess
import tempfile

from e2e import PATIENCE, SANITIZED, PROGRAM, check, environment, seine, until
from origin import origin
from redis_server import redis_server

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
PACE = 0.2  # seconds between two requests to a host
LEASE = "20s" if SANITIZED else "4s"  # a process that stands still for a third of it may send what it has begun
OPTIONS = ("-l", "off", "--scope", "any", "--allow-net", "127.0.0.0/8", "--host-rate", "5/s", "--no-adaptive", "--per-host", "1", "-q")


class Worker:
    def __init__(self, fleet, words):
        self.process = subprocess.Popen([os.path.abspath(PROGRAM), *words], cwd=fleet.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, env=environment())

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        self.said = self.process.communicate(timeout=PATIENCE)[0]
        return self.process.returncode


class Fleet:
    def __init__(self, folder, redis, site, spec, lease):
        self.folder, self.redis, self.site, self.spec, self.lease = folder, redis, site, spec, lease
        self.stores = [f"redis://127.0.0.1:{r.port}/0" for r in redis]
        self.workers = []

    def at_store(self):
        return [word for url in self.stores for word in ("--store", url)]

    def submit(self, *words, job="one"):
        r = seine("crawl", self.site.url("/p/0", "127.1.0.1"), *self.at_store(), "--job", job, "--submit", *OPTIONS, *words)
        check((r.code, r.err), (0, ""))

    def worker(self, *words, job="one"):
        w = Worker(self, ["worker", *self.at_store(), "--job", job, "--lease", self.lease, "--out", os.path.join(self.folder, "segments"), *words])
        self.workers.append(w)
        return w

    def jobs(self, verb, *words):
        return seine("jobs", verb, *words, *self.at_store())

    def about(self, job="one"):
        return json.loads(self.jobs("show", job, "-j").out)

    def until(self, condition, what, job="one"):
        """Waits for something that may come while the job goes on; a job that is finished waits for nothing."""
        until(lambda: condition() or self.about(job)["state"] == "finished", what)

    def until_records(self, n, job="one"):
        self.until(lambda: self.about(job)["records"] >= n, f"{n} records", job)

    def export(self, job="one"):
        r = self.jobs("export", job, os.path.join(self.folder, "segments"))
        check((r.code, r.err), (0, ""))
        return [json.loads(line) for line in r.out.splitlines()]

    def listed(self):
        """What a crawler must find: URL to status."""
        r = seine("chaos", "site", self.spec, "--list", "--base", self.site.url("", "127.1.0.1"))
        rows = [json.loads(line) for line in r.out.splitlines()]
        return {row["url"]: row["status"] for row in rows}

    def judge(self, job="one"):
        """Every URL of the site has one record; the numbers are 1, 2 …"""
        records = [r for r in self.export(job)]
        check(sorted(r["seq"] for r in records), list(range(1, len(records) + 1)))
        found = collections.Counter(r["url"] for r in records if r["type"] == "result")
        check([url for url, n in found.items() if n > 1], [])
        check(set(found), set(self.listed()))
        return records

    def witness(self):
        """No host was asked earlier than its pace allows, whoever asked."""
        at = collections.defaultdict(list)
        for row in self.site.log():
            at[row["host"]].append(row["t_us"])
        early = {host: min(b - a for a, b in itertools.pairwise(sorted(times))) for host, times in at.items() if len(times) > 1}
        check({host: gap for host, gap in early.items() if gap < PACE * 1e6 * 0.95}, {})

    def fetched(self):
        return collections.Counter(row["host"] + row["path"] for row in self.site.log() if row["path"] != "/robots.txt")


@contextlib.contextmanager
def fleet(spec, *settings, lease=LEASE, servers=1):
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        redis = [stack.enter_context(redis_server(*DURABLE, *settings)) for _ in range(servers)]
        site = stack.enter_context(origin("--site", spec))
        f = Fleet(folder, redis, site, spec, lease)
        try:
            yield f
        finally:
            for w in f.workers:
                if w.process.poll() is None:
                    w.kill()
