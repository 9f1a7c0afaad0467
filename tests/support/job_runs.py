# SPDX-License-Identifier: Apache-2.0
"""Runs of a job that are killed, and what their outputs hold.

    kills, r = to_the_end(where, "crawl", url, *outputs(), kills=4)
    complete(where, want)                      every record once in every output
"""
import collections
import csv
import gzip
import io
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from e2e import PROGRAM, UNHURRIED, check, environment, seine
from job_rows import RESULT_URL, URL_NUMBER, URL_PATH, rows_of

DURABLE = {"SEINE_DURABILITY": "full"}
SEED = int(os.environ.get("JOBS_SEED", "0")) or random.randrange(1, 1 << 32)
DICE = random.Random(SEED)
SITE = "5:300:fan=8:broken=5:redir=8:robots=8:sitemap=on"
LIST_PACE = ("--host-rate", "400/s", "--host-burst", "1", "--no-adaptive", "--per-host", "8", "--per-ip", "off", "--backoff", "5ms..20ms", *UNHURRIED)
PACE = (*LIST_PACE, "-l", "off", "--fail-on", "none")  # of crawls, whose sites have broken pages
FILES = ("all.jsonl", "all.csv", "packed.jsonl.gz", "packed.csv.gz", "small.jsonl.zst", "all.sqlite", "all.warc.gz", "plain.warc")


def start(where, *words, stdin=subprocess.DEVNULL):
    return subprocess.Popen([os.path.abspath(PROGRAM), *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=where,
                            env=environment(DURABLE))


def run(where, *words, stdin="", crash=""):
    return seine(*words, stdin=stdin, cwd=where, env={**DURABLE, "SEINE_CRASH": crash} if crash else DURABLE)


def progress(where):
    """The bytes of the first output: how far a run is."""
    try:
        return os.path.getsize(os.path.join(where, "all.jsonl"))
    except OSError:
        return 0


def kill_later(where, process, grown):
    """kill -9 when the first output has grown by so many bytes, or a moment later. False: it has ended before."""
    at = progress(where) + grown
    while process.poll() is None and progress(where) < at:
        time.sleep(0.001)
    if process.poll() is not None:
        process.communicate()
        return False
    time.sleep(DICE.random() * 0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def to_the_end(where, *words, kills=4, step=20000):
    """Runs the command until it ends by itself, killed so many times before. How often it was."""
    n = 0
    while n < kills and kill_later(where, start(where, *words), DICE.randrange(1, step)):
        n += 1
    r = run(where, *words)
    if r.code == 2 and "is finished" in r.err:  # it had ended before the last kill
        return n, None
    return n, r


def outputs(names=FILES):
    return [w for name in names for w in ("-o", name)]


def read(path, name):
    with open(os.path.join(path, name), "rb") as f:
        data = f.read()
    if name.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout.decode()
    return (gzip.decompress(data) if name.endswith(".gz") else data).decode("utf-8", "surrogateescape")


def urls_of(path, name):
    """The URLs of the results and skips of an output, as often as they are there."""
    if name.endswith(".sqlite"):
        with sqlite3.connect(os.path.join(path, name)) as db:
            check(db.execute("PRAGMA integrity_check").fetchone()[0], "ok", name)
            return [r[0] for r in db.execute("SELECT url FROM result UNION ALL SELECT url FROM skip")]
    text = read(path, name)
    if "warc" in name:
        return re.findall(r"WARC-Type: request\r\n(?:.*\r\n)*?WARC-Target-URI: (\S+)", text)
    if ".csv" in name:
        return [r["url"] for r in csv.DictReader(io.StringIO(text))]
    return [r.get("url", r["input"]) for r in map(json.loads, text.splitlines()) if r["type"] in ("result", "skip")]


def twice(urls):
    return sorted(u for u, n in collections.Counter(urls).items() if n > 1)


def known(path, name="all.jsonl"):
    """What is the same in every run of a record: which URL ended how."""
    return {(r.get("url", r["input"]), r.get("status", r.get("reason"))) for r in map(json.loads, read(path, name).splitlines()) if r["type"] in ("result", "skip")}


def uninterrupted(*words):
    with tempfile.TemporaryDirectory() as where:
        r = seine(*words, "-o", "all.jsonl", cwd=where)
        return r, known(where)


def complete(where, want, names=FILES):
    check(known(where), want, "records")
    check(twice(urls_of(where, "all.jsonl")), [], "twice")
    seqs = [r["seq"] for r in map(json.loads, read(where, "all.jsonl").splitlines())]
    check(seqs, sorted(set(seqs)), "seq rises")
    fetched = {r["url"] for r in map(json.loads, read(where, "all.jsonl").splitlines()) if r["type"] == "result"}
    for name in names[1:]:
        got = urls_of(where, name)
        check(twice(got), [], f"twice in {name}")
        every = fetched if "warc" in name else {u for u, _ in want}
        check(set(got) ^ every if ".csv" not in name else set(got) - {u for u, _ in want}, set(), f"{name} and the records")


def ended(where, job):
    """The paths that the state of a job says have ended, as a run after a kill would find it; of a copy, since reading a WAL changes it."""
    folder = os.path.join(where, ".seine", job)
    with tempfile.TemporaryDirectory() as copy:
        for name in ("job.db", "job.db-wal"):
            if os.path.exists(os.path.join(folder, name)):
                shutil.copy(os.path.join(folder, name), copy)
        if not os.path.exists(os.path.join(copy, "job.db")):
            return set()
        with sqlite3.connect(os.path.join(copy, "job.db")) as db:
            done = {row[RESULT_URL] for row in rows_of(db, "results")} | {url for url, in db.execute("SELECT url FROM ended")}
            texts = [row[URL_PATH] for row in rows_of(db, "urls") if row[URL_NUMBER] in done]
            robots = db.execute("SELECT count(*) FROM robots").fetchone()[0]
    paths = {text if text.startswith("/") else text.partition("//")[2].partition("/")[1] + text.partition("//")[2].partition("/")[2] for text in texts}
    return paths | ({"/robots.txt"} if robots else set())
