#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages made to hurt a crawl: endless URLs, bombs, bad bytes, links to where nobody may lead (P5, P6, P9). Each is survived,
named, and costs little memory."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import QUICK, balanced, crawl  # noqa: E402
from e2e import PATIENCE, case, check, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402
from pages import counted, pages  # noqa: E402

WORDS = ("--mine", "--sitemap", "off", "-l", "off")
MOST_MB = 96  # for any page; the budget of all bodies is larger


def of(table, *words, seed="/", timeout=PATIENCE):
    with pages(table) as p:
        run = crawl(p.base + seed, *(words or WORDS), timeout=timeout)
    check(balanced(run), [], run.ending())
    run.asked = p.asked
    run.pages = {r["url"][len(p.base):]: r for r in run.told if r.get("url", "").startswith(p.base)}
    return run


@case
def a_calendar_without_end_is_left():
    with origin("--site", "1:60:trap=on") as o:
        run = crawl(o.url("/p/0"), *QUICK, "-l", "off", "--pattern-budget", "100")
        check(balanced(run), [], run.ending())
        paths = [r["path"] for r in o.log()]
        days = [p for p in paths if p.startswith("/cal/")]
        check((len(set(p for p in paths if p.startswith("/p/"))), len(days), len(set(days))), (60, len(set(days)), len(days)), run.ending())
        check(200 <= len(days) <= 900, True, f"{len(days)} {run.ending()}")
        traps = [r for r in run.skips if r["reason"] == "trap"]
        check((len(traps) > 0, all(re.match(r"--pattern-budget 100: pattern /cal/#/#/#, (1[89][0-9]|200) of (its last 200 pages|the last 200 pages of /\*\*) brought nothing new$", r["rule"]) for r in traps)), (True, True), str(traps[:1]))


def sessions(path):
    """Every page has links to all pages, under a new session each."""
    n = abs(hash(path)) % 10**9
    return "".join(f'<a href="/page/{i}?sid={n + i:016x}">x</a>' for i in range(10))


@case
def session_ids_are_left():
    run = of({"*": sessions}, *WORDS, "--pattern-budget", "50", seed="/page/0?sid=0")
    check(len(run.asked) <= 400, True, f"{len(run.asked)} {run.ending()}")
    check(set(run.reasons()), {"trap"}, run.ending())


@case
def a_spiral_of_relative_links_is_left():
    run = of({"*": '<a href="a/b/">deeper</a><a href="c/">deeper</a>'}, seed="/x/")
    check(len(run.asked) < 1500, True, f"{len(run.asked)} {run.ending()}")
    check(set(run.reasons()), {"trap"}, run.ending())


@case
def paths_that_only_grow_are_left():
    run = of({"*": lambda path: f'<a href="{path}n{len(path)}/">deeper</a>'})
    check(len(run.asked) <= 33, True, f"{len(run.asked)} {run.ending()}")
    check(run.reasons(), {"trap": 1}, run.ending())


@case
def a_query_that_only_grows_is_left():
    run = of({"*": lambda path: f'<a href="{path}{"&" if "?" in path else "?"}a{len(path)}=1">more</a>'})
    check(len(run.asked) <= 34, True, f"{len(run.asked)} {run.ending()}")
    check(run.reasons(), {"trap": 1}, run.ending())


@case
def a_url_that_is_too_long_is_named():
    run = of({"/": f'<a href="/{"x" * 9000}">x</a><a href="/{"y" * 8000}">x</a>', "*": "<p>x"})
    check((run.reasons(), len(run.asked)), ({"too_long": 1}, 2), run.ending())


def notes(run, path="/"):
    return run.pages[path].get("notes", [])


@case
def a_hundred_thousand_attributes_are_survived():
    attrs = " ".join(f'a{i}="v{i}"' for i in range(100000))
    run = of({"/": f"<p {attrs}>x</p><a {attrs} href=/behind>far behind</a><a href=/a>x</a>", "/a": "<p>x"})
    check(run.pages["/a"]["outcome"], "ok", run.ending())
    check(("attrs_capped" in notes(run), "/behind" in run.asked, run.peak_mb < MOST_MB), (True, False, True), run.ending())


@case
def deep_nesting_is_survived():
    deep = 300000
    run = of({"/": "<div>" * deep + "<a href=/a>x</a>" + "</div>" * deep + "<b><i>" * deep + "<a href=/b>y</a>", "*": "<p>x"})
    check(sorted(run.asked), ["/", "/a", "/b"], run.ending())
    check((run.outcomes(), run.peak_mb < MOST_MB), ({"ok": 3}, True), run.ending())


@case
def of_a_million_links_fifty_thousand_are_taken():
    body = "".join(f"<a href={n}>" for n in range(1000000)).encode()
    check(len(body) < 16 << 20, True)
    run = of({"/": body, "*": "<p>x"}, *WORDS, "-n", "50", "--pattern-budget", "off")
    check(("links_capped" in notes(run), run.pages["/"]["links"]), (True, 50000), run.ending())
    check((len(run.results), run.reasons()), (50, {"budget": 50000 - 49}), run.ending())
    check(run.peak_mb < MOST_MB + 64, True, run.ending())


@case
def a_body_beyond_the_bound_leads_nowhere():
    run = of({"/": b"<a href=/a>x</a>" + b"x" * 300000}, *WORDS, "--max-body", "100k")
    check((run.asked, run.pages["/"]["error"]["kind"]), (["/"], "body_too_large"), run.ending())


@case
def a_page_that_is_cut_leads_nowhere():
    run = of({"/": (200, {"Content-Length": "100000"}, "<a href=/a>x</a>")}, *WORDS, "--retries", "0", "-t", "2s")
    check(("/a" in run.asked, run.pages["/"]["ok"]), (False, False), run.ending())


def utf16(text, order="little", mark=True):
    return (b"\xff\xfe" if order == "little" else b"\xfe\xff") * mark + text.encode("utf-16-le" if order == "little" else "utf-16-be")


PAGE = '<!doctype html><title>Grüße, €</title><a href="/á">x</a>'
SAME = "/%C3%A1"  # a letter of a path is UTF-8 whatever the page is


@rows([
    ("utf-16le, by its mark", {}, utf16(PAGE), "utf-16le", "bom"),
    ("utf-16be, by its mark", {}, utf16(PAGE, "big"), "utf-16be", "bom"),
    ("a mark beats the header", {"Content-Type": "text/html; charset=iso-8859-1"}, utf16(PAGE), "utf-16le", "bom"),
    ("utf-16 by the header", {"Content-Type": "text/html; charset=utf-16le"}, utf16(PAGE, mark=False), "utf-16le", "header"),
    ("utf-8 by the header", {"Content-Type": "text/html;charset=UTF-8"}, PAGE.encode(), "utf-8", "header"),
    ("utf-8 by its mark", {}, b"\xef\xbb\xbf" + PAGE.encode(), "utf-8", "bom"),
    ("windows-1252 under another name", {"Content-Type": "text/html; charset=latin1"}, PAGE.encode("cp1252"), "windows-1252", "header"),
    ("utf-8 by a meta", {}, b"<meta charset=utf-8>" + PAGE.encode(), "utf-8", "meta"),
])
def links_are_found_in_any_encoding(_, headers, body, charset, origin_):
    run = of({"/": (200, headers, body), SAME: "<p>x"})
    check((run.pages["/"].get("charset"), run.pages["/"].get("charset_from")), (charset, origin_), run.ending())
    check(run.pages["/"]["title"], "Grüße, €")
    check(run.asked, ["/", SAME], run.ending())


@rows([
    ("utf-8 that is none", {"Content-Type": "text/html; charset=utf-8"}, b"<title>a\xff\xfe\xc3</title><a href=/a>x\x80</a>", True),
    ("half a surrogate", {"Content-Type": "text/html; charset=utf-16le"}, "<title>a".encode("utf-16-le") + b"\x00\xd8" + "</title><a href=/a>x".encode("utf-16-le"), True),
    ("half a character at the end", {"Content-Type": "text/html; charset=utf-8"}, b"<title>a</title><a href=/a>x\xe2\x82", True),
    ("a label that nobody knows", {"Content-Type": "text/html; charset=klingon"}, b"<title>a</title><a href=/a>x</a>", False),
    ("NUL bytes everywhere", {}, b"\0<title>a</title>\0\0<a\0 hr\0ef=/no>x</a><a href=/a>\0</a>\0", False),
    ("all bytes there are", {}, bytes(range(256)) + b"--><title>a</title><a href=/a>x</a>" + bytes(range(255, -1, -1)), False),
])
def bad_bytes_are_survived(_, headers, body, errors):
    run = of({"/": (200, headers, body), "/a": "<p>x"})
    page = run.pages["/"]
    check(("/a" in run.asked, page["outcome"]), (True, "ok"), f"{run.ending()} {page}")
    if errors:
        check(page.get("charset_errors", 0) > 0, True, str(page))


@case
def what_is_no_page_is_not_read():
    kinds = {"/t": "text/plain", "/j": "application/json", "/i": "image/png", "/x": "text/xml", "/n": "", "/h": "application/xhtml+xml", "/u": "TEXT/HTML"}
    table = {"/": "".join(f'<a href="{path}">x</a>' for path in kinds)}
    table |= {path: (200, {"Content-Type": kind}, f"<a href='/from{path}'>x</a>") for path, kind in kinds.items()}
    run = of(table)
    check(sorted(p for p in run.asked if p.startswith("/from")), ["/from/h", "/from/u"], run.ending())
    check({p for p, r in run.pages.items() if r.get("reason") == "mime"} >= {"/t", "/j", "/i", "/x"}, True, run.ending())
    for path in ("/t", "/j"):
        check((run.pages[path]["type"], bool(run.pages[path].get("rule"))), ("skip", True), str(run.pages[path]))


@case
def redirects_are_links_and_end():
    table = {"/": '<a href="/r/0">x</a><a href="/loop">x</a><a href="/lost">x</a><a href="/bad">x</a>', "/loop": (302, {"Location": "/loop"}, ""), "/lost": (302, {}, ""),
             "/bad": (302, {"Location": "http://[/"}, ""), **{f"/r/{n}": (301, {"Location": f"{n + 1}"}, "") for n in range(30)}}
    run = of(table, *WORDS, "--max-redirects", "5")
    check([p for p in run.asked if p.startswith("/r/")], [f"/r/{n}" for n in range(6)], run.ending())
    kinds = {p: (r["outcome"], r.get("error", {}).get("kind")) for p, r in run.pages.items() if r["type"] == "result"}
    check(kinds["/r/0"], ("ok", None))
    check((run.pages["/r/0"]["status"], run.pages["/r/0"]["final_url"].endswith("/r/1")), (301, True))
    check(kinds["/r/5"], ("bad_response", "too_many_redirects"))
    check((run.asked.count("/loop"), kinds["/lost"], kinds["/bad"]), (1, ("bad_response", "bad_redirect"), ("bad_response", "bad_redirect")))


@case
def a_public_page_does_not_lead_to_a_private_address():
    with counted("127.2.0.1") as private, counted("127.0.0.1") as local, pages({}, "127.1.0.1") as p:
        bad = [private.base, local.base]
        p.table.update({"/": "".join(f'<a href="{b}/a">x</a><iframe src="{b}/f"></iframe><link rel=next href="{b}/n">' for b in bad) +
                        '<a href="/r0">x</a><a href="/r1">x</a><a href="/m">x</a><a href="/ok">x</a>', "/ok": "<p>x",
                        "/r0": (302, {"Location": bad[0] + "/r"}, ""), "/r1": (307, {"Location": bad[1] + "/r"}, ""),
                        "/m": f'<meta http-equiv=refresh content="0;url={bad[0]}/m">',
                        "/sitemap.xml": (200, {"Content-Type": "text/xml"}, f"<urlset><url><loc>{bad[0]}/s</loc></url></urlset>")})
        run = crawl(p.base + "/", *QUICK, "--scope", "any", "--zone", "127.1.0.0/16=public", "--zone", "127.2.0.0/16=private", "-l", "off")
    check((private.count, local.count), (0, 0), run.ending())
    check(balanced(run), [], run.ending())
    there = [r for r in run.told if r["url"].startswith(tuple(bad))]
    check(len(there), 10, run.ending())
    check({r.get("reason") or r["error"]["kind"] for r in there} <= {"blocked_address", "private_address"}, True, str(there[:1]))
    check(sum(r["outcome"] == "ok" for r in run.results), 5)


@case
def a_private_page_may_lead_to_its_equals():
    with pages({"/": "<p>there"}, "127.0.0.1") as there, pages({}, "127.1.0.1") as p:
        p.table["/"] = f'<a href="{there.base}/">x</a>'
        run = crawl(p.base + "/", *QUICK, "--scope", "any", "--sitemap", "off")
    check(run.outcomes(), {"ok": 2}, run.ending())


@case
def other_schemes_and_ports_are_named():
    run = of({"/": '<a href="mailto:a@b">x</a><a href="ftp://127.0.0.1/">x</a><a href="javascript:void(0)">x</a><a href="http://127.0.0.1:25/">x</a><a href="http://[::1/">x</a>'},
             *WORDS, "--scope", "any")
    check(run.reasons(), {"scheme": 3, "port": 1, "bad_url": 1}, run.ending())


# Where a page may say that its links start, and where its link "l" then leads (HTML standard, 4.2.3); None: nowhere.
BASES = [
    ("", "/d/l"),
    ("<base href=/q/>", "/q/l"),
    ("<base href=' \t/q/\n'>", "/q/l"),
    ("<base href='../q/'>", "/q/l"),
    ("<base href='?q'>", "/d/l"),
    ("<base href=''><base href=/q/>", "/d/l"),  # the first with an href counts
    ("<base target=x><base href=/q/>", "/q/l"),
    ("<template><base href=/no/></template><base href=/q/>", "/q/l"),
    ("<base href='http://['><base href=/q/>", "/d/l"),  # no URL
    ("<base href='data:,x'>", "/d/l"),
    ("<base href='data:/q/'>", "/d/l"),
    ("<base href='javascript:/q/'>", "/d/l"),
    ("<base href='mailto:a@b.example'>", None),  # a base, though nothing can start there
]


@rows(BASES)
def extract_and_crawl_start_from_the_same_base(base, want):
    page = "<title>t</title><a href=l>x</a><p>" + base  # also the links before it
    with pages({"/d/p": page}) as p:
        run = crawl(p.base + "/d/p", *WORDS)
        extracted = seine("extract", "--base", p.base + "/d/p", "--links", stdin=page)
    check([path for path in p.asked if path not in ("/robots.txt", "/d/p")], [want] if want else [], run.ending())
    check([link["url"] for link in json.loads(extracted.out)["links"]], [p.base + want if want else "l"])
    check(run.reasons(), {} if want else {"bad_url": 1}, run.ending())


@case
def a_page_without_a_url_starts_from_a_base_that_counts():
    for base, want in (("http://e.example/q/", "http://e.example/q/l"), ("/q/", "l"), ("data:/q/", "l"), ("javascript:/q/", "l")):
        extracted = seine("extract", "--links", stdin=f"<base href='{base}'><a href=l>x</a>")
        check([link["url"] for link in json.loads(extracted.out)["links"]], [want], base)


finish(at_once=8)
