# SPDX-License-Identifier: Apache-2.0
"""What seine promises about itself: the S0-29 table, a dead host, a million lines of input, paced starts. The witness is
`seine chaos` or a socket of ours, never the records alone."""
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import threading
import time

from measure import SEINE, Cost, environment, pin, run, runner, why
from servers import Chaos, Nginx

QUIET = ["--progress", "off", "-q", "--fail-on", "none", "--overwrite"]
BREAKER_FAILS, DEAD_IN_FLIGHT, PROBES = 5, 8, 1
PACES = [(1, 10), (100, 500), (10000, 30000)]  # per second, requests
MILLION = 1000000
SECURE = 1000  # connections
SINK_RATE, SINK_PAGES = 10000, 60000  # per second, requests
SINKS = ["out.jsonl", "out.csv", "out.jsonl.gz", "out.warc", "out.warc.gz", "out.sqlite"]


def measure(settings, emit):
    folder = pathlib.Path(settings.folder) / "bars"
    for name, bar in (("half", half), ("dead", dead), ("million", million), ("paced", paced), ("secure", secure), ("sinks", sinks)):
        if name not in settings.bars:
            continue
        for row in bar(settings, folder):
            emit({"type": "bar", "bar": name, **row})
            shutil.rmtree(folder, ignore_errors=True)


def fetch(settings, folder, urls, *words):
    """Fetches a list; the cost, the result records and the summary."""
    folder.mkdir(exist_ok=True)
    (folder / "urls.txt").write_text("".join(url + "\n" for url in urls))
    cost = run([SEINE, "fetch", "-i", "urls.txt", "-o", "out.jsonl", "--threads", 1, *words, *QUIET], folder, cpu=settings.client_cpu)
    return cost, *records(folder / "out.jsonl")


def records(path):
    results, summary = [], {}
    if path.exists():
        with open(path, encoding="utf-8") as f:
            for record in map(json.loads, f):
                if record["type"] == "result":
                    results.append(record)
                elif record["type"] == "summary":
                    summary = record
    return results, summary


def half(settings, folder):
    """S0-29: every request fails with probability one half, by seed, URL and attempt: each round is another seed."""
    for seed in range(1, settings.rounds + 1):
        chaos = Chaos("--seed", str(seed), cpu=settings.server_cpu)
        urls = [f"{chaos.places['http']}/bytes:2k?p=0.5&key={n}" for n in range(1000)]
        cost, results, _ = fetch(settings, folder, urls, "--mine", "-c", 64, "--retries", 6, "--backoff", "50ms..5s", "--retry-budget", "2000%",
                                 "--breaker", "rate=90%,min=100")
        asked = chaos.report()["totals"]["requests"]
        chaos.end()
        if cost.code != 0 or len(results) != len(urls):
            yield {"failed": why(cost) if cost.code else f"{len(results)} records for {len(urls)} URLs", "seed": seed}
            continue
        yield {"seed": seed, "urls": len(urls), "ok": sum(r["outcome"] == "ok" for r in results), "requests": asked,
               "seconds": round(cost.seconds, 3), "peak_mb": round(cost.peak_mb, 2)}


class Closed:
    """A host that is there and answers nobody: it takes connections, counts them and resets them."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.count = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                c, _ = self.socket.accept()
            except OSError:
                return
            self.count += 1
            c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            c.close()

    def end(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def dead(settings, folder):
    """A thousand URLs of a host that resets every connection, counted there, and of one that refuses, counted in the records."""
    words = ["--mine", "-c", DEAD_IN_FLIGHT, "--breaker", f"fail={BREAKER_FAILS},open=1s,probes={PROBES},park=1", "--backoff", "100ms..1s"]
    most = BREAKER_FAILS + DEAD_IN_FLIGHT - 1 + PROBES
    for how in ("resets", "refuses"):
        host = Closed() if how == "resets" else None
        chaos = None if host else Chaos(cpu=settings.server_cpu)
        base = host.url if host else "http://" + chaos.places["dead"].split("//")[-1]
        cost, results, _ = fetch(settings, folder, [f"{base}/{n}" for n in range(1000)], *words)
        attempts = sum(r["attempts"] for r in results)
        (host or chaos).end()
        if cost.code != 5 or len(results) != 1000:    # 5: a host was given up
            yield {"failed": why(cost) if cost.code != 5 else f"{len(results)} records for 1000 URLs", "host": how}
            continue
        yield {"host": how, "attempts": host.count if host else attempts, "recorded": attempts, "most": most, "seconds": round(cost.seconds, 3)}


def feed(pipe, base, count, done):
    """Writes the list, a thousand lines at a time; the reader sets the pace."""
    try:
        for start in range(0, count, 1000):
            pipe.write("".join(f"{base}/p/{n}\n" for n in range(start, min(start + 1000, count))).encode())
        pipe.close()
    except BrokenPipeError:
        pass
    done.append(time.monotonic())


def million(settings, folder):
    """A million URLs through a pipe, the records through another: when does the first come, what does it all hold in memory?"""
    if not Nginx.installed():
        yield {"failed": "nginx is not installed"}
        return
    folder.mkdir()
    nginx = Nginx(folder / "nginx", settings.server_cpu)
    count = max(1000, int(MILLION * settings.scale))
    words = [SEINE, "fetch", "-", "--mine", "-c", 64, "--threads", 1, "-f", "jsonl", "--progress", "off", "-q", "--fail-on", "none"]
    command, report = runner(folder, words, 600)
    start = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, env=environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               preexec_fn=pin(settings.client_cpu))
    ended, first, good, rest = [], None, 0, b""
    writer = threading.Thread(target=feed, args=(process.stdin, f"http://127.0.0.1:{nginx.port}", count, ended))
    writer.start()
    while chunk := os.read(process.stdout.fileno(), 1 << 20):
        first = first or time.monotonic()
        lines, newline, tail = (rest + chunk).rpartition(b"\n")
        good += lines.count(b'"outcome":"ok"')
        rest = tail if newline else rest + chunk
    process.wait()
    writer.join()
    nginx.end()
    cost = Cost(json.loads(report.read_text()))
    if cost.code != 0 or good != count:
        yield {"failed": why(cost) if cost.code else f"{good:,} ok of {count:,} URLs"}
        return
    yield {"urls": count, "first_record_s": round(first - start, 4), "end_of_input_s": round(ended[0] - start, 3), "seconds": round(cost.seconds, 3),
           "peak_mb": round(cost.peak_mb, 2)}


def paced(settings, folder):
    for rate, count in PACES:
        count = max(5, int(count * settings.scale))
        chaos = Chaos(cpu=settings.server_cpu)
        urls = [f"{chaos.places['http']}/empty?n={n}" for n in range(count)]
        cost, _, _ = fetch(settings, folder, urls, "--mine", "-c", 256, "-r", f"{rate}/s")
        times = sorted(line["t_us"] for line in chaos.log() if "/empty" in line.get("path", ""))
        seen = chaos.report()["hosts"]
        chaos.end()
        if cost.code != 0 or len(times) != count:
            yield {"failed": why(cost) if cost.code else f"the witness saw {len(times)} of {count} requests", "rate": rate}
            continue
        yield {"rate": rate, "requests": count, **lateness(times, 1e6 / rate), "max_in_1s": max(h["max_in_1s"] for h in seen.values()),
               "min_gap_us": min(h["min_gap_us"] for h in seen.values()),
               "peak_mb": round(cost.peak_mb, 2)}


def lateness(times, interval):
    """Arrivals in microseconds against the plan that begins with the first of them: the k-th is due k intervals later.

    early_us is how much the earliest came before its due time, late_us how late they came on average, slower how much
    longer the average interval was than asked for.
    """
    off = [t - times[0] - k * interval for k, t in enumerate(times)]
    took = times[-1] - times[0]
    return {"early_us": round(max(0, -min(off)), 1), "late_us": round(sum(max(0, o) for o in off) / len(off), 1),
            "slower": round(took / ((len(times) - 1) * interval) - 1, 6)}


def secure(settings, folder):
    """What a TLS connection holds in memory while it waits, beside a plain one; how many new connections take up an old session."""
    count = max(50, int(SECURE * settings.scale))
    chaos = Chaos("--tls", "--ca-out", str(pathlib.Path(settings.folder) / "ca.pem"), cpu=settings.server_cpu)
    trust = ["--cacert", pathlib.Path(settings.folder) / "ca.pem"]
    try:
        peaks = {}
        for scheme in ("http", "https"):
            urls = [f"{chaos.places[scheme]}/delay:3s/ok?n={n}" for n in range(count)]
            cost, results, _ = fetch(settings, folder, urls, "--mine", "-c", count, "-t", "60s", "--connect-timeout", "30s", "--tls-timeout", "30s", *trust)
            if cost.code != 0 or len(results) != count:
                yield {"failed": why(cost) if cost.code else f"{len(results)} records for {count} URLs"}
                return
            peaks[scheme] = cost.peak_mb
            shutil.rmtree(folder)
        before = chaos.report()["totals"]
        urls = [f"{chaos.places['https']}/close/ok?n={n}" for n in range(count)]
        cost, results, _ = fetch(settings, folder, urls, "--mine", "-c", 4, *trust)
        after = chaos.report()["totals"]
        new, again = (after[name] - before[name] for name in ("tls_handshakes", "tls_resumed"))
        if cost.code != 0 or new < count:
            yield {"failed": why(cost) if cost.code else f"{new} handshakes for {count} URLs"}
            return
        yield {"connections": count, "plain_mb": round(peaks["http"], 2), "tls_mb": round(peaks["https"], 2),
               "kb_each": round((peaks["https"] - peaks["http"]) * 1024 / count, 2), "handshakes": new, "resumed": again}
    finally:
        chaos.end()


def sinks(settings, folder):
    """10,000 pages a second are asked for: how many are written with each kind of output, and what does the run hold?"""
    if not Nginx.installed():
        yield {"failed": "nginx is not installed"}
        return
    nginx = Nginx(pathlib.Path(settings.folder) / "nginx-sinks", settings.server_cpu)
    count = max(1000, int(SINK_PAGES * settings.scale))
    try:
        for n in range(settings.rounds):
            for name in SINKS:
                folder.mkdir(exist_ok=True)
                (folder / "urls.txt").write_text("".join(f"http://127.0.0.1:{nginx.port}/u/{n}\n" for n in range(count)))
                cost = run([SEINE, "fetch", "-i", "urls.txt", "-o", name, "--threads", 1, "--mine", "-c", 64, "-r", f"{SINK_RATE}/s", *QUIET], folder,
                           cpu=settings.client_cpu)
                size = sum(f.stat().st_size for f in folder.iterdir() if f.name.startswith("out."))
                row = {"failed": why(cost)} if cost.code else {
                    "per_second": round(count / cost.seconds, 1), "cpu_us": round(cost.cpu / count * 1e6, 2), "peak_mb": round(cost.peak_mb, 2),
                    "bytes_each": round(size / count, 1)}
                yield {"output": name.removeprefix("out"), "round": n + 1, "pages": count, **row}
                shutil.rmtree(folder, ignore_errors=True)
    finally:
        nginx.end()
