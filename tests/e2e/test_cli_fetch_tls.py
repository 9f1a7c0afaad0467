#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine fetch` and https: whom it trusts, what it says, what the record keeps."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402

HOME = tempfile.TemporaryDirectory()
CA = os.path.join(HOME.name, "ca.pem")
chaos = subprocess.Popen([PROGRAM, "chaos", "--dns", "--tls", "--ca-out", CA], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         env=environment())
PLACES = json.loads(chaos.stdout.readline())
PORT = PLACES["https"].rsplit(":", 1)[1]
PLAIN = PLACES["http"].rsplit(":", 1)[1]


def url(host, path="/ok"):
    return f"https://{host}:{PORT}{path}"


def fetch(*words, env=None):
    return seine("fetch", "-j", "--mine", "--retries", "0", "--no-summary", "--progress", "off", "--dns", PLACES["dns"], *words, env=env)


def record(r):
    lines = r.out.splitlines()
    check(len(lines), 1, r.err)
    return json.loads(lines[0])


@rows([("1.3", "a.test"), ("1.2", "tls12.a.test"), ("1.3", "127.0.0.1")], name=lambda row: row[1])
def the_record_says_how_it_was_secured(version, host):
    r = fetch("--cacert", CA, url(host))
    x = record(r)
    check((r.code, x["ok"], x["tls"]["version"], x["tls"]["verified"]), (0, True, version, True), r.err)
    check(x["tls"]["not_after"] > "2026", True)
    check("certificate" in r.err, False)


@case
def the_system_store_is_the_default_and_the_environment_can_name_another():
    check(record(fetch(url("a.test")))["error"]["kind"], "tls_untrusted")
    check(record(fetch(url("a.test"), env={"SSL_CERT_FILE": CA}))["ok"], True)
    where = tempfile.mkdtemp(dir=HOME.name)
    name = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", CA], check=True, capture_output=True).stdout.decode().strip()
    os.symlink(CA, os.path.join(where, name + ".0"))
    check(record(fetch(url("a.test"), env={"SSL_CERT_DIR": where, "SSL_CERT_FILE": "/no/such/file"}))["ok"], True)
    check(record(fetch("--ca", CA, url("a.test")))["ok"], True)
    check(record(fetch(url("a.test"), env={"SEINE_CACERT": CA}))["ok"], True)


def fetch_with(hosts, *words):
    """The fetch in a folder whose seine.yaml has these hosts."""
    with tempfile.TemporaryDirectory(dir=HOME.name) as folder:
        path = os.path.join(folder, "seine.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write("hosts:\n" + hosts)
        os.chmod(path, 0o644)
        r = seine("fetch", "-j", "--mine", "--retries", "0", "--no-summary", "--progress", "off", "--dns", PLACES["dns"], *words, cwd=folder)
    return r, {json.loads(line)["host"].partition(":")[0]: json.loads(line) for line in r.out.splitlines()}


@case
def authorities_of_one_host_count_for_that_host_alone():
    r, got = fetch_with(f"  a.test: {{cacert: {CA}}}\n", url("a.test"), url("a.test", "/ok?2"), url("tls12.a.test"))
    check((got["a.test"]["ok"], got["a.test"]["tls"]["verified"], got["tls12.a.test"]["error"]["kind"]), (True, True, "tls_untrusted"), r.err)
    r, got = fetch_with("  a.test: {cacert: /etc/ssl/certs/ca-certificates.crt}\n", "--cacert", CA, url("a.test"), url("tls12.a.test"))
    check((got["a.test"]["error"]["kind"], got["tls12.a.test"]["ok"]), ("tls_untrusted", True), "its own stand in place of those of all")
    r, _ = fetch_with("  '*.test': {cacert: no-such.pem}\n", url("a.test"))
    check((r.code, r.out, "its cacert" in r.err), (2, "", True), r.err)


@rows([("expired.a.test", "tls_cert_expired", "certificate expired on 20"), ("future.a.test", "tls_cert_expired", "certificate is not valid before 20"),
       ("wronghost.a.test", "tls_host_mismatch", "certificate is for "),
       ("selfsigned.a.test", "tls_untrusted", "certificate from an unknown authority: self-signed certificate")])
def a_bad_certificate_says_which_and_when(host, kind, message):
    x = record(fetch("--cacert", CA, url(host)))
    e = x["error"]
    check((x["outcome"], e["kind"], e["phase"], e["retryable"]), ("network_error", kind, "tls", False))
    check(e["message"].startswith(message), True, e["message"])
    check("--insecure=HOST" in e["hint"], True)
    check("tls" in x, False)


@rows([("-k",), ("--insecure",), ("--insecure=selfsigned.a.test",), ("--insecure=b.test,selfsigned.a.test",)])
def insecure_is_said_at_the_start_and_in_the_record(word):
    r = fetch(word, url("selfsigned.a.test"))
    x = record(r)
    check((r.code, x["ok"], x["tls"]["verified"]), (0, True, False), r.err)
    check(r.err.startswith("seine: "), True, r.err)
    check("checked" in r.err.split("\n")[0], True, r.err)
    quiet = fetch("-q", word, url("selfsigned.a.test"))
    check((quiet.code, quiet.err), (0, ""))


@case
def insecure_is_for_the_hosts_that_were_named_and_no_others():
    x = record(fetch("--insecure=b.test", url("selfsigned.a.test")))
    check(x["error"]["kind"], "tls_untrusted")
    # A given host leads to another one: that one is looked at.
    x = record(fetch("-k", url("selfsigned.a.test", "/away:untrusted.b.test/ok")))
    check(x["error"]["kind"], "tls_untrusted")
    check(x["final_url"].startswith("https://untrusted.b.test:"), True)
    # … and from http to https of the same host it is the same host.
    x = record(fetch("-k", f"http://selfsigned.a.test:{PLAIN}/scheme:https/ok"))
    check((x["ok"], x["tls"]["verified"]), (True, False), str(x))


@case
def a_run_over_plain_http_never_looks_at_certificates():
    r = seine("fetch", "-j", "--mine", "--no-summary", f"http://127.0.0.1:{PLAIN}/ok", env={"SSL_CERT_FILE": "/no/such/file"})
    check((r.code, json.loads(r.out)["ok"]), (0, True))
    check("tls" in json.loads(r.out), False)


@rows([("1.2", None), ("1.3", "tls_error")])
def the_oldest_version_is_a_choice(least, kind):
    x = record(fetch("--cacert", CA, "--tls-min", least, url("tls12.a.test")))
    check(x.get("error", {}).get("kind"), kind)


@case
def a_silent_handshake_ends_at_its_limit():
    x = record(fetch("--cacert", CA, "--tls-timeout", "300ms", url("stall.a.test")))
    check((x["error"]["kind"], x["error"]["message"], x["error"]["timeout_ms"]), ("tls_timeout", "no TLS session within 300 ms", 300))


@case
def this_client_shows_its_certificate_to_the_hosts_given():
    cert, key = os.path.join(HOME.name, "me.pem"), os.path.join(HOME.name, "me.key")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=me", "-days", "2",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    me = ["--cacert", CA, "--cert", cert, "--cert-key", key]
    check(record(fetch("--cacert", CA, url("client.a.test")))["error"]["kind"], "tls_error")
    check(record(fetch(*me, url("client.a.test")))["ok"], True)
    # P10: not to whoever a page leads to.
    check(record(fetch(*me, url("a.test", "/away:client.b.test/ok")))["error"]["kind"], "tls_error")


@rows([("/coding:sdch/text", "bad_encoding"), ("/lie:gzip/text", "bad_encoding")])
def raw_encoding_takes_what_cannot_be_decoded(path, kind):
    at = f"http://127.0.0.1:{PLAIN}{path}"
    check(record(fetch(at))["error"]["kind"], kind)
    x = record(fetch("--raw-encoding", "--body", "text", at))
    plain = record(fetch("--body", "text", f"http://127.0.0.1:{PLAIN}/text"))
    check((x["ok"], x["body"]), (True, plain["body"]))


@rows([("gzip",), ("br",), ("zstd",), ("deflate",)])
def a_body_is_what_it_was_before_it_was_packed(coding):
    x = record(fetch("--body", "text", f"http://127.0.0.1:{PLAIN}/{coding}/html:20"))
    plain = record(fetch("--body", "text", f"http://127.0.0.1:{PLAIN}/html:20"))
    check((x["body"], x["bytes_body"], x["title"]), (plain["body"], plain["bytes_body"], plain["title"]))
    check(x["bytes_in"] < x["bytes_body"], True)


def end():
    chaos.terminate()
    chaos.wait(timeout=PATIENCE)


try:
    finish(at_once=4)
finally:
    end()
