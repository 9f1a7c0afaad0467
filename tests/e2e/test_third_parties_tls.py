#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TLS, codings, redirects, cookies and logins as servers of others do them: nginx with
gzip and brotli, httpbin, stunnel, openssl s_server with odd settings."""
import gzip
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, free_port, seine  # noqa: E402

PAGES = 40
BROTLI = "/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so"


def page(n):
    return f"<!DOCTYPE html><meta charset=utf-8><title>Page {n}</title>".encode() + b"<p>a line of text</p>\n" * (n * 40)


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=PATIENCE)


def make_authority(home):
    """An authority, and a certificate for localhost and 127.0.0.1 that it signed."""
    at = lambda name: os.path.join(home, name)  # noqa: E731
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=test authority",
            "-addext", "basicConstraints=critical,CA:TRUE", "-keyout", at("ca.key"), "-out", at("ca.pem"))
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout", at("site.key"),
            "-out", at("site.csr"))
    with open(at("ext"), "w", encoding="ascii") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", at("site.csr"), "-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-days", "2", "-extfile",
            at("ext"), "-out", at("site.pem"))
    return at("ca.pem"), at("site.pem"), at("site.key")


class Server:
    """A process that listens, ended by its id."""

    def __init__(self, words, port, **how):
        self.port = port
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **how)
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
        self.end()
        raise RuntimeError(f"{words[0]} did not start: " + self.process.stderr.read().decode())

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.end()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(timeout=PATIENCE)


def nginx(home, cert, key, extra=""):
    root = os.path.join(home, "root")
    os.makedirs(root, exist_ok=True)
    os.chmod(home, 0o755)
    for n in range(PAGES):
        with open(os.path.join(root, f"p{n}.html"), "wb") as f:
            f.write(page(n))
    port = free_port()
    config = os.path.join(home, "nginx.conf")
    with open(config, "w", encoding="ascii") as f:
        f.write(f"""{f"load_module {BROTLI};" if os.path.exists(BROTLI) else ""}
daemon off; master_process off; error_log stderr crit; pid {home}/pid; events {{ worker_connections 512; }}
http {{ access_log off; types {{ text/html html; }} gzip on; gzip_min_length 0; gzip_http_version 1.0; {extra}
client_body_temp_path {home}/a; proxy_temp_path {home}/b; fastcgi_temp_path {home}/c; uwsgi_temp_path {home}/d; scgi_temp_path {home}/e;
server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {cert}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:s:1m; root {root};
location /moved {{ return 308 https://127.0.0.1:{port}/p1.html; }} }} }}
""")
    return Server(["nginx", "-p", home, "-c", config], port)


def records(r):
    return [x for x in map(json.loads, r.out.splitlines()) if x["type"] == "result"]


def fetch(*words, stdin=""):
    return seine("fetch", "-j", "--mine", "--retries", "0", "--progress", "off", *words, stdin=stdin)


def one(*words):
    r = fetch(*words)
    got = records(r)
    check(len(got), 1, r.err)
    return got[0]


def check_pages(r, coding):
    got = records(r)
    check((r.code, len(got)), (0, PAGES), r.err)
    for x in got:
        n = int(x["url"].rsplit("/p", 1)[1].split(".")[0])
        check(x["headers"].get("content-encoding"), [coding] if coding else None, x["url"])
        check((x["status"], x["title"], x["bytes_body"]), (200, f"Page {n}", len(page(n))))
        check(x["sha256"], hashlib.sha256(page(n)).hexdigest())
        check((x["tls"]["version"], x["tls"]["verified"]), ("1.3", True))
        if coding and n > 4:
            check(x["bytes_in"] < x["bytes_body"], True, "fewer bytes came than were unpacked")


@case
def nginx_serves_https_with_gzip():
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with nginx(home, cert, key) as server:
            base = f"https://localhost:{server.port}"
            urls = "\n".join(f"{base}/p{n}.html" for n in range(PAGES))
            r = fetch("-i", "-", "--cacert", ca, "--fields", "+headers,+sha256", "-H", "Accept-Encoding: gzip", stdin=urls)
            check_pages(r, "gzip")
            x = one(f"{base}/moved", "--cacert", ca)
            check((x["final_url"], x["status"]), (f"https://127.0.0.1:{server.port}/p1.html", 200))
            x = one(f"{base}/p1.html")
            check((x["outcome"], x["error"]["kind"], x["error"]["phase"]), ("network_error", "tls_untrusted", "tls"))
            x = one(f"{base}/p1.html", "-k")
            check((x["outcome"], x["tls"]["verified"]), ("ok", False))


@case
def nginx_serves_https_with_brotli():
    if not os.path.exists(BROTLI):
        raise AssertionError("nginx has no brotli: make deps")
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with nginx(home, cert, key, "brotli on; brotli_min_length 0; brotli_types text/html;") as server:
            urls = "\n".join(f"https://127.0.0.1:{server.port}/p{n}.html" for n in range(PAGES))
            r = fetch("-i", "-", "--cacert", ca, "--fields", "+headers,+sha256", stdin=urls)
            check_pages(r, "br")


@case
def a_certificate_for_another_name_is_refused_and_says_so():
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with nginx(home, cert, key) as server:
            x = one(f"https://other.test:{server.port}/p1.html", "--cacert", ca, "--resolve", f"other.test:{server.port}:127.0.0.1")
            check((x["error"]["kind"], x["attempts"]), ("tls_host_mismatch", 1))


HTTPBIN = """
import sys
sys.path.insert(0, "/usr/lib/python3/dist-packages")
from werkzeug.serving import run_simple
from httpbin import app
run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True)
"""


@case
def httpbin_agrees():
    port = free_port()
    with Server(["/usr/bin/python3", "-c", HTTPBIN, str(port)], port) as server:
        base = f"http://127.0.0.1:{server.port}"
        for status, outcome in ((200, "ok"), (204, "ok"), (404, "http_error"), (418, "http_error"), (500, "http_error"), (503, "http_error")):
            x = one(f"{base}/status/{status}")
            check((x["status"], x["outcome"]), (status, outcome))
        x = one(f"{base}/redirect/4")
        check((x["status"], len(x["redirects"]), x["final_url"]), (200, 4, f"{base}/get"))
        check(one(f"{base}/absolute-redirect/3")["outcome"], "ok")
        check(one(f"{base}/redirect/11")["error"]["kind"], "too_many_redirects")
        for name in ("gzip", "deflate", "brotli"):
            x = one(f"{base}/{name}", "--body", "text")
            body = json.loads(x["body"])
            check((x["outcome"], body.get("gzipped") or body.get("deflated") or body.get("brotli")), ("ok", True), name)
        x = one(f"{base}/stream/20", "--body", "text")
        check((x["outcome"], len(x["body"].splitlines())), ("ok", 20))
        x = one(f"{base}/stream-bytes/5000?chunk_size=100&seed=1")
        check((x["outcome"], x["bytes_body"]), ("ok", 5000))
        x = one(f"{base}/drip?duration=0.5&numbytes=10&delay=0")
        check((x["outcome"], x["bytes_body"]), ("ok", 10))
        x = one(f"{base}/delay/3", "-t", "500ms")
        check((x["outcome"], x["error"]["kind"]), ("timeout", "timeout"))
        check(one(f"{base}/basic-auth/joe/word")["status"], 401)
        check(one(f"{base}/basic-auth/joe/word", "-q", "-u", "joe:word")["status"], 200)
        check(one(f"http://joe:word@127.0.0.1:{server.port}/basic-auth/joe/word")["status"], 200)
        check(one(f"{base}/bearer", "-q", "-H", "Authorization: Bearer abcdef")["status"], 200)


@case
def httpbin_and_the_jar_agree():
    port = free_port()
    with tempfile.TemporaryDirectory() as home, Server(["/usr/bin/python3", "-c", HTTPBIN, str(port)], port):
        jar = os.path.join(home, "jar.txt")
        base = f"http://127.0.0.1:{port}"
        x = one(f"{base}/cookies/set?k1=v1&k2=v2", "--cookie-jar", jar, "--body", "text")
        check(json.loads(x["body"]), {"cookies": {"k1": "v1", "k2": "v2"}})
        x = one(f"{base}/cookies/delete?k1", "--cookie-jar", jar, "--body", "text")
        check(json.loads(x["body"]), {"cookies": {"k2": "v2"}})
        x = one(f"{base}/cookies", "-q", "-b", "a=1; b=2", "--body", "text")
        check(json.loads(x["body"]), {"cookies": {"a": "1", "b": "2"}})
        x = one(f"{base}/cookies", "--body", "text")
        check(json.loads(x["body"]), {"cookies": {}}, "no jar, no cookies")


@case
def stunnel_stands_before_a_plain_server():
    port, plain = free_port(), free_port()
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with open(os.path.join(home, "page"), "wb") as f:
            f.write(page(9))
        config = os.path.join(home, "stunnel.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"foreground = yes\npid =\ndebug = 3\nsslVersionMin = TLSv1.2\n[web]\naccept = 127.0.0.1:{port}\nconnect = 127.0.0.1:{plain}\n"
                    f"cert = {cert}\nkey = {key}\n")
        with Server(["/usr/bin/python3", "-m", "http.server", "-b", "127.0.0.1", "-d", home, str(plain)], plain), \
                Server(["stunnel4", config], port):
            urls = "\n".join(f"https://localhost:{port}/page?{n}" for n in range(20))
            r = fetch("-i", "-", "--cacert", ca, "--fields", "+sha256", stdin=urls)
            got = records(r)
            check((r.code, len(got)), (0, 20), r.err)
            check({x["sha256"] for x in got}, {hashlib.sha256(page(9)).hexdigest()})


def s_server(home, cert, key, *words):
    port = free_port()
    return Server(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", cert, "-key", key, "-quiet", *words], port, cwd=home,
                  stdin=subprocess.PIPE)


@case
def openssl_s_server_with_odd_settings():
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with open(os.path.join(home, "page"), "wb") as f:
            f.write(page(3))
        rows = (
            (("-WWW", "-tls1_2"), "1.2"),
            (("-WWW", "-tls1_3"), "1.3"),
            (("-WWW", "-tls1_3", "-num_tickets", "0"), "1.3"),
            (("-WWW", "-tls1_2", "-no_ticket", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"), "1.2"),
            (("-WWW", "-split_send_frag", "512", "-max_send_frag", "512"), "1.3"),
            (("-WWW", "-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384", "-groups", "P-521"), "1.3"),
        )
        for words, version in rows:
            with s_server(home, cert, key, *words) as server:
                x = one(f"https://localhost:{server.port}/page", "--cacert", ca)
                # It sends no length and ends with close_notify: whole, and nothing less is.
                check((x["outcome"], x["tls"]["version"], x["bytes_body"]), ("ok", version, len(page(3))), str(words))
        for words in (("-WWW", "-tls1_2", "-cipher", "NULL-SHA256:@SECLEVEL=0"), ("-WWW", "-no_tls1_2", "-no_tls1_3", "-cipher", "ALL:@SECLEVEL=0")):
            with s_server(home, cert, key, *words) as server:
                x = one(f"https://localhost:{server.port}/page", "--cacert", ca)
                check((x["outcome"], x["error"]["kind"], x["error"]["phase"]), ("network_error", "tls_error", "tls"), str(words))


@case
def a_server_that_wants_a_certificate_gets_ours():
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with open(os.path.join(home, "page"), "wb") as f:
            f.write(page(3))
        with s_server(home, cert, key, "-WWW", "-Verify", "1", "-CAfile", ca, "-verify_return_error") as server:
            url = f"https://localhost:{server.port}/page"
            x = one(url, "--cacert", ca, "--cert", cert, "--cert-key", key)
            check((x["outcome"], x["bytes_body"]), ("ok", len(page(3))))
            check(one(url, "--cacert", ca)["outcome"], "network_error")
        r = fetch("https://localhost:1/", "--cert", cert, "--cert-key", ca)
        check(r.code, 2, r.err)


@case
def gzip_and_zcat_agree_with_the_bytes_on_the_wire():
    with tempfile.TemporaryDirectory() as home:
        ca, cert, key = make_authority(home)
        with nginx(home, cert, key) as server:
            out = os.path.join(home, "r.jsonl.gz")
            r = seine("fetch", "--mine", "--cacert", ca, "--progress", "off", "--body", "text", "-o", out, f"https://localhost:{server.port}/p7.html")
            check(r.code, 0, r.err)
            with gzip.open(out) as f:
                lines = [json.loads(x) for x in f]
            check(lines[0]["body"], page(7).decode())


finish(at_once=4)
