# SPDX-License-Identifier: Apache-2.0
"""Crawls a site, two links deep, and prints its pages as a tree.

    python3 02_crawl.py https://e.example/
"""
import sys

import seine

pages = [r for r in seine.crawl(sys.argv[1], depth=2, host_rate="20/s", skips=False) if r.ok]
for r in sorted(pages, key=lambda r: (r.depth, r.url)):
    print("  " * r.depth + (r.title or "-"), r.url)
