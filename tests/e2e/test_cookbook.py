#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/user/cookbook.md, as they stand there, do what the page says: two small sites with TLS answer for its names."""
import collections
import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, check, environment, finish, rows, until  # noqa: E402
from secure_site import Authority, Proxy, Site, SiteHandler, read_head  # noqa: E402

with open(os.path.join(ROOT, "docs", "user", "cookbook.md"), encoding="utf-8") as f:
    RECIPES = re.findall(r"^## (\d+)\. ([^\n]+)\n.*?^```sh site\n(.*?)^```$", f.read(), re.M | re.S)
HTML = {"Content-Type": "text/html; charset=utf-8"}
PDF = b"%PDF-1.4\n%%EOF\n"
PIXEL = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
DOCS = {
    "/": ("Docs", '<a href="/manual/">manual</a> <a href="/prices.html">prices</a> <a href="/paper.pdf">paper</a> <a href="/gone.html">gone</a>'),
    "/manual/": ("Manual", '<link rel="stylesheet" href="style.css"><img src="/manual/dot.gif"><a href="one.html#top">one</a> <a href="/">home</a>'),
    "/manual/one.html": ("One", '<h1 id="top">One</h1><a href="./">up</a>'),
    "/prices.html": ("Prices", "<table><tr><th>fish<th>price<tr><td>cod<td>3<tr><td>eel<td>5</table>"),
}
BLOG = {"/": ("Blog", '<a href="/post.html">post</a>'), "/post.html": ("Post", "words")}
ANSWERED = {"docs.example": {"/", "/manual/", "/manual/one.html", "/prices.html"}, "blog.example": {"/", "/post.html"}}


def pages_of(site):
    return {path: (200, HTML, f"<!doctype html><title>{title}</title>{body}".encode()) for path, (title, body) in site.items()}


SITES = {"docs.example": pages_of(DOCS), "blog.example": pages_of(BLOG)}
SITES["docs.example"].update({
    "/paper.pdf": (200, {"Content-Type": "application/pdf"}, PDF),
    "/manual/style.css": (200, {"Content-Type": "text/css"}, b"body{background:url(dot.gif)}"),
    "/manual/dot.gif": (200, {"Content-Type": "image/gif"}, PIXEL),
    "/sitemap.xml": (200, {"Content-Type": "application/xml"},
                     b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://docs.example/prices.html</loc></url></urlset>'),
})


class Handler(SiteHandler):
    """Knows several names, the API, and a page for those who have the token."""

    def speak(self, tls, stream):
        while head := read_head(stream):
            method, path = head[0].split(" ")[:2]
            fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:])}
            body = stream.read(int(fields.get("content-length", 0)))
            self.server.seen.append((fields["host"], path))
            if path == "/prices.html" and getattr(self.server, "holds", None):
                self.server.holds.wait(PATIENCE)
            status, extra, text = self.answer(method, path, fields, body)
            lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(text)}", 'ETag: "1"'] + [f"{n}: {v}" for n, v in extra.items()]
            tls.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if method == "HEAD" else text))

    def answer(self, method, path, fields, body):
        if (method, path, fields.get("content-type")) == ("POST", "/api", "application/json"):
            return 200, {"Content-Type": "application/json"}, json.dumps({"hello": json.loads(body)["name"]}).encode()
        if path == "/private":
            good = fields.get("authorization") == "Bearer secret-token"
            return (200, {"Content-Type": "text/plain"}, b"welcome\n") if good else (401, {}, b"")
        return SITES.get(fields["host"], {}).get(path, (404, HTML, b"no such page"))


Ran = collections.namedtuple("Ran", "code out err files folder seen proxied")


def cut(script, folder, env, site):
    """Runs a command until the second page is asked for, then types Ctrl-C."""
    site.holds = threading.Event()
    p = subprocess.Popen(["sh", "-c", f"exec {script}"], cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: ("docs.example", "/prices.html") in site.seen, "the page that waits")
    os.killpg(p.pid, signal.SIGINT)
    time.sleep(0.1)
    site.holds.set()
    check(p.wait(timeout=PATIENCE), 130)
    site.seen.clear()


def run(script, folder, is_cut=False):
    with Authority() as ca, Site(ca.certificate("docs.example", "DNS:docs.example", "DNS:blog.example"), {}) as site, Proxy(site.port) as proxy:
        site.RequestHandlerClass = Handler
        with open(os.path.join(folder, "urls.txt"), "w", encoding="utf-8") as out:
            out.write("https://docs.example/manual/one.html\nhttps://docs.example/prices.html\nhttps://blog.example/post.html\n")
        env = environment({"PATH": f"{os.path.abspath(BUILD)}:/usr/local/bin:/usr/bin:/bin", "https_proxy": proxy.url, "SEINE_CACERT": ca.file, "SEINE_MINE": "1", "SEINE_DURABILITY": "full",
                           "HOME": folder})
        script = script.replace("http://proxy.example:3128", proxy.url)
        if is_cut:
            cut(script, folder, env, site)
        p = subprocess.run(["sh", "-c", script], cwd=folder, env=env, capture_output=True, text=True, timeout=PATIENCE)
        files = {os.path.relpath(os.path.join(d, name), folder): os.path.join(d, name) for d, _, names in os.walk(folder) for name in names}
        return Ran(p.returncode, p.stdout, p.stderr, files, folder, list(site.seen), list(proxy.asked))


def table(path):
    with open(path, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def records(path):
    with open(path, encoding="utf-8") as lines:
        return [r for r in map(json.loads, lines) if r["type"] == "result"]


def got(urls, *hosts):
    check(set(urls) >= {f"https://{host}{path}" for host in hosts for path in ANSWERED[host]}, True, str(sorted(urls)))


def text(path, mode="r"):
    with open(path, mode) as stream:
        return stream.read()


def list_into_table(r):
    check([(row["status"], row["title"]) for row in sorted(table(r.files["pages.csv"]), key=lambda row: row["title"])],
          [("200", "One"), ("200", "Post"), ("200", "Prices")])


def titles(r):
    check(sorted(r.out.splitlines()), ["One", "Post", "Prices"])


def files(r):
    check(sorted(name for name in r.files if name.startswith("pages/")), ["pages/one.html", "pages/post.html", "pages/prices.html"])
    check("<title>One</title>" in text(r.files["pages/one.html"]), True)


def mirror(r):
    copy = {name: path for name, path in r.files.items() if name.endswith(("one.html", "index.html", "style.css", "dot.gif")) and ".seine" not in name}
    check(sorted(os.path.basename(name) for name in copy), ["dot.gif", "index.html", "one.html", "style.css"])
    check('href="one.html#top"' in text(next(path for name, path in copy.items() if name.endswith("manual/index.html"))), True)


def broken(r):
    check("https://docs.example/gone.html" in r.out and "404" in r.out, True, r.out)


def posted(r):
    check(r.out.strip(), '{"hello": "Ada"}')


def token(r):
    check(r.out, "welcome\n")
    check("secret-token" in r.out + r.err, False)


def whole_crawl(r):
    urls = [x["url"] for x in records(r.files["docs.jsonl"])]
    got(urls, "docs.example")
    check(len(urls), len(set(urls)))
    check(("docs.example", "/") in r.seen, False, "it was asked for again")


def slowly(r):
    starts = sorted(x["ts"] for x in records(r.files["slow.jsonl"]))
    check(len(starts), 3)


def both(r):
    got([row["url"] for row in table(r.files["both.csv"])], "docs.example", "blog.example")


def papers(r):
    kept = [path for name, path in r.files.items() if name.startswith("papers/")]
    check([(path.endswith(".pdf"), text(path, "rb")) for path in kept], [(True, PDF)])
    check([row["url"] for row in table(r.files["papers.csv"])], ["https://docs.example/paper.pdf"])


def prices(r):
    check(text(r.files["prices.csv"]), "fish,price\ncod,3\neel,5\n")


def asked_sqlite(r):
    check({line.split("|")[0]: int(line.split("|")[1]) for line in r.out.splitlines() if line[0].isdigit()}["404"], 1)


def archive(r):
    with gzip.open(r.files["docs.warc.gz"]) as f:
        held = f.read()
    check((b"WARC-Target-URI: https://docs.example/paper.pdf" in held, PDF in held), (True, True), str(re.findall(rb"Target-URI: .*", held)))


def named(r):
    check(sorted(row["url"] for row in table(r.files["named.csv"])), ["https://docs.example/", "https://docs.example/prices.html"])


def piped(r):
    check(r.out, "gone: https://docs.example/gone.html\n")


def ci(r):
    check((r.out, r.err.count("\n") <= 3), ("", True), r.err)
    cases = xml.etree.ElementTree.parse(r.files["links.xml"]).getroot().iter("testcase")
    check(any(case.find("failure") is not None for case in cases), True)


def through(r):
    check(r.proxied, ["docs.example:443"])


def wire(r):
    for words in ("GET / HTTP/1.1", "HTTP/1.1 200", "TLSv1"):
        check(words in r.err, True, r.err)


def unchecked(r):
    check("not checked" in r.err or "no certificate" in r.err, True, r.err)


CHECKS = {1: list_into_table, 2: titles, 3: files, 4: mirror, 5: broken, 6: posted, 7: token, 8: whole_crawl, 9: slowly, 10: both, 11: papers, 12: prices,
          13: asked_sqlite, 14: archive, 15: named, 16: piped, 17: ci, 18: through, 19: wire, 20: unchecked}
FAILS = {5: 1, 8: 1, 10: 1, 11: 1, 13: 0, 14: 1, 17: 1}  # a link of the site is broken, and these say so


@rows([(int(number), title, script) for number, title, script in RECIPES], name=lambda row: f"{row[0]} {row[1]}")
def a_recipe_does_what_it_says(number, _, script):
    with tempfile.TemporaryDirectory() as folder:
        r = run(script, folder, is_cut=number == 8)
        check(r.code, FAILS.get(number, 0), r.err[-2000:])
        CHECKS[number](r)


@rows([(20,)])
def there_are_as_many_recipes(count):
    check([int(number) for number, _, _ in RECIPES], list(range(1, count + 1)))


finish(at_once=2)
