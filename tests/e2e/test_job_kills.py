#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments, crawl and fetch, with all outputs: nothing is lost, nothing is there twice, and the server,
which counts, is asked again for nothing but what no committed group had. 20 kills; with SOAK, which says how long the
whole campaign takes, 200."""
import collections
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SANITIZED, SOAKED, case, check, finish, seine  # noqa: E402
from job_runs import DICE, LIST_PACE, PACE, SEED, complete, ended, kill_later, known, outputs, read, run, start  # noqa: E402
from origin import origin, summary  # noqa: E402
from whole import read_output  # noqa: E402

KILLS = 100 if SOAKED else 10  # of each verb
IN_FLIGHT = 8
GROUP = 400 if SANITIZED else 100  # what ends between two commits of a slow machine


def asked(o):
    """How often each path was asked for."""
    return collections.Counter(r["path"] for r in o.log())


def kill_at_random(where, process):
    """At any moment: while it starts and recovers, or while it works. False: it has ended before."""
    if DICE.random() < 0.3:
        time.sleep(DICE.random() * 0.1)
        process.kill()
        process.communicate()
        return process.returncode == -9
    return kill_later(where, process, DICE.randrange(1, 16000))


def bodies_are_whole(where):
    """The body of every record is there, and is the one of its name."""
    names = {r["body_file"] for r in map(json.loads, read(where, "all.jsonl").splitlines()) if "body_file" in r}
    there = {os.path.relpath(path, os.path.join(where, "bodies")) for path in read_output(os.path.join(where, "bodies"))}
    check((names - there, len(names) > 0), (set(), True), "bodies that are missing")


def kill_to_the_end(o, where, command, job, kills):
    """Runs a job until it ends by itself. How often it was killed, how often each path was asked for that no committed
    group knew then, and the last run."""
    lost, n = collections.Counter(), 0
    while n < kills:
        before = asked(o)
        if not kill_at_random(where, start(where, *command)):
            break
        n += 1
        lost.update((asked(o) - before).keys() - ended(where, job))
    r = run(where, *command)
    check(r.code == 0 or r.code == 2 and "is finished" in r.err, True, f"seed {SEED}: {r.code} {r.err}")
    return n, lost, r


def undisturbed(o, words):
    """What the same command brings home when nothing ends it, and how often each path is asked for then."""
    with tempfile.TemporaryDirectory() as where:
        r = seine(*words, "-o", "all.jsonl", cwd=where)
        check(r.code, 0, r.err)
        return known(where), asked(o)


def killed_job(o, words, name, kills):
    """One job from its beginning to its end; how often it was killed."""
    want, usual = undisturbed(o, words)
    with tempfile.TemporaryDirectory() as where:
        command = (*words, "--job", name, *outputs(), "--save", "bodies")
        n, lost, r = kill_to_the_end(o, where, command, name, kills)
        complete(where, want)
        bodies_are_whole(where)
        if r.code == 0:
            check(summary(read(where, "all.jsonl"))["total"], len(want), "the summary is about the whole job")
        often = asked(o) - usual
        again = {path: (often[path], usual[path], lost[path]) for path in often if often[path] > usual[path] * (1 + lost[path])}
        check(again, {}, f"seed {SEED}: asked for, usually, lost")
        check(lost.total() <= n * (IN_FLIGHT + GROUP), True, f"seed {SEED}: {lost.total()} of {n} kills were not committed")
    return n


def campaign(verb, one_job):
    """Jobs until there were enough kills."""
    n = jobs = 0
    while n < KILLS:
        n += one_job(KILLS - n, jobs)
        jobs += 1
    print(f"{verb}: {n} kills of {jobs} jobs, seed {SEED}", flush=True)


def killed_crawl(kills, nth):
    with origin("--site", f"{SEED % 1000 + nth}:300:fan=8:broken=5:redir=8:robots=8:sitemap=on") as o:
        return killed_job(o, ("crawl", o.url("/"), *PACE), "site", kills)


def killed_fetch(kills, nth):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "list.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write("".join(o.url(f"/bytes:{i % 7 * 1000 + 10}?n={i}") + "\n" for i in range(400)))
        return killed_job(o, ("fetch", "-i", path, *LIST_PACE), "list", kills)


@case
def a_crawl_killed_at_random_moments_has_every_page_once_in_every_output():
    campaign("crawl", killed_crawl)


@case
def a_fetch_killed_at_random_moments_has_every_url_once_in_every_output():
    campaign("fetch", killed_fetch)


finish(at_once=1 if SANITIZED else 2)
