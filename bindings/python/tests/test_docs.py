# SPDX-License-Identifier: Apache-2.0
"""The snippets of docs/user/python.md print what the page says; https://e.example is a server on loopback meanwhile."""
import os
import re
import unittest

from support import ROOT, pages, run_python

PAGE = os.path.join(ROOT, "docs/user/python.md")
FENCE = re.compile(r"^```python\n(.*?)^```\n(?:```text printed\n(.*?)^```$)?", re.M | re.S)
SITE = {"/": '<title>Home</title><a href="/a">a</a>', "/a": "<title>A</title>"}


class Docs(unittest.TestCase):
    def test_every_snippet_prints_what_the_page_says(self):
        with open(PAGE, encoding="utf-8") as f:
            snippets = FENCE.findall(f.read())
        self.assertGreaterEqual(len(snippets), 5)
        for code, want in snippets:
            with self.subTest(code=code), pages(SITE) as p:
                done = run_python(code.replace("https://e.example", p.base))
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.stdout.replace(p.base, "https://e.example"), want)


if __name__ == "__main__":
    unittest.main()
