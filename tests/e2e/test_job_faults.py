#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A durable job on a disk that fails, and killed at every call that writes: the run ends in order with exit 3 (2 if
nothing was sent), or is dead; the same command without the fault goes on, and every output has every record once.

SOAK=4h, or any other, tries every call; without it some of them."""
import functools
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, UNHURRIED, case, check, finish, rows, seine  # noqa: E402
from faults import faulty  # noqa: E402
from origin import origin  # noqa: E402
from whole import read_output  # noqa: E402

SITE, PAGES = "5:40:fan=6:broken=5:redir=8", ("--host-rate", "off", "--mine", "--per-host", "4", "-l", "off", "--progress", "off", *UNHURRIED)
FILES = ("x.jsonl", "x.jsonl.gz", "x.csv", "x.sqlite", "x.warc.gz", "bodies")
ALL = bool(os.environ.get("SOAK"))
DURABLE = {"SEINE_DURABILITY": "full"}
STEPS = 400 if ALL else 3  # how many of the calls are tried


def command(base, where):
    outputs = [word for name in FILES[:-1] for word in ("-o", name)]
    return [os.path.abspath(PROGRAM), "crawl", base + "/", *PAGES, "--fail-on", "none", "--job", "j", "--state", os.path.join(where, "state"), *outputs, "--save", "bodies"]


def run(base, where, rules=""):
    if rules:
        return faulty(rules, command(base, where), cwd=where, extra=DURABLE)
    return seine(*command(base, where)[1:], cwd=where, env=DURABLE)


def records(base, where):
    """The URLs of every output that is there, without the origin, which has another port each time."""
    return {name: sorted(u.removeprefix(where).replace(base, "") for u in read_output(os.path.join(where, name))) for name in FILES if os.path.exists(os.path.join(where, name))}


@functools.cache
def truth():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        r = run(o.base, where)
        check(r.code, 0, r.err)
        return records(o.base, where)


def goes_on(base, where, what):
    """The same command ends well, at once or because it had ended before; then all is there once."""
    r = run(base, where)
    check(r.code == 0 or r.code == 2 and "is finished" in r.err, True, f"{what}: exit {r.code}: {r.err}")
    got, want = records(base, where), truth()
    for name in FILES:
        check((len(got.get(name, [])) - len(want[name]), len(got.get(name, [])) - len(set(got.get(name, [])))), (0, 0), f"{what}: {name}: records too many, twice")
        check(got.get(name) == want[name], True, f"{what}: {name} holds other records")


def spread(most):
    """Some of 1 … most: the first two, the last two, and others between."""
    step = max(1, most // STEPS)
    return sorted({1, 2, most - 1, most, *range(1, most + 1, step)} & set(range(1, most + 1)))


@functools.cache
def counts(call):
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        r = run(o.base, where, f"{call}:COUNT:{where}/*")
        check(r.code, 0, r.err)
        return r.counts.get(call, 0)


KILLS = [("write", "KILL"), ("write", "HALFKILL"), ("fsync", "KILL"), ("truncate", "KILL"), ("rename", "KILL"), ("unlink", "KILL"), ("open", "KILL")]


@rows(KILLS, name=lambda row: " ".join(row))
def a_job_killed_at_any_call_goes_on(call, action):
    wrong = []
    with origin("--site", SITE) as o:
        most = counts(call)
        for n in spread(most):
            with tempfile.TemporaryDirectory() as where:
                rule = f"{call}:{action}@{n}:{where}/*"
                r = run(o.base, where, rule)
                again = run(o.base, where, rule) if r.code == -9 else r  # a killed recovery, too
                try:
                    goes_on(o.base, where, f"{call}:{action}@{n} ({r.code}, {again.code})")
                except Exception as e:
                    wrong.append(str(e)[:600])
    check((most > 0, len(wrong)), (True, 0), "\n".join(wrong))


def parts(where):
    return sorted(name for _, _, names in os.walk(os.path.join(where, "bodies")) for name in names if name.startswith("part-"))


@rows([("goes on", []), ("starts over", ["--fresh"])])
def half_a_body_is_removed_by_the_next_run_of_its_job_alone(_, more):
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        os.mkdir(os.path.join(where, "bodies"))
        for number in (1, 3):
            r = run(o.base, where, f"write:HALFKILL@{number}:{where}/bodies/*")
            check((r.code, len(parts(where))), (-9, 1), r.err)
        others = ["part-1-0", "part-0123456789abcdef-1-0"]
        for name in others:
            with open(os.path.join(where, "bodies", name), "wb"):
                pass
        r = seine(*command(o.base, where)[1:], *more, cwd=where, env=DURABLE)
        check((r.code, parts(where)), (0, sorted(others)), r.err)


ERRORS = [("write", "ENOSPC", "+"), ("write", "EIO", ""), ("fsync", "EIO", ""), ("write", "SHORT", ""), ("write", "EINTR", "")]


@rows(ERRORS, name=lambda row: " ".join(row))
def a_job_on_a_failing_disk_ends_and_goes_on(call, error, further):
    wrong = []
    with origin("--site", SITE) as o:
        most = counts(call)
        for n in spread(most):
            with tempfile.TemporaryDirectory() as where:
                r = run(o.base, where, f"{call}:{error}@{n}{further}:{where}/*")
                what = f"{call}:{error}@{n}{further} ({r.code})"
                told = [line for line in r.err.splitlines() if line.startswith("seine: ")]
                try:
                    if error in ("SHORT", "EINTR"):
                        check(r.code, 0, f"{what}: {r.err}")
                    elif r.struck and r.code != 0:  # some calls can be done without
                        check((r.code in (2, 3), len(told) >= 1), (True, True), f"{what}: {r.err}")
                    goes_on(o.base, where, f"{what} {told}")
                except Exception as e:
                    wrong.append(str(e)[:700])
    check((most > 0, len(wrong)), (True, 0), "\n".join(wrong))


@rows([("fsync",), ("rename",)])
def a_state_that_cannot_be_made_is_named_with_its_cause(call):
    told = set()
    with origin() as o:
        for n in range(1, 20):
            with tempfile.TemporaryDirectory() as where:
                words = [os.path.abspath(PROGRAM), "fetch", o.base + "/ok", "--job", "j", "--state", "state"]
                r = faulty(f"{call}:EIO@{n}:{where}/state/*", words, cwd=where, extra=DURABLE)
                first = r.err.splitlines()[0]
                if not r.struck:
                    break
                if r.code != 0 and "done:" not in r.err:  # the run had not begun
                    told.add(first)
                    check(("state/j" in first, "input/output error" in first), (True, True), f"{call} {n}: {r.err}")
                check(seine(*words[1:], cwd=where, env=DURABLE).code in (0, 2), True, "it goes on")
    check("seine: cannot %s state/j/job.db.new: input/output error" % call.replace("fsync", "sync") in told, True, told)


@rows([("with a job", ["--job", "j"], "free some space, then run the same command again"),
       ("without", [], "free some space, then run the same command again with --overwrite, or --append"),
       ("appended", ["--append"], "free some space, then run the same command again")])
def what_to_do_after_a_failed_output_is_said_and_works(_, more, hint):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = [os.path.abspath(PROGRAM), "fetch", *(o.base + f"/ok?{i}" for i in range(20)), "--host-rate", "off", "-o", "x.jsonl", *more]
        r = faulty("write:ENOSPC@1+:x.jsonl", words, cwd=where, extra=DURABLE)
        lines = r.err.splitlines()
        check((r.code, r.struck != [], "try: " + hint in lines), (3, True, True), r.err)
        left = [line for line in lines if "is not finished" in line]
        check(left, ["seine: job 'j' is not finished; try: the same command again"] if "--job" in more else [])
        again = ["--overwrite"] if "--overwrite" in hint else []
        r = seine(*words[1:], *again, cwd=where, env=DURABLE)
        check((r.code, len(read_output(os.path.join(where, "x.jsonl")))), (0, 20), r.err)


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)
        f.seek(at)
        f.write(bytes([byte[0] ^ 0x10]))


@case
def a_flipped_bit_of_the_state_is_refused_or_does_no_harm():
    wrong = []
    with origin("--site", SITE) as o:
        want = truth()
        with tempfile.TemporaryDirectory() as first:
            r = run(o.base, first, f"write:KILL@60:{first}/*")
            check(r.code, -9, r.err)
            folder = os.path.join(first, "state", "j")
            files = [n for n in os.listdir(folder) if n.startswith("job.db")]
            for name in files:
                size = os.path.getsize(os.path.join(folder, name))
                for at in range(100, size, max(4096 if ALL else 16384, 1)):
                    with tempfile.TemporaryDirectory() as where:
                        subprocess.run(["cp", "-a", f"{first}/.", where], check=True)
                        flip(os.path.join(where, "state", "j", name), at)
                        r = run(o.base, where)
                        if r.code in (2, 3):
                            if "seine: " not in r.err:
                                wrong.append(f"{name}@{at}: exit {r.code} without a word")
                            continue
                        got = records(o.base, where)
                        if r.code != 0 or got != want:
                            wrong.append(f"{name}@{at}: exit {r.code}, {[(k, len(got.get(k, [])), len(want[k])) for k in want if got.get(k) != want[k]]} {r.err[:200]}")
    check(len(wrong), 0, "\n".join(wrong))


def syncs(where, base, durability, rate):
    words = ("crawl", base + "/", "-l", "off", "--host-rate", rate, "--no-adaptive", "--job", "j", "--fresh", "--durability", durability, "-o", "x.jsonl", *UNHURRIED)
    r = faulty("fsync:COUNT:*/job.db-wal", [os.path.abspath(PROGRAM), *words], cwd=where)
    check(r.code, 0, r.err)
    return r.counts.get("fsync", 0)


@case
def a_fast_job_is_synced_once_a_second_and_a_full_one_with_every_group():
    with origin("--site", "5:60:fan=8") as o, tempfile.TemporaryDirectory() as where:
        at_once, fast, full = (syncs(where, o.base, *how) for how in (("fast", "1000/s"), ("fast", "20/s"), ("full", "20/s")))
        check(fast - at_once >= 2 and full > fast + 20, True, f"{at_once} at once, {fast} in three seconds, {full} if full")


finish(at_once=4)
