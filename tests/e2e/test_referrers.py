#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All pages that link to a URL: the table of links, the records of what failed and the list at the end, compared with a
site whose links are read by Python's own parser of HTML."""
import collections
import contextlib
import csv
import html.parser
import http.server
import json
import os
import re
import signal
import sqlite3
import sys
import tempfile
import threading
import time
import urllib.parse
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, UNHURRIED, case, check, finish, seine, taken, until  # noqa: E402
from job_runs import DICE, SEED, run, start  # noqa: E402

FAST = ("--mine", "--retries", "0", "--progress", "off", "--sitemap", "off", "--robots", "on", "-l", "off")
CROWD = 40  # pages that link to the same broken ones


def html_page(title, *lines):
    return 200, {"Content-Type": "text/html"}, "\n".join([f"<title>{title}</title>", *lines, ""])


def moved(status, to):
    return status, {"Location": to}, ""


PAGES = {
    "/": html_page("Home", "<a href=/a>a</a> <a href=/a>a again</a>", "<a href='/gone'>gone</a>", "<a href=sub/>below</a>",
                   *(f"<a href=/crowd/{i}>{i}</a>" for i in range(CROWD))),
    "/a": html_page("A", "<a href=''>me</a><a href='#top'>top</a><a href='/a#x'>me, too</a>", "", "<a href='/gone#part'>gone</a>",
                    "<a href='/gone'>and again</a>", "<a href='mailto:x@y.example'>mail</a>", "<a href='http://127.0.0.2:8081/far'>far</a>",
                    "<a href='/forbidden/x'>no robots</a>", "<a rel=nofollow href='/quiet'>quiet</a>", "<a href='http://[bad'>bad</a>",
                    "<img src=/picture.png><script src=/s.js></script><link rel=stylesheet href=/s.css><link rel=next href=/good>"),
    "/sub/": html_page("Below", "<base href='/other/place/'>", "<a href=x>x</a>", "<a href=../y?q=1>y</a>", "<a href='/%7Ehome'>home</a>",
                       "<iframe src=frame.html></iframe>", "<map><area href='/area'></map>", "<a",
                       "  href='/late'>on the line of its tag</a>"),
    "/other/place/x": html_page("X", "<a href='/to-good'>301</a>", "<a href='/to-bad'>302</a>", "<a href='/long/1'>a chain</a>",
                                "<a href='/round/1'>a circle</a>", "<a href='/~home'>home</a>", "<a href='/to-far'>far</a>", "<a href='/soon'>307</a>"),
    "/other/y?q=1": html_page("Y", "<meta http-equiv=refresh content='9; url=/refreshed'>"),
    "/refreshed": html_page("Refreshed"), "/other/place/frame.html": html_page("Frame"), "/area": html_page("Area"),
    "/late": html_page("Late"), "/~home": html_page("A home"), "/%7Ehome": html_page("The same home"), "/good": html_page("Good"), "/quiet": html_page("Quiet"),
    "/to-good": moved(301, "/good"), "/to-bad": moved(302, "/gone"), "/long/1": moved(308, "/long/2"), "/long/2": moved(302, "/long/3"),
    "/long/3": moved(301, "/missing"), "/round/1": moved(301, "/round/2"), "/round/2": moved(301, "/round/1"),
    "/to-far": moved(301, "http://127.0.0.2:8081/far"), "/soon": moved(307, "/good"), "/teapot": (418, {"Content-Type": "text/html"}, "no tea"),
    "/robots.txt": (200, {"Content-Type": "text/plain"}, "User-agent: *\nDisallow: /forbidden\n"),
}
for at in range(CROWD):
    PAGES[f"/crowd/{at}"] = html_page(f"Crowd {at}", *[""] * (at % 3), "<a href='/gone'>gone</a>",
                                      f"<a href='/lost/{at % 5}'>lost</a>", f"<a href='/crowd/{(at * 7 + 1) % CROWD}'>next</a>",
                                      "<a href='/teapot'>tea</a>" if at < 2 else "")

VERDICTS = {"/gone": "broken", "/missing": "broken", "/teapot": "broken", "/to-good": "redirected", "/to-bad": "broken", "/long/1": "broken",
            "/long/2": "broken", "/long/3": "broken", "/round/1": "broken", "/round/2": "broken", "/forbidden/x": "excluded", "/quiet": "unknown",
            "/to-far": "unknown", "/soon": "ok", "http://127.0.0.2:8081/far": "unknown", "mailto:x@y.example": "excluded", "http://[bad": "broken",
            **{f"/lost/{i}": "broken" for i in range(5)}}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked[self.path] += 1
        status, fields, body = self.server.pages.get(self.path, (404, {"Content-Type": "text/html"}, "<a href=/from-an-error>no</a>"))
        if self.server.pause:
            time.sleep(self.server.pause)
        if self.path == self.server.held:
            self.server.freed.wait(PATIENCE)
        tag = f'"{zlib.crc32(body.encode())}"'
        if status == 200 and self.headers["If-None-Match"] == tag:
            status, body = 304, ""
        self.send_response(status)
        for name, value in {**fields, "Content-Length": str(len(body.encode())), "ETag": tag}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *words):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256

    def handle_error(self, *words):
        pass  # a client that was killed


@contextlib.contextmanager
def site(pages, pause=0, held=None):
    """Serves the pages; the one that is held is answered when `freed` is set."""
    server = Server(("127.0.0.1", 0), Site)
    server.pages, server.pause, server.asked = dict(pages), pause, collections.Counter()
    server.held, server.freed = held, threading.Event()
    server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Links(html.parser.HTMLParser):
    """The links of a page that a crawl follows, by Python's parser."""

    def __init__(self, url):
        super().__init__()
        self.base, self.has_base, self.found, self.columns = url, False, [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "base" and not self.has_base:
            self.base, self.has_base = urllib.parse.urljoin(self.base, values["href"]), True
        value = values.get("href") if tag in ("a", "area") or values.get("rel") == "next" else values.get("src") if tag in ("iframe", "frame") else None
        if tag == "meta" and values.get("http-equiv") == "refresh":
            value = re.search(r"url=(.*)", values["content"])[1]
        if value is not None:
            self.found.append((self.getpos()[0], value))
            self.columns.append(self.getpos()[1] + 1)

    def targets(self):
        for line, value in self.found:
            try:
                yield line, urllib.parse.urldefrag(urllib.parse.urljoin(self.base, value))[0]
            except ValueError:
                yield line, value


def links_of(server, sources):
    """(source, line, target) of every link on those pages, and of every redirect."""
    out = []
    for source in sources:
        status, fields, body = server.pages[source]
        if status in (301, 302, 307, 308):
            out.append((server.url + source, None, urllib.parse.urljoin(server.url, fields["Location"])))
        elif status == 200:
            reader = Links(server.url + source)
            reader.feed(body)
            out += [(server.url + source, line, target) for line, target in reader.targets()]
    return sorted(out, key=str)


def same(got, want):
    """The same rows, each as often."""
    got, want = collections.Counter(got), collections.Counter(want)
    check((dict(got - want), dict(want - got)), ({}, {}), f"seed {SEED}: too much and too little")


def rows(path, query):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute(query).fetchall()


def table(path):
    return sorted(rows(path, "SELECT source, line, target FROM link"), key=str)


def crawled(server):
    """The pages that a whole crawl fetches; one of the two names of a page, whichever was found first."""
    return [p for p in server.pages if p not in ("/robots.txt", "/quiet", "/~home", "/%7Ehome")]


def crawl(server, where, *words, **kw):
    return seine("crawl", server.url + "/", *FAST, *UNHURRIED, *words, cwd=where, **kw)


@case
def every_link_of_every_page_is_a_row_with_its_line():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        r = crawl(s, where, "--referrers", "3", "-o", "x.sqlite")
        check(r.code, 1, r.err)
        same(table(f"{where}/x.sqlite"), links_of(s, crawled(s)))


@case
def the_verdict_of_a_link_is_what_became_of_its_target_at_the_end_of_all_redirects():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "3", "-o", "x.sqlite")
        got = {target: verdict for target, verdict in rows(f"{where}/x.sqlite", "SELECT DISTINCT target, verdict FROM link")}
        want = {t: VERDICTS.get(t.removeprefix(s.url), "ok") for _, _, t in links_of(s, crawled(s))}
        check({t: (v, want.get(t)) for t, v in got.items() if v != want.get(t)}, {}, "verdicts")
        check(rows(f"{where}/x.sqlite", "SELECT DISTINCT status FROM link WHERE verdict = 'ok'"), [(200,)])
        check(rows(f"{where}/x.sqlite", f"SELECT DISTINCT status FROM link WHERE target = '{s.url}/long/1'"), [(404,)])
        said = [json.loads(j) for j, in rows(f"{where}/x.sqlite", "SELECT json FROM link")]
        check({(j["source"], j.get("line"), j["target"], j["verdict"], j.get("status")) for j in said},
              set(rows(f"{where}/x.sqlite", "SELECT source, line, target, verdict, status FROM link")))


@case
def the_json_of_a_link_has_the_column_of_its_tag():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "3", "-o", "x.sqlite")
        want = []
        for source in crawled(s):
            status, _, body = s.pages[source]
            reader = Links(s.url + source)
            if status == 200:
                reader.feed(body)
            want += [(s.url + source, line, col) for (line, _), col in zip(reader.found, reader.columns)]
        same(rows(f"{where}/x.sqlite", "SELECT source, line, json_extract(json, '$.col') FROM link WHERE line IS NOT NULL"), want)


@case
def the_rows_are_there_whatever_the_output_leaves_out():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "1", "-o", "x.sqlite", "--keep", "/gone$", "--no-skips")
        same(table(f"{where}/x.sqlite"), links_of(s, crawled(s)))
        check(rows(f"{where}/x.sqlite", f"SELECT DISTINCT verdict FROM link WHERE target = '{s.url}/to-far'"), [("unknown",)], "nobody knows its end")


@case
def a_crawl_without_the_option_leaves_the_table_empty_and_its_records_as_they_were():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        r = crawl(s, where, "-o", "x.sqlite", "-o", "x.jsonl")
        check((table(f"{where}/x.sqlite"), "referrers" in open(f"{where}/x.jsonl").read()), ([], False))
        seqs = [json.loads(line)["seq"] for line in open(f"{where}/x.jsonl")]
        check(seqs, list(range(seqs[0], seqs[0] + len(seqs))), r.err)


@case
def another_run_into_the_same_database_replaces_the_links_of_a_page():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "1", "-o", "x.sqlite")
        s.pages["/"] = html_page("Home", "<a href=/a>a</a>", "<a href=/new>new</a>")
        s.pages["/new"] = html_page("New", "", "<a href=/gone>gone</a>")
        s.pages["/gone"] = html_page("Found")
        crawl(s, where, "--referrers", "1", "-o", "x.sqlite", "--append")
        same(table(f"{where}/x.sqlite"), links_of(s, [p for p in crawled(s) if p != "/gone"]))
        check(rows(f"{where}/x.sqlite", f"SELECT DISTINCT verdict FROM link WHERE target = '{s.url}/gone'"), [("ok",)])


@case
def a_later_round_of_a_job_keeps_the_links_of_unchanged_pages_and_replaces_those_of_others():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        command = ("crawl", s.url + "/", *FAST, *UNHURRIED, "--job", "links", "--incremental", "--revisit", "0s", "--referrers", "1", "-o", "x.sqlite", "-q")
        run(where, *command)
        same(table(f"{where}/x.sqlite"), links_of(s, crawled(s)))
        s.pages["/a"] = html_page("A", "<a href=/good>good</a>", "<a href=/gone>gone</a>")
        del s.pages["/crowd/3"]
        r = run(where, *command)
        same(table(f"{where}/x.sqlite"), links_of(s, crawled(s)))
        check(rows(f"{where}/x.sqlite", f"SELECT DISTINCT verdict FROM link WHERE target = '{s.url}/crowd/3'"), [("broken",)], r.err)
        check(rows(f"{where}/x.sqlite", f"SELECT DISTINCT verdict FROM link WHERE target = '{s.url}/late'"), [("ok",)], r.err)


def end_of(server, path):
    """Where all redirects lead."""
    for _ in range(20):
        status, fields, _ = server.pages.get(path, (404, {}, ""))
        if status not in (301, 302, 307, 308) or not fields["Location"].startswith("/"):
            return path
        path = fields["Location"]
    return path


def referrers_of(server):
    """URL that failed → {page: line of its first link there}."""
    out = {}
    for source, line, target in links_of(server, crawled(server)):
        path = end_of(server, target.removeprefix(server.url))
        if line is not None and path.startswith("/") and VERDICTS.get(path) == "broken" and not path.startswith("/round"):
            pages = out.setdefault(server.url + path, {})
            pages[source] = min(line, pages.get(source, line))
    return out


def failed(lines):
    return {r["url"]: r for r in map(json.loads, lines.splitlines()) if r["type"] == "result" and not r["ok"]}


@case
def records_of_failed_urls_have_all_pages_that_link_there_also_through_redirects():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        r = crawl(s, where, "--referrers", "100", "--format", "jsonl")
        got = failed(r.out)
        check({u: {p["url"]: p["line"] for p in x["referrers"]["pages"]} for u, x in got.items()}, referrers_of(s))
        check({u: x["referrers"]["count"] for u, x in got.items()}, {u: len(p) for u, p in referrers_of(s).items()})
        records = [json.loads(line) for line in r.out.splitlines()]
        check(any("referrers" in x for x in records if x.get("ok")), False, "records of pages that are fine")
        check((records[-1]["type"], records[-1]["failed"], records[-1]["total"]), ("summary", len(got), len(records) - 1), "each counts once")
        urls = [x["url"] for x in records if x["type"] == "result"]
        check((len(urls), len(set(urls))), (len(set(urls)), s.asked.total() - s.asked["/robots.txt"]), "one record each")


@case
def a_run_that_is_stopped_writes_the_failures_that_it_knows():
    with site(PAGES, held="/late") as s, tempfile.TemporaryDirectory() as where:
        process = start(where, "crawl", s.url + "/", *FAST, *UNHURRIED, "--no-job", "--grace", "300s", "--referrers", "9", "-o", "x.jsonl", "-o", "x.sqlite", "-q")
        until(lambda: s.asked["/gone"] and s.asked["/late"], "both pages")
        process.send_signal(signal.SIGINT)
        taken(process, signal.SIGINT)
        s.freed.set()
        _, err = process.communicate()
        with open(f"{where}/x.jsonl") as f:
            got = failed(f.read())
        check((process.returncode, got[s.url + "/gone"]["referrers"]["count"] > 0), (130, True), err.decode())
        check(dict(rows(f"{where}/x.sqlite", "SELECT DISTINCT target, verdict FROM link"))[s.url + "/gone"], "broken")


@case
def more_pages_than_asked_for_are_counted():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        got = failed(crawl(s, where, "--referrers", "3", "--format", "jsonl").out)
        for url, pages in referrers_of(s).items():
            list_, count = got[url]["referrers"]["pages"], got[url]["referrers"]["count"]
            check((len(list_), count), (min(3, len(pages)), len(pages)), url)
            check({p["url"]: p["line"] for p in list_}.items() <= pages.items(), True, url)


@case
def csv_has_a_column_of_pages_and_so_has_the_list_of_failures():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "100", "-o", "x.csv", "--failed", "failed.csv")
        for name in ("x.csv", "failed.csv"):
            with open(f"{where}/{name}", newline="") as f:
                got = {row["url"]: row for row in csv.DictReader(f)}
            check({u: set(x["referrers"].split()) for u, x in got.items() if x["referrers"]}, {u: set(p) for u, p in referrers_of(s).items()}, name)
            check({u for u, x in got.items() if x["outcome"] not in ("ok", "skip")}, set(referrers_of(s)), name)
            check(got[s.url + "/gone"]["parent"], s.url + "/", name)
        again = seine("fetch", "-i", "failed.csv", "--mine", "--format", "jsonl", "--fail-on", "none", "--retries", "0", cwd=where)
        check(set(failed(again.out)), set(referrers_of(s)), again.err)


@case
def the_list_of_failures_is_input_for_fetch():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        crawl(s, where, "--referrers", "9", "--failed", "failed.jsonl", "-o", "x.jsonl")
        with open(f"{where}/failed.jsonl") as f:
            check({u: x["referrers"]["count"] for u, x in failed(f.read()).items()}, {u: len(p) for u, p in referrers_of(s).items()})
        again = seine("fetch", "-i", "failed.jsonl", "--mine", "--format", "jsonl", "--fail-on", "none", "--retries", "0", cwd=where)
        check(set(failed(again.out)), set(referrers_of(s)), again.err)


@case
def the_end_of_a_run_names_pages_and_counts_the_others():
    with site({p: PAGES[p] for p in ("/robots.txt", "/", "/a", *(f"/crowd/{i}" for i in range(CROWD)))}) as s, \
            tempfile.TemporaryDirectory() as where:
        r = crawl(s, where, "--referrers", "2", "-o", "x.jsonl", "--exclude", "/lost|/sub|/teapot|/good")
        lines = r.err.splitlines()
        at = lines.index("failed: 404, 1 URL")
        check(lines[at + 1:at + 3], [f"  {s.url}/gone", f"    linked from {s.url}/, line 3"])
        check(re.fullmatch(rf"    linked from {s.url}/(a|crowd/\d+), line \d", lines[at + 3]) is not None, True, r.err)
        check(lines[at + 4:], [f"    and {CROWD} more pages", "  try: the page that links there, or its site, must change"])
        r = crawl(s, where, "--referrers", "2", "-o", "y.jsonl", "--exclude", "/lost|/sub|/teapot|/good", "-q")
        check(r.err, f"seine: failed: 404 {s.url}/gone, linked from {s.url}/, line 3, and {CROWD + 1} more pages; "
                     "try: the page that links there, or its site, must change\n")


@case
def a_template_prints_the_pages_too():
    with site(PAGES) as s, tempfile.TemporaryDirectory() as where:
        r = crawl(s, where, "--referrers", "2", "-w", "%{seq} %{status} %{url} %{referrers.count}\\n", "-q", "--no-skips")
        lines = [line.split(" ") for line in r.out.splitlines()]
        check([x[1:] for x in lines if x[2].endswith("/gone")], [["404", s.url + "/gone", str(len(referrers_of(s)[s.url + "/gone"]))]], r.err)
        check(len({x[0] for x in lines} - {"0"}), len(lines), "numbers that are missing or there twice")


def killed_after(server, where, command, requests):
    """kill -9 when the server was asked so many times more. False: the run has ended before."""
    process, end = start(where, *command), server.asked.total() + requests
    while process.poll() is None and server.asked.total() < end:
        time.sleep(0.001)
    time.sleep(DICE.random() * 0.03)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@case
def kills_and_resumed_runs_lose_no_link_and_no_referrer_and_double_none():
    with site(PAGES, pause=0.005) as s, tempfile.TemporaryDirectory() as where:
        command = ("crawl", s.url + "/", *FAST, *UNHURRIED, "--per-host", "4", "--job", "links", "--referrers", "100", "-o", "x.sqlite", "-o", "x.jsonl", "-o", "x.csv", "-q")
        kills = 0
        while kills < 8 and killed_after(s, where, command, DICE.randrange(1, 12)):
            kills += 1
        r = run(where, *command)
        check(r.code == 1 or "is finished" in r.err, True, f"seed {SEED}, {kills} kills: {r.code} {r.err}")
        same(table(f"{where}/x.sqlite"), links_of(s, crawled(s)))
        got = dict(rows(f"{where}/x.sqlite", "SELECT DISTINCT target, verdict FROM link"))
        check({t: v for t, v in got.items() if v != VERDICTS.get(t.removeprefix(s.url), "ok")}, {}, f"seed {SEED}, {kills} kills")
        with open(f"{where}/x.jsonl") as f:
            records = [json.loads(line) for line in f]
        urls = [r["url"] for r in records if r["type"] == "result"]
        same(urls, [u for u, in rows(f"{where}/x.sqlite", "SELECT url FROM result")])
        check(len(set(urls)), len(urls), f"seed {SEED}, {kills} kills")
        got = {r["url"]: r["referrers"] for r in records if r["type"] == "result" and not r["ok"]}
        check({u: {p["url"]: p["line"] for p in x["pages"]} for u, x in got.items()}, referrers_of(s), f"seed {SEED}, {kills} kills: pages of all runs")
        check({u: x["count"] for u, x in got.items()}, {u: len(p) for u, p in referrers_of(s).items()}, f"seed {SEED}, {kills} kills: each once")
        with open(f"{where}/x.csv", newline="") as f:
            got = {row["url"]: set(row["referrers"].split()) for row in csv.DictReader(f) if row["referrers"]}
        check(got, {u: set(p) for u, p in referrers_of(s).items()}, f"seed {SEED}, {kills} kills")


if __name__ == "__main__":
    finish()
