# SPDX-License-Identifier: Apache-2.0
"""The servers that clients are measured against: nginx with one worker, the delay server, `seine chaos`."""
import ctypes
import getpass
import gzip
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import time

from measure import BUILT, PACKED_PAGES, PAGE_BYTES, SEINE, pin

CONFIG = """\
user {user};
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections {connections}; multi_accept on; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    tcp_nodelay on;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    open_file_cache max=100;
    default_type text/html;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    ssl_certificate {folder}/site.pem;
    ssl_certificate_key {folder}/site.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    root {folder}/www;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location /p/ {{ try_files /page.html =404; }}
        location /z/ {{ add_header Content-Encoding gzip; try_files /page.html.gz =404; }}
        location /u/ {{ ssi on; try_files /each.html =404; }}
        location = /status {{ stub_status; }}
    }}
    server {{
        listen 127.0.0.1:{tls} ssl backlog=4096;
        ssl_session_cache shared:kept:4m;
        location /p/ {{ try_files /page.html =404; }}
    }}
    server {{
        listen 127.0.0.1:{new} ssl backlog=4096;
        ssl_session_cache shared:new:4m;
        keepalive_timeout 0;
        location /p/ {{ try_files /page.html =404; }}
    }}
    server {{
        listen 127.0.0.1:{full} ssl backlog=4096;
        ssl_session_cache off;
        ssl_session_tickets off;
        keepalive_timeout 0;
        location /p/ {{ try_files /page.html =404; }}
    }}
}}
"""


def certify(folder):
    """A certificate for 127.0.0.1 that is its own authority; clients are told to trust it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(folder / "site.key"), "-out", str(folder / "site.pem")],
                   check=True, capture_output=True)


def die_with_parent():
    """A harness that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def page():
    """A page of exactly PAGE_BYTES."""
    head = "<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>A page of two kilobytes</title></head><body>\n"
    tail = "</body></html>\n"
    text = "<p>A seine is a net that encloses a school of fish and leaves the sea bed alone.</p>\n"
    room = PAGE_BYTES - len(head) - len(tail)
    return head + (text * (room // len(text) + 1))[:room - 1] + "\n" + tail


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(port, path):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        c.request("GET", path)
        r = c.getresponse()
        return r.status, r.read()
    finally:
        c.close()


class Nginx:
    """Answers any /p/N with the same page; `served` counts its requests, so that nobody has to be believed."""

    def __init__(self, folder, cpu=None):
        folder = pathlib.Path(folder)
        (folder / "www").mkdir(parents=True)
        (folder / "www" / "page.html").write_text(page())
        (folder / "www" / "each.html").write_text('<!--#echo var="request_uri" -->' + page())
        (folder / "www" / "page.html.gz").write_bytes(gzip.compress(page().encode() * PACKED_PAGES, 6))
        certify(folder)
        self.cert = folder / "site.pem"
        folder.chmod(0o755)
        self.port, self.tls, self.new, self.full = (free_port() for _ in range(4))
        files = min(20000, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        (folder / "nginx.conf").write_text(CONFIG.format(
            user=getpass.getuser(), folder=folder, port=self.port, tls=self.tls, new=self.new, full=self.full, files=files, connections=files - 500))
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        affinity = pin(cpu)
        self.process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"], stdin=subprocess.DEVNULL,
                                        preexec_fn=lambda: (die_with_parent(), affinity and affinity()))
        for _ in range(200):
            try:
                status, body = get(self.port, "/p/0")
                break
            except OSError:
                time.sleep(0.02)
        else:
            raise RuntimeError("nginx does not answer")
        if status != 200 or len(body) != PAGE_BYTES:
            raise RuntimeError(f"nginx answers {status} with {len(body)} bytes")

    @staticmethod
    def installed():
        return shutil.which("nginx") or os.path.exists("/usr/sbin/nginx")

    def served(self):
        """Requests so far, this one not counted."""
        return int(re.search(r"\n +\d+ +\d+ +(\d+)", get(self.port, "/status")[1].decode()).group(1)) - 1

    def end(self):
        self.process.terminate()
        self.process.wait(20)


SITE = """\
user {user};
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_requests 1000000000;
    types {{ text/html html; }}
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        root {root};
        location = /status {{ stub_status; }}
    }}
}}
"""


class Site(Nginx):
    """nginx with a tree of files."""

    def __init__(self, folder, root):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True)
        self.port = free_port()
        (folder / "nginx.conf").write_text(SITE.format(user=getpass.getuser(), folder=folder, port=self.port, root=root))
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"], stdin=subprocess.DEVNULL,
                                        preexec_fn=die_with_parent)
        for _ in range(200):
            try:
                get(self.port, "/status")
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("nginx does not answer")


class Delay:
    """bench/peers/delay.c; what it saw is in `seen` after the end."""

    def __init__(self, ms=100, cpu=None):
        self.process = subprocess.Popen([str(BUILT / "delay"), str(ms), str(PAGE_BYTES)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        preexec_fn=pin(cpu))
        self.port = json.loads(self.process.stdout.readline())["port"]
        self.seen = None

    def set_up_ms(self, connections):
        """How long this machine needs to open so many connections, and nothing else."""
        done = subprocess.run([str(BUILT / "run"), os.devnull, "60", str(BUILT / "delay"), "dial", str(self.port), str(connections)],
                              capture_output=True, check=True)
        return json.loads(done.stdout)["set_up_ms"]

    def end(self):
        out, _ = self.process.communicate(timeout=20)
        self.seen = json.loads(out)
        return self.seen


class Chaos:
    """A running `seine chaos`: the witness of what our own client does."""

    def __init__(self, *words, cpu=None):
        self.process = subprocess.Popen([str(SEINE), "chaos", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, preexec_fn=pin(cpu))
        self.places = json.loads(self.process.stdout.readline())
        self.port = int(self.places["http"].rsplit(":", 1)[1])

    def report(self):
        return json.loads(get(self.port, "/_chaos/report")[1])

    def log(self):
        return [json.loads(line) for line in get(self.port, "/_chaos/log")[1].splitlines()]

    def end(self):
        self.process.terminate()
        self.process.communicate(timeout=20)
