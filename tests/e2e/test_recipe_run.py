#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine run: the recipes of recipes/ against a server of their saved pages, with faults in between."""
import csv
import http.server
import json
import os
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, case, check, finish, rows, seine  # noqa: E402
from pages import pages  # noqa: E402

QUICK = ("--host-rate", "off", "--backoff", "10ms..20ms")


def saved(name):
    with open(os.path.join(ROOT, "recipes", name), encoding="utf-8") as f:
        return f.read()


def items(text):
    return [o for o in map(json.loads, text.splitlines()) if o["type"] == "item"]


def summary(text):
    return [o for o in map(json.loads, text.splitlines()) if o["type"] == "summary"][-1]


AMION = {"/2024/11": saved("amion/pages/2024-11.html"), "/2024/12": saved("amion/pages/2024-12-bad-rows.html")}
SHOP = {"/list?page=1": saved("shop/pages/list-1.html"), "/list?page=2": saved("shop/pages/list-2.html"), "/p/1001": saved("shop/pages/detail-1001.html")}


def amion(p, *words, **more):
    return seine("run", "recipes/amion/amion.yaml", "--var", f"base={p.base}", *words, cwd=ROOT, **more)


@case
def s1_a_schedule_is_read_month_by_month_at_one_request_a_second():
    once = []

    def busy_once(path):
        once.append(path)
        return (503, {}, "") if len(once) == 1 else AMION["/2024/11"]

    with pages({"/2024/11": busy_once, "/2024/12": AMION["/2024/12"]}) as p:
        r = amion(p, "--var", "from=2024-11", "--var", "count=2", "--backoff", "10ms..20ms", "--robots", "off")
        check(r.code, 0, r.err)
        check(sorted(p.asked), ["/2024/11", "/2024/11", "/2024/12"])
    got = items(r.out)
    check((len(got), sum(not o["ok"] for o in got)), (61, 2))
    check(sorted(o["n"] for o in got if not o["ok"]), [5, 11])
    check(summary(r.out)["seconds"] >= 2, True)  # three requests, the retry among them
    check(r.err.startswith("done: 2 pages, 59 shifts, 2 bad rows ("), True, r.err)
    check({k: summary(r.out)[k] for k in ("ok", "failed", "items", "bad_rows", "expect", "errors")},
          {"ok": 2, "failed": 0, "items": 59, "bad_rows": 2, "expect": [], "errors": {"start": 1, "person": 1}})


@case
def s1_too_many_bad_rows_are_exit_code_6_and_rows_stay():
    bad = AMION["/2024/12"].replace("07:00 AM</td><td class=\"end\">07:00 PM", "early</td><td class=\"end\">late")
    with tempfile.TemporaryDirectory() as folder, pages({"/2024/12": bad}) as p:
        out = os.path.join(folder, "shifts.csv")
        r = amion(p, "--var", "from=2024-12", "--var", "count=1", "-o", out, *QUICK)
        check(r.code, 6, r.err)
        check("expectation not met: bad-rows: " in r.err and "; the first: " in r.err, True, r.err)
        check("expectation not met: per-page: 14 on " in r.err, True, r.err)
        with open(out, encoding="utf-8", newline="") as f:
            table = list(csv.DictReader(f))
        with open(os.path.join(folder, "shifts.bad.csv"), encoding="utf-8", newline="") as f:
            wrong = list(csv.DictReader(f))
        check((len(table), len(wrong)), (14, 17))
        check(list(table[0]), ["date", "service", "person", "role", "start", "end", "phone", "starts_at", "ends_at", "hours", "_url", "_n"])
        check(table[0]["_url"], p.base + "/2024/12")
        check("not a time" in wrong[0]["_errors"], True)


@case
def a_shop_is_read_page_by_page_and_its_details_follow():
    with pages(SHOP) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", *QUICK, cwd=ROOT)
        check(sorted(set(p.asked)), ["/list?page=1", "/list?page=2", "/p/1001", "/p/1002", "/p/1003", "/p/1004", "/p/1005", "/p/1006", "/robots.txt"])
        check(len(p.asked), 9)
    got = items(r.out)
    check([o["key"] for o in got if o["kind"] == "product"], [f"A-100{i}" for i in range(1, 7)])
    check([o["data"] for o in got if o["kind"] == "detail"],
          [{"sku": "A-1001", "weight": 0.45, "text": "White paper for every printer. Made without chlorine."}])
    check((r.code, summary(r.out)["failed"]), (0, 5), r.err)
    check(got[0]["provenance"], {"url": p.base + "/list?page=1", "selector": "article.product", "line": 6, "col": 1})


@case
def flat_rows_are_data_alone():
    with pages(SHOP) as p, tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.jsonl")
        r = seine("run", "recipes/shop/shop.yaml", p.base + "/list?page=2", "--flat", "-o", out, *QUICK, cwd=ROOT)
        check(r.out, "")
        with open(out, encoding="utf-8") as f:
            check([json.loads(line)["sku"] for line in f], ["A-1005", "A-1006"])
        again = seine("run", "recipes/shop/shop.yaml", p.base + "/list?page=2", "-o", out, *QUICK, cwd=ROOT)
        check((again.code, "--overwrite, or another name" in again.err), (2, True), again.err)


@case
def a_file_has_the_records_of_pages_before_their_rows_and_standard_output_has_rows():
    with pages(SHOP) as p, tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "rows.jsonl")
        seine("run", "recipes/shop/shop.yaml", p.base + "/list?page=2", "-o", out, *QUICK, cwd=ROOT)  # more rows are expected of a whole run
        with open(out, encoding="utf-8") as f:
            got = [json.loads(line) for line in f]
        check([(o["type"], o.get("kind") or o.get("outcome")) for o in got[:3]], [("result", "ok"), ("item", "product"), ("item", "product")])
        check(sorted(o["status"] for o in got if o["type"] == "result"), [200, 404, 404])  # the details of both are not there
        check((got[-1]["type"], got[-1]["command"], got[-1]["total"]), ("summary", "run", 3))
        check([o["seq"] for o in got], sorted({o["seq"] for o in got}), "numbers rise, and none is there twice")
        r = seine("report", out, "-f", "json")
        check((r.code, json.loads(r.out)["total"] if r.out else r.err), (0, 3))
        r = seine("run", "recipes/shop/shop.yaml", p.base + "/list?page=2", "--no-job", *QUICK, cwd=ROOT)
        check({json.loads(line)["type"] for line in r.out.splitlines()}, {"item", "summary"}, r.err)


@case
def a_repeat_of_a_row_on_another_page_is_a_duplicate():
    with pages({**SHOP, "/list?page=2": SHOP["/list?page=2"].replace("A-1005", "A-1001")}) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", *QUICK, cwd=ROOT)
    bad = [o for o in items(r.out) if not o["ok"]]
    check([(o["key"], o["errors"][0]["why"]) for o in bad], [("A-1001", "duplicate")])


@case
def a_page_cannot_send_the_run_to_another_host():
    with pages({}) as other:
        page = SHOP["/list?page=2"].replace("/p/1005", other.base + "/p/1005")
        with pages({"/list?page=1": page}) as p:
            r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", *QUICK, cwd=ROOT)
        check(other.asked, [])
    check("1 link to other hosts was not followed" in r.err, True, r.err)


@case
def a_start_page_that_was_moved_leads_on_from_where_it_is():
    with pages({**SHOP, "/robots.txt": "User-agent: *\nDisallow: /p/1002\n"}) as there, pages({"/list?page=1": (301, {"Location": there.base + "/list?page=1"}, "")}) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", *QUICK, cwd=ROOT)
        check("/list?page=2" in there.asked and "/p/1001" in there.asked, True, there.asked)
        check("/p/1002" in there.asked, False)
    check((summary(r.out)["items"], summary(r.out)["skipped"]), (7, 1), r.err)


def balances(text):
    last = summary(text)
    check(last["total"], sum(last[k] for k in ("ok", "failed", "blocked", "skipped", "pending")), str(last))
    return last


@rows([("a sitemap that is not there", "start: {sitemap: 'BASE/none.xml'}", 0, 1, 0), ("a start page that is not there", "start: [BASE/a, BASE/none]", 1, 1, 0),
       ("a redirect to where nobody may go", "start: [BASE/a, BASE/away]", 1, 0, 1), ("a robots.txt that forbids", "start: [BASE/a, BASE/secret]", 1, 0, 0)])
def the_counts_of_a_run_balance(_, start, ok, failed, blocked):
    site = {"/a": "<b>1</b>", "/away": (302, {"Location": "http://169.254.169.254/"}, ""), "/robots.txt": "User-agent: *\nDisallow: /secret\n"}
    with pages(site) as p, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
            f.write("seine: 1\nname: r\n" + start.replace("BASE", p.base) + "\nitems: {fields: {n: b}}\n")
        last = balances(seine("run", "r.yaml", *QUICK, "--retries", "0", cwd=where).out)
    check([last[k] for k in ("ok", "failed", "blocked")], [ok, failed, blocked], str(last))


@case
def standard_output_has_the_form_that_is_asked_for():
    with pages({"/a": "<b>1</b>"}) as p, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
            f.write(f"seine: 1\nname: r\nstart: {p.base}/a\nitems: {{fields: {{n: b}}}}\n")
        check(seine("run", "r.yaml", *QUICK, "-f", "csv", cwd=where).out, f"n,_url,_n\n1,{p.base}/a,1\n")
        check([items(seine("run", "r.yaml", *QUICK, *words, cwd=where).out)[0]["data"] for words in (("-j",), ("-f", "jsonl"), ())], [{"n": "1"}] * 3)


@case
def a_page_that_is_not_asked_for_is_said_with_the_reason():
    with tempfile.TemporaryDirectory() as where, pages({"/robots.txt": "User-agent: *\nDisallow: /a\n", "/b": "<b>1</b>"}) as p:
        for name, text in (("list.txt", f"{p.base}/a\n{p.base}/b\n"), ("bad.txt", f"http://127.0.0.1:99999/a\n{p.base}/a\n{p.base}/b\n")):
            with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                f.write(text)
            with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
                f.write(f"seine: 1\nname: r\nstart: {{file: {name}}}\nitems: {{fields: {{n: b}}}}\n")
            r = seine("run", "r.yaml", "--no-job", "--mine", "--robots", "on", cwd=where)
            said = [line for line in r.err.splitlines() if "not asked for" in line]
            check(said, [f"seine: 1 URL was not asked for; the first: robots: {p.base}/a"] if name == "list.txt" else
                  ["seine: 2 URLs were not asked for; the first: bad_url: http://127.0.0.1:99999/a"], r.err)


@case
def a_start_that_names_no_page_is_said():
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
            f.write("seine: 1\nname: r\nvars: {from: {type: int, default: 3}}\n"
                    "start: {url: 'http://e.example/{n}', over: {n: {range: ['{from}', 1]}}}\nitems: {fields: {n1: b}}\n")
        r = seine("run", "r.yaml", cwd=where)
        check((r.code, "start of r.yaml names no page" in r.err), (0, True), r.err)


@case
def the_reason_of_a_bad_row_is_that_of_a_row_that_is_bad():
    page = "<p><b>x</b><i>1</i></p><p><b>2</b><i>y</i></p>"
    with pages({"/a": page}) as p, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "r.yaml"), "w", encoding="utf-8") as f:
            f.write(f"seine: 1\nname: r\nstart: {p.base}/a\nitems: {{kind: row, each: p, fields: {{may: {{css: b, type: int}}, must: {{css: i, type: int, required: true}}}}}}\n")
        r = seine("run", "r.yaml", *QUICK, cwd=where)
        check("1 row, 1 bad row (must: 'y' is not a whole number)" in r.err, True, r.err)


@case
def the_pages_of_a_sitemap_are_start_pages():
    with tempfile.TemporaryDirectory() as folder, pages({}) as other, pages({"/a": "<b>1</b>", "/b": "<b>2</b>"}) as p:
        urls = [p.base + "/a", other.base + "/x", p.base + "/b"]
        p.table["/sitemap.xml"] = (200, {"Content-Type": "application/xml"}, "<urlset>" + "".join(f"<url><loc>{u}</loc></url>" for u in urls) + "</urlset>")
        with open(os.path.join(folder, "r.yaml"), "w", encoding="utf-8") as f:
            f.write(f"seine: 1\nname: r\nstart: {{sitemap: '{p.base}/sitemap.xml'}}\nitems: {{fields: {{n1: {{css: b, type: int}}}}}}\n")
        r = seine("run", "r.yaml", "--flat", *QUICK, cwd=folder)
        check((r.code, sorted(r.out.splitlines()), other.asked), (0, ['{"n1":1}', '{"n1":2}'], []), r.err)
        p.table["/sitemap.xml"] = (404, {}, "")
        r = seine("run", "r.yaml", "--flat", *QUICK, cwd=folder)
        check((r.code, "sitemap.xml" in r.err), (1, True), r.err)


@case
def no_more_pages_than_wanted_are_asked_for():
    with pages(SHOP) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", "-n", "2", "--robots", "off", *QUICK, cwd=ROOT)
        check(len(p.asked), 2)
    check(summary(r.out)["skipped"] > 0, True, r.out)


@case
def an_api_gets_its_token_and_nobody_reads_it():
    seen, first, second = [], saved("tickets/pages/tickets-1.json"), saved("tickets/pages/tickets-2.json")

    class Api(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append((self.path, self.headers.get("Authorization")))
            body = (first if "cursor" not in self.path else second).encode()
            if "/tickets/" in self.path:
                body = saved("tickets/pages/ticket-41.json").encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    api = f"http://127.0.0.1:{server.server_address[1]}/v2"
    r = seine("run", "recipes/tickets/tickets.yaml", "--var", f"api={api}", "--robots", "off", *QUICK, env={"TICKETS_TOKEN": "s3cr3t-token"}, cwd=ROOT)
    lacking = seine("run", "recipes/tickets/tickets.yaml", "--var", f"api={api}", cwd=ROOT)
    server.shutdown()
    check(r.code, 0, r.err)
    check({token for _, token in seen}, {"Bearer s3cr3t-token"})
    check([path for path, _ in seen if "?" in path], ["/v2/tickets?state=open&per_page=3", "/v2/tickets?state=open&per_page=3&cursor=abc%3D"])
    check([o["data"]["id"] for o in items(r.out) if o["kind"] == "ticket"], [41, 42, 43, 44, None][:4] + [45])
    check(sorted({o["data"]["ticket"] for o in items(r.out) if o["kind"] == "comment"}), [41, 42])
    check("s3cr3t" in r.out + r.err, False)
    check((lacking.code, "TICKETS_TOKEN, which is not set" in lacking.err), (2, True), lacking.err)


@case
def a_field_that_vanishes_fails_its_coverage():
    with pages({"/list?page=1": SHOP["/list?page=2"].replace("class=\"price\"", "class=\"cost\"")}) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", *QUICK, cwd=ROOT)
    check(r.code, 6)
    check("expectation not met: coverage of price: 0 of 2 rows, expected 70%" in r.err, True, r.err)


@case
def a_condition_on_every_row_is_judged():
    with tempfile.TemporaryDirectory() as folder, pages({"/": "<b>1</b><b>20</b>"}) as p:
        with open(os.path.join(folder, "r.yaml"), "w", encoding="utf-8") as f:
            f.write("seine: 1\nname: r\nitems: {each: b, fields: {n1: {type: int}}}\nexpect: {where: [n1 > 0, n1 < 10], items: 2}\n"
                    "pages: {other: {items: {kind: o, fields: {x: b}}}}\n")
        r = seine("run", "r.yaml", p.base + "/", *QUICK, cwd=folder)
    check((r.code, f"where: 1 rows are not so: n1 < 10; the first on {p.base}/" in r.err), (6, True), r.err)


@rows([("no page can be had", ["--retries", "0"], 1, "done: 0 pages, 1 failed, 0 items"),
       ("a recipe that does not exist", ["--var", "base"], 2, "no NAME=VALUE"),
       ("an option of the recipe that is wrong", ["--host-rate", "fast"], 2, "--host-rate"),
       ("an output that is not known", ["-o", "x.parquet"], 2, "run writes .jsonl, .csv, .sqlite")])
def a_run_that_fails_says_why(_, words, code, said):
    with pages({"*": (500, {}, "")}) as p:
        r = seine("run", "recipes/shop/shop.yaml", "--var", f"base={p.base}", "--robots", "off", *QUICK[2:], *words, cwd=ROOT)
    check((r.code, said in r.err), (code, True), r.err)


finish(at_once=4)
