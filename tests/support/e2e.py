# SPDX-License-Identifier: Apache-2.0
"""What whole-program tests share: run the program, count cases, end with the count.

    from e2e import case, check, seine, finish

    @case
    def a_rate_of_nothing_is_refused():
        r = seine("limit", "simulate", "--rate", "0/s")
        check(r.code, 2)

    finish()

A case that raises has failed; the others go on. The build directory is the first
argument, a part of a case's name the second.
"""
import os
import subprocess
import sys
import traceback

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/dev"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(BUILD, "seine")
_cases = []
_skips = []


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


def skip(why):
    _skips.append(why)


def finish():
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    passed = failed = 0
    for name, fn in _cases:
        if wanted not in name:
            continue
        try:
            fn()
            passed += 1
            print("ok", name)
        except Exception as e:
            failed += 1
            where = traceback.extract_tb(e.__traceback__)[-2 if isinstance(e, AssertionError) and len(traceback.extract_tb(e.__traceback__)) > 1 else -1]
            print(f"  {os.path.basename(where.filename)}:{where.lineno}: {e}")
            print("not ok", name)
    for why in _skips:
        print("skipped:", why)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or (passed == 0 and not _skips) else 0)
