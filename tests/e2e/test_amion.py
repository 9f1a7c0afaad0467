#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schedule service: recipes/amion against the hostile server. A case is named after the requirements it holds, and
fails when one of them is broken."""
import contextlib
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from amion_site import QUICK, RECIPE, SLACK_US, balanced, changed, months, no_closer_than, path, run, start  # noqa: E402
from e2e import PATIENCE, UNHURRIED, case, check, finish, needs_plain_memory, patiently, rows, until  # noqa: E402
from recipe_site import items, rule, summary  # noqa: E402


@case
def s1_01_s1_03_one_request_a_second_whatever_happens():
    """At the pace that the recipe states: a host that is busy, bad rows, a slow month, five workers, robots.txt."""
    faults = [rule(path(0), "status:503", nth="1"), rule(path(1), "delay:1500ms/file:1.html")]
    with months(3, faults, m2=2) as site:
        r = run(site, 3, "--backoff", "10ms..20ms", *UNHURRIED[:2])
        check(r.code, 0, r.err)
        balanced(r, site, range(3), good=88, bad=2)
        check((site.figures()["requests"], site.figures()["max_in_1s"]), (5, 1))
        no_closer_than(site, 1000000)
        check([(o["n"], o["errors"][0]["field"]) for o in items(r.out) if not o["ok"]], [(1, "start"), (2, "start")])


@rows([("below the limit", 4, 0), ("above it", 5, 6)])
def too_many_bad_rows_are_exit_code_6_and_good_rows_stay(_, bad, code):
    """bad-rows: "<= 5%" of 90 rows is 4."""
    with months(3, [rule(path(0), "status:503", nth="1-2"), rule(path(2), "drip:500x5ms/file:2.html")], m0=2, m1=2, m2=bad - 4) as site:
        r = run(site, 3, *QUICK, "--host-rate", "20/s")
        check(r.code, code, r.err)
        balanced(r, site, range(3), good=90 - bad, bad=bad)
        check([e.split(":")[0] for e in summary(r.out)["expect"]], ["bad-rows"] if code else [])
        no_closer_than(site, 50000)


@case
def s1_02_s1_05_the_first_request_of_every_run_goes_at_once():
    def one_of_two(scale):
        with months(2) as site:
            r = run(site, 2, *QUICK, "--host-rate", "1/h", "--max-time", f"{500 * scale}ms")
            check((r.code, len(site.asked()), summary(r.out)["stopped_by"]), (4, 1, "max_time"), r.err)
    with months(1) as site:
        for n in (1, 2):
            r = run(site, 1, *QUICK, "--host-rate", "1/h", "--max-time", "20m")
            check((r.code, site.asked()), (0, [path(0)] * n), r.err)
    patiently(one_of_two)


@rows([("10/s", 100000, 4), ("2/s", 500000, 3), ("240/m", 250000, 3)])
def s1_06_any_interval_is_kept_and_waits_add_up(rate, interval, count):
    with months(count) as site:
        r = run(site, count, *QUICK, "--host-rate", rate)
        balanced(r, site, range(count), good=30 * count)
        no_closer_than(site, interval)
        check(sum(site.gaps()) >= (count - 1) * interval - SLACK_US, True)


@case
def s1_04_ten_workers_share_one_limiter():
    """Thirty requests 20 ms apart: the last comes 580 ms behind the first, however many wait for their response."""
    with months(30, [rule("/20*", "delay:100ms/file:0.html")]) as site:
        r = run(site, 30, *QUICK, "--host-rate", "50/s", "--concurrency", "10", "--per-host", "10")
        check((summary(r.out)["ok"], len(site.asked())), (30, 30), r.err)
        no_closer_than(site, 20000)
        check(sum(site.gaps()) >= 580000 - SLACK_US, True)
        check(1 < site.figures()["peak_in_flight"] <= 10, True)


@case
def s1_08_s1_13_five_months_at_once_and_never_more():
    def at_once(scale):
        with months(12, [rule("/20*", f"delay:{300 * scale}ms/file:0.html")]) as site:
            r = run(site, 12, "--mine", "--robots", "off", *UNHURRIED[:2])
            check((summary(r.out)["ok"], site.figures()["peak_in_flight"]), (12, 5), r.err)
    patiently(at_once)


@case
def s1_09_months_are_asked_for_in_their_order():
    with months(15) as site:
        r = run(site, 15, *QUICK, "--concurrency", "1", "--per-host", "1")
        check((r.code, site.asked()), (0, [path(n) for n in range(15)]), r.err)


@case
def s1_14_a_full_queue_drops_nothing():
    with months(60) as site, changed(("queue: 100", "queue: 2"), ("concurrency: 5", "concurrency: 1"), ("per-host: 5", "per-host: 1")) as recipe:
        r = run(site, 60, *QUICK, recipe=recipe)
        balanced(r, site, range(60), good=1800)
        check(site.asked(), [path(n) for n in range(60)])


@case
def s1_10_a_run_ends_with_its_time_and_keeps_what_came():
    def in_time(scale):
        with months(4, [rule(path(2), "mute")]) as site:
            r = run(site, 4, *QUICK, "--concurrency", "1", "--per-host", "1", "--max-time", f"{scale}s", "-t", "600s")
            check((r.code, summary(r.out)["stopped_by"]), (4, "max_time"), r.err)
            check((summary(r.out)["ok"], len(items(r.out))), (2, 60))
    patiently(in_time)


@case
def s1_11_s1_19_a_signal_lets_the_month_in_flight_end():
    def drained(scale):
        with months(4, [rule(path(1), f"delay:{scale}s/file:1.html")]) as site:
            p = start(site, 4, *QUICK, "--concurrency", "1", "--per-host", "1")
            until(lambda: path(1) in site.asked() or p.poll() is not None, "the slow month")
            p.send_signal(signal.SIGTERM)
            out, err = p.communicate(timeout=PATIENCE)
            check(p.returncode, 143, err)
            check((site.asked(), len(items(out.decode()))), ([path(0), path(1)], 60), err)
            check(summary(out.decode())["stopped_by"], "signal")
    patiently(drained)


@case
def s1_19_a_second_signal_waits_for_nothing():
    with months(2, [rule(path(0), "mute")]) as site:
        p = start(site, 2, *QUICK, "-t", "600s")
        until(lambda: path(0) in site.asked() or p.poll() is not None, "the month that hangs")
        until(lambda: p.poll() is not None or p.send_signal(signal.SIGINT), "the end")
        p.communicate(timeout=PATIENCE)
        check(p.returncode, 130)


@case
def s1_19_a_month_that_hangs_ends_with_the_time_limit_of_the_recipe():
    with open(RECIPE, encoding="utf-8") as f:
        check("timeout: 30s" in f.read(), True)

    def ended(scale):
        with months(3, [rule(path(1), "mute")]) as site, changed(("timeout: 30s", f"timeout: {600 * scale}ms")) as recipe:
            r = run(site, 3, *QUICK[:6], "--retries", "0", recipe=recipe)
            check((path(1) in r.err, summary(r.out)["seconds"] < 20), (True, True), r.err)
            balanced(r, site, (0, 2), good=60, failed=1)
    patiently(ended)


@case
def s1_16_a_month_that_fails_stops_no_other():
    faults = [rule(path(n), "status:404" if n % 4 else "fin:50:body/file:0.html") for n in range(0, 10, 2)]
    with months(10, faults) as site:
        r = run(site, 10, *QUICK, "--retries", "0", "--concurrency", "1", "--per-host", "1")
        balanced(r, site, range(1, 10, 2), good=150, failed=5)


@case
def s1_17_a_hundred_months_on_five_workers_keep_the_interval():
    with months(100, [rule("/2025/03", "status:503", nth="1"), rule("/2028/11", "reset:100/file:58.html", nth="1")]) as site:
        r = run(site, 100, *QUICK, "--host-rate", "50/s")
        check(r.code, 0, r.err)
        balanced(r, site, range(100), good=3000)
        check((len(site.asked()), site.figures()["peak_in_flight"] <= 5), (102, True))
        no_closer_than(site, 20000)


@case
def s1_18_a_month_is_fetched_once_in_a_batch_and_again_in_the_next():
    """With a job that is kept on the disk, too."""
    with months(3) as site, changed(('count: "{count}"}}', 'count: "{count}"}, twice: {list: [a, b]}}')) as recipe:
        for batch, durability in enumerate(("none", "none", "full", "full"), 1):
            r = run(site, 3, *QUICK, recipe=recipe, env={"SEINE_DURABILITY": durability})
            check((r.code, summary(r.out)["ok"]), (0, 3), r.err)
            check(sorted(site.asked()), sorted([path(n) for n in range(3)] * batch))


@case
def s1_21_a_host_that_says_429_is_asked_more_slowly():
    """At 25 requests a second one is refused: the wait it asks for is kept, and the next requests come twice as far apart."""
    with months(24, [rule(path(11), "head:Retry-After:1/status:429", nth="1")]) as site:
        r = run(site, 24, *QUICK, "--host-rate", "25/s", "--concurrency", "1", "--per-host", "1")
        balanced(r, site, range(24), good=720)
        check(site.figures()["early_after_retry"], 0)
        at, gaps = site.asked().index(path(11)), site.gaps()
        check(gaps[at] >= 1000000 - SLACK_US, True)
        check(min(gaps[at + 1:at + 4]) >= 79000, True, f"{gaps}")


def peak(site, count, scale):
    """KiB of a run of so many months at its largest, while all but the first wait."""
    p, most = start(site, count, *QUICK, "--host-rate", "1/h", "--max-time", f"{500 * scale}ms"), 0
    while p.poll() is None:
        with contextlib.suppress(OSError), open(f"/proc/{p.pid}/status", encoding="ascii", errors="replace") as f:
            most = max([most, *(int(line.split()[1]) for line in f if line.startswith("VmHWM:"))])
        time.sleep(0.02)
    out = p.communicate(timeout=PATIENCE)[0].decode()
    check((p.returncode, summary(out)["ok"]), (4, 1))
    return most


@case
def s1_07_a_full_queue_of_months_is_small():
    """A hundred that wait take some kilobytes each, their URL, their place in the line and what they will need among it."""
    needs_plain_memory()

    def little(scale):
        with months(2) as site:
            few, many = (min(peak(site, n, scale) for _ in range(2)) for n in (2, 102))
            check(many - few < 1000, True, f"{few} KiB with 2 months, {many} KiB with 102")
    patiently(little)


finish(at_once=4)
