#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every key of the configuration that `seine serve` reads does something: limits, threads, the database, recipes."""
import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import Console, Reader, read_answer  # noqa: E402
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, until  # noqa: E402

CLIENTS = [c * 22 for c in "abcdefgh"]


class Server(Console):
    """A console with this configuration; its runs may reach the loopback device."""
    def __init__(self, config, env=None):
        self.folder = tempfile.TemporaryDirectory(prefix="config")
        path = os.path.join(self.folder.name, "seine.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write("egress: {allow_net: [127.0.0.0/8]}\n" + config.replace("FOLDER", self.folder.name))
        super().__init__("--config", path, state=os.path.join(self.folder.name, "state"), env=env)

    def ask(self, *words, **how):
        """Whoever asks too often is told to come back, and does."""
        while (r := super().ask(*words, **how)).code() == "rate_limited":
            time.sleep(0.1)
        return r

    def get(self, path):
        return self.ask("GET", path, token=self.token)

    def post(self, path, body):
        return self.ask("POST", path, body, token=self.token)

    def document(self, text="", kind="note"):
        r = self.post("/api/docs", {"title": "t", "kind": kind, "text": text})
        check(r.status, 201, str(r.body))
        return r.json()["id"]

    def threads(self, name):
        """How many threads have a name that begins so."""
        found = 0
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{self.process.pid}/task/{task}/comm", encoding="ascii") as f:
                found += f.read().startswith(name)
        return found

    def run(self, **body):
        r = self.post("/api/runs", body)
        check(r.status, 201, str(r.body))
        return r.json()["id"]

    def ended(self, run):
        until(lambda: self.get(f"/api/runs/{run}").json()["state"] in ("finished", "failed", "stopped"), "the end of the run")
        return self.get(f"/api/runs/{run}").json()


@contextlib.contextmanager
def site(*words):
    process = subprocess.Popen([PROGRAM, "chaos", *words], stdout=subprocess.PIPE, env=environment())
    try:
        yield json.loads(process.stdout.readline())["http"]
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


@case
def server_workers_are_the_threads_of_a_crawl():
    with site("--site", "1:2000:fan=6") as url, Server("server: {workers: 3}\n") as c:
        run = c.run(start=[url + "/"], limits={"host_rate": 20})
        until(lambda: c.threads("sn-shard-") == 3, "three threads")
        check(c.get("/api/system").json()["limits"]["workers"], 3)
        check(c.post(f"/api/runs/{run}/cancel", {}).status, 202)
        c.ended(run)


@case
def database_url_names_the_file_and_connections_are_its_readers():
    with Server("database: {url: 'sqlite:desk.db', min_connections: 3, max_connections: 5}\n") as c:
        c.document("kept")
        check(sorted(n for n in os.listdir(c.state) if n.endswith(".db")), ["desk.db"])
        check(c.threads("sn-cread-") >= 3 and c.threads("sn-cread-") <= 5, True, str(c.threads("sn-cread-")))
        until(lambda: c.get("/readyz/database").status == 200, "the check of the database")
    with Server("database: {url: 'sqlite:FOLDER/elsewhere.db', max_connections: 1}\n") as c:
        c.document("kept")
        check(os.path.exists(os.path.join(c.folder.name, "elsewhere.db")), True)
        check([n for n in os.listdir(c.state) if n.endswith(".db")], [])
        check(c.threads("sn-cread-"), 1)


@case
def recipes_read_the_variables_that_recipe_env_lists_and_no_others():
    recipe = ("seine: 1\nname: shop\nabout: One page.\nvars:\n  key: {type: string, secret: true, default: \"env:%s\"}\n"
              "start: \"%s/\"\nrequest:\n  headers: {X-Key: \"{key}\"}\nitems:\n  kind: page\n  each: html\n  fields:\n    title: {css: title}\n")
    env = {"DESK_KEY": "a", "OTHER_KEY": "b"}
    with site("--site", "1:1") as url, Server("console: {recipe_env: [DESK_KEY]}\n", env=env) as c:
        for name, want in (("DESK_KEY", ""), ("OTHER_KEY", "console.recipe_env does not list")):
            run = c.run(doc=c.document(recipe % (name, url), kind="recipe"))
            d = c.ended(run)
            check((d["state"], want in d.get("message", "")), ("failed" if want else "finished", True), str(d))


@case
def a_silent_connection_is_closed_after_idle_timeout_and_not_after_request_timeout():
    with Server("console: {idle_timeout: 1s, request_timeout: 10m}\n") as c:
        began = time.monotonic()
        with c.connect() as s:
            check(Reader(s).rest(), b"")
            check(time.monotonic() - began >= 1, True)
        with c.connect() as s:  # the same behind an answer
            s.sendall(f"GET /livez HTTP/1.1\r\nHost: {c.host}\r\n\r\n".encode())
            reader = Reader(s)
            check(read_answer(reader).status, 200)
            check(reader.rest(), b"")
    with Server("console: {idle_timeout: 10m, request_timeout: 1s}\n") as c:
        with c.connect() as silent, c.connect() as slow:
            slow.sendall(b"GET /livez HTTP/1.1\r\n")
            check(Reader(slow).rest(), b"", "half a request")
            silent.sendall(f"GET /livez HTTP/1.1\r\nHost: {c.host}\r\n\r\n".encode())
            check(read_answer(Reader(silent)).status, 200, "it was silent for longer")


@contextlib.contextmanager
def download(c, run):
    """A download that is begun, and of which nothing more is read."""
    url = c.post(f"/api/runs/{run}/export", {"format": "jsonl"}).json()["url"]
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(PATIENCE)
        s.connect(c.at)
        s.sendall(f"GET {url} HTTP/1.1\r\nHost: {c.host}\r\n\r\n".encode())
        yield int(Reader(s).until(b"\r\n").split()[1])


def grow(path):
    """16 MB more of records, so that no buffer holds them all."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executemany("INSERT INTO skip VALUES(?, ?, 'scope', NULL, NULL, '2026-11-18T00:00:00Z')",
                       ((n, "http://a.example/" + "x" * 4000) for n in range(10000, 14000)))
        db.commit()


@case
def exports_and_exports_per_user_bound_the_downloads_at_once():
    with site("--site", "1:5") as url, Server("console: {exports: 3, exports_per_user: 2}\n") as c:
        run = c.run(start=[url + "/"], limits={"host_rate": 2000, "rate": 2000, "depth": 100})
        c.ended(run)
        grow(os.path.join(c.state, "runs", run, "records.sqlite"))
        desk, all_of_them = c.token, contextlib.ExitStack()
        with all_of_them:
            def begin():
                return all_of_them.enter_context(download(c, run))
            check([begin(), begin(), begin()], [200, 200, 429], "of one user")
            c.token = c.post("/api/tokens", {"name": "second", "role": "viewer"}).json()["token"]
            check([begin(), begin()], [200, 429], "of all")
        c.token = desk


def open_doc(ws, doc):
    ws.say(t="open", doc=doc)
    return next(m for m in iter(ws.hear, None) if m["t"] in ("opened", "err"))


LIMITS = """console:
  doc_units: 1024
  frame: 5k
  updates: 2
  sections: 3
  sessions: 2
  docs: 1
  subscriptions: 1
  push_rate: 1/m
  push_burst: 4
  cursor_rate: 1/m
  message_rate: 600/s
  send_queue: 64k
"""


@case
def limits_of_documents_and_messages_hold_and_clients_are_told_of_them():
    with Server(LIMITS) as c:
        check(c.post("/api/docs", {"title": "t", "kind": "note", "text": "x" * 1025}).code(), "doc_full")
        doc, other = c.document("x" * 1000), c.document()
        ws, welcome = c.session(client=CLIENTS[0])
        check(welcome["limits"], {"doc_units": 1024, "frame": 5120, "updates": 2, "sections": 3, "sessions": 2, "docs": 1,
                                  "push_rate": 1, "cursor_rate": 1})
        second, third = c.session(client=CLIENTS[1])[0], c.session(client=CLIENTS[2])[0]
        check(open_doc(ws, doc)["t"], "opened")
        check(open_doc(ws, other)["code"], "too_many", "docs")
        check(open_doc(second, doc)["t"], "opened")
        check(open_doc(third, doc)["code"], "too_many", "sessions")
        for updates, want in (([[1000, [0, "y" * 25]]], "doc_full"), ([[1000]] * 3, "too_large"),
                              ([[1, [0, "a"], 1, [0, "b"], 998]], "too_large"), ([[1000, [0, "y"]]], None),
                              ([[1001, [0, "y"]]], "rate_limited")):
            ws.say(t="push", doc=doc, base=0 if want != "rate_limited" else 1, seq=1 if want != "rate_limited" else 2, updates=updates)
            got = next(m for m in iter(ws.hear, None) if m["t"] in ("updates", "err"))
            check(got.get("code"), want, str(got))
        for want in (None, "rate_limited"):
            ws.say(t="cursor", doc=doc, v=1, sel=[[0, 0]])
            ws.say(t="ping", n=1)
            got = next(m for m in iter(ws.hear, None) if m["t"] in ("pong", "err"))
            check(got.get("code"), want, str(got))
        ws.say(t="sub", topic="runs")
        ws.hear_of("data")
        ws.say(t="sub", topic="system")
        check(next(m for m in iter(ws.hear, None) if m["t"] == "err")["code"], "too_many", "subscriptions")
        second.say(t="ping", n=1, more="x" * 5200)
        check(second.ended(), 1009, "frame")


@case
def a_burst_of_messages_and_the_queue_of_a_slow_reader_are_as_configured():
    with Server("console: {message_rate: 1/m, message_burst: 3, send_queue: 64k}\n") as c:
        doc = c.document("x" * 70000)
        ws, _ = c.session()  # the first message
        ws.say(t="open", doc=doc)
        check(next(m for m in iter(ws.hear, None) if m["t"] in ("opened", "err"))["code"], "slow_consumer", "the text is longer than the queue")
        ws, _ = c.session(client=CLIENTS[3])
        for want in ("pong", "pong", "err"):
            ws.say(t="ping", n=1)
            check(ws.hear()["t"], want)


if __name__ == "__main__":
    finish(at_once=4)
