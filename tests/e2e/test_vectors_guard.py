#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorded cases of other people's limiters, breakers and retries, through the verbs.

They are found through SEINE_VECTORS and are no part of the project. What a case
asks that the verbs cannot say, or that we decided otherwise, is named below with
its reason; the rest must agree.
"""
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, VECTORS, case, check, environment, finish, needs_vectors  # noqa: E402



def load(*path):
    with open(os.path.join(VECTORS, *path), encoding="utf-8") as f:
        return [json.loads(line) for line in f] if path[-1].endswith(".jsonl") else json.load(f)


def ask(verb, cases):
    text = "".join(json.dumps(c) + "\n" for c in cases)
    p = subprocess.run([PROGRAM, verb, "simulate", "--jsonl"], input=text.encode(), capture_output=True, env=environment())
    check((p.returncode, p.stderr), (0, b""))
    out = [json.loads(line) for line in p.stdout.splitlines()]
    check([o.get("id") for o in out], [c.get("id") for c in cases])
    return out


def limit_cases(cases):
    """The steps up to the first that is neither allow nor reserve; their ids are not ours."""
    out = []
    for c in cases:
        steps = []
        for s in c["steps"]:
            if s["op"] not in ("allow", "reserve"):
                break
            steps.append({k: v for k, v in s.items() if k != "id"})
        out.append({"id": c["id"], "rate": c["rate"], "burst": c["burst"], "steps": steps})
    return out


def wait_of(step):
    """The expected wait in microseconds, or None."""
    if "wait_us" in step:
        return step["wait_us"]
    return (step["act_ms"] - step["t_ms"]) * 1000 if "act_ms" in step else None


def compare_limit(c, got):
    check(got["ok"], [s["ok"] for s in c["steps"]], c["id"])
    for i, s in enumerate(c["steps"]):
        want = wait_of(s)
        if want is not None and s["ok"]:
            check(abs(got["wait_us"][i] - want) <= 1, True, f"{c['id']} step {i}: {got['wait_us'][i]} for {want}")
        if "remaining" in s:
            check(got["left"][i], s["remaining"], f"{c['id']} step {i} left")
            check(got["reset_us"][i], s["reset_ms"] * 1000, f"{c['id']} step {i} reset")
        if "retry_after_ms" in s and not s["ok"]:
            want = None if s["retry_after_ms"] == -1 else s["retry_after_ms"] * 1000
            check(got["retry_us"][i], want, f"{c['id']} step {i} retry")


@case
@needs_vectors
def xtime_random_sequences_agree():
    cases = load("ratelimit", "xtime-random.sample.jsonl")
    for c, got in zip(cases, ask("limit", cases)):
        compare_limit(c, got)
    check(len(cases) > 50, True)


@case
@needs_vectors
def golang_rate_tables_agree():
    whole = load("ratelimit", "golang-rate.json")
    cases = limit_cases(whole)
    compared = 0
    for raw, c, got in zip(whole, cases, ask("limit", cases)):
        if c["rate"] < 1e-9:
            # A rate of nothing, or of one in 317 years, is refused as a setting.
            check(got["ok"], False, c["id"])
        elif raw.get("clock_goes_back"):
            # x/time forgets what was spent when the clock steps back; ours never
            # mints a token, so it may be stricter, never more generous.
            for i, s in enumerate(c["steps"]):
                check(s["ok"] or not got["ok"][i], True, f"{c['id']} step {i}")
                if got["ok"][i] and wait_of(s) is not None:
                    check(got["wait_us"][i] >= wait_of(s), True, f"{c['id']} step {i}")
        else:
            compare_limit(c, got)
            compared += bool(c["steps"])
    check(compared >= 10, True)


@case
@needs_vectors
def governor_tables_agree():
    cases = limit_cases(load("ratelimit", "governor.json"))
    for c, got in zip(cases, ask("limit", cases)):
        compare_limit(c, got)


@case
@needs_vectors
def throttled_agrees_on_what_is_left_and_when_to_come_back():
    cases = limit_cases(load("ratelimit", "throttled-gcra.json"))
    for c, got in zip(cases, ask("limit", cases)):
        compare_limit(c, got)
        check(len(got["ok"]), 16)


def compare_breaker(c, got):
    for i, (s, g) in enumerate(zip(c["steps"], got["steps"])):
        check((g.get("admitted"), g["state"]), (s.get("admitted"), s["state_after"]), f"{c['id']} step {i}")
    check(len(got["steps"]), len(c["steps"]))


@case
@needs_vectors
def gobreaker_random_sequences_agree():
    cases = load("breaker", "gobreaker-random.sample.jsonl")
    compared = 0
    for c, got in zip(cases, ask("breaker", cases)):
        if c["closed_interval_ms"]:
            check(got["ok"], False)
            check(got["error"].startswith("closed_interval_ms: "), True)
            continue
        compare_breaker(c, got)
        compared += 1
    check(compared >= 30, True)


@case
@needs_vectors
def gobreaker_default_agrees():
    cases = []
    for c in load("breaker", "gobreaker-default.json"):
        steps = []
        for op, admitted, state in c["steps"]:
            word, *ms = op.split()
            step = {"op": word, "state_after": state}
            if ms:
                step["ms"] = float(ms[0])
            if admitted:
                step["admitted"] = admitted == "admit"
            steps.append(step)
        cases.append({"id": c["id"], **c["config"], "steps": steps})
    for c, got in zip(cases, ask("breaker", cases)):
        compare_breaker(c, got)


@case
@needs_vectors
def resilience4j_count_windows_agree_on_their_rates():
    # Windows of calls, and what a breaker judges by: the shares. Counts and sums
    # of durations are not kept, and the cases of windows in time carry neither
    # their size nor how far the clock moves.
    rates = {"FailureRate": "failure_rate", "SlowCallRate": "slow_rate"}
    compared = 0
    for c in load("breaker", "resilience4j-sliding-window.json"):
        if c["window"] != "count":
            continue
        steps, expected = [], []
        for s in c["steps"]:
            if s["op"] == "record":
                slow, failed = "SLOW" in s["outcome"], "ERROR" in s["outcome"]
                steps.append({"op": "failure" if failed else "success", "ms": 2000 if slow else 1})
            elif s["field"] in rates:
                expected.append((len(steps) - 1, rates[s["field"]], s["value"]))
        got = ask("breaker", [{"k": 1000, "window_calls": c["size"], "slow_ms": 1000, "steps": steps}])[0]
        for i, name, value in expected:
            check(abs(got["steps"][i][name] - value) < 1e-4 if i >= 0 else value == 0, True, f"{c['id']} {name}")
            compared += 1
    check(compared >= 10, True)


@case
@needs_vectors
def cenkalti_backoff_agrees():
    whole = load("backoff", "cenkalti.json")
    compared = 0
    for c, got in zip(whole, ask("backoff", [{**c, "seed": 3} for c in whole])):
        if c.get("multiplier", 2) != 2:
            check(got["ok"], False)
            check(got["error"].startswith("multiplier: "), True)
            continue
        if "expect_base_ms" in c:
            check(got["base_ms"], c["expect_base_ms"])
            for base, delay in zip(got["base_ms"], got["delay_ms"]):
                check(base * (1 - c["jitter"]) <= delay <= min(base * (1 + c["jitter"]), c["max_ms"]), True)
        if c.get("expect") == "stop":
            check(got["stop"], True)
        compared += 1
    check(compared, 2)


finish()
