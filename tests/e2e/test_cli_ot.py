#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine ot transform: changes of two people meet; cases of ot.js through the program."""
import glob
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import VECTORS, case, check, finish, needs_vectors, rows, seine  # noqa: E402


def transform(*cases):
    r = seine("ot", "transform", "--jsonl", stdin="".join(json.dumps(c, ensure_ascii=False) + "\n" for c in cases))
    check((r.code, r.err), (0, ""))
    return [json.loads(line) for line in r.out.splitlines()]


@rows([
    ("one place", "ab", [1, "X", 1], [1, "Y", 1], [1, "X", 2], [2, "Y", 1], "aXYb"),
    ("in what the other deletes", "abcd", [2, "X", 2], [-4], ["X"], [-2, 1, -2], "X"),
    ("the same deletion", "abc", [-3], [-3], [], [], ""),
    ("two units", "\U0001f600b", [2, "X", 1], [-2, 1], ["X", 1], [-2, 2], "Xb"),
    ("an empty text", "", ["a"], ["b"], ["a", 1], [1, "b"], "ab"),
])
def both_arrive_at_one_text(_, doc, a, b, a_prime, b_prime, converged):
    check(transform({"id": 7, "doc": doc, "a": a, "b": b}), [{"id": 7, "a_prime": a_prime, "b_prime": b_prime, "converged": converged}])


@rows([
    ("no text", {"a": [], "b": []}, "no member 'doc'"),
    ("no b", {"doc": "", "a": []}, "no member 'b'"),
    ("too short", {"doc": "abc", "a": [2], "b": [3]}, "a: does not fit the text: range"),
    ("too long", {"doc": "abc", "a": [3], "b": [4]}, "b: does not fit the text: range"),
    ("a cut character", {"doc": "\U0001f600", "a": [2], "b": [1, "x", 1]}, "b: does not fit the text: inval"),
    ("nothing", {"doc": "a", "a": [0, 1], "b": [1]}, "a[0]: not a number or a text, or nothing"),
    ("half a number", {"doc": "a", "a": [1], "b": [1.5]}, "b[0]: not a number or a text, or nothing"),
])
def a_bad_case_is_answered_and_the_next_one_too(_, bad, error):
    good = {"doc": "a", "a": [1], "b": [1]}
    first, second = transform(bad, good)
    check((first["ok"], first["error"]), (False, error))
    check(second["converged"], "a")


@case
def without_cases_it_says_what_it_reads():
    r = seine("ot", "transform")
    check((r.code, r.out), (2, ""))
    check("--jsonl" in r.err, True, r.err)


@case
@needs_vectors
def random_cases_of_ot_js_have_its_answers():
    cases = [json.loads(line) for name in glob.glob(os.path.join(VECTORS, "ot", "otjs-random*.jsonl")) for line in open(name, encoding="utf-8")]
    check(len(cases) > 10, True, f"{len(cases)} cases")
    for want, got in zip(cases, transform(*cases), strict=True):
        check({k: got[k] for k in ("id", "a_prime", "b_prime", "converged")}, {k: want[k] for k in ("id", "a_prime", "b_prime", "converged")})


finish()
