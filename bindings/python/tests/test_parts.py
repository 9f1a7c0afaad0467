# SPDX-License-Identifier: Apache-2.0
"""Limiter, Breaker, robots, url and extract."""
import threading
import time
import unittest

import support  # noqa: F401

import seine
from seine import errors, extract, robots, url

PAGE = """<!doctype html><html lang="de"><head><title>A page</title><base href="/dir/"><meta name="description" content="d">
<link rel="canonical" href="other"><script type="application/ld+json">{"@type": "Thing"}</script></head>
<body><h1>Head</h1><p class="x">Some <b>bold</b>
text</p><a href="p?q=1#f" rel="nofollow">link</a><img src="http://[">
<table><tr><th colspan="2">AB<th>C</tr><tr><td rowspan="2">1<td>2<td>3<tr><td>4<td>5</table><script>no()</script>"""


class Parts(unittest.TestCase):
    def test_a_limiter_grants_its_burst_and_then_its_rate(self):
        lim = seine.Limiter("1/h", burst=3)
        self.assertEqual([lim.allow() for _ in range(4)], [True, True, True, False])
        self.assertEqual(lim.left(), 0)
        self.assertTrue(3590 < lim.when() <= 3600)
        self.assertIsNone(lim.when(4))
        self.assertRaises(errors.Deadline, lim.wait, timeout="1s")
        self.assertRaises(errors.Range, lim.wait, 4)
        self.assertRaises(ValueError, lim.allow, -1)
        for wrong in ("off", "x", 0):
            self.assertRaises(ValueError, seine.Limiter, wrong)
        self.assertRaises(ValueError, seine.Limiter, 1, burst=0)

    def test_a_limiter_waits_and_threads_share_it(self):
        lim, begun, ends = seine.Limiter(100), time.monotonic(), []

        def work():
            for _ in range(5):
                with lim:
                    ends.append(time.monotonic() - begun)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertGreaterEqual(max(ends), 0.14)
        lim.pause(1000)
        self.assertFalse(lim.allow())

    def test_a_breaker_opens_and_refuses(self):
        b = seine.Breaker("fail=2,open=1h,max-open=1h")
        self.assertEqual(b.call(int, "7"), 7)
        for _ in range(2):
            self.assertRaises(ValueError, b.call, int, "seven")
        self.assertEqual(b.state, "Open")
        self.assertTrue(3000 < b.when() <= 3600)
        self.assertRaises(errors.Breaker, b.call, int, "7")
        self.assertEqual((b.stats()["rejected"], b.stats()["opened"]), (1, 1))
        b.reset()
        self.assertEqual((b.state, b.when()), ("Closed", 0))
        permit = b.acquire()
        b.settle(permit, None)
        self.assertRaises(errors.Already, b.settle, permit, True)
        self.assertRaises(ValueError, seine.Breaker, "fail=x")

    def test_a_probe_closes_a_breaker(self):
        b = seine.Breaker("fail=1,open=1ms")
        self.assertRaises(ValueError, b.call, int, "seven")
        while b.when() > 0:
            time.sleep(b.when())
        self.assertEqual(b.state, "Open")
        b.call(int, "7")
        self.assertEqual(b.state, "Closed")

    def test_ctrl_c_inside_of_a_breaker_says_nothing_about_the_host(self):
        b = seine.Breaker("fail=1,open=1h")
        with self.assertRaises(KeyboardInterrupt), b:
            raise KeyboardInterrupt
        self.assertEqual((b.state, b.stats()["ignored"]), ("Closed", 1))
        b.reset()

    def test_robots_txt_names_the_line_that_decides(self):
        r = robots.parse("User-agent: *\nDisallow: /cgi\nAllow: /cgi/ok\nCrawl-delay: 1.5\n\nUser-agent: other\nDisallow: /\nSitemap: http://e.example/s.xml")
        self.assertEqual(r.check("http://e.example/cgi/x"), (False, "Disallow: /cgi", 2, "*"))
        self.assertTrue(r.check("/cgi/ok"))
        self.assertEqual((r.allowed("/x"), r.allowed("/x", "Other/2.0"), r.delay(), r.delay("other")), (True, False, 1.5, None))
        self.assertEqual(r.sitemaps, ["http://e.example/s.xml"])
        self.assertRaises(errors.BadUrl, r.check, "ftp:x")
        self.assertTrue(robots.parse(b"\xff\0\xfe").allowed("/"))

    def test_urls_are_read_as_browsers_do(self):
        u = url.parse("HTTP://joe:pw@B\u00fccher.Example:80/a/../b?q#f")
        self.assertEqual(u.href, "http://joe:pw@xn--bcher-kva.example/b?q#f")
        self.assertEqual((u.scheme, u.username, u.password, u.host, u.port, u.path, u.query, u.fragment, u.target),
                         ("http", "joe", "pw", "xn--bcher-kva.example", 80, "/b", "q", "f", "/b?q"))
        self.assertEqual((u.origin, u.authority), ("http://xn--bcher-kva.example", "http://xn--bcher-kva.example:80"))
        self.assertEqual(u.join("../c").href, url.join(u, "../c"))
        self.assertEqual(url.join("https://e.example/a/b", "?x"), "https://e.example/a/b?x")
        self.assertEqual(url.key("http://e.example/%7Ec?utm_source=x&a=1", strip="utm_*"), "http://e.example/~c?a=1")
        self.assertEqual((url.site("www.example.co.uk"), url.site("co.uk")), ("example.co.uk", None))
        self.assertEqual(url.parse("http://e.example/" + "\u00fc" * 1000).href, "http://e.example/" + "%C3%BC" * 1000)
        self.assertEqual(len({url.parse("http://e.example"), url.parse("http://e.example/")}), 1)
        for wrong in ("", "no url", "http://", "http://a b/", "http://e.example:99999/", "x" * 9000):
            with self.assertRaisesRegex(ValueError, "at byte"):
                url.parse(wrong)

    def test_links_and_metadata(self):
        p = extract.Page(PAGE, "http://e.example/")
        links = {link.tag + "." + link.attr: link for link in p.links()}
        self.assertEqual(links["a.href"].url, "http://e.example/dir/p?q=1#f")
        self.assertEqual((links["a.href"].value, links["a.href"].text, links["a.href"].rel, links["a.href"].line), ("p?q=1#f", "link", "nofollow", 4))
        self.assertIsNone(links["img.src"].url)
        self.assertEqual((p.title, p.lang, p.canonical, p.metas["description"], p.jsonld), ("A page", "de", "http://e.example/dir/other", "d", [{"@type": "Thing"}]))
        self.assertIsNone(extract.Page("<a href=x>").links()[0].url)

    def test_selectors_text_and_tables(self):
        p = extract.Page(PAGE.encode())
        para = p.first("p.x")
        self.assertEqual((para.name, para.words, para.text, para["class"], para.get("none", 1), para.attrs),
                         ("p", "Some bold text", "Some bold\ntext", "x", 1, {"class": "x"}))
        self.assertEqual((para.first("b").html, para.parent.name, [n.name for n in para.children]), ("<b>bold</b>", "body", ["b"]))
        self.assertEqual([n.words for n in p.select("td")], ["1", "2", "3", "4", "5"])
        self.assertIn("Head\nSome bold text", p.text)
        self.assertNotIn("no()", p.text)
        self.assertEqual(p.tables(), [[["AB", "AB", "C"], ["1", "2", "3"], ["1", "4", "5"]]])
        self.assertEqual(p.select("nothing"), [])
        with self.assertRaisesRegex(errors.Config, "class name"):
            p.select("a.")

    def test_a_node_keeps_its_page(self):
        node = extract.Page("<p id=a>x").first("p")
        self.assertEqual((node.words, node["id"], node.parent.name), ("x", "a", "body"))

    def test_bytes_are_read_in_the_charset_they_name(self):
        self.assertEqual(extract.decode("h\u00e9".encode("utf-16")), "h\u00e9")
        self.assertEqual(extract.decode(b"\xe9", "text/html; charset=\"latin1\""), "\u00e9")
        self.assertEqual(extract.Page("<meta charset=koi8-r>\u0434\u0430".encode("koi8-r")).text, "\u0434\u0430")
        self.assertEqual(extract.decode(b""), "")

    def test_odd_spans_of_tables(self):
        rows = [("<tr><td rowspan=0>a<td>b<tr><td>c<tr><td>d", [["a", "b"], ["a", "c"], ["a", "d"]]),  # 0: to the end of the group
                ("<tr><td colspan=0>a<td colspan=x>b", [["a", "b"]]),
                ("<tr><td rowspan=9>a<tbody><tr><td>b", [["a"], ["b"]]),  # ends with its group
                ("<tr><td colspan=5000>a", [["a"] * 1000]),
                ("<tr>", [[]]), ("", [])]
        for html, want in rows:
            with self.subTest(html=html):
                self.assertEqual(extract.Page(f"<table>{html}</table>").tables(), [want])

    def test_a_page_that_no_tree_is_made_of_says_so(self):
        self.assertRaises(errors.HtmlTooDeep, extract.Page("<div>" * 1000).select, "div")


if __name__ == "__main__":
    unittest.main()
