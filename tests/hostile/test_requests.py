#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests to `seine gate`: what is no HTTP, what two readers would frame differently, forged and endless fields, clients
that send slowly, stop in the middle or never read. Each gets its status or its end; the others are served meanwhile."""
import os
import re
import resource
import socket
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SANITIZED, case, check, finish, rows, until  # noqa: E402
from gate import Gate, gate  # noqa: E402
from hostile import ENOUGH  # noqa: E402

GET = b"GET /check HTTP/1.1\r\nHost: a\r\n"
ENDLESS = ("--rate", "1000000/s")


def dial(g):
    return socket.create_connection(("127.0.0.1", g.port), ENOUGH)


def answers(s):
    """All that comes until the end of the connection."""
    got = b""
    try:
        while more := s.recv(65536):
            got += more
    except ConnectionResetError:
        pass
    return got


def statuses(got):
    return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d+) ", got)]


ATTACKS = {
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", [400]),
    "http/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [505]),
    "noise": (bytes(range(256)) * 64, [400]),
    "an endless line": (b"GET /" + b"a" * 100000, [414]),
    "endless fields": (GET + b"X: y\r\n" * 10000, [431]),
    "an endless field": (GET + b"X-Forwarded-For: " + b"1.2.3.4, " * 20000, [431]),
    "a body without end": (b"POST /check HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n", [413]),
    "a negative length": (b"POST /check HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", [400]),
    "two lengths": (b"POST /check HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n" + GET + b"\r\n", [400]),
    "length and chunks": (b"POST /check HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GET + b"\r\n", [400]),
    "a coding in disguise": (b"POST /check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", [501]),
    "a blank before a colon": (b"POST /check HTTP/1.1\r\nHost: a\r\nContent-Length : 44\r\n\r\n" + GET + b"\r\n", [400]),
    "a folded field": (GET + b"X: a\r\n Transfer-Encoding: chunked\r\n\r\n", [400]),
    "bare line feeds": (b"GET /check HTTP/1.1\nHost: a\n\n", [400]),
    "a bare CR": (GET + b"X: a\rContent-Length: 5\r\n\r\n", [400]),
    "a chunk too large": (b"POST /check HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", [413]),
    "no host": (b"GET /check HTTP/1.1\r\n\r\n", [400]),
    "two hosts": (GET + b"Host: b\r\n\r\n", [400]),
    "a request, then noise": (GET + b"\r\n\x00\x01\x02", [200, 400]),
    "a NUL in a field": (GET + b"X: a\x00b\r\n\r\n", [400]),
}


@rows([(name,) for name in ATTACKS])
def what_is_no_request_is_refused_once_and_the_connection_ends(name):
    sent, want = ATTACKS[name]
    with gate(*ENDLESS) as g, dial(g) as s:
        try:
            s.sendall(sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before all of it was sent
        got = answers(s)
        check(statuses(got), want)
        check(g.ask("/check").status, 200)


@rows([("garbage", "1.2.3.4, <script>alert(1)</script>"), ("empty", ""), ("commas", "," * 8000), ("blanks", " " * 8000),
       ("a long name", "a" * 8000), ("many", "10.0.0.1," * 900), ("numbers", "1" * 4000 + ".1.1.1"), ("colons", ":" * 4000)])
def a_forged_chain_of_addresses_names_no_client(_name, value):
    """The proxy is the client then, with a budget of its own."""
    with gate("--rate", "1/h", "--burst", "2", "--trust-proxy", "127.0.0.1/32") as g:
        codes = [g.ask("/check", X_Forwarded_For=value).status for _ in range(3)]
        check(codes, [200, 200, 429])


@case
def clients_that_stop_in_the_middle_hold_up_nobody():
    with gate(*ENDLESS) as g:
        slow = [dial(g) for _ in range(50)]
        for i, s in enumerate(slow):
            s.sendall(GET[: i % len(GET)])
        for _ in range(20):
            check(g.ask("/check").status, 200)
        for s in slow:  # half-open: one side ends, or both without a word
            s.shutdown(socket.SHUT_WR)
        for s in slow:
            check(statuses(answers(s)), [])
            s.close()
        check(g.ask("/check").status, 200)


@case
def a_client_that_never_reads_gets_no_more_memory_than_others():
    with gate(*ENDLESS, "--demo") as g, dial(g) as s:
        s.setblocking(False)
        sent = 0
        try:
            while sent < 64 << 20:
                sent += s.send((b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") * 1000)
        except BlockingIOError:
            pass
        check(sent < 64 << 20, True)  # it was told to wait
        check(g.ask("/check").status, 200)
        if not SANITIZED:
            with open(f"/proc/{g.process.pid}/status", encoding="ascii") as f:
                peak = next(int(line.split()[1]) << 10 for line in f if line.startswith("VmHWM:"))
            check(peak < 40 << 20, True, str(peak))


@case
def requests_sent_ahead_are_answered_each_once():
    with gate("--rate", "1/h", "--burst", "700") as g, dial(g) as s:
        s.sendall((GET + b"\r\n") * 999 + GET + b"Connection: close\r\n\r\n")
        codes = statuses(answers(s))
        check((codes.count(200), codes.count(429)), (700, 300))
        check(codes, sorted(codes))


@case
def more_connections_than_descriptors_end_the_idle_ones():
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, old[1]))
    try:
        g = Gate(*ENDLESS)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)
    try:
        crowd = [dial(g) for _ in range(400)]
        check(g.ask("/check").status, 200)
        until(lambda: b"evicted_total 0\n" not in g.ask("/metrics").body, "an idle connection that made room")
        for s in crowd:
            s.close()
        check(g.ask("/check").status, 200)
    finally:
        g.end(9)


finish(at_once=4)
