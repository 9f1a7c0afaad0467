#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What failed is shown: by kind, with where it was found and what to try, and the exit code says so."""
import http.server
import json
import os
import signal
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, finish, free_port, seine, until  # noqa: E402
from job_runs import progress, run, start  # noqa: E402

PAGES = {
    "/": "<title>Home</title>\n<a href=/good>good</a>\n<a href=/gone>gone</a>\n<a href=/other>other</a>\n",
    "/good": "<title>Good</title><a href=/gone>again</a>",
    "/other": "<title>Other</title>",
}


class Site(http.server.BaseHTTPRequestHandler):
    """A site whose /gone does not exist and whose /teapot/N answer 418."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = PAGES.get(self.path, "<title>no</title>").encode()
        self.send_response(200 if self.path in PAGES else 418 if self.path.startswith("/teapot") else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
BASE = f"http://127.0.0.1:{server.server_port}"
FAST = ("--mine", "--retries", "0", "--progress", "off")


def crawl(*words, **kw):
    return seine("crawl", BASE + "/", *FAST, "--sitemap", "off", *words, **kw)


@case
def a_crawl_with_a_broken_page_in_scope_ends_with_1_and_names_the_page_that_links_there():
    r = crawl("--format", "jsonl")
    check(r.code, 1, r.err)
    lines = r.err.splitlines()
    at = lines.index("failed: 404, 1 URL")
    check(lines[at - 1].startswith("done: 4 pages, 3 ok, 1 http_error (404) in "), True, r.err)
    check(lines[at + 1:at + 3], [f"  {BASE}/gone", f"    linked from {BASE}/, line 3"])
    check(lines[at + 3], "  try: the page that links there, or its site, must change")


@case
def fail_on_none_and_all_let_a_broken_page_pass():
    check((crawl("--fail-on", "none").code, crawl("--fail-on", "all").code), (0, 0))


@case
def a_crawl_without_failures_lists_none_and_ends_with_0():
    r = seine("crawl", BASE + "/other", *FAST, "--sitemap", "off")
    check((r.code, "failed" in r.err), (0, False), r.err)


@case
def quiet_says_each_failure_in_one_line():
    r = crawl("-q")
    check(r.err, f"seine: failed: 404 {BASE}/gone, linked from {BASE}/, line 3; try: the page that links there, or its site, must change\n")


@case
def machines_get_each_failure_as_a_record_of_the_log():
    r = crawl("--log", "json", "-q")
    said = [json.loads(line) for line in r.err.splitlines()]
    check([(s["log.level"], s["message"]) for s in said], [("error", f"failed: 404 {BASE}/gone, linked from {BASE}/, line 3")], r.err)


@case
def ten_urls_are_shown_of_many_and_each_kind_has_its_turn():
    dead = free_port()
    r = seine("fetch", *FAST, f"http://127.0.0.1:{dead}/", *(f"{BASE}/teapot/{i}" for i in range(30)))
    check(r.code, 1)
    check(sum(line.startswith("  http") for line in r.err.splitlines()), 10, r.err)
    check(f"failed: 418, 30 URLs\n" in r.err and "  and 21 more\n" in r.err, True, r.err)
    check(f"failed: connect_refused, 1 URL\n  http://127.0.0.1:{dead}/\n  try: nothing listens there" in r.err, True, r.err)
    check("try: --failed failed.jsonl writes all of them\n" in r.err, True, r.err)


@case
def failures_of_earlier_runs_of_a_job_have_their_urls_too():
    with tempfile.TemporaryDirectory() as where:
        urls = [f"{BASE}/gone/{n}" for n in range(10)]
        words = ("fetch", *urls, "--job", "j", "-c", "1", "-o", "all.jsonl")
        p = start(where, *words, "--host-rate", "4/s", "--no-adaptive")
        until(lambda: progress(where) > 0 or p.poll() is not None, "the first record")
        p.send_signal(signal.SIGINT)
        first = p.communicate(timeout=PATIENCE)[1].decode()
        check(p.returncode, 130, first)
        check(urls[0] in first, True, first)
        r = run(where, *words, "--host-rate", "200/s", "--no-adaptive", "-q")
        check(r.code, 1, r.err)
        check([line.split(";")[0] for line in r.err.splitlines()], [f"seine: failed: 404 {url}" for url in urls])


@case
def the_list_of_failed_is_an_input_and_so_is_any_output():
    with tempfile.TemporaryDirectory() as here:
        failed, everything = os.path.join(here, "failed.jsonl"), os.path.join(here, "all.jsonl")
        crawl("--failed", failed, "-o", everything)
        with open(failed, encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        check([(r["type"], r["url"], r["status"]) for r in records], [("result", BASE + "/gone", 404)])
        again = seine("fetch", *FAST, "-i", failed, "--format", "jsonl", "--no-summary")
        check([json.loads(line)["url"] for line in again.out.splitlines()], [BASE + "/gone"])
        all_again = seine("fetch", *FAST, "-i", everything, "--format", "jsonl", "--no-summary")
        check(sorted(json.loads(line)["url"] for line in all_again.out.splitlines()), sorted(BASE + p for p in [*PAGES, "/gone"]), all_again.err)


@case
def nothing_failed_is_an_empty_list_and_a_csv_is_a_list_too():
    with tempfile.TemporaryDirectory() as here:
        none, table = os.path.join(here, "none.jsonl"), os.path.join(here, "failed.csv")
        check(seine("fetch", *FAST, BASE + "/", "--failed", none).code, 0)
        check(os.path.getsize(none), 0)
        seine("fetch", *FAST, BASE + "/", BASE + "/gone", "--failed", table)
        again = seine("fetch", *FAST, "-i", table, "--format", "jsonl", "--no-summary")
        check([json.loads(line)["url"] for line in again.out.splitlines()], [BASE + "/gone"], again.err)


@case
def a_list_that_exists_or_cannot_be_one_is_refused_before_the_first_request():
    with tempfile.TemporaryDirectory() as here:
        path = os.path.join(here, "failed.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("mine\n")
        r = seine("fetch", *FAST, BASE + "/", "--failed", path)
        check((r.code, r.out), (2, ""), r.err)
        for name in ("failed.warc", "failed", "-"):
            r = seine("fetch", *FAST, BASE + "/", "--failed", name, cwd=here)
            check((r.code, r.err.splitlines()[1]), (2, "try: --failed failed.jsonl"), r.err)


finish()
