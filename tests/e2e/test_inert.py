#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P11: output is inert and well-formed. Bytes of every unpleasant kind come in through pages,
headers, redirects and the input; what is written is read back by Python's json and csv, and
nothing of it reaches a terminal as more than text."""
import base64
import csv
import io
import json
import os
import random
import re
import sys
import tempfile
import unicodedata

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, seine  # noqa: E402
from origin import origin  # noqa: E402
from terminal import Terminal  # noqa: E402

SEED = int(os.environ.get("CHECK_SEED", "1"))
PIECES = [b"\x1b[2J", b"\x1b]0;owned\x07", b"\x1bP", b"\x9b31m", "\u009b31m".encode(), b"\x00", b"\x07", b"\x08\x08", b"\x7f", b"\r", b"\n", b"\r\n", b"\t", b'"', b'""', b"'",
          b",", b";", b"|", b"\\", b"\\u0000", b"=1+1", b"+A1", b"-2", b"@SUM(A1)", b"=cmd|' /C calc'!A0", b"</script>", b"&lt;", "\u2028".encode(), "\u2029".encode(),
          "\u202e".encode(), "\u200b".encode(), "\u200d".encode(), "\u00ad".encode(), "\ufeff".encode(), "\U000e0041".encode(), "\u061c".encode(), "\ufffe".encode(),
          b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80", b"\xf0\x9f\x98\x80", "\u00e9".encode(), b"e\xcc\x81", b"word", b" ", b"1e5", b"007"]


def hostile(dice, most=8):
    return b"".join(dice.choice(PIECES) for _ in range(dice.randrange(most)))


def answer(dice):
    """A page whose title, headers and type are hostile, or a redirect that is."""
    head = hostile(dice).replace(b"\r", b"").replace(b"\n", b"").replace(b"\0", b"")
    title = hostile(dice, 12).replace(b"<", b"")
    body = b"<title>" + title + b"</title>x"
    kind = dice.randrange(4)
    if kind == 0:
        raw = b"HTTP/1.1 302 " + head + b"\r\nLocation: http://127.0.0.1:1/" + head + b"\r\nContent-Length: 0\r\n\r\n"
    elif kind == 1:
        raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + head + b"\r\nX-A: " + head + b"\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    else:
        raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body
    return "/raw:" + base64.urlsafe_b64encode(raw).decode().rstrip("=")


def text(dice):
    """A string as JSON can give it: lone surrogates and all."""
    s = hostile(dice).decode(errors="replace")
    return s + dice.choice(["", "\ud800", "\x00", "\u2028"])


def lines(o, dice, n):
    out = []
    for i in range(n):
        if i % 5 == 4:
            line = hostile(dice).replace(b"\n", b"").replace(b"\r", b"")
            out.append(line if line.strip() else b"x")      # a blank line is none
            continue
        ask = {"url": o.url(answer(dice)) + f"?n={i}", "id": text(dice).replace("\ud800", ""), "tags": {text(dice).replace("\ud800", ""): text(dice).replace("\ud800", "")}}
        out.append(json.dumps(ask, ensure_ascii=dice.random() < 0.5).encode())
    return out


def well_formed(data):
    """One object a line, UTF-8, and nothing raw that could end a line or move a cursor."""
    check(data.endswith(b"\n"), True)
    records = []
    for line in data[:-1].split(b"\n"):
        t = line.decode("utf-8")        # strict
        check([hex(ord(c)) for c in t if unicodedata.category(c) == "Cc" or c in "\u2028\u2029"], [], repr(t))
        records.append(json.loads(t))
    return records


def is_formula(cell):
    return re.match(r"[\s\u200b\ufeff\x00-\x20]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]", cell) is not None


UNSEEN = r'[\x00-\x08\x0b\x0c\x0e-\x20\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff\ufff9-\ufffb"]'
GUARD = re.compile(rf"(?<=[;\t\n\r])'(?='*{UNSEEN}*[=+\-@\t\r\u2212\ufe62\ufe63\ufe66\ufe6b\uff1d\uff0b\uff0d\uff20])")


def bare(cell, value):
    """The cell without its guards: behind separators, and in front."""
    cell = GUARD.sub("", cell)
    return cell[1:] if cell.startswith("'") and cell != value else cell


@case
def json_lines_and_csv_read_back_equal():
    dice, n = random.Random(SEED), 250
    with origin() as o, tempfile.TemporaryDirectory() as where:
        given = lines(o, dice, n)
        words = ["fetch", "--mine", "--ordered", "--retries", "0", "--dedup", "off", "--fields", "+headers,+id,+tags", "--input-format", "jsonl", "-"]
        r = seine(*words, "-o", "a.jsonl", "-o", "a.csv", "--log-file", "log", "--log", "json", "-vvv", stdin=b"\n".join(given) + b"\n", cwd=where)
        check(r.code in (0, 1), True, r.err)
        with open(os.path.join(where, "a.jsonl"), "rb") as f:
            records = well_formed(f.read())
        with open(os.path.join(where, "log"), "rb") as f:
            well_formed(f.read())
        with open(os.path.join(where, "a.csv"), encoding="utf-8", newline="") as f:
            table = list(csv.DictReader(f, strict=True))
        found = [x for x in records if x["type"] == "result"]
        check(len([x for x in records if x["type"] in ("result", "skip")]), n)
        check(len(table) in (len(found), n), True, str(len(table)))
        by_seq = {x["seq"]: x for x in records if "seq" in x}
        equal = 0
        for row in table:
            record = by_seq[int(row["seq"])]
            for name, value in (("title", record.get("title")), ("url", record.get("url")), ("input", record.get("input")), ("final_url", record.get("final_url")),
                                ("content_type", record.get("content_type")), ("error_message", (record.get("error") or {}).get("message") or record.get("rule"))):
                cell, value = row[name], value or ""
                check(is_formula(cell) and not re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", cell), False, f"{name}: {cell!r}")
                check(bare(cell, value), value, name)
                equal += 1
        print(f"{equal} cells of {len(table)} rows read back equal, 0 not (CHECK_SEED={SEED})")
        # what was given comes back as it was
        for line, record in zip(given, [x for x in records if x["type"] in ("result", "skip")]):
            if line.startswith(b"{") and record["type"] == "result":
                ask = json.loads(line)
                check((record.get("id"), record.get("tags")), (ask["id"], ask["tags"]))


@case
def csv_as_it_is_reads_back_to_the_byte():
    dice = random.Random(SEED + 1)
    with origin() as o, tempfile.TemporaryDirectory() as where:
        given = lines(o, dice, 60)
        r = seine("fetch", "--mine", "--retries", "0", "--dedup", "off", "--input-format", "jsonl", "-", "-f", "csv", "--csv-raw", "--csv-crlf", "-o", "-", "-o", "a.jsonl",
                  stdin=b"\n".join(given) + b"\n", cwd=where)
        with open(os.path.join(where, "a.jsonl"), "rb") as f:
            titles = {x["seq"]: x.get("title") or "" for x in well_formed(f.read())}
        table = list(csv.DictReader(io.StringIO(r.out, newline=""), strict=True))
        check(len(table), 60)
        check([row["title"] for row in table], [titles[int(row["seq"])] for row in table])


@case
def a_terminal_gets_text_and_nothing_else():
    dice = random.Random(SEED + 2)
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "list")
        with open(path, "wb") as f:
            f.write(b"\n".join(lines(o, dice, 80)) + b"\n")
        t = Terminal(["fetch", "--mine", "--retries", "0", "--dedup", "off", "--color", "never", "--progress", "off", "-vv", "--input-format", "jsonl", "-i", path], columns=150)
        t.wait()
        seen = t.bytes.replace(b"\r\n", b"\n").decode("utf-8")      # strict
        bad = {hex(ord(c)) for c in seen if c != "\n" and (unicodedata.category(c) in ("Cc", "Zl", "Zp") or (unicodedata.category(c) == "Cf" and c not in "\u200c\u200d"))}
        check(bad, set())
        check("\\x1b" in seen, True)
        check(len(seen.splitlines()) > 80, True)


finish(at_once=2)
