#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scored cases of the Autobahn test suite, played against /ws/echo. The vectors name the frames that the fuzzer sends, which events
are right (and which are tolerated), and how the connection has to end."""
import base64
import hashlib
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import Closed, Console  # noqa: E402
from e2e import VECTORS, check, finish, needs_vectors, rows  # noqa: E402


def cases():
    if not VECTORS:
        return [{"id": "all", "score": True}]
    with open(os.path.join(VECTORS, "websocket-autobahn", "cases.json"), encoding="utf-8") as f:
        return [c for c in json.load(f) if c["score"]]


def payload(step):
    if "payload_repeat" in step:
        how = step["payload_repeat"]
        unit = base64.b64decode(how["unit_b64"])
        return (unit * (how["len"] // len(unit) + 1))[:how["len"]]
    return base64.b64decode(step["payload_b64"] or "")


def plays(ws, script):
    """Sends what the script says; waits are of no use to a server that answers at once."""
    for step in script:
        if step.get("send") == "frame":
            ws.send(step["opcode"], payload(step), fin=step["fin"], rsv=step["rsv"], chop=step["chop"])
        elif "code" in step:
            reason = (step["reason"] or "").encode()
            ws.send(8, (struct.pack(">H", step["code"]) if step["code"] else b"") + reason)


class Heard:
    """The events of a connection, as the vectors write them."""
    def __init__(self):
        self.events, self.code, self.was_clean = [], None, False

    def listen(self, ws, stop):
        """Until the connection ends, or stop(self) is true."""
        parts = None
        try:
            while not stop(self):
                fin, rsv, opcode, data = ws.frame()
                check(rsv, 0)
                if opcode == 8:
                    self.code = struct.unpack(">H", data[:2])[0] if len(data) >= 2 else None
                    self.was_clean = True
                    return
                if opcode == 10:
                    self.events.append(["pong", data])
                elif opcode == 9:
                    self.events.append(["ping", data])
                else:
                    parts = (opcode, b"") if opcode else parts
                    parts = (parts[0], parts[1] + data)
                    if fin:
                        self.events.append(["message", parts[1], parts[0] == 2])
        except Closed:
            pass


def is_same(heard, want):
    """Long payloads are given by their length and hash."""
    kind, data, *more = heard
    if kind != want[0] or more != want[2:]:
        return False
    if "sha256" in want[1]:
        return len(data) == want[1]["len"] and hashlib.sha256(data).hexdigest() == want[1]["sha256"]
    return data == base64.b64decode(want[1]["b64"])


def are_same(heard, want):
    return len(heard) == len(want) and all(map(is_same, heard, want))


with Console("--ws-echo", "--log", "off") as console:
    @rows([(c["id"], c) for c in cases()])
    @needs_vectors
    def autobahn(_, c):
        right = list(c["expected"].values())
        most = max(map(len, right))
        closes = c["expected_close"]["closedByMe"] and not c["suppress_close"]
        ws = console.websocket("/ws/echo")
        try:
            plays(ws, c["script"])
        except ConnectionError:
            pass  # it was closed for an early frame
        heard = Heard()
        heard.listen(ws, lambda h: closes and len(h.events) >= most)
        if closes and not heard.was_clean:
            try:
                ws.close_with(1000)
            except ConnectionError:
                pass
            heard.listen(ws, lambda h: False)
        ws.close()
        check(any(are_same(heard.events, r) for r in right), True, f"{heard.events!r:.300}, want one of {right!r:.300}")
        codes = c["expected_close"]["closeCode"]
        if c["expected_close"]["requireClean"]:
            check(heard.was_clean, True, "close frame")
            check(heard.code in codes or heard.code is None and None in codes, True, f"close code {heard.code}, want {codes}")
        elif heard.code is not None:
            check(heard.code in codes or heard.code in (1000, 1002, 1007), True, f"close code {heard.code}, want {codes}")

    finish()
