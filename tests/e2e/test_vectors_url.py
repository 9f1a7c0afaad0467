#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""URLs of the web platform's tests and of RFC 3986, through the verbs.

They are found through SEINE_VECTORS and are no part of the project. Every row must
agree; the two of RFC 3986 in which browsers differ do so in the browsers' way.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, VECTORS, case, check, environment, finish, needs_vectors  # noqa: E402

MEMBERS = ("href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash")


def load(*path):
    with open(os.path.join(VECTORS, *path), encoding="utf-8") as f:
        return [row for row in json.load(f) if isinstance(row, dict)]


def ask(verb, cases):
    text = "".join(json.dumps({**c, "id": i}) + "\n" for i, c in enumerate(cases))
    p = subprocess.run([PROGRAM, "url", verb, "--jsonl"], input=text.encode(), capture_output=True, env=environment())
    check((p.returncode, p.stderr), (0, b""))
    out = [json.loads(line) for line in p.stdout.splitlines()]
    check([o["id"] for o in out], list(range(len(cases))))
    return out


@case
@needs_vectors
def the_web_platforms_rows_agree():
    rows = load("url-wpt", "urltestdata.json")
    for row, got in zip(rows, ask("parse", rows)):
        check(got["ok"], not row.get("failure"), row["input"])
        for name in MEMBERS:
            if name in row:
                check(got[name], row[name], f"{row['input']} in {row['base']}: {name}")
    check(len(rows) > 800, True)


@case
@needs_vectors
def an_href_is_read_as_itself_and_a_key_is_its_own_key():
    hrefs = [{"input": row["href"]} for row in load("url-wpt", "urltestdata.json") if "href" in row]
    for row, got in zip(hrefs, ask("parse", hrefs)):
        check(got["href"], row["input"])
    keys = [{"input": got["href"]} for got in ask("normalize", hrefs)]
    for row, got in zip(keys, ask("normalize", keys)):
        check(got["href"], row["input"])


@case
@needs_vectors
def utf8_is_escaped_as_the_web_platform_does():
    rows = [row for row in load("url-wpt", "percent-encoding.json") if "utf-8" in row["output"]]
    cases = [{"input": f"https://h/?{row['input']}#{row['input']}"} for row in rows]
    for row, got in zip(rows, ask("parse", cases)):
        check((got["search"], got["hash"]), ("?" + row["output"]["utf-8"], "#" + row["output"]["utf-8"]))
    check(len(rows) > 5, True)


@case
@needs_vectors
def references_of_rfc_3986_resolve():
    rows = load("url-rfc3986", "resolve.json")
    for row, got in zip(rows, ask("resolve", rows)):
        want = row.get("alt", row["expect"])
        check(got["href"], "http://g/" if want == "http://g" else want, row["ref"])
    check(len(rows) > 40, True)


@case
@needs_vectors
def sites_agree_with_the_checks_of_the_list():
    with open(os.path.join(VECTORS, "psl", "tests", "tests.txt"), encoding="utf-8") as f:
        rows = [line.split() for line in f if line.strip() and not line.startswith(("//", "null"))]
    for (host, want), got in zip(rows, ask("site", [{"input": host} for host, _ in rows])):
        check((got["ok"], got["site"]), (True, None if want == "null" else want), host)
    check(len(rows) > 70, True)


finish()
