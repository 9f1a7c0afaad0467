#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""robots.txt that fails, lies, moves or never comes (RFC 9309; P8): what a crawl asks for then, by the witness."""
import json
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import EAGER, QUICK, balanced, crawl  # noqa: E402
from e2e import case, check, finish, needs_plain_memory, rows, seine  # noqa: E402
from origin import origin  # noqa: E402
from pages import pages  # noqa: E402

LINKS = "".join(f'<a href="/{name}">x</a>' for name in ("open/1", "shut/1", "open/2", "shut/2"))
SITE = {"/": LINKS, "/open/1": "<p>1", "/open/2": "<p>2", "/shut/1": "<p>3", "/shut/2": "<p>4"}
WORDS = (*QUICK, *EAGER, "--sitemap", "off", "--retries", "1")


def of(robots, *words, more=None):
    """A crawl of the little site with this robots.txt; the run and the paths it asked for."""
    with pages({**SITE, "/robots.txt": robots, **(more or {})}) as p:
        run = crawl(p.base + "/", *WORDS, *words)
    check(balanced(run), [], run.ending())
    return run, p.asked


def paths(asked):
    return sorted(path for path in asked if path != "/robots.txt")


ALL, OPEN = sorted(SITE), ["/", "/open/1", "/open/2"]
TEXT = {"Content-Type": "text/plain"}
FORBIDS = "User-agent: *\nDisallow: /shut\n"


@rows([
    ("is there", (200, TEXT, FORBIDS), OPEN),
    ("is absent", (404, {}, "no"), ALL),
    ("is forbidden", (403, {}, FORBIDS), ALL),
    ("is gone", (410, {}, ""), ALL),
    ("is empty", (200, TEXT, ""), ALL),
    ("is a page", (200, {}, "<html>\n" + FORBIDS), OPEN),
    ("names us", (200, TEXT, "User-agent: *\nDisallow: /\n\nUser-agent: Seine\nDisallow: /shut\n"), OPEN),
    ("names another", (200, TEXT, "User-agent: other\nDisallow: /\n"), ALL),
    ("forbids all", (200, TEXT, "User-agent: *\nDisallow: /\n"), []),
    ("begins with a mark", (200, TEXT, "\ufeff" + FORBIDS), OPEN),
    ("has NUL bytes", (200, TEXT, b"\0\0\0\nUser-agent: *\nDisallow: /shut\0\n" + FORBIDS.encode()), OPEN),
    ("is noise", (200, TEXT, bytes(range(256)) * 200), ALL),
    ("ends its lines by CR", (200, TEXT, FORBIDS.replace("\n", "\r")), OPEN),
])
def what_robots_txt_says_is_done(_, robots, want):
    run, asked = of(robots)
    check(paths(asked), want, run.ending())
    check(asked[0], "/robots.txt")
    check(asked.count("/robots.txt"), 1)
    check(sorted(r["url"].split("/", 3)[3] for r in run.skips if r["reason"] == "robots"), sorted(p[1:] for p in set(ALL if want else ["/"]) - set(want)))


@case
def a_refusal_tells_its_line():
    run, _ = of((200, TEXT, "# ours\nUser-agent: *\nDisallow: /shut\n"))
    check({r["rule"] for r in run.skips}, {"robots.txt:3 Disallow: /shut"})


@case
def two_megabytes_of_rules_count_as_far_as_512_kib():
    filler = "# " + "x" * 97 + "\n"
    body = FORBIDS + filler * 20000 + "Disallow: /open\n"
    check(len(body) > 2000000, True)
    run, asked = of((200, TEXT, body))
    check(paths(asked), OPEN, run.ending())
    needs_plain_memory()
    check(run.peak_mb < 64, True, run.ending())


@rows([
    ("500", (500, {}, "")), ("503", (503, {}, FORBIDS)), ("429", (429, {}, "")), ("reset", None),
])
def nothing_is_asked_of_a_host_whose_robots_txt_cannot_be_had(how, robots):
    if how == "reset":
        def robots(path):
            raise ConnectionError(path)
    run, asked = of(robots)
    check(paths(asked), [], run.ending())
    check([(r["type"], r.get("reason") or r["error"]["kind"]) for r in run.told if r["url"].endswith("/")][0][1], "robots_unreachable", run.ending())
    check(run.code, 5, run.ending())


@case
def a_robots_txt_that_never_comes_is_not_waited_for_longer_than_a_page():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        script.write(json.dumps({"robots": "*", "fault": "mute"}) + "\n" + json.dumps({"robots": "127.0.0.1", "fault": "mute"}) + "\n")
        script.flush()
        with origin("--site", "1:20", "--script", script.name) as o:
            run = crawl(o.url("/p/0"), *WORDS, "--retries", "0", "-t", "1s")
            check(balanced(run), [], run.ending())
            check([r["path"] for r in o.log() if r["path"] != "/robots.txt"], [])
            check(len(run.told), 1, run.ending())


@case
def a_robots_txt_that_fails_twice_is_asked_for_a_third_time():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        script.write(json.dumps({"robots": "127.0.0.1", "status": 500, "times": 2}) + "\n")
        script.flush()
        with origin("--site", "1:30", "--script", script.name) as o:
            run = crawl(o.url("/p/0"), *WORDS, "--retries", "2", "--breaker", "off")
            check(run.outcomes(), {"ok": 30}, run.ending())
            check([r["path"] for r in o.log()][:4], ["/robots.txt"] * 3 + ["/p/0"])


def moved(to, status=302):
    return (status, {"Location": to}, "")


@case
def a_robots_txt_that_moved_is_followed():
    run, asked = of(moved("/rules.txt", 301), more={"/rules.txt": (200, TEXT, FORBIDS)})
    check(asked[:2], ["/robots.txt", "/rules.txt"], run.ending())
    check(sorted(set(paths(asked)) - {"/rules.txt"}), OPEN)


@case
def a_robots_txt_that_moved_to_another_host_is_followed():
    with pages({"/robots.txt": (200, TEXT, FORBIDS), "/open/9": ""}, "127.0.0.2") as there:
        run, asked = of(moved(there.base + "/robots.txt"))
        check(paths(asked), OPEN, run.ending())
        check(there.asked, ["/robots.txt"])


@case
def a_robots_txt_that_moves_on_and_on_is_none():
    hops = {f"/hop/{n}": moved(f"/hop/{n + 1}") for n in range(9)}
    run, asked = of(moved("/hop/0"), more=hops)
    check([p for p in paths(asked) if not p.startswith("/hop/")], ALL, run.ending())
    check(sum(p.startswith("/hop/") for p in asked), 5)


@case
def a_robots_txt_that_leads_to_itself_ends():
    run, asked = of(moved("/robots.txt"))
    check(paths(asked), ALL, run.ending())
    check(asked.count("/robots.txt") <= 6, True)


@case
def a_public_robots_txt_does_not_lead_to_a_private_address():
    with pages({}, "127.2.0.1") as private, pages({**SITE, "/robots.txt": moved(private.base + "/robots.txt")}, "127.1.0.1") as p:
        run = crawl(p.base + "/", *WORDS, "--zone", "127.1.0.0/16=public")
        check(private.asked, [])
        check(balanced(run), [], run.ending())


@case
def robots_off_asks_for_none_and_audit_for_all():
    run, asked = of((200, TEXT, FORBIDS), "--robots", "off")
    check(sorted(asked), ALL, run.ending())
    run, asked = of((200, TEXT, FORBIDS), "--robots", "audit")
    check(paths(asked), ALL, run.ending())
    check(asked[0], "/robots.txt")


def gaps_of(table):
    """The seconds between the requests of a crawl."""
    times = []

    def timed(body):
        return lambda _: times.append(time.monotonic()) or body
    with pages({path: timed(page) for path, page in table.items()}) as p:
        run = crawl(p.base + "/", *WORDS)
    check((len(times), balanced(run)), (6, []), run.ending())
    return [b - a for a, b in zip(times, times[1:])]


@case
def a_crawl_delay_is_kept_and_makes_requests_one_at_a_time():
    table = {"/robots.txt": (200, TEXT, "User-agent: *\nCrawl-delay: 0.3\n"), **SITE}
    seen = []
    while len(seen) < 10:  # a server that was busy notes a request late, and the gap behind it is too short
        seen.append(gaps_of(table))
        if min(seen[-1][1:]) > 0.29:
            return
    check(seen, "no gap below 0.29 s")


@case
def an_absurd_crawl_delay_is_cut():
    run, asked = of((200, TEXT, "User-agent: *\nCrawl-delay: 86400\n"), "--max-crawl-delay", "100ms")
    check(paths(asked), ALL, run.ending())


@rows([
    (("--robots-agent", "my-bot2"), OPEN),
    (("--user-agent", "Mozilla/5.0 (compatible; My-Bot2/1; +http://e.example)"), OPEN),
    (("--user-agent", "my-bot2/1.0"), OPEN),
    (("--user-agent", "my-bot2/1.0", "--robots-agent", "seine"), []),
    (("--user-agent", "my-bot"), ALL),
    ((), []),
])
def robots_txt_is_read_for_who_we_are(words, want):
    _, asked = of((200, TEXT, "User-agent: seine\nDisallow: /\nUser-agent: MY-BOT2\nDisallow: /shut\n"), *words)
    check(paths(asked), want)


@case
def an_agent_that_is_no_token_is_an_error():
    for word in ("my bot", "a/1", "*", "x" * 64, "\u00e9"):
        r = seine("crawl", "http://127.0.0.1:1/", "--robots-agent", word)
        check((r.code, r.out, "--robots-agent" in r.err), (2, "", True), r.err)


@case
def a_sitemap_that_robots_txt_names_is_read():
    body = "<?xml version='1.0'?><urlset><url><loc>BASE/only/here</loc></url><url><loc>BASE/shut/9</loc></url></urlset>"
    with pages({**SITE, "/only/here": "<p>x", "/robots.txt": (200, TEXT, FORBIDS + "Sitemap: /maps/a.xml\n")}) as p:
        p.table["/maps/a.xml"] = (200, {"Content-Type": "application/xml"}, body.replace("BASE", p.base))
        p.table["/robots.txt"] = (200, TEXT, FORBIDS + f"Sitemap: {p.base}/maps/a.xml\n")
        run = crawl(p.base + "/", *QUICK)
    check(balanced(run), [], run.ending())
    check("/only/here" in p.asked, True, run.ending())
    check("/shut/9" in p.asked, False)
    check([r["parent"] for r in run.results if r["url"].endswith("/only/here")], [p.base + "/maps/a.xml"])


finish(at_once=8)
