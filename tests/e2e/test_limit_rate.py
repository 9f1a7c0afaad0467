#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--limit-rate: so many bytes a second over all connections of a run, and nothing fails because of it."""
import os
import resource
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from changing_site import Page, changing_site  # noqa: E402
from e2e import SANITIZED, case, check, finish, patiently, rows, seine  # noqa: E402
from origin import origin, records, results  # noqa: E402

QUICK = ("--mine", "--progress", "off", "--retries", "0", "-j")
RATE = 400 << 10


def slowest_end(size):
    """The least time that so many bytes take: a tenth of a second is free, and one record or piece may be left over."""
    return (size - RATE / 10 - (64 << 10)) / RATE


def run(*words, **kw):
    begun = time.monotonic()
    r = seine(*words, *QUICK, "--limit-rate", "400k", **kw)
    return r, time.monotonic() - begun


@rows([("one connection", 1, 1), ("four connections", 4, 1), ("four connections of four threads", 4, 4)])
def a_fetch_keeps_to_the_rate_though_every_limit_of_time_is_shorter(_, n, threads):
    def once(o, scale):
        limit = f"{500 * scale}ms"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        r, took = run("fetch", *[o.url(f"/bytes:{1000000 // n}?{i}") for i in range(n)], "--threads", str(threads), "-t", limit,
                      "--head-timeout", limit, "--min-speed", f"900k/{scale}s")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        check((r.code, [x["outcome"] for x in results(r.out)]), (0, ["ok"] * n), r.err)
        check(took >= slowest_end(1000000), True, f"{took} s")
        check("limited by --limit-rate; try: a higher --limit-rate" in r.err, True, r.err)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        check(bool(SANITIZED) or cpu < 1, True, f"{cpu} s of CPU: it does not wait, it spins")
    with origin() as o:
        patiently(lambda scale: once(o, scale))


@rows([("crawl",), ("mirror",)])
def a_crawl_and_a_copy_keep_to_it(verb):
    pages = {f"/p{i}": Page(str(i), size=100000) for i in range(6)}
    with changing_site({"/": Page("top", links=list(pages)), **pages}) as site, tempfile.TemporaryDirectory() as top:
        where = ("--output-dir", "copy") if verb == "mirror" else ()
        r, took = run(verb, site.base + "/", *where, cwd=top)
        check((r.code, sum(x["ok"] for x in results(r.out))), (0, 7), r.err)
        check(took >= slowest_end(600000), True, f"{took} s")


@case
def a_rate_that_is_not_reached_is_not_told():
    with origin() as o:
        r = seine("fetch", o.url("/bytes:1000?delay=2100ms"), *QUICK, "--limit-rate", "1G")
        check((r.code, "limited by" in r.err), (0, False), r.err)


@rows([((), "rate"), (("--host-rate", "1/s"), "host-rate")], name=lambda row: row[1])
def the_limit_that_is_named_is_the_one_that_holds(words, name):
    """Two requests a second over all hosts, at a host that takes five or one."""
    with origin() as o:
        r = seine("fetch", "-r", "2/s", "--no-adaptive", *words, *[o.url(f"/ok?{n}") for n in range(6)])
        check((r.code, [x["top_hosts"][0]["limited_by"] for x in records(r.out) if x["type"] == "summary"]), (0, [name]), r.err)
        check(f"limited by --{name}" in r.err and f"; try: a higher --{name}" in r.err, True, r.err)


@rows([("0",), ("1M/s",), ("fast",), ("",)])
def a_rate_that_is_none_is_refused(value):
    r = seine("fetch", "http://127.0.0.1:1/", "--limit-rate", value)
    check((r.code, "--limit-rate" in r.err), (2, True), r.err)


finish(4)
