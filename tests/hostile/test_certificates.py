#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates that are signed by a known authority and yet do not prove who the server is. The site is https://www.a.example/;
whatever proves another name, or the name in a place that does not count, gets no request."""
import base64
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import check, finish, free_port, rows, seine, until  # noqa: E402
from hostile import PATIENT  # noqa: E402
from origin import results  # noqa: E402
from secure_site import Authority, Proxy, Site, openssl  # noqa: E402

NAME = "www.a.example"
CA = Authority()


def der_name(text):
    """subjectAltName with one dNSName of any bytes."""
    data = text.encode("latin-1")
    return "subjectAltName=DER:" + bytes([0x30, len(data) + 2, 0x82, len(data)] + list(data)).hex(":")


def sub_authority(extra):
    return CA.certificate("sub authority", extra=extra)


def fetch(certificate, url):
    with Site(certificate, {"/": (200, {}, b"secret")}) as site, Proxy(site.port) as proxy:
        one, = results(seine("fetch", *PATIENT, "--retries", "0", "--proxy", proxy.url, "--cacert", CA.file, "-o", "-", url).out)
        return one.get("error", {}).get("kind", "ok"), len(site.seen)


@rows([
    ("the name", lambda: CA.certificate("x", "DNS:" + NAME)),
    ("in another case", lambda: CA.certificate("x", "DNS:WWW.A.Example")),
    ("by a wildcard", lambda: CA.certificate("x", "DNS:*.a.example")),
    ("among others", lambda: CA.certificate("x", "DNS:b.example", "DNS:" + NAME)),
    ("by an authority below", lambda: CA.certificate("x", "DNS:" + NAME, by=sub_authority("basicConstraints=CA:TRUE"))),
])
def a_certificate_that_names_the_host_is_taken(what, make):
    """The others are refused for what is wrong with them, not for how this test makes them."""
    check(fetch(make(), f"https://{NAME}/"), ("ok", 1))


@rows([
    ("the common name alone", "tls_host_mismatch", lambda: CA.certificate(NAME)),
    ("the common name, and another kind of name", "tls_host_mismatch", lambda: CA.certificate(NAME, "email:joe@a.example")),
    ("the common name, and an address", "tls_host_mismatch", lambda: CA.certificate(NAME, "IP:127.0.0.1")),
    ("the common name, and another host", "tls_host_mismatch", lambda: CA.certificate(NAME, "DNS:b.example")),
    ("a wildcard as common name", "tls_host_mismatch", lambda: CA.certificate("*.a.example")),
    ("the name as a URI", "tls_host_mismatch", lambda: CA.certificate("x", "URI:https://www.a.example/")),
    ("a zero byte behind the name", "tls_host_mismatch", lambda: CA.certificate("x", extra=der_name(NAME + "\0.evil.example"))),
    ("a zero byte at the end", "tls_host_mismatch", lambda: CA.certificate("x", extra=der_name(NAME + "\0"))),
    ("a blank behind the name", "tls_host_mismatch", lambda: CA.certificate("x", extra=der_name(NAME + " "))),
    ("a part of a label", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:w*.a.example")),
    ("a wildcard for all labels", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:*.example")),
    ("a wildcard for the whole name", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:*")),
    ("a wildcard in the middle", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:www.*.example")),
    ("two wildcards", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:*.*.example")),
    ("the parent", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:a.example")),
    ("a child", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:x." + NAME)),
    ("for clients only", "tls_untrusted", lambda: CA.certificate("x", "DNS:" + NAME, extra="extendedKeyUsage=clientAuth")),
    ("by a host that is no authority", "tls_untrusted", lambda: CA.certificate("x", "DNS:" + NAME, by=CA.certificate("leaf", "DNS:b.example"))),
    ("by an authority for other names", "tls_untrusted", lambda: CA.certificate(
        "x", "DNS:" + NAME, by=sub_authority("basicConstraints=CA:TRUE\nnameConstraints=critical,permitted;DNS:b.example"))),
    ("by an authority that may have none below", "tls_untrusted", lambda: CA.certificate("x", "DNS:" + NAME, by=CA.certificate(
        "third", extra="basicConstraints=CA:TRUE", by=sub_authority("basicConstraints=CA:TRUE,pathlen:0")))),
])
def a_certificate_that_does_not_prove_the_name_gets_no_request(what, error, make):
    check(fetch(make(), f"https://{NAME}/"), (error, 0))


@rows([
    ("as an address", "ok", lambda: CA.certificate("x", "IP:127.0.0.9")),
    ("as a name", "tls_host_mismatch", lambda: CA.certificate("x", "DNS:127.0.0.9")),
    ("as common name", "tls_host_mismatch", lambda: CA.certificate("127.0.0.9")),
    ("mapped into IPv6", "tls_host_mismatch", lambda: CA.certificate("x", "IP:0:0:0:0:0:ffff:127.0.0.9")),
    ("as another one", "tls_host_mismatch", lambda: CA.certificate("x", "IP:127.0.0.1")),
])
def an_address_is_proved_by_an_address(what, error, make):
    check(fetch(make(), "https://127.0.0.9/"), (error, int(error == "ok")))


def field_of(bits):
    """Parameters of Diffie-Hellman in a field of so many bits, as PEM; it need not be a prime."""
    def part(tag, data):
        n = len(data).to_bytes(2, "big")
        return bytes([tag, 0x82]) + n + data
    p = random.getrandbits(bits) | 1 | 1 << (bits - 1)
    der = part(0x30, part(2, b"\0" + p.to_bytes((bits + 7) // 8, "big")) + bytes([2, 1, 2]))
    text = base64.b64encode(der).decode()
    return "-----BEGIN DH PARAMETERS-----\n" + "\n".join(text[i:i + 64] for i in range(0, len(text), 64)) + "\n-----END DH PARAMETERS-----\n"


@rows([
    ("a field of 10,000 bits", ["-tls1_2", "-cipher", "DHE-RSA-AES256-GCM-SHA384:DHE-PSK-AES256-GCM-SHA384", "-dhparam", "field"]),
    ("a field of 2,048 bits", ["-tls1_2", "-cipher", "DHE-RSA-AES256-GCM-SHA384"]),
    ("a named field of 8,192 bits", ["-tls1_3", "-groups", "ffdhe8192"]),
])
def a_server_does_not_choose_how_long_a_handshake_takes(what, options):
    """It offers a key exchange in a field of its choice alone; a client that takes it stands still for a second each time."""
    with tempfile.TemporaryDirectory() as d:
        at = lambda name: os.path.join(d, name)  # noqa: E731
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", at("key"), "-out", at("cert"), "-subj", "/CN=x", "-days", "2",
                "-addext", "subjectAltName=DNS:localhost")
        with open(at("field"), "w", encoding="ascii") as f:
            f.write(field_of(9999))
        port = free_port()
        options = [at("field") if word == "field" else word for word in options]
        server = subprocess.Popen(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", at("cert"), "-key", at("key"), "-www", *options],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            until(lambda: b"ACCEPT" in server.stdout.readline(), "a server")
            one, = results(seine("fetch", *PATIENT, "-4", "--retries", "0", "--cacert", at("cert"), "-o", "-", f"https://localhost:{port}/").out)
            check(one.get("error", {}).get("kind", "ok"), "tls_error")
        finally:
            server.kill()
            server.wait()
            server.stdout.close()


with CA:
    finish(at_once=2)
