#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that is typed wrong for `seine fetch`: one line, one hint, exit 2, and nothing
was sent. covers: S2-04"""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from origin import origin, results, summary  # noqa: E402

URL = "http://127.0.0.1:9/"

# words after `seine fetch`, what happened, what to try
WRONG = [
    (["--concurency", "5"], "unknown option '--concurency'", "--concurrency"),
    (["--host-rtae", "5/s"], "unknown option '--host-rtae'", "--host-rate"),
    (["--insecrue"], "unknown option '--insecrue'", "--insecure"),
    (["--proxies", "x"], "unknown option '--proxies'", None),
    (["--cacert", "/no/such/file"], "--cacert '/no/such/file': No such file or directory", None),
    (["--cacert", "/dev/null"], "--cacert '/dev/null': no certificate in it", None),
    (["--cert", "/no/such/file"], "--cert '/no/such/file': No such file or directory", None),
    (["--cert-key", "/dev/null"], "--cert-key goes with --cert", "--cert FILE"),
    (["--tls-min", "1.1"], "--tls-min '1.1': not one of the choices", None),
    # The library names the member; the program names the option.
    (["--allow-net", "10.1.2.3/8"], "--allow-net '10.1.2.3/8': not understood", "seine fetch --help"),
    (["--deny-net", "10.1.2.3/8"], "--deny-net '10.1.2.3/8': not understood", "seine fetch --help"),
    (["--zone", "10.0.0.0/8=nowhere"], "--zone '10.0.0.0/8=nowhere': not understood", "seine fetch --help"),
    (["--resolve", "a:b:c"], "--resolve 'a:b:c': not HOST:PORT:ADDR", "seine fetch --help"),
    (["--dns", "dns.example"], "--dns 'dns.example': no name server: it needs ADDR or ADDR:PORT", "seine fetch --help"),
    (["--include", "("], "--include '(': missing closing parenthesis (at byte 1)", "seine fetch --help"),
    (["--exclude", "("], "--exclude '(': missing closing parenthesis (at byte 1)", "seine fetch --help"),
    (["--tls-timeout", "0"], "--tls-timeout '0': a timeout must be above 0", "--tls-timeout 5s"),
    (["--job", ".x", "--durability", "full"], "--job '.x': not a name", "letters, digits, '.', '_' and '-'"),
    (["-c", "0"], "--concurrency '0': must be 1 to 65536", "--concurrency 10, 10_000 or 10k"),
    (["-c", "x"], "--concurrency 'x': not a whole number", "--concurrency 10, 10_000 or 10k"),
    (["-c", "-1"], "--concurrency '-1': not a whole number", "--concurrency 10, 10_000 or 10k"),
    (["--host-rate", "0/s"], "--host-rate '0/s': a rate must be above 0", "--host-rate 1/m, or --host-rate off for no limit"),
    (["-r", "nan"], "--rate 'nan': not a rate", "--rate 1/m, or --rate off for no limit"),
    (["-t", "0"], "--timeout '0': a timeout must be above 0", "--timeout 5s"),
    (["-t", "-5s"], "--timeout '-5s': a duration must not be negative", "--timeout 500ms, 2s or 1h30m"),
    (["-t", "11000d"], "--timeout '11000d': a duration must not be longer than 10 years", "--timeout 500ms, 2s or 1h30m"),
    (["--head-timeout", "soon"], "--head-timeout 'soon': not a duration", "--head-timeout 500ms, 2s or 1h30m"),
    (["-m", "x"], "--max-time 'x': not a duration", "--max-time 500ms, 2s or 1h30m, or off"),
    (["--max-memory", "5X"], "--max-memory '5X': not a size", "--max-memory 512M"),
    (["--max-memory", "1k"], "--max-memory '1k': must be at least 1048576", "--max-memory 512M"),
    (["--max-body", "16EB"], "--max-body '16EB': not a size", "--max-body 64k, 16M or 2GiB"),
    (["--max-body", "9999999999G"], "--max-body '9999999999G': too large", "--max-body 64k, 16M or 2GiB"),
    (["--min-speed", "100"], "--min-speed '100': not SIZE/DURATION", "--min-speed 1k/10s, or off"),
    (["--min-speed", "0/5s"], "--min-speed '0/5s': must be above 0", "--min-speed 1k/10s, or off"),
    (["--backoff", "1s"], "--backoff '1s': not two durations", "--backoff 1s..30s"),
    (["--backoff", "30s..1s"], "--backoff '30s..1s': the second is shorter than the first", "--backoff 1s..30s"),
    (["--jitter", "wild"], "--jitter 'wild': not one of the choices", "--jitter minus|plusminus|full|equal|decorrelated|none"),
    (["--retry-budget", "20"], "--retry-budget '20': not a share", "--retry-budget 20%, or off"),
    (["--retry-on", "5xx,teapot"], "--retry-on '5xx,teapot': 'teapot' is no status", "--retry-on net,timeout,429,5xx,!501"),
    (["--accept", "2xx,900"], "--accept '2xx,900': '900' is no status", "--accept 200-299,304"),
    (["--accept", "299-200"], "--accept '299-200': '299-200' is no status", "--accept 200-299,304"),
    (["--breaker", "fial=5"], "--breaker 'fial=5': 'fial': unknown key", "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off"),
    (["--breaker", "fail"], "--breaker 'fail': 'fail': no value", "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off"),
    (["--breaker", "fail=x"], "--breaker 'fail=x': 'fail': not a whole number", "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off"),
    (["--breaker", "fail=0"], "--breaker 'fail=0': nothing would open it; off switches it off", "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off"),
    (["--breaker", "fail=5,open=10m,max-open=1m"], "--breaker 'fail=5,open=10m,max-open=1m': max-open is shorter than open",
     "--breaker fail=5,open=60s, --breaker rate=50%,min=10, or off"),
    (["--max-errors", "some"], "--max-errors 'some': not a whole number", "--max-errors 100, 20% or off"),
    (["--max-errors", "any"], "--max-errors 'any': not a number of errors", "--max-errors 100, 20% or off"),
    (["--max-errors", "0"], "--max-errors '0': must be above 0", "--max-errors 100, 20% or off"),
    (["--fail-on", "few"], "--fail-on 'few': not a whole number", "--fail-on none, any, all, 5 or 20%"),
    (["--fail-on", "101%"], "--fail-on '101%': a share must not be above 100%", "--fail-on none, any, all, 5 or 20%"),
    (["-H", "nonsense"], "--header 'nonsense': not 'Name: value'", "-H 'Accept: text/html'"),
    (["-H", "a b: c"], "--header 'a': not 'Name: value'", "-H 'Accept: text/html'"),
    (["-H", "Host: x"], "--header 'host': this one is made by the program", "leave it out"),
    (["-H", "X: a\nB: c"], "--header 'X': a control character in its value", "a value of one line"),
    (["-H", "X: env:SEINE_NO_SUCH"], "--header: no 'SEINE_NO_SUCH' in the environment", "set it"),
    (["-H", "X: file:/no/such"], "--header: cannot read '/no/such': no such file or directory", "another name"),
    (["-H", "@/no/such"], "--header: cannot read '/no/such': no such file or directory", "another name"),
    (["-X", "G T"], "--method 'G T': not a method", "-X PUT"),
    (["-X", "CONNECT"], "--method 'CONNECT': is for proxies", "-X PUT"),
    (["-I", "-d", "x"], "--head does not go with --data", "one of the two"),
    (["-I", "-X", "GET"], "--head does not go with --method", "one of the two"),
    (["-d", "@/no/such"], "--data: cannot read '/no/such': no such file or directory", "another name"),
    (["-A", "a\r\nb"], "--user-agent 'a\\x0d\\x0ab': not a value", "one line of at most 256 bytes"),
    (["-x", "ftp://joe:S3cret@p:1"], "--proxy: ftp: the scheme is http, https, socks5 or socks5h", "seine fetch --help"),
    (["-x", "http://joe:S3cret@p:x"], "--proxy: not a port number", "seine fetch --help"),
    (["-x", "env:SEINE_NO_SUCH"], "--proxy: no 'SEINE_NO_SUCH' in the environment", "set it"),
    (["--no-proxy", "a,10.1.2.3/8"], "--no-proxy: neither a name, an address nor a net: 10.1.2.3/8", "seine fetch --help"),
    (["-H", "Proxy-Authorization: Basic eA=="], "--header 'proxy-authorization': goes to no host but a proxy", "a login in the URL of the proxy"),
    (["-4", "-6"], "--ipv4 does not go with --ipv6", "one of the two"),
    (["--burst", "5"], "--burst goes with --rate", "--rate 50/s"),
    (["--append", "--overwrite"], "--append does not go with --overwrite", "one of the two"),
    (["--raw", "-w", "x"], "--raw does not go with --write-out", "one of the two"),
    (["-j", "-f", "csv"], "--json does not go with --format", "one of the two"),
    (["-w", "%{status"], "--write-out '%{status': a % is followed by {NAME} or another %", "-w '%{status} %{url}\\n'"),
    (["-w", "%{}"], "--write-out '%{}': no name in %{}", "-w '%{status} %{url}\\n'"),
    (["--fields", "url,statis"], "--fields: 'statis' is no member of a record", "--fields status"),
    (["--fields", "url,colour"], "--fields: 'colour' is no member of a record", "--fields url,status or --fields +headers,-key"),
    (["--format", "xml"], "--format 'xml': not one of the choices", "--format auto|text|jsonl|csv"),
    (["--body", "pipe"], "--body 'pipe': not one of the choices", "--body none|text|b64|file"),
    (["--body", "file"], "--body file goes with --save", "--save DIR"),
    (["--dedup", "job"], "--dedup 'job': not one of the choices", "--dedup batch|off"),
    (["--base", "nonsense"], "--base 'nonsense': relative, and there is no base", "--base https://e.example/dir/"),
    (["--log-level", "loud"], "--log-level 'loud': no such level", "--log-level trace, debug, info, warn or error"),
    (["--log-file", "/no/such/log"], "cannot write '/no/such/log': no such file or directory", "another name"),
    (["--metrics", "nowhere"], "--metrics 'nowhere': not an address and a port", "--metrics 127.0.0.1:9464"),
    (["--metrics", "127.0.0.1:99999"], "--metrics '127.0.0.1:99999': not an address and a port", "--metrics 127.0.0.1:9464"),
    (["--metrics-file", "/no/such/file"], "--metrics-file: cannot write '/no/such/file': no such file or directory", "another name"),
    (["--config", "/no/such/file"], "cannot read /no/such/file: no such file or directory", "seine config init > seine.yaml"),
    (["-i", "/no/such/list"], None, "another name, or - for standard input"),
    (["-i", "-", "-"], "standard input is asked for twice", "one of them"),
    (["-d", "@-", "-"], "standard input is asked for twice", "one of them"),
]


@rows(WRONG, name=lambda row: " ".join(row[0]))
def one_line_one_hint_exit_2_and_nothing_sent(words, happened, hint):
    r = seine("fetch", *words, URL)
    lines = r.err.split("\n")
    check((r.code, r.out), (2, ""), r.err)
    if happened:
        check(lines[0], "seine: " + happened)
    check(lines[0].startswith("seine: "), True)
    if hint:
        check(lines[1], "try: " + hint)
    check(len(lines), 3, r.err)


@rows([(verb, option) for verb, options in (("fetch", ("max-pages", "max-bytes", "per-ip")), ("crawl", ("max-pages-per-host", "max-subdomains", "max-sitemaps",
                                                                                                       "max-sitemap-bytes", "pattern-budget")))
       for option in options], name=lambda row: row[1])
def no_limit_is_called_off_and_not_0(verb, option):
    r = seine(verb, "http://127.0.0.1:1/", f"--{option}", "0")
    check((r.code, f"--{option} '0': must be " in r.err, ", or off" in r.err), (2, True, True), r.err)


@case
def an_address_in_brackets_is_no_json():
    r = seine("fetch", "-j", "[::1]:1/x", "--retries", "0")
    check(json.loads(r.out.splitlines()[0])["url"], "http://[::1]:1/x", r.err)
    check(seine("fetch", "-j", "[1,2]").code, 2)


@case
def nothing_is_sent_when_the_last_option_is_wrong():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        r = seine("fetch", o.url("/ok"), "-o", "a.jsonl", "--fail-on", "few", cwd=where)
        check(r.code, 2)
        check(o.log(), [])
        check(os.listdir(where), [])


@case
def an_output_that_exists_is_exit_2_and_stays_as_it_is():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "out.jsonl")
        with open(path, "w", encoding="utf-8") as f:
            f.write("mine\n")
        r = seine("fetch", o.url("/ok"), "-o", "out.jsonl", cwd=where)
        check(r.code, 2)
        check("out.jsonl" in r.err.split("\n")[0] and "exists" in r.err.split("\n")[0], True, r.err)
        check(r.err.split("\n")[1], "try: --append, --overwrite, or another name")
        check(o.log(), [])
        with open(path, encoding="utf-8") as f:
            check(f.read(), "mine\n")


@rows([("c.csv", "a,b\n", "c.csv has other columns"), ("c.jsonl", "{", "c.jsonl ends within a line"), ("c.sqlite", "x" * 200, "c.sqlite is no SQLite database")])
def an_output_that_cannot_be_appended_to_says_what_to_try(name, text, what):
    with tempfile.TemporaryDirectory() as where:
        with open(os.path.join(where, name), "w", encoding="utf-8") as f:
            f.write(text)
        r = seine("fetch", URL, "--append", "-o", name, cwd=where)
        check((r.code, r.err), (2, f"seine: {what}\ntry: --overwrite, or another name\n"))


@case
def a_list_without_its_column_says_what_to_try():
    r = seine("fetch", "-i", "-", "--input-format", "csv", stdin="a,b\n1,2\n")
    check((r.code, r.err.split("\n")[:2]), (3, ["seine: standard input: no column 'url'", "try: --url-column NAME"]))


@rows([("/status:401", "--user NAME, or -H 'Authorization: …'"), ("/status:429", "ask more slowly: --rate, or without --mine"), ("/status:404", "check the path of the URL"), ("/status:418", None)])
def a_hint_names_options_of_the_program(path, hint):
    with origin() as o:
        r = seine("fetch", "-j", "--mine", "--retries", "0", o.url(path))
        check([x["error"].get("hint") for x in map(json.loads, r.out.splitlines()) if "error" in x], [hint])


@rows([("--max-pages", "1"), ("--max-bytes", "10")])
def a_rule_names_the_option_and_its_value(option, value):
    with origin() as o:
        r = seine("fetch", "-j", "--mine", "-c", "1", option, value, *[o.url(f"/html:2000?{n}") for n in range(3)])
        skips = [x for x in map(json.loads, r.out.splitlines()) if x["type"] == "skip"]
        check({(x["reason"], x["rule"]) for x in skips}, {("budget", f"{option} {value}")})


@rows([("too_many_redirects", "/loop", ["--max-redirects", "3"], "the redirects lead in a circle: tell the site"),
       ("body_too_large", "/bytes:5000", ["--max-body", "1000"], "raise --max-body"),
       ("body_too_large", "/bytes:5000", ["--max-wire", "1000"], "raise --max-wire"),
       ("header_timeout", "/mute", ["--head-timeout", "100ms", "--per-host", "2"], "raise --head-timeout or lower --per-host"),
       ("timeout", "/mute", ["--timeout", "100ms"], "raise --timeout")])
def a_hint_names_the_option_that_refused(kind, path, words, hint):
    with origin() as o:
        r = seine("fetch", "-j", "--retries", "0", *words, o.url(path))
        error = json.loads(r.out.splitlines()[0])["error"]
        check((error["kind"], error["hint"]), (kind, hint))


@rows([("pages.xml",), ("/no/such/dir/out.jsonl",), ("jsonl:",), ("pages",)])
def an_output_that_cannot_be_is_exit_2(name):
    with tempfile.TemporaryDirectory() as where:
        r = seine("fetch", URL, "-o", name, cwd=where)
        check((r.code, r.out, r.err.startswith("seine: "), "\ntry: " in r.err), (2, "", True, True), r.err)
        check(os.listdir(where), [])


@rows([(["--resolve", "nonsense"],), (["--allow-net", "10.0.0.0/99"],), (["--zone", "10.0.0.0/8=nowhere"],), (["--dns", "nowhere!"],),
       (["--summary", "/no/such/dir/s.json"],), (["-o", "b.xml"],)], name=lambda row: " ".join(row[0]))
def what_the_library_refuses_is_exit_2_too_and_leaves_no_file(words):
    with tempfile.TemporaryDirectory() as where:
        r = seine("fetch", "-o", "a.jsonl", *words, URL, cwd=where)
        check((r.code, r.out), (2, ""), r.err)
        check(r.err.startswith("seine: ") and "\ntry: " in r.err, True, r.err)
        check(os.listdir(where), [])


@case
def no_urls_on_a_terminal_is_a_question_and_not_a_hang():
    master, slave = os.openpty()
    p = subprocess.run([PROGRAM, "fetch"], stdin=slave, capture_output=True, env=environment(), timeout=PATIENCE)
    os.close(master)
    os.close(slave)
    check(p.returncode, 2)
    check(p.stderr.decode(), "seine: no URLs given\ntry: seine fetch https://…, -i FILE, or pipe a list into it\n")


@case
def a_url_as_the_first_word_is_fetch():
    with origin() as o:
        r = seine(o.url("/ok"))
        check(r.code, 0)
        check(results(r.out)[0]["status"], 200)
        check(summary(r.out)["command"], "fetch")


@rows([  # the environment, the member of the table it must reach
    ({"SEINE_RETRIES": "0"}, ["/status:503?key=%s"], "requests", 1),
    ({"SEINE_RETRIES": "1", "SEINE_BACKOFF": "1ms..1ms"}, ["/status:503?key=%s"], "requests", 2),
    ({"SEINE_ACCEPT": "503"}, ["/status:503?key=%s"], "ok", 1),
    ({"SEINE_DEDUP": "off"}, ["/ok?a=%s", "/ok?a=%s"], "requests", 2),
    ({"SEINE_MAX_PAGES": "1"}, ["/ok?b=%s", "/ok?c=%s"], "skipped", 1),
], name=lambda row: " ".join(row[0]))
def the_environment_is_asked_where_the_command_line_is_silent(env, paths, member, want):
    with origin() as o:
        r = seine("fetch", "-j", *[o.url(p.replace("%s", "k")) for p in paths], env={"SEINE_MINE": "on", **env})
        check(summary(r.out)[member], want, r.err)


@rows([("the flag", ("-c", "3"), None, 3), ("the environment", (), {"SEINE_CONCURRENCY": "5"}, 5), ("the flag wins", ("-c", "3"), {"SEINE_CONCURRENCY": "5"}, 3)])
def s2_04_pool_size_by_flag_and_environment(_, words, env, most):
    """What the server saw at once is the proof."""
    with origin() as o:
        r = seine("fetch", "-q", "--mine", *words, *[o.url(f"/delay:150ms/ok?n={n}") for n in range(24)], env=env)
        check(r.code, 0, r.err)
        hosts = o.report()["hosts"]
        rows_ = hosts.values() if isinstance(hosts, dict) else hosts
        check(max(h["peak_in_flight"] for h in rows_ if h["requests"] >= 24), most)


@rows([({"SEINE_MINE": "maybe"}, "seine: SEINE_MINE 'maybe': neither on nor off"),
       ({"SEINE_TIMEOUT": "x"}, "seine: SEINE_TIMEOUT 'x': not a duration")], name=lambda row: str(row[0]))
def a_bad_environment_is_exit_2(env, want):
    r = seine("fetch", URL, env=env)
    check((r.code, r.err.split("\n")[0]), (2, want))


@case
def curls_habits_are_accepted():
    with origin() as o:
        r = seine("fetch", "-L", "--compressed", "--no-config", "-sj", o.url("/redir:2/ok"))
        check((r.code, results(r.out)[0]["status"], len(results(r.out)[0]["redirects"])), (0, 200, 2), r.err)
        r = seine("fetch", "--no-location", "-j", o.url("/redir:2/ok"))
        check((r.code, results(r.out)[0]["status"]), (0, 302))


@case
def help_is_one_screen_and_everything():
    check(len(seine("fetch", "-h").out.splitlines()) <= 24, True)
    full = seine("fetch", "--help").out
    for word in ("--concurrency", "SEINE_CONCURRENCY", "--host-rate", "4 --max-time"):
        check(word in full, True, word)
    json.loads(seine("help", "--json").out.splitlines()[0])


finish(at_once=6)
