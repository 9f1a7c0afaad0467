# SPDX-License-Identifier: Apache-2.0
"""seine: a web crawler and fetcher that is polite, survives bad servers and says how every URL ended.

    import seine
    for r in seine.crawl("https://e.example/", depth=2):
        print(r.status, r.url, r.title)
"""
from . import errors, extract, robots, url
from ._functions import seine_version as _version
from .breaker import Breaker
from .errors import Error
from .fetching import Fetch, crawl, fetch
from .limiter import Limiter
from .records import Record

__version__ = _version().decode()
__all__ = ["Breaker", "Error", "Fetch", "Limiter", "Record", "crawl", "errors", "extract", "fetch", "robots", "url"]
