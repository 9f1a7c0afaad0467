#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recipes of `seine serve`, checked while they are typed and tried on stored pages."""
import http.server
import os
import sqlite3
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from console import Console  # noqa: E402
from e2e import case, check, finish, seine  # noqa: E402

PAGE = "01JD2Z6W9N0000000000000007"
RECIPE = """seine: 1
name: books
start: {url: 'http://shop.example/'}
items:
  kind: book
  each: .book
  fields:
    title: {css: h2, required: true}
    price: {css: .price, type: number}
"""
HTML = b"<div class=book><h2>One</h2><p class=price>1.50</p></div><div class=book><h2>Two</h2></div>"


def make(c, text=RECIPE, kind="recipe"):
    return c.ask("POST", "/api/docs", {"title": "books", "kind": kind, "text": text}, token=c.token).json()["id"]


def opened(c, doc):
    ws, _ = c.session()
    ws.say(t="open", doc=doc)
    return ws, ws.hear_of("opened")


def store_page(state):
    """A page as an earlier fetch has left it."""
    import hashlib
    import time
    now = int(time.time() * 1000)
    with sqlite3.connect(os.path.join(state, "console.db")) as db:
        db.execute("INSERT INTO page VALUES (?, ?, ?, 200, 'text/html', 'utf-8', ?, ?, ?, ?)",
                   (PAGE, "http://shop.example/", "http://shop.example/list", HTML, hashlib.sha256(HTML).digest(), now, now))
    db.close()


@case
def problems_are_told_in_the_words_of_seine_run_and_go_when_they_are_mended():
    with Console() as c, tempfile.TemporaryDirectory() as here:
        text = RECIPE.replace("items:", "itmes:")
        ws, m = opened(c, make(c, text))
        diag = ws.hear_of("diag")
        check((diag["doc"], diag["v"]), (m["doc"], 0))
        item = diag["items"][0]
        check(text[item["from"]:item["to"]], "itmes")
        with open(os.path.join(here, "r.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
        check(item["message"] in seine("run", os.path.join(here, "r.yaml")).err, True)
        check(c.ask("POST", f"/api/docs/{m['doc']}/validate", {}, token=c.token).json(), {"version": 0, "items": diag["items"]})
        at = text.index("itmes")
        ws.say(t="push", doc=m["doc"], base=0, seq=1, updates=[[at, [5, "items"], len(text) - at - 5]])
        diag = ws.hear_of("diag")
        check((diag["v"], diag["items"]), (1, []))


@case
def problems_are_told_to_whoever_opens_the_recipe_later():
    with Console() as c:
        first, m = opened(c, make(c, RECIPE.replace("items:", "itmes:")))
        told = first.hear_of("diag")
        second, _ = opened(c, m["doc"])
        check(second.hear_of("diag")["items"], told["items"])


@case
def notes_are_not_checked():
    with Console() as c:
        ws, m = opened(c, make(c, "itmes: 1", kind="note"))
        ws.say(t="push", doc=m["doc"], base=0, seq=1, updates=[[8, [0, "x"]]])
        ws.hear_of("updates")
        other, n = opened_other(c)
        check(other.hear_of("diag")["doc"], n["doc"])  # a recipe's comes, and so would this one's
        ws.say(t="ping", n=1)
        check(ws.hear()["t"], "pong")


def opened_other(c):
    ws, _ = c.session(client="zzzzzzzzzzzzzzzzzzzzzz")
    doc = make(c, "itmes: 1")
    ws.say(t="open", doc=doc)
    return ws, ws.hear_of("opened")


@case
def a_preview_shows_rows_of_a_stored_page():
    with tempfile.TemporaryDirectory() as state:
        with Console(state=state) as c:
            doc = make(c)
            store_page(state)
            ws, _ = opened(c, doc)
            ws.say(t="preview", doc=doc, page=PAGE)
            got = ws.hear_of("preview")
            check((got["v"], got["page"], got["count"], got["truncated"]), (0, PAGE, 2, False))
            check([r["title"] for r in got["rows"]], ["One", "Two"])
            check([(f["name"], f["matched"], f["empty"]) for f in got["fields"]], [("title", 2, 0), ("price", 1, 1)])
            ws.say(t="preview", doc=doc, page="01JD2Z6W9N0000000000000009")
            check(ws.hear_of("err")["code"], "not_found")
            meta = c.ask("GET", f"/api/pages/{PAGE}", token=c.token).json()
            check((meta["final_url"], meta["status"], meta["bytes"]), ("http://shop.example/list", 200, len(HTML)))
            r = c.ask("GET", f"/api/pages/{PAGE}/source", token=c.token)
            check((r.fields["content-type"].startswith("text/plain"), r.body), (True, HTML))


@case
def pages_come_from_public_addresses_alone():
    with Console() as c:
        for url, status, code in [(f"http://{c.host}/", 403, "forbidden"), ("http://127.0.0.1/", 403, "forbidden"), ("http://169.254.169.254/latest", 403, "forbidden"),
                                  ("http://[::1]/", 403, "forbidden"), ("file:///etc/passwd", 400, "bad_message"), ("http://", 502, "fetch_failed")]:
            r = c.ask("POST", "/api/pages", {"url": url}, token=c.token)
            check((r.status, r.code()), (status, code), url)


@case
def a_page_is_fetched_kept_and_previewed():
    class Shop(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/list" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(HTML)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as f:
        f.write("egress: {allow_net: [127.0.0.0/8]}\n")
        f.flush()
        with Console("--config", f.name) as c:
            r = c.ask("POST", "/api/pages", {"url": place + "/list"}, token=c.token)
            check((r.status, r.json().get("status"), r.json().get("bytes")), (201, 200, len(HTML)), r.body)
            doc = make(c)
            ws, _ = opened(c, doc)
            ws.say(t="preview", doc=doc, page=r.json()["id"])
            check([row["title"] for row in ws.hear_of("preview")["rows"]], ["One", "Two"])
            r = c.ask("POST", "/api/pages", {"url": place + "/none"}, token=c.token)
            check((r.status, r.code(), r.json()["error"]["cause"]), (502, "fetch_failed", "http"))
    server.shutdown()


@case
def the_schema_names_the_keys_of_the_parser():
    with Console() as c:
        keys = {k["path"]: k for k in c.ask("GET", "/api/schema/recipe", token=c.token).json()["keys"]}
        check({"name", "items", "items.fields.*.css", "pages.*.items.fields.*.css", "options.host-rate", "tests.golden"} - set(keys), set())
        check("money" in keys["items.fields.*.type"]["values"], True)
        check(keys["items.on-error"]["values"], ["report", "drop", "stop"])


finish(at_once=4)
