#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine http retry-after, date, mime, ratelimit: arguments and cases."""
import base64
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
LATER = "Sunday, 06-Nov-94 08:51:37 GMT"


def http(verb, *words):
    r = seine("http", verb, *words)
    return r, [json.loads(line) for line in r.out.splitlines()]


def cases(verb, *objects):
    r = seine("http", verb, "--jsonl", stdin="".join((o if isinstance(o, str) else json.dumps(o)) + "\n" for o in objects))
    check((r.code, r.err), (0, ""))
    return [json.loads(line) for line in r.out.splitlines()]


@case
def retry_after_is_seconds_or_a_date():
    r, out = http("retry-after", "120", "0")
    check((r.code, r.err, out), (0, "", [{"value": "120", "ok": True, "delay_s": 120}, {"value": "0", "ok": True, "delay_s": 0}]))
    check(http("retry-after", "--date", DATE, LATER)[1][0]["delay_s"], 120)
    check(http("retry-after", "--now", "784111777", LATER)[1][0]["delay_s"], 120)
    check(http("retry-after", "--now", "800000000", LATER)[1][0]["delay_s"], 0)
    check(http("retry-after", "--now", "0", "--date", DATE, LATER)[1][0]["delay_s"], 120)


@case
def what_is_no_retry_after_is_null_and_exit_1():
    r, out = http("retry-after", "--", "soon", "120", "-5")
    check((r.code, [o["delay_s"] for o in out]), (1, [None, 120, None]))


@case
def a_retry_after_that_is_a_date_needs_a_moment_to_count_from():
    r, out = http("retry-after", LATER)
    check((r.code, out), (1, [{"value": LATER, "ok": False, "error": "a date without 'now' or 'date' to count from"}]))
    check(cases("retry-after", {"value": LATER})[0]["ok"], False)
    check(cases("retry-after", {"value": "5", "date": "today"})[0]["error"], "date: no date of HTTP")


@case
def dates_are_unix_seconds():
    r, out = http("date", DATE, "Sun Nov  6 08:49:37 1994", "today")
    check((r.code, [o["epoch"] for o in out]), (1, [784111777, 784111777, None]))
    check(http("date", "Thu, 01 Jan 1970 00:00:00 GMT")[1][0]["epoch"], 0)


@rows([("Sunday, 06-Nov-94 08:49:37 GMT", None, 784111777), ("Thursday, 01-Jan-70 00:00:00 GMT", None, 0),
       ("Tuesday, 31-Dec-69 00:00:00 GMT", None, 3155673600), ("Tuesday, 06-Nov-46 08:49:37 GMT", "784111777", None),
       ("Saturday, 06-Nov-94 08:49:37 GMT", "3000000000", 3939871777)])
def a_year_of_two_digits_goes_by_now(value, now, want):
    check(http("date", *(["--now", now] if now else []), value)[1][0]["epoch"], want)


@case
def mime_gives_essence_and_parameters():
    r, out = http("mime", 'Text/HTML; Charset="utf-8"; x; y=" "', "text")
    check((r.code, r.err), (1, ""))
    check(out[0], {"value": 'Text/HTML; Charset="utf-8"; x; y=" "', "ok": True, "essence": "text/html",
                   "parameters": {"charset": "utf-8", "y": " "}, "output": 'text/html;charset=utf-8;y=" "'})
    check(list(out[0]["parameters"]), ["charset", "y"])
    check(out[1], {"value": "text", "ok": False, "error": "not a MIME type"})


@case
def mime_takes_characters_for_bytes():
    check(cases("mime", {"value": "a/b;x=ÿ;y=Ā;z=1"})[0]["parameters"], {"x": "ÿ", "z": "1"})
    check(cases("mime", {"value_b64": base64.b64encode(b"a/b;x=\xff\x80").decode()})[0]["parameters"], {"x": "ÿ\x80"})
    check(http("mime", b"a/b;x=\xff")[1][0]["parameters"], {"x": "ÿ"})


@case
def ratelimit_gives_the_quota():
    r, out = http("ratelimit", '"default";r=7;t=30', "--policy", '"default";q=100;w=60')
    check((r.code, out), (0, [{"value": '"default";r=7;t=30', "ok": True, "r": 7, "t": 30, "q": 100, "w": 60}]))
    for value, why in (("nonsense;;", "not a list of RFC 9651, or no counts"), ("bogus", "it names no quota: no r, t or q"), ("", "not a list of RFC 9651, or no counts"),
                       ('"a";r=1000000000000000', "not a list of RFC 9651, or no counts"), ('"a";r=-1', "not a list of RFC 9651, or no counts")):
        r, out = http("ratelimit", value)
        check((r.code, out), (1, [{"value": value, "ok": False, "error": why}]))
        check(cases("ratelimit", {"id": 1, "ratelimit": value}), [{"id": 1, "ok": False, "error": why}])
    r, out = http("ratelimit", '("x" y);r=1, "a";r=2;t=3;pk=:aGk=:;d=%"%c3%bc";at=@1;b=?1;n=-1.5')
    check((r.code, out[0]["ok"], out[0]["r"], out[0]["t"]), (0, True, 2, 3))
    out = cases("ratelimit", {"id": "a", "ratelimit": '"x";r=1;t=2', "policy": '"x";q=3;w=4'}, {"ratelimit": '"x";r=1;t=2'})
    check(out, [{"id": "a", "ok": True, "r": 1, "t": 2, "q": 3, "w": 4}, {"ok": True, "r": 1, "t": 2, "q": None, "w": None}])


@case
def a_bad_case_is_an_answer():
    out = cases("date", {"id": 1}, "[]", {"value": 3}, {"valeu": ""}, {"value": DATE, "now": -1}, {"value": "x", "value_b64": "eA=="}, {"value": DATE})
    check([o["ok"] for o in out], [False] * 6 + [True])
    check((out[0]["id"], out[0]["error"]), (1, "no member 'value'"))
    check(out[3]["error"], "unknown member 'valeu'")


@case
def wrong_use_says_so():
    for words in (("date",), ("mime",), ("mime", "--jsonl", "a/b"), ("retry-after", "--jsonl", "--now", "3"), ("date", "--now", "x", DATE)):
        r = seine("http", *words)
        check((r.code, r.out), (2, ""))
        check(r.err.startswith("seine: "), True)


finish()
