# SPDX-License-Identifier: Apache-2.0
"""A web server of given pages, on any loopback address, that remembers what it was asked; and a port that only counts.

    with pages({"/": '<a href="/a">', "/a": (404, {}, "")}) as p:
        crawl(p.base + "/")
        check(p.asked, ["/robots.txt", "/", "/a"])

A page is text, bytes, (status, headers, body) or a function of the path that gives one of these; a path that
is not there is 404. The key "*" answers for all of those.
"""
import contextlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, table, address):
        self.table, self.asked = table, []
        super().__init__((address, 0), Handler)
        self.base = f"http://{address}:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # a client that goes away is what is tested


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16

    def setup(self):
        super().setup()
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_GET(self):
        self.server.asked.append(self.path)
        page = self.server.table.get(self.path, self.server.table.get("*", (404, {}, "")))
        page = page(self.path) if callable(page) else page
        status, headers, body = page if isinstance(page, tuple) else (200, {}, page)
        body = body.encode() if isinstance(body, str) else body
        self.send_response_only(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def pages(table, address="127.0.0.1"):
    server = Server(table, address)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Counter:
    """Takes connections on an address and closes them; `count` says how many came."""

    def __init__(self, address):
        self.socket = socket.create_server((address, 0), backlog=64)
        self.base, self.count = f"http://{address}:{self.socket.getsockname()[1]}", 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            c.close()

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


@contextlib.contextmanager
def counted(address):
    c = Counter(address)
    try:
        yield c
    finally:
        c.end()
