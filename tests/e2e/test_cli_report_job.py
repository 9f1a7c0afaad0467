#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine report of jobs and databases: their timeline, jobs without outputs, --where, settings and expectations."""
import collections
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from browser import browser  # noqa: E402
from e2e import PROGRAM, case, check, environment, finish, rows, seine, until  # noqa: E402
from origin import origin, results  # noqa: E402

FAST = {"SEINE_DURABILITY": "fast"}
PLAIN = ("--mine", "--proxy", "off", "--retries", "0", "--breaker", "off")


def report(*words, cwd):
    r = seine("report", *words, "-f", "json", cwd=cwd)
    check((r.code, r.err), (0, ""))
    return json.loads(r.out)


def counted(urls):
    return sorted(collections.Counter(urls).items())


@case
def a_job_without_outputs_is_reported_from_its_state():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        paths = [f"/ok?{i}" for i in range(20)] + [f"/status:404?{i}" for i in range(9)] + ["/status:503", "/reset", "/delay:2s/bytes:3k?slow"]
        r = seine("fetch", *[o.base + p for p in paths], "http://127.0.0.1:1/dead", *PLAIN, "--job", "bare", "-j", cwd=folder, env=FAST)
        check(r.code, 1, r.err)
        want, got = results(r.out), report("bare", cwd=folder)
        check((got["total"], got["ok"], got["failed"], got["job"], got["state"]), (len(paths) + 1, 21, 12, "bare", "finished"))
        check(got["statuses"], {str(k): v for k, v in counted(x["status"] for x in want if "status" in x)})
        check(sorted((u["url"], g["kind"]) for g in got["failures"] for u in g["urls"]),
              sorted((x["url"], str(x["status"]) if x["outcome"] == "http_error" else x["error"]["kind"]) for x in want if not x["ok"]))
        check(sorted(h["host"] for h in got["hosts"]), sorted({x["url"].split("/")[2] for x in want}))
        check([u["ms"] >= 2000 for u in got["slowest"] if u["url"].endswith("?slow")], [True])
        check(got["bytes_body"], sum(x.get("bytes_body", 0) for x in want))
        check("has no output to read" in got["verdict"], True, got["verdict"])
        check(sum(got["load"]["all"]["requests"].values()), sum(x["attempts"] for x in want))
        check(got["next"], "seine retry bare -o again.jsonl")
        check({s["option"]: s["value"] for s in got["settings"] if s["from"] == "command line"}, {"--mine": "on", "--proxy": "off", "--retries": "0", "--breaker": "off", "--job": "bare", "--json": "on"})


@case
def settings_of_files_and_the_environment_are_told_with_their_place():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        with open(os.path.join(folder, "seine.yaml"), "w", encoding="utf-8") as f:
            f.write("retries: 2\nheader: ['X-Key: secret1']\nproxy: off\nhosts:\n  '*.example': {timeout: 9s, headers: {X-Own: secret2}}\n"
                    "groups:\n  shop: {match: [a.example, 203.0.113.0/24], host-rate: 2/s}\n")
        os.chmod(os.path.join(folder, "seine.yaml"), 0o644)
        env = {**FAST, "SEINE_PER_HOST": "3", "SEINE_RETRIES": "1"}
        r = seine("fetch", o.url("/ok"), "--mine", "--job", "told", "-o", "told.html", cwd=folder, env=env)
        check(r.code, 0, r.err)
        r = seine("report", "told", "-f", "json", cwd=folder, env=FAST)
        got = {s["option"]: (s["value"], s["from"]) for s in json.loads(r.out)["settings"]}
        check({k: got.get(k) for k in ("--mine", "--retries", "--per-host", "--proxy")},
              {"--mine": ("on", "command line"), "--retries": ("1", "SEINE_RETRIES"), "--per-host": ("3", "SEINE_PER_HOST"), "--proxy": ("off", "./seine.yaml:3")})
        check({k: v for k, v in got.items() if not k.startswith("-")},
              {"hosts.*.example.timeout": ("9s", "./seine.yaml:5"), "hosts.*.example.headers": ("X-Own: ***", "./seine.yaml:5"),
               "groups.shop.match": ("a.example, 203.0.113.0/24", "./seine.yaml:7"), "groups.shop.host-rate": ("2/s", "./seine.yaml:7")})
        with open(os.path.join(folder, "told.html"), encoding="utf-8") as f:
            page = f.read()
        check("hosts.*.example.timeout" in page and "secret2" not in page + r.out, True)
        check("./seine.yaml:3" in page and "SEINE_PER_HOST" in page, True)
        check("secret1" in page + r.out, False)


@case
def a_crawl_without_outputs_says_where_broken_links_were_found():
    with tempfile.TemporaryDirectory() as folder, origin("--site", "5:60:fan=6:broken=10") as o:
        r = seine("crawl", o.url("/"), "--mine", "--proxy", "off", "--job", "site", "-j", cwd=folder, env=FAST)
        check(r.code, 1, r.err)
        want, got = [x for x in results(r.out) if x["type"] == "result"], report("site", cwd=folder)
        check((got["ok"], got["failed"]), (sum(x["ok"] for x in want), sum(not x["ok"] for x in want)))
        check(got["failed"] > 0, True)
        places = {x["url"]: x["parent"] for x in want if not x["ok"]}
        check({u["url"]: u["found_on"] for g in got["failures"] for u in g["urls"]}, places)


def started(folder, *words):
    return subprocess.Popen([PROGRAM, *words], cwd=folder, env=environment(FAST), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kept(folder, job, least):
    """The report of the job, once its timeline has more requests than that."""
    def look():
        r = seine("report", job, "-f", "json", cwd=folder)
        got = json.loads(r.out) if r.code == 0 else {}
        return got.get("load", {"all": {"requests": {}}})["all"]["requests"].get("2xx", 0) > least and got
    return until(look, "seconds that the job has kept")


@case
def a_killed_job_keeps_its_timeline_and_goes_on_with_it():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        urls = [o.base + f"/delay:40ms/ok?{i}" for i in range(20000)]  # more than anybody waits for
        with open(os.path.join(folder, "urls"), "w", encoding="utf-8") as f:
            f.write("\n".join(urls))
        p = started(folder, "fetch", "-i", "urls", *PLAIN, "-c", "1", "--job", "k", "-o", "k.jsonl")
        try:
            kept(folder, "k", 0)
        finally:
            p.send_signal(signal.SIGKILL)
            p.communicate()
        first = report("k", cwd=folder)
        check((first["state"], "its last run was killed" in first["verdict"], first["next"]), ("failed", True, "seine jobs resume k"), first["verdict"])
        before = first["load"]["all"]["requests"]["2xx"]
        check(before > 0 and first["load"]["all"]["in_flight"] > 0, True, str(first["load"]["all"]))
        p = started(folder, "jobs", "resume", "k")
        try:
            whole = kept(folder, "k", before)
        finally:
            p.kill()
            p.communicate()
        check((whole["state"], whole["load"]["from"]), ("running", first["load"]["from"]))
        check(whole["ok"] > first["ok"], True)


@case
def a_running_job_is_reported_as_it_is():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        p = started(folder, "fetch", o.base + "/ok", o.base + "/delay:200s/ok", *PLAIN, "--job", "r", "-o", "r.jsonl", "-t", "300s", "--head-timeout", "300s")
        try:
            def look():
                r = seine("report", "r", "-f", "json", cwd=folder)
                got = json.loads(r.out) if r.code == 0 else {"ok": 0}
                return got["ok"] == 1 and "The job is running: 1 URL is to do." in got["verdict"] and got
            check(until(look, "a record, and a URL to do")["state"], "running")
        finally:
            p.kill()
            p.communicate()


# --where

RECORDS = [
    {"v": 1, "type": "result", "url": "http://a.example/1", "host": "a.example", "outcome": "ok", "ok": True, "status": 200, "attempts": 1, "time": {"ttfb": 40, "total": 41}},
    {"v": 1, "type": "result", "url": "http://a.example/2", "host": "a.example", "outcome": "http_error", "ok": False, "status": 503, "attempts": 3, "error": {"kind": "http_busy"}},
    {"v": 1, "type": "result", "url": "http://b.example/", "host": "b.example", "outcome": "timeout", "ok": False, "attempts": 2, "error": {"kind": "header_timeout"}},
    {"v": 1, "type": "skip", "url": "http://b.example/x", "reason": "robots"},
    {"v": 1, "type": "summary", "total": 4, "exit_code": 1, "stopped_by": "done"},
]


@rows([("ok", 1), ("status >= 500", 1), ("outcome=timeout and host ~ '^b'", 1), ("error.kind = http_busy or reason = robots", 2), ("attempts in [2, 3]", 2),
       ("time.total > 40", 1), ("type = skip", 1), ("url ~ 'nothing'", 0), ("not ok", 3)])
def where_chooses_records_and_the_summary_stays(where, n):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r, separators=(",", ":")) + "\n" for r in RECORDS)
        got = report("a.jsonl", "--where", where, cwd=folder)
        check((got["total"], got["exit_code"], got["where"]), (n, 1, where))
        check(f"Only records where {where} are counted." in got["verdict"], True, got["verdict"])


@case
def where_chooses_records_of_a_job_without_outputs():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        seine("fetch", *[o.base + f"/ok?{i}" for i in range(5)], o.base + "/status:404", *PLAIN, "--job", "w", cwd=folder, env=FAST)
        got = report("w", "--where", "status = 404", cwd=folder)
        check((got["total"], got["failed"], "load" in got), (1, 1, False))


@case
def a_condition_that_is_none_is_exit_2_with_its_place():
    r = seine("report", "-", "--where", "status = = 4")
    check((r.code, r.err.splitlines()[0]), (2, "seine: --where, column 10: expected a value, not '='"))


# Timelines of databases

def slices(n, seconds):
    """What a run keeps of n seconds or minutes: politeness first, then this machine, then servers."""
    for i in range(n):
        third = 3 * i // n
        one = {"at": 1_800_000_000 + i * seconds, "seconds": seconds, "lived_us": seconds * 1_000_000, "shards": 1, "ok": 9, "in_flight": 12_000_000 * seconds, "slots": 64,
               "slowest_us": 90_000, "requests": [2, 9, 4, 1], "latency": [60, 10], "errors": [25, 1]}
        if third == 0:
            one["waiting"] = {"host_rate": 40_000_000 * seconds, "queue": 400_000_000 * seconds}
        elif third == 1:
            one["cpu_us"] = 990_000 * seconds
        yield one


def database(folder, name, made):
    seine("convert", "-", name, "--from", "jsonl", stdin="".join(json.dumps(r) + "\n" for r in RECORDS[:3]), cwd=folder)
    with sqlite3.connect(os.path.join(folder, name)) as db:
        db.execute("CREATE TABLE timeline(at INTEGER NOT NULL, seconds INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (at, seconds)) STRICT, WITHOUT ROWID")
        db.executemany("INSERT INTO timeline VALUES (?, ?, ?)", [(s["at"], s["seconds"], json.dumps(s, separators=(",", ":"))) for s in made])
    db.close()


@rows([(90, 1), (1440, 60)], name=lambda row: f"{row[0]} slices of {row[1]} s")
def the_timeline_of_a_database_is_shown(n, seconds):
    with tempfile.TemporaryDirectory() as folder:
        database(folder, "a.sqlite", slices(n, seconds))
        load = report("a.sqlite", cwd=folder)["load"]
        check(load["limited_by"], {k: round(1 / 3, 4) for k in ("cpu", "politeness", "server")})
        check(len(load["bins"]) <= 120 and load["bin_ms"] % (seconds * 1000) == 0, True)
        check(sum(b["requests"]["2xx"] for b in load["bins"]), 9 * n)
        check((load["all"]["in_flight"], load["all"]["errors"], load["slots"]), (12.0, {"http": n}, 64))
        check(abs(load["all"]["p50"] - 12.8) < 1.5, True, str(load["all"]))  # bin 60 is that of 12.3 to 13.3 ms
        text = seine("report", "a.sqlite", cwd=folder).out
        check("held back   by politeness 33 %, this machine 33 %, servers 33 %" in text, True, text)


@case
def a_database_holds_the_timeline_of_its_run_and_lines_do_not():
    with tempfile.TemporaryDirectory() as folder, origin() as o:
        r = seine("fetch", *[o.base + f"/delay:30ms/ok?{i}" for i in range(12)], *PLAIN, "-c", "2", "-o", "a.sqlite", "-o", "a.jsonl", "-o", "a.html", cwd=folder)
        check(r.code, 0, r.err)
        load = report("a.sqlite", cwd=folder)["load"]
        check((load["all"]["requests"], load["slots"]), ({"2xx": 12}, 2))
        check(0 < load["all"]["in_flight"] <= 2, True, str(load["all"]))
        check("load" in report("a.jsonl", cwd=folder), False)
        with open(os.path.join(folder, "a.html"), encoding="utf-8") as f:
            page = f.read()
        check('id="load"' in page and 'id="settings"' in page and "<code>--concurrency</code></th><td class=\"u\">2</td>" in page, True)
        check(seine("convert", "a.sqlite", "back.jsonl", cwd=folder).code, 0)
        with open(os.path.join(folder, "back.jsonl"), encoding="utf-8") as f:
            check({json.loads(line)["type"] for line in f}, {"result", "summary"})


@case
def what_waits_in_a_crawl_is_counted_once():
    with tempfile.TemporaryDirectory() as folder, origin("--site", "1:4") as o:
        r = seine("crawl", o.base + "/p/0", *PLAIN, "--robots", "off", "--host-rate", "4/s", "-o", "a.sqlite", cwd=folder)
        check(r.code, 0, r.err)
        with sqlite3.connect(os.path.join(folder, "a.sqlite")) as db:
            seconds = [json.loads(row[0]) for row in db.execute("SELECT json FROM timeline WHERE seconds = 1")]
        means = [sum(s.get("waiting", {}).values()) / s["lived_us"] for s in seconds]
        check(0 < max(means) <= 4, True, str(means))


@case
def a_hostile_timeline_harms_nobody():
    with tempfile.TemporaryDirectory() as folder:
        odd = [{"at": i, "seconds": 1, "lived_us": 1, "in_flight": 2**63 - 1, "waiting": {"queue": 2**63 - 1, "<script>": 1}, "requests": [2, 2**63 - 1, 99, 1],
                "latency": [-1, 5, 4000, 5, 3, 2**40], "errors": [255, 2**62, 7, 1]} for i in range(300)]
        database(folder, "a.sqlite", odd)
        check(report("a.sqlite", cwd=folder)["total"], 3)
        check(seine("report", "a.sqlite", "-o", "a.html", cwd=folder).code, 0)
        with sqlite3.connect(os.path.join(folder, "a.sqlite")) as db:
            db.execute("UPDATE timeline SET json = '{'")
        db.close()
        check("load" in report("a.sqlite", cwd=folder), False)


# Recipes

@case
def expectations_and_bad_rows_are_shown():
    with tempfile.TemporaryDirectory() as folder:
        lines = [{"v": 1, "type": "item", "ok": True}] * 4 + [{"v": 1, "type": "item", "ok": False}]
        lines.append({"v": 1, "type": "summary", "command": "run", "recipe": "shop", "expect": ["items >= 10: 4 <i>good</i> rows; " + "x" * 400 + " nearest: `.cost` (1)"], "exit_code": 6,
                      "coverage": [{"kind": "a", "field": "name", "rows": 4, "filled": 4, "errors": 0}, {"kind": "a", "field": "price", "rows": 4, "filled": 1, "errors": 2}]})
        said = lines[-1]["expect"][0]
        with open(os.path.join(folder, "a.jsonl"), "w", encoding="utf-8") as f:
            f.writelines(json.dumps(r) + "\n" for r in lines)
        got = report("a.jsonl", cwd=folder)
        check((got["items"], got["expect"]), ({"good": 4, "bad": 1}, [said]))
        check(got["coverage"], lines[-1]["coverage"])
        check("1 expectation is not met." in got["verdict"], True, got["verdict"])
        text = " ".join(seine("report", "a.jsonl", cwd=folder).out.split())
        check("not met: " + said in text and "fields: price in 1 of 4 rows" in text, True, text)
        page = seine("report", "a.jsonl", "-f", "html", cwd=folder).out
        check("Expectation not met: items &gt;= 10: 4 &lt;i&gt;good" in page and "nearest: `.cost` (1)</p>" in page, True)
        check('<th scope="row">a price</th><td class="n">4</td><td class="n">1</td><td class="n">25.0 %</td><td class="n">2</td>' in page, True)
        text = seine("report", "a.jsonl", "-f", "md", cwd=folder).out
        check("- **not met**: items >= 10" in text and "| a | price | 4 | 1 | 25.0 % | 2 |" in text, True, text)
        suite = xml.etree.ElementTree.fromstring(seine("report", "a.jsonl", "-f", "junit", cwd=folder).out)
        check((suite.get("tests"), suite.get("failures")), ("2", "1"))
        check([(c.get("classname"), c.get("name"), c.find("failure").get("message")) for c in suite if len(c)], [("expect", "items", said)])


@case
def a_browser_shows_the_charts_of_a_timeline():
    with tempfile.TemporaryDirectory() as folder, browser() as b:
        database(folder, "a.sqlite", slices(300, 1))
        check(seine("report", "a.sqlite", "-o", "r.html", cwd=folder).code, 0)
        url = "file://" + os.path.join(folder, "r.html")
        for width, media in ((360, ""), (1400, ""), (794, "print")):
            b.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            b.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": "dark"}])
            check([a.url for a in b.open(url)], [url])
            check(b.said, [])
            check(b.value("document.documentElement.scrollWidth") <= width, True)
            for chart in ("limits", "flight", "waiting"):
                box = b.value(f"(() => {{const r = document.getElementById('chart-{chart}').closest('figure').querySelector('.plot>svg').getBoundingClientRect(); return [r.width, r.height]}})()")
                check(box[0] > 200 and box[1] > 20, True, f"{chart} {box}")
            lefts = b.value("[...new Set([...document.querySelectorAll('.plot>svg')].map(s => Math.round(s.getBoundingClientRect().left)))]")
            check(len(lefts), 1, "time runs from the same left edge in all charts")


finish(at_once=4)
