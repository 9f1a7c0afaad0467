# SPDX-License-Identifier: Apache-2.0
"""A token bucket: may this happen now, and if not, when?"""
import time
from ctypes import byref, c_int64

from . import _functions as c
from . import _structs as s
from . import errors, units


class Limiter:
    """At most `rate` ("10/s", or a number per second), `burst` at once. Threads may share it.

        limiter = seine.Limiter("10/s", burst=5)
        with limiter:               # waits for its turn
            ask()
    """

    def __init__(self, rate, burst=1):
        pace = units.rate(rate)
        self._limiter = s.Limiter()
        self._burst = units.count(burst)
        if pace.count == 0 or self._burst > 2 ** 32 - 1:
            raise ValueError(f"{rate!r}: not a rate that limits")
        errors.check(c.seine_limiter_init_rate(byref(self._limiter), byref(s.Rate(pace.count, pace.per, self._burst)), -1, c.seine_now()),
                     f"rate {rate!r}, burst {burst!r}: cannot be kept")

    def allow(self, n=1):
        """Takes n tokens and returns True, or takes none and returns False."""
        return c.seine_limiter_allow(byref(self._limiter), c.seine_now(), _tokens(n))

    def left(self):
        """Tokens that could be taken now."""
        return c.seine_limiter_left(byref(self._limiter), c.seine_now())

    def when(self, n=1):
        """Seconds until n tokens could be taken; None: never, since the bucket is smaller."""
        now = c.seine_now()
        at = c.seine_limiter_when(byref(self._limiter), now, _tokens(n))
        return None if at == units.NEVER else (at - now) / units.NS

    def wait(self, n=1, timeout=None):
        """Takes n tokens, and returns when they may be used. errors.Deadline, at once and without taking any: that is later than
        the timeout. errors.Range: more than the burst."""
        at, now = c_int64(), c.seine_now()
        latest = units.NEVER - 1 if timeout is None else now + units.span(timeout)
        if _tokens(n) > self._burst:
            raise errors.Range(f"{n} tokens of a bucket of {self._burst}")
        if not c.seine_limiter_reserve(byref(self._limiter), now, n, latest, byref(at)):
            raise errors.Deadline(f"{n} tokens come later than {timeout!r}")
        mark = self._limiter.full
        try:
            _sleep_until(at.value)
        except BaseException:  # Ctrl-C: the tokens were not used
            c.seine_limiter_undo(byref(self._limiter), mark, n)
            raise

    def pause(self, span):
        """Grants nothing for so long, as a Retry-After asks for."""
        c.seine_limiter_pause(byref(self._limiter), c.seine_now() + units.span(span))

    def __enter__(self):
        self.wait()
        return self

    def __exit__(self, *exception):
        pass


def _tokens(n):
    if not isinstance(n, int) or isinstance(n, bool) or not 0 <= n < 2 ** 32:
        raise ValueError(f"{n!r}: not a number of tokens")
    return n


def _sleep_until(at):
    while (left := at - c.seine_now()) > 0:
        time.sleep(left / units.NS)
