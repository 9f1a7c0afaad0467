#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cookies: servers that repeat a session in URLs, fill the jar to push out those of others, or set them for whom they must not."""
import base64
import os
import resource
import subprocess
import sys
import tempfile
import threading
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from hostile import PATIENT  # noqa: E402
from pages import pages as serve  # noqa: E402
from secure_site import Authority, Proxy, Site  # noqa: E402

resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)  # what a user may have
SID = "run/time secret-8f3a77+=x"  # every character that an encoding touches

SPELLINGS = {
    "plain": urllib.parse.quote(SID, safe="/+= "),
    "escaped": urllib.parse.quote(SID, safe=""),
    "a form's": urllib.parse.quote_plus(SID),
    "every character escaped": "".join(f"%{b:02X}" for b in SID.encode()),
    "base64": base64.b64encode(SID.encode()).decode(),
    "base64 behind another": base64.urlsafe_b64encode(b"x" + SID.encode()).decode(),
}


def shown(text):
    """Which spellings of the session, or of most of it, stand in a text."""
    text = text.replace("%20", " ")
    parts = [SID[4:], "8f3a77", base64.b64encode(SID.encode()).decode()[4:-4], base64.urlsafe_b64encode(b"x" + SID.encode()).decode()[4:-4],
             "".join(f"%{b:02X}" for b in b"8f3a77")]
    return [part for part in parts if part in text]


@rows([(name, where, how) for name, where in SPELLINGS.items() for how in ("set", "file")], lambda row: f"{row[0]}, {row[2]}")
def a_cookie_is_shown_in_no_log(name, where, how):
    """The server sets it, or it stands in the file of cookies; then a URL repeats it, which fails."""
    target = "/a?x=" + where.replace(" ", "%20")
    field = {"Set-Cookie": f'id="{SID}"; Path=/'} if how == "set" else {}
    table = {"/": (200, {**field, "Content-Type": "text/html"}, f'<a href="{target}">'), "*": (500, {}, "")}
    with tempfile.TemporaryDirectory() as d, serve(table) as p:
        log, jar = os.path.join(d, "log"), os.path.join(d, "jar")
        with open(jar, "w", encoding="ascii") as f:
            f.write("# Netscape HTTP Cookie File\n" + (f"127.0.0.1\tFALSE\t/\tFALSE\t0\tid\t{SID}\n" if how == "file" else ""))
        r = seine("crawl", *PATIENT, "--mine", "--cookie-jar", jar, "--retries", "1", "--backoff", "1ms..2ms", "--log-level", "trace", "--log-file", log,
                  "-v", "--format", "text", p.base + "/")
        with open(log, encoding="utf-8") as f:
            said = f.read()
        check(len([a for a in p.asked if a.startswith("/a?x=")]) > 0, True, r.err)
        check("REDACTED" in said.split("/a?x=")[1].split()[0], True, said)
        check(shown(said), [])
        check(shown(r.err), [])


@rows([("localhost",), ("127.0.0.1",)])
def a_host_may_name_itself(host):
    """Domain=localhost, or the address of the host, makes a cookie of that host alone."""
    with Authority() as ca:
        pages = {"/": (302, {"Set-Cookie": f"id=1; Domain={host}", "Location": "/next"}, b""), "/next": (200, {}, b"")}
        with Site(ca.certificate("x", "DNS:localhost", "IP:127.0.0.1"), pages) as site:
            seine("fetch", *PATIENT, "-4", "--cookies", "--cacert", ca.file, "-o", "-", f"https://{host}:{site.port}/")
            check([s["fields"].get("Cookie") for s in site.seen], [None, "id=1"])


@case
def cookies_without_number_do_not_push_out_a_secure_one():
    """Four responses set 50 each, as somebody on the way could do over http."""
    many = [[("Location", f"/{r + 1}")] + [("Set-Cookie", f"k{r}-{i}=v; Path=/{i}") for i in range(50)] for r in range(4)]
    pages = {"/": (302, {"Set-Cookie": "sid=1; Secure", "Location": "/0"}, b""), "/4": (200, {}, b"")}
    pages.update({f"/{r}": (302, many[r], b"") for r in range(4)})
    with Authority() as ca, Site(ca.certificate("x", "DNS:a.example"), pages) as site, Proxy(site.port) as proxy:
        seine("fetch", *PATIENT, "--cookies", "--proxy", proxy.url, "--cacert", ca.file, "-o", "-", "https://a.example/")
        check(len(site.seen), 6)
        check("sid=1" in site.seen[-1]["fields"].get("Cookie", ""), True)


@rows([("cookies", ["--cookies"], {}), ("a cookie", ["-b", "a=b"], {}), ("a proxy's login", [], {"no_proxy": "*", "http_proxy": "http://joe:pw@127.0.0.1:9"})])
def a_run_that_holds_a_secret_leaves_no_core(what, options, env):
    """A server can make a program fail; what is then written to a file must not be the session."""
    asked, go = threading.Event(), threading.Event()

    def slow(path):
        asked.set()
        go.wait(60)
        return "done"
    with serve({"/": slow}) as p:
        run = subprocess.Popen([PROGRAM, "fetch", *PATIENT, *options, p.base + "/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               stdin=subprocess.DEVNULL, env=environment(env))
        try:
            check(asked.wait(60), True)
            with open(f"/proc/{run.pid}/limits", encoding="ascii") as f:
                core, = [line for line in f if line.startswith("Max core file size")]
            check(core.split()[4:6], ["0", "0"])
        finally:
            go.set()
            run.wait(60)


finish(at_once=2)
