# SPDX-License-Identifier: Apache-2.0
"""Is an output of the program whole, and which records does it hold? The readers are those of tools/killloop.

    records = read_output("x.jsonl.gz")     the URLs of results and skips, in order; Damaged if it is not whole
"""
import importlib.machinery
import importlib.util
import os

from e2e import PROGRAM, ROOT

_loader = importlib.machinery.SourceFileLoader("killloop", os.path.join(ROOT, "tools", "killloop"))
_module = importlib.util.module_from_spec(importlib.util.spec_from_loader("killloop", _loader))
_loader.exec_module(_module)
Damaged = _module.Damaged


def read_output(path):
    """Without the summary, which is no record of a URL."""
    return [name for name in _module.read_output(path, os.path.abspath(PROGRAM)) if not name.startswith("summary of ")]
