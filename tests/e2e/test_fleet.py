#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job in Redis and its workers: complete, exact and polite whoever dies (RD3 to RD7, sampled)."""
import os
import random
import socket
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import SEED, SOAKED, case, check, finish, rows, seine, until  # noqa: E402
from fleet import DURABLE, fleet  # noqa: E402
from redis_server import redis_server  # noqa: E402


@case
def one_worker_does_all_of_it():
    with fleet("1:200:hosts=10") as f:
        f.submit("--partitions", "32")
        w = f.worker()
        check((w.wait(), w.said), (0, ""))
        f.judge()
        f.witness()
        check(max(f.fetched().values()), 1)
        about = f.about()
        check((about["state"], about["blocks"], about["records"]), ("finished", 0, 200))


@case
def a_killed_worker_loses_nothing_and_nobody_is_early():
    with fleet("2:200:hosts=10") as f:
        f.submit("--partitions", "32")
        workers = [f.worker() for _ in range(3)]
        f.until_records(60)
        workers[1].kill()
        check([workers[0].wait(), workers[2].wait()], [0, 0])
        f.judge()
        f.witness()


@case
def workers_that_join_and_leave_fetch_nothing_twice():
    with fleet("3:200:hosts=10") as f:
        f.submit("--partitions", "32")
        first = f.worker()
        f.until_records(40)
        second = f.worker()
        f.until(lambda: f.about()["workers"] == 2, "two workers")
        check(first.stop() in (143, 0), True)
        third = f.worker()
        check([second.wait(), third.wait()], [0, 0])
        f.judge()
        f.witness()
        check(max(f.fetched().values()), 1)


@case
def redis_that_is_killed_is_waited_for():
    with fleet("4:200:hosts=10") as f:
        f.submit("--partitions", "32")
        workers = [f.worker() for _ in range(2)]
        f.until_records(60)
        f.redis[0].kill()
        f.redis[0].start()
        check([w.wait() for w in workers], [0, 0])
        f.judge()
        f.witness()


@case
def workers_are_killed_again_and_again():
    pages = 2000 if SOAKED else 150
    with fleet(f"8:{pages}:hosts=10") as f:
        f.submit("--partitions", "32")
        dice = random.Random(SEED)
        workers = [f.worker() for _ in range(3)]
        for _ in range(20 if SOAKED else 3):
            f.until_records(min(f.about()["records"] + dice.randrange(1, 20), pages))
            i = dice.randrange(len(workers))
            workers[i].kill()
            workers[i] = f.worker()
        check([w.wait() for w in workers], [0] * 3)
        f.judge()
        f.witness()


@case
def a_redis_without_memory_is_a_pause():
    with fleet("9:150:hosts=10") as f:
        f.submit("--partitions", "32")
        workers = [f.worker() for _ in range(2)]
        f.until_records(20)
        f.redis[0].ask("CONFIG SET maxmemory 1")
        f.until(lambda: "errorstat_OOM" in f.redis[0].ask("INFO errorstats"), "a refused block")
        f.redis[0].ask("CONFIG SET maxmemory 0")
        check([w.wait() for w in workers], [0, 0])
        f.judge()
        f.witness()


@case
def a_redis_that_stays_away_ends_the_worker_and_another_goes_on():
    with fleet("10:150:hosts=10") as f:
        f.submit("--partitions", "32")
        w = f.worker("--store-wait", "1s")
        f.until_records(20)
        f.redis[0].kill()
        check((w.wait(), "for longer than it is waited for" in w.said), (3, True), w.said)
        f.redis[0].start()
        check(f.worker().wait(), 0)
        f.judge()
        f.witness()


@case
def a_rate_holds_over_all_workers():
    with fleet("11:100:hosts=10") as f:
        f.submit("--partitions", "32", "--rate", "30/s")
        workers = [f.worker() for _ in range(3)]
        check([w.wait() for w in workers], [0] * 3)
        f.judge()
        at = sorted(row["t_us"] for row in f.site.log())
        unspent = 3 * 5 + 3  # a worker keeps up to 5 starts that it did not use, and the bucket holds 3
        check([n for n in range(60, len(at)) if at[n] - at[n - 60] < (60 - unspent) / 30 * 1e6 * 0.9], [])


@case
def a_job_may_be_spread_over_two_servers():
    with fleet("5:200:hosts=10", servers=2) as f:
        f.submit("--partitions", "32")
        workers = [f.worker() for _ in range(2)]
        check([w.wait() for w in workers], [0, 0])
        f.judge()
        f.witness()
        r = seine("jobs", "show", "one", "--store", f.stores[0])
        check((r.code, "is in 2 servers" in r.err), (2, True))


@case
def a_job_can_be_paused_stopped_joined_again_and_removed():
    with fleet("6:400:hosts=10") as f:
        f.submit("--partitions", "32")
        check(f.jobs("pause", "one").code, 0)
        w = f.worker()
        until(lambda: f.about()["workers"] == 1, "the worker")
        check(f.about()["records"] < 5, True)
        check(f.jobs("resume", "one").code, 0)
        f.until_records(40)
        check(f.jobs("pause", "one").code, 0)  # so that it is not over before the next line
        check(f.about()["records"] < 400, True)
        r = f.jobs("rm", "one")
        check((r.code, "stop it first" in r.err), (2, True))
        check(f.jobs("stop", "one").code, 0)
        w.wait()
        check(f.jobs("resume", "one").code, 0)
        check(f.worker().wait(), 0)
        f.judge()
        f.witness()
        check("one" in f.jobs("ls").out, True)
        check(f.jobs("rm", "one").code, 0)
        check(f.jobs("ls").out, "")


REFUSED = (  # settings of the server, what the store is called with, exit code, what is said
    (("--appendonly", "no"), "redis://127.0.0.1:{}", 2, "has 'appendonly no': a job needs 'appendonly yes'"),
    (("--appendfsync", "everysec"), "redis://127.0.0.1:{}", 2, "has 'appendfsync everysec': a job needs 'appendfsync always'"),
    (("--maxmemory-policy", "allkeys-lru"), "redis://127.0.0.1:{}", 2, "has 'maxmemory-policy allkeys-lru': a job needs 'maxmemory-policy noeviction'"),
    (("--requirepass", "s3cret"), "redis://:wr0ng@127.0.0.1:{}", 2, "does not know this user and password"),
    (("--requirepass", "s3cret"), "redis://127.0.0.1:{}", 2, "asks for a password"),
    ((), "rediss://127.0.0.1:{}", 2, "TLS"),
    ((), "redis://127.0.0.1:{}/99", 2, "has no database of this number"),
    ((), "redis://127.0.0.1:1", 3, "refuses the connection"),
)


@rows(REFUSED)
def a_store_that_will_not_do_is_refused_in_one_line(settings, url, code, says):
    with redis_server(*DURABLE, *settings) as r:
        done = seine("crawl", "http://127.0.0.1:1/", "--store", url.format(r.port), "--job", "one")
        check((done.code, says in done.err, len(done.err.splitlines()) <= 2, "wr0ng" in done.err), (code, True, True, False), done.err)


@case
def a_server_that_shows_no_settings_is_warned_of():
    with redis_server(*DURABLE, "--rename-command", "CONFIG", "") as r:
        done = seine("crawl", "http://127.0.0.1:1/", "--store", f"redis://127.0.0.1:{r.port}", "--job", "one", "--submit")
        check((done.code, "does not show its settings" in done.err), (0, True), done.err)


@case
def everysec_is_fine_for_who_accepts_it():
    with redis_server("--appendonly", "yes", "--appendfsync", "everysec") as r:
        done = seine("crawl", "http://127.0.0.1:1/", "--store", f"redis://127.0.0.1:{r.port}", "--job", "one", "--submit", "--accept-store-loss", "-q")
        check((done.code, done.err), (0, ""))


@case
def an_old_server_is_refused():
    with socket.create_server(("127.0.0.1", 0)) as s:
        def serve():
            c, _ = s.accept()
            c.recv(65536)
            c.sendall(b"*2\r\n$7\r\nversion\r\n$6\r\n6.2.14\r\n+OK\r\n$0\r\n\r\n-ERR unknown command\r\n")
            c.recv(65536)
            c.close()
        threading.Thread(target=serve, daemon=True).start()
        done = seine("crawl", "http://127.0.0.1:1/", "--store", f"redis://127.0.0.1:{s.getsockname()[1]}", "--job", "one")
        check((done.code, "6.2.14 is too old: functions need Redis 7.0 or newer" in done.err), (2, True), done.err)


@case
def a_job_of_another_command_is_left_alone():
    with fleet("7:20") as f:
        f.submit()
        r = seine("crawl", "http://127.0.0.1:1/", *f.at_store(), "--job", "one", "--submit")
        check((r.code, "was started with another command" in r.err), (2, True), r.err)


finish(at_once=6)
