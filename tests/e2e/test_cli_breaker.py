#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine breaker simulate` against a breaker of a few lines written here."""
import heapq
import json
import os
import random
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

SIM = ["breaker", "simulate"]


def lines(r):
    check(r.code, 0, r.err)
    return [json.loads(line) for line in r.out.splitlines()]


class Breaker:
    """Milliseconds; opens after `fail` in a row, or when `pct` of the last `window` calls failed."""

    def __init__(self, fail, open_for, probes=1, close=1, window=0, pct=0, least=10):
        self.__dict__.update(locals())
        self.state, self.generation, self.until = "closed", 0, 0
        self.clear()
        self.changes = []

    def clear(self):
        self.row, self.seen, self.out, self.good = 0, [], 0, 0

    def turn(self, state, now):
        self.state, self.generation = state, self.generation + 1
        self.clear()
        self.changes.append((now, state))
        if state == "open":
            self.until = now + self.open_for

    def acquire(self, now):
        if self.state == "open":
            if now < self.until:
                return None
            self.turn("half-open", now)
        if self.state == "half-open":
            if self.out >= self.probes:
                return None
            self.out += 1
        return self.generation

    def settle(self, generation, ok, now):
        if generation != self.generation:
            return
        if self.state == "half-open":
            self.out -= 1
            self.good += ok
            if not ok:
                self.turn("open", now)
            elif self.good >= self.close:
                self.turn("closed", now)
            return
        self.row = 0 if ok else self.row + 1
        self.seen = (self.seen + [ok])[-self.window:] if self.window else []
        failed = self.seen.count(False)
        if ok:
            return  # only a failure opens it
        if (self.fail and self.row >= self.fail) or (
                self.pct and len(self.seen) >= self.least and 100 * failed >= self.pct * len(self.seen)):
            self.turn("open", now)


def play(breaker, calls):
    """[(ms, ok, took)] in order; which were admitted."""
    out, running = [], []
    for number, (at, ok, took) in enumerate(calls):
        while running and running[0][0] <= at:
            end, _, generation, how = heapq.heappop(running)
            breaker.settle(generation, how, end)
        permit = breaker.acquire(at)
        out.append(permit is not None)
        if permit is not None:
            heapq.heappush(running, (at + took, number, permit, ok))
    while running:
        end, _, generation, how = heapq.heappop(running)
        breaker.settle(generation, how, end)
    return out


def trace_of(calls):
    return "".join(f"{at}ms {'ok' if ok else 'fail'} {took}ms\n" for at, ok, took in calls)


def random_calls(rng, count):
    at, bad, out = 0, False, []
    for _ in range(count):
        at += rng.choice([0, 1, 20, 50, 200, 900])
        if rng.random() < 0.05:
            bad = not bad
        out.append((at, rng.random() < (0.1 if bad else 0.95), rng.choice([0, 0, 3, 40, 400])))
    return out


POLICIES = [
    (["--fail", "3", "--open", "2s"], dict(fail=3, open_for=2000)),
    (["--fail", "1", "--open", "5s", "--probes", "3", "--close", "2"], dict(fail=1, open_for=5000, probes=3, close=2)),
    (["--fail", "0", "--rate", "50%", "--window-calls", "20", "--min", "8", "--open", "3s"],
     dict(fail=0, open_for=3000, window=20, pct=50, least=8)),
    (["--fail", "6", "--rate", "30%", "--open", "1s", "--close", "4", "--probes", "2"],
     dict(fail=6, open_for=1000, window=100, pct=30, least=10, close=4, probes=2)),
    (["--breaker", "fail=4,open=1500ms,probes=2,close=2,park=3"], dict(fail=4, open_for=1500, probes=2, close=2)),
]


@rows(POLICIES, name=lambda row: " ".join(row[0]))
def random_traces_agree_with_the_small_breaker(words, policy):
    rng = random.Random(str(words))
    for _ in range(8):
        calls, model = random_calls(rng, 400), Breaker(**policy)
        want = play(model, calls)
        got = lines(seine(*SIM, *words, "--decisions", "-j", stdin=trace_of(calls)))
        check([d["admitted"] for d in got[:-1]], want)
        summary = got[-1]
        check([(round(c["t"] * 1000), c["to"]) for c in summary["changes"]], model.changes)
        failed = [not ok for _, ok, _ in calls]
        check(summary["calls"], len(calls))
        check(summary["refused"], want.count(False))
        check(summary["admitted"] + summary["refused"], summary["calls"])
        check(summary["met"], sum(1 for f, w in zip(failed, want) if f and w))
        check(summary["spared"], sum(1 for f, w in zip(failed, want) if f and not w))
        check(summary["lost"], sum(1 for f, w in zip(failed, want) if not f and not w))
        check(summary["opened"], sum(1 for _, s in model.changes if s == "open"))


@case
def three_failures_open_it_and_a_probe_closes_it_by_hand():
    trace = "0 fail\n1 fail\n2 fail\n3 ok\n11.999 ok\n12 ok\n13 fail\n"
    got = lines(seine(*SIM, "--fail", "3", "--open", "10s", "--decisions", "-j", stdin=trace))
    check([d["admitted"] for d in got[:-1]], [True, True, True, False, False, True, True])
    check([d["state"] for d in got[:-1]], ["closed"] * 3 + ["open"] * 2 + ["half-open", "closed"])
    check(got[-1]["changes"], [{"t": 2, "to": "open"}, {"t": 12, "to": "half-open"}, {"t": 12, "to": "closed"}])
    check((got[-1]["opened"], got[-1]["open_s"], got[-1]["lost"]), (1, 10, 2))


@case
def an_open_time_above_the_standard_ceiling_needs_no_ceiling_of_its_own():
    got = lines(seine(*SIM, "--fail", "1", "--open", "10m", "--decisions", stdin="0 fail\n301 ok\n599 ok\n600 ok\n"))
    check([d["admitted"] for d in got], [True, False, False, True])


@case
def a_call_counts_when_it_ends_and_not_when_it_begins():
    # The failure of the first call is known at 5 s only; until then all may try.
    got = lines(seine(*SIM, "--fail", "1", "--open", "10s", "--decisions", stdin="0 fail 5s\n1 ok\n4.999 ok\n5 ok\n"))
    check([d["admitted"] for d in got], [True, True, True, False])


@case
def slow_calls_can_open_it():
    trace = "".join(f"{i} ok {'3s' if i % 2 else '10ms'}\n" for i in range(40))
    got = lines(seine(*SIM, "--fail", "0", "--slow", "2s", "--slow-rate", "50%", "--window-calls", "10", "-j", stdin=trace))
    check(got[0]["opened"] >= 1, True)
    got = lines(seine(*SIM, "--fail", "0", "--slow", "4s", "--slow-rate", "50%", "--window-calls", "10", "-j", stdin=trace))
    check(got[0]["opened"], 0)


@case
def an_access_log_fails_by_its_status():
    # 5xx but 501 and 505 fail; 429 and 404 are answers.
    log = "".join(f'192.0.2.1 - - [10/Oct/2000:13:55:{36 + i} -0700] "GET /\\" HTTP/1.1" {status} 5\n'
                  for i, status in enumerate([200, 500, 501, 502, 429, 404, 503, 505, 504, 599]))
    got = lines(seine(*SIM, "--fail", "100", "-j", stdin=log))
    check(got[0]["failed"], 5)


@rows([("0 ok\n1 fail\n",), ("0 success\n1 failure\n",), ("0 200\n1 503\n",), ("0 ok 1ms\n1 timeout 2s\n",),
       ('{"t":0,"ok":true}\n{"t":1,"ok":false,"duration_ms":3.5}\n',),
       ('{"t":0,"ok":false,"status":404}\n{"t":1,"ok":true,"status":500}\n',),  # the status has the last word
       ("0 ok\n0.5 canceled\n1 error\n",)])
def outcomes_in_any_form(trace):
    got = lines(seine(*SIM, "-j", stdin=trace))
    check(got[0]["failed"], 1)


@rows([("0\n", "1:2: the line does not say how the call went"), ("0 maybe\n", "1:3: 'maybe' is neither ok nor fail nor an HTTP status"),
       ("0 ok soon\n", "1:6: 'soon' is not a duration"), ("0 ok 1s x\n", "1:9: 'x' is one word too many"),
       ("0 600\n", "1:3: '600' is neither ok nor fail nor an HTTP status"), ('{"t":0}\n', "1:1: no member 'ok' or 'status'"),
       ('{"t":0,"status":99}\n', "1:1: 'status' is not an HTTP status"), ('{"t":0,"ok":true,"duration_ms":-1}\n', "1:1: 'duration_ms' is not a duration"),
       ('a [10/Oct/2000:13:55:36 -0700] "GET / HTTP/1.1" - 5\n', "1:49: no HTTP status after the request")])
def a_bad_line_is_named(trace, message):
    r = seine(*SIM, stdin=trace)
    check(r.err.split("\n")[0], f"seine: standard input:{message}")
    check(r.err.split("\n")[-2], "try: lines like '12.345 ok 80ms' or '12.345 503', an access log, or --skip-bad")
    check((r.code, r.out), (2, ""))


@case
def made_up_calls_fail_in_the_outage_and_nowhere_else():
    got = lines(seine(*SIM, "--fail", "1000", "--traffic", "steady:10/s", "--for", "20s", "--outage", "5s..8s", "-j"))[0]
    check((got["calls"], got["failed"]), (200, 30))
    got = lines(seine(*SIM, "--fail", "1000", "--traffic", "50/s", "--for", "100s", "--errors", "20%", "-j"))[0]
    check(0.16 < got["failed"] / got["calls"] < 0.24, True)


@rows([("60",), ("80",), ("120",)])
def the_strips_fit_the_width_and_show_every_opening(width):
    r = seine(*SIM, "--fail", "3", "--open", "20s", "--traffic", "5/s", "--outage", "60s..100s", env={"COLUMNS": width})
    check(r.code, 0)
    text = r.out.split("\n")
    check(max(len(line) for line in text) <= max(80, int(width)), True)
    check([line for line in text if line != line.rstrip()], [])
    strips = {line.split()[0]: line[9:] for line in text[3:7]}
    check(list(strips), ["state", "calls", "failed", "refused"])
    check(len(strips["state"]) <= int(width) - 9, True)
    check(len(strips["state"]), len(strips["calls"]))
    # Open from about 60 s to 100 s of 300 s: that part of the strip, and no other.
    n = len(strips["state"])
    opened = [i / n for i, c in enumerate(strips["state"]) if c != "─"]
    check(0.18 < min(opened) < 0.22 and 0.32 < max(opened) < 0.36, True, str(opened))


@rows([
    (["--fail", "1"], "opens after 1 failure in a row, for 1 min"),
    (["--rate", "50%"], "opens after 5 failures in a row or when 50 % fail of the last 100 calls, for 1 min"),
    (["--fail", "0", "--rate", "20%", "--window", "30s"], "opens when 20 % fail of the last 30 s, for 1 min"),
    (["--fail", "0", "--slow", "2s", "--slow-rate", "50%", "--window-calls", "20"], "opens when 50 % take over 2 s of the last 20 calls, for 1 min"),
    (["--fail", "3", "--breaker", "fail=9,open=2s"], "opens after 3 failures in a row, for 2 s"),  # the option beats the SPEC
])
def the_policy_is_said_in_words(words, said):
    check(seine(*SIM, *words, stdin="0 ok\n").out.split("\n")[0], "breaker  " + said)


@case
def half_open_time_and_many_changes_are_shown():
    flapping = "".join(f"{10 * i} fail\n" for i in range(40))
    out = seine(*SIM, "--fail", "1", "--open", "5s", stdin=flapping).out
    check("and 28 more\n" in out, True, out)
    probing = "0 fail\n" + "".join(f"{i} ok 20s\n" for i in range(10, 60))
    out = seine(*SIM, "--fail", "1", "--open", "5s", "--close", "2", "--bin", "5s", stdin=probing).out
    check("▒ half-open" in out, True)
    state = next(line for line in out.split("\n") if line.startswith("state"))
    check("▒" in state, True)


@case
def a_short_opening_is_never_shown_as_closed():
    trace = "".join(f"{i} ok\n" for i in range(1000)) + "1000 fail\n1000.2 ok\n1000.4 ok\n" + "".join(f"{i} ok\n" for i in range(1001, 2000))
    out = seine(*SIM, "--fail", "1", "--open", "100ms", stdin=trace).out
    state = next(line for line in out.split("\n") if line.startswith("state"))
    check(len(state[9:].replace("─", "")), 1)
    check("1 time, first at 16:40.000" in out, True)


# --jsonl ------------------------------------------------------------------------------

def ask(*cases):
    return lines(seine(*SIM, "--jsonl", stdin="".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in cases)))


@case
def a_case_is_answered_step_by_step():
    steps = [{"op": "failure"}, {"op": "failure"}, {"op": "success"}, {"op": "advance", "ms": 999.999}, {"op": "advance", "ms": 0.001}, {"op": "failure"},
             {"op": "advance", "ms": 1000}, {"op": "success"}, {"op": "ignored"}]
    got = ask({"id": "x", "trip": "consecutive_failures", "k": 2, "half_open_max": 1, "open_timeout_ms": 1000, "closed_interval_ms": 0, "steps": steps})
    check(got, [{"id": "x", "ok": True, "steps": [
        {"admitted": True, "state": "closed"}, {"admitted": True, "state": "open"}, {"admitted": False, "state": "open"}, {"state": "open"},
        {"state": "half-open"}, {"admitted": True, "state": "open"}, {"state": "half-open"}, {"admitted": True, "state": "closed"},
        {"admitted": True, "state": "closed"}]}])


@case
def a_share_of_failures_is_judged_from_enough_calls_on():
    steps = [{"op": op} for op in ["failure", "success", "success", "failure", "success"]]
    got = ask({"trip": "failure_ratio", "min_requests": 4, "ratio": 0.5, "half_open_max": 1, "open_timeout_ms": 1000, "steps": steps})
    check([s["state"] for s in got[0]["steps"]], ["closed", "closed", "closed", "open", "open"])


@case
def a_window_tells_its_rates():
    steps = [{"op": "success", "ms": 10}, {"op": "failure", "ms": 200}, {"op": "success", "ms": 10}, {"op": "success", "ms": 10}]
    got = ask({"k": 100, "window_calls": 2, "slow_ms": 100, "steps": steps})
    check([(s["failure_rate"], s["slow_rate"]) for s in got[0]["steps"]], [(0, 0), (50, 50), (50, 50), (0, 0)])


ERRORS = [
    ('{"steps":[],"closed_interval_ms":5}', "closed_interval_ms: counts are never cleared by time here, so only 0 can be had"),
    ('{"steps":[],"trip":"magic"}', "trip: unknown 'magic'"),
    ('{"steps":[],"trip":"failure_ratio"}', "ratio: not a whole number of hundredths up to 1"),
    ('{"steps":[],"trip":"failure_ratio","ratio":0.333}', "ratio: not a whole number of hundredths up to 1"),
    ('{"steps":[],"k":0}', "inval: no breaker can be made of this"),
    ('{"steps":[],"half_open_max":65}', "half_open_max: 65 is not in 1 to 64"),
    ('{"steps":[],"open_timeout":5}', "unknown member 'open_timeout'"),
    ('{"k":1}', "no member 'steps'"),
    ('{"steps":[{"op":"explode"}]}', "steps[0]: unknown op 'explode'"),
    ('{"steps":[{"op":"success"},{"ms":1}]}', "steps[1]: no member 'op'"),
    ('{"steps":[{"op":"advance"}]}', "steps[0]: no member 'ms'"),
    ('{"steps":[{"op":"advance","ms":-1}]}', "steps[0]: ms: must be 0 or more, and no more than 146 years in all"),
    ('{"steps":[{"op":"advance","ms":9e12}]}', "steps[0]: ms: must be 0 or more, and no more than 146 years in all"),
    ('{"steps":[{"op":"success","when":1}]}', "steps[0]: unknown member 'when'"),
    ('{"steps":["success"]}', "steps[0]: not an object"),
]


@case
def bad_cases_are_answered_in_place_and_the_exit_code_stays_0():
    for (line, error), got in zip(ERRORS, ask(*[line for line, _ in ERRORS])):
        check(got, {"ok": False, "error": error}, line)


finish(at_once=2)
