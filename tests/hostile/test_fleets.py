#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What somebody else writes to the Redis of a fleet, and links where its records are joined."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows  # noqa: E402
from fleet import DURABLE  # noqa: E402
from hostile import attack  # noqa: E402
from redis_server import redis_server  # noqa: E402

URL = "http://127.0.0.1:9/"  # nobody asks for it
LINE = b'{"v":1,"type":"result","seq":1,"url":"https://e.example/secret"}\n'



class Job:
    """A job of one partition, whose segment Redis names as it likes."""

    def __init__(self, redis, folder):
        self.redis, self.folder = redis, folder
        self.store = ("--store", f"redis://127.0.0.1:{redis.port}/0")
        r = attack("crawl", URL, *self.store, "--job", "one", "--submit", "--partitions", "1", "-q", cwd=folder)
        check((r.code, r.err), (0, ""))
        self.id = redis.ask("HGET sn:jobs one").split()[1]
        os.mkdir(os.path.join(folder, "segments"))

    def write(self, name):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(LINE)

    def name_segment(self, name):
        check(self.redis.ask(f'HSET sn:{{{self.id}.0}}:seg {name} "{len(LINE)} 1 host"').startswith(":1"), True)

    def export(self, *words):
        return attack("jobs", "export", "one", *self.store, "segments", *words, cwd=self.folder)


@rows([("../secret",), ("/etc/hostname",), ("..",), (".",), ("a/b",), (".hidden",), ("x\\n.jsonl",)])
def a_segment_is_read_in_its_directory_alone(name):
    with redis_server(*DURABLE) as redis, tempfile.TemporaryDirectory() as d:
        job = Job(redis, d)
        job.write("secret")
        job.write("segments/.hidden")
        job.name_segment(f'"{name}"')
        r = job.export()
        check((r.code, b"secret" in r.out, "no name of one" in r.err, r.err.count("\n") <= 2), (2, False, True, True), r.err)


@case
def the_records_of_a_fleet_are_not_written_through_a_link():
    with redis_server(*DURABLE) as redis, tempfile.TemporaryDirectory() as d:
        job = Job(redis, d)
        job.write("segments/p00000.e1.jsonl")
        job.write("victim")
        job.name_segment("p00000.e1.jsonl")
        for target in ("victim", "not-there"):
            os.symlink(os.path.join(d, target), os.path.join(d, "x"))
            r = job.export("-o", "x")
            with open(os.path.join(d, "victim"), "rb") as f:
                check((r.code, f.read() == LINE, os.path.exists(os.path.join(d, "not-there")), "symbolic link" in r.err), (2, True, False, True), r.err)
            os.unlink(os.path.join(d, "x"))
        check((job.export("-o", "x").code, job.export("-o", "x").code), (0, 0))  # a file of an earlier export is replaced
        check(job.export("-o", "/dev/stdout").out, LINE)


finish(at_once=2)
