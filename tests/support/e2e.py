# SPDX-License-Identifier: Apache-2.0
"""What whole-program tests share: run the program, count cases, end with the count.

    from e2e import case, check, seine, finish

    @case
    def no_rate_is_offered_to_a_request_larger_than_the_bucket():
        r = seine("limit", "simulate", "--rate", "1/s", "--burst", "2", stdin="0 3")
        check("with --burst 3." in r.out, True)

    finish()

A case that raises has failed; the others go on. A case that compares with recorded
answers of other projects is marked @needs_vectors below @case or @rows, and is counted
as skipped where they are not there. The build directory is the first argument, a part
of a case's name the second.
"""
import functools
import os
import subprocess
import sys
import traceback

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/dev"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(BUILD, "seine")
VECTORS = os.environ.get("SEINE_VECTORS")
_cases = []


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err


def environment(extra=None):
    """The caller's environment without what would change the output."""
    env = {k: v for k, v in os.environ.items()
           if not k.startswith("SEINE_") and not k.lower().endswith("_proxy") and k not in ("NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM")}
    env.update({"LC_ALL": "C.UTF-8", "TZ": "UTC"})
    env.update(extra or {})
    return env


def seine(*words, stdin="", env=None, cwd=None):
    if isinstance(stdin, str):
        stdin = stdin.encode()
    p = subprocess.run([PROGRAM, *words], input=stdin, capture_output=True, env=environment(env), cwd=cwd, timeout=60)
    return Result(p.returncode, p.stdout.decode(), p.stderr.decode())


def check(got, want, what=""):
    if got != want:
        raise AssertionError(f"{what + ': ' if what else ''}got {got!r}, want {want!r}")


def case(fn):
    _cases.append((fn.__name__, fn))
    return fn


def plain(text):
    return str(text).encode("unicode_escape").decode()[:100]


def rows(table, name=lambda row: row[0]):
    """A case per row of the table; the function gets the row's members."""
    def wrap(fn):
        for i, row in enumerate(table):
            _cases.append((f"{fn.__name__}[{plain(name(row))}]", lambda row=row: fn(*row)))
        return fn
    return wrap


class Skip(Exception):
    """Raised in a case that lacks what it needs; its text says what."""


def needs_vectors(fn):
    @functools.wraps(fn)
    def checked(*args):
        if not VECTORS:
            raise Skip("SEINE_VECTORS, the folder of conformance vectors, is not set")
        fn(*args)
    return checked


def finish():
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed = failed = skipped = 0
    for name, fn in _cases:
        if wanted not in name:
            continue
        try:
            fn()
            passed += 1
            print("ok", name)
        except Skip as why:
            skipped += 1
            print(f"skipped {name}: {why}")
        except Exception as e:
            failed += 1
            where = traceback.extract_tb(e.__traceback__)[-2 if isinstance(e, AssertionError) and len(traceback.extract_tb(e.__traceback__)) > 1 else -1]
            print(f"  {os.path.basename(where.filename)}:{where.lineno}: {e}")
            print("not ok", name)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or passed + skipped == 0 else 0)
