#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Host names that are made to look like something else: a key of the connection pool, another host, an address."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import finish, check, rows, seine  # noqa: E402
from hostile import PATIENT  # noqa: E402
from origin import results  # noqa: E402
from secure_site import Authority, Proxy, Site  # noqa: E402

CLIENT = ["--cert", "{cert}", "--cert-key", "{key}"]


@rows([
    ("https://intra.example+/inside", CLIENT),                              # once the mark of a client certificate
    ("https://intra.example%2B/inside", CLIENT),
    ("https://intra.example!/inside", ["--insecure=intra.example"]),  # once the mark of a host that is not verified
    ("https://intra.example!+/inside", ["--insecure=intra.example", *CLIENT]),
    ("https://intra.example&/inside", CLIENT),
    ("https://intra.example$/inside", []),
    ("https://intra.example,/inside", []),
    ("https://intra.example~/inside", []),
])
def a_name_that_is_none_rides_on_no_connection_of_another(evil, options):
    """The page redirects to a host that no DNS server can know; it is refused before a connection is looked for."""
    with Authority() as ca:
        own = ca.certificate("me")
        pages = {"/": (302, {"Location": evil}, b""), "/inside": (200, {}, b"for those who may")}
        options = [word.format(cert=own[0], key=own[1]) for word in options]
        with Site(ca.certificate("intra.example", "DNS:intra.example"), pages, asks=ca.file) as site, Proxy(site.port) as proxy:
            r = seine("fetch", *PATIENT, "--mine", "--proxy", proxy.url, "--cacert", ca.file, *options, "-o", "-", "https://intra.example/")
            one, = results(r.out)
            check((one["ok"], one["error"]["kind"]), (False, "dns_bad_name"), r.out)
            check([s["path"] for s in site.seen], ["/"])
            check(proxy.asked, ["intra.example:443"])
            check(site.seen[0]["named"], "--cert" in options)


finish(at_once=2)
