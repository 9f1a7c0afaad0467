# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/user/cookbook.md, and small sites with TLS that answer for its names.

    with sites() as there, tempfile.TemporaryDirectory() as folder:
        ran = there.run("seine fetch https://docs.example/", folder)

A proxy leads every name to the sites, and the environment of a command names it. The folder
of a command has urls.txt, and the program is the one of BUILD.
"""
import collections
import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
import zlib

from e2e import BUILD, PATIENCE, ROOT, check, environment, until
from secure_site import Authority, Proxy, Site, SiteHandler, read_head
from shop_pages import BLOG as ARTICLES, SHOP, TIDES, events

with open(os.path.join(ROOT, "docs", "user", "cookbook.md"), encoding="utf-8") as f:
    RECIPES = [(int(number), title, script) for number, title, script in
               re.findall(r"^## (\d+)\. ([^\n]+)\n.*?^```sh site\n(.*?)^```$", f.read(), re.M | re.S)]
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


def pages_of(site):
    return {path: (200, HTML, f"<!doctype html><title>{title}</title>{body}".encode()) for path, (title, body) in site.items()}


SITES = {"docs.example": {**pages_of(DOCS), **TIDES}, "blog.example": {**pages_of(BLOG), **ARTICLES}, "shop.example": SHOP}
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
            lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(text)}", f'ETag: "{zlib.crc32(path.encode())}"'] + [f"{n}: {v}" for n, v in extra.items()]
            tls.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (b"" if method == "HEAD" else text))

    def answer(self, method, path, fields, body):
        if (method, path, fields.get("content-type")) == ("POST", "/api", "application/json"):
            return 200, {"Content-Type": "application/json"}, json.dumps({"hello": json.loads(body)["name"]}).encode()
        if path == "/private":
            good = fields.get("authorization") == "Bearer secret-token"
            return (200, {"Content-Type": "text/plain"}, b"welcome\n") if good else (401, {}, b"")
        if answer := events(path, fields):
            return answer
        return SITES.get(fields["host"], {}).get(path, (404, HTML, b"no such page"))


Ran = collections.namedtuple("Ran", "code out err files seen proxied seconds cpu")


class Sites:
    def __init__(self, ca, site, proxy, straight):
        self.ca, self.site, self.proxy, self.straight = ca, site, proxy, straight

    def environment(self, folder):
        """That of a command: who signed the certificates, how the sites are reached, and that they are one's own."""
        return environment({"PATH": f"{os.path.abspath(BUILD)}:/usr/local/bin:/usr/bin:/bin", "HOME": folder, "SEINE_CACERT": self.ca.file,
                            "CURL_CA_BUNDLE": self.ca.file, "SEINE_MINE": "1", "SEINE_DURABILITY": "full",
                            **({} if self.straight else {"https_proxy": self.proxy.url})})

    def cut(self, script, folder):
        """Runs a command until the second page is asked for, then types Ctrl-C."""
        self.site.holds = threading.Event()
        self.site.seen.clear()
        p = subprocess.Popen(["sh", "-c", f"exec {script}"], cwd=folder, env=self.environment(folder), stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, start_new_session=True)
        until(lambda: ("docs.example", "/prices.html") in self.site.seen or p.poll() is not None, "the page that waits")
        os.killpg(p.pid, signal.SIGINT)
        time.sleep(0.1)
        self.site.holds.set()
        check(p.wait(timeout=PATIENCE), 130)

    def run(self, script, folder, is_cut=False):
        """Runs a script in the folder and returns what came of it; is_cut: once until Ctrl-C, then again."""
        with open(os.path.join(folder, "urls.txt"), "w", encoding="utf-8") as out:
            out.write("https://docs.example/manual/one.html\nhttps://docs.example/prices.html\nhttps://blog.example/post.html\n")
        script = script.replace("http://proxy.example:3128", self.proxy.url)
        if is_cut:
            self.cut(script, folder)
        self.site.seen.clear()
        self.proxy.asked.clear()
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        p = subprocess.run(["sh", "-c", script], cwd=folder, env=self.environment(folder), capture_output=True, text=True, timeout=PATIENCE)
        seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime  # of this command, if no other one runs
        files = {os.path.relpath(os.path.join(d, name), folder): os.path.join(d, name) for d, _, names in os.walk(folder) for name in names}
        return Ran(p.returncode, p.stdout, p.stderr, files, list(self.site.seen), list(self.proxy.asked), seconds, cpu)


@contextlib.contextmanager
def sites(straight=False):
    """straight: the names lead to loopback here and port 443 is to be had, so that no proxy is needed."""
    with Authority() as ca, Site(ca.certificate("docs.example", "DNS:docs.example", "DNS:blog.example", "DNS:shop.example"), {}, port=443 if straight else 0) as site, \
            Proxy(site.port) as proxy:
        site.RequestHandlerClass = Handler
        yield Sites(ca, site, proxy, straight)
