#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Through proxies that others wrote, tinyproxy and microsocks, to the evil server; through
the evil server as a proxy; and curl through it, so that somebody else says it is one."""
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, case, check, environment, finish, free_port, seine  # noqa: E402
from origin import origin, results  # noqa: E402

LOGIN = "joe:S3cretPass"


@contextlib.contextmanager
def running(words, port):
    """A process that listens; ended by its id."""
    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
    try:
        for _ in range(250):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.02)
        else:
            raise RuntimeError(f"{words[0]} did not start")
        yield port
    finally:
        p.terminate()
        p.wait(timeout=PATIENCE)


@contextlib.contextmanager
def tinyproxy(login=None, more=""):
    with tempfile.TemporaryDirectory() as home:
        port = free_port()
        config = os.path.join(home, "tinyproxy.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"Port {port}\nListen 127.0.0.1\nTimeout 30\nMaxClients 50\nLogFile \"{home}/log\"\nLogLevel Error\nPidFile \"{home}/pid\"\n{more}")
            if login:
                f.write("BasicAuth {} {}\n".format(*login.split(":")))
        with running(["tinyproxy", "-d", "-c", config], port):
            yield port


def microsocks(login=None):
    port = free_port()
    words = ["microsocks", "-i", "127.0.0.1", "-p", str(port)]
    return running(words + (["-u", login.split(":")[0], "-P", login.split(":")[1]] if login else []), port)


def fetch(*words, env=None):
    r = seine("fetch", "--mine", "--retries", "0", "--body", "text", *words, env=env)
    for text in (r.out, r.err):
        if "S3cretPass" in text:
            raise AssertionError("a login was shown: " + text)
    return r


def bodies(r):
    return [x.get("body") for x in results(r.out)]


def kinds(r):
    return [x.get("error", {}).get("kind", "ok") for x in results(r.out)]


def error(r):
    return results(r.out)[0]["error"]


@case
def tinyproxy_passes_requests_on():
    with origin() as o, tinyproxy() as port:
        r = fetch("-x", f"http://127.0.0.1:{port}", *[o.url(f"/bytes:{100 + n}") for n in range(20)])
        check(kinds(r), ["ok"] * 20)
        check(sorted(x["bytes_body"] for x in results(r.out)), [100 + n for n in range(20)])
        check(o.report()["totals"]["requests"], 20)
        check(f"through the proxy http://127.0.0.1:{port} (resolves names)" in r.err, True, r.err)
        r = fetch("-x", f"http://127.0.0.1:{port}", o.url("/status:404"), o.url("/redir:2"), o.url("/echo"))
        check(sorted(kinds(r)), ["http", "ok", "ok"])
        check("roxy-authorization" in r.out, False)


@case
def tinyproxy_wants_a_login():
    with origin() as o, tinyproxy(LOGIN) as port:
        r = fetch("-x", f"http://{LOGIN}@127.0.0.1:{port}", o.url("/ok"), o.url("/echo"))
        check(kinds(r), ["ok", "ok"])
        check("roxy-" in r.out, False)  # it kept what was meant for it
        r = fetch("-x", f"http://127.0.0.1:{port}", o.url("/ok"))
        check((error(r)["kind"], error(r)["phase"]), ("proxy_auth", "proxy"))
        # To a wrong login it says 401, which is what a site says: nobody can tell.
        r = fetch("-x", f"http://joe:WrongS3cretPass@127.0.0.1:{port}", o.url("/ok"))
        check((error(r)["kind"], results(r.out)[0]["status"]), ("http", 401))
        r = fetch("-x", "env:THE_PROXY", o.url("/ok"), env={"THE_PROXY": f"http://{LOGIN}@127.0.0.1:{port}"})
        check(kinds(r), ["ok"])
        check(o.report()["totals"]["requests"], 3)


def may_name(kind):
    """Has this machine a localhost? With socks5h the proxy has to ask it; with socks5 we know."""
    try:
        return kind == "socks5" or socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)[0][4][0] == "127.0.0.1"
    except OSError:
        return False


@case
def microsocks_leads_there_by_name_and_by_address():
    with origin("--dns") as o, microsocks() as port:
        there = o.url("/ok")
        for kind in ("socks5", "socks5h"):
            urls = [there] + [o.url("/ok?2", "localhost")] * may_name(kind)
            r = fetch("-x", f"{kind}://127.0.0.1:{port}", *urls)
            check(bodies(r), ["ok\n"] * len(urls), kind)
        # Names under .test are known to the server's own resolver alone: to us.
        name = o.url("/ok?3", "a.test")
        r = fetch("-x", f"socks5://127.0.0.1:{port}", "--dns", o.places["dns"], name)
        check(bodies(r), ["ok\n"])
        r = fetch("-x", f"socks5h://127.0.0.1:{port}", "--dns", o.places["dns"], name)
        check(error(r)["kind"], "proxy_error")
        check("(reply " in error(r)["message"], True, error(r)["message"])


@case
def microsocks_wants_a_login():
    with origin() as o, microsocks(LOGIN) as port:
        r = fetch("-x", f"socks5h://{LOGIN}@127.0.0.1:{port}", *[o.url(f"/ok?{n}") for n in range(10)])
        check(bodies(r), ["ok\n"] * 10)
        r = fetch("-x", f"socks5h://joe:WrongS3cretPass@127.0.0.1:{port}", o.url("/ok"))
        check((error(r)["kind"], error(r)["phase"]), ("proxy_auth", "proxy"))
        r = fetch("-x", f"socks5h://127.0.0.1:{port}", o.url("/ok"))
        check(error(r)["kind"], "proxy_auth")


@case
def microsocks_says_why_it_cannot():
    with origin() as o, microsocks() as port:
        dead = o.places["dead"].rsplit(":", 1)[1]
        r = fetch("-x", f"socks5://127.0.0.1:{port}", f"http://127.0.0.1:{dead}/")
        check(error(r)["kind"], "proxy_error")
        check(error(r)["message"], f"proxy socks5://127.0.0.1:{port}: connection refused (reply 5)")


@contextlib.contextmanager
def secure():
    """An evil server with TLS, the words that trust it, and its port."""
    with tempfile.TemporaryDirectory() as home:
        ca = os.path.join(home, "ca.pem")
        with origin("--tls", "--ca-out", ca) as o:
            yield o, ["--cacert", ca], int(o.places["https"].rsplit(":", 1)[1])


@case
def tinyproxy_opens_tunnels_for_https():
    with secure() as (o, trust, there), tinyproxy(LOGIN, more=f"ConnectPort {there}\n") as port:
        proxy = f"http://{LOGIN}@127.0.0.1:{port}"
        urls = [f"https://127.0.0.1:{there}/bytes:{100 + n}" for n in range(20)]
        r = fetch(*trust, "-x", proxy, *urls)
        check(kinds(r), ["ok"] * 20)
        check({x["tls"]["verified"] for x in results(r.out)}, {True})
        check(bodies(fetch(*trust, "-x", proxy, f"https://localhost:{there}/ok")), ["ok\n"])  # resolved there
        r = fetch(*trust, "-x", f"http://127.0.0.1:{port}", urls[0])
        check((error(r)["kind"], error(r)["phase"]), ("proxy_auth", "proxy"))
        # A port it was not told of.
        r = fetch(*trust, "-x", proxy, o.places["dead"].replace("http:", "https:"))
        check(error(r)["kind"], "proxy_refused")
        check(error(r)["message"], f"proxy http://127.0.0.1:{port}: answered 403")
        r = fetch("-x", proxy, urls[0])  # trusted by nobody
        check((error(r)["kind"], error(r)["phase"]), ("tls_untrusted", "tls"))


@case
def what_may_pass_at_a_proxy_is_tried_again():
    answers, asked = [502, 503, 504, 403], []
    with socket.create_server(("127.0.0.1", 0)) as s:
        def serve():
            for status in answers:
                c, _ = s.accept()
                with c:
                    asked.append(c.recv(65536).split()[0])
                    c.sendall(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
                    c.shutdown(socket.SHUT_WR)
                    c.recv(65536)

        threading.Thread(target=serve, daemon=True).start()
        r = fetch("-x", f"http://127.0.0.1:{s.getsockname()[1]}", "--retries", "9", "--backoff", "1ms..2ms", "https://a.test/")
    got = results(r.out)[0]
    check((got["error"]["kind"], got["attempts"], asked), ("proxy_refused", 4, [b"CONNECT"] * 4))
    check([t["error"]["kind"] for t in got["tries"]][:3], ["proxy_error"] * 3, str(got["tries"]))


@case
def microsocks_leads_to_https():
    with secure() as (_, trust, there), microsocks(LOGIN) as port:
        for kind in ("socks5", "socks5h"):
            urls = [f"https://127.0.0.1:{there}/ok"] + [f"https://localhost:{there}/ok"] * may_name(kind)
            r = fetch(*trust, "-x", f"{kind}://{LOGIN}@127.0.0.1:{port}", *urls)
            check(bodies(r), ["ok\n"] * len(urls), kind)


@case
def the_evil_server_is_a_proxy_with_tls():
    with secure() as (o, trust, there):
        proxy = f"https://{LOGIN}@127.0.0.1:{there}"
        r = fetch(*trust, "-x", proxy, "https://a.test/ok", "http://a.test/ok")
        check(bodies(r), ["ok\n", "ok\n"])
        check(o.report()["totals"]["proxied"], 2)
        r = fetch("-x", proxy, "-k", "https://a.test/ok")  # -k is for hosts
        check((error(r)["kind"], error(r)["phase"]), ("proxy_error", "proxy"))


@case
def the_environment_chooses_and_no_proxy_forbids():
    with origin() as o, tinyproxy() as http, microsocks() as socks:
        env = {"http_proxy": f"http://127.0.0.1:{http}", "ALL_PROXY": f"socks5h://127.0.0.1:{socks}"}
        r = fetch(o.url("/ok"), env=env)
        check(f"for http http://127.0.0.1:{http} (resolves names), for https socks5h://127.0.0.1:{socks} (resolves names)" in r.err, True, r.err)
        check(o.report()["totals"]["requests"], 1)
        for no in ({"no_proxy": "127.0.0.0/8"}, {"NO_PROXY": f"127.0.0.1:{o.port}"}, {"no_proxy": "*"}):
            dead = {"http_proxy": "http://127.0.0.1:1", **no}
            check(kinds(fetch(o.url("/ok"), env=dead)), ["ok"], str(no))
        dead = {"http_proxy": "http://127.0.0.1:1"}
        check(kinds(fetch("--no-proxy", "127.0.0.1", o.url("/ok"), env=dead)), ["ok"])
        check(kinds(fetch("--no-proxy", "*", o.url("/ok"), env=dead)), ["ok"])
        check(kinds(fetch("-x", "off", o.url("/ok"), env=dead)), ["ok"])
        check(kinds(fetch("--untrusted-urls", "--allow-net", "127.0.0.1", o.url("/ok"), env=dead)), ["ok"])
        r = fetch(o.url("/ok"), env=dead)
        check(kinds(r), ["proxy_error"])
        check(kinds(fetch(o.url("/ok"), env={"HTTP_PROXY": "http://127.0.0.1:1"})), ["ok"])  # a header may have set it
        r = fetch(o.url("/ok"), env={"https_proxy": f"https://{LOGIN}@p:x"})
        check((r.code, "https_proxy: not a port number" in r.err), (2, True), r.err)


@case
def a_dead_proxy_ends_many_urls_quickly_and_blames_no_host():
    urls = "\n".join(f"http://h{n}.example/" for n in range(300))
    r = seine("fetch", "-i", "-", "-x", f"http://{LOGIN}@127.0.0.1:1", "--mine", "--retries", "0", "--breaker", "fail=5,open=200ms,park=1", stdin=urls)
    rows = results(r.out)
    check(len(rows), 300)
    check({x["error"]["kind"] for x in rows}, {"proxy_error"})
    check("S3cretPass" in r.out + r.err, False)
    last = json.loads(r.out.splitlines()[-1])
    check(sum(h["breaker_opens"] for h in last["top_hosts"]), 0)


@case
def the_evil_server_is_a_proxy_for_curl():
    with tempfile.TemporaryDirectory() as home:
        ca = os.path.join(home, "ca.pem")
        with origin("--tls", "--ca-out", ca) as o:
            socks = o.places["socks"].rsplit(":", 1)[1]
            https = o.places["https"].rsplit(":", 1)[1]
            for proxy in (o.base, f"https://127.0.0.1:{https}", f"socks5h://127.0.0.1:{socks}"):
                for url in ("http://a.test/ok", "https://a.test/ok"):
                    p = subprocess.run(["curl", "-sS", "--max-time", "20", "--cacert", ca, "--proxy-cacert", ca, "-x", proxy, url],
                                       capture_output=True, env=environment(), timeout=PATIENCE)
                    check((p.returncode, p.stdout.decode()), (0, "ok\n"), f"{proxy} {url} {p.stderr.decode()}")
            check(o.report()["totals"]["proxied"], 6)


finish(at_once=4)
