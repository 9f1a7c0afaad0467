#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every class of damage that HTTP, TLS and codings can show, through the whole program: the named
error, in time, in little memory, and the run goes on. covers: S0-04, S0-06"""
import base64
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, needs_plain_memory, patiently, rows  # noqa: E402

LATE = 40  # seconds: far longer than a deadline of options(), far shorter than a fault without one

HOME = tempfile.TemporaryDirectory()
CA = os.path.join(HOME.name, "ca.pem")
chaos = subprocess.Popen([PROGRAM, "chaos", "--dns", "--tls", "--ca-out", CA], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
PLACES = json.loads(chaos.stdout.readline())
PORT = PLACES["http"].rsplit(":", 1)[1]
TLS = PLACES["https"].rsplit(":", 1)[1]


def raw(data):
    if isinstance(data, str):
        data = data.encode("latin-1")
    return "/raw:" + base64.urlsafe_b64encode(data).decode().rstrip("=")


def place(name, default=""):
    return PLACES.get(name, default)


def tls(host, path="/ok"):
    return f"https://{host}:{TLS}{path}"


def options(scale):
    return ["--mine", "--cacert", CA, "--tls-timeout", f"{500 * scale}ms", "--retries", "0", "-t", f"{2 * scale}s", "--tcp-timeout", f"{300 * scale}ms",
            "--head-timeout", f"{500 * scale}ms", "--dns-timeout", f"{300 * scale}ms", "--min-speed", f"1000/{600 * scale}ms", "--max-body", "1M",
            "--breaker", "off", "--dns", PLACES["dns"], "--progress", "off", "-j", "--dedup", "off", "--no-summary"]


def fetch(*urls, scale=1):
    """The records, by their input; the seconds it took."""
    start = time.monotonic()
    p = subprocess.Popen([PROGRAM, "fetch", *options(scale), *urls], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    out, err = p.communicate(timeout=PATIENCE)
    took = time.monotonic() - start
    assert p.returncode in (0, 1), (p.returncode, err)
    records = [json.loads(line) for line in out.splitlines()]
    return records, took


HEAD = "HTTP/1.1 200 OK\r\n"
# What is asked, and the kind it ends with; None: ok, with the note behind it if any.
CATALOGUE = [
    # names
    (f"http://nx.test:{PORT}/ok", "dns_nxdomain"),
    (f"http://servfail.test:{PORT}/ok", "dns_servfail"),
    (f"http://slow-30000.test:{PORT}/ok", "dns_timeout"),
    (f"http://{'a' * 64}.test:{PORT}/ok", "dns_bad_name"),
    (f"http://good.test:{PORT}/ok", None),
    # connections
    (place("dead") + "/", "connect_refused"),
    (place("hole") + "/", "connect_timeout"),
    ("/mute", "header_timeout"),
    ("/reset:0/ok", "conn_reset"),
    ("/fin:0/ok", "conn_reset"),
    ("/reset:9/ok", "header_truncated"),
    ("/fin:30/ok", "header_truncated"),
    ("/reset:100/bytes:5000", "body_truncated"),
    ("/fin:200/bytes:5000", "body_truncated"),
    ("/chunked/fin:200/bytes:5000", "body_truncated"),
    ("/chunked/reset:300/bytes:5000", "body_truncated"),
    ("/close/reset:300/bytes:5000", "body_truncated"),
    ("/short:10/bytes:500", "body_truncated"),
    ("/stall:20/ok", "header_timeout"),
    ("/stall:500/bytes:5000", "stalled"),
    ("/drip:1x100ms/bytes:4000", "header_timeout"),
    ("/drip:10x100ms:body/bytes:9000", "stalled"),
    ("/delay:30s/ok", "header_timeout"),
    # heads
    ("/badstatus:letters/ok", "bad_status_line"),
    ("/badstatus:two/ok", "bad_status_line"),
    ("/badstatus:low/ok", "bad_status_line"),
    ("/badstatus:version/ok", "bad_status_line"),
    ("/badstatus:ssh/ok", "bad_status_line"),
    ("/http09/ok", "bad_status_line"),
    ("/nul/ok", "bad_header"),
    ("/cr/ok", None, "cr"),
    ("/lf/ok", None, "lf"),
    ("/odd/ok", None, "odd_headers"),
    ("/fold/ok", None),
    ("/bighead:70k/ok", "header_too_large"),
    ("/manyhead:1100/ok", "header_too_large"),
    ("/interim:40/ok", "too_many_interim"),
    ("/interim:3/ok", None),
    ("/interim:1:101/ok", "bad_framing"),
    # framing
    ("/length:two/ok", "bad_framing"),
    ("/length:list/ok", None),
    ("/length:same/ok", None),
    ("/length:odd/ok", "bad_framing"),
    ("/length:fold/ok", "bad_framing"),
    ("/length:space/ok", "bad_framing"),
    ("/length:=-1/ok", "bad_framing"),
    ("/length:=99999999999999999999/ok", "bad_framing"),
    ("/length:+5/fin:9999/ok", "body_truncated"),
    ("/length:-1/ok", None, "extra_bytes"),
    ("/te:gzip/ok", "bad_framing"),
    ("/both/ok", None, "framing_conflict"),
    ("/badchunk:size/ok", "bad_framing"),
    ("/badchunk:empty/ok", "bad_framing"),
    ("/badchunk:negative/ok", "bad_framing"),
    ("/badchunk:huge/ok", "bad_framing"),
    ("/badchunk:lf/ok", "bad_framing"),
    ("/badchunk:end/ok", "bad_framing"),
    ("/chunkext:5000/bytes:9000", "bad_framing"),
    ("/extra:10/ok", None, "extra_bytes"),
    ("/smuggle/ok", None, "extra_bytes"),
    ("/withbody/status:204", None),
    ("/status:304", "unexpected_304"),
    ("/status:206", "unexpected_206"),
    ("/bytes:2M", "body_too_large"),
    ("/chunked/bytes:2M", "body_too_large"),
    ("/close/bytes:2M", "body_too_large"),
    ("/close/bytes:500", None),
    ("/http10/bytes:500", None),
    ("/chunked/bytes:9000", None),
    ("/chunksize:1/bytes:900", None),
    ("/empty", None),
    (raw(HEAD + "Content-Length: 5, 5\r\n\r\nhello"), None),
    (raw(HEAD + "Content-Length: +5\r\n\r\nhello"), "bad_framing"),
    (raw(HEAD + "Content-Length : 5\r\n\r\nhello"), "bad_framing"),
    (raw(HEAD + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n"), "bad_framing"),
    (raw(HEAD + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n"), "bad_framing"),
    (raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n0\r\n\r\n"), None),
    (raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"), "bad_framing"),
    (raw(HEAD + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\n"), "bad_framing"),
    (raw("\r\n" + HEAD + "\r\n"), "bad_status_line"),
    (raw("HTTP/2 200\r\n\r\n"), "bad_status_line"),
    (raw("HTTP/1.1 200\r\n\r\nx"), None),
    (raw("HTTP/1.1  200 OK\r\n\r\n"), "bad_status_line"),
    (raw("HTTP/1.1 099 OK\r\n\r\n"), "bad_status_line"),
    # TLS
    (tls("127.0.0.1"), None),
    (tls("valid.test"), None),
    (tls("fresh.test"), None),
    (tls("tls12.test", "/bytes:100000"), None),
    (tls("noresume.test"), None),
    (tls("expired.test"), "tls_cert_expired"),
    (tls("future.test"), "tls_cert_expired"),
    (tls("wronghost.test"), "tls_host_mismatch"),
    (tls("selfsigned.test"), "tls_untrusted"),
    (tls("untrusted.test"), "tls_untrusted"),
    (tls("tls10.test"), "tls_error"),
    (tls("x.garbage.test"), "tls_error"),
    (tls("alert.test"), "tls_error"),
    (tls("client.test"), "tls_error"),
    (tls("fin.test"), "conn_reset"),
    (tls("reset.test"), "conn_reset"),
    (tls("stall.test"), "tls_timeout"),
    (f"https://127.0.0.1:{PORT}/ok", "tls_error"),  # who speaks no TLS at all
    (tls("a.test", "/fin:0/ok"), "conn_reset"),
    (tls("a.test", "/reset:9/ok"), "header_truncated"),
    (tls("a.test", "/fin:200/bytes:5000"), "body_truncated"),
    (tls("a.test", "/chunked/reset:300/bytes:5000"), "body_truncated"),
    (tls("a.test", "/close/bytes:500"), None),
    (tls("a.test", "/close/tlscut:400/bytes:500"), "body_truncated"),
    (tls("a.test", "/close/tlscut:500:body/bytes:500"), "body_truncated"),
    (tls("a.test", "/stall:500/bytes:5000"), "stalled"),
    (tls("a.test", "/mute"), "header_timeout"),
    (tls("a.test", "/bytes:2M"), "body_too_large"),
    (tls("a.test", "/scheme:http/ok"), None, "downgrade"),
    # codings
    ("/gzip/html:100", None),
    ("/deflate/html:100", None),
    ("/rawdeflate/html:100", None),
    ("/br/html:100", None),
    ("/zstd/html:100", None),
    ("/gzip:x-gzip/html:100", None),
    ("/gzip/br/html:100", None),
    ("/chunked/gzip/html:100", None),
    ("/close/zstd/html:100", None),
    ("/members:1023/gzip/ok", None),
    ("/codetail:9/gzip/ok", None, "trailing_bytes"),
    ("/codecut:1/gzip/ok", "body_truncated"),
    ("/codecut:1/deflate/ok", "body_truncated"),
    ("/codecut:1/br/html:9", "body_truncated"),
    ("/codecut:1/zstd/ok", "body_truncated"),
    ("/codeflip:-5/gzip/ok", "bad_encoding"),
    ("/codeflip:-1/gzip/ok", "bad_encoding"),
    ("/lie:gzip/ok", "bad_encoding"),
    ("/lie:zstd/ok", "bad_encoding"),
    ("/coding:sdch/ok", "bad_encoding"),
    ("/gzip/br/zstd/ok", "bad_encoding"),
    ("/fin:5:body/gzip/html:100", "body_truncated"),
    ("/bomb:gzip:1G", "body_too_large"),
    ("/bomb:deflate:1G", "body_too_large"),
    ("/bomb:br:1G", "body_too_large"),
    ("/bomb:zstd:1G", "body_too_large"),
    ("/br/bomb:gzip:1G", "body_too_large"),
    (tls("a.test", "/zstd/bomb:br:1G"), "body_too_large"),
    # statuses
    ("/status:404", "http"),
    ("/status:410", "http"),
    ("/status:501", "http"),
    ("/status:500", "http_busy"),
    ("/status:503", "http_busy"),
    ("/status:429", "http_busy"),
    ("/status:999", "http"),
    # redirects
    ("/redir:3/ok", None),
    ("/redir:11/ok", "too_many_redirects"),
    ("/loop", "too_many_redirects"),
    ("/to:302", "bad_redirect"),
    ("/to:302?u=http%3A%2F%2F%5Bx", "bad_redirect"),
    ("/to:302?u=ftp%3A%2F%2Fx.test%2F", "blocked_scheme"),
    ("/to:302?u=file%3A%2F%2F%2Fetc%2Fpasswd", "blocked_scheme"),
    ("/to:301?u=" + PLACES["http"].replace(":", "%3A").replace("/", "%2F") + "%2Fstatus:404", "http"),
]


def full(target):
    return target if target.startswith("http") else PLACES["http"] + target


def verdict(record):
    return record.get("error", {}).get("kind") if record["type"] == "result" else record["reason"]


def check_row(record, kind, note):
    check(verdict(record), kind, record["url"])
    if kind is None:
        check(record["ok"], True)
        assert "partial" not in record, record
    if note:
        assert note in record.get("notes", []), (note, record.get("notes"))
    if kind and record["type"] == "result":
        check(record["ok"], False)
        for member in ("message", "retryable"):
            assert member in record["error"], record["error"]
        if record.get("partial"):
            assert kind in ("body_truncated", "stalled", "timeout", "body_too_large", "bad_framing", "bad_encoding", "canceled"), record


@rows([row if len(row) == 3 else (*row, None) for row in CATALOGUE], name=lambda row: row[0][:60])
def a_fault_has_its_name(target, kind, note):
    def run(scale):
        records, took = fetch(full(target), scale=scale)
        check(len(records), 1)
        check_row(records[0], kind, note)
        assert took < LATE * scale, f"{took:.2f} s"
    patiently(run)


@case
def all_of_them_at_once_spoil_nobody_else():
    targets = [full(row[0]) for row in CATALOGUE]
    good = [f"{PLACES['http']}/bytes:{n}" for n in range(100, 200)]

    def run(scale):
        records, took = fetch(*targets, *good, scale=scale)
        check(len(records), len(targets) + len(good))
        check(sum(r["type"] == "result" and r["ok"] for r in records if "/bytes:1" in r["url"] and r["url"] in good), 100)
        kinds = {}
        for r in records:
            kinds.setdefault(r["input"], []).append(verdict(r))
        for row in CATALOGUE:
            check(kinds[full(row[0])], [row[1]], row[0][:60])
        assert took < LATE * scale, f"{took:.2f} s"
    patiently(run)


@case
def p5_bombs_do_not_grow_memory():
    needs_plain_memory()
    bombs = [f"/{w}/bytes:900M?key={i}" for i, w in enumerate(["chunked", "close", "chunksize:4096"])] + \
            ["/bighead:900M/ok", "/manyhead:9000000/ok", "/interim:9000000/ok", "/chunkext:900M/bytes:9000"] + \
            [f"/bomb:{c}:900M" for c in ("gzip", "deflate", "br", "zstd")] + ["/br/bomb:gzip:900M", "/zstd/bomb:br:900M"]

    def run(scale):
        records, took = fetch(*[PLACES["http"] + b for b in bombs], scale=scale)
        check(sorted({verdict(r) for r in records} - {"bad_framing", "http", None}), ["body_too_large", "header_too_large", "too_many_interim"])
        assert took < LATE * scale
    patiently(run)
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert most < 64 * 1024, f"{most} KiB"


@case
def p12_the_same_fault_always_has_the_same_kind():
    def run(scale):
        records, _ = fetch(*[f"{PLACES['http']}/fin:200/bytes:5000?n={n}" for n in range(50)], scale=scale)
        check({verdict(r) for r in records}, {"body_truncated"})
        check({r["partial"] for r in records}, {True})
    patiently(run)


def end():
    chaos.send_signal(signal.SIGTERM)
    chaos.wait(timeout=PATIENCE)


try:
    finish(at_once=8)
finally:
    end()
