#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers without a job, with several jobs; limits that are set for all workers; many seeds."""
import itertools
import os
import random
import signal
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import ROOT, case, check, finish, rows, seine, until  # noqa: E402
from fleet import DURABLE, OPTIONS, Worker, fleet  # noqa: E402
from redis_server import redis_server  # noqa: E402


def worker(f, *words):
    w = Worker(f, ["worker", *f.at_store(), "--lease", f.lease, "--out", os.path.join(f.folder, "segments"), *words])
    f.workers.append(w)
    return w


@case
def given_urls_need_25_bytes_of_redis_each_while_they_wait():
    # As they were written and as they are asked for is one text, which a block has once.
    dice = random.Random(20)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randrange(4, 9))) for _ in range(500)]
    urls = [f"https://www.site{i // 53}.example/{dice.choice(words[:20])}/20{dice.randrange(10, 26)}/{dice.choice(words)}-{dice.choice(words)}-{dice.randrange(1000)}.html\n"
            for i in range(256 * 8)]
    with redis_server(*DURABLE) as r:
        made = seine("crawl", "-", "--store", f"redis://127.0.0.1:{r.port}", "--job", "one", "--partitions", "1", "--submit", "-q", *OPTIONS, stdin="".join(urls))
        check((made.code, made.err), (0, ""))
        key = r.ask("KEYS sn:*.0}:in").split()[-1]
        check(r.ask(f"XLEN {key}"), ":8\r\n")
        used = int(r.ask(f"MEMORY USAGE {key} SAMPLES 0").strip(":\r\n"))
        check(used <= 25 * len(urls), True, f"{used / len(urls):.1f} bytes each")


@case
def a_worker_waits_for_a_job_that_is_not_there_yet():
    with fleet("31:30:hosts=5") as f:
        w = f.worker()
        said = [w.process.stdout.readline()]
        while said[-1] and "there is no job 'one' yet" not in said[-1]:
            said.append(w.process.stdout.readline())
        check("there is no job 'one' yet" in said[-1], True, "".join(said))
        f.submit("--partitions", "8")
        check(w.wait(), 0)
        f.judge()


@case
def a_worker_works_on_several_jobs_at_once():
    with fleet("32:30:hosts=5") as f:
        f.submit("--partitions", "8", job="one")
        w = worker(f, "--job", "one", "--job", "two", "-q")
        until(lambda: f.about("one")["state"] == "finished", "the first job")
        f.submit("--partitions", "8", job="two")
        check(w.wait(), 0)
        f.judge("one")
        f.judge("two")


@case
def a_worker_that_names_no_job_works_on_all_that_come_until_it_is_stopped():
    with fleet("33:30:hosts=5") as f:
        w = worker(f)
        for job in ("one", "two"):
            f.submit("--partitions", "8", job=job)
            until(lambda: f.about(job)["state"] == "finished", job)  # noqa: B023
            f.judge(job)
        w.process.send_signal(signal.SIGTERM)
        check(w.wait(), 143)


@case
def limits_that_are_set_hold_for_all_workers_and_those_that_join_later():
    with fleet("34:40:hosts=1") as f:
        f.submit("--partitions", "8", "--host-rate", "20/m")
        first = f.worker()
        until(f.site.log, "the first request")
        check(f.jobs("set", "one", "host-rate=100/s").code, 0)
        f.until_records(10)
        first.stop()
        check(f.worker().wait(), 0)
        f.judge()
        at = sorted(row["t_us"] for row in f.site.log())
        check(sum(b - a < 2.5e6 for a, b in itertools.pairwise(at)) > 30, True)  # the command says 3 s


@case
def a_worker_tells_in_metrics_what_it_has_done():
    with fleet("36:30:hosts=5") as f:
        f.submit("--partitions", "8")
        path = os.path.join(f.folder, "metrics")
        check(f.worker("--metrics-file", path).wait(), 0)
        with open(path, encoding="utf-8") as text:
            figures = dict(line.split() for line in text if line.startswith("seine_fleet_"))
        check((figures["seine_fleet_partitions"], figures["seine_fleet_records_total"], figures["seine_fleet_fenced_total"]), ("8", "30", "0"))
        check(int(figures["seine_fleet_commits_total"]) > 0 and int(figures["seine_fleet_links_total"]) >= 30, True, str(figures))


@case
def the_page_about_fleets_is_in_the_program():
    r = seine("help", "fleet")
    check((r.code, "seine worker" in r.out), (0, True))


WRONG = (
    ("host-rate=often", "host-rate"),
    ("rate=5/s", "the rate of a fleet is that of its command"),
    ("colour=blue", "can be set"),
)


@rows(WRONG)
def a_limit_that_cannot_be_set_is_said_in_one_line(word, says):
    with fleet("35:2") as f:
        f.submit()
        r = f.jobs("set", "one", word)
        check((r.code, says in r.err, len(r.err.splitlines()) <= 2), (2, True, True), r.err)


@case
def twenty_thousand_seeds_need_few_round_trips():
    seeds = "\n".join(f"http://h{i}.example/" for i in range(20000))
    with redis_server(*DURABLE) as r:
        done = seine("crawl", "-", "--store", f"redis://127.0.0.1:{r.port}", "--job", "one", "--submit", *OPTIONS, stdin=seeds)
        check((done.code, done.err), (0, ""))
        name = r.ask("HGET sn:jobs one").split()[1]
        check(r.ask("LLEN sn:{%s}:seeds" % name), ":20000\r\n")
        reads = next(line for line in r.ask("INFO stats").splitlines() if line.startswith("total_reads_processed:"))
        check(int(reads.split(":")[1]) < 5000, True, reads)


def speak(redis, *words):
    """The reply to a command of whole texts."""
    said = b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w.encode()), w.encode()) for w in words)
    with socket.create_connection(("127.0.0.1", redis.port), 5) as s:
        s.sendall(said)
        s.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: s.recv(65536), b"")).decode()


@case
def functions_of_another_version_and_ours_use_one_server():
    with open(os.path.join(ROOT, "src", "store", "seine1.lua"), encoding="utf-8") as f:
        other = f.read().replace("seine1", "seine2")
    with fleet("37:30:hosts=5") as f:
        check(speak(f.redis[0], "FUNCTION", "LOAD", other), "$6\r\nseine2\r\n")
        f.submit("--partitions", "8")
        w = f.worker()
        lease = "sn:{ffffffff.0}:lease", "sn:{ffffffff.0}:m", "sn:{ffffffff.0}:in"
        check(speak(f.redis[0], "FCALL", "seine2_acquire", "3", *lease, "other", "60000").startswith("*4\r\n:1\r\n"), True)
        check(w.wait(), 0)
        f.judge()
        check(speak(f.redis[0], "GET", lease[0]), "$7\r\nother|1\r\n")
        check(speak(f.redis[0], "FUNCTION", "LIST").count("library_name"), 2)


class Renumbered:
    """A Redis as a worker of the next version sees it: what it calls seine1 is seine2 there."""

    def __init__(self, port):
        self.to = port
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.server.getsockname()[1]}/0"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            c, _ = self.server.accept()
            s = socket.create_connection(("127.0.0.1", self.to))
            for a, b, old, new in ((c, s, b"seine1", b"seine2"), (s, c, b"seine2", b"seine1")):
                threading.Thread(target=self.carry, args=(a, b, old, new), daemon=True).start()

    @staticmethod
    def carry(a, b, old, new):
        kept = b""
        try:
            while data := a.recv(65536):
                data = (kept + data).replace(old, new)
                cut = next((n for n in range(len(old) - 1, 0, -1) if data.endswith(old[:n])), 0)  # the rest of the name may come
                kept = data[len(data) - cut:]
                b.sendall(data[:len(data) - cut])
            b.sendall(kept)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@case
def workers_of_two_versions_share_a_job_while_it_is_upgraded():
    with fleet("39:150:hosts=10") as f:
        f.submit("--partitions", "32")
        first = f.worker()
        f.until_records(30)
        native, f.stores = f.stores, [Renumbered(f.redis[0].port).url]
        second = f.worker()
        f.stores = native
        f.until(lambda: f.about()["workers"] == 2, "both")
        check(first.stop() in (143, 0), True)
        check(second.wait(), 0)
        check(speak(f.redis[0], "FUNCTION", "LIST").count("library_name"), 2)
        f.judge()
        f.witness()
        check(max(f.fetched().values()), 1)


@case
def a_job_of_another_format_is_listed_beside_others():
    with fleet("40:30:hosts=5") as f:
        f.submit("--partitions", "8", job="old")
        f.submit("--partitions", "8", job="new")
        name = f.redis[0].ask("HGET sn:jobs new").split()[1]
        check(speak(f.redis[0], "HSET", "sn:{%s}:cfg" % name, "format", "3"), ":0\r\n")
        r = f.jobs("ls")
        check((r.code, r.err, {line.split()[0] for line in r.out.splitlines()} >= {"old", "new"}), (0, "", True), r.out)
        check([f.jobs("show", job).code for job in ("old", "new")], [0, 0])
        w = worker(f, "--job", "old", "-q")
        check(w.wait(), 0)
        f.judge("old")


@case
def a_job_of_a_format_that_is_not_known_is_left_as_it_is():
    with fleet("38:30:hosts=5") as f:
        f.submit("--partitions", "8")
        name = f.redis[0].ask("HGET sn:jobs one").split()[1]
        check(speak(f.redis[0], "HSET", "sn:{%s}:cfg" % name, "format", "3"), ":0\r\n")
        before = speak(f.redis[0], "DEBUG", "DIGEST")
        w = f.worker()
        check((w.wait(), "has a format that this version does not know" in w.said), (2, True), w.said)
        check((speak(f.redis[0], "DEBUG", "DIGEST"), f.site.log()), (before, []))


finish(at_once=6)
