#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine json check: files, lines and cases; the JSON test suite through the program."""
import base64
import glob
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import VECTORS, case, check, finish, needs_vectors, rows, seine  # noqa: E402



def answers(r):
    return [json.loads(line) for line in r.out.splitlines()]


@case
def one_line_a_file_and_exit_1_for_a_bad_one():
    with tempfile.TemporaryDirectory() as d:
        for name, text in [("good.json", '{"a":[1]}'), ("bad.json", '{"a":\n 1,}'), ("note.json", '{"a":1,"a":2}')]:
            with open(os.path.join(d, name), "w") as f:
                f.write(text)
        r = seine("json", "check", "good.json", "bad.json", "note.json", cwd=d)
        check((r.code, r.err), (1, ""))
        check(answers(r), [
            {"file": "good.json", "ok": True},
            {"file": "bad.json", "ok": False, "error": "bad_json: expected a name in quotes, found '}'", "offset": 9, "line": 2, "column": 4},
            {"file": "note.json", "ok": True, "note": "a name that the object has already", "offset": 7, "line": 1, "column": 8}])
        check(seine("json", "check", "good.json", "note.json", cwd=d).code, 0)
        check(seine("json", "check", "--strict", "note.json", cwd=d).code, 1)
        r = seine("json", "check", "-f", "text", "good.json", "bad.json", cwd=d)
        check(r.out, "ok  good.json\nFAIL  bad.json:2:4: bad_json: expected a name in quotes, found '}'\n")


@case
def standard_input_is_a_file():
    check(answers(seine("json", "check", stdin="[1]")), [{"file": "-", "ok": True}])
    check(answers(seine("json", "check", "-", stdin="[1")),
          [{"file": "-", "ok": False, "error": "bad_json: expected ',' or ']', found the end", "offset": 2, "line": 1, "column": 3}])


@case
def a_file_that_cannot_be_read_is_exit_2_and_the_others_are_told():
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "a.json"), "w") as f:
            f.write("1")
        r = seine("json", "check", "none.json", "a.json", cwd=d)
        check((r.code, r.err), (2, "seine: cannot open 'none.json': no such file or directory\n"))
        check(answers(r), [{"file": "a.json", "ok": True}])


@case
def lines_are_texts_of_their_own():
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "a.jsonl"), "wb") as f:
            f.write(b'{"a":1}\r\n[2]\n{"a":x}\n{')
        r = seine("json", "check", "a.jsonl", cwd=d)
        check((r.code, answers(r)), (1, [{"file": "a.jsonl", "ok": False, "error": "bad_json: expected a value, found 'x'",
                                          "offset": 5, "line": 3, "column": 6}]))
    check(seine("json", "check", "--lines", stdin='1\n2\n').code, 0)
    check(seine("json", "check", stdin='1\n2\n').code, 1)
    check(seine("json", "check", "--lines", stdin='1\n\n2\n').code, 1)


@case
def cases_are_answered_in_order_and_exit_0():
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, "x"), "wb") as f:
            f.write(b"[\xff]")
        asked = [{"id": 1, "json": "[1]"}, {"id": "b", "json_b64": base64.b64encode(b"1\0").decode()},
                 {"id": 3, "json_file": "x"}, {"json": "{\"a\":1,\"a\":1}", "strict": True}, {}, {"json": 5}]
        r = seine("json", "check", "--jsonl", stdin="".join(json.dumps(a) + "\n" for a in asked), cwd=d)
        check((r.code, r.err), (0, ""))
        check(answers(r), [
            {"id": 1, "ok": True},
            {"id": "b", "ok": False, "error": "bad_json: expected the end of the text, found byte 0x00", "offset": 1, "line": 1, "column": 2},
            {"id": 3, "ok": False, "error": "bad_json: expected a value, found byte 0xff", "offset": 1, "line": 1, "column": 2},
            {"ok": False, "error": "bad_json: a name that the object has already", "offset": 7, "line": 1, "column": 8},
            {"ok": False, "error": "no member 'json'"},
            {"ok": False, "error": "json: an integer where a string is wanted"}])


@rows([(["--jsonl", "x"], "--jsonl reads standard input, not 'x'"),
       (["--jsonl", "--strict"], "--strict does not go with --jsonl: each line says its own")])
def what_does_not_go_together_is_refused(words, message):
    r = seine("json", "check", *words)
    check((r.code, r.err.split("\n")[0]), (2, "seine: " + message))


@case
@needs_vectors
def the_json_test_suite_passes():
    files = sorted(glob.glob(os.path.join(VECTORS, "json-testsuite", "test_parsing", "*.json")))
    out = answers(seine("json", "check", *files))
    check(len(out), len(files))
    for file, answer in zip(files, out):
        kind = os.path.basename(file)[0]
        if kind != "i":
            check(answer["ok"], kind == "y", file)


finish()
