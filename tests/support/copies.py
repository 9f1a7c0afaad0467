# SPDX-License-Identifier: Apache-2.0
"""What a copy of a site names, read by Python's own parsers: is every reference a file that is there?

    refs = references("copy")                   [(file, reference)] of all HTML and CSS files
    check(missing("copy"), [])
"""
import html.parser
import os
import re
import urllib.parse

URLS = {"href", "src", "poster", "data", "background", "action", "xlink:href"}
CSS_URL = re.compile(r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)'"\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')""")


def tree(top, hidden=False):
    """All files below a directory with their bytes; those of the copy alone, unless hidden ones are asked for."""
    found = {}
    for where, folders, names in os.walk(top):
        if not hidden:
            folders[:] = [n for n in folders if not n.startswith(".")]
        for name in names:
            with open(os.path.join(where, name), "rb") as f:
                found[os.path.relpath(os.path.join(where, name), top)] = f.read()
    return found


def css_urls(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [next(g for g in m.groups() if g is not None) for m in CSS_URL.finditer(text)]


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.in_style = [], False

    def handle_starttag(self, tag, attrs):
        self.in_style = tag == "style"
        for name, value in attrs:
            if value is None or (tag == "base" and name == "href"):
                continue
            if name in URLS and not (tag == "a" and name == "data"):
                self.found.append(value)
            elif name in ("srcset", "imagesrcset"):
                self.found += [part.split()[0] for part in value.split(",") if part.split()]
            elif name == "style":
                self.found += css_urls(value)

    def handle_data(self, data):
        if self.in_style:
            self.found += css_urls(data)

    def handle_endtag(self, tag):
        self.in_style = False


def references(top):
    found = []
    for name, body in tree(top).items():
        text = body.decode("utf-8", "replace")
        if name.endswith((".html", ".htm", ".xhtml", ".svg")):
            reader = Reader()
            reader.feed(text)
            found += [(name, r) for r in reader.found]
        elif name.endswith(".css"):
            found += [(name, r) for r in css_urls(text)]
    return found


def target(name, reference):
    """The file of the copy that a browser opens from disk for a reference; None: it leads out of the copy."""
    whole = urllib.parse.urljoin("file:///copy/" + urllib.parse.quote(name), reference)
    parts = urllib.parse.urlsplit(whole)
    return urllib.parse.unquote(parts.path)[len("/copy/"):] if parts.scheme == "file" else None


def missing(top):
    """References of the copy to files that are not there."""
    files = tree(top)
    return [(name, r) for name, r in references(top) if target(name, r) not in files and target(name, r) is not None]
