#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine mirror: a copy of a site that opens from disk, stays up to date, and never leaves its directory."""
import fcntl
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from changing_site import Page, changing_site  # noqa: E402
from copies import missing, references, target, tree  # noqa: E402
from e2e import PROGRAM, ROOT, SEED, case, check, environment, finish, rows, seine, until  # noqa: E402
from faults import faulty  # noqa: E402
from nginx import nginx  # noqa: E402
from origin import results, summary  # noqa: E402

QUICK = ("--mine", "--progress", "off", "--retries", "0", "-j")
DURABLE = {"SEINE_DURABILITY": "full"}


class Raw(Page):
    """A body as it is."""
    def __init__(self, text, kind="text/html", **members):
        super().__init__(kind=kind, **members)
        self.text = text

    def body(self):
        return self.text if isinstance(self.text, bytes) else self.text.encode()


def picture(name):
    return Raw(b"\x89PNG\r\n\x1a\n" + name.encode(), kind="image/png")


LONG = "/deep/" + "x" * 300 + ".html"


def site_of(other):
    """A site with everything that a page can need, some of it on another host."""
    return {
        "/": Raw(f"""<!doctype html><title>top</title><link rel=stylesheet href="/style/main.css?v=3" integrity="sha256-x" crossorigin>
<link rel="shortcut icon" href=/favicon.ico><link rel=manifest href="/app.webmanifest"><link rel=next href="/guide/">
<style>@import "style/inline.css"; h1 {{ background: url(i/h1.png) }}</style>
<h1 style="border-image: url(&quot;i/border.png&quot;)">top</h1>
<img src="i/a.png" srcset="i/a.png 1x, i/a2.png 2x"><img src="{other}/cdn.png">
<a href="guide/#part">guide</a> <a href="/search?q=a%20b&amp;p=1">search</a> <a href="/old">old</a> <a href="{other}/page">other</a>
<a href="#here">here</a> <a href="mailto:a@e.example">mail</a> <a href="javascript:x()">js</a> <a href="/a:b*%3f">nasty</a>
<a href="/CON">con</a> <a href="/..%2fup">up</a> <a href="/dot.">dot</a> <a href="{LONG}">long</a> <a href=/Guide/Upper>upper</a>
<a href=/guide/upper>lower</a> <a href=/file>file</a> <a href=/file/below>below</a> <a href=/gone>gone</a>
<script src="/js/app.js"></script><video poster=/i/poster.png></video>
<svg><image href="/i/svg.png"/><use xlink:href="/i/sprite.svg#one"/></svg>"""),
        "/style/main.css?v=3": Raw('@import url("more.css") screen; body { background: url(../i/bg.png) } /* url(no.png) */', kind="text/css"),
        "/style/more.css": Raw(f"@font-face {{ src: url('{other}/font.woff2') format('woff2') }}", kind="text/css"),
        "/style/inline.css": Raw("p { background: url(/i/p.png) }", kind="text/css"),
        "/favicon.ico": Raw(b"icon", kind="image/x-icon"),
        "/app.webmanifest": Raw("{}", kind="application/manifest+json"),
        **{f"/i/{n}.png": picture(n) for n in ("h1", "border", "a", "a2", "bg", "p", "poster", "svg")},
        "/i/sprite.svg": Raw('<svg xmlns="http://www.w3.org/2000/svg"><g id="one"/><image href="/i/a.png"/></svg>', kind="image/svg+xml"),
        "/js/app.js": Raw("1", kind="text/javascript"),
        "/guide/": Raw('<base href="/guide/sub/"><title>guide</title><a href="../">up</a><a href=deep>deep</a><a href="#part">part</a><img src=/i/a.png>'),
        "/guide/sub/": Raw("<title>sub</title>"),
        "/guide/sub/deep": Raw("<title>deep</title><a href='/guide/?x=1&amp;y=2'>query</a>"),
        "/guide/?x=1&y=2": Raw("<title>query</title><a href=/>top</a>"),
        "/search?q=a%20b&p=1": Raw("<title>search</title>"),
        "/old": Page(status=301, to="/new"),
        "/new": Raw("<title>new</title>"),
        "/a:b*%3f": Raw("<title>nasty</title>"),
        "/CON": Raw("<title>con</title>"),
        "/..%2fup": Raw("<title>up</title>"),
        "/dot.": Raw("<title>dot</title>"),
        LONG: Raw("<title>long</title><img src=/i/a.png>"),
        "/Guide/Upper": Raw("<title>Upper</title>"),
        "/guide/upper": Raw("<title>lower</title>"),
        "/file": Raw("a file", kind="text/plain"),
        "/file/below": Raw("below", kind="text/plain"),
    }


OTHER = {"/cdn.png": picture("cdn"), "/font.woff2": Raw(b"font", kind="font/woff2"), "/page": Raw("<title>other</title>")}


def mirror(*words, env=None, **kw):
    return seine("mirror", *words, *QUICK, env={**DURABLE, **(env or {})}, **kw)


@case
def a_copy_has_every_page_and_every_part_of_it():
    with changing_site(OTHER, "127.0.0.2") as other, tempfile.TemporaryDirectory() as top:
        with changing_site(site_of(other.base)) as site:
            out = os.path.join(top, "copy")
            r = mirror(site.base + "/", "--output-dir", out)
            check(r.code, 1, r.err)  # /gone
            check([x["url"] for x in results(r.out) if x["type"] == "result" and not x["ok"]], [site.base + "/gone"])
            files = tree(out)
            host, far = f"127.0.0.1+{site.port}/", f"127.0.0.2+{other.port}/"
            check(missing(out), [])
            check(os.listdir(top), ["copy"])
            for name in ("index.html", "style/main.css@v=3.css", "style/more.css", "style/inline.css", "favicon.ico", "i/a2.png", "i/border.png",
                         "i/svg.png", "i/sprite.svg", "js/app.js", "guide/index.html", "guide/sub/deep.html", "guide/index@x=1&y=2.html",
                         "search@q=a%20b&p=1.html", "new.html", "a%3Ab%2A%3F.html", "%43ON.html", "%2E.%2Fup.html", "dot..html", "file/below"):
                check(host + name in files, True, name)
            check(far + "cdn.png" in files and far + "font.woff2" in files, True)
            check(far + "page.html" in files, False, "a page of another host is no part of the copy")
            index = files[host + "index.html"].decode()
            for text in ('href="guide/index.html#part"', 'href="#here"', 'href="mailto:a@e.example"', 'href="javascript:x()"', 'href="new.html"',
                         f'href="{other.base}/page"', f'href="{site.base}/gone"', 'data-integrity="sha256-x"', "data-crossorigin",
                         f'src="../{far}cdn.png"', 'href="%2543ON.html"'):
                check(text in index, True, text)
            guide = files[host + "guide/index.html"].decode()
            check('<base href="">' in guide and 'href="sub/deep.html"' in guide and 'href="../i/a.png"' not in guide, True, guide)
            names = sorted(n.lower() for n in files)
            check(len(set(names)), len(names), "no two names differ by case alone")


def snapshot(top):
    """Bytes and times of all files of the copy."""
    return {n: (b, os.stat(os.path.join(top, n)).st_mtime_ns) for n, b in tree(top).items()}


@case
def a_second_run_costs_little_and_leaves_files_alone():
    pages = {f"/p{i}": Page("words " * 2000, links=["/", f"/p{(i + 1) % 20}"]) for i in range(20)}
    with changing_site({"/": Page("top", links=list(pages)), **pages}) as site, tempfile.TemporaryDirectory() as top:
        check(mirror(site.base + "/", "--output-dir", top).code, 0)
        first, cost = snapshot(top), site.bytes()
        site.forget()
        r = mirror(site.base + "/", "--output-dir", top)
        check(r.code, 0, r.err)
        check(snapshot(top), first, "unchanged files are left alone")
        check(sorted(site.paths()), sorted(["/", *pages]), "every page was asked for")
        check(site.bytes() * 20 <= cost, True, f"{site.bytes()} of {cost} bytes")


@case
def a_page_that_changes_comes_and_goes():
    with changing_site({"/": Page("top", links=["/a", "/b"]), "/a": Page("a", links=["/b"]), "/b": Page("b")}) as site, \
            tempfile.TemporaryDirectory() as top:
        words = (site.base + "/", "--output-dir", top)
        host = f"127.0.0.1+{site.port}/"
        check(mirror(*words).code, 0)
        before = snapshot(top)
        site.edit("/a", words="other", links=["/b", "/c"])
        site.edit("/c", words="c")
        check(mirror(*words).code, 0)
        after = snapshot(top)
        check(b"other" in after[host + "a.html"][0] and b'href="c.html"' in after[host + "a.html"][0], True)
        check(after[host + "b.html"], before[host + "b.html"])
        check(missing(top), [])
        # gone: the file stays, unless --delete is given; then links to it are absolute again
        site.remove("/b")
        check(mirror(*words).code, 1)
        check(host + "b.html" in tree(top), True)
        check(mirror(*words, "--delete").code in (0, 1), True)
        check(host + "b.html" in tree(top), False)
        check(f'href="{site.base}/b"'.encode() in tree(top)[host + "index.html"], True)
        check(missing(top), [])
        # and back again
        site.edit("/b", words="b again")
        check(mirror(*words, "--revisit-max", "0s", "--revisit-min", "0s").code, 0)
        check(b'href="b.html"' in tree(top)[host + "index.html"], True, tree(top)[host + "index.html"])


@case
def a_file_whose_name_is_needed_as_a_directory_moves():
    with changing_site({"/": Page("top", links=["/x"]), "/x": Raw("file", kind="text/plain")}) as site, tempfile.TemporaryDirectory() as top:
        words = (site.base + "/", "--output-dir", top)
        host = f"127.0.0.1+{site.port}/"
        check(mirror(*words).code, 0)
        check(host + "x" in tree(top), True)
        site.edit("/", words="more", links=["/x", "/x/y"])
        site.edit("/x/y", words="below")
        r = mirror(*words)
        check(r.code, 0, r.err)
        check(missing(top), [])
        check(sorted(tree(top).values())[-1] == b"file" or b"file" in tree(top).values(), True)
        check(host + "x/y.html" in tree(top), True)
        # a fresh copy of the same site has the same files
        with tempfile.TemporaryDirectory() as fresh:
            check(mirror(site.base + "/", "--output-dir", fresh).code, 0)
            check(tree(fresh), tree(top))


@case
def killed_at_any_moment_the_same_command_makes_the_same_copy():
    pages = {f"/p{i}": Page("words " * 200, links=["/", f"/p{(i + 7) % 60}", f"/p{(i * 3) % 60}"]) for i in range(60)}
    table = {"/": Page("top", links=["/p1", "/p2"]), **pages, "/pic.png": picture("x")}
    dice = random.Random(SEED)
    with changing_site(table) as site, tempfile.TemporaryDirectory() as top:
        whole, cut = os.path.join(top, "whole"), os.path.join(top, "cut")
        check(mirror(site.base + "/", "--output-dir", whole).code, 0)
        for _ in range(4):
            p = subprocess.Popen([os.path.abspath(PROGRAM), "mirror", site.base + "/", "--output-dir", cut, *QUICK], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(DURABLE))
            site.forget()
            some = dice.randrange(1, 40)
            until(lambda: len(site.asked) >= some or p.poll() is not None, "some requests")
            p.send_signal(signal.SIGKILL)
            p.wait()
        r = mirror(site.base + "/", "--output-dir", cut)
        check(r.code, 0, r.err)
        check(tree(cut), tree(whole))
        check(os.listdir(os.path.join(cut, ".seine-mirror", "new")), [])


@case
def originals_are_kept_on_request():
    text = '<base href="/d/"><a href="/b">\xe9</a><a href=x>'.encode("latin-1")
    with changing_site({"/": Raw(text, kind="text/html; charset=iso-8859-1"), "/b": Page("b"), "/d/x": Page("x")}) as site, \
            tempfile.TemporaryDirectory() as top:
        check(mirror(site.base + "/", "--output-dir", top, "--keep-original").code, 0)
        name = f"127.0.0.1+{site.port}/index.html"
        check(tree(top, hidden=True)[".original/" + name], text)
        copy = tree(top)[name]
        check(copy, b'<meta charset="windows-1252"><base href=""><a href="b.html">\xe9</a><a href="d/x.html">')


WIDE = """<!doctype html><html><head><meta charset="utf-16"><title>\u00e9 \u65e5\u672c \U0001f41f</title><link rel=stylesheet href=/s.css></head>
<body style="background: url(/bg.png)"><a href="/b?x=1#y">\u00fc</a><img src="i/p.png" srcset="i/p.png 1x, /i/q.png 2x"><a href="https://e.example/">out</a>"""


@rows([
    ("little, with a mark", "\ufeff", "utf-16-le", "text/html"),
    ("big, with a mark", "\ufeff", "utf-16-be", "text/html"),
    ("little, by the header", "", "utf-16-le", "text/html; charset=utf-16le"),
    ("big, by the header", "", "utf-16-be", "text/html; charset=utf-16be"),
    ("a mark against the header", "\ufeff", "utf-16-be", "text/html; charset=iso-8859-1"),
], name=lambda row: row[0])
def a_page_in_utf_16_is_a_page_like_any_other(_, mark, order, kind):
    """Its links and parts are found, and the copy is in UTF-8, which its mark says."""
    table = {"/": Raw((mark + WIDE).encode(order), kind=kind), "/s.css": Raw(("\ufeff@import 'more.css'; b { background: url(i/r.png) }").encode("utf-16-le"), kind="text/css"),
             "/more.css": Raw("b {}", kind="text/css"), "/b?x=1": Page("b"), "/bg.png": picture("bg"),
             "/i/p.png": picture("p"), "/i/q.png": picture("q"), "/i/r.png": picture("r")}
    with changing_site(table) as site, tempfile.TemporaryDirectory() as top:
        words = (site.base + "/", "--output-dir", top, "--keep-original")
        r = mirror(*words)
        check(r.code, 0, r.err)
        host = f"127.0.0.1+{site.port}/"
        want = "\ufeff" + WIDE.replace("/b?x=1#y", "b@x=1.html#y").replace('srcset="i/p.png 1x, /i/q.png 2x"', 'srcset="i/p.png 1x, i/q.png 2x"') \
            .replace("href=/s.css", 'href="s.css"').replace("url(/bg.png)", "url(bg.png)")
        files = tree(top)
        check(files[host + "index.html"].decode(), want)
        check(tree(top, hidden=True)[".original/" + host + "index.html"], (mark + WIDE).encode(order))
        check(files[host + "s.css"].decode().startswith("\ufeff@import"), True)
        check({host + n for n in ("more.css", "i/r.png", "bg.png", "i/p.png", "i/q.png", "b@x=1.html")} - set(files), set())
        check(missing(top), [])
        # another page comes: the copy, which is in UTF-8 now, is rewritten again; the next visit leaves it alone
        before = snapshot(top)
        site.edit("/b?x=1", words="b", links=["/c"])
        site.edit("/c", words="c")
        check(mirror(*words).code, 0)
        check(snapshot(top)[host + "index.html"], before[host + "index.html"])
        check(missing(top), [])


@case
def a_page_in_iso_2022_jp_is_rewritten_too():
    text = '<meta charset="iso-2022-jp"><title>\u65e5\u672c</title><a href="/b">\u8a9e</a><img src=/p.png>'
    with changing_site({"/": Raw(text.encode("iso-2022-jp")), "/b": Page("b"), "/p.png": picture("p")}) as site, tempfile.TemporaryDirectory() as top:
        check(mirror(site.base + "/", "--output-dir", top).code, 0)
        check(tree(top)[f"127.0.0.1+{site.port}/index.html"].decode(), "\ufeff" + text.replace('"/b"', '"b.html"').replace("src=/p.png", 'src="p.png"'))


@case
def links_that_are_planted_are_not_followed():
    with changing_site({"/": Page("top", links=["/d/a", "/e"]), "/d/a": Page("a"), "/e": Page("e")}) as site, tempfile.TemporaryDirectory() as top:
        out, outside = os.path.join(top, "copy"), os.path.join(top, "outside")
        host = os.path.join(out, f"127.0.0.1+{site.port}")
        os.makedirs(host)
        os.mkdir(outside)
        os.symlink(outside, os.path.join(host, "d"))
        with open(os.path.join(outside, "e"), "w", encoding="ascii") as f:
            f.write("safe")
        os.symlink(os.path.join(outside, "e"), os.path.join(host, "e.html"))
        r = mirror(site.base + "/", "--output-dir", out)
        check(r.code, 3, r.err)
        check("d/a.html" in r.err and "try: move it away" in r.err, True, r.err)
        check(tree(outside), {"e": b"safe"}, "nothing is written outside")
        os.unlink(os.path.join(host, "d"))
        r = mirror(site.base + "/", "--output-dir", out)
        check(r.code, 0, r.err)
        check(missing(out), [])
        check(tree(outside), {"e": b"safe"})


@case
def a_file_that_somebody_removed_is_told_and_comes_back():
    with changing_site({"/": Page("top", links=["/a"]), "/a": Page("a")}) as site, tempfile.TemporaryDirectory() as top:
        words = (site.base + "/", "--output-dir", top)
        name = os.path.join(top, f"127.0.0.1+{site.port}", "a.html")
        check(mirror(*words).code, 0)
        os.unlink(name)
        r = mirror(*words)
        check(r.code, 0, r.err)
        check("1 file is of the copy missing" in r.err or "try: --refresh" in r.err, True, r.err)
        check(missing(top), [])
        check(mirror(*words, "--refresh").code, 0)
        check(os.path.exists(name) and missing(top), [])


@case
def mistakes_are_told_before_the_first_request():
    with changing_site({"/": Page("top")}) as site, tempfile.TemporaryDirectory() as top:
        for words in (("mirror", site.base + "/", "--output-dir", "/dev/null"), ("crawl", site.base + "/", "--delete"),
                      ("crawl", site.base + "/", "--keep-original"), ("mirror",)):
            r = seine(*words, *QUICK, env=DURABLE, cwd=top)
            check(r.code, 2, f"{words} {r.err}")
            check("try: " in r.err, True, r.err)
        check(site.paths(), [])


@case
def crawl_with_mirror_is_the_same_with_the_scope_of_a_crawl():
    with changing_site({"/d/": Page("top", links=["/up"]), "/up": Page("up")}) as site, tempfile.TemporaryDirectory() as top:
        copy, other = os.path.join(top, "a"), os.path.join(top, "b")
        check(seine("crawl", "--mirror", "--output-dir", copy, site.base + "/d/", *QUICK, env=DURABLE).code, 0)
        check(f"127.0.0.1+{site.port}/up.html" in tree(copy), True)
        check(mirror(site.base + "/d/", "--output-dir", other).code, 0)
        check(sorted(tree(other)), [f"127.0.0.1+{site.port}/d/index.html"])
        check(missing(other), [])


@case
def without_a_job_files_that_are_the_same_are_left_alone_too():
    with changing_site({"/": Page("top", links=["/a"]), "/a": Page("a")}) as site, tempfile.TemporaryDirectory() as top:
        words = (site.base + "/", "--output-dir", top, "--no-job")
        check(mirror(*words).code, 0)
        first = snapshot(top)
        check(mirror(*words).code, 0)
        check(snapshot(top), first)


SMALL = {
    "/": Raw('<link rel=stylesheet href=s.css><a href=a>a</a><a href=A>A</a><a href=d/>d</a><img src=i.png><a href=x>x</a><a href=x/y>y</a>'),
    "/s.css": Raw("@import 't.css'; b{c:url(i.png)}", kind="text/css"), "/t.css": Raw("d{e:url(/j.png)}", kind="text/css"),
    "/a": Page("a", links=["/d/"]), "/A": Page("A", links=["/a"]), "/d/": Page("d", links=["/", "/x"]),
    "/i.png": picture("i"), "/j.png": picture("j"), "/x": Raw("x", kind="text/plain"), "/x/y": Page("y", links=["/x"]),
}


@rows([("rename", "KILL"), ("unlink", "KILL"), ("mkdir", "KILL"), ("write", "KILL"), ("write", "ENOSPC"), ("rename", "EIO"), ("write", "EIO")],
      name=lambda row: " ".join(row))
def a_copy_whose_disk_fails_at_any_moment_is_whole_after_the_next_run(call, action):
    dice = random.Random(SEED)
    with changing_site(SMALL) as site, tempfile.TemporaryDirectory() as top:
        def run(where, rules):
            return faulty(rules, [os.path.abspath(PROGRAM), "mirror", site.base + "/", "--output-dir", where, *QUICK], extra=DURABLE)
        whole = os.path.join(top, "whole")
        most = run(whole, f"{call}:COUNT@1:{whole}/*").counts[call]
        want, struck = tree(whole), 0
        check((most > 3, missing(whole)), (True, []))
        for n in sorted(dice.sample(range(1, most + 1), min(most, 5))):
            where = os.path.join(top, str(n))
            r = run(where, f"{call}:{action}@{n}{'+' if action == 'ENOSPC' else ''}:{where}/*")
            struck += len(r.struck) > 0
            if action != "KILL" and r.code not in (0, 2):
                check((r.code, "try: " in r.err), (3, True), f"{n} {r.err}")
            r = mirror(site.base + "/", "--output-dir", where)
            check((r.code, tree(where) == want), (0, True), f"{call}:{action}@{n}: {r.err} {sorted(tree(where))}")
        check(struck > 0, True)


@case
def a_directory_that_cannot_be_written_to_is_refused_at_once():
    with changing_site(SMALL) as site, tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "copy")
        with open(out, "w", encoding="ascii") as f:
            f.write("a file")
        r = mirror(site.base + "/", "--output-dir", out)
        check((r.code, "try: " in r.err, site.paths()), (2, True, []), r.err)
        r = mirror(site.base + "/", "--output-dir", os.path.join(top, "no", "such"))
        check((r.code, site.paths()), (2, []), r.err)


@case
def two_runs_do_not_write_to_one_copy():
    with changing_site(SMALL) as site, tempfile.TemporaryDirectory() as top:
        os.makedirs(os.path.join(top, ".seine-mirror"))
        with open(os.path.join(top, ".seine-mirror", "lock"), "w", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            r = mirror(site.base + "/", "--output-dir", top)
            check((r.code, "another run" in r.err), (2, True), r.err)
        check(mirror(site.base + "/", "--output-dir", top).code, 0)


@case
def an_index_that_somebody_has_edited_leads_nowhere():
    with changing_site(SMALL) as site, tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "copy")
        check(mirror(site.base + "/", "--output-dir", out).code, 0)
        want = tree(out)
        with open(os.path.join(top, "victim"), "w", encoding="ascii") as f:
            f.write("safe")
        with open(os.path.join(out, ".seine-mirror", "index"), "ab") as f:
            f.write(b"in\thttp://e.example/\ttext/html\t\t../victim\nin\thttp://e.example/b\ttext/html\t\t/etc/passwd\ngone\thttp://e.example/\n"
                    b"in\tno url\ttext/html\t\tx\nnew\thttp://e.example/c\nxxx\n\xff\x00\nin")
        r = mirror(site.base + "/", "--output-dir", out, "--delete")
        check(tree(top)["victim"], b"safe", r.err)
        check({n: b for n, b in tree(out).items() if n in want}, want)


@case
def parts_that_are_missing_are_told_and_their_links_lead_to_the_site():
    with changing_site({"/": Raw("<img src=/no.png><link rel=stylesheet href=/no.css>")}) as site, tempfile.TemporaryDirectory() as top:
        r = mirror(site.base + "/", "--output-dir", top)
        check(r.code, 1)
        check(sorted((x["url"], x["status"], x["parent"]) for x in results(r.out) if x["type"] == "result" and not x["ok"]),
              [(site.base + "/no.css", 404, site.base + "/"), (site.base + "/no.png", 404, site.base + "/")])
        check([t for t in references(top) if target(*t) is not None], [])


@case
def parts_of_other_hosts_obey_their_robots_and_patterns():
    with changing_site({"/robots.txt": Raw("User-agent: *\nDisallow: /private/", kind="text/plain"), **OTHER, "/private/x.png": picture("x")}, "127.0.0.2") as other, \
            tempfile.TemporaryDirectory() as top:
        page = Raw(f"<img src={other.base}/cdn.png><img src={other.base}/private/x.png><img src=/ad.png><iframe src={other.base}/page></iframe>")
        with changing_site({"/": page, "/ad.png": picture("ad")}) as site:
            r = mirror(site.base + "/", "--output-dir", top, "--exclude", "/ad", "--robots", "on")
            check(r.code, 0, r.err)
            check(sorted((x["url"], x["reason"]) for x in results(r.out) if x["type"] == "skip"),
                  sorted([(other.base + "/private/x.png", "robots"), (site.base + "/ad.png", "pattern"), (other.base + "/page", "offsite")]))
            check(other.paths(), ["/cdn.png"])


@case
def a_link_out_of_scope_may_still_be_a_part():
    """A thumbnail leads to its picture, and another page shows it."""
    with changing_site(OTHER, "127.0.0.2") as other, tempfile.TemporaryDirectory() as top:
        with changing_site({"/d/": Raw(f"<a href={other.base}/cdn.png>x</a><a href=/up>y</a><a href=b>z</a><a href={other.base}/page>p</a>"),
                            "/d/b": Raw(f"<img src={other.base}/cdn.png><img src=/up>"), "/up": picture("up")}) as site:
            r = mirror(site.base + "/d/", "--output-dir", top, "--include", "/d/")
            check(r.code, 0, r.err)
            check([(x["url"], x["reason"]) for x in results(r.out) if x["type"] == "skip"], [(other.base + "/page", "offsite")])
            host = f"127.0.0.1+{site.port}/d/"
            check(tree(top)[host + "index.html"].decode(),
                  f'<a href="../../127.0.0.2+{other.port}/cdn.png">x</a><a href="../up.png">y</a><a href="b.html">z</a><a href={other.base}/page>p</a>')


@case
def a_redirect_of_a_part_may_lead_to_another_host():
    with changing_site(OTHER, "127.0.0.2") as other, tempfile.TemporaryDirectory() as top:
        with changing_site({"/": Raw("<img src=/moved.png><a href=/away>x</a>"), "/moved.png": Page(to=other.base + "/cdn.png"),
                            "/away": Page(to=other.base + "/page")}) as site:
            check(mirror(site.base + "/", "--output-dir", top).code, 0)
            index = tree(top)[f"127.0.0.1+{site.port}/index.html"].decode()
            check(index, f'<img src="../127.0.0.2+{other.port}/cdn.png"><a href="{site.base}/away">x</a>')


@case
def a_documentation_tree_behind_nginx_is_copied_and_brought_up_to_date():
    root = os.path.realpath("/usr/share/doc/harden-doc/html/en-US")
    with tempfile.TemporaryDirectory() as home, nginx(root, home) as n, tempfile.TemporaryDirectory() as top:
        r = mirror(n.base + "/", "--output-dir", top, "--fail-on", "none")
        check(r.code, 0, r.err)
        first = snapshot(top)
        check((len(first) > 50, missing(top)), (True, []))
        cost = summary(r.out)["bytes_in"]
        r = mirror(n.base + "/", "--output-dir", top, "--fail-on", "none")
        check((r.code, snapshot(top) == first), (0, True), r.err)
        check(summary(r.out)["bytes_in"] * 20 <= cost, True)


@case
def every_command_that_is_shown_runs():
    with open(os.path.join(ROOT, "docs", "user", "mirror.md"), encoding="utf-8") as f:
        shown = re.findall(r"^(seine mirror .*?)(?: +#.*)?$", f.read(), re.M)
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    shown += [line for row in table for line in row.get("examples", []) if line.startswith("seine mirror")]
    check(len(shown), 5)
    with changing_site({"/": Page("top", links=["/manual/"]), "/manual/": Page("manual", links=["/archive/x"])}) as site:
        for line in shown:
            with tempfile.TemporaryDirectory() as top:
                words = shlex.split(line.replace("https://docs.example", site.base))[1:]
                r = seine(*words, *QUICK, env=DURABLE, cwd=top)
                check((r.code, missing(os.path.join(top, "docs"))), (0, []), line + r.err)


finish(at_once=4)
