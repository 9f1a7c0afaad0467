# SPDX-License-Identifier: Apache-2.0
"""An editor without a screen: change sets, and a client of `seine.v1` that types, loses its connection and goes on.

Change sets are implemented here a second time, from the words of docs/user/collab.md, on code units of UTF-16. A text is a
list of units; sections are [n] kept, or [n, units] replaced.
"""
import json
import os
import select
import socket
import time

from console import Closed, Reader
from e2e import PATIENCE


def units(text):
    data = text.encode("utf-16-le", "surrogatepass")
    return [data[i] | data[i + 1] << 8 for i in range(0, len(data), 2)]


def text_of(unit_list):
    return b"".join(u.to_bytes(2, "little") for u in unit_list).decode("utf-16-le", "surrogatepass")


def from_json(changes):
    """[(n, None)] kept, [(n, units)] replaced."""
    return [(c, None) if isinstance(c, int) else (c[0], units("\n".join(c[1:]))) for c in changes]


def to_json(sections):
    return [n if text is None else [n, *text_of(text).split("\n")] if text else [n] for n, text in sections]


def length(sections):
    return sum(n for n, _ in sections)


def apply(sections, text):
    out, at = [], 0
    assert length(sections) == len(text), (length(sections), len(text))
    for n, new in sections:
        out += text[at:at + n] if new is None else new
        at += n
    return out


class Out:
    def __init__(self):
        self.sections = []

    def keep(self, n):
        if n and self.sections and self.sections[-1][1] is None:
            self.sections[-1] = (self.sections[-1][0] + n, None)
        elif n:
            self.sections.append((n, None))

    def change(self, n, text):
        if not n and not text:
            return
        last = self.sections[-1] if self.sections else None
        if last and last[1] is not None and ((not text and not last[1]) or (not n and not last[0])):
            self.sections[-1] = (last[0] + n, last[1] + text)
        else:
            self.sections.append((n, text))


class Walk:
    def __init__(self, sections):
        self.rest, self.at = sections, 0
        self.load()

    def load(self):
        self.placed, self.fresh = False, True
        self.left, self.text = self.rest[self.at] if self.at < len(self.rest) else (0, None)

    @property
    def ended(self):
        return self.at >= len(self.rest)

    @property
    def keeps(self):
        return not self.ended and self.text is None

    @property
    def changes(self):
        return not self.ended and self.text is not None

    def next(self):
        self.at += 1
        self.load()

    def forward(self, n):
        if n == self.left:
            self.next()
        else:
            self.left -= n
            self.fresh = False


def map_over(a, b, before):
    """`a`, to be applied after `b`."""
    out, a, b = Out(), Walk(a), Walk(b)
    while not (a.ended and b.ended):
        if a.keeps and b.keeps:
            n = min(a.left, b.left)
            out.keep(n)
            a.forward(n)
            b.forward(n)
        elif b.changes and (not a.changes or a.placed or (a.fresh and (b.left < a.left or (b.left == a.left and not before)))):
            out.keep(len(b.text))
            left = b.left
            while left:
                p = min(a.left, left)
                if a.changes and not a.placed and a.left <= p:
                    out.change(0, a.text)
                    a.placed = True
                a.forward(p)
                left -= p
            b.next()
        elif a.changes:
            n, left = 0, a.left
            while left:
                if b.keeps:
                    p = min(left, b.left)
                    n += p
                    left -= p
                    b.forward(p)
                elif b.changes and not b.text and b.left < left:
                    left -= b.left
                    b.next()
                else:
                    break
            out.change(n, [] if a.placed else a.text)
            a.placed = True
            a.forward(a.left - left)
        else:
            raise AssertionError("change sets of texts of different lengths")
    return out.sections


def client_id():
    import base64
    return base64.urlsafe_b64encode(os.urandom(16)).decode().rstrip("=")


class Editor:
    """One person. `step` hears what there is and pushes; nothing here waits longer than it is told."""
    def __init__(self, console, doc, token=None):
        self.console, self.doc, self.token, self.client = console, doc, token, client_id()
        self.ws, self.open, self.opening = None, False, False
        self.version, self.epoch, self.confirmed = None, None, 0
        self.synced, self.local, self.mine, self.flight = [], [], [], 0
        self.errors, self.acknowledged, self.resyncs, self.others = [], 0, 0, []

    # The connection.

    def connect(self):
        self.ws, _ = self.console.session(client=self.client, token=self.token)
        self.ws.sock.settimeout(PATIENCE)
        self.ask_open()

    def ask_open(self, fresh=False):
        self.open, self.opening, self.flight = False, True, 0
        known = {} if self.version is None or fresh else {"v": self.version, "epoch": self.epoch}
        self.ws.say(t="open", doc=self.doc, **known)

    def drop(self):
        if self.ws:
            self.ws.sock.close()
        self.ws, self.open, self.flight = None, False, 0

    # Typing.

    def replace(self, at, n, text):
        """In code units of the local text."""
        out = Out()
        out.keep(at)
        out.change(n, units(text))
        out.keep(len(self.local) - at - n)
        self.local = apply(out.sections, self.local)
        self.mine.append(out.sections)

    def push(self):
        if self.open and not self.flight and self.mine:
            self.flight = min(64, len(self.mine))
            self.ws.say(t="push", doc=self.doc, base=self.version, seq=self.confirmed + 1, updates=[to_json(m) for m in self.mine[:self.flight]])

    # Hearing.

    def take(self, updates):
        for u in updates:
            changes = from_json(u["ch"])
            self.synced = apply(changes, self.synced)
            self.version += 1
            if u["c"] == self.client:
                assert to_json(self.mine[0]) == u["ch"], (to_json(self.mine[0]), u["ch"])
                self.mine.pop(0)
                self.confirmed += 1
                self.acknowledged += 1
                self.flight = max(0, self.flight - 1)
                continue
            over = changes
            for i, m in enumerate(self.mine):
                self.mine[i], over = map_over(m, over, False), map_over(over, m, True)
            self.local = apply(over, self.local)

    def opened(self, m):
        self.open, self.opening, self.epoch = True, False, m["epoch"]
        if "text" not in m:
            assert m["from"] == self.version
            self.take(m["updates"])
        elif self.version is None:
            self.synced = self.local = units(m["text"])
            self.confirmed = m["seq"]
        else:
            raise AssertionError("a resync that nobody expected")
        self.version = m["v"]
        assert self.confirmed == m["seq"], (self.confirmed, m["seq"])

    def hear(self, m):
        if m["t"] == "opened" and m["doc"] == self.doc:
            self.opened(m)
        elif m["t"] == "updates" and self.open:
            assert m["v"] == self.version, (m["v"], self.version)
            self.take(m["updates"])
        elif m["t"] == "err":
            self.errors.append(m)
            if m["code"] == "unavailable" and m["re"] == "push":
                self.flight = 0
            elif m["code"] == "unavailable" and m["re"] == "open":
                self.ask_open()
        elif m["t"] == "closed":
            raise Closed
        else:
            self.others.append(m)

    def step(self, wait=0.0):
        """Hears all that has arrived, waiting so long for the first; pushes what is not confirmed."""
        until = time.monotonic() + wait
        while self.ws and (self.ws.reader.had or select.select([self.ws.sock], [], [], max(0, until - time.monotonic()))[0]):
            self.hear(self.ws.hear())
            until = 0
        if self.ws:
            self.push()

    def is_quiet(self, version=None):
        return self.open and not self.mine and (version is None or self.version == version)


def settle(editors, deadline=PATIENCE):
    """Until nobody has anything unconfirmed and all have one version."""
    end = time.monotonic() + deadline
    while not (all(e.is_quiet() for e in editors) and len({e.version for e in editors}) == 1):
        assert time.monotonic() < end, [(e.version, len(e.mine), e.open, e.errors[-1:]) for e in editors]
        for e in editors:
            e.step(0.01)
