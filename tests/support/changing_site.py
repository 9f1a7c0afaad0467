# SPDX-License-Identifier: Apache-2.0
"""A site that changes between visits, knows what each visit asked for, and answers conditional requests.

    with changing_site({"/": Page("root", links=["/a"]), "/a": Page("a")}) as site:
        crawl(site.base + "/")
        site.edit("/a", words="other words")
        site.asked        what was asked since the last call of forget(): Request(path, fields, status, sent)

A page has an ETag of its bytes and a Last-Modified; `validators` says which of them are sent. `status` makes it fail,
`to` makes it a redirect.
"""
import collections
import contextlib
import email.utils
import hashlib
import http.client
import socketserver
import threading
import time

Request = collections.namedtuple("Request", "path fields status sent")


class Page:
    def __init__(self, words="", links=(), status=200, to=None, validators="etag date", fields=(), modified=None, size=0, kind="text/html"):
        self.words, self.links, self.status, self.to = words, list(links), status, to
        self.validators, self.fields, self.size, self.kind = validators, dict(fields), size, kind
        self.modified = modified if modified is not None else time.time() - 86400

    def body(self):
        links = "".join(f'<a href="{link}">{link}</a>\n' for link in self.links)
        text = f"<!doctype html><title>{self.words[:20]}</title><p>{self.words}</p>\n{links}" if self.kind == "text/html" else self.words
        return (text + "<!-- " + "x" * (self.size - len(text) - 9) + " -->" if self.size > len(text) + 9 else text).encode()


class Site(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, table, address):
        self.table, self.asked, self.lock = dict(table), [], threading.Lock()
        super().__init__((address, 0), Handler)
        self.port = self.server_address[1]
        self.base = f"http://{address}:{self.port}"

    def handle_error(self, request, client_address):
        pass  # a client that was killed

    def edit(self, path, **members):
        page = self.table.setdefault(path, Page())
        for name, value in members.items():
            setattr(page, name, value)
        page.modified = members.get("modified", time.time() - 3600)

    def remove(self, path):
        del self.table[path]

    def forget(self):
        with self.lock:
            self.asked = []

    def paths(self):
        """What was asked for of pages, as often as it was."""
        with self.lock:
            return sorted(r.path for r in self.asked if r.path not in ("/robots.txt", "/sitemap.xml"))

    def bytes(self):
        with self.lock:
            return sum(r.sent for r in self.asked)


class Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self):
        while words := self.rfile.readline(65536).split():
            fields = {}
            while (line := self.rfile.readline(65536)) not in (b"\r\n", b"\n", b""):
                name, _, value = line.decode("iso-8859-1").partition(":")
                fields[name.strip().lower()] = value.strip()
            self.answer(words[1].decode("iso-8859-1"), fields)

    def answer(self, path, fields):
        page = self.server.table.get(path, Page("no such page", status=404, validators=""))
        page = page(path, fields) if callable(page) else page
        body, status = page.body(), page.status
        head = {"Content-Type": page.kind, "Date": email.utils.formatdate(usegmt=True), **page.fields}
        etag, date = f'"{hashlib.sha1(body).hexdigest()}"', email.utils.formatdate(page.modified, usegmt=True)
        if "etag" in page.validators:
            head["ETag"] = etag
        if "date" in page.validators:
            head["Last-Modified"] = date
        if page.to:
            status, body = 301, b""
            head["Location"] = page.to
        if status == 200 and self.matches(page, fields, etag, date):
            status, body = 304, b""
            del head["Content-Type"]
        else:
            head["Content-Length"] = len(body)
        text = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        data = f"HTTP/1.1 {status} {http.client.responses.get(status, '')}\r\n{text}\r\n".encode("iso-8859-1") + body
        with self.server.lock:
            self.server.asked.append(Request(path, fields, status, len(data)))
        self.wfile.write(data)

    @staticmethod
    def matches(page, fields, etag, date):
        if "if-none-match" in fields:
            return "etag" in page.validators and fields["if-none-match"] == etag
        return "date" in page.validators and fields.get("if-modified-since") == date


@contextlib.contextmanager
def changing_site(table, address="127.0.0.1"):
    site = Site(table, address)
    threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
