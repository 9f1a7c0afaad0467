#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Health, metrics and the second listener of `seine serve`, and what it takes from its configuration."""
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, free_port, until  # noqa: E402
from fleet import fleet  # noqa: E402
from redis_server import redis_server  # noqa: E402


class Console:
    def __init__(self, config="", env=None, words=()):
        self.folder = tempfile.TemporaryDirectory()
        where = self.folder.name
        with open(os.path.join(where, "seine.yaml"), "w", encoding="utf-8") as f:
            f.write(config)
        os.chmod(f.name, 0o644)
        self.process = subprocess.Popen([os.path.abspath(PROGRAM), "serve", "--state", "state", *words], cwd=where, stdin=subprocess.DEVNULL,
                                        stdout=open(os.path.join(where, "out"), "wb"), stderr=subprocess.PIPE,
                                        env={**environment(), "XDG_CONFIG_HOME": where + "/xdg", **(env or {})})
        link = self.process.stderr.readline().decode()
        self.said = link
        m = re.search(r"127\.0\.0\.1:(\d+)/#token=(\S+)", link)
        self.port, self.token = (int(m.group(1)), m.group(2)) if m else (None, None)

    def get(self, path, token=True, port=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE)
        c.request("GET", path, headers={**({"Authorization": "Bearer " + self.token} if token else {}), **(headers or {})})
        r = c.getresponse()
        body = r.read().decode()
        c.close()
        return r.status, body, r.headers

    def log(self):
        with open(os.path.join(self.folder.name, "out"), encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)
        self.folder.cleanup()


ANY = "server: {port: 0}\n"


@case
def it_is_ready_when_its_checks_are_and_says_so_to_everybody():
    with Console(ANY) as c:
        check(c.get("/livez", token=False)[:2], (200, "ok\n"))
        until(lambda: c.get("/readyz", token=False)[:2] == (200, "ok\n"), "the checks to have run")
        check(c.get("/healthz", token=False)[:2], (200, "ok\n"))
        status, body, _ = c.get("/readyz?verbose")
        check(status, 200, body)
        for name in ("database", "disk", "output", "engine"):
            check(re.search(rf"^\[\+\]{name} ok \(\d+\.\d ms, \d+ s ago\)$", body, re.M) is not None, True, body)
        check(c.get("/readyz?verbose", token=False)[0], 401)  # reasons are for those who may see runs
        check(c.get("/readyz/disk")[0], 200)
        check(c.get("/readyz/nothing")[0], 404)
        check(c.get("/readyz/disk", token=False)[0], 401)
        told = [r for r in c.log() if r["event.name"] == "health"]
        check(sorted(r["seine.check"] for r in told), ["database", "disk", "engine", "output"])
        check({r["log.level"] for r in told}, {"info"})


@case
def metrics_need_a_token_and_are_read_by_prometheus():
    with Console(ANY) as c:
        check(c.get("/metrics", token=False)[0], 401)
        until(lambda: 'seine_health_check_up{check="database"} 1' in c.get("/metrics")[1], "the database to be checked")
        until(lambda: re.search(r"^seine_loop_lag_seconds_count(\{.*\})? [1-9]", c.get("/metrics")[1], re.M), "the loop to be looked at")
        status, text, headers = c.get("/metrics")
        check((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        p = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, timeout=PATIENCE)
        check((p.returncode, p.stdout + p.stderr), (0, b""))
        for name in ("process_resident_memory_bytes", "seine_loop_lag_seconds_count", "seine_log_records_total", "http_requests_total", "seine_build_info"):
            check(re.search(rf"^{name}(\{{.*\}})? [1-9]", text, re.M) is not None, True, name)
        scraped = int(re.search(r'http_requests_total\{server="console",method="GET",route="/metrics",class="2xx"\} (\d+)', text).group(1))
        again = c.get("/metrics")[1]
        check(f'http_requests_total{{server="console",method="GET",route="/metrics",class="2xx"}} {scraped + 1}' in again, True)
        check('http_errors_total{server="console",method="GET",route="/metrics",class="4xx"} 1' in again, True)
        status, text, headers = c.get("/metrics", headers={"Accept": "application/openmetrics-text"})
        check((headers["Content-Type"].startswith("application/openmetrics-text"), text.endswith("# EOF\n")), (True, True))
        check(sum(not line.startswith("#") for line in text.splitlines()) <= 2000, True)


@case
def the_second_listener_has_metrics_and_health_alone():
    port = free_port()
    with Console(ANY, env={"SEINE_MONITORING_PROMETHEUS_PORT": str(port)}) as c:
        until(lambda: c.get("/readyz", token=False, port=port)[:2] == (200, "ok\n"), "the checks to have run")
        check(c.get("/livez", token=False, port=port)[:2], (200, "ok\n"))
        check("seine_health_check_up" in c.get("/metrics", token=False, port=port)[1], True)
        check(c.get("/api/session", port=port)[0], 404)


@case
def a_state_directory_that_cannot_be_written_is_not_ready():
    if os.geteuid() == 0:
        return  # root may write anywhere
    with Console(ANY) as c:
        os.chmod(os.path.join(c.folder.name, "state"), 0o500)
        until(lambda: c.get("/readyz", token=False)[0] == 503, "the check to fail")


@case
def the_log_follows_the_configuration():
    with Console(ANY + "monitoring: {log_format: text, log_output: log.txt, log_level: info}\n") as c:
        path = os.path.join(c.folder.name, "log.txt")
        until(lambda: os.path.exists(path) and "the console listens" in open(path, encoding="utf-8").read(), "the log to be written")
        os.rename(path, path + ".1")
        c.process.send_signal(1)
        until(lambda: os.path.exists(path), "the log to be opened again")


@case
def the_workers_of_a_fleet_are_shown():
    with fleet("1:2000:hosts=5") as f:
        f.submit("--partitions", "8")
        f.worker()
        until(lambda: f.about()["workers"] == 1, "the worker")
        with Console(ANY + f"redis: {{url: 'redis://127.0.0.1:{f.redis[0].port}/0'}}\n") as c:
            until(lambda: "[+]redis ok" in c.get("/readyz?verbose")[1], "the check of Redis")
            system = json.loads(c.get("/api/system")[1])
            check([(w["run"], w["state"]) for w in system["workers"]], [("one", "running")])
            check([(j["name"], j["state"], j["partitions"]) for j in system["jobs"]], [("one", "running", 8)])


@case
def redis_is_checked_where_it_is_configured_and_its_password_is_not_shown():
    with redis_server("--requirepass", "s3cret") as r:
        with Console(ANY + f"redis: {{url: 'redis://:s3cret@127.0.0.1:{r.port}/1'}}\n") as c:
            until(lambda: c.get("/readyz", token=False)[0] == 200, "the checks to have run")
            check("[+]redis ok" in c.get("/readyz?verbose")[1], True)
            check(json.loads(c.get("/api/system")[1])["redis"], f"redis://127.0.0.1:{r.port}/1")
            check('seine_health_check_up{check="redis"} 1' in c.get("/metrics")[1], True)
        with Console(ANY + f"redis: {{url: 'redis://:wrong@127.0.0.1:{r.port}'}}\n") as c:
            until(lambda: "[-]redis unhealthy: Redis " in c.get("/readyz?verbose")[1], "the check to fail")
            check(c.get("/readyz", token=False)[:2], (503, "redis\n"))
            check(c.get("/readyz?exclude=redis", token=False)[0], 200)
            check([w for w in ("s3cret", "wrong") if w in c.get("/readyz?verbose")[1] + json.dumps(c.log())], [])
    with Console(ANY) as c:
        check("redis" in c.get("/readyz?verbose")[1], False)


@case
def what_is_wrong_is_told_before_anything_listens():
    for config, env, want in (("server: {port: 99999}", {}, "port '99999'"), ("", {"SEINE_SERVER_PRT": "1"}, "try: SEINE_SERVER_PORT"),
                              ("database: {min_connections: 5}", {}, "above database.max_connections"),
                              ("monitoring: {metrics_per_host: 5}", {}, "has no metrics of single hosts")):
        c = Console(config, env)
        err = c.said + c.process.stderr.read().decode()
        check((c.process.wait(PATIENCE), want in err), (2, True), err)
        c.folder.cleanup()


finish(at_once=4)
