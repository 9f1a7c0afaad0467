#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run of the schedule service tells: workers, months that wait, durations and errors as metrics; a page that has changed."""
import contextlib
import http.client
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from amion_site import QUICK, balanced, changed, months, path, run, schedule, start  # noqa: E402
from e2e import PATIENCE, Result, UNHURRIED, case, check, finish, patiently, until  # noqa: E402
from recipe_site import rule, summary  # noqa: E402


def metrics(text):
    """name{labels} to value, and name to type."""
    values = {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line and line[0] != "#"}
    return values, dict(line.split()[2:4] for line in text.splitlines() if line.startswith("# TYPE"))


def scrape(process):
    """A function that asks the run for its metrics, whose address is what it says first."""
    line = process.stderr.readline().decode()
    address = re.search(r"http://([0-9.]+:\d+)/metrics", line)
    check(address is not None, True, line)

    def ask():
        c = http.client.HTTPConnection(address[1], timeout=PATIENCE)
        try:
            c.request("GET", "/metrics")
            return metrics(c.getresponse().read().decode())
        except (OSError, http.client.HTTPException) as why:
            raise AssertionError("the run has ended") from why
    return ask


@contextlib.contextmanager
def started(site, count, **how):
    """A run that serves its metrics, and the function that asks for them."""
    p = start(site, count, "--mine", "--robots", "off", "--metrics", "127.0.0.1:0", *UNHURRIED[:2], **how)
    try:
        yield p, scrape(p)
    finally:
        p.kill()
        p.communicate()


@case
def s1_12_s1_15_workers_at_work_and_months_that_wait_can_be_read():
    """The depth of the queue counts those that wait, not those at work."""
    def read(scale):
        with months(9, [rule("/20*", f"delay:{scale}s/file:0.html")]) as site, started(site, 9) as (p, ask):
            values, _ = until(lambda: (m := ask())[0].get("seine_urls_in_flight") == 5 and m[0]["seine_urls_admitted_total"] == 9 and m, "five at work")
            check((values['seine_queue_depth{queue="urls"}'], values['seine_jobs{state="running"}']), (4, 1))
            values, _ = until(lambda: (m := ask())[0]['seine_queue_depth{queue="urls"}'] == 0 and m, "an empty queue")
            check(values["seine_urls_in_flight"] <= 4, True)
            check((p.communicate(timeout=PATIENCE)[0] != b"", site.figures()["peak_in_flight"]), (True, 5))
    patiently(read)


@case
def s1_14_a_full_queue_pauses_the_generator_and_drops_nothing():
    """Of sixty months the run takes in as many as its queue holds; the others come when there is room."""
    def paused(scale):
        slow = [rule(path(n), f"delay:{scale}s/file:{n}.html") for n in range(5)]
        with months(60, slow) as site, changed(("queue: 100", "queue: 10")) as recipe, started(site, 60, recipe=recipe) as (p, ask):
            values, _ = until(lambda: (m := ask())[0].get("seine_urls_in_flight") == 5 and m[0]["seine_urls_admitted_total"] >= 10 and m, "a full queue")
            check((values["seine_urls_admitted_total"], values['seine_queue_depth{queue="urls"}']), (10, 5))
            out = p.communicate(timeout=PATIENCE)[0].decode()
            balanced(Result(p.returncode, out, ""), site, range(60), good=1800)
    patiently(paused)


@case
def s1_20_metrics_tell_how_long_requests_took_and_what_failed():
    with months(6, [rule(path(0), "status:503", nth="1"), rule(path(1), "status:404"), rule(path(2), "fin:50:body/file:2.html", nth="1")]) as site:
        name = os.path.join(site.folder, "amion.prom")
        r = run(site, 6, *QUICK, "--metrics-file", name)
        balanced(r, site, (0, 2, 3, 4, 5), good=150, failed=1)
        with open(name, encoding="utf-8") as f:
            values, types = metrics(f.read())

    def total(family, label=""):
        return sum(v for k, v in values.items() if k.split("{")[0] == family and label in k)
    check({k: types[k] for k in ("seine_jobs", "seine_queue_depth", "seine_urls_in_flight")}, dict.fromkeys(("seine_jobs", "seine_queue_depth", "seine_urls_in_flight"), "gauge"))
    check((types["seine_fetch_request_duration_seconds"], types["seine_fetch_errors_total"]), ("histogram", "counter"))
    check((total("seine_fetch_request_duration_seconds_count"), total("seine_fetch_requests_total")), (8, 8))
    check([total("seine_fetch_requests_total", f'"{c}xx"') for c in (2, 4, 5)], [6, 1, 1])
    check((total("seine_fetch_errors_total"), total("seine_retries_total"), total("seine_queue_depth")), (1, 2, 0))
    check([k for k in values if re.search(r"127\.0|host=|url=|2024", k)], [], "a label that follows the input")


def unmet(r):
    check(r.code, 6, r.err)
    return summary(r.out)["expect"]


@case
def a_field_that_vanishes_is_named_with_what_comes_nearest():
    with months(3) as site:
        for n in range(3):
            site.save(f"{n}.html", schedule(n).replace("phone", "phone-nr"))
        r = run(site, 3, *QUICK)
        told = unmet(r)
        check((len(told), "coverage of phone: 0 of 90 rows" in told[0]), (1, True), str(told))
        check("`td.phone` matches nothing" in told[0] and "nearest: `td.phone-nr`" in told[0], True, told[0])
        check("`td.phone`" in r.err and "`td.phone-nr`" in r.err, True, r.err)
        balanced(r, site, range(3), good=90)


@case
def a_field_that_fades_is_drift():
    """Every second telephone is gone: still more than the coverage that is asked for, and less than the runs before had."""
    kept = {"SEINE_DURABILITY": "full"}
    with months(3) as site, changed(("expect:\n", "expect:\n  drift: 10%\n")) as recipe:
        for _ in range(2):
            check(run(site, 3, *QUICK, recipe=recipe, env=kept).code, 0)
        for n in range(3):
            lines = schedule(n).split("\n")
            site.save(f"{n}.html", "\n".join(re.sub("<td class=.phone.*?</td>", "", line) if i % 3 == 0 else line for i, line in enumerate(lines)))
        told = unmet(run(site, 3, *QUICK, recipe=recipe, env=kept))
        check((len(told), told[0].startswith("drift: phone is in 67% of the rows, in 100% in the median of the last 2 runs")), (1, True), str(told))


finish(at_once=3)
