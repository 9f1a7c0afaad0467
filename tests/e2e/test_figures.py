#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of a run against those of a server that counts for itself."""
import collections
import csv
import http.server
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from crawl import EAGER, QUICK  # noqa: E402
from e2e import case, check, finish, patiently, seine  # noqa: E402
from origin import origin, records  # noqa: E402

BODY = b"<title>here</title>" + b"x" * 981


class Counter(http.server.BaseHTTPRequestHandler):
    """/ok, /flaky (503 twice, then fine), /cut (half a body, then fine), /gone, /move (to /ok), /slow (takes 60 ms)."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *words):
        pass

    def answer(self, status, body, fields=(), cut=0):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in fields:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:len(body) - cut])
        self.wfile.flush()
        self.server.tell(self.path, status, len(body) - cut, self.began)
        self.close_connection = cut > 0

    def do_GET(self):
        self.began = time.monotonic()
        nth, kind = self.server.begin(self.path, self.began), self.path.split("/")[1]
        if kind == "flaky" and nth <= 2:
            self.answer(503, b"later")
        elif kind == "cut" and nth == 1:
            self.answer(200, BODY, cut=500)
        elif kind == "gone":
            self.answer(404, b"no such page")
        elif kind == "move":
            self.answer(302, b"there", [("Location", "/ok" + self.path)])
        else:
            time.sleep(0.06 if kind == "slow" else 0)
            self.answer(200, BODY)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Counter)
        self.lock, self.hits, self.told = threading.Lock(), collections.defaultdict(list), []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def begin(self, path, when):
        with self.lock:
            self.hits[path].append(when)
            return len(self.hits[path])

    def tell(self, path, status, n, began):
        with self.lock:
            self.told.append((path, status, n, began, time.monotonic()))

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"


def dead_port():
    """A port that nobody listens on while its socket is held."""
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    return s


def busiest_second(times):
    """The most within any second, by looking at every one that begins with an event."""
    times, end, most = sorted(times), 0, 0
    for begin, t in enumerate(times):
        while end < len(times) and times[end] < t + 1:
            end += 1
        most = max(most, end - begin)
    return most


def metric(text, name):
    """The sum of a metric over its labels."""
    return sum(float(m[1]) for m in re.finditer(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))


def run_with_faults(server, dead, where):
    paths = [f"/{kind}/{n}" for n in range(12) for kind in ("ok", "flaky", "cut", "gone", "move", "slow")]
    refused = [f"http://127.0.0.1:{dead.getsockname()[1]}/{n}" for n in range(2)]
    r = seine("fetch", "--mine", "-c", "8", "--retries", "3", "--backoff", "40ms..80ms", "--breaker", "off", "--retry-budget", "off",
              "--metrics-file", "m.prom", "-o", "-", "-o", "a.csv", *map(server.url, paths), *refused, cwd=where)
    told = records(r.out)
    with open(os.path.join(where, "m.prom"), encoding="utf-8") as f:
        return told[:-1], told[-1], f.read(), paths, refused


@case
def summary_records_metrics_and_server_agree_on_a_run_with_faults():
    server = Server()
    with dead_port() as dead, tempfile.TemporaryDirectory() as where:
        told, s, metrics, paths, refused = run_with_faults(server, dead, where)
        by = {r["url"]: r for r in told}
        arrived = sum(len(v) for v in server.hits.values())
        lost = sum(by[url]["attempts"] for url in refused)

        check(lost, 2 * 4)
        check(s["requests"], arrived + lost, "requests")
        check(sum(h["requests"] for h in s["top_hosts"]), s["requests"], "requests of the hosts")
        check(metric(metrics, "seine_fetch_requests_total"), s["requests"], "requests of the metrics")
        check(s["retries"], sum(r["attempts"] - 1 for r in told), "retries")
        check(metric(metrics, "seine_retries_total"), s["retries"], "retries of the metrics")
        check(s["bytes_in"], sum(n for _, _, n, _, _ in server.told), "bytes")
        wire = metric(metrics, "seine_fetch_received_bytes_total")  # with heads; e2e-metrics_true compares it with the server's own count
        check(0 < wire - s["bytes_in"] < 1000 * arrived, True, f"bytes of the metrics: {wire}")
        check((s["total"], s["ok"], s["success"], s["failed"]), (74, 60, 60, 14))
        check(s["statuses"], {"200": 60, "404": 12})
        for path in paths:
            r = by[server.url(path)]
            check(r["attempts"], len(server.hits[path]), path)
            check([t["n"] for t in r.get("tries", [])], list(range(1, r["attempts"] + 1)) if r["attempts"] > 1 else [], path)
            check([t["status"] for t in r.get("tries", [])],
                  [x[1] for x in server.told if x[0] == path] if r["attempts"] > 1 else [], path)


@case
def durations_cover_what_the_server_saw_and_our_own_waits():
    server = Server()
    with dead_port() as dead, tempfile.TemporaryDirectory() as where:
        told, s, _, paths, refused = run_with_faults(server, dead, where)
        by = {r["url"]: r for r in told}
        for path in paths:
            t, seen = by[server.url(path)]["time"], [x for x in server.told if x[0] in (path, "/ok" + path)]
            check(t["total"] >= 1000 * (max(x[4] for x in seen) - min(x[3] for x in seen)) - 5, True, f"{path} {t} {seen}")
            check(t["total"] <= s["wall_ms"] + 5, True, path)
        for r in told:
            t = r["time"]
            check(t["total"] + 0.01 >= sum(v for name, v in t.items() if name != "total"), True, f"{r}")
            if "tries" in r:
                check(t["total"] + 0.01 >= sum(x["ms"] + x.get("wait_ms", 0) for x in r["tries"]), True, f"{r}")
                check("wait_ms" in r["tries"][-1], False, f"{r}")
        check(all(by[u]["time"]["backoff"] >= 60 for u in refused), True)
        total = sum(r["time"]["total"] for r in told)
        check(abs(s["total_duration_ms"] - total) <= 2, True, f"{s['total_duration_ms']} {total}")
        check(s["avg_duration_ms"], s["total_duration_ms"] // len(told))
        check(s["latency_ms"]["max"] < max(r["time"]["total"] for r in told), True)
        with open(os.path.join(where, "a.csv"), encoding="utf-8", newline="") as f:
            check({row["url"]: float(row["time_ms"]) for row in csv.DictReader(f)}, {r["url"]: r["time"]["total"] for r in told})


@case
def the_busiest_second_is_the_one_that_the_server_saw():
    """What is sent in one second may arrive in the next, on a machine that has other things to do."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as where:
            with open(os.path.join(where, "urls"), "w", encoding="ascii") as f:
                f.writelines(o.url(f"/html:200?{n}\n") for n in range(3000))
            r = seine("fetch", "--mine", "-c", "16", "-i", os.path.join(where, "urls"))
            host = records(r.out)[-1]["top_hosts"][0]
            true = busiest_second([x["t_us"] / 1e6 for x in o.log()])
            check(host["requests"], 3000)
            check(abs(host["max_rps_1s"] - true) <= true * 0.02 + 2, True, f"told {host['max_rps_1s']}, the server saw {true}")
    patiently(run)


@case
def a_polite_rate_is_told_as_the_server_saw_it():
    def run(scale):
        with origin() as o:
            r = seine("fetch", "--host-rate", f"20/{scale}s", "--no-adaptive", *[o.url(f"/html:200?{n}") for n in range(40)])
            host, seen = records(r.out)[-1]["top_hosts"][0], [x["t_us"] / 1e6 for x in o.log()]
            check(abs(host["max_rps_1s"] - busiest_second(seen)) <= 1, True, f"{host} {busiest_second(seen)}")
            check(49 * scale <= host["min_gap_ms"] <= 60 * scale, True, f"{host}")
    patiently(run)


@case
def a_crawl_counts_robots_sitemaps_redirects_and_retries_as_the_server_does():
    with origin("--site", "44:300:fan=5:dup=6:broken=6:redir=6:robots=6:fail=10:flaky=10:sitemap=on") as o, tempfile.TemporaryDirectory() as where:
        r = seine("crawl", *QUICK, *EAGER, "--depth", "off", "--metrics-file", "m.prom", "-j", o.url("/p/0"), cwd=where)
        told, log = records(r.out), o.log()
        s = told[-1]
        check(s["requests"], len(log))
        check(sum(h["requests"] for h in s["top_hosts"]), len(log))
        check(s["retries"] >= sum(x.get("attempts", 1) - 1 for x in told[:-1]) > 20, True, str(s["retries"]))
        check(s["total"], s["ok"] + s["failed"] + s["blocked"] + s["skipped"])
        last = {x["path"]: str(x["status"]) for x in log}
        pages = collections.Counter(last[x["url"].removeprefix(o.base)] for x in told[:-1] if x["type"] == "result")
        check(s["statuses"], dict(pages))
        with open(os.path.join(where, "m.prom"), encoding="utf-8") as f:
            metrics = f.read()
        check(metric(metrics, "seine_fetch_requests_total"), len(log))
        check(metric(metrics, "seine_urls_seen_total"), s["total"])
        check(metric(metrics, "seine_urls_admitted_total") + metric(metrics, "seine_urls_refused_total"), s["total"])
        check(metric(metrics, "seine_urls_emitted_total"), s["total"])
        check((metric(metrics, "seine_queue_depth"), metric(metrics, "seine_urls_waiting"), metric(metrics, "seine_urls_in_flight")), (0, 0, 0))
        check('seine_jobs{state="done"} 1' in metrics and 'seine_jobs{state="running"} 0' in metrics, True)


finish(at_once=4)
