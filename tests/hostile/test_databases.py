#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SQLite files of strangers: journals that delete files, queries that never end, values without measure."""
import contextlib
import json
import os
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, case, check, environment, finish, rows, seine, until  # noqa: E402
from hostile import attack  # noqa: E402

MIB = 1 << 20
ROOM = 256 * MIB
SEIN = 0x5345494E  # our application_id, which anybody can write
RECORD = {"v": 1, "type": "result", "seq": 1, "ts": "2026-11-15T19:20:01.000000Z", "url": "http://e/", "outcome": "ok", "ok": True}


def put(d, name, data):
    with open(os.path.join(d, name), "wb") as f:
        f.write(data)


def ours(d, name="x.sqlite"):
    """A database that the program has written."""
    put(d, "a.jsonl", (json.dumps(RECORD) + "\n").encode())
    check(seine("convert", "a.jsonl", name, cwd=d).code, 0)


def made(d, script, name="x.sqlite", mark=0):
    """A database with our tables that somebody else has changed."""
    ours(d, name)
    subprocess.run(["sqlite3", os.path.join(d, name), f"PRAGMA journal_mode = DELETE; PRAGMA application_id = {mark};" + script],
                   check=True, stdout=subprocess.DEVNULL)


def journal(victim, count, page=4096):
    """A hot journal whose super-journal is the victim: rolling back deletes that file (sqlite.org/fileformat, 3 and 4)."""
    name = victim.encode()
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">IIIII", 0, 1, count, 512, page)
    end = struct.pack(">I", 0x40000000 // page + 1) + name + struct.pack(">II", len(name), sum(name)) + bytes.fromhex("d9d505f920a163d7")
    return head.ljust(512, b"\0") + end


def files(d):
    return {n: open(os.path.join(d, n), "rb").read() for n in os.listdir(d) if os.path.isfile(os.path.join(d, n))}


CONVERT = ["convert", "x.sqlite"]
APPEND = ["convert", "--append", "a.jsonl", "x.sqlite"]


@rows([("convert a stranger's", 0, CONVERT), ("convert one marked as ours", SEIN, CONVERT), ("append to one marked as ours", SEIN, APPEND),
       ("append to a stranger's", 0, APPEND)])
def a_planted_journal_deletes_nothing(_, mark, words):
    with tempfile.TemporaryDirectory() as d:
        made(d, "", mark=mark)
        put(d, "victim", b"precious")
        put(d, "x.sqlite-journal", journal(os.path.join(d, "victim"), os.path.getsize(os.path.join(d, "x.sqlite")) // 4096))
        before = files(d)
        r = attack(*words, cwd=d)
        check(files(d), before)
        check((r.code, "x.sqlite" in r.err), (2, True), r.err)
        if mark or words == CONVERT:
            check("x.sqlite-journal" in r.err, True, r.err)


@case
def the_journal_of_these_tests_is_hot():
    """The attack works on a reader that lets it: else the cases above would test nothing."""
    with tempfile.TemporaryDirectory() as d:
        made(d, "")
        put(d, "victim", b"precious")
        put(d, "x.sqlite-journal", journal(os.path.join(d, "victim"), os.path.getsize(os.path.join(d, "x.sqlite")) // 4096))
        with contextlib.closing(sqlite3.connect(os.path.join(d, "x.sqlite"))) as db:
            db.execute("SELECT * FROM sqlite_schema").fetchall()
        check(os.path.exists(os.path.join(d, "victim")), False)


@case
def a_wal_of_a_stranger_is_not_taken_in():
    with tempfile.TemporaryDirectory() as d:
        made(d, "", name="y.sqlite")
        with contextlib.closing(sqlite3.connect(os.path.join(d, "y.sqlite"))) as db:
            db.executescript("PRAGMA journal_mode = WAL; DELETE FROM result")
            for ending in ("", "-wal"):
                put(d, "x.sqlite" + ending, open(os.path.join(d, "y.sqlite" + ending), "rb").read())
        before = files(d)
        r = attack(*CONVERT, cwd=d)
        check((r.code, "x.sqlite-wal" in r.err), (2, True), r.err)
        check(files(d), before)


@rows([("convert", CONVERT), ("append", APPEND)])
def side_files_that_lead_elsewhere_are_not_followed(_, words):
    for ending in ("-wal", "-journal", "-shm"):
        for target in ("victim", "not-there"):
            with tempfile.TemporaryDirectory() as d:
                ours(d)
                put(d, "victim", b"precious" * 100)
                os.symlink(target, os.path.join(d, "x.sqlite" + ending))
                before = files(d)
                r = attack(*words, cwd=d)
                check((r.code, "x.sqlite" + ending in r.err), (2, True), f"{ending} -> {target}: {r.code} {r.err}")
                check(files(d), before, ending)
                check(os.path.exists(os.path.join(d, "not-there")), False)


@case
def our_own_output_recovers_after_a_kill():
    """What was committed before kill -9 stands in the WAL: convert reads it and leaves it, an append goes on behind it."""
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.Popen([os.path.abspath(PROGRAM), "convert", "-", "x.sqlite"], stdin=subprocess.PIPE, cwd=d, env=environment())
        p.stdin.write((json.dumps(RECORD) + "\n").encode())
        p.stdin.flush()

        def committed():
            with contextlib.closing(sqlite3.connect(f"file:{d}/x.sqlite?mode=ro", uri=True)) as db:
                return db.execute("SELECT count(*) FROM result").fetchone()[0]
        until(lambda: os.path.exists(os.path.join(d, "x.sqlite-wal")) and committed(), "the first commit")
        p.send_signal(signal.SIGKILL)
        p.wait()
        p.stdin.close()
        check(os.path.getsize(os.path.join(d, "x.sqlite-wal")) > 0, True)
        check(json.loads(seine("convert", "x.sqlite", cwd=d).out)["url"], "http://e/")
        put(d, "a.jsonl", (json.dumps({**RECORD, "url": "http://f/"}) + "\n").encode())
        r = seine(*APPEND, cwd=d)
        check((r.code, r.err), (0, ""))
        r = seine("convert", "x.sqlite", cwd=d)
        check([json.loads(line)["url"] for line in r.out.splitlines()], ["http://e/", "http://f/"])
        check(sorted(os.listdir(d)), ["a.jsonl", "x.sqlite"])


@case
def an_input_is_read_and_nothing_else():
    """Not written, no file made beside it, readable in a directory that is not writable."""
    with tempfile.TemporaryDirectory() as d:
        for name, script in (("wal", "PRAGMA journal_mode = WAL"), ("delete", "")):
            made(d, script, name=f"{name}?%41#.sqlite")
            path = os.path.join(d, f"{name}?%41#.sqlite")
            os.chmod(path, 0o444)
            os.chmod(d, 0o555)
            before, when = files(d), os.stat(path)
            r = attack("convert", "--from", "sqlite", os.path.basename(path), cwd=d)
            os.chmod(d, 0o755)
            check((r.code, r.err), (0, ""), name)
            check(files(d), before)
            check((os.stat(path).st_mtime_ns, os.stat(path).st_ino), (when.st_mtime_ns, when.st_ino))


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"


@rows([("an endless view", "DROP TABLE result; CREATE VIEW result AS " + ENDLESS + " SELECT x AS seq, '{}' AS json, NULL AS body FROM c;"),
       ("an endless view of other rows", "DROP TABLE summary; CREATE VIEW summary AS " + ENDLESS + " SELECT x AS run, '{}' AS json FROM c;"),
       ("a view that yields nothing", "DROP TABLE link; CREATE VIEW link AS " + ENDLESS + " SELECT x AS seq, '{}' AS json FROM c WHERE x < 0;"),
       ("a virtual table", "DROP TABLE result; CREATE VIRTUAL TABLE result USING fts5(seq, json, body);"),
       ("a column that computes", "DROP TABLE result; CREATE TABLE result(seq INTEGER PRIMARY KEY, body BLOB, json TEXT AS (hex(zeroblob(30000000))));"
        "INSERT INTO result(seq) VALUES (1);"),
       ("a check", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'TEXT,', 'TEXT CHECK (1),') WHERE name = 'result';"),
       ("no key", "DROP TABLE result; CREATE TABLE result(seq, json, body);")])
def only_plain_tables_are_read(_, script):
    for mark in (0, SEIN):
        with tempfile.TemporaryDirectory() as d:
            made(d, script, mark=mark)
            r = attack(*CONVERT, cwd=d)
            check((r.code, r.out, r.peak < ROOM), (2, b"", True), f"{r.peak >> 20} MiB {r.err}")
            check("holds no records of seine" in r.err, True, r.err)


@case
def a_value_without_measure_is_refused():
    with tempfile.TemporaryDirectory() as d:
        made(d, "UPDATE result SET body = zeroblob(400000000)")
        r = attack("convert", "--body", "b64", "x.sqlite", cwd=d)
        check((r.code, "larger than 64 MiB" in r.err, r.peak < ROOM), (2, True, True), f"{r.peak >> 20} MiB {r.err}")
        r = attack("convert", "x.sqlite", cwd=d)
        check((r.code, "1 bodies were left out" in r.err, r.peak < ROOM), (0, True, True), f"{r.peak >> 20} MiB {r.err}")
        made(d, "UPDATE result SET json = hex(zeroblob(200000000))", name="y.sqlite")
        r = attack("convert", "y.sqlite", cwd=d)
        check((r.code, "y.sqlite is damaged" in r.err, r.peak < ROOM), (2, True, True), f"{r.peak >> 20} MiB {r.err}")


def interior(child, page=4096, most=300):
    """An interior page of a table that names one child again and again (sqlite.org/fileformat, 1.6)."""
    cell = struct.pack(">IB", child, 1)
    spots = [page - len(cell) * (n + 1) for n in range(most)]
    head = struct.pack(">BHHHBI", 5, 0, most, spots[-1], 0, child) + struct.pack(f">{most}H", *spots)
    return head.ljust(spots[-1], b"\0") + cell * most


def knot(path, table, levels=5, page=4096):
    """Puts interior pages above the one row of the table: a handful of pages, and 301^levels rows."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at, count = slice((root - 1) * page, root * page), len(data) // page
    pages = [interior(count + n + 2) for n in range(levels - 1)] + [data[at]]
    data[at] = interior(count + 1)
    data[28:32] = struct.pack(">I", count + levels)
    with open(path, "wb") as f:
        f.write(data + b"".join(pages))
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:  # another reader sees rows without number
        check(len(db.execute(f"SELECT json FROM {table} LIMIT 100000").fetchall()), 100000)


SUMMARY = "INSERT INTO summary VALUES (1, '{\"v\":1,\"type\":\"summary\",\"seq\":2}');"


@rows([("result", CONVERT), ("summary", CONVERT), ("summary", APPEND)], name=lambda row: " ".join(row[1][:2]) + " " + row[0])
def a_tree_whose_branches_meet_ends(table, words):
    with tempfile.TemporaryDirectory() as d:
        made(d, SUMMARY, mark=SEIN)
        knot(os.path.join(d, "x.sqlite"), table)
        r = attack(*words, cwd=d)
        check((r.code, r.out.count(b"\n") < 100, "x.sqlite is damaged" in r.err), (2, True, True), r.err)


@rows([("triggers", "CREATE TRIGGER t AFTER INSERT ON result BEGIN INSERT INTO sink " + ENDLESS + " SELECT x FROM c; END; CREATE TABLE sink(x);"),
       ("columns that compute", "ALTER TABLE result ADD COLUMN more TEXT AS (hex(zeroblob(30000000)));"),
       ("checks", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'url TEXT NOT NULL,', "
        "'url TEXT NOT NULL CHECK (length(hex(zeroblob(30000000))) > 0),') WHERE name = 'result';"),
       ("views", "ALTER TABLE summary RENAME TO other; CREATE VIEW summary AS " + ENDLESS + " SELECT x AS run, '{}' AS json FROM c;")])
def a_file_marked_as_ours_runs_nothing_when_it_is_appended_to(_, script):
    with tempfile.TemporaryDirectory() as d:
        ours(d)
        put(d, "a.jsonl", (json.dumps({**RECORD, "url": "http://f/"}) + "\n").encode())
        with contextlib.closing(sqlite3.connect(os.path.join(d, "x.sqlite"))) as db:
            db.executescript(script)
        r = attack(*APPEND, cwd=d)
        if r.code == 0:  # triggers are off
            check(len(seine("convert", "x.sqlite", cwd=d).out.splitlines()), 2)
        else:
            check((r.code, "has other tables" in r.err), (2, True), r.err)
        check((r.peak < ROOM, os.path.getsize(os.path.join(d, "x.sqlite")) < MIB), (True, True))


@rows([("convert", APPEND), ("fetch", ["fetch", "http://127.0.0.1:1/", "--retries", "0", "-o", "x.sqlite", "--append"])])
def a_row_with_the_last_number_makes_no_numbers_below_zero(_, words):
    with tempfile.TemporaryDirectory() as d:
        made(d, f"UPDATE result SET seq = {(1 << 63) - 1}", mark=SEIN)
        before = files(d)["x.sqlite"]
        r = attack(*words, cwd=d)
        check((r.code, "has rows with the last numbers" in r.err, files(d)["x.sqlite"] == before), (2, True, True), r.err)


@case
def an_index_of_ones_own_does_not_hinder_an_append():
    with tempfile.TemporaryDirectory() as d:
        ours(d)
        with contextlib.closing(sqlite3.connect(os.path.join(d, "x.sqlite"))) as db:
            db.executescript("CREATE INDEX mine ON result(title); CREATE VIEW also_mine AS SELECT url FROM result; CREATE TABLE notes(x)")
        r = attack(*APPEND, cwd=d)
        check((r.code, r.err), (0, ""))


finish(at_once=2)
