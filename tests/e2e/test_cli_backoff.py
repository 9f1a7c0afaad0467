#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine backoff simulate`: waits that double, and what chance may do to them."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

SIM = ["backoff", "simulate"]


def summary(*words, **more):
    r = seine(*SIM, *words, "-j", **more)
    check(r.code, 0, r.err)
    return json.loads(r.out)


@case
def waits_double_up_to_the_longest():
    got = summary("--base", "100ms", "--max", "1s", "--n", "6", "--jitter", "none")
    check(got["base_ms"], [100, 200, 400, 800, 1000, 1000])
    check(got["delay_ms"], got["base_ms"])
    check((got["total_ms"], got["total_min_ms"], got["total_max_ms"]), (3500, 3500, 3500))


@case
def attempts_count_the_first_try():
    check(summary()["base_ms"], [1000, 2000])
    check(summary("--attempts", "7")["base_ms"], [1000, 2000, 4000, 8000, 16000, 30000])
    check(summary("--attempts", "1")["base_ms"], [])
    check("One attempt: nothing is tried again.\n" in seine(*SIM, "--attempts", "1").out, True)
    check(len(summary("--attempts", "2", "--n", "5")["base_ms"]), 5)


@case
def first_and_longest_can_be_given_in_one():
    check(summary("--backoff", "250ms..2s", "--n", "5")["base_ms"], [250, 500, 1000, 2000, 2000])
    check(summary("--backoff", "250ms..2s", "--base", "1s", "--n", "3")["base_ms"], [1000, 2000, 2000])
    check(summary("--n", "2", env={"SEINE_BACKOFF": "3s..4s"})["base_ms"], [3000, 4000])


# name, lowest and highest wait for a base of d and the wait before, in ms
BOUNDS = {
    "minus": lambda d, prev: (0.9 * d, d),
    "plusminus": lambda d, prev: (0.9 * d, min(1.1 * d, 30000)),
    "full": lambda d, prev: (0, d),
    "equal": lambda d, prev: (d / 2, d),
    "decorrelated": lambda d, prev: (1000, min(30000, max(1000, 3 * prev))),
    "none": lambda d, prev: (d, d),
}


@rows([(name,) for name in BOUNDS])
def every_draw_stays_in_its_bounds(name):
    seen = []
    for seed in range(60):
        got = summary("--jitter", name, "--n", "8", "--seed", str(seed))
        prev = 1000
        for base, wait in zip(got["base_ms"], got["delay_ms"]):
            low, high = BOUNDS[name](base, prev)
            check(low - 1e-6 <= wait <= high + 1e-6, True, f"seed {seed}: {wait} of {base}")
            prev = wait
        check(abs(sum(got["delay_ms"]) - got["total_ms"]) < 1e-3, True)
        check(got["total_min_ms"] <= got["total_ms"] <= got["total_max_ms"], True)
        check(got["total_min_ms"] <= got["total_mean_ms"] <= got["total_max_ms"], True)
        seen.append(got["delay_ms"][0])
    check(len(set(seen)) == (1 if name == "none" else 60), True, "seeds differ")


@case
def the_same_seed_draws_the_same():
    check(summary("--seed", "5"), summary("--seed", "5"))


@case
def the_table_adds_up_and_fits():
    for width in ("60", "80", "120"):
        r = seine(*SIM, "--attempts", "9", env={"COLUMNS": width})
        text = r.out.split("\n")
        check(max(len(line) for line in text) <= max(80, int(width)), True)
        check([line for line in text if line != line.rstrip()], [])
        check(len([line for line in text if re.match(r" +\d+ ", line)]), 8)


WRONG = [
    (["--backoff", "1s"], "--backoff '1s': not two durations", "--backoff 1s..30s"),
    (["--backoff", "1s..x"], "--backoff '1s..x': not a duration", "--backoff 1s..30s"),
    (["--backoff", "5s..1s"], "the longest wait, 1 s, is below the first, 5 s", "a longer --max"),
    (["--max", "10ms"], "the longest wait, 10 ms, is below the first, 1 s", "a longer --max"),
    (["--attempts", "0"], "--attempts '0': must be 1 to 1001", "--attempts 10"),
    (["--jitter", "some"], "--jitter 'some': not one of the choices", "--jitter minus|plusminus|full|equal|decorrelated|none"),
    (["--jitter-pct", "101%"], "--jitter-pct '101%': a share must not be above 100%", "--jitter-pct 20%"),
    (["--jitter-pct", "10"], "--jitter-pct '10': not a share", "--jitter-pct 20%"),
    (["trace"], "backoff simulate: 'trace' is one argument too many", "seine backoff simulate"),
    (["--jsonl", "--n", "5"], "--n does not go with --jsonl: each line says its own", "one of the two"),
]


@rows(WRONG, name=lambda row: " ".join(row[0]))
def typed_wrong(words, happened, hint):
    r = seine(*SIM, *words)
    check(r.err, f"seine: {happened}\ntry: {hint}\n")
    check((r.code, r.out), (2, ""))


def ask(*cases):
    r = seine(*SIM, "--jsonl", stdin="".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in cases))
    check(r.code, 0, r.err)
    return [json.loads(line) for line in r.out.splitlines()]


@case
def a_case_is_answered_with_base_and_delay():
    got = ask({"id": [1], "initial_ms": 100, "multiplier": 2, "max_ms": 500, "jitter": "none", "n": 4, "seed": 9},
              {"initial_ms": 0.5, "max_ms": 1.5, "jitter": 0, "n": 3})
    check(got[0], {"id": [1], "ok": True, "base_ms": [100, 200, 400, 500], "delay_ms": [100, 200, 400, 500]})
    check(got[1], {"ok": True, "base_ms": [0.5, 1, 1.5], "delay_ms": [0.5, 1, 1.5]})


@case
def time_that_is_up_stops_it():
    got = ask({"max_elapsed_ms": 900000, "elapsed_ms": 10000000}, {"max_elapsed_ms": 900000, "elapsed_ms": 100})
    check([g["stop"] for g in got], [True, False])


ERRORS = [
    ('{"multiplier":1.5}', "multiplier: waits double here, so only 2 can be had"),
    ('{"multiplier":"2"}', "multiplier: waits double here, so only 2 can be had"),
    ('{"jitter":1.5}', "jitter: not a whole number of hundredths from 0 to 1"),
    ('{"jitter":0.125}', "jitter: not a whole number of hundredths from 0 to 1"),
    ('{"jitter":"wild"}', "jitter: unknown name 'wild'"),
    ('{"jitter":[]}', "jitter: neither a share nor a name"),
    ('{"initial_ms":-5}', "initial_ms: must not be negative"),
    ('{"initial_ms":5,"max_ms":4}', "max_ms: is below initial_ms"),
    ('{"max_elapsed_ms":-4}', "max_elapsed_ms: must not be negative"),
    ('{"n":-1}', "n: -1 is not in 0 to 10000"),
    ('{"base_ms":1}', "unknown member 'base_ms'"),
]


@case
def bad_cases_are_answered_in_place_and_the_exit_code_stays_0():
    for (line, error), got in zip(ERRORS, ask(*[line for line, _ in ERRORS])):
        check(got, {"ok": False, "error": error}, line)


finish(at_once=2)
