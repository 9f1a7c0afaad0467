# SPDX-License-Identifier: Apache-2.0
"""Selects parts of a page by CSS.

    python3 06_extract.py https://e.example/ 'h2 > a'
"""
import sys

import seine

for r in seine.fetch(sys.argv[1], body=True):
    page = r.raise_for_error().page()
    for node in page.select(sys.argv[2]):
        print(node.words, node.get("href", ""))
