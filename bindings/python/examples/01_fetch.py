# SPDX-License-Identifier: Apache-2.0
"""Fetches the URLs that are given and prints how each ended.

    python3 01_fetch.py https://e.example/ https://e.example/missing
"""
import sys

import seine

for r in seine.fetch(sys.argv[1:], timeout="10s", retries=2):
    print(r.status or r.outcome, r.title or r.error or "", r.url)
