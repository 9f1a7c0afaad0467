# SPDX-License-Identifier: Apache-2.0
"""What a page holds: links, metadata, CSS selections, text, tables.

    page = seine.extract.Page(html, "https://e.example/")
    for row in page.select("table.items tr"):
        print(row.words)
"""
import ctypes
import json
from ctypes import byref, c_uint32, c_void_p
from typing import NamedTuple, Optional

from . import _functions as c
from . import _structs as s
from . import errors
from .url import Url

ELEMENT, TEXT = 1, 2
MOST_COLUMNS, MOST_ROWS = 1000, 65534  # of a span, as in the HTML standard
MOST_CELLS = 1_000_000


def decode(data, content_type=None):
    """Bytes of a page as text, in the charset that a byte order mark, the header, the page or the bytes name."""
    label = _charset_of(content_type or "")
    choice, text = s.CharsetChoice(), s.Text()
    c.seine_charset_decide(data, len(data), label, len(label or b""), byref(choice))
    bare = data[choice.bom:]
    errors.check(c.seine_charset_decode(choice.charset, bare, len(bare), byref(text), None))
    return c.take_text(text)


def _charset_of(content_type):
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip('"').encode("ascii", "replace")
    return None


class Link(NamedTuple):
    """url: resolved against the page; None where that is not possible. value: as it stands there."""
    url: Optional[str]
    value: str
    tag: str
    attr: str
    text: Optional[str]
    rel: Optional[str]
    line: int
    col: int


class Page:
    """A page of HTML: text, or bytes whose charset is found out. `url` is its own."""

    def __init__(self, html, url=None, content_type=None):
        self.html = decode(html, content_type) if isinstance(html, (bytes, bytearray)) else html
        self.url = url
        self._data = self.html.encode("utf-8", "replace")
        self._found = self._tree = self._finder = None

    def __del__(self, free=(c.seine_finder_free, c.seine_tree_free, c.seine_links_free)):
        for put, one in zip(free, (getattr(self, "_finder", None), getattr(self, "_tree", None), getattr(self, "_found", None))):
            if one:
                put(one)

    # Links and metadata need no tree.

    def _links(self):
        if self._found is None:
            found = c_void_p()
            errors.check(c.seine_links_new(None, byref(found)))
            self._found = found
            errors.check(c.seine_links_feed(found, self._data, len(self._data)))
            errors.check(c.seine_links_end(found))
        return self._found

    def _base(self):
        """The URL that links resolve against; None: not known."""
        page = Url(self.url) if self.url else None
        base, memory = s.Url(), ctypes.create_string_buffer(8193)
        c.seine_url_init(byref(base), memory, len(memory))
        empty, nothing = s.Url(), ctypes.create_string_buffer(1)
        c.seine_url_init(byref(empty), nothing, 1)
        errors.check(c.seine_links_base_url(self._links(), byref(page._url if page else empty), byref(base)))
        href = s.view_of(c.seine_url_href(byref(base)))
        return Url(href) if href else None

    def links(self):
        """Every link of the page, in its order."""
        found, base, made, link = self._links(), self._base(), [], s.Link()
        while c.seine_links_at(found, len(made), byref(link)):
            value = s.view_text(link.value_ptr, link.value_len) or ""
            made.append(Link(_resolve(value, base), value, link.tag.decode(), link.attr.decode(), s.view_text(link.text_ptr, link.text_len),
                             s.view_text(link.rel_ptr, link.rel_len), link.line, link.col))
        return made

    @property
    def title(self):
        return s.view_of(c.seine_links_title(self._links()))

    @property
    def lang(self):
        return s.view_of(c.seine_links_lang(self._links()))

    @property
    def canonical(self):
        value = s.view_of(c.seine_links_canonical(self._links()))
        return _resolve(value, self._base()) if value is not None else None

    @property
    def metas(self):
        """{name: content} of <meta name> and <meta property>; of two the first counts."""
        found, made, meta, i = self._links(), {}, s.Meta(), 0
        while c.seine_links_meta(found, i, byref(meta)):
            made.setdefault(s.view_text(meta.name_ptr, meta.name_len), s.view_text(meta.content_ptr, meta.content_len))
            i += 1
        return made

    @property
    def jsonld(self):
        """The JSON-LD scripts that are JSON."""
        found, made, view, i = self._links(), [], s.View(), 0
        while c.seine_links_jsonld(found, i, byref(view)):
            try:
                made.append(json.loads(s.view_of(view) or ""))
            except (ValueError, RecursionError):
                pass
            i += 1
        return made

    # The tree.

    def _nodes(self):
        if self._tree is None:
            tree = c_void_p()
            errors.check(c.seine_tree_new(byref(tree)))
            try:
                errors.check(c.seine_tree_parse(tree, self._data, len(self._data), None))
            except BaseException:
                c.seine_tree_free(tree)
                raise
            self._tree = tree
        return self._tree

    @property
    def root(self):
        """The <html> element."""
        number = c.seine_tree_root(self._nodes())
        return Node(self, number) if number else None

    def select(self, css):
        """The elements that a CSS selector matches, in page order. errors.Config: not a selector."""
        return self._select(css, 0)

    def first(self, css):
        """The first of them, or None."""
        return next(iter(self._select(css, 0, 1)), None)

    def _select(self, css, scope, most=None):
        selector, diag, node, made = c_void_p(), s.Diag(), c_uint32(scope), []
        data = css.encode()
        errors.check_diag(c.seine_select_new(data, len(data), byref(selector), byref(diag)), diag)
        try:
            if self._finder is None:
                finder = c_void_p()
                errors.check(c.seine_finder_new(self._nodes(), byref(finder)))
                self._finder = finder
            while most is None or len(made) < most:
                errors.check(c.seine_finder_next(self._finder, selector, scope, byref(node)))
                if not node.value:
                    break
                made.append(Node(self, node.value))
        finally:
            c.seine_select_free(selector)
        return made

    @property
    def text(self):
        """What people see: no scripts or styles, blanks collapsed, a line per block."""
        root = self.root
        return root.words if root else ""

    def tables(self):
        """Each table as rows of texts; a cell that spans several places is in each of them. Tables inside of cells come on their own."""
        return [node.rows() for node in self.select("table")]


class Node:
    """An element of a page, which it keeps alive."""
    __slots__ = ("page", "number")

    def __init__(self, page, number):
        self.page, self.number = page, number

    def __repr__(self):
        return f"<seine.extract.Node {self.name}>"

    def __eq__(self, other):
        return isinstance(other, Node) and self.page is other.page and self.number == other.number

    def __hash__(self):
        return hash((id(self.page), self.number))

    @property
    def name(self):
        return s.view_of(c.seine_node_name(self.page._tree, self.number)) or ""

    @property
    def attrs(self):
        made, attr, i = {}, s.Attr(), 0
        while c.seine_node_attr_at(self.page._tree, self.number, i, byref(attr)):
            made[s.view_text(attr.name_ptr, attr.name_len)] = s.view_text(attr.value_ptr, attr.value_len) or ""
            i += 1
        return made

    def get(self, name, default=None):
        """The value of an attribute."""
        value = s.view_of(c.seine_node_attr(self.page._tree, self.number, name.encode()))
        return default if value is None else value

    __getitem__ = get

    @property
    def text(self):
        """All text inside, unchanged."""
        return self._printed(c.seine_node_text)

    @property
    def words(self):
        """The text that people see."""
        return self._printed(c.seine_node_words)

    @property
    def html(self):
        return self._printed(c.seine_node_html)

    @property
    def parent(self):
        number = c.seine_node_parent(self.page._tree, self.number)
        return Node(self.page, number) if number else None

    @property
    def children(self):
        """The elements directly inside."""
        tree, made = self.page._tree, []
        number = c.seine_node_first(tree, self.number)
        while number:
            if c.seine_node_what(tree, number) == ELEMENT:
                made.append(Node(self.page, number))
            number = c.seine_node_next(tree, number)
        return made

    def select(self, css):
        """The elements inside of this one that a selector matches."""
        return self.page._select(css, self.number)

    def first(self, css):
        return next(iter(self.page._select(css, self.number, 1)), None)

    def rows(self):
        """Of a table: its rows of texts."""
        rows, groups = [], [self] if any(n.name == "tr" for n in self.children) else []
        groups += [n for n in self.children if n.name in ("thead", "tbody", "tfoot")]
        for group in groups:
            rows += _group_rows([n for n in group.children if n.name == "tr"], MOST_CELLS)
        return rows

    def _printed(self, form):
        text = s.Text()
        errors.check(form(self.page._tree, self.number, byref(text)))
        return c.take_text(text)


def _resolve(value, base):
    try:
        return Url(value, base).href
    except errors.BadUrl:
        return None


def _span(cell, name, most):
    digits = ""
    for char in (cell.get(name) or "").strip().lstrip("+"):
        if char not in "0123456789":
            break
        digits += char
    return min(int(digits[:6]), most) if digits else 1


def _group_rows(trs, most):
    """A cell ends with its group of rows, whatever its rowspan says."""
    rows, above = [], {}  # column: (text, rows it still reaches into)
    for i, tr in enumerate(trs):
        row, at = [], 0

        def fill(at):
            while at in above:
                text, left = above[at]
                row.append(text)
                if left > 1:
                    above[at] = (text, left - 1)
                else:
                    del above[at]
                at += 1
            return at

        for cell in tr.children:
            if cell.name not in ("td", "th"):
                continue
            at = fill(at)
            down = _span(cell, "rowspan", MOST_ROWS) or len(trs)
            for _ in range(max(1, _span(cell, "colspan", MOST_COLUMNS))):
                row.append(cell.words)
                if min(down, len(trs) - i) > 1:
                    above[at] = (row[-1], min(down, len(trs) - i) - 1)
                at += 1
        fill(at)
        rows.append(row)
        most -= len(row)
        if most < 0:
            raise errors.HtmlTooComplex("a table of more than a million cells")
    return rows
