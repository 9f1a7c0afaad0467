#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figures and limits of a job are those of all its runs: nothing begins anew because a run was stopped or killed."""
import collections
import json
import os
import shutil
import signal
import sqlite3
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, finish, rows, until  # noqa: E402
from faults import faulty  # noqa: E402
from job_runs import DURABLE, PACE, SITE, progress, read, run, start, to_the_end  # noqa: E402
from origin import origin, summary  # noqa: E402
from pages import pages  # noqa: E402


def interrupt(where, *words, grown=1, number=signal.SIGINT):
    """Runs the command and stops it in order when the first output has grown by so many bytes."""
    p = start(where, *words)
    at = progress(where) + grown
    until(lambda: progress(where) >= at or p.poll() is not None, "progress")
    p.send_signal(number)
    return p.communicate(timeout=PATIENCE)[1].decode(), p.returncode


def asked(o):
    return collections.Counter(r["path"] for r in o.log())


def check_requests(last, o, stops):
    """As the server counts them. Two are under way at most when a run is stopped, and the server may not have read these."""
    unread = last["requests"] - sum(asked(o).values())
    check(0 <= unread <= 2 * stops, True, f"{unread} more than the server counts")


@rows([("fetch", 1), ("fetch", 3), ("crawl", 1), ("crawl", 2)])
def requests_are_those_of_all_runs(verb, stops):
    with origin(*(("--site", SITE) if verb == "crawl" else ())) as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url("/")] if verb == "crawl" else [o.url(f"/redir:{n % 4}/status:{503 if n % 7 == 0 else 200}?fail=1&n={n}") for n in range(60)]
        pace = ("--host-rate", "150/s", "--no-adaptive", "--per-host", "2", "--per-ip", "off", "--backoff", "5ms..20ms", "--breaker", "off", "-t", "300s", "--head-timeout", "300s")
        words = (verb, *urls, "--job", "j", *pace, "-o", "all.jsonl", *(("-l", "off") if verb == "crawl" else ()))
        for n in range(stops):
            err, code = interrupt(where, *words, grown=4000)
            check(code, 130, err)
            last = summary(read(where, "all.jsonl"))
            check(last["pending"] > 0, True, err)
            check_requests(last, o, n + 1)
        r = run(where, *words)
        check(r.code in (0, 1), True, r.err)
        last, seen = summary(read(where, "all.jsonl")), o.report()["totals"]
        check_requests(last, o, stops)
        check(last["total"], last["ok"] + last["failed"] + last["blocked"] + last["skipped"], "total")
        check(last["retries"], sum(json.loads(line).get("attempts", 1) - 1 for line in read(where, "all.jsonl").splitlines() if '"type":"result"' in line))
        check(seen["requests"] > 0, True)


@case
def requests_after_kills_are_no_fewer_than_records_tell_and_no_more_than_were_made():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE, "-o", "all.jsonl")
        _, r = to_the_end(where, *words, kills=3, step=30000)
        if not r:
            return
        told = [json.loads(line) for line in read(where, "all.jsonl").splitlines()]
        least = sum(r.get("attempts", 0) for r in told if r["type"] == "result")
        check(least <= told[-1]["requests"] <= sum(asked(o).values()), True, f"{least}, {told[-1]['requests']}, {sum(asked(o).values())}")


@rows([("given alone", 6, 6), ("given and found", 4, 12)])
def a_given_url_counts_for_its_host_in_every_run(_, given, most):
    with origin("--site", "5:80:fan=8") as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url(f"/p/{n}") for n in range(1, given + 1)]
        words = ("crawl", *urls, "--job", "j", "--max-pages-per-host", str(most), "--host-rate", "20/s", "--host-burst", "1", "--no-adaptive",
                 "--sitemap", "off", "-o", "all.jsonl")
        err, code = interrupt(where, *words)
        check(code, 130, err)
        for _ in range(2):
            err, code = interrupt(where, *words, grown=1200)
            if code != 130:
                break
        run(where, *words)
        pages = [path for path in asked(o) if path.startswith("/p/")]
        check(len(pages), most, f"pages that were asked for: {sorted(pages)}")


def tried(where):
    """Attempts that the state of the job knows, as a run after a kill would find it."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("job.db", "job.db-wal"):
            if os.path.exists(os.path.join(where, ".seine", "j", name)):
                shutil.copy(os.path.join(where, ".seine", "j", name), copy)
        try:
            with sqlite3.connect(os.path.join(copy, "job.db")) as db:
                return [struct.unpack("=3q", value)[1] for value, in db.execute("SELECT value FROM note WHERE kind = 101")]
        except sqlite3.OperationalError:
            return []


@rows([("fetch", signal.SIGINT), ("fetch", signal.SIGKILL), ("crawl", signal.SIGKILL)])
def a_url_has_as_many_attempts_as_one_run_would_give_it(verb, number):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = (verb, o.url("/status:503"), "--job", "j", "--retries", "3", "--backoff", "700ms..700ms", "--host-rate", "off", "--no-adaptive", "--breaker", "off",
                 "--retry-budget", "off", "-o", "all.jsonl", *(("--robots", "off", "--sitemap", "off") if verb == "crawl" else ()))
        lost = 0  # requests that were in flight when the run was killed, or whose end was not committed yet
        for n in (1, 2):
            p = start(where, *words)
            until(lambda: max(tried(where), default=0) >= n or p.poll() is not None, f"attempt {n}")
            p.send_signal(number)
            err = p.communicate(timeout=PATIENCE)[1].decode()
            known = max(tried(where), default=0)
            check((p.returncode in (130, -9), known >= n), (True, True), err)
            lost += asked(o)["/status:503"] - known - lost
        r = run(where, *words)
        told = [json.loads(line) for line in read(where, "all.jsonl").splitlines()]
        check([(t["attempts"], t["status"]) for t in told if t["type"] == "result"], [(4, 503)], r.err)
        check((asked(o)["/status:503"], lost <= 2), (4 + lost, True), f"requests for it, {lost} of them lost")
        check(told[-1]["retries"], 3)


@case
def sitemaps_are_counted_over_all_runs():
    table = {f"/p/{n}": f"<a href=/p/{n + 1}>next</a>" for n in range(30)}
    with pages(table) as p, tempfile.TemporaryDirectory() as where:
        table["/robots.txt"] = "".join(f"Sitemap: {p.base}/map{n}.xml\n" for n in range(9))
        table.update({f"/map{n}.xml": f"<urlset><url><loc>{p.base}/p/{n}</loc></url></urlset>" for n in range(9)})
        words = ("crawl", p.base + "/p/0", "--job", "j", "--max-sitemaps", "2", "--host-rate", "20/s", "--no-adaptive", "-l", "off", "-o", "all.jsonl")
        for _ in range(2):
            err, code = interrupt(where, *words, grown=2000)
            check(code, 130, err)
        run(where, *words)
        maps = [path for path in p.asked if path.startswith("/map")]
        check(len(maps), 2, str(maps))


@case
def what_an_output_has_lost_is_pending():
    with origin("--site", "5:60:fan=8") as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), "-l", "off", "--host-rate", "50/s", "--no-adaptive", "--job", "j", "--summary", "sum.json", "-o", "all.jsonl")
        r = faulty("write:ENOSPC@3+:*/all.jsonl", [os.path.abspath(PROGRAM), *words], cwd=where, extra=DURABLE)
        check(r.code, 3, r.err)
        last = json.loads(read(where, "sum.json"))
        safe = len([line for line in read(where, "all.jsonl").splitlines(True) if line.endswith("\n")])
        check((last["resumable"], last["pending"] > 0), (True, True), r.err)
        shown = json.loads(run(where, "jobs", "show", "j", "-j").out)
        check(last["pending"], shown["pending"], f"{safe} records are safe")
        r = run(where, *words)
        check(r.code, 0, r.err)
        check(json.loads(read(where, "sum.json"))["pending"], 0)


finish(at_once=6)
