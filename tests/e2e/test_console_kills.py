#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`kill -9` while four people type: nothing that was acknowledged is lost, nothing is doubled.

CONSOLE_KILLS says how often; tools/soak asks for 200.
"""
import os
import random
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from console import Closed, Console  # noqa: E402
from e2e import PATIENCE, case, check, finish, free_port  # noqa: E402
from editor import Editor, settle, text_of  # noqa: E402

KILLS = int(os.environ.get("CONSOLE_KILLS", "20"))
PEOPLE = 4


class Person(Editor):
    """Types characters that nobody else types, and comes back when the connection is gone."""
    typed, at_least = 0, 0x4e00

    def try_step(self):
        try:
            if self.ws is None:
                self.connect()
            self.step()
        except (Closed, OSError):
            self.drop()

    def type(self, rng):
        if self.version is None or len(self.mine) >= 30:
            return
        self.replace(rng.randrange(len(self.local) + 1), 0, chr(Person.at_least + Person.typed))
        Person.typed += 1


def type_for(people, rng, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for p in people:
            p.type(rng)
            p.try_step()
        time.sleep(0.002)


@case
def a_killed_console_loses_no_acknowledged_edit_and_doubles_none():
    rng = random.Random(int(os.environ.get("CHECK_SEED", "20")))
    listen, heard = f"127.0.0.1:{free_port()}", {}
    with tempfile.TemporaryDirectory() as state:
        people = []
        for kill in range(KILLS + 1):
            with Console(state=state, listen=listen) as c:
                if not people:
                    doc = c.ask("POST", "/api/docs", {"title": "kills", "kind": "note"}, token=c.token).json()["id"]
                    people = [Person(c, doc) for _ in range(PEOPLE)]
                for p in people:
                    p.console = c
                    p.drop()
                if kill < KILLS:
                    before = sum(p.acknowledged for p in people)
                    end = time.monotonic() + PATIENCE
                    while sum(p.acknowledged for p in people) < before + 10 and time.monotonic() < end:
                        type_for(people, rng, 0.02)
                    type_for(people, rng, rng.random() * 0.1)
                    c.end(signal.SIGKILL)
                    for p in people:
                        heard[p.client] = (p.version, p.confirmed)
                    continue
                for p in people:
                    while not p.open:
                        p.try_step()
                settle(people)
                check(len({text_of(p.local) for p in people}), 1)
                got = c.ask("GET", f"/api/docs/{doc}", token=c.token).json()
                text = got["content"]
                check(text, text_of(people[0].local))
                check(sorted(text), [chr(Person.at_least + i) for i in range(Person.typed)], "every character once")
                check(got["version"], Person.typed)
                check(all(p.version >= heard[p.client][0] and p.confirmed >= heard[p.client][1] for p in people), True)
                check(sum(p.confirmed for p in people), Person.typed)
                print(f"  {KILLS} kills, {Person.typed} edits, {sum(len(p.errors) for p in people)} refusals")


finish()
