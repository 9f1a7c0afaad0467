#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P10: secrets stay with their origin and out of sight. Every kind of secret goes through
chains of redirects over hosts, ports and schemes; the witness of the other origins, every
output, log, metric and message, and the process list are searched for it: as it is,
percent-encoded, and inside of base64."""
import base64
import gzip
import http.client
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
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine, until  # noqa: E402
from origin import origin, results  # noqa: E402
from terminal import Terminal  # noqa: E402

BEARER = "tok-7Qx/9+Zk=ümlaut&x".encode()   # every character that an encoding touches
KEY = b"key-41ab%20cd 0123456789"
COOKIE = b"sid-abcdef0123456789"
PASSWORD = b"pass:w0rd?of#joe"
TYPED = b"cookie-of-mine-77"
ALL = (BEARER, KEY, COOKIE, PASSWORD, TYPED)
hops = []


def core(value, before):
    """The characters of base64 that are the value's alone, behind so many other bytes."""
    code = base64.b64encode(b"\0" * before + value).decode()
    return code[(8 * before + 5) // 6:8 * (before + len(value)) // 6]


def spellings(value):
    text = value.decode()
    found = {value, urllib.parse.quote(value).encode(), urllib.parse.quote(value, safe="").encode(),
             urllib.parse.quote_plus(text).encode(), "".join(f"%{b:02x}" for b in value).encode(), "".join(f"%{b:02X}" for b in value).encode(),
             json.dumps(text)[1:-1].encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode()}
    for before in range(3):
        std = core(value, before)
        found |= {std.encode(), std.replace("+", "-").replace("/", "_").encode(), urllib.parse.quote(std, safe="").encode()}
    return found


def clean(where, data, values=ALL):
    data = data.encode() if isinstance(data, str) else data
    for value in values:
        for form in spellings(value):
            if form in data:
                at = data.index(form)
                raise AssertionError(f"{where} shows {form!r}: {data[max(0, at - 80):at + 80]!r}")


def clean_files(folder, values=ALL):
    n = 0
    for root, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(root, name), "rb") as f:
                data = f.read()
            clean(name, data, values)
            if name.endswith(".gz"):
                clean(name, gzip.decompress(data), values)
            n += 1
    return n


class World:
    """Two servers: a.test and b.test on two ports are four origins."""

    def __init__(self, one, two):
        self.one, self.two = one, two
        self.home = f"http://a.test:{one.port}"
        self.dns = ["--dns", one.places["dns"]]

    def register(self, values=ALL, origins=None):
        for o in (self.one, self.two):
            for value in values:
                for where in origins or [self.home]:
                    self.post(o, "/_chaos/secret", {"value": value.decode(), "origin": where})

    @staticmethod
    def post(o, path, body):
        c = http.client.HTTPConnection("127.0.0.1", o.port, timeout=PATIENCE)
        c.request("POST", path, json.dumps(body))
        r = c.getresponse()
        text = r.read()
        c.close()
        check(r.status in (200, 204), True, text.decode())

    def places(self):
        """The other origins, and home again in between: ten hops in all."""
        a, b = self.one.port, self.two.port
        return [f"http://a.test:{a}", f"http://b.test:{a}", f"http://a.test:{b}", f"http://a.test:{a}", f"http://b.test:{b}", f"http://x.a.test:{a}",
                f"http://a.test:{a}", f"http://aa.test:{a}", f"http://127.0.0.1:{a}", f"http://a.test:{a}"]

    def chain(self, first="/start", last="/end", status=302, user="eve:pw@"):
        """From home over all of them; every Location names a user of its own."""
        places = self.places()
        url = places[-1] + last
        for place in reversed(places[:-1]):
            where = url.replace("://", "://" + user, 1)
            url = f"{place}/to:{status}?u={urllib.parse.quote(where, safe='')}"
        return f"{self.home}/to:{status}?u={urllib.parse.quote(url, safe='')}"

    def judge(self):
        """No leak seen; answers how many requests were looked at."""
        n = 0
        for o in (self.one, self.two):
            report = o.report()
            check(report["leaks"], [], "leaks")
            n += len(o.log())
        hops.append(n)
        return n


def with_world(fn, *words):
    with origin("--dns", *words) as one, origin("--dns", *words) as two:
        return fn(World(one, two))


def case_in_world(fn):
    def run():
        with_world(fn)
    run.__name__ = fn.__name__
    return case(run)


def header_words(folder):
    with open(os.path.join(folder, "key"), "wb") as f:
        f.write(KEY + b"\n")
    with open(os.path.join(folder, "lines"), "wb") as f:
        f.write(b"# of the job\nX-File: file:" + os.path.join(folder, "key").encode() + b"\nCookie: sid=" + COOKIE + b"\n")
    return ["-H", b"Authorization: Bearer " + BEARER, "-H", "X-Env: env:MY_KEY", "-H", "@" + os.path.join(folder, "lines"), "-e",
            b"http://joe:" + COOKIE + b"@a.test/page?q=1", "-b", b"typed=" + TYPED]


ENV = {b"MY_KEY": KEY}


def run(words, env=None, stdin=b"", cwd=None):
    full = {k.encode(): v.encode() for k, v in environment().items()}
    full.update(env if env is not None else ENV)
    return subprocess.run([PROGRAM, "fetch", *words], input=stdin, capture_output=True, env=full, cwd=cwd, timeout=PATIENCE)


@case_in_world
def ten_hops_to_other_origins_carry_no_secret_and_home_gets_all(w):
    w.register()
    with tempfile.TemporaryDirectory() as folder:
        p = run([*w.dns, "--mine", *header_words(folder), "-j", "--body", "text", w.chain(last="/echo")])
    record = results(p.stdout.decode())[0]
    check((record["status"], len(record["redirects"])), (200, 10), p.stderr.decode())
    check(w.judge(), 11)
    got = record["body"].encode()   # the server's echo, at home again
    for value in (BEARER, KEY, COOKIE, TYPED):
        check(value in got or json.dumps(value.decode(errors="replace"))[1:-1].encode() in got, True, str(value))
    check(b"joe:" not in got, True)
    check([h["url"] for h in record["redirects"] if "@" in h["url"]], [])


@case_in_world
def a_chain_that_never_comes_home_is_followed_without_them(w):
    w.register()
    where = urllib.parse.quote(f"http://b.test:{w.one.port}/echo", safe="")
    with tempfile.TemporaryDirectory() as folder:
        p = run([*w.dns, *header_words(folder), "-j", "--body", "text", f"{w.home}/to:302?u={where}"])
    record = results(p.stdout.decode())[0]
    check(record["status"], 200)
    clean("the echo of another origin", record["body"])
    check('"referer"' in record["body"].lower(), True)      # its origin alone: http://a.test/
    check("page?q" in record["body"], False)
    check(w.judge(), 2)


@rows([("-u typed", ["-u", b"joe:" + PASSWORD], {}), ("-u env", ["-u", "joe:env:PW"], {b"PW": PASSWORD}),
       ("-u all of it", ["-u", "env:PW"], {b"PW": b"joe:" + PASSWORD})])
def a_login_stays_at_home(name, words, env):
    def test(w):
        w.register([PASSWORD, base64.b64encode(b"joe:" + PASSWORD)])
        w.post(w.one, "/_chaos/script", {"host": "a.test", "match": "/door", "fault": "auth:basic:joe:" + urllib.parse.quote(PASSWORD.decode(), safe="") + "/ok"})
        p = run([*w.dns, "--mine", *words, "-j", w.chain(last="/door"), w.chain(last="/ok?n=2"), "--log", "json", "-vvv"], env)
        check([r["status"] for r in results(p.stdout.decode())], [200, 200], p.stdout.decode())
        check(w.judge(), 22)
        clean("stdout", p.stdout)
        clean("stderr", p.stderr)
    with_world(test)


@case_in_world
def a_login_in_a_url_stays_at_its_origin_and_in_no_record(w):
    w.register([PASSWORD, base64.b64encode(b"joe:" + PASSWORD)])
    w.post(w.one, "/_chaos/script", {"host": "a.test", "match": "/door", "fault": "auth:basic:joe:" + urllib.parse.quote(PASSWORD.decode(), safe="") + "/ok"})
    login = "://joe:" + urllib.parse.quote(PASSWORD.decode(), safe="") + "@"
    url = w.chain(last="/door").replace("://", login, 1)
    bad = f"http{login}a.test:99999/", f"ftp{login}a.test/", f"http{login}[::1/"
    p = run([*w.dns, "--mine", "-j", url, *bad, "-vvv"], {})
    records = results(p.stdout.decode())
    check([r["status"] for r in records if r["type"] == "result"], [200], p.stdout.decode())
    check(sum(r["type"] == "skip" for r in records), 3)
    check([r for r in records if "@" in r["input"] or "joe" in json.dumps(r)], [])
    check(w.judge(), 11)
    clean("stdout", p.stdout)
    clean("stderr", p.stderr)
    # as a list, and as JSON lines with headers of their own
    lines = (url + "\n" + "\n".join(bad) + "\n").encode()
    clean("stdout", run([*w.dns, "--mine", "-j", "-"], {}, stdin=lines).stdout)
    line = json.dumps({"url": w.chain(), "headers": {"X-Own": COOKIE.decode()}, "id": "1"}) + "\n" + '{"url":"x","headers":{"X":"' + COOKIE.decode() + '"},,}\n'
    w.register([COOKIE])
    p = run([*w.dns, "--mine", "-j", "--input-format", "jsonl", "-", "-vvv"], {}, stdin=line.encode())
    clean("stdout", p.stdout)
    clean("stderr", p.stderr)
    check(w.judge() > 30, True)


@case
def over_https_and_down_to_http_they_stay_at_home():
    """The scheme is part of the origin: https home, http away, and a downgrade is noted."""
    with tempfile.TemporaryDirectory() as folder, origin("--dns", "--tls", "--ca-out", os.path.join(folder, "ca.pem")) as o:
        tls = int(o.places["https"].rsplit(":", 1)[1])
        home = f"https://a.test:{tls}"
        w = World(o, o)
        w.register(origins=[home])
        url = home + "/ok"
        for place in reversed([home, f"http://a.test:{o.port}", f"https://b.test:{tls}", f"http://b.test:{o.port}", home, f"https://x.a.test:{tls}", home]):
            url = f"{place}/to:302?u={urllib.parse.quote(url, safe='')}"
        words = [*w.dns, "--mine", "--cacert", os.path.join(folder, "ca.pem"), *header_words(folder), "-j", "--log", "json", "-vvv"]
        p = run([*words, url])
        record = results(p.stdout.decode())[0]
        check((record["status"], len(record["redirects"]), "downgrade" in record["notes"]), (200, 7, True), p.stdout.decode())
        clean("stdout", p.stdout)
        clean("stderr", p.stderr)
        p = run([*words, "--https-only", url])
        check(results(p.stdout.decode())[0]["error"]["kind"], "redirect_refused")
        check(o.report()["leaks"], [])
        hops.append(len(o.log()))


@rows([("http://joe:{pw}@127.0.0.1:{http}",), ("socks5://joe:{pw}@{socks}",), ("http://joe:{pw}@127.0.0.1:{dead}",), ("nonsense://joe:{pw}@x",)])
def a_login_for_a_proxy_is_seen_by_the_proxy_alone(form):
    pw = urllib.parse.quote(PASSWORD.decode(), safe="")

    def test(w):
        proxy = form.format(pw=pw, http=w.one.port, socks=w.one.places["socks"].split("//")[1], dead=w.one.places["dead"].rsplit(":", 1)[1])
        w.register([PASSWORD, base64.b64encode(b"joe:" + PASSWORD)], [f"http://127.0.0.1:{w.one.port}"])
        p = run([*w.dns, "-x", proxy, "--retries", "0", "-j", "--log", "json", "-vvv", w.chain()], {})
        clean("stdout", p.stdout)
        clean("stderr", p.stderr)
        check(w.one.report()["leaks"], [])
        check(p.returncode == 2, "nonsense" in form, p.stderr.decode())
    with_world(test)


@case_in_world
def conditions_and_bodies_go_no_further_than_the_table_says(w):
    b = urllib.parse.quote(f"http://b.test:{w.one.port}/echo", safe="")
    back = urllib.parse.quote(f"{w.home}/echo", safe="")
    words = [*w.dns, "--mine", "-j", "--body", "text"]

    def ask(url, *more):
        r = results(run([*words, *more, url]).stdout.decode())[0]
        return r, (r.get("body") or "").lower()

    conditions = ["-H", 'If-None-Match: "e"', "-H", "Range: bytes=0-9"]
    for where in (b, back):                                             # not even to another URL of the origin
        r, echo = ask(f"{w.home}/to:302?u={where}", *conditions)
        check((r["status"], "if-none-match" in echo, "bytes=0-9" in echo), (200, False, False), echo)
    for status, where, more, want in [(307, b, [], "redirect_refused"), (308, b, [], "redirect_refused"), (307, b, ["--follow-body"], "secret-body"),
                                      (307, back, [], "secret-body"), (302, b, [], "GET"), (303, b, [], "GET"), (301, back, [], "GET")]:
        r, echo = ask(f"{w.home}/to:{status}?u={where}", "-d", "secret-body", *more)
        if want == "redirect_refused":
            check(r["error"]["kind"], want)
        elif want == "GET":
            check(("secret-body" in echo, "content-type\",\"application/x-www" in echo), (False, False), echo)
        else:
            check("secret-body" in echo, True, echo)


@case_in_world
def every_output_is_silent_about_them(w):
    """All sinks, summary, log file, metrics file; -vvv as text and as JSON; errors on the way."""
    w.register()
    a, dead = w.home, w.one.places["dead"]
    urls = [w.chain(), f"{a}/status:404", f"{a}/status:401", f"{a}/loop", f"{a}/to:302", f"{a}/to:302?u=ftp://joe:{PASSWORD.hex()}@x/", f"{dead}/x",
            f"{a}/reset:0", f"{a}/badstatus", f"{a}/fin:5:body/ok", "http://nx.test:1/", f"{a}/status:503?fail=1", f"{a}/head:X-Back:1/ok",
            f"{a}/ok?token={COOKIE.decode()}&n=1"]
    more = [word for name in ("a.jsonl.gz", "a.sqlite", "a.warc.gz", "b.warc") for word in ("-o", name)
            if "not written yet" not in seine("fetch", "-o", "/no/such/" + name, dead).err]
    for log in ("text", "json"):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as given:
            p = run([*w.dns, "--mine", "--backoff", "1ms..1ms", *header_words(given), "-u", b"joe:" + PASSWORD, "--log", log, "-vvv", "-o", "a.csv", *more, "--summary", "sum.json", "--metrics-file", "m.prom", "--events", "--progress", "line", *urls[:-1]], cwd=folder)
            check(p.returncode in (0, 1), True, p.stderr.decode())
            clean("stderr", p.stderr)
            check(clean_files(folder) >= 3 + len(more) // 2, True)
            # the URL is data in records, and a secret everywhere else
            p = run([*w.dns, "--mine", "--log", log, "-vvv", "-o", "c.jsonl", urls[-1]], {}, cwd=folder)
            clean("stderr", p.stderr)
            with open(os.path.join(folder, "c.jsonl"), "rb") as f:
                check(COOKIE in f.read(), True)
    w.judge()


@case_in_world
def messages_about_what_was_typed_wrong_show_none(w):
    login = b"http://joe:" + PASSWORD.replace(b"?", b"%3F").replace(b"#", b"%23")
    for words in ([login + b"@a.test/", "--bogus"], ["-H", b"Authorization " + BEARER], ["-H", b"X: " + BEARER + b"\x01"], ["--base", login + b"@[/", "x"],
                  ["-u", b"joe:" + PASSWORD, "-I", "-d", "x"], [login + b"@a.test/", "--retries", "x"], ["-H", b"X-Long: " + b"k" * 9000, "http://a.test/"],
                  ["-H", b"Authorization: Bearer " + BEARER, "-i", b"/no/such/" + BEARER.replace(b"/", b"_"), "-o", b"/no/such/" + BEARER]):
        p = run(words)
        check(p.returncode, 2, str(words))
        clean("stdout", p.stdout)
        clean("stderr", p.stderr)
    check(len(w.one.log()), 0)


@case_in_world
def a_terminal_shows_none_in_rows_bars_and_status(w):
    with tempfile.TemporaryDirectory() as folder:
        words = [os.fsdecode(x) for x in header_words(folder)]
        urls = [f"{w.home}/delay:300ms/ok?sid={COOKIE.decode()}&n={n}" for n in range(8)]
        t = Terminal(["fetch", *w.dns, "--per-host", "2", *words, *urls, f"http://joe:{COOKIE.decode()}@a.test:99999/"], columns=200,
                     env={"MY_KEY": KEY.decode()})
        t.read(0.9)
        t.kill(10)      # SIGUSR1
        t.wait()
        clean("the terminal", t.bytes)
        check("REDACTED" in t.text() and "p50" in t.text(), True, t.text())
        check(all(f"REDACTED&n={n}" in t.text() for n in range(8)), True, t.text())


@rows([("typed", True), ("quiet", False)])
def the_process_list_shows_none_and_a_note_says_so_once(name, noted):
    def test(w):
        login = "http://joe:" + urllib.parse.quote(PASSWORD.decode(), safe="") + "@a.test"
        with tempfile.TemporaryDirectory() as folder:
            env = {k.encode(): v.encode() for k, v in environment().items()}
            env.update(ENV)
            p = subprocess.Popen([PROGRAM, "fetch", *([] if noted else ["-q"]), *w.dns, "--mine", *header_words(folder), "-u", b"joe:" + PASSWORD, "-j",
                                  "--metrics", "127.0.0.1:0", f"{w.home}/delay:1500ms/ok", f"{login}:{w.one.port}/delay:1500ms/ok?n=2"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
            until(lambda: w.one.report()["totals"]["requests"] >= 2)
            check(p.poll(), None, "it still runs")
            with open(f"/proc/{p.pid}/cmdline", "rb") as f:
                words = f.read()
            with open(f"/proc/{p.pid}/status", encoding="utf-8") as f:
                status = f.read()
            with open(f"/proc/{p.pid}/limits", encoding="utf-8") as f:
                limits = f.read()
            try:
                with open(f"/proc/{p.pid}/environ", "rb") as f:
                    clean("environ", f.read())
            except OSError:
                pass    # nobody may look at all: better still
            out, err = p.communicate(timeout=PATIENCE)
        clean("cmdline", words)
        check(b"Authorization: *" in words and b"joe:*" in words and b"X-Env: env:MY_KEY" in words, True, str(words))
        check(re.search(r"NoNewPrivs:\s+1", status) is not None, True, status)
        check(re.search(r"Max core file size\s+0\s+0", limits) is not None, True, limits)
        check(err.decode().count("a secret on the command line"), int(noted), err.decode())
        clean("stdout", out)
        clean("stderr", err)
        check([r["status"] for r in results(out.decode())], [200, 200])
    with_world(test)


@case
def no_note_where_nothing_secret_was_typed():
    with origin() as o:
        for words in (["-H", "Accept: text/html"], ["-H", "X-A: env:HOME"], ["-H", "Content-Type: a/b"], ["-A", "me"]):
            check(seine("fetch", "-j", *words, o.url("/ok")).err.count("a secret"), 0, str(words))


@case_in_world
def metrics_name_no_secret_while_it_runs(w):
    with tempfile.TemporaryDirectory() as folder:
        env = {k.encode(): v.encode() for k, v in environment().items()}
        env.update(ENV)
        p = subprocess.Popen([PROGRAM, "fetch", *w.dns, "--mine", *header_words(folder), "-j", "--metrics", "127.0.0.1:0", w.chain(), f"{w.home}/delay:1s/ok?key={COOKIE.decode()}"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
        line = p.stderr.readline().decode()
        while "/metrics" not in line:
            line = p.stderr.readline().decode()
        where = re.search(r"http://[0-9.:]+/metrics", line).group(0)
        for path in (where, where.replace("/metrics", "/healthz?verbose")):
            try:
                with urllib.request.urlopen(path, timeout=PATIENCE) as r:
                    clean(path, r.read())
            except urllib.error.HTTPError as e:     # not ready yet: it may say so, and nothing else
                check(e.code, 503)
                clean(path, e.read())
        p.communicate(timeout=PATIENCE)


@case_in_world
def a_password_is_asked_on_the_terminal_and_not_shown(w):
    w.post(w.one, "/_chaos/script", {"host": "a.test", "match": "/door", "fault": "auth:basic:joe:" + urllib.parse.quote(PASSWORD.decode(), safe="") + "/ok"})
    t = Terminal(["fetch", *w.dns, "-j", "--progress", "off", "-u", "joe", f"{w.home}/door"])
    check(t.until("Password for joe: "), True, t.text())
    os.write(t.master, b"wrong\x15" + PASSWORD + b"x\x7f\n")     # ^U and backspace work
    check(t.wait(), 0, t.text())
    check('"status":200' in t.text(), True, t.text())
    clean("the terminal", t.bytes)
    check("wrong" in t.text(), False)
    t = Terminal(["fetch", *w.dns, "-u", "joe", f"{w.home}/door"])
    check(t.until("Password for joe: "), True, t.text())
    os.write(t.master, b"pass\x03")
    check(t.wait(), 130, t.text())


@case
def without_a_terminal_a_password_cannot_be_asked():
    p = subprocess.run([PROGRAM, "fetch", "-u", "joe", "http://127.0.0.1:9/"], stdin=subprocess.DEVNULL, capture_output=True, env=environment(),
                       start_new_session=True, timeout=PATIENCE)
    check((p.returncode, p.stderr.decode().split("\n")[0]), (2, "seine: --user: no password, and no terminal to ask for it"))


@case
def headers_come_from_files_and_the_environment():
    with origin() as o, tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "key"), "wb") as f:
            f.write(KEY + b" \r\n\n")
        with open(os.path.join(folder, "lines"), "w", encoding="utf-8") as f:
            f.write("# comment\n\nX-One: 1\r\nX-Two: env:MY_KEY\nX-Three: file:key\n")
        p = run(["-j", "--body", "text", "-H", "@lines", "-H", "X-Four: file:key", o.url("/echo")], cwd=folder)
        body = results(p.stdout.decode())[0]["body"]
        for name, value in (("x-one", "1"), ("x-two", KEY.decode()), ("x-three", KEY.decode()), ("x-four", KEY.decode())):
            check(f'["{name}","{value}"]' in body.replace('", "', '","').lower(), True, body)


def summary_of_hops():
    """How many requests the witnesses looked at."""
    print(f"0 leaks of {sum(hops)} hops")
    check(sum(hops) > 100, True)


finish(at_once=8, last=summary_of_hops)
