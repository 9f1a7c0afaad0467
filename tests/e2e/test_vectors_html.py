#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages, trees, selectors, encodings, refreshes and JSON pointers of other projects, through the verbs.

They are found through SEINE_VECTORS and are no part of the project. docs/user/tree.md,
docs/user/select.md and docs/user/charset.md say which of them are not met, and why.
"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, VECTORS, case, check, environment, finish, needs_vectors  # noqa: E402



def load(*path):
    with open(os.path.join(VECTORS, *path), "rb") as f:
        data = f.read()
    return gzip.decompress(data) if path[-1].endswith(".gz") else data


def ask(verb, cases):
    text = "".join(json.dumps({**c, "id": i}) + "\n" for i, c in enumerate(cases))
    p = subprocess.run([PROGRAM, *verb.split(), "--jsonl"], input=text.encode(), capture_output=True, env=environment(), timeout=PATIENCE)
    check((p.returncode, p.stderr), (0, b""))
    out = [json.loads(line) for line in p.stdout.splitlines()]
    check([o["id"] for o in out], list(range(len(cases))))
    return out


def share(name, good, total, least):
    print(f"     {name}: {good} of {total}")
    check(good >= least * total, True, name)


@case
@needs_vectors
def links_of_pages_agree_with_jsdom():
    pages = [json.loads(line) for line in load("html-links", "pages.sample.jsonl").splitlines()]
    asked = [{"html": load(p["file"]).decode("cp1252" if p["charset"] == "windows-1252" else "utf-8", "replace"), "url": p["url"], "want": ["links", "jsonld", "meta"]} for p in pages]
    good = total = 0
    for page, got in zip(pages, ask("extract", asked)):
        check(got["ok"], True, page["file"])
        check((got["base"], got["title"] or "", got["canonical"]), (page["base"], page["title"], page["canonical"]), page["file"])
        check(len(got["jsonld"]), page["json_ld"], page["file"])
        robots = [m["content"] for m in got["meta"] if m.get("name", "").lower() == "robots"]
        check(robots[0] if robots else None, page["meta_robots"], page["file"])
        for tag, attr in (("a", "href"), ("img", "src"), ("link", "href"), ("script", "src"), ("iframe", "src"), ("form", "action")):
            found = [k["url"] for k in got["links"] if (k["tag"], k["attr"]) == (tag, attr)]
            total += len(page[tag])
            good += len(page[tag]) if found == page[tag] else sum(u in found for u in page[tag])
            check(set(found) - set(page[tag]) if len(max(page[tag], default="", key=len)) < 8192 else set(), set(), page["file"])
    share("links", good, total, 0.99)


@case
@needs_vectors
def structured_pages_have_their_metas():
    html = load("html-structured", "misc", "expanded_OG_support_test.html").decode("cp1252")
    got = ask("extract", [{"html": html, "want": ["meta"]}])[0]
    og = {m["property"]: m["content"] for m in got["meta"] if m.get("property", "").startswith("og:")}
    check(og["og:type"], "article")
    check(og["og:title"], "From Street Theater to Wagner on the Opera Stage")


@case
@needs_vectors
def selectors_agree_with_browsers():
    rows = json.loads(load("css-selectors", "wpt-selectors.json"))
    path = os.path.join(VECTORS, "css-selectors", "ParentNode-querySelector-All-content.html")
    valid = [r for r in rows["valid"] if not {"document", "html"} & set(r.get("exclude") or [])]
    out = ask("extract", [{"html_file": path, "css": [r["selector"]]} for r in valid])
    element = re.compile("::|:(before|after|first-line|first-letter)")  # never a node: refused
    good = sum(
        [m["id"] for m in got["matches"]] == r["expect"] if got["ok"] else not r["expect"] and bool(element.search(r["selector"]))
        for r, got in zip(valid, out)
    )
    out = ask("extract", [{"html": "x", "css": [r["selector"]]} for r in rows["invalid"]])
    good += sum(not got["ok"] for got in out)
    share("selectors", good, len(valid) + len(out), 0.95)


@case
@needs_vectors
def trees_agree_with_html5lib():
    rows = json.loads(load("html-tree", "tree-construction.json"))
    good = sum(got.get("tree") == row["document"] for row, got in zip(rows, ask("html tree", rows)))
    share("trees", good, len(rows), 0.97)


@case
@needs_vectors
def refreshes_agree_with_browsers():
    rows = json.loads(load("html-links", "meta-refresh-wpt.json"))
    for row, got in zip(rows, ask("html meta-refresh", [{"content": r["input"]} for r in rows])):
        want = row["expected"] or [None, None]
        check([got["seconds"], got["url"]], [want[0], "" if want[1] == "__filename__" else want[1]], row["input"])
    check(len(rows), 73)


@case
@needs_vectors
def encodings_agree_with_html5lib():
    rows = json.loads(load("html-encoding", "html5lib-sniff.json"))
    rows = [r for r in rows if "/scripted/" not in r["id"]]  # what a script would write nobody runs
    out = ask("html encoding", [{"html_b64": r["html_b64"]} for r in rows])
    wrong = {r["id"]: got["encoding"] for r, got in zip(rows, out) if got["encoding"] != r["encoding"].lower()}
    share("encodings", len(rows) - len(wrong), len(rows), 0.99)
    check((wrong, len(rows)), ({}, 82))


@case
@needs_vectors
def json_pointers_agree_with_the_rfc():
    vector = json.loads(load("json-pointer", "rfc6901-section5.json"))
    document, pairs = vector["document"], vector["cases"]
    out = ask("extract", [{"json": document, "pointer": p} for p, _ in pairs])
    for (pointer, want), got in zip(pairs, out):
        check(got.get("value"), want, pointer)
    check(len(pairs) >= 12, True)


@case
@needs_vectors
def pages_that_broke_other_parsers_do_not_break_this_one():
    files = [f for f in glob.glob(os.path.join(VECTORS, "html-fuzz", "**", "*"), recursive=True) if os.path.isfile(f)]
    pages = [load(os.path.relpath(f, VECTORS)).decode("latin-1") for f in files]
    for name, got in zip(files, ask("extract", [{"html": p, "want": ["links", "text", "tables"]} for p in pages])):
        check(got["ok"] or got["error"].startswith("html_too_"), True, name)


finish()
