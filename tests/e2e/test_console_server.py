#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine serve` as a server: where it listens, who comes in, what it refuses, and what it survives. Documents, runs and pages have tests
of their own."""
import json
import os
import re
import signal
import socket
import stat
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import CLIENT, Closed, Console, Reader, read_answer  # noqa: E402
from e2e import PATIENCE, SANITIZED, case, check, environment, finish, needs_plain_memory, rows, seine, until  # noqa: E402

JSON = [("Content-Type", "application/json")]


def rss(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS:"))


def make_token(c, role, name="colleague", **more):
    r = c.ask("POST", "/api/tokens", {"name": name, "role": role, **more}, token=c.token)
    check(r.status, 201, str(r.body))
    return r.json()


def port_of(c):
    """The port of a console whose URL is that of its proxy, as the kernel has it."""
    inodes = {os.readlink(f"/proc/{c.process.pid}/fd/{fd}")[8:-1] for fd in os.listdir(f"/proc/{c.process.pid}/fd")
              if os.readlink(f"/proc/{c.process.pid}/fd/{fd}").startswith("socket:")}
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows_of = [line.split() for line in f.readlines()[1:]]
    return next(int(row[1].split(":")[1], 16) for row in rows_of if row[3] == "0A" and row[9] in inodes)


# Where it listens.

@rows([("0.0.0.0:0",), ("[::]:0",), ("192.0.2.1:0",), ("nowhere",), ("127.0.0.1:99999",), ("unix:",)])
def an_address_that_others_can_reach_is_refused_with_code_2(listen):
    with tempfile.TemporaryDirectory() as d:
        r = seine("serve", "--listen", listen, "--state", os.path.join(d, "s"))
    check(r.code, 2, r.err)
    check("--listen" in r.err, True, r.err)
    check(r.err.count("\n") <= 2, True, r.err)


OPENER = """#!/usr/bin/python3
import os, signal, sys
with open(os.path.join(os.path.dirname(sys.argv[0]), "opened.new"), "w") as f:
    print(*sys.argv[1:], len(signal.pthread_sigmask(signal.SIG_BLOCK, [])), os.getsid(0) == os.getpid(), sep="\\n", file=f)
os.rename(f.name, f.name[:-4])
sys.exit(%d)
"""


@rows([("a browser", 0), ("no browser", 3), ("no xdg-open", None), ("no display", 0)])
def open_starts_a_browser_with_a_link_that_signs_in_once(how, code):
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "xdg-open")
        if code is not None:
            with open(path, "w", encoding="ascii") as f:
                f.write(OPENER % code)
            os.chmod(path, 0o700)
        with Console("--open", env={"PATH": d, "DISPLAY": "" if how == "no display" else ":9", "WAYLAND_DISPLAY": ""}) as c:
            if code is None or how == "no display":
                until(lambda: "--open: there is no " in "".join(c.said), "a line that says so")
                check(len(c.token), 46, "the link is there as ever")
                check(os.path.exists(os.path.join(d, "opened")), False)
                return
            until(lambda: os.path.exists(os.path.join(d, "opened")), "the browser")
            with open(os.path.join(d, "opened"), encoding="ascii") as f:
                link, blocked, leads, end = f.read().split("\n")
            check((blocked, leads, end), ("0", "True", ""))
            check(link.startswith(c.url), True, link)
            check("token" in link or c.token in link, False, "everybody sees arguments")
            key = link.partition("#once=")[2]
            check(c.ask("POST", "/api/once", {"once": ("y" if key[0] == "x" else "x") + key[1:]}).status, 404)
            check(c.ask("POST", "/api/once", {"once": key}).json(), {"token": c.token})
            check(c.ask("POST", "/api/once", {"once": key}).status, 404, "once")
            check(c.ask("POST", "/api/once", {}).status, 400)
            if code == 3:
                until(lambda: "--open: xdg-open found no browser" in "".join(c.said), "a line that says so")
            for _ in range(6):
                last = c.ask("POST", "/api/once", {"once": "x" * 43}).status
            check(last, 429, "nobody guesses on")


@case
def no_token_is_needed_on_this_machine_alone():
    with tempfile.TemporaryDirectory() as d:
        check(seine("serve", "--listen", "0.0.0.0:0", "--no-auth", "--insecure-listen", "--state", d).code, 2)
    with Console("--no-auth") as c:
        check(c.token, "")
        check(c.ask("GET", "/api/session").json()["user"]["role"], "admin")
        check(c.ask("GET", "/api/session", host="evil.example").status, 421)
        check(c.ask("GET", "/api/session", origin="http://evil.example").status, 403)


@case
def behind_a_proxy_it_needs_to_know_its_origin():
    with tempfile.TemporaryDirectory() as d:
        r = seine("serve", "--behind-proxy", "--listen", "127.0.0.1:0", "--state", d)
    check(r.code, 2)
    check("--origin" in r.err, True, r.err)
    with Console("--behind-proxy", "--origin", "https://seine.example") as c:
        check(c.url, "https://seine.example/")


@case
def guesses_count_for_the_client_that_a_trusted_proxy_names():
    with Console("--behind-proxy", "--origin", "https://seine.example") as c:
        c.at = ("127.0.0.1", port_of(c))

        def guess(client, token="sn_" + "x" * 43):
            return c.ask("GET", "/api/session", token=token, host="seine.example", fields=[("X-Forwarded-For", client)]).status
        check([guess("spoofed, 203.0.113.9") for _ in range(8)][-1], 429)
        check(guess("203.0.113.9", c.token), 429, "its own right token")
        check(guess("203.0.113.10"), 401, "another client")
        check(guess("203.0.113.10", c.token), 200)


@case
def a_proxy_that_is_not_trusted_names_nobody():
    with Console("--behind-proxy", "--origin", "https://seine.example", "--trust-proxy", "192.0.2.0/24") as c:
        c.at = ("127.0.0.1", port_of(c))
        codes = [c.ask("GET", "/api/session", token="sn_" + "x" * 43, host="seine.example", fields=[("X-Forwarded-For", f"203.0.113.{i}")]).status for i in range(8)]
        check(codes[-1], 429)
    with tempfile.TemporaryDirectory() as d:
        r = seine("serve", "--listen", "127.0.0.1:0", "--trust-proxy", "10.1.2.3/8", "--state", d)
        check((r.code, "--trust-proxy" in r.err), (2, True), r.err)


@case
def a_port_that_is_taken_is_the_machines_fault():
    with socket.socket() as s, tempfile.TemporaryDirectory() as d:
        s.bind(("127.0.0.1", 0))
        s.listen()
        r = seine("serve", "--port", str(s.getsockname()[1]), "--state", d)
    check(r.code != 0 and "address" in r.err.lower(), True, r.err)


@case
def a_unix_socket_is_the_owners_alone_and_goes_with_the_server():
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "c.sock")
        with Console(listen="unix:" + path) as c:
            check(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            check(c.ask("GET", "/livez").status, 200)
            check(c.ask("GET", "/api/session", token=c.token).status, 200)
            check(c.ask("GET", "/livez", host="evil.example").status, 421)
        check(os.path.exists(path), False)
        open(path, "w", encoding="ascii").close()
        r = seine("serve", "--listen", "unix:" + path, "--state", os.path.join(d, "s"))
        check((r.code != 0, os.path.getsize(path)), (True, 0), "a file of somebody else")


@case
def term_ends_it_in_order_and_the_state_stays():
    with tempfile.TemporaryDirectory() as d:
        with Console(state=d) as c:
            made = make_token(c, "viewer")
            ws, _ = c.session()
            c.process.send_signal(signal.SIGTERM)
            check(ws.ended(), 1001)
            check(c.process.wait(PATIENCE), 128 + signal.SIGTERM)
            first = c.token
        with Console(state=d) as c:
            check(c.token, first)
            check(c.ask("GET", "/api/session", token=made["token"]).json()["user"]["role"], "viewer")
        check(stat.S_IMODE(os.stat(os.path.join(d, "token")).st_mode), 0o600)
        r = seine("serve", "token", "--state", d)
        check((r.code, r.out.strip()), (0, first))


@case
def a_second_console_of_the_same_state_answers_too_or_says_why_not():
    with Console() as c:
        r = seine("serve", "token", "--state", "/nonexistent")
        check((r.code, "no token" in r.err), (2, True), r.err)


# Tokens.

with Console() as one:
    @case
    def a_token_is_shown_once_and_never_listed():
        made = make_token(one, "editor", "Grace")
        check(bool(re.fullmatch("sn_[A-Za-z0-9_-]{43}", made["token"])), True)
        listed = one.ask("GET", "/api/tokens", token=one.token)
        check(made["token"] in listed.body.decode(), False)
        check([t["name"] for t in listed.json()["tokens"] if t["id"] == made["id"]], ["Grace"])
        check(b"hash" in listed.body, False)

    @case
    def a_revoked_token_ends_its_sockets_and_its_calls():
        made = make_token(one, "editor")
        ws, welcome = one.session(made["token"])
        check(welcome["user"]["role"], "editor")
        check(one.ask("DELETE", "/api/tokens/" + made["id"], token=one.token).status, 204)
        start = time.monotonic()
        check(ws.hear_of("err")["code"], "unauthorized")
        check(ws.ended(), 4001)
        check(time.monotonic() - start < 30, True)
        check(one.ask("GET", "/api/session", token=made["token"]).status, 401)
        check(one.ask("DELETE", "/api/tokens/01JD2Z6W9N0000000000000000", token=one.token).status, 404)

    @case
    def a_token_ends_when_it_expires():
        soon = int(time.time() * 1000) + 1500
        made = make_token(one, "viewer", expires_ms=soon)
        ws, _ = one.session(made["token"])
        check(ws.ended(), 4001)
        check(time.time() * 1000 >= soon, True)
        check(one.ask("GET", "/api/session", token=made["token"]).code(), "unauthorized")

    @rows([({},), ({"name": "x"},), ({"name": "x", "role": "root"},), ({"name": "", "role": "admin"},), ({"name": "x" * 41, "role": "admin"},),
           ({"name": 3, "role": "admin"},), ({"name": "x", "role": "admin", "expires_ms": 1},), ([],), (b"{", ), (b'{"name":"a","name":"b","role":"admin"}',)], str)
    def a_bad_token_request_is_one_clear_refusal(body):
        r = one.ask("POST", "/api/tokens", body, token=one.token)
        check((r.status, r.code() in ("bad_json", "bad_message")), (400, True), str(r.body))

    @case
    def what_changes_something_leaves_one_audit_row():
        made = make_token(one, "viewer", "audited")
        one.ask("DELETE", "/api/tokens/" + made["id"], token=one.token)
        check(one.ask("DELETE", "/api/tokens/" + made["id"], token=made["token"]).status, 401)

        def rows_of():
            audit = one.ask("GET", "/api/audit?limit=200", token=one.token).json()["audit"]
            return [(a["action"], a["user"], a["code"]) for a in audit if a.get("target") == made["id"]]
        until(lambda: len(rows_of()) >= 2)
        check(sorted(rows_of()), [("DELETE /api/tokens/{id}", "first", 204), ("DELETE /api/tokens/{id}", "nobody", 401)])

    # Requests.

    @case
    def a_session_says_who_asks():
        r = one.ask("GET", "/api/session", token=one.token).json()
        check((r["user"]["role"], r["user"]["name"], "version" in r, r["limits"]["websockets"]), ("admin", "first", True, 192))

    @case
    def the_log_is_there_for_viewers():
        def lines():
            return one.ask("GET", "/api/logs", token=one.token).json()["lines"]
        check("console.start" in [line.get("event.name") for line in until(lines)], True)

    @case
    def a_page_has_a_nonce_of_its_own():
        def nonce():
            return re.search("'nonce-([^']+)'", one.ask("GET", "/").fields["content-security-policy"]).group(1)
        a, b = nonce(), nonce()
        check((a != b, len(a) >= 22), (True, True))
        check(one.ask("GET", "/").fields["cache-control"], "no-store")

    @case
    def head_answers_like_get_without_a_body():
        get, head = one.ask("GET", "/livez"), one.ask("HEAD", "/livez")
        check((head.status, head.body, head.fields["content-length"]), (200, b"", str(len(get.body))))


    def head(*fields, line="GET /livez HTTP/1.1", host=True):
        lines = [line] + ([f"Host: {one.host}"] if host else []) + list(fields)
        return "\r\n".join(lines).encode() + b"\r\n\r\n"

    @rows([
        ("no host", lambda: head(host=False), 400),
        ("two hosts", lambda: head(f"Host: {one.host}"), 400),
        ("two lengths", lambda: head("Content-Length: 3", "Content-Length: 4") + b"abcd", 400),
        ("length and coding", lambda: head("Content-Length: 3", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        ("two codings", lambda: head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n", 400),
        ("another coding", lambda: head("Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n", 400),
        ("signed length", lambda: head("Content-Length: +3") + b"abc", 400),
        ("long target", lambda: head(line="GET /livez?" + "a" * 4100 + " HTTP/1.1"), 414),
        ("long head", lambda: head("X: " + "a" * 17000), 431),
        ("many fields", lambda: head(*(f"X-{i}: {'a' * 100}" for i in range(170))), 431),
        ("escaped slash", lambda: head(line="GET /api%2fsession HTTP/1.1"), 404),
        ("escaped NUL", lambda: head(line="GET /livez%00 HTTP/1.1"), 404),
        ("dots", lambda: head(line="GET /assets/../livez HTTP/1.1"), 404),
    ])
    def a_request_that_could_be_read_in_two_ways_is_refused_and_the_connection_closed(_, data, status):
        got = one.raw(data())
        check(int(got.split()[1]), status, str(got[:200]))
        check(b"connection: close" in got.lower(), True)
        check(b"\r\n\r\nok" in got, False, "the request was answered")

    @case
    def a_body_over_its_limit_is_413_before_and_while_it_comes():
        r = one.ask("POST", "/api/tokens", b"x" * 65537, token=one.token)
        check((r.status, r.code()), (413, "too_large"))
        chunks = b"".join(b"8000\r\n" + b"x" * 0x8000 + b"\r\n" for _ in range(4)) + b"0\r\n\r\n"
        got = one.raw(head("Authorization: Bearer " + one.token, "Content-Type: application/json", "Transfer-Encoding: chunked", "Connection: close",
                           line="POST /api/tokens HTTP/1.1") + chunks)
        check(int(got.split()[1]), 413, str(got[:200]))

    @case
    def requests_on_one_connection_are_answered_in_order():
        with one.connect() as s:
            s.sendall(head(line="GET /livez HTTP/1.1") + head(line="GET /nowhere HTTP/1.1"))
            reader = Reader(s)
            check(read_answer(reader).status, 200)
            check(read_answer(reader).status, 404)

    # WebSockets.

    @rows([("no Origin, no token", dict(origin=False), 403), ("another site", dict(origin="http://evil.example"), 403), ("null", dict(origin="null"), 403),
           ("another Host", dict(host="evil.example"), 421), ("https", dict(origin="https://127.0.0.1"), 403)])
    def a_socket_from_elsewhere_is_refused(_, how, status):
        answer, ws = one.upgrade("/ws", **how)
        check((answer.status, ws), (status, None))

    @case
    def a_program_without_origin_shows_its_token():
        answer, ws = one.upgrade("/ws", origin=False, token=one.token)
        check((answer.status, answer.fields.get("sec-websocket-protocol")), (101, "seine.v1"))
        ws.say(t="hello", proto=1, client=CLIENT)
        check(ws.hear_of("welcome")["user"]["role"], "admin")
        check("sec-websocket-extensions" in answer.fields, False)

    @case
    def the_echo_exists_for_tests_alone():
        check(one.upgrade("/ws/echo")[0].status, 404)

    @rows([("not JSON", b"{", "bad_json", 1008), ("another first message", b'{"t":"ping","n":1}', "bad_message", 1008),
           ("a wrong token", json.dumps({"t": "hello", "proto": 1, "client": CLIENT, "token": "sn_" + "x" * 43}).encode(), "unauthorized", 4001),
           ("another protocol", json.dumps({"t": "hello", "proto": 2, "client": CLIENT}).encode(), "bad_message", 1008)])
    def a_wrong_hello_is_answered_and_closed(_, data, code, closed):
        ws = one.websocket()
        ws.send(1, data)
        check(ws.hear_of("err")["code"], code)
        check(ws.ended(), closed)

    @rows([("binary", lambda ws: ws.send(2, b"x"), 1003), ("over 4 KiB before hello", lambda ws: ws.send(1, b"x" * 4097), 1009),
           ("not UTF-8", lambda ws: ws.send(1, b"\xff"), 1007), ("no mask", lambda ws: ws.send(1, b"x", masked=False), 1002),
           ("reserved bit", lambda ws: ws.send(1, b"x", rsv=4), 1002), ("a long ping", lambda ws: ws.send(9, b"x" * 126), 1002)])
    def a_broken_frame_closes_with_its_code(_, act, code):
        ws = one.websocket()
        act(ws)
        check(ws.ended(), code)

    @case
    def messages_are_counted_by_their_kind():
        with Console() as own:  # other cases send messages to the one that they share
            def counted(direction, kind):
                text = own.ask("GET", "/metrics", token=own.token).body.decode()
                return int(re.search(rf'^seine_ws_messages_total{{direction="{direction}",type="{kind}"}} (\d+)', text, re.M).group(1))
            ws, _ = own.session(client="c" * 22)
            for n in range(3):
                ws.send(1, b'{"t":"ping","n":1}')
                check(ws.hear_of("pong")["n"], 1)
            check((counted("in", "ping"), counted("out", "pong")), (3, 3))

    @case
    def many_fragments_take_no_more_memory_than_one():
        ws, _ = one.session(client="f" * 22)
        before = rss(one.process.pid)
        head_one = bytes([0x01, 0x80]) + bytes(4)  # an empty first fragment, masked with zeros
        ws.raw(head_one + (bytes([0x00, 0x81]) + bytes(4) + b" ") * 200000)
        ws.send(0, b'{"t":"ping","n":7}')
        check(ws.hear_of("pong")["n"], 7)
        check(rss(one.process.pid) - before < 16 << 20, True, "bytes")

    @case
    def wrong_tokens_lock_their_address_out():
        with Console() as c:
            wrong = "sn_" + "A" * 43
            codes = [c.ask("GET", "/api/session", token=wrong).status for _ in range(8)]
            check((codes[:5], codes[-1]), ([401] * 5, 429), str(codes))
            r = c.ask("GET", "/api/session", token=c.token)
            check((r.status, r.code(), r.fields["retry-after"]), (429, "rate_limited", "60"), "the right token, too")
            check(c.ask("GET", "/livez").status, 200)

    @case
    def too_many_calls_of_one_token_are_429():
        with Console(env={"SEINE_CONSOLE_REST_RATE": "2/s"}) as c, c.connect() as s:  # 50/s would fill the bucket on a busy machine
            made = make_token(c, "viewer", "busy")
            line = f"GET /api/session HTTP/1.1\r\nHost: {c.host}\r\nAuthorization: Bearer {made['token']}\r\n\r\n".encode()
            reader, status = Reader(s), []
            for _ in range(400):
                s.sendall(line)
                r = read_answer(reader)
                status.append(r.status)
                if r.status == 429:
                    break
            check((status[:100] == [200] * 100, status[-1], r.code(), "retry-after" in r.fields), (True, 429, "rate_limited", True), str(len(status)))

    @case
    def secrets_stand_in_no_log_and_no_list():
        with Console("--ws-echo") as c:
            made = make_token(c, "admin", "other")
            c.ask("GET", "/api/session?token=" + made["token"], token=made["token"])
            c.session(made["token"])
            seen = c.ask("GET", "/api/audit", token=c.token).body + c.ask("GET", "/api/logs", token=c.token).body + c.ask("GET", "/api/system", token=c.token).body
            link = c.link
            c.end()
            text = "".join(c.log) + "".join(c.said) + seen.decode()
            for secret in (c.token, made["token"]):
                check(secret in text, False)
            check(link.count("#token="), 1)
            state = b"".join(open(os.path.join(c.state, f), "rb").read() for f in os.listdir(c.state) if f != "token")
            check(made["token"].encode() in state or c.token.encode() in state, False)

    # Limits, on a console of its own: they are everybody's.

    @case
    def strangers_are_bounded_and_their_time_is():
        with Console() as c:
            held = [c.websocket() for _ in range(16)]
            answer, _ = c.upgrade()
            check((answer.status, answer.code()), (429, "too_many"))
            check(held[0].hear_of("err")["code"], "unauthorized")
            check(held[0].ended(), 4001)
            until(lambda: c.upgrade()[0].status == 101)

    @case
    def clients_that_do_not_read_cost_bounded_memory():
        with Console("--ws-echo") as c:
            before = rss(c.process.pid)
            quiet = []
            for _ in range(64 - 2):
                s = c.websocket("/ws/echo")
                s.sock.settimeout(0.05)
                quiet.append(s)
            for s in quiet:
                try:
                    for _ in range(40):
                        s.send(1, b"x" * 262144)
                except (TimeoutError, ConnectionError):
                    pass
            until(lambda: c.ask("GET", "/livez").status == 200)  # others are served; 503: a busy machine let one turn take 5 s
            needs_plain_memory()
            check(rss(c.process.pid) - before < 256 << 20, True, "bytes")

    @case
    def a_flood_of_pings_that_nobody_reads_is_not_stored():
        with Console("--ws-echo") as c:
            ws = c.websocket("/ws/echo")
            ws.sock.settimeout(0.2)
            before = rss(c.process.pid)
            flood = (bytes([0x89, 0xfd]) + bytes(4) + b"p" * 125) * 1000
            try:
                for _ in range(400):
                    ws.raw(flood)
            except (TimeoutError, ConnectionError):
                pass
            check(c.ask("GET", "/livez").status, 200)
            needs_plain_memory()
            check(rss(c.process.pid) - before < 32 << 20, True, "bytes")

    @case
    def one_address_has_64_connections():
        with Console() as c:
            held = [c.connect() for _ in range(64)]
            for s in held:
                s.sendall(b"G")

            def is_refused():
                with c.connect() as s:
                    try:
                        s.sendall(f"GET /livez HTTP/1.1\r\nHost: {c.host}\r\nConnection: close\r\n\r\n".encode())
                        return s.recv(100) == b""
                    except ConnectionError:
                        return True
            until(is_refused)
            for s in held:
                s.close()
            until(lambda: not is_refused(), "room again")

    finish(at_once=4)
