#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`-v` shows one URL on the wire as curl does: names, addresses, TLS, requests, heads, waits and times, and no secret."""
import http.server
import os
import re
import ssl
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, free_port, seine  # noqa: E402
from secure_site import Authority  # noqa: E402
from terminal import Terminal  # noqa: E402


class Site(http.server.BaseHTTPRequestHandler):
    """/: a page · /go: a redirect to it · /busy: 503 once, then 200 · /evil: a head that would move a cursor"""
    protocol_version = "HTTP/1.1"
    busy = 0

    def do_GET(self):
        status = 200
        if self.path == "/busy":
            Site.busy += 1
            status = 503 if Site.busy == 1 else 200
        self.send_response(302 if self.path == "/go" else status, "OK\x1b[2J" if self.path == "/evil" else None)
        if self.path == "/go":
            self.send_header("Location", "/?from=go")
        self.send_header("X-Echo", self.headers.get("Authorization") or "nothing")
        self.send_header("Set-Cookie", "id=cookie-s3cret")
        if self.path == "/evil":
            self.send_header("X-Evil", "a\x1b]0;owned\x07b")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"body\n")

    do_POST = do_GET

    def log_message(self, *words):
        pass


def serve(tls=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


PORT = serve()
BASE = f"http://127.0.0.1:{PORT}"
FAST = ("--mine", "--progress", "off", "-w", "x")


def marked(err, mark):
    return [line[2:] for line in err.splitlines() if line.startswith(mark + " ")]


@case
def a_request_and_the_head_of_its_response_are_shown_between_their_circumstances():
    r = seine("-v", f"localhost:{PORT}/", *FAST, "--ipv4", "-H", "X-Mine: 1")
    check(r.code, 0, r.err)
    check(marked(r.err, "*")[:3], [f"http://localhost:{PORT}/", "addresses: 127.0.0.1", f"trying 127.0.0.1 port {PORT}"], r.err)
    check(marked(r.err, ">")[:2], ["GET / HTTP/1.1", f"Host: localhost:{PORT}"], r.err)
    check(marked(r.err, "<")[0], "HTTP/1.1 200 OK", r.err)
    check("X-Echo: nothing" in marked(r.err, "<"), True, r.err)
    check(re.match(r"dns .*, connect .*, tls .*, first byte .*, body .*, all .*", marked(r.err, "*")[-1]) is not None, True, r.err)
    order = "".join(line[0] for line in r.err.splitlines() if line[:2] in ("* ", "> ", "< "))
    check(re.fullmatch(r"\*+>+<+\*+", order) is not None, True, order)


@case
def secrets_are_redacted_wherever_they_stand():
    r = seine("fetch", "-v", BASE + "/", *FAST, "-H", "Authorization: Bearer env:WIRE_TOKEN", "-b", "k=typed-s3cret", env={"WIRE_TOKEN": "s3cret-token"})
    check("Authorization: REDACTED" in marked(r.err, ">"), True, r.err)
    check("Set-Cookie: REDACTED" in marked(r.err, "<"), True, r.err)
    check("s3cret" in r.err, False, r.err)


@case
def redirects_retries_and_refused_connections_are_told():
    r = seine("fetch", "-v", BASE + "/go", *FAST)
    check([line for line in marked(r.err, ">") if line.startswith("GET")], ["GET /go HTTP/1.1", "GET /?from=go HTTP/1.1"], r.err)
    check("Location: /?from=go" in marked(r.err, "<"), True, r.err)
    r = seine("fetch", "-v", BASE + "/busy", *FAST, "--backoff", "5ms..10ms")
    check(len([line for line in marked(r.err, ">") if line.startswith("GET")]), 2, r.err)
    check(any("trying again in" in line and "(backoff)" in line for line in marked(r.err, "*")), True, r.err)
    r = seine("fetch", "-v", f"http://127.0.0.1:{free_port()}/", *FAST, "--retries", "0")
    check("connect_refused: connection refused" in marked(r.err, "*"), True, r.err)


@case
def each_wait_is_told_with_its_reason():
    r = seine("fetch", "-v", *[f"{BASE}/?{i}" for i in range(3)], "--progress", "off", "-w", "x", "--host-rate", "10/s")
    told = [line for line in marked(r.err, "*") if line.startswith("waited")]
    check([re.sub(r"\d+", "N", line) for line in told], ["waited N ms for --host-rate"] * 2, r.err)
    check(all(int(re.search(r"\d+", line)[0]) >= 90 for line in told), True, told)  # of the first, and of both
    check(marked(r.err, "*")[marked(r.err, "*").index(told[0]) - 1], BASE + "/?1", "of which URL")
    r = seine("fetch", "-v", BASE + "/", BASE + "/?1", "--mine", "--progress", "off", "-w", "x", "--rate", "10/s")
    check([re.sub(r"\d+", "N", line) for line in marked(r.err, "*") if line.startswith("waited")], ["waited N ms for --rate"], r.err)


@case
def tls_shows_version_cipher_and_certificate_also_when_it_is_refused():
    with Authority() as ca:
        files = ca.certificate("site.example", "DNS:localhost")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*files)
        url = f"https://localhost:{serve(context)}/"
        r = seine("fetch", "-v", url, *FAST, "--cacert", ca.file)
        said = marked(r.err, "*")
        check(r.code, 0, r.err)
        check(any(re.match(r"TLSv1\.[23], \w+", line) for line in said), True, r.err)
        check("certificate for: CN=site.example" in said and "issued by: CN=test authority" in said, True, r.err)
        check(any(re.match(r"valid until: 20\d\d-\d\d-\d\d ", line) for line in said) and "certificate verified" in said, True, r.err)
        r = seine("fetch", "-v", url, *FAST, "--retries", "0")
        said = marked(r.err, "*")
        check(r.code, 1, r.err)
        check("certificate for: CN=site.example" in said and any(line.startswith("failed: ") for line in said), True, r.err)
        check("certificate not checked" in marked(seine("fetch", "-kv", url, *FAST).err, "*"), True)


@case
def nothing_of_the_web_moves_the_cursor():
    for words in (["-v", "-w", "x"], ["--include-headers"], ["--dump-header", "-", "-w", "x"]):
        t = Terminal(["fetch", BASE + "/evil", "--mine", "--color", "never", "--progress", "off", *words])
        t.wait()
        check("\x1b[2J" in t.text() or "\x1b]0;" in t.text(), False, repr(t.text()))
        check("owned" in t.text(), True, repr(t.text()))


@case
def heads_are_written_to_a_file_and_before_bodies():
    with tempfile.TemporaryDirectory() as here:
        path = os.path.join(here, "heads.txt")
        check(seine("fetch", BASE + "/go", *FAST, "--dump-header", path).code, 0)
        with open(path, "rb") as f:
            heads = f.read()
        check(re.findall(rb"^HTTP/1\.1 \d+", heads, re.M), [b"HTTP/1.1 302", b"HTTP/1.1 200"], heads)
        check(heads.endswith(b"\r\n\r\n") and b"s3cret" not in heads, True, heads)
        r = seine("fetch", BASE + "/", "--mine", "--dump-header", os.path.join(here, "no", "x"))
        check((r.code, "--dump-header: cannot write" in r.err), (2, True), r.err)
    r = seine("fetch", "--mine", "--include-headers", BASE + "/", BASE + "/?2")
    check(re.sub(r"\r\n", "\n", r.out).count("HTTP/1.1 200\n"), 2, r.out)
    check(r.out.count("\n\nbody\n") + r.out.count("\r\n\r\nbody\n"), 2, r.out)


@case
def many_urls_have_no_trace_and_without_v_nothing_is_told():
    r = seine("fetch", "-v", *(f"{BASE}/?{n}" for n in range(11)), *FAST)
    check(marked(r.err, ">"), [], r.err)
    check(marked(seine("fetch", BASE + "/", *FAST).err, ">"), [])


finish()
