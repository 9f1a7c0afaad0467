#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine limit`: lines, commands and requests that start at a pace."""
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows, seine, until  # noqa: E402
from origin import origin  # noqa: E402
from pages import pages  # noqa: E402


def start(*words, **more):
    return subprocess.Popen([os.path.abspath(PROGRAM), "limit", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment(), bufsize=0, **more)


def numbers(n):
    return "".join(f"{i}\n" for i in range(n))


def moments(text, *words):
    """The seconds at which each line would start."""
    r = seine("limit", "--dry-run", *words, stdin=text)
    return [line.split("\t") for line in r.out.splitlines()], r


@rows([
    # name, options, the moments of six lines
    ("one_after_the_other", ["-r", "5/s"], ["0.000", "0.200", "0.400", "0.600", "0.800", "1.000"]),
    ("a_burst_first", ["-r", "2/s", "--burst", "3"], ["0.000", "0.000", "0.000", "0.500", "1.000", "1.500"]),
    ("slower_than_one_a_second", ["-r", "30/m"], ["0.000", "2.000", "4.000", "6.000", "8.000", "10.000"]),
    ("without_a_limit", ["-r", "off"], ["0.000"] * 6),
])
def the_moments_are_those_of_a_token_bucket(_name, words, want):
    got, r = moments(numbers(6), *words)
    check(r.code, 0, r.err)
    check(got, [[at, str(i)] for i, at in enumerate(want)])


@case
def requests_obey_the_configuration_that_was_typed():
    with pages({"/a": "more than a byte"}) as p, tempfile.TemporaryDirectory() as where:
        for name in ("seine.yaml", "my.yaml"):
            with open(os.path.join(where, name), "w", encoding="utf-8") as f:
                f.write("max-body: 1\n" if name == "my.yaml" else "max-body: 2\n")
        got = [json.loads(seine("limit", "-", "--rate", "50/s", *words, stdin=p.base + "/a\n", cwd=where).out.splitlines()[0])
               for words in ((), ("--config", "my.yaml"), ("--no-config",))]
        check([(r["outcome"], r["bytes_body"]) for r in got], [("bad_response", 2), ("bad_response", 1), ("ok", 16)], str(got))


@case
def s2_03_a_line_is_never_early():
    """S2-03. The clock begins before the program does, so that no moment can be earlier than it seems."""
    began = time.monotonic()
    p = start("-r", "50/s", "--pass")
    p.stdin.write(numbers(12).encode())
    p.stdin.close()
    for i in range(12):
        check(p.stdout.readline(), f"{i}\n".encode())
        if time.monotonic() - began < i / 50:
            raise AssertionError(f"line {i} came after {time.monotonic() - began} s")
    check(p.wait(PATIENCE), 0)


@case
def s2_01_what_is_there_goes_at_once_and_a_wait_that_is_canceled_ends_cleanly():
    """S2-01. Two tokens, three lines: the third would wait for an hour."""
    with tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        for words, more in ((["--pass"], []), (["--exec", "echo {}"], ["-o", done])):
            p = start("-r", "1/h", "--burst", "2", *words, *more)
            p.stdin.write(b"a\nb\nc\n")
            check([p.stdout.readline() for _ in range(2)], [b"a\n", b"b\n"])
            check(p.poll(), None, "it waits for a token")
            p.send_signal(signal.SIGINT)
            check((p.wait(PATIENCE), p.stdout.read()), (130, b""), p.stderr.read())
        got = [json.loads(line) for line in open(done, encoding="utf-8")]
        check([x["input"] for x in got if x.get("outcome") == "ok"], ["a", "b"])
        check(any(x.get("input") == "c" and x.get("ok") for x in got), False)


@rows([(burst, rate) for burst in (1, 10, 100, 1000) for rate in (10, 1000, 1000000)], name=lambda row: f"burst_{row[0]}_rate_{row[1]}")
def s2_02_the_pace_is_exact_over_bursts_and_rates(burst, rate):
    """S2-02. The burst goes at once, and line i behind it after i / rate, as far as milliseconds show it."""
    got, r = moments(numbers(burst + 200), "-r", f"{rate}/s", "--burst", str(burst))
    check(r.code, 0, r.err)
    behind = [max(0, i - burst + 1) * 1000000000 // rate for i in range(burst + 200)]
    late = [i for i, (at, _) in enumerate(got) if abs(float(at) * 1e9 - behind[i]) > 1e6]
    check((len(got), late), (burst + 200, []), r.out[-200:])


@case
def a_pause_of_the_input_earns_no_more_than_the_burst():
    p = start("-r", "20/s", "--pass", "--burst", "2")
    p.stdin.write(b"first\n")
    p.stdout.readline()
    time.sleep(0.4)  # eight tokens, had the bucket no bottom
    began = time.monotonic()
    p.stdin.write(b"a\nb\nc\nd\n")
    p.stdin.close()
    for i in range(4):
        p.stdout.readline()
        if time.monotonic() - began < (i - 1) / 20:
            raise AssertionError(f"line {i} came after {time.monotonic() - began} s")
    check(p.wait(PATIENCE), 0)


@case
def a_pause_of_the_reader_earns_no_more_than_the_burst():
    """Lines of a page each, through a pipe of one page: one line may stand in it, and one before it."""
    rate, burst, line = 1000, 3, b"x" * 4095 + b"\n"
    with tempfile.TemporaryFile() as lines:
        lines.write(line * 2000)
        lines.seek(0)
        p = subprocess.Popen([os.path.abspath(PROGRAM), "limit", "-r", f"{rate}/s", "--burst", str(burst), "--pass", "-q"], stdin=lines,
                             stdout=subprocess.PIPE, env=environment(), bufsize=0)
        fcntl.fcntl(p.stdout.fileno(), fcntl.F_SETPIPE_SZ, 4096)

        def read(n):
            while n > 0:
                n -= len(p.stdout.read(n))
        read(len(line))
        time.sleep(0.3)
        gone_on, excess = time.monotonic(), 0
        for i in range(1, 101):
            read(len(line))
            excess = max(excess, i - 2 - burst - rate * (time.monotonic() - gone_on))
        check(excess <= 1, True, f"{excess} lines too many")
        p.kill()
        p.wait(PATIENCE)
        p.stdout.close()


@case
def lines_are_passed_on_as_they_are():
    text = "# a comment\n\n  blanks  \n{\"not\": json\ntab\there\nlast without an end"
    r = seine("limit", "-r", "1000/s", "--pass", stdin=text)
    check((r.code, r.out), (0, text + "\n"))
    check("done: 6 lines in " in r.err, True, r.err)
    check(seine("limit", "-r", "1000/s", "--pass", "-q", stdin=text).err, "")


@case
def each_key_has_its_own_bucket():
    text = "".join(f'{{"url":"http://{host}.example/","user":{user}}}\n' for host, user in ("a1", "a2", "b1", "a1", "b2"))
    at = lambda *words: [row[0] for row in moments(text, "-r", "1/s", *words)[0]]
    check(at("--key", "host"), ["0.000", "1.000", "0.000", "2.000", "1.000"])
    check(at("--key", "/user"), ["0.000", "0.000", "1.000", "2.000", "1.000"])
    check(at(), ["0.000", "1.000", "2.000", "3.000", "4.000"])


@case
def s2_01_who_would_wait_too_long_is_left_out_and_takes_no_token():
    got, r = moments(numbers(6), "-r", "1/s", "--burst", "2", "--max-wait", "1s")
    check([row[1] for row in got], ["0", "1", "2"])  # 0, 0 and 1 s; all others would wait for 2 s
    check(r.code, 1)
    with tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        text = '{"k":1}\n{"k":1}\n{"k":2}\n'
        r = seine("limit", "-r", "1/h", "--key", "/k", "--max-wait", "1s", "--exec", "echo {/k}", "-o", done, stdin=text)
        check((r.code, sorted(r.out.split())), (1, ["1", "2"]))
        check("1 refused: they would wait longer than --max-wait" in r.err, True, r.err)
        records = [json.loads(line) for line in open(done, encoding="utf-8")]
        gave_up = [x for x in records if x.get("outcome") == "gave_up"]
        check([(x["line"], x["attempts"], x["error"]["kind"], x["ok"]) for x in gave_up], [(2, 0, "limited", False)])
        check((records[-1]["total"], records[-1]["ok"], records[-1]["failed"]), (3, 2, 1))


@case
def nothing_in_a_line_becomes_a_word_or_a_command():
    nasty = ["a b", "$(touch x)", "; touch x", "`touch x`", "'", '"', "*", "-n", "\\", "$HOME"]
    with tempfile.TemporaryDirectory() as d:
        r = seine("limit", "-r", "off", "--exec", "printf '[%s]\\n' {}", stdin="".join(n + "\n" for n in nasty), cwd=d)
        check((r.code, r.out), (0, "".join(f"[{n}]\n" for n in nasty)), r.err)
        check(os.listdir(d), [])


@rows([
    # the command, and what it prints for {"url":"http://e.example/","id":7,"tags":["a","b"]}
    ("printf '%s|' {} x", "http://e.example/|x|"),
    ("printf '%s|' --id={/id}", "--id=7|"),
    ('printf "%s|" "{/tags/1} and {/id}" \'{}\'', "b and 7|http://e.example/|"),
    ("printf '%s|' {/tags}", '["a","b"]|'),
    ("printf '%s|' a\\ b", "a b|http://e.example/|"),  # no place: the line is the last word
    ("printf '%s|' '' {}", "|http://e.example/|"),
    ("printf '%s|' {x} {}", "{x}|http://e.example/|"),
])
def places_are_filled(command, want):
    line = '{"url":"http://e.example/","id":7,"tags":["a","b"]}\n'
    r = seine("limit", "-r", "off", "--exec", command, stdin=line)
    check((r.code, r.out), (0, want + "\n"), r.err)


@rows([
    # what is typed, and what is said of it
    (["--pass"], "no --rate given\ntry: --rate 5/s, or --rate off"),
    (["-r", "1/s", "--pass", "--dry-run"], "--pass, --exec and --dry-run exclude each other\ntry: one of them"),
    (["-r", "1/s", "--exec", "echo 'a"], "--exec 'echo 'a': a ' has no partner\ntry: --exec './sync.sh --id {}'"),
    (["-r", "1/s", "--exec", " "], "--exec ' ': it has no words\ntry: --exec './sync.sh --id {}'"),
    (["-r", "1/s", "--exec", "no-such-program {}"], "--exec: there is no program 'no-such-program'\ntry: its path, like --exec './sync.sh {}'; no shell runs"),
    (["-r", "1/s", "--exec", "/ {}"], "--exec: there is no program '/'\ntry: its path, like --exec './sync.sh {}'; no shell runs"),
    (["-r", "1/s", "--pass", "--key", "user"], "--key 'user': neither none, host nor a JSON Pointer\ntry: --key host, or a JSON Pointer like --key /user"),
    (["-r", "1/s", "--pass", "-o", "x"], "--output is for records of requests and commands\ntry: a redirection with >"),
    (["-r", "1/s", "--key", "/user"], "--key '/user': no member of a request that can be a key\ntry: --key host, /id, /url, /method or /tags/NAME"),
    (["-r", "1/s", "--pass", "/no/such/file"], "cannot read '/no/such/file': no such file or directory\ntry: another name, or - for standard input"),
], name=lambda row: " ".join(row[0]))
def mistakes_are_told_before_anything_starts(words, said):
    r = seine("limit", *words, stdin="a\n")
    check((r.code, r.out, r.err), (2, "", "seine: " + said + "\n"))


@case
def a_line_that_lacks_its_member_is_left_out_and_the_rest_goes_on():
    text = '{"id":1}\n{"other":2}\nno json\n{"id":\n{"id":3}\n# a comment\n'
    with tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        r = seine("limit", "-r", "off", "--exec", "echo {/id}", "-o", done, stdin=text)
        check((r.code, r.out), (1, "1\n3\n"), r.err)
        check([line.split(":")[1].strip() for line in r.err.splitlines()[:3]], ["line 2", "line 3", "line 4"])
        skips = [json.loads(line) for line in open(done, encoding="utf-8") if '"skip"' in line]
        check([(s["line"], s["reason"]) for s in skips], [(2, "bad_input"), (3, "bad_input"), (4, "bad_input")])


@case
def the_end_of_a_command_is_a_record():
    with tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        r = seine("limit", "-r", "off", "--exec", "sh -c {}", "-o", done, stdin="true\nexit 3\nkill -TERM $$\n")
        check(r.code, 1)
        got = [json.loads(line) for line in open(done, encoding="utf-8")]
        check([(x["input"], x["outcome"], x["exec"].get("exit"), x["exec"].get("signal")) for x in got[:-1]],
              [("true", "ok", 0, None), ("exit 3", "exec_failed", 3, None), ("kill -TERM $$", "exec_failed", None, 15)])
        check(got[1]["exec"]["argv"], ["sh", "-c", "exit 3"])
        check([got[-1][k] for k in ("type", "total", "ok", "failed")], ["summary", 3, 1, 2])
        r = seine("limit", "-r", "off", "--exec", "true", "-o", done, stdin="x\n")
        check((r.code, "exists already" in r.err), (2, True))


@case
def the_output_of_commands_is_mixed_by_whole_lines_only():
    script = "import sys; c = sys.argv[1]; [print(c * 5000, flush=True) for _ in range(20)]; sys.stdout.write(c)"
    r = seine("limit", "-r", "off", "-c", "4", "--exec", f"python3 -c '{script}' {{}}", stdin="a\nb\nc\nd\n")
    check(r.code, 0, r.err)
    want = sorted([c * 5000 for c in "abcd"] * 20 + list("abcd"))
    check(sorted(r.out.splitlines()) == want, True, "lines are whole")


@case
def a_command_that_takes_too_long_is_killed_with_all_that_it_started():
    with tempfile.TemporaryDirectory() as d:
        done, pid = os.path.join(d, "done.jsonl"), os.path.join(d, "pid")
        r = seine("limit", "-r", "off", "--timeout", "500ms", "--exec", "sh -c {}", "-o", done,
                  stdin=f"sleep 1000 & echo $! > {pid}; wait\n")
        check(r.code, 1)
        got = json.loads(open(done, encoding="utf-8").readline())
        check((got["outcome"], got["error"]["kind"]), ("timeout", "timeout"))
        child = open(pid, encoding="ascii").read().strip()
        until(lambda: not os.path.exists(f"/proc/{child}"), "the end of the grandchild")


@case
def who_leaves_a_process_behind_does_not_stop_the_run():
    began = time.monotonic()
    r = seine("limit", "-r", "off", "--exec", "sh -c {}", stdin="sleep 1000 & echo started\necho next\n")
    check((r.code, r.out), (0, "started\nnext\n"), r.err)
    check(time.monotonic() - began < 500, True, "it did not wait for the process")


@case
def an_attempt_more_takes_a_token_more():
    with tempfile.TemporaryDirectory() as d:
        done, tries = os.path.join(d, "done.jsonl"), os.path.join(d, "tries")
        command = f"sh -c 'echo x >> {tries}; test $(wc -l < {tries}) -ge 2'"
        r = seine("limit", "-r", "1/s", "--burst", "1", "--retries", "3", "--exec", command, "-o", done, stdin="x\n")
        check(r.code, 0, r.err)
        got = json.loads(open(done, encoding="utf-8").readline())
        check((got["outcome"], got["attempts"]), ("ok", 2))


@case
def commands_run_side_by_side_and_no_more_of_them():
    """With three at a time each command meets the two others; with one at a time none meets another."""
    with tempfile.TemporaryDirectory() as d:
        command = f"sh -c 'echo > {d}/$0; while test $(ls {d} | wc -l) -lt 3; do sleep 0.02; done' {{}}"
        r = seine("limit", "-r", "off", "-c", "3", "--exec", command, stdin="a\nb\nc\n")
        check((r.code, sorted(os.listdir(d))), (0, ["a", "b", "c"]), r.err)
    with tempfile.TemporaryDirectory() as d:
        command = f"sh -c 'echo > {d}/$0; ls {d} | wc -l; sleep 0.05; rm {d}/$0' {{}}"
        r = seine("limit", "-r", "off", "--exec", command, stdin="a\nb\nc\n")
        check((r.code, r.out), (0, "1\n1\n1\n"), r.err)


@case
def a_signal_lets_commands_end_and_a_second_one_kills_them():
    with tempfile.TemporaryDirectory() as d:
        go, began = os.path.join(d, "go"), os.path.join(d, "began")
        command = f"sh -c 'echo > {began}; while ! test -e {go}; do sleep 0.05; done; echo ended'"
        p = start("-r", "off", "--exec", command)
        p.stdin.write(b"a\nb\n")  # and it stays open: the program waits for a line
        until(lambda: os.path.exists(began), "the first command")
        p.send_signal(signal.SIGINT)
        time.sleep(0.1)
        check(p.poll(), None, "it waits for the command")
        open(go, "w", encoding="ascii").close()
        check((p.wait(PATIENCE), p.stdout.read()), (130, b"ended\n"))
        os.unlink(go), os.unlink(began)
        p = start("-r", "off", "--exec", command)
        p.stdin.write(b"a\n")
        until(lambda: os.path.exists(began), "the command")
        p.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        p.send_signal(signal.SIGTERM)
        check((p.wait(PATIENCE), p.stdout.read()), (143, b""))


@case
def hup_takes_the_pace_of_the_configuration_also_for_who_waits():
    def write(path, text):
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, 0o644)

    with tempfile.TemporaryDirectory() as d:
        config = os.path.join(d, "seine.yaml")
        write(config, "rate: 1/h\nburst: 3\n")
        p = start("--pass", cwd=d)
        p.stdin.write(b"a\nb\nc\n")
        check([p.stdout.readline() for _ in range(3)], [b"a\n", b"b\n", b"c\n"])
        p.stdin.write(b"d\ne\n")  # d would wait for an hour
        write(config, "rate: fast\n")
        p.send_signal(signal.SIGHUP)
        check("the old pace stays: " in p.stderr.readline().decode(), True)
        write(config, "rate: 1000/s\nburst: 2\n")
        p.send_signal(signal.SIGHUP)
        check([p.stdout.readline() for _ in range(2)], [b"d\n", b"e\n"])
        p.stdin.close()
        check(p.wait(PATIENCE), 0)
        check("the pace of the configuration holds" in p.stderr.read().decode(), True)


@case
def a_reader_that_goes_away_ends_the_run():
    p = start("-r", "off", "--pass")
    p.stdout.close()
    try:
        while p.poll() is None:
            p.stdin.write(b"x\n")
    except BrokenPipeError:
        pass
    check(p.wait(PATIENCE), 141)


@rows([(("--exec", "echo {}"), 3), (("--exec", "sh -c 'echo {}; exit 1'", "--retries", "9"), 3), (("--pass",), 3)], name=lambda row: " ".join(row[0]))
def a_full_disk_ends_the_run_and_is_told(words, code):
    """One line a second of two hours: the run ends because the first could not be written."""
    with open("/dev/full", "wb") as full, tempfile.TemporaryDirectory() as top:
        p = subprocess.Popen([os.path.abspath(PROGRAM), "limit", "-r", "1/s", *words, *(("-o", top + "/done.jsonl") if "--exec" in words else ())],
                             stdin=subprocess.PIPE, stdout=full, stderr=subprocess.PIPE, env=environment())
        err = p.communicate(numbers(7200).encode())[1].decode()
        check((p.returncode, "seine: cannot write standard output: no space left on device\n" in err), (code, True), err)
        if "--exec" in words:
            with open(top + "/done.jsonl", encoding="utf-8") as f:
                check(json.loads(f.read().splitlines()[-1])["stopped_by"], "disk")


@case
def commands_whose_reader_goes_away_end():
    p = start("-r", "1/s", "--exec", "echo {}")
    p.stdout.close()
    p.communicate(numbers(7200).encode())
    check(p.returncode, 141)


@case
def requests_are_those_of_fetch_and_have_the_pace():
    with pages({"*": "<title>t</title>"}) as site, tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        text = "".join(f'{{"url":"{site.base}/{i % 5}","id":"{i}"}}\n' for i in range(6))
        r = seine("limit", "-", "-r", "20/s", "-o", done, stdin=text)
        check(r.code, 0, r.err)
        got = [json.loads(line) for line in open(done, encoding="utf-8")]
        check(sorted(x["url"][len(site.base):] for x in got if x["type"] == "result"), ["/0", "/0", "/1", "/2", "/3", "/4"])
        check(got[-1]["wall_ms"] >= 5 * 50, True, "six requests at 20/s")
        check((got[-1]["type"], got[-1]["command"]), ("summary", "limit"), "the command that was typed")
        r = seine("limit", "-", "-r", "100/s", "--key", "host", "-q", stdin=f"{site.base}/a\n{site.base}/a\n")
        check((r.code, r.out.count('"type":"result"')), (0, 2), r.err)


@case
def requests_have_a_bucket_for_each_value_of_a_member():
    """Three of a at 5/s take 400 ms, though three of b stand before and between them; a retry takes a token, too."""
    with pages({"*": "<title>t</title>"}) as site, tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        lines = [(user, i) for i in range(3) for user in "ba"]
        text = "".join(f'{{"url":"{site.base}/{user}{i}","tags":{{"user":"{user}"}}}}\n' for user, i in lines)
        r = seine("limit", "-", "-r", "5/s", "--key", "/tags/user", "-o", done, stdin=text)
        check(r.code, 0, r.err)
        got = [json.loads(line) for line in open(done, encoding="utf-8")]
        check(sorted(x["url"][len(site.base):] for x in got if x["type"] == "result"), ["/a0", "/a1", "/a2", "/b0", "/b1", "/b2"])
        check(got[-1]["wall_ms"] >= 2 * 200, True, got[-1])
        for user in "ab":
            order = [x["url"][-1] for x in got if x["type"] == "result" and x["tags"]["user"] == user]
            check(order, ["0", "1", "2"])


@case
def a_retry_takes_a_token_of_its_key():
    with origin() as o, tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        text = f'{{"url":"{o.url("/status:503")}","id":"a"}}\n'
        r = seine("limit", "-", "-r", "1/s", "--key", "/id", "--retries", "1", "-q", "-o", done, stdin=text)
        got = [json.loads(line) for line in open(done, encoding="utf-8")]
        tries = [x["attempts"] for x in got if x["type"] == "result"]
        check((r.code, tries, got[-1]["wall_ms"] >= 1000), (1, [2], True), got)


@case
def a_request_that_would_wait_longer_is_given_up():
    with pages({"*": "<title>t</title>"}) as site, tempfile.TemporaryDirectory() as d:
        done = os.path.join(d, "done.jsonl")
        text = "".join(f'{{"url":"{site.base}/{i}","id":"{user}"}}\n' for i, user in enumerate("aab"))
        for key, let_in in (("/id", ["/0", "/2"]), ("host", ["/0"]), ("none", ["/0"])):
            r = seine("limit", "-", "-r", "1/h", "--key", key, "--max-wait", "1s", "-o", done, "--overwrite", stdin=text)
            check(r.code, 1, r.err)
            got = [json.loads(line) for line in open(done, encoding="utf-8")]
            results = [x for x in got if x["type"] == "result"]
            check(sorted(x["url"][len(site.base):] for x in results if x["outcome"] == "ok"), let_in)
            check({(x["outcome"], x["error"]["kind"], x["attempts"]) for x in results if x["outcome"] != "ok"}, {("gave_up", "limited", 0)})


finish(at_once=4)
