#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of a run as a collector gets them, and collectors that are slow, refuse, come back or are never there.

The stub checks the shape of OTLP in JSON: ids in hexadecimal, integers of 64 bits as strings, enums as numbers."""
import contextlib
import gzip
import http.server
import json
import os
import re
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from console import Console  # noqa: E402
from e2e import PATIENCE, UNHURRIED, case, check, finish, free_port, rows, seine, until  # noqa: E402
from origin import origin  # noqa: E402


def shape(spans):
    """Fails unless each span has exactly the members and types that OTLP wants."""
    for s in spans:
        check(set(s) <= {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes", "events", "links", "status"},
              True, s)
        check((re.fullmatch("[0-9a-f]{32}", s["traceId"]) is not None, re.fullmatch("[0-9a-f]{16}", s["spanId"]) is not None), (True, True), s)
        check(re.fullmatch("[0-9a-f]{16}", s.get("parentSpanId", "0" * 16)) is not None, True, s)
        check(s["kind"] in (1, 2, 3) and isinstance(s["kind"], int), True, s)
        check(isinstance(s["startTimeUnixNano"], str) and int(s["startTimeUnixNano"]) <= int(s["endTimeUnixNano"]), True, s)
        for a in s.get("attributes", []):
            (kind, value), = a["value"].items()
            check((kind in ("stringValue", "intValue"), isinstance(value, str)), (True, True), a)
            if kind == "intValue":
                int(value)
        for e in s.get("events", []):
            check((set(e), int(s["startTimeUnixNano"]) <= int(e["timeUnixNano"])), ({"timeUnixNano", "name"}, True), s)
        if "status" in s:
            check(s["status"]["code"], 2, s)


class Collector:
    def __init__(self, plan):
        self.requests, self.spans, self.plan, self.resource = [], [], list(plan), None
        self.lock = threading.Lock()

    def answer(self, handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        with self.lock:
            step = self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]
            self.requests.append((time.monotonic(), handler.path, dict(handler.headers), step))
        if step.get("sleep"):
            time.sleep(step["sleep"])
        if step["status"] == 200:
            tree = json.loads(gzip.decompress(body))
            with self.lock:
                for r in tree["resourceSpans"]:
                    self.resource = {a["key"]: a["value"]["stringValue"] for a in r["resource"]["attributes"]}
                    for s in r["scopeSpans"]:
                        check((s["scope"]["name"], isinstance(s["scope"]["version"], str)), ("seine", True))
                        self.spans += s["spans"]
        out = json.dumps(step.get("body", {})).encode()
        handler.send_response(step["status"])
        for name, value in step.get("headers", {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(out)))
        handler.end_headers()
        handler.wfile.write(out)


@contextlib.contextmanager
def collector(*plan):
    c = Collector(plan or [{"status": 200}])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            with contextlib.suppress(OSError):
                c.answer(self)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    c.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield c
    finally:
        server.shutdown()
        server.server_close()


def attributes(span):
    return {a["key"]: a["value"].get("stringValue", a["value"].get("intValue")) for a in span.get("attributes", [])}


def fetch(*words, env=None):
    with tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "--mine", "--metrics-file", "m.prom", *UNHURRIED, *words, cwd=where, env=env)
        with open(os.path.join(where, "m.prom"), encoding="utf-8") as f:
            counts = {k: int(v) for k, v in re.findall(r'^seine_trace_spans_total\{result="(\w+)"\} (\d+)$', f.read(), re.M)}
        return r, counts


@case
def a_run_is_a_job_span_and_each_url_a_trace_with_its_attempts():
    with origin() as o, collector() as c:
        r, counts = fetch("--otlp", c.url + "/", "--otlp-ratio", "1", "--retries", "1", "--backoff", "1ms..2ms", o.url("/ok?token=hush"),
                          o.url("/status:503?fail=1"), o.url("/status:404"))
        check(r.code, 1)
        shape(c.spans)
        check({path for _, path, _, _ in c.requests}, {"/v1/traces"})
        check((c.requests[0][2]["Content-Type"], c.requests[0][2]["Content-Encoding"]), ("application/json", "gzip"))
        check((c.resource["service.name"], "service.version" in c.resource), ("seine", True))
        jobs = [s for s in c.spans if s["name"] == "seine.job"]
        visits = [s for s in c.spans if s["name"] == "seine.visit"]
        clients = [s for s in c.spans if s["kind"] == 3]
        check((len(jobs), len(visits), len(clients)), (1, 3, len(o.log())))
        check(len({s["traceId"] for s in visits + jobs}), 4)
        check(attributes(jobs[0]), {"seine.urls.ok": "1", "seine.urls.failed": "2", "seine.urls.blocked": "0", "seine.requests": str(len(o.log()))})
        for v in visits:
            check(v["links"], [{"traceId": jobs[0]["traceId"], "spanId": jobs[0]["spanId"]}])
            own = [s for s in clients if s.get("parentSpanId") == v["spanId"]]
            check({s["traceId"] for s in own}, {v["traceId"]})
            check(str(len(own)), attributes(v)["seine.attempts"])
            check(all(int(v["startTimeUnixNano"]) <= int(s["startTimeUnixNano"]) + 1000000 for s in own), True)
        by = {attributes(v)["url.full"].rsplit("/", 1)[1]: v for v in visits}
        check(attributes(by["ok?token=REDACTED"])["seine.outcome"], "ok")
        check("hush" in json.dumps(c.spans), False)
        check(attributes(by["status:404"])["seine.outcome"], "failed")
        gone = next(s for s in clients if s["parentSpanId"] == by["status:404"]["spanId"])
        check((gone["name"], gone["status"]["code"], attributes(gone)["http.response.status_code"]), ("GET", 2, "404"))
        check(attributes(gone)["server.address"], "127.0.0.1")
        again = [s for s in clients if "http.request.resend_count" in attributes(s)]
        check([attributes(s)["http.request.resend_count"] for s in again], ["1"])
        check({e["name"] for s in clients for e in s.get("events", [])} >= {"connect", "ttfb"}, True)
        check(counts, {"exported": len(c.spans), "dropped": 0, "failed": 0})


@case
def reading_a_page_for_its_values_is_a_span_of_its_visit():
    with origin("--site", "1:5") as o, collector() as c:
        r, _ = fetch("--otlp", c.url, "--otlp-ratio", "1", "--css", "t=title", "--css", "h=h1", o.url("/p/0"))
        check(r.code, 0, r.err)
        shape(c.spans)
        visit = next(s for s in c.spans if s["name"] == "seine.visit")
        read = [s for s in c.spans if s["name"] == "seine.extract"]
        check([(s["traceId"], s["parentSpanId"], s["kind"]) for s in read], [(visit["traceId"], visit["spanId"], 1)])
        check((attributes(read[0])["seine.records"], attributes(read[0])["seine.fields"]), ("1", "2"))
        check(int(read[0]["endTimeUnixNano"]) <= int(visit["endTimeUnixNano"]), True)


class Serve:
    """A console that sends traces to a collector."""
    def __init__(self, url):
        self.url = url

    def __enter__(self):
        self.console = Console(env={"SEINE_MONITORING_OTLP_ENDPOINT": self.url})
        return self.console.__enter__()

    def __exit__(self, *_):
        self.console.__exit__(*_)


@case
def a_request_to_the_console_is_a_server_span_of_the_trace_that_it_names():
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with collector() as c:
        with Serve(c.url) as s:
            named = [("traceparent", f"00-{trace}-{parent}-01")]
            check(s.ask("GET", "/api/runs/01J00000000000000000000000", token=s.token, fields=named).status, 404)
            check(s.ask("GET", "/api/runs", token=s.token, fields=[("traceparent", "00-nonsense")]).status, 200)
        shape(c.spans)
        served = {x["name"]: x for x in c.spans if x["kind"] == 2}
        one = served["GET /api/runs/{id}"]
        check((one["traceId"], one["parentSpanId"]), (trace, parent))
        check((attributes(one)["http.route"], attributes(one)["http.response.status_code"]), ("/api/runs/{id}", "404"))
        check(("parentSpanId" in served["GET /api/runs"], served["GET /api/runs"]["traceId"] != trace), (False, True))
        check(s.token in json.dumps(c.spans), False)


@case
def a_collector_that_is_away_is_unhealthy_and_the_console_is_ready():
    with collector({"status": 400}) as c, Serve(c.url) as s:
        until(lambda: s.ask("GET", "/readyz").status == 200, "the checks")
        check("[+]otlp ok" in s.ask("GET", "/readyz?verbose", token=s.token).body.decode(), True)
        until(lambda: c.requests, "a batch that is refused")
        until(lambda: any("otlp.away" in line for line in s.log), "the exporter to notice")
        check(s.ask("GET", "/readyz").status, 200, "nobody needs traces to work")


@case
def one_url_of_a_hundred_is_traced_and_those_that_failed():
    with origin() as o, collector() as c:
        r, _ = fetch("--otlp", c.url, "-c", "4", *[o.url(f"/ok?{n}") for n in range(400)], *[o.url(f"/status:404?{n}") for n in range(3)])
        check(r.code, 1)
        visits = [attributes(s)["seine.outcome"] for s in c.spans if s["name"] == "seine.visit"]
        check(visits.count("failed"), 3)
        check(visits.count("ok") < 40, True)  # 4 are expected; 40 or more come once in 10^25 runs


@case
def the_variables_of_opentelemetry_count():
    with origin() as o, collector() as c:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": c.url, "OTEL_SERVICE_NAME": "nets", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=a%20b,x=y",
               "OTEL_EXPORTER_OTLP_HEADERS": "X-Key=hush%21, X-Two = a%3Db%2 ,,X-Three=100%", "OTEL_TRACES_SAMPLER_ARG": "1"}
        fetch(o.url("/ok"), env=env)
        check((c.resource["service.name"], c.resource["deployment.environment"], c.resource["x"]), ("nets", "a b", "y"))
        check([c.requests[0][2][name] for name in ("X-Key", "X-Two", "X-Three")], ["hush!", "a=b%2", "100%"])
        n = len(c.requests)
        fetch(o.url("/ok"), env={**env, "OTEL_SDK_DISABLED": "true"})
        check(len(c.requests), n)
        fetch(o.url("/ok"), env={**env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.url + "/own"})
        check(c.requests[-1][1], "/own")


@rows([
    ("refuses", {"status": 400}, 1),          # it never will: not tried again
    ("is busy", {"status": 503}, 1),          # at the end there is no time for a second try
    ("asks to wait", {"status": 429, "headers": {"Retry-After": "3600"}}, 1),
    ("is slow", {"status": 200, "sleep": 30}, 1),
])
def a_collector_that_fails_changes_nothing_about_the_run(_, step, least):
    with origin() as o, collector(step) as c:
        began = time.monotonic()
        r, counts = fetch("--otlp", c.url, "--otlp-ratio", "1", *[o.url(f"/ok?{n}") for n in range(50)])
        check((r.code, len(o.log())), (0, 50), r.err)
        check(len(c.requests) >= least, True)
        check((counts["exported"], counts["failed"] + counts["dropped"]), (0, 101))
        check(time.monotonic() - began < 25, True)  # it sleeps for 30 s
        check("the collector takes no traces" in r.err, True, r.err)
        check(r.err.count("the collector takes no traces"), 1)


@case
def a_collector_that_is_not_there_changes_nothing_either():
    with origin() as o:
        r, counts = fetch("--otlp", f"http://127.0.0.1:{free_port()}", "--otlp-ratio", "1", *[o.url(f"/ok?{n}") for n in range(50)])
        check((r.code, len(o.log()), counts["exported"], counts["failed"]), (0, 50, 0, 101), r.err)


@case
def spans_that_a_collector_rejects_are_counted_as_failed():
    with origin() as o, collector({"status": 200, "body": {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "no"}}}) as c:
        _, counts = fetch("--otlp", c.url, "--otlp-ratio", "1", o.url("/ok"))
        check(counts, {"exported": 1, "dropped": 0, "failed": 2})


@case
def a_collector_says_when_the_batch_may_come_again():
    with origin() as o, collector({"status": 503, "headers": {"Retry-After": "2"}}, {"status": 200}) as c:
        # without a word of the collector the first pause is less than a second
        fetch("--otlp", c.url, "--otlp-ratio", "1", *[o.url(f"/ok?{n}") for n in range(299)], o.url("/delay:10s/ok"))
        check(c.requests[1][0] - c.requests[0][0] >= 2, True)


@case
def a_collector_that_comes_back_gets_the_batch_it_refused():
    with origin() as o, collector({"status": 503, "headers": {"Retry-After": "0"}}, {"status": 200}) as c:
        # 512 spans are a batch, which is refused and sent again at once; the last URL keeps the run going meanwhile
        r, counts = fetch("--otlp", c.url, "--otlp-ratio", "1", "--log-level", "info", *[o.url(f"/ok?{n}") for n in range(299)], o.url("/delay:4s/ok"))
        check((r.code, len(o.log())), (0, 300), r.err)
        check((counts["exported"], counts["failed"], counts["dropped"]), (601, 0, 0), r.err)
        check("the collector takes traces again" in r.err, True, r.err)


@rows([
    (["--otlp", "collector"], {}, "not a URL"),
    (["--otlp", "http://c", "--otlp-ratio", "2"], {}, "not a share from 0 to 1"),
    (["--otlp", "http://c"], {"OTEL_EXPORTER_OTLP_HEADERS": "novalue"}, "not a list of key=value"),
    (["--otlp", "http://c"], {"OTEL_RESOURCE_ATTRIBUTES": "a=%zz"}, "not a list of key=value"),
])
def what_is_wrong_is_told_before_the_first_request(words, env, want):
    r = seine("fetch", *words, "http://127.0.0.1:9/", env=env)
    check((r.code, want in r.err), (2, True), r.err)


finish(at_once=6)
