#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine convert: round trips, other people's readers and writers, streams, vectors."""
import csv
import gzip
import io
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, VECTORS, case, check, environment, finish, needs_vectors, rows, seine  # noqa: E402

PROGRAM = os.path.abspath(PROGRAM)

SPEC = [  # the examples of the specification
    {"v": 1, "type": "result", "seq": 42, "ts": "2026-11-15T19:20:01.123456Z", "input": "/a", "url": "https://e.example/a",
     "key": "https://e.example/a", "final_url": "https://e.example/a", "method": "GET", "host": "e.example", "ip": "203.0.113.5", "http": "1.1",
     "outcome": "ok", "ok": True, "status": 200, "attempts": 2,
     "tries": [{"n": 1, "ts": "2026-11-15T19:19:59.900000Z", "status": 503, "wait_ms": 1000.0, "wait_reason": "retry_after"}],
     "content_type": "text/html", "charset": "utf-8", "bytes_in": 4120, "bytes_body": 15988,
     "time": {"queue": 3.1, "throttle": 812.0, "backoff": 1000.0, "dns": 0, "connect": 0, "tls": 0, "ttfb": 38.2, "body": 4.4, "total": 42.6},
     "tls": {"version": "1.3", "verified": True, "not_after": "2027-02-01T00:00:00Z"}, "title": "=A, \"quoted\"\nline"},
    {"v": 1, "type": "result", "seq": 43, "ts": "2026-11-15T19:20:06.000100Z", "input": "https://slow.example/", "line": 7,
     "url": "https://slow.example/", "key": "https://slow.example/", "method": "GET", "host": "slow.example", "outcome": "timeout", "ok": False,
     "error": {"kind": "header_timeout", "message": "no answer within 5 s", "phase": "head", "retryable": True,
               "hint": "raise --head-timeout or lower --per-host", "timeout_ms": 5000}, "attempts": 1,
     "time": {"queue": 0.2, "throttle": 0, "backoff": 0, "dns": 0.9, "connect": 11.0, "tls": 24.8, "ttfb": 5000.3, "body": 0, "total": 5037.0}},
    {"v": 1, "type": "skip", "seq": 311, "ts": "2026-11-15T19:20:02.000000Z", "url": "https://e.example/cgi/x", "key": "https://e.example/cgi/x",
     "reason": "robots", "rule": "robots.txt:14 Disallow: /cgi"},
]


def lines(objects):
    return "".join(json.dumps(o, separators=(",", ":"), ensure_ascii=False) + "\n" for o in objects)


def parsed(text):
    return [json.loads(line) for line in text.splitlines()]


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read().decode()


@case
def json_lines_are_the_same_lines():
    r = seine("convert", stdin=lines(SPEC))
    check((r.code, r.err, r.out), (0, "", lines(SPEC)))


@case
def records_go_to_csv_and_back_and_what_is_lost_is_named():
    with tempfile.TemporaryDirectory() as d:
        write(d, "a.jsonl", lines(SPEC))
        r = seine("convert", "a.jsonl", "a.csv", cwd=d)
        check((r.code, r.out), (0, ""))
        check(r.err, "seine: no place in CSV for key (3), method (2), host (2), ip (1), http (1), tries (1), charset (1), bytes_in (1), "
                     "time but its total (2), tls (1), line (1), error but kind and message (1)\n")
        table = list(csv.DictReader(io.StringIO(read(d, "a.csv"), newline="")))  # another reader
        check([row["url"] for row in table], [o["url"] for o in SPEC])
        check(table[0]["title"], "'=A, \"quoted\"\nline")
        check((table[1]["error_kind"], table[2]["outcome"], table[2]["error_kind"]), ("header_timeout", "skip", "robots"))

        r = seine("convert", "a.csv", cwd=d)
        check((r.code, r.err), (0, ""))
        back = parsed(r.out)
        kept = ["v", "type", "seq", "ts", "input", "url", "final_url", "outcome", "ok", "status", "attempts", "content_type", "bytes_body", "title", "reason", "rule"]
        for was, now in zip(SPEC, back):
            want = {k: v for k, v in was.items() if k in kept}
            if "time" in was:
                want["time"] = {"total": was["time"]["total"]}
            if "error" in was:
                want["error"] = {k: was["error"][k] for k in ("kind", "message")}
            check(now, want)
        again = seine("convert", "--from", "jsonl", "--to", "csv", stdin=r.out)
        check((again.err, again.out), ("", read(d, "a.csv")))


@case
def records_go_through_sqlite_and_back_unchanged():
    extra = [{**SPEC[0], "seq": 400, "depth": 2, "links": 45, "via": {"tag": "a", "line": 40}},  # what this version does not know
             {"v": 1, "type": "summary", "seq": 401, "total": 4, "ok": 2}]
    records = [{k: v for k, v in o.items() if not (o["type"] == "skip" and k == "key")} for o in SPEC] + extra
    with tempfile.TemporaryDirectory() as d:
        write(d, "a.jsonl", lines(records))
        r = seine("convert", "a.jsonl", "a.sqlite", cwd=d)
        check((r.code, r.out, r.err), (0, "", ""))
        db = sqlite3.connect(os.path.join(d, "a.sqlite"))  # another reader
        check(db.execute("SELECT seq, url, outcome, status, bytes_body, time_total FROM result ORDER BY seq").fetchall(),
              [(42, "https://e.example/a", "ok", 200, 15988, 42.6), (43, "https://slow.example/", "timeout", None, None, 5037.0),
               (400, "https://e.example/a", "ok", 200, 15988, 42.6)])
        check(db.execute("SELECT seq, url, reason FROM skip").fetchall(), [(311, "https://e.example/cgi/x", "robots")])
        check(db.execute("SELECT count(*) FROM failed").fetchone(), (1,))
        check(db.execute("PRAGMA integrity_check").fetchone(), ("ok",))
        db.close()
        shell = subprocess.run(["sqlite3", "-json", os.path.join(d, "a.sqlite"), "SELECT json FROM result ORDER BY seq"], capture_output=True, check=True)
        check([json.loads(row["json"]) for row in json.loads(shell.stdout)], [o for o in records if o["type"] == "result"])
        r = seine("convert", "a.sqlite", cwd=d)
        check((r.code, r.err, r.out), (0, "", lines(records)))
        check(sorted(os.listdir(d)), ["a.jsonl", "a.sqlite"])
        check(seine("convert", "a.sqlite", "b.sqlite", cwd=d).code, 0)
        check(seine("convert", "b.sqlite", cwd=d).out, lines(records))
        r = seine("convert", "--append", "a.sqlite", "b.sqlite", cwd=d)
        check((r.code, len(parsed(seine("convert", "b.sqlite", cwd=d).out))), (0, 2 * len(records)))
        r = seine("convert", "a.sqlite", "a.csv", cwd=d)
        check((r.code, len(list(csv.DictReader(io.StringIO(read(d, "a.csv"), newline=""))))), (0, 4))


@case
def bodies_have_a_column_in_sqlite():
    record = {"v": 1, "type": "result", "seq": 1, "ts": "2026-11-15T19:20:01.000000Z", "url": "http://e/", "outcome": "ok", "ok": True, "body_b64": "AP8K"}
    with tempfile.TemporaryDirectory() as d:
        write(d, "a.jsonl", lines([record]))
        check(seine("convert", "a.jsonl", "a.sqlite", cwd=d).code, 0)
        db = sqlite3.connect(os.path.join(d, "a.sqlite"))
        check(db.execute("SELECT body, json LIKE '%body%' FROM result").fetchone(), (b"\x00\xff\n", 0))
        db.close()
        r = seine("convert", "a.sqlite", cwd=d)
        check((r.code, r.err), (0, "seine: 1 bodies were left out: try --body b64\n"))
        check(parsed(seine("convert", "a.sqlite", "--body", "b64", cwd=d).out), [record])


def warc_record(kind, block, **fields):
    head = {"WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:00000000-0000-0000-0000-{len(block):012d}>", "WARC-Date": "2026-11-15T19:20:01Z",
            **{k.replace("_", "-"): v for k, v in fields.items()}, "Content-Length": str(len(block))}
    return b"WARC/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + block + b"\r\n\r\n"


def archive():
    http = {"Content_Type": "application/http;msgtype=response", "WARC_IP_Address": "203.0.113.5"}
    packed = gzip.compress("page é".encode())
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(packed[i:i + 7]), packed[i:i + 7]) for i in range(0, len(packed), 7)) + b"0\r\n\r\n"
    return [
        warc_record("warcinfo", b"software: x\r\n", Content_Type="application/warc-fields"),
        warc_record("response", b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + chunks, WARC_Target_URI="http://e.example/a", **http),
        warc_record("request", b"GET /a HTTP/1.1\r\nHost: e.example\r\n\r\n", WARC_Target_URI="http://e.example/a",
                    Content_Type="application/http;msgtype=request"),
        warc_record("response", b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone", WARC_Target_URI="http://e.example/b", **http),
        warc_record("response", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", WARC_Target_URI="http://e.example/c", WARC_Truncated="disconnect", **http),
        warc_record("revisit", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", WARC_Target_URI="http://e.example/d", **http),
        warc_record("response", b"HTTP/1.1 200 OK\r\nContent-Encoding: br, gzip\r\nContent-Length: 2\r\n\r\nxx", WARC_Target_URI="http://e.example/e", **http),
    ]


@rows([("a.warc", lambda r: r), ("a.warc.gz", gzip.compress)])
def responses_of_an_archive_are_results(name, pack):
    records = [pack(r) for r in archive()]
    with tempfile.TemporaryDirectory() as d:
        write(d, name, b"".join(records))
        r = seine("convert", name, "--body", "text", cwd=d)
        check((r.code, r.err), (0, "seine: no place in JSON lines for the record warcinfo (1), the record request (1)\n"))
        out = parsed(r.out)
        at = [sum(len(p) for p in records[:i]) for i in (1, 3, 4, 5, 6)]
        check([(o["url"], o["outcome"], o["status"], o.get("body"), o.get("partial"), o.get("notes")) for o in out], [
            ("http://e.example/a", "ok", 200, "page é", None, None),
            ("http://e.example/b", "http_error", 404, "gone", None, None),
            ("http://e.example/c", "bad_response", 200, "half", True, None),
            ("http://e.example/d", "ok", 200, None, None, None),
            ("http://e.example/e", "ok", 200, "xx", None, ["coded_body"])])
        check(out[0], {"v": 1, "type": "result", "seq": 1, "ts": "2026-11-15T19:20:01.000000Z", "url": "http://e.example/a", "ip": "203.0.113.5",
                       "outcome": "ok", "ok": True, "status": 200, "content_type": "text/html", "body": "page é",
                       "warc": {"file": name, "offset": at[0], "length": len(records[1]), "id": out[0]["warc"]["id"]}})
        check([o["warc"]["offset"] for o in out], at)
        check((out[1]["error"]["kind"], out[2]["error"]["kind"]), ("http", "body_truncated"))
        check(seine("convert", name, cwd=d).err.split("\n")[0], "seine: 4 bodies were left out: try --body b64")
        check(seine("convert", name, "a.csv", "-q", cwd=d).code, 0)
        check(seine("convert", name, "a.sqlite", "-q", cwd=d).code, 0)
        check(len(parsed(seine("convert", "a.sqlite", cwd=d).out)), 5)
        with open(os.path.join(d, name), "rb") as f:  # known by its bytes; a pipe has no places
            check([o["url"] for o in parsed(seine("convert", "-q", stdin=f.read()).out)], [o["url"] for o in out])
        write(d, "cut-" + name, b"".join(records)[:-30])
        r = seine("convert", "cut-" + name, "-q", cwd=d)
        check((r.code, len(r.out.splitlines())), (2, 4))


@rows([("utf8 ʤ é 😀",), ("a\nb",), ("a\r\nb",), ("\"",), ("'",), (" x ",), ("=1+1",), ("'=1",), ("-5",), ("",), ("\x1b[1m",), (",",)])
def any_text_survives_json_csv_json(text):
    objects = [{"a": text, "b": "x"}, {"a": "y", "b": text}]
    out = seine("convert", "--to", "csv", "--csv-raw", stdin=lines(objects))
    check((out.code, out.err), (0, ""))
    check(list(csv.DictReader(io.StringIO(out.out, newline=""))), objects)  # Python reads it
    check(parsed(seine("convert", "--from", "csv", stdin=out.out).out), objects)  # and so do we
    f = io.StringIO(newline="")
    w = csv.DictWriter(f, ["a", "b"])  # and we read Python's
    w.writeheader()
    w.writerows(objects)
    check(parsed(seine("convert", "--from", "csv", stdin=f.getvalue()).out), objects)


@case
def a_thousand_random_rows_of_python_read_back_equal():
    rng = random.Random(7)
    letters = "ab,\"\n '=é😀\t"  # Python does not quote a lone CR, and no reader knows it from a line's end
    table = [{k: "".join(rng.choice(letters) for _ in range(rng.randrange(8))) for k in ("x", "y", "z")} for _ in range(1000)]
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        for end in ("\n", "\r\n"):
            f = io.StringIO(newline="")
            w = csv.DictWriter(f, ["x", "y", "z"], quoting=quoting, lineterminator=end)
            w.writeheader()
            w.writerows(table)
            r = seine("convert", "--from", "csv", stdin=f.getvalue())
            check((r.code, r.err), (0, ""))
            check(parsed(r.out), table)


@case
def packed_on_both_sides_by_name_and_by_bytes():
    with tempfile.TemporaryDirectory() as d:
        write(d, "a.jsonl", lines(SPEC))
        for name in ("a.jsonl.gz", "a.jsonl.zst"):
            check(seine("convert", "a.jsonl", name, cwd=d).code, 0)
            check(seine("convert", name, cwd=d).out, lines(SPEC))
            with open(os.path.join(d, name), "rb") as f:
                check(seine("convert", stdin=f.read()).out, lines(SPEC))
        with gzip.open(os.path.join(d, "a.jsonl.gz"), "rt", encoding="utf-8") as f:
            check(f.read(), lines(SPEC))
        write(d, "two.gz", gzip.compress(lines(SPEC[:1]).encode()) + gzip.compress(lines(SPEC[1:]).encode()))
        check(seine("convert", "two.gz", cwd=d).out, lines(SPEC))
        whole = gzip.compress(lines(SPEC).encode())
        write(d, "cut.jsonl.gz", whole[:-9])
        r = seine("convert", "cut.jsonl.gz", cwd=d)
        check((r.code, r.err.split("\n")[0]), (2, "seine: cut.jsonl.gz: the packed bytes are cut off"))
        write(d, "bad.jsonl.gz", whole[:20] + b"\xff\xff\xff\xff" + whole[24:])
        check(seine("convert", "bad.jsonl.gz", cwd=d).code, 2)


@case
def an_output_that_exists_is_refused():
    with tempfile.TemporaryDirectory() as d:
        write(d, "a.jsonl", '{"a":1}\n')
        write(d, "b.jsonl", '{"b":1}\n')
        r = seine("convert", "a.jsonl", "b.jsonl", cwd=d)
        check((r.code, r.err), (2, "seine: b.jsonl exists (8 B)\ntry: --append, --overwrite, or another name\n"))
        check(seine("convert", "--append", "a.jsonl", "b.jsonl", cwd=d).code, 0)
        check(read(d, "b.jsonl"), '{"b":1}\n{"a":1}\n')
        check(seine("convert", "--overwrite", "a.jsonl", "b.jsonl", cwd=d).code, 0)
        check(read(d, "b.jsonl"), '{"a":1}\n')


@rows([(["--from", "xml"], "--from 'xml': no such format"),
       (["--to", "text"], "--to 'text': no such format"),
       (["--append", "--overwrite"], "--append and --overwrite"),
       (["none.jsonl"], "cannot read none.jsonl: no such file or directory"),
       (["/"], "cannot read /: is a directory"),
       (["-", "x.png"], "x.png: no format has that ending\ntry: --to jsonl|csv|sqlite|warc"),
       (["--to", "sqlite"], "SQLite is a file: it cannot be written to standard output"),
       (["-", "x.warc"], "x.warc: a WARC is made of what was on the wire, which no other format keeps\ntry: seine fetch -o NAME.warc.gz"),
       (["a", "b", "c"], None)])
def usage_is_told(words, message):
    r = seine("convert", *words)
    check(r.code, 2)
    if message:
        lines = message.split("\n")
        check(r.err.split("\n")[: len(lines)], ["seine: " + lines[0], *lines[1:]])


@case
def the_first_bad_line_is_the_end_unless_told_otherwise():
    text = '{"a":1}\n{"a":\n{"a":3}\n'
    r = seine("convert", stdin=text)
    check((r.code, r.out), (2, '{"a":1}\n'))
    check(r.err, "seine: standard input:2: not JSON at byte 5: expected a value, found the end\ntry: --skip-bad to leave it out\n")
    r = seine("convert", "--skip-bad", stdin=text)
    check((r.code, r.out), (1, '{"a":1}\n{"a":3}\n'))
    check(r.err, "seine: standard input:2: not JSON at byte 5: expected a value, found the end\n")
    check(seine("convert", "--skip-bad", "-q", stdin=text).err, "")


@case
def names_of_strangers_are_inert_on_a_terminal():
    r = seine("convert", "--to", "csv", stdin='{"a":1,"\\u001b[31m":[1]}\n')
    check(r.err, "seine: no place in CSV for \\x1b[31m (1)\n")


@case
def the_first_record_leaves_before_the_input_ends():
    p = subprocess.Popen([PROGRAM, "convert", "--to", "csv"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    p.stdin.write(b'{"a":1}\n')
    p.stdin.flush()
    check(p.stdout.readline() + p.stdout.readline(), b"a\n1\n")
    p.stdin.write(b'{"a":2}\n')
    p.stdin.flush()
    check(p.stdout.readline(), b"2\n")
    p.stdin.close()
    check(p.wait(timeout=PATIENCE), 0)
    p.stdout.close()


@case
def a_reader_that_goes_away_is_141():
    p = subprocess.Popen([PROGRAM, "convert"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    p.stdout.close()
    try:
        for _ in range(2000):
            p.stdin.write(b'{"a":"' + b"x" * 1000 + b'"}\n')
        p.stdin.close()
    except BrokenPipeError:
        pass
    check(p.wait(timeout=PATIENCE), 141)


def peak(words, count, line):
    """(exit code, peak KB of the program) for `count` lines on its standard input, more than a pipe holds."""
    env = environment({"ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"})  # freed is free
    p = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env)
    block = "".join(line(i) for i in range(1000)).encode()
    for _ in range(count // 1000):
        p.stdin.write(block)
    with open(f"/proc/{p.pid}/status", encoding="ascii") as f:  # what the kernel tells at the end includes this process
        most = next(int(text.split()[1]) for text in f if text.startswith("VmHWM"))
    p.stdin.close()
    return p.wait(), most


@rows([(["convert", "--to", "csv", "-q"], lambda i: lines([{**SPEC[0], "seq": i}])),
       (["convert", "--from", "csv"], lambda i: f"a,b\n{i},\"{'x' * 40}\ny\"\n"),
       (["convert"], lambda i: lines([{"a": i, "b": "x" * 100}]))], name=lambda row: " ".join(row[0]))
def thirty_thousand_lines_need_no_more_memory_than_three(words, line):
    few, many = peak(words, 3000, line), peak(words, 30000, line)
    check((few[0], many[0]), (0, 0))
    check(many[1] < few[1] + 2048, True, f"{few[1]} KB, then {many[1]} KB")


@case
@needs_vectors
def csv_spectrum_passes():
    folder = os.path.join(VECTORS, "csv-spectrum")
    names = sorted(n[:-4] for n in os.listdir(os.path.join(folder, "csvs")))
    check(len(names), 12)
    for name in names:
        with open(os.path.join(folder, "csvs", name + ".csv"), "rb") as f:
            data = f.read()
        with open(os.path.join(folder, "json", name + ".json"), encoding="utf-8") as f:
            want = json.load(f)
        if name.endswith("_crlf") and b"\r" not in data:
            data = data.replace(b"\n", b"\r\n")  # the copy lost what its name and its answer say
        if name == "location_coordinates":  # the answer is one object, with another telephone number
            want = [{**want, "Contact Phone Number": "2095257564"}]
        r = seine("convert", "--from", "csv", stdin=data)
        check((r.code, r.err), (0, ""), name)
        check(parsed(r.out), want, name)


LINKS = [  # what `seine check` says, and what it would never say
    {"v": 1, "type": "link", "seq": 1, "ts": "2026-11-15T19:20:03.000000Z", "source": "docs/a.md", "line": 14, "col": 7, "tag": "a", "text": "guide",
     "target": "https://e.example/gone", "verdict": "broken", "status": 404, "fragment": "unchecked"},
    {"v": 1, "type": "link", "seq": 2, "source": "a\0b.md", "target": "x", "verdict": "ok"}, {"v": 1, "type": "link", "seq": 2, "line": "14", "target": 7},
    {"v": 1, "type": "summary", "seq": 3, "command": "check", "total": 3}]


@case
def links_are_rows_of_their_own():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "l.jsonl", lines(LINKS))
        r = seine("convert", "l.jsonl", "l.sqlite", cwd=folder)
        check((r.code, r.err), (0, ""))
        with sqlite3.connect(os.path.join(folder, "l.sqlite")) as db:
            check(list(db.execute("SELECT seq, source, line, target, verdict, status FROM link ORDER BY seq")),
                  [(1, "docs/a.md", 14, "https://e.example/gone", "broken", 404), (2, "a\ufffdb.md", None, "x", "ok", None), (3, "", None, "", "", None)])
        check(parsed(seine("convert", "l.sqlite", cwd=folder).out), LINKS)


@case
def links_are_rows_of_csv_as_the_check_writes_them():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "a.md", "[=1+1](gone.md) [y](a.md#no) [z](a.md)")
        check(seine("check", "a.md", "--offline", "-o", "l.jsonl", "-o", "own.csv", cwd=folder).code, 1)
        r = seine("convert", "l.jsonl", "l.csv", cwd=folder)
        check((r.code, "no place in CSV for" in r.err, "the record link" in r.err, "the record summary" in r.err), (0, True, False, True), r.err)
        with open(os.path.join(folder, "l.csv"), encoding="utf-8") as f, open(os.path.join(folder, "own.csv"), encoding="utf-8") as g:
            got, own = list(csv.reader(f)), list(csv.reader(g))
        check(got, own)
        check([row[4] for row in got], ["verdict", "broken", "broken", "ok"])
        write(folder, "m.jsonl", lines([LINKS[0], SPEC[0]]))
        r = seine("convert", "m.jsonl", "m.csv", cwd=folder)
        check((r.code, "no link, among links" in r.err), (2, True), r.err)


@case
def numbers_of_rows_end_with_those_of_the_database():
    last = (1 << 63) - 1
    for second in (SPEC[1], LINKS[0]):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "l.jsonl", lines([{**SPEC[0], "seq": last}, {**second, "seq": 1}]))
            r = seine("convert", "l.jsonl", "l.sqlite", cwd=folder)
            check((r.code, "leaves no numbers" in r.err), (2, True), r.err)
            check([o["seq"] for o in parsed(seine("convert", "l.sqlite", cwd=folder).out)], [last])


@case
@needs_vectors
def the_warc_of_the_vectors_is_read():
    for name in ("example.warc", "example.warc.gz"):
        r = seine("convert", os.path.join(VECTORS, "warc", name), "-q", "--body", "b64")
        check((r.code, [(o["url"], o["status"], "body_b64" in o) for o in parsed(r.out)]),
              (0, [("http://example.com/", 200, True), ("http://example.com/", 200, False)]))


finish(at_once=2)
