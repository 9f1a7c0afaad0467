# SPDX-License-Identifier: Apache-2.0
"""Is this a WARC/1.1 file? Written from ISO 28500:2017 and RFC 9112, from nothing of ours.

    records = validate("x.warc.gz")        raises Invalid, or every record as a Record

What the standard demands is demanded; where it recommends, what our own archives
promise is demanded: digests that are right, one record a gzip member, pairs of
responses and requests, revisits that lead to a response with the same payload.
"""
import base64
import hashlib
import ipaddress
import re
import subprocess
import urllib.parse
import zlib

TYPES = {"warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation"}
TOKEN = re.compile(rb"[!#$%&'*+\-.0-9A-Z^_`a-z|~]+\Z")
DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?Z\Z")
UUID4 = re.compile(r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>\Z")
PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


class Invalid(Exception):
    pass


class Record:
    def __init__(self, offset, length, fields, block):
        self.offset, self.length, self.fields, self.block = offset, length, fields, block

    def get(self, name):
        values = [v for n, v in self.fields if n.lower() == name.lower()]
        return values[0] if values else None

    @property
    def type(self):
        return self.get("WARC-Type")


def demand(what, where, why):
    if not what:
        raise Invalid(f"{where}: {why}")


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


def members(data):
    """(offset, length, text) of each gzip member."""
    at = 0
    while at < len(data):
        stream = zlib.decompressobj(wbits=31)
        try:
            text = stream.decompress(data[at:])
        except zlib.error as e:
            raise Invalid(f"{at}: {e}") from e
        demand(stream.eof, at, "a gzip member without its end")
        end = len(data) - len(stream.unused_data)
        yield at, end - at, text
        at = end


def zstd_frames(data):
    """The same of zstd frames, found by their headers (RFC 8878, 3.1.1)."""
    at = 0
    while at < len(data):
        start = at
        demand(data[at:at + 4] == b"\x28\xb5\x2f\xfd", at, "no zstd frame")
        descriptor = data[at + 4]
        single, checksum, dictionary = descriptor >> 5 & 1, descriptor >> 2 & 1, descriptor & 3
        demand(dictionary == 0, at, "a frame with a dictionary")
        at += 5 + (0 if single else 1)
        at += {0: 1 if single else 0, 1: 2, 2: 4, 3: 8}[descriptor >> 6]
        last = False
        while not last:
            demand(at + 3 <= len(data), start, "a frame without its end")
            head = int.from_bytes(data[at:at + 3], "little")
            last, kind, size = head & 1, head >> 1 & 3, head >> 3
            at += 3 + (1 if kind == 1 else size)
        at += 4 * checksum
        demand(at <= len(data), start, "a frame without its end")
        done = subprocess.run(["zstd", "-dcq"], input=data[start:at], capture_output=True, timeout=60)
        demand(done.returncode == 0, start, done.stderr.decode(errors="replace"))
        yield start, at - start, done.stdout


def plain(data):
    at = 0
    while at < len(data):
        head = data.find(b"\r\n\r\n", at)
        demand(head >= 0, at, "a head without its end")
        length = re.search(rb"\r\nContent-Length: *(\d+)\r\n", data[at:head + 2], re.I)
        demand(length, at, "no Content-Length")
        end = head + 4 + int(length[1]) + 4
        yield at, end - at, data[at:end]
        at = end


def parse(offset, length, text):
    """One record, to its last byte (5.1 to 5.3 of the standard)."""
    head, mark, rest = text.partition(b"\r\n\r\n")
    demand(mark, offset, "a head without its end")
    lines = head.split(b"\r\n")
    demand(lines[0] == b"WARC/1.1", offset, f"version {lines[0]!r}")
    fields = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        demand(colon and TOKEN.match(name), offset, f"no field: {line!r}")
        demand(not re.search(rb"[\x00-\x1f\x7f]", value), offset, f"control bytes: {line!r}")
        fields.append((name.decode(), value.strip(b" \t").decode()))
    names = [n.lower() for n, _ in fields]
    for name in set(names) - {"warc-concurrent-to"}:
        demand(names.count(name) == 1, offset, f"{name} twice")
    n = dict(zip(names, (v for _, v in fields))).get("content-length", "")
    demand(n.isdecimal(), offset, "no Content-Length")
    demand(len(rest) == int(n) + 4, offset, f"{len(rest) - 4} bytes of block, Content-Length {n}")
    demand(rest.endswith(b"\r\n\r\n"), offset, "no CRLF CRLF behind the block")
    return Record(offset, length, fields, rest[:-4])


def dechunk(body, where):
    """The content of a chunked body (RFC 9112, 7.1), and that it ends where the block does."""
    out, at = b"", 0
    while True:
        end = body.find(b"\n", at)
        demand(end >= 0, where, "a chunk without its size")
        size = body[at:end].split(b";")[0].strip()
        demand(re.fullmatch(rb"[0-9A-Fa-f]+", size), where, f"chunk size {size!r}")
        at = end + 1
        if int(size, 16) == 0:
            break
        out += body[at:at + int(size, 16)]
        at = body.find(b"\n", at + int(size, 16)) + 1
        demand(at > 0, where, "a chunk without its end")
    while True:
        end = body.find(b"\n", at)
        demand(end >= 0, where, "trailers without their end")
        line, at = body[at:end].strip(), end + 1
        if not line:
            break
    demand(at == len(body), where, "bytes behind the last chunk")
    return out


def answer(block, where, head_only=False):
    """Status and payload of a whole HTTP message; what framing it has must be kept."""
    at = 0
    while True:
        end = re.compile(rb"\r?\n\r?\n").search(block, at)
        demand(end, where, "an HTTP head without its end")
        head = block[at:end.start()].decode("latin-1")
        at = end.end()
        status = re.match(r"HTTP/1\.[01] (\d{3})(?: |\r|\n|\Z)", head)
        demand(status, where, f"status line {head[:40]!r}")
        status = int(status[1])
        if not 100 <= status < 200:
            break
    fields = [(n.strip().lower(), v.strip()) for n, _, v in (line.partition(":") for line in head.splitlines()[1:])]
    body = block[at:]
    if head_only or status in (204, 304):
        demand(not body, where, f"a body of {len(body)} bytes where none can be")
        return status, b""
    if any(n == "transfer-encoding" and v.lower().endswith("chunked") for n, v in fields):
        return status, dechunk(body, where)
    lengths = {v for n, v in fields if n == "content-length"}
    if lengths:
        demand(len(body) == int(lengths.pop().split(",")[0]), where, "another length than Content-Length says")
    return status, body


def check_fields(r):
    where = r.offset
    for name in ("WARC-Record-ID", "WARC-Type", "WARC-Date", "Content-Length"):
        demand(r.get(name), where, f"no {name}")
    demand(r.type in TYPES, where, f"type {r.type}")
    demand(UUID4.match(r.get("WARC-Record-ID")), where, f"id {r.get('WARC-Record-ID')}")
    demand(DATE.match(r.get("WARC-Date")), where, f"date {r.get('WARC-Date')}")
    demand(r.get("WARC-Block-Digest") == sha1(r.block), where, "block digest")
    if r.type == "warcinfo":
        demand(not r.get("WARC-Target-URI"), where, "a target of a warcinfo")
        demand(r.get("Content-Type") == "application/warc-fields", where, "type of a warcinfo")
        for line in r.block.decode().split("\r\n")[:-1]:
            demand(re.match(r"[A-Za-z-]+: \S", line), where, f"warc-fields: {line!r}")
        return
    target = urllib.parse.urlsplit(r.get("WARC-Target-URI") or "")
    demand(target.scheme in ("http", "https") and target.hostname and not target.fragment, where, "no target")
    demand(not target.username and not target.password, where, "a user in the target")
    if r.get("WARC-IP-Address"):
        ipaddress.ip_address(r.get("WARC-IP-Address"))


def check_message(r, by_id, heads):
    where = r.offset
    word = "request" if r.type == "request" else "response"
    demand(r.get("Content-Type") == f"application/http; msgtype={word}", where, r.get("Content-Type"))
    if r.type == "request":
        other = by_id.get(r.get("WARC-Concurrent-To"))
        demand(other is not None, where, "concurrent to nothing")
        demand(other.type in ("response", "revisit"), where, "concurrent to no answer")
        for name in ("WARC-Target-URI", "WARC-Date", "WARC-IP-Address"):
            demand(other.get(name) == r.get(name), where, f"another {name} than its answer")
        demand(re.match(rb"[A-Z]+ /\S* HTTP/1\.1\r\nHost: \S+\r\n", r.block), where, "no request")
        return
    cut = r.get("WARC-Truncated")
    if cut:
        demand(cut in ("length", "time", "disconnect", "unspecified"), where, f"truncated: {cut}")
        demand(not r.get("WARC-Payload-Digest"), where, "the digest of a payload that is not there")
        return
    digest = r.get("WARC-Payload-Digest")
    demand(digest, where, "no payload digest")
    if r.type == "response":
        payload = answer(r.block, where, r.get("WARC-Record-ID") in heads)[1]
        demand(digest == sha1(payload), where, "payload digest")
        return
    demand(r.get("WARC-Profile") == PROFILE, where, "profile")
    demand(re.search(rb"\r?\n\r?\n\Z", r.block), where, "more than a head in a revisit")
    first = by_id.get(r.get("WARC-Refers-To"))
    demand(first is not None and first.type == "response", where, "refers to no response")
    demand(first.get("WARC-Payload-Digest") == digest, where, "refers to another payload")
    demand(first.get("WARC-Target-URI") == r.get("WARC-Refers-To-Target-URI"), where, "refers to another target")
    demand(first.get("WARC-Date") == r.get("WARC-Refers-To-Date"), where, "refers to another date")


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    streams = members if path.endswith(".gz") else zstd_frames if path.endswith(".zst") else plain
    return [parse(*part) for part in streams(data)]


def validate(*paths):
    """The records of an archive, which may be in several files."""
    files = [read(p) for p in paths]
    everything = [r for f in files for r in f]
    by_id = {}
    for r in everything:
        check_fields(r)
        demand(r.get("WARC-Record-ID") not in by_id, r.offset, "an id twice")
        by_id[r.get("WARC-Record-ID")] = r
    heads = {r.get("WARC-Concurrent-To") for r in everything if r.type == "request" and r.block.startswith(b"HEAD ")}
    for f in files:
        demand(f and f[0].type == "warcinfo", 0, "no warcinfo first")
    for r in everything:
        if r.type != "warcinfo":
            info = by_id.get(r.get("WARC-Warcinfo-ID"))
            demand(info is not None and info.type == "warcinfo", r.offset, "of no warcinfo")
            check_message(r, by_id, heads)
    return everything
