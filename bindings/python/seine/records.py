# SPDX-License-Identifier: Apache-2.0
"""How one URL ended: a view of a record of the library.

A member is read from the record when it is asked for, and copied then. The record itself belongs to its Record and is freed
with it, so it may be kept for as long as one likes: after its step, after the fetch.
"""
import ctypes
import datetime
import json
import operator
from ctypes import string_at

from . import _functions as c
from . import _structs as s
from . import errors

from_address = s.Record.from_address
decode = ctypes.PyDLL(None).PyUnicode_DecodeUTF8  # bytes in memory become a text in one step
decode.restype, decode.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_char_p)
RESULT, SKIP = 0, 1
MS = 1_000_000
TIMES = ("queue", "throttle", "backoff", "retry_budget", "dns", "connect", "tls", "ttfb", "body_time", "total")


def _view(member, doc):
    both = operator.attrgetter(member + "_ptr", member + "_len")

    def get(self):
        at, length = both(self._c)
        return decode(at, length, b"replace") if at else None
    return property(get, doc=doc)


def _names(function):
    """The names of an enum; the list grows with the library."""
    known = {}

    def name(number):
        if number not in known:
            known[number] = function(number).decode()
        return known[number]
    return name


fate_name, skip_name, wait_name, phase_name = map(_names, (c.seine_fate_name, c.seine_skip_name, c.seine_wait_name, c.seine_phase_name))


class Record:
    """One URL and how it ended. What is not known is None."""
    __slots__ = ("_at", "_c", "__weakref__")

    def __init__(self, at):
        self._at = at
        self._c = from_address(at)

    def __del__(self, free=c.seine_fetch_stream_record_free):
        at, self._at = self._at, None
        if at:
            free(at)

    def __repr__(self):
        said = self.reason if self.type == "skip" else self.status or self.outcome
        return f"<seine.Record {said} {self.url}>"

    def __reduce__(self):
        raise TypeError("a Record is a view of memory of this process; record.to_dict() can be pickled")

    url = _view("url", "as requested")
    key = _view("key", "the normal form, equal for repetitions")
    final_url = _view("final_url", "after redirects, if a response came")
    input = _view("input", "as given")
    id = _view("id", "copied from the input")
    method = _view("method", "GET, POST …")
    host = _view("host", "with the port unless it is the default")
    ip = _view("ip", "the address that answered")
    parent = _view("parent", "of a crawl: the page it was found on")
    content_type = _view("content_type", "as the header says it")
    charset = _view("charset", "of a page that was read for links, the charset it was read in")
    title = _view("title", "of HTML")
    lang = _view("lang", "what <html lang> says")
    canonical = _view("canonical", "rel=canonical, as a whole URL")
    meta_robots = _view("meta_robots", "what the metas for robots say")
    rule = _view("rule", "of a skip: the rule that refused it")

    @property
    def type(self):
        """"result", or "skip": it was refused."""
        return "skip" if self._c.type == SKIP else "result"

    @property
    def ok(self):
        """An accepted status, and a complete body."""
        return self._c.type == RESULT and self._c.fate == 0

    @property
    def outcome(self):
        """"ok", "http_error", "network_error", "timeout" …; None for a skip."""
        return fate_name(self._c.fate) if self._c.type == RESULT else None

    @property
    def reason(self):
        """Of a skip: "offsite", "robots", "pattern" …"""
        return skip_name(self._c.reason) if self._c.type == SKIP else None

    @property
    def status(self):
        """Of the last response."""
        return self._c.status or None

    @property
    def number(self):
        """0, 1, 2 … in the order of the input."""
        return self._c.number

    @property
    def line(self):
        return self._c.line or None

    @property
    def ts(self):
        """When it ended, a datetime in UTC."""
        return datetime.datetime.fromtimestamp(self._c.wall / 1e9, datetime.timezone.utc)

    @property
    def tags(self):
        """As given with the URL."""
        text = s.view_text(self._c.tags_ptr, self._c.tags_len)
        return json.loads(text) if text else None

    @property
    def http(self):
        return {10: "1.0", 11: "1.1"}.get(self._c.http)

    @property
    def depth(self):
        """Of a crawl: links from a given URL."""
        return self._c.depth if self._c.is_crawled else None

    @property
    def via(self):
        """Of a crawl: where on its parent page it was found."""
        via = self._c.via
        if not via.tag_ptr:
            return None
        return {"tag": s.view_text(via.tag_ptr, via.tag_len), "attr": s.view_text(via.attr_ptr, via.attr_len),
                "text": s.view_text(via.text_ptr, via.text_len), "line": via.line or None}

    @property
    def redirects(self):
        """(url, status) of every hop, in order."""
        return [(s.view_text(hop.url_ptr, hop.url_len), hop.status) for hop in self._array(s.Hop, self._c.hops, self._c.n_hops)]

    @property
    def error(self):
        """An exception that was not raised, errors.DnsTimeout for one; None when ok."""
        fault = self._c.fault
        if self._c.type == SKIP or not fault or fault[0].code == errors.OK:
            return None
        e = errors.error_of(fault[0].code, s.view_text(self._c.message_ptr, self._c.message_len))
        e.phase = phase_name(fault[0].phase)
        e.hint = s.view_text(self._c.hint_ptr, self._c.hint_len)
        e.timeout_ms = fault[0].timeout_ms or None
        e.retryable = self._c.retryable
        return e

    def raise_for_error(self):
        """Raises the error, if there is one; returns the record."""
        if (e := self.error) is not None:
            raise e
        return self

    @property
    def attempts(self):
        return self._c.attempts

    @property
    def tries(self):
        """Each attempt, if there was more than one."""
        return [{"n": t.n, "status": t.status or None, "error": c.seine_err_name(t.err).decode() if t.err else None, "ms": t.took / MS,
                 "wait_ms": t.wait / MS if t.wait >= 0 else None, "wait_reason": wait_name(t.wait_reason) if t.wait >= 0 else None}
                for t in self._array(s.Try, self._c.tries, self._c.n_tries)]

    @property
    def headers(self):
        """[(name, value)] as they came; None unless fields="+headers" asked for them."""
        if not self._c.fields:
            return None
        return [(s.view_text(f.name_ptr, f.name_len), string_at(f.value_ptr, f.value_len).decode("iso-8859-1"))
                for f in self._array(s.Field, self._c.fields, self._c.n_fields)]

    def header(self, name, default=None):
        """The values of one header, joined; headers must have been asked for."""
        if self.headers is None:
            raise LookupError('no headers were kept: ask for them with fields="+headers"')
        values = [value for n, value in self.headers if n.lower() == name.lower()]
        return ", ".join(values) if values else default

    @property
    def charset_from(self):
        text = self._c.charset_from
        return text.decode() if text else None

    @property
    def charset_errors(self):
        return self._c.charset_errors

    @property
    def content_length(self):
        return self._c.content_length if self._c.content_length >= 0 else None

    @property
    def bytes_in(self):
        return self._c.bytes_in

    @property
    def bytes_body(self):
        return self._c.bytes_body

    @property
    def partial(self):
        return self._c.partial

    @property
    def notes(self):
        return [self._c.notes[i].decode() for i in range(self._c.n_notes)]

    @property
    def time(self):
        """Milliseconds of each phase and wait; `total` is the whole life of the URL."""
        return {name.replace("_time", ""): getattr(self._c, name) / MS for name in TIMES}

    @property
    def tls(self):
        facts = self._c.secure
        return {"version": f"1.{facts.version - 10}", "verified": facts.verified} if facts.version else None

    @property
    def links(self):
        """How many links a crawl may follow; None: the page was not read for links."""
        return self._c.n_links if self._c.has_links else None

    @property
    def data(self):
        """The values that css, json_pointer, meta, jsonld and text ask for, a list each; None: the page has none."""
        view = c.seine_record_data(self._at)
        return json.loads(s.view_of(view)) if view.ptr else None

    @property
    def extract(self):
        """Why a page that is ok lacks links or values; None: it does not."""
        return errors.error_of(self._c.extract) if self._c.extract else None

    @property
    def sha256(self):
        """Of the decoded body, hex; None unless fields="+sha256" asked for it."""
        return string_at(self._c.sha256, 32).hex() if self._c.sha256 else None

    @property
    def body(self):
        """The bytes, decoded from gzip and its kin; None unless body=True asked for them."""
        return string_at(self._c.body_ptr, self._c.body_len) if self._c.body_ptr else None

    @property
    def text(self):
        """The body as text, in the charset that the header, the page or the bytes name."""
        body = self.body
        if body is None:
            return None
        from . import extract
        return extract.decode(body, self.content_type)

    def page(self):
        """The body as an extract.Page; body=True must have asked for it."""
        from . import extract
        if self.body is None:
            raise LookupError("no body was kept: ask for it with body=True")
        return extract.Page(self.text, self.final_url or self.url)

    def to_dict(self):
        """The record as `seine fetch` writes it, without the body."""
        return json.loads(self.to_json())

    def to_json(self):
        size = 4096
        while True:
            line = ctypes.create_string_buffer(size)
            length = c.seine_record_json(self._at, self._c.number + 1, None, 0, line, size)
            if length <= size:
                return line.raw[:length].decode().rstrip("\n")
            size = length

    def _array(self, kind, at, n):
        return (kind * n).from_address(at) if n else ()
