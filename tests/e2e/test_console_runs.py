#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of `seine serve`: started, steered, watched, exported, resumed; where they may not go."""
import csv
import io
import json
import os
import re
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import Console  # noqa: E402
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, until  # noqa: E402

RECIPE = """seine: 1
name: shop
about: Pages of a generated site.
vars:
  key: {type: string, secret: true, default: "%s"}
start: "%s/"
request:
  headers: {X-Key: "{key}"}
items:
  kind: page
  each: html
  fields:
    title: {css: title}
"""


class Site:
    """The evil server with a generated site."""
    def __init__(self, spec):
        self.spec = spec

    def __enter__(self):
        self.process = subprocess.Popen([PROGRAM, "chaos", "--site", self.spec], stdout=subprocess.PIPE, env=environment())
        self.url = json.loads(self.process.stdout.readline())["http"]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


class Server(Console):
    """A console whose runs may reach the loopback device, or not."""
    def __init__(self, *options, allow=True, state=None, more=""):
        self.folder = tempfile.TemporaryDirectory(prefix="runs")
        path = os.path.join(self.folder.name, "seine.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(("egress: {allow_net: [127.0.0.0/8]}\n" if allow else "egress: {deny_net: []}\n") + more)
        super().__init__("--config", path, *options, state=state or os.path.join(self.folder.name, "state"))

    def ask(self, *words, **how):
        """Whoever asks too often is told to come back, and does."""
        while (r := super().ask(*words, **how)).status == 429:
            time.sleep(0.1)
        return r

    def get(self, path):
        return self.ask("GET", path, token=self.token)

    def post(self, path, body=None):
        return self.ask("POST", path, {} if body is None else body, token=self.token)

    def start(self, **body):
        r = self.post("/api/runs", body)
        check(r.status, 201, str(r.body))
        return r.json()["id"]

    def state_of(self, run):
        return self.get(f"/api/runs/{run}").json()["state"]

    def wait(self, run, *states):
        until(lambda: self.state_of(run) in states, f"the run is {' or '.join(states)}")
        return self.get(f"/api/runs/{run}").json()

    def records(self, run, **query):
        """All of them, page by page."""
        got, after = [], 0
        where = "".join(f"&{k}={v}" for k, v in query.items())
        while after is not None:
            r = self.get(f"/api/runs/{run}/records?limit=200&after={after}{where}")
            check(r.status, 200, str(r.body))
            got += r.json()["records"]
            after = r.json().get("next")
        return got

    def download(self, run, **body):
        url = self.post(f"/api/runs/{run}/export", body).json()["url"]
        r = self.ask("GET", url)
        check(r.status, 200, str(r.body[:200]))
        check(self.ask("GET", url).status, 404, "a link works once")
        return r.body.decode()


FAST = {"host_rate": 2000, "rate": 2000, "concurrency": 20, "depth": 100}


@case
def a_crawl_from_start_urls_ends_with_every_record_and_exports_are_the_same_records():
    with Site("1:60:fan=6") as site, Server() as c:
        run = c.start(start=[site.url + "/"], limits=FAST)
        d = c.wait(run, "finished", "failed")
        check(d["state"], "finished", str(d))
        records = c.records(run)
        check([r["seq"] for r in records], sorted(r["seq"] for r in records))
        results = [r for r in records if r["type"] == "result"]
        check(len(results) >= 60, True, str(len(results)))
        check(len({r["url"] for r in results}), len(results))
        check(d["emitted"]["ok"] + d["emitted"]["failed"], len(results))
        lines = [json.loads(line) for line in c.download(run, format="jsonl").splitlines()]
        check(lines, records)
        table = list(csv.DictReader(io.StringIO(c.download(run, format="csv"))))
        check([int(row["seq"]) for row in table], [r["seq"] for r in records])
        check([row["url"] for row in table], [r["url"] for r in records])
        few = c.download(run, format="csv", fields=["url", "status"], where="status = 200")
        check(few.splitlines()[0], "url,status")
        check(len(few.splitlines()) - 1, sum(r.get("status") == 200 for r in results))
        check("<html" in c.download(run, format="html"), True)
        check(c.get(f"/api/runs/{run}/records/{results[0]['seq']}").json(), results[0])
        check(c.post(f"/api/runs/{run}/export", {"where": "status = ("}).code(), "bad_message")
        story = c.get(f"/api/runs/{run}/explain?url={results[0]['url']}").json()
        check(story.get("answer"), "It was fetched.", str(story))
        check(c.get(f"/api/runs/{run}/errors").status, 200)
        check(c.get(f"/api/runs/{run}/skips").status, 200)
        host = c.get(f"/api/runs/{run}/hosts").json()["rows"][0]
        check(host["done"], len(results))
        check(len(c.get(f"/api/runs/{run}/series").json()["seconds"]) > 0, True)
        check(c.ask("DELETE", f"/api/runs/{run}", token=c.token).status, 204)
        check(c.get(f"/api/runs/{run}").status, 404)


@case
def gauges_of_a_run_fall_when_it_ends_and_the_server_goes_on():
    gauges = [r'seine_limiter_keys\{scope="host"\}', r'seine_limiter_keys\{scope="ip"\}', r'seine_connections_open\{version="1.1"\}',
              r'seine_breaker_hosts\{state="open"\}']
    with Site("1:400:fan=6") as site, Server() as c:
        def values():
            text = c.get("/metrics").body.decode()
            return [int(v) for name in gauges for v in re.findall(rf"^{name} (\d+)$", text, re.M)]

        run = c.start(start=[site.url + "/"], limits={**FAST, "host_rate": 40})
        until(lambda: values()[:3] >= [1, 1, 1], "the limiters know the host")
        check(c.post(f"/api/runs/{run}/cancel").status, 202)
        c.wait(run, "stopped")
        until(lambda: values() == [0, 0, 0, 0], "nothing is left of the run")


@case
def explain_tells_the_line_of_robots_txt_the_limiter_and_the_breaker_of_a_live_run_and_of_an_ended_one():
    with Site("7:300:fan=8:robots=30") as site, Server() as c:
        run = c.start(start=[site.url + "/"], limits={"host_rate": 4, "depth": 100})

        def story(url):
            r = c.get(f"/api/runs/{run}/explain?url={urllib.parse.quote(url, safe='')}")
            check(r.status, 200, str(r.body))
            return r.json()
        until(lambda: story(site.url + "/").get("robots", {}).get("says") == "allow", "robots.txt")
        s = story(site.url + "/x/999")
        check(s["robots"]["says"], "deny", str(s))
        check("Disallow: /x" in s["robots"]["rule"], True, str(s))
        check((s["limiter"]["burst"], s["breaker"]["state"]), (1, "closed"), str(s))
        check(s["limiter"]["every_ms"] >= 250, True, "the limiter is a wall, the pace stays behind it")
        check({"robots", "limiter", "breaker"} <= {x["step"] for x in s["steps"]}, True, str(s))
        check(story("http://elsewhere.example/")["answer"], "This run has not found it.")
        check(c.get(f"/api/runs/{run}/explain?url=nothing").code(), "bad_message")

        def row():
            rows = c.get(f"/api/runs/{run}/hosts").json()["rows"]
            return rows[0] if rows else {}
        until(lambda: row().get("burst") == 1, "a row of the host")
        check((row()["tokens"] in (0, 1), row()["robots"]), (True, "allow"))
        check(c.ask("PATCH", f"/api/runs/{run}/limits", {"host_rate": 2000}, token=c.token).status, 202)
        c.wait(run, "finished")
        skip = next(r for r in c.records(run) if r.get("reason") == "robots")
        s = story(skip["url"])
        check(s["answer"], "It was not asked for.")
        check([x["text"] for x in s["steps"] if x["step"] == "end"], [f"not asked for: robots, {skip['rule']}"])
        check([x["text"] for x in s["steps"] if x["step"] == "breaker"], ["closed"])


@case
def the_list_of_documents_has_the_last_runs_who_is_there_and_who_changed_it_last():
    with Site("3:5") as site, Server() as c:
        quiet = c.post("/api/docs", {"title": "quiet"}).json()["id"]
        doc = c.post("/api/docs", {"title": "shop", "text": RECIPE % ("k", site.url)}).json()
        row = lambda which: next(d for d in c.get("/api/docs").json()["docs"] if d["id"] == which)  # noqa: E731
        check([k for k in ("last_run", "last_runs", "by") if k in row(doc["id"])], [])
        ran = []
        for _ in range(2):
            ran.append(c.start(doc=doc["id"], version=doc["version"], limits=FAST))
            c.wait(ran[-1], "finished", "failed")
        got = row(doc["id"])
        check((got["last_run"]["id"], got["last_run"]["state"], got["last_runs"]), (ran[1], "finished", ["finished"] * 2), str(got))
        check("last_run" in row(quiet), False)
        token = c.post("/api/tokens", {"name": "kitchen", "role": "editor"}).json()["token"]
        op = {"client": "cmVzdC1jbGllbnQtMDAwMQ", "seq": 1, "base": doc["version"], "ops": [{"op": "insert", "position": 0, "text": "# ours\n"}]}
        check(c.ask("POST", f"/api/docs/{doc['id']}/ops", op, token=token).status, 200)
        check(row(doc["id"])["by"], "kitchen")
        check([u["name"] for u in c.get(f"/api/docs/{doc['id']}/history").json()["updates"]], ["kitchen"])
        ws, _ = c.session(name="desk 2")
        ws.say(t="open", doc=doc["id"])
        ws.hear_of("opened")
        check([p["name"] for p in row(doc["id"])["collaborators"]], ["desk 2"])
        check(c.post(f"/api/docs/{doc['id']}/labels", {"version": doc["version"] + 1, "label": "good"}).status in (200, 201), True)
        check([(x["label"], x["name"]) for x in c.get(f"/api/docs/{doc['id']}/history").json()["labels"]], [("good", "first")])
        ws.close()


@case
def the_lag_of_each_loop_is_the_bound_of_99_of_100_of_its_timers():
    with Site("1:60:fan=6") as site, Server() as c:
        c.wait(c.start(start=[site.url + "/"], limits={**FAST, "host_rate": 60}), "finished")  # its shards are gone: no more lags
        text, steps = c.get("/metrics").body.decode(), []
        for bound, n in re.findall(r'^seine_loop_lag_seconds_bucket\{loop="engine",le="(.*)"\} (\d+)$', text, re.M):
            steps.append((float(bound) * 1000, int(n)))
        p99 = next(bound for bound, n in steps if n >= 0.99 * steps[-1][1])
        ws, _ = c.session()
        ws.say(t="sub", topic="system")
        loops = {l["loop"]: l["lag_p99_ms"] for l in ws.hear_of("data")["d"]["loops"]}
        check((sorted(loops), loops.get("engine")), (["console", "engine"], round(p99, 1)), str(steps))
        check(loops["console"] in [round(bound, 1) for bound, _ in steps], True, str(loops))


@case
def the_records_of_a_run_of_a_recipe_are_its_pages_and_its_rows_also_after_a_kill():
    with Site("3:40:fan=6") as site, Server() as c:
        text = RECIPE % ("k", site.url)
        text = text.replace(f'start: "{site.url}/"', "start:\n" + "".join(f'  - "{site.url}/?n={n}"\n' for n in range(40)))
        text = text.replace("each: html", "each: a").replace("title: {css: title}", "link: {attr: href}")
        run = c.start(recipe=text, limits={**FAST, "host_rate": 20})
        until(lambda: c.get(f"/api/runs/{run}").json()["emitted"]["ok"] > 10, "a part of the pages")
        c.end(signal.SIGKILL)
        with Server(state=c.state) as again:
            again.wait(run, "running", "finished")
            again.ask("PATCH", f"/api/runs/{run}/limits", {"host_rate": 2000}, token=again.token)
            d = again.wait(run, "finished", "failed", "stopped")
            records = again.records(run)
            check((d["state"], d["emitted"]["ok"]), ("finished", 40), str(d))
            check(len([r for r in records if r["type"] == "item"]) > 40, True, str(records[:3]))
            check(d["records"], len(records))
            again.end()
            with Server(state=c.state) as last:
                check(last.get(f"/api/runs/{run}").json()["records"], len(records), "it is kept")


@case
def a_run_of_a_recipe_keeps_the_pages_that_its_rows_come_from():
    with Site("3:5") as site, Server() as c:
        run = c.start(recipe=RECIPE % ("k", site.url), limits=FAST)
        check(c.wait(run, "finished", "failed")["state"], "finished")
        row = next(r for r in c.records(run) if r.get("item"))
        r = c.get(f"/api/runs/{run}/records/{row['seq']}/source")
        check((r.status, r.fields["content-type"]), (200, "text/plain; charset=utf-8"), str(row))
        check(f"<title>{row['item']['title']}</title>" in r.body.decode(), True, str(r.body[:300]))


@case
def pause_resume_limits_and_cancel_take_effect_and_wrong_states_are_refused():
    with Site("2:400:fan=8") as site, Server() as c:
        run = c.start(start=[site.url + "/"], limits={"host_rate": 20, "concurrency": 4, "depth": 100})
        until(lambda: c.get(f"/api/runs/{run}").json()["emitted"]["ok"] > 2, "the first pages")
        check(c.post(f"/api/runs/{run}/pause").status, 202)
        check(c.state_of(run), "paused")
        check(c.post(f"/api/runs/{run}/pause").code(), "bad_state")
        ws, _ = c.session()
        ws.say(t="sub", topic="run:" + run)
        first = ws.hear_of("data")
        check((first["full"], first["d"]["state"], "history" in first["d"]), (True, "paused", True))
        while (second := ws.hear_of("data"))["d"]["in_flight"]:
            pass
        check(second["full"], False)
        check(ws.hear_of("data")["d"]["emitted"], second["d"]["emitted"], "nothing starts")
        check(second["d"]["limited"]["code"], "paused")
        check(len(json.dumps(second)) <= 8192, True)
        check(c.post(f"/api/runs/{run}/resume").status, 202)
        check(c.ask("PATCH", f"/api/runs/{run}/limits", {"host_rate": 200, "concurrency": 20}, token=c.token).status, 202)
        check(c.ask("PATCH", f"/api/runs/{run}/limits", {"rate": "fast"}, token=c.token).status, 400)
        before = c.get(f"/api/runs/{run}").json()["emitted"]["ok"]
        until(lambda: c.get(f"/api/runs/{run}").json()["emitted"]["ok"] > before + 30, "it is faster now")
        check(c.post(f"/api/runs/{run}/cancel").status, 202)
        d = c.wait(run, "stopped", "finished")
        check(c.post(f"/api/runs/{run}/pause").code(), "bad_state")
        check(c.post(f"/api/runs/{run}/cancel").code(), "bad_state")
        if d["state"] == "stopped":  # it goes on where it was, and no page is asked for twice
            check(c.post(f"/api/runs/{run}/resume").status, 202)
            if c.wait(run, "running", "finished")["state"] == "running":
                c.ask("PATCH", f"/api/runs/{run}/limits", {"host_rate": 2000}, token=c.token)
            check(c.wait(run, "finished", "failed")["state"], "finished")
        urls = [r["url"] for r in c.records(run) if r["type"] == "result"]
        check(len(set(urls)), len(urls))
        check(len(urls) >= 400, True, str(len(urls)))


@case
def a_host_of_an_ended_run_is_what_its_records_say():
    with Site("1:5") as site, Server() as c:
        gone = f"{site.url}/status:404"
        run = c.start(start=[site.url + "/", gone], limits=FAST)
        c.wait(run, "finished", "failed")
        host = c.get(f"/api/runs/{run}/hosts").json()["rows"][0]
        check(host["host"], site.url.removeprefix("http://"), "with its port, as while it ran")
        one = c.get(f"/api/runs/{run}/hosts/{host['host']}").json()
        check({k: one.get(k) for k in host}, host)
        failed = next(r for r in c.records(run) if r["url"] == gone)
        check(one["timeline"], [{"at": failed["ts"], "text": f"{failed['error']['kind']} {gone}"}])
        check(c.get(f"/api/runs/{run}/hosts/nobody.example").code(), "not_found")


@case
def what_one_person_filters_is_not_what_another_one_sees():
    """Each look at the hosts is answered by itself; the verdict is made of none of them."""
    with Site("3:900:fan=8") as one, Site("5:900:fan=8") as two, Server() as c:
        names = [s.url.removeprefix("http://") for s in (one, two)]
        run = c.start(start=[one.url + "/", two.url + "/"], limits={"host_rate": 10, "depth": 100})
        people = [c.session(client=f"{n}1mZ0v3xTn6d8kYb2LsW4g")[0] for n in range(3)]
        people[2].say(t="sub", topic="run:" + run, every_ms=500)
        while "politeness on 2 hosts" not in (people[2].hear_of("data")["d"]["limited"] or {}).get("text", ""):
            pass
        for ws, q in zip(people, (*names, "")):
            ws.say(t="sub", topic="run:" + run, every_ms=500)
            ws.say(t="sub", topic="hosts:" + run, every_ms=500, q=q)
        for ws, want in zip(people, ([names[0]], [names[1]], sorted(names))):
            seen = 0
            while seen < 8:
                m = ws.hear_of("data")
                if m["topic"] == "run:" + run:
                    check("1 host" in m["d"]["limited"]["text"], False, m["d"]["limited"]["text"])
                elif not m["d"].get("pending"):
                    check(sorted(row["host"] for row in m["d"]["rows"]), want)
                    seen += 1
        asked = f"/api/runs/{run}/hosts?q={urllib.parse.quote(names[0])}&sort=p95"
        until(lambda: not c.get(asked).json().get("pending"), "the shards have answered")
        check([row["host"] for row in c.get(asked).json()["rows"]], [names[0]])
        one_host = c.get(f"/api/runs/{run}/hosts/{names[1]}").json()
        check((one_host["host"], one_host["done"] > 0), (names[1], True))
        c.post(f"/api/runs/{run}/cancel")
        c.wait(run, "stopped", "finished")


@case
def topics_show_runs_hosts_errors_and_a_log():
    with Site("3:300:fan=8") as site, Server() as c:
        gone = [f"{site.url}/status:404/{n}" for n in range(5)]
        run = c.start(start=[site.url + "/", *gone], limits={"host_rate": 100, "concurrency": 8, "depth": 100})
        ws, _ = c.session()
        wanted = {"runs": lambda d: any(r["id"] == run for r in d),
                  "hosts:" + run: lambda d: d["rows"] and d["rows"][0]["done"] > 0,
                  "errors:" + run: lambda d: d["groups"] and d["groups"][0]["count"] > 0,
                  "log:" + run: lambda d: any(line["event.name"] == "fetch.failed" for line in d["lines"]),
                  "system": lambda d: d["rss"] > 0}
        for topic in wanted:
            ws.say(t="sub", topic=topic, every_ms=500)
        while wanted:
            m = ws.hear_of("data")
            if m["topic"] in wanted and wanted[m["topic"]](m["d"]):
                del wanted[m["topic"]]
        for topic, code in (("nothing", "not_found"), ("run:" + "0" * 26, "not_found"), ("runs:" + run, "not_found")):
            ws.say(t="sub", topic=topic)
            check(ws.hear_of("err")["code"], code, topic)
        ws.say(t="sub", topic="runs", every_ms=1)
        check(ws.hear_of("err")["code"], "bad_message")
        c.post(f"/api/runs/{run}/cancel")
        c.wait(run, "stopped", "finished")


@case
def a_killed_server_goes_on_with_its_run_and_writes_every_record_once():
    with Site("4:300:fan=8") as site, Server() as c:
        run = c.start(start=[site.url + "/"], limits={"host_rate": 100, "concurrency": 8, "depth": 100})
        until(lambda: c.get(f"/api/runs/{run}").json()["emitted"]["ok"] > 40, "a part of the pages")
        c.end(signal.SIGKILL)
        with Server(state=c.state) as again:
            check(again.state_of(run) in ("waiting", "running"), True)
            again.wait(run, "running", "finished")
            again.ask("PATCH", f"/api/runs/{run}/limits", {"host_rate": 2000}, token=again.token)
            d = again.wait(run, "finished", "failed", "stopped")
            check(d["state"], "finished", str(d))
            urls = [r["url"] for r in again.records(run) if r["type"] == "result"]
            check(len(set(urls)), len(urls))
            check(len(urls) >= 300, True, str(len(urls)))


@case
def a_recipe_runs_with_its_pinned_text_and_its_secret_stays_on_the_server():
    secret = "k3y-that-nobody-sees-0815"
    with Site("5:20:fan=4") as site, Server() as c:
        text = RECIPE % (secret, site.url)
        doc = c.post("/api/docs", {"title": "shop", "text": text}).json()
        run = c.start(doc=doc["id"], version=doc["version"], limits=FAST)
        d = c.wait(run, "finished", "failed", "stopped")
        check(d["state"], "finished", str(d))
        check((d["doc"], d["version"], len(d["sha256"])), (doc["id"], doc["version"], 64))
        items = [r for r in c.records(run) if r["type"] == "item"]
        check(len(items), 1)
        check(bool(items[0]["item"]["title"]), True)
        check("item.title" in c.download(run, format="csv").splitlines()[0], True)
        told = "".join(c.get(f"/api/runs/{run}{path}").body.decode() for path in ("", "/log", "/series", "/errors", "/records"))
        told += c.download(run, format="jsonl") + c.download(run, format="html") + "".join(c.log) + "".join(c.said)
        check(secret in told, False, "the secret is told")
        for body, code in (({"doc": doc["id"], "version": 99}, "too_old"), ({"doc": "0" * 26}, "not_found"), ({}, "bad_message"),
                           ({"recipe": "seine: 1\nname: [", "start": ["http://e.example/"]}, "bad_message"),
                           ({"start": ["--output=/tmp/x"]}, "bad_message"), ({"start": [site.url], "limits": {"rate": -1}}, "bad_message")):
            check(c.post("/api/runs", body).code(), code, str(body))


@case
def a_recipe_reads_no_file_and_no_variable_that_nobody_listed():
    with Site("6:5") as site, Server() as c:
        for value, what in (("env:HOME", "HOME"), ("file:/etc/passwd", "file")):
            run = c.start(recipe=RECIPE % (value, site.url))
            d = c.wait(run, "finished", "failed", "stopped")
            check(d["state"], "failed", str(d))
            check(what in d["message"], True, d["message"])
            check("root:" in json.dumps(d), False)


@case
def runs_reach_public_addresses_alone_unless_the_configuration_says_otherwise():
    with Site("7:5") as site, Server(allow=False) as c:
        run = c.start(start=[site.url + "/"], limits=FAST)
        c.wait(run, "finished", "failed", "stopped")
        outcomes = {r.get("error", {}).get("kind") or r.get("reason") for r in c.records(run)}
        check(outcomes <= {"blocked_address", "private_address"}, True, str(outcomes))
        check(len(outcomes), 1)


def grow(c, run, rows):
    """More records than a run of a test would make: copies of the first."""
    with sqlite3.connect(os.path.join(c.state, "runs", run, "records.sqlite")) as db:
        names = ", ".join(r[1] for r in db.execute("PRAGMA table_info(result)") if r[1] not in ("seq", "key"))
        db.execute(f"WITH RECURSIVE k(n) AS (SELECT 100000 UNION ALL SELECT n + 1 FROM k WHERE n < ?) INSERT INTO result (seq, key, {names}) "
                   f"SELECT k.n, k.n, {names} FROM k, (SELECT * FROM result ORDER BY seq LIMIT 1)", (100000 + rows,))
        size = db.execute("SELECT sum(length(json) + 1) FROM result").fetchone()[0]
    db.close()
    return size


def begin_download(c, url):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    s.settimeout(PATIENCE)
    s.connect(c.at)
    s.sendall(f"GET {url} HTTP/1.1\r\nHost: {c.host}\r\n\r\n".encode())
    return s


def is_open(server, client):
    """Does the server still keep this connection? What it has sent may wait for the client all the same."""
    name = lambda at: f"{struct.unpack('=I', socket.inet_aton(at[0]))[0]:08X}:{at[1]:04X}"  # noqa: E731
    with open("/proc/net/tcp", encoding="ascii") as f:
        return any(line.split()[1:4] == [name(server), name(client), "01"] for line in f)


@case
def a_download_takes_as_long_as_its_reader_goes_on_and_no_longer():
    with Site("1:3:fan=2") as site, Server(more="console: {request_timeout: 1s}\n") as c:
        run = c.start(start=[site.url + "/"], limits=FAST)
        c.wait(run, "finished")
        size = grow(c, run, 25000)
        check(size > 12 << 20, True, "more than the kernel keeps for a client")
        order = lambda: c.post(f"/api/runs/{run}/export").json()["url"]  # noqa: E731
        with begin_download(c, order()) as s:
            got, begin = b"", time.monotonic()
            while len(got) < size and (piece := s.recv(1 << 18)):
                got += piece
                if time.monotonic() - begin < 3:
                    time.sleep(0.02)  # a reader that is no machine
            check((len(got) > size, time.monotonic() - begin > 2.5), (True, True), f"{len(got)} of {size}")
        with begin_download(c, order()) as s:
            begin, got = s.recv(1 << 18), 0
            check(begin[:15], b"HTTP/1.1 200 OK")
            until(lambda: not is_open(c.at, s.getsockname()), "the end of a reader that takes nothing")
            while piece := s.recv(1 << 20):
                got += len(piece)
            check(got < size, True, "it is cut off")


@case
def viewers_look_and_do_not_touch():
    with Site("8:5") as site, Server() as c:
        viewer = c.post("/api/tokens", {"name": "eye", "role": "viewer"}).json()["token"]
        check(c.ask("POST", "/api/runs", {"start": [site.url]}, token=viewer).status, 403)
        run = c.start(start=[site.url + "/"], limits=FAST)
        c.wait(run, "finished")
        check(c.ask("GET", f"/api/runs/{run}", token=viewer).status, 200)
        check(c.ask("DELETE", f"/api/runs/{run}", token=viewer).status, 403)
        check(c.ask("GET", f"/api/runs/{run}/records").status, 401)
        check(c.get("/api/runs?state=finished").json()["runs"][0]["id"], run)
        check(c.get("/api/runs?state=running").json()["runs"], [])
        check(c.get(f"/api/runs?after={run}").json()["runs"], [])
        check(c.get("/api/runs?state=nothing").code(), "bad_message")


@case
def watch_shows_one_run_with_a_token_of_its_own():
    with Site("9:2000:fan=8") as site:
        words = ["crawl", site.url + "/", "--watch", "--no-job", "--host-rate", "20/s", "-o", os.devnull + ".jsonl"]
        with tempfile.TemporaryDirectory() as folder:
            words[-1] = os.path.join(folder, "pages.jsonl")
            p = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment())
            line = p.stderr.readline().decode()
            while "watch it on" not in line:
                check(bool(line), True, "no link was said")
                line = p.stderr.readline().decode()
            c = Console()
            c.url, _, c.token = line.split()[-1].partition("#token=")
            place = urllib.parse.urlsplit(c.url)
            c.at, c.host, c.origin = (place.hostname, place.port), place.netloc, f"http://{place.netloc}"
            check(c.ask("GET", "/api/runs").status, 401)
            told = c.ask("GET", "/api/runs", token=c.token)
            check(told.status, 200, str(told.body))
            runs = told.json()["runs"]
            check(len(runs), 1)
            ws, _ = c.session()
            ws.say(t="sub", topic="run:" + runs[0]["id"])
            while ws.hear_of("data")["d"]["emitted"]["ok"] < 5:
                pass
            check(c.ask("POST", f"/api/runs/{runs[0]['id']}/cancel", {}, token=c.token).status, 202)
            p.stderr.read()
            check(p.wait(PATIENCE), 128 + signal.SIGTERM)
            p.stderr.close()


@case
def the_source_of_a_record_of_a_crawl_is_its_page_as_text():
    with Site("1:3") as site, Server() as c:
        run = c.start(start=[site.url + "/"], limits=FAST)
        c.wait(run, "finished", "failed")
        record = next(x for x in c.records(run) if x["type"] == "result" and x["status"] == 200)
        r = c.get(f"/api/runs/{run}/records/{record['seq']}/source")
        check((r.status, r.fields["content-type"], len(r.body)), (200, "text/plain; charset=utf-8", record["bytes_body"]), str(record))
        check(b"<title>" in r.body, True, str(r.body[:200]))
        check("body" in record, False, "a list has no pages in it")
        check(c.get(f"/api/runs/{run}/records/999999/source").status, 404)


finish(at_once=8)
