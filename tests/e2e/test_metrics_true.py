#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every metric family has a true value: compared with what the server saw and with the files that were written.

A family that stays at 0 fails a case here."""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, UNHURRIED, case, check, finish, seine  # noqa: E402
from origin import origin  # noqa: E402


class Metrics:
    """The samples of an exposition: m["name", "a", "x"] is that of name{a="x"}."""

    def __init__(self, text):
        self.text = text
        self.all = {}
        for name, labels, value in re.findall(r"^(\w+)(?:\{(.*)\})? (\S+)$", text, re.M):
            self.all[(name, *re.findall(r'(\w+)="([^"]*)"', labels))] = float(value)

    def __getitem__(self, name):
        return self.all[(name,)]

    def of(self, name, **labels):
        return self.all[(name, *labels.items())]

    def sum(self, name):
        return sum(v for k, v in self.all.items() if k[0] == name)


def run(where, *words, code=None):
    r = seine(*words, *UNHURRIED, "--metrics-file", "m.prom", cwd=where)
    if code is not None:
        check(r.code, code, r.err)
    with open(os.path.join(where, "m.prom"), encoding="utf-8") as f:
        return Metrics(f.read())


@case
def requests_bytes_and_connections_are_those_that_the_server_saw():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        urls = [o.url(f"/bytes:{n}00") for n in range(1, 31)]
        m = run(where, "fetch", "--mine", "-c", "4", "-o", "out.jsonl", *urls, code=0)
        saw = o.report()["hosts"]["127.0.0.1"]
        check(m.sum("seine_fetch_requests_total"), saw["requests"])
        check(m["seine_fetch_received_bytes_total"], saw["bytes_out"])
        check(m["seine_fetch_decoded_bytes_total"], sum(100 * n for n in range(1, 31)))
        check(m.of("seine_connections_opened_total", version="1.1"), saw["connections"])
        check(m["seine_connections_reused_total"], saw["requests"] - saw["connections"])
        check(m["seine_fetch_sent_bytes_total"] > 30 * len("GET /bytes:100 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"), True)
        check(m.of("seine_output_records_total", sink="jsonl"), 30 + 1)  # and the summary
        check(m.of("seine_output_written_bytes_total", sink="jsonl"), os.path.getsize(os.path.join(where, "out.jsonl")))
        check(m.sum("seine_output_errors_total"), 0)
        check(m["seine_fetch_request_duration_seconds_count"], 30)
        check(m.of("seine_fetch_phase_duration_seconds_count", phase="connect"), saw["connections"])
        check(m["seine_memory_budget_bytes"], 512 << 20)
        check([m.of("seine_limiter_keys", scope=s) for s in ("host", "ip", "source")], [1, 0, 0])  # --mine knows no addresses
        check(m.of("seine_jobs", state="done"), 1)


@case
def limiters_count_the_addresses_they_know():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", o.url("/ok"), o.url("/ok?2"), "--host-rate", "1000", code=0)
        check([m.of("seine_limiter_keys", scope=s) for s in ("host", "ip", "source")], [1, 1, 0])


@case
def connections_are_open_while_they_are():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", "--mine", o.url("/ok"), code=0)
        check(m.of("seine_connections_opened_total", version="1.1"), 1)
        check(m.of("seine_connections_open", version="1.1") in (0, 1), True)  # it is kept for 15 s, or closed at the end
        check("seine_loop_lag_seconds_count{loop=\"engine\"}" in m.text, True)


@case
def names_are_counted_by_what_came_of_them():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", "--mine", "--retries", "0", "-c", "1", "--resolve", f"a.test:{o.port}:127.0.0.1",
                *[o.url(f"/ok?n={n}", "a.test") for n in range(3)], code=0)
        check(m.sum("seine_dns_lookups_total") >= 1, True)
        check(m.of("seine_dns_lookups_total", result="timeout"), 0)


@case
def retries_waits_and_breakers_count():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", "--retries", "2", "--backoff", "1ms..2ms", "--host-rate", "50/s", "--no-adaptive", o.url("/status:503?fail=2"), o.url("/ok?1"),
                o.url("/ok?2"))
        saw = o.report()["hosts"]["127.0.0.1"]
        check(m.sum("seine_fetch_requests_total"), saw["requests"])
        check(m.of("seine_fetch_requests_total", method="GET", **{"class": "5xx"}) >= 2, True)
        check(m.sum("seine_retries_total"), saw["requests"] - 3)
        check(m["seine_retry_backoff_seconds_count"] >= 2, True)
        check(m.of("seine_limiter_wait_seconds_count", scope="host") >= 1, True)
        m = run(where, "fetch", "--mine", "--retries", "3", "--backoff", "1ms..2ms", "--breaker", "fail=2,open=50ms", "-c", "2",
                *[o.url(f"/status:500?{n}") for n in range(6)])
        check(m.of("seine_breaker_transitions_total", **{"from": "closed", "to": "open"}) >= 1, True)
        check(m["seine_breaker_rejected_total"] >= 1, True)
        check(m["seine_retry_exhausted_total"] >= 1, True)


@case
def a_limiter_by_key_rejects_what_would_wait_too_long():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", "--mine", "--rate", "1/h", o.url("/ok?1"), "--max-time", "2s", o.url("/ok?2"))
        check(m.sum("seine_fetch_requests_total"), 1)
        check(m.of("seine_urls_waiting", reason="rate"), 0)  # its record is written: the run is over


@case
def a_crawl_counts_links_robots_commits_and_outputs():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "crawl", "--host-rate", "off", "--no-adaptive", "--depth", "2", "--job", "j", "--durability", "full", "-o", "a.jsonl", "-o", "b.csv", "-o", "c.sqlite", "-o", "d.warc",
                o.url("/site:1:200/p/0"), code=0)
        saw = o.report()["totals"]
        check(m.sum("seine_fetch_requests_total"), saw["requests"])
        pages = m.of("seine_urls_emitted_total", outcome="ok")
        # what was found is what was emitted: the start page was given, not found
        check(m.of("seine_frontier_discovered_total", result="new"), pages - 1)
        check(m.of("seine_frontier_discovered_total", result="depth"), m.of("seine_urls_emitted_total", outcome="skipped"))
        check(m.of("seine_frontier_discovered_total", result="duplicate") > pages, True)
        check(m.of("seine_robots_decisions_total", result="allowed"), saw["requests"] - 1)  # all but robots.txt itself
        check(m.of("seine_store_commit_seconds_count", store="job") >= 1, True)
        for sink, name in (("jsonl", "a.jsonl"), ("csv", "b.csv"), ("warc", "d.warc")):
            check(m.of("seine_output_written_bytes_total", sink=sink), os.path.getsize(os.path.join(where, name)), sink)
        check(m.of("seine_output_records_total", sink="sqlite") >= pages, True)


@case
def robots_that_say_no_count():
    with origin("--site", "7:60:robots=20") as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "crawl", "--host-rate", "off", "--no-adaptive", o.url("/p/0"))
        skipped = m.of("seine_robots_decisions_total", result="denied")
        check(skipped >= 1, True)
        check(skipped, m.of("seine_urls_emitted_total", outcome="skipped"))
        check(o.report()["hosts"]["127.0.0.1"]["disallowed_hits"], 0)


@case
def values_of_pages_and_log_lines_count():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "fetch", "--mine", "--css", "t=title", "--log-level", "debug", "--log-file", "log", *[o.url(f"/html:3?{n}") for n in range(4)], code=0)
        check(m["seine_extract_duration_seconds_count"], 4)
        check(m["seine_extract_records_total"] >= 1, True)
        check(m.of("seine_log_records_total", level="debug") >= 4, True)


@case
def the_busiest_hosts_have_metrics_if_somebody_asks_for_them():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "seine.yaml"), "w", encoding="utf-8") as f:
            f.write("monitoring: {metrics_per_host: 2}\n")
        os.chmod(f.name, 0o644)
        asked = {"a.test": 5, "b.test": 9, "c.test": 2}
        names = [word for host in asked for word in ("--resolve", f"{host}:{o.port}:127.0.0.1")]
        m = run(where, "fetch", "--mine", *names, *[o.url(f"/ok?{n}", host) for host, most in asked.items() for n in range(most)], code=0)
        got = {k[1][1]: v for k, v in m.all.items() if k[0] == "seine_host_requests_total"}
        check(got, {f"b.test:{o.port}": 9, f"a.test:{o.port}": 5, "other": 2})
        check(m.of("seine_host_duration_seconds_count", host=f"b.test:{o.port}"), 9)
        check(m.of("seine_host_duration_seconds", host=f"b.test:{o.port}", quantile="0.95") > 0, True)
        check(m.of("seine_host_breaker_state", host=f"a.test:{o.port}"), 0)
        p = subprocess.run(["promtool", "check", "metrics"], input=m.text.encode(), capture_output=True, timeout=PATIENCE)
        check((p.returncode, p.stdout + p.stderr), (0, b""))
        os.unlink(f.name)
        check("seine_host_" in run(where, "fetch", "--mine", o.url("/ok"), code=0).text, False)


@case
def the_exposition_of_a_crawl_is_clean_and_small():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        m = run(where, "crawl", "--mine", "--depth", "1", o.url("/site:1:50/p/0"), code=0)
        p = subprocess.run(["promtool", "check", "metrics"], input=m.text.encode(), capture_output=True, timeout=PATIENCE)
        check((p.returncode, p.stdout + p.stderr), (0, b""))
        check(len(m.all) <= 2000, True)


finish(at_once=4)
