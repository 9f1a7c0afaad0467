#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine gate` as a proxy and its operator see it: budgets, reloads, restarts, load. S2-03: HTTP limits per client."""
import collections
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, ROOT, SANITIZED, SOAKED, case, check, finish, free_port, rows, seine, until  # noqa: E402
from gate import gate  # noqa: E402

HOURLY = ("--rate", "1/h", "--burst", "3")  # no token comes back while a test runs


def spend(g, n, **how):
    return [g.ask("/check", **how).status for _ in range(n)]


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    os.chmod(path, 0o644)


@case
def s2_03_each_client_address_has_its_own_budget():
    with gate(*HOURLY) as g:
        check(spend(g, 5), [200, 200, 200, 429, 429])
        check(spend(g, 4, source="127.0.0.2"), [200, 200, 200, 429])
        refused = g.ask("/check")
        check(refused.getheader("RateLimit-Policy"), '"default";q=3;w=10800')
        check(refused.getheader("Content-Type"), "application/problem+json")
        check(int(refused.getheader("Retry-After")) in range(3000, 3601), True)


@case
def a_trusted_proxy_names_the_client_and_a_stranger_does_not():
    with gate(*HOURLY, "--trust-proxy", "127.0.0.1/32") as g:
        check(spend(g, 4, X_Forwarded_For="192.0.2.1"), [200, 200, 200, 429])
        check(spend(g, 1, X_Forwarded_For="6.6.6.6, 192.0.2.1"), [429])  # what the client forged stands left
        check(spend(g, 1, X_Forwarded_For="192.0.2.2"), [200])
        check(spend(g, 4, source="127.0.0.9", X_Forwarded_For="192.0.2.3"), [200, 200, 200, 429])
        check(spend(g, 1, source="127.0.0.9", X_Forwarded_For="192.0.2.4"), [429])
        g.says("X-Forwarded-For of a peer that is not trusted does not count")
        check(g.err().count("X-Forwarded-For"), 1)


@case
def an_ipv6_client_is_its_network():
    with gate(*HOURLY, "--trust-proxy", "127.0.0.1") as g:
        for host in ("2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"):
            check(spend(g, 1, X_Forwarded_For=host), [200])
        check(spend(g, 1, X_Forwarded_For="2001:db8::3"), [429])
        check(spend(g, 1, X_Forwarded_For="2001:db8:0:1::1"), [200])


@case
def debts_survive_an_orderly_end_and_kill_9():
    with tempfile.TemporaryDirectory() as home:
        state = os.path.join(home, "state")
        words = (*HOURLY, "--state", state, "--state-every", "100ms")
        for number, code in ((signal.SIGTERM, 143), (signal.SIGKILL, -9)):
            with gate(*words) as g:
                source = f"127.0.0.{10 + number}"
                check(spend(g, 3, source=source), [200, 200, 200])
                if number == signal.SIGKILL:  # two snapshots begin after the last answer
                    for _ in range(2):
                        before = os.stat(state).st_ino, os.stat(state).st_mtime_ns
                        until(lambda: (os.stat(state).st_ino, os.stat(state).st_mtime_ns) != before)
                check(g.end(number), code)
            with gate(*words) as g:
                check(spend(g, 1, source=source), [429])
                check(spend(g, 1, source="127.0.0.99" if number == signal.SIGTERM else "127.0.0.98"), [200])
                check("s ago" in g.err(), True)
        check([n for n in os.listdir(home) if n != "state" and not n.startswith(".seine-")], [])


@rows([("empty", b""), ("cut", None), ("text", b"hello, this is no state of a gate")])
def a_state_that_is_damaged_is_refused_with_2(_name, text):
    with tempfile.TemporaryDirectory() as home:
        state = os.path.join(home, "state")
        with gate(*HOURLY, "--state", state) as g:
            spend(g, 1)
            g.end()
        with open(state, "rb") as f:
            whole = f.read()
        with open(state, "wb") as f:
            f.write(whole[:-9] if text is None else text)
        r = seine("gate", *HOURLY, "--listen", "127.0.0.1:0", "--state", state)
        check((r.code, r.out, "remove it: every client starts afresh" in r.err), (2, "", True))


@case
def a_state_that_cannot_be_written_is_found_at_the_start():
    r = seine("gate", *HOURLY, "--listen", "127.0.0.1:0", "--state", "/nonexistent/state")
    check((r.code, "no such file" in r.err), (2, True))


POLICIES = """\
gate:
  deny: [127.0.0.66]
  allow: [127.0.0.77]
  policies:
    - {name: login, match: {path: /login, method: POST}, rate: 1/h, burst: %d}
    - {name: api, match: {path: /api/}, key: "header:X-Api-Key", rate: 1/h, burst: 2}
    - {name: default, rate: 1/h, burst: 5}
"""


@case
def policies_of_the_configuration_are_reloaded_and_no_debt_is_lost():
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, "seine.yaml")
        write(config, POLICIES % 2)
        with gate("--trust-proxy", "127.0.0.1", cwd=home) as g:
            def log_in(path="/login"):
                return g.ask("/nginx", X_Original_URI=path, X_Original_Method="POST", X_Forwarded_For="192.0.2.1")
            check([log_in().status for _ in range(3)], [204, 204, 403])
            check(log_in("/%6Cogin?x").status, 403)  # another spelling
            check(log_in("/").getheader("RateLimit").startswith('"default";r=4;'), True)
            for key, codes in (("alpha", [200, 200, 429]), ("beta", [200])):
                check([g.ask("/check/api/x", X_Api_Key=key).status for _ in codes], codes)
            check([g.ask("/check", X_Forwarded_For=f"127.0.0.{n}").status for n in (66, 77, 77, 77, 77, 77, 77)], [429] + 6 * [200])

            g.reload()  # nothing has changed
            check(log_in().status, 403)
            write(config, POLICIES % 9)  # a larger bucket, and the same tokens: none
            g.reload()
            check(log_in().status, 403)
            check(log_in().getheader("RateLimit-Policy").startswith('"login";q=9;'), True)
            write(config, POLICIES.replace("rate: 1/h", "rate: nonsense", 1) % 3)
            g.reload()
            g.says("the old ones stay")
            check("seine.yaml:5:" in g.err(), True)
            check(log_in().getheader("RateLimit-Policy").startswith('"login";q=9;'), True)
            write(config, POLICIES.replace("login,", "other,", 1) % 3)  # another name is another policy
            g.reload()
            check(log_in().status, 204)


@case
def hup_reloads_proxies_lists_and_room_and_says_what_needs_a_restart():
    base = "gate: {policies: [{name: default, rate: 1/h, burst: 2}]%s}\n%s"
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, "seine.yaml")

        def reload(g, section="", more=""):
            write(config, base % (section, more))
            g.reload()
        write(config, base % ("", ""))
        with gate(cwd=home) as g:
            check(spend(g, 3), [200, 200, 429])
            check(spend(g, 1, X_Forwarded_For="192.0.2.1"), [429])  # nobody is trusted
            reload(g, more="trust-proxy: [127.0.0.0/8]\n")
            check(spend(g, 3, X_Forwarded_For="192.0.2.1"), [200, 200, 429])
            check(spend(g, 1), [429])  # the proxy itself owes as before
            reload(g, ", deny: [192.0.2.2], allow: [192.0.2.1]", "trust-proxy: 127.0.0.1\n")
            check(spend(g, 3, X_Forwarded_For="192.0.2.1") + spend(g, 1, X_Forwarded_For="192.0.2.2"), [200, 200, 200, 429])
            reload(g, more="trust-proxy: 127.0.0.1\nmax-keys: 2\noverflow: deny\n")
            check(spend(g, 1, X_Forwarded_For="192.0.2.1"), [429])  # no longer allowed, and the debt is still there
            check(spend(g, 1, X_Forwarded_For="192.0.2.3"), [429])  # two places, and two owe
            check("needs a restart" in g.err(), False, g.err())
            reload(g, more="trust-proxy: 127.0.0.1\nv6-prefix: 48\n")
            g.says("needs a restart of the gate")
            check("option=v6-prefix" in g.err(), True, g.err())
            reload(g, more="trust-proxy: [127.0.0.1/8]\n")
            g.says("the old ones stay")
            check("trust-proxy: '127.0.0.1/8'" in g.err(), True, g.err())
            check(spend(g, 1, X_Forwarded_For="192.0.2.1"), [429])
            reload(g)
            check(spend(g, 1, X_Forwarded_For="192.0.2.9"), [429])  # the field counts no more
        write(config, base % ("", "trust-proxy: 192.0.2.0/24\n"))
        with gate("--trust-proxy", "127.0.0.1", cwd=home) as g:  # what is typed is stronger, before and after
            check(spend(g, 3, X_Forwarded_For="198.51.100.1"), [200, 200, 429])
            reload(g, more="trust-proxy: 203.0.113.0/24\n")
            check(spend(g, 1, X_Forwarded_For="198.51.100.2"), [200])


@case
def mistakes_in_policies_are_told_before_anything_is_served():
    with tempfile.TemporaryDirectory() as home:
        write(os.path.join(home, "seine.yaml"), "gate: {policies: [{name: a, rate: 0/s, bust: 3}], alow: []}\n")
        r = seine("gate", "--listen", "127.0.0.1:0", cwd=home)
        check((r.code, r.out), (2, ""))
        for text in ("seine.yaml:1:", "unknown key 'bust'", "unknown key 'alow'"):
            check(text in r.err, True, text)
        check(seine("config", "check", cwd=home).code, 2)


@case
def a_full_table_forgets_nobody_and_stays_small():
    """30 clients owe; a flood of new ones finds no place."""
    with gate("--rate", "1/h", "--burst", "1", "--max-keys", "30", "--overflow", "deny", "--trust-proxy", "127.0.0.1") as g:
        for n in range(30):
            check(spend(g, 1, X_Forwarded_For=f"192.0.2.{n}"), [200])
        for n in range(200):
            check(spend(g, 1, X_Forwarded_For=f"10.0.{n}.1"), [429])
        for n in range(30):
            check(spend(g, 1, X_Forwarded_For=f"192.0.2.{n}"), [429])
        metrics = g.ask("/metrics").body.decode()
        check('seine_gate_clients{policy="default"} 30\n' in metrics, True)
        check('seine_gate_overflowed_total{policy="default"} 200\n' in metrics, True)


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS:"))


def load(port, *words):
    """What wrk says: requests, of which refused, socket errors."""
    r = subprocess.run(["wrk", *words, f"http://127.0.0.1:{port}/check"], capture_output=True, text=True, check=True)
    found = {name: int(m.group(1)) if (m := re.search(pattern, r.stdout)) else 0
             for name, pattern in (("all", r"(\d+) requests in"), ("refused", r"Non-2xx or 3xx responses: (\d+)"))}
    return found["all"], found["refused"], re.findall(r"Socket errors.*", r.stdout)


@case
def under_load_no_more_is_admitted_than_burst_and_rate_and_nothing_fails():
    seconds, rate, burst = 60 if SOAKED else 5, 500, 100
    with gate("--rate", f"{rate}/s", "--burst", str(burst)) as g:
        began = time.monotonic()
        done, refused, errors = load(g.port, "-t1", "-c16", f"-d{seconds}s", "--timeout", "60s")
        took = time.monotonic() - began
        metrics = g.ask("/metrics").body.decode()
    check(errors, [])
    check(done - refused <= burst + rate * took, True, f"{done - refused} of {done} in {took} s")
    check(done - refused >= min(done, burst), True, f"{done - refused} of {done} in {took} s")
    allowed = int(re.search(r'decisions_total\{policy="default",outcome="allowed"\} (\d+)', metrics).group(1))
    check(allowed >= done - refused and allowed <= burst + rate * took, True)


def flood(port, count):
    """One request of each of so many clients, sent ahead; the statuses."""
    found = collections.Counter()
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
        for first in range(0, count, 500):
            some = range(first, min(first + 500, count))
            s.sendall(b"".join(b"GET /nginx HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.%d.%d.%d\r\n\r\n" % (n >> 16, n >> 8 & 255, n & 255) for n in some))
            got = b""
            while got.count(b"\r\n\r\n") < len(some):
                got += s.recv(1 << 20)
            found.update(re.findall(rb"HTTP/1.1 (\d+)", got))
    return {int(code): n for code, n in found.items()}


@case
def a_flood_of_new_clients_resets_no_debt_and_takes_no_memory():
    clients = 1000000 if SOAKED else 30000
    with gate("--rate", "1/h", "--burst", "1", "--max-keys", "1000", "--trust-proxy", "127.0.0.1") as g:
        check(spend(g, 2, X_Forwarded_For="192.0.2.1"), [200, 429])
        flood(g.port, 500)
        before = resident(g.process.pid)
        check(flood(g.port, clients), {204: 500, 403: clients - 500})  # 499 places were left, and one bucket for all others
        check(spend(g, 1, X_Forwarded_For="192.0.2.1"), [429])
        if not SANITIZED:
            check(resident(g.process.pid) - before < 2 << 20, True)


@case
def nginx_with_the_snippet_of_the_manual_limits_two_clients_apart():
    with open(os.path.join(ROOT, "examples", "nginx", "nginx.conf"), encoding="utf-8") as f:
        example = f.read()
    with open(os.path.join(ROOT, "docs", "user", "gate.md"), encoding="utf-8") as f:
        shown = re.findall(r"^```nginx\n(.*?)^```", f.read(), re.M | re.S)
    parts = re.findall(r"^# gate: (?:http|server)\n(.*?)^# gate: end\n", example, re.M | re.S)
    check(shown, parts)
    with tempfile.TemporaryDirectory() as home, gate(*HOURLY, "--trust-proxy", "127.0.0.1", "--state", os.path.join(home, "state")) as g:
        with Proxy(example, home, g.port) as front:
            for source in ("127.0.0.1", "127.0.0.2"):
                got = [g.ask("/page", source=source, port=front) for _ in range(4)]
                check([r.status for r in got], [200, 200, 200, 429], source)
                check(got[0].body, b"hello\n")
                check(got[0].getheader("RateLimit").startswith('"default";r=2;t='), True)
                check(got[0].getheader("RateLimit-Policy"), '"default";q=3;w=10800')
                check(got[3].getheader("RateLimit").startswith('"default";r=0;t='), True)
                check(int(got[3].getheader("Retry-After")) in range(3000, 3601), True)
            check(g.ask("/page", port=front, X_Forwarded_For="192.0.2.9").status, 429)  # the client cannot choose its name
            check(g.ask("/page", source="127.0.0.3", port=front, method="POST").status, 200)
            metrics = g.ask("/metrics").body.decode()
            check(int(re.search(r"seine_gate_connections_total (\d+)", metrics).group(1)) < 6, True, "nginx keeps its connections")


class Proxy:
    """nginx on the example, with ports of its own."""

    def __init__(self, example, home, gate_port):
        self.home, self.front, app = home, free_port(), free_port()
        text = example.replace("127.0.0.1:8989", f"127.0.0.1:{gate_port}").replace("127.0.0.1:8080", f"127.0.0.1:{self.front}").replace("127.0.0.1:9000", f"127.0.0.1:{app}")
        if os.getuid() == 0:
            text = "user root;\n" + text
        write(os.path.join(home, "nginx.conf"), text)
        self.process = subprocess.Popen(["nginx", "-p", home, "-c", os.path.join(home, "nginx.conf"), "-e", "stderr"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})

    def __enter__(self):
        def answers():
            check(self.process.poll(), None, "nginx has ended")
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", self.front)) == 0
        until(answers, "nginx")
        return self.front

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        self.process.stderr.close()


@case
def a_server_of_libmicrohttpd_limits_its_own_routes():
    with subprocess.Popen([os.path.join(BUILD, "gate-example"), "0"], stdout=subprocess.PIPE, text=True) as p:
        try:
            port = int(p.stdout.readline().rpartition(":")[2])
            with gate(*HOURLY) as g:  # for its client alone
                codes = [g.ask("/login", method="POST", port=port) for _ in range(6)]
                check([r.status for r in codes], 5 * [200] + [429])
                check(codes[5].getheader("RateLimit").startswith('"login";r=0;t='), True)
                check(codes[5].getheader("Content-Type"), "application/problem+json")
                check(g.ask("/login", method="POST", port=port, source="127.0.0.2").status, 200)
                check(g.ask("/", port=port).getheader("RateLimit-Policy"), '"default";q=20;w=2')
        finally:
            p.terminate()


@rows([((), "no --rate given"), (("--rate", "off"), "--rate off"), (("--burst", "3"), "--burst without --rate"),
       (("--rate", "5/s", "--trust-proxy", "10.0.0.1/8"), "--trust-proxy '10.0.0.1/8'"), (("--rate", "5/s", "--max-keys", "0"), "--max-keys"),
       (("--rate", "5/s", "--v6-prefix", "129"), "--v6-prefix"), (("--rate", "5/s", "--listen", "nowhere"), "--listen 'nowhere'"),
       (("--rate", "5/s", "--admin", "::1:80"), "--admin '::1:80'")], name=lambda row: " ".join(row[0]) or "nothing")
def what_cannot_be_meant_is_refused_with_2(words, says):
    r = seine("gate", "--listen", "127.0.0.1:0", *words)
    check((r.code, r.out, says in r.err), (2, "", True), r.err)


@case
def a_port_that_is_taken_is_3():
    with gate(*HOURLY) as g:
        r = seine("gate", *HOURLY, "--listen", f"127.0.0.1:{g.port}")
        check((r.code, "address already in use" in r.err), (3, True), r.err)


@case
def the_admin_address_has_the_figures_and_the_other_has_not():
    with gate(*HOURLY, "--admin", "127.0.0.1:0") as g:
        admin = int(g.places["admin"].rpartition(":")[2])
        check([g.ask(path, port=admin).status for path in ("/livez", "/readyz", "/metrics", "/check")], [200, 200, 200, 404])
        check([g.ask(path).status for path in ("/livez", "/readyz", "/metrics", "/")], [404] * 4)
        check(b"seine_gate_decisions_total" in g.ask("/metrics", port=admin).body, True)
        check(spend(g, 4), [200, 200, 200, 429])  # none of these was counted


finish(at_once=2)
