#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `seine serve` tells of its runs: metrics with true values, traces for a collector."""
import contextlib
import gzip
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from console import Console  # noqa: E402
from e2e import PATIENCE, PROGRAM, SANITIZED, case, check, environment, finish, until  # noqa: E402


class Server(Console):
    def __init__(self, config=""):
        self.folder = tempfile.TemporaryDirectory(prefix="metrics")
        path = os.path.join(self.folder.name, "seine.yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write("egress: {allow_net: [127.0.0.0/8]}\n" + config)
        super().__init__("--config", path, state=os.path.join(self.folder.name, "state"))

    def ask(self, *words, **how):
        while (r := super().ask(*words, **how)).code() == "rate_limited":
            time.sleep(0.1)
        return r

    def get(self, path):
        return self.ask("GET", path, token=self.token)

    def crawl(self, url):
        run = self.ask("POST", "/api/runs", {"start": [url], "limits": {"host_rate": 2000, "rate": 2000, "depth": 100}},
                       token=self.token).json()["id"]
        until(lambda: self.get(f"/api/runs/{run}").json()["state"] in ("finished", "failed", "stopped"), "the end of the run")
        d = self.get(f"/api/runs/{run}").json()
        check(d["state"], "finished", str(d))
        return d

    def metrics(self):
        text = self.get("/metrics").body.decode()
        return {name: float(value) for name, _, value in (line.rpartition(" ") for line in text.splitlines() if line[0] != "#")}


@contextlib.contextmanager
def site(spec):
    process = subprocess.Popen([PROGRAM, "chaos", "--site", spec], stdout=subprocess.PIPE, env=environment())
    try:
        yield json.loads(process.stdout.readline())["http"]
    finally:
        process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()


@contextlib.contextmanager
def page(text):
    """A server that has this one page."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode() if found else b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def collector():
    """The spans that it has got."""
    spans = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            for r in json.loads(gzip.decompress(body))["resourceSpans"]:
                for s in r["scopeSpans"]:
                    spans.extend(s["spans"])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", spans
    finally:
        server.shutdown()
        server.server_close()


@case
def runs_count_in_the_metrics_of_the_server_one_after_the_other():
    with site("1:30:fan=6") as url, Server() as c:
        before = c.metrics()
        check([n for n in before if n.startswith("seine_job_last")], ['seine_job_last_success_timestamp_seconds{recipe="other"}'])
        runs = [c.crawl(url + "/"), c.crawl(url + "/")]
        got = c.metrics()
        check(got['seine_urls_emitted_total{outcome="ok"}'], sum(r["emitted"]["ok"] for r in runs))
        check((got['seine_jobs{state="running"}'], got['seine_jobs{state="done"}']), (0, 2))
        check(got['seine_output_records_total{sink="sqlite"}'] > 0, True)
        success = [v for n, v in got.items() if n.startswith("seine_job_last") and "other" not in n]
        check(len(success) == 1 and abs(success[0] - time.time()) < 3600, True, str(success))
        check(len(got) <= 2000, True, str(len(got)))


@case
def series_of_runs_are_there_at_0_before_the_first_run():
    with site("1:30:fan=6") as url, Server() as c:
        before = c.metrics()
        run = c.crawl(url + "/")
        after = c.metrics()
        check(sorted(n for n in set(after) - set(before) if not n.startswith("seine_job_last_success"))[:5], [])
        of_runs = ("seine_breaker", "seine_connections", "seine_dns", "seine_extract", "seine_feed", "seine_fetch", "seine_frontier",
                   "seine_jobs", "seine_limiter", "seine_output", "seine_retries", "seine_retry", "seine_robots", "seine_urls")
        check([n for n, v in before.items() if n.startswith(of_runs) and v != 0], [])
        check((before['seine_urls_emitted_total{outcome="ok"}'], after['seine_urls_emitted_total{outcome="ok"}']), (0, run["emitted"]["ok"]))


@case
def commits_of_the_console_are_timed_beside_those_of_jobs():
    with Server() as c:
        before = c.metrics()['seine_store_commit_seconds_count{store="console"}']
        check(c.ask("POST", "/api/docs", {"title": "t", "kind": "note", "text": "x"}, token=c.token).status, 201)
        check(c.metrics()['seine_store_commit_seconds_count{store="console"}'] > before, True)


@case
def events_that_the_console_does_not_see_in_time_are_counted():
    """A page of 30,000 links of which none is followed is one turn of the engine and 30,000 events; the ring has 4,096. An engine
    that a sanitizer slows down may lose none."""
    with page("".join(f"<a href='http://{n}.example/'>x</a>" for n in range(30000))) as url, Server() as c:
        run = c.crawl(url)
        skipped = sum(s["count"] for s in c.get(f"/api/runs/{run['id']}/skips").json()["skips"])
        lost = c.metrics()["seine_feed_events_lost_total"]
        check((lost > 0 or SANITIZED != "") and skipped + lost >= 30000, True, f"{skipped} seen, {lost} lost")


@case
def queues_and_workers_of_the_console_are_told_with_their_bounds():
    with collector() as (url, _), Server(f"monitoring: {{otlp_endpoint: '{url}'}}\n") as c:
        got = c.metrics()
        for queue, room in (("cstore", 1024), ("preview", 8), ("log", 8192), ("trace", 4096)):
            check(got[f'seine_queue_capacity{{queue="{queue}"}}'], room)
            check(got[f'seine_queue_depth{{queue="{queue}"}}'] <= room, True, queue)
        check((got['seine_worker_threads{pool="preview"}'], got['seine_worker_busy_seconds_total{pool="preview"}']), (1, 0))
        doc = c.ask("POST", "/api/docs", {"title": "t", "kind": "recipe", "text": "seine: 1\n"}, token=c.token).json()["id"]
        check(c.ask("POST", f"/api/docs/{doc}/validate", {}, token=c.token).status, 200)
        until(lambda: c.metrics()['seine_worker_busy_seconds_total{pool="preview"}'] > 0, "the time of the check")


@case
def runs_of_the_server_are_traced_where_the_configuration_names_a_collector():
    with site("1:3") as url, collector() as (where, spans):
        with Server(f"monitoring: {{otlp_endpoint: '{where}'}}\n") as c:
            c.crawl(url + "/")
            check(c.metrics()['seine_trace_spans_total{result="failed"}'], 0)
        check([s["name"] for s in spans if s["name"] == "seine.job"], ["seine.job"], str([s["name"] for s in spans]))


if __name__ == "__main__":
    finish(at_once=3)
