#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs: a run that ends in any way goes on where it was, with every record once in every output."""
import collections
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, SANITIZED, UNHURRIED, case, check, finish, rows, seine, taken, until  # noqa: E402
from job_runs import DICE, FILES, PACE, SEED, SITE, complete, kill_later, known, outputs, progress, read, run, start, to_the_end, twice, uninterrupted, urls_of  # noqa: E402
from origin import origin, summary  # noqa: E402
from pages import pages  # noqa: E402


@case
def no_request_comes_closer_than_the_interval_across_a_kill():
    with origin("--site", "5:40:fan=6") as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), "--host-rate", "20/s", "--host-burst", "1", "--no-adaptive", "--per-host", "1", "-l", "off", *UNHURRIED)
        to_the_end(where, *words, "-o", "all.jsonl", kills=4, step=4000)
        times = sorted(r["t_us"] if "t_us" in r else r["t"] for r in o.log())
        gap = min(h["min_gap_us"] for h in o.report()["hosts"].values() if h.get("min_gap_us"))
        check(gap >= 49000, True, f"seed {SEED}: smallest gap {gap} us of {len(times)} requests")
        check(sum(1 for r in o.log() if r["path"] == "/robots.txt"), 1, "robots.txt is asked for once in 24 h")


@case
def a_stop_leaves_what_waits_to_the_next_run():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE)
        _, want = uninterrupted(*words)
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            p = start(where, *words, *outputs())
            at = progress(where) + 8000
            until(lambda: progress(where) > at or p.poll() is not None, "progress")
            p.send_signal(number)
            err = p.communicate(timeout=PATIENCE)[1].decode()
            check(p.returncode, code, err)
            check("is not finished" in err and "the same command again" in err, True, err)
            last = summary(read(where, "all.jsonl"))
            check((last["type"], last["resumable"], last["stopped_by"]), ("summary", True, "signal"))
            check(last["pending"] > 0, True, "pending")
            check("canceled" in read(where, "all.jsonl"), False, "no record says canceled")
        r = run(where, *words, *outputs())
        check(r.code, 0, r.err)
        check("goes on" in r.err, True, r.err)
        complete(where, want)


@rows([("an ending that nobody knows", ("-o", "x.foo")), ("no such directory", ("-o", "none/x.jsonl")), ("a template with a mistake", ("-w", "%{nope}")),
       ("a list of failures", ("--failed", "x.txt")), ("a summary", ("--summary", "none/x")), ("a log", ("--log-file", "none/x")),
       ("a page in no directory", ("-o", "none/x.html")), ("a metrics address", ("--metrics", "nowhere"))])
def a_refused_command_leaves_the_job_as_it_was(what, words):
    """--fresh removes the old state; a mistake behind it removes nothing."""
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        crawl = ("crawl", o.url("/"), *PACE)
        check(run(where, *crawl, "-n", "5", "-o", "all.jsonl").code, 0)
        before, file = run(where, "jobs", "ls", "-j").out, read(where, "all.jsonl")
        r = run(where, *crawl, "-o", "all.jsonl", "--fresh", *words)
        check(r.code, 2, what + ": " + r.err)
        check((json.loads(run(where, "jobs", "ls", "-j").out)["done"], read(where, "all.jsonl")), (json.loads(before)["done"], file), what)


@case
def a_command_that_is_refused_at_first_can_be_typed_again_without_its_mistake():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        crawl = ("crawl", o.url("/"), *PACE, "-n", "5")
        with open(os.path.join(where, "there.jsonl"), "w", encoding="utf-8") as f:
            f.write("{}\n")
        check(run(where, *crawl, "-o", "there.jsonl").code, 2)
        check(run(where, *crawl, "-o", "x.foo").code, 2)
        check(run(where, "jobs", "ls", "-j").out, "", "no job is left")
        r = run(where, *crawl, "-o", "new.jsonl")
        check(r.code, 0, r.err)


@case
def outputs_of_a_job_that_was_stopped_hold_one_summary():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        names = ("all.jsonl", "all.jsonl.gz", "all.jsonl.zst", "all.sqlite")
        words = ("crawl", o.url("/"), "--job", "j", *PACE, *(w for name in names for w in ("-o", name)))
        for _ in range(2):
            r = run(where, *words, "--max-time", "200ms")
            check(r.code, 4, r.err)
            check(json.loads(read(where, "all.jsonl").splitlines()[-1])["type"], "summary", "a run that was stopped says so")
        r = run(where, *words)
        check(r.code, 0, r.err)
        for name in names[:3]:
            lines = [json.loads(line) for line in read(where, name).splitlines()]
            check([line["seq"] for line in lines], list(range(1, len(lines) + 1)), f"{name}: seq")
            check([i for i, line in enumerate(lines) if line["type"] == "summary"], [len(lines) - 1], f"{name}: one summary, at its end")
            check(lines[-1]["resumable"], False)
        with sqlite3.connect(os.path.join(where, names[3])) as db:
            told = [json.loads(j) for j, in db.execute("SELECT json FROM summary")]
            check([s["resumable"] for s in told], [False], "the database has one, too")


def summaries_of(where, name):
    """The places of the summaries among the lines of that output, and how many lines it has."""
    lines = [json.loads(line) for line in read(where, name).splitlines()]
    check([line["seq"] for line in lines], list(range(1, len(lines) + 1)), f"{name}: seq")
    return [i for i, line in enumerate(lines) if line["type"] == "summary"], len(lines)


@rows([("stop.drained", False), ("end.written", False), ("stop.flushed", True)], name=lambda row: row[0])
def a_run_killed_behind_its_summary_leaves_one(point, is_finished):
    """All records and the summary are committed; the job is not finished, or has just become so."""
    with origin("--site", "5:20:fan=6") as o, tempfile.TemporaryDirectory() as where:
        names = ("all.jsonl", "all.jsonl.gz", "all.jsonl.zst", "all.sqlite", "all.csv", "all.warc.gz")
        words = ("crawl", o.url("/"), "--job", "j", *PACE, *(w for name in names for w in ("-o", name)))
        for _ in range(1 if is_finished else 2):
            r = run(where, *words, crash=point)
            check(r.code, -9, f"it was not killed: {r.err}")
            check(json.loads(read(where, "all.jsonl").splitlines()[-1])["type"], "summary", "it was killed behind its summary")
        r = run(where, *words)
        check((r.code, "is finished" in r.err), (2, True) if is_finished else (0, False), r.err)
        for name in names[:3]:
            places, n = summaries_of(where, name)
            check(places, [n - 1], f"{name}: one summary, at its end")
        with sqlite3.connect(os.path.join(where, "all.sqlite")) as db:
            check(db.execute("SELECT count(*) FROM summary").fetchall(), [(1,)], "the database has one, too")
            check(db.execute("SELECT count(*), count(DISTINCT key) FROM result").fetchall(), [(21, 21)])
        r = run(where, "retry", "j", "--where", "ok", "--append")
        check(r.code, 0, r.err)
        places, n = summaries_of(where, "all.jsonl")
        check(places, [n // 2 - 1, n - 1], "what a finished job has written stays when something is appended")


@case
def a_host_that_was_found_and_never_asked_is_asked_by_the_next_run():
    with pages({}) as a, pages({"/x": "a page"}, "127.0.0.2") as b, tempfile.TemporaryDirectory() as where:
        a.table["/"] = f"<a href={b.base}/x>x</a>"
        words = ("crawl", a.base + "/", "--scope", "any", "--robots", "off", "--sitemap", "off", "--job", "j", "-o", "all.jsonl")
        p = start(where, *words, "--rate", "1/m")
        until(lambda: progress(where) > 0 or p.poll() is not None, "the first record")
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=PATIENCE)[1].decode()
        check((p.returncode, b.asked), (130, []), err)
        r = run(where, *words)
        check((r.code, known(where)), (0, {(a.base + "/", 200), (b.base + "/x", 200)}), r.err)


@case
def a_run_whose_time_is_over_goes_on():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE, *outputs(("all.jsonl",)))
        _, want = uninterrupted("crawl", o.url("/"), *PACE)
        r = run(where, *words, "--max-time", "200ms")
        check((r.code, summary(read(where, "all.jsonl"))["stopped_by"]), (4, "max_time"), r.err)
        check(run(where, *words).code, 0)
        complete(where, want, FILES[:1])


@case
def a_finished_job_is_told_and_started_over_only_if_asked():
    with origin("--site", "5:20:fan=4:broken=5:robots=8") as o, tempfile.TemporaryDirectory() as where:
        words, name = ("crawl", o.url("/"), *PACE, "-o", "all.jsonl"), o.base.split("//")[1].replace(":", "-")
        check(run(where, *words).code, 0)
        data = read(where, "all.jsonl")
        r = run(where, *words)
        last = summary(data)
        told = f"seine: job '{name}' is finished: {last['ok'] + last['failed']} pages on {last['ts'][:10]}"
        said, advice = r.err.splitlines()
        check((r.code, said), (2, told))
        check(advice.startswith("try: --fresh to start over, --incremental to visit it again, or: seine retry "), True, advice)
        check(read(where, "all.jsonl"), data, "the output")
        r = run(where, *words, "--fresh")
        check(r.code, 0, r.err)
        check(twice(urls_of(where, "all.jsonl")), [])
        check(len(urls_of(where, "all.jsonl")), len([u for u in data.splitlines()]) - 1)


@rows([
    ("depth", ["-l", "3"], "--depth"),
    ("scope", ["--scope", "any"], "--scope"),
    ("another output", ["-o", "more.csv"], "--output"),
    ("another URL", ["http://127.0.0.1:1/"], "list of URLs"),
])
def another_command_is_refused_and_the_option_is_named(_, more, named):
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE, "-o", "all.jsonl")
        check(kill_later(where, start(where, *words), 3000), True)
        r = run(where, *words, *more)
        check((r.code, named in r.err), (2, True), r.err)
        check(run(where, *words, "--rate", "1000/s", "--per-host", "4").code, 0, "rates may differ")


@case
def resume_needs_a_job_and_does_not_begin_one():
    with tempfile.TemporaryDirectory() as where:
        r = run(where, "crawl", "http://127.0.0.1:1/", "--resume", "-o", "all.jsonl")
        check(r.code, 2, r.err)
        check(os.listdir(where) in ([], [".seine"]), True, os.listdir(where))


@case
def a_job_has_one_owner():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), "--host-rate", "20/s", "-o", "all.jsonl")
        p = start(where, *words)
        try:
            until(lambda: progress(where) > 0 or p.poll() is not None, "the first record")
            r = run(where, *words)
            check((r.code, f"pid {p.pid}" in r.err), (2, True), r.err)
        finally:
            p.kill()
            p.communicate()


LONG = "n" * 128  # the longest name there is


@case
def every_line_of_a_job_has_its_name_and_no_other_line_has_one():
    with origin("--site", "5:20:fan=4:robots=8") as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE, "--summary", "sum.json", "-o", "all.jsonl", "-o", "all.sqlite")
        r = run(where, *words, "--job", LONG)
        check(r.code, 0, r.err)
        lines = [json.loads(line) for name in ("all.jsonl", "sum.json") for line in read(where, name).splitlines()]
        check({(line["type"], line.get("job")) for line in lines}, {(t, LONG) for t in ("result", "skip", "summary")})
        check({tuple(line)[:5] for line in lines}, {("v", "type", "job", "seq", "ts")}, "their order")
        with sqlite3.connect(os.path.join(where, "all.sqlite")) as db:
            check({json.loads(j)["job"] for j, in db.execute("SELECT json FROM result UNION ALL SELECT json FROM summary")}, {LONG})
            check(db.execute("SELECT value FROM seine_meta WHERE key = 'job'").fetchall(), [(LONG,)])
        r = run(where, *words, "--no-job", "--overwrite")
        check((r.code, '"job":' in read(where, "all.jsonl") + read(where, "sum.json")), (0, False), r.err)
        with sqlite3.connect(os.path.join(where, "all.sqlite")) as db:
            check(db.execute("SELECT count(*) FROM seine_meta WHERE key = 'job'").fetchall(), [(0,)])
        r = run(where, "fetch", o.url("/"), "--job", "few", "--fields", "url,status", "-o", "few.jsonl")
        check([tuple(json.loads(line)) for line in read(where, "few.jsonl").splitlines()[:1]], [("url", "status")], r.err)


LIST = ["/ok?n=%d" % i for i in range(300)]


def asks(o):
    return "".join(json.dumps({"url": o.url(f"/echo?n={i}"), "method": "POST" if i % 3 else "GET", "body": f"b{i}" if i % 3 else "",
                               "headers": {"X-Mark": f"m{i}"}, "id": f"id{i}", "tags": {"n": i}, "idempotent": True}) + "\n" for i in range(200))


def sent(r):
    """What the server says it was asked, of /echo."""
    if not r["url"].partition("/echo")[1]:
        return None
    echo = json.loads(r["body"])
    return echo["method"], echo["body"], [h for h in echo["headers"] if h[0] == "X-Mark"]


@rows([("a list", "urls.txt"), ("JSON asks", "urls.jsonl")])
def a_killed_fetch_has_every_url_once_as_it_was_asked(_, name):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, name), "w", encoding="utf-8") as f:
            f.write(asks(o) if name.endswith("l") else "".join(o.url(p) + "\n" for p in LIST) + "not a url\nhttp://[bad\n" + o.url(LIST[0]) + "\n")
        words = ("fetch", "-i", name, "--job", "list", "--host-rate", "300/s", "--no-adaptive", "--per-host", "8", "--per-ip", "off", "--body", "text", *UNHURRIED)
        with tempfile.TemporaryDirectory() as calm:
            seine(*[w if w != name else os.path.join(where, name) for w in words if w not in ("--job", "list")], "-o", "all.jsonl", cwd=calm)
            want = known(calm)
            bodies = {r["url"]: sent(r) for r in map(json.loads, read(calm, "all.jsonl").splitlines()) if r["type"] == "result"}
        kills, r = to_the_end(where, *words, "-o", "all.jsonl", "-o", "all.sqlite", kills=3, step=30000)
        complete(where, want, ("all.jsonl", "all.sqlite"))
        got = [r for r in map(json.loads, read(where, "all.jsonl").splitlines()) if r["type"] == "result"]
        if name.endswith("l"):
            check({r["url"]: sent(r) for r in got}, bodies, "what was sent")
            check(sorted(r["id"] for r in got), sorted(f"id{i}" for i in range(200)))
        if r and not name.endswith("l"):
            check(summary(read(where, "all.jsonl"))["duplicates"] <= 1, True, "known URLs are no duplicates")


def ordered(where):
    return [r["input"] for r in map(json.loads, read(where, "all.jsonl").splitlines()) if r["type"] == "result"]


@rows(((signal.SIGINT, 130), (signal.SIGKILL, -9)))
def a_fetch_in_order_goes_on_in_order(number, code):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url("/ok?n=0"), o.url("/delay:2s/ok"), *(o.url(f"/ok?n={n}") for n in range(1, 40))]
        put(where, "in.txt", urls)
        words = ("fetch", "-i", "in.txt", "--job", "j", "--ordered", "--mine", "-c", "8", *UNHURRIED, "-o", "all.jsonl")
        p = start(where, *words)
        until(lambda: p.poll() is not None or len(o.log()) >= len(urls), "requests for all of them")
        p.send_signal(number)
        if number == signal.SIGINT:
            taken(p, number)
            p.send_signal(number)  # at once
        p.communicate(timeout=PATIENCE)
        if p.returncode == code:  # else it was slow, and all has come
            check(ordered(where), urls[:len(ordered(where))], "what waits for another record has none")
        r = run(where, *words)
        check(r.code, 0 if p.returncode == code else 2, r.err)
        check(ordered(where), urls)


@case
def standard_input_may_come_again_in_another_order():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        lines = [o.url(p) for p in LIST]
        words = ("fetch", "-", "--job", "pipe", "--host-rate", "300/s", "--no-adaptive", "--per-host", "8", "--per-ip", "off", "-o", "all.jsonl", *UNHURRIED)
        p = start(where, *words, stdin=subprocess.PIPE)
        p.stdin.write("".join(u + "\n" for u in lines).encode())
        p.stdin.flush()
        until(lambda: progress(where) > 20000 or p.poll() is not None, "progress")
        p.kill()
        p.communicate()
        DICE.shuffle(lines)
        r = run(where, *words, stdin="".join(u + "\n" for u in lines))
        check(r.code, 0, r.err)
        check(sorted(urls_of(where, "all.jsonl")), sorted(lines))


def put(where, name, lines):
    """In place of the file there is, like an editor."""
    with open(os.path.join(where, name + "~"), "w", encoding="utf-8") as f:
        f.write("".join(line + "\n" for line in lines))
    os.replace(os.path.join(where, name + "~"), os.path.join(where, name))


def shorten(where, name, lines):
    with open(os.path.join(where, name), "r+", encoding="utf-8") as f:
        f.truncate(len(lines[0]) + 1)


@rows([("replaced", put, ("one", "new", "newer")), ("shortened", shorten, ("zero",)), ("as it was", None, ("zero", "one", "late"))])
def an_input_that_was_changed_loses_no_url_that_was_given(_, change, names):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        url = {n: o.url(f"/{'json' if n == 'late' else 'ok'}?name={n}") for n in ("zero", "one", "new", "newer")}
        url["late"] = o.url("/json?fail=1&with=status:429&retry_after=2")
        put(where, "list.txt", [url["zero"], url["one"], url["late"]])
        words = ("fetch", "-i", "list.txt", "--job", "j", "--per-host", "1", "--host-rate", "off", "-o", "all.jsonl", *UNHURRIED)
        r = run(where, *words, "--max-retry-after", "1s")
        check((r.code, sorted(urls_of(where, "all.jsonl"))), (5, sorted([url["zero"], url["one"]])), r.err)
        time.sleep(0.05)  # file times are coarse
        if change:
            change(where, "list.txt", [url[n] for n in names])
        r = run(where, *words, "--max-retry-after", "60s")
        check((r.code, "seine: list.txt was changed since the last run" in r.err), (0, change is not None), r.err)
        check(sorted(urls_of(where, "all.jsonl")), sorted({url[n] for n in ("zero", "one", "late", *names)}))
        asked = collections.Counter(line["target"] if "target" in line else line["path"] for line in o.log())
        check(max(asked.values()) <= 2 and sum(asked.values()) == len({"zero", "one", "late", *names}) + 1, True, f"late is asked twice, others once: {asked}")


@case
def a_parked_host_stays_pending_and_is_asked_when_its_time_has_come():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/head:Retry-After:3600/status:429"), o.url("/ok?a"), "--job", "parked", "--per-host", "1", "--host-rate", "50/s", "-o", "all.jsonl")
        r = run(where, *words)
        check((r.code, "stay pending" in r.err), (5, True), r.err)
        last = summary(read(where, "all.jsonl"))
        check((last["resumable"], last["stopped_by"]), (True, "parked"))
        check(last["pending"] >= 1, True)
        before = o.report()["totals"]["requests"]
        r = run(where, *words)  # it is not asked any earlier
        check((r.code, o.report()["totals"]["requests"]), (5, before), r.err)


print(f"seed {SEED}")
finish(at_once=1 if SANITIZED else 4)
