#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""walk.py ROOT BASE: which URLs does a crawl of BASE meet, if nginx serves the files below ROOT there?

Reads the files itself, by libxml2's parser of HTML (Debian's python3-lxml, hence the interpreter), and
resolves links by its own reading of the URL standard: nothing of the program that is judged is in it.
One JSON line per URL, in the order it was met:

    {"key":"http://127.0.0.1:8080/git/git.html","kind":"page"}

kind: page, missing (404), moved (a directory without its slash; `to`), other (no HTML), offsite,
scheme (neither http nor https), bad_url (no URL at all; the key is the text), nofollow (no other link leads there).
"""
import collections
import json
import os
import re
import sys
import urllib.parse

from lxml import etree

# What a link element may be about that is no page to read.
ASSETS = {"stylesheet", "icon", "shortcut", "preload", "prefetch", "dns-prefetch", "preconnect", "modulepreload", "manifest",
          "apple-touch-icon", "mask-icon", "prerender", "pingback", "search"}
SPECIAL = {"http": 80, "https": 443}
QUERY = " \"#<>'"  # what the URL standard escapes there, besides controls and what is not ASCII
PATH = " \"#<>?`{}^"
UNRESERVED = "-._~"


def escaped(text, which):
    return "".join(c if " " <= c <= "~" and c not in which else urllib.parse.quote(c, safe="") for c in text)


def flat(path):
    """The path without its dots, as the standard removes them."""
    out, parts = [], path.split("/")[1:]
    for i, part in enumerate(parts):
        last, plain = i == len(parts) - 1, part.lower().replace("%2e", ".")
        if plain == "..":
            out = out[:-1]
        if plain in (".", ".."):
            out += [""] if last else []
        else:
            out.append(part)
    return "/" + "/".join(out)


def resolved(base, text):
    """(scheme, authority, path, query or None) of a reference; ("scheme", text) for schemes that are not of the web,
    ("bad_url", text) for what the standard refuses: here, characters that no host has."""
    whole = text
    text = re.sub(r"[\t\n\r]", "", text.strip("".join(map(chr, range(33)))))
    text = text.split("#", 1)[0]
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    scheme, authority, path, query = base
    if found and found.group(1).lower() not in SPECIAL:
        return "scheme", found.group(1).lower() + text[len(found.group(1)):]
    if found:
        rest = text[len(found.group(0)):]
        if found.group(1).lower() != scheme or rest[:2].replace("\\", "/") == "//":
            rest = "//" + rest.lstrip("/\\")
        scheme, text = found.group(1).lower(), rest
    before, mark, after = text.partition("?")
    before = before.replace("\\", "/")
    if before.startswith("//"):
        authority, slash, tail = before.lstrip("/").partition("/")
        authority, path = authority.rpartition("@")[2].lower(), slash + tail or "/"
        if not authority or re.search(r"[\0-\x20#/<>?@\\^|%]|[^:]*\[", authority):
            return "bad_url", whole
        if authority.endswith(f":{SPECIAL[scheme]}"):
            authority = authority.rpartition(":")[0]
    elif before.startswith("/"):
        path = before
    elif before:
        path = path.rpartition("/")[0] + "/" + before
    if before or mark:
        query = escaped(after, QUERY) if mark else None
    return scheme, authority, flat(escaped(path, PATH)), query


def key(url):
    """The form by which two URLs are the same: escapes in upper case, none where none is needed, no empty query."""
    if url[0] not in SPECIAL:
        return url[1]

    def again(found):
        c = chr(int(found.group(1), 16))
        return c if (c.isascii() and c.isalnum()) or c in UNRESERVED else found.group(0).upper()
    scheme, authority, path, query = url
    text = path + ("?" + query if query else "")
    return f"{scheme}://{authority}" + re.sub(r"%([0-9A-Fa-f]{2})", again, text)


def parsed(text):
    return resolved(("http", "", "/", None), text)


def words(element, name):
    return (element.get(name) or "").lower().split()


def target(e):
    """What this element leads to, or None."""
    if e.tag in ("a", "area"):
        return e.get("href")
    if e.tag == "link":
        return None if not words(e, "rel") or set(words(e, "rel")) & ASSETS else e.get("href")
    if e.tag in ("iframe", "frame"):
        return e.get("src")
    if e.tag == "meta" and (e.get("http-equiv") or "").lower() == "refresh":
        found = re.match(r"""\s*\d+[.\d]*\s*[;,]?\s*(?:url\s*=\s*)?['"]?([^'"]*)""", e.get("content") or "", re.I)
        return found.group(1) if found and found.group(1) else None
    return None


def links(body, url):
    """(resolved URL, whether it is said not to be followed) for each link of a page."""
    if not body.strip():
        return
    tree = etree.fromstring(body, etree.HTMLParser(huge_tree=True))
    if tree is None:
        return
    base, shut = url, False
    for e in tree.iter("base"):
        if e.get("href") is not None:
            base = resolved(url, e.get("href"))
            break
    for e in tree.iter("meta"):
        if (e.get("name") or "").lower() in ("robots", "seine"):
            shut = shut or "nofollow" in re.split(r"[,\s]+", (e.get("content") or "").lower())
    for e in tree.iter("a", "area", "link", "iframe", "frame", "meta"):
        value = target(e)
        if value is not None:
            yield resolved(base, value), shut or "nofollow" in words(e, "rel")


class Files:
    """What nginx makes of a path: with index.html, listings, and the types it is told."""

    def __init__(self, root):
        self.root = root

    def answer(self, url):
        """(kind, what it leads to)."""
        path = re.sub("/+", "/", urllib.parse.unquote(url[2]))
        where = self.root + path
        if os.path.isdir(where):
            if not path.endswith("/"):
                return "moved", [((url[0], url[1], url[2] + "/", url[3]), False)]
            where += "index.html"
            if not os.path.exists(where):
                return "page", list(self.listing(url, os.path.dirname(where)))
        if not os.path.isfile(where):
            return "missing", []
        if not where.lower().endswith((".html", ".htm")):
            return "other", []
        with open(where, "rb") as f:
            return "page", list(links(f.read(), url))

    def listing(self, url, where):
        yield resolved(url, "../"), False
        for name in sorted(name for name in os.listdir(where) if not name.startswith(".")):
            mark = "/" if os.path.isdir(os.path.join(where, name)) else ""
            yield resolved(url, urllib.parse.quote(name, safe="") + mark), False


def walk(root, base):
    """key → (kind, to) of all that is met."""
    files, start = Files(root), parsed(base)
    met, shunned, queue = {}, {}, collections.deque([(start, False)])
    while queue:
        url, is_shunned = queue.popleft()
        name = key(url)
        if name in met:
            continue
        if is_shunned:
            shunned[name] = url
        elif url[0] not in SPECIAL:
            met[name] = (url[0], None)
        elif url[:2] != start[:2]:
            met[name] = ("offsite", None)
        else:
            kind, leads = files.answer(url)
            met[name] = (kind, key(leads[0][0]) if kind == "moved" else None)
            queue.extend(leads)
    for name, url in shunned.items():
        if name not in met:
            same = url[:2] == start[:2]
            met[name] = ("nofollow" if same else url[0] if url[0] not in SPECIAL else "offsite", None)
    return met


def main(root, base):
    for name, (kind, to) in walk(root, base).items():
        print(json.dumps({"key": name, "kind": kind, **({"to": to} if to else {})}))


if __name__ == "__main__":
    main(*sys.argv[1:])
