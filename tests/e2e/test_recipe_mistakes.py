#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mistakes in recipes: each is told with file, line, column, the line, a caret and what to try.

tests/support/recipe_mistakes.txt has one broken recipe after another, and what is said of it; <tab> is a tab.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, case, check, finish, rows, seine  # noqa: E402

with open(os.path.join(ROOT, "tests/support/recipe_mistakes.txt"), encoding="utf-8") as text:
    MISTAKES = [re.fullmatch(r"(\w+)\n(.*)---\n(.*)", part, re.S).groups() for part in text.read().split("=== ")[1:]]


def said_of(recipe):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "t.yaml"), "w", encoding="utf-8") as f:
            f.write(recipe.replace("<tab>", "\t"))
        r = seine("test", "t.yaml", cwd=folder)
        check((r.code, r.out), (2, ""))
        return r.err


@rows(MISTAKES)
def a_mistake_is_told_where_it_is(_, recipe, want):
    check(said_of(recipe), want)
    check(all(len(line) < 240 for line in want.splitlines()), True)


@rows([("timeout", "0"), ("head-timeout", "0s"), ("max-errors", "any"), ("contact", '"a\\nb"'), ("accept-type", "x"), ("robots-agent", "a b"),
       ("include", "'('"), ("exclude", "['a', '[']"), ("per-ip", "65536"), ("exclude", str(["a"] * 1001))],
      name=lambda row: f"{row[0]} {row[1][:12]}")
def an_option_is_refused_alike_by_run_test_and_extract(name, value):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "t.yaml"), "w", encoding="utf-8") as f:
            f.write(f"seine: 1\nname: t\nstart: http://127.0.0.1:1/\noptions:\n  {name}: {value}\nitems: {{fields: {{a: p}}}}\n")
        with open(os.path.join(folder, "p.html"), "w", encoding="utf-8") as f:
            f.write("<p>x")
        said = [seine(*words, cwd=folder) for words in (("run", "--no-job", "t.yaml"), ("test", "t.yaml"), ("extract", "--recipe", "t.yaml", "p.html"))]
        check([r.code for r in said], [2, 2, 2])
        check(said[0].err.startswith("seine: t.yaml:5:"), True)
        check([r.err for r in said[1:]], [said[0].err] * 2)


@case
def there_are_forty_and_more():
    check(len(MISTAKES) >= 40, True)


@case
def all_mistakes_are_told_at_once_in_order():
    recipe = "seine: 1\nname: t\nitems:\n  each: li..x\n  fields:\n" + "".join(f"    f{i}: {{css: b, typ: int}}\n" for i in range(30))
    places = [int(p) for p in re.findall(r"^seine: t.yaml:(\d+):", said_of(recipe), re.M)]
    check(places, [4] + list(range(6, 25)))


@case
def a_recipe_that_is_not_there_is_told_like_any_file():
    r = seine("test", "nowhere.yaml")
    check((r.code, r.out), (2, ""))
    check("nowhere.yaml" in r.err, True)


finish()
