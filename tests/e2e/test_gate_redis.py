#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine gate --redis`: several gates, one budget, also while Redis dies and comes back. S2-03."""
import http.client
import os
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, rows, seine, until  # noqa: E402
from gate import gate  # noqa: E402
from redis_server import redis_server  # noqa: E402

RATE, BURST = 50, 10
BUDGET = ("--rate", f"{RATE}/s", "--burst", str(BURST), "--redis-timeout", "10s")
HELLO = b"*2\r\n$7\r\nversion\r\n$%d\r\n%s\r\n"


class Client:
    """Asks gates in turn and keeps when each request that was let in was asked for and answered."""

    def __init__(self, gates):
        self.gates, self.turn, self.let_in, self.refused = gates, 0, [], 0
        self.connections = [http.client.HTTPConnection("127.0.0.1", g.port, timeout=PATIENCE) for g in gates]

    def hammer(self, more):
        target, last = len(self.let_in) + more, time.monotonic() + PATIENCE
        while len(self.let_in) < target:
            check(time.monotonic() < last, True, f"{len(self.let_in)} of {target} were let in")
            c = self.connections[self.turn % len(self.connections)]
            self.turn += 1
            asked = time.monotonic()
            c.request("GET", "/check")
            response = c.getresponse()
            response.read()
            if response.status == 200:
                self.let_in.append((asked, time.monotonic()))
            else:
                check(response.status, 429)
                self.refused += 1
                time.sleep(0.002)

    def judge(self):
        """In no window more than one budget: the decision on each fell between its two moments."""
        for i, (asked, _) in enumerate(self.let_in):
            for j in range(i, len(self.let_in)):
                window = self.let_in[j][1] - asked + 0.001
                check(j - i + 1 <= BURST + window * RATE, True, f"{j - i + 1} let in within {window:.3f} s")


def metric(g, name):
    return int(next(line.split()[1] for line in g.ask("/metrics").body.decode().splitlines() if line.startswith(name + " ")))


def is_together(gates):
    return all(metric(g, "seine_gate_redis_up") == 1 and metric(g, "seine_gate_redis_gates") == len(gates) for g in gates)


@case
def s2_03_two_gates_let_in_one_budget_though_redis_is_killed():
    with redis_server("--requirepass", "s3cret") as r, tempfile.TemporaryDirectory() as d:
        url = os.path.join(d, "url")
        with open(url, "w", encoding="ascii") as f:
            f.write(f"redis://:s3cret@127.0.0.1:{r.port}/1\n")
        with gate(*BUDGET, "--redis", "file:" + url) as a, gate(*BUDGET, "--redis", f"redis://:s3cret@127.0.0.1:{r.port}/1") as b:
            client = Client((a, b))
            until(lambda: is_together((a, b)), "both gates")
            client.hammer(20)
            r.kill()
            client.hammer(15)
            check(any(metric(g, "seine_gate_redis_up") for g in (a, b)), False)
            r.start()
            last = time.monotonic() + PATIENCE
            while not is_together((a, b)) and time.monotonic() < last:
                client.hammer(1)
            client.hammer(20)
            client.judge()
            check((is_together((a, b)), client.refused > 0), (True, True))
            for g in (a, b):
                g.says("the budget is shared in Redis", 2)
                check(g.err().count("its share of each budget, 1/2"), 1, g.err())
                check("s3cret" in g.err(), False)
                with open(f"/proc/{g.process.pid}/cmdline", "rb") as f:
                    check(b"s3cret" in f.read(), False)


class Stub:
    """A server that says `hello` and then answers what it is told to; without an answer it is silent."""

    def __init__(self, version, answers):
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.greeting, self.answers = HELLO % (len(version), version), answers
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                peer, _ = self.listening.accept()
            except OSError:
                return
            with peer:
                while piece := peer.recv(65536):
                    if b"HELLO" in piece:
                        peer.sendall(self.greeting + b"$1\r\nx\r\n+PONG\r\n")
                    for word, answer in self.answers.items():
                        peer.sendall(answer * piece.count(word))


@case
def a_redis_that_is_too_old_is_told_once_and_the_gate_limits_alone():
    stub = Stub(b"6.2.6", {})
    with gate("--rate", "1/h", "--burst", "3", "--redis", f"redis://127.0.0.1:{stub.port}") as g:
        g.says("Redis 6.2.6 is too old: functions need Redis 7.0 or newer")
        check({g.ask("/check").status for _ in range(5)} <= {200, 429}, True)
        until(lambda: metric(g, "seine_gate_redis_alone_total") >= 5, "decisions")
        check((g.err().count("too old"), metric(g, "seine_gate_redis_up")), (1, 0), g.err())


@case
def a_redis_that_does_not_answer_costs_no_more_than_its_deadline():
    stub = Stub(b"7.0.15", {b"$18\r\nseine_bucket1_meet": b"*2\r\n:1\r\n:0\r\n"})
    with gate("--rate", "100/s", "--burst", "3", "--redis", f"redis://127.0.0.1:{stub.port}", "--redis-timeout", "300ms") as g:
        g.says("the budget is shared in Redis")
        before = time.monotonic()
        check(g.ask("/check").status, 429)
        check(time.monotonic() - before >= 0.3, True, "asked for")
        g.says("Redis does not answer in time")
        until(lambda: g.ask("/check").status == 200, "the share of the gate")


@rows([("rediss://:s3cret@h", "--redis: rediss: this client of Redis has no TLS"), ("redis://h:x", "--redis: the port"),
       ("http://h", "--redis: not a URL of Redis"), ("env:SEINE_NO_SUCH", "--redis: the variable SEINE_NO_SUCH is not set"),
       ("file:/nonexistent", "--redis: /nonexistent cannot be read"), ("redis://s3cret@h", "--redis: a user without a password")])
def a_wrong_url_is_one_line(url, text):
    r = seine("gate", "--listen", "127.0.0.1:0", "--rate", "1/s", "--redis", url)
    check((r.code, text in r.err, "s3cret" in r.err), (2, True, False), r.err)


finish(at_once=4)
