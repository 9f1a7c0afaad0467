#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine test and seine extract --recipe: saved pages, golden files, readable differences."""
import glob
import json
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, case, check, finish, rows, seine  # noqa: E402

RECIPES = sorted(os.path.basename(p) for p in glob.glob(os.path.join(ROOT, "recipes/*")))


def changed(name, old, new, where="{name}.yaml"):
    """A copy of a recipe with one thing changed, and what its tests say."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "recipes", name), os.path.join(folder, name))
        path = os.path.join(folder, name, where.format(name=name))
        with open(path, encoding="utf-8") as f:
            text = f.read()
        check(old in text, True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))
        return seine("test", f"{name}/{name}.yaml", cwd=folder)


@rows([(name,) for name in RECIPES])
def the_tests_of_a_recipe_pass(name):
    r = seine("test", f"recipes/{name}/{name}.yaml", cwd=ROOT)
    check((r.code, r.err, "FAIL" in r.out), (0, "", False))


@case
def there_are_the_recipes_that_are_promised():
    check({"amion", "shop", "tickets", "blog", "wiki-table"} <= set(RECIPES), True)


@case
def a_page_that_is_not_there_is_named_with_its_recipe_and_the_others_are_tested():
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "p.html"), "w", encoding="utf-8") as f:
            f.write("<li>a")
        with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
            f.write("seine: 1\nname: r\nstart: http://e.example/\nitems: {kind: row, each: li, fields: {a: li}}\n"
                    "tests: [{page: none.html, expect: {items: 1}}, {page: p.html, expect: {items: 1}}]\n")
        r = seine("test", "r.yaml", cwd=where)
        check((r.code, r.out), (2, "ok   p.html                           1 row\n"), r.err)
        check(r.err.splitlines()[0], "seine: r.yaml: cannot open 'none.html': no such file or directory")


@case
def a_selector_that_finds_nothing_is_named_with_the_nearest():
    r = changed("amion", "table.schedule tr.shift", "table.schedul tr.shift")
    check(r.code, 6)
    check("FAIL pages/2024-11.html               expected 30 shifts, got 0: `table.schedul tr.shift` matches nothing; "
          "nearest: `table.schedule tr.shift` (30)\n" in r.out, True, r.out)


@case
def a_page_that_has_changed_is_named_with_the_nearest():
    r = changed("shop", 'class="price"', 'class="prices"', "pages/list-1.html")
    check(r.code, 6)
    check("     price: `.price` matches nothing; nearest: `.prices` (1)\n" in r.out, True, r.out)
    check("first: price is null, expected {\"amount\":12.5,\"currency\":\"EUR\"}" in r.out, True, r.out)


@rows([("a number of rows", "items: 4", "items: 5", "expected 5 items, got 4\n"),
       ("the next page", "page=2\"\n      first", "page=3\"\n      first", "next is https://shop.example/list?page=2, expected https://shop.example/list?page=3\n"),
       ("no next page", "items: 2, next: null", "items: 2, next: \"https://shop.example/\"", "next is null, expected https://shop.example/\n"),
       ("a value", "stars: 4", "stars: 5", "first: stars is 4, expected 5\n"),
       ("a row", "cheap: true}]", "cheap: false}]", "no row has {\"sku\":\"A-1006\",\"cheap\":false}\n       the nearest row: cheap is true, expected false\n")])
def a_difference_says_what_came_and_what_was_expected(_, old, new, want):
    r = changed("shop", old, new)
    check((r.code, r.err), (6, ""))
    check(want in r.out, True, r.out)


@case
def a_golden_file_is_compared_row_by_row_and_written_on_demand():
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(ROOT, "recipes/wiki-table"), folder, dirs_exist_ok=True)
        golden = os.path.join(folder, "pages/lighthouses.jsonl")
        with open(golden, encoding="utf-8") as f:
            before = f.read()
        with open(golden, "w", encoding="utf-8") as f:
            f.write(before.replace("52.5", "50"))
        r = seine("test", "wiki-table.yaml", cwd=folder)
        check((r.code, "row 2: height is 52.5, expected 50\n" in r.out), (6, True), r.out)
        r = seine("test", "--update", "wiki-table.yaml", cwd=folder)
        check((r.code, "the golden file was written anew\n" in r.out), (6, True), r.out)
        with open(golden, encoding="utf-8") as f:
            check(f.read(), before)
        check(seine("test", "wiki-table.yaml", cwd=folder).code, 0)


@case
def results_are_for_scripts_too():
    r = seine("test", "-f", "jsonl", "recipes/tickets/tickets.yaml", cwd=ROOT)
    check([(o["page"], o["ok"], o["counts"]) for o in map(json.loads, r.out.splitlines())],
          [("pages/tickets-1.json", True, "3 tickets"), ("pages/tickets-2.json", True, "1 ticket, 1 bad"), ("pages/ticket-41.json", True, "2 comments")])
    r = seine("test", "-f", "junit", "recipes/tickets/tickets.yaml", cwd=ROOT)
    suite = xml.etree.ElementTree.fromstring(r.out)
    check([c.get("name") for c in suite.iter("testcase")], ["pages/tickets-1.json", "pages/tickets-2.json", "pages/ticket-41.json"])


@case
def a_recipe_without_tests_is_no_success():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "r.yaml"), "w", encoding="utf-8") as f:
            f.write("seine: 1\nname: r\nitems: {fields: {a: b}}\n")
        r = seine("test", "r.yaml", cwd=folder)
        check((r.code, r.out, "has no tests" in r.err), (2, "", True))


@case
def extract_gives_rows_with_their_place():
    r = seine("extract", "--recipe", "recipes/shop/shop.yaml", "--base", "https://shop.example/list?page=1", "recipes/shop/pages/list-1.html", cwd=ROOT)
    items = [json.loads(line) for line in r.out.splitlines()]
    check((r.code, r.err, len(items)), (0, "", 4))
    check({k: items[1][k] for k in ("v", "type", "recipe", "kind", "url", "n", "ok", "key")},
          {"v": 1, "type": "item", "recipe": "shop", "kind": "product", "url": "https://shop.example/list?page=1", "n": 2, "ok": True, "key": "A-1002"})
    check(items[1]["provenance"], {"url": "https://shop.example/list?page=1", "selector": "article.product", "line": 13, "col": 1})
    check(items[1]["data"]["price"], {"amount": 1249, "currency": "EUR"})


@case
def extract_keeps_bad_rows_apart_and_drops_them_when_flat():
    page = "recipes/amion/pages/2024-12-bad-rows.html"
    r = seine("extract", "--recipe", "recipes/amion/amion.yaml", "--var", "from=2024-12", page, cwd=ROOT)
    check("'month' has no value here" in {e["message"] for line in r.out.splitlines() for e in json.loads(line).get("errors", [])}, True)
    r = seine("extract", "--recipe", "recipes/tickets/tickets.yaml", "--flat", "recipes/tickets/pages/tickets-2.json", cwd=ROOT)
    check([json.loads(line)["id"] for line in r.out.splitlines()], [44])
    r = seine("extract", "--recipe", "recipes/tickets/tickets.yaml", "recipes/tickets/pages/tickets-2.json", cwd=ROOT)
    bad = json.loads(r.out.splitlines()[1])
    check((bad["ok"], bad["errors"], bad["provenance"]["selector"]),
          (False, [{"field": "opened", "why": "type", "text": "yesterday", "message": "'yesterday' is not a date and time"}], "/data/1"))


@rows([("another kind of page", ["--kind", "detail", "recipes/shop/pages/detail-1001.html"], 0, ""),
       ("no such kind", ["--kind", "detial", "recipes/shop/pages/detail-1001.html"], 1, "no such kind"),
       ("no such variable", ["--var", "bse=x", "recipes/shop/pages/list-1.html"], 2, "try: base"),
       ("a value of another type", ["--var", "base=x", "recipes/shop/pages/list-1.html"], 2, "--var base: 'x' is not an http or https URL"),
       ("beside something else", ["--title", "recipes/shop/pages/list-1.html"], 2, "--recipe gives rows")])
def extract_says_what_is_wrong(_, words, code, said):
    r = seine("extract", "--recipe", "recipes/shop/shop.yaml", *words, cwd=ROOT)
    check((r.code, said in r.err), (code, True), r.err)


@case
def options_of_recipes_need_one():
    r = seine("extract", "--flat", "--title", stdin="<p>")
    check((r.code, "try: --recipe FILE" in r.err), (2, True))


finish()
