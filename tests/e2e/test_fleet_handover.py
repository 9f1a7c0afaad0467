#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A partition that changes hands: what the next owner of a host has to know is in Redis before the host is asked for
pages, and what the owner before has under way ends."""
import json
import os
import signal
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, seine, until  # noqa: E402
from fleet import OPTIONS, PACE, fleet  # noqa: E402


class Gate:
    """Passes bytes to a Redis; while it is shut, a connection that has sent a commit stands still from there on."""

    def __init__(self, port):
        self.to, self.opened, self.held = port, threading.Event(), threading.Event()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.server.getsockname()[1]}/0"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                c, _ = self.server.accept()
            except OSError:
                return
            s = socket.create_connection(("127.0.0.1", self.to))
            threading.Thread(target=self.carry, args=(c, s, True), daemon=True).start()
            threading.Thread(target=self.carry, args=(s, c, False), daemon=True).start()

    def carry(self, a, b, is_up):
        try:
            while data := a.recv(65536):
                if is_up and b"seine1_commit\r\n" in data and not self.opened.is_set():
                    self.held.set()
                    self.opened.wait()
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@case
def no_page_is_asked_for_before_what_is_known_of_its_host_is_in_redis():
    with fleet("21:40:hosts=4") as f:
        f.submit("--partitions", "8")
        gate = Gate(f.redis[0].port)
        f.stores = [gate.url]
        w = f.worker("--lease", "60s")
        until(gate.held.is_set, "a commit")
        until(f.site.log, "robots.txt")
        time.sleep(5 * PACE)  # a page would have come
        check({row["path"] for row in f.site.log()}, {"/robots.txt"})
        gate.opened.set()
        check((w.wait(), w.said), (0, ""))
        f.judge()
        f.witness()


class Slow:
    """A host whose page does not come: how many asked for it, and how many of them are still there."""

    def __init__(self):
        self.asked = self.here = 0
        self.is_quick = False
        self.server = socket.create_server(("127.1.0.1", 0))
        self.url = f"http://127.1.0.1:{self.server.getsockname()[1]}/page"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            threading.Thread(target=self.serve, args=(self.server.accept()[0],), daemon=True).start()

    def serve(self, c):
        while data := c.recv(65536):
            if b" /page " not in data:
                c.sendall(b"HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n")
                continue
            self.asked += 1
            if self.is_quick:
                c.sendall(b"HTTP/1.1 200 ok\r\nContent-Length: 2\r\n\r\nok")
                continue
            self.here += 1
            c.recv(1)  # until the other side has gone
            self.here -= 1


def under_way(f, slow):
    r = seine("crawl", slow.url, *f.at_store(), "--job", "one", "--submit", "--partitions", "1", *OPTIONS, "-t", "1000s", "--head-timeout", "1000s")
    check((r.code, r.err), (0, ""))
    w = f.worker()
    until(lambda: slow.here == 1, "the request")
    return w


def done_once(f, slow, w):
    slow.is_quick = True
    check((w.wait(), w.said), (0, ""))
    check([(r["url"], r["status"]) for r in f.export() if r["type"] == "result"], [(slow.url, 200)])
    check(slow.asked, 2)


@case
def a_worker_that_is_cut_off_ends_what_is_under_way():
    with fleet("22:1", lease="3s") as f:
        slow = Slow()
        w = under_way(f, slow)
        f.redis[0].process.send_signal(signal.SIGSTOP)
        try:
            until(lambda: slow.here == 0, "the end of the request")
        finally:
            f.redis[0].process.send_signal(signal.SIGCONT)
        done_once(f, slow, w)


@case
def a_worker_whose_lease_is_taken_ends_what_is_under_way():
    with fleet("23:1", lease="3s") as f:
        slow = Slow()
        w = under_way(f, slow)
        name = f.redis[0].ask("HGET sn:jobs one").split()[1]
        check(f.redis[0].ask("SET sn:{%s.0}:lease other|99 PX 2000" % name), "+OK\r\n")
        until(lambda: slow.here == 0, "the end of the request")
        done_once(f, slow, w)


def rows_of(f, key):
    """All fields of the hashes of that name, of all partitions."""
    names = [w for w in f.redis[0].ask(f"KEYS sn:*:{key}").split() if w.startswith("sn:")]
    found = {}
    for name in names:
        lines = f.redis[0].ask(f"HGETALL {name}").split("\r\n")[2::2]
        found.update(zip(lines[::2], lines[1::2]))
    return found


ALL_PAGES = "2f2a2a0000000001 "  # the pattern that all pages of a host have


@case
def the_next_owner_goes_on_counting_the_pages_of_a_host():
    with fleet("24:60:hosts=2") as f:
        f.submit("--partitions", "8")
        for n in (15, 35, 60):
            w = f.worker()
            f.until_records(n)
            if n < 60:
                w.stop()
        w.wait()
        f.judge()
        asked = {}
        for row in f.site.log():
            if row["path"] not in ("/robots.txt", "/sitemap.xml", "/p/0"):  # what is given is no pattern
                asked[row["host"]] = asked.get(row["host"], 0) + 1
        counted = {name[len(ALL_PAGES) + len("http://"):].split(":")[0]: int(n) for name, n in rows_of(f, "t").items() if name.startswith(ALL_PAGES)}
        check(counted, asked)


def skips(records):
    return sorted((r["url"], r["reason"], r["rule"]) for r in records if r["type"] == "skip")


@case
def a_link_that_is_not_followed_has_the_record_that_it_has_on_one_machine():
    options = [w for w in OPTIONS if w not in ("-l", "off", "--scope", "any")] + ["--scope", "host", "-l", "3", "--exclude", "/p/1.$"]
    with fleet("25:80:hosts=3:robots=10") as f:
        seed = f.site.url("/p/0", "127.1.0.1")
        r = seine("crawl", seed, *options, "-o", "-")
        codes = {0, r.code}  # of who has had what is not found
        alone = [json.loads(line) for line in r.out.splitlines()]
        check({reason for _, reason, _ in skips(alone)} >= {"offsite", "depth", "robots", "pattern"}, True, str(skips(alone)))
        r = seine("crawl", seed, *f.at_store(), "--job", "one", "--submit", "--partitions", "16", *options)
        check((r.code, r.err), (0, ""))
        workers = [f.worker() for _ in range(2)]
        ended = {w.wait() for w in workers}
        check(ended <= codes, True, str((ended, codes)))
        together = f.export()
        check(skips(together), skips(alone))
        check(sorted(r["url"] for r in together if r["type"] == "result"), sorted(r["url"] for r in alone if r["type"] == "result"))


finish(at_once=3)
