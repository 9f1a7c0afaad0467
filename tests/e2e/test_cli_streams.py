#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Standard streams: what goes where, colour, width, and outputs that fail."""
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import fcntl
import termios

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import NO_TSAN_FILE, PATIENCE, PROGRAM, case, check, environment, finish, rows, seine  # noqa: E402
from origin import origin  # noqa: E402

SIM = ["limit", "simulate", "--rate", "10/s", "--burst", "20", "--traffic", "bursty:12/s"]
MANY = ["limit", "simulate", "--rate", "10/s", "--traffic", "steady:100/s", "--for", "1000s", "--decisions"]


def on_terminal(words, env=None, columns=80, rows_=24):
    """What the program prints to a terminal, and its exit code."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows_, columns, 0, 0))
    p = subprocess.Popen([PROGRAM, *words], stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                         env=environment({"TERM": "xterm", **(env or {})}))
    os.close(slave)
    out = b""
    while True:
        ready, _, _ = select.select([master], [], [], 30)
        try:
            piece = os.read(master, 65536) if ready else b""
        except OSError:
            piece = b""
        if not piece:
            break
        out += piece
    os.close(master)
    p.stderr.read()
    p.stderr.close()
    return out.decode().replace("\r\n", "\n"), p.wait()


@case
def a_full_disk_is_exit_3_with_a_message():
    with open("/dev/full", "wb") as full:
        p = subprocess.run([PROGRAM, *SIM], stdout=full, stderr=subprocess.PIPE, env=environment())
    check(p.stderr.decode(), "seine: cannot write standard output: no space left on device\ntry: free some space, then run the same command again\n")
    check(p.returncode, 3)


@case
def a_closed_output_is_exit_3():
    p = subprocess.run(["sh", "-c", '"$0" version >&-', PROGRAM], capture_output=True, env=environment())
    check(p.returncode, 3)
    check(p.stderr.decode(), "seine: cannot write standard output: bad file descriptor\ntry: leave it open for writing: >&- closes it\n")


@rows([("closed", ">&-"), ("open for reading", "1</dev/null")])
def records_for_an_output_that_is_not_open_for_writing_say_so(_, how):
    with origin() as o:
        p = subprocess.run(["sh", "-c", f'"$0" fetch -j --mine --progress off "$@" {how}', PROGRAM, o.url("/ok"), o.url("/empty")],
                           capture_output=True, env=environment())
    check(p.returncode, 3)
    check("cannot write standard output: bad file descriptor" in p.stderr.decode(), True, p.stderr.decode())
    check("try: leave it open for writing: >&- closes it" in p.stderr.decode(), True, p.stderr.decode())
    check("disk" in p.stderr.decode() or "space" in p.stderr.decode(), False, p.stderr.decode())


@rows([(name, name) for name in ("big.jsonl", "big.csv", "big.sqlite", "big.warc", "-", "--save", "--cookie-jar")])
def a_file_that_may_not_grow_is_named_with_its_cause(_, name):
    with tempfile.TemporaryDirectory() as home, origin() as o:
        path = os.path.join(home, name.strip("-") or "out")
        where = {"-": [], "--save": ["--save", path], "--cookie-jar": ["--cookie-jar", path]}.get(name, ["-o", path])
        urls = [o.url(f"/head:Set-Cookie:a{i}={'b' * 900}/bytes:{3000 + i}") for i in range(60)]
        end = f' > "{path}"' if name == "-" else " > /dev/null"
        p = subprocess.run(["sh", "-c", f'ulimit -f 4; exec "$0" fetch -j --mine --progress off "$@"{end}', PROGRAM, *where, *urls],
                           capture_output=True, env=environment(NO_TSAN_FILE), timeout=PATIENCE)
    err = p.stderr.decode()
    check(p.returncode, 3, err)
    check("file too large" in err, True, err)
    check("space" in err or "memory" in err or "disk" in err, False, err)
    if name != "--cookie-jar":
        check("try: raise ulimit -f, or write where files may be larger" in err, True, err)


@case
def a_closed_input_is_an_error_and_not_an_empty_trace():
    p = subprocess.run(["sh", "-c", '"$0" limit simulate --rate 1/s <&-', PROGRAM], capture_output=True, env=environment())
    check((p.returncode, p.stdout), (3, b""))
    check(p.stderr.decode().startswith("seine: cannot read standard input: "), True)


@rows([(MANY,), (["limit", "simulate", "--jsonl"],), (["version"],)], name=lambda row: " ".join(row[0]))
def a_reader_that_has_gone_is_exit_141_without_a_word(words):
    read, write = os.pipe()
    os.close(read)
    cases = b'{"rate":1,"steps":[]}\n' * 100
    p = subprocess.run([PROGRAM, *words], input=cases, stdout=write, stderr=subprocess.PIPE, env=environment())
    os.close(write)
    check((p.returncode, p.stderr), (141, b""))


@case
def head_ends_a_long_output_early():
    p = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" "$@" | head -n 1', PROGRAM, *MANY], capture_output=True, env=environment())
    check(p.returncode, 141)
    check(json.loads(p.stdout)["line"], 1)


@case
def a_program_at_the_other_end_can_ask_line_by_line():
    p = subprocess.Popen([PROGRAM, "limit", "simulate", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment())
    for i in range(3):
        p.stdin.write(b'{"id":%d,"rate":1,"steps":[]}\n' % i)
        p.stdin.flush()
        check(json.loads(p.stdout.readline())["id"], i)
    p.stdin.close()
    p.stdout.close()
    check(p.wait(), 0)


@case
def records_go_to_stdout_and_words_for_people_to_stderr():
    r = seine("limit", "simulate", "--rate", "1/s", "--decisions", "--skip-bad", stdin="x\n1\n")
    check([json.loads(line)["ok"] for line in r.out.splitlines()], [True])
    check(r.err, "seine: 1 bad line was left out\n")


ESC = "\x1b["


@rows([
    ({}, [], False),                                              # not a terminal
    ({"CLICOLOR_FORCE": "1"}, [], True),
    ({"CLICOLOR_FORCE": "0"}, [], False),
    ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, [], False),
    ({}, ["--color", "always"], True),
    ({"NO_COLOR": "1"}, ["--color", "always"], True),             # the option beats the environment
    ({"CLICOLOR_FORCE": "1"}, ["--color", "never"], False),
    ({"SEINE_COLOR": "always"}, [], True),
    ({"SEINE_COLOR": "always"}, ["--color", "never"], False),
])
def colour_away_from_a_terminal(env, words, want):
    check(ESC in seine(*SIM, *words, env=env).out, want)


@rows([
    ({}, [], True),
    ({"NO_COLOR": "1"}, [], False),
    ({"NO_COLOR": ""}, [], True),                                 # empty is not set
    ({"TERM": "dumb"}, [], False),
    ({}, ["--color", "never"], False),
])
def colour_on_a_terminal(env, words, want):
    out, code = on_terminal(SIM + words, env)
    check(code, 0)
    check(ESC in out, want)


@case
def colour_is_never_the_only_sign():
    plain = seine(*SIM).out
    check(re.sub(r"\x1b\[\d*m", "", seine(*SIM, "--color", "always").out), plain)
    check("░" in plain and "█" in plain, True)


@rows([(60,), (80,), (120,)])
def the_terminal_says_how_wide_it_is(columns):
    out, _ = on_terminal(SIM + ["--color", "never"], {"COLUMNS": "200"}, columns=columns)
    widest = max(len(line) for line in out.split("\n"))
    check(columns - 20 < widest <= max(columns, 78), True, str(widest))


@case
def without_a_terminal_columns_says_it():
    wide = {c: max(len(line) for line in seine(*SIM, env={"COLUMNS": c}).out.split("\n")) for c in ("90", "150", "nonsense", "1")}
    check(85 < wide["90"] <= 90, True)
    check(140 < wide["150"] <= 150, True)
    check(wide["nonsense"] <= 80, True)


@case
def a_terminal_without_utf_8_gets_ascii():
    out, code = on_terminal(SIM + ["--color", "never"], {"LC_ALL": "C"})
    check(code, 0)
    body = out.split("\n", 3)[3]
    check(body.isascii(), True)
    check("#" in body and "." in body, True)


@case
def control_characters_of_others_are_shown_as_text():
    r = seine("limit", "simulate", "--rate", "1/s", "--key", "2", stdin="0 a\x1b[31mb\n0 a\x1b[31mb\n")
    check("\x1b" in r.out, False)
    check("a\\x1b[31mb" in r.out, True)
    r = seine("limit", "simulate", "--rate", "1/s", stdin=b"\xff\xfe\x1b]0;title\x07\n")
    check(r.err.split("\n")[0], "seine: standard input:1:1: '\\xff\\xfe\\x1b]0;title\\x07' is not a time")


finish(at_once=4)
