#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine sitemap: files, URLs, indexes, dates; and the sitemaps of others.

Those are found through SEINE_VECTORS and are no part of the project. What they hold is
found by a second implementation, Python's own XML parser, and must be equal.
"""
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.etree.ElementTree as tree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, VECTORS, case, check, environment, finish, needs_vectors, rows, seine  # noqa: E402
from origin import origin  # noqa: E402
from pages import counted, pages  # noqa: E402



def urlset(*entries):
    return "<urlset>" + "".join(f"<url><loc>{e}</loc></url>" for e in entries) + "</urlset>"


def index(*entries):
    return "<sitemapindex>" + "".join(f"<sitemap><loc>{e}</loc></sitemap>" for e in entries) + "</sitemapindex>"


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


def locs(*words, **more):
    r = seine("sitemap", *words, **more)
    check((r.code, r.err), (0, ""), str(words))
    return [e["loc"] for e in lines(r.out)]


@case
def a_file_gives_the_members_that_it_says():
    text = ("<urlset><url><loc>http://e.example/a</loc><lastmod>2026-11-03</lastmod><changefreq>daily</changefreq>"
            "<priority>0.8</priority></url><url><loc>http://e.example/b</loc></url></urlset>")
    r = seine("sitemap", "-", stdin=text)
    check((r.code, r.err), (0, ""))
    check(r.out.splitlines()[0], '{"loc":"http://e.example/a","lastmod":"2026-11-03","changefreq":"daily","priority":0.8,"source":"-","kind":"urlset"}')
    check(lines(r.out)[1], {"loc": "http://e.example/b", "source": "-", "kind": "urlset"})
    r = seine("sitemap", "-f", "text", "-", stdin=gzip.compress(text.encode()))
    check((r.code, r.err, r.out), (0, "", "http://e.example/a\nhttp://e.example/b\n"))


@case
def relative_urls_of_a_file_have_a_base():
    text = urlset("/a", "b?c", "//other.example/d", "https://e.example/e", "#f")
    check(locs("--base", "https://base.example/x/y", "-", stdin=text),
          ["https://base.example/a", "https://base.example/x/b?c", "https://other.example/d", "https://e.example/e", "https://base.example/x/y#f"])
    check(locs("-", stdin=text)[:2], ["/a", "b?c"])
    check(locs("--base", "https://base.example/", "-", stdin=index("/m.xml")), ["https://base.example/m.xml"])  # it is not followed
    with pages({"/m.xml": urlset("/a")}) as p:
        check(locs("--base", "https://base.example/", p.base + "/m.xml"), [p.base + "/a"])
    for base in ("nothing", "mailto:a@e.example"):
        r = seine("sitemap", "--base", base, "-", stdin=text)
        check((r.code, r.out, f"--base '{base}': not a URL" in r.err), (2, "", True), r.err)


@case
def cases_come_line_by_line():
    whole = "<urlset><url><loc>/a</loc><lastmod>2026-11-03</lastmod><changefreq>daily</changefreq><priority>0.5</priority></url><url><loc>b</loc></url></urlset>"
    first = {"loc": "/a", "lastmod": "2026-11-03", "changefreq": "daily", "priority": 0.5}
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "m.xml.gz")
        with gzip.open(path, "wb") as f:
            f.write(whole.encode())
        cases = [
            ({"id": 1, "sitemap": whole}, {"id": 1, "ok": True, "kind": "urlset", "entries": [first, {"loc": "b"}]}),
            ({"sitemap": whole, "since": "2026-11-01", "base": "https://e.example/x/"}, {"ok": True, "kind": "urlset", "entries": [{**first, "loc": "https://e.example/a"}]}),
            ({"sitemap_file": path}, {"ok": True, "kind": "urlset", "entries": [first, {"loc": "b"}]}),
            ({"sitemap": index("https://e.example/m.xml")}, {"ok": True, "kind": "index", "entries": [{"loc": "https://e.example/m.xml"}]}),
            ({"sitemap": whole[:-20]}, {"ok": True, "kind": "urlset", "entries": [first], "broken": "bad_xml: line 1: it ends too early"}),
            ({"sitemap": "https://e.example/1\n" * 50001}, {"ok": True, "kind": "text", "entries": [{"loc": "https://e.example/1"}] * 50000, "capped": True}),
            ({"id": "x", "sitemap": whole, "since": "soon"}, {"id": "x", "ok": False, "error": "'since' is no date"}),
            ({"sitemap": whole, "base": "x"}, {"ok": False, "error": "'base' is no URL"}),
            ({"base": "https://e.example/"}, {"ok": False, "error": "no member 'sitemap'"}),
            ({"sitemap": "", "what": 1}, {"ok": False, "error": "unknown member 'what'"}),
        ]
        r = seine("sitemap", "--jsonl", stdin="".join(json.dumps(given) + "\n" for given, _ in cases))
    check((r.code, r.err), (0, ""))
    for (given, want), got in zip(cases, lines(r.out), strict=True):
        check(got, want, str(given)[:120])
    for words in (["--jsonl", "-"], ["--jsonl", "--base", "https://e.example/"], []):
        check(seine("sitemap", *words).code, 2, str(words))


@case
def an_index_at_a_url_is_followed_in_order():
    with pages({}) as p:
        p.table.update({
            "/i": index(p.base + "/1.gz", "/2", p.base + "/1.gz"),
            "/1.gz": (200, {"Content-Type": "application/gzip"}, gzip.compress(urlset("http://e.example/a").encode())),
            "/2": (302, {"Location": "/feed/x"}, ""),
            "/feed/x": "<feed><entry><link href='b'/></entry></feed>",
        })
        r = seine("sitemap", p.base + "/i", "--host-rate", "100/s")
        check((r.code, r.err), (0, ""))
        check(lines(r.out), [{"loc": "http://e.example/a", "source": p.base + "/1.gz", "kind": "urlset"},
                             {"loc": p.base + "/feed/b", "source": p.base + "/2", "kind": "atom"}])
        check(sorted(p.asked), ["/1.gz", "/2", "/feed/x", "/i"])
        check(locs("--no-follow", p.base + "/i"), [p.base + "/1.gz", p.base + "/2", p.base + "/1.gz"])


@case
def an_index_in_a_file_is_not_followed():
    with counted("127.0.0.1") as c:
        r = seine("sitemap", "-", stdin=index(c.base + "/1"))
        check((r.code, lines(r.out)), (0, [{"loc": c.base + "/1", "source": "-", "kind": "index"}]))
        check(c.count, 0)


@case
def indexes_are_followed_five_deep_and_in_circles_once():
    with pages({}) as p:
        for i in range(8):
            p.table[f"/{i}"] = index(f"/{i + 1}", "/0", f"/p{i}")
            p.table[f"/p{i}"] = urlset(f"http://e.example/{i}")
        r = seine("sitemap", p.base + "/0", "--host-rate", "100/s")
        check([e["loc"] for e in lines(r.out)], [f"http://e.example/{i}" for i in range(5)])
        check((r.code, r.err), (0, f"seine: {p.base}/5: its index is 5 levels deep: not followed further\n"))
        check(seine("sitemap", "-q", p.base + "/0", "--host-rate", "100/s").err, "")
        check("/6" in p.asked, False)


@case
def a_host_that_only_a_sitemap_names_is_asked_at_public_addresses_only():
    with pages({"/m": urlset("http://e.example/a")}, "127.0.0.2") as other, pages({"/i": index(other.base + "/m")}) as p:
        r = seine("sitemap", p.base + "/i")
        check((r.code, r.out, other.asked), (1, "", []))
        check("blocked_address" in r.err, True, r.err)
        check(locs(p.base + "/i", "--allow-net", "127.0.0.2"), ["http://e.example/a"])


@case
def secrets_stay_with_the_hosts_that_were_typed():
    with origin() as far, pages({}) as p:
        for value in ("s3cr3t", "pa55"):  # at home with the first alone
            body = json.dumps({"value": value, "origin": p.base}).encode()
            urllib.request.urlopen(urllib.request.Request(far.url("/_chaos/secret"), data=body), timeout=PATIENCE).close()
        p.table["/i"] = index(far.url("/ok"))
        words = ["-H", "X-Key: s3cr3t", "--allow-net", "127.0.0.1", "-u", "me:pa55"]
        seine("sitemap", p.base + "/i", *words)
        check((len(far.log()), far.report()["leaks"]), (1, []))
        seine("sitemap", far.url("/ok"), *words)
        check(len(far.report()["leaks"]) > 0, True)  # it would have been seen


@case
def one_that_fails_does_not_stop_the_others():
    with pages({}) as p:
        p.table.update({"/i": index("/gone", "/html", "/cut", "/good"), "/html": "<html></html>",
                        "/cut": "<urlset><url><loc>http://e.example/1</loc></url><url>\n<loc>", "/good": urlset("http://e.example/2")})
        r = seine("sitemap", p.base + "/i", "--host-rate", "100/s")
        check((r.code, [e["loc"] for e in lines(r.out)]), (1, ["http://e.example/1", "http://e.example/2"]))
        check(r.err.splitlines()[1:], [f"seine: {p.base}/html: bad_xml: it is a page of HTML, no sitemap",
                                       f"seine: {p.base}/cut: bad_xml: line 2: it ends too early"])
        check(r.err.startswith(f"seine: {p.base}/gone: http: HTTP 404\n"), True, r.err)


@case
def hosts_are_asked_at_their_rate():
    with origin("--site", "1:400:sitemap=on:fan=8") as o:
        n = len(locs(o.base + "/sitemap.xml"))
        check(n, 400)
    with origin() as o, pages({}) as p:
        p.table["/i"] = index(*[f"/m{i}" for i in range(4)])
        p.table.update({f"/m{i}": urlset(f"http://e.example/{i}") for i in range(4)})
        start = time.monotonic()
        check(len(locs(p.base + "/i", "--host-rate", "10/s")), 4)
        check(time.monotonic() - start >= 0.4, True)  # five requests, four intervals of 100 ms


DATES = [
    # since, lastmod, is it there?
    ("2026-11-03", "2026-11-03", True),
    ("2026-11-03", "2026-11-02", False),
    ("2026-11-03", "2026-11", True),  # it may be
    ("2026-12", "2026-11", False),
    ("2026", "2026-01-01T00:00:00Z", True),
    ("2026", "2025-12-31T23:59:59.9Z", False),
    ("2026-11-03T12:00Z", "2026-11-03T13:00+01:00", True),
    ("2026-11-03T12:01Z", "2026-11-03T13:00+01:00", False),
    ("2026-11-03", "Tue, 03 Nov 2026 00:00:00 GMT", True),
    ("2026-11-03", "03 Nov 2026 00:00 +0100", False),
    ("2026-11-03", "yesterday", False),
    ("2026-11-03", "", False),
]


@rows(DATES, name=lambda row: f"{row[0]} {row[1]}")
def entries_are_chosen_by_their_date(since, lastmod, there):
    text = f"<urlset><url><loc>u</loc><lastmod>{lastmod}</lastmod></url></urlset>"
    check(locs("--since", since, "-", stdin=text), ["u"] if there else [])


@case
def what_an_index_calls_old_is_not_asked_for():
    with pages({}) as p:
        p.table["/i"] = ("<sitemapindex><sitemap><loc>/old</loc><lastmod>2025-01-01</lastmod></sitemap>"
                         "<sitemap><loc>/new</loc></sitemap></sitemapindex>")
        p.table["/new"] = "<urlset><url><loc>http://e.example/1</loc><lastmod>2026-11-05</lastmod></url></urlset>"
        check(locs("--since", "2026-11-01", p.base + "/i"), ["http://e.example/1"])
        check(p.asked, ["/i", "/new"])


WRONG = [
    (["nowhere.xml"], "cannot open 'nowhere.xml'"),
    (["http://"], "'http://' is no URL"),
    (["--since", "soon", "-"], "--since 'soon': not a date"),
    (["--timeout", "0", "-"], "--timeout '0'"),
    (["-f", "csv", "-"], "--format"),
    ([], "sitemap"),
]


@rows(WRONG, name=lambda row: " ".join(row[0]))
def what_cannot_work_is_said_before_anything_is_sent(words, what):
    r = seine("sitemap", *words)
    check((r.code, r.out), (2, ""))
    check(what in r.err and "try:" in r.err, True, r.err)


@case
def a_signal_ends_it_with_what_was_found():
    with origin() as slow, pages({}) as p:
        p.table["/m"] = urlset("http://e.example/1")
        run = subprocess.Popen([PROGRAM, "sitemap", p.base + "/m", slow.url("/delay:30s/ok")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment())
        first = run.stdout.readline()  # before it waits, it lets go what it has
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=PATIENCE)
        check((run.returncode, json.loads(first)["loc"], out, err), (130, "http://e.example/1", b"", b""))


@case
def a_file_of_more_than_50_000_urls_is_cut_and_noted():
    r = seine("sitemap", "-f", "text", "-", stdin="http://e.example/\n" * 50001)
    check((r.code, r.out.count("\n"), r.err),
          (0, 50000, "seine: -: sitemap_capped: only 50,000 URLs and 50 MiB of a file are read\n"))


@case
def fetch_takes_a_sitemap_or_a_page_as_its_list():
    with pages({"/a": "A", "/b": "B"}) as p, tempfile.TemporaryDirectory() as home:
        packed, page = os.path.join(home, "map.xml.gz"), os.path.join(home, "page")
        with open(packed, "wb") as f:
            f.write(gzip.compress(urlset(p.base + "/a", p.base + "/b").encode()))
        with open(page, "w", encoding="utf-8") as f:
            f.write("<a href=b>")
        r = seine("fetch", "-i", packed, "--mine")
        check((r.code, sorted(p.asked)), (0, ["/a", "/b"]))
        p.asked.clear()
        r = seine("fetch", "-i", page, "--input-format", "html", "--base", p.base)
        check((r.code, p.asked), (0, ["/b"]))
        r = seine("fetch", "-i", "-", stdin=f"<urlset><url><loc>{p.base}/a</loc></url>")
        check((r.code, "standard input:1: bad_xml: it ends too early" in r.err), (3, True), r.err)


def reference(data):
    """loc, lastmod, changefreq and priority of each entry, by Python's XML parser."""
    if not data.lstrip().startswith(b"<"):
        return [(line, None, None, None) for line in data.decode().split()]
    out = []
    for entry in tree.fromstring(data):
        said = {child.tag.split("}")[-1]: (child.text or "").strip() for child in entry}
        out.append((said["loc"], said.get("lastmod"), said.get("changefreq"), float(said["priority"]) if "priority" in said else None))
    return out


@case
@needs_vectors
def sitemaps_of_others_are_read_as_python_reads_them():
    home = os.path.join(VECTORS, "sitemaps")
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(home) for name in names if name != "ORIGIN.md")
    check(len(files) >= 4, True)
    for path in files:
        with open(path, "rb") as f:
            data = f.read()
        want = reference(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
        r = seine("sitemap", path)
        check((r.code, r.err), (0, ""), path)
        check([(e["loc"], e.get("lastmod"), e.get("changefreq"), e.get("priority")) for e in lines(r.out)], want, path)
        check(len(want) > 0, True, path)


finish(at_once=4)
