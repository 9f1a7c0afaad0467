# SPDX-License-Identifier: Apache-2.0
"""Sites with TLS and certificates of the test's own authority, and a proxy that leads to them.

    with Authority() as ca, Site(ca.certificate("a.example"), pages) as site, Proxy(site.port) as proxy:
        r = seine("fetch", "--proxy", proxy.url, "--cacert", ca.file, "https://a.example/")

Whatever host and port a CONNECT names, the proxy leads to the site: so a site has the port
443 of any name, without a privilege and without a DNS server. The site notes each request
with the name that the client asked for in its handshake and whether the client showed a
certificate.
"""
import contextlib
import itertools
import os
import shutil
import socket
import socketserver
import ssl
import subprocess
import tempfile
import threading


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


class Authority:
    """Signs certificates; `file` is its own."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="seine-ca-")
        self.file = self.at("ca.pem")
        self.numbers = itertools.count(2)
        openssl("req", "-x509", *self.key("ca.key"), "-days", "2", "-subj", "/CN=test authority",
                "-addext", "basicConstraints=critical,CA:TRUE", "-out", self.file)

    def at(self, name):
        return os.path.join(self.home, name)

    def key(self, name):
        return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.at(name)]

    def certificate(self, cn, *names, extra="", by=None):
        """Returns the files of a certificate, with those that signed it behind it, and of its key. `names` are those of subjectAltName,
        "DNS:a.example"; none: no such extension. extra: lines of extensions. by: what this returned for another one, which signs this one."""
        stem = str(next(self.numbers))
        signer = by or (self.file, self.at("ca.key"))
        openssl("req", *self.key(stem + ".key"), "-subj", "/CN=" + cn, "-out", self.at(stem + ".csr"))
        with open(self.at(stem + ".ext"), "w", encoding="ascii") as f:
            f.write(("" if "basicConstraints" in extra else "basicConstraints=CA:FALSE\n") + extra + "\n")
            f.write("subjectAltName=" + ",".join(names) + "\n" if names else "")
        openssl("x509", "-req", "-in", self.at(stem + ".csr"), "-CA", signer[0], "-CAkey", signer[1], "-set_serial", stem, "-days", "2",
                "-extfile", self.at(stem + ".ext"), "-out", self.at(stem + ".pem"))
        if by:
            with open(by[0], encoding="ascii") as above, open(self.at(stem + ".pem"), "a", encoding="ascii") as f:
                f.write(above.read())
        return self.at(stem + ".pem"), self.at(stem + ".key")

    def __enter__(self):
        return self

    def __exit__(self, *why):
        shutil.rmtree(self.home, ignore_errors=True)


class Threads(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass  # a client that hangs up is no fault of the server

    def __enter__(self):
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *why):
        self.shutdown()
        self.server_close()

    @property
    def port(self):
        return self.server_address[1]


def read_head(stream):
    """The lines of a request, or None at the end."""
    lines = []
    while True:
        line = stream.readline(65536)
        if not line:
            return None
        if line in (b"\r\n", b"\n"):
            return [text.decode("latin-1").rstrip("\r\n") for text in lines]
        lines.append(line)


class SiteHandler(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # what is small is not held back for the client's ACK
        with contextlib.suppress(OSError):
            tls = self.server.context.wrap_socket(self.request, server_side=True)
            self.speak(tls, tls.makefile("rb"))

    def speak(self, tls, stream):
        while (head := read_head(stream)):
            path = head[0].split(" ")[1]
            fields = dict(line.split(": ", 1) for line in head[1:])
            self.server.seen.append({"path": path, "host": fields.get("Host"), "named": tls.getpeercert(True) is not None, "fields": fields})
            status, extra, body = self.server.pages.get(path, (404, {}, b""))
            lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"] + [f"{n}: {v}" for n, v in (extra.items() if isinstance(extra, dict) else extra)]
            tls.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


class Site(Threads):
    """pages: path to (status, fields, body); fields are a dict or pairs. asks: clients are asked for a certificate, which `asks` must have signed.
    port: 0: the kernel chooses one."""

    def __init__(self, certificate, pages, asks=None, port=0):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(*certificate)
        if asks:
            self.context.load_verify_locations(asks)
            self.context.verify_mode = ssl.CERT_OPTIONAL
        self.pages, self.seen = pages, []
        super().__init__(("127.0.0.1", port), SiteHandler)


def pump(source, target):
    with contextlib.suppress(OSError):
        while (data := source.recv(65536)):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


class ProxyHandler(socketserver.BaseRequestHandler):
    def handle(self):
        stream = self.request.makefile("rb", buffering=0)
        head = read_head(stream)
        if not head:
            return
        name = head[0].split(" ")[1]
        self.server.asked.append(name)
        self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with socket.create_connection(("127.0.0.1", self.server.port_of(name))) as site:
            back = threading.Thread(target=pump, args=(site, self.request), daemon=True)
            back.start()
            pump(self.request, site)
            back.join()


class Proxy(Threads):
    """Leads every tunnel to a port of loopback; `asked` has what each CONNECT named. others: ports of names that lead elsewhere."""

    def __init__(self, to, others=None):
        self.to, self.others, self.asked = to, others or {}, []
        super().__init__(("127.0.0.1", 0), ProxyHandler)

    def port_of(self, name):
        return self.others.get(name.rpartition(":")[0], self.to)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"
