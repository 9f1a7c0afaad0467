#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML report is for everybody: axe-core finds nothing serious in it, in light and dark, on a telephone and a desk."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from axe import findings, grave  # noqa: E402
from browser import browser  # noqa: E402
from e2e import case, check, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402


def look(width, scheme, media=""):
    BROWSER.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    BROWSER.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])


def page(name):
    return "file://" + os.path.join(FOLDER, name)


def make_reports():
    """run.html has pages of every kind, slow and failed ones among them; empty.html has none."""
    with origin("--site", "3:60:broken=10:redir=10:fail=20:robots=5") as o:
        r = seine("crawl", o.base + "/p/0", "--mine", "--backoff", "5ms..10ms", "--breaker", "off", "--robots", "on", "-o", "run.jsonl", cwd=FOLDER)
        check(os.path.exists(os.path.join(FOLDER, "run.jsonl")), True, r.err)
    check(seine("report", "run.jsonl", "-o", "run.html", cwd=FOLDER).code, 0)
    check(seine("report", "-", "-o", "empty.html", cwd=FOLDER).code, 0)


@rows([("run.html", 1400, "light", ""), ("run.html", 1400, "dark", ""), ("run.html", 360, "light", ""), ("run.html", 360, "dark", ""),
       ("run.html", 800, "light", "print"), ("empty.html", 360, "dark", "")], name=lambda row: f"{row[0]}, {row[2]}, {row[1]} px, {row[3] or 'screen'}")
def nothing_serious_is_wrong_with_a_report(name, width, scheme, media):
    look(width, scheme, media)
    BROWSER.open(page(name))
    check(grave(BROWSER), [])


@case
def what_is_wrong_with_a_page_is_found():
    look(1400, "light")
    with open(os.path.join(FOLDER, "bad.html"), "w", encoding="utf-8") as f:
        f.write("<!doctype html><html><title>x</title><p style='color:#ddd;background:#fff'>pale</p><img src=x.png><button></button>")
    BROWSER.open(page("bad.html"))
    check({"image-alt", "button-name", "color-contrast", "html-has-lang"} <= {f["id"] for f in findings(BROWSER)}, True)
    check(len(grave(BROWSER)) >= 4, True)


with tempfile.TemporaryDirectory() as FOLDER, browser() as BROWSER:
    make_reports()
    finish()
