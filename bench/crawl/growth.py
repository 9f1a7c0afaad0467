# SPDX-License-Identifier: Apache-2.0
"""What a page costs when ten thousand, a hundred thousand, a million URLs are known; what a million that wait hold."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

from measure import BUILT, SEINE, environment, run, why

SIZES = (10000, 100000, 1000000)
BYTES, LINKS = 2048, 10
LISTS, EACH = 20, 50000  # a million URLs that wait
WORDS = ["--mine", "-c", 64, "-l", "off", "--sitemap", "off", "--pattern-budget", "off", "--threads", 1, "--progress", "off", "-q"]


class Made:
    """bench/peers/site.c; what it saw is in `seen` after the end."""

    def __init__(self, *words):
        self.process = subprocess.Popen([str(BUILT / "site"), *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        said = json.loads(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{said['port']}{said['first']}"

    def end(self):
        out, _ = self.process.communicate(timeout=30)
        return json.loads(out)


def crawl(folder, pages, patience):
    work = folder / "growth"
    work.mkdir()
    server = Made("serve", pages, BYTES, LINKS)
    try:
        cost = run([SEINE, "crawl", "--no-job", server.url, *WORDS, "-o", "out.jsonl", "--overwrite"], work, patience=patience)
    finally:
        seen = server.end()
        shutil.rmtree(work, ignore_errors=True)
    if cost.code != 0 or seen["pages"] != pages:
        return {"failed": why(cost) if cost.code else f"{seen['pages']:,} of {pages:,} pages"}
    return {"cpu_us": round(cost.cpu / pages * 1e6, 2), "per_second": round(pages / cost.seconds, 1), "peak_mb": round(cost.peak_mb, 1),
            "seconds": round(cost.seconds, 2)}


def measure(o, emit):
    """Small sizes more often: all take about as long."""
    for n in range(1, o.rounds + 1):
        for size in SIZES:
            if size == SIZES[-1] and n > max(1, o.rounds // 2):
                continue
            pages = max(500, int(size * o.scale))
            emit({"type": "run", "scene": "growth", "urls": size, "pages": pages, "round": n, **crawl(o.folder, pages, 1200)})


def resident(pid):
    """(now, peak) in MB."""
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = {line.split(":")[0]: int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith(("VmRSS", "VmHWM"))}
    return found["VmRSS"], found["VmHWM"]


def settled(process, folder, lists, patience=120):
    """Waits until all lists have a record; peak MB by then, or None."""
    end = time.monotonic() + patience
    while time.monotonic() < end and process.poll() is None:
        time.sleep(0.2)
        if (folder / "out.jsonl").exists() and (folder / "out.jsonl").read_bytes().count(b'"type":"result"') >= lists + 1:
            time.sleep(1)
            return resident(process.pid)
    return None


def queue(o, emit):
    for n in range(1, o.rounds + 1):
        work = o.folder / "queue"
        work.mkdir()
        lists = max(1, int(LISTS * o.scale))
        server = Made("hub", lists, EACH)
        # More in flight than lists would leave the lists behind pages that never answer.
        process = subprocess.Popen([str(SEINE), "crawl", "--no-job", server.url, *map(str, WORDS), "-c", "1", "-o", "out.jsonl", "--overwrite"], cwd=work,
                                   env=environment(work), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            found = settled(process, work, lists)
        finally:
            os.kill(process.pid, signal.SIGKILL) if process.poll() is None else None
            process.wait()
            server.end()
            shutil.rmtree(work, ignore_errors=True)
        row = {"failed": "the lists were not read"} if found is None else {"rss_mb": round(found[0], 1), "peak_mb": round(found[1], 1)}
        emit({"type": "run", "scene": "queue", "urls": lists * EACH, "round": n, **row})
