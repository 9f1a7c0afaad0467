#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine robots check and show: arguments, cases, hosts that answer and hosts that do
not, and the decisions of others.

Those are found through SEINE_VECTORS and are no part of the project. Every row must
agree, but for those in which RFC 9309 says otherwise: docs/user/robots.md.
"""
import contextlib
import http.server
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, VECTORS, case, check, environment, finish, needs_vectors, seine  # noqa: E402

OTHERWISE = {  # where RFC 9309, or what people write, has the last word
    "index.html is no directory": ["google/GoogleOnly_IndexHTMLisDirectory/78", "spec/correctness/index-page/37"],
    "a URL is escaped before it is compared": ["google/ID_Encoding/63", "google/ID_Encoding/65", "spec/correctness/non-ascii-paths/110", "spec/correctness/non-ascii-paths/112"],
    "escapes that are not needed are undone": ["google/ID_Encoding/66", "spec/correctness/non-ascii-paths/113"],
    "/robots.txt is always allowed": ["spec/stress/327748/193", "spec/stress/369883/199", "spec/stress/369883/203", "spec/stress/860237/344"],
    "a token has digits": ["spec/stress/369883/200", "spec/stress/369883/201", "spec/stress/369883/202"],
    "a header begins with the token": ["google/GoogleOnly_AcceptUserAgentUpToFirstSpace/40", "spec/correctness/user-agent-name/133"],
    "a URL of 16 KB is an error": ["google/GoogleOnly_LineTooLong/141"],
}
TEXT = "Sitemap: https://e.example/s.xml\nUser-agent: *\nCrawl-delay: 2\nDisallow: /cgi # no\n"


def ask(cases):
    text = "".join(json.dumps(c) + "\n" for c in cases)
    p = subprocess.run([PROGRAM, "robots", "check", "--jsonl"], input=text.encode(), capture_output=True, env=environment())
    check((p.returncode, p.stderr), (0, b""))
    return [json.loads(line) for line in p.stdout.splitlines()]


@case
def a_file_decides_and_says_with_which_line():
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "robots.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TEXT)
        r = seine("robots", "check", "--robots", path, "https://e.example/cgi/x")
        check((r.code, r.err, json.loads(r.out)), (1, "", {
            "url": "https://e.example/cgi/x", "agent": "seine", "allowed": False, "rule": "Disallow: /cgi", "line": 4, "group": "*",
            "state": "parsed", "crawl_delay": 2, "sitemaps": ["https://e.example/s.xml"]}))
        r = seine("robots", "check", "--robots", path, "--agent", "x", "/", "/a")
        check((r.code, [json.loads(line)["allowed"] for line in r.out.splitlines()]), (0, [True, True]))
        for words in (["/"], ["e.example/a"], ["mailto:a@e.example"], ["--timeout", "0", "http://127.0.0.1/"], ["--robots", path], ["--robots", path + "x", "/"], ["--jsonl", "/"], ["--jsonl", "--agent", "x"]):
            r = seine("robots", "check", *words)
            check((r.code, r.out), (2, ""), str(words))


@case
def cases_come_line_by_line():
    out = ask([{"id": 1, "robots": TEXT, "agent": "a", "url": "/cgi"}, {"id": 2, "robots_b64": "", "url": "/"}, {"id": 3, "robots": TEXT},
               {"id": 4, "url": "/"}, {"id": 5, "robots": "", "url": "/", "what": 1}])
    check([o["ok"] for o in out], [True, True, False, False, False])
    check((out[0]["allowed"], out[0]["line"], out[1]["allowed"], out[1]["rule"], out[1]["group"]), (False, 4, True, None, None))
    check([o["id"] for o in out], [1, 2, 3, 4, 5])


@case
def what_is_no_url_is_an_error_and_never_allowed():
    bad = ["", "x", "e.example/a", "mailto:a@e.example", "ftp://e.example/x", "http://", "?a", "https://a b/", "javascript:1"]
    with tempfile.TemporaryDirectory() as home:
        path = os.path.join(home, "robots.txt")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TEXT)
        for word in bad:
            r = seine("robots", "check", "--robots", path, "/", word)
            check((r.code, r.out), (2, ""), word)
            check("is no http or https URL, and no path" in r.err, True, r.err)
    out = ask([{"robots": "", "url": word} for word in bad[1:]])
    check([(o["ok"], o.get("allowed"), o.get("error")) for o in out], [(False, None, "not an http or https URL, and no path")] * len(out))


@case
def an_agent_may_be_a_whole_header():
    rules = "User-agent: MJ12bot\nDisallow: /\n"
    for agent, allowed in (("MJ12bot", False), ("mj12bot/1.4", False), ("Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://e.example/)", False), ("MJ", True), ("Mozilla/5.0", True)):
        check(ask([{"robots": rules, "agent": agent, "url": "/x"}])[0]["allowed"], allowed, agent)
        r = seine("robots", "check", "--robots", "-", "--agent", agent, "/x", stdin=rules)
        check(r.code, 0 if allowed else 1, agent)
        r = seine("robots", "check", "--robots", "-", "--user-agent", agent, "/x", stdin=rules)
        check(r.code, 0 if allowed else 1, agent)
        check(seine("robots", "check", "--robots", "-", "--user-agent", agent, "--agent", "other", "/x", stdin=rules).code, 0)


@case
def rules_that_take_too_many_steps_refuse_and_say_so():
    rules = "user-agent:*\n" + "disallow:*aaaab\n" * 32000
    out = ask([{"robots": rules, "url": "/" + "a" * 8000}, {"robots": rules, "url": "/b"}])
    check([(o["allowed"], o["rule"], o.get("over_budget")) for o in out], [(False, None, True), (True, None, None)])


class Hosts(http.server.BaseHTTPRequestHandler):
    """What /robots.txt is depends on the name it is asked under."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, status, body=b"", fields=()):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body)

    def do_GET(self):
        host, port = self.headers["Host"].split(":")
        self.server.asked.append((host, self.path))
        if host.startswith("s"):
            self.answer(int(host[1:4]), b"User-agent: *\nDisallow: /\n")
        elif host.startswith("to"):  # to3.test: three redirects, then the file
            n = int(host[2:].split(".")[0])
            self.answer(302, fields=[("Location", f"http://to{n - 1}.test:{port}/robots.txt" if n else f"http://ok.test:{port}/robots.txt")])
        elif host.startswith("long"):  # 2 MB; what is behind 512 KiB does not count
            body = TEXT.encode() + b"# filler\n" * 200000 + b"User-agent: *\nDisallow: /\n"
            self.answer(200, body)
        elif host.startswith("cut"):
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(TEXT.encode())
            self.close_connection = True
        else:
            self.answer(200, TEXT.encode())


@contextlib.contextmanager
def hosts(*names):
    """Options that make these names hosts of one server, its port, and the list of what it is asked for."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hosts)
    server.asked = []
    server.handle_error = lambda *words: None  # a client that goes early is no news
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    port = server.server_address[1]
    words = [w for name in names for w in ("--resolve", f"{name}.test:{port}:127.0.0.1")]
    try:
        yield port, words, server.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@case
def a_host_is_asked_for_its_rules():
    with hosts("ok") as (port, words, asked):
        at = f"http://ok.test:{port}"
        r = seine("robots", "check", *words, at + "/cgi/x", at + "/a?b", "--agent", "other")
        got = [json.loads(line) for line in r.out.splitlines()]
        check((r.code, r.err), (1, ""))
        check(got[0], {"url": at + "/cgi/x", "agent": "other", "allowed": False, "rule": "Disallow: /cgi", "line": 4, "group": "*",
                       "state": "parsed", "crawl_delay": 2, "sitemaps": ["https://e.example/s.xml"], "source": at + "/robots.txt", "status": 200})
        check((got[1]["allowed"], got[1]["rule"]), (True, None))
        check(asked, [("ok.test", "/robots.txt")], "once for both")
        r = seine("robots", "check", *words, at + "/a")
        check(r.code, 0)


@case
def what_an_answer_means_is_what_a_crawl_makes_of_it():
    names = {"s404": "absent", "s403": "absent", "s401": "absent", "s429": "unreachable", "s503": "unreachable", "s500": "unreachable",
             "s204": "parsed", "to4": "parsed", "to5": "absent", "cut": "unreachable", "long": "parsed"}
    with hosts(*names, *(f"to{i}" for i in range(6)), "ok") as (port, words, _):
        urls = [f"http://{name}.test:{port}/x" for name in names]
        r = seine("robots", "check", "--retries", "0", *words, *urls)
        got = [json.loads(line) for line in r.out.splitlines()]
        check({name: g["state"] for name, g in zip(names, got)}, names)
        check([g["allowed"] for g in got], [g["state"] != "unreachable" for g in got])
        check((r.code, r.err), (1, ""))
        check(got[list(names).index("to4")]["source"], f"http://ok.test:{port}/robots.txt")
        check(got[list(names).index("s503")]["status"], 503)


@case
def a_host_that_does_not_answer_allows_nothing():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{s.getsockname()[1]}/"
        r = seine("robots", "check", "--retries", "0", url)
        got = json.loads(r.out)
        check((r.code, got["allowed"], got["state"], got["error"]), (1, False, "unreachable", "connect_refused"))
        r = seine("robots", "show", "--retries", "0", url)
        check((r.code, r.out), (1, ""))
        check(r.err.splitlines()[0].endswith("nothing is allowed for now"), True, r.err)


@case
def show_prints_the_lines_that_count():
    r = seine("robots", "show", "-", stdin=TEXT)
    check((r.code, r.err, r.out), (0, "", "     1  Sitemap: https://e.example/s.xml\n     2  User-agent: *\n     3  Crawl-delay: 2\n     4  Disallow: /cgi\n"))
    two = "User-agent: a\nDisallow: /a\x1b\nUser-agent: b\nDisallow: /b\n"
    r = seine("robots", "show", "-", "--agent", "A", stdin=two)
    check(r.out, "     1  User-agent: a\n     2  Disallow: /a\\x1b\n")
    r = seine("robots", "show", "-", "--agent", "c", stdin=two)
    check((r.code, r.out, r.err), (0, "", "seine: no group is for 'c': everything is allowed\n"))
    r = seine("robots", "show", "-j", "-", stdin=TEXT)
    check(json.loads(r.out), {"agent": "seine", "state": "parsed", "lines": [
        {"line": 2, "text": "User-agent: *"}, {"line": 3, "text": "Crawl-delay: 2"}, {"line": 4, "text": "Disallow: /cgi"}],
        "crawl_delay": 2, "sitemaps": ["https://e.example/s.xml"]})
    for words in ([], ["/no/such/file"], ["a", "b"], ["ftp://e.example/"]):
        check(seine("robots", "show", *words).code, 2, str(words))
    with hosts("ok", "s404") as (port, words, _):
        check(seine("robots", "show", *words, f"http://ok.test:{port}/any/page").out.splitlines()[3], "     4  Disallow: /cgi")
        r = seine("robots", "show", *words, f"http://s404.test:{port}/")
        check((r.code, r.out, r.err), (0, "", "seine: no robots.txt (status 404): everything is allowed\n"))


@case
@needs_vectors
def decisions_of_google_agree():
    bad, n = [], 0
    for name in ("robots_test", "spec_test"):
        with open(os.path.join(VECTORS, "robots-google", name + ".json"), encoding="utf-8") as f:
            rows = json.load(f)["cases"]
        n += len(rows)
        bad += [row["id"] for row, got in zip(rows, ask(rows)) if not got["ok"] or got["allowed"] != row["allowed"]]
    check(sorted(bad), sorted(id for ids in OTHERWISE.values() for id in ids), "docs/user/robots.md has them all")
    check(n > 500, True)


@case
@needs_vectors
def decisions_about_the_wild_agree():
    home = os.path.join(VECTORS, "robots-wild")
    with open(os.path.join(home, "consensus.sample.jsonl"), encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    out = ask([{"robots_file": os.path.join(home, "files", row["file"]), "agent": row["agent"], "url": row["url"]} for row in rows])
    check([row for row, got in zip(rows, out) if not got["ok"] or got["allowed"] != row["allowed"]], [])
    check(len(rows) > 2000, True)


finish(at_once=4)
