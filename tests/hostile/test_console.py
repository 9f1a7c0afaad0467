#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine serve` under people who have a token, or a browser, or a proxy in front, and want more than that gives them."""
import os
import sqlite3
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from console import Console, Reader, read_answer  # noqa: E402
from e2e import case, check, finish, until  # noqa: E402

GUESS = "sn_" + "x" * 43


class Server(Console):
    """A console whose configuration is given."""
    def __init__(self, config, *options, state=None):
        self.folder = tempfile.TemporaryDirectory(prefix="hostile")
        path = os.path.join(self.folder.name, "seine.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(config)
        super().__init__("--config", path, *options, state=state or os.path.join(self.folder.name, "state"))

    def post(self, path, body=None, token=None):
        return self.ask("POST", path, {} if body is None else body, token=token or self.token)


def port_of(c):
    inodes = {os.readlink(f"/proc/{c.process.pid}/fd/{fd}")[8:-1] for fd in os.listdir(f"/proc/{c.process.pid}/fd")
              if os.readlink(f"/proc/{c.process.pid}/fd/{fd}").startswith("socket:")}
    with open("/proc/net/tcp", encoding="ascii") as f:
        lines = [line.split() for line in f.readlines()[1:]]
    return next(int(row[1].split(":")[1], 16) for row in lines if row[3] == "0A" and row[9] in inodes)


# Who asks.

@case
def a_client_that_sends_many_forwarded_fields_is_still_the_one_that_the_proxy_names():
    with Console("--behind-proxy", "--origin", "https://seine.example") as c:
        c.at = ("127.0.0.1", port_of(c))

        def guess(spoofed, token=GUESS):
            """The client's own fields first, then the proxy's, in a field of its own."""
            fields = [("X-Forwarded-For", f"198.51.100.{spoofed}")] * 12 + [("X-Forwarded-For", "203.0.113.9")]
            return c.ask("GET", "/api/session", token=token, host="seine.example", fields=fields).status
        check([guess(i) for i in range(8)][-1], 429, "a new address for each guess does not help")
        check(c.ask("GET", "/api/session", token=c.token, host="seine.example", fields=[("X-Forwarded-For", "198.51.100.7")]).status, 200,
              "nobody was locked out instead")


def tokens_in(state):
    with sqlite3.connect(os.path.join(state, "console.db")) as db:
        n = db.execute("SELECT count(*) FROM token").fetchone()[0]
    db.close()
    return n


def fill_tokens(state, n):
    """As many tokens as an admin would make in a long time."""
    with sqlite3.connect(os.path.join(state, "console.db")) as db:
        for i in range(n):
            db.execute("INSERT INTO token VALUES (?, ?, 'viewer', 'x', 1, NULL, NULL)", (f"01JD2Z6W9N000000000000{i:04d}", os.urandom(32)))
    db.close()


@case
def tokens_that_are_made_at_once_are_never_more_than_the_server_can_load():
    with tempfile.TemporaryDirectory() as state:
        with Console(state=state):
            pass
        fill_tokens(state, 998)
        with Console(state=state) as c:
            body = b'{"name":"x","role":"viewer"}'
            ask = (f"POST /api/tokens HTTP/1.1\r\nHost: {c.host}\r\nAuthorization: Bearer {c.token}\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
            socks = [c.connect() for _ in range(8)]
            for s in socks:
                s.sendall(ask)
            codes = sorted(read_answer(Reader(s), "POST").status for s in socks)
            for s in socks:
                s.close()
            check(codes[0], 201, str(codes))
        check(tokens_in(state), 1000)
        with Console(state=state) as c:
            check(c.ask("GET", "/api/session", token=c.token).status, 200)


@case
def a_download_that_was_ordered_ends_with_its_token():
    with Console() as c:
        run = c.ask("POST", "/api/runs", {"start": ["http://127.0.0.1:9/"], "verb": "fetch"}, token=c.token).json()["id"]
        made = c.ask("POST", "/api/tokens", {"name": "leaver", "role": "viewer"}, token=c.token).json()

        def order(token):
            return c.ask("POST", f"/api/runs/{run}/export", {}, token=token).json()["url"]
        first, mine = order(made["token"]), order(c.token)
        check(c.ask("DELETE", f"/api/tokens/{made['id']}", {}, token=c.token).status, 204)
        check(c.ask("GET", first).status, 404)
        check(c.ask("GET", mine).status, 200)


# Where it goes.

OPEN = "egress: {allow_net: [127.0.0.0/8, '::1']}\n"


@case
def what_the_console_fetches_never_comes_from_the_console():
    with Server(OPEN) as c:
        port = c.at[1]
        for host in ("127.0.0.1", "127.0.0.2", "localhost", "0x7f.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"):
            r = c.post("/api/pages", {"url": f"http://{host}:{port}/livez"})
            check((host, r.status, r.code()), (host, 403, "forbidden"), str(r.body))
        run = c.post("/api/runs", {"start": [f"http://127.0.0.1:{port}/livez"], "verb": "fetch"}).json()["id"]
        until(lambda: c.ask("GET", f"/api/runs/{run}", token=c.token).json()["state"] in ("finished", "failed"), "the run has ended")
        records = c.ask("GET", f"/api/runs/{run}/records", token=c.token).json()["records"]
        check([(x.get("error") or {}).get("kind") or x.get("reason") for x in records], ["blocked_address"], str(records))


@case
def what_it_may_fetch_beside_itself_is_what_the_configuration_says():
    with Server(OPEN) as other, Server(OPEN) as c:
        r = c.post("/api/pages", {"url": f"http://127.0.0.1:{other.at[1]}/livez"})
        check((r.status, r.json()["status"]), (201, 200), str(r.body))
    with Server(OPEN) as other, Server(f"egress: {{allow_net: [127.0.0.0/8], deny_net: [local:{other.at[1]}]}}\n") as c:
        check(c.post("/api/pages", {"url": f"http://127.0.0.1:{other.at[1]}/livez"}).code(), "forbidden")


@case
def a_start_url_tells_nobody_which_files_there_are():
    with Server(OPEN) as c:
        for word in ("/etc/passwd", "/etc/no-such", "etc/passwd", "../../../../etc/passwd", "file:///etc/passwd", "-i", "@x", "e.example"):
            r = c.post("/api/runs", {"start": [word], "verb": "fetch"})
            check((word, r.status, r.code()), (word, 400, "bad_message"), str(r.body))
            check(word in r.body.decode(), False)


finish(at_once=2)
