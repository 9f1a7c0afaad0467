#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seine jobs: what is there, how far it is, and how it is started again or removed."""
import contextlib
import json
import os
import pty
import signal
import socket
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, UNHURRIED, case, check, environment, finish, rows, seine, until  # noqa: E402
from job_rows import rows_of  # noqa: E402
from origin import origin  # noqa: E402

DURABLE = {"SEINE_DURABILITY": "full"}
PACE = ("--host-rate", "20/s", "--no-adaptive", *UNHURRIED)


def run(where, *words, **more):
    return seine(*words, cwd=where, env=DURABLE, **more)


def start(where, *words):
    return subprocess.Popen([os.path.abspath(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            cwd=where, env=environment(DURABLE))


def listed(where, *words):
    """The rows of `jobs ls`, by name."""
    return {row["name"]: row for row in map(json.loads, run(where, "jobs", "ls", "-j", *words).out.splitlines())}


def begun(where, name="one", done=3):
    """Waits until the job has done so much, and returns its row."""
    return until(lambda: (row := listed(where).get(name)) and row.get("done", 0) >= done and row, f"job {name}")


def resumed(where, *words, cwd=None):
    """Resumes the job, to its end at full speed. Its exit code, and what it said."""
    p = start(cwd or where, "jobs", "resume", "one", *words)
    until(lambda: run(where, "jobs", "set", "one", "host-rate=off", "per-host=32").code == 0 or p.poll() is not None, "a socket")
    err = p.communicate()[1].decode()
    return p.returncode, err


def results(where, name):
    with open(os.path.join(where, name), encoding="utf-8") as f:
        return [r for r in map(json.loads, f) if r["type"] == "result"]


@case
def a_job_is_listed_while_it_runs_after_a_kill_and_at_the_end():
    with origin("--site", "5:1000:fan=6:broken=10") as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "jobs", "ls").err, "seine: no jobs in .seine\n")
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "--job", "one")
        row = begun(where)
        check(row["state"], "running")
        check(row["pid"], p.pid)
        check(row["bytes"] > 0 and row["pending"] > 0 and row["run"] == 1, True, str(row))
        check(row["command"].startswith("crawl http://127.0.0.1:"), True, row["command"])
        r = run(where, "jobs", "rm", "one", "--yes")
        check((r.code, "job 'one' is running" in r.err), (2, True))
        p.send_signal(signal.SIGKILL)
        p.communicate()
        check(listed(where)["one"]["state"], "failed")
        text = run(where, "jobs", "ls").out.splitlines()
        check(text[0].split(), ["JOB", "STATE", "DONE", "PENDING", "FAILED", "AGE", "DISK", "COMMAND"])
        check(text[1].split()[:2], ["one", "failed"])
        # from another directory: the outputs are those of the first run
        code, err = resumed(where, "--state", os.path.join(where, ".seine"), cwd="/")
        check(code, 1, err)  # the site has broken pages
        check("job 'one' goes on" in err, True, err)
        row = listed(where)["one"]
        check((row["state"], row["pending"], row["run"]), ("finished", 0, 2))
        got = results(where, "a.jsonl")
        check(row["done"], len(got))
        check(row["failed"], sum(not r["ok"] for r in got))
        r = run(where, "jobs", "resume", "one")
        check((r.code, "job 'one' is finished" in r.err), (2, True), r.err)
        check(run(where, "jobs", "rm", "one", "--yes").out, "one\n")
        check(listed(where), {})
        check(os.listdir(os.path.join(where, ".seine")), [])
        check(len(results(where, "a.jsonl")), len(got), "outputs stay")


@case
def show_has_counts_outputs_and_hosts():
    with origin("--site", "5:1000:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "-o", "a.csv", "--job", "one")
        begun(where)
        p.send_signal(signal.SIGTERM)
        p.communicate()
        row = json.loads(run(where, "jobs", "show", "one", "-j").out)
        check(row["state"], "stopped")
        check([os.path.basename(f["path"]) for f in row["outputs"]], ["a.jsonl", "a.csv"])
        with open(os.path.join(where, "a.jsonl"), "rb") as f:
            last = f.readlines()[-1]
        check(json.loads(last)["type"], "summary")
        sizes = [os.path.getsize(f["path"]) for f in row["outputs"]]
        check([f["committed"] for f in row["outputs"]], [sizes[0] - len(last), sizes[1]], "all but the summary, which the next run replaces")
        check([h["pending"] for h in row["hosts"]], [row["pending"]])
        text = run(where, "jobs", "show", "one").out
        check([line.split()[0] for line in text.splitlines()], ["job", "command", "state", "urls", "disk", "output", "output", "host"])
        check(f"{row['pending']} pending" in text, True, text)


@case
def resume_is_never_a_fresh_start():
    with origin("--site", "5:1000:fan=6") as o, tempfile.TemporaryDirectory() as where:
        r = run(where, "jobs", "resume", "one")
        check((r.code, r.err), (2, "seine: there is no job 'one'\ntry: seine jobs ls\n"))
        check(os.path.exists(os.path.join(where, ".seine", "one")), False)
        p = start(where, "crawl", o.url("/"), *PACE, "-o", "a.jsonl", "--fresh", "--job", "one")
        done = begun(where)["done"]
        p.send_signal(signal.SIGKILL)
        p.communicate()
        code, err = resumed(where)  # its command had --fresh
        check(code, 0, err)
        urls = [x["url"] for x in results(where, "a.jsonl")]
        check(len(urls) > done, True)
        check(len(urls), len(set(urls)), "each page once")
        check(o.report()["totals"]["requests"] < len(urls) + 20, True, "what was done is not asked for again")


@case
def a_command_with_a_secret_is_typed_again():
    with origin("--site", "5:1000:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), *PACE, "-H", "Authorization: Bearer s3cret", "-o", "a.jsonl", "--job", "one")
        begun(where)
        p.send_signal(signal.SIGKILL)
        p.communicate()
        check("s3cret" in run(where, "jobs", "show", "one").out, False)
        r = run(where, "jobs", "resume", "one")
        check((r.code, "started with a secret" in r.err), (2, True), r.err)


@case
def rm_needs_a_yes_and_prunes_by_age():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for name in ("one", "two", "three"):
            check(run(where, "fetch", o.url("/ok"), "--job", name, "-o", name + ".jsonl").code, 0)
        r = run(where, "jobs", "rm", "one")
        check((r.code, r.err), (2, "seine: no terminal to ask on\ntry: --yes\n"))
        check(run(where, "jobs", "rm").code, 2)
        r = run(where, "jobs", "rm", "one", "none", "--yes")
        check((r.code, r.out, "there is no job 'none'" in r.err), (2, "", True), r.err)
        check(run(where, "jobs", "rm", "--older-than", "30d", "--yes").out, "", "none is as old")
        check(sorted(listed(where)), ["one", "three", "two"])
        check(run(where, "jobs", "rm", "one", "--yes").out, "one\n")
        check(run(where, "jobs", "rm", "--older-than", "1ms", "--yes").out, "three\ntwo\n")


@rows([("n", ["one"]), ("", ["one"]), ("y", [])])
def rm_asks_on_a_terminal(answer, left):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "fetch", o.url("/ok"), "--job", "one", "-o", "a.jsonl").code, 0)
        ours, theirs = pty.openpty()
        with subprocess.Popen([os.path.abspath(PROGRAM), "jobs", "rm", "one"], stdin=theirs, stdout=theirs, stderr=theirs, cwd=where, env=environment(DURABLE)) as p:
            os.close(theirs)
            said = b""
            while b"[y/N]" not in said:
                said += os.read(ours, 1000)
            check(said.startswith(b"seine: remove job one, "), True, str(said))
            os.write(ours, answer.encode() + b"\n")
            check(p.wait(), 0)
        os.close(ours)
        check(sorted(listed(where)), left)


@case
def a_damaged_job_is_listed_and_named():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "fetch", o.url("/ok"), "--job", "one", "-o", "a.jsonl").code, 0)
        db = os.path.join(where, ".seine", "one", "job.db")
        with open(db, "r+b") as f:
            f.truncate(5000)
        row = listed(where)["one"]
        check((row["state"], row["error"]), ("failed", "state_corrupt"))
        check("done" in row, False, "nobody knows")
        r = run(where, "jobs", "show", "one")
        check((r.code, "is damaged" in r.err), (2, True), r.err)
        check(run(where, "jobs", "ls").out.splitlines()[1].split()[:5], ["one", "failed", "-", "-", "-"])


def requests(o):
    return o.report()["totals"]["requests"]


def shown(where, name="one"):
    return json.loads(run(where, "jobs", "show", name, "-j").out)


def ask(where, *lines, name="one"):
    """What the job answers to bytes on its socket, one line each."""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(60)
        fd = os.open(os.path.join(where, ".seine", name), os.O_PATH)
        try:
            s.connect(f"/proc/self/fd/{fd}/control.sock")
        finally:
            os.close(fd)
        s.sendall(b"".join(lines))
        with s.makefile("rb") as f:
            return [json.loads(f.readline() or b"null") for _ in lines]


def crawling(where, o, *words):
    p = start(where, "crawl", o.url("/"), "-o", "a.jsonl", "--job", "one", *UNHURRIED, *words)
    until(lambda: os.path.exists(os.path.join(where, ".seine", "one", "control.sock")), "the socket")
    return p


def ended(p):
    p.send_signal(signal.SIGKILL)
    p.communicate()


@case
def a_rate_that_is_set_holds_at_once():
    with origin("--site", "5:20000:fan=8") as o, tempfile.TemporaryDirectory() as where:  # more than the new rate gets in a minute
        p = crawling(where, o, "--host-rate", "1/m", "--no-adaptive")
        check(run(where, "jobs", "set", "one", "host-rate=200/s").code, 0)
        until(lambda: requests(o) > 100, "requests at the new rate; at the old one they take hours")
        check(run(where, "jobs", "set", "one", "hosts.127.0.0.1.host-rate=1/h").code, 0)
        host = until(lambda: next((h for h in shown(where)["hosts"] if h.get("in_s", 0) > 3000), None), "a host that waits")
        check((host["waits_for"], host["pending"] > 100), ("host_rate", True), str(host))
        until(lambda: shown(where)["in_flight"] == 0, "the end of what is in flight")
        before = requests(o)
        check(shown(where)["state"], "waiting")
        check(requests(o) - before, 0)
        ended(p)


@case
def a_paused_job_asks_for_nothing_until_it_is_resumed():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        p = crawling(where, o, *PACE)
        begun(where)
        check(run(where, "jobs", "pause", "one").code, 0)
        until(lambda: shown(where)["in_flight"] == 0, "the end of what is in flight")
        check(listed(where)["one"]["state"], "paused")
        before = requests(o)
        time.sleep(0.5)  # ten requests at its pace
        check(requests(o), before)
        host = shown(where)["hosts"][0]
        check((host["waits_for"], "until" in host), ("resume", False))
        check(run(where, "jobs", "resume", "one").code, 0)
        until(lambda: requests(o) > before + 5, "requests")
        check(listed(where)["one"]["state"], "running")
        check(run(where, "jobs", "pause", "one").code, 0)
        check(run(where, "jobs", "stop", "one").code, 0)
        p.communicate()
        check(p.returncode, 143, "a paused job can be stopped")


@case
def a_stopped_job_lets_go_of_its_state_and_goes_on_later():
    with origin("--site", "5:1000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        p = crawling(where, o, *PACE)
        begun(where)
        r = run(where, "jobs", "stop", "one")
        check((r.code, r.err), (0, ""))
        check(listed(where)["one"]["state"], "stopped", "it has let go of its state")
        p.communicate()
        check(p.returncode, 143)
        check(os.path.exists(os.path.join(where, ".seine", "one", "control.sock")), False)
        for words in (("pause", "one"), ("stop", "one"), ("set", "one", "rate=1/s")):
            r = run(where, "jobs", *words)
            check((r.code, "job 'one' is not running" in r.err), (2, True), r.err)
        check(resumed(where)[0], 0)
        urls = [x["url"] for x in results(where, "a.jsonl")]
        check(len(urls), len(set(urls)), "each page once")
        check(len(urls), listed(where)["one"]["done"])


@case
def what_cannot_be_set_is_refused_with_its_key():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        p = crawling(where, o, *PACE)
        for word, why in (("rtae=1/s", "can be set: rate"), ("rate=fast", "rate"), ("host-rate=0/s", "host-rate"), ("concurrency=0", "1 to 65536"),
                          ("concurrency=9999", "with this queue"), ("hosts.e.example=1", "of a host can be set"), ("hosts.e.example.rate=1/s", "of a host"),
                          ("hosts..host-rate=1/s", "hosts.NAME"), ("host-burst=5", "needs its rate beside it"), ("burst=5", "needs its rate beside it"),
                          ("hosts.e.example.host-burst=5", "needs hosts.NAME.host-rate=5/s beside it"),
                          ("hosts.e.example.per-ip=5", "of a host can be set"), ("per-ip=0", "1 to 65536")):
            r = run(where, "jobs", "set", "one", word)
            check((r.code, why in r.err), (2, True), r.err)
        r = run(where, "jobs", "set", "one", "rate")
        check((r.code, "is not KEY=VALUE" in r.err), (2, True), r.err)
        for words in (("per-ip=5",), ("host-rate=50/s", "host-burst=5"), ("burst=9", "rate=100/s"), ("hosts.127.0.0.1.host-burst=3", "hosts.127.0.0.1.host-rate=60/s")):
            r = run(where, "jobs", "set", "one", *words)
            check(r.code, 0, r.err)
        ended(p)


@case
def the_socket_is_for_its_owner_and_answers_whatever_comes():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        p = crawling(where, o, *PACE)
        path = os.path.join(where, ".seine", "one", "control.sock")
        check(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        got = ask(where, b"x\n", b"[]\n", b'{"cmd":7}\n', b'{"cmd":"dance"}\n', b'{"cmd":"status"}\n', b'{"cmd":"set"}\n', b'{"cmd":"set","rate":"9/s"}\n')
        check([sorted(a) for a in got], [["error"]] * 4 + [["ok"], ["error"], ["ok"]], str(got))
        check(ask(where, b"y" * 70000)[0]["error"], "a line has at most 65536 bytes")
        silent = []
        for _ in range(40):  # more than it takes; those that say nothing are in nobody's way for long
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            silent.append(s)
            try:
                s.connect(path)
            except BlockingIOError:
                break
        until(lambda: "in_flight" in shown(where), "an answer in spite of silent ones")
        for s in silent:
            s.close()
        ended(p)


@case
def a_socket_of_a_killed_process_and_a_link_in_its_place_are_replaced():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        ended(crawling(where, o, *PACE))
        path = os.path.join(where, ".seine", "one", "control.sock")
        check(os.path.exists(path), True, "it was killed")
        r = run(where, "jobs", "pause", "one")
        check((r.code, "is not running" in r.err), (2, True), r.err)
        with open(os.path.join(where, "precious"), "w", encoding="ascii") as f:
            f.write("precious")
        os.unlink(path)
        os.symlink(os.path.join(where, "precious"), path)
        p = start(where, "crawl", o.url("/"), "-o", "a.jsonl", "--job", "one", *PACE)
        until(lambda: os.path.lexists(path) and stat.S_ISSOCK(os.lstat(path).st_mode), "a socket of its own")
        until(lambda: "in_flight" in shown(where), "an answer")
        with open(os.path.join(where, "precious"), encoding="ascii") as f:
            check(f.read(), "precious")
        ended(p)


@case
def a_path_of_any_length_has_a_socket():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as top:
        where = os.path.join(top, *["d" * 60] * 4)
        os.makedirs(where)
        p = crawling(where, o, *PACE)
        until(lambda: "in_flight" in shown(where), "an answer")
        state = os.path.join(where, ".seine")
        check(seine("jobs", "pause", "one", "--state", state, cwd=top, env=DURABLE).code, 0)
        check(listed(where)["one"]["state"], "paused")
        ended(p)


@case
def explain_says_what_became_of_a_url_and_by_which_line_of_robots_txt():
    with origin("--site", "5:120:fan=6:broken=10:robots=10") as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "crawl", o.url("/"), "--mine", "--robots", "on", "-o", "a.jsonl", "--job", "one", "-l", "off", *UNHURRIED).code in (0, 1), True)
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            records = [json.loads(line) for line in f]
        kinds = {}
        for r in records:
            if r["type"] in ("result", "skip") and r.get("via", {}).get("tag"):
                kinds.setdefault(r.get("reason") or r["outcome"], r)
        check(sorted(kinds), ["http_error", "ok", "robots"])
        for kind, state in (("ok", "fetched"), ("http_error", "failed"), ("robots", "skipped")):
            r = kinds[kind]
            got = json.loads(run(where, "explain", r["url"], "--job", "one", "-j").out)["job"]
            check((got["state"], got["seq"], got["parent"], got["depth"], got["given"]), (state, r["seq"], r["parent"], r["depth"], False))
            check((got["line"], got["tag"], got["attr"]), (r["via"]["line"], r["via"]["tag"], r["via"]["attr"]))
            check(got.get("status"), r.get("status"))
            check(got.get("time"), r.get("time"), "where the time went")
        text = run(where, "explain", kinds["robots"]["url"], "--job", "one").out
        check("robots    DENIED   robots.txt:2 \"Disallow: /x/\" for agent seine" in text, True, text)
        check(f"state     skipped  seq {kinds['robots']['seq']}, robots: robots.txt:2 Disallow: /x/, found on " in text, True, text)
        text = run(where, "explain", o.url("/nowhere"), "--job", "one").out
        check("state     unknown  job one has not found it" in text, True, text)
        r = run(where, "explain", o.url("/"), "--job", "two")
        check((r.code, "there is no job 'two'" in r.err), (2, True), r.err)


@case
def explain_says_what_a_url_waits_for_while_the_job_runs_and_after():
    with origin("--site", "5:120:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = crawling(where, o, "--host-rate", "1/h", "--no-adaptive")
        def waits():
            got = json.loads(run(where, "explain", o.url("/"), "--job", "one", "-j").out)["job"]
            return got.get("waits_for") and got
        got = until(waits, "a host that waits")
        check((got["state"], got["waits_for"], got["every_s"], got["given"]), ("pending", "host_rate", 3600, True))
        check(got["in_s"] > 3000, True, str(got))
        ended(p)
        got = json.loads(run(where, "explain", o.url("/"), "--job", "one", "-j").out)["job"]
        check(got["state"], "pending")


@case
def what_is_not_due_in_a_round_is_not_pending():
    with origin("--site", "5:30:fan=6") as o, tempfile.TemporaryDirectory() as where:
        for _ in range(2):
            r = run(where, "crawl", o.url("/"), "--mine", "-o", "a.jsonl", "--overwrite", "--job", "one", "--incremental", *UNHURRIED)
            check(r.code, 0, r.err)
        row = shown(where)
        check((row["state"], row["pending"], [h["pending"] for h in row["hosts"]]), ("finished", 0, [0]))
        check(json.loads(run(where, "explain", o.url("/"), "--job", "one", "-j").out)["job"]["state"], "not due")


@rows([(["a.jsonl.gz"], True), (["a.jsonl.zst"], True), (["a.sqlite"], True), (["a.csv", "b.jsonl.gz"], True), (["a.csv"], False), (["jsonl:a"], True)])
def explain_reads_outputs_of_every_format(names, has_tries):
    with origin() as o, tempfile.TemporaryDirectory() as where:
        outputs = [word for name in names for word in ("-o", name)]
        check(run(where, "fetch", o.url("/ok?fail=1&key=k"), o.url("/ok?other"), "--job", "one", *outputs, "--backoff", "1ms..2ms").code, 0)
        got = json.loads(run(where, "explain", o.url("/ok?fail=1&key=k"), "--job", "one", "-j").out)["job"]
        check(("total" in got["time"], "tries" in got, "backoff" in got["time"]), (True, has_tries, has_tries), str(got))


@case
def hints_name_the_job_and_where_its_state_is():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for state, more in (((), ""), (("--state", "my state"), " --state 'my state'")):
            check(run(where, "fetch", o.url("/ok"), "--job", "one", *state, "-o", f"{len(state)}.jsonl").code, 0)
            r = run(where, "jobs", "pause", "one", *state)
            check((r.code, r.err.splitlines()[1]), (2, f"try: seine jobs resume one{more}"), r.err)
            r = run(where, "jobs", "resume", "one", *state)
            check((r.code, r.err.splitlines()[1]), (2, f"try: seine retry one{more}, or its command with --fresh"), r.err)
            r = run(where, "fetch", o.url("/ok"), "--job", "one", *state, "-o", f"{len(state)}.jsonl")
            check((r.code, r.err.splitlines()[1]), (2, f"try: --fresh to start over, or: seine retry one{more}"), r.err)


@case
def explain_has_the_limits_of_the_fetch_that_the_job_is():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        urls = os.path.join(where, "urls.txt")
        with open(urls, "w", encoding="ascii") as f:
            f.write(o.url("/ok") + "\n")
        check(run(where, "fetch", "-i", urls, "--job", "one", "-o", "a.jsonl", "--host-rate", "20/s", "--tls-timeout", "3s").code, 0)
        text = run(where, "explain", o.url("/ok"), "--job", "one").out
        check("limits    20/s host-rate -> one request each 50 ms" in text, True, text)


@case
def a_database_has_no_size_of_committed_bytes():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "fetch", o.url("/ok"), "--job", "one", "-o", "a.sqlite", "-o", "a.jsonl").code, 0)
        by_name = {os.path.basename(f["path"]): f["committed"] for f in json.loads(run(where, "jobs", "show", "one", "-j").out)["outputs"]}
        check((by_name["a.sqlite"], by_name["a.jsonl"] > 100), (0, True), str(by_name))


@case
def explain_knows_urls_that_were_given_to_a_fetch():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "fetch", o.url("/ok?fail=1&key=k"), "--job", "one", "-o", "a.jsonl", "--backoff", "1ms..2ms").code, 0)
        text = run(where, "explain", o.url("/ok?fail=1&key=k"), "--job", "one").out
        check("state     fetched  seq 1, status 200, given" in text, True, text)
        check("time      2 attempts, " in text and "backoff " in text, True, text)
        check("try 1     status 503, then waited " in text, True, text)


@case
def a_job_whose_wal_is_left_is_not_damaged():
    with origin("--site", "5:1000:fan=6") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), "--job", "one", "-l", "off", "-o", "a.jsonl", *PACE)
        begun(where, done=3)
        with contextlib.closing(sqlite3.connect(os.path.join(where, ".seine", "one", "job.db"))) as db:  # as a reader keeps it
            db.execute("BEGIN")
            db.execute("SELECT count(*) FROM urls").fetchall()
            check(run(where, "jobs", "stop", "one").code, 0)
            p.communicate()
            wal = os.path.join(where, ".seine", "one", "job.db-wal")
            check(os.path.getsize(wal) > 0, True)
            os.link(wal, wal + ".kept")  # the last reader takes it away
        os.rename(wal + ".kept", wal)
        check(run(where, "jobs", "repair", "one").out, "job 'one' is not damaged\n")


@case
def a_damaged_job_is_repaired_and_ends_with_every_page():
    with origin("--site", "5:1000:fan=6") as o, tempfile.TemporaryDirectory() as where:
        words = ("crawl", o.url("/"), "--job", "one", "-l", "off", "-o", "a.jsonl", *PACE)
        p = start(where, *words)
        begun(where, done=30)
        check(run(where, "jobs", "stop", "one").code, 0)
        p.communicate()
        check(run(where, "jobs", "repair", "one").out, "job 'one' is not damaged\n")
        with sqlite3.connect(os.path.join(where, ".seine", "one", "job.db")) as db:  # as a bit that has flipped
            intact = list(rows_of(db, "results"))
            db.execute("UPDATE results SET crc = crc + 1 WHERE pack % 3 = 0")
            lost = sum(row[0] // 16 % 3 == 0 for row in intact)
        r = run(where, *words)
        check((r.code, "is damaged (table result" in r.err, "try: seine jobs repair one, or --fresh" in r.err), (2, True, True), r.err)
        r = run(where, "jobs", "repair", "one")
        check((r.code, f" of {begun(where, done=1)['done'] + lost} results, " in r.out), (0, True), r.out + r.err)
        check(os.path.exists(os.path.join(where, ".seine", "one", "job.db.damaged")), True)
        check(resumed(where)[0], 0)
        urls = [x["url"] for x in results(where, "a.jsonl")]
        with tempfile.TemporaryDirectory() as other:
            check(run(other, "crawl", o.url("/"), "--no-job", "-l", "off", "-o", "a.jsonl", "--host-rate", "off", "--no-adaptive", *UNHURRIED).code, 0)
            check(set(urls), {x["url"] for x in results(other, "a.jsonl")})
        check(len(urls) - len(set(urls)), lost, "what was lost has a second record")


@case
def the_job_of_another_command_is_named_as_that():
    with origin("--site", "5:3") as o, tempfile.TemporaryDirectory() as where:
        check(run(where, "crawl", o.url("/"), "--mine", "-q", "--job", "one").code, 0)
        r = run(where, "fetch", o.url("/"), "--job", "one")
        check((r.code, r.err.splitlines()[0]), (2, "seine: job 'one' was started with another command"))


@case
def another_crawl_of_a_finished_host_is_a_job_of_its_own():
    with origin("--site", "5:3") as o, tempfile.TemporaryDirectory() as where:
        def crawl(*words):
            r = run(where, "crawl", o.url("/"), "-q", "--mine", *words, *UNHURRIED)
            return r.code, r.err

        def names():
            return sorted(name.removeprefix(base) for name in listed(where))
        base = "127.0.0.1-" + o.url("/").split(":")[2].split("/")[0]
        check(crawl("-o", "a.jsonl")[0], 0)
        pages = len(results(where, "a.jsonl"))
        check(crawl("-o", "b.jsonl")[0], 0)
        check((names(), len(results(where, "a.jsonl")), len(results(where, "b.jsonl"))), (["", "-2"], pages, pages))

        code, err = crawl("-o", "b.jsonl")  # finished, and said so by its own name
        check((code, f"job '{base}-2' is finished" in err, f"seine retry {base}-2" in err), (2, True, True), err)
        check(crawl("-o", "b.jsonl", "--fresh")[0], 0)  # starts its own job over, not the first
        check((names(), len(results(where, "b.jsonl"))), (["", "-2"], pages))

        check(crawl("-o", "c.jsonl", "-m", "1ms", "--grace", "0")[0], 4)
        code, err = crawl("-o", "d.jsonl")  # something is left to do: that may be what is meant
        check((code, err.splitlines()[0]), (2, f"seine: job '{base}' was started with another --output"), err)
        check(crawl("-o", "c.jsonl", "--resume")[0], 0)
        check((names(), len(results(where, "c.jsonl"))), (["", "-2", "-3"], pages))

        for _ in range(2):
            check(run(where, "mirror", o.url("/"), "--mine", "-q").code, 0)
        check(crawl("-l", "1", "--incremental")[1].splitlines()[0], f"seine: job '{base}' was started with another --depth")
        check(names(), ["", "-2", "-3", "-4"])


def examples(*names):
    """The command lines that the help of these commands shows, in their order."""
    table = [json.loads(line) for line in seine("help", "--json").out.splitlines()]
    lines = {row["command"]: row["examples"] for row in table if "option" not in row}
    return [line for name in names for line in lines[name]]


def shell(where, line):
    path = os.path.abspath(os.path.dirname(PROGRAM)) + os.pathsep + os.environ["PATH"]
    return subprocess.run(["bash", "-c", line], cwd=where, env=environment({**DURABLE, "PATH": path}), stdin=subprocess.DEVNULL, capture_output=True, check=False)


@case
def the_examples_of_the_help_run():
    with origin("--site", "5:3000:fan=8") as o, tempfile.TemporaryDirectory() as where:
        p = start(where, "crawl", o.url("/"), "-o", "a.jsonl", "--job", "docs.example", *PACE)
        begun(where, "docs.example")
        for line in examples("jobs ls", "jobs show", "jobs set", "jobs pause", "jobs resume", "jobs stop"):
            r = shell(where, line)
            check((r.returncode, r.stderr), (0, b""), line)
        p.communicate()
        for line in (line for line in examples("explain") if "--job" in line):
            r = shell(where, line)
            check((r.returncode, b"has not found it" in r.stdout), (0, True), line)
    with origin() as o, tempfile.TemporaryDirectory() as where:
        run(where, "fetch", o.url("/status:500?fail=9&key=k"), "--retries", "0", "-o", "a.jsonl", "--job", "docs.example")
        for line in examples("retry", "jobs repair", "jobs rm"):
            r = shell(where, line)
            check(r.returncode in (0, 1), True, line + r.stderr.decode())


finish(at_once=6)
