#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fetch -O, -J and --output-dir: bodies in files whose names come from the web, and never leave their directory."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from changing_site import Page, changing_site  # noqa: E402
from e2e import case, check, finish, rows, seine  # noqa: E402
from origin import results  # noqa: E402

MINE = ("--mine", "--progress", "off", "--retries", "0")


def plain(words, **members):
    return Page(words, kind="application/octet-stream", **members)


def tree(top):
    """All files below a directory, with their bytes."""
    found = {}
    for where, _, names in os.walk(top):
        for name in names:
            with open(os.path.join(where, name), "rb") as f:
                found[os.path.relpath(os.path.join(where, name), top)] = f.read()
    return found


@case
def remote_name_is_the_end_of_the_url():
    with changing_site({"/d/a.bin": plain("one"), "/": plain("top"), "/q?x=1": plain("q")}) as site, tempfile.TemporaryDirectory() as top:
        r = seine("fetch", "-O", *MINE, site.base + "/d/a.bin", site.base + "/", site.base + "/q?x=1", cwd=top)
        check(r.code, 0, r.err)
        check(tree(top), {"a.bin": b"one", "index.html": b"top", "q": b"q"})
        check(sorted(x["body_file"] for x in results(r.out)), ["a.bin", "index.html", "q"])


@case
def a_url_that_redirects_keeps_its_own_name():
    table = {"/latest": Page(to="/v/tool-1.2.tar.gz"), "/v/tool-1.2.tar.gz": plain("one"), "/page": Page(to="/x.html"), "/x.html": Page("two")}
    with changing_site(table) as site, tempfile.TemporaryDirectory() as top:
        r = seine("fetch", "-O", *MINE, site.base + "/latest", cwd=top)
        check((r.code, tree(top)), (0, {"latest": b"one"}), r.err)
        out = os.path.join(top, "saved")
        r = seine("fetch", "--save", out, *MINE, site.base + "/page")
        check((r.code, [os.path.splitext(name)[1] for name in tree(out)]), (0, [".html"]), "--save: by what the target sent")


@case
def names_that_are_taken_are_told_apart():
    with changing_site({"/a/x.bin": plain("one"), "/b/x.bin": plain("two")}) as site, tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "new")
        words = ("fetch", "-O", "--output-dir", out, *MINE, site.base + "/a/x.bin", site.base + "/b/x.bin")
        check(seine(*words).code, 0)
        first = tree(out)
        check(sorted(first.values()), [b"one", b"two"])
        check("x.bin" in first and len(first), 2)
        with open(os.path.join(out, "x.bin"), "wb") as f:
            f.write(b"mine")
        check(seine(*words).code, 0)
        check(tree(out)["x.bin"], b"mine", "a file that was there is not touched")
        check(sorted(tree(out).values()), [b"mine", b"one", b"two"])
        check(seine(*words, "--overwrite").code, 0)
        check(tree(out)["x.bin"] in (b"one", b"two"), True)


@rows([
    ('attachment; filename="report.pdf"', "report.pdf"),
    ('attachment; filename="../../../tmp/evil"', "evil"),
    ("attachment; filename=/etc/passwd", "passwd"),
    ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=x", "na\u00efve.txt"),
    ("attachment; filename=..", "%2E%2E"),
    ("attachment; filename=.bashrc", "%2Ebashrc"),
    ("attachment; filename=CON", "%43ON"),
    ("inline", "x"),
])
def header_name_is_what_the_server_says_without_its_directories(said, want):
    with changing_site({"/x": plain("body", fields={"Content-Disposition": said})}) as site, tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "out")
        r = seine("fetch", "-J", "--output-dir", out, *MINE, site.base + "/x")
        check(r.code, 0, r.err)
        check(tree(top), {os.path.join("out", want): b"body"})


@rows([(p,) for p in ("/..%2f..%2fevil", "/%2e%2e%5cevil", "/a:b*%3f", "/CON", "/" + "x" * 300 + ".tar", "/%00", "/a.", "/-rf", "/%ff")])
def no_url_leads_out_of_the_directory(path):
    with changing_site({path: plain("body")}) as site, tempfile.TemporaryDirectory() as top:
        out = os.path.join(top, "out")
        r = seine("fetch", "-O", "--output-dir", out, *MINE, site.base + path)
        check(r.code, 0, r.err)
        (name, body), = tree(top).items()
        check(os.path.dirname(name), "out")
        check(body, b"body")
        check(len(os.path.basename(name).encode()) <= 255, True)


@case
def a_link_in_the_place_of_a_name_is_not_followed():
    with changing_site({"/x": plain("body")}) as site, tempfile.TemporaryDirectory() as top:
        out, other = os.path.join(top, "out"), os.path.join(top, "other")
        os.mkdir(out)
        with open(other, "w", encoding="ascii") as f:
            f.write("safe")
        os.symlink(other, os.path.join(out, "x"))
        check(seine("fetch", "-O", "--output-dir", out, *MINE, site.base + "/x").code, 0)
        check(seine("fetch", "-O", "--overwrite", "--output-dir", out, *MINE, site.base + "/x").code, 0)
        with open(other, encoding="ascii") as f:
            check(f.read(), "safe")


@case
def what_failed_leaves_no_file():
    with changing_site({"/x": plain("body", status=500)}) as site, tempfile.TemporaryDirectory() as top:
        check(seine("fetch", "-O", *MINE, site.base + "/x", site.base + "/gone", cwd=top).code, 1)
        check(tree(top), {})


@case
def mistakes_are_told_before_the_first_request():
    with changing_site({"/x": plain("body")}) as site, tempfile.TemporaryDirectory() as top:
        for words in (("--output-dir", "/dev/null"), ("--save", "s"), ("--job", "j")):
            r = seine("fetch", "-O", *words, *MINE, site.base + "/x", cwd=top)
            check(r.code, 2, r.err)
            check("try: " in r.err, True, r.err)
        check(site.paths(), [])


finish(at_once=4)
