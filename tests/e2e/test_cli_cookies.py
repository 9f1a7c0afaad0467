#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cookies of `seine fetch` and `seine http cookie`: taken, sent, kept in files that curl,
wget and Python read, and never seen where they do not belong: the witness looks."""
import http.cookiejar
import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from origin import origin, results  # noqa: E402

KINDS = ["foreign", "suffix", "child", "ctl", "nul", "secure", "host", "hostdomain"]
LATER = 4000000000  # as Unix time: long after 400 days


def fetch(o, *words):
    """In order, one at a time."""
    r = seine("fetch", "--mine", "-c", "1", "--threads", "1", "--dedup", "off", "--retries", "0", "--body", "text", "--no-summary",
              "-j", "--dns", o.places["dns"], "--breaker", "off", *words)
    return r, results(r.out)


def cookies(row):
    """What an echo says it was sent."""
    fields = [value for name, value in json.loads(row["body"])["headers"] if name.lower() == "cookie"]
    check(len(fields) <= 1, True, "one field")
    return fields[0] if fields else None


def secret(o, value, origin_):
    body = json.dumps({"value": value, "origin": origin_})
    subprocess.run(["curl", "-sf", "-d", body, o.url("/_chaos/secret")], check=True, stdout=subprocess.DEVNULL)


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [line for line in f.read().splitlines() if line and (not line.startswith("#") or line.startswith("#HttpOnly_"))]


class Home:
    def __enter__(self):
        self.dir = tempfile.TemporaryDirectory()
        return lambda *name: os.path.join(self.dir.name, *name)

    def __exit__(self, *_):
        self.dir.cleanup()


@case
def without_a_word_no_cookie_is_sent():
    with origin("--dns") as o:
        urls = [o.url("/cookie:n:v/ok", "a.test"), o.url("/echo", "a.test")]
        _, out = fetch(o, *urls)
        check(cookies(out[1]), None)
        _, out = fetch(o, "--cookies", *urls)
        check(cookies(out[1]), "n=v")
        _, out = fetch(o, "--no-cookies", "-b", "x=y", *urls)
        check(cookies(out[1]), "x=y")


@case
def cookies_and_secrets_stay_with_their_hosts_on_every_redirect():
    with origin("--dns") as o:
        home = f"http://a.test:{o.port}"
        secret(o, "sesame-123", home)
        secret(o, "typed-456", home)
        secret(o, "field-789", home)
        paths = ["/cookie:sid:sesame-123/ok", "/echo", "/away:b.test/echo", "/away:b.test:307/redir:2/echo", "/away:sub.a.test/echo",
                 "/away:b.test:301/away:a.test/echo", "/status:404", "/fin:5:body/bytes:9"]
        r, out = fetch(o, "--cookies", "-b", "u=typed-456", "-H", "X-Key: field-789", *[home + p for p in paths])
        check(cookies(out[1]), "sid=sesame-123; u=typed-456")
        for i in (2, 3, 4):
            check(cookies(out[i]), None, paths[i])
        check(cookies(out[5]), "sid=sesame-123; u=typed-456")  # home again
        check(o.report()["leaks"], [])
        check("sesame-123" in r.err or "typed-456" in r.err, False)


@rows([(k,) for k in KINDS])
def no_jar_takes_a_trap(kind):
    with origin("--dns") as o:
        hosts = ["a.test", "another-host.test", "child.a.test", "test", "127.0.0.1", "localhost"]
        urls = []
        for host in hosts:
            if (kind, host) in (("foreign", "another-host.test"), ("suffix", "test"), ("suffix", "localhost")):
                continue  # at home there: a host may name itself
            urls += [o.url(f"/badcookie:{kind}/ok", host)] + [o.url("/echo", h) for h in hosts]
        with Home() as home:
            r, _ = fetch(o, "--cookie-jar", home("jar"), *urls)
            check(lines(home("jar")), [])
        report = o.report()
        check(report["leaks"], [])
        check(report["totals"]["requests"] > 20, True)


@case
def too_many_and_too_large_ones_are_bounded():
    with origin("--dns") as o, Home() as home:
        r, out = fetch(o, "--cookie-jar", home("jar"), *[o.url(p, "a.test") for p in ("/cookies:100/ok", "/bigcookie:5000/ok", "/bigcookie:4000/ok", "/echo")])
        check([x["outcome"] for x in out], ["ok"] * 4)
        check(len(lines(home("jar"))) <= 50, True)
        check(0 < len(cookies(out[3])) <= 8192, True)
        big = [line for line in lines(home("jar")) if len(line) > 3000]
        check(len(big), 1)


@case
def a_jar_is_loaded_and_saved_for_its_owner_alone():
    with origin("--dns") as o, Home() as home:
        jar = home("jar.txt")
        fetch(o, "--cookie-jar", jar, o.url("/setcookie:k=v;%20Path=%2F;%20Max-Age=600;%20HttpOnly/ok", "a.test"))
        check(stat.S_IMODE(os.stat(jar).st_mode), 0o600)
        row = lines(jar)[0].split("\t")
        check(row[:4] + row[5:], ["#HttpOnly_a.test", "FALSE", "/", "FALSE", "k", "v"])
        check(0 < int(row[4]) - time.time() <= 601, True)
        _, out = fetch(o, "--cookie-jar", jar, o.url("/echo", "a.test"), o.url("/echo", "b.test"))
        check([cookies(x) for x in out], ["k=v", None])
        before = lines(jar)
        _, out = fetch(o, "-b", jar, o.url("/cookie:x:y/ok", "a.test"), o.url("/echo", "a.test"))
        check(sorted(cookies(out[1]).split("; ")), ["k=v", "x=y"])
        check(lines(jar), before)  # -b reads alone
        os.symlink(home("elsewhere"), home("link"))
        r, _ = fetch(o, "--cookie-jar", home("link"), o.url("/cookie:k:v/ok", "a.test"))
        check((r.code, os.path.exists(home("elsewhere")), os.path.islink(home("link"))), (0, False, False))


@case
def a_signal_does_not_lose_the_jar():
    with origin() as o, Home() as home:
        p = subprocess.Popen([PROGRAM, "fetch", "--mine", "--grace", "10ms", "--cookie-jar", home("jar"), o.url("/cookie:k:v/ok"), o.url("/mute")],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        p.stdout.readline()
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=PATIENCE)
        check(p.returncode, 130)
        check(lines(home("jar")), ["127.0.0.1\tFALSE\t/\tFALSE\t0\tk\tv"])


@case
def what_is_no_jar_is_said_before_anything_is_sent():
    with origin("--dns") as o, Home() as home:
        with open(home("bad"), "w", encoding="ascii") as f:
            f.write("# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t0\tk\tv\nk=v\n")
        for words, why in [
            (["--cookie-jar", home("bad")], "bad:3: not seven fields with tabs between them"),
            (["-b", home("bad")], "bad:3: not seven fields with tabs between them"),
            (["-b", home("none")], "neither NAME=VALUE nor a file"),
            (["--cookie-jar", home("no", "jar")], "cannot write"),
            (["--cookie-jar", home()], "not a regular file"),
            (["--no-cookies", "--cookie-jar", home("jar")], "--no-cookies does not go with --cookie-jar"),
            (["--no-cookies", "-b", home("bad")], "--no-cookies does not go with a file"),
            (["-b", "a=b\nc"], "not one line"),
            (["-b", "a=" + "b" * 8192], "not one line"),
            (["-b", "env:SURELY_NOT_SET"], "--cookie: no 'SURELY_NOT_SET' in the environment"),
        ]:
            r, _ = fetch(o, *words, "-o", home("out.jsonl"), o.url("/echo"))
            check((r.code, r.out, why in r.err), (2, "", True), r.err)
            check(os.path.exists(home("out.jsonl")), False)
        check(o.log(), [])
        with open(home("bad"), encoding="ascii") as f:
            check(len(f.read().splitlines()), 3)


@case
def a_jar_that_cannot_be_saved_is_exit_code_3():
    with origin() as o, Home() as home:
        p = subprocess.Popen([PROGRAM, "fetch", "--mine", "--cookie-jar", home("jar"), o.url("/cookie:k:v/ok"), o.url("/delay:500ms/ok")],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        p.stdout.readline()
        os.mkdir(home("jar"))
        _, err = p.communicate(timeout=PATIENCE)
        check((p.returncode, b"--cookie-jar: " in err and b"not a regular file" in err), (3, True), err.decode())


@case
def cookies_come_from_the_environment_and_from_files():
    with origin() as o, Home() as home:
        with open(home("value"), "w", encoding="ascii") as f:
            f.write("from=file\n")
        env = {"THE_COOKIE": "from=env", "SEINE_COOKIE_JAR": home("jar")}
        for word, want in (("env:THE_COOKIE", "from=env"), ("file:" + home("value"), "from=file")):
            r = seine("fetch", "--mine", "--body", "text", "--no-summary", "-b", word, o.url("/echo"), env=env)
            check(cookies(results(r.out)[0]), want)
        check(os.path.exists(home("jar")), True)
        r = seine("fetch", "--mine", "--body", "text", "--no-summary", "-H", "Cookie: a=1", "-b", "b=2", o.url("/echo"))
        check(cookies(results(r.out)[0]), "a=1; b=2")


# Files of others, and others with ours.

SET = ["/setcookie:s=1;%20Path=%2F/ok", "/setcookie:p=two%20words;%20Path=%2Fecho;%20Max-Age=600/ok", "/setcookie:d=3;%20Domain=example.test;%20Path=%2F;%20Max-Age=600/ok",
       "/setcookie:h=;%20Path=%2F;%20HttpOnly;%20Max-Age=600/ok"]
WANT = ["d=3", "h=", "p=two words", "s=1"]


def of_seine(o, path):
    fetch(o, "--cookie-jar", path, *[o.url(p, "www.example.test") for p in SET])


def sent_by_seine(o, path, host="www.example.test"):
    _, out = fetch(o, "-b", path, o.url("/echo", host))
    return sorted((cookies(out[0]) or "").split("; "))


def curl(o, *words):
    p = subprocess.run(["curl", "-s", "--resolve", f"www.example.test:{o.port}:127.0.0.1", "--resolve", f"b.example.test:{o.port}:127.0.0.1", *words],
                       capture_output=True, check=True)
    return p.stdout.decode()


@case
def curl_reads_what_seine_wrote():
    with origin("--dns") as o, Home() as home:
        of_seine(o, home("jar"))
        got = cookies({"body": curl(o, "-b", home("jar"), o.url("/echo", "www.example.test"))})
        check(sorted(got.split("; ")), WANT)
        check(cookies({"body": curl(o, "-b", home("jar"), o.url("/echo", "b.example.test"))}), "d=3")


@case
def seine_reads_what_curl_wrote():
    with origin("--dns") as o, Home() as home:
        for p in SET:
            curl(o, "-b", home("jar"), "-c", home("jar"), o.url(p, "www.example.test"))
        check(sent_by_seine(o, home("jar")), WANT)
        check(sent_by_seine(o, home("jar"), "b.example.test"), ["d=3"])
        before = sorted(lines(home("jar")))
        fetch(o, "--cookie-jar", home("jar"), o.url("/ok", "other.test"))
        check(sorted(lines(home("jar"))), before)  # the very same lines


@case
def wget_and_seine_read_each_other():
    with origin("--dns") as o, Home() as home:
        # wget has no --resolve: an address will do.
        urls = [o.url(p) for p in (SET[0], SET[3])]
        subprocess.run(["wget", "-q", "-O", os.devnull, "--save-cookies", home("wget"), "--keep-session-cookies", *urls], check=True)
        check(sent_by_seine(o, home("wget"), "127.0.0.1"), ["h=", "s=1"])
        fetch(o, "--cookie-jar", home("jar"), *urls)
        p = subprocess.run(["wget", "-q", "-O", "-", "--load-cookies", home("jar"), o.url("/echo")], capture_output=True, check=True)
        check("s=1" in cookies({"body": p.stdout.decode()}).split("; "), True)


@case
def python_and_seine_read_each_other():
    with origin("--dns") as o, Home() as home:
        of_seine(o, home("jar"))
        jar = http.cookiejar.MozillaCookieJar(home("jar"))
        jar.load(ignore_discard=True, ignore_expires=True)  # a 0 is long ago to Python alone
        check(sorted(f"{c.name}={c.value}" for c in jar), WANT)
        check({c.name: (c.domain, c.path, c.domain_specified, c.discard) for c in jar},
              {"s": ("www.example.test", "/", False, False), "p": ("www.example.test", "/echo", False, False),
               "d": (".example.test", "/", True, False), "h": ("www.example.test", "/", False, False)})
        jar.save(home("python"), ignore_discard=True, ignore_expires=True)
        check(sent_by_seine(o, home("python")), WANT)


@case
def expired_lines_and_line_ends_of_windows():
    with origin("--dns") as o, Home() as home:
        with open(home("jar"), "w", encoding="ascii", newline="") as f:
            f.write(f"# a comment\r\n\r\na.test\tFALSE\t/\tFALSE\t1000000000\told\t1\r\n#HttpOnly_a.test\tFALSE\t/\tFALSE\t{LATER}\tnew\t2\r\n")
        check(sent_by_seine(o, home("jar"), "a.test"), ["new=2"])
        fetch(o, "--cookie-jar", home("jar"), o.url("/ok", "a.test"))
        check([line.split("\t")[5] for line in lines(home("jar"))], ["new"])
        check(int(lines(home("jar"))[0].split("\t")[4]) <= time.time() + 400 * 86400 + 1, True)


# seine http cookie.

@case
def the_verb_says_what_is_sent_and_what_is_not():
    r = seine("http", "cookie", "--url", "https://www.example.com/a", "--to", "https://api.example.com/", "id=1; Domain=example.com", "id=2; Domain=com", "id=3")
    check((r.code, r.err, json.loads(r.out)), (0, "", {
        "url": "https://www.example.com/a", "to": "https://api.example.com/", "ok": True, "sent": [{"name": "id", "value": "1"}],
        "not_sent": [{"cookie": "id=2; Domain=com", "why": "public_suffix", "text": "its Domain is a public suffix"},
                     {"cookie": "id=3", "why": "host", "text": "it is for another host"}]}))
    r = seine("http", "cookie", "--url", "http://h.example/", "k=v; Secure")
    check((r.code, json.loads(r.out)["sent"], [n["why"] for n in json.loads(r.out)["not_sent"]]), (1, [], ["secure_set"]))
    r = seine("http", "cookie", "--url", "http://h.example/", "--now", "1700000000", "k=v; Expires=Tue, 14 Nov 2023 22:13:20 GMT")
    check(json.loads(r.out)["sent"], [])
    for words in (["k=v"], ["--url", "nothing", "k=v"], ["--url", "http://h/", "--to", "http://", "k=v"], ["--jsonl", "k=v"], ["--jsonl", "--url", "http://h/"]):
        check(seine("http", "cookie", *words).code, 2)


@rows([("nothing", "no_name"), ("=v", "no_name"), ("k=" + "v" * 4096, "too_long"), ("k=a\x01", "control"), ("k=v; Secure", "secure_set"),
       ("k=v; Domain=other.example", "domain"), ("k=v; Domain=b.a.example", "domain"), ("k=v; Domain=example", "public_suffix"), ("__Secure-k=v", "prefix"),
       ("__Host-k=v; Path=/", "prefix"), ("k=v; Max-Age=0", "expired"), ("k=v; Path=/y", "path"), ("k=v", None), ("k=v; Domain=a.example", None)],
      name=lambda row: row[0][:30])
def the_verb_says_why_a_cookie_is_not_sent(cookie, why):
    r = seine("http", "cookie", "--url", "http://a.example/x/y", "--to", "/x/z", cookie)
    out = json.loads(r.out)
    check((r.code, len(out["sent"]), [n["why"] for n in out["not_sent"]]), (1, 0, [why]) if why else (0, 1, []))
    out = json.loads(seine("http", "cookie", "--jsonl", stdin=json.dumps({"received": [cookie], "url": "http://a.example/x/y", "sent-to": "/x/z"})).out)
    check([n["why"] for n in out["not_sent"]], [why] if why else [])


@case
def the_verb_takes_several_urls():
    words = ["k=1; Path=/; Secure", "k=2; Path=/", "j=1", "j=2", "m=1; Path=/; Domain=a.example", "m=1; Path=/; Domain=a.example; Max-Age=0"]
    r = seine("http", "cookie", "--url", "https://a.example/", "--url", "http://a.example/", "--to", "https://a.example/", "--to", "http://a.example/",
              "--to", "https://b.a.example/", *words)
    out = [json.loads(line) for line in r.out.splitlines()]
    check([(o["url"], o["to"]) for o in out], [(f"{u}://a.example/", t) for u in ("https", "http") for t in ("https://a.example/", "http://a.example/", "https://b.a.example/")])
    check([[c["name"] + c["value"] for c in o["sent"]] for o in out], [["k2", "j2"], ["k2", "j2"], [], ["k2", "j2"], ["k2", "j2"], []])
    check([[n["why"] for n in o["not_sent"]] for o in out[:3]],
          [["replaced", "replaced", "dropped", "expired"]] * 2 + [["replaced", "host", "replaced", "host", "dropped", "expired"]])
    check([n["why"] for n in out[3]["not_sent"]], ["secure_set", "replaced", "dropped", "expired"])
    check(r.code, 1)
    r = seine("http", "cookie", "--url", "https://a.example/", "--to", "http://a.example/", "k=1; Secure; Path=/", "j=1")
    check([n["why"] for n in json.loads(r.out)["not_sent"]], ["secure"])


@case
def the_verb_has_cases_line_by_line():
    asks = [{"id": 1, "received": ["a=b", "c=d; Path=/x"], "url": "http://h.example/", "now": 1700000000},
            {"id": 2, "received": ["a=b"], "url": "http://h.example/x/y", "sent-to": "/x", "now": 0},
            {"id": 3, "received": ["a=b"], "url": "http://h.example/", "sent_to": "http://other.example/"},
            {"id": 4, "received": ["a=\u00e9\u0001"], "url": "http://h.example/"},
            {"id": 5, "received": "a=b", "url": "http://h.example/"}, {"id": 6, "received": [1], "url": "http://h.example/"},
            {"id": 7, "received": []}, {"id": 8, "received": [], "url": "x"}, {"id": 9, "received": [], "url": "http://h/", "what": 1}]
    r = seine("http", "cookie", "--jsonl", stdin="".join(json.dumps(a) + "\n" for a in asks))
    out = [json.loads(line) for line in r.out.splitlines()]
    check((r.code, [o["id"] for o in out]), (0, list(range(1, 10))))
    check([o.get("sent") for o in out[:4]], [[{"name": "a", "value": "b"}], [{"name": "a", "value": "b"}], [], []])
    check([o["ok"] for o in out], [True] * 4 + [False] * 5)


finish(at_once=4)
