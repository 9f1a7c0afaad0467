#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine explain: what it says, that it sends nothing unasked, and that a crawl agrees."""
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402
from origin import origin, results  # noqa: E402

ROBOTS = "User-agent: *\nCrawl-delay: 2\nDisallow: /cgi\n"
AT = "https://docs.example"


@case
def a_denied_page_is_told_in_rows():
    r = seine("explain", AT + "/cgi/x#top", "--robots-file", "-", stdin=ROBOTS)
    check((r.code, r.err), (0, ""))
    check(r.out.splitlines(), [
        "key       https://docs.example/cgi/x",
        "scope     in       --scope host (default), seed https://docs.example/",
        'robots    DENIED   robots.txt:3 "Disallow: /cgi" for agent seine, in -',
        "trap      no       any number like /cgi/x",
        "limits    5/s host-rate (default), 2 s crawl-delay (robots.txt:2) -> one request each 2 s",
        "verdict   skipped  robots: robots.txt:3 Disallow: /cgi"])


ROWS = [
    # words, whether it is fetched, reason, rule
    ([AT + "/a"], True, None, None),
    ([AT + "/a", "--seed", "https://other.example/"], False, "offsite", "--scope host"),
    ([AT + "/a", "--seed", "https://other.example/", "-D", "docs.example"], True, None, None),
    ([AT + "/a", "--seed", "https://www.docs.example/", "--scope", "domain"], True, None, None),
    ([AT + "/a", "--seed", AT + "/b/c", "--no-parent"], False, "offsite", "--scope prefix"),
    ([AT + "/b/x", "--seed", AT + "/b/c", "--scope", "prefix"], True, None, None),
    ([AT + "/a.pdf", "--exclude", r"\.pdf$"], False, "pattern", r"--exclude '\.pdf$'"),
    ([AT + "/a.pdf", "--include", "/x/", "--include", "/y/"], False, "pattern", "--include none of 2"),
    ([AT + "/", "--include", "/x/"], True, None, None),  # a seed need not match
    ([AT + "/a/a/a/a"], True, None, None),  # its pages are looked at first
    ([AT + ":25/", "--scope", "any", "--seed", AT], False, "port", "a port of another protocol"),
    (["mailto:a@docs.example"], False, "scheme", "neither http nor https"),
    (["http://docs.example/", "--https-only", "--seed", AT], False, "scheme", "https only"),
]


@rows(ROWS, name=lambda row: " ".join(row[0])[-40:])
def a_rule_is_named(words, fetched, reason, rule):
    r = seine("explain", "-j", *words)
    got = json.loads(r.out)
    check((r.code, r.err, got["fetched"], got["reason"], got["rule"]), (0, "", fetched, reason, rule))


@case
def figures_are_those_of_the_options():
    got = json.loads(seine("explain", "-j", AT + "/cal/7?a=1&b=2&c=3&d=4", "--host-rate", "30/m", "--robots-file", "-", stdin=ROBOTS).out)
    check(got["limits"], {"host_rate_s": 0.5, "crawl_delay_s": 2, "every_s": 2})
    check(got["trap"], {"shape": None, "pattern": "/cal/#?*", "budget": 1000})
    check(got["robots"], {"state": "parsed", "agent": "seine", "allowed": True, "rule": None, "line": None, "group": "*", "source": "-"})
    got = json.loads(seine("explain", "-j", AT + "/?utm_x=1", "--strip-params", "utm_*", "--max-crawl-delay", "1s", "--robots-file", "-", stdin=ROBOTS).out)
    check((got["key"], got["given"], got["limits"]["every_s"]), (AT + "/", True, 1))
    got = json.loads(seine("explain", "-j", AT + "/cgi", "--robots", "audit", "--robots-file", "-", stdin=ROBOTS).out)
    check((got["fetched"], got["robots"]["allowed"]), (True, False))
    got = json.loads(seine("explain", "-j", AT + "/cgi", "--mine", "--robots-file", "-", stdin=ROBOTS).out)
    check((got["fetched"], got["robots"]["state"], got["limits"]["every_s"]), (True, "unasked", None))
    got = json.loads(seine("explain", "-j", AT + "/cgi", "-A", "other/2.0", "--robots-file", "-", stdin="User-agent: other\nDisallow: /\n").out)
    check((got["robots"]["agent"], got["robots"]["group"], got["fetched"]), ("other", "other", False))


@case
def mistakes_are_one_line_and_exit_2():
    for words in ([], ["nowhere"], [AT, "--seed", "x"], [AT, "--exclude", "("], [AT, "-D", "a..b"], [AT, "--depth", "x"],
                  [AT, "--robots-file", "/no/such"], [AT, "--scope", "world"], ["mailto:a@b", "--live"]):
        r = seine("explain", *words)
        check((r.code, r.out, len(r.err.splitlines()) <= 2), (2, "", True), str(words) + r.err)


@case
def nothing_is_sent_unless_live():
    with origin("--site", "3:30:robots=20") as o:
        r = seine("explain", o.url("/x/1"))
        check((r.code, "not asked" in r.out, o.report()["totals"]["requests"]), (0, True, 0))
        r = seine("explain", o.url("/x/1"), o.url("/p/0"), "--live")
        check((r.code, r.out.count("DENIED"), r.out.count("allowed")), (0, 1, 1))
        check([row["path"] for row in o.log()], ["/robots.txt"])
    r = seine("explain", "http://127.0.0.1:1/", "--live", "--retries", "0")
    check((r.code, r.out.splitlines()[-1]), (0, "verdict   skipped  robots_unreachable: robots.txt could not be read"))


@case
def a_crawl_does_what_was_explained():
    words = ["--host-rate", "off", "--no-adaptive", "-l", "off", "-n", "300", "--exclude", "7$", "--include", "/[px]/|/cal", "--retries", "0"]
    with origin("--site", "5:60:robots=20:broken=5:redir=5") as o:
        seed = o.url("/p/0")
        r = seine("crawl", seed, *words, "--sitemap", "off", "--timeout", "10s")
        done = {x["url"]: x for x in results(r.out)}
        check(len(done) > 40, True)
        said = seine("explain", "-j", "--live", "--seed", seed, *words, *done)
        check((said.code, said.err), (0, ""))
        wrong = []
        for line in said.out.splitlines():
            got = json.loads(line)
            was = done[got["url"]]
            if (was["type"] == "result", was.get("reason"), was.get("rule")) != (got["fetched"], got["reason"], got["rule"]):
                wrong.append((got, was))
        check(wrong, [])
        reasons = {x.get("reason") for x in done.values()}
        check({"robots", "pattern", None} <= reasons, True, str(reasons))


finish(at_once=2)
