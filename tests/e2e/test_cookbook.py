#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/user/cookbook.md, as they stand there, do what the page says: small sites with TLS answer for its names."""
import csv
import gzip
import json
import os
import re
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from cookbook import PDF, RECIPES, sites  # noqa: E402
from e2e import check, finish, rows  # noqa: E402

ANSWERED = {"docs.example": {"/", "/manual/", "/manual/one.html", "/prices.html"}, "blog.example": {"/", "/post.html"}}

def table(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def records(path):
    with open(path, encoding="utf-8") as lines:
        return [r for r in map(json.loads, lines) if r["type"] == "result"]


def got(urls, *hosts):
    check(set(urls) >= {f"https://{host}{path}" for host in hosts for path in ANSWERED[host]}, True, str(sorted(urls)))


def text(path, mode="r"):
    with open(path, mode) as stream:
        return stream.read()


def list_into_table(r):
    check([(row["status"], row["title"]) for row in sorted(table(r.files["pages.csv"]), key=lambda row: row["title"])],
          [("200", "One"), ("200", "Post"), ("200", "Prices")])


def titles(r):
    check(sorted(r.out.splitlines()), ["One", "Post", "Prices"])


def files(r):
    check(sorted(name for name in r.files if name.startswith("pages/")), ["pages/one.html", "pages/post.html", "pages/prices.html"])
    check("<title>One</title>" in text(r.files["pages/one.html"]), True)


def mirror(r):
    copy = {name: path for name, path in r.files.items() if name.endswith(("one.html", "index.html", "style.css", "dot.gif")) and ".seine" not in name}
    check(sorted(os.path.basename(name) for name in copy), ["dot.gif", "index.html", "one.html", "style.css"])
    check('href="one.html#top"' in text(next(path for name, path in copy.items() if name.endswith("manual/index.html"))), True)


def broken(r):
    check("https://docs.example/gone.html" in r.out and "404" in r.out, True, r.out)


def posted(r):
    check(r.out.strip(), '{"hello": "Ada"}')


def token(r):
    check(r.out, "welcome\n")
    check("secret-token" in r.out + r.err, False)


def whole_crawl(r):
    urls = [x["url"] for x in records(r.files["docs.jsonl"])]
    got(urls, "docs.example")
    check(len(urls), len(set(urls)))
    check(("docs.example", "/") in r.seen, False, "it was asked for again")


def slowly(r):
    starts = sorted(x["ts"] for x in records(r.files["slow.jsonl"]))
    check(len(starts), 3)


def both(r):
    got([row["url"] for row in table(r.files["both.csv"])], "docs.example", "blog.example")


def papers(r):
    kept = [path for name, path in r.files.items() if name.startswith("papers/")]
    check([(path.endswith(".pdf"), text(path, "rb")) for path in kept], [(True, PDF)])
    check([row["url"] for row in table(r.files["papers.csv"])], ["https://docs.example/paper.pdf"])


def prices(r):
    check(text(r.files["prices.csv"]), "fish,price\ncod,3\neel,5\n")


def asked_sqlite(r):
    check({line.split("|")[0]: int(line.split("|")[1]) for line in r.out.splitlines() if line[0].isdigit()}["404"], 1)


def archive(r):
    with gzip.open(r.files["docs.warc.gz"]) as f:
        held = f.read()
    check((b"WARC-Target-URI: https://docs.example/paper.pdf" in held, PDF in held), (True, True), str(re.findall(rb"Target-URI: .*", held)))


def named(r):
    check(sorted(row["url"] for row in table(r.files["named.csv"])), ["https://docs.example/", "https://docs.example/prices.html"])


def piped(r):
    check(r.out, "gone: https://docs.example/gone.html\n")


def ci(r):
    check((r.out, r.err.count("\n") <= 3), ("", True), r.err)
    cases = xml.etree.ElementTree.parse(r.files["links.xml"]).getroot().iter("testcase")
    check(any(case.find("failure") is not None for case in cases), True)


def through(r):
    check(r.proxied, ["docs.example:443"])


def wire(r):
    for words in ("GET / HTTP/1.1", "HTTP/1.1 200", "TLSv1"):
        check(words in r.err, True, r.err)


def unchecked(r):
    check("not checked" in r.err or "no certificate" in r.err, True, r.err)


def reported(r):
    page = text(r.files["docs.html"])
    check(page.startswith("<!doctype html>") and "https://docs.example/gone.html" in page, True)


def compared(r):
    check("0 added, 0 removed, 0 changed" in r.out, True, r.out)


def fish(r):
    row = next(row for row in table(r.files["fish.csv"]) if row["url"].endswith("/prices.html"))
    check((row["fish"], row["price"], row["description"]), ("cod|eel", "3|5", ""))


def headings(r):
    check(r.out, "https://docs.example/manual/one.html|One\n")


def pointed(r):
    check(r.out, "me\n")


def flat(r):
    return [json.loads(line) for line in r.out.splitlines()]


def by(rows, *names):
    return sorted(tuple(row[n] for n in names) for row in rows)


def fish_rows(r):
    check(flat(r), [{"fish": "cod", "price": 3}, {"fish": "eel", "price": 5}])


def listed(r):
    check(by(table(r.files["products.csv"]), "sku", "name", "price", "price_currency"),
          [("B-4", "Buoy", "31.0", "EUR"), ("H-3", "Hook", "0.75", "EUR"), ("N-1", "Net", "12.5", "EUR"), ("R-2", "Rope", "8.0", "EUR")])


def detailed(r):
    check(by(table(r.files["shop.csv"]), "sku"), [("B-4",), ("H-3",), ("N-1",), ("R-2",)])
    check(by(table(r.files["shop.detail.csv"]), "sku", "weight"), [("B-4", "2"), ("H-3", "0.01"), ("N-1", "0.45"), ("R-2", "1.2")])


def ordered(r):
    check(by(flat(r), "id", "placed"), [(1, "2026-03-01T10:00:00+01:00"), (2, "2026-03-28T09:00:00Z"), (3, "2026-03-30T18:30:00+02:00")])
    check(len([path for _, path in r.seen if path.startswith("/api")]), 3)


def cursored(r):
    check(by(flat(r), "id", "what"), [(1, "opened"), (2, "sold"), (3, "closed")])
    check("secret-token" in r.out + r.err + "".join(text(path) for name, path in r.files.items() if name.endswith(".jsonl")), False)


def articles(r):
    check(by(table(r.files["entries.csv"]), "title", "published"), [("Fog", "2026-11-03T21:05:00+01:00"), ("Nets", "2026-11-12T07:30:00Z")])
    check(by(table(r.files["entries.article.csv"]), "headline", "text"), [("Fog", "None here."), ("Nets", "Knots hold.")])


def tides(r):
    check(sorted(path for _, path in r.seen if "tides" in path), [f"/tides/2026-{day}.html" for day in ("02-28", "03-01", "03-02")])
    check(len(flat(r)), 6)
    check(by(flat(r), "at")[:2], [("2026-02-28T03:12:00+01:00",), ("2026-02-28T09:40:00+01:00",)])


def rated(r):
    check(by(table(r.files["rates.csv"]), "currency", "rate"), [("DKK", "7.46"), ("GBP", "0.84"), ("NOK", "11.02")])
    check(len(table(r.files["rates.bad.csv"])), 2)


def facts(r):
    check(by(flat(r), "name", "price", "about", "page"), [("Net", 12.5, "Net, for fishers", "https://shop.example/p/1"),
                                                          ("Rope", 8, "Rope, for fishers", "https://shop.example/p/2")])


def gated(r):
    check("`li.product` matches nothing; nearest: `li.products` (2)" in r.out + r.err, True, r.out + r.err)


CHECKS = {1: list_into_table, 2: titles, 3: files, 4: mirror, 5: broken, 6: posted, 7: token, 8: whole_crawl, 9: slowly, 10: both, 11: papers, 12: prices,
          13: asked_sqlite, 14: archive, 15: named, 16: piped, 17: ci, 18: through, 19: wire, 20: unchecked, 21: reported, 22: compared, 23: fish, 24: headings,
          25: pointed, 26: fish_rows, 27: listed, 28: detailed, 29: ordered, 30: cursored, 31: articles, 32: tides, 33: rated, 34: facts, 35: gated}
FAILS = {5: 1, 8: 1, 10: 1, 11: 1, 13: 0, 14: 1, 17: 1, 23: 1, 35: 6}  # a link of the site is broken, and these say so


@rows(RECIPES, name=lambda row: f"{row[0]} {row[1]}")
def a_recipe_does_what_it_says(number, _, script):
    with sites() as there, tempfile.TemporaryDirectory() as folder:
        r = there.run(script, folder, is_cut=number == 8)
        check(r.code, FAILS.get(number, 0), r.err[-2000:])
        CHECKS[number](r)
        print(f"# recipe {number} took {r.seconds:.2f} s", flush=True)


@rows([(35,)])
def there_are_as_many_recipes(count):
    check([number for number, _, _ in RECIPES], list(range(1, count + 1)))


finish(at_once=2)
