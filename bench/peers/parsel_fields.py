# SPDX-License-Identifier: Apache-2.0
"""parsel_fields.py: the fields of bench/extract.c by parsel, which is lxml, and how often seine is as fast.

The figure of bench-extract is read from build/bench/extract: tools/bench has just written it.
"""
import os
import pathlib
import re
import time

from parsel import Selector

FIELDS = {"title": None, "h1": None, "h2": None, "a": "href", "img": "src", "p": None, "ul > li": None, "table tr": None,
          "td:first-child": None, "div[class] a": None}
ROUNDS = 3


def read_page(text):
    page = Selector(text=text, base_url="http://crawl.example/dir/page.html")
    return {css: page.css(f"{css}::attr({attr})").getall() if attr else page.css(css).xpath("normalize-space()").getall()
            for css, attr in FIELDS.items()}


def main():
    folder = os.path.join(os.environ["SEINE_VECTORS"], "html-links/fixtures")
    pages = [p.read_bytes() for p in sorted(pathlib.Path(folder).rglob("*.html"))]
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for page in pages:
            read_page(page.decode("utf-8", "replace") or " ")
        best = min(best, time.process_time() - start)
    speed = sum(map(len, pages)) / 1e6 / best
    print(f"{'ten fields of a page by parsel':46} {speed:10.2f}  MB/s")
    try:
        with open("build/bench/extract", encoding="utf-8") as f:
            ours = float(re.search(r"ten fields of a page +([0-9.]+)", f.read())[1])
    except OSError:
        return
    print(f"{'seine by parsel':46} {ours / speed:10.2f}  x        >= 3      {'met' if ours >= 3 * speed else 'MISSED'}")


main()
