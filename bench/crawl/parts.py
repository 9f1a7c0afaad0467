# SPDX-License-Identifier: Apache-2.0
"""The parts of a crawl that have bars of their own, by the programs of `make bench`."""
import json
import subprocess

from measure import ROOT

PROGRAMS = ("html", "url", "scheduler", "store_mem")


def measure(o, emit):
    for name in PROGRAMS:
        program = ROOT / "build" / "release" / f"bench-{name}"
        if not program.exists():
            continue
        done = subprocess.run([program, "-j"], cwd=o.folder, capture_output=True, text=True, timeout=600)
        for line in done.stdout.splitlines():
            row = json.loads(line)
            emit({"type": "part", "program": f"bench/{name}", **row})
