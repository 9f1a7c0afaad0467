#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documents of strangers under `seine check`: texts that would take for ever, links that lead out of the folder, caches and baselines that lie."""
import http.server
import json
import os
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SANITIZED, case, check, finish, rows  # noqa: E402
from hostile import PATIENT, attack  # noqa: E402

MIB = 1 << 20

def put(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


BLANKS = (" ", MIB // 2)


@rows([("a.html", [("seine-ignore\n", 1), ("<!--", MIB // 8), BLANKS]), ("a.html", [("seine-ignore\n", 1), ("<!-- seine-ignore", MIB // 32), BLANKS]),
       ("a.md", [("<!-- seine-ignore -->\n", 1), ("<!--", MIB // 8), BLANKS]), ("a.md", [("- ", 99), ("x\n", 1), (" ", 30 * MIB), ("y", 1)]),
       ("a.md", [("- ", 99), ("x\n", 1), (" ", 30 * MIB)]), ("a.md", [("> " * 99 + " " * 800 + "x\n", 1000)]), ("a.md", [("- " * 100 + "x\n", 20000)]),
       ("a.md", [("![ ", MIB // 7), ("](x)", MIB // 7)]), ("a.rst", [(".. _a: b\n", 50000)]), ("a.txt", [("http://a;", MIB // 9)])],
      name=lambda row: f"{row[0]} {[(text[:16], n) for text, n in row[1]]}")
def a_text_is_read_in_time(name, parts):
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, name), "wb") as f:
            for text, n in parts:  # in pieces, so that this program stays small
                few = max(1, 100000 // len(text))
                for _ in range(n // few):
                    f.write((text * few).encode())
                f.write((text * (n % few)).encode())
        r = attack("check", name, "--offline", "-q", cwd=d)
        most = 120 if SANITIZED else 20  # TSan looks at all of a text that memmem is given, however near the match is
        check((r.code in (0, 1), r.cpu < most), (True, True), f"{r.code} {r.cpu} s {r.err[:200]}")


@case
def links_to_nowhere_cost_the_same_in_a_large_folder():
    links = "".join(f"[x](gone-{n}.md)\n" for n in range(10000))
    cost = []
    for files in (1, 4000):
        with tempfile.TemporaryDirectory() as d:
            put(d, "a.md", links)
            for n in range(files):
                put(d, f"file-{n}.png", "")
            r = attack("check", "a.md", "--offline", "-q", cwd=d)
            check(r.code, 1)
            cost.append(r.cpu)
    check(cost[1] < 5 * cost[0] + 1, True, f"{cost}")


SECRET = "https://user:token@secret.example/\n"


@case
def a_link_in_a_folder_leads_to_no_other_file_of_the_user():
    with tempfile.TemporaryDirectory() as d:
        put(d, "home/.git-credentials", SECRET)
        put(d, "home/notes.md", SECRET)
        put(d, "repo/docs/own.md", "# Own\n")
        put(d, "repo/README.md", "[x](own.md)\n")
        for name, target in (("creds.md", "../../home/.git-credentials"), ("notes.md", "../../home/notes.md"), ("environ.txt", "/proc/self/environ"),
                             ("config.md", "../.git/config")):
            os.symlink(target, os.path.join(d, "repo/docs", name))
        put(d, "repo/.git/config", SECRET)
        os.symlink("../README.md", os.path.join(d, "repo/docs/index.md"))  # inside of the working directory
        r = attack("check", "docs", "--offline", "-v", cwd=os.path.join(d, "repo"))
        check([r.code, b"secret.example" in r.out, r.err.count("is a symbolic link to no document")], [0, False, 4], r.err)
        check(b"docs/index.md:1:1" in r.out, True, r.out)


@case
def what_a_run_keeps_fits_into_max_memory():
    with tempfile.TemporaryDirectory() as d:
        for k in range(60):
            put(d, f"{k}.md", "".join(f"[x](gone-{n}.md)\n\n" for n in range(10000)))
        r = attack("check", ".", "--offline", "--max-memory", "4M", "-q", cwd=d)
        check([r.code, "--max-memory has room for" in r.err], [4, True], r.err)
        check(r.peak < 64 * MIB * (4 if SANITIZED else 1), True, f"{r.peak >> 20} MiB")


class Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *args):
        pass  # the attacked program may go at any time


class Endless(http.server.BaseHTTPRequestHandler):
    """Each page has 20,000 links that nobody has seen."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        n = len(self.server.seen)
        self.server.seen.append(self.path)
        body = b"" if self.path == "/robots.txt" else b"".join(b"<a href='/%d/%d-%s'>x</a>" % (n, i, b"y" * 100) for i in range(20000))
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@case
def a_site_without_end_ends_at_max_memory():
    server = Quiet(("127.0.0.1", 0), Endless)
    server.seen = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as d:
        r = attack("check", f"http://127.0.0.1:{server.server_port}/", "--mine", *PATIENT, "--max-memory", "32M", "--grace", "1s", "-q", cwd=d)
        check([r.code, "--max-memory has room for" in r.err], [4, True], f"{r.code} {r.err[:300]}")
    server.shutdown()
    server.server_close()


@case
def a_cache_of_a_stranger_is_no_arithmetic():
    with tempfile.TemporaryDirectory() as d:
        put(d, "a.md", "[x](http://127.0.0.1:1/)")
        for when in (-(1 << 63), (1 << 63) - 1, -1):
            put(d, "c", f"seine check cache 1\n{when}\t200\t0\thttp://127.0.0.1:1/\n")
            r = attack("check", "a.md", "--cache", "c", "--retries", "0", "-j", *PATIENT, cwd=d)
            check([r.code, json.loads(r.out.splitlines()[0])["verdict"]], [1, "broken"], r.err)


@case
def a_baseline_writes_no_lines_of_its_own():
    with tempfile.TemporaryDirectory() as d:
        put(d, "a.md", "[x](gone.md)")
        put(d, "known", json.dumps({"type": "link", "verdict": "broken", "source": "a.md", "target": "gone.md", "since": "2\n::x::\x1b[2J"}) + "\n")
        r = attack("check", "a.md", "--offline", "--baseline", "known", cwd=d)
        check([r.code, len(r.out.splitlines()), b"\x1b" in r.out], [0, 2, False], r.out)


@rows([("text",), ("md",), ("github",), ("junit",)])
def no_report_has_control_characters(form):
    with tempfile.TemporaryDirectory() as d:
        put(d, "a.md", b"[x](<gone\xff\x1b[2J\xc2\x9b.md>) [y](gone%0a::error::x.md)")
        os.rename(os.path.join(d, "a.md"), os.path.join(d, "a\x1b\n::stop-commands::x.md"))
        out = attack("check", ".", "--offline", "-f", form, cwd=d).out
        out.decode()  # UTF-8
        check([c for c in out.decode() if c < " " and c != "\n" or "\x7f" <= c < "\xa0"], [], out)
        check([line for line in out.splitlines() if line.startswith((b"::stop", b"::error::x"))], [], out)


finish()
