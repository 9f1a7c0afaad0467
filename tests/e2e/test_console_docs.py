#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents of `seine serve`, edited by several people at once: over WebSockets and over HTTP."""
import os
import random
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from console import CLIENT, Console  # noqa: E402
from e2e import case, check, finish, until  # noqa: E402
from editor import Editor, client_id, settle, text_of  # noqa: E402

REST = "cmVzdC1jbGllbnQtMDAwMQ"


def make(c, text="", title="notes", kind="note"):
    r = c.ask("POST", "/api/docs", {"title": title, "kind": kind, "text": text}, token=c.token)
    check(r.status, 201)
    return r.json()["id"]


def content(c, doc):
    r = c.ask("GET", f"/api/docs/{doc}", token=c.token)
    check(r.status, 200)
    return r.json()


def ops(c, doc, base, seq, *edits, unit="utf16", client=REST):
    return c.ask("POST", f"/api/docs/{doc}/ops", {"client": client, "seq": seq, "base": base, "unit": unit, "ops": list(edits)}, token=c.token)


def insert(at, text):
    return {"op": "insert", "position": at, "text": text}


@case
def the_seed_s_own_test():
    with Console() as c:
        doc = make(c)
        r = ops(c, doc, 0, 1, insert(0, "Hello, World!"))
        check(r.status, 200)
        check({k: r.json()[k] for k in ("doc", "base", "version", "accepted", "duplicate")},
              {"doc": doc, "base": 0, "version": 1, "accepted": 1, "duplicate": 0})
        got = content(c, doc)
        check(sorted(got), sorted(["id", "title", "content", "version", "last_modified", "collaborators", "epoch"]))
        check((got["content"], got["version"], got["collaborators"]), ("Hello, World!", 1, []))


@case
def operations_stand_on_each_other_and_a_repetition_changes_nothing():
    with Console() as c:
        doc = make(c)
        body = [insert(0, "Hello, World!"), {"op": "replace", "position": 7, "length": 5, "text": "sea"}, {"op": "delete", "position": 0, "length": 7}]
        r = ops(c, doc, 0, 1, *body, unit="codepoint")
        check((r.status, r.json()["version"], r.json()["accepted"]), (200, 3, 3))
        check(content(c, doc)["content"], "sea!")
        r = ops(c, doc, 0, 1, *body, unit="codepoint")
        check((r.status, r.json()["version"], r.json()["accepted"], r.json()["duplicate"]), (200, 3, 0, 3))
        check(content(c, doc)["version"], 3)


@case
def operations_that_do_not_fit_are_refused_and_change_nothing():
    """Seed 003, defects 1, 6 and 12."""
    with Console() as c:
        doc = make(c, "a😀b")
        for edit, unit, status, code in [
                (insert(2, "x"), "utf16", 422, "bad_change"),                                          # inside of a character
                (insert(9, "x"), "utf16", 422, "bad_change"),
                ({"op": "delete", "position": 1, "length": 2 ** 53 - 1}, "utf16", 422, "bad_change"),  # position + length
                (insert(2, "x"), "utf8", 422, "bad_change"),
                (insert(0, "a\rb"), "utf16", 422, "bad_change"),
                ({"op": "insert", "position": 0, "text": "a\0b"}, "utf16", 422, "bad_change"),
                ({"op": "move", "position": 0}, "utf16", 400, "bad_message"),
                ({"op": "insert", "position": -1, "text": "x"}, "utf16", 400, "bad_message"),
                ({"op": "insert", "position": 0, "text": "x" * 300000}, "utf16", 413, "too_large")]:
            r = ops(c, doc, 0, 1, edit, unit=unit)
            check(r.status, status, f"{str(edit)[:60]} {r.body[:200]}")
            if status != 413:
                check(r.code(), code)
        check(ops(c, doc, 5, 1, insert(0, "x")).code(), "bad_base")
        check(ops(c, doc, 0, 3, insert(0, "x")).code(), "too_old")
        check((content(c, doc)["content"], content(c, doc)["version"]), ("a😀b", 0))
        check(ops(c, doc, 0, 1, insert(3, "x")).status, 200)
        check(ops(c, doc, 0, 5, insert(0, "x")).code(), "bad_seq")
        check(content(c, doc)["content"], "a😀xb")


@case
def two_edits_on_one_base_converge():
    """Seed 003, defects 2 and 3: both edits are there, and nobody applies its own twice."""
    with Console() as c:
        doc = make(c, "name: demo")
        a, b = Editor(c, doc), Editor(c, doc)
        for e in (a, b):
            e.connect()
            until(lambda e=e: (e.step(0.05), e.open)[1], "opened")
        a.replace(6, 4, "books")
        b.replace(10, 0, "\nrate: 1/s")
        settle([a, b])
        check(text_of(a.local), "name: books\nrate: 1/s")
        check(text_of(b.local), text_of(a.local))
        check(content(c, doc)["content"], text_of(a.local))


@case
def a_session_hears_only_what_it_opened():
    """Seed 003, defect 4."""
    with Console() as c:
        one, two = make(c), make(c)
        a, b = Editor(c, one), Editor(c, two)
        for e in (a, b):
            e.connect()
            until(lambda e=e: (e.step(0.05), e.open)[1], "opened")
        a.replace(0, 0, "only here")
        settle([a])
        b.ws.say(t="ping", n=7)
        until(lambda: (b.step(0.05), any(m["t"] == "pong" for m in b.others))[1], "pong")
        check([m["t"] for m in b.others], ["pong"])
        check(b.version, 0)


@case
def a_refused_push_is_one_error_and_nothing_else():
    """Seed 003, defect 6."""
    with Console() as c:
        doc = make(c, "abc")
        a, b = Editor(c, doc), Editor(c, doc)
        for e in (a, b):
            e.connect()
            until(lambda e=e: (e.step(0.05), e.open)[1], "opened")
        for message, code, scope in [
                (dict(base=0, seq=1, updates=[[5, [1]]]), "bad_change", "doc"), (dict(base=9, seq=1, updates=[[3]]), "bad_base", "doc"),
                (dict(base=0, seq=7, updates=[[3]]), "too_old", "doc"), (dict(base=0, seq=1, updates=[[3, [0, ""]]]), "bad_change", "doc"),
                (dict(base=0, seq=1, updates=[]), "bad_message", "frame"), (dict(base=0, seq=1, updates=[[3]] * 65), "too_large", "frame"),
                (dict(base=0, seq=1, updates=[[1, [0, "x"]] * 501 + [3 - 501]]), "too_large", "frame"),
                (dict(base="0", seq=1, updates=[[3]]), "bad_message", "frame")]:
            a.errors.clear()
            a.ws.say(t="push", doc=doc, id=42, **message)
            a.ws.say(t="ping", n=1)
            until(lambda: (a.step(0.05), any(m["t"] == "pong" for m in a.others))[1], "pong")
            a.others = [m for m in a.others if m["t"] != "pong"]
            check([(e["code"], e["scope"], e["re"], e["id"]) for e in a.errors], [(code, scope, "push", 42)], str(message)[:80])
        b.step(0.1)
        check((a.version, b.version, content(c, doc)["version"]), (0, 0, 0))


@case
def people_join_once_leave_once_and_are_given_their_colour():
    """Seed 003, defects 7, 9 and 13."""
    with Console() as c:
        doc = make(c, "abc")
        before = content(c, doc)["last_modified"]
        a, b = Editor(c, doc), Editor(c, doc)
        a.connect()
        until(lambda: (a.step(0.05), a.open)[1], "opened")
        b.connect()
        until(lambda: (b.step(0.05), b.open)[1], "opened")
        until(lambda: (a.step(0.05), len(a.others) == 1)[1], "the join")
        join = a.others.pop()
        check((join["t"], join["ev"], join["client"], join["v"]), ("peer", "join", b.client, 0))
        check(join["color"].startswith("#") and len(join["color"]), 7)
        check(len(content(c, doc)["collaborators"]), 2)
        b.ws.say(t="cursor", doc=doc, v=0, sel=[[1, 3]])
        until(lambda: (a.step(0.05), len(a.others) == 1)[1], "the caret")
        check(a.others.pop()["sel"], [[1, 3]])
        b.connect()  # again, over a new connection
        until(lambda: (b.step(0.05), b.open)[1], "opened")
        until(lambda: (a.step(0.05), len(a.others) == 2)[1], "leave and join")
        check([(m["ev"], m.get("why")) for m in a.others], [("leave", "replaced"), ("join", None)])
        a.others.clear()
        check(len(content(c, doc)["collaborators"]), 2)
        b.drop()
        until(lambda: (a.step(0.05), len(a.others) == 1)[1], "the leave")
        check((a.others[0]["ev"], a.others[0]["client"]), ("leave", b.client))
        check(len(content(c, doc)["collaborators"]), 1)
        check(content(c, doc)["last_modified"], before)


@case
def a_caret_follows_its_text():
    """Seed 003, defect 8."""
    with Console() as c:
        doc = make(c, "abcdef")
        a, b = Editor(c, doc), Editor(c, doc)
        for e in (a, b):
            e.connect()
            until(lambda e=e: (e.step(0.05), e.open)[1], "opened")
        b.ws.say(t="cursor", doc=doc, v=0, sel=[[3, 3]])
        until(lambda: (a.step(0.05), any(m.get("ev") == "cursor" for m in a.others))[1], "the caret")
        a.replace(0, 0, "12345")
        settle([a, b])
        check([p["cursor_position"] for p in content(c, doc)["collaborators"] if p["id"] == b.client], [8])


@case
def the_older_connection_of_a_client_is_closed_with_4009():
    with Console() as c:
        old, _ = c.session()
        new, welcome = c.session()
        check(old.ended(), 4009)
        check(welcome["user"]["role"], "admin")
        new.say(t="ping", n=3)
        check(new.hear_of("pong")["n"], 3)


@case
def a_client_id_belongs_to_its_user():
    with Console() as c:
        doc = make(c, "abc")
        check(ops(c, doc, 0, 1, insert(0, "x"), client=CLIENT).status, 200)
        r = c.ask("POST", "/api/tokens", {"name": "bob", "role": "editor"}, token=c.token)
        if r.status == 404:
            return  # tokens cannot be made yet
        bob = r.json()["token"]
        ws, _ = c.session(token=bob)
        ws.say(t="open", doc=doc)
        check(ws.hear_of("err")["code"], "forbidden")


@case
def messages_before_hello_and_messages_that_are_none_end_the_connection():
    with Console() as c:
        for text, code, close in [(b'{"t":"ping","n":1}', "bad_message", 1008), (b"{", "bad_json", 1008), (b'{"t":"hello","t":"hello"}', "bad_json", 1008),
                                  (b"[" * 9 + b"]" * 9, "bad_json", 1008), (b'{"t":"hello","proto":1,"client":"short"}', "bad_message", 1008),
                                  (b'{"t":"hello","proto":1,"client":"' + CLIENT.encode() + b'","token":"sn_wrong"}', "unauthorized", 4001)]:
            ws = c.websocket()
            ws.send(1, text)
            check(ws.hear_of("err")["code"], code, str(text))
            check(ws.ended(), close, str(text))


@case
def every_message_that_is_refused_is_answered():
    """Seed 003, defect 12."""
    with Console() as c:
        ws, _ = c.session()
        gone = "01JD2Z6W9N0000000000000001"
        for message, code in [(dict(t="open", doc=gone), "not_found"), (dict(t="open", doc="x"), "bad_message"), (dict(t="push", doc=gone, base=0, seq=1, updates=[[1]]), "not_open"),
                              (dict(t="cursor", doc=gone, v=0, sel=[]), "not_open"), (dict(t="close", doc=gone), "not_open"), (dict(t="preview", doc=gone, page=gone), "not_open"),
                              (dict(t="what"), "bad_message"), (dict(t="hello", proto=1, client=CLIENT), "bad_message"), (dict(t="open", doc=gone, v=1), "bad_message")]:
            ws.say(id=5, **message)
            m = ws.hear_of("err")
            check((m["code"], m["id"], m["scope"]), (code, 5 if message["t"] != "what" else m.get("id"), "frame"), str(message)) if message["t"] != "what" else check(m["code"], code)
        ws.say(t="ping", n=1)
        check(ws.hear()["t"], "pong")


@case
def a_document_has_its_limit_and_says_so():
    """Seed 003, defect 10."""
    with Console() as c:
        doc = make(c, "x" * 262_140)
        e = Editor(c, doc)
        e.connect()
        until(lambda: (e.step(0.05), e.open)[1], "opened")
        e.ws.say(t="push", doc=doc, base=0, seq=1, updates=[[262_140, [0, "12345"]]])
        until(lambda: (e.step(0.05), e.errors)[1], "the error")
        check((e.errors[0]["code"], e.errors[0]["scope"]), ("doc_full", "frame"))
        e.ws.say(t="push", doc=doc, base=0, seq=1, updates=[[262_140, [0, "1234"]]])
        until(lambda: content(c, doc)["version"] == 1, "the version")
        check(c.ask("POST", "/api/docs", {"title": "x", "text": "x" * 262_145}, token=c.token).code(), "doc_full")


@case
def a_restart_keeps_text_version_and_history():
    """Seed 003, defect 11."""
    import tempfile
    with tempfile.TemporaryDirectory() as state:
        with Console(state=state) as c:
            doc = make(c, "abc")
            for i in range(5):
                check(ops(c, doc, i, i + 1, insert(0, str(i))).status, 200)
            check(c.ask("POST", f"/api/docs/{doc}/labels", {"version": 2, "label": "two"}, token=c.token).status, 200)
            before = content(c, doc)
        with Console(state=state) as c:
            check(content(c, doc), before)
            h = c.ask("GET", f"/api/docs/{doc}/history", token=c.token).json()
            check([u["version"] for u in h["updates"]], [5, 4, 3, 2, 1])
            check([(x["version"], x["label"]) for x in h["labels"]], [(2, "two")])
            check(c.ask("GET", f"/api/docs/{doc}/text?v=2", token=c.token).body.decode(), "10abc")
            check(ops(c, doc, 5, 1, insert(0, "5"), client=client_id()).json()["version"], 6)


@case
def an_older_text_comes_back_as_a_new_version():
    with Console() as c:
        doc = make(c, "one\ntwo\n")
        e = Editor(c, doc)
        e.connect()
        until(lambda: (e.step(0.05), e.open)[1], "opened")
        e.replace(0, 3, "ONE 😀")
        settle([e])
        body = {"version": 0, "base": 1, "client": REST, "seq": 1}
        r = c.ask("POST", f"/api/docs/{doc}/restore", body, token=c.token)
        check((r.status, r.json()["version"]), (200, 2))
        until(lambda: (e.step(0.05), e.version == 2)[1], "the update")
        check(text_of(e.local), "one\ntwo\n")
        check(c.ask("POST", f"/api/docs/{doc}/restore", body, token=c.token).json()["duplicate"], 1)
        check(c.ask("POST", f"/api/docs/{doc}/restore", {**body, "version": 99, "seq": 2}, token=c.token).code(), "too_old")


@case
def titles_are_told_and_deleted_documents_are_gone():
    with Console() as c:
        doc = make(c)
        ws, _ = c.session()
        ws.say(t="open", doc=doc)
        ws.hear_of("opened")
        check(c.ask("PATCH", f"/api/docs/{doc}", {"title": "new‮ <b>"}, token=c.token).status, 200)
        m = ws.hear_of("doc")
        check((m["ev"], m["title"]), ("title", "new <b>"))
        check([d["title"] for d in c.ask("GET", "/api/docs", token=c.token).json()["docs"]], ["new <b>"])
        check(c.ask("DELETE", f"/api/docs/{doc}", token=c.token, body={}).status, 204)
        check(ws.hear_of("doc")["ev"], "deleted")
        check(c.ask("GET", f"/api/docs/{doc}", token=c.token).status, 404)
        check(ops(c, doc, 0, 1, insert(0, "x")).status, 404)
        ws.say(t="open", doc=doc)
        check(ws.hear_of("err")["code"], "not_found")
        check(c.ask("PATCH", f"/api/docs/{doc}", {"title": ""}, token=c.token).status, 400)


@case
def a_client_that_was_away_catches_up_and_sends_what_it_typed():
    with Console() as c:
        doc = make(c, "start ")
        a, b = Editor(c, doc), Editor(c, doc)
        for e in (a, b):
            e.connect()
            until(lambda e=e: (e.step(0.05), e.open)[1], "opened")
        b.drop()
        for i in range(20):
            a.replace(len(a.local), 0, f"a{i} ")
            b.replace(0, 0, f"b{i} ")
        settle([a])
        b.connect()
        settle([a, b])
        check(text_of(a.local), text_of(b.local))
        check(all(text_of(a.local).count(f"b{i} ") == 1 and text_of(a.local).count(f"a{i} ") == 1 for i in range(20)), True)


@case
def a_slow_reader_is_closed_and_catches_up():
    """Seed 003, defect 5: nothing is lost silently."""
    with Console() as c:
        doc, units = make(c), 100_000
        slow, ws = Editor(c, doc), c.session(client=client_id())[0]
        slow.connect()
        until(lambda: (slow.step(0.05), slow.open)[1], "opened")
        ws.say(t="open", doc=doc)
        ws.hear_of("opened")
        gone = False
        for v in range(200):  # more than the socket and the queue of 1 MiB hold, and the slow one reads nothing
            push = {"t": "push", "doc": doc, "base": v, "seq": v + 1, "updates": [[[units if v else 0, chr(97 + v % 26) * units]]]}
            ws.say(**push)
            while (m := ws.hear())["t"] != "updates":
                if m.get("code") == "rate_limited":  # a quick machine types faster than people may
                    time.sleep(m["retry_ms"] / 1000)
                    ws.say(**push)
                    continue
                check(m["t"], "peer", str(m)[:200])
                gone |= m["ev"] == "leave"
            if gone:
                break
        while not gone:
            gone = ws.hear_of("peer")["ev"] == "leave"
        try:
            check(slow.ws.ended() in (1013, None), True)
        except OSError:
            pass  # the connection was cut before it was read
        slow = Editor(c, doc)
        slow.connect()
        settle([slow])
        check(text_of(slow.local), content(c, doc)["content"])


@case
def many_people_type_lose_their_connection_and_converge():
    rng = random.Random(19)
    with Console() as c:
        doc = make(c, "the text that all of them change\n")
        editors = [Editor(c, doc) for _ in range(6)]
        for e in editors:
            e.connect()
        typed = []
        for turn in range(400):
            e = rng.choice(editors)
            if e.ws is None and rng.random() < 0.3:
                e.connect()
            elif e.ws and rng.random() < 0.02:
                e.drop()
            if e.version is not None and len(e.mine) < 60:
                word = f"«{turn}»"
                typed.append(word)
                at = rng.randrange(len(e.local) + 1)
                e.replace(at, 0, word)
            for other in editors:
                other.step()
            time.sleep(0.005)
        for e in editors:
            if e.ws is None:
                e.connect()
        settle(editors)
        texts = {text_of(e.local) for e in editors}
        check(len(texts), 1)
        check(content(c, doc)["content"], texts.pop())
        got = content(c, doc)
        digits = sorted("".join(ch for ch in got["content"] if ch == "«"))
        check(len(digits), len(typed))
        check(got["version"], len(typed))


@case
def too_many_messages_are_refused_and_a_client_that_goes_on_is_closed():
    """Seed 003, defect 10."""
    with Console() as c:
        doc = make(c, "abc")
        ws, _ = c.session()
        ws.say(t="open", doc=doc)
        ws.hear_of("opened")
        for i in range(60):
            ws.say(t="push", doc=doc, base=0, seq=1, updates=[[3]])
        got = ws.hear_of("err")
        check((got["code"], got["scope"], got["retry_ms"] > 0), ("rate_limited", "frame", True))


finish(at_once=4)
