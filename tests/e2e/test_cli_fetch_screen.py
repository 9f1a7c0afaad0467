#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run shows while it goes on: the bar that comes and goes, the table, colours; and over many seconds, the line every ten
of them and the interval of the ETA. The longest cases stand first, and all run at the same time."""
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, patiently, rows, until  # noqa: E402
from origin import origin  # noqa: E402
from terminal import Terminal  # noqa: E402

SLOW = ["fetch", "--host-rate", "40/s", "--no-adaptive", "--per-host", "16"]


def urls(o, count, path="/ok"):
    return [o.url(f"{path}?n={n}") for n in range(count)]


def holds_the_truth(t, slack):
    """The run took what its ETA said, in four of five drawings; nothing was said in the first 5 s."""
    end = next(at for at, piece in t.pieces if b"done:" in piece)
    seen = held = 0
    for at, piece in t.pieces:
        text = piece.decode(errors="replace")
        check(at < 4.9 and "ETA" in text, False, "nothing is said in the first 5 s")
        for low, high in re.findall(r"ETA (?:(\d+)(?: s)?–|< )(\d+) s", text):
            seen += 1
            held += int(low or 0) - slack <= end - at <= int(high) + slack
    check(seen >= 10, True, str(seen))
    check(held >= 0.8 * seen, True, f"{held} of {seen}")


@case
def a_line_of_progress_names_the_crawl_and_what_limits_it():
    with origin("--site", "7:300") as o:
        p = subprocess.Popen([PROGRAM, "crawl", o.url("/p/0"), "--host-rate", "15/s", "--no-adaptive", "--progress", "line", "-q", "--no-quiet"],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        line = ""
        while "progress" not in line and "in flight" not in line and line is not None:
            line = p.stderr.readline().decode()
            if not line:
                break
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=PATIENCE)
        want = r"seine: 127\.0\.0\.1:\d+  [\d,]+/[\d,]+  \d+ %  [\d.]+/s  ok \d+  err 0(  skipped \d+)?  \d+ in flight  (ETA .*|growing, [\d.]+ new per page)  \(limited by --host-rate on 127\.0\.0\.1:?\d*\)\n"
        check(re.fullmatch(want, line) is not None, True, line)


@case
def the_eta_is_an_interval_that_holds_the_truth():
    """A steady run: 12 a second for 10 s."""
    def run(_):
        with origin() as o, tempfile.TemporaryDirectory() as where:
            t = Terminal(["fetch", "-r", "12/s", "--mine", "-o", "a.jsonl", *[o.url(f"/ok?n={n}") for n in range(120)]], cwd=where, columns=110)
            check(t.wait(), 0)
            holds_the_truth(t, 0.3)
    patiently(run)


@case
def the_eta_of_a_steady_crawl_holds_the_truth():
    """A site whose pages are all known from its sitemap: 12 a second for some 10 s."""
    def run(_):
        with origin("--site", "7:118:sitemap=on") as o, tempfile.TemporaryDirectory() as where:
            t = Terminal(["crawl", o.url("/p/0"), "--host-rate", "12/s", "--no-adaptive", "-o", "a.jsonl"], cwd=where, columns=120)
            check(t.wait(), 0)
            holds_the_truth(t, 0.5)
    patiently(run)


@case
def a_table_for_people_and_the_bar_is_gone_when_done():
    with origin() as o:
        t = Terminal([*SLOW, *urls(o, 60, "/html:900")])
        check(t.wait(), 0)
        check("━" in t.text() and "limited by --host-rate on 127.0.0.1" in t.text(), True)
        screen = t.screen()
        rows_ = [line for line in screen if line.startswith("200  ")]
        check(len(rows_), 60)
        check(any("━━" in line and "/60" in line for line in screen), False, "\n".join(screen))
        check(any(line.startswith("done: 60 URLs, 60 ok in ") for line in screen), True)
        check(any(line.startswith("outcomes") for line in screen), True)
        check(max(len(line) for line in screen) <= 80, True)


@case
def at_most_ten_redraws_a_second():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        t = Terminal([*SLOW, "-o", "a.jsonl", *urls(o, 80)], cwd=where)
        check(t.wait(), 0)
        draws, took = t.text().count("\x1b[?7l"), time.monotonic() - t.start
        check(8 <= draws <= 10 * took + 3, True, f"{draws} in {took:.1f} s")


@case
def the_bar_follows_the_width_of_the_terminal():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        t = Terminal([*SLOW, "-o", "a.jsonl", *urls(o, 100)], columns=100, cwd=where)
        check(t.until("━"), True)
        t.resize(50)
        t.kill(signal.SIGWINCH)
        mark = len(t.bytes)
        until(lambda: not t.read(0.05) or t.bytes[mark:].count(b"\x1b[?7h") >= 2)  # a bar that was drawn meanwhile, and a new one
        mark = t.bytes.index(b"\x1b[?7h", mark)
        check(t.wait(), 0)
        tail = t.bytes[mark:].decode().split("done:")[0]
        for draw in re.findall(r"\x1b\[\?7l(.*?)\x1b\[\?7h", tail, re.S):
            for line in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", draw).split("\n"):
                check(len(line.strip("\r")) <= 50 or "limited by" in line, True, line)
        check(any("━━" in line and "/100" in line for line in t.screen()), False)


@case
def records_for_machines_and_a_bar_do_not_share_a_terminal():
    with origin() as o:
        t = Terminal([*SLOW, "-j", *urls(o, 30)])
        check(t.wait(), 0)
        check("━" in t.text().split("done:")[0], False)
        check(sum(line.startswith("{") for line in t.text().replace("\r\n", "\n").split("\n")), 31)


@rows([({"NO_COLOR": "1"}, []), ({"TERM": "dumb"}, []), ({}, ["--color", "never"])], name=lambda row: str(row))
def colour_can_be_switched_off(env, words):
    with origin() as o:
        t = Terminal([*SLOW, *words, *urls(o, 3), o.url("/status:404")], env=env)
        check(t.wait(), 1)
        check(re.search(r"\x1b\[3[0-9]m", t.text()), None)


@case
def colour_is_there_on_a_terminal():
    with origin() as o:
        t = Terminal([*SLOW, *urls(o, 3), o.url("/status:404")])
        check(t.wait(), 1)
        check("\x1b[32m200" in t.text() and "\x1b[33m404" in t.text(), True)


@case
def a_terminal_without_utf8_gets_ascii():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        t = Terminal([*SLOW, "-o", "a.jsonl", *urls(o, 40)], env={"LC_ALL": "C"}, cwd=where)
        check(t.wait(), 0)
        text = re.sub(r"\x1b\[[0-9;]*m", "", t.text())
        check("[=" in text and text.isascii(), True)


@case
def progress_can_be_switched_off():
    with origin() as o, tempfile.TemporaryDirectory() as where:
        for words in (["--progress", "off"], ["-q"]):
            t = Terminal([*SLOW, *words, "--overwrite", "-o", "a.jsonl", *urls(o, 25)], cwd=where)
            check(t.wait(), 0)
            check("\x1b[?7l" in t.text(), False)
        check(t.text(), "")


@case
def an_interrupt_leaves_a_clean_screen():
    with origin() as o:
        t = Terminal([*SLOW, *urls(o, 900)])  # 22 s, of which a second is needed
        check(t.until("━"), True)
        t.kill(signal.SIGINT)
        check(t.wait(), 130)
        screen = t.screen()
        check(any("stopped by a signal" in line for line in screen), True, "\n".join(screen[-12:]))
        check(any("━" in line and "/900" in line for line in screen), False)


@case
def a_hang_up_on_a_terminal_is_exit_129():
    with origin() as o:
        t = Terminal([*SLOW, *urls(o, 900)])
        check(t.until("━"), True)
        t.kill(signal.SIGHUP)
        check(t.wait(), 129)


@case
def an_open_input_is_said_and_no_end_is_invented():
    with origin() as o:
        read, write = os.pipe()
        t = Terminal([*SLOW, "-"], stdin=read)
        os.close(read)
        for url in urls(o, 10):
            os.write(write, (url + "\n").encode())
        check(t.until("reading input"), True)
        os.close(write)
        check(t.wait(), 0)
        check("ETA" in t.text(), False)


@case
def bars_go_to_standard_error_and_records_to_the_pipe():
    with origin() as o, tempfile.TemporaryFile() as out:
        t = Terminal([*SLOW, *urls(o, 30)], stdout=out)
        check(t.wait(), 0)
        out.seek(0)
        check(len(out.read().splitlines()), 31)
        check("━" in t.text(), True)


finish(at_once=12)
