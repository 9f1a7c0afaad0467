# SPDX-License-Identifier: Apache-2.0
"""Reads the robots.txt of a site and says which line decides about each URL.

    python3 10_robots.py https://e.example/a https://e.example/b
"""
import sys

import seine

rules = {}
for text in sys.argv[1:]:
    url = seine.url.parse(text)
    if url.origin not in rules:
        r = next(seine.fetch(url.origin + "/robots.txt", body=True))
        rules[url.origin] = seine.robots.parse(r.body if r.ok else "")
    verdict = rules[url.origin].check(url.href)
    print("may" if verdict else "may not", url.target, f"line {verdict.line}: {verdict.rule}" if verdict.rule else "no rule")
