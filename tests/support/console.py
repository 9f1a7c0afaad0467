# SPDX-License-Identifier: Apache-2.0
"""A console of its own for a test, raw requests to it, and a WebSocket that does nothing by itself.

    with Console("--ws-echo") as c:
        r = c.ask("GET", "/api/session", token=c.token)
        check(r.status, 200)
        ws = c.websocket("/ws/echo")
        ws.send(1, b"text")
        check(ws.frame(), (True, 0, 1, b"text"))

Nothing here corrects what a test wants to be wrong: requests and frames are sent as they are given.
"""
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import urllib.parse

from e2e import PATIENCE, PROGRAM, check, environment

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CLIENT = "q1mZ0v3xTn6d8kYb2LsW4g"  # the shape of a page's client id


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def json(self):
        return json.loads(self.body)

    def code(self):
        """The word of a refusal; "" if there is none."""
        try:
            return self.json()["error"]["code"]
        except (ValueError, KeyError, TypeError):
            return ""


class Closed(Exception):
    """The other side has closed the connection."""


class Reader:
    """Bytes of a socket, as many as are asked for."""
    def __init__(self, sock, had=b""):
        self.sock, self.had = sock, had

    def more(self):
        try:
            got = self.sock.recv(65536)
        except ConnectionError:
            got = b""
        if not got:
            raise Closed
        self.had += got

    def take(self, n):
        while len(self.had) < n:
            self.more()
        out, self.had = self.had[:n], self.had[n:]
        return out

    def until(self, mark):
        while mark not in self.had:
            self.more()
        out, _, self.had = self.had.partition(mark)
        return out

    def rest(self):
        try:
            while True:
                self.more()
        except Closed:
            out, self.had = self.had, b""
            return out


def read_answer(reader, method="GET"):
    head = reader.until(b"\r\n\r\n").decode("latin-1").split("\r\n")
    fields = {}
    for line in head[1:]:
        name, _, value = line.partition(":")
        fields[name.lower()] = value.strip()
    status = int(head[0].split()[1])
    if method == "HEAD" or status in (101, 204, 304):
        body = b""
    elif "content-length" in fields:
        body = reader.take(int(fields["content-length"]))
    elif fields.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(reader.until(b"\r\n"), 16):
            body += reader.take(size)
            reader.take(2)
        reader.take(2)
    else:
        body = reader.rest()
    return Answer(status, fields, body)


class WebSocket:
    def __init__(self, sock, reader):
        self.sock, self.reader = sock, reader

    def raw(self, data, chop=None):
        for at in range(0, len(data), chop or max(len(data), 1)):
            self.sock.sendall(data[at:at + (chop or len(data))])

    def send(self, opcode, payload=b"", fin=True, rsv=0, chop=None, masked=True):
        n, key = len(payload), os.urandom(4) if masked else b""
        head = bytes([fin << 7 | rsv << 4 | opcode])
        bit = 0x80 if masked else 0
        if n < 126:
            head += bytes([bit | n])
        elif n < 65536:
            head += bytes([bit | 126]) + struct.pack(">H", n)
        else:
            head += bytes([bit | 127]) + struct.pack(">Q", n)
        if masked and n:
            wide = (key * (n // 4 + 1))[:n]
            payload = (int.from_bytes(payload, "big") ^ int.from_bytes(wide, "big")).to_bytes(n, "big")
        self.raw(head + key + payload, chop)

    def close_with(self, code, reason=b""):
        self.send(8, struct.pack(">H", code) + reason)

    def frame(self):
        """(fin, rsv, opcode, payload); Closed at the end."""
        first, second = self.reader.take(2)
        n = second & 0x7f
        if n == 126:
            n = struct.unpack(">H", self.reader.take(2))[0]
        elif n == 127:
            n = struct.unpack(">Q", self.reader.take(8))[0]
        return bool(first & 0x80), first >> 4 & 7, first & 15, self.reader.take(n)

    def say(self, **message):
        self.send(1, json.dumps(message).encode())

    def hear(self):
        """The next message as JSON; pings are answered. A close frame is {"t": "closed", "code", "reason"}."""
        while True:
            _, _, opcode, payload = self.frame()
            if opcode == 1:
                return json.loads(payload)
            if opcode == 9:
                self.send(10, payload)
            if opcode == 8:
                code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                return {"t": "closed", "code": code, "reason": payload[2:].decode()}

    def hear_of(self, t):
        """The next message of this kind."""
        while (message := self.hear())["t"] != t:
            if message["t"] == "closed":
                raise AssertionError(f"closed with {message} instead of {t}")
        return message

    def ended(self):
        """The code of the close frame that comes, None if there is none; then the end of the connection."""
        try:
            while True:
                message = self.hear()
                if message["t"] == "closed":
                    return message["code"]
        except Closed:
            return None

    def close(self):
        self.sock.close()


class Console:
    def __init__(self, *options, state=None, env=None, listen="127.0.0.1:0"):
        self.own = None if state else tempfile.mkdtemp(prefix="console")
        self.state, self.listen = state or os.path.join(self.own, "state"), listen
        self.options, self.env = options, env

    def __enter__(self):
        words = [PROGRAM, "serve", "--listen", self.listen, "--state", self.state, *self.options]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(self.env))
        self.log, self.said = [], []
        self.link = self.process.stderr.readline().decode().strip()
        while self.link and not re.match("https?://|unix:", self.link):
            self.said.append(self.link)
            self.link = self.process.stderr.readline().decode().strip()
        if not self.link:
            raise AssertionError(f"no console: {self.said}")
        self.readers = [threading.Thread(target=self.collect, args=a, daemon=True)
                        for a in ((self.process.stdout, self.log), (self.process.stderr, self.said))]
        for r in self.readers:
            r.start()
        self.url, _, self.token = self.link.partition("#token=")
        if self.url.startswith("unix:"):
            self.at, self.host = None, "localhost"
            with open(os.path.join(self.state, "token"), encoding="ascii") as f:
                self.token = f.read().strip()
        else:
            place = urllib.parse.urlsplit(self.url)
            self.at, self.host = (place.hostname, place.port), place.netloc
        self.origin = f"http://{self.host}"
        return self

    @staticmethod
    def collect(stream, into):
        for line in stream:
            into.append(line.decode("utf-8", "replace"))

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(PATIENCE)
        for r in self.readers:
            r.join(PATIENCE)
        check([line for line in self.said if "Sanitizer" in line], [], "reports")
        return code

    def __exit__(self, *_):
        try:
            self.end()
        finally:
            self.process.stdout.close()
            self.process.stderr.close()
            if self.own:
                shutil.rmtree(self.own, ignore_errors=True)

    def connect(self):
        if self.at:
            return socket.create_connection(self.at, PATIENCE)
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(PATIENCE)
        s.connect(self.url[5:])
        return s

    def raw(self, data):
        """What the server answers to these bytes until it closes."""
        with self.connect() as s:
            s.sendall(data)
            return Reader(s).rest()

    def ask(self, method, path, body=None, token=None, host=None, origin=None, kind="application/json", fields=()):
        """One request on a connection of its own. body: bytes, or a value that becomes JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host if host is None else host}", "Connection: close"]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        if origin:
            lines.append(f"Origin: {origin}")
        if kind and method not in ("GET", "HEAD"):
            lines.append(f"Content-Type: {kind}")
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in fields]
        with self.connect() as s:
            s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
            return read_answer(Reader(s), method)

    def upgrade(self, path="/ws", token=None, origin=True, host=None, fields=()):
        """(answer, WebSocket or None)."""
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {self.host if host is None else host}", "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: seine.v1"]
        if origin:
            lines.append(f"Origin: {self.origin if origin is True else origin}")
        if token:
            lines.append(f"Authorization: Bearer {token}")
        lines += [f"{name}: {value}" for name, value in fields]
        s = self.connect()
        s.sendall("\r\n".join(lines).encode() + b"\r\n\r\n")
        reader = Reader(s)
        answer = read_answer(reader)
        if answer.status != 101:
            s.close()
            return answer, None
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        if answer.fields.get("sec-websocket-accept") != accept:
            raise AssertionError(f"wrong Sec-WebSocket-Accept: {answer.fields}")
        return answer, WebSocket(s, reader)

    def websocket(self, path="/ws", **how):
        answer, ws = self.upgrade(path, **how)
        if not ws:
            raise AssertionError(f"no upgrade: {answer.status} {answer.body}")
        return ws

    def session(self, token=None, client=CLIENT, name="desk"):
        """A WebSocket that has said hello, and its welcome."""
        ws = self.websocket()
        ws.say(t="hello", proto=1, client=client, token=token or self.token, name=name)
        return ws, ws.hear_of("welcome")
