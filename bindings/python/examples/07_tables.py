# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of a page as CSV.

    python3 07_tables.py https://e.example/prices
"""
import csv
import sys

import seine

for r in seine.fetch(sys.argv[1], body=True):
    for table in r.raise_for_error().page().tables():
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
