#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that fails at any call of any output: the run ends, in order, with exit 3 (2 if nothing was sent) and one line
that names the file and the cause; records that were written before are kept, in this output and in the others; nothing
that is half written seems whole. A call that is interrupted or does half of it does no harm.

SOAK=4h, or any other, tries every output × call × error at its first, second and last time; without it a part of them."""
import os
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, SANITIZED, case, check, finish, rows  # noqa: E402
from faults import faulty  # noqa: E402
from pages import pages  # noqa: E402
from whole import read_output  # noqa: E402

URLS = 6
ALL = bool(os.environ.get("SOAK"))
PART = 1 if ALL else 7
WORDS = {"EIO": "input/output error", "ENOSPC": "no space left on device", "EACCES": "permission denied", "ENOMEM": "cannot allocate memory"}

# Where an output is written to, its options, and the files whose calls are counted.
OUTPUTS = {
    "JSON lines": ("o/x.jsonl", ("-o", "o/x.jsonl"), "*/o/x.jsonl"),
    "JSON lines, gzip": ("o/x.jsonl.gz", ("-o", "o/x.jsonl.gz"), "*/o/*"),
    "JSON lines, zstd": ("o/x.jsonl.zst", ("-o", "o/x.jsonl.zst"), "*/o/*"),
    "CSV": ("o/x.csv", ("-o", "o/x.csv"), "*/o/*"),
    "CSV, gzip": ("o/x.csv.gz", ("-o", "o/x.csv.gz"), "*/o/*"),
    "SQLite": ("o/x.sqlite", ("-o", "o/x.sqlite"), "*/o/*"),
    "WARC": ("o/x.warc.gz", ("-o", "o/x.warc.gz"), "*/o/*"),
    "bodies": ("o/save", ("--save", "o/save"), "*/o/*"),
    "summary": ("o/s.json", ("--summary", "o/s.json"), "*/o/*"),
    "metrics": ("o/m.prom", ("--metrics-file", "o/m.prom"), "*/o/*"),
    "cookies": ("o/jar", ("--cookie-jar", "o/jar"), "*/o/*"),
}
RECORDS = ("o/x.jsonl", "o/x.jsonl.gz", "o/x.jsonl.zst", "o/x.csv", "o/x.csv.gz", "o/x.sqlite", "o/x.warc.gz")
CALLS = {"open": ("ENOSPC", "EACCES"), "write": ("ENOSPC", "EIO", "SHORT", "EINTR"), "fsync": ("EIO",), "rename": ("EIO",),
         "truncate": ("EIO",), "close": ("EIO",), "mmap": ("ENOMEM",), "mkdir": ("EACCES",), "unlink": ("EIO",), "read": ("EIO", "EINTR")}
HARMLESS = ("SHORT", "EINTR")


def page(path):
    time.sleep(0.004)  # so that records come one by one
    return 200, {"Set-Cookie": f"c{path[1:]}=1; Max-Age=1000"}, f"<title>t</title>the page {path}"


def fetch(base, folder, words, rules):
    os.mkdir(os.path.join(folder, "o"))
    command = [os.path.abspath(PROGRAM), "fetch", "--mine", "-c", "1", "--progress", "off", "-o", "healthy.jsonl", *words, *(f"{base}/{i}" for i in range(URLS))]
    return faulty(rules, command, cwd=folder)


def leftovers(folder):
    """Files with temporary names, and the journals of a database that was closed."""
    return [name for _, _, names in os.walk(os.path.join(folder, "o")) for name in names if name.startswith(".seine-") or name.endswith(".part")]


def judge(r, folder, path, call, error, asked, may_be_fine):
    """Holds a run that met a fault against what is promised."""
    told = [line for line in r.err.splitlines() if line.startswith("seine: ") and not line.startswith("seine: reading stopped")]
    at = os.path.join(folder, path)
    kept = read_output(at) if path in RECORDS + ("o/save",) and os.path.exists(at) else []
    healthy = read_output(os.path.join(folder, "healthy.jsonl")) if os.path.exists(os.path.join(folder, "healthy.jsonl")) else []
    check((len(set(kept)), len(set(healthy)), leftovers(folder)), (len(kept), len(healthy), []), r.err)
    if error in HARMLESS or may_be_fine and r.code == 0:
        check((r.code, told, len(healthy)), (0, [], URLS), r.err)
        check(os.path.exists(at) and (path not in RECORDS or len(kept) == URLS), True, "all records are there")
        return
    forgets = path == "o/x.sqlite" and call == "open"  # SQLite knows no cause where its index of the WAL cannot be opened
    check((r.code, len(told)), (3 if asked else r.code if r.code in (2, 3) else 3, 1), r.err)
    check((os.path.basename(path).partition(".")[0] in told[0], WORDS[error] in told[0] or forgets), (True, True), r.err)
    if path in RECORDS and path != "o/x.sqlite" and (call in ("fsync", "close")) and "index" not in told[0]:
        check(" safe" in told[0], False, told[0])  # what did not reach the disk is not safe
    if path in RECORDS and (safe := re.search(r"([\d,]+) records? (?:is|are) safe", told[0])):
        check(int(safe[1].replace(",", "")) <= len(kept), True, f"{told[0]}: there are {len(kept)}")


def times(last):
    return sorted({1, 2, last} & set(range(1, last + 1)))


def plan(output):
    """Which calls the output makes, and how often."""
    path, words, glob = OUTPUTS[output]
    with pages({"*": page}) as p, tempfile.TemporaryDirectory() as folder:
        r = fetch(p.base, folder, words, ",".join(f"{call}:COUNT:{glob}" for call in CALLS))
        check((r.code, r.err.count("seine:")), (0, 0), r.err)
        return r.counts


def tolerated(output, call):
    """What SQLite can do without, and what is closed or removed without need."""
    return call in ("unlink", "close", "read") or output == "SQLite" and call in ("truncate",)


@rows([(name,) for name in OUTPUTS])
def a_failing_call_ends_the_run_in_order(output):
    path, words, glob = OUTPUTS[output]
    counts, seen, wrong = plan(output), 0, []
    table = [(call, error, n) for call, most in sorted(counts.items()) for error in CALLS[call] for n in times(most)]
    with pages({"*": page}) as p:
        for i, (call, error, n) in enumerate(table):
            if i % PART != 0 and not (call in ("write", "fsync") and n == 1 and error != "EINTR"):
                continue
            rule = f"{call}:{error}@{n}:{glob}"
            with tempfile.TemporaryDirectory() as folder:
                p.asked.clear()
                r = fetch(p.base, folder, words, rule)
                if not r.struck:
                    continue  # records came together, and it took fewer calls
                seen += 1
                try:
                    judge(r, folder, path, call, error, p.asked, tolerated(output, call))
                except Exception as e:
                    wrong.append(f"{rule}: {e}")
    check((seen > 0, wrong), (True, []), "\n".join(wrong))


finish(at_once=2)
