#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lock files and advisories of strangers under `seine crate audit`, and pages of strangers under `seine new recipe`."""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SANITIZED, case, check, finish, rows  # noqa: E402
from hostile import attack  # noqa: E402

SOURCE = 'source = "registry+https://github.com/rust-lang/crates.io-index"\n'


def put(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def package(name, version):
    return f'[[package]]\nname = "{name}"\nversion = "{version}"\n{SOURCE}'


def audit(d, lock):
    put(d, "Cargo.lock", lock)
    os.makedirs(os.path.join(d, "db", "crates"), exist_ok=True)
    return attack("crate", "audit", "--advisory-db", "db", "Cargo.lock", "-j", cwd=d)


def dotted(n):
    return ".".join(["a"] * n)


@rows([("dots in brackets", (dotted(60) + "={") * 60 + "a=1" + "}" * 60), ("a header and dots", f"[{dotted(60)}]\n{dotted(60)}=1"), ("brackets", "a=" + "[" * 100000),
       ("inline tables", "a={" * 100000)])
def a_lock_file_is_no_deeper_than_64_levels(_, text):
    with tempfile.TemporaryDirectory() as d:
        r = audit(d, text + "\n")
        check((r.code, r.out), (1, b""), r.err)
        check(re.match(r"seine: Cargo\.lock:\d:\d+: more than 64 levels\n", r.err) is not None, True, r.err)


@case
def names_and_versions_are_shown_inert_and_open_no_file():
    with tempfile.TemporaryDirectory() as d:
        put(d, "etc/RUSTSEC-1.md", "```toml\n```\n")
        r = audit(d, package("\\u001b]0;x\\u0007", "1.0.0") + package("../../etc", "1.0.0") + package("fine", "1." * 5000))
        check("\x1b" in r.err or "RUSTSEC-1" in r.err, False, r.err)
        check(r.out, b"", r.err)
        check(r.code, 1, r.err)


@case
def advisories_that_cannot_be_used_cost_the_same_each():
    cost = []
    for files in (3000, 12000):
        with tempfile.TemporaryDirectory() as d:
            for n in range(files):
                put(d, f"db/crates/big/RUSTSEC-{n}.md", "no advisory")
            r = audit(d, package("big", "1.0.0") + package("big", "1.0.1"))
            check((r.code, r.err.count("\n") < 30), (1, True), r.err)
            cost.append(r.cpu)
    check(cost[1] < 9 * cost[0] + 0.3, True, f"{cost}")  # 16 times as much where each is compared with all


PAGES = {
    "classes": "".join(f'<div class="c{n} d{n}"><a href="/x{n}">t {n}</a><span>{n}.50 EUR</span></div>' for n in range(6000)),
    "rows in rows": "".join(f"<div class=r><div class=r><div class=r><p>{n}</p></div></div></div>" for n in range(6000)),
    "depth": "<div>" * 50000,
    "one element of many classes": f"<div class='{' '.join(f'k{n}' for n in range(60000))}'>x</div>" * 3,
    "data that nests": "<script type='application/ld+json'>" + "[" * 50000 + "</script>",
    "a wide table": ("<tr>" + "<td>1</td>" * 300 + "</tr>") * 150,
}


@rows([(name, name) for name in PAGES])
def a_page_becomes_a_recipe_in_time(_, name):
    with tempfile.TemporaryDirectory() as d:
        put(d, "a.html", f"<html><body>{PAGES[name]}</body></html>")
        r = attack("new", "recipe", "a.html", cwd=d)
        check((r.code in (0, 1), r.cpu < (120 if SANITIZED else 12)), (True, True), f"{r.code} {r.cpu} s {r.err[:200]}")


finish(at_once=2)
