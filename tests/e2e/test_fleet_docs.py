#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is shipped for a fleet works: the terminals of docs/user/fleet.md, examples/fleet, the unit of systemd; and a worker starts
nothing but a crawl or a recipe."""
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import BUILD, PATIENCE, PROGRAM, ROOT, case, check, environment, finish, free_port, rows, seine, until  # noqa: E402
from fleet import DURABLE, fleet  # noqa: E402
from redis_server import answers, redis_server  # noqa: E402

PATH = {"PATH": os.path.abspath(BUILD) + os.pathsep + os.environ["PATH"]}


def run(*words, cwd=None, env=None):
    return subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE, text=True, env=environment(env))


def shell(text, cwd):
    """A terminal, with all that it starts in a group of its own."""
    return subprocess.Popen(["bash", "-ec", text], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment(PATH), start_new_session=True)


def terminals():
    """The fences of the page, with ports that are free."""
    with open(os.path.join(ROOT, "docs/user/fleet.md"), encoding="utf-8") as f:
        fences = re.findall(r"^```sh site\n(.*?)^```$", f.read(), re.M | re.S)
    ports = {"6400": str(free_port()), "8400": str(free_port())}
    return [re.sub(r"\b(6400|8400)\b", lambda m: ports[m.group(1)], text) for text in fences]


@case
def the_three_terminals_of_the_page_end_with_every_page():
    servers, first, second, after, recipe = terminals()
    with tempfile.TemporaryDirectory() as folder:
        open_ones = [shell(servers, folder)]
        try:
            check(open_ones[0].stdout.readline().startswith('{"http":"http://127.0.0.1:'), True)
            store = re.search(r"SEINE_STORE=(\S+)", first).group(1)
            until(lambda: answers(int(store.rpartition(":")[2])), "redis-server")  # who types is slower
            open_ones.append(shell(first, folder))
            until(lambda: open_ones[1].poll() is not None or seine("jobs", "show", "news", "--store", store).code == 0, "the job")
            open_ones.append(shell(second, folder))
            said = [p.communicate(timeout=PATIENCE)[0] for p in open_ones[1:]]
            check([p.returncode for p in open_ones[1:]], [0, 0], "\n".join(said))
            open_ones.append(shell(after, folder))
            said = open_ones[-1].communicate(timeout=PATIENCE)[0]
            check((open_ones[-1].returncode, "job news: finished" in said, said.splitlines()[-1]), (0, True, "600"), said)
            open_ones.append(shell(recipe, folder))
            said = open_ones[-1].communicate(timeout=PATIENCE)[0]
            check(open_ones[-1].returncode, 0, said)
            with open(os.path.join(folder, "titles.jsonl"), encoding="utf-8") as f:
                titles = [json.loads(line) for line in f]
            check(len({i["data"]["title"] for i in titles if i["type"] == "item"}), len([i for i in titles if i["type"] == "result"]))
            with open(os.path.join(folder, "titles.csv"), encoding="utf-8") as f:
                check(len(f.read().splitlines()), 1 + sum(i["type"] == "item" for i in titles))
            r = seine("convert", os.path.join(folder, "news.db"), "--to", "jsonl")
            check((r.code, sum(json.loads(line)["type"] == "result" for line in r.out.splitlines())), (0, 600), r.err)
        finally:
            for p in open_ones:
                try:
                    os.killpg(p.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                p.communicate()


@case
def the_example_kills_a_worker_and_is_complete():
    r = run(os.path.join(ROOT, "examples/fleet/fleet"), os.path.abspath(PROGRAM), env={"REDIS_PORT": str(free_port())})
    check((r.returncode, r.stderr), (0, ""))
    said = r.stdout.splitlines()
    check(re.fullmatch(r"killed worker 2 of 3 after \d+ records", said[0]) is not None, True, r.stdout)
    check(said[1:], ["the other two say that the job is finished", "the site has 240 pages, the export 240 records", "complete"])


def unit():
    with open(os.path.join(ROOT, "examples/systemd/seine-worker@.service"), encoding="utf-8") as f:
        return f.read().replace("/usr/bin/seine", os.path.abspath(PROGRAM))


@case
def the_unit_is_clean_and_gives_a_worker_little_to_misuse():
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, "seine-worker@.service")
        with open(path, "w", encoding="utf-8") as f:
            f.write(unit())
        r = run("systemd-analyze", "verify", "--man=no", path)
        check((r.returncode, r.stdout + r.stderr), (0, ""))
        r = run("systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", path)
        score = float(re.search(r"exposure level for seine-worker@\S*.service: ([\d.]+)", r.stdout).group(1))
        check((r.returncode, score <= 2.0), (0, True), r.stdout[-300:])


@case
def the_command_of_the_unit_does_a_job():
    with fleet("1:20:hosts=5") as f:
        f.submit("--partitions", "8", job="news")
        with open(os.path.join(f.folder, "store"), "w", encoding="utf-8") as out:
            out.write(f.stores[0] + "\n")
        os.makedirs(os.path.join(f.folder, "seine-worker/news"))  # StateDirectory=
        line = re.search(r"^ExecStart=(.*)$", unit(), re.M).group(1)
        for name, value in (("%d", f.folder), ("%S", f.folder), ("%i", "news")):
            line = line.replace(name, value)
        r = run(*shlex.split(line), "-q", cwd=f.folder)
        check((r.returncode, r.stderr), (0, ""))
        r = f.jobs("export", "news", os.path.join(f.folder, "seine-worker/news/segments"))
        check((r.code, len(r.out.splitlines())), (0, 20), r.err)


@case
def notes_name_the_program_once():
    with redis_server(*DURABLE, "--rename-command", "CONFIG", "") as r:
        done = seine("crawl", "http://127.0.0.1:1/", "--store", f"redis://127.0.0.1:{r.port}", "--job", "one", "--submit")
        check((done.code, len(done.err.splitlines()), done.err.count("seine: seine:")), (0, 2, 0), done.err)


FOREIGN = (  # what somebody wrote to Redis in place of the command of the job
    (["seine", "limit", "--exec", "touch {}", "-", "crawl"],),
    (["seine", "version"],),
    (["crawl"],),
)


@rows(FOREIGN, name=lambda row: " ".join(row[0]))
def a_worker_starts_nothing_but_a_crawl(words):
    with fleet("1:20:hosts=5") as f:
        f.submit("--partitions", "8")
        job = re.search(r"sn:\{(\w{8})\}:cfg", f.redis[0].ask("KEYS sn:*:cfg")).group(1)
        text = json.dumps({"words": words}).replace('"', '\\"')
        check(f.redis[0].ask(f'HSET sn:{{{job}}}:cfg command "{text}"'), ":0\r\n")
        w = f.worker()
        check((w.wait(), "is neither seine crawl nor seine run" in w.said), (2, True), w.said)


finish(at_once=4)
