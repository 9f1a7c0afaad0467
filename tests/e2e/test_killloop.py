#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/killloop finds what a job that is killed loses, doubles or damages, and says so; a job that survives passes.
The jobs are small scripts that keep their state well or badly."""
import gzip
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, ROOT, case, check, environment, finish, patiently, rows  # noqa: E402

KILLLOOP = os.path.join(ROOT, "tools", "killloop")

# Writes a hundred records, one each 10 ms times the scale, and goes on where the file ends. Half of the next record is there while it waits:
# wherever the kill comes, the file has a torn end.
JOB = r"""
import json, os, sys, time
path, mode, scale = sys.argv[1], sys.argv[2], float(sys.argv[3])
lines = open(path).read().splitlines(True) if os.path.exists(path) else []
if lines and not lines[-1].endswith("\n"):
    lines.pop()  # a line that was cut by the kill
begin = 0 if mode == "forgets" else len(lines)
with open(path, "a") as f:
    if mode != "appends":
        f.truncate(sum(map(len, lines)))
    for n in range(begin, 100):
        line = json.dumps({"type": "result", "url": f"http://e.example/{n}"}) + "\n"
        f.write(line[:9])
        f.flush()
        time.sleep(0.01 * scale)
        f.write(line[9:])
    if mode == "hangs":
        time.sleep(1000)
sys.exit(3 if mode == "fails" else 0)
"""


def killloop(folder, mode, *words, scale=1):
    path = os.path.join(folder, "x.jsonl")
    command = [KILLLOOP, "--min", str(0.2 * scale), "--max", str(0.5 * scale), *words, "--check", path, "--", sys.executable, "-S", "-E", "-c", JOB, path, mode, str(scale)]
    return subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False)


@case
def a_job_that_goes_on_where_it_was_survives():
    with tempfile.TemporaryDirectory() as folder:
        r = killloop(folder, "well", "--kills", "3", "--seed", "7")
    check((r.returncode, "seed 7" in r.stdout, "x.jsonl: 100 records, 0 twice" in r.stdout), (0, True, True), r.stdout + r.stderr)
    check(re.search(r"[123] kills, [234] starts, exit code 0, .* all is well", r.stdout) is not None, True, r.stdout)


@rows([("forgets", "twice: http://e.example/0"), ("appends", "x.jsonl"), ("fails", "exit code 3, not 0")])
def a_job_that_does_not_is_found(mode, word):
    def run(scale):
        with tempfile.TemporaryDirectory() as folder:
            r = killloop(folder, mode, "--kills", "3", "--seed", "8", scale=scale)
        check((r.returncode, word in r.stdout, "NOT well" in r.stdout), (1, True, True), r.stdout + r.stderr)
    patiently(run)


@case
def another_exit_code_may_be_right():
    with tempfile.TemporaryDirectory() as folder:
        r = killloop(folder, "fails", "--kills", "1", "--exit", "3")
    check(r.returncode, 0, r.stdout + r.stderr)


@case
def a_job_that_never_ends_is_ended():
    with tempfile.TemporaryDirectory() as folder:
        r = killloop(folder, "hangs", "--kills", "0", "--limit", "3")
    check((r.returncode, "did not end within 3 s" in r.stdout), (1, True), r.stdout + r.stderr)


def look_at(name, data):
    """What killloop says of a file that the command has left as it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(data)
        r = subprocess.run([KILLLOOP, "--kills", "0", "--check", path, "--", "true"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return r.returncode, r.stdout


LINE = b'{"type":"result","url":"http://e.example/"}\n'
DAMAGES = [
    ("x.jsonl", LINE, 0), ("x.jsonl", LINE[:-1], 1), ("x.jsonl", LINE[:20] + b"\n", 1), ("x.jsonl", LINE + LINE, 1), ("x.jsonl", b"", 0),
    ("x.jsonl.gz", gzip.compress(LINE), 0), ("x.jsonl.gz", gzip.compress(LINE)[:-3], 1), ("x.jsonl.gz", gzip.compress(LINE[:20]), 1),
    ("x.jsonl.zst", b"no frame", 1), ("x.csv", b"seq,url\n1,http://e.example/\n", 0), ("x.csv", b"seq,url\n1\n", 1), ("x.csv", b"seq,url\n1,x\n2,x\n", 1),
    ("x.sqlite", b"SQLite format 3\0" + bytes(500), 1), ("x.txt", b"", 1),
]


@rows([(f"{i} {name}", name, data, code) for i, (name, data, code) in enumerate(DAMAGES)])
def a_file_is_looked_at(_, name, data, code):
    got, said = look_at(name, data)
    check(got, code, said)


@case
def outputs_of_seine_are_found_by_themselves():
    with tempfile.TemporaryDirectory() as folder:
        words = ["-o", "a.jsonl", "--output=b.csv", "-oc.sqlite", "-o", "d.warc.gz", "--save", "bodies", "http://127.0.0.1:1/"]
        command = [KILLLOOP, "--kills", "0", "--exit", "1", "--", os.path.abspath(PROGRAM), "fetch", "--mine", "--retries", "0", *words]
        r = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=folder, timeout=PATIENCE, check=False)
    check([line.split()[1] for line in r.stdout.splitlines() if "records," in line], ["a.jsonl:", "b.csv:", "c.sqlite:", "d.warc.gz:", "bodies:"], r.stdout)
    check(r.returncode, 0, r.stdout + r.stderr)


finish(at_once=3)
