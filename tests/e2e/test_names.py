#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names that no name server could know, and answers that nobody can read."""
import json
import os
import socket
import struct
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import check, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402

LABEL = "a" * 63
LONG = [("a label of 64 bytes", "a" * 64 + ".example"), ("254 bytes", ".".join([LABEL] * 3 + ["b" * 62])), ("255 bytes", ".".join([LABEL] * 4)),
        ("300 bytes", ".".join(["a" * 59] * 5)), ("300 bytes without a dot", "a" * 300), ("1,000 bytes", ".".join(["a" * 49] * 20)),
        ("4,000 bytes", ".".join(["a" * 49] * 80))]


def results(out):
    return [json.loads(line) for line in out.splitlines() if '"type":"result"' in line or '"type":"skip"' in line]


@rows(LONG)
def a_name_too_long_for_dns_is_dns_bad_name(_, name):
    for robots in ("off", "on"):
        r = seine("fetch", "-j", "--progress", "off", "--robots", robots, "--retries", "3", f"http://{name}/")
        got = results(r.out)
        check([(x["outcome"], x["error"]["kind"], x["attempts"] <= 1) for x in got], [("network_error", "dns_bad_name", True)], r.err)


@rows(LONG)
def a_link_or_a_redirect_to_such_a_name_says_so(_, name):
    with origin() as o:
        r = seine("fetch", "-j", "--progress", "off", "--mine", "--allow-net", "127.0.0.0/8", o.url(f"/redir:to:http:%2f%2f{name}%2f"))
        got = results(r.out)
        check(len(got), 1)
        check(got[0]["outcome"] != "ok" and "memory" not in json.dumps(got) and "inval" not in json.dumps(got), True, r.out)


def answer(query, how):
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]])
        at += 1 + query[at]
    question, kind = query[12:at + 5], query[at + 1:at + 3]

    def head(flags=0x8180, qd=1, an=1):
        return query[:2] + struct.pack(">HHHHH", flags, qd, an, 0, 0)

    record = b"\xc0\x0c" + kind + struct.pack(">HIH", 1, 60, 3) + b"\x7f\0\0"
    return {
        "short": query[:5], "empty": b"", "one": b"x", "garbage": query[:2] + b"\xff" * 40, "cut": head() + question + record[:7],
        "three": head() + question + record, "beyond": head() + question + b"\xc0\x0c" + kind + struct.pack(">HIH", 1, 60, 400) + b"\x7f\0\0\1",
        "count": head(an=9) + question, "noquestion": head(qd=0) + record, "headonly": head(), "formerr": head(0x8181, an=0) + question,
        "pointer": head() + question + b"\xff\xff" + record[2:],
    }[how]


@rows([(how, how) for how in ("short", "empty", "one", "garbage", "cut", "three", "beyond", "count", "noquestion", "headonly", "formerr", "pointer")])
def an_answer_that_nobody_can_read_is_dns_error(_, how):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))

        def serve():
            try:
                while True:
                    query, where = s.recvfrom(4096)
                    s.sendto(answer(query, how), where)
            except OSError:
                pass

        threading.Thread(target=serve, daemon=True).start()
        r = seine("fetch", "-j", "--progress", "off", "--retries", "0", "--dns", f"127.0.0.1:{s.getsockname()[1]}", "--dns-timeout", "1s",
                  "http://www.e.test/")
    check([(x["outcome"], x["error"]["kind"]) for x in results(r.out)], [("network_error", "dns_error")], r.out)


finish(at_once=8)
