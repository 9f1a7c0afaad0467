#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follow these, keep those: only the PDFs of a site are one command."""
import http.server
import json
import os
import sqlite3
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402
from terminal import Terminal  # noqa: E402

HTML, PDF, ZIP = "text/html", "application/pdf", "application/zip"
SITE = {
    "/": (HTML, "<a href=/docs/>docs</a><a href=/blog/>blog</a><a href=/a.pdf>a</a><a href=/x.zip>zip</a>"),
    "/docs/": (HTML, "<a href=/docs/b.pdf?v=1>b</a><a href=/download/7>c</a><a href=/gone.pdf>gone</a>"),
    "/blog/": (HTML, "<a href=/blog/d.pdf>d</a>"),
    "/a.pdf": (PDF, "%PDF-a"),
    "/docs/b.pdf?v=1": (PDF, "%PDF-b"),
    "/download/7": (PDF, "%PDF-c"),  # no ending says what it is
    "/blog/d.pdf": ("application/octet-stream", "%PDF-d"),  # no type says so
    "/x.zip": (ZIP, "PK" + "x" * 1000),
}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        kind, text = SITE.get(self.path, (HTML, "no"))
        self.send_response(200 if self.path in SITE else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
BASE = f"http://127.0.0.1:{server.server_port}"
WORDS = ("crawl", BASE + "/", "--mine", "--sitemap", "off", "--progress", "off", "--fail-on", "none")


def paths(out):
    return sorted(r["url"][len(BASE):] for r in map(json.loads, out.splitlines()) if r["type"] != "summary")


@rows([
    ([PDF], ["/a.pdf", "/docs/b.pdf?v=1", "/download/7"]),
    (["\\.pdf($|\\?)"], ["/a.pdf", "/blog/d.pdf", "/docs/b.pdf?v=1", "/gone.pdf"]),
    (["\\.pdf($|\\?)", PDF], ["/a.pdf", "/blog/d.pdf", "/docs/b.pdf?v=1", "/download/7", "/gone.pdf"]),
    (["application/*"], ["/a.pdf", "/blog/d.pdf", "/docs/b.pdf?v=1", "/download/7", "/x.zip"]),
], name=lambda row: " ".join(row[0]))
def keep_writes_these_pages_and_no_record_of_others(keep, want):
    r = seine(*WORDS, *(w for k in keep for w in ("--keep", k)), "-j")
    check((r.code, paths(r.out)), (0, sorted(want)), r.err)
    check("done: " in r.err and json.loads(r.out.splitlines()[-1])["total"] >= 8, True, "all pages are counted")


@case
def only_the_pdfs_of_a_site_are_saved_and_listed_in_every_output():
    with tempfile.TemporaryDirectory() as here:
        r = seine(*WORDS, "--keep", PDF, "--save", "pdfs", "-o", "a.jsonl", "-o", "a.sqlite", cwd=here)
        check(r.code, 0, r.err)
        saved = [open(os.path.join(at, name), "rb").read() for at, _, names in os.walk(os.path.join(here, "pdfs")) for name in names]
        check(sorted(saved), [b"%PDF-a", b"%PDF-b", b"%PDF-c"])
        base = sqlite3.connect(os.path.join(here, "a.sqlite"))
        check(base.execute("SELECT count(*) FROM result").fetchone(), (3,))
        base.close()
        check("failed: 404, 1 URL" in r.err, True, "what failed is said all the same: " + r.err)


@case
def follow_says_where_links_are_looked_for():
    r = seine(*WORDS, "--follow", "/docs/", "--keep", "\\.pdf", "-j")
    check(paths(r.out), ["/a.pdf", "/docs/b.pdf?v=1", "/gone.pdf"], r.err)
    r = seine(*WORDS, "--follow", "/docs/", "--include", "x", "-j")
    check((r.code, r.err.splitlines()[1]), (2, "try: one of the two"), r.err)


@case
def a_pattern_that_is_none_is_refused_and_the_table_shows_what_is_kept():
    r = seine(*WORDS, "--keep", "*.pdf")
    check((r.code, r.out, r.err.splitlines()[1]), (2, "", "try: a regular expression: --keep '^[^?#]*/[^/?#]*\\.pdf([?#].*)?$'"), r.err)
    t = Terminal([*WORDS, "--no-job", "--keep", PDF])
    check(t.wait(), 0)
    check(sum(line.startswith("200  ") for line in t.screen()), 3, "\n".join(t.screen()))


finish()
