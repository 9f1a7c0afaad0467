#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No silent surprises: names of curl and wget, secrets inside of a header, the columns that were asked for and no other line."""
import csv
import http.server
import io
import json
import os
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402
from terminal import Terminal  # noqa: E402

PAGES = {"/": "<title>Home</title><a href=/a.html>a</a><a href=/b.txt>b</a>\n<a href=/gone>gone</a>", "/a.html": "<title>A</title>", "/b.txt": "<title>B</title>"}
seen = []


class Site(http.server.BaseHTTPRequestHandler):
    """A few pages; it remembers what it was asked."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        seen.append((self.command, self.path, dict(self.headers.items()), self.rfile.read(length)))
        path = self.path.split("?")[0]
        body = PAGES.get(path, "").encode()
        self.send_response(200 if path in PAGES else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_HEAD = do_PUT = answer

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
HOST = f"127.0.0.1:{server.server_port}"
BASE = "http://" + HOST
FAST = ("--mine", "--retries", "0", "--progress", "off")


def ask(*words, **kw):
    """Fetches and returns the run, and the first request that came."""
    seen.clear()
    r = seine("fetch", *FAST, *words, **kw)
    return r, seen[0] if seen else None


@case
def words_of_a_header_come_from_the_environment_and_from_files():
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("filed\n")
        f.flush()
        r, got = ask(BASE + "/", "-H", "Authorization: Bearer env:HABIT_TOKEN", "-H", f"X-Both: a env:HABIT_TOKEN file:{f.name} z", env={"HABIT_TOKEN": "s3cret-token"})
    with tempfile.TemporaryDirectory(prefix="a b ") as here:
        with open(os.path.join(here, "k"), "w", encoding="utf-8") as f:
            f.write("blank")
        _, blank = ask(BASE + "/", "-H", f"X-Key: file:{here}/k")
    check(blank[2]["X-Key"], "blank", "a path with blanks in it")
    check((got[2]["Authorization"], got[2]["X-Both"]), ("Bearer s3cret-token", "a s3cret-token filed z"), r.err)
    check("s3cret" in r.out + r.err, False, "the secret is in no record")


@case
def json_is_sent_as_json_and_must_be_some():
    _, got = ask(BASE + "/", "--json-body", '{"a": 1}')
    check((got[0], got[2]["Content-Type"], got[2]["Accept"], got[3]), ("POST", "application/json", "application/json", b'{"a": 1}'))
    _, got = ask(BASE + "/", "--json-body", "@-", "-X", "PUT", "-H", "Content-Type: application/x+json", stdin="[]")
    check((got[0], got[2]["Content-Type"], got[3]), ("PUT", "application/x+json", b"[]"))
    r, got = ask(BASE + "/", "--json-body", "{a:1}")
    check((r.code, got), (2, None), r.err)


@rows([
    (["--retry", "0"], lambda r, got: r.code == 0),
    (["--silent"], lambda r, got: r.err == ""),
    (["--request", "PUT"], lambda r, got: got[0] == "PUT"),
    (["--data-binary", "a=1"], lambda r, got: (got[0], got[3]) == ("POST", b"a=1")),
    (["--agent", "me/1"], lambda r, got: got[2]["User-Agent"].startswith("me/1")),
    (["--max-redirs", "3"], lambda r, got: r.code == 0),
    (["--no-check-certificate"], lambda r, got: r.code == 0),
    (["--max-filesize", "1k"], lambda r, got: r.code == 0),
    (["--noproxy", "*"], lambda r, got: r.code == 0),
    (["--parallel-max", "4"], lambda r, got: r.code == 0),
    (["-L", "--compressed", "-s"], lambda r, got: r.code == 0),
], name=lambda row: " ".join(row[0]))
def a_name_of_curl_or_wget_is_taken(words, holds):
    r, got = ask(BASE + "/", *words)
    check(holds(r, got), True, f"{r.code} {r.err} {got}")


@case
def what_wget_calls_level_is_the_depth_and_no_help_shows_options_that_do_nothing():
    r = seine("crawl", BASE + "/", *FAST, "--sitemap", "off", "--level", "0", "-f", "jsonl", "--no-skips", "--no-summary")
    check([json.loads(line)["url"] for line in r.out.splitlines()], [BASE + "/"])
    text = seine("fetch", "--help").out
    check("--compressed" in text, False)


@case
def a_host_and_a_path_are_fetched_without_a_verb():
    for word in (f"{HOST}/a.html", f"{HOST}", f"localhost:{server.server_port}/a.html"):
        r = seine(word, *FAST, "-w", "%{status}\n")
        check((r.code, r.out), (0, "200\n"), r.err)


@case
def fields_are_the_columns_of_csv_in_their_order_and_nothing_else_is_printed():
    r, _ = ask(BASE + "/", BASE + "/gone", "--ordered", "-f", "csv", "--fields", "status,title,url,error_kind,time,redirects")
    table = list(csv.reader(io.StringIO(r.out)))
    check(table[0], ["status", "title", "url", "error_kind", "time", "redirects"])
    check([row[:4] for row in table[1:]], [["200", "Home", BASE + "/", ""], ["404", "", BASE + "/gone", "http"]], r.out)
    check("total" in json.loads(table[1][4]), True, r.out)


@case
def the_standard_columns_stay_and_a_crawl_names_the_page_that_links_there():
    r, _ = ask(BASE + "/", "-f", "csv")
    fixed = "seq,ts,input,url,final_url,outcome,status,attempts,content_type,content_length,bytes_body,time_ms,title,error_kind,error_message"
    check(r.out.splitlines()[0], fixed)
    r = seine("crawl", BASE + "/", *FAST, "--sitemap", "off", "-f", "csv", "--fields", "+sha256")
    table = list(csv.DictReader(io.StringIO(r.out)))
    check(list(table[0]), [*fixed.split(","), "parent", "sha256"])
    check({row["url"]: row["parent"] for row in table}[BASE + "/gone"], BASE + "/")
    check(all(len(row["sha256"]) == 64 for row in table if row["outcome"] == "ok"), True, r.out)


@case
def fields_leave_the_summary_out_of_standard_output_and_shape_the_table():
    r, _ = ask(BASE + "/", "--fields", "url,status")
    check([json.loads(line) for line in r.out.splitlines()], [{"url": BASE + "/", "status": 200}])
    r, _ = ask(BASE + "/", "--fields", "+headers")
    check(json.loads(r.out.splitlines()[-1])["type"], "summary", "a standard set with more has its summary")
    t = Terminal(["fetch", *FAST, BASE + "/", "--fields", "status,title"])
    check(t.wait(), 0)
    check(any(line.split() == ["200", "Home"] for line in t.screen()), True, "\n".join(t.screen()))


@case
def a_csv_of_chosen_columns_is_appended_to_and_refused_by_other_columns():
    with tempfile.TemporaryDirectory() as here:
        words = (BASE + "/", "-o", os.path.join(here, "a.csv"), "--append", "--fields")
        for _ in range(2):
            check(seine("fetch", *FAST, *words, "url,status").code, 0)
        with open(os.path.join(here, "a.csv"), encoding="utf-8") as f:
            check(f.read(), f"url,status\n{BASE}/,200\n{BASE}/,200\n")
        check(seine("fetch", *FAST, *words, "status,url").code, 2)


@rows([("*.txt", ["/", "/b.txt"]), ("/a.*", ["/", "/a.html"]), ("[ab].*", ["/", "/a.html", "/b.txt"]), ("http://*/gone", ["/", "/gone"]), ("?.html", ["/", "/a.html"]), ("**/b.txt", ["/", "/b.txt"])])
def a_glob_chooses_urls_as_the_shell_would(pattern, want):
    r = seine("crawl", BASE + "/", *FAST, "--sitemap", "off", "--glob", pattern, "--no-skips", "--fields", "url")
    check(sorted(json.loads(line)["url"] for line in r.out.splitlines()), sorted(BASE + p for p in want), r.err)


finish()
