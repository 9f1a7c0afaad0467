#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sitemaps and robots.txt that lead on and on: to new hosts, to each other, out of the scope, to where no link may go."""
import collections
import contextlib
import os
import re
import socket
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import QUICK, balanced, crawl  # noqa: E402
from e2e import PATIENCE, case, check, finish, needs_plain_memory, rows  # noqa: E402
from hostile import PATIENT  # noqa: E402


class Names(threading.Thread):
    """A name server to which every name is 127.0.0.1."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self.socket.getsockname()[1]}"

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                query, who = self.socket.recvfrom(512)
                end = query.index(b"\0", 12) + 5
                is_a = query[end - 4:end - 2] == b"\0\1"
                answer = b"\xc0\x0c\0\1\0\1" + struct.pack("!IH", 60, 4) + bytes([127, 0, 0, 1]) if is_a else b""
                self.socket.sendto(query[:2] + struct.pack("!HHHHH", 0x8180, 1, is_a, 0, 0) + query[12:end] + answer, who)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        host = self.headers["Host"].split(":")[0]
        with self.server.lock:
            self.server.asked.append(host + self.path)
        got = self.server.answer(host, self.path)
        status, fields, body = got if isinstance(got, tuple) else (200, {}, got)
        body = body.encode() if isinstance(body, str) else body
        self.send_response_only(status)
        for name, value in {"Content-Type": "text/plain", "Content-Length": str(len(body)), **fields}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


NAMES = Names()
NAMES.start()


@contextlib.contextmanager
def hosts(answer):
    """All hosts there are. `answer(port)` gives a function of host and path."""
    server = Server(("127.0.0.1", 0), Handler)
    server.asked, server.lock, server.port = [], threading.Lock(), server.server_address[1]
    server.answer = answer(server.port)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def of(answer, *words):
    with hosts(answer) as s:
        run = crawl(f"http://h0.evil.test:{s.port}/", *QUICK, "--dns", NAMES.place, "--allow-net", "127.0.0.0/8", "--concurrency", "16", "--retries", "0", *PATIENT, *words, timeout=PATIENCE)
    check(balanced(run), [], run.ending())
    return run, s.asked


def names(asked):
    return {one.split("/")[0] for one in asked}


def number(host):
    return int(re.match(r"h(\d+)\.", host).group(1))


def chain(robots):
    """Each host names a sitemap on the next one, in robots.txt."""
    def answer(port):
        def one(host, path):
            after = f"http://h{number(host) + 1}.evil.test:{port}/sitemap.xml"
            if path == "/robots.txt":
                return f"Sitemap: {after}\n{robots}"
            return "<urlset></urlset>" if path == "/sitemap.xml" else "<p>page"
        return one
    return answer


def indexes(port):
    """Each host names a sitemap on the next one, in robots.txt and in an index; sitemaps move to the host behind that."""
    def one(host, path):
        at = number(host)
        after = f"http://h{at + 1}.evil.test:{port}/sitemap.xml"
        if path == "/robots.txt":
            return f"Sitemap: {after}\n"
        if path == "/sitemap.xml" and at % 2:
            return 302, {"Location": after}, ""
        return f"<sitemapindex><sitemap><loc>{after}</loc></sitemap></sitemapindex>" if path == "/sitemap.xml" else "<p>page"
    return one


BIG = "User-agent: *\n" + "Allow: /x\n" * 50000  # as many rules as a robots.txt can have


@case
def sitemaps_of_other_hosts_are_out_of_scope():
    run, asked = of(chain(""), "--max-pages", "1")
    check((names(asked), run.code), ({"h0.evil.test"}, 0), run.ending())


@rows([("robots.txt", chain("")), ("indexes and redirects", indexes)])
def levels_are_counted_from_host_to_host(_, answer):
    run, asked = of(answer, "--max-pages", "1", "--scope", "domain")
    check(len(names(asked)) <= 13, True, f"{len(names(asked))} hosts {run.ending()}")
    check((run.code, "sitemaps" in run.summary.get("limits", {})), (4, True), run.ending())


def fan(n, robots=""):
    """One host names a sitemap on each of n others, and each of those has a page."""
    def answer(port):
        def one(host, path):
            if path == "/robots.txt":
                return (robots if number(host) else "") + "".join(f"Sitemap: http://h{i}.evil.test:{port}/sitemap.xml\n" for i in range(1, n + 1) if number(host) == 0)
            return f"<urlset><url><loc>http://{host}:{port}/page</loc></url></urlset>" if path == "/sitemap.xml" else "<p>page"
        return one
    return answer


@case
def sitemaps_count_against_max_subdomains():
    run, asked = of(fan(100), "--scope", "domain", "--max-subdomains", "20")
    check(len(names(asked)), 21, run.ending())
    check((run.code, run.summary.get("limits")), (4, {"sitemaps": 80}), run.ending())


@case
def a_crawl_reads_so_many_sitemaps_and_says_so():
    run, asked = of(fan(100), "--scope", "domain", "--max-sitemaps", "7")
    check(sum(one.endswith("/sitemap.xml") for one in asked), 7, run.ending())
    check((run.summary.get("limits"), run.code), ({"max_sitemaps": 94}, 0), run.ending())
    check("--max-sitemaps 7 is reached: 94 more not read" in run.err and "a larger --max-sitemaps, or off" in run.err, True, run.err)


@case
def a_crawl_reads_so_many_bytes_of_sitemaps_and_says_so():
    def answer(port):
        def one(host, path):
            if path == "/robots.txt":
                return "".join(f"Sitemap: /{i}.xml\n" for i in range(50))
            return f"<urlset><!--{'x' * 100000}--></urlset>" if path.endswith(".xml") else "<p>page"
        return one
    run, asked = of(answer, "--max-sitemap-bytes", "300k", "--per-host", "1")
    n = sum(one.endswith(".xml") for one in asked)
    check(3 <= n <= 5, True, str(n))
    check((run.summary.get("limits"), run.code), ({"max_sitemap_bytes": 51 - n}, 0), run.ending())
    check("--max-sitemap-bytes 300" in run.err and "a larger --max-sitemap-bytes, or off" in run.err, True, run.err)


@case
def rules_of_many_hosts_stay_within_their_memory():
    """40 files of 512 KiB would be 120 MB of rules. They have 8, take turns, and no page is lost."""
    run, asked = of(fan(40, BIG), "--scope", "domain", "--max-memory", "64M", "--accept-type", "*/*")
    check(collections.Counter(one.split("/", 1)[1] for one in asked)["page"], 41, run.ending())
    needs_plain_memory()
    check(run.peak_mb < 90, True, run.ending())


@case
def rules_of_others_hold_no_memory():
    others = "".join(f"User-agent: a{i}\nDisallow: /\n" for i in range(20000))
    run, asked = of(fan(120, others), "--scope", "domain", "--max-memory", "64M", "--threads", "1")
    check(len(names(asked)), 121, run.ending())
    needs_plain_memory()
    check(run.peak_mb < 100, True, run.ending())


def named(text):
    def answer(port):
        table = {"h0.evil.test/robots.txt": text.replace("PORT", str(port)), "h0.evil.test/moves.xml": (302, {"Location": f"http://other.test:{port}/m.xml"}, "")}
        return lambda host, path: table.get(host + path, "")
    return answer


@rows([
    ("excluded", "/private/map.xml", ("--exclude", "private"), {"h0.evil.test/sitemap.xml"}),
    ("the usual one, excluded", "/a.xml", ("--exclude", "sitemap"), {"h0.evil.test/a.xml"}),
    ("a port of another protocol", "http://h0.evil.test:25/map.xml", ("--scope", "any"), {"h0.evil.test/sitemap.xml"}),
    ("no web", "ftp://h0.evil.test/map.xml", ("--scope", "any"), {"h0.evil.test/sitemap.xml"}),
    ("a file", "file:///etc/passwd", ("--scope", "any"), {"h0.evil.test/sitemap.xml"}),
    ("no scheme", "javascript:alert(1)", ("--scope", "any"), {"h0.evil.test/sitemap.xml"}),
    ("another domain", "http://other.test:PORT/map.xml", ("--scope", "domain"), {"h0.evil.test/sitemap.xml"}),
    ("a redirect to another domain", "/moves.xml", ("--scope", "domain"), {"h0.evil.test/sitemap.xml", "h0.evil.test/moves.xml"}),
    ("a redirect in scope", "/moves.xml", ("--scope", "any"), {"h0.evil.test/sitemap.xml", "h0.evil.test/moves.xml", "other.test/m.xml"}),
    ("a name of the same site", "http://www.h0.evil.test:PORT/map.xml", (), {"h0.evil.test/sitemap.xml", "www.h0.evil.test/map.xml"}),
    ("above the directory of the scope", "/a/map.xml", ("--scope", "prefix"), {"h0.evil.test/sitemap.xml", "h0.evil.test/a/map.xml"}),
    ("not included, as a page need be", "/map.xml", ("--include", "page"), {"h0.evil.test/sitemap.xml", "h0.evil.test/map.xml"}),
    ("empty", "", (), {"h0.evil.test/sitemap.xml"}),
])
def a_sitemap_passes_the_rules_for_links(_, url, words, want):
    _, asked = of(named(f"Sitemap: {url}\n"), *words)
    check({one for one in asked if one.endswith(".xml")}, want)


finish()
