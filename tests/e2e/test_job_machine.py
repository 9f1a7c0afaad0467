#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs on a machine that has its own troubles: a disk that is full, a directory that is read-only, a network file
system, a clock that is set, an end that cannot be synced, outputs that somebody has edited. Each is named, nothing is
lost, and the exit code is right."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, UNHURRIED, case, check, environment, finish, rows, seine  # noqa: E402
from faults import faulty  # noqa: E402
from job_rows import rows_of  # noqa: E402
from job_runs import DURABLE, PACE, complete, outputs, read, run, uninterrupted, urls_of  # noqa: E402
from origin import origin  # noqa: E402

SEINE = os.path.abspath(PROGRAM)
QUICK = ("--mine", "--host-rate", "off", "-l", "off", "--progress", "off", "--fail-on", "none", *UNHURRIED)
SITE = "5:300:fan=8:broken=5:redir=8"
FILES = ("all.jsonl", "packed.jsonl.gz", "all.sqlite", "all.warc.gz")


def safe(text):
    """The number of records that a message says are safe."""
    return int(re.search(r"([0-9,]+) records? (?:is|are) safe", text).group(1).replace(",", ""))


def committed(where, job):
    """How many records the state of a job knows."""
    with tempfile.TemporaryDirectory() as copy:
        for name in ("job.db", "job.db-wal"):
            if os.path.exists(os.path.join(where, ".seine", job, name)):
                shutil.copy(os.path.join(where, ".seine", job, name), copy)
        with sqlite3.connect(os.path.join(copy, "job.db")) as db:
            return sum(1 for _ in rows_of(db, "results"))


def unshared():
    """The words by which a program gets a mount table of its own, or None where the machine forbids it."""
    for words in (["unshare", "-m"], ["unshare", "-U", "-r", "-m"]):
        with tempfile.TemporaryDirectory() as where:
            if subprocess.run([*words, "mount", "-t", "tmpfs", "-o", "size=1m", "none", where], capture_output=True, check=False).returncode == 0:
                return words
    return None


SCRIPT = """
mount -t tmpfs -o size="$1" none "$2" && cd "$2" && shift 2 || exit 9
"$@" 2>"$LEFT/first.err"; echo $? >"$LEFT/first.code"
mkdir "$LEFT/first" && cp -a .seine "$LEFT/first"
mount -o remount,size=1g . || exit 9
"$@" 2>"$LEFT/second.err"; echo $? >"$LEFT/second.code"
cp -a . "$LEFT/second"
"""


def text_of(where, name):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return f.read()


def on_a_small_disk(left, command, size):
    """Runs the command on a file system of so many bytes, and again when there is room: first and second in `left` have
    what it wrote. Without a mount table of our own the writes fail by rule."""
    words = unshared()
    if not words:
        os.mkdir(os.path.join(left, "second"))
        r = faulty(f"write:ENOSPC@{size // 8000}+:{left}/*", command, cwd=os.path.join(left, "second"), extra=DURABLE)
        shutil.copytree(os.path.join(left, "second"), os.path.join(left, "first"))
        again = seine(*command[1:], cwd=os.path.join(left, "second"), env=DURABLE)
        return (r.code, r.err), (again.code, again.err)
    with tempfile.TemporaryDirectory() as disk:
        p = subprocess.run([*words, "sh", "-c", SCRIPT, "sh", str(size), disk, *command], stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE,
                           env=environment({**DURABLE, "LEFT": left}), check=False)
    check(p.returncode, 0, p.stderr.decode())
    return tuple((int(text_of(left, f"{nth}.code")), text_of(left, f"{nth}.err")) for nth in ("first", "second"))


@rows([("of 2 MB", 2), ("of 5 MB, most of it ballast", 5), ("of 6 MB", 6)])
def a_full_disk_ends_a_job_that_says_what_is_safe(_, megabytes):
    with origin("--site", "5:1500:fan=8") as o, tempfile.TemporaryDirectory() as left:
        words = ("crawl", o.url("/p/0"), *QUICK, "--job", "j")
        _, want = uninterrupted(*words[:-2])
        (code, err), (again, told) = on_a_small_disk(left, [SEINE, *words, *outputs(FILES), "--save", "bodies"], megabytes << 20)
        check((code, "no space left on device" in err, "try: free some space" in err), (3, True, True), err)
        check("job 'j' is not finished" in err, True, err)
        check(safe(err), committed(os.path.join(left, "first"), "j"), err)
        check((again, "goes on" in told), (0, True), told)
        complete(os.path.join(left, "second"), want, FILES)


@rows([("a new job", None), ("one that goes on", "j")])
def a_read_only_directory_is_named(_, job):
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/p/0"), *QUICK, "--job", "j", "-o", "all.jsonl")
        if job:
            check(run(where, *words, "--max-time", "50ms").code in (0, 4), True)
            before = read(where, "all.jsonl")
        rules = ",".join(f"{call}:EROFS@1+:{where}/*" for call in ("mkdir", "open", "rename", "unlink")) + ",mkdir:EROFS@1+:.seine*"
        r = faulty(rules, [SEINE, *words], cwd=where, extra=DURABLE)
        check((r.code, "read-only file system" in r.err, ".seine" in r.err, "try: --state DIR, or --no-job" in r.err), (2, True, True, True), r.err)
        if job:
            check(read(where, "all.jsonl"), before, "nothing was changed")


@rows([("NFS", 0x6969), ("SMB", 0x517B), ("CIFS", 0xFF534D42)])
def a_network_file_system_is_refused(_, magic):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/ok"), "--job", "j", "-o", "all.jsonl")
        r = faulty(f"statfs:TYPE{magic}@1+", [SEINE, *words], cwd=where, extra=DURABLE)
        check((r.code, ".seine is on a network file system" in r.err, "try: --state DIR, or --no-job" in r.err), (2, True, True), r.err)
        check((o.log(), os.path.exists(os.path.join(where, "all.jsonl"))), ([], False), "nothing was begun")
        check(seine(*words, cwd=where, env=DURABLE).code, 0, "elsewhere it works")


@rows([("FUSE", 0x65735546), ("9P", 0x01021997)])
def a_disk_of_a_container_is_taken(_, magic):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/ok"), "--job", "j", "-o", "all.jsonl")
        r = faulty(f"statfs:TYPE{magic}@1+", [SEINE, *words], cwd=where, extra=DURABLE)
        check((r.code, len(o.log())), (0, 1), r.err)


DAY = 86400


@rows([
    ("wall time set back by a day", f"clock:JUMP-{DAY}@1+", False),
    ("wall time set forth by a day", f"clock:JUMP{DAY}@1+", False),
    ("set back while it runs", f"clock:JUMP-{DAY}@40+", False),
    ("suspended for a day", f"clock:JUMP{DAY}@1+,uptime:JUMP{DAY}@1+", True),
])
def a_pause_ends_when_its_time_is_over_whatever_the_clock_says(_, rules, is_over):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/json?fail=1&with=status:429&retry_after=300"), "--job", "j", "--host-rate", "off", "-o", "all.jsonl", *UNHURRIED)
        r = run(where, *words, "--max-retry-after", "1s")
        check((r.code, len(o.log())), (5, 1), r.err)
        r = faulty(rules, [SEINE, *words, "--max-retry-after", "35s"], cwd=where, extra=DURABLE)
        if is_over:
            check((r.code, len(o.log())), (0, 2), r.err)
            return
        check((r.code, len(o.log())), (5, 1), f"it is not asked early: {r.err}")
        check("stay pending" in r.err, True, r.err)


@rows([("set back by a day", f"clock:JUMP-{DAY}@1+"), ("set back while it runs", f"clock:JUMP-{DAY}@40+"), ("set forth by a day", f"clock:JUMP{DAY}@1+")])
def a_pause_is_waited_for_and_not_a_day_longer(_, rules):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/json?fail=1&with=status:429&retry_after=3"), "--job", "j", "--host-rate", "off", "-o", "all.jsonl", *UNHURRIED)
        r = run(where, *words, "--max-retry-after", "1s")
        check((r.code, len(o.log())), (5, 1), r.err)
        r = faulty(rules, [SEINE, *words, "--max-retry-after", "60s"], cwd=where, extra=DURABLE)
        times = [row["t_us"] for row in o.log()]
        check((r.code, len(times)), (0, 2), r.err)
        check(times[1] - times[0] >= 2990000, True, f"{times[1] - times[0]} us after the 429")


@case
def a_host_that_was_asked_before_the_clock_was_set_back_is_asked_at_once():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE)
        _, want = uninterrupted(*words)
        check(run(where, *words, "-o", "all.jsonl", "--max-time", "300ms").code in (0, 4), True)
        r = faulty(f"clock:JUMP-{DAY}@1+", [SEINE, *words, "-o", "all.jsonl"], cwd=where, extra=DURABLE, timeout=PATIENCE)
        check(r.code == 0 or "is finished" in r.err, True, r.err)
        complete(where, want, ("all.jsonl",))


@case
def a_job_that_cannot_be_synced_at_its_end_says_which_file_and_why():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", *(o.url(f"/ok?{i}") for i in range(5)), "--job", "j", "--host-rate", "off", "-o", "all.jsonl", *UNHURRIED)
        with tempfile.TemporaryDirectory() as calm:
            most = faulty(f"fsync:COUNT:{calm}/.seine/*", [SEINE, *words], cwd=calm, extra=DURABLE).counts["fsync"]
        r = faulty(f"fsync:EIO@{most}:{where}/.seine/*", [SEINE, *words], cwd=where, extra=DURABLE)
        if r.struck:  # groups may be larger this time
            check((r.code, "job.db: input/output error; 5 records are safe" in r.err), (3, True), r.err)
        r = seine(*words, cwd=where, env=DURABLE)
        check(r.code == 0 or "is finished" in r.err, True, r.err)
        check(len(urls_of(where, "all.jsonl")), 5)


@case
def no_record_is_committed_before_its_body_is_synced():
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/p/0"), *QUICK, "--job", "j", "-o", "all.jsonl", "--save", "bodies")
        r = faulty("fsync:EIO@1:bodies", [SEINE, *words], cwd=where, extra=DURABLE)
        check((r.code, len(r.struck), "cannot finish bodies: input/output error" in r.err), (3, 1, True), r.err)
        check(committed(where, "j"), 0, "records")
        _, want = uninterrupted(*words[:2], *QUICK)
        check(run(where, *words).code, 0)
        complete(where, want, ("all.jsonl",))


@rows([("drained", "stop.drained"), ("flushed", "stop.flushed"), ("in the middle of a write", "out.append.half")])
def a_kill_during_the_last_flush_loses_nothing(_, point):
    with origin("--site", SITE) as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), *PACE)
        _, want = uninterrupted(*words)
        p = subprocess.run([SEINE, *words, *outputs(FILES)], stdin=subprocess.DEVNULL, capture_output=True, cwd=where, timeout=PATIENCE,
                           env=environment({**DURABLE, "SEINE_CRASH": point}), check=False)
        check(p.returncode, -signal.SIGKILL, p.stderr.decode())
        r = run(where, *words, *outputs(FILES))
        check(r.code == 0 or "is finished" in r.err, True, r.err)
        complete(where, want, FILES)


LAST = "(SELECT max(seq) FROM result)"


@rows([
    ("rows were removed at its end", f"DELETE FROM result WHERE seq = {LAST}", False),
    ("all rows were removed", "DELETE FROM result; DELETE FROM skip", False),
    ("a column was changed", f"UPDATE result SET title = 'mine' WHERE seq = {LAST}", True),
])
def a_database_that_somebody_edited_is_noticed_if_records_are_gone(_, sql, is_fine):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/ok?1"), o.url("/ok?2"), o.url("/json?fail=1&with=status:429&retry_after=2"), "--job", "j", "--per-host", "1",
                 "--host-rate", "off", "-o", "all.jsonl", "-o", "all.sqlite", *UNHURRIED)
        check(run(where, *words, "--max-retry-after", "1s").code, 5)
        with sqlite3.connect(os.path.join(where, "all.sqlite")) as db:
            db.executescript(sql)
        r = run(where, *words, "--max-retry-after", "60s")
        if is_fine:
            check((r.code, len(urls_of(where, "all.sqlite"))), (0, 3), r.err)
            return
        check((r.code, "all.sqlite was changed since the job has written it: put it back, or start the job over\ntry: --fresh to start over" in r.err), (2, True), r.err)
        check(len(o.log()), 3, "nothing was asked")


def replace_by_copy(path):
    shutil.copy(path, path + "~")
    os.replace(path + "~", path)


def edit(path):
    """Changes the last record; behind it is the summary, which is not the job's."""
    with open(path, "rb+") as f:
        lines = f.readlines()
        f.seek(-len(lines[-1]) - 3, os.SEEK_END)
        f.write(b"!")


@rows([
    ("moved", lambda path: os.rename(path, path + ".old"), "is gone"),
    ("deleted", os.unlink, "is gone"),
    ("replaced by a copy", replace_by_copy, "is another file than the job has written"),
    ("cut", lambda path: os.truncate(path, os.path.getsize(path) // 3), "is shorter than the job has left it"),
    ("edited at its end", edit, "was changed since the job has written it"),
])
def a_file_that_somebody_moved_or_changed_is_named_and_left_alone(what, change, said):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/ok?1"), o.url("/ok?2"), o.url("/json?fail=1&with=status:429&retry_after=2"), "--job", "j", "--per-host", "1",
                 "--host-rate", "off", "-o", "all.jsonl", *UNHURRIED)
        check(run(where, *words, "--max-retry-after", "1s").code, 5)
        path = os.path.join(where, "all.jsonl")
        change(path)
        before = {name: read(where, name) for name in os.listdir(where) if name.startswith("all")}
        r = run(where, *words, "--max-retry-after", "60s")
        check((r.code, f"all.jsonl {said}: put it back, or start the job over" in r.err), (2, True), r.err)
        check({name: read(where, name) for name in os.listdir(where) if name.startswith("all")}, before, "nothing was changed")
        check(len(o.log()), 3, "nothing was asked")
        if what == "moved":
            os.rename(path + ".old", path)
            r = run(where, *words, "--max-retry-after", "60s")
            check((r.code, len(urls_of(where, "all.jsonl"))), (0, 3), r.err)


LONG = "n" * 128


@case
def the_longest_name_fits_into_every_message():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = ("fetch", o.url("/ok"), "--job", LONG, "-o", "all.jsonl")
        check(run(where, *words).code, 0)
        r = run(where, *words)
        check((r.code, re.search(r"^seine: job '…n{50,}' is finished: 1 page on \d{4}-\d\d-\d\d$", r.err, re.M) is not None), (2, True), r.err)


finish(at_once=6)
