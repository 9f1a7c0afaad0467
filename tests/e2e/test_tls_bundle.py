#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The authorities of the system, a file and a directory: whatever they hold, seine trusts whom `openssl verify` trusts that loads all of them."""
import http.server
import itertools
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, rows, seine  # noqa: E402

HOME = tempfile.TemporaryDirectory()


def at(name):
    return os.path.join(HOME.name, name)


def openssl(*words, fails=False):
    p = subprocess.run(["openssl", *words], check=not fails, capture_output=True, timeout=PATIENCE)
    return p.stdout.decode() if not fails else p.returncode


def certify(name, subject, by=None, is_ca=True, days="2"):
    """A key and a certificate for it, signed by itself or by another."""
    extra = "basicConstraints=critical,CA:TRUE" if is_ca else "basicConstraints=CA:FALSE\nsubjectAltName=IP:127.0.0.1"
    with open(at(name + ".ext"), "w", encoding="ascii") as f:
        f.write(extra + "\n")
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-utf8", "-subj", subject, "-keyout", at(name + ".key"),
            "-out", at(name + ".csr"))
    signer = ["-CA", at(by + ".pem"), "-CAkey", at(by + ".key"), "-CAcreateserial"] if by else ["-signkey", at(name + ".key")]
    openssl("x509", "-req", "-in", at(name + ".csr"), *signer, "-days", days, "-extfile", at(name + ".ext"), "-out", at(name + ".pem"))


certify("root", "/O=Test/CN=Test Root")
certify("spelled", "/O=test/CN=TEST  root")  # the same name to whoever compares as RFC 5280, 7.1 says, with another key
certify("renewed", "/O=Test/CN=Test Root")  # the same name with another key
certify("stranger", "/O=Test/CN=Another Root")
certify("middle", "/O=Test/CN=Test Middle", by="root")
certify("leaf", "/CN=leaf", by="middle", is_ca=False)
certify("direct", "/CN=direct", by="root", is_ca=False)
certify("alone", "/CN=alone", is_ca=False)
openssl("x509", "-in", at("root.pem"), "-trustout", "-addreject", "serverAuth", "-out", at("rejected.pem"))
openssl("x509", "-in", at("root.pem"), "-trustout", "-addtrust", "serverAuth", "-out", at("trusted.pem"))


def text(*names):
    return "".join(open(at(name + ".pem"), encoding="ascii").read() for name in names)


FILES = {
    "none": None,
    "empty": "",
    "root": text("root"),
    "root among others": "# a comment\n\n" + text("stranger") + "and words\n" + text("root", "middle"),
    "strangers": text("stranger", "renewed"),
    "renewed": text("renewed"),
    "both": text("renewed", "root"),
    "other spelling": text("spelled", "root"),
    "middle alone": text("middle"),
    "key beside": open(at("stranger.key"), encoding="ascii").read() + text("root"),
    "rejected for servers": text("rejected"),
    "trusted for servers": text("trusted"),
    "alone": text("alone"),
    "broken before": text("stranger").replace("\nMII", "\n%%%", 1) + text("root"),
    "broken after": text("root") + text("stranger").replace("\nMII", "\n%%%", 1),
    "cut": text("root") + text("stranger")[:300],
    "no certificate": text("root") + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "crlf": text("stranger", "root").replace("\n", "\r\n"),
}
DIRECTORIES = {"none": [], "root": ["root"], "renewed": ["renewed"], "both": ["renewed", "root"]}
SENT = {"whole": ["leaf", "middle"], "without middle": ["leaf"], "with root": ["leaf", "middle", "root"], "direct": ["direct"], "alone": ["alone"]}


def write(name, content):
    with open(at(name), "w", encoding="ascii") as f:
        f.write(content)
    return at(name)


def file_of(name):
    return write(name.replace(" ", "-") + ".crt", FILES[name]) if FILES[name] is not None else at("no such file")


def directory_of(name):
    path = at("dir-" + name)
    os.makedirs(path, exist_ok=True)
    for cert in DIRECTORIES[name]:
        digest = openssl("x509", "-hash", "-noout", "-in", at(cert + ".pem")).strip()
        n = next(n for n in itertools.count() if not os.path.exists(os.path.join(path, f"{digest}.{n}")))
        os.symlink(at(cert + ".pem"), os.path.join(path, f"{digest}.{n}"))
    return path


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, sent):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(write("-".join(sent) + ".chain", text(*sent)), at(sent[0] + ".key"))
        super().__init__(("127.0.0.1", 0), Quiet)
        self.context = context
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):  # on its own thread: the handshake of a client that gives up holds nobody up
        try:
            with self.context.wrap_socket(request, server_side=True) as secured:
                super().finish_request(secured, client_address)
        except OSError:
            pass

    def handle_error(self, *_):
        pass


SERVERS = {name: Server(sent) for name, sent in SENT.items()}
PLACES = {name: directory_of(name) for name in DIRECTORIES}
PATHS = {name: file_of(name) for name in FILES}
OTHERS = {name: write(f"others-{name}".replace(" ", "-"), text(*sent[1:])) for name, sent in SENT.items() if len(sent) > 1}  # sent beside their own


def fetch(urls, file, directory, *words):
    r = seine("fetch", "-j", "--mine", "--retries", "0", "--no-summary", "--progress", "off", *words, *urls,
              env={"SSL_CERT_FILE": file, "SSL_CERT_DIR": directory})
    return {x["input"]: x for x in map(json.loads, r.out.splitlines())}


def url(sent):
    return f"https://127.0.0.1:{SERVERS[sent].server_port}/"


def is_right(sent, file, directory):
    """What OpenSSL says that has loaded the whole file."""
    chain = SENT[sent]
    trusts = ["-CAfile", file] if os.path.exists(file) else ["-no-CAfile"]
    others = ["-untrusted", OTHERS[sent]] if len(chain) > 1 else []
    e = openssl("verify", "-purpose", "sslserver", "-verify_ip", "127.0.0.1", *trusts, "-CApath", directory, *others, at(chain[0] + ".pem"), fails=True)
    if e != 0 and FILES_THAT_OPENSSL_REFUSES & {os.path.basename(file)}:  # the command gives up where a store goes on without the file
        e = openssl("verify", "-purpose", "sslserver", "-no-CAfile", "-CApath", directory, *others, at(chain[0] + ".pem"), fails=True)
    return e == 0


FILES_THAT_OPENSSL_REFUSES = {"empty.crt", "broken-before.crt", "broken-after.crt", "cut.crt", "no-certificate.crt"}


@rows([(f, d) for f in FILES for d in DIRECTORIES], name=lambda row: f"file {row[0]}, directory {row[1]}")
def whom_openssl_trusts_is_trusted_and_nobody_else(file, directory):
    path, place = PATHS[file], PLACES[directory]
    got = fetch([url(s) for s in SENT], path, place)
    for s in SENT:
        x = got[url(s)]
        check(x.get("error", {}).get("kind"), None if is_right(s, path, place) else "tls_untrusted", f"{s}: {x}")


@case
def an_expired_authority_is_told_as_expired():
    openssl("x509", "-in", at("root.pem"), "-signkey", at("root.key"), "-days", "-1", "-out", at("expired.pem"))
    file = write("expired.crt", text("stranger", "expired"))
    check(fetch([url("whole")], file, PLACES["none"])[url("whole")]["error"]["kind"], "tls_cert_expired")
    # A valid one of the same name and key in the same file counts, whatever the order.
    for order in (("expired", "root"), ("root", "expired")):
        file = write("expired.crt", text(*order))
        check(fetch([url("whole")], file, PLACES["none"])[url("whole")]["ok"], True, str(order))


@case
def an_insecure_fetch_opens_no_authorities():
    os.mkfifo(at("fifo"))  # to open it would be to wait for ever
    x = fetch([url("alone")], at("fifo"), PLACES["none"], "-k")[url("alone")]
    check((x["ok"], x["tls"]["verified"]), (True, False))


finish(at_once=4)
