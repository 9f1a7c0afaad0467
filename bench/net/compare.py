# SPDX-License-Identifier: Apache-2.0
"""seine beside its peers: the same pages, the same server, round after round with all of them in each round."""
import functools
import math
import pathlib
import shutil
import sys

from clients import ALL, Job
from load import Watch, repeated
from measure import ROOT, run, why
from servers import Delay, Nginx

sys.path.append(str(ROOT / "bench" / "instructions"))
import valgrind  # noqa: E402

LONG = 15  # seconds; a program that takes longer is measured once
DELAY_MS = 100


class Scene:
    """A server and a number of requests in flight; those of nginx keep it, delayed ones get a new server for each run.
    `share` is how many of the requests of `pages` are made."""

    def __init__(self, name, in_flight, delayed=False, port="port", path="p", share=1.0):
        self.name, self.in_flight, self.delayed, self.port, self.path, self.share = name, in_flight, delayed, port, path, share


SCENES = [Scene("pages", 64), Scene("tls", 64, port="tls", share=0.5), Scene("tls-new", 64, port="new", share=0.05),
          Scene("tls-full", 64, port="full", share=0.05), Scene("gzip", 64, path="z", share=0.25),
          Scene("flight-1000", 1000, True), Scene("flight-10000", 10000, True)]


def once(client, scene, settings, nginx, scale):
    """One run of one client; a record, whether it went well or not."""
    folder = pathlib.Path(settings.folder) / "run"
    folder.mkdir()
    server = Delay(DELAY_MS, settings.server_cpu) if scene.delayed else nginx
    usual = client.requests.get(scene.name, 20000) if scene.delayed else client.requests["pages"] * scene.share
    requests = max(int(usual * scale), scene.in_flight if scene.delayed else 200)
    port = getattr(server, scene.port)
    job = Job(folder, port, requests, scene.in_flight, max(1, round(settings.seconds * (2 if scene.delayed else scale))),
              server.cert if scene.port in ("tls", "new", "full") else None, scene.path)
    try:
        client.prepare(job)
        before = 0 if scene.delayed else nginx.served()
        words = [str(word) for word in client.words(job)]
        watch = Watch(server.process.pid)
        cost = run(words, folder, job.env(client), settings.client_cpu)
        foreign = watch.foreign(cost)
        served = (server.end()["answers"] if scene.delayed else nginx.served() - before - 1)
        row = {"command": shown(words, job), "foreign": foreign}
        row.update(judged(client, job, cost, served))
        if scene.delayed:
            row.update(flight(row, server.seen, scene.in_flight))
        return row
    finally:
        if scene.delayed and server.seen is None:
            server.process.kill()
            server.process.communicate()
        shutil.rmtree(folder, ignore_errors=True)


def judged(client, job, cost, served):
    """What a run gave; it has failed unless every page asked for arrived with status 200 and the server agrees."""
    if cost.code != 0:
        return {"failed": why(cost)}
    try:
        asked, good = client.asked(job, cost), client.good(job, cost)
    except (AttributeError, IndexError, OSError, ValueError):
        return {"failed": "what it printed is not understood"}
    good = min(served, asked) if good is None else good
    if good != asked or served < asked or asked == 0:
        return {"failed": f"{good:,} of {asked:,} answers were 200, the server gave {served:,}"}
    rate = client.rate(job, cost)
    return {"requests": asked, "seconds": round(asked / rate, 4), "per_second": round(rate, 1), "cpu_us": round(cost.cpu / asked * 1e6, 3),
            "peak_mb": round(cost.peak_mb, 2)}


def flight(row, seen, in_flight):
    """What the delay server says of a run."""
    said = {"open_seen": seen["open"], "waiting_seen": seen["waiting"], "set_up_ms": seen["set_up_ms"]}
    if "failed" in row:
        return said
    return {"ideal_s": math.ceil(row["requests"] / in_flight) * DELAY_MS / 1000, "server_us": round(seen["cpu_s"] / row["requests"] * 1e6, 2), **said}


def shown(words, job):
    """A command line without what differs from machine to machine."""
    text = " ".join(words).replace(str(ROOT) + "/", "").replace(f":{job.port}", ":PORT").replace(str(job.cert), "site.pem")
    return text.replace("build/peers/", "").replace("bench/peers/", "").replace("build/seine", "seine").replace("/usr/bin/", "")


def compare(scene, settings, emit):
    nginx = None
    if not scene.delayed:
        if not Nginx.installed():
            emit({"type": "absent", "scene": scene.name, "program": "nginx", "why": "not installed"})
            return
        nginx = Nginx(pathlib.Path(settings.folder) / f"nginx-{scene.name}", settings.server_cpu)
    try:
        rounds(scene, settings, emit, nginx)
    finally:
        if nginx:
            nginx.end()


def rounds(scene, settings, emit, nginx):
    there = []
    for client in settings.clients:
        reason = client.missing()
        if reason is None and client.most < scene.in_flight:
            reason = f"has at most {client.most} in flight"
        if reason is None and scene.path == "z" and not client.unpacks:
            reason = "does not unpack"
        if reason:
            emit({"type": "absent", "scene": scene.name, "program": client.name, "why": reason})
        else:
            there.append(client)
    versions = {client.name: client.version() for client in there}
    if scene.name == "flight-10000" and there:
        emit({"type": "set_up", "scene": scene.name, "ms": dial(settings, scene.in_flight)})
    if not scene.delayed:
        for client in there:
            once(client, scene, settings, nginx, 0.02)
    for n in range(1, settings.rounds + 1):
        for client in list(there):
            who = {"scene": scene.name, "program": client.name, "round": n}
            row = repeated(functools.partial(once, client, scene, settings, nginx, settings.scale), settings, emit, who)
            emit({"type": "run", "scene": scene.name, "program": client.name, "version": versions[client.name], "note": client.note, "round": n, **row})
            if row.get("seconds", LONG + 1) > LONG:
                there.remove(client)
    if scene.name == "pages" and settings.count:
        count_all([c for c in settings.clients if c.counts and c.missing() is None], scene, settings, emit, nginx)


FEW, MANY = 500, 2500


def counted(client, scene, settings, nginx, requests):
    """The instructions that so many requests take in user mode, and the number of requests: (instructions, requests)."""
    folder = pathlib.Path(settings.folder) / "counted"
    folder.mkdir()
    job = Job(folder, nginx.port, requests, scene.in_flight, 1)
    try:
        client.prepare(job)
        profile = folder / "callgrind.out"
        words = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={profile}", *client.words(job)]
        cost = run(words, folder, job.env(client), settings.client_cpu)
        if cost.code != 0:
            raise valgrind.Failed(why(cost))
        asked, good = client.asked(job, cost), client.good(job, cost)
        if good is not None and good != asked:
            raise valgrind.Failed(f"{good:,} of {asked:,} answers were 200")
        return valgrind.total(profile.read_text(encoding="utf-8")), asked
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def count_all(clients, scene, settings, emit, nginx):
    """callgrind on two short runs of each: what one request more takes. Other load makes no difference to it."""
    if valgrind.missing():
        emit({"type": "uncounted", "scene": scene.name, "why": valgrind.missing()})
        return
    for client in clients:
        try:
            few, small = (0, 0) if client.timed else counted(client, scene, settings, nginx, FEW)
            many, large = counted(client, scene, settings, nginx, MANY)
            emit({"type": "instructions", "scene": scene.name, "program": client.name, "each": round((many - few) / (large - small))})
        except (valgrind.Failed, OSError, AttributeError, IndexError, ValueError) as e:
            emit({"type": "uncounted", "scene": scene.name, "program": client.name, "why": str(e)})


def dial(settings, connections):
    """The median of what opening so many connections takes when nothing else happens."""
    times = []
    for _ in range(5):
        server = Delay(DELAY_MS, settings.server_cpu)
        times.append(server.set_up_ms(connections))
        server.end()
    return sorted(times)[2]


def chosen(names):
    if not names:
        return ALL
    wanted = [name.strip().lower() for name in names.split(",")]
    found = [c for c in ALL if any(w == c.name.lower() or w == c.name.split()[0].lower() for w in wanted)]
    if not found:
        raise SystemExit(f"bench-net: no program of these: {names}; there are {', '.join(c.name for c in ALL)}")
    return found
