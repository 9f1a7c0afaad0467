# SPDX-License-Identifier: Apache-2.0
"""Is an output of the program whole, and which records does it hold? Each reader raises where a file is cut or damaged.

    records = read_output("x.jsonl.gz")     the URLs of results and skips, in order
"""
import csv
import gzip
import hashlib
import json
import os
import sqlite3
import subprocess
import zlib

from e2e import PROGRAM


class Damaged(Exception):
    """A file that is not what it seems."""


def lines_of(data, path):
    if data and not data.endswith(b"\n"):
        raise Damaged(f"{path}: the last line is cut")
    return data.decode().splitlines()


def unpack(path):
    with open(path, "rb") as f:
        data = f.read()
    try:
        if path.endswith(".gz"):
            return gzip.decompress(data) if data else b""
        if path.endswith(".zst"):
            return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout if data else b""
    except (EOFError, OSError, zlib.error, subprocess.CalledProcessError) as e:
        raise Damaged(f"{path}: {e}") from e
    return data


def read_jsonl(path):
    records = [json.loads(line) for line in lines_of(unpack(path), path)]
    return [r["url"] for r in records if r["type"] in ("result", "skip")]


def read_csv(path):
    table = list(csv.reader(lines_of(unpack(path), path)))
    if not table:
        return []
    if any(len(row) != len(table[0]) for row in table):
        raise Damaged(f"{path}: a row has another number of cells")
    return [row[table[0].index("url")] for row in table[1:]]


def read_sqlite(path):
    if os.stat(path).st_size == 0:
        return []
    with sqlite3.connect(f"file:{path}", uri=True) as db:
        if (found := db.execute("PRAGMA integrity_check").fetchall()) != [("ok",)]:
            raise Damaged(f"{path}: {found}")
        return [row[0] for row in db.execute("SELECT url FROM result UNION ALL SELECT url FROM skip")]


def read_warc(path):
    if os.stat(path).st_size == 0:
        return []
    r = subprocess.run([PROGRAM, "warc", "check", path], capture_output=True, text=True, check=False)
    if r.returncode != 0:
        raise Damaged(f"{path}: {r.stdout}{r.stderr}")
    listed = subprocess.run([PROGRAM, "warc", "ls", "--jsonl", path], capture_output=True, text=True, check=True)
    records = [json.loads(line) for line in listed.stdout.splitlines()]
    return [r["target"] for r in records if r["type"] == "response"]


def read_saved(folder):
    """Bodies by their hash: a file is all of its body."""
    names = [os.path.join(where, name) for where, _, names in os.walk(folder) for name in names]
    for path in names:
        digest = os.path.basename(os.path.dirname(path)) + os.path.basename(path).partition(".")[0]
        with open(path, "rb") as f:
            if hashlib.sha256(f.read()).hexdigest() != digest:
                raise Damaged(f"{path}: not the body of that name")
    return names


READERS = (((".jsonl", ".jsonl.gz", ".jsonl.zst"), read_jsonl), ((".csv", ".csv.gz", ".csv.zst"), read_csv), ((".sqlite",), read_sqlite),
           ((".warc", ".warc.gz"), read_warc))


def read_output(path):
    if os.path.isdir(path):
        return read_saved(path)
    for endings, read in READERS:
        if path.endswith(endings):
            return read(path)
    raise ValueError(f"{path}: no reader")
