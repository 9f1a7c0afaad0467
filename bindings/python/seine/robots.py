# SPDX-License-Identifier: Apache-2.0
"""robots.txt: may this URL be fetched, and which line says so?"""
from ctypes import byref, c_void_p
from typing import NamedTuple, Optional

from . import _functions as c
from . import _structs as s
from . import errors, units


class Verdict(NamedTuple):
    """rule and line: those that decided; None: no rule matched. group: the agent that they stand under."""
    allowed: bool
    rule: Optional[str]
    line: Optional[int]
    group: Optional[str]

    def __bool__(self):
        return self.allowed


class Robots:
    """A robots.txt that was read; text or bytes, whatever they hold. RFC 9309, as lenient as Google's parser."""

    def __init__(self, text):
        data = text.encode() if isinstance(text, str) else bytes(text)
        self._robots = c_void_p()
        errors.check(c.seine_robots_new(data, len(data), byref(self._robots)))

    def __del__(self, free=c.seine_robots_free):
        if getattr(self, "_robots", None):
            free(self._robots)

    def check(self, url, agent="seine"):
        """A Verdict on a URL, or on the path of one. errors.BadUrl."""
        verdict, data = s.RobotsVerdict(), url.encode()
        errors.check(c.seine_robots_check(self._robots, agent.encode(), data, len(data), byref(verdict)), f"{url!r}: not a URL")
        return Verdict(verdict.allowed, s.view_text(verdict.rule_ptr, verdict.rule_len), verdict.line or None,
                       s.view_text(verdict.group_ptr, verdict.group_len))

    def allowed(self, url, agent="seine"):
        return self.check(url, agent).allowed

    def delay(self, agent="seine"):
        """Crawl-delay in seconds, or None."""
        delay = c.seine_robots_delay(self._robots, agent.encode())
        return delay / units.NS if delay >= 0 else None

    @property
    def sitemaps(self):
        found, view = [], s.View()
        while c.seine_robots_sitemap(self._robots, len(found), byref(view)):
            found.append(s.view_of(view) or "")
        return found


def parse(text):
    return Robots(text)
