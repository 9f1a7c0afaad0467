# SPDX-License-Identifier: Apache-2.0
"""Runs a program under callgrind and reads how many instructions the program executed in user mode."""
import pathlib
import shutil

from measure import run, why

PATIENCE = 600  # seconds; callgrind makes a program about fifty times slower


class Failed(Exception):
    """A run that gives no figure; its text says why."""


def missing():
    """Says why nothing can be counted here, or None."""
    return None if shutil.which("valgrind") else "valgrind is not installed: make deps-bench"


def total(text):
    """The sum over all functions and threads, from the text of a callgrind output file."""
    for line in text.splitlines():
        if line.startswith("totals:"):
            return int(line.split()[1])
    raise Failed("callgrind wrote no total")


def count(words, folder):
    """Runs `words` in `folder` and returns the number of instructions. The work of the kernel is not seen."""
    profile = pathlib.Path(folder) / "callgrind.out"
    cost = run(["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}", *words], folder, patience=PATIENCE)
    if cost.code != 0:
        raise Failed(why(cost))
    return total(profile.read_text(encoding="utf-8"))
