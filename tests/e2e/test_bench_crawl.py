#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pieces of bench/crawl: the site it makes, its bars and the part of the page it writes. Nothing is measured here."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
for folder in ("net", "crawl"):
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench", folder))
from e2e import BUILD, case, check, finish  # noqa: E402
import measure  # noqa: E402

measure.BUILT = pathlib.Path(BUILD).resolve() / "peers"
import figures  # noqa: E402
import growth  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402

measure.build()
MACHINE = {"type": "machine", "cpu": "a", "cpus": 2, "kernel": "6", "files": "ext4", "date": "2026-01-01", "commit": "c", "command": "make bench-crawl", "rounds": 1,
           "load": 0.1}


def reach(get, first):
    """How many pages links lead to."""
    seen, waiting = {first}, [first]
    while waiting:
        for link in re.findall(r'href="([^"]+)"', get(waiting.pop())):
            if link not in seen:
                seen.add(link)
                waiting.append(link)
    return len(seen)


@case
def every_file_of_the_site_can_be_reached_and_has_its_size():
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([measure.BUILT / "site", "files", home, "700", "10240", "30"], check=True)
        there = [p for p in pathlib.Path(home).rglob("*.html")]
        check((len(there), all(10100 <= p.stat().st_size <= 10240 for p in there)), (700, True))
        check({p.read_text().count("<a ") for p in there}, {30})
        check(reach(lambda path: pathlib.Path(home + path).read_text(), peers.FIRST), 700)


@case
def the_site_that_is_made_while_asked_for_is_the_same():
    server = growth.Made("serve", 300, 2048, 10)
    base = server.url[:-len(peers.FIRST)]
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([measure.BUILT / "site", "files", home, "300", "2048", "10"], check=True)

        def get(path):
            body = urllib.request.urlopen(base + path).read().decode()
            check(body, pathlib.Path(home + path).read_text(), path)
            return body
        check(reach(get, peers.FIRST), 300)
    check(server.end()["pages"], 300)


@case
def the_hub_leads_to_lists_of_other_names():
    server = growth.Made("hub", 3, 1000)
    lists = re.findall(r'href="([^"]+)"', urllib.request.urlopen(server.url).read().decode())
    check(len(lists), 3)
    names = [name for path in lists for name in re.findall(r'href="([^"]+)"', urllib.request.urlopen(server.url[:-1] + path).read().decode())]
    check((len(names), len(set(names))), (3000, 3000))
    server.end()


def run(scene, **members):
    return {"type": "run", "scene": scene, **members}


def verdict(lines, name):
    return next(f["ok"] for f in figures.of(lines) if f["name"].startswith(name))


@case
def bars_are_judged_at_their_edge():
    def beside(rate, cpu):
        return [run("peers", program="seine", per_second=rate, cpu_us=cpu), run("peers", program=figures.PEER, per_second=1000.0, cpu_us=100.0)]
    check((verdict(beside(2000.0, 50.0), "crawl, 10 KB"), verdict(beside(2000.0, 50.0), "crawl, CPU")), (True, True))
    check((verdict(beside(1999.0, 50.1), "crawl, 10 KB"), verdict(beside(1999.0, 50.1), "crawl, CPU")), (False, False))
    for last, ok in ((12.0, True), (12.1, False)):
        check(verdict([run("growth", urls=10000, cpu_us=10.0), run("growth", urls=1000000, cpu_us=last)], "CPU per page at 1,000,000"), ok)
    for peak, ok in ((256.0, True), (256.1, False)):
        check(verdict([run("queue", urls=1000000, peak_mb=peak)], "resident"), ok)


@case
def what_failed_has_no_figure():
    lines = [run("peers", program="seine", failed="x"), run("peers", program=figures.PEER, per_second=1.0, cpu_us=1.0), run("queue", urls=1, failed="y")]
    check(figures.of(lines), [])


@case
def a_part_of_the_page_leaves_the_others_alone():
    page = results.joined("", "# A\none\n")
    page = results.joined(page, "# B\n\n## Two\n")
    check(page, "# A\none\n\n# B\n\n## Two\n")
    check(results.joined(page, "# A\nnew\n"), "# A\nnew\n\n# B\n\n## Two\n")
    check(results.joined(page, "# B\nnew\n"), "# A\none\n\n# B\nnew\n")


@case
def the_part_shows_what_was_measured_and_what_failed():
    lines = [MACHINE, run("peers", program="seine", version="1", note="n", round=1, pages=20000, per_second=9000.0, cpu_us=50.0, peak_mb=20.0, command="seine crawl"),
             run("peers", program=figures.PEER, version="2", note="m", round=1, failed="exit code 8"), {"type": "absent", "scene": "peers", "program": "Scrapy", "why": "not installed"},
             run("growth", urls=10000, pages=10000, round=1, cpu_us=20.0, per_second=1.0, peak_mb=1.0, seconds=1.0)]
    text = report.render(lines)
    for part in ("# Figures of a crawl", "| seine | 9,000 |", "exit code 8", "not installed", "| 10,000 | 20.0 |", "`seine crawl`"):
        check(part in text, True, part)


finish()
