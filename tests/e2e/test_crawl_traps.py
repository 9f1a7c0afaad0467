#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sites that look endless come home whole, endless ones end; what was left out is said, with its option (docs/internals/trap.md).
bench/traps crawls the same sites in full size."""
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import QUICK, balanced, crawl  # noqa: E402
from e2e import PATIENCE, SOAKED, case, check, finish, rows, seine  # noqa: E402
from pages import pages  # noqa: E402
from trap_sites import ENDED, WHOLE, calendar, serve, sessions, text  # noqa: E402

MINE = ("--mine", "-c", "50", "--sitemap", "off")
SMALL = {"shop": 2500, "forum": 2000, "articles": 2400, "chain": 2500, "tiles": 7, "nodes": 6, "docs": 400,
         "archive": 3000, "gallery": 2600, "goods": 2000, "versions": 10}
BENCH_ALONE = ("facets in any order", "tags", "spirals of 30 links")  # as facets in paths, and longer
SOAK_ALONE = ("sessions query numbers", "sessions path words", "sessions jsessionid numbers")  # the same places, with names of the other kind


def crawled(site, *words):
    with serve(site) as s:
        run = crawl(s.base + site.seed, *MINE, *words, timeout=PATIENCE)
    check(balanced(run), [], run.ending())
    run.site, run.fetched, run.missing = site, s.fetched, s.missing()
    return run


@rows([(name,) for name in WHOLE], name=lambda row: row[0])
def it_comes_home_whole(name):
    run = crawled(WHOLE[name](SMALL[name]), "--depth", "off")
    check((run.missing, run.fetched, run.reasons(), run.code), (0, run.site.real, {}, 0), run.ending())


@rows([(name,) for name in ENDED if name not in (*BENCH_ALONE, "calendar") and (SOAKED or name not in SOAK_ALONE)], name=lambda row: row[0])
def it_ends_and_no_real_page_is_missing(name):
    ended(crawled(ENDED[name](), "--depth", "off", "-n", "60000"))


def ended(run):
    check((run.missing, run.fetched <= run.site.most(), set(run.reasons()), run.code), (0, True, {"trap"}, 0), f"{run.fetched} {run.ending()}")


@case
def a_trap_is_said_at_the_end_and_leaves_the_exit_code():
    for words in ((), ("-q",)):
        run = crawled(calendar(), "--depth", "off", "-n", "60000", *words)
        ended(run)
        lines = [line for line in run.err.splitlines() if "not asked for, since pages like these repeat: --pattern-budget 1000: pattern /cal/" in line]
        check((len(lines), "try: --pattern-budget off" in run.err, run.code), (1, True, 0), run.err)
        traps = [r for r in run.skips if r["reason"] == "trap"]
        check((len(traps) > 0, all(r["rule"].startswith("--pattern-budget 1000: pattern /") and "brought nothing new" in r["rule"] for r in traps)),
              (True, True), str(traps[:1]))


def rounds(sites, *words):
    """Results that were new, and URLs that a trap took, in each round of an incremental crawl; the site as it is then."""
    told = []
    with serve(sites[0]) as s, tempfile.TemporaryDirectory() as where:
        for i, site in enumerate(sites):
            s.site = site
            p = seine("crawl", s.base + site.seed, *MINE, "--depth", "off", "--incremental", "--revisit", "0s", *words, "-o", f"{i}.jsonl",
                      cwd=where, env={"SEINE_DURABILITY": "fast"})
            check(p.code, 0, p.err)
            with open(os.path.join(where, f"{i}.jsonl"), encoding="utf-8") as f:
                all_ = [json.loads(line) for line in f]
            told.append((sum(r.get("change") == "new" for r in all_), sum(r.get("reason") == "trap" for r in all_)))
        return told, s.missing()


@case
def a_trap_that_was_seen_is_left_alone_in_the_rounds_that_follow():
    told, missing = rounds([calendar()] * 6, "--pattern-budget", "100")
    check(([new for new, _ in told[1:4]], all(skipped > 0 for _, skipped in told), missing), ([0, 0, 0], True, 0), str(told))
    check(told[4][0] > 0, True, f"after four rounds it is looked at anew: {told}")
    check(told[5][0], 0, str(told))


@case
def new_pages_behind_sessions_are_found_in_later_rounds():
    for form, names in (("query", "words"), ("id", "words"), ("path", "numbers")):
        told, missing = rounds([sessions(200, form, names), sessions(230, form, names)], "--pattern-budget", "100")
        check((missing, told[0][1] > 0), (0, True), f"{form} {names} {told}")


def deep(path):
    n = int(path[1:])
    return f'<p>{text(n)}<a href="/{n + 1}">next</a>' if n < 9 else "<p>the end"


@case
def pages_that_a_default_limit_took_make_exit_4():
    with pages({"*": deep}) as p:
        run = crawl(p.base + "/0", *MINE, "-q")
        check((run.code, run.reasons(), run.summary["exit_code"]), (4, {"depth": 1}, 4), run.ending())
        check("seine: 1 URL was not asked for, beyond the default of --depth" in run.err and "try: --depth off" in run.err, True, run.err)
        for words in (("--depth", "5"), ("-l", "5")):
            run = crawl(p.base + "/0", *MINE, *words)
            check((run.code, run.reasons(), "not asked for" in run.err), (0, {"depth": 1}, False), run.ending())
        run = crawl(p.base + "/0", *MINE, "--depth", "off")
        check((run.code, len(run.results)), (0, 10), run.ending())


@case
def without_a_budget_nothing_is_left_out():
    run = crawled(calendar(), "--depth", "off", "--pattern-budget", "off", "-n", "3000")
    check((len(run.results), set(run.reasons())), (3000, {"budget"}), run.ending())


@case
def hosts_beyond_the_default_make_exit_4():
    names = [f"h{i}.a.example" for i in range(260)]
    with pages({"/": "".join(f'<a href="http://{name}:PORT/x">x</a>' for name in names), "/x": "<p>x"}) as p:
        port = p.base.rsplit(":", 1)[1]
        p.table["/"] = p.table["/"].replace("PORT", port)
        known = [word for name in ["www.a.example", *names] for word in ("--resolve", f"{name}:{port}:127.0.0.1")]
        for words, code in ((("-q",), 4), (("--max-subdomains", "256"), 0)):
            run = crawl(f"http://www.a.example:{port}/", *MINE, *QUICK, "--robots", "off", "--allow-net", "127.0.0.0/8", "--scope", "domain", *known, *words)
            check((run.code, run.reasons(), len(run.results)), (code, {"trap": 4}, 257), run.ending())
            check("4 URLs were not asked for, beyond the default of --max-subdomains 256: hosts of a.example" in run.err, code == 4, run.err)


finish(at_once=3, apart=True)
