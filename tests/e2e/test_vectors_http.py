#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Dates, Retry-After, MIME types and cookies of others, through the verbs.

They are found through SEINE_VECTORS and are no part of the project. Every row must
agree, but for three cookies that their authors switched off: docs/user/cookie_jar.md.
"""
import calendar
import email.utils
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, VECTORS, case, check, environment, finish, needs_vectors  # noqa: E402

LAST_DAY = 9000000000


def load(*path):
    with open(os.path.join(VECTORS, *path), encoding="utf-8") as f:
        return [row for row in json.load(f) if isinstance(row, dict)]


def ask(verb, cases):
    text = "".join(json.dumps({**c, "id": i}) + "\n" for i, c in enumerate(cases))
    p = subprocess.run([PROGRAM, "http", verb, "--jsonl"], input=text.encode(), capture_output=True, env=environment())
    check((p.returncode, p.stderr), (0, b""))
    out = [json.loads(line) for line in p.stdout.splitlines()]
    check([o["id"] for o in out], list(range(len(cases))))
    return out


@case
@needs_vectors
def dates_agree():
    rows = load("http-dates", "http-date.json")
    for row, got in zip(rows, ask("date", [{"value": row["in"]} for row in rows])):
        check((got["ok"], got["epoch"]), (True, row["epoch"]), row["in"])
    check(ask("date", rows), ask("date", [{"value": row["in"]} for row in rows]))
    check(len(rows) > 10, True)


@case
@needs_vectors
def retry_after_agrees():
    rows = load("http-dates", "retry-after.json")
    for row, got in zip(rows, ask("retry-after", [{"value": row["retry_after"], "now": row["now"]} for row in rows])):
        want = 2**31 if row["delay_s"] == "cap" else row["delay_s"]
        check((got["ok"], got["delay_s"]), (True, want), row["retry_after"])
    check(len(rows) >= 10, True)


@case
@needs_vectors
def mime_types_agree():
    rows = load("mime", "mime-types", "resources", "mime-types.json")
    for row, got in zip(rows, ask("mime", [{"value": row["input"]} for row in rows])):
        check(got["ok"], row["output"] is not None, row["input"])
        check(got.get("output"), row["output"], row["input"])
    check(len(rows) > 70, True)


@case
@needs_vectors
def a_mime_type_is_read_as_itself():
    outputs = [{"value": row["output"]} for row in load("mime", "mime-types", "resources", "mime-types.json") if row["output"]]
    for row, got in zip(outputs, ask("mime", outputs)):
        check(got["output"], row["value"])


@case
@needs_vectors
def cookies_agree():
    rows = load("cookies", "parser.json")
    out = ask("cookie", [{"received": row["received"], "url": "http://home.example.org:8888/cookie-parser?" + row["test"],
                          "sent-to": row.get("sent-to", "/cookie-parser-result?" + row["test"]), "now": 1301616000} for row in rows])
    bad = [row["test"] for row, got in zip(rows, out) if not got["ok"] or got["sent"] != row["sent"]]
    check(bad, ["DISABLED_CHROMIUM0022", "DISABLED_CHROMIUM0023", "DISABLED_PATH0029"])
    check(len(rows) > 200, True)


@case
@needs_vectors
def cookies_live_until_their_dates():
    for name in ("examples.json", "bsd-examples.json"):
        with open(os.path.join(VECTORS, "cookies", "dates", name), encoding="utf-8") as f:
            rows = json.loads("".join(line for line in f if not line.startswith("//")))
        cases = []
        for row in rows:
            end = calendar.timegm(email.utils.parsedate(row["expected"])) if row["expected"] else LAST_DAY
            cases += [{"received": ["k=v; Expires=" + row["test"]], "url": "http://h.example/", "now": now} for now in (max(end - 1, 0), end)]
        out = ask("cookie", cases)
        for i, row in enumerate(rows):
            lives = [bool(got["sent"]) for got in out[2 * i:2 * i + 2]]
            want = [not row["expected"].endswith("1970 00:00:00 GMT"), False] if row["expected"] else [True, True]
            check(lives, want, row["test"])


finish()
