# SPDX-License-Identifier: Apache-2.0
"""Each example prints what it should, against a server on loopback."""
import hashlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

from support import BINDING, PATIENCE, environment, pages

FOLDER = os.path.join(BINDING, "examples")
SITE = {
    "/": '<title>Home</title><a href="/a">A</a>\n<a href="/gone">x</a>',
    "/a": '<title>A</title><h2><a href="/b">to B</a></h2>',
    "/b": "<title>B</title><table><tr><th>name<th>price<tr><td>a, b<td>3</table>",
    "/1": '<title>One</title><link rel="next" href="/2">',
    "/2": '<title>Two</title><link rel="next" href="/3">',
    "/3": "<title>Three</title>",
    "/robots.txt": "User-agent: *\nDisallow: /x\n",
}


def run(name, *args, code=0, **env):
    done = subprocess.run([sys.executable, os.path.join(FOLDER, name), *args], capture_output=True, text=True, timeout=PATIENCE, env=environment(**env))
    if done.returncode != code:
        raise AssertionError(f"{name}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


class Examples(unittest.TestCase):
    def test_01_fetch(self):
        with pages(SITE) as p:
            got = run("01_fetch.py", p.base + "/", p.base + "/gone")
        self.assertEqual(sorted(got.splitlines()), [f"200 Home {p.base}/", f"404 HTTP 404 {p.base}/gone"])

    def test_02_crawl(self):
        with pages(SITE) as p:
            got = run("02_crawl.py", p.base + "/")
        self.assertEqual(got, f"Home {p.base}/\n  A {p.base}/a\n    B {p.base}/b\n")

    def test_03_broken_links(self):
        with pages(SITE) as p:
            got = run("03_broken_links.py", p.base + "/", code=1)
            self.assertEqual(got, f"{p.base}/:2: {p.base}/gone: HTTP 404\n")
        with pages({"/": "fine"}) as p:
            self.assertEqual(run("03_broken_links.py", p.base + "/"), "")

    def test_04_bodies(self):
        with pages({"/a": "hello"}) as p, tempfile.TemporaryDirectory() as folder:
            got = run("04_bodies.py", os.path.join(folder, "out"), p.base + "/a", p.base + "/none")
            name = hashlib.sha256(b"hello").hexdigest()
            self.assertEqual(got, f"{name[:12]} 5 {p.base}/a\n")
            with open(os.path.join(folder, "out", name), "rb") as f:
                self.assertEqual(f.read(), b"hello")

    def test_05_post_json(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = json.dumps([self.headers["Authorization"], self.headers["Content-Type"],
                                   json.loads(self.rfile.read(int(self.headers["Content-Length"])))]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *args):
                pass
        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            got = run("05_post_json.py", f"http://127.0.0.1:{server.server_port}/", '{"a": 1}', TOKEN="secret77")
            server.shutdown()
        self.assertEqual(got, "200 ['Bearer secret77', 'application/json', {'a': 1}]\n")

    def test_06_extract(self):
        with pages(SITE) as p:
            self.assertEqual(run("06_extract.py", p.base + "/a", "h2 > a"), "to B /b\n")

    def test_07_tables(self):
        with pages(SITE) as p:
            self.assertEqual(run("07_tables.py", p.base + "/b"), 'name,price\n"a, b",3\n')

    def test_08_limiter(self):
        self.assertEqual(run("08_limiter.py").splitlines(), [
            "0 ok", "1 ok", "2 ok", *(f"{n} failed: connection refused" for n in (3, 4, 5)),
            *(f"{n} not asked: the breaker is Open" for n in (6, 7))])

    def test_09_feedback(self):
        with pages(SITE) as p:
            self.assertEqual(run("09_feedback.py", p.base + "/1"), "One\nTwo\nThree\n")

    def test_10_robots(self):
        with pages(SITE) as p:
            got = run("10_robots.py", p.base + "/a", p.base + "/x/y")
        self.assertEqual(got, "may /a no rule\nmay not /x/y line 2: Disallow: /x\n")

    def test_there_are_ten_and_each_has_its_test(self):
        names = sorted(name for name in os.listdir(FOLDER) if name.endswith(".py"))
        self.assertEqual(len(names), 10)
        self.assertEqual({f"test_{name[:-3]}" for name in names} - set(dir(self)), set())


if __name__ == "__main__":
    unittest.main()
