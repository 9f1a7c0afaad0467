#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The evil server as a program: where it says it is, what it serves, how it ends."""
import contextlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently, rows, seine  # noqa: E402


class Server:
    """A running `seine chaos`; its places are what its first line says."""

    def __init__(self, process):
        self.process = process
        self.places = json.loads(process.stdout.readline() or "{}")

    def get(self, path, host=None):
        where = urllib.parse.urlsplit(self.places["http"])
        c = http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
        c.request("GET", path, headers={"Host": host} if host else {})
        r = c.getresponse()
        body = r.read()
        c.close()
        return r.status, body.decode()

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out.decode(), err.decode()


@contextlib.contextmanager
def chaos(*words, cwd=None):
    p = subprocess.Popen([os.path.abspath(PROGRAM), "chaos", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=environment(), cwd=cwd)
    try:
        yield Server(p)
    finally:
        if p.poll() is None:
            p.kill()
            p.communicate()


@case
def the_first_line_says_where_it_is_and_it_serves_until_it_is_told_to_end():
    with chaos() as c:
        check(sorted(c.places), ["dead", "hole", "http", "socks"])
        check(c.get("/ok"), (200, "ok\n"))
        check(c.get("/status:503")[0], 503)
        check(c.get("/nonsense")[0], 400)
        check(c.end(), (143, "", ""))
    with chaos("--dns") as c:
        check(sorted(c.places), ["dead", "dns", "hole", "http", "socks"])
        check(c.end(signal.SIGINT), (130, "", ""))


def tls(c, ca, name):
    """A request over TLS to a name that is at 127.0.0.1; its body, or what is wrong with the certificate."""
    context = ssl.create_default_context(cafile=ca)
    port = int(c.places["https"].rsplit(":", 1)[1])
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain, context.wrap_socket(plain, server_hostname=name) as s:
            s.sendall(b"GET /close/ok HTTP/1.1\r\nHost: %s\r\n\r\n" % name.encode())
            return b"".join(iter(lambda: s.recv(65536), b"")).split(b"\r\n\r\n")[1].decode()
    except ssl.SSLCertVerificationError as e:
        return e.verify_code


@case
def saved_files_are_served_below_their_folder_alone():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "in"))
        for name, text in (("in/p 1.html", "<p>one\n"), ("secret", "secret\n")):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.symlink("../secret", os.path.join(folder, "in", "link"))
        with open(os.path.join(folder, "script"), "w", encoding="utf-8") as f:
            f.write('{"match":"/first","fault":"file:p%201.html"}\n')
        with chaos("--files", "in", "--script", "script", cwd=folder) as c:
            check(c.get("/file:p%201.html"), (200, "<p>one\n"))
            check(c.get("/first"), (200, "<p>one\n"))
            check([c.get(path)[0] for path in ("/file:../secret", "/file:%2e%2e%2fsecret", "/file:link", "/file:nothing")], [404] * 4)
            check(c.get("/status:500/file:p%201.html"), (500, "<p>one\n"))
            check(c.get("/file:p%201.html?fail=1&key=k")[0], 503)
            check(c.get("/file:p%201.html?fail=1&key=k"), (200, "<p>one\n"))
    with chaos() as c:
        check(c.get("/file:x")[0], 400)
    r = seine("chaos", "--files", "/dev/null")
    check((r.code, "cannot read '/dev/null'" in r.err), (2, True), r.err)


@case
def https_is_served_with_certificates_of_an_authority_that_is_written_out():
    with tempfile.TemporaryDirectory() as where, chaos("--tls", "--ca-out", "ca.pem", cwd=where) as c:
        check(sorted(c.places), ["ca", "dead", "hole", "http", "https", "socks"])
        check(c.places["ca"], "ca.pem")
        ca = os.path.join(where, "ca.pem")
        check([tls(c, ca, name) for name in ("a.test", "127.0.0.1")], ["ok\n", "ok\n"])
        # What OpenSSL calls them: expired, not yet valid, self-signed, no issuer, another host.
        check([tls(c, ca, f"{label}.a.test") for label in ("expired", "future", "selfsigned", "untrusted", "wronghost")], [10, 9, 18, 20, 62])
        host = json.loads(c.get("/_chaos/report")[1])["hosts"]["a.test"]
        check([host[k] for k in ("tls_hellos", "tls_handshakes", "tls_resumed")], [1, 1, 0])
        check(c.end(), (143, "", ""))
    with chaos("--tls", "--ca-out", "/no/such/folder/x") as c:
        check(c.process.wait(20), 3)


@case
def the_same_seed_gives_the_same_bytes():
    bodies = []
    for seed in ("5", "5", "6"):
        with chaos("--seed", seed) as c:
            bodies.append(c.get("/text:50")[1])
    check(bodies[0] == bodies[1] and bodies[0] != bodies[2], True)


@case
def a_report_is_written_at_the_end():
    with tempfile.TemporaryDirectory() as where:
        with chaos("--report", "seen.json", cwd=where) as c:
            c.get("/ok", host="a.test")
            check(c.end(), (143, "", ""))
        with open(os.path.join(where, "seen.json"), encoding="utf-8") as f:
            report = json.load(f)
    check(report["hosts"]["a.test"]["requests"], 1)
    check(report["paths"]["/ok"], {"hits": 1, "ok_hits": 1, "duplicates": 0})
    with chaos("--report", "-") as c:
        check(json.loads(c.end()[1])["totals"]["requests"], 0)
    with chaos("--report", "/no/such/folder/x") as c:
        check(c.end(), (3, "", "seine: cannot write '/no/such/folder/x': no such file or directory\ntry: somewhere else\n"))


@case
def a_script_rules():
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, "s.jsonl"), "w", encoding="utf-8") as f:
            f.write('{"host":"a.test","match":"/api*","nth":2,"fault":"status:500"}\n{"match":"/api*","fault":"json"}\n')
        with chaos("--script", "s.jsonl", cwd=where) as c:
            check([c.get("/api/x", host="a.test")[0] for _ in range(3)], [200, 500, 200])


@case
def a_site_at_the_root_is_what_its_list_says():
    """Every URL of the list, with the fate the list names; the list is the same without the server."""
    with chaos("--site", "3:60:dup=10:broken=10:redir=10:robots=10:sitemap=on") as c:
        base = c.places["http"]
        status, listed = c.get("/_list")
        check(status, 200)
        check(listed, seine("chaos", "site", "3:60:dup=10:broken=10:redir=10:robots=10:sitemap=on", "--list", "--base", base).out)
        rows_ = [json.loads(line) for line in listed.splitlines()]
        check(len(rows_), 60)
        check(len({row["kind"] for row in rows_}) >= 4, True)
        for row in rows_:
            check(row["url"].startswith(base), True)
            check(c.get(row["url"][len(base):])[0], row["status"], row["url"])
        check("Disallow: /x/" in c.get("/robots.txt")[1], True)
        report = json.loads(c.get("/_chaos/report")[1])
        good = sum(row["kind"] in ("page", "duplicate") for row in rows_)
        check([report["sites"][0][k] for k in ("pages_total", "pages_served", "pages_missing")], [good, good, 0])
        check(report["hosts"]["127.0.0.1"]["disallowed_hits"], sum(row["kind"] == "disallowed" for row in rows_))


@case
def every_page_of_the_demo_arrives_within_seven_requests():
    """Half of the first requests fail; nothing else is special about a page that is one."""
    spec = seine("chaos", "site", "demo")
    check(spec.code, 0)
    first = {}
    with chaos("--site", "demo") as c:
        port = c.places["http"].rsplit(":", 1)[1]
        listed = [json.loads(line) for line in c.get("/_list")[1].splitlines()]
        for row in listed[:300]:
            where = urllib.parse.urlsplit(row["url"])
            if row["kind"] not in ("page", "duplicate"):
                continue
            check(str(where.port), port)
            for attempt in range(1, 8):
                conn = http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
                try:
                    conn.request("GET", where.path)
                    r = conn.getresponse()
                    r.read()
                    ok = r.status == 200
                except (http.client.HTTPException, OSError):
                    ok = False
                conn.close()
                if ok:
                    break
            check(ok, True, row["url"])
            first[attempt] = first.get(attempt, 0) + 1
    check(len(listed), 1000)
    check(0.4 < first[1] / sum(first.values()) < 0.6, True, str(first))


@case
def a_site_is_summed_up():
    out = seine("chaos", "site", "1:1000:robots=5")
    check(out.code, 0)
    check(out.out.splitlines()[0].split(), ["URLs", "1,000"])
    counts = {line.split()[0]: int(line.split()[1].replace(",", "")) for line in out.out.splitlines()}
    check(counts["page"] + counts["disallowed"], 1000)


@rows([
    (["--listen", "x"], "--listen 'x': not an IPv4 address and a port", "--listen 127.0.0.1:0"),
    (["--listen", "127.0.0.1:99999"], "--listen '127.0.0.1:99999': not an IPv4 address and a port", "--listen 127.0.0.1:0"),
    (["--listen", "0.0.0.0:0"], "--listen '0.0.0.0:0': not an address of this machine alone", "--listen 127.0.0.1:0, or --listen-any if you mean it"),
    (["--site", "1"], "--site '1': a site has 1 page or more", "--site demo, or --site 1:1000"),
    (["--script", "/no/such"], "cannot read '/no/such': no such file or directory", "another name, or - for standard input"),
    (["site", "x"], "'x': a site starts with its seed, a number", "seine chaos site 1:1000"),
    (["site", "1:9", "--base", "ftp://x"], "'1:9': a base is http://HOST:PORT", "seine chaos site 1:1000"),
    (["suite"], "chaos suite needs --cmd with {url} in it", "seine chaos suite --cmd 'curl -sSf {url}'"),
    (["suite", "--cmd", "curl"], "chaos suite needs --cmd with {url} in it", "seine chaos suite --cmd 'curl -sSf {url}'"),
    (["site"], "chaos site needs an argument", "seine chaos site SPEC"),
    (["--ca-out", "x"], "--ca-out without --tls: there is no certificate", "seine chaos --tls --ca-out FILE"),
    (["x"], "chaos: 'x' is one argument too many", "seine chaos "),
], name=lambda row: " ".join(row[0]))
def what_makes_no_sense_is_said_and_nothing_is_served(words, happened, hint):
    r = seine("chaos", *words)
    check(r.err.splitlines()[0], f"seine: {happened}")
    check(r.err.splitlines()[1].startswith(f"try: {hint}".strip()), True, r.err)
    check((r.code, r.out), (2, ""))


def suite(command, *words):
    """Exit code, rows and sums of `chaos suite --json`."""
    r = seine("chaos", "suite", "--json", "--cmd", command, *words)
    lines = [json.loads(line) for line in r.out.splitlines()]
    return r.code, lines[:-1], lines[-1]


@case
def a_suite_judges_a_command_by_how_it_ends():
    """A client that is always pleased, one that never is: each is right about half of it."""
    code, rows_, sums = suite("true {url}", "--only", "tcp")
    check((code, sums), (1, {"right": 0, "wrong": len(rows_), "skipped": 0}))
    check({row["verdict"] for row in rows_}, {"takes it for a whole response"})
    code, rows_, sums = suite("false {url}", "--only", "fine")
    check({(row["exit"], row["verdict"]) for row in rows_}, {(1, "refuses a whole response")})
    code, rows_, sums = suite("false {url}", "--only", "tcp")
    check((code, sums["wrong"]), (0, 0))
    code, rows_, sums = suite("kill -11 $$ # {url}", "--only", "redirect")
    check({(row["signal"], row["exit"], row["verdict"]) for row in rows_}, {(11, None, "crashes")})


@case
def a_suite_ends_a_command_that_hangs_and_all_it_has_started():
    def run(scale):
        code, rows_, _ = suite("sh -c 'sleep 300; :' & echo hello; wait # {url}", "--only", "loop", "--limit", f"{300 * scale}ms")
        check(code, 1)
        check([(row["verdict"], row["bytes"], row["signal"]) for row in rows_], [("hangs", 6, 9)])
        check(rows_[0]["ms"] >= 300 * scale, True)
    patiently(run)


@case
def a_suite_measures_memory_above_the_first_row():
    eat = "python3 -c 'import sys; x = bytearray(200 << 20 if \"loop\" in sys.argv[1] else 1)' {url}"
    _, rows_, _ = suite(eat, "--only", "redirect")
    check([row["verdict"] for row in rows_ if "loop" in row["url"]], ["takes too much memory"])
    check({row["verdict"] for row in rows_ if "loop" not in row["url"]}, {"right"})


@case
def a_suite_fills_in_what_the_command_asks_for():
    with tempfile.TemporaryDirectory() as where:
        seen = os.path.join(where, "seen")
        _, rows_, sums = suite(f"echo {{host}} {{port}} {{dns}} {{url}} >> {seen}; grep -c BEGIN {{ca}}", "--only", "expired.test")
        check((len(rows_), sums["skipped"]), (1, 0))
        with open(seen, encoding="utf-8") as f:
            host, port, dns, url = f.read().split()
        check((host, url), ("expired.test", f"https://expired.test:{port}/ok"))
        check(dns.startswith("127.0.0.1:"), True)
        check(rows_[0]["bytes"], 2)
    r = seine("chaos", "suite", "--cmd", "true {url}", "--only", "tls")
    check((r.code, r.out.splitlines()[1:]), (2, []))


@case
def a_suite_prints_a_table_for_people():
    r = seine("chaos", "suite", "--cmd", "true {url}", "--only", "fine")
    lines = r.out.splitlines()
    check(lines[0].split(), ["fault", "exit", "bytes", "time", "RSS", "verdict"])
    check(lines[1].split()[:4], ["http", "ok", "0", "0"])
    check(lines[-1], f"{len(lines) - 2} right, 0 wrong, 0 skipped")
    check(r.code, 0)


@case
def a_bad_line_of_a_script_is_named():
    r = seine("chaos", "--script", "-", stdin='{"fault":"ok"}\n{"fault":"frob"}\n')
    check((r.code, r.out), (2, ""))
    check(r.err.splitlines()[0], "seine: -:2: no such word")


@case
def a_taken_port_is_said_to_be_taken():
    with chaos() as c:
        taken = c.places["http"][7:]
        r = seine("chaos", "--listen", taken)
        check((r.code, r.out, r.err.splitlines()[0]), (3, "", f"seine: cannot listen on '{taken}'"))


finish(at_once=4)
