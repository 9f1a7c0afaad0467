#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hosts:` and `groups:` of a configuration act on the wire, as the server sees it, and HUP loads them again."""
import json
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently, rows, taken, until  # noqa: E402
from origin import origin, records, results  # noqa: E402

NAMES = ["a.test", "b.test", "x.b.test", "y.x.b.test"]


class Run:
    """A fetch in a directory with a seine.yaml, of hosts that are all the origin."""

    def __init__(self, o, config, *words, verb="fetch"):
        self.folder = tempfile.TemporaryDirectory()
        self.write(config)
        resolve = [w for name in NAMES for w in ("--resolve", f"{name}:{o.port}:127.0.0.1")]
        self.process = subprocess.Popen([os.path.abspath(PROGRAM), verb, "--progress", "off", "--per-ip", "off", *resolve, *words], cwd=self.folder.name, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment({"TOKEN_OF_A": "s3cret-of-a"}), start_new_session=True)

    def write(self, config):
        path = os.path.join(self.folder.name, "seine.yaml")
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(config)
        os.chmod(path + ".new", 0o644)
        os.rename(path + ".new", path)

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)
        taken(self.process, signal.SIGHUP)

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        self.folder.cleanup()
        return self.process.returncode, out.decode(), err.decode()


def fetch(o, config, *words):
    return Run(o, config, *words).end()


def times(o, host=None):
    return [r["t_us"] / 1e6 for r in o.log() if host in (None, r["host"])]


def spread(o, host=None):
    """From the first request to the last."""
    t = times(o, host)
    return t[-1] - t[0]


# What a host has of its own --------------------------------------------------------------


@case
def two_hosts_are_asked_at_their_own_rates():
    config = "adaptive: off\nhost-rate: 1/m\nhosts:\n  a.test: {host-rate: 8/s}\n  b.test: {host-rate: 40/s}\n"
    with origin() as o:
        code, out, err = fetch(o, config, *[o.url(f"/ok?{n}", host) for n in range(9) for host in ("a.test", "b.test")])
        check((code, len(results(out))), (0, 18), err)
        check(spread(o, "a.test") > 0.99 * 8 / 8, True, "as slow as a.test may be")
        check(spread(o, "b.test") > 0.99 * 8 / 40, True, "as slow as b.test may be")
        check(times(o, "b.test")[-1] < times(o, "a.test")[-1], True, "and b.test is the faster one")


@case
def the_most_specific_entry_counts_key_by_key():
    config = ("hosts:\n  '*.test': {user-agent: any/1, headers: {X-From: any}}\n  '*.b.test': {user-agent: below/1}\n  x.b.test: {headers: {X-From: x}}\n"
              "  '*.x.b.test': {user-agent: deep/1}\n")
    with origin() as o:
        _, out, _ = fetch(o, config, "--body", "text", *[o.url("/echo", name) for name in NAMES])
        got = {}
        for r in results(out):
            fields = {k.lower(): v for k, v in json.loads(r["body"])["headers"]} if r["body"].startswith("{") else \
                {k.lower(): v for k, _, v in (line.partition(": ") for line in r["body"].splitlines())}
            got[r["host"].partition(":")[0]] = (fields["user-agent"], fields["x-from"])
    check(got, {"a.test": ("any/1", "any"), "b.test": ("any/1", "any"), "x.b.test": ("below/1", "x"), "y.x.b.test": ("deep/1", "any")})


KEYS = [
    # setting of a.test, path, what its record has and that of b.test has not
    ("timeout: 300ms", "/delay:1500ms/ok", lambda r: r.get("error", {}).get("timeout_ms") == 300),
    ("retries: 0", "/status:503", lambda r: r["attempts"] == 1),
    ("backoff: 1ms..2ms", "/status:503?fail=1&key=KEY", lambda r: 0 < r["time"]["backoff"] < 300),
    ("retry-on: '429'", "/status:503?x", lambda r: r["attempts"] == 1),
    ("accept: '404'", "/status:404", lambda r: r["ok"]),
    ("max-body: 10", "/bytes:100", lambda r: r.get("error", {}).get("kind") == "body_too_large"),
    ("user-agent: me/7", "/echo", lambda r: "me/7" in r["body"]),
    ("headers: {X-Key: 'Bearer env:TOKEN_OF_A'}", "/echo", lambda r: "X-Key" in r["body"]),
    ("user: 'joe:pw'", "/echo", lambda r: "Basic am9lOnB3" in r["body"]),
    ("max-retry-after: 1s", "/status:503?retry_after=2&fail=1&key=KEY", lambda r: r.get("error", {}).get("kind") == "retry_after_too_long"),
]


@rows(KEYS)
def a_setting_of_a_host_is_that_of_no_other(setting, path, holds):
    with origin() as o:
        _, out, err = fetch(o, f"hosts:\n  a.test: {{{setting}}}\n", "--retries", "1", "--backoff", "500ms..600ms", "--body", "text", *[o.url(path.replace("KEY", name), name) for name in ("a.test", "b.test")])
        got = {r["host"].partition(":")[0]: holds(r) for r in results(out)}
        check(got, {"a.test": True, "b.test": False}, out + err)
        check("s3cret" in err, False)


@case
def a_secret_of_a_host_goes_where_send_to_says_and_nowhere_else():
    config = "hosts:\n  a.test: {headers: {X-Key: env:TOKEN_OF_A}, send-to: ['http://x.b.test']}\n"
    with origin() as o:
        _, out, err = fetch(o, config, "--body", "text", o.url("/echo", "a.test"), o.url("/echo", "b.test"), o.url("/echo", "x.b.test"), o.url("/away:b.test/echo", "a.test"))
        got = [(r["final_url"].split("/")[2].partition(":")[0], "X-Key" in r["body"]) for r in results(out)]
        check(sorted(got), [("a.test", True), ("b.test", False), ("b.test", False), ("x.b.test", True)], out + err)
        check("s3cret" in err, False)


@case
def a_secret_of_a_host_is_not_sent_in_plain_because_a_redirect_or_a_link_says_so():
    """`scheme:http` leads from https to the other door of the same server."""
    config = "hosts:\n  a.test: {headers: {X-Key: env:TOKEN_OF_A}}\n"
    with tempfile.TemporaryDirectory() as d, origin("--tls", "--ca-out", os.path.join(d, "ca"), "--files", d) as o:
        door = o.places["https"].rsplit(":", 1)[1]
        words = ("--resolve", f"a.test:{door}:127.0.0.1", "--cacert", os.path.join(d, "ca"), "--body", "text")
        urls = [f"https://a.test:{door}/{way}" for way in ("echo", "scheme:http/echo", "file:links.html")]
        with open(os.path.join(d, "links.html"), "w", encoding="utf-8") as f:
            f.write(f"<a href='{o.url('/echo?link', 'a.test')}'>x</a>")
        _, out, err = fetch(o, config, *words, *urls[:2])
        check({r["final_url"].partition(":")[0]: "X-Key" in r["body"] for r in results(out)}, {"https": True, "http": False}, out + err)
        _, out, err = Run(o, config, *words, "--scope", "any", "--robots", "off", "--mine", "--accept-type", "text/html,application/json", urls[2], verb="crawl").end()
        check(["X-Key" in r["body"] for r in results(out) if r["url"].endswith("?link")], [False], out + err)
        _, out, err = fetch(o, config, "--body", "text", o.url("/echo", "a.test"))  # it was typed
        check((["X-Key" in r["body"] for r in results(out)], "s3cret" in err), ([True], False), out + err)


@case
def a_host_goes_straight_where_all_others_take_the_proxy():
    with origin() as o:
        _, out, _ = fetch(o, f"proxy: {o.places['dead']}\nretries: 0\nhosts: {{a.test: {{proxy: off}}}}\n", o.url("/ok", "a.test"), o.url("/ok", "b.test"))
        check({r["host"].partition(":")[0]: r["ok"] for r in results(out)}, {"a.test": True, "b.test": False})


@case
def robots_txt_of_one_host_is_obeyed():
    with origin() as o, tempfile.NamedTemporaryFile("w", suffix=".jsonl") as script:
        script.write(json.dumps({"robots": "a.test", "disallow": ["/no"]}) + "\n" + json.dumps({"robots": "b.test", "disallow": ["/no"]}) + "\n")
        script.flush()
        with origin("--script", script.name) as s:
            _, out, err = fetch(s, "hosts: {a.test: {robots: on}}\n", *[s.url("/no/x", name) for name in ("a.test", "b.test")])
            check({r["url"].split("/")[2].partition(":")[0]: r["type"] for r in results(out)}, {"a.test": "skip", "b.test": "result"}, out + err)
            check({r["host"] for r in s.log() if r["path"] == "/robots.txt"}, {"a.test"})
        check(o.log(), [])


# Groups ----------------------------------------------------------------------------------


@rows([("['a.test', '*.b.test']",), ("[127.0.0.0/8]",)])
def a_group_shares_one_rate(members):
    config = f"adaptive: off\nhost-rate: off\ngroups:\n  all: {{match: {members}, host-rate: 10/s}}\n"

    def run(_):
        with origin() as o:
            code, out, err = fetch(o, config, *[o.url(f"/ok?{n}", name) for n in range(4) for name in ("a.test", "x.b.test")])
            check((code, len(results(out))), (0, 8), err)
            check(spread(o) > 0.99 * 7 / 10, True, "as slow as the group may be")
    patiently(run)


@case
def a_group_has_so_many_in_flight_and_others_are_not_held():
    config = "adaptive: off\nhost-rate: off\ngroups:\n  few: {match: [a.test, b.test], per-host: 2}\n"
    with origin() as o:
        code, _, err = fetch(o, config, *[o.url(f"/delay:50ms/ok?{n}", name) for n in range(6) for name in ("a.test", "b.test")])
        check(code, 0, err)
        check(o.report()["totals"]["peak_in_flight"] <= 2, True)


@case
def other_settings_of_a_group_are_those_of_its_members_and_yield_to_a_host():
    config = "groups:\n  g: {match: ['*.test'], user-agent: group/1, retries: 0}\nhosts:\n  a.test: {user-agent: host/1}\n"
    with origin() as o:
        _, out, _ = fetch(o, config, "--body", "text", *[o.url("/status:503/echo", name) for name in ("a.test", "b.test")])
        got = {r["host"].partition(":")[0]: (r["attempts"], "host/1" in r["body"], "group/1" in r["body"]) for r in results(out)}
        check(got, {"a.test": (1, True, False), "b.test": (1, False, True)}, out)


# HUP -------------------------------------------------------------------------------------

SLOW = "adaptive: off\nhost-rate: 4/s\nhosts:\n  a.test: {host-rate: 2/s}\n"
FAST = "adaptive: off\nhost-rate: 1000/s\nhosts:\n  a.test: {host-rate: 500/s}\n"


@case
def a_hang_up_loads_other_limits_and_the_pace_on_the_wire_changes():
    with origin() as o:
        r = Run(o, SLOW, "--events", *[o.url(f"/ok?{n}", name) for n in range(60) for name in ("a.test", "b.test")])
        until(lambda: len(times(o, "a.test")) >= 3 and len(times(o, "b.test")) >= 3, "requests at the slow pace")
        slow = {host: times(o, host) for host in ("a.test", "b.test")}
        r.write(FAST)
        r.hang_up()
        code, out, err = r.end()
        check((code, len(results(out))), (0, 120), err)
        for host, every in (("a.test", 0.5), ("b.test", 0.25)):
            before, rest = slow[host], times(o, host)[len(slow[host]) + 2:]
            check(before[-1] - before[0] > 0.99 * every * (len(before) - 1), True, f"{host} was slow")
            check(rest[-1] - rest[0] < 0.5 * every * (len(rest) - 1), True, f"{host} is fast: {len(rest)} in {rest[-1] - rest[0]:.1f} s")
        check("seine: the limits of ./seine.yaml hold" in err, True, err)
        check([e["event"] for e in records(out) if e["type"] == "event" and e["event"].startswith("config")], ["config.loaded"])


@case
def a_hang_up_loads_other_limits_for_check_as_well():
    with origin() as o:
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "links.md")
            with open(page, "w", encoding="utf-8") as f:
                f.write("".join(f"[x]({o.url(f'/ok?{n}', 'b.test')})\n" for n in range(60)))
            r = Run(o, "adaptive: off\nhost-rate: 2/s\n", page, verb="check")
            until(lambda: len(times(o)) >= 3, "requests at the slow pace")
            slow = times(o)
            r.write("adaptive: off\nhost-rate: 1000/s\n")
            r.hang_up()
            code, _, err = r.end()
        rest = times(o)[len(slow) + 2:]
        check((code, len(slow) + 2 + len(rest) >= 60), (0, True), err)
        check(slow[-1] - slow[0] > 0.99 * 0.5 * (len(slow) - 1), True, "it was slow")
        check(rest[-1] - rest[0] < 0.25 * (len(rest) - 1), True, f"{len(rest)} in {rest[-1] - rest[0]:.1f} s")
        check("seine: the limits of ./seine.yaml hold" in err, True, err)


@case
def a_hang_up_slows_a_run_down_and_loses_no_debt():
    with origin() as o:
        r = Run(o, FAST.replace("500/s", "40/s"), *[o.url(f"/ok?{n}", "a.test") for n in range(14)])
        until(lambda: len(times(o)) >= 2, "the first requests")
        r.write(SLOW.replace("2/s", "5/s"))
        r.hang_up()
        until(lambda: len(times(o)) >= 9, "requests after it")
        for _ in range(10):  # the same limits again and again: nobody saves anything up
            r.hang_up()
        known = len(times(o))
        code, _, err = r.end()
        check(code, 0, err)
        rest = times(o)[known - 1:]
        check(rest[-1] - rest[0] > 0.99 * 0.2 * (len(rest) - 1), True, f"{len(rest)} in {rest[-1] - rest[0]:.2f} s")


@rows([("host-rate: fast\n", "./seine.yaml:1:12: host-rate 'fast': not a rate"), ("hosts: {a.test: {host-rtae: 1/s}}\n", "./seine.yaml:1:18: unknown key 'host-rtae' in a host"),
       ("}{\n", "./seine.yaml:1:1: "), (None, "can be written by others")], name=lambda row: str(row[0]))
def a_file_that_is_wrong_keeps_the_old_limits(config, why):
    with origin() as o:
        r = Run(o, "adaptive: off\nhost-rate: 10/s\n", "--events", *[o.url(f"/ok?{n}") for n in range(10)])
        until(lambda: len(times(o)) >= 2, "the first requests")
        if config is None:
            os.chmod(os.path.join(r.folder.name, "seine.yaml"), 0o666)
        else:
            r.write(config)
        r.hang_up()
        code, out, err = r.end()
        check((code, len(results(out))), (0, 10), err)
        said = [line for line in err.splitlines() if "the old limits stay" in line]
        check((len(said), why in "".join(said)), (1, True), err)
        check([why in e["data"]["message"] for e in records(out) if e["type"] == "event" and e["event"] == "config.kept"], [True])
        check(spread(o) > 0.99 * 9 / 10, True, "the old rate holds")


@case
def what_was_typed_stays_whatever_the_file_says():
    with origin() as o:
        r = Run(o, "adaptive: off\nper-host: 2\n", "--host-rate", "10/s", *[o.url(f"/ok?{n}") for n in range(8)])
        until(lambda: len(times(o)) >= 2, "the first requests")
        r.write("host-rate: 1000/s\n")
        r.hang_up()
        check(r.end()[0], 0)
        check(spread(o) > 0.99 * 7 / 10, True)


finish(at_once=4)
