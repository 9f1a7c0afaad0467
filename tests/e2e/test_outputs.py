#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run leaves behind, read by other people's programs: packed lines, SQLite, bodies;
after kill -9, with readers beside it, on a full disk, behind a slow reader."""
import csv
import gzip
import hashlib
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, NO_TSAN_FILE, PATIENCE, PROGRAM, SEED, SOAKED, case, check, environment, finish, rows, seine  # noqa: E402
from origin import origin, records, results, summary  # noqa: E402

MINE = ("--mine", "--progress", "off", "--retries", "0", "--fail-on", "none")


def tool(*words, code=0):
    p = subprocess.run(words, capture_output=True, timeout=PATIENCE)
    if code is not None:
        check(p.returncode, code, f"{words} {p.stderr.decode()}")
    return p.stdout.decode()


def start(*words, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([os.path.abspath(PROGRAM), "fetch", *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=environment(), **kw)


def end(p, seconds=60):
    return p.wait(seconds), p.stderr.read().decode()


def query(path, sql):
    c = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return c.execute(sql).fetchall()
    finally:
        c.close()


def whole(path):
    """The text of all whole gzip members, and whether there is something behind them."""
    with open(path, "rb") as f:
        data = f.read()
    text = b""
    while data:
        d = zlib.decompressobj(31)
        part = d.decompress(data)
        if not d.eof:
            return text.decode(), True
        text += part
        data = d.unused_data
    return text.decode(), False


@case
def all_outputs_hold_the_same_records():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url(f"/html?n={n}") for n in range(40)] + [o.url("/status:404"), o.url("/fin:50/bytes:900"), "ftp://e.example/"]
        r = seine("fetch", *MINE, "-o", "a.jsonl", "-o", "b.csv", "-o", "c.jsonl.gz", "-o", "d.csv.zst", "-o", "e.sqlite", "-o", "jsonl.zst:f",
                  "--save", "bodies", *urls, cwd=where)
        check((r.code, r.out), (0, ""), r.err)
        at = lambda name: os.path.join(where, name)  # noqa: E731
        with open(at("a.jsonl"), encoding="utf-8") as f:
            lines = f.read()
        check(tool("gzip", "-dc", at("c.jsonl.gz")), lines)
        check(tool("zstd", "-dc", at("f")), lines)
        check(tool("zstd", "-dc", at("d.csv.zst")), open(at("b.csv"), encoding="utf-8", newline="").read())
        check(records(lines)[-1]["type"], "summary")
        rows_ = list(csv.DictReader(io.StringIO(tool("zstd", "-dc", at("d.csv.zst")))))
        check([int(row["seq"]) for row in rows_], [r["seq"] for r in results(lines)])
        got = [json.loads(j) for (j,) in query(at("e.sqlite"), "SELECT json FROM result ORDER BY seq")]
        check(got, [r for r in records(lines) if r["type"] == "result"])
        check(query(at("e.sqlite"), "SELECT seq, url, reason FROM skip"),
              [(r["seq"], r["url"], r["reason"]) for r in records(lines) if r["type"] == "skip"])
        check(query(at("e.sqlite"), "SELECT run, json FROM summary"), [(1, lines.splitlines()[-1])])


@case
def sqlite_is_what_the_specification_says():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "x.sqlite")
        before = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
        r = seine("fetch", *MINE, "--body", "text", "--fields", "+sha256", "-o", path, o.url("/bytes:5000"), o.url("/status:503"))
        check(r.code, 0, r.err)
        meta = dict(query(path, "SELECT key, value FROM seine_meta"))
        check(sorted(meta), ["command", "finished", "schema", "started", "version"])
        check((meta["schema"], meta["command"]), ("1", "fetch"))
        check(before <= meta["started"] <= meta["finished"], True, str(meta))
        columns = ("seq key ts input url final_url host ip depth parent outcome status error_kind error_message attempts content_type charset bytes_in "
                   "bytes_body time_total time_wait sha256 title change body json").split()
        check([c[1] for c in query(path, "PRAGMA table_info(result)")], columns)
        check(sorted(n for (n,) in query(path, "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")),
              ["failed", "item_error", "link", "result", "result_host", "result_outcome", "seine_meta", "skip", "skip_reason", "summary", "timeline"])
        ok = query(path, "SELECT url, outcome, status, error_kind, bytes_body, sha256, body, json, time_total FROM result WHERE outcome = 'ok'")[0]
        record = json.loads(ok[7])
        check(ok[:5], (o.url("/bytes:5000"), "ok", 200, None, 5000))
        check(ok[5], hashlib.sha256(ok[6]).hexdigest())
        check((record["sha256"], record["time"]["total"]), (ok[5], ok[8]))
        check("body" in record, False)  # it has its column
        check(query(path, "SELECT outcome, status, error_kind, error_message FROM failed"), [("http_error", 503, "http_busy", "HTTP 503")])
        check(tool("sqlite3", path, "PRAGMA integrity_check; PRAGMA journal_mode; PRAGMA application_id; PRAGMA user_version"), "ok\nwal\n1397049678\n1\n")
        check(os.listdir(where), ["x.sqlite"])


@case
def sqlite_goes_on_behind_what_is_there():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "x.sqlite")
        check(seine("fetch", *MINE, "-o", path, o.url("/ok?n=1"), o.url("/ok?n=2")).code, 0)
        r = seine("fetch", *MINE, "-o", path, o.url("/ok?n=2"))
        check((r.code, "exists (" in r.err and "belongs to no unfinished job" in r.err), (2, True), r.err)
        check(seine("fetch", *MINE, "--append", "-o", path, o.url("/status:404?n=2"), o.url("/ok?n=2")).code, 0)
        check(query(path, "SELECT count(*), count(DISTINCT key), max(seq) FROM result"), [(3, 3, 5)])
        check(query(path, "SELECT run FROM summary"), [(1,), (2,)])
        check(seine("fetch", *MINE, "--append", "--dedup", "off", "-o", path, o.url("/ok?n=2")).code, 2)
        check(seine("fetch", *MINE, "--overwrite", "--dedup", "off", "-o", path, o.url("/ok"), o.url("/ok")).code, 0)
        check(query(path, "SELECT key FROM result"), [(o.url("/ok"),)] * 2)


def foreign(path):
    c = sqlite3.connect(path)
    c.execute("CREATE TABLE mine(x)")
    c.commit()
    c.close()


def newer(path):
    check(seine("fetch", "-o", path, "--fail-on", "none", "--retries", "0", "http://127.0.0.1:9/").code, 0)
    c = sqlite3.connect(path)
    c.execute("PRAGMA user_version = 2")
    c.close()


def stripped(path):
    check(seine("fetch", "-o", path, "--fail-on", "none", "--retries", "0", "http://127.0.0.1:9/").code, 0)
    c = sqlite3.connect(path)
    c.execute("DROP TABLE skip")
    c.commit()
    c.close()


def text(path):
    with open(path, "w", encoding="utf-8") as f:
        f.write("a list of mine\n" * 20)


def link(path):
    foreign(path + ".real")
    os.symlink(path + ".real", path)


@rows([("foreign", foreign, "is a database of another program"), ("newer", newer, "has schema 2, and this version writes 1"),
       ("stripped", stripped, "has other tables"), ("text", text, "is no SQLite database"), ("link", link, "is a symbolic link"),
       ("directory", os.mkdir, "is no plain file")])
def sqlite_of_others_is_left_alone(name, make, why):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "x.sqlite")
        make(path)
        read = lambda: open(path, "rb").read() if os.path.isfile(path) else None  # noqa: E731
        before, names = read(), sorted(os.listdir(where))
        r = seine("fetch", "--append", "-o", path, o.url("/ok"))
        check((r.code, why in r.err, "\ntry: " in r.err), (2, True, True), r.err)
        check((read() == before, sorted(os.listdir(where))), (True, names))
        check(o.log(), [])


@case
def sqlite_is_read_while_it_is_written():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "x.sqlite")
        listing = os.path.join(where, "urls")
        with open(listing, "w", encoding="utf-8") as f:
            f.writelines(o.url(f"/ok?n={n}\n") for n in range(600))
        p = start(*MINE, "-r", "400/s", "-o", path, "-i", listing)
        seen = []
        while p.poll() is None:
            if os.path.exists(path) and os.path.getsize(path):
                seen.append(int(tool("sqlite3", "-readonly", "-cmd", ".timeout 5000", path, "SELECT count(*) FROM result")))
                seen.append(query(path, "SELECT count(*) FROM result")[0][0])
            time.sleep(0.02)
        check(end(p)[0], 0)
        check(seen, sorted(seen))
        check(len(set(seen)) > 3, True, str(seen))
        check(query(path, "SELECT count(*) FROM result"), [(600,)])


@case
def killed_at_any_moment_files_are_whole_up_to_the_last_commit():
    """Again and again kill -9, each time appended to; at the end nothing is twice, nothing that was there is missing, and every tool reads it."""
    dice = random.Random(SEED)
    with origin() as o, tempfile.TemporaryDirectory() as where:
        gz, zst, db = (os.path.join(where, n) for n in ("k.jsonl.gz", "k.csv.zst", "k.sqlite"))
        listing, before, torn, rows_before = os.path.join(where, "urls"), "", 0, 0
        for n in range(50 if SOAKED else 12):
            with open(listing, "w", encoding="utf-8") as f:
                f.writelines(o.url(f"/html?n={n}-{k}\n") for k in range(4000))
            # Half a second of work; then it waits for the rest of its input, which never comes.
            p = start(*MINE, "-r", "8000/s", "--append", "-o", gz, "-o", zst, "-o", db, "-i", listing, "-", stdin=subprocess.PIPE)
            if n % 3 == 0:  # anywhere: before, within and behind the opening of files
                time.sleep(0.05 * dice.random())
            else:  # while it writes
                size, late = os.path.getsize(gz) if os.path.exists(gz) else 0, time.monotonic() + 10
                while time.monotonic() < late and not (os.path.exists(gz) and os.path.getsize(gz) > size):
                    time.sleep(0.001)
                time.sleep(0.15 * dice.random())
            p.kill()
            code, err = end(p)
            check(code, -signal.SIGKILL, err)
            if os.path.exists(gz):
                text_, is_torn = whole(gz)
                check(text_.startswith(before), True, "a record that was there is gone")
                if n % 2 == 1 and not is_torn and os.path.getsize(gz) > 40:  # a kill within a write is rare: every second end is torn here
                    os.truncate(gz, os.path.getsize(gz) - dice.randrange(1, 40))
                    text_, is_torn = whole(gz)
                torn += is_torn
                before = text_
            if os.path.exists(db) and os.path.getsize(db):
                check(tool("sqlite3", db, "PRAGMA integrity_check"), "ok\n")
                count = query(db, "SELECT count(*) FROM result")[0][0]
                check(count >= rows_before, True)
                rows_before = count
        r = seine("fetch", *MINE, "--append", "-o", gz, "-o", zst, "-o", db, o.url("/html?n=last"))
        check(r.code, 0, r.err)
        tool("gzip", "-t", gz)
        tool("zstd", "-tq", zst)
        lines = gzip.open(gz, "rt", encoding="utf-8").read()
        check(lines.startswith(before), True)
        urls = [r["url"] for r in results(lines)]
        check(len(urls), len(set(urls)))
        table = list(csv.DictReader(io.StringIO(tool("zstd", "-dc", zst))))
        check(len(table), len({row["url"] for row in table}))
        check(tool("sqlite3", db, "PRAGMA integrity_check"), "ok\n")
        check(query(db, "SELECT count(*) FROM result")[0][0] > rows_before, True)
        check(len(urls) > 100, True, str(len(urls)))
        check(torn >= 4, True, f"{torn} ends were torn: too few to say that the next run cuts them off")


@rows([("x.jsonl.gz", 300_000), ("x.csv.zst", 300_000), ("x.sqlite", 4_000_000), ("x.jsonl", 300_000)])
def a_full_disk_is_exit_3_and_the_file_is_whole(name, limit):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        listing = os.path.join(where, "urls")
        with open(listing, "w", encoding="utf-8") as f:
            f.writelines(o.url(f"/html?n={random.random()}\n") for n in range(30000))
        p = subprocess.run(["prlimit", f"--fsize={limit}", os.path.abspath(PROGRAM), "fetch", *MINE, "-o", name, "-i", "urls"], stdin=subprocess.DEVNULL,
                           capture_output=True, env=environment(NO_TSAN_FILE), cwd=where, timeout=PATIENCE)
        code, err = p.returncode, p.stderr.decode()
        check(code, 3, err)
        check(f"seine: cannot write {name}: " in err and " records are safe" in err, True, err)
        safe = int(err.split(" records are safe")[0].rsplit(" ", 1)[1].replace(",", ""))
        path = os.path.join(where, name)
        if name.endswith("sqlite"):
            check(tool("sqlite3", path, "PRAGMA integrity_check"), "ok\n")
            check(query(path, "SELECT count(*) FROM result"), [(safe,)])
            check(query(path, "SELECT count(*) FROM seine_meta WHERE key = 'finished'"), [(0,)])
        elif name.endswith("gz"):
            check(len(tool("gzip", "-dc", path).splitlines()), safe)
        elif name.endswith("zst"):
            check(len(tool("zstd", "-dc", path).splitlines()), safe + 1)
        check(safe > 50, True, str(safe))


@case
def bodies_are_saved_under_the_hash_of_their_bytes():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        words = [*MINE, "-j", "--body", "file", "--save", "pages"]
        r = seine("fetch", *words, o.url("/bytes:5000?a"), o.url("/bytes:5000?b"), o.url("/html"), o.url("/status:404"), o.url("/fin:50/bytes:900"),
                  o.url("/empty"), cwd=where)
        check(r.code, 0, r.err)
        got = {x["url"][len(o.base):]: x for x in results(r.out)}
        check("body_file" in got["/fin:50/bytes:900"], False)  # not whole
        check(got["/html"]["body_file"][-5:], ".html")
        check(got["/bytes:5000?a"]["body_file"], got["/bytes:5000?b"]["body_file"])
        names = {x["body_file"] for x in got.values() if "body_file" in x}
        there = {os.path.relpath(os.path.join(d, f), os.path.join(where, "pages")) for d, _, files in os.walk(os.path.join(where, "pages")) for f in files}
        check(there, names)
        for name in names:
            with open(os.path.join(where, "pages", name), "rb") as f:
                check(hashlib.sha256(f.read()).hexdigest(), name[:2] + name[3:].split(".")[0])
        times = {name: os.stat(os.path.join(where, "pages", name)).st_mtime_ns for name in names}
        check(seine("fetch", *words, o.url("/html"), cwd=where).code, 0)
        check({name: os.stat(os.path.join(where, "pages", name)).st_mtime_ns for name in names}, times)


@case
def bodies_are_saved_nowhere_else():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        os.mkdir(os.path.join(where, "elsewhere"))
        os.mkdir(os.path.join(where, "pages"))
        digest = hashlib.sha256(b"ok\n").hexdigest()
        os.symlink("../elsewhere", os.path.join(where, "pages", digest[:2]))
        r = seine("fetch", *MINE, "--save", "pages", o.url("/ok"), cwd=where)
        check((r.code, "cannot write pages: " in r.err), (3, True), r.err)
        check(os.listdir(os.path.join(where, "elsewhere")), [])
        with open(os.path.join(where, "file"), "w", encoding="utf-8"):
            pass
        os.symlink("elsewhere", os.path.join(where, "alias"))
        for name, why in (("file", "file is not a directory"), ("alias", "is a symbolic link"), ("no/such", "no such file or directory")):
            r = seine("fetch", *MINE, "--save", name, o.url("/ok"), cwd=where)
            check((r.code, why in r.err, "\ntry: " in r.err), (2, True, True), r.err)
        r = seine("fetch", *MINE, "--save", "new", "-o", "x.xml", o.url("/ok"), cwd=where)
        check((r.code, os.path.exists(os.path.join(where, "new"))), (2, False), r.err)


@case
def packed_lists_are_read():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        listing = "".join(o.url(f"/ok?n={n}\n") for n in range(300)).encode()
        packed = gzip.compress(listing[:5000]) + gzip.compress(listing[5000:])
        with open(os.path.join(where, "u.txt.gz"), "wb") as f:
            f.write(packed)
        r = seine("fetch", *MINE, "-j", "-i", "u.txt.gz", cwd=where)
        check((r.code, len(results(r.out))), (0, 300), r.err)
        r = seine("fetch", *MINE, "-j", "-", stdin=subprocess.run(["zstd", "-c"], input=listing, capture_output=True, check=True).stdout)
        check((r.code, len(results(r.out))), (0, 300), r.err)
        with open(os.path.join(where, "cut.gz"), "wb") as f:
            f.write(packed[:-9])
        r = seine("fetch", *MINE, "-j", "-i", "cut.gz", cwd=where)
        got = results(r.out)
        check((r.code, summary(r.out)["exit_code"]), (3, 3), r.err)
        check("cut.gz: the packed bytes are cut off behind line " in r.err, True, r.err)
        check(0 < len(got) <= 300 and all(x["ok"] for x in got), True)


@case
def one_file_is_one_output():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for one, two in (("a.jsonl", "./a.jsonl"), ("a.sqlite", "sqlite:a.sqlite"), ("a.csv.gz", "csv.gz:a.csv.gz"), ("a.html", "./a.html"),
                         ("a.html", "jsonl:./a.html")):
            r = seine("fetch", "-o", one, "-o", two, o.url("/ok"), cwd=where)
            check((r.code, "is an output already" in r.err, os.listdir(where)), (2, True, []), r.err)
        check(o.log(), [])
        r = subprocess.run([os.path.abspath(PROGRAM), "fetch", *MINE, "-o", "csv.gz:-", o.url("/ok")], capture_output=True, env=environment(), timeout=PATIENCE)
        check(len(gzip.decompress(r.stdout).decode().splitlines()), 2)


@case
def a_slow_reader_costs_time_and_no_memory():
    """120 MB of bodies through a pipe that nobody reads for a while: everything arrives, and at no time is it all in memory."""
    with origin() as o, tempfile.TemporaryDirectory() as where:
        fifo, listing = os.path.join(where, "pipe.jsonl"), os.path.join(where, "urls")
        os.mkfifo(fifo)
        with open(listing, "w", encoding="utf-8") as f:
            f.writelines(o.url(f"/bytes:30000?n={n}\n") for n in range(3000))
        p = start(*MINE, "--body", "b64", "-o", fifo, "-i", listing)
        with open(fifo, "rb") as f:
            first = f.readline()
            asked, before = 0, -1
            while asked != before:  # until it asks for nothing more
                time.sleep(0.3)
                asked, before = o.report()["totals"]["requests"], asked
            with open(f"/proc/{p.pid}/status", encoding="utf-8") as status:
                held = int(next(line for line in status if line.startswith("VmHWM")).split()[1]) // 1024
            lines = [first, *f.readlines()]
        check(end(p)[0], 0)
        got = [json.loads(line) for line in lines]
        check(sorted(r["seq"] for r in got), list(range(1, 3002)))
        check(held < (1000 if "san" in os.path.basename(BUILD) else 60), True, f"{held} MB")


finish(at_once=4)
