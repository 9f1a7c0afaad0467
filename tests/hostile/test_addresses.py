#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Server-side request forgery: a public page leads to an address that it cannot reach itself, in every spelling and by
every way. 127.0.0.2 plays a public server, 127.0.0.3 and 127.0.0.4 private ones; any page may lead to the first of these."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import crawl  # noqa: E402
from e2e import case, check, finish, rows, seine  # noqa: E402
from hostile import PATIENT  # noqa: E402
from origin import results  # noqa: E402
from pages import pages  # noqa: E402

ZONES = ["--zone", "127.0.0.2/32=public", "--zone", "127.0.0.3/32=private", "--zone", "127.0.0.4/32=private", "--allow-net", "127.0.0.3/32"]
INSIDE = {"/robots.txt": (404, {}, ""), "*": "for those inside"}


def sitemap(url):
    return (200, {"Content-Type": "application/xml"},
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{url}</loc></url></urlset>')


def index(url):
    return (200, {"Content-Type": "application/xml"},
            f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>{url}</loc></sitemap></sitemapindex>')


WAYS = {
    "link": lambda to: {"/": f'<a href="{to}/x">'},
    "redirect": lambda to: {"/": (302, {"Location": to + "/x"}, "")},
    "refresh": lambda to: {"/": f'<meta http-equiv=refresh content="0; url={to}/x">'},
    "sitemap": lambda to: {"/": "-", "/robots.txt": "Sitemap: /map.xml\n", "/map.xml": sitemap(to + "/x")},
    "index": lambda to: {"/": "-", "/robots.txt": "Sitemap: /map.xml\n", "/map.xml": index(to + "/x")},
    "robots": lambda to: {"/": "-", "/robots.txt": f"Sitemap: {to}/x\n"},
    "robots moved": lambda to: {"/": "-", "/robots.txt": (301, {"Location": to + "/robots.txt"}, "")},
}


def wander(seed):
    """A crawl without bounds but those of addresses; robots.txt counts."""
    return crawl(seed, *PATIENT, "--scope", "any", "--host-rate", "off", "--no-adaptive", "--retries", "0", *ZONES)


@rows([(way,) for way in WAYS])
def a_public_page_leads_to_no_server_inside(way):
    with pages(dict(INSIDE), "127.0.0.4") as inside, pages(WAYS[way](inside.base), "127.0.0.2") as public:
        wander(public.base + "/")
        check("/robots.txt" in public.asked, True)
        check(inside.asked, [])


@rows([(way,) for way in WAYS])
def nor_by_a_server_that_any_page_may_lead_to(way):
    """The public page leads to a server inside that the user allowed. What that one names is still named by the public page."""
    with pages(dict(INSIDE), "127.0.0.4") as inside, pages(WAYS[way](inside.base), "127.0.0.3") as allowed:
        with pages({**INSIDE, "/": f'<a href="{allowed.base}/">'}, "127.0.0.2") as public:
            wander(public.base + "/")
            check("/robots.txt" in allowed.asked, True)
            check(inside.asked, [])


SPELLINGS = [
    "127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F.1", "0177.0.0.1", "017700000001", "127.0.0.1.", "%31%32%37.0.0.1",
    "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "\u2460\u2461\u2466.0.0.1", "user@127.0.0.1", "0", "0.0.0.0",
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "loc\u00adalhost", "\uff4cocalhost",
    "[::1]", "[0:0:0:0:0:0:0:1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[2001:0:102:304:0:0:80ff:fffe]", "[::ffff:0:127.0.0.1]", "[fe80::1]",
]


@case
def every_spelling_of_an_address_inside_is_that_address():
    """One page with a link for each; a server waits on the port of 127.0.0.1 that they name."""
    with pages(dict(INSIDE)) as inside:
        port = inside.base.rsplit(":", 1)[1]
        links = "".join(f'<a href="http://{host}:{port}/{n}">' for n, host in enumerate(SPELLINGS))
        with pages({"/": (200, {"Content-Type": "text/html; charset=utf-8"}, links)}, "127.0.0.2") as public:
            run = wander(public.base + "/")
            check(inside.asked, [])
            ends = {r["url"].rsplit("/", 1)[1]: r.get("error", {}).get("kind") or r.get("reason") for r in run.told if r["url"] != public.base + "/"}
            wrong = {SPELLINGS[int(n)]: end for n, end in ends.items() if end not in ("blocked_address", "robots_unreachable")}
            check(wrong, {})
            check(len(ends), len(SPELLINGS))


FORBIDDEN = ["169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]",
             "[fd00:ec2::23]", "[fd20:ce::254]", "[fd00:42::42]", "[fe80::a9fe:a9fe]", "2822734096", "[::ffff:a83f:8110]"]


@rows([(host,) for host in FORBIDDEN])
def a_service_with_credentials_is_not_even_asked_when_it_is_typed(host):
    """Through a proxy on loopback, so that no mistake sends a packet there."""
    with pages(dict(INSIDE)) as proxy:
        one, = results(seine("fetch", *PATIENT, "--retries", "0", "--proxy", proxy.base, "-o", "-", f"http://{host}/latest/meta-data/").out)
        check(one.get("error", {}).get("kind"), "blocked_address")
        check(proxy.asked, [])


@rows([(way,) for way in WAYS])
def whoever_is_typed_leads_as_far_as_it_stands(way):
    """The same pages, and the seed is the server inside itself: the test would see a request."""
    with pages(dict(INSIDE), "127.0.0.4") as inside, pages(WAYS[way](inside.base), "127.0.0.3") as allowed:
        wander(allowed.base + "/")
        check(len(inside.asked) > 0, True)


finish(at_once=2)
