# SPDX-License-Identifier: Apache-2.0
"""record.data: the values that options take out of pages."""
import json
import unittest

from support import pages

import seine

SITE = {
    "/": '<title>Home</title><meta name=description content="d"><p class=price>1</p><p class=price>2</p><a href=/api>a</a>'
         '<script type="application/ld+json">{"a":1}</script>',
    "/api": (200, {"Content-Type": "application/json"}, json.dumps({"id": 7, "rows": [{"x": 1}, {"x": None}]})),
    "/deep": "<div>" * 300,
}


class Data(unittest.TestCase):
    def test_values_of_a_page(self):
        with pages(SITE) as p:
            r = next(seine.fetch(p.base + "/", mine=True, css=["price=.price", "a@href"], meta="description", jsonld=True, text=True))
            self.assertEqual(r.data, {"price": ["1", "2"], "a": [p.base + "/api"], "description": ["d"], "jsonld": [{"a": 1}], "text": "1\n2\na"})
            self.assertEqual((r.to_dict()["data"], r.extract, r.body), (r.data, None, None))
            r = next(seine.fetch(p.base + "/", mine=True, meta=True))
            self.assertEqual(r.data, {"meta": [{"name": "description", "content": "d"}]})

    def test_names_may_be_a_dict(self):
        with pages(SITE) as p:
            r = next(seine.fetch(p.base + "/api", mine=True, json_pointer={"id": "/id", "x": "/rows/-/x"}))
            self.assertEqual(r.data, {"id": [7], "x": [1, None]})

    def test_a_crawl_takes_json_when_pointers_ask_for_it(self):
        with pages(SITE) as p:
            got = {r.url[len(p.base):]: r.data for r in seine.crawl(p.base + "/", mine=True, sitemap="off", css="title", json_pointer="/id")}
            self.assertEqual(got, {"/": {"title": ["Home"]}, "/api": {"/id": [7]}})

    def test_without_options_there_is_no_data(self):
        with pages(SITE) as p:
            self.assertIsNone(next(seine.fetch(p.base + "/", mine=True)).data)

    def test_what_cannot_be_read_is_named(self):
        with pages(SITE) as p:
            r = next(seine.fetch(p.base + "/deep", mine=True, css="div"))
            self.assertEqual((r.ok, r.data, r.extract.name), (True, {}, "html_too_deep"))


if __name__ == "__main__":
    unittest.main()
