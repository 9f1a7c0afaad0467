#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records and summaries that somebody else wrote: texts that would be markup or commands, lists without end, numbers beyond all measure."""
import json
import os
import re
import sys
import tempfile
import xml.dom.minidom

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows  # noqa: E402
from hostile import ENOUGH, attack  # noqa: E402

TEXTS = [
    "</script><script>alert(1)</script>", "]]><x a='1'>&lt;!--", "a|b`c`*d*[x](javascript:alert(1))\n# head", "\x1b]0;title\x07\x1b[31mred\r\nforged", "\x85\u2028\u202egnp.exe\u2066",
    "\ufffe\uffff\ufdd0", "%s%n%99999d", "=cmd|' /C calc'!A0",
]
HUGE = (1 << 63) - 1
FIRST = {"v": 1, "type": "result", "seq": 1, "ts": "2026-01-01T00:00:00Z", "url": "https://e.example/", "outcome": "ok", "ok": True, "status": 200, "attempts": 1}
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066\ufffe\uffff]")


def record(i, text):
    return {"v": 1, "type": "result", "seq": i, "ts": f"2026-01-01T00:00:{i:02}Z", "url": "https://e.example/" + text, "host": text, "outcome": "connect", "ok": False, "status": 404,
            "parent": "https://p.example/" + text, "via": {"line": 3}, "error": {"kind": text, "message": text, "hint": text}, "attempts": 1, "content_type": text, "title": text}


def others(text):
    return [{"v": 1, "type": "skip", "url": text, "reason": text, "rule": text, "parent": text},
            {"v": 1, "type": "link", "source": text, "line": 2, "target": text, "verdict": text},
            {"v": 1, "type": "item", "kind": text, "ok": False, "data": {text: text}, "errors": [{"field": text, "message": text}]}]


def summary(**more):
    return {"v": 1, "type": "summary", "stopped_by": "done", "exit_code": 0, **more}


def report(form, lines):
    """The report as text, its result and how long it is in bytes."""
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "r.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines)
        r = attack("report", "r.jsonl", "-f", form, "-o", "out", cwd=d)
        with open(os.path.join(d, "out"), "rb") as f:
            made = f.read()
    return made.decode("utf-8"), r, len(made)


def all_texts():
    lines = [line for i, text in enumerate(TEXTS) for line in (record(i, text), *others(text))]
    return [*lines, summary(stopped_by=TEXTS[3], expect=[text + ": x" for text in TEXTS],
                            coverage=[{"kind": text, "field": text, "rows": 2, "filled": 1, "errors": 1} for text in TEXTS],
                            top_hosts=[{"host": "e.example", "limited_by": text} for text in TEXTS])]


@rows([(form,) for form in ("text", "md", "junit", "html")])
def no_text_of_a_record_is_more_than_text(form):
    made, r, _ = report(form, all_texts())
    if form == "html":  # the data of the page are JSON, which no screen shows
        data = re.search('<script type="application/json" id="data">(.*?)</script>', made, re.S)
        json.loads(data[1])
        made = made.replace(data[0], "")
        check(re.findall(r"<script[^>]*>|javascript:|\bon\w+=", re.sub(r"(?s)>[^<]*", ">", made)), ["<script>"])
    check((r.code, sorted(set(FORBIDDEN.findall(made)))), (0, []), r.err)
    if form == "junit":
        check(len(xml.dom.minidom.parseString(made).getElementsByTagName("failure")) > len(TEXTS), True)
    if form == "md":
        check([line for line in made.splitlines() if re.match("# head|forged|<", line)], [])


@case
def a_page_stays_small_whatever_the_summary_lists():
    made, r, size = report("html", [FIRST, summary(expect=["items: " + "x" * 4000] * 5000, coverage=[{"kind": "k" * 300, "field": "f" * 300, "rows": 1, "filled": 1}] * 5000)])
    check((r.code, size < 2_000_000, "more that are not met" in made), (0, True, True), r.err)


@case
def hosts_of_a_summary_are_not_compared_with_all_others():
    """300 hosts in the records, 400,000 in the summary."""
    many = [{**FIRST, "url": f"https://h{i}.example/"} for i in range(300)]
    _, few, _ = report("html", [*many, summary(top_hosts=[])])
    _, r, _ = report("html", [*many, summary(top_hosts=[{"host": f"x{i}"} for i in range(400_000)])])
    check((r.code, r.cpu < few.cpu + ENOUGH / 4), (0, True), f"{r.cpu} s, {few.cpu} s without")


@rows([(form,) for form in ("text", "html", "json")])
def numbers_beyond_measure_are_shown_as_such(form):
    far = [{**FIRST, "ts": ts, "time": {"ttfb": ms, "total": ms, "queue": ms}, "tries": [{"wait_ms": ms}] * 3, "bytes_in": HUGE, "bytes_body": HUGE, "attempts": HUGE}
           for ts in ("9999-12-31T23:59:59Z", "9999-12-31T23:59:58.999999999Z", "2262-04-11T23:47:16Z", "2262-04-11T23:47:59Z", "1970-01-01T00:00:01Z")
           for ms in (1e300, HUGE, 9.3e12, 0.001)]
    hosts = [{"host": "e.example", "max_rps_1s": -5, "min_gap_ms": 1e300, "breaker_opens": -HUGE}]
    made, r, _ = report(form, [*far, summary(wall_ms=HUGE, exit_code=HUGE, top_hosts=hosts, coverage=[{"kind": "k", "field": "f", "rows": HUGE, "filled": HUGE, "errors": HUGE}])])
    check((r.code, "runtime error" in r.err, "-" + str(HUGE)[:5] in made), (0, False, False), r.err)


finish(at_once=2)
