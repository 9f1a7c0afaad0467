#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How `seine fetch` ends: signals, time limits, outputs that fail, exit codes and their
order. covers: S2-04, S2-07"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently, rows, seine, stopping, until  # noqa: E402
from origin import origin, records, results, summary  # noqa: E402


def start(*words, **kw):
    kw.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.Popen([PROGRAM, "fetch", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), **kw)


def end(p):
    out, err = p.communicate(timeout=PATIENCE)
    return p.returncode, out.decode(), err.decode()


@rows([(signal.SIGINT, 130), (signal.SIGTERM, 143)], name=lambda row: str(row[0]))
def a_signal_drains_what_is_in_flight_and_cancels_the_rest(number, code):
    with origin() as o:
        urls = [o.url(f"/delay:700ms/ok?n={n}") for n in range(30)]
        p = start("--mine", "-c", "4", *urls)
        until(lambda: o.report()["totals"]["requests"] >= 5)
        p.send_signal(number)
        got, out, err = end(p)
        check(got, code, err)
        rows_ = results(out)
        check(len(rows_), 30)  # exactly one record each
        check(len({x["url"] for x in rows_}), 30)
        kinds = {x["outcome"] for x in rows_}
        check(kinds <= {"ok", "canceled"} and "ok" in kinds and "canceled" in kinds, True, str(kinds))
        check(sum(x["ok"] for x in rows_), len(o.log()))  # whatever was asked may end
        check((summary(out)["exit_code"], summary(out)["stopped_by"]), (code, "signal"))
        check("stopped by a signal" in err, True)


@case
def no_new_request_after_the_first_signal():
    with origin() as o:
        p = start("--host-rate", "20/s", "-c", "4", "--no-adaptive", *[o.url(f"/delay:300ms/ok?n={n}") for n in range(60)])
        until(lambda: o.report()["totals"]["requests"] >= 4)
        p.send_signal(signal.SIGINT)
        stopping(p)
        before = len(o.log())
        check(end(p)[0], 130)
        check(len(o.log()), before)


@case
def a_second_signal_ends_at_once():
    """And what can be written at once is: a machine that has other things to do may take longer."""
    def run(_):
        with origin() as o:
            p = start("--mine", "--grace", "10m", *[o.url(f"/delay:10m/ok?n={n}") for n in range(8)])
            until(lambda: o.report()["totals"]["requests"] >= 8)
            p.send_signal(signal.SIGINT)
            stopping(p)
            p.send_signal(signal.SIGINT)
            code, out, _ = end(p)
            check((code, len(results(out))), (130, 8))
    patiently(run)


@case
def a_signal_ends_a_run_that_waits_for_its_input():
    with origin() as o:
        p = start("-", stdin=subprocess.PIPE)
        p.stdin.write((o.url("/ok") + "\n").encode())
        p.stdin.flush()
        p.stdout.readline()
        p.send_signal(signal.SIGTERM)
        check(p.wait(timeout=PATIENCE), 143)
        p.stdin.close()
        p.stdout.close()
        p.stderr.close()


@case
def s2_04_the_global_timeout_is_exit_4_with_work_left():
    with origin() as o:
        urls = [o.url(f"/delay:400ms/ok?n={n}") for n in range(40)]
        began = time.monotonic()
        r = seine("fetch", "--mine", "-c", "4", "-m", "3s", "--grace", "50ms", *urls)
        took = time.monotonic() - began
        check(r.code, 4, r.err)
        check(took >= 3, True, f"{took:.2f} s")
        rows_ = results(r.out)
        check((len(rows_), {x["outcome"] for x in rows_}), (40, {"ok", "canceled"}))
        check({x["error"]["kind"] for x in rows_ if not x["ok"]}, {"deadline"})
        check((summary(r.out)["stopped_by"], summary(r.out)["exit_code"]), ("max_time", 4))


@case
def a_run_that_is_done_in_time_is_not_late():
    with origin() as o:
        check(seine("fetch", "-m", "100s", o.url("/ok")).code, 0)


@case
def s2_04_retries_with_backoff_bring_it_home():
    with origin() as o:
        r = seine("fetch", "--mine", "--retries", "3", "--backoff", "20ms..40ms", "-t", "20s", o.url("/ok?fail=3&with=status:503"))
        check(r.code, 0, r.err)
        x = results(r.out)[0]
        check((x["ok"], x["attempts"], [t["status"] for t in x["tries"]]), (True, 4, [503, 503, 503, 200]))
        times = [row["t_us"] for row in o.log()]
        gaps = [b - a for a, b in zip(times, times[1:])]
        check(all(g >= low for g, low in zip(gaps, [18000, 36000, 36000])), True, str(gaps))


@rows([("5", 5), ("20%", 100)])
def max_errors_is_exit_4(limit, least):
    with origin() as o:
        urls = [o.url(f"/delay:5ms/status:404?n={n}") for n in range(400)]
        r = seine("fetch", "--mine", "-c", "2", "--queue", "10", "--max-errors", limit, "-i", "-", stdin="\n".join(urls) + "\n")
        check(r.code, 4, r.err)
        s = summary(r.out)
        check(s["stopped_by"], "max_errors")
        check(least <= s["outcomes"]["http_error"] < 400, True, str(s["outcomes"]))


FAIL_ON = [(["--fail-on", "none"], 3, 1, 0), (["--fail-on", "any"], 3, 1, 1), ([], 3, 0, 0), (["--fail-on", "all"], 3, 1, 0),
           (["--fail-on", "all"], 0, 2, 1), (["--fail-on", "2"], 3, 1, 0), (["--fail-on", "2"], 3, 2, 1), (["--fail-on", "50%"], 3, 2, 0),
           (["--fail-on", "50%"], 3, 3, 1)]


@rows(FAIL_ON, name=lambda row: f"{' '.join(row[0])} {row[1]} ok {row[2]} bad")
def fail_on_says_how_many_are_too_many(words, good, bad, code):
    with origin() as o:
        urls = [o.url(f"/ok?n={n}") for n in range(good)] + [o.url(f"/status:404?n={n}") for n in range(bad)]
        check(seine("fetch", "--mine", *words, *urls).code, code)


@case
def a_host_that_is_down_is_left_alone_and_exit_5():
    with origin() as o:
        dead = [o.places["dead"] + f"/{n}" for n in range(200)]
        r = seine("fetch", "--mine", "--retries", "0", "-c", "8", "--breaker", "fail=5,open=200ms,park=1", *dead, o.url("/ok"))
        check(r.code, 5, r.err)
        s = summary(r.out)
        check((s["total"], s["ok"], s["exit_code"], s["stopped_by"]), (201, 1, 5, "parked"))
        check(s["errors"]["breaker"] >= 180, True, str(s["errors"]))
        check("host parked" in r.err and "try: " in r.err, True, r.err)


@case
def a_wish_to_wait_too_long_parks_the_host_and_exit_5():
    with origin() as o:
        r = seine("fetch", "--mine", "--max-retry-after", "5s", *[o.url(f"/status:503?retry_after=7200&fail=99&n={n}") for n in range(5)])
        check(r.code, 5, r.err)
        check("longer than --max-retry-after 5 s: host parked" in r.err, True, r.err)
        check(o.report()["totals"]["requests"] <= 6, True)


@case
def a_wish_to_wait_for_years_is_told_with_its_date():
    with origin() as o:
        r = seine("fetch", "--mine", o.url("/status:503?retry_after=1000000000&fail=99"))
        year = time.gmtime(time.time() + 10 ** 9).tm_year
        check(f"try: the same command after {year}-" in r.err, True, r.err)


@case
def a_full_disk_is_exit_3_and_says_what_is_safe():
    with origin() as o:
        with open("/dev/full", "wb") as full:
            p = subprocess.run([PROGRAM, "fetch", "--mine", *[o.url(f"/ok?n={n}") for n in range(50)]], stdout=full, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, env=environment(), timeout=PATIENCE)
        check(p.returncode, 3, p.stderr.decode())
        check("no space left" in p.stderr.decode() and "safe" in p.stderr.decode(), True, p.stderr.decode())


@case
def after_a_full_disk_every_url_of_the_list_is_counted():
    """The list is longer than the queue, so that some URLs were not read, and others were read and never tried. They are counted
    if that takes 50 ms at most."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "list"), "w", encoding="utf-8") as f:
                f.writelines(o.url(f"/ok?n={n}") + "\n" for n in range(2000))
            with open("/dev/full", "wb") as full:
                p = subprocess.run([os.path.abspath(PROGRAM), "fetch", "--mine", "-j", "-i", "list", "--summary", "end.json"], stdout=full,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment(), timeout=PATIENCE, cwd=d)
            said = p.stderr.decode()
            with open(os.path.join(d, "end.json"), encoding="utf-8") as f:
                end = json.load(f)
            done = sum(end["outcomes"].values())
            check((p.returncode, end["total"], end["pending"]), (3, 2000, 2000 - done), said)
            unread, unwritten = (int(re.search(f"([0-9,]+) {what}", said)[1].replace(",", "")) for what in ("URLs? w[a-z]+ not read", "without a record"))
            check(done + unread + unwritten, 2000, said)
    patiently(run)


@case
def a_reader_that_has_gone_is_exit_141():
    with origin() as o:
        urls = "".join(o.url(f"/ok?n={n}\n") for n in range(3000))
        p = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" fetch -q --mine -i - | head -n 3', PROGRAM], input=urls.encode(), capture_output=True,
                           env=environment(), timeout=PATIENCE)
        check(p.returncode, 141, p.stderr.decode())
        check(len(p.stdout.decode().splitlines()), 3)


@case
def text_to_a_reader_that_has_gone_is_exit_141_too():
    with origin() as o:
        urls = "".join(o.url(f"/ok?n={n}\n") for n in range(3000))
        p = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" fetch -q --mine -f text -i - | head -n 3', PROGRAM], input=urls.encode(),
                           capture_output=True, env=environment(), timeout=PATIENCE)
        check(p.returncode, 141, p.stderr.decode())


@case
def files_keep_what_was_written_before_the_end():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        p = start("--mine", "-c", "4", "-o", "a.jsonl", *[o.url(f"/delay:200ms/ok?n={n}") for n in range(100)], cwd=where)
        until(lambda: o.report()["totals"]["requests"] >= 12)
        p.send_signal(signal.SIGINT)
        check(end(p)[0], 130)
        with open(os.path.join(where, "a.jsonl"), encoding="utf-8") as f:
            text = f.read()
        check(text.endswith("\n"), True)
        check((len(results(text)), records(text)[-1]["type"]), (100, "summary"))


@case
def a_status_on_request_and_on_it_goes():
    with origin() as o:
        p = start("--host-rate", "10/s", "--no-adaptive", "--progress", "off", *[o.url(f"/ok?n={n}") for n in range(30)])
        until(lambda: o.report()["totals"]["requests"] >= 3)
        p.send_signal(signal.SIGUSR1)
        code, out, err = end(p)
        check((code, len(results(out))), (0, 30))
        check("in flight" in err and "wait for --host-rate" in err, True, err)


@case
def a_hang_up_without_a_terminal_is_no_end():
    with origin() as o:
        p = start("--host-rate", "10/s", *[o.url(f"/ok?n={n}") for n in range(8)], start_new_session=True)
        until(lambda: o.report()["totals"]["requests"] >= 2)
        p.send_signal(signal.SIGHUP)
        check(end(p)[0], 0)


@case
def few_descriptors_are_said_and_enough_for_a_run():
    with origin() as o:
        p = subprocess.run(["prlimit", "--nofile=32:32", PROGRAM, "fetch", "--mine", "-c", "200", *[o.url(f"/delay:30ms/ok?n={n}") for n in range(60)]],
                           stdin=subprocess.DEVNULL, capture_output=True, env=environment(), timeout=PATIENCE)
        err = p.stderr.decode()
        check((p.returncode, summary(p.stdout.decode())["ok"]), (0, 60), err)
        check("only 32 file descriptors" in err and "ulimit" in err, True, err)


@case
def a_list_that_cannot_be_read_on_is_exit_3():
    """A directory opens and does not read; so does a file whose disk has gone."""
    r = seine("fetch", "-i", "/")
    check(r.code in (2, 3), True)
    check(r.err.startswith("seine: "), True)


@case
def lines_of_progress_without_a_terminal_have_no_escapes():
    with origin() as o:
        r = seine("fetch", "--progress", "bar", *[o.url(f"/delay:200ms/ok?n={n}") for n in range(4)])
        check(("\r" in r.err, "\x1b" in r.err, r.code), (False, False, 0))


@rows([("net,timeout,5xx", "/reset:0?key=a", 3), ("timeout,5xx", "/reset:0?key=b", 1), ("net,5xx", "/mute?key=c", 1), ("timeout", "/mute?key=d", 3),
       ("net,timeout", "/status:503?key=e", 1), ("5xx,!501", "/status:503?key=f", 3), ("!net,timeout,5xx", "/reset:0?key=g", 1)],
      name=lambda row: f"{row[0]} {row[1]}")
def retry_on_says_what_is_tried_again(listed, path, want):
    def run(scale):
        with origin() as o:
            r = seine("fetch", "-j", "--retry-on", listed, "--retries", "2", "--backoff", "1ms..1ms", "--head-timeout", f"{200 * scale}ms", "--breaker", "off", o.url(path))
            check(results(r.out)[0]["attempts"], want, r.err)
    patiently(run)


@case
def an_address_above_its_page_is_named_with_the_net_to_allow():
    with origin("--dns") as o:
        r = seine("fetch", "-j", "--dns", o.places["dns"], "--zone", "127.1.0.0/16=public", f"http://a.test:{o.port}/to:302?u=http://127.0.0.1:{o.port}/ok")
        error = results(r.out)[0]["error"]
        check((error["kind"], error["message"], error["hint"]),
              ("blocked_address", f"http://127.0.0.1:{o.port}/ok (local) found on http://a.test:{o.port}/to:302?u=http://127.0.0.1:{o.port}/ok (public): not contacted",
               "--allow-net 127.0.0.1/32 if you trust that page"))
        r = seine("fetch", "-j", "http://169.254.169.254/")
        error = results(r.out)[0]["error"]
        check((error["message"], error["hint"]), ("http://169.254.169.254/ (forbidden): not contacted", "--allow-net 169.254.169.254/32 if you trust it"))


finish(at_once=8)
