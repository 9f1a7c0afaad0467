#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often a job waits for the disk. Each group syncs an output and the log of the database once; a new job is there
after three syncs, and ends with two. More would be waits that no promise needs, fewer a promise that a loss of power
breaks."""
import os
import sqlite3
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, UNHURRIED, check, finish, rows  # noqa: E402
from faults import faulty  # noqa: E402
from job_runs import DURABLE  # noqa: E402
from origin import origin  # noqa: E402

FILES = ("job.db.new", "job.db", "job.db-wal", "*/.seine/j", "all.jsonl")


def synced(url, *words):
    """How often each of the files was synced, and how many groups the job has."""
    with tempfile.TemporaryDirectory() as where:
        command = [os.path.abspath(PROGRAM), *words, url, "--job", "j", "--mine", "-o", "all.jsonl", "-q", "--progress", "off", *UNHURRIED]
        r = faulty(",".join(f"fsync:COUNT:{name}" for name in FILES), command, cwd=where, extra=DURABLE)
        check(r.code, 0, r.err)
        check(os.path.exists(os.path.join(where, ".seine", "j", "job.db-wal")), False, "the end moves the log into the database")
        with sqlite3.connect(os.path.join(where, ".seine", "j", "job.db")) as db:
            groups = db.execute("SELECT grp FROM head").fetchone()[0]
        return r.counted, groups


@rows([("fetch", "/status:200", ()), ("crawl", "/", ("-l", "off", "--fail-on", "none"))])
def a_group_is_one_sync_of_its_output_and_one_of_the_log(verb, path, words):
    with origin("--site", "5:100:fan=8") as o:
        n, groups = synced(o.url(path), verb, *words)
    outputs = n.pop("all.jsonl")
    check(n, {"job.db.new": 1, "*/.seine/j": 1, "job.db-wal": groups + 1, "job.db": 1})
    check(1 <= outputs <= groups, True, f"{outputs} syncs of the output in {groups} groups; one makes the file ours, and a late summary takes none")


finish()
