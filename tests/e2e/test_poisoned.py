#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bytes behind a response never harm the next URL. bench/poisoned makes the table of docs/internals/conn_pool.md."""
import contextlib
import os
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, rows  # noqa: E402
from poisoned import LEAVERS, MOMENTS, SECOND, VARIANTS, Poisoned, certificate, poisoned  # noqa: E402

PAGES = 60
EACH = [(f"{name}, {said}", name, later) for name in VARIANTS for later, said in MOMENTS]


def harm(variant, later, *words, tls=None, n=PAGES):
    with poisoned(variant, later, tls) as p:
        run = p.fetch(n, "--retries", "0", *words)
        check(len(run.results), n, run.err)
        return run, p


@rows(EACH)
def no_page_is_broken_by_bytes_behind_another(_, variant, later):
    run, p = harm(variant, later)
    check(run.broken, 0)
    check(run.foreign <= (2 if later else 0), True, f"{run.foreign} foreign")
    check(p.requests <= PAGES + 2, True, f"{p.requests} requests for {PAGES} pages")


@rows([(name, name) for name in VARIANTS])
def none_is_broken_over_tls_either(_, variant):
    run, _p = harm(variant, 0.0003, tls=tls, n=30)
    check(run.broken, 0)
    check(run.foreign <= 2, True, f"{run.foreign} foreign")


@rows([(name, name) for name in VARIANTS])
def bytes_that_come_before_the_next_request_harm_none(_, variant):
    run, _p = harm(variant, 0.001, "--rate", "20/s", n=3)
    check((run.broken, run.foreign), (0, 0))


@case
def an_origin_that_was_found_out_gets_no_reuse_for_the_run():
    _, p = harm("text", 0)
    check(p.connections, PAGES)
    _, p = harm("text", 0.005)
    check(p.connections in (PAGES, PAGES + 1), True, str(p.connections))


@rows([(f"{name}, {said}", name, later) for name in LEAVERS for later, said in MOMENTS])
def a_408_or_an_orderly_close_is_no_crime(_, variant, later):
    run, p = harm(variant, later)
    check((run.broken, run.foreign), (0, 0))
    # Every third page ends its connection; of the others two can share one.
    check(p.connections <= PAGES // 2, True, f"{p.connections} connections for {p.requests} requests")


class HalfForeign(Poisoned):
    """/2 is half answered on a connection that was used before; then /3 shows on another one that the server is guilty."""
    def __init__(self):
        super().__init__("text", 0, None, 3)
        self.half, self.both, self.asked = threading.Event(), threading.Event(), 0

    def answer(self, s, n):
        if n == 1:
            self.both.set()
        if n == 0:
            self.both.wait(PATIENCE)  # each of the first two has its own connection, and all others find a used one
            return s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-Page: 0\r\n\r\npage 0\n")
        if n == 3:
            self.half.wait(PATIENCE)
        if n != 2:
            return super().answer(s, n)
        self.asked += 1
        if self.asked > 1:
            return super().answer(s, n)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-Page: foreign\r\n\r\nwrong")
        self.half.set()
        s.settimeout(PATIENCE)
        s.recv(1)  # until the client closes

    def status_of(self, n):
        return 200


@case
def a_response_that_has_begun_on_a_used_connection_is_asked_for_again():
    p = HalfForeign()
    with contextlib.closing(p.socket):
        run = p.fetch(4, "--retries", "0", "-c", "2")
    check((run.broken, run.foreign, p.asked), (0, 0, 2), run.err)


class AllAtOnce(Poisoned):
    """As many connections as pages are fetched at once. The second request of each finds a whole foreign response, at one moment; the right
    one follows after `thinks` seconds, which is how long all responses take."""
    def __init__(self, n, thinks):
        super().__init__("a second response", 0, None, 3)
        self.meetings, self.thinks, self.asked = (threading.Barrier(n), threading.Barrier(n)), thinks, threading.local()

    def answer(self, s, n):
        self.asked.n = getattr(self.asked, "n", 0) + 1  # a connection has its own thread
        if self.asked.n <= 2:
            with contextlib.suppress(threading.BrokenBarrierError):
                self.meetings[self.asked.n - 1].wait(10)
            self.meetings[self.asked.n - 1].abort()  # what is asked for again comes alone
        if self.asked.n > 1:
            s.sendall(SECOND)
        time.sleep(self.thinks)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-Page: %d\r\n\r\nanswer\n" % n)

    def status_of(self, n):
        return 200


@rows([("8, at once", 8, 0), ("8, after 30 ms", 8, 0.03), ("64, after 30 ms", 64, 0.03)])
def connections_that_are_poisoned_at_one_moment_give_no_page_a_foreign_response(_, at_once, thinks):
    p = AllAtOnce(at_once, thinks)
    with contextlib.closing(p.socket):
        run = p.fetch(3 * at_once, "--retries", "0", "-c", str(at_once))
    check((len(run.results), run.broken), (3 * at_once, 0), run.err)
    check(run.foreign <= 1, True, f"{run.foreign} foreign")


@case
def many_connections_are_no_worse():
    run, _ = harm("text", 0.005, "-c", "8")
    check((run.broken, run.foreign), (0, 0))


with certificate() as tls:
    finish(at_once=3, apart=True)
