# SPDX-License-Identifier: Apache-2.0
"""A running `seine chaos` for tests of what fetches, and what it saw.

    with origin() as o:
        r = seine("fetch", o.url("/status:503?fail=2"))
        check(o.report()["totals"]["requests"], 3)
"""
import contextlib
import http.client
import json
import os
import subprocess
import urllib.parse

from e2e import PATIENCE, PROGRAM, environment


class Origin:
    def __init__(self, process):
        self.process = process
        self.places = json.loads(process.stdout.readline())
        self.base = self.places["http"]
        self.port = int(self.base.rsplit(":", 1)[1])

    def url(self, path, host=None):
        return (f"http://{host}:{self.port}" if host else self.base) + path

    def get(self, path):
        where = urllib.parse.urlsplit(self.base)
        c = http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
        c.request("GET", path)
        body = c.getresponse().read().decode()
        c.close()
        return body

    def report(self):
        return json.loads(self.get("/_chaos/report"))

    def log(self):
        """The requests it got, its own doors left out."""
        rows = [json.loads(line) for line in self.get("/_chaos/log").splitlines()]
        return [r for r in rows if "path" in r and not r["path"].startswith("/_chaos")]


@contextlib.contextmanager
def origin(*words):
    p = subprocess.Popen([os.path.abspath(PROGRAM), "chaos", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, env=environment())
    try:
        yield Origin(p)
    finally:
        p.kill()
        p.communicate()


def records(out):
    return [json.loads(line) for line in out.splitlines()]


def results(out):
    return [r for r in records(out) if r["type"] in ("result", "skip")]


def summary(out):
    return records(out)[-1]
