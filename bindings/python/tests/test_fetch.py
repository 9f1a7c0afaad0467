# SPDX-License-Identifier: Apache-2.0
"""fetch and crawl against a server on loopback: what records say, and what options do."""
import gc
import itertools
import json
import pickle
import threading
import time
import unittest
import weakref

from support import pages

import seine

SITE = {
    "/": '<html lang="en"><title>Home &amp; more</title><a href="/a">A</a> <a href="/gone">x</a> <a href="http://127.0.0.2:9/">off</a>',
    "/a": "<title>A</title><a href=/>back</a>",
    "/gone": (404, {}, "no"),
    "/latin": (200, {"Content-Type": "text/html; charset=iso-8859-1"}, "<p>gr\u00fc\u00df".encode("iso-8859-1")),
    "/to": (301, {"Location": "/a"}, ""),
    "/robots.txt": "User-agent: *\nDisallow: /secret\n",
}


class Fetch(unittest.TestCase):
    def test_each_url_ends_in_one_record(self):
        with pages(SITE) as p:
            got = {r.url: r for r in seine.fetch([p.base + "/", p.base + "/gone", "gopher://e.example/"], mine=True)}
        home, gone, other = got[p.base + "/"], got[p.base + "/gone"], got["gopher://e.example/"]
        self.assertEqual((home.type, home.ok, home.outcome, home.status, home.title), ("result", True, "ok", 200, "Home & more"))
        self.assertEqual((home.number, home.attempts, home.method, home.http, home.ip), (0, 1, "GET", "1.1", "127.0.0.1"))
        self.assertIsNone(home.error)
        self.assertEqual((gone.ok, gone.outcome, gone.status), (False, "http_error", 404))
        self.assertIsInstance(gone.error, seine.errors.Http)
        self.assertEqual((gone.error.name, gone.error.phase, gone.error.retryable), ("http", "head", False))
        self.assertRaises(seine.errors.Http, gone.raise_for_error)
        self.assertEqual((other.type, other.reason, other.outcome, other.status), ("skip", "scheme", None, None))

    def test_members_that_cost_something_are_there_when_they_were_asked_for(self):
        with pages(SITE) as p:
            plain = next(seine.fetch(p.base + "/latin", mine=True))
            whole = next(seine.fetch(p.base + "/latin", mine=True, body=True, fields="+headers,+sha256"))
        self.assertEqual((plain.body, plain.headers, plain.sha256, plain.text), (None, None, None, None))
        self.assertEqual(whole.body, b"<p>gr\xfc\xdf")
        self.assertEqual(whole.text, "<p>grüß")
        self.assertEqual(whole.header("content-type"), "text/html; charset=iso-8859-1")
        self.assertEqual(whole.header("x-none", "d"), "d")
        self.assertEqual(whole.page().text, "grüß")
        self.assertEqual(len(whole.sha256), 64)
        self.assertRaises(LookupError, plain.header, "content-type")
        self.assertRaises(LookupError, plain.page)

    def test_a_record_as_the_program_writes_it(self):
        with pages(SITE) as p:
            r = next(seine.fetch(p.base + "/to", mine=True))
        line = r.to_dict()
        self.assertEqual((line["url"], line["status"], line["outcome"]), (r.url, 200, "ok"))
        self.assertEqual(json.loads(r.to_json()), line)
        self.assertEqual(r.redirects, [(p.base + "/to", 301)])
        self.assertEqual(r.final_url, p.base + "/a")
        self.assertGreater(r.time["total"], 0)
        self.assertRaises(TypeError, pickle.dumps, r)

    def test_a_kept_record_stays_readable_after_its_step_and_its_fetch(self):
        with pages(SITE) as p:
            kept = list(seine.fetch([p.base + "/", p.base + "/a"], mine=True, body=True, per_host=1))
        gc.collect()
        self.assertEqual(sorted(r.title for r in kept), ["A", "Home & more"])
        self.assertTrue(all(r.body.startswith(b"<") for r in kept))

    def test_a_record_is_freed_with_its_last_reference(self):
        with pages(SITE) as p:
            f = seine.fetch([p.base + "/", p.base + "/a"], mine=True)
            gone = weakref.ref(next(f))
            list(f)
        gc.collect()
        self.assertIsNone(gone())

    def test_items_may_say_more_than_a_url(self):
        seen = []
        with pages({"*": lambda path: seen.append(path) or "x"}) as p:
            items = [{"url": p.base + "/1", "id": "one", "tags": {"k": ["v"]}, "headers": {"X-A": "b"}, "timeout": "20s", "retries": 0},
                     {"url": p.base + "/2", "method": "DELETE"}]
            got = {r.id: r for r in seine.fetch(items, mine=True)}
        self.assertEqual((got["one"].tags, got["one"].status), ({"k": ["v"]}, 200))
        self.assertEqual((got[None].method, got[None].status), ("DELETE", 501))
        self.assertRaisesRegex(TypeError, "uri", list, seine.fetch([{"url": "x", "uri": 1}]))
        self.assertRaises(TypeError, list, seine.fetch([{"id": "x"}]))
        self.assertRaises(TypeError, list, seine.fetch([42]))

    def test_an_endless_input_is_read_as_it_is_needed(self):
        with pages({"*": "x"}) as p:
            numbers = itertools.count()
            f = seine.fetch((f"{p.base}/{next(numbers)}" for _ in itertools.repeat(0)), mine=True, queue=200)
            got = [r.url for r in itertools.islice(f, 300)]
            f.close()
        self.assertEqual(len(set(got)), 300)
        self.assertLess(next(numbers), 300 + 64 + 200 + 1000)

    def test_an_input_may_depend_on_the_records(self):
        todo, asked = ["/0"], []

        def urls(base):
            given = 0
            while given < 5:
                if todo:
                    given += 1
                    yield base + todo.pop()
                else:
                    yield None
        with pages({"*": "x"}) as p:
            for r in seine.fetch(urls(p.base), mine=True):
                asked.append(r.url[len(p.base):])
                todo.append(f"/{len(asked)}")
        self.assertEqual(asked, ["/0", "/1", "/2", "/3", "/4"])

    def test_many_records_come_once_each(self):
        with pages({"*": "x"}) as p:
            got = [r.url for r in seine.fetch((f"{p.base}/{i}" for i in range(1500)), mine=True, dedup=False)]
        self.assertEqual((len(got), len(set(got))), (1500, 1500))

    def test_bodies_of_more_than_max_memory_may_be_kept(self):
        with pages({"*": lambda path: b"x" * (1 << 20)}) as p:
            kept = list(seine.fetch((f"{p.base}/{i}" for i in range(24)), mine=True, body=True, max_memory="8M", concurrency=2))
        self.assertEqual([len(r.body) for r in kept], [1 << 20] * 24)

    def test_two_fetches_run_at_once_in_two_threads(self):
        got = [[], []]
        with pages({"*": "x"}) as p:
            def run(n):
                got[n] += [r.status for r in seine.fetch((f"{p.base}/{n}/{i}" for i in range(200)), mine=True)]
            threads = [threading.Thread(target=run, args=(n,)) for n in (0, 1)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        self.assertEqual(got, [[200] * 200] * 2)

    def test_max_time_ends_the_run_and_the_rest_is_canceled(self):
        with pages({"*": lambda path: time.sleep(0.05) or "x"}) as p:
            got = [r.outcome for r in seine.fetch((f"{p.base}/{i}" for i in range(500)), mine=True, concurrency=1, queue=8, max_time=0.5, grace=0)]
        self.assertIn("canceled", got)
        self.assertLess(len(got), 500)

    def test_stop_is_orderly_and_close_is_at_once(self):
        with pages({"*": "x"}) as p:
            f = seine.fetch((f"{p.base}/{i}" for i in range(5000)), mine=True, concurrency=1)
            next(f)
            f.stop()
            rest = [r.outcome for r in f]
            self.assertIn("canceled", rest)
            self.assertLess(len(rest), 4000)
            self.assertGreater(f.stats()["given"], 0)
            f.close()
            self.assertRaises(StopIteration, next, f)

    def test_data_makes_a_post_and_headers_go_to_the_given_host(self):
        import http.server
        seen = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                seen.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *args):
                pass
        with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            r = next(seine.fetch(f"http://127.0.0.1:{server.server_port}/", data='{"a":1}', mine=True, user="joe:secret99", contact="me@e.example",
                                 header={"Content-Type": "application/json", "X-Token": "t"}))
            server.shutdown()
        (fields, body), = seen
        self.assertEqual((r.status, r.method, body), (204, "POST", b'{"a":1}'))
        self.assertEqual((fields["Content-Type"], fields["X-Token"]), ("application/json", "t"))
        self.assertEqual(fields["Authorization"], "Basic am9lOnNlY3JldDk5")
        self.assertRegex(fields["User-Agent"], r"^seine/\S+ \(\+me@e\.example\)$")

    def test_cookies_are_kept_in_their_jar(self):
        import os
        import tempfile
        with tempfile.TemporaryDirectory() as folder, pages({"*": (200, {"Set-Cookie": "a=b; Max-Age=99"}, "x")}) as p:
            jar = os.path.join(folder, "cookies.txt")
            list(seine.fetch(p.base + "/", mine=True, cookie_jar=jar))
            with open(jar, encoding="utf-8") as f:
                self.assertIn("\ta\tb", f.read())


class Crawl(unittest.TestCase):
    def test_a_site_is_followed_from_its_seed(self):
        with pages(SITE) as p:
            got = {r.url[len(p.base):] if r.url.startswith(p.base) else r.url: r for r in seine.crawl(p.base + "/", mine=True, sitemap="off")}
        self.assertEqual(set(got), {"/", "/a", "/gone", "http://127.0.0.2:9/"})
        self.assertEqual((got["/a"].depth, got["/a"].parent, got["/a"].via["tag"]), (1, p.base + "/", "a"))
        self.assertEqual((got["/"].depth, got["/"].parent, got["/"].links, got["/"].lang), (0, None, 3, "en"))
        self.assertEqual((got["http://127.0.0.2:9/"].reason, got["http://127.0.0.2:9/"].rule), ("offsite", "scope host"))

    def test_robots_txt_is_obeyed(self):
        with pages({**SITE, "/": '<a href="/secret/x">'}) as p:
            got = {r.url[len(p.base):]: r.reason for r in seine.crawl(p.base + "/", sitemap="off")}
            self.assertNotIn("/secret/x", p.asked)
        self.assertEqual(got, {"/": None, "/secret/x": "robots"})

    def test_depth_and_patterns_bound_it(self):
        chain = {f"/{i}": f'<a href="/{i + 1}">' for i in range(10)}
        with pages(chain) as p:
            self.assertEqual(sum(r.ok for r in seine.crawl(p.base + "/0", mine=True, depth=2, sitemap="off")), 3)
            self.assertEqual(sum(r.ok for r in seine.crawl(p.base + "/0", mine=True, exclude="/4$", sitemap="off", skips=False)), 4)
            self.assertEqual(sum(r.ok for r in seine.crawl([p.base + "/0"], mine=True, depth="off", max_pages=6, sitemap="off")), 6)


if __name__ == "__main__":
    unittest.main()
