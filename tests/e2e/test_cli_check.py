#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine check`: a tree with planted links gets exactly the verdicts of a table."""
import contextlib
import csv
import fcntl
import gzip
import http.server
import io
import json
import os
import re
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import termios
import threading
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, ROOT, case, check, environment, finish, rows, until  # noqa: E402
from origin import origin, records  # noqa: E402
from terminal import Terminal  # noqa: E402

FAST = ("--host-rate", "off", "--no-adaptive", "--per-host", "16", "--per-ip", "off", "--backoff", "1ms..5ms", "--breaker", "off")
PROGRAM = os.path.abspath(PROGRAM)


@contextlib.contextmanager
def tree(**files):
    """A folder with these files; "__" in a name is a slash, "_" before the ending a dot."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name.replace("__", "/").replace("_", "."))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        yield folder


def run(folder, *words, stdin=None):
    p = subprocess.run([PROGRAM, "check", *words], cwd=folder, input=stdin, capture_output=True, text=True, timeout=PATIENCE, env=environment())
    return p


def verdicts(p):
    return {r["target"]: r["verdict"] for r in records(p.stdout) if r["type"] == "link"}


class Site(http.server.BaseHTTPRequestHandler):
    """Answers by the path: /404 is a 404, /r301 leads to /landed, /nohead knows no HEAD."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.seen.append((self.command, self.path))
        self.server.tokens.append(self.headers.get("x-token"))
        status, fields, body = 200, {}, b"<p id=here><a name=there>x</a>"
        if path in self.server.pages:
            body = self.server.pages[path].encode()
        elif path == "/robots.txt":
            body = b"User-agent: *\nDisallow: /private\n"
            fields["content-type"] = "text/plain"
        elif path.strip("/").isdigit():
            status, body = int(path.strip("/")), b"no"
        elif path in ("/r301", "/r302", "/r308"):
            status, body = int(path[2:]), b""
            fields["location"] = "/landed"
        elif path == "/loop":
            status, body = 302, b""
            fields["location"] = "/loop"
        elif path == "/nohead" and self.command == "HEAD":
            status, body = 405, b""
        elif path == "/late":
            status, body = 429, b""
            fields["retry-after"] = "600"
        elif path == "/soon" and len([1 for c, p in self.server.seen if p == self.path]) == 1:
            status, body = 429, b""
            fields["retry-after"] = "1"
        elif path == "/cookie":
            fields["set-cookie"] = "flavour=oat; Max-Age=1000"
        elif path == "/slow":
            self.server.over.wait(PATIENCE)
            return
        self.send_response(status)
        fields.setdefault("content-type", "text/html")
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def site(pages=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    server.seen, server.tokens, server.pages, server.over = [], [], pages or {}, threading.Event()
    server.base = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


def dead_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# Files

LOCAL = [  # the link as it stands in a document, where it leads, the verdict
    ("[x](b.md)", "b.md", "ok"),
    ("[x](./b.md#section-two)", "./b.md#section-two", "ok"),
    ("[x](b.md#section-two-1)", "b.md#section-two-1", "ok"),       # the second of its name
    ("[x](b.md#section-two-2)", "b.md#section-two-2", "broken"),
    ("[x](b.md#named)", "b.md#named", "ok"),                       # <a name=named>
    ("[x](b.md#%C3%BCber)", "b.md#%C3%BCber", "ok"),               # %-escapes
    ("[x](sp%20ace.md)", "sp%20ace.md", "ok"),
    ("[x](<sp ace.md>)", "sp ace.md", "ok"),
    ("[x](../README.md)", "../README.md", "ok"),
    ("[x](#own-heading)", "#own-heading", "ok"),
    ("[x](#nowhere)", "#nowhere", "broken"),
    ("[x](#top)", "#top", "ok"),
    ("[x][ref]", "c.html#id", "ok"),                               # a reference link
    ("<a href='c.html#gone'>x</a>", "c.html#gone", "broken"),      # HTML inside Markdown
    ("<img src=missing.png>", "missing.png", "broken"),
    ("![x](pic.png)", "pic.png", "ok"),
    ("[x](B.md)", "B.md", "broken"),                               # wrong case
    ("[x](gone.md)", "gone.md", "broken"),
    ("[x](sub/)", "sub/", "ok"),
    ("[x](sub/#there)", "sub/#there", "ok"),                       # its README
    ("[x](sub/#not)", "sub/#not", "broken"),
    ("[x](/README.md)", "/README.md", "ok"),                       # from the root that was given
    ("[x](r.rst#the-target)", "r.rst#the-target", "ok"),
    ("[x](r.rst#a-title)", "r.rst#a-title", "ok"),
    ("[x](mailto:a@e.example)", "mailto:a@e.example", "excluded"),
    ("[x](https://e.example/)", "https://e.example/", "excluded"),  # offline
    ("[x](ignored.md) <!-- seine-ignore -->", "ignored.md", "excluded"),
    ("[x](old/y.md)", "old/y.md", "excluded"),                     # the ignore file
    ("[x](pic.png#L3)", "pic.png#L3", "ok"),
]
HIDDEN = ["`[x](code1.md)`", "```\n[x](code2.md)\n```", "    [x](code3.md)", "<!-- [x](code4.md) -->", "\\[x](code5.md)"]


def local_tree():
    text = "# Own heading\n\n" + "\n\n".join([row[0] for row in LOCAL] + HIDDEN) + "\n\n[ref]: c.html#id\n"
    return tree(**{
        "docs__a_md": text, "docs__b_md": "# Section *two*\n# Section two\n<a name=named></a>\n\n## Über\n", "docs__c_html": "<p id=id>",
        "docs__sp ace_md": "x", "docs__pic_png": "x", "docs__sub__README_md": "# There", "docs__r_rst": ".. _The Target:\n\nA title\n=======\n",
        "README_md": "[a](docs/a.md)", "_seineignore": "# not these\nold/*\n", "notes_c": "[no](nowhere)"})


@case
def a_tree_gets_the_verdicts_of_the_table_and_no_others():
    with local_tree() as folder:
        p = run(folder, ".", "--offline", "-f", "jsonl")
        got = verdicts(p)
        check(got.pop("docs/a.md"), "ok")
        check(got, {target: verdict for _, target, verdict in LOCAL})
        check(p.returncode, 1)


HEADINGS = """Setext *one*
============

Two
---
# Dup
# Dup
# \U0001f389 Party
# \u65e5\u672c \u8a9e
# `code` & **bold**!
# [Link](h.md) text ##
#No heading
# \u0130z
<a id="Own-ID"></a>

Note[^n].

[^n]: The [note](pic.png).
"""
ANCHORS = [  # the link, the verdict
    ("h.md#setext-one", "ok"), ("h.md#two", "ok"), ("h.md#dup-1", "ok"), ("h.md#dup-2", "broken"), ("h.md#-party", "ok"),
    ("h.md#%E6%97%A5%E6%9C%AC-%E8%AA%9E", "ok"), ("h.md#\u65e5\u672c-\u8a9e", "ok"), ("h.md#code--bold", "ok"), ("h.md#link-text", "ok"), ("h.md#no-heading", "broken"),
    ("h.md#i\u0307z", "ok"), ("h.md#Own-ID", "ok"), ("h.md#own-id", "broken"), ("h.md#Setext-One", "broken"), ("h.md#user-content-two", "ok"), ("h.md#fn-n", "ok"),
    ("h.md#user-content-fn-n", "ok"), ("h.md#fn-m", "broken"), ("h.md?plain=1#L3", "ok"), ("h.md#two?", "broken"), ("pic.png/", "broken"), ("h.md%23two", "broken"),
    ("data:text/plain,x", "excluded"), ("//e.example/x", "excluded"), ("h%2Emd", "ok"), ("h.md#:~:text=x", "ok"),
]


@case
def anchors_of_headings_are_those_that_github_makes():
    text = "\ufeff---\ntitle: [no](front.md)\n---\r\n\r\n" + "\n\n".join(f"- a\n  - b\n\n    [x](<{url}> 'a (title)')" for url, _ in ANCHORS)
    with tree(a_md=text, h_md=HEADINGS, pic_png="x") as folder:
        p = run(folder, "a.md", "--offline", "-j")
        check(verdicts(p), {url if not url.startswith("//") else "https:" + url: verdict for url, verdict in ANCHORS})
        check(p.stdout.count("wrong case: it is '#setext-one'"), 1)


ROLES = [  # of reStructuredText; where it leads, the verdict
    (":doc:`b`", "b", "ok"), (":doc:`text <sub/c>`", "sub/c", "ok"), (":doc:`/sub/c`", "/sub/c", "ok"), (":doc:`gone`", "gone", "broken"),
    (":doc:`m`", "m", "ok"), (":doc:`other:x`", "other:x", "excluded"), (":ref:`The Label`", "The Label", "ok"), (":ref:`x <deep>`", "deep", "ok"),
    (":ref:`nowhere`", "nowhere", "broken"), (":ref:`genindex`", "genindex", "ok"), (":download:`f.zip`", "f.zip", "broken"), ("`t <b.rst#the-label>`_", "b.rst#the-label", "ok"),
]


@case
def roles_of_sphinx_lead_to_documents_and_labels():
    text = "\n\n".join(row[0] for row in ROLES) + "\n\n``:doc:`code```\n\n::\n\n  :doc:`literal`\n"
    with tree(docs__a_rst=text, docs__b_rst=".. _The Label:\n\nB\n=\n", docs__sub__c_rst=".. _deep:\n\nC\n=\n", docs__m_md="x", docs__conf_py="extensions = []\n") as folder:
        want = {target: verdict for _, target, verdict in ROLES}
        check(verdicts(run(folder, "docs", "--offline", "-j")), want)
        check(verdicts(run(folder, ".", "--offline", "-j")), want)  # the root is where the configuration is
        got = verdicts(run(folder, "docs/a.rst", "--offline", "-j"))
        check([got["deep"], got["nowhere"], got["gone"]], ["excluded", "excluded", "broken"])  # other documents may have them
        with open(os.path.join(folder, "docs/conf.py"), "w", encoding="utf-8") as f:
            f.write("extensions = ['sphinx.ext.intersphinx']\n")
        check(verdicts(run(folder, "docs", "--offline", "-j"))["nowhere"], "excluded")


@case
def a_link_is_told_with_its_line_and_column():
    with tree(a_md="x\n\nsee [the text](gone.md)\n") as folder:
        p = run(folder, "a.md", "--offline")
        check(p.stdout.splitlines()[0].split(), ["broken", "a.md:3:5", "gone.md", "no", "such", "file"])
        check(p.stdout.splitlines()[-1].startswith("1 broken, 0 ok of 1 link in 1 file, "), True)
        r = records(run(folder, "a.md", "--offline", "-j").stdout)[0]
        check([r["source"], r["line"], r["col"], r["tag"], r["text"], r["verdict"]], ["a.md", 3, 5, "a", "the text", "broken"])


@case
def the_wrong_case_is_named():
    with tree(a_md="[x](B.md)", b_md="x") as folder:
        check("wrong case: it is 'b.md'" in run(folder, "a.md", "--offline").stdout, True)


@case
def what_is_odd_does_no_harm():
    with tree(a_md=b"\xef\xbb\xbf[x](a.md)\r\n\0 [y](a.md) \xff [z](a.md)", b_md="") as folder:
        os.symlink(".", os.path.join(folder, "loop"))
        os.symlink("nowhere", os.path.join(folder, "dangling.md"))
        os.mkfifo(os.path.join(folder, "pipe.md"))
        p = run(folder, ".", "--offline")
        check(p.returncode, 0)
        check("3 ok of 3 links in 2 files" in p.stdout, True)


@rows([
    ([], "nothing to check is given"),
    (["nowhere.md"], "cannot read 'nowhere.md'"),
    (["a.md", "-o", "x.pdf"], "nobody knows the format"),
    (["a.md", "-o", "a.md"], "'a.md' exists"),
    (["a.md", "--baseline", "a.md"], "is no record of seine check"),
    (["a.md", "--cache", "a.md"], "was not written by seine check"),
    (["a.md", "--ignore-file", "nowhere"], "--ignore-file: cannot read"),
    (["--offline", "http://127.0.0.1:1/"], "is on the network"),
])
def mistakes_are_told_before_anything_is_sent(words, text):
    with tree(a_md="x") as folder:
        p = run(folder, *words)
        check([p.returncode, text in p.stderr, p.stdout], [2, True, ""])


@case
def dump_lists_links_and_stops():
    with tree(a_md="[x](gone.md)\n[y](http://127.0.0.1:1/)") as folder:
        p = run(folder, "--dump", "a.md")
        check([p.returncode, p.stdout], [0, "a.md:1:1\tgone.md\na.md:2:1\thttp://127.0.0.1:1/\n"])


@rows([("l.txt", b"a.md\n# no\n\n b.md \n", []), ("l.txt.gz", gzip.compress(b"a.md\nb.md\n"), []), ("l.jsonl", b'{"url":"a.md"}\n{"url":"b.md"}\n', []),
       ("l.csv", b"name,n\na.md,1\nb.md,2\n", ["--url-column", "name"]), ("l", b'{"url":"a.md"}\n{"url":"b.md"}\n', ["--input-format", "jsonl"])])
def lists_have_the_forms_of_all_lists(name, data, words):
    with tree(a_md="[x](b.md)", b_md="[x](gone.md)") as folder:
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
        check("1 broken, 1 ok of 2 links in 2 files" in run(folder, "-i", name, "--offline", *words).stdout, True)


@case
def a_bad_line_of_a_list_is_told():
    with tree(a_md="x") as folder:
        p = run(folder, "-", "--offline", stdin='{"url":"a.md"}\n{"nothing":1}\n')
        check([p.returncode, "line 2 of '-' names nothing" in p.stderr, "in 1 file" in p.stdout], [3, True, True], p.stderr)


@case
def dump_lists_the_links_of_a_site_and_asks_for_no_others():
    with site() as other, site({"/": f"<a href=/a>a</a>\n<a href={other.base}/ok>o</a>", "/a": "<a href=b#c>x</a>", "/b": ""}) as s, tempfile.TemporaryDirectory() as folder:
        p = run(folder, "--dump", s.base + "/", *FAST)
        check([p.returncode, sorted(p.stdout.splitlines()), other.seen], [0, sorted([
            f"{s.base}/:1:1\t{s.base}/a", f"{s.base}/:2:1\t{other.base}/ok", f"{s.base}/a:1:1\t{s.base}/b#c"]), []], p.stderr)


@case
def a_run_ends_when_too_many_have_failed():
    with site() as s, tree(a_md="\n\n".join(f"[x]({s.base}/404?{n})" for n in range(400))) as folder:
        p = run(folder, "a.md", *FAST, "--retries", "0", "--per-host", "1", "--max-errors", "3", "--grace", "1s", "-j")
        end = records(p.stdout)[-1]
        check([p.returncode, end["stopped_by"], end["exit_code"]], [4, "max_errors", 4], p.stderr)
        check(end["verdicts"]["unknown"] > 0, True)


@case
def the_jar_is_written_at_the_end():
    with site() as s, tree(a_md=f"[x]({s.base}/cookie)") as folder:
        check(run(folder, "a.md", *FAST, "--cookie-jar", "jar").returncode, 0)
        with open(os.path.join(folder, "jar"), encoding="utf-8") as f:
            check("flavour" in f.read(), True)


@case
def a_list_of_files_comes_from_standard_input():
    with tree(a_md="[x](b.md)", b_md="[x](gone.md)") as folder:
        check("1 broken, 1 ok of 2 links in 2 files" in run(folder, "-", "--offline", stdin="a.md\n# no\nb.md\n").stdout, True)


# The network


def planted(base, dead):
    return [  # the link, the verdict
        (f"{base}/ok", "ok"), (f"{base}/nohead", "ok"), (f"{base}/r302", "ok"), (f"{base}/soon", "ok"), (f"{base}/ok?a=%20b", "ok"),
        (f"{base}/r301", "redirected"), (f"{base}/r308", "redirected"),
        (f"{base}/404", "broken"), (f"{base}/410", "broken"), (f"{base}/500", "broken"), (f"{base}/loop", "broken"),
        (f"http://127.0.0.1:{dead}/", "broken"),
        (f"{base}/401", "denied"), (f"{base}/403", "denied"), (f"{base}/429", "denied"), (f"{base}/451", "denied"), (f"{base}/999", "denied"),
        (f"{base}/slow", "timeout"), (f"{base}/left-out", "excluded"), ("tel:123", "excluded"),
        (f"{base}/ok#here", "ok"), (f"{base}/ok#there", "ok"), (f"{base}/ok#gone", "broken"),
    ]


@case
def links_to_the_network_get_the_verdicts_of_the_table():
    with site() as s:
        table = planted(s.base, dead_port())
        text = "\n\n".join(f"[x]({url}) and [again]({url})" for url, _ in table)
        with tree(a_md=text) as folder:
            p = run(folder, "a.md", *FAST, "--fragments", "--retries", "1", "-t", "2s", "--exclude", "left-out", "-f", "jsonl")
            check(verdicts(p), dict(table))
            check(p.returncode, 1)
            check([c for c in s.seen if c[1] == "/ok"], [("GET", "/ok")])          # once, however often it is linked
            check([c for c in s.seen if c[1] == "/r301"], [("HEAD", "/r301")])
            check([c for c in s.seen if c[1] == "/nohead"], [("HEAD", "/nohead"), ("GET", "/nohead")])
            check([c for c in s.seen if c[1] == "/soon"], [("HEAD", "/soon")] * 2)  # as Retry-After says
            check([c for c in s.seen if "left-out" in c[1]], [])


@case
def an_expired_certificate_is_broken():
    with tempfile.TemporaryDirectory() as folder:
        ca = os.path.join(folder, "ca.pem")
        with origin("--tls", "--dns", "--ca-out", ca) as o:
            where = "https://expired.a.test:" + o.places["https"].rsplit(":", 1)[1] + "/ok"
            with open(os.path.join(folder, "a.md"), "w", encoding="utf-8") as f:
                f.write(f"[x]({where})")
            r = records(run(folder, "a.md", *FAST, "--retries", "0", "--cacert", ca, "--dns", o.places["dns"], "-j").stdout)[0]
            check([r["verdict"], r["error"]["kind"]], ["broken", "tls_cert_expired"])


@case
def denied_fails_only_if_strict():
    with site() as s, tree(a_md=f"[x]({s.base}/429)") as folder:
        words = ("a.md", *FAST, "--retries", "0")
        check(run(folder, *words).returncode, 0)
        check(run(folder, *words, "--strict").returncode, 1)


@case
def a_long_retry_after_is_denied_and_told():
    with site() as s, tree(a_md=f"[x]({s.base}/late)") as folder:
        p = run(folder, "a.md", *FAST)
        check("denied" in p.stdout and "429, come back in 600 s" in p.stdout, True)
        check([p.returncode, len(s.seen)], [0, 1])


def given_up(p):
    return [line for line in p.stderr.splitlines() if "not asked for" in line]


@case
def a_typed_site_that_is_given_up_is_not_fine():
    """Its pages may hide whatever they like: what was not asked for stands in a line, and in the exit code."""
    pages = {"/": "<a href=/late>l</a>" + "".join(f"<a href=/p{i}>p</a>" for i in range(6))}
    with site(pages) as s, tempfile.TemporaryDirectory() as folder:
        p = run(folder, f"{s.base}/", *FAST, "-c", "1", "-f", "jsonl")
        said, kinds = verdicts(p), records(p.stdout)
        left = [url for url, verdict in said.items() if verdict == "unknown"]
        check((said[f"{s.base}/late"], len(left) > 0, p.returncode), ("denied", True, 5), p.stdout)
        check([k["stopped_by"] for k in kinds if k["type"] == "summary"], ["parked"])
        where = s.base.partition("://")[2]
        check([f"{where} asks to wait longer than --max-retry-after 5 min: {len(left)} link" in line for line in given_up(p)], [True], p.stderr)


@case
def a_stranger_that_is_given_up_is_told_and_fails_nothing():
    links = ["/late"] + [f"/p{i}" for i in range(6)]
    with site() as s, tree(a_md="\n\n".join(f"[x]({s.base}{link})" for link in links)) as folder:
        p = run(folder, "a.md", *FAST, "-c", "1", "-f", "jsonl")
        left = sum(verdict == "unknown" for verdict in verdicts(p).values())
        check((left > 0, p.returncode), (True, 0), p.stdout)
        check([f": {left} link" in line for line in given_up(p)], [True], p.stderr)
        check(run(folder, "a.md", *FAST, "-c", "1", "--strict").returncode, 1)


@case
def a_site_is_checked_recursively():
    with site() as other:
        pages = {"/": f"<a href=/a>a</a><a href={other.base}/404>o</a><a href={other.base}/ok>o</a><img src=/pic.png><a href=/private/x>p</a>",
                 "/a": "<a href=/b#in>b</a><a href=/404>gone</a><a href=/r301>r</a><a href=/>home</a><a href=/loop>l</a>", "/b": "<p id=in><a href=#no>n</a>"}
        with site(pages) as s, tempfile.TemporaryDirectory() as folder:
            p = run(folder, s.base + "/", *FAST, "--retries", "0", "-j", "--fragments")
            got = verdicts(p)
            want = {"/a": "ok", "/b#in": "ok", "/b#no": "broken", "/404": "broken", "/r301": "redirected", "/": "ok", "/pic.png": "ok",
                    "/private/x": "excluded", "/loop": "broken"}
            check(got, {**{s.base + k: v for k, v in want.items()}, other.base + "/404": "broken", other.base + "/ok": "ok"})
            check(p.returncode, 1)
            check(len([c for c in other.seen if c[1] == "/ok"]), 1)
            check([c for c in s.seen if c[1] == "/private/x"], [])
            check([c for c in s.seen if c[1] == "/a"], [("GET", "/a")])


@case
def secrets_go_to_the_typed_host_alone():
    with site() as other, site({"/": f"<a href={other.base}/ok>o</a><a href=/pic.png rel=nofollow>p</a>"}) as s, tempfile.TemporaryDirectory() as folder:
        p = run(folder, s.base + "/", *FAST, "--retries", "0", "-H", "X-Token: secret", "-f", "github")
        check([p.returncode, [c[1] for c in other.seen]], [0, ["/ok"]])
        check([[t for t in each.tokens if t] for each in (other, s)], [[], ["secret"] * len(s.seen)])


# Jobs

DURABLE = ("--job", "j", "--durability", "full")
SLOW = ("--host-rate", "150/s", "--no-adaptive", "--per-host", "4", "--per-ip", "off", "--breaker", "off", "--retries", "0", "--fragments", "--robots", "off")


def linked(other, n=24):
    """A site whose pages lead to each other and to another host, and some nowhere."""
    pages = {"/": "".join(f"<a href=/p{i}>x</a>" for i in range(n))}
    for i in range(n):
        pages[f"/p{i}"] = (f"<p id=x{i}><a href=/p{(i + 1) % n}#x{(i + 1) % n}>n</a><a href=/404?{i % 5}>g</a>"
                           f"<a href={other.base}/ok?{i}#here>o</a><a href={other.base}/410?{i}>z</a>")
    return pages


def links_of(text):
    return sorted((r["source"], r["line"], r["col"], r["target"], r["verdict"]) for r in records(text) if r["type"] == "link")


def kill_after(folder, words, busy, most):
    """Kills the command when the servers have seen so many requests; None: it came to its end."""
    with open(os.path.join(folder, "out"), "w", encoding="utf-8") as out:
        p = subprocess.Popen([PROGRAM, "check", *words], cwd=folder, stdout=out, stderr=subprocess.PIPE, text=True, env=environment())
    until(lambda: p.poll() is not None or sum(len(s.seen) for s in busy) >= most, "requests")
    over = p.poll()
    p.kill()
    p.communicate()
    return over


@case
def a_killed_check_goes_on_and_says_the_same():
    with site() as other, site(linked(other)) as s, tempfile.TemporaryDirectory() as folder:
        words = (s.base + "/", *SLOW, "-j")
        want = links_of(run(folder, *words).stdout)
        check(len(want), 24 * 5)
        calm = [len(s.seen), len(other.seen)]
        s.seen.clear()
        other.seen.clear()
        job = (*words, *DURABLE, "-o", "-", "-o", "o.sqlite", "-o", "o.csv")
        kills = 0
        for most in (10, 22, 45, 65):  # in the crawl, then among the single links
            if kill_after(folder, job, (s, other), most) is not None:
                break  # a slow machine looked too late
            kills += 1
        check(kills > 1, True)
        p = run(folder, *job) if kills == 4 else None
        with open(os.path.join(folder, "out"), encoding="utf-8") as f:
            check(links_of(p.stdout if p else f.read()), want)
        check([p.returncode, "job 'j' goes on" in p.stderr] if p else [1, True], [1, True], p and p.stderr)
        seen = [len(s.seen), len(other.seen)]
        check([seen[0] <= calm[0] + kills * 20, seen[1] <= calm[1] + kills * 10], [True, True], f"{seen} of {calm}")  # what was in flight, or not committed
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "o.sqlite"))) as db:
            check(db.execute("SELECT count(*) FROM link").fetchone(), (len(want),))
        check(sorted(os.listdir(os.path.join(folder, ".seine/j"))), ["job.db", "lock"])  # pages and answers are not needed any more


@case
def a_check_that_was_finished_begins_anew():
    with site({"/": "<a href=/404>x</a>"}) as s, tempfile.TemporaryDirectory() as folder:
        words = (s.base + "/", *FAST, "--retries", "0", *DURABLE)
        check(run(folder, *words).returncode, 1)
        once = len(s.seen)
        check([run(folder, *words).returncode, len(s.seen)], [1, 2 * once])
        p = run(folder, *words, "--resume")
        check([p.returncode, "is finished" in p.stderr, len(s.seen)], [2, True, 2 * once], p.stderr)
        for verb, code, text in (("retry", 2, "is a link check"), ("jobs rm --yes", 0, "")):
            p = subprocess.run([PROGRAM, *verb.split(), "j"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, env=environment())
            check([p.returncode, text in p.stderr], [code, True], p.stderr)
        check(os.listdir(os.path.join(folder, ".seine")), [])


@case
def a_check_stops_when_jobs_stop_says_so_and_goes_on():
    with site() as other, site(linked(other)) as s, tempfile.TemporaryDirectory() as folder:
        words = (s.base + "/", *SLOW, "--host-rate", "20/s", *DURABLE, "-j", "-o", "o.jsonl")
        p = subprocess.Popen([PROGRAM, "check", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        until(lambda: len(s.seen) > 3, "some pages")
        said = subprocess.run([PROGRAM, "jobs", "stop", "j"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, env=environment())
        p.communicate(timeout=PATIENCE)
        check([said.returncode, p.returncode], [0, 143], said.stderr)
        again = run(folder, *words[:1], *SLOW, *DURABLE, "-o", "o.jsonl", "--resume")
        with open(os.path.join(folder, "o.jsonl"), encoding="utf-8") as f:
            text = f.read()
        check([again.returncode, len(links_of(text)), {v for *_, v in links_of(text)}], [1, 24 * 5, {"ok", "broken"}], again.stderr)


@rows([("--offline",), ("--dump",)])
def a_job_is_for_what_is_asked_for(word):
    with tree(a_md="x") as folder:
        p = run(folder, "a.md", word, *DURABLE)
        check([p.returncode, "asks for nothing that a job could keep" in p.stderr, os.path.exists(os.path.join(folder, ".seine"))], [2, True, False], p.stderr)


# Outputs


@case
def every_format_tells_the_same():
    with tree(a_md="[x](gone|1.md) [=1+1](b.md) [<&\"](a%0Ab,c.md)", b_md="") as folder:
        words = ["-o", "o.jsonl", "-o", "o.csv", "-o", "o.xml", "-o", "o.md", "-o", "o.txt", "-o", "github:o.out"]
        p = run(folder, "a.md", "--offline", *words)
        check([p.returncode, p.stdout], [1, ""])
        read = {n: open(os.path.join(folder, n), encoding="utf-8").read() for n in os.listdir(folder)}
        check([r["verdict"] for r in records(read["o.jsonl"])[:-1]], ["broken", "ok", "broken"])
        check(records(read["o.jsonl"])[-1]["verdicts"]["broken"], 2)
        table = list(csv.DictReader(io.StringIO(read["o.csv"])))
        check([r["verdict"] for r in table], ["broken", "ok", "broken"])
        check(table[1]["text"], "'=1+1")
        suite = ET.fromstring(read["o.xml"]).find("testsuite")
        check([suite.get("tests"), suite.get("failures"), len(suite.findall("testcase/failure"))], ["3", "2", 2])
        check("| broken | a.md:1:1 | gone\\|1.md | no such file |" in read["o.md"], True)
        check(read["o.out"].splitlines()[0], "::error file=a.md,line=1,col=1::broken: gone|1.md (no such file)")
        check(run(folder, "a.md", "--offline", "-o", "o.csv").returncode, 2)
        check(run(folder, "a.md", "--offline", "-o", "o.csv", "--overwrite").returncode, 1)


@case
def a_database_and_packed_lines_hold_every_link():
    with tree(a_md="[x](gone.md) [y](b.md)", b_md="") as folder:
        p = run(folder, "a.md", "--offline", "-o", "o.sqlite", "-o", "o.jsonl.gz", "--summary", "s.json")
        check([p.returncode, p.stdout], [1, ""], p.stderr)
        with contextlib.closing(sqlite3.connect(os.path.join(folder, "o.sqlite"))) as db:
            got = list(db.execute("SELECT seq, source, line, target, verdict, status FROM link ORDER BY seq"))
            check(got, [(1, "a.md", 1, "gone.md", "broken", None), (2, "a.md", 1, "b.md", "ok", None)])
            total = json.loads(db.execute("SELECT json FROM summary").fetchone()[0])
        with gzip.open(os.path.join(folder, "o.jsonl.gz"), "rt", encoding="utf-8") as f:
            packed = records(f.read())
        with open(os.path.join(folder, "s.json"), encoding="utf-8") as f:
            summary = json.load(f)
        check([r.get("target") for r in packed], ["gone.md", "b.md", None])
        check([r["verdicts"]["broken"] for r in (total, packed[-1], summary)], [1, 1, 1])
        check([summary["command"], summary["stopped_by"], summary["exit_code"]], ["check", "done", 1])
        check([run(folder, "a.md", "--offline", "-o", "o.sqlite").returncode, run(folder, "a.md", "--offline", "-o", "o.sqlite", "--overwrite").returncode], [2, 1])


@rows([("o.csv.gz", "gz"), ("csv.gz:o", "gz"), ("o.txt.gz", "gz"), ("o.xml.zst", "zst"), ("md.zst:o", "zst"), ("o.csv.zst", "zst")])
def every_report_may_be_packed(word, kind):
    plain = word.replace(".gz", "").replace(".zst", "").replace("o", "p")
    with tree(a_md="[x](gone.md) [y](b.md)", b_md="") as folder:
        p = run(folder, "a.md", "--offline", "-o", word, "-o", plain)
        check([p.returncode, p.stdout], [1, ""], p.stderr)
        with open(os.path.join(folder, word.rpartition(":")[2]), "rb") as f:
            packed = f.read()
        with open(os.path.join(folder, plain.rpartition(":")[2]), "rb") as f:
            want = f.read()
        got = gzip.decompress(packed) if kind == "gz" else subprocess.run(["zstd", "-dc"], input=packed, capture_output=True, check=True).stdout
        check([re.sub(rb", [0-9.]+ .?s|time=.[0-9.]+.", b"", t) for t in (got,)], [re.sub(rb", [0-9.]+ .?s|time=.[0-9.]+.", b"", want)])


@case
def verdicts_have_colours_on_a_terminal_alone():
    with tree(a_md="[x](gone.md) [y](b.md)", b_md="") as folder:
        plain = run(folder, "a.md", "--offline", "-v")
        shown = run(folder, "a.md", "--offline", "-v", "--color", "always", "-o", "-", "-o", "o.txt")
        check(["\x1b" in plain.stdout, re.findall(r"\x1b\[(\d*)m(\w+)", shown.stdout)], [False, [("31", "broken"), ("32", "ok")]])
        with open(os.path.join(folder, "o.txt"), encoding="utf-8") as f:
            check("\x1b" in f.read(), False)
        check([line.partition("  ")[0] for line in plain.stdout.splitlines()[:-1]], ["broken", "ok"])


@case
def no_summary_leaves_the_record_out():
    with tree(a_md="[y](b.md)", b_md="") as folder:
        check([r["type"] for r in records(run(folder, "a.md", "--offline", "-j", "--no-summary").stdout)], ["link"])


@case
def lines_of_csv_end_as_asked():
    with tree(a_md="[y](b.md)", b_md="") as folder:
        p = subprocess.run([PROGRAM, "check", "a.md", "--offline", "-f", "csv", "--csv-crlf"], cwd=folder, capture_output=True, timeout=PATIENCE, env=environment())
        check(p.stdout.count(b"\r\n"), 2)


@case
def patterns_judge_links_to_files_too():
    with tree(a_md="[x](old/gone.md) [y](b.md#no) [z](../x.pdf)", docs__c_md="[c](old/gone.md)", b_md="") as folder:
        got = verdicts(run(folder, "a.md", "--offline", "-j", "--exclude", "^old/", "--exclude", r"\.pdf$"))
        check(got, {"old/gone.md": "excluded", "b.md#no": "broken", "../x.pdf": "excluded"})
        check(verdicts(run(folder, "a.md", "--offline", "-j", "--include", "^b"))["old/gone.md"], "excluded")
        check(verdicts(run(folder, "docs/c.md", "--offline", "-j", "--exclude", "^docs/old/")), {"old/gone.md": "excluded"})  # the path of the file
        p = run(folder, "a.md", "--offline", "--include", "(")
        check([p.returncode, "--include '('" in p.stderr], [2, True])


@case
def log_and_metrics_tell_of_all_requests():
    with site() as other, site({"/": f"<a href=/a>a</a><a href={other.base}/404>o</a>"}) as s, tempfile.TemporaryDirectory() as folder:
        p = run(folder, s.base + "/", *FAST, "--retries", "0", "--log", "json", "--log-file", "l.json", "-vv", "--metrics-file", "m.prom", "--progress", "off")
        check(p.returncode, 1)
        with open(os.path.join(folder, "l.json"), encoding="utf-8") as f:
            check(all(json.loads(line)["service.name"] == "seine" for line in f), True)
        with open(os.path.join(folder, "m.prom"), encoding="utf-8") as f:
            counts = dict(line.rsplit(" ", 1) for line in f if not line.startswith("#"))
        asked = sum(int(v) for k, v in counts.items() if k.startswith("seine_fetch_requests_total"))
        check(asked, len(s.seen) + len(other.seen))  # of the crawl and of the single links


@case
def messages_are_log_records_if_asked():
    with tree(a_md="[x](b.md)") as folder:
        os.mkfifo(os.path.join(folder, "b.md"))
        p = run(folder, ".", "--offline", "-f", "csv", "--log", "json")
        check([json.loads(line)["event.name"] for line in p.stderr.splitlines()], ["job.end"], p.stderr)


def held_by(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


@case
def a_second_signal_ends_a_run_whose_output_nobody_reads():
    with site() as s, tree(a_md="\n\n".join(f"[x]({s.base}/404?{n})" for n in range(4)) + "\n\n[y](gone.md)" * 20000) as folder:
        p = subprocess.Popen([PROGRAM, "check", "a.md", *FAST, "--retries", "0", "-q"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        until(lambda: len([1 for c, _ in s.seen if c == "GET"]) == 4, "all answers")
        until(lambda: held_by(p.stdout) > 60000 or p.poll() is not None, "a full pipe")
        p.send_signal(signal.SIGINT)
        p.send_signal(signal.SIGTERM)
        check(p.wait(PATIENCE), 130)
        p.stdout.close()
        p.stderr.close()


@case
def a_baseline_keeps_old_faults_from_failing():
    with tree(a_md="[x](gone.md)", b_md="x") as folder:
        with open(os.path.join(folder, "known.jsonl"), "w", encoding="utf-8") as f:
            f.write(run(folder, "a.md", "b.md", "--offline", "-j").stdout)
        p = run(folder, "a.md", "b.md", "--offline", "--baseline", "known.jsonl", "-j")
        check([p.returncode, records(p.stdout)[-1]["known"]], [0, 1])
        old = records(open(os.path.join(folder, "known.jsonl"), encoding="utf-8").read())[0]
        check(records(p.stdout)[0]["since"], old["since"])
        with open(os.path.join(folder, "b.md"), "w", encoding="utf-8") as f:
            f.write("[x](gone.md)")
        check(run(folder, "a.md", "b.md", "--offline", "--baseline", "known.jsonl").returncode, 1)


@case
def good_answers_are_remembered():
    with site() as s, tree(a_md=f"[x]({s.base}/ok) [y]({s.base}/r301) [z]({s.base}/404)") as folder:
        words = ("a.md", *FAST, "--retries", "0", "--cache", "c", "-j")
        first = verdicts(run(folder, *words))
        seen = len(s.seen)
        check(verdicts(run(folder, *words)), first)
        check([c[1] for c in s.seen[seen:]], ["/404", "/404"])  # HEAD and GET; the good ones are not asked for again
        seen = len(s.seen)
        run(folder, *words, "--max-age", "0s")
        check("/ok" in [c[1] for c in s.seen[seen:]], True)


@case
def a_run_that_is_late_says_so():
    with site() as s, tree(a_md=f"[x]({s.base}/slow)") as folder:
        p = run(folder, "a.md", *FAST, "--max-time", "300ms", "--grace", "100ms", "-j")
        check([p.returncode, list(verdicts(p).values())], [4, ["unknown"]])


@case
def a_signal_ends_the_run_in_order():
    with site() as s, tree(a_md=f"[x]({s.base}/slow) [y](a.md)") as folder:
        p = subprocess.Popen([PROGRAM, "check", "a.md", *FAST, "--grace", "100ms", "-j"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        until(lambda: s.seen, "the request")
        p.send_signal(signal.SIGINT)
        out, _ = p.communicate(timeout=PATIENCE)
        check([p.returncode, [r["verdict"] for r in records(out)[:-1]]], [130, ["unknown", "ok"]])


@case
def the_jobs_for_ci_are_commands_that_run():
    with open(os.path.join(ROOT, "docs/user/check.md"), encoding="utf-8") as f:
        commands = re.findall(r"- (?:run: )?(seine check .*)", f.read())
    check(len(commands), 2)
    for command in commands:
        with tree(README_md="[x](docs/a.md)", docs__a_md="# A") as folder:
            p = run(folder, *shlex.split(command)[2:])
            check([p.returncode, p.stderr.startswith("seine:")], [0, False], p.stderr)


@case
def a_base_that_is_no_whole_url_moves_the_links_of_its_page():
    for base, want in (("sub/", "ok"), ("./sub/x.html?q#f", "ok"), ("/top/sub/", "broken"), ("../w/sub/", "broken"), ("", "broken"), ("other", "broken")):
        with tree(a_html=f'<base href="{base}"><a href="b.html">b</a>', sub__b_html="") as folder:
            p = run(folder, "a.html", "--offline", "-j")
            check((verdicts(p), p.returncode), ({"b.html": want}, 0 if want == "ok" else 1), base)


@case
def a_terminal_gets_colours_and_no_control_character_of_a_document():
    with tree(a_md="[x](gone.md)\n[y](<x\x1b[2Jgone.md>)\n") as folder:
        t = Terminal(["check", "a.md", "--offline"], cwd=folder)
        check(t.wait(), 1)
        check(t.bytes.count(b"\x1b[31mbroken\x1b[0m"), 2, str(t.bytes))
        check([b"\x1b[2J" in t.bytes, b"\\x1b[2Jgone.md" in t.bytes, b"\\x1b[31m" in t.bytes], [False, True, False], str(t.bytes))


# This project


@case
def the_links_of_this_project_lead_somewhere():
    p = run(ROOT, "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "bench", "--offline")
    check([p.returncode, p.stdout if p.returncode else ""], [0, ""])


finish(at_once=6)
