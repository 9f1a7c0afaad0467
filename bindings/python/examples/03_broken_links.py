# SPDX-License-Identifier: Apache-2.0
"""Finds the broken links of a site and says on which page, in which line, each was found. Exit code 1: there are some.

    python3 03_broken_links.py https://e.example/
"""
import sys

import seine

broken = 0
for r in seine.crawl(sys.argv[1], host_rate="20/s", skips=False):
    if r.error and not r.error.transient:
        broken += 1
        where = f"{r.parent}:{r.via['line']}" if r.parent else "given"
        print(f"{where}: {r.url}: {r.error}")
sys.exit(1 if broken else 0)
