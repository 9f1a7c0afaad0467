# SPDX-License-Identifier: Apache-2.0
"""Follows "next" links from page to page: what is asked depends on what came back.

    python3 09_feedback.py https://e.example/list
"""
import sys

import seine

todo = [sys.argv[1]]
open_pages = 1  # given, or waiting in todo


def urls():
    while open_pages:
        yield todo.pop() if todo else None  # None: nothing to ask for now


for r in seine.fetch(urls(), body=True):
    page = r.raise_for_error().page()
    print(page.title)
    todo += [link.url for link in page.links() if link.rel == "next"]
    open_pages += len(todo) - 1
