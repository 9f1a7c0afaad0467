#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bindings/python: its own tests, each file in a process of its own, with the library of this build."""
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, SANITIZED, case, check, environment, finish  # noqa: E402

BINDING = os.path.join(ROOT, "bindings/python")
RAN = re.compile(r"^Ran (\d+) tests?", re.M)


def runtime():
    """A Python that was built without sanitizers loads their runtime first; it is not the one whose memory is watched to its end."""
    names = {"address": "libasan.so", "thread": "libtsan.so"}
    wanted = [names[word] for word in SANITIZED.split(",") if word in names]
    paths = [subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip() for name in wanted]
    return {"LD_PRELOAD": ":".join(paths), "ASAN_OPTIONS": "detect_leaks=0"} if paths else {}


def run_file(path):
    env = environment({"SEINE_BUILD": os.path.abspath(BUILD), "SEINE_LIBRARY": os.path.join(os.path.abspath(BUILD), "libseine.so.0"),
                       "PYTHONDONTWRITEBYTECODE": "1", **runtime()})
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, env=env, timeout=PATIENCE)
    check((done.returncode, RAN.search(done.stderr) is not None), (0, True), done.stderr[-3000:])


for file in sorted(glob.glob(os.path.join(BINDING, "tests/test_*.py"))):
    def run(path=file):
        run_file(path)
    run.__name__ = "python_" + os.path.basename(file)[5:-3]
    case(run)

finish(at_once=3)
