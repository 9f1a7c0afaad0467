#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Responses whose head is fine and whose body is not, and codings that are none."""
import contextlib
import gzip
import json
import os
import re
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402
from request_heads import request_heads  # noqa: E402

CODED = b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"
ENDS = {
    "bad coding": CODED,
    "unknown coding": b"Content-Encoding: sdch\r\nContent-Length: 5\r\n\r\nhello",
    "bad checksum": b"Content-Encoding: gzip\r\nContent-Length: 25\r\n\r\n" + gzip.compress(b"hello", mtime=0)[:-8] + b"\0" * 8,
    "bad chunk": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
    "cut": b"Content-Length: 500\r\n\r\nhello",
    "cut chunk": b"Transfer-Encoding: chunked\r\n\r\nff\r\nhello",
    "too large": b"Content-Length: 9000000\r\n\r\n" + b"x" * 3000000,
}


class Server:
    """Answers a path with the bytes that were given for it, in turn, the last ones again and again; then it closes."""

    def __init__(self):
        self.answers, self.asked = {}, []
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.base = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            s, _ = self.socket.accept()
            threading.Thread(target=self.serve, args=(s,), daemon=True).start()

    def serve(self, s):
        with contextlib.suppress(OSError), s:
            head = next(request_heads(s), None)
            if head is None:
                return
            path = re.match(rb"[A-Z]+ (\S+) ", head)[1].decode()
            self.asked.append(path)
            left = self.answers[path]
            s.sendall(left.pop(0) if len(left) > 1 else left[0])
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass

    def fetch(self, path, *words):
        r = seine("fetch", "-j", "--mine", "--no-summary", "--progress", "off", "--backoff", "1ms..2ms", "--body", "text", *words, self.base + path)
        return json.loads(r.out.splitlines()[0])


server = Server()
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"


def place(name, *answers):
    path = "/" + re.sub(r"\W", "-", name)
    server.answers[path] = list(answers)
    return path


@rows([(f"{status}, {end}", status, ENDS[end]) for status in (429, 500, 502, 503, 504) for end in ENDS])
def a_status_that_may_pass_is_tried_again_whatever_its_body(name, status, end):
    path = place("again " + name, b"HTTP/1.1 %d X\r\nConnection: close\r\n%s" % (status, end), WHOLE)
    got = server.fetch(path, "--max-body", "1M")
    check((got["status"], got["ok"], got["attempts"]), (200, True, 2), str(got))
    check(got["tries"][0]["status"], status)


@rows([(f"{status}, {end}", status, ENDS[end]) for status in (301, 302, 303, 307, 308) for end in ENDS])
def a_redirect_is_followed_whatever_its_body(name, status, end):
    there = place("there", WHOLE)
    path = place("moved " + name, b"HTTP/1.1 %d X\r\nConnection: close\r\nLocation: %s\r\n%s" % (status, there.encode(), end))
    got = server.fetch(path, "--max-body", "1M", "--retries", "0")
    check((got["status"], got["ok"], got["final_url"]), (200, True, server.base + there), str(got))


@rows([(f"{status}, {end}", status, ENDS[end]) for status in (404, 410, 403) for end in ENDS])
def another_status_is_an_http_error_whatever_its_body(name, status, end):
    path = place("error " + name, b"HTTP/1.1 %d X\r\nConnection: close\r\n%s" % (status, end))
    got = server.fetch(path, "--max-body", "1M")
    check((got["outcome"], got["status"], got["attempts"], got["error"]["kind"]), ("http_error", status, 1, "http"), str(got))
    check(got.get("partial"), True)


@rows([(end, ENDS[end], kind) for end, kind in (
    ("bad coding", "bad_encoding"), ("unknown coding", "bad_encoding"), ("bad chunk", "bad_framing"), ("cut", "body_truncated"),
    ("too large", "body_too_large"))])
def a_page_that_is_wanted_must_be_whole(name, end, kind):
    path = place("wanted " + name, b"HTTP/1.1 200 X\r\nConnection: close\r\n" + end)
    check(server.fetch(path, "--max-body", "1M", "--retries", "0")["error"]["kind"], kind)
    path = place("asked for " + name, b"HTTP/1.1 404 X\r\nConnection: close\r\n" + end)
    check(server.fetch(path, "--max-body", "1M", "--retries", "0", "--accept", "404")["error"]["kind"], kind)


@rows([(c, c) for c in ("none", "utf-8", "UTF-8", "utf8", "binary", "8bit", "7bit", "none, utf-8")])
def a_coding_that_is_none_counts_as_identity(name, coding):
    path = place("none " + name, b"HTTP/1.1 200 X\r\nConnection: close\r\nContent-Encoding: %s\r\nContent-Length: 5\r\n\r\nhello" % coding.encode())
    got = server.fetch(path)
    check((got["ok"], got["body"], got["notes"]), (True, "hello", ["odd_coding"]))
    packed = gzip.compress(b"hello")
    path = place("packed " + name, b"HTTP/1.1 200 X\r\nConnection: close\r\nContent-Encoding: %s, gzip\r\nContent-Length: %d\r\n\r\n%s"
                 % (coding.encode(), len(packed), packed))
    got = server.fetch(path)
    check((got["ok"], got["body"], got["notes"]), (True, "hello", ["odd_coding"]))


@rows([("utf-16", "utf-16"), ("sdch", "sdch"), ("gzip2", "gzip2"), ("8bits", "8bits"), ("none none", "none none")])
def any_other_coding_is_not_guessed(name, coding):
    path = place("other " + name, b"HTTP/1.1 200 X\r\nConnection: close\r\nContent-Encoding: %s\r\nContent-Length: 5\r\n\r\nhello" % coding.encode())
    check(server.fetch(path)["error"]["kind"], "bad_encoding")


@rows([("with a length", b"Transfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello extra"),
       ("until the end", b"Transfer-Encoding: Identity\r\nConnection: close\r\n\r\nhello"),
       ("twice", b"Transfer-Encoding: identity\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello")])
def a_transfer_coding_identity_counts_as_absent(name, rest):
    got = server.fetch(place("te " + name, b"HTTP/1.1 200 X\r\n" + rest))
    check((got["ok"], got["body"], "odd_coding" in got["notes"]), (True, "hello", True))


@rows([(v, v) for v in ("chunked, chunked", "identity, chunked", "chunked, identity", "gzip", "identityx", "")])
def any_other_transfer_coding_is_bad_framing(name, value):
    path = place("framing " + name, b"HTTP/1.1 200 X\r\nTransfer-Encoding: %s\r\nConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n" % value.encode())
    check(server.fetch(path)["error"]["kind"], "bad_framing")
    if ", " in value:
        parts = b"".join(b"Transfer-Encoding: %s\r\n" % p.encode() for p in value.split(", "))
        path = place("framings " + name, b"HTTP/1.1 200 X\r\n%sConnection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n" % parts)
        check(server.fetch(path)["error"]["kind"], "bad_framing")


def packed_answer(body):
    packed = gzip.compress(body, 9)
    return len(body) // len(packed), b"HTTP/1.1 200 X\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s" % (len(packed), packed)


@case
def an_honest_body_that_packs_well_is_taken():
    # A log of one line that repeats: 3 MB, some 300:1.
    ratio, answer = packed_answer(b"2026-11-17 00:00:00 INFO nothing happened\n" * 75000)
    check(ratio > 200, True)
    check(server.fetch(place("log", answer), "--body", "none")["ok"], True)


@case
def the_ratio_and_the_size_up_to_which_it_does_not_count_are_options():
    ratio, answer = packed_answer(b"\0" * 12000000)
    check(ratio > 900, True)
    path = place("zeros", answer)
    check(server.fetch(path, "--body", "none")["error"]["kind"], "body_too_large")
    got = server.fetch(path, "--body", "none")["error"]
    check("--max-ratio" in json.dumps(got), True, str(got))
    check(server.fetch(path, "--body", "none", "--max-ratio", "2000")["ok"], True)
    check(server.fetch(path, "--body", "none", "--max-ratio", "off")["ok"], True)
    check(server.fetch(path, "--body", "none", "--max-ratio", "100:12M")["ok"], True)
    check(server.fetch(path, "--body", "none", "--max-ratio", "100:11M")["error"]["kind"], "body_too_large")
    for wrong in ("0", "-1", "1.5", "x", "5:", "5:x"):
        check(seine("fetch", "--max-ratio", wrong, server.base + path).code, 2, wrong)


finish()
