#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of strangers, and files for strangers' programs: tables that would be run as formulas, lists and pages that would never end."""
import contextlib
import csv
import functools
import io
import itertools
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, SANITIZED, case, check, environment, finish, rows, seine  # noqa: E402
from hostile import attack  # noqa: E402

MIB = 1 << 20
ROOM = 256 * MIB
SIGNS = tuple("=+-@\t\r＝＋－＠−")
RECORD = {"v": 1, "type": "result", "seq": 1, "ts": "2026-11-15T19:20:01.000000Z", "url": "http://e/", "outcome": "ok", "ok": True}
FORMULAS = ["=1+cmd|' /C calc'!A0", "+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "＝1", " =1", "\u00a0=1", "\ufeff=1"]
CELLS = FORMULAS + [f"a{s}{f}{s}b" for s, f in itertools.product((";", "\t", "\n", "\r\n", ",", '"', '";', ';"'), FORMULAS)]


def naive(text, separator):
    """The cells of a spreadsheet that separates so: quotes count at the beginning of a cell alone."""
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
        yield from row
    for line in text.splitlines() if separator != "," else []:  # and of one that knows no quotes
        yield from line.split(separator)


def is_run(cell):
    cell = cell.lstrip(" \u00a0\ufeff\u200b")
    return cell.startswith(SIGNS) and not cell.lstrip("-").replace(".", "").isdigit()


@rows([("objects", lambda t: {"a": "x", "b": t, "c": "y"}), ("records", lambda t: {**RECORD, "title": t})])
def no_cell_is_a_formula_whatever_separates_cells(_, make):
    for text in CELLS:
        out = attack("convert", "--to", "csv", "-q", stdin=json.dumps(make(text)) + "\n").out.decode()
        for separator in ",;\t":
            bad = [c for c in naive(out, separator) if is_run(c)]
            check(bad, [], f"{text!r} between {separator!r}: {out!r}")


@case
def guards_come_off_again():
    lines = "".join(json.dumps({**RECORD, "seq": n + 1, "title": t}) + "\n" for n, t in enumerate(CELLS))
    back = seine("convert", "--from", "csv", stdin=seine("convert", "--to", "csv", "-q", stdin=lines).out).out
    check([json.loads(line)["title"] for line in back.splitlines()], CELLS)


def put(d, name, data):
    with open(os.path.join(d, name), "wb") as f:
        f.write(data)


@rows([("deep JSON", ["convert", "--from", "jsonl", "x"], b"[" * MIB + b"]" * MIB), ("deep objects", ["convert", "--from", "jsonl", "x"], b'{"a":' * MIB),
       ("deep JSON", ["json", "check", "x"], b"[" * MIB), ("a long number", ["json", "check", "x"], b"1" * 8 * MIB),
       ("a line without end", ["convert", "--from", "jsonl", "x"], b'{"a":"' + b"x" * (80 * MIB)),
       ("a cell without end", ["convert", "--from", "csv", "x"], b'a\n"' + b"x" * (20 * MIB)), ("many columns", ["convert", "--from", "csv", "x"], b"a," * MIB),
       ("many names", ["convert", "--from", "jsonl", "--to", "csv", "x"], b"{" + b",".join(b'"%d":1' % n for n in range(200000)) + b"}"),
       ("zeros", ["convert", "--from", "jsonl", "x"], bytes(8 * MIB)), ("zeros", ["url", "parse", "-"], None)], name=lambda row: row[0] + " " + " ".join(row[1][:2]))
def what_has_no_measure_ends(_, words, data):
    with tempfile.TemporaryDirectory() as d:
        if data is not None:
            put(d, "x", data)
        r = attack(*words, cwd=d, stdin=b"" if data is not None else bytes(8 * MIB))
        check((r.code in (0, 1, 2), r.peak < ROOM), (True, True), f"{r.code} {r.peak >> 20} MiB {r.err[:200]}")


@rows([("names of a megabyte", ["convert", "--from", "csv", "-"], b"a" * MIB + b",b\n" + b",\n" * 20),
       ("names of a megabyte", ["fetch", "--retries", "0", "-q", "-j", "--fields", "+tags", "--input-format", "csv", "-"],
        b"url," + b"a" * 900000 + b"\n" + b"http://127.0.0.1:9/,\n" * 20),
       ("columns without number", ["convert", "--to", "csv", "-"], b"{" + b",".join(b'"%d":1' % n for n in range(50000)) + b"}\n" + b"{}\n" * 20)],
      name=lambda row: row[0] + " " + row[1][0])
def a_row_of_two_bytes_does_not_become_a_megabyte(_, words, data):
    r = attack(*words, stdin=data)
    check((r.code in (1, 2, 3), len(r.out) < 2 * MIB), (True, True), f"{r.code} {len(r.out)} {r.err[:200]}")


@case
def zeros_that_stand_for_others_have_room():
    """Each of them becomes three bytes, and a URL stands for the key that is missing."""
    with tempfile.TemporaryDirectory() as d:
        zeros = "\0" * 20000
        put(d, "x.jsonl", json.dumps({"v": 1, "type": "result", "seq": 1, "outcome": "ok", "url": zeros, "input": zeros}).encode())
        r = attack("convert", "x.jsonl", "x.sqlite", cwd=d)
        check((r.code, r.err), (0, ""))
        with contextlib.closing(sqlite3.connect(os.path.join(d, "x.sqlite"))) as db:
            check(db.execute("SELECT url = key, url = input, length(url), replace(url, char(65533), '') FROM result").fetchall(), [(1, 1, 20000, "")])


@rows([("many attributes", b"<p " + b" ".join(b"a%d=x" % n for n in range(200000)) + b">"), ("deep", b"<div>" * 200000), ("formatting", b"<b><i><a>" * 60000),
       ("tables", b"<table><tr><td>" * 60000), ("unclosed", b"<" * MIB), ("comments", b"<!--" * MIB), ("entities", b"&" * MIB), ("selects", b"<select><option>" * 60000)])
def a_page_that_was_made_to_be_slow_ends(_, data):
    with tempfile.TemporaryDirectory() as d:
        put(d, "x.html", data)
        for words in (["html", "tree"], ["extract", "--links", "--title", "--text", "--tables"], ["extract", "--css", "div div div p:nth-child(2n+1)"]):
            r = attack(*words, "x.html", cwd=d)
            check((r.code in (0, 1), r.peak < 2 * ROOM), (True, True), f"{words}: {r.code} {r.peak >> 20} MiB {r.err[:200]}")


TABLES = [("cells", b"<table><tr>" + b"<td>" * 100000), ("cells with text", b"<table><tr>" + b"<td>a" * 100000), ("rows", b"<table>" + b"<tr><td>a" * 60000),
          ("rows without cells", b"<table>" + b"<tr>" * 100000), ("small tables", b"<table><tr><td>a</table>" * 25000), ("tables in tables", b"<table><tr><td>" * 60 + b"word " * 100000),
          ("cells in tables in tables", b"<table><tr><td>" * 50 + b"<td>a" * 90000), ("captions", b"<table><caption>" * 80 + b"<table><tr><td>" + b"<td>a" * 90000),
          ("spans both ways", b"<table>" + b"<tr><td rowspan=1000 colspan=1000>x" * 13000), ("spans to the right", b"<table><tr>" + b"<td colspan=1000>" * 25000),
          ("spans down", b"<table><tr>" + b"<td rowspan=65534>a" * 13000 + b"<tr>" * 13000), ("spans behind gaps", b"<table><tr><td colspan=999><td rowspan=0>a" + b"<tr>" * 80000),
          ("groups", b"<table>" + b"<tbody><tr><td rowspan=0 colspan=9>a" * 12000), ("a long text", b"<table><tr><td colspan=1000>" + b"x" * 400000),
          ("quotes", b"<table><tr><td>" + b'"' * 400000), ("many attributes", b"<table><tr>" + b"<td a b c d e f g h>" * 20000)]


def limited(words, room, **more):
    return subprocess.run(["sh", "-c", f'ulimit -v {room >> 10}; exec "$0" "$@"', PROGRAM, *words], capture_output=True, env=environment(None), **more)


@functools.cache
def least_room():
    """The address space that the program takes for next to nothing, to 256 KiB."""
    low, high = 0, 512 * MIB
    while high - low > MIB // 4:
        middle = (low + high) // 2
        low, high = (low, middle) if limited(["extract", "--tables"], middle, input=b"<table><tr><td>a").returncode == 0 else (middle, high)
    return high


@rows(TABLES)
def a_table_costs_20_times_its_page_at_most(_, data):
    r = attack("extract", "--tables", stdin=data)
    check((r.code, r.cpu < (0.1 + len(data) / 1e6) * (20 if SANITIZED else 1), len(r.out) <= 4 * len(data) + MIB // 4 + 99), (0, True, True), f"{r.cpu} s, {len(r.out)} bytes, {r.err[:200]}")
    check(all(isinstance(t, list) for t in json.loads(r.out)["tables"]), True)
    if not SANITIZED:
        again = limited(["extract", "--tables"], least_room() + 20 * len(data) + MIB, input=data)
        check((again.returncode, again.stdout == r.out), (0, True), again.stderr.decode()[:200])


@case
def a_name_that_is_no_file_is_not_waited_for():
    with tempfile.TemporaryDirectory() as d:
        for words in (["convert", "/dev/null"], ["warc", "check", "/dev/null"], ["json", "check", "/dev/null"], ["extract", "--title", "/dev/null"],
                      ["convert", d], ["extract", "--title", d], ["warc", "ls", d], ["sitemap", d], ["html", "tree", d]):
            check(attack(*words, cwd=d).code in (0, 1, 2, 3), True, " ".join(words))


@rows([("many matches", r"replace: [[',', '']]", "1,"), ("matches that look ahead", r"replace: [['a(?=[ab]*z|)', 'b']]", "aa"), ("many empty matches", r"replace: [['x*', '-']]", "ab"),
       ("parts", r"split: ', '", "1 ")])
def patterns_of_a_recipe_cost_a_page_its_length(_, shape, text):
    cost = []
    for n in (50_000, 200_000):
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "r.yaml"), "w", encoding="utf-8") as f:
                f.write(f"seine: 1\nname: x\nstart: http://a.example/\nitems:\n  kind: k\n  each: html\n  fields:\n    f: {{css: body, {shape}}}\n")
            with open(os.path.join(d, "p.html"), "w", encoding="utf-8") as f:
                f.write("<html><body>" + text * n)
            r = attack("extract", "--recipe", "r.yaml", "p.html", cwd=d)
            check(r.code, 0, r.err)
            cost.append(r.cpu)
    check(cost[1] < 9 * cost[0] + 0.5, True, f"{cost}")  # 16 times as much where each match looks at all of it


finish(at_once=2)
