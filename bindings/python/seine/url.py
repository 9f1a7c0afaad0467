# SPDX-License-Identifier: Apache-2.0
"""URLs as browsers read them (the WHATWG standard): parse, resolve, compare."""
import ctypes
from ctypes import byref, c_size_t, c_void_p

from . import _functions as c
from . import _structs as s
from . import errors

ROOM = 8193  # SEINE_URL_ROOM


def _part(name, doc=None):
    function = getattr(c, "seine_url_" + name)
    return property(lambda self: s.view_of(function(byref(self._url))) or "", doc=doc)


class Url:
    """A parsed URL; `base` is the page that a relative one was found on. errors.BadUrl, a ValueError, says what is wrong."""
    __slots__ = ("_url", "_memory")

    def __init__(self, text, base=None):
        data, flaw = text.encode("utf-8", "surrogatepass"), s.UrlFlaw()
        self._url, self._memory = s.Url(), ctypes.create_string_buffer(min(ROOM, 3 * len(data) + (base_length(base)) + 64))
        e = self._parse(data, base, flaw)
        if e == errors.BadUrl.number and len(self._memory) < ROOM:  # escapes and names may have needed more
            self._memory = ctypes.create_string_buffer(ROOM)
            e = self._parse(data, base, flaw)
        if e == errors.BadUrl.number:
            raise errors.BadUrl(f"{text!r}: {c.seine_url_flaw_text(flaw.kind).decode()}, at byte {flaw.at}")
        errors.check(e)

    def _parse(self, data, base, flaw):
        c.seine_url_init(byref(self._url), self._memory, len(self._memory))
        if base is None:
            return c.seine_url_parse(byref(self._url), data, len(data), byref(flaw))
        base = base if isinstance(base, Url) else Url(base)
        return c.seine_url_resolve(byref(self._url), byref(base._url), data, len(data), byref(flaw))

    href = _part("href")
    scheme = _part("scheme")
    username = _part("username")
    password = _part("password")
    host = _part("host")
    host_port = _part("host_port", "as in the Host header")
    path = _part("path")
    query = _part("query", "without its ?")
    fragment = _part("fragment", "without its #")
    target = _part("target", "path and query, as requested")

    @property
    def port(self):
        """To connect to: the given one or the scheme's; None: neither."""
        port = c.seine_url_port(byref(self._url))
        return port if port >= 0 else None

    @property
    def origin(self):
        return self._written(c.seine_url_origin)

    @property
    def authority(self):
        """"https://e.example:443": the key of state per host."""
        return self._written(c.seine_url_authority)

    def key(self, strip=None):
        """The normal form, equal for all spellings; `strip`, "utm_*,fbclid", names parameters to leave out."""
        text, length = ctypes.create_string_buffer(ROOM), c_size_t()
        errors.check(c.seine_url_key(byref(self._url), strip.encode() if strip else None, text, ROOM, byref(length)))
        return text.value.decode()

    def join(self, reference):
        """The URL of a link that was found on this page."""
        return Url(reference, self)

    def _written(self, function):
        text = ctypes.create_string_buffer(ROOM)
        function(byref(self._url), text, ROOM)
        return text.value.decode()

    def __str__(self):
        return self.href

    def __repr__(self):
        return f"seine.url.Url({self.href!r})"

    def __eq__(self, other):
        return isinstance(other, Url) and self.href == other.href

    def __hash__(self):
        return hash(self.href)


def base_length(base):
    return 0 if base is None else len(base.href if isinstance(base, Url) else base)


def parse(text, base=None):
    return Url(text, base)


def join(base, reference):
    """The href of a link that was found on the page `base`."""
    return Url(reference, base).href


def key(text, strip=None):
    return Url(text).key(strip)


_psl = c_void_p()


def site(host):
    """The registrable domain: example.co.uk of www.example.co.uk; None: there is none."""
    if not _psl:
        errors.check(c.seine_psl_new(None, byref(_psl)))
    data = host.encode()
    length = c.seine_psl_site(_psl, data, len(data))
    return data[-length:].decode() if length else None
