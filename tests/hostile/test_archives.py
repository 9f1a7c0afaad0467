#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Web archives and packed lists of strangers: bombs, cut files, records that lie about themselves."""
import functools
import gzip
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SANITIZED, case, check, finish, rows  # noqa: E402
from hostile import attack  # noqa: E402

MIB = 1 << 20
ROOM = (384 if SANITIZED else 192) * MIB  # 64 MiB of a line and what it becomes; an attack brings more. Sanitizers keep as much for themselves
BOMB = 512  # MiB
ZEROS = bytes(MIB)
DATE = "2026-11-15T19:20:01Z"


def record(kind, block, length=None, **fields):
    head = {"WARC-Type": kind, "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000001>", "WARC-Date": DATE,
            **{k.replace("_", "-"): v for k, v in fields.items()}, "Content-Length": str(len(block) if length is None else length)}
    return b"WARC/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in head.items()).encode() + b"\r\n" + block + b"\r\n\r\n"


def response(block, length=None, **fields):
    return record("response", block, length, WARC_Target_URI="http://e.example/", Content_Type="application/http;msgtype=response", **fields)


def http(body, *fields):
    return ("HTTP/1.1 200 OK\r\n" + "".join(f + "\r\n" for f in fields) + "\r\n").encode() + body


def deflated(data, end=zlib.Z_FULL_FLUSH):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush(end)


def zeros(count, before=b"", after=b""):
    """A gzip member of `count` MiB of zeros, a thousandth of that long. Pieces that end in a full flush can be repeated."""
    crc = functools.reduce(lambda crc, _: zlib.crc32(ZEROS, crc), range(count), zlib.crc32(before))
    size = (len(before) + count * MIB + len(after)) % (1 << 32)
    return (b"\x1f\x8b\x08" + bytes(6) + b"\x03" + deflated(before) + deflated(ZEROS) * count + deflated(after, zlib.Z_FINISH)
            + struct.pack("<II", zlib.crc32(after, crc), size))


def zstd(data):
    return subprocess.run(["zstd", "-qc"], input=data, capture_output=True, check=True).stdout


def in_file(data, name, *words):
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, name), "wb") as f:
            f.write(data)
        return attack(*[w.replace("FILE", name) for w in words], cwd=d)


each_reader = rows([("warc ls", ["warc", "ls", "FILE"]), ("warc check", ["warc", "check", "FILE"]),
                    ("convert", ["convert", "-q", "--body", "b64", "FILE"])])


@each_reader
def a_member_of_half_a_gibibyte_takes_no_memory(_, words):
    lie = response(http(b"", "Content-Type: text/html"), length=BOMB * MIB)
    head, tail = lie[:-4], b"\r\n\r\n"
    r = in_file(zeros(BOMB, before=head, after=tail), "a.warc.gz", *words)
    check((r.code in (0, 1, 2), r.peak < ROOM), (True, True), f"{r.code}, {r.peak >> 20} MiB, {r.err}")


@case
def a_coded_body_of_half_a_gibibyte_stays_coded():
    r = in_file(response(http(zeros(BOMB), "Content-Encoding: gzip")), "a.warc", "convert", "-q", "--body", "b64", "FILE")
    check((r.code, r.peak < ROOM), (0, True), f"{r.peak >> 20} MiB, {r.err}")
    check(json.loads(r.out)["notes"], ["coded_body"])


@rows([("lines", ["convert", "--from", "jsonl", "FILE"]), ("cells", ["convert", "--from", "csv", "FILE"]), ("urls", ["url", "parse", "-"])])
def a_line_of_half_a_gibibyte_ends_at_a_limit(_, words):
    packed = zeros(BOMB, before=b'{"a":"')
    r = in_file(packed, "a.gz", *words) if "-" not in words else attack(*words, stdin=packed)
    check((r.code in (1, 2), r.peak < ROOM), (True, True), f"{r.code}, {r.peak >> 20} MiB, {r.err}")


@each_reader
def a_length_beyond_all_numbers_is_refused(_, words):
    for length in ("18446744073709551615", "18446744073709551616", "-1", "0x10", "9" * 400, "1e3", ""):
        r = in_file(response(http(b"x"), length=length), "a.warc", *words)
        check((r.code in (1, 2), r.peak < ROOM), (True, True), f"{length}: {r.code}, {r.err}")


@each_reader
def a_length_that_lies_is_seen(_, words):
    whole = http(b"x" * 100)
    for length in (0, 1, len(whole) - 1, len(whole) + 1, len(whole) + 4, 1 << 40):
        r = in_file(response(whole, length=length) + response(whole), "a.warc", *words)
        check(r.code in (1, 2), True, f"{length}: {r.code} {r.out} {r.err}")


@each_reader
def a_file_cut_anywhere_ends(_, words):
    plain = response(http(b"page" * 9, "Content-Length: 36"))
    for pack in (lambda b: b, gzip.compress, zstd):
        data = pack(plain)
        for at in {1, 3, 9, len(data) // 3, len(data) // 2, len(data) - 9, len(data) - 1}:
            r = in_file(data[:at], "a.warc.gz", *words)
            check(r.code in (1, 2), True, f"{at} of {len(data)}: {r.code} {r.out} {r.err}")


@each_reader
def a_head_without_end_is_refused(_, words):
    for head in (b"WARC/1.1\r\n" + b"a: b\r\n" * MIB, b"WARC/1.1\r\nA: " + b"x" * (8 * MIB), b"WARC/1.1\r\nA: b\r\n" + b" \r\n" * (2 * MIB)):
        r = in_file(head, "a.warc", *words)
        check((r.code in (1, 2), r.peak < ROOM), (True, True), f"{r.code} {r.peak >> 20} MiB")


@each_reader
def a_hundred_thousand_empty_members_end(_, words):
    r = in_file(gzip.compress(response(http(b"x"))) + gzip.compress(b"") * 100000, "a.warc.gz", *words)
    check((r.code in (0, 1, 2), r.peak < ROOM), (True, True), f"{r.code} {r.peak >> 20} MiB")


@case
def references_to_nowhere_do_not_slow_what_follows():
    """Each record is checked against references that wait for theirs: 4,000 that never come."""
    def record_with(n, field=""):
        return f"WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{n}>\r\nWARC-Date: {DATE}\r\n{field}Content-Length: 0\r\n\r\n\r\n\r\n"
    many = "".join(record_with(n) for n in range(20000)).encode()
    lost = "".join(record_with(-n, f"WARC-Concurrent-To: <urn:y:{n}>\r\n") for n in range(1, 4000)).encode()
    calm, slow = (in_file(data, "a.warc", "warc", "check", "FILE") for data in (many, lost + many))
    check((calm.code, slow.code, slow.cpu < 4 * calm.cpu + 0.5), (1, 1, True), f"{calm.cpu} s, then {slow.cpu} s")


@each_reader
def a_value_that_goes_on_for_ten_thousand_lines_is_read_once(_, words):
    def records(line):
        head = b"WARC/1.0\r\nWARC-Type: resource\r\nX: a" + line * (60000 // len(line)) + b"\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        return head * 16
    calm, slow = (in_file(records(line), "a.warc", *words) for line in (b"x" * 10, b"\r\n "))
    check((calm.code in (0, 1), slow.code, slow.cpu < 4 * calm.cpu + 1), (True, calm.code, True), f"{calm.cpu} s, then {slow.cpu} s")


@case
def a_window_of_gigabytes_is_refused():
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"  # a window of 2 GiB, one empty last block
    for words in (["warc", "check", "FILE"], ["convert", "--from", "jsonl", "FILE"]):
        r = in_file(frame, "a.zst", *words)
        check((r.code in (1, 2), r.peak < ROOM), (True, True), f"{r.code} {r.peak >> 20} MiB {r.err}")


finish(at_once=2)
