#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine limit simulate` against a bucket of exact fractions written here."""
import json
import os
import random
import re
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

SIM = ["limit", "simulate"]


def lines(r):
    check(r.code, 0, r.err)
    return [json.loads(line) for line in r.out.splitlines()]


def bucket(rate, burst, requests, max_wait=Fraction(0), initial=None):
    """[(ok, wait)] for [(seconds, n)]; max_wait None is for ever."""
    tokens, last, out = Fraction(burst if initial is None else min(initial, burst)), None, []
    for t, n in requests:
        if last is not None:
            tokens = min(Fraction(burst), tokens + (t - last) * rate)
        last = t
        wait = max(Fraction(0), (n - tokens) / rate)
        if n > burst or (max_wait is not None and wait > max_wait):
            out.append((False, None))
        else:
            tokens -= n
            out.append((True, wait))
    return out


def trace_of(requests):
    return "".join(f"{float(t):.6f} {n}\n" for t, n in requests)


def random_requests(rng, count, step, most):
    t, out = Fraction(0), []
    for _ in range(count):
        t += Fraction(rng.choice([0, 0, 1, 2, 5, 40, 300]) * step, 1000)
        out.append((t, rng.randint(0, most)))
    return out


@case
def ten_a_second_and_three_at_once_by_hand():
    got = lines(seine(*SIM, "--rate", "10/s", "--burst", "3", "--decisions", stdin="0\n0.02\n0.04\n0.06\n0.08\n0.1\n0.12\n"))
    check([d["ok"] for d in got], [True, True, True, False, False, True, False])
    check([d["left"] for d in got], [2, 1, 0, 0, 0, 0, 0])
    check([d["line"] for d in got], [1, 2, 3, 4, 5, 6, 7])
    check([d["t"] for d in got], [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12])


@case
def waiting_requests_get_the_next_tokens_in_order():
    got = lines(seine(*SIM, "--rate", "10/s", "--burst", "1", "--wait", "--decisions", stdin="0\n0\n0\n0.25\n0.25\n"))
    check([d["wait_us"] for d in got], [0, 100000, 200000, 50000, 150000])
    got = lines(seine(*SIM, "--rate", "10/s", "--burst", "1", "--max-wait", "100ms", "--decisions", stdin="0\n0\n0\n0.25\n0.25\n"))
    check([d.get("wait_us") for d in got], [0, 100000, None, 0, 100000])


@case
def a_bucket_can_start_empty():
    got = lines(seine(*SIM, "--rate", "1/s", "--burst", "5", "--initial", "0", "--decisions", stdin="0\n1\n1\n"))
    check([d["ok"] for d in got], [False, True, False])
    # It starts at the first request, not at 0: nothing has come back by then.
    got = lines(seine(*SIM, "--rate", "1/s", "--burst", "5", "--initial", "0", "--decisions", stdin="100\n101\n101\n"))
    check([d["ok"] for d in got], [False, True, False])
    check("at the first request" in seine(*SIM, "--help").out, True)


@case
def off_is_no_limit_at_all():
    got = lines(seine(*SIM, "--rate", "off", "-j", stdin="0\n" * 1000))
    check((got[0]["admitted"], got[0]["refused"], got[0]["rate"]), (1000, 0, "off"))


@rows([(rate, burst, wait, seed) for seed, (rate, burst, wait) in enumerate(
    [("10/s", 3, "0"), ("10/s", 3, "150ms"), ("4/s", 10, "off"), ("0.5/s", 2, "3s"), ("200/s", 50, "0"), ("1/s", 1, "0")])],
    name=lambda row: f"{row[0]} burst {row[1]} wait {row[2]}")
def random_traces_agree_with_exact_fractions(rate, burst, wait, seed):
    rng = random.Random(seed)
    number = Fraction(rate.split("/")[0])
    most = {"0": Fraction(0), "off": None, "150ms": Fraction(3, 20), "3s": Fraction(3)}[wait]
    for _ in range(5):
        requests = random_requests(rng, 200, max(1, int(200 / number)), 3)
        want = bucket(number, burst, requests, most)
        got = lines(seine(*SIM, "--rate", rate, "--burst", str(burst), "--max-wait", wait, "--decisions", stdin=trace_of(requests)))
        check([d["ok"] for d in got], [ok for ok, _ in want])
        check([d.get("wait_us") for d in got], [None if w is None else int(w * 10**6) for _, w in want])


@case
def the_summary_says_what_the_decisions_add_up_to():
    rng = random.Random(11)
    requests = random_requests(rng, 400, 30, 1)
    requests = [(t, 1) for t, _ in requests]
    args = ["--rate", "5/s", "--burst", "4", "--max-wait", "300ms"]
    got = lines(seine(*SIM, *args, "--decisions", "-j", stdin=trace_of(requests)))
    decisions, summary = got[:-1], got[-1]
    waits = [d["wait_us"] for d in decisions if d["ok"]]
    late = [w for w in waits if w > 0]
    check(summary["requests"], 400)
    check(summary["admitted"], len(waits))
    check(summary["refused"], 400 - len(waits))
    check(summary["waited"], len(late))
    check(summary["wait_max_us"], max(waits))
    check(abs(summary["wait_mean_us"] - sum(late) / len(late)) <= 1, True)
    check(summary["left"], decisions[-1]["left"])

    def peak(starts):
        return max(sum(1 for s in starts if t - 10**6 < s <= t) for t in starts)
    check(summary["peak_offered_1s"], peak([int(t * 10**6) for t, _ in requests]))
    check(summary["peak_admitted_1s"], peak([int(t * 10**6) + d["wait_us"] for (t, _), d in zip(requests, decisions) if d["ok"]]))


@rows([("5/s", 4), ("30/m", 2), ("50/s", 1)])
def the_burst_and_the_rate_it_offers_are_enough_and_not_too_much(rate, burst):
    rng = random.Random(5)
    trace = trace_of([(t, 1) for t, _ in random_requests(rng, 300, 30, 1)])

    def refused(rate, burst):
        return lines(seine(*SIM, "--rate", rate, "--burst", str(burst), "-j", stdin=trace))[0]["refused"]
    text = seine(*SIM, "--rate", rate, "--burst", str(burst), "--no-plot", stdin=trace).out
    offer = re.search(r"Nobody is refused or waits with --burst (\d+)(?:, or with --rate (\S+))?\.", text)
    enough = int(offer.group(1))
    check(refused(rate, enough), 0)
    check(refused(rate, enough - 1) > 0, True)
    if offer.group(2):
        number, unit = offer.group(2).split("/")
        check(refused(offer.group(2), burst), 0)
        check(refused(f"{float(number) * 0.99:.6f}/{unit}", burst) > 0, True)


@case
def with_keys_the_offer_is_what_the_worst_of_them_needs():
    trace = "".join(f"0.{i} a\n" for i in range(4)) + "".join(f"9.{i} b\n" for i in range(7)) + "".join(f"9.{i}5 c\n" for i in range(9))
    got = lines(seine(*SIM, "--rate", "1/m", "--burst", "2", "--key", "2", "-j", stdin=trace))[0]
    check(got["enough_burst"], 9)
    for burst, refused in (("9", 0), ("8", 1)):
        check(lines(seine(*SIM, "--rate", "1/m", "--burst", burst, "--key", "2", "-j", stdin=trace))[0]["refused"], refused)


@case
def no_rate_is_offered_to_a_request_larger_than_the_bucket():
    r = seine(*SIM, "--rate", "1/s", "--burst", "2", stdin="0 3\n")
    check("with --burst 3." in r.out, True)


TIMES = [
    ("0\n1\n1\n2.5\n"),
    ("0s\n1000ms\n1s\n2s500ms\n"),
    ("0 1\n1 1\n1 1\n2.5 1\n"),
    ("\ufeff# a comment\n0\n\n 1 \r\n1\n2.5"),
    ("1700000000\n1700000001\n1700000001.0\n1700000002.5\n"),
    ("2026-11-15T23:59:59Z\n2026-11-16T00:00:00Z\n2026-11-16T01:00:00+01:00\n2026-11-16 00:00:01.5\n"),
    ('{"t":0}\n{"t":1,"other":[1]}\n{"t":"1s"}\n{"t":2.5,"n":1}\n'),
    ('{"ts":"2026-11-15T19:20:01.000000Z"}\n{"ts":"2026-11-15T19:20:02Z"}\n{"ts":"2026-11-15T19:20:02Z"}\n{"ts":"2026-11-15T19:20:03.5Z"}\n'),
]


@rows([(t,) for t in TIMES])
def times_in_any_form_are_the_same_trace(text):
    got = lines(seine(*SIM, "--rate", "1/s", "--decisions", "-q", stdin=text))
    check([(d["t"], d["ok"]) for d in got], [(0, True), (1, True), (1, False), (2.5, True)])


LOG = """192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.1" 200 5 "-" "x"
192.0.2.2 - - [10/Oct/2000:13:55:36 -0700] "GET /b [10] HTTP/1.1" 200 5 "-" "x"
192.0.2.1 - - [10/Oct/2000:13:55:39 -0700] "GET /c HTTP/1.1" 200 5 "-" "x"
192.0.2.2 - - [10/Oct/2000:13:55:38 -0700] "GET /d HTTP/1.1" 200 5 "-" "x"
"""


@case
def an_access_log_works_as_it_is_and_is_put_in_order():
    r = seine(*SIM, "--rate", "1/s", "--decisions", stdin=LOG)
    check([(d["line"], d["t"], d["ok"]) for d in lines(r)], [(1, 0, True), (2, 0, False), (4, 2, True), (3, 3, True)])
    check(r.err, "seine: 1 request was out of order and put in its place\n"
                 "seine: the trace knows whole seconds only: requests of one second count as arriving together (--spread spaces them out)\n")
    check(seine(*SIM, "--rate", "1/s", "--decisions", "-q", stdin=LOG).err, "")


@case
def whole_seconds_can_be_spread():
    got = lines(seine(*SIM, "--rate", "2/s", "--spread", "--decisions", stdin=LOG))
    check([(d["t"], d["ok"]) for d in got], [(0, True), (0.5, True), (2, True), (3, True)])


@case
def the_plot_of_a_log_shows_its_own_clock():
    out = seine(*SIM, "--rate", "1/s", stdin=LOG).out
    check("from 2000-10-10 13:55:36-07:00" in out, True)
    check("13:55:37" in out, True)


@case
def each_key_has_its_own_bucket():
    rng = random.Random(3)
    requests = [(t, 1, rng.choice("abc")) for t, _ in random_requests(rng, 300, 20, 1)]
    trace = "".join(f"{float(t):.6f} {k}\n" for t, _, k in requests)
    got = lines(seine(*SIM, "--rate", "2/s", "--burst", "3", "--key", "2", "--decisions", stdin=trace))
    for key in "abc":
        mine = bucket(Fraction(2), 3, [(t, n) for t, n, k in requests if k == key])
        check([d["ok"] for d in got if d["key"] == key], [ok for ok, _ in mine])
    as_json = "".join(json.dumps({"t": float(f"{float(t):.6f}"), "host": k}) + "\n" for t, _, k in requests)
    again = lines(seine(*SIM, "--rate", "2/s", "--burst", "3", "--key", "/host", "--decisions", stdin=as_json))
    check([d["ok"] for d in again], [d["ok"] for d in got])


@case
def the_keys_that_are_hit_most_are_named():
    trace = "0 calm\n" + "0 greedy\n" * 5 + "0 pushy\n" * 3
    r = seine(*SIM, "--rate", "1/s", "--key", "2", "--no-plot", stdin=trace)
    check("keys                 3, 2 of which were refused something\n"
          "  greedy         5 requests,        4 refused   80.0 %\n"
          "  pushy          3 requests,        2 refused   66.7 %\n" in r.out, True)
    check(lines(seine(*SIM, "--rate", "1/s", "--key", "2", "-j", stdin=trace))[0]["keys"], 3)


@rows([("1 a\n2\n", "2", "2:2: no word 2 to be the key"),
       ("1 a\n", "/host", "1:1: a key by name needs JSON lines"),
       ('{"t":1}\n', "/host", "1:1: no text in 'host' to be the key"),
       ('{"t":1,"host":"a\\u0000b"}\n', "/host", "1:1: a zero byte in the key"),
       ('{"t":1}\n', "1", "1:1: a JSON object has no words"),
       ("1 " + "k" * 300 + "\n", "2", "1:3: a key of more than 255 bytes")])
def a_line_without_its_key_is_named(trace, key, message):
    r = seine(*SIM, "-r", "1/s", "--key", key, stdin=trace)
    check(r.err.split("\n")[0], f"seine: standard input:{message}")
    check((r.code, r.out), (2, ""))


@case
def bad_lines_can_be_left_out_and_are_counted():
    r = seine(*SIM, "--rate", "1/s", "--skip-bad", "-j", stdin="1\nnonsense\n2\n\x01\x02\n")
    check(lines(r)[0]["requests"], 2)
    check(r.err, "seine: 2 bad lines were left out\n")


@case
def a_line_beyond_every_bound_is_one_bad_line():
    r = seine(*SIM, "--rate", "1/s", "--skip-bad", "-j", stdin="1\n" + "9" * (17 << 20) + "\n2\n")
    check(lines(r)[0]["requests"], 2)
    check(r.err, "seine: 1 bad line was left out\n")


@case
def steady_traffic_is_exact_and_seeds_repeat():
    got = lines(seine(*SIM, "--rate", "4/s", "--traffic", "steady:4/s", "--for", "10s", "-j"))[0]
    check((got["requests"], got["refused"]), (40, 0))
    one, two, three = (seine(*SIM, "--rate", "4/s", "--traffic", "50/s", "--decisions", "--seed", s).out for s in "112")
    check(one, two)
    check(one != three, True)


@rows([("poisson:50/s",), ("bursty:50/s",), ("50/s",)])
def traffic_has_the_rate_it_was_asked_for(spec):
    # 50/s for 200 s: 10,000 on average, standard deviation 100; six of them.
    n = lines(seine(*SIM, "--rate", "1/s", "--traffic", spec, "--for", "200s", "-j"))[0]["requests"]
    check(9400 < n < 10600, True, str(n))


@case
def bursty_traffic_brings_three_fifths_in_every_fifth_second():
    got = lines(seine(*SIM, "--rate", "1/s", "--traffic", "bursty:50/s", "--for", "200s", "--decisions"))
    inside = sum(1 for d in got if 2 <= d["t"] % 5 < 3)
    check(0.57 < inside / len(got) < 0.63, True, str(inside / len(got)))


def plot_rows(out):
    return [line for line in out.split("\n") if re.match(r" *[\d.:-]+( s| \d\d:\d\d)?  +\d", line)]


@rows([("40",), ("80",), ("120",), ("200",)])
def the_plot_fits_the_width_and_its_rows_add_up(width):
    r = seine(*SIM, "--rate", "10/s", "--burst", "20", "--traffic", "bursty:30/s", "--max-wait", "1s", env={"COLUMNS": width})
    total = int(re.search(r"requests +([\d,]+)\n", r.out).group(1).replace(",", ""))
    body = plot_rows(r.out)
    figures = [[int(x.replace(",", "")) for x in re.findall(r"(?<= )[\d,]+(?= |$)", re.sub(r"^ *[\d.:]+ s", "", row))] for row in body]
    check(sum(f[0] for f in figures), total)
    check(max(len(row) for row in body) <= int(width), True)
    if int(width) >= 80:
        check(max(len(row) for row in r.out.split("\n")) <= int(width), True)
    check([line for line in r.out.split("\n") if line != line.rstrip()], [])
    for row, f in zip(body, figures):
        check("▒" in row, f[1] > 0)
        check("░" in row, f[2] > 0)


@case
def bins_can_be_chosen():
    r = seine(*SIM, "--rate", "10/s", "--traffic", "steady:10/s", "--for", "10s", "--bin", "2500ms")
    check([re.match(r" *([\d.]+) s", row).group(1) for row in plot_rows(r.out)], ["0.0", "2.5", "5.0", "7.5"])


@case
def one_request_alone_is_a_trace():
    r = seine(*SIM, "--rate", "10/s", stdin="5\n")
    check(r.code, 0)
    check("1 requests" in r.out, False)


@rows([
    ("0\n0.000001\n0.000005\n", "0.000004 s"),                                   # microseconds
    ("0\n50\n90\n", "85 s"),
    ("0\n600\n", "9:00"),
    ("0\n7200\n", "1:50:00"),
    ("2026-11-15T22:00:00Z\n2026-11-16T02:00:00Z\n", "01:45:00"),
    ("2026-11-15T12:00:00+05:30\n2026-11-18T12:00:00+05:30\n", "11-18 12:00"),
    ("2024-01-01T00:00:00Z\n2026-11-18T12:00:00Z\n", "2026-09-24"),             # pieces of weeks
])
def labels_are_as_fine_as_the_pieces(trace, label):
    body = plot_rows(seine(*SIM, "--rate", "1/s", "-q", stdin=trace).out)
    check(any(row.strip().startswith(label + "  ") for row in body), True, "\n".join(body))
    check(len(body) <= 20, True)


@rows([("0\n0.0000005\n", "500 ns"), ("0\n0.0000042\n", "4.2 us"), ("0\n0.000042\n", "42 us"), ("0\n0.0042\n", "4.2 ms"), ("0\n0.042\n", "42 ms"),
       ("0\n4.2\n", "4.20 s"), ("0\n42.42\n", "42.4 s"), ("0\n59.96\n", "1 min"), ("0\n75\n", "1 min 15 s"), ("0\n3600\n", "1 h"), ("0\n9000\n", "2 h 30 min"),
       ("0\n90000\n", "1 d 1 h")])
def a_length_of_time_is_said_in_its_own_unit(trace, length):
    check(f"2 requests in {length}, " in seine(*SIM, "--rate", "1/s", stdin=trace).out, True)


@rows([("0.5/s", "30/m"), ("1/d", "1/d"), ("0.3/h", "7.20/d"), ("12.5/s", "12.5/s"), ("1.25/s", "1.25/s"), ("2500/s", "2,500/s"), ("1/30d", "0.03/d")])
def a_rate_is_said_in_its_own_unit(typed, said):
    check(f"limit  {said}, burst 1;" in seine(*SIM, "--rate", typed, stdin="0\n").out, True)


@case
def keys_beyond_the_table_share_a_bucket_and_are_counted():
    trace = "".join(f"0 k{i}\n" for i in range(66000))
    r = seine(*SIM, "--rate", "1/s", "--key", "2", "--no-plot", stdin=trace)
    check("overflow           464 requests of keys beyond 65,536 shared one bucket\n" in r.out, True, r.out)
    check(lines(seine(*SIM, "--rate", "1/s", "--key", "2", "-j", stdin=trace))[0]["overflowed"], 464)


@case
def rows_of_requests_that_want_many_tokens_have_no_mark_of_the_rate():
    r = seine(*SIM, "--rate", "10/s", "--burst", "5", stdin="0 1\n1 5\n2 3\n")
    check("┊" in r.out, False)
    check("peak in 1 s          5 tokens offered" in r.out, True, r.out)


# --jsonl ------------------------------------------------------------------------------

def ask(*cases):
    return lines(seine(*SIM, "--jsonl", stdin="".join((c if isinstance(c, str) else json.dumps(c)) + "\n" for c in cases)))


@case
def a_case_is_answered_step_by_step():
    step = [{"op": "allow", "t_us": 0, "n": 2}, {"op": "allow", "t_us": 0, "n": 2}, {"op": "reserve", "t_ms": 0, "n": 1, "max_wait_us": 99999},
            {"op": "reserve", "t_us": 0, "n": 1, "max_wait_us": 100000}, {"op": "reserve", "t_us": 0, "n": 3}, {"op": "allow", "t_us": 350000, "n": 0}]
    check(ask({"id": {"any": ["thing", 1.0]}, "rate": 10, "burst": 2, "steps": step}), [
        {"id": {"any": ["thing", 1.0]}, "ok": [True, False, False, True, False, True], "wait_us": [0, None, None, 100000, None, 0],
         "left": [0, 0, 0, 0, 0, 2], "reset_us": [200000, 200000, 200000, 300000, 300000, 0], "retry_us": [0, 200000, 100000, 0, None, 0]}])


@case
def fractions_of_a_rate_are_exact():
    # 0.3 a second: the third token comes at 10 s, not a nanosecond earlier.
    steps = [{"op": "allow", "t_us": 0}, {"op": "allow", "t_us": 3333333}, {"op": "allow", "t_us": 3333334}]
    check(ask({"rate": 0.3, "burst": 1, "steps": steps})[0]["ok"], [True, False, True])
    check(ask({"rate": "3/10s", "burst": 1, "steps": steps})[0]["ok"], [True, False, True])


@case
def a_clock_that_goes_back_mints_nothing():
    steps = [{"op": "allow", "t_ms": 1000}, {"op": "allow", "t_ms": 0}, {"op": "allow", "t_ms": 1000}, {"op": "allow", "t_ms": 2000}]
    check(ask({"rate": 1, "burst": 1, "steps": steps})[0]["ok"], [True, False, False, True])
    check(ask({"rate": 1, "burst": 1, "steps": [{"op": "allow", "t_us": -5}]})[0]["ok"], [True])


@case
def initial_tokens_count_from_the_first_step():
    check(ask({"rate": 1, "burst": 5, "initial": 1, "steps": [{"op": "allow", "t_ms": 7}, {"op": "allow", "t_ms": 7}]})[0]["ok"], [True, False])
    check(ask({"rate": 1, "burst": 1, "initial": None, "steps": [{"op": "allow", "t_ms": 7}]})[0]["ok"], [True])


ERRORS = [
    ("{", "bad_json at byte 1: expected a name in quotes or '}', found the end"),
    ("", "bad_json at byte 0: expected a value, found the end"),
    ("[1]", "an array where an object is wanted"),
    ('{"a":1,"a":2}', "bad_json at byte 10: duplicate object key near '\"a\"'"),
    ("[" * 129 + "]" * 129, "json_too_deep at byte 128: nested too deep"),
    ('{"rate":1}', "no member 'steps'"),
    ('{"rate":1,"steps":5}', "steps: an integer where an array is wanted"),
    ('{"steps":[]}', "no member 'rate'"),
    ('{"rate":0,"steps":[]}', "rate: a rate must be above 0"),
    ('{"rate":-1,"steps":[]}', "rate: a rate must be above 0"),
    ('{"rate":1e-10,"steps":[]}', "rate: a rate must be above one in 290 years"),
    ('{"rate":[],"steps":[]}', "rate: an array where a rate is wanted"),
    ('{"rate":"5/x","steps":[]}', "rate: not a rate"),
    ('{"rate":1,"burst":0,"steps":[]}', "burst: 0 is not in 1 to 4294967295"),
    ('{"rate":1,"burst":1.5,"steps":[]}', "burst: a number where an integer is wanted"),
    ('{"rate":1,"brust":2,"steps":[]}', "unknown member 'brust'"),
    ('{"rate":1,"steps":[7]}', "steps[0]: not an object"),
    ('{"rate":1,"steps":[{"op":"take","t_us":0}]}', "steps[0]: unknown op 'take'"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":0},{"t_us":0}]}', "steps[1]: no member 'op'"),
    ('{"rate":1,"steps":[{"op":"allow"}]}', "steps[0]: no member 't_us'"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":0,"m":1}]}', "steps[0]: unknown member 'm'"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":0,"n":-1}]}', "steps[0]: n: -1 is not in 0 to 4294967295"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":1e300}]}', "steps[0]: t_us: beyond 292 years"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":9223372036854775807}]}', "steps[0]: t_us: beyond 292 years"),
    ('{"rate":1,"steps":[{"op":"reserve","t_us":0,"max_wait_us":-1}]}', "steps[0]: max_wait_us: must not be negative"),
    ('{"rate":1,"steps":[{"op":"allow","t_us":"0"}]}', "steps[0]: t_us: a string where a number is wanted"),
    ('{"rate":"1/250d","burst":1000,"steps":[{"op":"allow","t_us":0}]}', "rate: a full bucket would take more than 146 years to fill"),
]


@case
def bad_cases_are_answered_in_place_and_the_exit_code_stays_0():
    good = {"id": "good", "rate": 1, "burst": 1, "steps": []}
    got = ask(*[x for line, _ in ERRORS for x in (line, good)])
    check(len(got), 2 * len(ERRORS))
    for (line, error), bad, fine in zip(ERRORS, got[::2], got[1::2]):
        check(bad, {"ok": False, "error": error}, line)
        check(fine["ok"], [])


@case
def the_id_of_a_bad_case_is_copied():
    check(ask({"id": 7, "rate": 0, "steps": []}), [{"id": 7, "ok": False, "error": "rate: a rate must be above 0"}])


@case
def cases_can_come_from_a_file_and_end_without_a_line_feed():
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.write('{"id":1,"rate":1,"steps":[]}\n{"id":2,"rate":1,"steps":[]}')
        f.flush()
        check([d["id"] for d in lines(seine(*SIM, "--jsonl", f.name))], [1, 2])


@case
def a_line_over_the_cap_is_answered_too():
    got = lines(seine(*SIM, "--jsonl", stdin=b" " * (17 << 20) + b'\n{"id":1,"rate":1,"steps":[]}\n'))
    check([d.get("error", d.get("id")) for d in got], ["range: the line is longer than 16777216 bytes", 1])


finish(at_once=2)
