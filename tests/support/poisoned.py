# SPDX-License-Identifier: Apache-2.0
"""A server that sends bytes behind its responses, where the next response is expected.

    with poisoned("text", later=0.005) as p:
        run = p.fetch(200)
        check((run.broken, run.foreign), (0, 0))

Every third page is guilty: `later` seconds after its response the server sends bytes that belong to no request. All
other pages are innocent. `broken` counts the pages whose record has another status or an error, `foreign` those that
carry the answer to something else.
"""
import contextlib
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from e2e import PATIENCE, PROGRAM, environment
from request_heads import request_heads

SECOND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 8\r\nX-Page: none\r\n\r\nforeign\n"
TEXT = b"<p>and one more thing</p>"

# name: (method, status of a guilty page, framing, bytes behind it)
VARIANTS = {
    "204, announced": ("GET", 204, "length", TEXT),
    "204": ("GET", 204, "none", TEXT),
    "204, chunked": ("GET", 204, "chunked", b"5\r\nhello\r\n0\r\n\r\n"),
    "304, announced": ("GET", 304, "length", TEXT),
    "304": ("GET", 304, "none", TEXT),
    "HEAD, announced": ("HEAD", 200, "length", TEXT),
    "HEAD, chunked": ("HEAD", 200, "chunked", b"5\r\nhello\r\n0\r\n\r\n"),
    "HEAD": ("HEAD", 200, "none", TEXT),
    "one byte": ("GET", 200, "length", b"x"),
    "CRLF": ("GET", 200, "length", b"\r\n"),
    "text": ("GET", 200, "length", TEXT),
    "half a version": ("GET", 200, "length", b"HTTP/1."),
    "half a status line": ("GET", 200, "length", b"HTTP/1.1 20"),
    "half a reason": ("GET", 200, "length", b"HTTP/1.1 404 Not Fou"),
    "half a head": ("GET", 200, "length", b"HTTP/1.1 404 Not Found\r\nServer: x"),
    "a second response": ("GET", 200, "length", SECOND),
    "two more responses": ("GET", 200, "length", SECOND + SECOND),
    "a response without a length": ("GET", 200, "length", b"HTTP/1.1 404 Not Found\r\n\r\nforeign\n"),
    "last chunk, text": ("GET", 200, "chunked", TEXT),
    "last chunk, CRLF": ("GET", 200, "chunked", b"\r\n"),
    "last chunk, a second response": ("GET", 200, "chunked", SECOND),
}
# What is no crime: a server that waited too long for the next request says so, and closes.
LEAVERS = {"408 and close": ("GET", 200, "length", b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
           "close": ("GET", 200, "length", b"")}
MOMENTS = [(0, "with it"), (0.0003, "0.3 ms later"), (0.005, "5 ms later")]


class Run:
    def __init__(self, code, out, err, status_of):
        self.code, self.err = code, err
        records = [json.loads(line) for line in out.splitlines()]
        self.summary = records[-1]
        self.results = [r for r in records if r["type"] == "result"]
        self.broken = self.foreign = 0
        for r in self.results:
            n = int(r["url"].rsplit("/", 1)[1])
            page = ((r.get("headers") or {}).get("x-page") or [None])[0]
            if r.get("status") == 404 or page not in (None, str(n)):
                self.foreign += 1
            elif r.get("status") != status_of(n) or r.get("error") or page != str(n):
                self.broken += 1


class Poisoned:
    def __init__(self, variant, later, tls, every):
        self.method, self.guilty, self.framing, self.behind = (VARIANTS | LEAVERS)[variant]
        self.closes = variant in LEAVERS
        self.later, self.tls, self.every = later, tls, every
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.base = f"{'https' if tls else 'http'}://127.0.0.1:{self.socket.getsockname()[1]}"
        self.connections = self.requests = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def status_of(self, n):
        return self.guilty if n % self.every == 0 else 200

    def accept(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with contextlib.suppress(OSError), s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls:
                s = self.tls.wrap_socket(s, server_side=True)
            for head in request_heads(s):
                self.requests += 1
                n = int(re.match(rb"[A-Z]+ /(\d+) ", head)[1])
                self.answer(s, n)
                if self.closes and n % self.every == 0:
                    return

    def answer(self, s, n):
        guilty = n % self.every == 0
        status, body = self.status_of(n), b"page %d\n" % n
        framing = self.framing if guilty else "length"
        head = b"HTTP/1.1 %d X\r\nX-Page: %d\r\n" % (status, n)
        if framing == "length":
            head += b"Content-Length: %d\r\n" % len(self.behind if status in (204, 304) else body)
        elif framing == "chunked":
            head += b"Transfer-Encoding: chunked\r\n"
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        response = head + b"\r\n" + (b"" if self.method == "HEAD" or status != 200 else body)
        if guilty and self.later == 0:
            response += self.behind
        s.sendall(response)
        if guilty and self.later > 0:
            time.sleep(self.later)
            s.sendall(self.behind)

    def fetch(self, n, *words):
        """Fetches n pages, one at a time unless `words` say otherwise."""
        urls = "".join(f"{self.base}/{i}\n" for i in range(n))
        how = ["-I"] if self.method == "HEAD" else []
        if self.guilty == 304:
            how += ["-H", 'If-None-Match: "x"']
        how += ["--insecure"] if self.tls else []
        p = subprocess.run([PROGRAM, "fetch", "-j", "--mine", "-c", "1", "--progress", "off", "--fields", "+headers", "--accept", "2xx,304",
                            *how, *words, "-"], input=urls.encode(), capture_output=True, env=environment(), timeout=PATIENCE)
        return Run(p.returncode, p.stdout.decode(), p.stderr.decode(), self.status_of)


@contextlib.contextmanager
def certificate():
    """A server's side of TLS, with a certificate that nobody trusts."""
    with tempfile.TemporaryDirectory() as home:
        key, cert = os.path.join(home, "key.pem"), os.path.join(home, "cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-keyout", key, "-out", cert, "-days", "2"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        yield context


@contextlib.contextmanager
def poisoned(variant, later=0, tls=None, every=3):
    p = Poisoned(variant, later, tls, every)
    try:
        yield p
    finally:
        p.socket.close()
