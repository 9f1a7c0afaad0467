#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `seine fetch` writes: records, files, templates, and what it sends."""
import base64
import csv
import hashlib
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from origin import origin, records, results, summary  # noqa: E402

FAST = ["--mine", "--backoff", "1ms..5ms"]


def read(*path):
    with open(os.path.join(*path), encoding="utf-8", newline="") as f:
        return f.read()


@case
def a_pipe_gets_json_lines_and_the_summary_last():
    with origin() as o:
        r = seine("fetch", *FAST, o.url("/html:2000"), o.url("/status:404"))
        check(r.code, 1)
        rows_ = records(r.out)
        check([x["type"] for x in rows_], ["result", "result", "summary"])
        check([x["v"] for x in rows_], [1, 1, 1])
        check([x["seq"] for x in rows_], [1, 2, 3])
        by = {x["url"]: x for x in rows_ if x["type"] == "result"}
        check(by[o.url("/status:404")]["outcome"], "http_error")
        check(by[o.url("/html:2000")]["ok"], True)
        s = rows_[-1]
        check((s["total"], s["ok"], s["failed"], s["exit_code"], s["stopped_by"], s["success_rate"]), (2, 1, 1, 1, "done", 50.0))
        check(r.err.startswith("done: 2 URLs, 1 ok, 1 http_error (404) in "), True, r.err)


@case
def text_is_an_aligned_table():
    with origin() as o:
        r = seine("fetch", "-f", "text", *FAST, "--retries", "2", "--ordered", o.url("/bytes:1500"), o.url("/status:404"), o.places["dead"] + "/")
        lines = r.out.splitlines()
        check(len(lines), 3)
        check(lines[0][:5] + lines[1][:5], "200  404  ")
        check([line.index("http://") for line in lines], [5, 5, 5])
        check("1.5 KB" in lines[0] and "connect_refused" in lines[2] and "(3 tries)" in lines[2], True, r.out)
        check("\x1b" in r.out, False)


@case
def control_characters_of_others_never_reach_the_screen():
    with origin() as o:
        body = base64.urlsafe_b64encode(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 34\r\n\r\n"
                                        b"<title>a\x1b[31mb\xc2\x9b\x07c</title><p>hello").decode().rstrip("=")
        r = seine("fetch", "-f", "text", o.url("/raw:" + body))
        check("\x1b" in r.out or "\x07" in r.out or "\x9b" in r.out, False, r.out)
        check("a\\x1b[31mb" in r.out, True, r.out)


@case
def every_output_gets_the_same_records_and_stdout_is_silent():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url(f"/html:{300 + n}?n={n}") for n in range(40)] + [o.url("/status:410")]
        r = seine("fetch", *FAST, "-o", "a.jsonl", "-o", "a.csv", "-o", "jsonl:a.data", *urls, cwd=where)
        check((r.code, r.out), (1, ""))
        lines = records(read(where, "a.jsonl"))
        check(read(where, "a.data"), read(where, "a.jsonl"))
        check(len(lines), 42)
        table = list(csv.DictReader(read(where, "a.csv").splitlines()))
        check(len(table), 41)
        check(sorted(row["url"] for row in table), sorted(urls))
        check([int(row["seq"]) for row in table], [x["seq"] for x in lines[:-1]])
        check({row["error_kind"] for row in table}, {"", "http"})


@case
def stdout_can_be_one_of_them():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "-o", "a.jsonl", "-o", "-", "-f", "csv", o.url("/ok"), cwd=where)
        check(r.code, 0)
        check(r.out.startswith("seq,ts,input,url,"), True)
        check(len(read(where, "a.jsonl").splitlines()), 2)


@case
def append_adds_and_overwrite_replaces():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for extra, lines in (([], 2), (["--append"], 4), (["--overwrite"], 2)):
            check(seine("fetch", "-o", "a.jsonl", *extra, o.url("/ok"), cwd=where).code, 0)
            check(len(read(where, "a.jsonl").splitlines()), lines)


@case
def ordered_is_the_order_of_the_input():
    with origin() as o:
        urls = [o.url(f"/delay:{(7 * n) % 10 * 20}ms/ok?n={n}") for n in range(20)]
        r = seine("fetch", *FAST, "--ordered", *urls)
        check([x["url"] for x in results(r.out)], urls)


@case
def ordered_waits_for_the_slowest_however_many_come_behind_it():
    with origin() as o:
        slow = o.url("/ok?fail=1&key=slow")
        r = seine("fetch", "--mine", "--backoff", "1s..1s", "--ordered", "-j", stdin="\n".join([slow, *(f"ftp://x/{n}" for n in range(70000))]))
        rows_ = records(r.out)
        check((rows_[0]["url"], rows_[0]["attempts"], len(rows_)), (slow, 2, 70002))


@case
def raw_is_the_bodies_of_ok_results_in_input_order():
    with origin() as o:
        urls = [o.url(f"/delay:{60 - 20 * n}ms/text:{20 + n}") for n in range(3)]
        bodies = [o.get(u[len(o.base):]) for u in urls]
        p = subprocess.run([PROGRAM, "fetch", "--raw", *FAST, urls[0], o.url("/status:404"), *urls[1:]], capture_output=True, env=environment())
        check(p.stdout.decode(), "".join(bodies))
        check(p.returncode, 1)


@rows([("%{status} %{url}\\n", "200 URL\n"), ("%{ok}|%{error.kind}|%%|%{tags.there}\\t", "true||%|\t"), ("x", "x")])
def write_out_is_a_template(pattern, want):
    with origin() as o:
        r = seine("fetch", "-w", pattern, o.url("/ok"))
        check(r.out, want.replace("URL", o.url("/ok")))


@case
def fields_choose_members_and_bodies_come_on_request():
    with origin() as o:
        url = o.url("/text:30")
        body = o.get("/text:30")
        check(json.loads(seine("fetch", "--fields", "url,status", "--no-summary", url).out), {"url": url, "status": 200})
        more = results(seine("fetch", "--fields", "+headers,+sha256,-key", url).out)[0]
        check(more["sha256"], hashlib.sha256(body.encode()).hexdigest())
        check("content-length" in more["headers"] and "key" not in more, True)
        check(results(seine("fetch", "--body", "text", url).out)[0]["body"], body)
        check(base64.b64decode(results(seine("fetch", "--body", "b64", url).out)[0]["body_b64"]).decode(), body)


@rows([(["--fields", "url,title"], '"title":"Net"'), (["--fields", "+title,-key"], '"title":"Net"'),
       (["--fields", "url", "-w", "%{title}"], "Net"), (["--fields", "url,title", "-f", "csv"], ",Net")])
def what_a_page_says_of_itself_is_read_wherever_an_output_shows_it(words, want):
    with origin() as o:
        page = b"<title>Net</title><p>hello"
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
        r = seine("fetch", *words, o.url("/raw:" + base64.urlsafe_b64encode(head + page).decode().rstrip("=")))
        check(want in r.out, True, r.out)


@case
def summary_goes_to_a_file_or_nowhere():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "--no-summary", o.url("/ok"))
        check([x["type"] for x in records(r.out)], ["result"])
        r = seine("fetch", "--summary", "s.json", "-f", "csv", o.url("/ok"), cwd=where)
        s = json.loads(read(where, "s.json"))
        check((s["type"], s["ok"], s["exit_code"], s["command"]), ("summary", 1, 0, "fetch"))


@case
def skips_are_records_unless_they_are_not_wanted():
    with origin() as o:
        words = ["fetch", o.url("/ok"), "ftp://e.example/", "http://[nonsense"]
        r = seine(*words)
        check(sorted(x["reason"] for x in results(r.out) if x["type"] == "skip"), ["bad_url", "scheme"])
        check(r.code, 1)  # --fail-on any: one is no URL
        check([x["type"] for x in results(seine(*words, "--no-skips").out)], ["result"])
        check(summary(seine(*words, "--no-skips").out)["skipped"], 2)
        check(seine("fetch", "http://[nonsense").code, 1)  # nothing was fetched at all


@case
def a_bad_line_never_stops_the_run_and_says_where_it_is():
    with origin() as o:
        stdin = f"\ufeff{o.url('/ok')}\r\n# note\n\nhttp://[x\n  {o.url('/ok?2')}  \n"
        r = seine("fetch", "-", stdin=stdin)
        check((r.code, seine("fetch", "--fail-on", "none", "-", stdin=stdin).code), (1, 0))
        by = {x.get("line"): x for x in results(r.out)}
        check(sorted(by), [1, 4, 5])
        check((by[4]["type"], by[4]["reason"]), ("skip", "bad_url"))


@case
def json_lines_bring_what_belongs_to_their_url():
    with origin() as o:
        lines = [{"url": o.url("/echo?1"), "method": "PUT", "headers": {"X-One": "1"}, "body": "hello", "id": "a", "tags": {"t": 1}},
                 {"url": o.url("/delay:2s/ok"), "timeout": "150ms", "retries": 0, "id": "b"},
                 {"url": o.url("/ok"), "wrong": 1}]
        r = seine("fetch", "--body", "text", *FAST, stdin="".join(json.dumps(x) + "\n" for x in lines))
        by = {x.get("line"): x for x in results(r.out)}
        check((by[1]["id"], by[1]["tags"], by[1]["method"]), ("a", {"t": 1}, "PUT"))
        check("x-one" in by[1]["body"].lower() and "hello" in by[1]["body"], True, by[1]["body"])
        check((by[2]["outcome"], by[2]["attempts"]), ("timeout", 1))
        check((by[3]["type"], by[3]["reason"]), ("skip", "bad_input"))


@case
def repeated_urls_are_counted_and_fetched_once():
    with origin() as o:
        url = o.url("/ok")
        r = seine("fetch", url, url + "#x", url)
        check((len(results(r.out)), summary(r.out)["duplicates"]), (1, 2))
        check(len(seine("fetch", *FAST, "--dedup", "off", url, url).out.splitlines()), 3)
        a, b = o.url("/ok?utm_source=x"), o.url("/ok?utm_source=y")
        check(len(results(seine("fetch", "--strip-params", "utm_*", a, b).out)), 1)


@case
def base_makes_relative_lines_whole():
    with origin() as o:
        r = seine("fetch", "--base", o.url("/delay:1ms/"), "ok", stdin="")
        check(results(r.out)[0]["url"], o.url("/delay:1ms/ok"))
        r = seine("fetch", "--base", o.url("/delay:1ms/"), "-", stdin="ok\n../status:204\n")
        check(sorted(x["url"] for x in results(r.out)), sorted([o.url("/delay:1ms/ok"), o.url("/status:204")]))


@case
def what_is_sent_is_what_was_asked_for():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "lines"), "w", encoding="utf-8") as f:
            f.write("X-File: one\n# no\nX-Two: two\n")
        with open(os.path.join(where, "secret"), "w", encoding="utf-8") as f:
            f.write("s3cret\n")
        r = seine("fetch", "--body", "text", "-H", "@lines", "-H", "X-Env: env:MY_TOKEN", "-H", "X-Secret: file:secret", "-u", "me:pass",
                  "-A", "tester/1", "--contact", "me@e.example", "-e", "http://from.example/", "-d", "a=b", o.url("/echo"),
                  env={"MY_TOKEN": "from-env"}, cwd=where)
        check(r.code, 0, r.err)
        got = results(r.out)[0]["body"].lower()
        for word in ('"method":"post"', '["x-file","one"]', '["x-two","two"]', '["x-env","from-env"]', '["x-secret","s3cret"]',
                     '["user-agent","tester/1 (+me@e.example)"]', '["from","me@e.example"]', '["referer","http://from.example/"]',
                     "application/x-www-form-urlencoded", "a=b", base64.b64encode(b"me:pass").decode().lower()):
            check(word in got, True, word + "\n" + got)
        check(results(seine("fetch", "-I", o.url("/ok")).out)[0]["method"], "HEAD")


@case
def headers_stay_with_the_hosts_that_were_typed():
    """A redirect to another origin does not carry them along."""
    with origin() as o:
        other = f"http://127.0.0.2:{o.port}/echo"
        r = seine("fetch", "--body", "text", "-H", "X-Secret: s3cret", "-u", "me:pass", o.url("/to:302?u=" + other))
        check(r.code, 0, r.err)
        check("s3cret" in results(r.out)[0]["body"] or "authorization" in results(r.out)[0]["body"].lower(), False)


@case
def the_first_record_leaves_before_the_end_of_the_input():
    with origin() as o:
        p = subprocess.Popen([PROGRAM, "fetch", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment())
        p.stdin.write((o.url("/ok") + "\n").encode())
        p.stdin.flush()
        first = json.loads(p.stdout.readline())
        check(first["status"], 200)
        p.stdin.close()
        check(p.wait(timeout=PATIENCE), 0)
        p.stdout.close()


@case
def an_empty_list_is_a_finished_run():
    r = seine("fetch", "-", stdin="")
    check((r.code, [x["type"] for x in records(r.out)]), (0, ["summary"]))
    check(r.err.startswith("done: 0 URLs, 0 ok in "), True)


@case
def events_tell_what_happens_to_hosts():
    with origin() as o:
        r = seine("fetch", "--events", "--mine", "-c", "2", "--retries", "0", "--breaker", "fail=3,open=50ms,park=1", *[o.places["dead"] + f"/{n}" for n in range(30)])
        names = [x["event"] for x in records(r.out) if x["type"] == "event"]
        check("breaker.open" in names, True, str(names))
        check("host.parked" in names, True, str(names))


@case
def json_logs_are_json_lines_and_nothing_else():
    with origin() as o:
        r = seine("fetch", "--log", "json", "--mine", "-c", "2", "--retries", "0", "--breaker", "fail=3,open=50ms", *[o.places["dead"] + f"/{n}" for n in range(30)])
        lines = [json.loads(line) for line in r.err.splitlines()]
        check(all("@timestamp" in x and "log.level" in x and "message" in x for x in lines), True)
        check(any(x["message"].startswith("done: ") for x in lines), True)
        check(any(x.get("event.name") == "breaker.open" for x in lines), True, r.err)


@case
def quiet_says_nothing_and_verbose_adds_the_table():
    with origin() as o:
        check(seine("fetch", "-q", o.url("/ok")).err, "")
        err = seine("fetch", "-v", "--log-level", "error", "--mine", o.url("/status:404"), *(o.url(f"/ok?{n}") for n in range(10))).err
        for word in ("done: ", "outcomes", "statuses", "200: 10", "latency", "p95", "host", "limited by"):
            check(word in err, True, word + "\n" + err)


@case
def examples_of_the_help_run():
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    lines = [line for row in table if row["command"] == "fetch" for line in row.get("examples", [])]
    check(len(lines) >= 4, True)
    with origin("--site", "1:20") as o, tempfile.TemporaryDirectory() as where:
        for name, form in (("urls.txt", "{}\n"), ("list.tsv", "x\t{}\n")):
            with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                f.writelines(form.format(o.url(f"/p/{n}")) for n in range(5))
        path = os.path.abspath(os.path.dirname(PROGRAM)) + os.pathsep + os.environ["PATH"]
        for line in lines:
            line = line.replace("http://127.0.0.1:8080", o.base).split("| jq")[0]
            p = subprocess.run(["bash", "-c", line], cwd=where, capture_output=True, env=environment({"PATH": path}), timeout=PATIENCE)
            check("done: " in p.stderr.decode() and p.returncode in (0, 1), True, line + p.stderr.decode())
        with open(os.path.join(where, "pages.jsonl"), encoding="utf-8") as f:
            check(summary(f.read())["ok"], 5)


finish(at_once=8)
