#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A crawl of three thousand pages of documentation, and of a folder of odd ones, served by nginx, asks for exactly
what an independent walk of the files finds (tests/support/walk.py): each once, nothing else, and refuses the rest by name."""
import collections
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, ROOT, UNHURRIED, case, check, environment, finish  # noqa: E402
from nginx import nginx  # noqa: E402

TREES = {"cmake": "/usr/share/doc/cmake-data/html", "git": "/usr/share/doc/git-doc", "harden": "/usr/share/doc/harden-doc/html",
         "libxml2": "/usr/share/doc/libxml2/html"}
WALK = ["/usr/bin/python3", "-B", os.path.join(ROOT, "tests", "support", "walk.py")]
ODD = {
    "start.html": """<!doctype html><html lang=en><meta charset=utf-8><title>odd</title>
<a href="deep">a directory without its slash</a> <a href="deep/">with it</a> <a href=deep/../plain.html>up again</a>
<a href=" plain.html#here ">blanks and a fragment</a> <a href="pl\nain.html">a line feed inside</a> <a href="#top">itself</a> <a href="">itself</a>
<a href="plain.html?">an empty query</a> <a href="plain.html?a=1&amp;b='2'">a query</a> <a href="?q=only">its own path</a>
<a href="two words.html">a blank</a> <a href="two%20words.html">the same</a> <a href="%74wo%20words.html">the same again</a>
<a href="%e2%82%ac.html">escapes in lower case</a> <a href="€.html">as it is</a> <a href="%2e%2e/odd/./plain.html">dots that are escaped</a>
<a href="..\\odd\\back.html">slashes the other way</a> <a href="//127.0.0.1:PORT/odd/slashes.html">no scheme</a>
<a href="HTTP://127.0.0.1:PORT/odd/loud.html">a loud scheme</a> <a href="http:relative.html">a scheme and nothing else</a>
<a href="http://127.0.0.1:1/other.html">another port</a>
<a href="javascript:alert(1)">no</a> <a href="mailto:someone@e.example">no</a> <a href="data:text/html,x">no</a> <a href="tel:1">no</a>
<a href="gone.html">nobody</a> <a href="http://a b/">no URL</a> <a href="http://">no URL</a> <a href="text.txt">no page</a> <a href="upper.HTML">a page</a>
<a rel="noopener NOFOLLOW" href="shunned.html">shunned</a> <a rel=nofollow href="plain.html">shunned here alone</a>
<a>no link</a> <a name=x>no link</a> <img src=picture.png> <script src=script.js></script> <form action=form.html></form>
<script>document.write('<a href="written.html">')</script> <!-- <a href="comment.html"> -->
<map><area href="area-of-a-map.html"></map> <iframe src="frame.html"></iframe> <link rel=next href=next.html> <link rel="stylesheet" href=s.css>
<link rel="alternate" hreflang=de href="de.html"> <link href="no-rel.html"> <a href='single.html'>x</a> <a href=un&amp;quoted.html>x</a> <A HREF=LOUD.html>x</A>
""",
    "base.html": '<base href="deep/"><base href="/nowhere/"><a href="below.html">x</a><a href="/odd/top.html">y</a><a href="">z</a>',
    "refresh.html": '<meta http-equiv="Refresh" content="5; URL=\'refreshed.html\'"><p>moved',
    "shut.html": '<meta name=ROBOTS content="noindex, NoFollow"><a href="behind.html">x</a>',
    "plain.html": '<a href="base.html">x</a><a href="refresh.html">x</a><a href="shut.html">x</a><a href="empty.html">x</a>', "empty.html": "",
    "two words.html": "<p>x", "€.html": "<p>x", "back.html": "<p>x", "slashes.html": "<p>x", "loud.html": "<p>x", "relative.html": "<p>x",
    "text.txt": '<a href="of-text.html">', "upper.HTML": "<p>x", "shunned.html": "<p>x", "area-of-a-map.html": "<p>x", "frame.html": "<p>x",
    "next.html": "<p>x", "de.html": "<p>x", "no-rel.html": "<p>x", "single.html": "<p>x", "un&quoted.html": "<p>x", "LOUD.html": "<p>x",
    "refreshed.html": "<p>x", "behind.html": "<p>x", "top.html": "<p>x", "deep/index.html": '<a href="../start.html">up</a>',
    "deep/below.html": "<p>x",
}
ASKED = {"page", "missing", "moved", "other"}  # kinds of the walk that need a request
kept = {}


def docroot(home):
    root = os.path.join(home, "www")
    os.mkdir(root)
    for name, where in TREES.items():
        os.symlink(where, os.path.join(root, name))
    return root


def write_odd(root, port):
    for name, text in ODD.items():
        where = os.path.join(root, "odd", name)
        os.makedirs(os.path.dirname(where), exist_ok=True)
        with open(where, "w", encoding="utf-8") as f:
            f.write(text.replace("PORT", str(port)))


def crawled(seed, out, *words):
    done = subprocess.run([PROGRAM, "crawl", seed, "--mine", "-c", "32", "-o", out, "--progress", "off", "--sitemap", "off", "--fail-on", "none", *UNHURRIED, *words],
                          stdin=subprocess.DEVNULL, capture_output=True, env=environment(), timeout=PATIENCE)
    check((done.returncode, done.stderr.decode() if done.returncode else ""), (0, ""))
    with open(out, encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def walk(root, seed):
    return subprocess.Popen([*WALK, root, seed], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def lines(process):
    out, _ = process.communicate(timeout=PATIENCE)
    check(process.returncode, 0, "walk")
    return {r["key"]: r for r in map(json.loads, out.splitlines())}


def both(path):
    """The records, the walk and the log of one crawl; made once."""
    if path not in kept:
        with tempfile.TemporaryDirectory() as home:
            root = docroot(home)
            with nginx(root, home) as n:
                write_odd(root, n.port)
                other = walk(root, n.base + path)
                records = crawled(n.base + path, os.path.join(home, "out.jsonl"), "-l", "off")
                found = lines(other)
            kept[path] = (records, found, [(status, n.base + target) for _, status, target in n.asked()], n.base)
    return kept[path]


def told(records):
    """key → what the record says, in the words of the walk."""
    said = {}
    for r in records:
        if r["type"] == "skip":
            kind = {"mime": "other"}.get(r["reason"], r["reason"])
        elif r["type"] == "result":
            kind = "page" if r["outcome"] == "ok" and r["status"] == 200 else {301: "moved", 404: "missing"}.get(r.get("status"), r["outcome"])
        else:
            continue
        name = r["key"] if "key" in r else r["input"]  # what is no URL has no key
        check(name in said, False, "told twice: " + name)
        said[name] = kind
    return said


def differences(got, want):
    """Some of what is in one and not, or otherwise, in the other."""
    return sorted((k, got.get(k), want.get(k)) for k in got.keys() | want.keys() if got.get(k) != want.get(k))[:10]


def agree(path):
    records, found, asked, base = both(path)
    said, want = told(records), {k: r["kind"] for k, r in found.items()}
    check(differences(said, want), [], "(URL, crawl, walk)")
    check(sorted(key for key, n in collections.Counter(u for _, u in asked).items() if n > 1), [], "asked for twice")
    check(len(asked), sum(k in ASKED for k in want.values()), "requests")
    return records, want


@case
def a_tree_of_documentation_is_fetched_whole_and_each_page_once():
    _, want = agree("/")
    count = collections.Counter(want.values())
    check(count["page"] > 2000, True, str(count))


@case
def odd_links_lead_where_the_standard_says():
    _, want = agree("/odd/start.html")
    for name in ("two%20words.html", "back.html", "relative.html", "deep/below.html", "refreshed.html", "top.html", "%E2%82%AC.html", "deep/"):
        check([k for k in want if k.endswith("/odd/" + name)] != [], True, name)


@case
def a_redirect_of_nginx_is_a_record_of_its_own():
    records, _, _, base = both("/odd/start.html")
    moved = [r for r in records if r["type"] == "result" and r["status"] == 301]
    check([(r["url"], r["final_url"], r["redirects"]) for r in moved],
          [(base + "/odd/deep", base + "/odd/deep/", [{"url": base + "/odd/deep", "status": 301}])])


@case
def the_counts_balance():
    for path in ("/", "/odd/start.html"):
        records = both(path)[0]
        s = records[-1]
        check(s["type"], "summary")
        check(s["total"], s["ok"] + s["failed"] + s["blocked"] + s["skipped"] + s["pending"])
        check((s["skipped"], s["pending"]), (sum(r["type"] == "skip" for r in records), 0))
        check(s["total"], sum(r["type"] in ("result", "skip") for r in records))


finish()
