# SPDX-License-Identifier: Apache-2.0
"""Saves the body of each URL to a file named by its SHA-256, in the directory that comes first.

    python3 04_bodies.py out https://e.example/a.pdf https://e.example/b.pdf
"""
import pathlib
import sys

import seine

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
for r in seine.fetch(sys.argv[2:], body=True, fields="+sha256", max_body="100M"):
    if r.ok:
        (folder / r.sha256).write_bytes(r.body)
        print(r.sha256[:12], len(r.body), r.url)
