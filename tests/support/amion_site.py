# SPDX-License-Identifier: Apache-2.0
"""Months of a schedule on the hostile server, and runs of recipes/amion against them.

    with months(3, [rule(path(0), "status:503", nth="1")], m2=5) as site:   five shifts of month 2 are wrong
        r = run(site, 3, *QUICK)
        balanced(r, site, range(3), good=85, bad=5)

Months count from 0, which is January 2024; each has thirty shifts.
"""
import calendar
import contextlib
import os
import subprocess
import tempfile

from e2e import PROGRAM, ROOT, UNHURRIED, check, environment, seine
from recipe_site import items, recipe_site, summary

RECIPE = os.path.join(ROOT, "recipes", "amion", "amion.yaml")
SLACK_US = 1000  # of an arrival, by the way and not by the start
QUICK = ("--host-rate", "off", "--backoff", "10ms..20ms", "--robots", "off", *UNHURRIED[:2])
ROW = ('<tr class="shift"><td class="date">{}</td><td class="service">Surgery</td><td class="person">Dr. {}</td>'
       '<td class="start">{}</td><td class="end">07:00 PM</td><td class="phone">(555) 010-11{:02}</td></tr>')


def month(n):
    """The n-th month from January 2024 on, from 0."""
    return 2024 + n // 12, n % 12 + 1


def path(n):
    return "/{}/{:02}".format(*month(n))


def schedule(n, shifts=30, bad=0):
    """A month with so many shifts, the first of them wrong."""
    year, number = month(n)
    first = calendar.weekday(year, number, 1)
    days = [(i % 28 + 1, f"{chr(65 + i % 26)}. {i}") for i in range(shifts)]
    lines = [ROW.format(f"{calendar.day_abbr[(first + day - 1) % 7]} {calendar.month_abbr[number]} {day}", name, "7ish" if i < bad else "07:00 AM", i)
             for i, (day, name) in enumerate(days)]
    return "<!DOCTYPE html>\n<meta charset=utf-8>\n<table class=schedule>\n" + "\n".join(lines) + "\n</table>\n"


@contextlib.contextmanager
def months(count, faults=(), **bad):
    """A site with so many months. bad: `m3=5` makes five shifts of month 3 wrong."""
    with recipe_site({path(n): schedule(n, bad=bad.get(f"m{n}", 0)) for n in range(count)}, faults) as site:
        yield site


def words(site, count):
    return ["--var", "base=" + site.base, "--var", "from=2024-01", "--var", f"count={count}"]


def run(site, count, *more, recipe=RECIPE, env=None):
    return seine("run", recipe, *words(site, count), *more, cwd=site.folder, env=env)


def start(site, count, *more, recipe=RECIPE):
    return subprocess.Popen([os.path.abspath(PROGRAM), "run", recipe, *words(site, count), *more], cwd=site.folder, env=environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@contextlib.contextmanager
def changed(*pairs):
    """A copy of the recipe in which some words are others."""
    with open(RECIPE, encoding="utf-8") as f:
        text = f.read()
    for old, new in pairs:
        check(text.count(old), 1, old)
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "amion.yaml")
        with open(name, "w", encoding="utf-8") as f:
            f.write(text)
        yield name


def balanced(r, site, done, good, bad=0, failed=0):
    told = summary(r.out)
    check({k: told[k] for k in ("ok", "failed", "items", "bad_rows")}, {"ok": len(done), "failed": failed, "items": good, "bad_rows": bad}, r.err)
    check((sum(o["ok"] for o in items(r.out)), sum(not o["ok"] for o in items(r.out))), (good, bad))
    check({p: n for p, n in site.whole().items() if n}, {path(n): 1 for n in done})


def no_closer_than(site, us):
    check([gap for gap in site.gaps() if gap < us - SLACK_US], [], f"requests that came closer than {us} us")
