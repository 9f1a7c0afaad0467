#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine retry: finished URLs of a job are fetched again, by a condition."""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, UNHURRIED, case, check, environment, finish, seine, until  # noqa: E402
from origin import origin  # noqa: E402

DURABLE = {"SEINE_DURABILITY": "full"}
QUICK = ("--mine", "--backoff", "1ms..2ms", *UNHURRIED)


def run(where, *words, **more):
    return seine(*words, cwd=where, env=DURABLE, **more)


def results(where, name):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return [r for r in map(json.loads, f) if r["type"] == "result"]


def statuses(where, name):
    return sorted((r["url"].rpartition("=")[2], r.get("status")) for r in results(where, name))


def paths(o):
    return [r["path"].rpartition("=")[2] for r in o.log()]


def given(o):
    return [o.url(path) for path in ("/ok?key=a", "/ok?key=b", "/status:404?key=c", "/ok?fail=1&key=d", "/ok?key=e")]


def fetched(where, o, *words):
    """A job of five URLs, of which two have failed: one for good, one that answers from its second request on."""
    urls = given(o)
    r = run(where, "fetch", *urls, "--job", "one", "--retries", "0", *QUICK, *words)
    check(r.code, 1, r.err)


@case
def what_has_failed_is_fetched_again_and_nothing_else():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        fetched(where, o, "-o", "a.jsonl")
        first = results(where, "a.jsonl")
        check(sum(not r["ok"] for r in first), 2, str(statuses(where, "a.jsonl")))
        before = len(paths(o))
        check(run(where, "retry", "one", "--dry-run").out, "2\n")
        r = run(where, "retry", "one", "-o", "again.jsonl")
        check(r.code, 1, r.err)  # c is gone for good
        check(sorted(paths(o)[before:]), ["c", "d"])
        check(statuses(where, "again.jsonl"), [("c", 404), ("d", 200)])
        check(results(where, "a.jsonl"), first, "the first output stays")
        check(min(r["seq"] for r in results(where, "again.jsonl")) > max(r["seq"] for r in first), True, "seq goes on")
        row = json.loads(run(where, "jobs", "ls", "-j").out)
        check((row["state"], row["done"], row["failed"], row["pending"]), ("finished", 5, 1, 0))
        # the summary is about the whole job
        with open(os.path.join(where, "again.jsonl"), encoding="utf-8") as f:
            total = json.loads(f.read().splitlines()[-1])
        check((total["type"], total["ok"], total["failed"]), ("summary", 4, 1))


@case
def a_condition_says_which():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        fetched(where, o, "-o", "a.jsonl", "-o", "a.sqlite")
        before = len(paths(o))
        r = run(where, "retry", "one", "--where", "status = 404 or url ~ '=a$'", "--append")
        check(r.code, 1, r.err)
        check(sorted(paths(o)[before:]), ["a", "c"])
        check([u for u, _ in statuses(where, "a.jsonl")], ["a", "a", "b", "c", "c", "d", "e"])
        with sqlite3.connect(os.path.join(where, "a.sqlite")) as db:
            check(db.execute("SELECT count(*) FROM result").fetchone()[0], 5, "rows are replaced")


ZONES = [  # a local time, and how many hours after midnight UTC of that day it is
    ("2024-11-03", "01:30", "America/New_York", 6.5),   # comes twice: the second time
    ("2024-03-10", "02:30", "America/New_York", 6.5),   # does not exist: the later offset
    ("2026-10-25", "02:30", "Europe/Berlin", 1.5), ("2060-07-01", "12:00", "Europe/Berlin", 10), ("2024-07-01", "12:00", "Asia/Kathmandu", 6.25),
]


@case
def zones_of_the_world_are_known_by_their_names():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        fetched(where, o)
        same = " and ".join(f"hours('{day}', at('{day}', '{time}', '{zone}')) = {hours}" for day, time, zone, hours in ZONES)
        for zone in ("Pacific/Auckland", "America/New_York"):  # that of the machine plays no part
            check(seine("retry", "one", "--dry-run", "--where", same, cwd=where, env={**DURABLE, "TZ": zone}).out, "5\n")
        r = run(where, "retry", "one", "--dry-run", "--where", "at(date(ts), '07:00', 'Europe/Nowhere') < ts")
        check((r.code, "no time zone has that name" in r.err), (2, True), r.err)


@case
def nothing_happens_without_a_word_about_outputs_or_a_condition_that_is_one():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        fetched(where, o, "-o", "a.jsonl")
        before = len(paths(o))
        for words, code, why in (((), 2, "try: --append, or -o FILE"), (("--append", "-o", "b.jsonl"), 2, "--append and --output"),
                                 (("--where", "status =", "--append"), 2, "--where, column"), (("--where", "outcom = timeout", "--append"), 2, "--where, column"),
                                 (("--where", "status = 500", "--append"), 0, "nothing of job 'one' is to be fetched again")):
            r = run(where, "retry", "one", *words)
            check((r.code, why in r.err), (code, True), r.err)
        r = run(where, "retry", "two")
        check((r.code, "there is no job 'two'" in r.err), (2, True), r.err)
        check(len(paths(o)), before)
        r = run(where, "fetch", *given(o), "--job", "one", "--retries", "0",
                *QUICK, "-o", "a.jsonl")
        check((r.code, "job 'one' is finished" in r.err, "or: seine retry one" in r.err), (2, True, True), r.err)


@case
def a_crawl_finds_what_its_page_leads_to_now_and_survives_a_kill():
    with origin("--site", "5:120:fan=6:broken=20") as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "crawl", o.url("/"), "--job", "one", "-l", "off", *QUICK, "-o", "a.jsonl").code in (0, 1), True)
        done = len(results(where, "a.jsonl"))
        p = subprocess.Popen([os.path.abspath(PROGRAM), "retry", "one", "--where", "ok", "-o", "again.jsonl"], cwd=where, env=environment(DURABLE),
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: os.path.exists(os.path.join(where, "again.jsonl")) and results(where, "again.jsonl") or p.poll() is not None, "records")
        p.send_signal(signal.SIGKILL)
        p.communicate()
        r = run(where, "jobs", "resume", "one")
        check(r.code in (0, 1) or "is finished" in r.err, True, r.err)
        row = json.loads(run(where, "jobs", "ls", "-j").out)
        check((row["state"], row["done"], row["pending"]), ("finished", done, 0))
        urls = [x["url"] for x in results(where, "again.jsonl")]
        check(len(urls), len(set(urls)), "each page once")
        check(len(urls), done - row["failed"])


finish(at_once=2)
