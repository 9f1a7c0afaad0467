#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine test --record and --update: pages are saved, tests are written, and the recipe stays as it was beside them."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402
from pages import pages  # noqa: E402

RECIPE = """# A list of things.
seine: 1
name: things
vars: {base: {type: url}, token: {type: string, secret: true, default: none}}
request: {headers: {X-Token: "{token}"}}
start:
  url: "{base}/{month:%%Y/%%m}"
  over: {month: {months: 2024-11, count: 2}}
options: {host-rate: off}   # a server of this test
items: {kind: thing, each: li, fields: {name: {css: b, required: true}}, derive: {when: month}}
%s"""
PAGE = "<ul><li><b>one</b></li><li><b>two</b></li><li>none</li></ul>"


def written(where, text):
    with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
        f.write(text)


def read(where, name="r.yaml"):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return f.read()


def record(where, p):
    return seine("test", "r.yaml", "--record", "--var", f"base={p.base}", "--var", "token=s3cr3t-word", cwd=where)


@case
def pages_are_fetched_by_the_configuration_that_was_typed():
    with pages({"/a": "<b>1</b>"}) as p, tempfile.TemporaryDirectory() as where:
        written(where, f"seine: 1\nname: r\nstart: {p.base}/a\nitems: {{fields: {{n: b}}}}\n")
        with open(os.path.join(where, "seine.yaml"), "w", encoding="utf-8") as f:
            f.write("max-body: 1\n")
        check([seine("test", "r.yaml", "--record", *words, cwd=where).code for words in ((), ("--no-config",))], [1, 0])


@case
def start_pages_become_tests_that_pass():
    with tempfile.TemporaryDirectory() as where, pages({"/2024/11": PAGE, "/2024/12": "<ul></ul>"}) as p:
        written(where, RECIPE % "")
        r = record(where, p)
        check((r.code, r.err), (0, ""))
        check(r.out.splitlines()[:2], ["saved pages/2024-11.html             2 things, 1 bad", "saved pages/2024-12.html             0 things"])
        check("2 passed, 0 failed" in r.out, True, r.out)
        text = read(where)
        check(text.startswith(RECIPE % ""), True, text)
        check(f'- {{page: "pages/2024-11.html", url: "{p.base}/2024/11", vars: {{' in text, True, text)
        check("expect: {items: 2, bad: 1}" in text and 'month: "2024-11"' in text, True, text)
        check(read(where, "pages/2024-11.html"), PAGE)
        check("s3cr3t" in text + read(where, "pages/2024-11.jsonl") + r.out, False)
        check("/robots.txt" in p.asked, True)


@case
def a_test_without_a_network_passes_then_and_fails_when_the_page_changes():
    with tempfile.TemporaryDirectory() as where:
        with pages({"/2024/11": PAGE, "/2024/12": PAGE}) as p:
            written(where, RECIPE % "")
            check(record(where, p).code, 0)
        check(seine("test", "r.yaml", cwd=where).code, 0)
        with open(os.path.join(where, "pages/2024-12.html"), "w", encoding="utf-8") as f:
            f.write(PAGE.replace("<b>two</b>", "<b>due</b>") + "<li><b>three</b></li>")
        r = seine("test", "r.yaml", cwd=where)
        check((r.code, "expected 2 things, got 3" in r.out), (6, True), r.out)
        r = seine("test", "r.yaml", "--update", cwd=where)
        check((r.code, "numbers in the recipe were changed" in r.out, "the golden file was written anew" in r.out), (6, True, True), r.out)
        check(seine("test", "r.yaml", cwd=where).code, 0)
        check([line.partition("expect: ")[2].partition(", golden")[0] for line in read(where).splitlines() if "expect:" in line],
              ["{items: 2, bad: 1}", "{items: 3, bad: 1}"])


ITEMS = "seine: 1\nname: r\nitems: {each: li, where: t != var, fields: {t: b, page: {page: url}}}\nvars: {var: {type: string, default: none}}\n"


@rows([("one page in two tests", "- {page: p.html, expect: {items: 9, bad: 0}}\n- {page: p.html, vars: {var: one}, expect: {items: 9}}\n",
        "- {page: p.html, expect: {items: 2, bad: 0}}\n- {page: p.html, vars: {var: one}, expect: {items: 1}}\n"),
       ("the second of them alone", "- {page: p.html, expect: {items: 2}}\n- {page: p.html, vars: {var: one}, expect: {items: 2}}\n",
        "- {page: p.html, expect: {items: 2}}\n- {page: p.html, vars: {var: one}, expect: {items: 1}}\n"),
       ("the page behind the numbers", "- expect: {links: 0, items: 7}\n  page: p.html\n- expect: {items: 7}\n  vars: {var: two}\n  page: p.html\n",
        "- expect: {links: 0, items: 2}\n  page: p.html\n- expect: {items: 1}\n  vars: {var: two}\n  page: p.html\n"),
       ("a comment that looks like a test", "# page: p.html, items: 9\n- page: 'p.html' # items: 9\n  expect:\n    # é items: 9\n    \"items\":   9   # rows\n",
        "# page: p.html, items: 9\n- page: 'p.html' # items: 9\n  expect:\n    # é items: 9\n    \"items\":   2   # rows\n"),
       ("more than ASCII in the line", "- {url: 'http://é.example/ü', page: p.html, expect: {items: 9}}\n",
        "- {url: 'http://é.example/ü', page: p.html, expect: {items: 2}}\n")])
def an_update_changes_the_numbers_of_each_test_and_nothing_else(_, before, after):
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "p.html"), "w", encoding="utf-8") as f:
            f.write("<li><b>one</b></li><li><b>two</b></li>")
        written(where, ITEMS + "tests:\n" + before)
        r = seine("test", "r.yaml", "--update", cwd=where)
        check((r.code, "numbers in the recipe were changed" in r.out), (6, True), r.out + r.err)
        check(read(where), ITEMS + "tests:\n" + after)
        check(seine("test", "r.yaml", cwd=where).code, 0)


@case
def a_page_that_is_tested_is_saved_anew_and_new_ones_are_added():
    with tempfile.TemporaryDirectory() as where, pages({"/2024/11": PAGE, "/2024/12": PAGE}) as p:
        os.mkdir(os.path.join(where, "pages"))
        with open(os.path.join(where, "pages/old.html"), "w", encoding="utf-8") as f:
            f.write("<li><b>one</b></li>")
        written(where, RECIPE % f"tests:\n- page: pages/old.html   # by hand\n  url: {p.base}/2024/11\n  vars: {{month: 2024-11, base: '{p.base}'}}\n  expect: {{items: 2}}\n")
        r = record(where, p)
        check((r.code, r.err), (0, ""), r.out)
        check(read(where, "pages/old.html"), PAGE)
        check(sorted(os.listdir(os.path.join(where, "pages"))), ["2024-12.html", "2024-12.jsonl", "old.html"])
        check(("# by hand" in read(where), read(where).count("\n- ")), (True, 2), read(where))


@rows([("a page that cannot be had", {"/2024/11": PAGE}, "", 1, "2024/12: "),
       ("tests in the middle", {"/2024/11": PAGE, "/2024/12": PAGE}, "tests: [{page: pages/x.html, expect: {items: 0}}]\nexpect: {items: 1}\n", 2, "add these lines under tests: in r.yaml")])
def what_cannot_be_done_is_said(_, table, more, code, said):
    with tempfile.TemporaryDirectory() as where, pages(table) as p:
        written(where, RECIPE % more)
        r = record(where, p)
        check(said in r.err, True, r.err + r.out)
        check(r.code, code, r.err + r.out)


finish()
