#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Everything that is typed wrong: one message, one hint, exit 2, nothing on stdout."""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows, seine  # noqa: E402

LIMIT = ["limit", "simulate"]

# words after `seine`, what happened, what to try
WRONG = [
    # no command, or not one
    (["limt"], "unknown command 'limt'", "seine limit simulate"),
    (["breaker"], "breaker needs a verb", "seine breaker simulate"),
    (["limit", "simulat"], "unknown command 'limit simulat'", "seine limit simulate"),
    (["versoin"], "unknown command 'versoin'", "seine version"),
    (["frobnicate"], "unknown command 'frobnicate'", "seine help"),
    (["--color", "never", "version"], "'--color' stands before the command", "seine COMMAND [OPTION…]; seine help lists them"),
    (["a\x1b[31mb"], "unknown command 'a\\x1b[31mb'", "seine help"),
    (["x" * 200], "unknown command '" + "x" * 97 + "…'", "seine help"),
    (["a\u202eb\u00e9"], "unknown command 'a\\xe2\\x80\\xaebé'", "seine help"),  # nothing turns the writing around
    (["\udcff\udce2\udc82"], "unknown command '\\xff\\xe2\\x82'", "seine help"),  # bytes that are not UTF-8
    (["help", "nonsense"], "no command or topic 'nonsense'", "seine help; pages: tutorial cookbook troubleshooting faq coming-from fleet"),
    (["help", "limit", "simulat"], "no command or topic 'limit simulat'", "seine help limit simulate"),
    # options that are none
    (LIMIT + ["--ratte", "1/s"], "unknown option '--ratte'", "--rate"),
    (LIMIT + ["--brust=3"], "unknown option '--brust'", "--burst"),
    (LIMIT + ["--rat", "1/s"], "unknown option '--rat'", "--rate"),  # no abbreviations
    (LIMIT + ["--zzz"], "unknown option '--zzz'", "seine limit simulate --help"),
    (LIMIT + ["-z"], "unknown option '-z'", "seine limit simulate --help"),
    (LIMIT + ["-jz"], "unknown option '-z'", "seine limit simulate --help"),  # inside a cluster
    (LIMIT + ["--no-rate"], "unknown option '--no-rate'", "seine limit simulate --help"),  # not an on/off one
    # values that are missing, not wanted or not what they should be
    (LIMIT + ["--rate"], "--rate needs a value", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["-r"], "--rate needs a value", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--wait=yes"], "--wait takes no value", "--wait or its --no- form"),
    (LIMIT + ["--rate", "0/s"], "--rate '0/s': a rate must be above 0", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate=-1"], "--rate '-1': a rate must be above 0", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", "nan"], "--rate 'nan': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", "5/"], "--rate '5/': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", "5/w"], "--rate '5/w': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", "5/0s"], "--rate '5/0s': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", ""], "--rate '': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["--rate", "5\x07"], "--rate '5\\x07': not a rate", "--rate 1/m, or --rate off for no limit"),
    (LIMIT + ["-r", "1/s", "--burst", "0"], "--burst '0': must be 1 to 4294967295", "--burst 10, 10_000 or 10k"),
    (LIMIT + ["-r", "1/s", "--burst", "5G"], "--burst '5G': must be 1 to 4294967295", "--burst 10, 10_000 or 10k"),
    (LIMIT + ["-r", "1/s", "--burst", "1.5"], "--burst '1.5': not a whole number", "--burst 10, 10_000 or 10k"),
    (LIMIT + ["-r", "1/s", "--burst", "-3"], "--burst '-3': not a whole number", "--burst 10, 10_000 or 10k"),
    (LIMIT + ["-r", "1/s", "--max-wait", "-1s"], "--max-wait '-1s': a duration must not be negative", "--max-wait 500ms, 2s or 1h30m, or off"),
    (LIMIT + ["-r", "1/s", "--max-wait", "11000d"], "--max-wait '11000d': a duration must not be longer than 10 years", "--max-wait 500ms, 2s or 1h30m, or off"),
    (LIMIT + ["-r", "1/s", "--max-wait", "5x"], "--max-wait '5x': not a duration", "--max-wait 500ms, 2s or 1h30m, or off"),
    (LIMIT + ["-r", "1/s", "--max-wait", "1h30"], "--max-wait '1h30': not a duration", "--max-wait 500ms, 2s or 1h30m, or off"),
    (LIMIT + ["-r", "1/s", "--color", "blue"], "--color 'blue': not one of the choices", "--color auto|always|never"),
    # options that do not go together
    (LIMIT, "no --rate given", "--rate 10/s"),
    (LIMIT + ["-r", "1/s", "a", "b"], "limit simulate: 'b' is one argument too many", "seine limit simulate [TRACE|-]"),
    (LIMIT + ["-r", "1/s", "--traffic", "5/s", "x"], "--traffic and the trace 'x'", "one of the two"),
    (LIMIT + ["-r", "1/s", "--seed", "5"], "--seed goes with --traffic", "--traffic 50/s"),
    (LIMIT + ["-r", "1/s", "--traffic", "wild:5/s"], "--traffic 'wild:5/s': not a kind of traffic", "--traffic 50/s, steady:50/s or bursty:50/s"),
    (LIMIT + ["-r", "1/s", "--traffic", "off"], "--traffic 'off': a rate must be above 0", "--traffic 50/s, steady:50/s or bursty:50/s"),
    (LIMIT + ["-r", "1/s", "--traffic", "1M/s", "--for", "1h"], "--traffic '1M/s': more than 10 million requests", "a lower rate or a shorter --for"),
    (LIMIT + ["-r", "1/s", "--traffic", "5/s", "--for", "0"], "--for '0': there is no time for traffic", "--for 30s"),
    (LIMIT + ["-r", "1/s", "--traffic", "1/d", "--for", "1s"], "--traffic '1/d': no request comes in that time", "a higher rate or a longer --for"),
    (LIMIT + ["-r", "1/s", "--traffic", "5/s", "--bin", "1ms"], "--bin: more than 1000 rows", "a longer --bin"),
    (LIMIT + ["-r", "1/s", "--bin", "0"], "--bin: must be at least 1us", "--bin 1s"),
    (LIMIT + ["-r", "1/s", "--key", "0"], "--key '0': neither a word's number nor /NAME", "--key 1, or --key /host for JSON lines"),
    (LIMIT + ["-r", "1/s", "--key", "host"], "--key 'host': neither a word's number nor /NAME", "--key 1, or --key /host for JSON lines"),
    (LIMIT + ["-r", "1/s", "--key", "1", "--wait"], "--wait does not go with --key", "one of the two"),
    (LIMIT + ["-r", "1/s", "--key", "1", "--initial", "3"], "--initial does not go with --key", "one of the two"),
    (LIMIT + ["-r", "1/s", "--key", "1", "--traffic", "3/s"], "--traffic does not go with --key", "a trace with a key in it"),
    (LIMIT + ["-r", "off", "--key", "1"], "--rate off does not go with --key", "--rate 10/s"),
    (LIMIT + ["--jsonl", "-r", "1/s"], "--rate does not go with --jsonl: each line says its own", "one of the two"),
    (LIMIT + ["-r", "1/250d", "--burst", "1k", "--traffic", "3/s"], "a full bucket would take more than 146 years to fill", "a higher rate or a smaller burst"),
    # files
    (LIMIT + ["-r", "1/s", "/no/such/file"], "cannot read '/no/such/file': no such file or directory", "another name, or - for standard input"),
    (LIMIT + ["-r", "1/s", "/"], "cannot read '/': is a directory", "a file in it"),
    (LIMIT + ["--jsonl", "/no/such/file"], "cannot read '/no/such/file': no such file or directory", "another name, or - for standard input"),
    (LIMIT + ["-r", "1/s"], "no requests in standard input", "'12.345' or '12.345 3'"),
    # breaker
    (["breaker", "simulate", "--fail", "0", "--traffic", "5/s"], "nothing would open it", "--fail 5, or --rate 50%"),
    (["breaker", "simulate", "--breaker", "fail=5,opne=3s"], "--breaker: unknown key 'opne'",
     "fail|rate|slow-rate|slow|window-calls|window|min|open|max-open|growth|probes|close|park"),
    (["breaker", "simulate", "--breaker", "off"], "--breaker: no value in 'off'",
     "fail|rate|slow-rate|slow|window-calls|window|min|open|max-open|growth|probes|close|park"),
    (["breaker", "simulate", "--breaker", "fail=5,open=x"], "--breaker: open 'x': not a duration", "--open 500ms, 2s or 1h30m"),
    (["breaker", "simulate", "--rate", "50"], "--rate '50': not a share", "--rate 20%, or off"),
    (["breaker", "simulate", "--window-calls", "50"], "a window without --rate or --slow-rate", "--rate 50%"),
    (["breaker", "simulate", "--rate", "5%", "--window-calls", "50", "--window", "1m"], "--window-calls and --window", "one of the two"),
    (["breaker", "simulate", "--rate", "5%", "--window-calls", "5"], "--min 10 calls never fit a window of 5", "a smaller --min"),
    (["breaker", "simulate", "--slow", "5s"], "--slow and --slow-rate go together", "--slow 2s --slow-rate 50%"),
    (["breaker", "simulate", "--open", "0"], "--open: must be above 0", "--open 60s"),
    (["breaker", "simulate", "--probes", "65"], "--probes '65': must be 1 to 64", "--probes 10"),
    (["breaker", "simulate", "--growth", "5"], "--growth '5': must be 100 to 1000", "--growth 100"),
    (["breaker", "simulate", "--window-calls", "5000"], "--window-calls '5000': must be 1 to 1024", "--window-calls 10"),
    (["breaker", "simulate", "--open", "10s", "--max-open", "5s"], "--max-open: shorter than --open", "a --max-open of at least --open"),
    (["breaker", "simulate", "--breaker", "open=10s,max-open=5s"], "--max-open: shorter than --open", "a --max-open of at least --open"),
    (["breaker", "simulate", "--outage", "1s..2s"], "--outage goes with --traffic", "--traffic 5/s"),
    (["breaker", "simulate", "--traffic", "5/s", "--outage", "5s..2s"], "--outage '5s..2s': it ends before it begins", "--outage 60s..100s"),
    (["breaker", "simulate", "--traffic", "5/s", "--outage", "5s"], "--outage '5s': not two durations", "--outage 60s..100s"),
    (["breaker", "simulate", "--traffic", "5/s", "x"], "--traffic and the trace 'x'", "one of the two"),
    (["breaker", "simulate", "--traffic", "5/s", "--bin", "1ms"], "--bin: more than 1000 columns", "a longer --bin"),
    (["breaker", "simulate", "--bin", "0"], "--bin: must be at least 1us", "--bin 1s"),
    (["breaker", "simulate", "--jsonl", "--fail", "1"], "--fail does not go with --jsonl: each line says its own", "one of the two"),
    (["breaker", "simulate"], "no requests in standard input", "'12.345 ok 80ms' or '12.345 503'"),
    (["breaker"], "breaker needs a verb", "seine breaker simulate"),
    # the small commands
    (["completion"], "completion needs an argument", "seine completion bash|zsh|fish"),
    (["completion", "tcsh"], "completion: no shell 'tcsh'", "bash, zsh or fish"),
    (["version", "x"], "version: 'x' is one argument too many", "seine version"),
    (["version", "--jsno"], "unknown option '--jsno'", "--json"),
]


@case
def the_first_word_of_a_command_alone_lists_its_verbs():
    for words in (["backoff", "--help"], ["help", "backoff"]):  # one verb: all about it
        got = seine(*words)
        check(got.code, 0)
        check(got.out, seine("backoff", "simulate", "--help").out)
    check(seine("limit", "--help").out, seine("help", "limit").out)  # a command, and the first word of another
    for words in (["html", "--help"], ["http", "-h"], ["help", "url"]):
        got = seine(*words)
        check(got.code, 0)
        word = next(w for w in words if w[0] != "-" and w != "help")
        check(all(line.startswith(f"seine {word} ") for line in got.out.splitlines()), True)
        check(len(got.out.splitlines()) > 1, True)
    check(seine("frobnicate", "--help").code, 2)


@rows(WRONG, name=lambda row: " ".join(row[0]))
def typed_wrong(words, happened, hint):
    r = seine(*words)
    check(r.err, f"seine: {happened}\ntry: {hint}\n")
    check(r.code, 2)
    check(r.out, "")


@case
def a_bad_value_in_the_environment_is_named_by_its_variable():
    r = seine(*LIMIT, "--traffic", "3/s", env={"SEINE_RATE": "0/s"})
    check(r.err, "seine: SEINE_RATE '0/s': a rate must be above 0\ntry: --rate 1/m, or --rate off for no limit\n")
    check((r.code, r.out), (2, ""))


@case
def the_environment_sets_what_the_command_line_does_not():
    one = seine(*LIMIT, "--traffic", "3/s", "-j", env={"SEINE_RATE": "2/s", "SEINE_BURST": "7"})
    two = seine(*LIMIT, "--traffic", "3/s", "-j", "--rate", "2/s", "--burst", "7")
    check(one.out, two.out)
    three = seine(*LIMIT, "--traffic", "3/s", "-j", "--rate", "2/s", "--burst", "7", env={"SEINE_RATE": "bad", "SEINE_BURST": "9"})
    check(three.out, two.out)
    check(three.code, 0)


@case
def of_a_repeated_option_the_last_counts():
    one = seine(*LIMIT, "--traffic", "3/s", "-j", "--rate", "1/s", "-r2/s", "--rate=5/s")
    two = seine(*LIMIT, "--traffic", "3/s", "-j", "--rate", "5/s")
    check(one.out, two.out)


@case
def options_and_arguments_mix_and_two_dashes_end_options():
    one = seine(*LIMIT, "-", "-j", "--rate", "5/s", stdin="1\n2\n")
    two = seine(*LIMIT, "--rate", "5/s", "-j", "--", "-", stdin="1\n2\n")
    check(one.out, two.out)
    check(one.code, 0)
    r = seine(*LIMIT, "--rate", "5/s", "--", "-j")
    check(r.err, "seine: cannot read '-j': no such file or directory\ntry: another name, or - for standard input\n")


@case
def flags_cluster_and_can_be_taken_back():
    check(seine(*LIMIT, "-qj", "-r1/s", stdin="1\n").code, 0)
    check(seine(*LIMIT, "-jr1/s", stdin="1\n").code, 0)
    a = seine(*LIMIT, "--json", "--no-json", "--rate", "1/s", stdin="1\n")
    b = seine(*LIMIT, "--rate", "1/s", stdin="1\n")
    check(a.out, b.out)


@rows([  # typed, the same in other words
    ("30/m", "0.5/s"), ("30/m", "1/2s"), ("3/4h", "0.75/h"), ("5", "5/s"), ("1k/s", "1_000/s"), ("0.2/s", "12/m"), ("86400/d", "1/s"), ("1M/s", "1000k")])
def rates_in_other_words_are_the_same(one, two):
    check(seine(*LIMIT, "-j", "--rate", one, "--traffic", "3/s").out, seine(*LIMIT, "-j", "--rate", two, "--traffic", "3/s").out)


@rows([("1h30m", "90m"), ("1.5", "1500ms"), ("2s", "2"), ("1w", "7d"), ("1m1s1ms1us1ns", "61.001001001"), ("0.5ms", "500us")])
def durations_in_other_words_are_the_same(one, two):
    a = seine(*LIMIT, "--decisions", "-r", "1/s", "--max-wait", one, stdin="0\n0\n0\n0\n")
    b = seine(*LIMIT, "--decisions", "-r", "1/s", "--max-wait", two, stdin="0\n0\n0\n0\n")
    check(a.code, 0)
    check(a.out, b.out)


@case
def mistakes_in_a_trace_are_all_shown_with_place_and_caret():
    r = seine(*LIMIT, "-r", "1/s", stdin="1\nabc def\n\n# note\n2 x\n3 1 z\n")
    check(r.err,
          "seine: standard input:2:1: 'abc' is not a time\n  abc def\n  ^\n"
          "seine: standard input:5:3: 'x' is not a number of tokens\n  2 x\n    ^\n"
          "seine: standard input:6:5: 'z' is one word too many\n  3 1 z\n      ^\n"
          "try: lines like '12.345' or '12.345 3', an access log, or --skip-bad\n")
    check((r.code, r.out), (2, ""))


@case
def at_most_twenty_mistakes_are_shown_and_the_rest_counted():
    r = seine(*LIMIT, "-r", "1/s", stdin="".join(f"x{i}\n" for i in range(27)))
    check(r.err.count("is not a time"), 20)
    check("seine: standard input: and 7 more\n" in r.err, True)
    check(r.code, 2)


@rows([("1\n2026-11-15T19:20:01Z\n", "2:1: a date among times without one"),
       ("2026-11-15T19:20:01Z\n5\n", "2:1: a time without a date among dates"),
       ("2026-13-15T19:20:01Z\n", "1:1: '2026-13-15T19:20:01Z' is not a time"),
       ("2026-02-29T19:20:01Z\n", "1:1: '2026-02-29T19:20:01Z' is not a time"),
       ("-5\n", "1:1: '-5' is not a time"),
       ("1\0 2\n", "1:2: a zero byte"),
       ('{"t":1\n', "1:7: expected ',' or '}', found the end"),
       ('{"n":1}\n', "1:1: no member 't' or 'ts'"),
       ('{"t":true}\n', "1:1: its time is not one"),
       ('{"t":1,"n":-1}\n', "1:1: 'n' is not a number of tokens"),
       ("1 99999999999\n", "1:3: '99999999999' is not a number of tokens"),
       ("1" * 70 + "\n", "1:1: '" + "1" * 70 + "' is not a time")])
def a_bad_line_is_named(trace, message):
    r = seine(*LIMIT, "-r", "1/s", stdin=trace)
    check(r.err.split("\n")[0], f"seine: standard input:{message}")
    check((r.code, r.out), (2, ""))


finish(at_once=2)
