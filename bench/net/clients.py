# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured: for each its command line, and how many answers with status 200 it got.

Each gets a file of distinct URLs and fetches them all. wrk, the yardstick, asks for one URL over and over for a given
time: it reads no list and keeps nothing, so that it shows what the machine can do.
"""
import json
import os
import re
import shutil
import subprocess

from measure import BUILT, PAGE_BYTES, PEERS, SEINE, build_go, build_rust, rust_version

PYTHON = "/usr/bin/python3"


class Job:
    """So many requests, so many in flight, in an empty folder where the list lies as urls.txt."""

    def __init__(self, folder, port, requests, in_flight, seconds, cert=None, path="p"):
        self.folder, self.port, self.requests, self.in_flight, self.seconds = folder, port, requests, in_flight, seconds
        self.cert, self.path = cert, path
        self.base = f"{'https' if cert else 'http'}://127.0.0.1:{port}"

    def write(self, name, line):
        with open(self.folder / name, "w", encoding="ascii") as f:
            f.writelines(line.format(url=f"{self.base}/{self.path}/{n}", n=n) for n in range(self.requests))

    def env(self, client):
        """Where the certificate is, for those who look into the environment."""
        if not self.cert:
            return client.env
        return {**client.env, **{name: str(self.cert) for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")}}


class Client:
    """One program. `most` is what it can have in flight, `note` what a reader of the table should know."""
    name, note, most = "", "", 1 << 30
    line = "{url}\n"
    env = {}
    requests = {"pages": 50000, "flight-1000": 20000, "flight-10000": 50000}
    asks_version = ["--version"]
    unpacks = False  # knows what to do with a packed body
    counts = True  # callgrind can run it
    timed = False  # runs for a time, and says how many requests that were

    def version(self):
        """The first number with a dot that it prints of itself."""
        done = subprocess.run([self.name, *self.asks_version], capture_output=True, text=True)
        found = re.search(r"\d+\.[\w.]+", done.stdout + done.stderr)
        return found.group() if found else "?"

    def missing(self):
        """Why it cannot be run here, or None."""
        return None if shutil.which(self.name) else "not installed"

    def prepare(self, job):
        job.write("urls.txt", self.line)

    def words(self, job):
        raise NotImplementedError

    def asked(self, job, cost):
        return job.requests

    def good(self, job, cost):
        """Answers with status 200, by its own count; None if it has none and its exit code must do."""
        return int(cost.out.split()[-1]) if cost.out.split()[-1:] and cost.out.split()[-1].isdigit() else 0

    def rate(self, job, cost):
        return job.requests / cost.seconds


class Seine(Client):
    name, note = "seine", "JSON-lines records written to a file"
    unpacks = True
    requests = {"pages": 200000, "flight-1000": 20000, "flight-10000": 50000}

    def missing(self):
        if not SEINE.exists() or subprocess.run([SEINE, "fetch", "-h"], capture_output=True).returncode != 0:
            return "not built"
        return None

    def version(self):
        return "this commit"

    def words(self, job):
        return [SEINE, "fetch", "-i", "urls.txt", "--mine", "-c", job.in_flight, "--threads", 1, "-o", "out.jsonl", "--overwrite",
                "--progress", "off", "-q", *(["--cacert", job.cert] if job.cert else [])]

    def good(self, job, cost):
        return count_good(job.folder / "out.jsonl")


def count_good(path):
    """Result records with status 200 that are ok."""
    good = 0
    with open(path, "rb") as f:
        for line in f:
            good += b'"type":"result"' in line and b'"outcome":"ok"' in line and b'"status":200' in line
    return good


class Wrk(Client):
    name, note = "wrk", "the yardstick: one URL, no list, nothing kept"
    unpacks = True  # it never does: the yardstick
    timed = True
    asks_version = ["-v"]
    ran = re.compile(r"(\d+) requests in ([0-9.]+)(us|ms|s|m)")

    def prepare(self, job):
        pass

    def words(self, job):
        return ["wrk", "-t1", f"-c{job.in_flight}", f"-d{job.seconds}s", "--timeout", "30s", f"{job.base}/{job.path}/0"]

    def asked(self, job, cost):
        return int(self.ran.search(cost.out).group(1))

    def good(self, job, cost):
        failed = sum(int(n) for n in re.findall(r"(?:connect|read|write|timeout|responses:) (\d+)", cost.out))
        return self.asked(job, cost) - failed

    def rate(self, job, cost):
        count, time, unit = self.ran.search(cost.out).groups()
        return int(count) / (float(time) * {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60}[unit])


class H2load(Client):
    name, note = "h2load", "load generator: --h1, nothing kept"
    requests = {"pages": 200000, "flight-1000": 20000, "flight-10000": 50000}

    def words(self, job):
        return ["h2load", "--h1", "-t1", "-m1", f"-c{job.in_flight}", f"-n{job.requests}", "-i", "urls.txt"]

    def good(self, job, cost):
        found = re.search(r"status codes: (\d+) 2xx", cost.out)
        return int(found.group(1)) if found else 0


class Wget2(Client):
    name, note = "wget2", "one thread per request in flight"
    requests = {"pages": 60000, "flight-1000": 20000, "flight-10000": 20000}

    def words(self, job):
        return ["wget2", "-q", "--no-config", "--no-hsts", "--no-hpkp", "--tries=1", f"--max-threads={job.in_flight}", "-O", "/dev/null", "-i", "urls.txt",
                *([f"--ca-certificate={job.cert}"] if job.cert else [])]

    def good(self, job, cost):
        return None


class Curl(Client):
    name, note, most = "curl", "-Z", 300
    unpacks = True
    line = 'url = "{url}"\noutput = "/dev/null"\n'
    requests = {"pages": 20000}

    def words(self, job):
        return ["curl", "-q", "-s", *(["--compressed"] if job.path == "z" else []), "-Z", "--parallel-max", job.in_flight, "-w", "%{http_code}\\n", "-K", "urls.txt"]

    def good(self, job, cost):
        return cost.out.split().count("200")


class Aria2(Client):
    name, note = "aria2c", "each page is a file"
    line = "{url}\n out={n}\n"
    requests = {"pages": 2000, "flight-1000": 2000, "flight-10000": 10000}

    def words(self, job):
        return ["aria2c", "--no-conf", "-q", "-i", "urls.txt", "-d", "pages", "-j", job.in_flight, "-x1", "-s1", "-m1", "--file-allocation=none",
                "--download-result=hide", "--summary-interval=0", *([f"--ca-certificate={job.cert}"] if job.cert else [])]

    def good(self, job, cost):
        folder = job.folder / "pages"
        return sum(f.stat().st_size == PAGE_BYTES for f in os.scandir(folder)) if folder.exists() else 0


class Library(Client):
    """A driver of ours around a library."""
    counts = False

    def words(self, job):
        return [*self.driver, "urls.txt", job.in_flight]


class Reqwest(Library):
    name, note, driver = "reqwest", "Rust, one thread", [BUILT / "reqwest" / "release" / "reqwest"]
    counts = True
    why_not = None

    def missing(self):
        if not shutil.which("cargo"):
            return "not installed"
        if self.why_not is None:
            self.why_not = build_rust()
        return self.why_not or None

    def version(self):
        return rust_version("reqwest")


class Go(Library):
    name, note, driver = "Go net/http", "GOMAXPROCS 1", [BUILT / "gohttp"]
    unpacks = True

    def words(self, job):
        return [*super().words(job), *(["unpack"] if job.path == "z" else [])]

    def missing(self):
        if not shutil.which("go"):
            return "not installed"
        build_go()
        return None

    def version(self):
        return subprocess.run(["go", "version"], capture_output=True, text=True).stdout.split()[2].removeprefix("go")


class Undici(Library):
    name, note, driver = "undici", "node", ["node", PEERS / "undici" / "fetch.cjs"]
    requests = {"pages": 40000, "flight-1000": 20000, "flight-10000": 50000}
    modules = BUILT / "undici" / "node_modules"
    env = {"NODE_PATH": str(modules)}

    def missing(self):
        return None if shutil.which("node") and (self.modules / "undici").exists() else "not installed"

    def version(self):
        return json.loads((self.modules / "undici" / "package.json").read_text())["version"]


class Module(Library):
    def missing(self):
        found = subprocess.run([PYTHON, "-c", f"import {self.module}"], capture_output=True).returncode == 0
        return None if found else "not installed"

    def version(self):
        return subprocess.run([PYTHON, "-c", f"import {self.module}; print({self.module}.__version__)"], capture_output=True, text=True).stdout.strip()


class Aiohttp(Module):
    name, note, module, driver = "aiohttp", "Python", "aiohttp", [PYTHON, PEERS / "aio.py"]
    unpacks = True
    requests = {"pages": 10000, "flight-1000": 10000, "flight-10000": 20000}


class Scrapy(Module):
    name, note, module, driver = "Scrapy", "Python", "scrapy", [PYTHON, PEERS / "spider.py"]
    requests = {"pages": 1000, "flight-1000": 2000, "flight-10000": 10000}


ALL = [Wrk(), Seine(), H2load(), Wget2(), Curl(), Aria2(), Reqwest(), Go(), Undici(), Aiohttp(), Scrapy()]
