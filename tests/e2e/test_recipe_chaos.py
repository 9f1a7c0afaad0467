#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each recipe of recipes/ against the hostile server, which serves its saved pages with faults in between: every row
comes home once, and the counts of the program and of the server agree."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, UNHURRIED, case, check, finish, rows, seine  # noqa: E402
from recipe_site import items, recipe_site, rule, summary  # noqa: E402

QUICK = ("--host-rate", "off", "--backoff", "10ms..30ms", "--retries", "6", *UNHURRIED[:2])
SHOP = {"/list?page=1": "shop/pages/list-1.html", "/list?page=2": "shop/pages/list-2.html", "/p/*": "shop/pages/detail-1001.html"}
DETAILS = [f"/p/{n}" for n in range(1001, 1007)]


def run(site, recipe, *words, **more):
    return seine("run", os.path.join(ROOT, "recipes", recipe, recipe + ".yaml"), *QUICK, *words, cwd=site.folder, **more)


def balanced(r, site, pages, good, bad=0):
    """Every page came home whole once, and each of its rows is told once."""
    all_rows, told = items(r.out), summary(r.out)
    check(site.whole(), dict.fromkeys(pages, 1))
    check({k: told[k] for k in ("ok", "failed", "skipped", "items", "bad_rows")},
          {"ok": len(pages), "failed": 0, "skipped": 0, "items": good, "bad_rows": bad}, r.err)
    check((sum(o["ok"] for o in all_rows), sum(not o["ok"] for o in all_rows)), (good, bad))
    check(len({(o["provenance"]["url"], o["kind"], o["n"]) for o in all_rows}), good + bad, "a row comes once")
    check({o["provenance"]["url"] for o in all_rows} <= {site.base + page for page in pages}, True)


@case
def a_shop_comes_home_through_refusals_cuts_and_slow_pages():
    faults = [rule("/list?page=1", "status:503", nth="1"), rule("/list?page=1", "fin:400:body/file:shop/pages/list-1.html", nth="2"),
              rule("/list?page=2", "reset:300/file:shop/pages/list-2.html", nth="4"), rule("/list?page=2", "drip:200x10ms/file:shop/pages/list-2.html", nth="5"),
              rule("/p/1002", "status:503", nth="1-2"), rule("/p/1003", "chunked/badchunk:none/file:shop/pages/detail-1001.html", nth="1"),
              rule("/p/1004", "codecut:1/gzip/file:shop/pages/detail-1001.html", nth="1"), rule("/p/1005", "delay:300ms/file:shop/pages/detail-1001.html")]
    with recipe_site(SHOP, faults) as site:
        r = run(site, "shop", "--var", "base=" + site.base)
        check(r.code, 0, r.err)
        balanced(r, site, ["/list?page=1", "/list?page=2", *DETAILS], good=12)
        check(len(site.asked()), 3 + 2 + 6 + 2 + 1 + 1)
        check([o["key"] for o in items(r.out, "product")], [f"A-{n}" for n in range(1001, 1007)])
        check(sorted(o["data"]["sku"] for o in items(r.out, "detail")), [f"A-{n}" for n in range(1001, 1007)])


@case
def tickets_come_home_with_their_token_and_comments():
    pages = {"/v2/tickets?state=open&per_page=3": "tickets/pages/tickets-1.json",
             "/v2/tickets?state=open&per_page=3&cursor=abc%3D": "tickets/pages/tickets-2.json",
             "/v2/tickets/4*": "tickets/pages/ticket-41.json"}
    faults = [rule("/v2/tickets?*", "head:Retry-After:0/status:429", nth="1"), rule("/v2/tickets?*", "reset:0", nth="3"),
              rule("/v2/tickets/41", "auth:bearer:s3cr3t/fin:60:body/file:tickets/pages/ticket-41.json", nth="1")]
    with recipe_site(pages, faults, words="auth:bearer:s3cr3t/") as site:
        r = run(site, "tickets", "--var", f"api={site.base}/v2", env={"TICKETS_TOKEN": "s3cr3t"})
        check(r.code, 0, r.err)
        balanced(r, site, [*list(pages)[:2], "/v2/tickets/41", "/v2/tickets/42"], good=4 + 4, bad=1)
        check([o["data"]["id"] for o in items(r.out, "ticket") if o["ok"]], [41, 42, 43, 44])
        check(sorted(o["data"]["ticket"] for o in items(r.out, "comment")), [41, 41, 42, 42])
        wrong = run(site, "tickets", "--var", f"api={site.base}/v2", env={"TICKETS_TOKEN": "another"})
        check((wrong.code, items(wrong.out)), (1, []), wrong.err)


@case
def a_feed_leads_to_its_articles():
    pages = {"/feed.atom": "blog/pages/feed.atom", "/2026/*": "blog/pages/article.html"}
    faults = [rule("/feed.atom", "status:502", nth="1"), rule("/2026/11/fog", "short:20/file:blog/pages/article.html", nth="1-2"),
              rule("/2026/10/harbour", "delay:200ms/status:503", nth="1")]
    with recipe_site(pages, faults) as site:
        name = os.path.join(site.folder, "blog/pages/feed.atom")
        with open(name, encoding="utf-8") as f:
            feed = f.read().replace("https://blog.example", site.base)
        site.save(name, feed)
        r = run(site, "blog", "--var", f"feed={site.base}/feed.atom")
        check(r.code, 0, r.err)
        balanced(r, site, ["/feed.atom", "/2026/11/nets", "/2026/11/fog", "/2026/10/harbour"], good=3 + 3)
        check([o["data"]["title"] for o in items(r.out, "entry")], ["Nets & knots", "Fog", "A new harbour wall"])


@rows([("served by a busy host", [rule("/wiki/L*", "status:503", nth="1-3")], 4),
       ("cut three times", [rule("/wiki/L*", "reset:900/file:wiki-table/pages/lighthouses.html", nth="1-3")], 4),
       ("coded, in chunks", [rule("/wiki/L*", "gzip/chunked/chunksize:40/file:wiki-table/pages/lighthouses.html")], 1),
       ("with early words before it", [rule("/wiki/L*", "interim:3/br/file:wiki-table/pages/lighthouses.html")], 1)])
def a_table_is_read_whole_or_not_at_all(_, faults, requests):
    with recipe_site({"/wiki/Lighthouses": "wiki-table/pages/lighthouses.html"}, faults) as site:
        r = run(site, "wiki-table", "--var", f"article={site.base}/wiki/Lighthouses")
        check(r.code, 0, r.err)
        check(len(site.asked()), requests)
        balanced(r, site, ["/wiki/Lighthouses"], good=5)


@case
def a_schedule_keeps_its_good_rows_and_reports_the_bad_ones():
    pages = {"/2024/11": "amion/pages/2024-11.html", "/2024/12": "amion/pages/2024-12-bad-rows.html"}
    faults = [rule("/2024/11", "status:503", nth="1"), rule("/2024/11", "fin:2000:body/file:amion/pages/2024-11.html", nth="2"),
              rule("/2024/12", "drip:1000x10ms/file:amion/pages/2024-12-bad-rows.html")]
    with recipe_site(pages, faults) as site:
        r = run(site, "amion", "--var", "base=" + site.base, "--var", "count=2")
        check(r.code, 0, r.err)
        balanced(r, site, list(pages), good=30 + 29, bad=2)


@case
def a_page_that_never_comes_home_is_told_and_the_others_stay():
    with recipe_site(SHOP, [rule("/p/1003", "status:410"), rule("/p/1004", "fin:30:body/file:shop/pages/detail-1001.html")]) as site:
        r = run(site, "shop", "--var", "base=" + site.base, "--retries", "2")
        told = summary(r.out)
        check((told["ok"], told["failed"], told["items"]), (6, 2, 10), r.err)
        check(sorted(o["data"]["sku"] for o in items(r.out, "detail")), ["A-1001", "A-1002", "A-1005", "A-1006"])
        check([site.whole()[p] for p in ("/p/1003", "/p/1004")], [0, 0])
        check([site.asked().count(p) for p in ("/p/1003", "/p/1004")], [1, 3])


finish()
