#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--metrics and --metrics-file: what a scraper sees, and what it cannot do to a run."""
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, seine, until  # noqa: E402
from origin import origin, summary  # noqa: E402


class Run:
    def __init__(self, *words):
        self.process = subprocess.Popen([PROGRAM, "fetch", "--metrics", "127.0.0.1:0", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=environment())
        line = self.process.stderr.readline().decode()
        self.port = int(re.search(r"http://127\.0\.0\.1:(\d+)/metrics", line).group(1))

    def get(self, path, method="GET", headers=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as r:
                return r.status, r.read().decode(), r.headers
        except urllib.error.HTTPError as e:
            return e.code, e.read().decode(), e.headers

    def stop(self):
        """A run lasts as long as somebody looks at it, and then it is asked to end."""
        self.process.terminate()
        return self.end()

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()


def slow(o):
    """A run that goes on for longer than a test waits."""
    return ["--host-rate", "10/s", "--no-adaptive", *[o.url(f"/ok?n={n}") for n in range(11 * PATIENCE)]]


@case
def the_endpoints_answer_while_it_runs():
    with origin() as o:
        run = Run(*slow(o))
        check(run.get("/livez")[:2], (200, "ok\n"))
        until(lambda: run.get("/readyz")[:2] == (200, "ok\n"), "the engine to be ready")
        check(run.get("/healthz?verbose")[0], 200)
        status, text, headers = run.get("/metrics")
        check((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        for name in ("seine_build_info{", "process_resident_memory_bytes ", "process_open_fds ", "seine_urls_seen_total ", "http_requests_total{"):
            check(name in text, True, name)
        status, text, headers = run.get("/metrics", headers={"Accept": "application/openmetrics-text"})
        check(text.endswith("# EOF\n") and headers["Content-Type"].startswith("application/openmetrics-text"), True)
        check(run.get("/nothing")[0], 404)
        check(run.get("/metrics", method="POST")[0], 405)
        check(run.get("/metrics", method="HEAD")[1], "")
        check(run.stop()[0], 143)


@case
def the_exposition_is_accepted_by_an_independent_parser():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "--mine", "--metrics-file", "m.prom", *[o.url(f"/ok?n={n}") for n in range(20)], o.url("/status:404"), cwd=where)
        check(r.code, 1)
        with open(os.path.join(where, "m.prom"), "rb") as f:
            text = f.read()
        check(os.listdir(where), ["m.prom"])  # nothing half-written beside it
        emitted = dict(re.findall(r'^seine_urls_emitted_total\{outcome="(\w+)"\} (\d+)$', text.decode(), re.M))
        check((emitted["ok"], emitted["failed"]), ("20", "1"))
        p = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, timeout=PATIENCE)
        check(p.returncode, 0, p.stderr.decode() + p.stdout.decode())


@case
def slow_and_silly_clients_do_not_slow_down_the_run():
    with origin() as o:
        run = Run(*slow(o))
        crowd = []
        for n in range(60):
            s = socket.create_connection(("127.0.0.1", run.port), timeout=PATIENCE)
            if n % 3 == 1:
                s.sendall(b"GET /metrics HTTP/1.1\r\nX: ")
            if n % 3 == 2:
                s.sendall(b"\x00\xff" * 3000)
            crowd.append(s)
        before = len(o.log())
        until(lambda: len(o.log()) >= before + 20, "20 requests while the crowd is there")
        code, out, _ = run.stop()
        check((code, summary(out)["ok"] >= before), (143, True))
        for s in crowd:
            s.close()


@case
def who_is_silent_is_dropped_and_others_are_served():
    with origin() as o:
        run = Run(*slow(o))
        crowd = [socket.create_connection(("127.0.0.1", run.port), timeout=PATIENCE) for _ in range(32)]
        began = time.monotonic()
        check(crowd[0].recv(10), b"")
        check(time.monotonic() - began > 4, True)
        check(run.get("/livez")[0], 200)
        for s in crowd:
            s.close()
        check(run.stop()[0], 143)


@case
def a_port_that_is_taken_is_exit_2():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        r = seine("fetch", "--metrics", f"127.0.0.1:{s.getsockname()[1]}", "http://127.0.0.1:9/")
        check((r.code, "cannot listen" in r.err), (2, True), r.err)


finish(at_once=8)
