#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A copy of a site, opened from disk in headless Chromium: every request is a file of the copy that is there."""
import os
import pathlib
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from browser import browser  # noqa: E402
from changing_site import Page, changing_site  # noqa: E402
from copies import tree  # noqa: E402
from e2e import PATIENCE, case, check, finish, seine  # noqa: E402
from nginx import nginx  # noqa: E402

QUICK = ("--mine", "--progress", "off", "--retries", "0", "-j", "-t", f"{PATIENCE}s")


class Raw(Page):
    """A body as it is."""
    def __init__(self, text, kind="text/html", **members):
        super().__init__(kind=kind, **members)
        self.text = text

    def body(self):
        return self.text if isinstance(self.text, bytes) else self.text.encode()


PICTURE = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63606060000000040001"
                        "f61738550000000049454e44ae426082")
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
LONG = "/deep/" + "x" * 300 + "/" + "y" * 300 + ".html"
NASTY = ("/a:b*%3f", "/CON", "/..%2fup", "/dot.", "/%20blank%20", "/p;q=%22r%22", "/\u00e9t\u00e9", "/%c3%a9", "/UPPER", "/upper", "/long?" + "q=1&" * 100)


def picture():
    return Raw(PICTURE, kind="image/png")


def site_of(other):
    """A site whose pages need whatever a page can need, some of it from another host."""
    links = "".join(f"<a href='{name}'>{i}</a> " for i, name in enumerate(NASTY))
    nasty = {urllib.parse.quote(name, safe="/:*?%&=;"): Raw(f"<title>{i}</title><link rel=stylesheet href=/s/main.css?v=3><img src='/i/a.png?n={i}'>")
             for i, name in enumerate(NASTY)}
    pictures = {f"/i/a.png?n={i}": picture() for i in range(len(NASTY))}
    return {
        "/": Raw(f"""<!doctype html><meta charset=utf-8><title>top</title><link rel=stylesheet href="/s/main.css?v=3" integrity="sha256-AAAA" crossorigin>
<meta http-equiv=Content-Security-Policy content="default-src 'self'"><style>@import "s/inline.css"; h1 {{ background: url(i/h1.png) }}</style>
<link rel=preload as=image href=/i/preload.png><h1 style="border-image: url(&quot;i/border.png&quot;) 1">top</h1>
<img src="i/a.png" srcset="i/a.png 1x, i/a2.png 2x, i/a3.png 3x"><picture><source srcset="/i/source.svg" type="image/svg+xml"><img src=/i/fallback.png></picture>
<img src="{other}/cdn.png?w=1&amp;h=2"><img src=/moved.png><input type=image src=/i/input.png><object data=/i/object.svg></object>
<video poster=/i/poster.png></video><table background=/i/table.png><tr><td>x</table><svg width=9 height=9><image href="/i/svg.png" width=9 height=9></image></svg>
<p class=web>words in a font</p><iframe src=/frame/></iframe><a href="guide/#part">guide</a> <a href="{LONG}">long</a> <a href=/wide>wide</a>
<script src="/js/app.js"></script> <script src="{other}/lib.js"></script> {links}<a href=/gone>gone</a><a href="{other}/page">other</a>"""),
        "/s/main.css?v=3": Raw('@import url("more.css") screen; body { background: url(../i/bg.png) } /* url(no.png) */', kind="text/css"),
        "/s/more.css": Raw(f"@import '{other}/far.css'; .web {{ font-family: web }} @font-face {{ font-family: web; src: url('{other}/font.woff2?#iefix') }}",
                           kind="text/css"),
        "/s/inline.css": Raw("p { background: url(/i/p.png) }", kind="text/css"),
        **{f"/i/{n}.png": picture() for n in ("h1", "border", "a", "a2", "a3", "bg", "p", "poster", "svg", "preload", "fallback", "input", "table", "guide", "wide")},
        "/i/source.svg": Raw(SVG, kind="image/svg+xml"),
        "/i/object.svg": Raw(SVG, kind="image/svg+xml"),
        "/moved.png": Page(to=other + "/cdn.png?w=1&h=2"),
        "/js/app.js": Raw("document.title += '!'", kind="text/javascript"),
        "/frame/": Raw("<!doctype html><title>frame</title><img src=../i/a.png>"),
        "/guide/": Raw('<base href="/guide/sub/"><title>guide</title><a href=deep>deep</a><img src=../../i/guide.png>'),
        "/wide": Raw('<title>\u00e9</title><link rel=stylesheet href=/s/wide.css><img src="/i/wide.png">'.encode("utf-16")),
        "/s/wide.css": Raw("body { background: url(/i/bg.png) }".encode("utf-16"), kind="text/css"),
        "/guide/sub/deep": Raw("<title>deep</title><img src=/i/a.png>"),
        LONG: Raw("<title>long</title><link rel=stylesheet href=/s/main.css?v=3><img src=/i/a.png>"),
        **nasty, **pictures,
    }


OTHER = {"/cdn.png?w=1&h=2": picture(), "/font.woff2?": Raw(b"no font", kind="font/woff2"), "/far.css": Raw("i { background: url(far.png) }", kind="text/css"),
         "/far.png": picture(), "/lib.js": Raw("1", kind="text/javascript"), "/page": Raw("<title>other</title>")}


def path_of(asked, top):
    """The file of the copy that was asked for; None: it is none."""
    parts = urllib.parse.urlsplit(asked.url)
    path = urllib.parse.unquote(parts.path)
    inside = parts.scheme == "file" and path.startswith(top + "/") and "/../" not in path
    return os.path.relpath(path, top) if inside else None


def open_all(top, names):
    """Opens these files of the copy; what they asked for, and what is wrong with it."""
    asked, wrong = set(), []
    for name in names:
        for one in CHROMIUM.open(pathlib.Path(top, name).as_uri()):
            path = path_of(one, top)
            if not one.url.startswith("data:") and (path is None or one.failed):
                wrong.append((name, one.url, one.failed))
            asked.add(path)
    return asked, wrong


def pages(top):
    return [name for name in sorted(tree(top)) if name.endswith(".html")]


@case
def a_site_with_everything_shows_no_missing_request():
    with changing_site(OTHER, "127.0.0.2") as other, tempfile.TemporaryDirectory() as top:
        with changing_site(site_of(other.base)) as site:
            r = seine("mirror", site.base + "/", "--output-dir", "copy", *QUICK, cwd=top)
            check(r.code, 1, r.err)  # /gone
        top = os.path.realpath(os.path.join(top, "copy"))
        files = set(tree(top))
        asked, wrong = open_all(top, pages(top))
        check(wrong, [])
        # whatever was copied is there for a page that asked for it; of a srcset one is chosen, and `i` has no text
        unused = {os.path.basename(name) for name in files - asked}
        check(unused, {"a2.png", "a3.png", "fallback.png", "far.png"})
        check(len(pages(top)), 6 + len(NASTY))


@case
def a_file_that_is_missing_would_be_seen():
    """The judge, judged: one file less, and one link out of the copy."""
    with tempfile.TemporaryDirectory() as top:
        top = os.path.realpath(top)
        for name, text in (("a.html", "<link rel=stylesheet href=s.css>"), ("s.css", "@import 'no.css'; body { background: url(../out.png) }"),
                           ("b.html", "<img src=http://127.0.0.1:2/x.png>")):
            with open(os.path.join(top, name), "w", encoding="ascii") as f:
                f.write(text)
        _, wrong = open_all(top, ["a.html", "b.html"])
        check(sorted(os.path.basename(url) for _, url, _ in wrong), ["no.css", "out.png", "x.png"])


@case
def a_documentation_tree_behind_nginx_shows_no_missing_request():
    root = os.path.realpath("/usr/share/doc/harden-doc/html/en-US")
    with tempfile.TemporaryDirectory() as home, nginx(root, home) as n, tempfile.TemporaryDirectory() as top:
        r = seine("mirror", n.base + "/", "--output-dir", "copy", *QUICK, "--fail-on", "none", cwd=top)
        check(r.code, 0, r.err)
        top = os.path.realpath(os.path.join(top, "copy"))
        names = pages(top)
        check(len(names) > 20, True, names)
        asked, wrong = open_all(top, names[::len(names) // 10])
        check(wrong, [])
        check(any(name.endswith(".css") for name in asked if name), True, "its style sheets were asked for")


with browser() as CHROMIUM:
    finish()
