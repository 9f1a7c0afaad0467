#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is told of a given URL that brings no page: a crawl or a copy of nothing is no success."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from changing_site import Page, changing_site  # noqa: E402
from copies import missing, tree  # noqa: E402
from e2e import case, check, finish, rows, seine  # noqa: E402
from origin import results  # noqa: E402

QUICK = ("--mine", "--progress", "off", "--retries", "0", "--sitemap", "off", "--robots", "on")
OTHER = {"/": Page("other", links=["/b"]), "/b": Page("b")}
VERBS = [("mirror",), ("crawl",)]


def run(verb, top, *words):
    where = ("--output-dir", os.path.join(top, "copy")) if verb == "mirror" else ("-j",)
    return seine(verb, *words, *where, *QUICK, env={"SEINE_DURABILITY": "full"}, cwd=top)


def said(err, word="redirects to"):
    """The line of standard error with the word, and the advice below it."""
    lines = err.splitlines()
    found = [i for i, line in enumerate(lines) if word in line]
    check(len(found), 1, err)
    below = lines[found[0] + 1] if found[0] + 1 < len(lines) else ""
    return lines[found[0]], below.removeprefix("try: ") if below.startswith("try: ") else None


@rows(VERBS)
def a_seed_that_only_leads_to_another_host_is_a_failure(verb):
    with changing_site(OTHER, "127.0.0.2") as other, changing_site({"/": Page(to=other.base + "/")}) as site, tempfile.TemporaryDirectory() as top:
        r = run(verb, top, site.base + "/")
        check(r.code, 1, r.err)
        check(said(r.err),
              (f"seine: {site.base}/ redirects to {other.base}/, which was not fetched (offsite, --scope {'prefix' if verb == 'mirror' else 'host'})",
               f"--domains 127.0.0.2, or seine {verb} {other.base}/"))
        check(r.err.count("try:"), 1, r.err)
        check(other.paths(), [])
        if verb == "mirror":  # whose next visit finds the same
            r = run(verb, top, site.base + "/")
            check((r.code, r.err.count("redirects to")), (1, 1), r.err)
        for words, code, times in ((("-q", "--no-skips"), 1, 1), (("--fail-on", "none"), 0, 1), (("--domains", "127.0.0.2"), 0, 0)):
            with tempfile.TemporaryDirectory() as fresh:
                r = run(verb, fresh, site.base + "/", *words)
                check((r.code, r.err.count("redirects to")), (code, times), f"{words} {r.err}")
        check(set(other.paths()), {"/", "/b"})


@rows(VERBS)
def a_seed_that_leads_astray_beside_another_is_told_alone(verb):
    with changing_site(OTHER, "127.0.0.2") as other, tempfile.TemporaryDirectory() as top, \
            changing_site({"/": Page(to=other.base + "/"), "/x": Page(to="/y"), "/y": Page(to=other.base + "/b"), "/ok/": Page("fine")}) as site:
        r = run(verb, top, site.base + "/", site.base + "/x", site.base + "/ok/")
        check(r.code, 0, r.err)
        check("so do 1 more given URLs" in said(r.err)[0], True, r.err)


@case
def a_seed_above_its_directory_needs_the_scope_of_its_host():
    with changing_site({"/docs/": Page(to="/login"), "/login": Page("login")}) as site, tempfile.TemporaryDirectory() as top:
        r = run("mirror", top, site.base + "/docs/")
        check((r.code, said(r.err)[1]), (1, "--scope host"), r.err)
        with tempfile.TemporaryDirectory() as fresh:
            check(run("mirror", fresh, site.base + "/docs/", "--scope", "host").code, 0)


@rows([
    ("robots", {"/robots.txt": Page("User-agent: *\nDisallow: /x", kind="text/plain"), "/": Page(to="/x"), "/x": Page("x")}, (), "which was not fetched (robots"),
    ("pattern", {"/": Page(to="/x"), "/x": Page("x")}, ("--exclude", "/x"), "which was not fetched (pattern"),
])
def a_target_that_is_refused_for_another_reason_is_told_too(_, table, words, text):
    for verb, in VERBS:
        with changing_site(table) as site, tempfile.TemporaryDirectory() as top:
            r = run(verb, top, site.base + "/", *words)
            check((r.code, text in said(r.err)[0]), (1, True), r.err)


@rows([
    ("not found", {}, 1, "check the path of the URL"),
    ("robots", {"/robots.txt": Page("User-agent: *\nDisallow: /", kind="text/plain"), "/": Page("x")}, 1, "seine robots check URL"),
    ("no page", {"/": Page("x", kind="application/pdf")}, 1, "--accept-type '*/*'"),
    ("a limit", {"/": Page(to="/x"), "/x": Page("x")}, 0, "a larger --max-pages"),
    ("a page", {"/": Page(to="/x"), "/x": Page("x")}, 0, None),
])
def what_else_a_seed_may_be(name, table, code, advice):
    words = ("--max-pages", "1") if name == "a limit" else ()
    for verb, in VERBS:
        with changing_site(table) as site, tempfile.TemporaryDirectory() as top:
            r = run(verb, top, site.base + "/", *words)
            fine = verb == "mirror" and name == "no page"  # a file like any other
            check(r.code, 0 if fine else code, f"{verb} {r.err}")
            check(advice is None or fine or advice in said(r.err, "try: ")[0], True, r.err)


def named(site, *names):
    return [word for name in names for word in ("--resolve", f"{name}:{site.port}:127.0.0.1")]


@rows(VERBS)
def a_seed_may_move_within_its_domain_in_several_steps(verb):
    """e.example, then a page that sets a cookie, then www.e.example, then a language: all on one domain."""
    with changing_site({}) as site, tempfile.TemporaryDirectory() as top:
        def here(name, path="/"):
            return f"http://{name}:{site.port}{path}"
        site.table.update({"/": Page(to=here("e.example", "/start")), "/start": Page(to=here("www.e.example", "/hello")),
                           "/hello": Page(to=here("docs.e.example", "/en/")), "/en/": Page("top", links=["a", "/up", here("www.e.example", "/x")]),
                           "/en/a": Page("a"), "/up": Page("up"), "/x": Page("x")})
        words = named(site, "e.example", "www.e.example", "docs.e.example")
        r = run(verb, top, here("e.example"), *words, "-j")
        check(r.code, 0, r.err)
        ok = [x["url"] for x in results(r.out) if x["type"] == "result" and x["status"] == 200]
        check({here("docs.e.example", "/en/"), here("docs.e.example", "/en/a"), here("www.e.example", "/x")} <= set(ok), True, ok)
        if verb == "mirror":
            check(missing(os.path.join(top, "copy")), [])


@case
def a_part_may_be_moved_twice():
    """A picture or a font that moves to https and then to another host is a part all the same."""
    far = {"/1.png": Page("one", kind="image/png"), "/1.woff": Page("font", kind="font/woff")}
    with changing_site(far, "127.0.0.3") as third, tempfile.TemporaryDirectory() as top, \
            changing_site({"/1.png": Page(to=third.base + "/1.png"), "/1.woff": Page(to=third.base + "/1.woff")}, "127.0.0.2") as other, \
            changing_site({"/": Page("<img src=/1.png><link rel=stylesheet href=/s.css>"), "/1.png": Page(to=other.base + "/1.png"),
                           "/s.css": Page("@font-face { src: url(1.woff) }", kind="text/css"), "/1.woff": Page(to=other.base + "/1.woff")}) as site:
        r = run("mirror", top, site.base + "/")
        check(r.code, 0, r.err)
        check(third.paths(), ["/1.png", "/1.woff"])
        copy = tree(os.path.join(top, "copy"))
        check(f"127.0.0.3+{third.port}/1.png".encode() in copy[f"127.0.0.1+{site.port}/index.html"], True)
        check(f"127.0.0.3+{third.port}/1.woff".encode() in copy[f"127.0.0.1+{site.port}/s.css"], True)


finish(4)
