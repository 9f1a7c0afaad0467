# SPDX-License-Identifier: Apache-2.0
"""A generated site as files on nginx, crawled by each program, round after round with all of them in each round."""
import os
import re
import shutil
import subprocess

from measure import BUILT, PEERS, SEINE, run, why
from servers import Site

PAGES, BYTES, LINKS, IN_FLIGHT = 20000, 10240, 30, 64
LONG = 15  # seconds; a program that takes longer is measured once
FIRST = "/aaaaa/aa.html"
PYTHON = "/usr/bin/python3"


class Crawler:
    """One program; `pages` is how much of the usual site it gets."""
    name, note, pages = "", "", PAGES

    def missing(self):
        return None if shutil.which(self.name.split()[0]) else "not installed"

    def version(self):
        done = subprocess.run([self.name.split()[0], "--version"], capture_output=True, text=True)
        found = re.search(r"\d+\.[\w.]+", done.stdout + done.stderr)
        return found.group() if found else "?"


class Seine(Crawler):
    name, note = "seine", "JSON-lines records written to a file"
    words_more = ["--threads", "1"]

    def missing(self):
        there = SEINE.exists() and subprocess.run([SEINE, "crawl", "-h"], capture_output=True).returncode == 0
        return None if there else "not built"

    def version(self):
        return "this commit"

    def words(self, url):
        return [SEINE, "crawl", url, "--no-job", "--mine", "-c", IN_FLIGHT, "-l", "off", "--sitemap", "off", "--pattern-budget", "off", "-o", "out.jsonl", "--overwrite", "--progress", "off", "-q",
                *self.words_more]

    def good(self, folder, cost):
        with open(folder / "out.jsonl", "rb") as f:
            return sum(b'"type":"result"' in line and b'"outcome":"ok"' in line and b'"status":200' in line for line in f)


class Wget2(Crawler):
    name, note = "wget2 -r -O /dev/null", "nothing kept; one thread per request in flight"
    words_more = ["-O", "/dev/null"]

    def words(self, url):
        return ["wget2", "-q", "--no-config", "--no-hsts", "--no-hpkp", "--robots=off", "--tries=1", f"--max-threads={IN_FLIGHT}", "-r", "-l", "inf",
                *self.words_more, url]

    def good(self, folder, cost):
        return None


class Wget2Files(Wget2):
    name, note, words_more = "wget2 -r", "each page is a file", []

    def good(self, folder, cost):
        return sum(name.endswith(".html") for _, _, files in os.walk(folder) for name in files)


class Scrapy(Crawler):
    name, note, pages = "Scrapy", "Python; a site of a twentieth", PAGES // 20

    def missing(self):
        return None if subprocess.run([PYTHON, "-c", "import scrapy"], capture_output=True).returncode == 0 else "not installed"

    def version(self):
        return subprocess.run([PYTHON, "-c", "import scrapy; print(scrapy.__version__)"], capture_output=True, text=True).stdout.strip()

    def words(self, url):
        return [PYTHON, PEERS / "crawler.py", url, IN_FLIGHT]

    def good(self, folder, cost):
        return int(cost.out.split()[-1]) if cost.out.split()[-1:] and cost.out.split()[-1].isdigit() else 0


ALL = [Seine(), Wget2(), Wget2Files(), Scrapy()]


def site(folder, pages):
    """The pages as files, made once."""
    where = folder / f"site-{pages}"
    if not where.exists():
        where.mkdir()
        subprocess.run([BUILT / "site", "files", where, str(pages), str(BYTES), str(LINKS)], check=True)
    return where


def once(crawler, server, folder, pages):
    """One crawl; it counts when the server gave each page once and the program, where it says so, had them all."""
    work = folder / "run"
    work.mkdir()
    before = server.served()
    words = [str(word) for word in crawler.words(f"http://127.0.0.1:{server.port}{FIRST}")]
    cost = run(words, work)
    served = server.served() - before - 1
    good = None if cost.code else crawler.good(work, cost)
    shutil.rmtree(work, ignore_errors=True)
    if cost.code != 0:
        return {"failed": why(cost)}
    if served != pages or good not in (None, pages):
        return {"failed": f"{good} pages of {pages:,}, the server gave {served:,}"}
    shown = " ".join(words).replace(str(SEINE), "seine").replace(str(PEERS) + "/", "").replace(f":{server.port}", ":PORT").replace(PYTHON, "python3")
    return {"pages": pages, "per_second": round(pages / cost.seconds, 1), "cpu_us": round(cost.cpu / pages * 1e6, 2), "peak_mb": round(cost.peak_mb, 1),
            "seconds": round(cost.seconds, 3), "command": shown}


def measure(o, emit):
    if not Site.installed():
        emit({"type": "absent", "scene": "peers", "program": "nginx", "why": "not installed"})
        return
    there = []
    for crawler in ALL:
        reason = crawler.missing()
        if reason:
            emit({"type": "absent", "scene": "peers", "program": crawler.name, "why": reason})
        else:
            there.append(crawler)
    servers = {}
    try:
        for crawler in there:
            pages = max(200, int(crawler.pages * o.scale))
            if pages not in servers:
                servers[pages] = Site(o.folder / f"nginx-{pages}", site(o.folder, pages))
            once(crawler, servers[pages], o.folder, pages)  # warms files and caches; not counted
        for n in range(1, o.rounds + 1):
            for crawler in list(there):
                pages = max(200, int(crawler.pages * o.scale))
                row = once(crawler, servers[pages], o.folder, pages)
                emit({"type": "run", "scene": "peers", "program": crawler.name, "version": crawler.version(), "note": crawler.note, "round": n, **row})
                if row.get("seconds", LONG + 1) > LONG:
                    there.remove(crawler)
    finally:
        for server in servers.values():
            server.end()
