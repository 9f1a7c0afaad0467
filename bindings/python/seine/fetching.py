# SPDX-License-Identifier: Apache-2.0
"""fetch and crawl: iterators of records.

The threads of the library fetch; Python is called by none of them. An iterator gives URLs while there is room, takes the
records that are there, sixty-four at most, and yields them one by one.
"""
import atexit
import ctypes
import itertools
import json
import os
import threading
import time
import weakref
from ctypes import byref, c_char_p, c_size_t, c_void_p

from . import _functions as c
from . import _structs as s
from . import errors, options, units
from .records import Record

ROOM = 64
PATIENCE = 100_000_000  # ns: a signal is seen between two waits
SLICE = 0.05  # seconds that an input may take before records come first
QUICK = 0.001  # seconds in which a quick input yields what it is asked for
TEXTS = {str}
_live = weakref.WeakSet()


def fetch(urls, **given):
    """Fetches each URL of an iterable (or one text) and yields one Record each, in the order in which they end.

    An item is a text, or a dict with `url` and, if wanted, `method`, `headers`, `body`, `timeout`, `retries`, `priority`, `tags`,
    `id`, `idempotent`, or None: nothing to ask for now, records come first. Options have the names of `seine fetch`:

        for r in seine.fetch(["https://e.example/"], timeout="10s", retries=2):
            print(r.status, r.url)
    """
    return Fetch("fetch", urls, given)


def crawl(seeds, **given):
    """Follows the links of a site from one seed, or several, and yields one Record per URL. Options as of `seine crawl`."""
    return Fetch("crawl", seeds, given)


class Fetch:
    """A fetch that runs: an iterator of records. Closing it, leaving its `with`, or dropping it ends what still runs."""

    def __init__(self, verb, urls, given):
        self._run = Run(verb, urls, given)
        self._records = records_of(self._run)

    def __iter__(self):
        return self._records  # it lives without this object

    def __next__(self):
        return next(self._records)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def stop(self):
        """No new request from here on; what is in flight may end within `grace`. Records of the others say `canceled`."""
        self._run.stop(errors.CANCELED)

    def stats(self):
        """Counts of the run so far: given, done, ok, failed, requests, bytes_in …"""
        return self._run.stats()

    def close(self):
        """Ends what still runs, at once. Records that were taken stay valid."""
        self._run.close()
        try:
            self._records.close()  # those that wait in its batch are dropped
        except ValueError:  # another thread is in it, and sees the end
            pass


def records_of(run):
    """Gives and takes by turns."""
    batch, n = (c_void_p * ROOM)(), c_size_t()
    feeds = True
    try:
        while True:
            patience = PATIENCE
            if feeds:
                feeds, patience = run.feed()
            run.look_at_clock()
            e = run.take(patience, batch, n)
            if e == errors.CLOSED:
                break
            errors.check(e)
            yield from [Record(at) for at in batch[:n.value]]
        run.check_end()
    finally:
        run.close()


class Run:
    """The stream of the library. Any thread may close it: whoever is inside of a take frees it afterwards."""

    def __init__(self, verb, urls, given):
        self._stream = None
        self._urls = iter((urls,) if isinstance(urls, (str, dict)) else urls)
        self._plan = options.make_plan(verb, given)
        self._pid = os.getpid()
        self._lock = threading.RLock()  # of the stream; a signal handler may come back into it
        self._is_taken = self._is_closing = False
        self._figures = s.FetchStats()
        self._chunk, self._given = [], 0  # items of the input, and how many of them the library has
        self._at_once, self._used = 1, c_size_t()
        self._end = None if self._plan.max_time is None else time.monotonic_ns() + self._plan.max_time
        stream, diag = c_void_p(), s.Diag()
        try:
            errors.check_diag(c.seine_fetch_stream_new(byref(self._plan.opts), byref(stream), byref(diag)), diag, self._plan.names)
        except BaseException:
            self._plan.drop()
            raise
        self._stream, self._fetch = stream, c.seine_fetch_stream_fetch(stream)
        _live.add(self)

    def __del__(self):
        if self._stream:
            self.close()

    def stop(self, why):
        with self._lock:
            if self._stream:
                c.seine_fetch_stop(self._fetch, why)

    def stats(self):
        with self._lock:
            if self._stream:
                c.seine_fetch_stats_get(self._fetch, byref(self._figures))
            return {name: getattr(self._figures, name) for name, kind in self._figures._fields_ if kind is ctypes.c_uint64}

    def close(self):
        with self._lock:
            if not self._stream or os.getpid() != self._pid:  # a child has none of the threads
                return
            self.stop(errors.CANCELED)
            self.stop(errors.CANCELED)
            self._is_closing = True
            if not self._is_taken:
                self._free()

    def _free(self):
        self.stats()
        stream, self._stream = self._stream, None
        c.seine_fetch_stream_free(stream)
        _live.discard(self)
        self._plan.free()

    def take(self, patience, batch, n):
        with self._lock:
            if not self._stream or self._is_closing:
                return errors.CLOSED
            self._is_taken = True
        try:
            return c.seine_fetch_stream_take(self._stream, patience, batch, ROOM, byref(n))
        finally:
            with self._lock:
                self._is_taken = False
                if self._is_closing:
                    self._free()

    def look_at_clock(self):
        """max_time ends the run; what was not given has no record."""
        if self._end is not None and time.monotonic_ns() >= self._end:
            self._end = None
            self.stop(errors.DEADLINE)

    def check_end(self):
        diag = s.Diag()
        with self._lock:
            if self._stream:
                errors.check_diag(c.seine_fetch_err(self._fetch, byref(diag)), diag, self._plan.names)

    def feed(self):
        """Gives URLs until there is no room. Returns whether there may be more, and how long to wait for records."""
        begun = time.monotonic()
        while time.monotonic() - begun < SLICE:
            if self._given == len(self._chunk) and not self._pull():
                return self._chunk is not None, PATIENCE
            with self._lock:
                e = self._give() if self._stream else errors.CLOSED
            if e == errors.FULL:
                return True, PATIENCE
            if e == errors.CLOSED:
                return False, PATIENCE
            errors.check(e)
        return True, 0

    def _pull(self):
        """The next items of the input: one at a time from a slow one, more and more from a quick one. False: there are none, at
        the end of the input for good."""
        begun = time.monotonic()
        chunk = list(itertools.islice(self._urls, self._at_once))
        self._at_once = min(ROOM, 2 * self._at_once) if time.monotonic() - begun < QUICK else 1
        if not chunk:
            self._chunk = None
            with self._lock:
                if self._stream:
                    c.seine_fetch_close(self._fetch)
            return False
        if None in chunk:
            self._at_once = 1
            chunk = [item for item in chunk if item is not None]
        self._chunk, self._given = chunk, 0
        return bool(chunk)

    def _give(self):
        """Adds the items of the chunk that were not given."""
        rest = self._chunk[self._given:] if self._given else self._chunk
        if set(map(type, rest)) == TEXTS:
            data = "\0".join(rest)
            if data.count("\0") == len(rest) - 1:
                data = data.encode("utf-8", "surrogatepass") + b"\0"
                e = c.seine_fetch_stream_add(self._stream, data, len(data), byref(self._used))
                self._given += len(rest) if e == errors.OK else data[:self._used.value].count(b"\0")
                return e
        for item in rest:
            ask, kept = make_ask(item)
            e = c.seine_fetch_add(self._fetch, byref(ask), None)
            if e != errors.OK:
                return e
            self._given += 1
        return errors.OK


def make_ask(item):
    """A seine_ask and what it points to."""
    ask = s.Ask()
    ask.retries = -1
    kept = []
    if isinstance(item, str):
        set_view(ask, "url", item, kept)
        return ask, kept
    if not isinstance(item, dict) or "url" not in item:
        raise TypeError(f"{item!r}: not a URL, or a dict with a url")
    for name, value in item.items():
        if name not in ITEM:
            raise TypeError(f"{name!r}: an item has no such member; it may have {', '.join(sorted(ITEM))}")
        ITEM[name](ask, value, kept)
    return ask, kept


def set_view(ask, member, value, kept):
    data = value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")
    kept.append(data)
    setattr(ask, member + "_ptr", ctypes.cast(c_char_p(data), c_void_p).value)
    setattr(ask, member + "_len", len(data))


def _view(member):
    return lambda ask, value, kept: set_view(ask, member, value, kept)


def _headers(ask, value, kept):
    pairs = list(value.items() if isinstance(value, dict) else value)
    made, texts = options.fields_of(pairs)
    kept.append((made, texts))
    ask.fields, ask.n_fields = made, len(pairs)


ITEM = {
    "url": _view("url"), "id": _view("id"), "method": _view("method"), "body": _view("body"), "headers": _headers,
    "tags": lambda ask, value, kept: set_view(ask, "tags", json.dumps(value), kept),
    "timeout": lambda ask, value, kept: setattr(ask, "timeout", units.span(value)),
    "retries": lambda ask, value, kept: setattr(ask, "retries", units.count(value)),
    "priority": lambda ask, value, kept: setattr(ask, "priority", value),
    "idempotent": lambda ask, value, kept: setattr(ask, "idempotent", bool(value)),
}


@atexit.register
def _close_all():
    for one in list(_live):
        one.close()
