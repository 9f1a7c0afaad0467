#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The state of a durable job, killed at every call that writes and on a disk that fails: what was acknowledged is never
done again, what was found is never lost, and a failure ends the run with a line. A program that knows nothing but the
state (tests/fault/job_driver.c) works on a tree of URLs.

SOAK=4h, or any other, tries every call; without it some of them."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, case, check, finish, rows  # noqa: E402
from faults import faulty  # noqa: E402

DRIVER = os.path.abspath(os.path.join(BUILD, "job-driver"))
URLS = 31
STEPS = 10000 if os.environ.get("SOAK") else 5


class Work:
    """All runs on one job, and what they acknowledged."""

    def __init__(self, where):
        self.where, self.done, self.total = where, [], None

    def run(self, rules=""):
        r = faulty(rules, [DRIVER, self.where], cwd=self.where)
        said = [line.split() for line in r.out.splitlines()]
        self.done += [int(n) for word, n in said if word == "done"]
        self.total = next((int(n) for word, n in said if word == "all"), None)
        return r

    def to_the_end(self, what):
        """One run more, without faults, ends all; what was acknowledged before is not done again."""
        r = self.run()
        check(r.code, 0, f"{what}: {r.err}")
        check((self.total, len(self.done) - len(set(self.done))), (URLS, 0), f"{what}: ended, acknowledged twice")


def counts(call):
    with tempfile.TemporaryDirectory() as where:
        r = Work(where).run(f"{call}:COUNT:{where}/*")
        check(r.code, 0, r.err)
        return r.counts.get(call, 0)


def spread(most):
    return sorted({1, 2, most - 1, most, *range(1, most + 1, max(1, most // STEPS))} & set(range(1, most + 1)))


@rows([(call, action) for call in ("write", "fsync", "truncate", "rename", "unlink", "open") for action in ("KILL", "HALFKILL") if action == "KILL" or call == "write"],
      name=" ".join)
def a_job_killed_at_any_call_loses_nothing(call, action):
    most = counts(call)
    for n in spread(most):
        with tempfile.TemporaryDirectory() as where:
            work, rule = Work(where), f"{call}:{action}@{n}:{where}/*"
            first = work.run(rule)
            check(first.code, -9 if first.struck else 0, first.err)
            if first.code == 0:
                continue
            second = work.run(rule)  # the recovery is killed, too
            check(second.code in (-9, 0, 2), True, second.err)
            if second.code != 0:
                work.to_the_end(f"{call}:{action}@{n}")
    check(most > 0 or call == "rename", True)


@rows([("write", "EIO", ""), ("write", "ENOSPC", "+"), ("fsync", "EIO", ""), ("fsync", "EIO", "+"), ("open", "EMFILE", "")], name=" ".join)
def a_failing_disk_ends_the_run_and_the_next_goes_on(call, error, further):
    most = counts(call)
    for n in spread(most):
        with tempfile.TemporaryDirectory() as where:
            work, rule = Work(where), f"{call}:{error}@{n}{further}:{where}/*"
            r = work.run(rule)
            check(r.code in (0, 2, 3), True, f"{rule}: {r.code} {r.err}")
            if r.code == 0:
                check(work.total, URLS, rule)  # SQLite can do without that call
                continue
            check((len(r.err.splitlines()), len(r.err) > len("disk_full: x")), (1, True), f"{rule}: {r.err}")
            work.to_the_end(rule)


@rows([("SHORT",), ("EINTR",)])
def an_interrupted_write_does_no_harm(action):
    for n in spread(counts("write")):
        with tempfile.TemporaryDirectory() as where:
            work = Work(where)
            r = work.run(f"write:{action}@{n}:{where}/*")
            check((r.code, work.total), (0, URLS), f"{action}@{n}: {r.err}")


def flip(path, at, bit):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ (1 << bit)]))


@case
def a_flipped_bit_is_refused_or_does_no_harm():
    with tempfile.TemporaryDirectory() as first:
        before = Work(first)
        r = before.run(f"write:KILL@{counts('write') * 3 // 4}:{first}/*")
        check(r.code, -9, r.err)
        folder = os.path.join(first, "j")
        wrong = []
        for name in sorted(os.listdir(folder)):
            if not name.startswith("job.db"):
                continue
            size = os.path.getsize(os.path.join(folder, name))
            for at in range(7, size, max(1, size // (400 if STEPS > 100 else 20))):
                with tempfile.TemporaryDirectory() as where:
                    shutil.copytree(folder, os.path.join(where, "j"))
                    flip(os.path.join(where, "j", name), at, at % 8)
                    work = Work(where)
                    r = work.run()
                    again = set(work.done) & set(before.done)
                    if r.code == 0 and work.total != URLS or r.code not in (0, 2, 3) or again and name == "job.db":
                        wrong.append(f"{name}, byte {at}: exit {r.code}, {work.total} ended, {len(again)} of them again: {r.err}")
        check(len(wrong), 0, "\n".join(wrong))


finish(at_once=4)
