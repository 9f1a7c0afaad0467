# SPDX-License-Identifier: Apache-2.0
"""What the tests of the binding share: the package of this tree, a server on loopback, a process with the binding."""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BINDING = os.path.dirname(HERE)
ROOT = os.path.dirname(os.path.dirname(BINDING))
BUILD = os.environ.get("SEINE_BUILD", os.path.join(ROOT, "build/dev"))
PATIENCE = 240
for folder in (BINDING, os.path.join(ROOT, "tests/support")):
    if folder not in sys.path:
        sys.path.insert(0, folder)
os.environ.setdefault("SEINE_LIBRARY", os.path.join(BUILD, "libseine.so.0"))
for name in list(os.environ):
    if name.lower().endswith("_proxy"):
        del os.environ[name]

from pages import pages  # noqa: E402,F401


def environment(**more):
    return {**os.environ, "PYTHONPATH": BINDING, "PYTHONDONTWRITEBYTECODE": "1", **more}


def run_python(code, *args, **more):
    """Runs a program that uses the binding."""
    return subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, timeout=PATIENCE, env=environment(**more))
