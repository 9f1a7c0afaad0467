#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seine doctor`: what it looks at, how it says so, and when the answer is no."""
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PROGRAM, case, check, environment, finish, seine  # noqa: E402
from origin import origin  # noqa: E402


def checks(*words, **kw):
    r = seine("doctor", "-j", *words, **kw)
    return r.code, {row["name"]: row for row in map(json.loads, r.out.splitlines())}


@case
def a_healthy_machine_is_healthy():
    with tempfile.TemporaryDirectory() as where:
        code, got = checks(cwd=where)
        check(code, 0, str(got))
        check(set(got), {"files", "dns", "clock", "zoneinfo", "state"})
        for row in got.values():
            check(sorted(row), ["ms", "name", "reason", "status"])
            check(row["status"] in ("healthy", "unknown"), True, str(row))
        check(os.listdir(where), [])  # it leaves nothing behind


@case
def text_says_the_same_for_people():
    with tempfile.TemporaryDirectory() as where:
        r = seine("doctor", cwd=where)
        lines = r.out.splitlines()
        check((r.code, len(lines)), (0, 5))
        check(all(re.match(r"(ok     |unknown)  \w+ +\S", line) for line in lines), True, r.out)


@case
def a_directory_that_cannot_be_written_is_a_fail_and_exit_1():
    code, got = checks("--state", "/proc/seine")
    check((code, got["state"]["status"]), (1, "unhealthy"))
    check("cannot write" in got["state"]["reason"], True)
    with tempfile.NamedTemporaryFile() as f:
        check(checks("--state", f.name)[1]["state"]["status"], "unhealthy")


@case
def outputs_are_looked_at():
    with tempfile.TemporaryDirectory() as where:
        code, got = checks("-o", "csv:a.csv", cwd=where)
        check((code, got["output"]["status"], os.listdir(where)), (0, "healthy", []))
        check(checks("-o", "/no/such/dir/a.csv")[0], 1)
        check(checks("-o", where)[1]["output"]["status"], "unhealthy")


@case
def few_descriptors_are_a_fail():
    p = subprocess.run(["bash", "-c", 'ulimit -n 40; "$0" doctor', PROGRAM], capture_output=True, env=environment())
    check(p.returncode, 1)
    check("FAIL     files      at most 40 descriptors" in p.stdout.decode(), True, p.stdout.decode())


@case
def a_running_seine_is_asked_whether_it_is_ready():
    with origin() as o:
        p = subprocess.Popen([PROGRAM, "fetch", "--metrics", "127.0.0.1:0", "--host-rate", "5/s",
                              *[o.url(f"/ok?n={n}") for n in range(20)]],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment())
        port = re.search(r":(\d+)/metrics", p.stderr.readline().decode()).group(1)
        code, got = checks("--target", f"http://127.0.0.1:{port}/")
        check((code, got["target"]["status"]), (0, "healthy"), str(got["target"]))
        p.kill()
        p.communicate()
        check(checks("--target", o.places["dead"])[1]["target"]["status"], "unhealthy")


finish(at_once=4)
