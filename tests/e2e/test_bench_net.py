#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pieces of bench/net: its servers, its scales and the page it writes. Nothing is measured here."""
import contextlib
import os
import pathlib
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench", "net"))
from e2e import BUILD, PATIENCE, ROOT, case, check, finish, rows  # noqa: E402
import measure  # noqa: E402

measure.BUILT = pathlib.Path(BUILD).resolve() / "peers"
import bars  # noqa: E402
import clients  # noqa: E402
import compare  # noqa: E402
import load  # noqa: E402
import results  # noqa: E402
import servers  # noqa: E402

measure.build()
REQUEST = b"GET /p/0 HTTP/1.1\r\nHost: x\r\n\r\n"


@contextlib.contextmanager
def delayed(ms):
    server = servers.Delay(ms)
    try:
        yield server
    finally:
        if server.seen is None:
            server.end()


def answer(s):
    """One whole answer: its status line and the length of its body."""
    got = b""
    while b"\r\n\r\n" not in got or len(got.split(b"\r\n\r\n", 1)[1]) < measure.PAGE_BYTES:
        part = s.recv(65536)
        if not part:
            break
        got += part
    head, _, body = got.partition(b"\r\n\r\n")
    return head.split(b"\r\n")[0], len(body)


@case
def the_delay_server_answers_when_it_is_time_and_not_before():
    with delayed(50) as server:
        start = time.monotonic()
        status, body = servers.get(server.port, "/p/0")
        took = time.monotonic() - start
        check((status, len(body), took >= 0.05), (200, measure.PAGE_BYTES, True))
        check([server.end()[k] for k in ("answers", "connections", "lost")], [1, 1, 0])


@case
def two_hundred_wait_at_the_delay_server_together():
    with delayed(200) as server:
        start = time.monotonic()
        clients_ = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(200)]
        for c in clients_:
            c.sendall(REQUEST)
        check({answer(c) for c in clients_}, {(b"HTTP/1.1 200 OK", measure.PAGE_BYTES)})
        check(time.monotonic() - start < 200 * 0.2, True)
        seen = server.end()
        check([seen[k] for k in ("answers", "connections", "open", "lost")], [200, 200, 200, 0])
        check(seen["waiting"] > 20, True)
        for c in clients_:
            c.close()


@case
def a_request_in_pieces_is_one_and_two_in_a_piece_are_two():
    with delayed(1) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as c:
            c.sendall(REQUEST[:-3])
            time.sleep(0.02)
            c.sendall(REQUEST[-3:])
            answer(c)
            c.sendall(REQUEST + REQUEST)
            time.sleep(0.2)
        check(server.end()["answers"], 3)


@case
def a_client_that_leaves_is_counted_and_harms_nobody():
    with delayed(100) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as c:
            c.sendall(REQUEST)
        check(servers.get(server.port, "/")[0], 200)
        seen = server.end()
        check([seen["answers"], seen["lost"]], [1, 1])


@case
def opening_connections_is_timed():
    with delayed(1) as server:
        check(0 < server.set_up_ms(100) < 20000, True)
        check(server.end()["connections"], 100)


@case
def the_cost_of_a_program_is_its_own():
    ballast = b"x" * (64 << 20)
    with tempfile.TemporaryDirectory() as folder:
        cost = measure.run(["sh", "-c", "sleep 0.1; echo said; exit 3"], folder)
        check((cost.code, cost.late, cost.out), (3, False, "said\n"))
        check((0.1 <= cost.seconds < PATIENCE, cost.cpu < 5, cost.peak_mb < 16), (True, True, True), str(vars(cost)))
        check(measure.why(cost), "exit code 3: said")
        check(measure.run(["no-such-program"], folder).code, 127)
    check(len(ballast), 64 << 20)


@case
def who_takes_too_long_is_ended_with_its_children():
    with tempfile.TemporaryDirectory() as folder:
        cost = measure.run(["sh", "-c", "sleep 600 & sleep 600"], folder, patience=1)
    check((cost.code, cost.late, 1 <= cost.seconds < PATIENCE), (137, True, True))


@case
def nginx_serves_the_page_under_every_name_and_counts():
    with tempfile.TemporaryDirectory() as folder:
        nginx = servers.Nginx(folder)
        try:
            before = nginx.served()
            pages = {servers.get(nginx.port, f"/p/{n}") for n in range(5)}
            check(pages, {(200, servers.page().encode())})
            check(nginx.served() - before - 1, 5)
            check(servers.get(nginx.port, "/q")[0], 404)
        finally:
            nginx.end()
    check(len(servers.page()), measure.PAGE_BYTES)


def said(out, code=0):
    return measure.Cost({"code": code, "late": False, "seconds": 2.0, "cpu": 1.0, "peak_kb": 2048}, out)


WRK = """Running 2s test @ http://127.0.0.1:1/p/0
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.28ms  1.00ms  33.96ms   93.83%
  100000 requests in 2.00s, 228.75MB read
"""


@rows([
    ("all_good", clients.Wrk(), WRK, 100000, 100000, 100000, 50000.0),
    ("some_are_not_200", clients.Wrk(), WRK + "  Non-2xx or 3xx responses: 7\n", 100000, 100000, 99993, 50000.0),
    ("sockets_fail", clients.Wrk(), WRK + "  Socket errors: connect 1, read 2, write 0, timeout 4\n", 100000, 100000, 99993, 50000.0),
    ("h2load", clients.H2load(), "status codes: 990 2xx, 0 3xx, 10 4xx, 0 5xx\n", 1000, 1000, 990, 500.0),
    ("curl", clients.Curl(), "200\n" * 999 + "404\n", 1000, 1000, 999, 500.0),
    ("driver", clients.Aiohttp(), "1000\n", 1000, 1000, 1000, 500.0),
    ("driver_that_died", clients.Aiohttp(), "", 1000, 1000, 0, 500.0),
])
def what_a_program_says_is_understood(_, client, out, requests, asked, good, rate):
    job = clients.Job(pathlib.Path("."), 1, requests, 64, 2)
    check((client.asked(job, said(out)), client.good(job, said(out)), client.rate(job, said(out))), (asked, good, rate))


@rows([
    ("all_200", "1000\n", 0, 1000, None),
    ("one_is_missing", "999\n", 0, 1000, "999 of 1,000 answers were 200, the server gave 1,000"),
    ("the_server_knows_better", "1000\n", 0, 990, "1,000 of 1,000 answers were 200, the server gave 990"),
    ("it_failed", "1000\n", 9, 1000, "exit code 9: 1000"),
])
def a_run_counts_only_when_every_page_arrived(_, out, code, served, failed):
    job = clients.Job(pathlib.Path("."), 1, 1000, 64, 2)
    row = compare.judged(clients.Aiohttp(), job, said(out, code), served)
    check(row.get("failed"), failed)
    if failed is None:
        check(row, {"requests": 1000, "seconds": 2.0, "per_second": 500.0, "cpu_us": 1000.0, "peak_mb": 2.0})


@rows([
    ("on_time", [0, 100, 200, 300], (0, 0.0, 0.0)),
    ("one_early", [0, 90, 200, 300], (10.0, 0.0, 0.0)),
    ("all_later", [0, 101, 202, 303], (0, 1.5, 0.01)),
])
def arrivals_are_held_against_their_plan(_, times, want):
    got = bars.lateness(times, 100)
    check((got["early_us"], got["late_us"], got["slower"]), want)


MACHINE = {"type": "machine", "cpu": "A CPU", "cpus": 2, "kernel": "6.1", "files": "tmpfs", "date": "2026-11-15", "commit": "abc", "command": "make bench-net",
           "rounds": 3, "pinned": "nothing"}


def figures(program, per_second, cpu=10.0, scene="pages", **more):
    return [{"type": "run", "scene": scene, "program": program, "version": "1.0", "note": "", "round": n, "command": program, "requests": 1000,
             "seconds": 1000 / rate, "per_second": rate, "cpu_us": cpu, "peak_mb": 5.0, **more} for n, rate in enumerate(per_second)]


def verdict(lines, wanted):
    return next(b.verdict.strip("*") for b in results.bars([MACHINE, *lines]) if b.wanted.startswith(wanted))


@rows([
    ("just", [850.0, 10.0, 9000.0], 14.0, "met", "met"),
    ("just_not", [849.0, 10.0, 9000.0], 14.1, "missed", "missed"),
])
def bars_are_judged_by_medians_at_their_edge(_, ours, cpu, rate, work):
    lines = figures("wrk", [1000.0, 1.0, 2000.0]) + figures("seine", ours, cpu)
    check((verdict(lines, "≥ 0.85"), verdict(lines, "CPU per")), (rate, work))


@case
def one_peer_ahead_is_named():
    lines = figures("wrk", [9.0]) + figures("seine", [8.0]) + figures("curl", [7.0])
    check(verdict(lines, "ahead"), "met")
    lines += figures("h2load", [8.5])
    check(verdict(lines, "ahead"), "missed")
    check([b.measured for b in results.bars([MACHINE, *lines]) if b.wanted.startswith("ahead")], ["behind h2load", "not measured"])
    lines = figures("wrk", [9.0], scene="tls") + figures("seine", [8.0], scene="tls") + figures("Go net/http", [8.5], scene="tls")
    check([b.measured for b in results.bars([MACHINE, *lines]) if b.wanted.startswith("ahead")], ["not measured", "behind Go net/http"])


@case
def the_time_for_connections_is_taken_off_as_this_machine_needs_it():
    lines = [{"type": "set_up", "scene": "flight-10000", "ms": 350.0},
             *figures("seine", [1000.0], scene="flight-10000", ideal_s=0.5, open_seen=10000, waiting_seen=10000, set_up_ms=900.0, server_us=1.0)]
    check(verdict(lines, "≤ 1.3"), "met")
    lines[0]["ms"] = 349.0
    check(verdict(lines, "≤ 1.3"), "missed")


@case
def the_page_shows_who_failed_and_who_is_absent_and_no_bar_is_met_by_silence():
    lines = figures("wrk", [9.0]) + [{"type": "absent", "scene": "pages", "program": "seine", "why": "not built"},
                                     {"type": "run", "scene": "pages", "program": "curl", "version": "1.0", "note": "", "round": 1, "command": "curl", "failed": "exit code 7"}]
    page = results.render([MACHINE, *lines])
    check("| seine | not built |" in page, True)
    check("| curl | failed: exit code 7 |" in page, True)
    check("**met**" in page or "**missed**" in page, False)
    check({line.count("|") for line in page.split("## 2 KB pages")[1].split("## ")[0].splitlines() if line.startswith("|")}, {13})


@case
def foreign_load_is_what_neither_client_nor_server_took():
    class Cost:
        cpu, seconds = 1.0, 2.0
    with tempfile.NamedTemporaryFile("w") as f:
        f.write("cpu  100 20 300 5000 7 8 9 40 0 0\ncpu0 1 1 1 1 1 1 1 1\n")
        f.flush()
        check(load.busy(f.name), 460 / load.TICKS)
    watch = load.Watch(os.getpid())
    watch.busy = load.busy() - 3.0  # three seconds of all CPUs, one of them the client's
    watch.server = load.spent(os.getpid())
    check(abs(watch.foreign(Cost) - 1.0) < 0.5, True)
    start = load.spent(os.getpid())
    while load.spent(os.getpid()) == start:
        pass
    check(load.spent(1 << 30), 0.0)


@rows([("quiet", [0.05], 0, 1), ("once", [0.5, 0.0], 1, 2), ("always", [0.5, 0.6, 0.7, 0.8], 2, 3)])
def a_disturbed_run_is_repeated_twice_at_most(_, loads, repeats, runs):
    class Settings:
        repeats = 0
    given, told = iter(loads), []
    row = load.repeated(lambda: {"foreign": next(given)}, Settings, told.append, {"program": "x"})
    check((row["repeats"], len(told) + 1, row["foreign"]), (repeats, runs, loads[runs - 1]))
    Settings.repeats = load.PATIENCE  # the machine is never quiet
    check(load.repeated(lambda: {"foreign": 1.0}, Settings, told.append, {})["repeats"], 0)


@case
def the_table_has_instructions_and_foreign_load():
    lines = [MACHINE, *figures("wrk", [1000.0, 1100.0, 900.0], 10.0, foreign=0.02, repeats=0), *figures("seine", [900.0] * 3, 12.0, foreign=0.31, repeats=2),
             *figures("reqwest", [500.0] * 3, 30.0), {"type": "instructions", "scene": "pages", "program": "seine", "each": 19999}]
    row = next(line for line in results.tables(lines).splitlines() if line.startswith("| seine |"))
    check(row, "| seine | 900 | 0.90 | 12.00 | 1.20 | 19,999 | 5.0 | 900 – 900 | 0.31, 6 repeated | 1,000 | 3 |  |")
    check((verdict(lines, "≤ 20,000"), verdict(lines, "≥ 1.5 × reqwest")), ("met", "met"))
    check(verdict([*lines[1:-1], *figures("curl", [601.0] * 3, 30.0)], "≥ 1.5 × reqwest"), "missed")


@case
def tls_connections_and_outputs_are_judged_at_their_edge():
    secure = {"type": "bar", "bar": "secure", "connections": 1000, "plain_mb": 10.0, "tls_mb": 50.0, "kb_each": 48.0, "handshakes": 1000, "resumed": 950}
    check((verdict([secure], "≤ 48 KB"), verdict([secure], "≥ 95 %")), ("met", "met"))
    secure.update(kb_each=48.1, resumed=949)
    check((verdict([secure], "≤ 48 KB"), verdict([secure], "≥ 95 %")), ("missed", "missed"))
    rows = [{"type": "bar", "bar": "sinks", "output": name, "round": n, "pages": 1, "per_second": rate, "cpu_us": 1.0, "peak_mb": 1.0, "bytes_each": 1.0}
            for name, rates in ((".warc.gz", (6999.0, 7000.0, 9000.0)), (".sqlite", (6000.0, 6999.0, 9999.0))) for n, rate in enumerate(rates)]
    check([b.verdict.strip("*") for b in results.bars([MACHINE, *rows]) if b.wanted == "≥ 7,000 a second"], ["met", "missed"])
    check(results.render([MACHINE, *rows]).count("| .warc.gz |"), 1)


@case
def a_command_is_shown_without_this_machine():
    job = clients.Job("/x", 4711, 1, 64, 1, cert="/x/site.pem")
    check(compare.shown([f"{ROOT}/build/seine", "fetch", "--cacert", "/x/site.pem", "https://127.0.0.1:4711/p/0"], job),
          "seine fetch --cacert site.pem https://127.0.0.1:PORT/p/0")
    check(compare.shown(["/usr/bin/python3", f"{ROOT}/bench/peers/aio.py", "urls.txt", "64"], job), "python3 aio.py urls.txt 64")


finish(at_once=2)
