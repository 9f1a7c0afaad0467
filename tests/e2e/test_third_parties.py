#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers and readers that others wrote agree with us: nginx, Python's http.server, the
json and csv modules, SQLite."""
import csv
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, free_port, rows, seine  # noqa: E402
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer  # noqa: E402

PAGES = 200
TITLES = {n: f'Page {n} "quoted", comma; ünïcödé =1+1' for n in range(PAGES)}


def write_pages(where):
    for n in range(PAGES):
        with open(os.path.join(where, f"p{n}.html"), "w", encoding="utf-8") as f:
            f.write(f"<!DOCTYPE html><meta charset=utf-8><title>{TITLES[n]}</title>" + "x" * (n * 17))


class Nginx:
    def __init__(self, root, home):
        self.port = free_port()
        config = os.path.join(home, "nginx.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"""daemon off; master_process off; error_log stderr crit; pid {home}/pid;
events {{ worker_connections 512; }}
http {{ access_log off; types {{ text/html html; }} default_type text/plain; charset utf-8;
client_body_temp_path {home}/a; proxy_temp_path {home}/b; fastcgi_temp_path {home}/c; uwsgi_temp_path {home}/d; scgi_temp_path {home}/e;
server {{ listen 127.0.0.1:{self.port}; root {root};
location /moved {{ return 301 /p1.html; }} location /gone {{ return 410; }} location /busy {{ return 503; }}
location /few {{ keepalive_requests 3; alias {root}; }} }} }}
""")
        self.process = subprocess.Popen(["nginx", "-p", home, "-c", config], stderr=subprocess.PIPE)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError("nginx did not start: " + self.process.stderr.read().decode())

    def end(self):
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass


def python_server(root, version):
    handler = type("Handler", (Quiet,), {"protocol_version": version})
    server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *a, **k: handler(*a, directory=root, **k))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    return server


def fetch_all(base, out):
    urls = "\n".join(f"{base}/p{n}.html" for n in range(PAGES))
    return seine("fetch", "-i", "-", "--mine", "-c", "16", "-o", os.path.join(out, "r.jsonl"), "-o", os.path.join(out, "r.csv"),
                 "--fields", "+headers,+sha256", "--progress", "off", stdin=urls)


def check_records(out):
    import hashlib
    with open(os.path.join(out, "r.jsonl"), encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    results = [r for r in lines if r["type"] == "result"]
    check(len(results), PAGES)
    check(lines[-1]["type"], "summary")
    check(lines[-1]["ok"], PAGES)
    check([r["seq"] for r in lines], list(range(1, PAGES + 2)))
    for r in results:
        n = int(r["url"].rsplit("/p", 1)[1].split(".")[0])
        check(r["status"], 200)
        check(r["title"], TITLES[n])
        body = f"<!DOCTYPE html><meta charset=utf-8><title>{TITLES[n]}</title>".encode() + b"x" * (n * 17)
        check(r["bytes_body"], len(body))
        check(r["sha256"], hashlib.sha256(body).hexdigest())
        check(r["headers"]["content-length"], [str(len(body))])
    return lines


def check_csv(out):
    with open(os.path.join(out, "r.csv"), encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    check(len(rows), PAGES)
    for row in rows:
        n = int(row["url"].rsplit("/p", 1)[1].split(".")[0])
        check(row["title"], TITLES[n])
        check(row["outcome"], "ok")


@case
def nginx_serves_and_python_reads():
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as out:
        write_pages(root)
        os.chmod(root, 0o755)
        server = Nginx(root, home)
        try:
            r = fetch_all(f"http://127.0.0.1:{server.port}", out)
            check((r.code, r.err.count("error")), (0, 0), r.err)
            check_records(out)
            check_csv(out)
            r = seine("fetch", "-j", "--mine", "--retries", "0", "--no-summary", f"http://127.0.0.1:{server.port}/moved",
                      f"http://127.0.0.1:{server.port}/gone", f"http://127.0.0.1:{server.port}/busy")
            got = {x["input"].rsplit("/", 1)[1]: x for x in map(json.loads, r.out.splitlines())}
            check(got["moved"]["final_url"], f"http://127.0.0.1:{server.port}/p1.html")
            check(got["moved"]["redirects"][0]["status"], 301)
            check(got["gone"]["error"]["kind"], "http")
            check(got["busy"]["error"]["kind"], "http_busy")
        finally:
            server.end()


@rows([("HTTP/1.0",), ("HTTP/1.1",)])
def pythons_http_server_serves_with_and_without_keep_alive(version):
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as out:
        write_pages(root)
        server = python_server(root, version)
        try:
            r = fetch_all(f"http://127.0.0.1:{server.server_port}", out)
            check(r.code, 0, r.err)
            records = check_records(out)
            check({x["http"] for x in records if x["type"] == "result"}, {version[5:]})
        finally:
            server.shutdown()


@case
def sqlite_reads_the_json_lines():
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as out:
        write_pages(root)
        server = python_server(root, "HTTP/1.1")
        try:
            check(fetch_all(f"http://127.0.0.1:{server.server_port}", out).code, 0)
        finally:
            server.shutdown()
        sql = f"""CREATE TABLE line(text TEXT);
.mode ascii
.separator "\\t" "\\n"
.import {out}/r.jsonl line
SELECT count(*), sum(json_valid(text)), sum(text ->> '$.status' = 200) FROM line;
"""
        p = subprocess.run(["sqlite3", ":memory:"], input=sql, capture_output=True, text=True, timeout=PATIENCE)
        check(p.stdout.split(), [str(PAGES + 1), str(PAGES + 1), str(PAGES)], p.stderr)


finish(at_once=4)
