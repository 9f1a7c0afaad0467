# SPDX-License-Identifier: Apache-2.0
"""nginx on a port of its own in a folder of its own, and what it was asked.

    with tempfile.TemporaryDirectory() as home, nginx(root, home) as n:
        seine("crawl", n.base + "/")
        check(n.asked(), [("GET", 200, "/")])
"""
import contextlib
import os
import re
import shutil
import socket
import subprocess
import time

CONFIG = """\
daemon off; master_process off; error_log stderr crit; pid {home}/pid;
{user}
events {{ worker_connections 1024; }}
http {{
    log_format asked '$request_method $status $request_uri';
    access_log {home}/asked asked;
    types {{ text/html html htm; text/plain txt c; text/css css; text/xml xml; image/png png; application/json json; }}
    default_type application/octet-stream;
    keepalive_requests 1000000; sendfile on; {extra}
    client_body_temp_path {home}/a; proxy_temp_path {home}/b; fastcgi_temp_path {home}/c; uwsgi_temp_path {home}/d; scgi_temp_path {home}/e;
    server {{ listen 127.0.0.1:{port} backlog=1024; root {root}; autoindex on; }}
}}
"""


class Nginx:
    def __init__(self, root, home, extra=""):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.base, self.home = f"http://127.0.0.1:{self.port}", home
        config = os.path.join(home, "nginx.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(CONFIG.format(home=home, root=root, port=self.port, extra=extra, user="user root;" if os.getuid() == 0 else ""))
        program = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([program, "-p", home, "-c", config, "-e", "stderr"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.answers()

    def answers(self):
        for _ in range(500):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        self.process.kill()
        raise RuntimeError("nginx did not start: " + self.process.stderr.read().decode())

    def asked(self):
        """(method, status, target) of each request, in order; all of them once it has ended."""
        with open(os.path.join(self.home, "asked"), encoding="utf-8", errors="surrogateescape") as f:
            found = [re.match(r"(\S+) (\d+) (.*)", line) for line in f]
        return [(m.group(1), int(m.group(2)), m.group(3)) for m in found if m]

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stderr.close()


@contextlib.contextmanager
def nginx(root, home, extra=""):
    server = Nginx(root, home, extra)
    try:
        yield server
    finally:
        server.end()
