# SPDX-License-Identifier: Apache-2.0
"""A web server of given pages, on any loopback address, that remembers what it was asked; and a port that only counts.

    with pages({"/": '<a href="/a">', "/a": (404, {}, "")}) as p:
        crawl(p.base + "/")
        check(p.asked, ["/robots.txt", "/", "/a"])

A page is text, bytes, (status, headers, body) or a function of the path that gives one of these; a path that
is not there is 404. The key "*" answers for all of those.
"""
import contextlib
import http.client
import socket
import socketserver
import threading


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, table, address):
        self.table, self.asked = table, []
        super().__init__((address, 0), Handler)
        self.base = f"http://{address}:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # a client that goes away is what is tested


class Handler(socketserver.StreamRequestHandler):
    """Reads a request line, passes over the fields, and answers in one write: several times as quick as http.server, which reads fields as mail."""
    disable_nagle_algorithm = True

    def handle(self):
        while words := self.rfile.readline(65536).split():
            while self.rfile.readline(65536) not in (b"\r\n", b"\n", b""):
                pass
            if not self.answer(*words[:2]):
                return

    def answer(self, method, target):
        """Whether the connection may be used again."""
        path = target.decode("iso-8859-1")
        self.server.asked.append(path)
        page = self.server.table.get(path, self.server.table.get("*", (404, {}, ""))) if method == b"GET" else (501, {}, "")
        page = page(path) if callable(page) else page
        status, headers, body = page if isinstance(page, tuple) else (200, {}, page)
        body = body.encode() if isinstance(body, str) else body
        fields = {"Content-Type": "text/html", "Content-Length": len(body), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        self.wfile.write(f"HTTP/1.1 {status} {http.client.responses.get(status, '')}\r\n{head}\r\n".encode("iso-8859-1") + body)
        return str(fields.get("Connection", "")).lower() != "close"


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
