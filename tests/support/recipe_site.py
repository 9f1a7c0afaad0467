# SPDX-License-Identifier: Apache-2.0
"""The hostile server with saved pages under the URLs that a recipe asks for, and faults in between.

    with recipe_site({"/list?page=1": "shop/pages/list-1.html"}, faults=[{"match": "/list?page=1", "nth": "1", "fault": "status:503"}]) as site:
        r = seine("run", "recipes/shop/shop.yaml", "--var", "base=" + site.base)
        check(site.asked(), ["/list?page=1", "/list?page=1"])

Pages are files below recipes/, or text, which is written to a folder of its own. `nth` of a fault counts the requests of
a path, its queries together.
"""
import contextlib
import json
import os
import shutil
import tempfile

from e2e import ROOT
from origin import origin


def rule(match, words, **more):
    return {"match": match, "fault": words, **more}


def items(text, kind=None):
    rows = [o for o in map(json.loads, text.splitlines()) if o["type"] == "item"]
    return [o for o in rows if kind in (None, o["kind"])]


def summary(text):
    return [o for o in map(json.loads, text.splitlines()) if o["type"] == "summary"][-1]


class Site:
    """What the server saw, robots.txt left out."""

    def __init__(self, server, folder):
        self.server, self.folder, self.base = server, folder, server.base

    def log(self):
        return [r for r in self.server.log() if r["path"] != "/robots.txt"]

    def asked(self):
        return [r["path"] for r in self.log()]

    def whole(self):
        """How often each path came home whole."""
        return {path: p["ok_hits"] for path, p in self.server.report()["paths"].items() if path != "/robots.txt"}

    def figures(self):
        return self.server.report()["hosts"]["127.0.0.1"]

    def gaps(self):
        """Microseconds between one request and the next, robots.txt among them."""
        times = [r["t_us"] for r in self.server.log()]
        return [b - a for a, b in zip(times, times[1:])]

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)


@contextlib.contextmanager
def recipe_site(table, faults=(), words=""):
    """words: of every page, "auth:bearer:x/" for instance."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(os.path.join(ROOT, "recipes")):
            pages = os.path.join(ROOT, "recipes", name, "pages")
            if os.path.isdir(pages):
                shutil.copytree(pages, os.path.join(folder, name, "pages"))
        rules = list(faults)
        for n, (path, page) in enumerate(table.items()):
            if "\n" in page:
                with open(os.path.join(folder, f"{n}.html"), "w", encoding="utf-8") as f:
                    f.write(page)
                page = f"{n}.html"
            rules.append(rule(path, f"{words}file:{page}"))
        script = os.path.join(folder, "script.jsonl")
        with open(script, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in rules)
        with origin("--files", folder, "--script", script) as server:
            yield Site(server, folder)
