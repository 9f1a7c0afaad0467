#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is shipped for monitoring works on the real thing: every query of the dashboard and of the alert rules on a Prometheus that
scrapes a crawl and a console, the rules by promtool, the unit by systemd-analyze."""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, ROOT, case, check, environment, finish, free_port, until  # noqa: E402
from origin import origin  # noqa: E402


def run(*words, cwd=None):
    return subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, text=True)


@contextlib.contextmanager
def process(*words, cwd, env=None):
    p = subprocess.Popen(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(os.path.join(cwd, "err"), "ab"),
                         env={**environment(), "XDG_CONFIG_HOME": cwd, **(env or {})})
    try:
        yield p
    finally:
        p.kill()
        p.wait()


class Prometheus:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}/api/v1/"

    def ask(self, path, **query):
        try:
            with urllib.request.urlopen(self.base + path + "?" + urllib.parse.urlencode(query), timeout=PATIENCE) as r:
                return json.load(r)
        except urllib.error.HTTPError as e:
            text = e.read().decode()
            return json.loads(text) if text.startswith("{") else {"status": text, "data": {"result": []}}
        except OSError:
            return {"status": "away", "data": {"result": []}}

    def query(self, expr):
        return self.ask("query", query=expr)


def dashboard():
    """[(panel, query)]"""
    with open(os.path.join(ROOT, "docs/grafana.json"), encoding="utf-8") as f:
        tree = json.load(f)
    check(len({p["id"] for p in tree["panels"]}), len(tree["panels"]))
    names = {v["name"] for v in tree["templating"]["list"]}
    found = []
    for p in tree["panels"]:
        for t in p["targets"]:
            check(set(re.findall(r"\$\{?(\w+)", t["expr"])) <= names | {"__rate_interval"}, True, t["expr"])
            found.append((p["title"], t["expr"].replace("$instance", ".*").replace("$__rate_interval", "20s")))
    return found


@case
def every_query_of_the_dashboard_and_the_alerts_has_an_answer():
    crawl_port, serve_port, own = free_port(), free_port(), free_port()
    with tempfile.TemporaryDirectory() as where, contextlib.ExitStack() as stack:
        o = stack.enter_context(origin())
        with open(os.path.join(where, "prometheus.yml"), "w", encoding="utf-8") as f:
            f.write("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: seine, static_configs: [{targets: "
                    f"['127.0.0.1:{crawl_port}', '127.0.0.1:{serve_port}']}}]}}]\n")
        with open(os.path.join(where, "urls"), "w", encoding="utf-8") as f:
            f.write("".join(o.url(f"/html:3?{n}") + "\n" + o.url(f"/status:503?{n}") + "\n" + o.url(f"/reset:5?{n}") + "\n" for n in range(50000)))
        seine = os.path.abspath(PROGRAM)
        stack.enter_context(process(seine, "fetch", "--metrics", f"127.0.0.1:{crawl_port}", "--host-rate", "100/s", "--no-adaptive", "--retries", "1", "--backoff",
                                    "1ms..2ms", "--breaker", "off", "--job", "j", "--durability", "full", "--robots", "on", "-o", "out.jsonl", "--otlp",
                                    "http://127.0.0.1:9", "--otlp-ratio", "1", "--log-level", "debug", "--log-file", "log", "-i", "urls", cwd=where))
        stack.enter_context(process(seine, "serve", "--state", "state", cwd=where,
                                    env={"SEINE_SERVER_PORT": "0", "SEINE_MONITORING_PROMETHEUS_PORT": str(serve_port)}))
        stack.enter_context(process("prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=db", f"--web.listen-address=127.0.0.1:{own}",
                                    "--log.level=error", cwd=where))
        p = Prometheus(own)
        until(lambda: len(p.query('rate(seine_fetch_requests_total{class="2xx"}[20s]) > 0')["data"]["result"]) == 1, "the crawl to be scraped twice")
        until(lambda: len(p.query("seine_health_check_up == 1")["data"]["result"]) == 4, "the console to be scraped")
        empty = []
        for title, expr in dashboard():
            answer = p.query(expr)
            check((answer["status"], title), ("success", title), answer)
            if not answer["data"]["result"]:
                empty.append((title, expr))
        check([e for e in empty if p.query(e[1])["data"]["result"] == []], [])
        with open(os.path.join(ROOT, "docs/alerts.yml"), encoding="utf-8") as f:
            used = set(re.findall(r"\b((?:seine|process)_\w+)\b", re.sub(r"summary:.*|description:.*", "", f.read())))
        used |= {name for _, expr in dashboard() for name in re.findall(r"\b((?:seine|process)_\w+)\b", expr)}
        known = set(p.ask("label/__name__/values")["data"])
        check({name for name in used if name not in known}, set())


@case
def the_alert_rules_pass_their_tests():
    r = run("promtool", "check", "rules", "alerts.yml", cwd=os.path.join(ROOT, "docs"))
    check(r.returncode, 0, r.stdout + r.stderr)
    r = run("promtool", "test", "rules", "alerts.test.yml", cwd=os.path.join(ROOT, "docs"))
    check(r.returncode, 0, r.stdout + r.stderr)


@case
def the_unit_is_clean_and_gives_the_console_little_to_misuse():
    with open(os.path.join(ROOT, "examples/systemd/seine.service"), encoding="utf-8") as f:
        text = f.read()
    with tempfile.TemporaryDirectory() as where:
        unit = os.path.join(where, "seine.service")
        with open(unit, "w", encoding="utf-8") as f:
            f.write(text.replace("/usr/bin/seine", os.path.abspath(PROGRAM)))
        r = run("systemd-analyze", "verify", "--man=no", unit)
        check((r.returncode, r.stdout + r.stderr), (0, ""))
        r = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", unit)
        score = float(re.search(r"exposure level for seine.service: ([\d.]+)", r.stdout).group(1))
        check((r.returncode, score <= 2.0), (0, True), r.stdout[-300:])


finish(at_once=3)
