#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine jobs: what is there, how far it is, and how it is started again or removed."""
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, UNHURRIED, case, check, environment, finish, seine, until  # noqa: E402
from origin import origin  # noqa: E402

DURABLE = {"SEINE_DURABILITY": "full"}
PACE = ("--host-rate", "20/s", "--no-adaptive", *UNHURRIED)


def run(where, *words, **more):
    return seine(*words, cwd=where, env=DURABLE, **more)


def start(where, *words):
    return subprocess.Popen([os.path.abspath(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            cwd=where, env=environment(DURABLE))


def listed(where, *words):
    """The rows of `jobs ls`, by name."""
    return {row["name"]: row for row in map(json.loads, run(where, "jobs", "ls", "-j", *words).out.splitlines())}


def begun(where, name="one", done=3):
    """Waits until the job has done so much, and returns its row."""
    return until(lambda: (row := listed(where).get(name)) and row.get("done", 0) >= done and row, f"job {name}")


def results(where, name):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return [r for r in map(json.loads, f) if r["type"] == "result"]


@case
def a_job_is_listed_while_it_runs_after_a_kill_and_at_the_end():
    with origin("--site", "5:40:fan=6:broken=10") as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "jobs", "ls").err, "seine: no jobs in .seine\n")
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "--job", "one")
        row = begun(where)
        check(row["state"], "running")
        check(row["pid"], p.pid)
        check(row["bytes"] > 0 and row["pending"] > 0 and row["run"] == 1, True, str(row))
        check(row["command"].startswith("crawl http://127.0.0.1:"), True, row["command"])
        r = run(where, "jobs", "rm", "one", "--yes")
        check((r.code, "job 'one' is running" in r.err), (2, True))
        p.send_signal(signal.SIGKILL)
        p.communicate()
        check(listed(where)["one"]["state"], "failed")
        text = run(where, "jobs", "ls").out.splitlines()
        check(text[0].split(), ["JOB", "STATE", "DONE", "PENDING", "FAILED", "AGE", "DISK", "COMMAND"])
        check(text[1].split()[:2], ["one", "failed"])
        # from another directory: the outputs are those of the first run
        r = run("/", "jobs", "resume", "one", "--state", os.path.join(where, ".seine"))
        check(r.code, 0, r.err)
        check("job 'one' goes on" in r.err, True, r.err)
        row = listed(where)["one"]
        check((row["state"], row["pending"], row["run"]), ("finished", 0, 2))
        got = results(where, "a.jsonl")
        check(row["done"], len(got))
        check(row["failed"], sum(not r["ok"] for r in got))
        r = run(where, "jobs", "resume", "one")
        check((r.code, "job 'one' is finished" in r.err), (2, True), r.err)
        check(run(where, "jobs", "rm", "one", "--yes").out, "one\n")
        check(listed(where), {})
        check(os.listdir(os.path.join(where, ".seine")), [])
        check(len(results(where, "a.jsonl")), len(got), "outputs stay")


@case
def show_has_counts_outputs_and_hosts():
    with origin("--site", "5:20:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "-o", "a.csv", "--job", "one")
        begun(where)
        p.send_signal(signal.SIGTERM)
        p.communicate()
        row = json.loads(run(where, "jobs", "show", "one", "-j").out)
        check(row["state"], "stopped")
        check([os.path.basename(f["path"]) for f in row["outputs"]], ["a.jsonl", "a.csv"])
        # the summary at the end of the run is committed, too
        check([f["committed"] for f in row["outputs"]], [os.path.getsize(f["path"]) for f in row["outputs"]])
        check([h["pending"] for h in row["hosts"]], [row["pending"]])
        text = run(where, "jobs", "show", "one").out
        check([line.split()[0] for line in text.splitlines()], ["job", "command", "state", "urls", "disk", "output", "output", "host"])
        check(f"{row['pending']} pending" in text, True, text)


@case
def resume_is_never_a_fresh_start():
    with origin("--site", "5:20:fan=6") as o, tempfile.TemporaryDirectory() as where:
        r = run(where, "jobs", "resume", "one")
        check((r.code, r.err), (2, "seine: there is no job 'one'\ntry: seine jobs ls\n"))
        check(os.path.exists(os.path.join(where, ".seine", "one")), False)
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "--fresh", "--job", "one")
        done = begun(where)["done"]
        p.send_signal(signal.SIGKILL)
        p.communicate()
        r = run(where, "jobs", "resume", "one")  # its command had --fresh
        check(r.code, 0, r.err)
        urls = [x["url"] for x in results(where, "a.jsonl")]
        check(len(urls) > done, True)
        check(len(urls), len(set(urls)), "each page once")
        check(o.report()["totals"]["requests"] < len(urls) + 20, True, "what was done is not asked for again")


@case
def a_command_with_a_secret_is_typed_again():
    with origin("--site", "5:20:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), *PACE, "-H", "Authorization: Bearer s3cret", "-o", "a.jsonl", "--job", "one")
        begun(where)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        check("s3cret" in run(where, "jobs", "show", "one").out, False)
        r = run(where, "jobs", "resume", "one")
        check((r.code, "started with a secret" in r.err), (2, True), r.err)


@case
def rm_needs_a_yes_and_prunes_by_age():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for name in ("one", "two", "three"):
            check(run(where, "fetch", o.url("/ok"), "--job", name, "-o", name + ".jsonl").code, 0)
        r = run(where, "jobs", "rm", "one")
        check((r.code, r.err), (2, "seine: no terminal to ask on\ntry: --yes\n"))
        check(run(where, "jobs", "rm").code, 2)
        r = run(where, "jobs", "rm", "one", "none", "--yes")
        check((r.code, r.out, "there is no job 'none'" in r.err), (2, "", True), r.err)
        check(run(where, "jobs", "rm", "--older-than", "30d", "--yes").out, "", "none is as old")
        check(sorted(listed(where)), ["one", "three", "two"])
        check(run(where, "jobs", "rm", "one", "--yes").out, "one\n")
        check(run(where, "jobs", "rm", "--older-than", "1ms", "--yes").out, "three\ntwo\n")


@case
def a_damaged_job_is_listed_and_named():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "fetch", o.url("/ok"), "--job", "one", "-o", "a.jsonl").code, 0)
        db = os.path.join(where, ".seine", "one", "job.db")
        with open(db, "r+b") as f:
            f.truncate(5000)
        row = listed(where)["one"]
        check((row["state"], row["error"]), ("failed", "state_corrupt"))
        check("done" in row, False, "nobody knows")
        r = run(where, "jobs", "show", "one")
        check((r.code, "is damaged" in r.err), (2, True), r.err)
        check(run(where, "jobs", "ls").out.splitlines()[1].split()[:5], ["one", "failed", "-", "-", "-"])


finish()
