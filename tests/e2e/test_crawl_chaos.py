#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crawls of generated sites, judged by the witness of `seine chaos` and by the list of what a site holds: nothing lost,
nothing doubled, nothing asked for that is forbidden, nothing too early, never more at once than allowed."""
import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import EAGER, QUICK, balanced, crawl  # noqa: E402
from e2e import case, check, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402

SLACK_US = 1000  # of an arrival, by the way and not by the start


def truth(spec, base, dead):
    """URL → what the site says of it; nothing of the crawl is in it. Who only has the list does not know the dead port."""
    listed = [json.loads(line) for line in seine("chaos", "site", spec, "--list", "--base", base).out.splitlines()]
    return {row["url"].replace(":1/", f":{dead}/"): row for row in listed}


def wanted(row):
    """What a record of this URL has to say: (type, outcome or reason, status)."""
    if row["kind"] == "disallowed":
        return ("skip", "robots", None)
    if row["kind"] == "dead":
        return ("skip", "robots_unreachable", None)
    return ("result", "ok" if row["error"] is None else "http_error", row["status"])


def said(record):
    if record is None:
        return None
    if record["type"] == "skip":
        return ("skip", record["reason"], None)
    return ("result", record["outcome"], record.get("status"))


def lost(run, listed):
    """What the crawl says otherwise than the list, or not at all."""
    return [(url, said(run.by_key.get(url)), wanted(row)) for url, row in listed.items() if said(run.by_key.get(url)) != wanted(row)][:5]


def extra(run, listed):
    """Records of URLs that the site does not list."""
    return [r["url"] for r in run.told if r["key"] not in listed][:5]


def manners(report):
    """What no crawl may do, summed over hosts."""
    hosts = report["hosts"].values()
    return {name: sum(h[name] for h in hosts) for name in ("disallowed_hits", "early_after_retry")}


def asked_again(report):
    """Paths of pages that were asked for after they had come whole. robots.txt and sitemaps are there once per host."""
    return [path for path, seen in report["paths"].items() if seen["duplicates"] and re.search(r"/[px]/\d+", path)]


def robots_first(log):
    """Requests that came before the robots.txt of their host had been answered."""
    known, early = set(), []
    for row in log:
        if row["path"] == "/robots.txt":
            known.add(row["host"])
        elif row["host"] not in known:
            early.append((row["host"], row["path"]))
    return early


def judge(o, run, listed, robots=True):
    report = o.report()
    check(balanced(run), [], run.ending())
    check(lost(run, listed), [], "(URL, crawl, site) " + run.ending())
    check(extra(run, listed), [], "not of the site")
    check(manners(report), {"disallowed_hits": 0, "early_after_retry": 0})
    check(asked_again(report), [])
    if robots:
        check(robots_first(o.log())[:3], [], "before robots.txt")
    return report


def listing(spec, o, scheme="http"):
    return truth(spec, o.places[scheme], o.places["dead"].rsplit(":", 1)[1])


def of_site(spec, *words, chaos=(), scheme="http"):
    """A crawl of a site, judged; the run and the report."""
    with origin("--site", spec, *chaos) as o:
        listed = listing(spec, o, scheme)
        run = crawl(next(iter(listed)), "-l", "off", *words)
        report = judge(o, run, listed, robots="--mine" not in words)
    return run, report


EVERYTHING = "fan=5:dup=6:broken=6:redir=6:robots=6:fail=10:sitemap=on"
SITES = [
    ("1:400", (*QUICK,)),
    ("2:1", (*QUICK,)),
    ("3:300:fan=1", (*QUICK,)),
    ("4:600:fan=300", (*QUICK,)),
    ("5:400:dup=30:broken=20:redir=20", (*QUICK, "--threads", "2")),
    ("6:300:robots=40", (*QUICK,)),
    ("7:200:fail=40", (*QUICK, *EAGER, "--breaker", "off")),
    ("8:200:flaky=40", (*QUICK, *EAGER, "--breaker", "off", "--retries", "6")),
    ("9:300:sitemap=on:robots=10", (*QUICK,)),
    ("10:300:sitemap=on", (*QUICK, "--sitemap", "only")),
    (f"11:500:hosts=40:{EVERYTHING}", (*QUICK, *EAGER, "--scope", "any", "--threads", "1", "--breaker", "off")),
    (f"12:500:hosts=40:{EVERYTHING}", (*QUICK, *EAGER, "--scope", "any", "--threads", "2", "--breaker", "off")),
    (f"13:500:hosts=40:{EVERYTHING}", (*QUICK, *EAGER, "--scope", "any", "--threads", "4", "--breaker", "off")),
    ("14:300:hosts=8:dead=2:broken=5", (*QUICK, *EAGER, "--scope", "any", "--retries", "1")),
    ("15:300:hosts=200", (*QUICK, "--scope", "any", "--threads", "3")),
    ("16:250:hosts=5:redir=30", (*QUICK, "--scope", "any", "-c", "1", "--threads", "1")),
]


@rows(SITES)
def a_site_is_crawled_whole(spec, words):
    of_site(spec, *words)


@case
def many_seeds_of_a_site_of_everything():
    for seed in range(20, 28):
        of_site(f"{seed}:60:hosts=4:{EVERYTHING}", *QUICK, *EAGER, "--scope", "any", "--breaker", "off", "--threads", str(1 + seed % 3))


@case
def a_site_over_tls_is_crawled_whole():
    with tempfile.TemporaryDirectory() as home:
        ca = os.path.join(home, "ca.pem")
        of_site(f"30:200:hosts=6:{EVERYTHING}", *QUICK, *EAGER, "--scope", "any", "--breaker", "off", "--cacert", ca, chaos=("--tls", "--ca-out", ca), scheme="https")


@case
def of_two_crawls_of_one_site_the_sets_are_equal():
    keys = []
    for threads in ("1", "4"):
        run, _ = of_site(f"31:300:hosts=16:{EVERYTHING}", *QUICK, *EAGER, "--scope", "any", "--breaker", "off", "--threads", threads)
        keys.append({(re.sub(r":\d+/", "/", k), said(r)) for k, r in run.by_key.items()})
    check(keys[0] ^ keys[1], set())


@case
def outside_of_the_host_nothing_is_asked_for():
    spec = "40:300:hosts=5:sitemap=on"
    with origin("--site", spec) as o:
        listed = listing(spec, o)
        seed = next(iter(listed))
        own = {u: row for u, row in listed.items() if u.split("/")[2] == seed.split("/")[2]}
        run = crawl(seed, *QUICK, "-l", "off")
        check(balanced(run), [], run.ending())
        check(lost(run, own), [], "(URL, crawl, site)")
        check({r["reason"] for r in run.skips}, {"offsite"})
        check([r["url"] for r in run.told if r["type"] == "result" and r["key"] not in own], [])
        check(set(o.report()["hosts"]), {seed.split("/")[2].split(":")[0]})


@case
def further_domains_are_in_by_name():
    spec = "41:200:hosts=6:sitemap=on"
    with origin("--site", spec) as o:
        listed = listing(spec, o)
        inside = {u: r for u, r in listed.items() if re.search(r"//127\.1\.0\.[123]:", u)}
        run = crawl(next(iter(listed)), *QUICK, "-l", "off", "-D", "127.1.0.2,127.1.0.3")
        check(balanced(run), [], run.ending())
        asked = set(o.report()["hosts"])
        check(asked <= {"127.1.0.1", "127.1.0.2", "127.1.0.3"}, True, str(asked))
        check(lost(run, {u: r for u, r in inside.items() if "//127.1.0.1:" in u}), [])


@case
def depth_counts_links_from_the_seed():
    for depth, pages in ((0, 1), (1, 4), (2, 13), (3, 40)):
        with origin("--site", "42:121:fan=3") as o:
            run = crawl(o.url("/p/0"), *QUICK, "-l", str(depth), "--sitemap", "off")
            near = {o.url(f"/p/{n}") for n in range(pages)}
            check(balanced(run), [], run.ending())
            # Cross links may be shorter than the tree, never longer.
            check(near <= {r["url"] for r in run.results}, True, run.ending())
            check({r["depth"] for r in run.results} <= set(range(depth + 1)), True)
            check(all(r["reason"] == "depth" and r["depth"] == depth + 1 for r in run.skips), True, run.ending())


@case
def the_number_of_pages_is_a_bound():
    for most in (1, 17, 100):
        with origin("--site", "43:400") as o:
            run = crawl(o.url("/p/0"), *QUICK, "-n", str(most))
            check(balanced(run), [], run.ending())
            check((len(run.results), set(run.reasons())), (most, {"budget"}), run.ending())
            check(sum(s["hits"] for p, s in o.report()["paths"].items() if p.startswith("/p/")), most)


@case
def what_the_summary_counts_the_witness_saw():
    run, report = of_site("44:100:fail=50", *QUICK, *EAGER, "--breaker", "off")
    check(run.summary["requests"], report["totals"]["requests"])
    # A request on a kept connection that turns out to be closed is sent again on a new one, and is no attempt of its own.
    more = sum(s["hits"] for p, s in report["paths"].items() if p.startswith("/p/")) - sum(r["attempts"] for r in run.results)
    check(0 <= more <= report["totals"]["resets"], True, str(more))


def within(report, rate, per_host):
    """Hosts that got more than `rate` a second or more than `per_host` at once."""
    gap = 1000000 / rate - SLACK_US
    return {name: (h["min_gap_us"], h["max_in_1s"], h["peak_in_flight"]) for name, h in report["hosts"].items()
            if (h["min_gap_us"] is not None and h["min_gap_us"] < gap) or h["max_in_1s"] > rate + 1 or h["peak_in_flight"] > per_host}


@rows([(20, 1, "1"), (50, 2, "2"), (10, 4, "3")])
def no_host_gets_more_than_its_rate(rate, per_host, threads):
    run, report = of_site(f"50:{rate * 14}:hosts=7:robots=5:redir=10:broken=5:fail=5:sitemap=on", "--scope", "any", *EAGER, "--breaker", "off", "--no-adaptive",
                          "--host-rate", f"{rate}/s", "--per-host", str(per_host), "--threads", threads)
    check(within(report, rate, per_host), {}, run.ending())


@case
def a_new_host_is_asked_once_a_second():
    run, report = of_site("51:8:hosts=4", "--scope", "any")
    check(within(report, 1, 1), {}, run.ending())


@case
def hosts_of_one_address_share_it():
    # Names that are one address each; more than --per-ip at once never.
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        for n in range(12):
            script.write(json.dumps({"dns": f"n{n}.test", "answers": ["127.1.9.9"]}) + "\n")
        script.flush()
        with origin("--dns", "--script", script.name) as o:
            seeds = [o.url("/delay:30ms/html:4", f"n{n}.test") for n in range(12)]
            run = crawl(*seeds, "-l", "1", "--host-rate", "off", "--no-adaptive", "--per-ip", "3", "--dns", o.places["dns"], "--sitemap", "off")
            address = o.report()["addresses"]["127.1.9.9"]
            check(balanced(run), [], run.ending())
            check((len(run.told), address["peak_in_flight"] <= 3), (60, True), f"{run.ending()} {address}")


@rows([("one at a time", ("--host-rate", "off", "--per-host", "1")), ("four at a time", ("--host-rate", "40/s", "--per-host", "4"))])
def a_host_that_asks_for_a_pause_gets_it(_, words):
    rules = [{"match": f"/p/{n}", "nth": "1", "fault": "head:Retry-After:1/status:503"} for n in (2, 9)]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        script.write("\n".join(map(json.dumps, rules)) + "\n")
        script.flush()
        run, _ = of_site("53:40", "--no-adaptive", *words, *EAGER, "--breaker", "off", chaos=("--script", script.name))
        check((run.outcomes(), run.seconds >= 2), ({"ok": 40}, True), run.ending())


finish(at_once=12)
