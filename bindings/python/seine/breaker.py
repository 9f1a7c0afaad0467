# SPDX-License-Identifier: Apache-2.0
"""A circuit breaker: is it worth asking this host at all?"""
import ctypes
import threading
from ctypes import byref

from . import _functions as c
from . import _structs as s
from . import errors, units

SUCCESS, FAILURE, IGNORED = range(3)
OPEN_FOR, OPEN_MAX = 60 * units.NS, 300 * units.NS


class Breaker:
    """Opens after failures, as `spec` says, in the words of `seine fetch --breaker`. Threads may share it.

        breaker = seine.Breaker("fail=5,open=60s")
        with breaker:               # errors.Breaker while it is open; an exception inside is a failure
            ask()
    """

    def __init__(self, spec="fail=5,open=60s"):
        self._opts = s.BreakerOpts(ctypes.sizeof(s.BreakerOpts), 5, 1, 1, 100, 0, 0, 10, 0, 0, 0, OPEN_FOR, OPEN_MAX, 0, None, None)
        self._breaker, self._ready = s.Breaker(), False
        self._permits = threading.local()
        diag = s.Diag()
        errors.check_diag(c.seine_breaker_spec(spec.encode(), byref(self._opts), None, byref(diag)), diag)
        errors.check(c.seine_breaker_init(byref(self._breaker), byref(self._opts)), f"{spec!r}: never opens, or contradicts itself")
        self._ready = True

    def __del__(self, fini=c.seine_breaker_fini):
        if getattr(self, "_ready", False):
            fini(byref(self._breaker))

    def acquire(self):
        """A permit for one call; errors.Breaker: refused."""
        permit = s.Permit()
        errors.check(c.seine_breaker_acquire(byref(self._breaker), c.seine_now(), byref(permit)))
        return permit

    def settle(self, permit, ok):
        """Says how the call ended; ok None: that says nothing about the host. errors.Already: it was said before."""
        how = IGNORED if ok is None else SUCCESS if ok else FAILURE
        errors.check(c.seine_breaker_settle(byref(self._breaker), byref(permit), how, c.seine_now()))

    def call(self, function, *args, **kwargs):
        """Calls the function, unless the breaker is open."""
        with self:
            return function(*args, **kwargs)

    def __enter__(self):
        permit = self.acquire()
        self._stack().append(permit)
        return self

    def __exit__(self, kind, value, traceback):
        """An Exception is a failure; what ends the program (KeyboardInterrupt) says nothing about the host."""
        ok = True if kind is None else False if issubclass(kind, Exception) else None
        self.settle(self._stack().pop(), ok)

    def _stack(self):
        if not hasattr(self._permits, "stack"):
            self._permits.stack = []
        return self._permits.stack

    @property
    def state(self):
        """"Closed", "Open", "HalfOpen", "ForcedOpen" or "Disabled"."""
        return c.seine_breaker_state_name(c.seine_breaker_state_get(byref(self._breaker))).decode()

    def when(self):
        """Seconds until a call would be admitted; 0: now; None: not until somebody resets it."""
        now = c.seine_now()
        at = c.seine_breaker_when(byref(self._breaker), now)
        return None if at == units.NEVER else max(0, at - now) / units.NS

    def reset(self):
        c.seine_breaker_reset(byref(self._breaker))

    def stats(self):
        figures = s.BreakerStats()
        c.seine_breaker_stats_get(byref(self._breaker), byref(figures))
        return {name: getattr(figures, name) for name in
                ("failures", "succeeded", "failed", "ignored", "slow", "rejected", "late", "opened", "failure_rate", "slow_rate")}
