#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Retry-After holds for requests whose connections are still being opened, and costs no page."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, check, environment, finish, rows, until  # noqa: E402
from poisoned import certificate  # noqa: E402
from request_heads import request_heads  # noqa: E402

PAGES, AT_ONCE, HOLD = 100, 64, 1.0
KNOWN = 0.15  # seconds in which the client knows what it has read; a handshake takes longer


def unread_at(port):
    """How many bytes wait at a socket of this machine for its program to read them."""
    with open("/proc/net/tcp", encoding="ascii") as f:
        next(f)
        return sum(int(line.split()[4].split(":")[1], 16) for line in f if int(line.split()[1].split(":")[1], 16) == port)


class Busy:
    """Says 429 to the first request and to all that come before the hold is over. All connections but the first open
    when the client has read that."""

    def __init__(self, tls):
        self.tls, self.arrivals, self.connections = tls, [], 0
        self.until, self.lock, self.told, self.is_read = None, threading.Lock(), threading.Event(), False
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.base = f"https://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(s, self.connections), daemon=True).start()

    def serve(self, s, n):
        with contextlib.suppress(OSError), s:
            if n > 1 and self.told.wait(PATIENCE):
                until(lambda: self.is_read, "the answer to the first request being read")
                time.sleep(2 * KNOWN)
            s = self.tls.wrap_socket(s, server_side=True)
            for _ in request_heads(s):
                now = time.monotonic()
                with self.lock:
                    self.arrivals.append(now)
                    if self.until is None:
                        self.until = now + HOLD
                    busy = now < self.until
                s.sendall(b"HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n" if busy
                          else b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
                self.told.set()
                if not self.is_read:
                    until(lambda: not unread_at(s.getpeername()[1]), "the client reading")
                    self.is_read = True

    def early(self):
        first = self.arrivals[0]
        return [round(t - first, 3) for t in self.arrivals if KNOWN < t - first < HOLD]


def fetch(server, *words):
    urls = "".join(f"{server.base}/{i}\n" for i in range(PAGES))
    p = subprocess.run([PROGRAM, "fetch", "-j", "--insecure", "--mine", "-c", str(AT_ONCE), "--progress", "off", *words, "-"],
                       input=urls.encode(), capture_output=True, env=environment(), timeout=PATIENCE)
    return [json.loads(line) for line in p.stdout.decode().splitlines() if '"type":"result"' in line]


@rows([("one shard", "1"), ("two shards", "2")])
def a_wish_holds_for_connections_that_are_still_opening(_, threads):
    with certificate() as tls:
        server = Busy(tls)
        got = fetch(server, "--threads", threads)
    check(server.early(), [])
    check(([r["status"] for r in got].count(200), len(got)), (PAGES, PAGES))
    # Only the page that was told to wait has had two attempts.
    check(sorted(r["attempts"] for r in got), [1] * (PAGES - 1) + [2])
    # What was opened in vain is used afterwards.
    check(server.connections <= AT_ONCE + 2, True, f"{server.connections} connections")


finish(at_once=2, apart=True)
