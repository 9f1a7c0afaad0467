#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a build installs, and what it says to somebody who may install nothing."""
import json
import os
import re
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, ROOT, case, check, finish, rows  # noqa: E402

with open(os.path.join(ROOT, "tools", "packages"), encoding="utf-8") as f:
    LINES = [line.split() for line in f if not line.startswith("#")]
DAEMONS = {"nginx-light", "prometheus", "stunnel4", "tinyproxy", "redis-server"}


def packages(*parts):
    return [word for line in LINES if line[0] in parts for word in line[1:]]


def deps(*parts, installed=(), user=1000, sudo=False):
    """Runs tools/deps where only these packages are installed; the commands it would run are in a file."""
    with tempfile.TemporaryDirectory() as bin_dir:
        def stub(name, body):
            path = os.path.join(bin_dir, name)
            with open(path, "w", encoding="utf-8") as out:
                out.write(f"#!/bin/sh\n{body}\n")
            os.chmod(path, stat.S_IRWXU)
        calls = os.path.join(bin_dir, "calls")
        lines = "".join(f" {name}=install ok installed\\n" for name in installed)
        stub("dpkg-query", f"printf '{lines}'")
        stub("id", f"echo {user}")
        stub("sudo", f'[ "$1" = -n ] && exit {0 if sudo else 1}; echo "$@" >>{calls}; [ "$1" != tee ] || cat >/dev/null')
        stub("pkg-config", "exit 1")
        for name in ("sed", "mktemp", "rm", "cat", "tee", "chmod", "dirname", "env"):
            os.symlink(f"/usr/bin/{name}", os.path.join(bin_dir, name))
        p = subprocess.run([os.path.join(ROOT, "tools", "deps"), *parts], capture_output=True, text=True, timeout=PATIENCE, env={"PATH": bin_dir})
        said = open(calls, encoding="utf-8").read() if os.path.exists(calls) else ""
    return p.returncode, p.stdout, p.stderr, said


@case
def to_run_the_program_no_daemon_is_needed():
    names = {word.split("=")[0] for word in packages("run")}
    check(names & DAEMONS, set())
    check({name for name in names if name.startswith(("clang", "python3-"))}, set())


@case
def nothing_is_said_where_nothing_is_missing():
    check(deps("run", installed=[w.split("=")[0] for w in packages("run")]), (0, "", "", ""))


@case
def who_is_not_root_gets_one_line_to_type():
    code, out, err, said = deps("run", installed=["make", "gcc", "cmake", "ninja-build", "pkg-config", "python3", "libc6-dev"])
    check((code, out, said), (1, "", ""))
    line = err.splitlines()[-1].split()
    check(line[:5], ["sudo", "apt-get", "install", "-y", "--no-install-recommends"])
    check(line[5:], [w.split("=")[0] for w in packages("run") if w.startswith(("lib", "zlib")) and w != "libc6-dev"])


@case
def a_tool_of_another_origin_is_as_good():
    _, _, err, _ = deps("run", installed=[w.split("=")[0] for w in packages("run") if not w.startswith(("make", "python3"))])
    check(" make" in err and " python3" in err, True, err)  # the stubs have neither
    code, _, err, _ = deps("run", installed=[w.split("=")[0] for w in packages("run") if w != "pkg-config=pkg-config"])
    check((code, err), (0, ""))


@case
def daemons_are_installed_but_not_started():
    code, _, _, said = deps("test", sudo=True)
    check(code, 0)
    calls = said.splitlines()
    install = next(i for i, call in enumerate(calls) if "apt-get install" in call)
    check("nginx-light" in calls[install], True)
    if not os.path.exists("/usr/sbin/policy-rc.d"):
        check([call.split()[0] for call in calls[:install] if "policy-rc.d" in call], ["tee", "chmod"])
        check(calls[-1].split()[:2], ["rm", "-f"])


@rows([("none",), ("fish",)])
def a_part_that_there_is_not_is_an_error(part):
    code, _, err, _ = deps(*([] if part == "none" else [part]))
    check(code, 2)
    check(len(err.splitlines()), 1)


@case
def packages_of_npm_are_pinned_and_name_no_host():
    for where in ("tests", "bench/peers/undici"):
        with open(os.path.join(ROOT, where, "package.json"), encoding="utf-8") as f:
            named = json.load(f)
        with open(os.path.join(ROOT, where, "package-lock.json"), encoding="utf-8") as f:
            text = f.read()
        for version in {**named.get("dependencies", {}), **named.get("devDependencies", {})}.values():
            check(re.fullmatch(r"\d+\.\d+\.\d+", version) is not None, True, version)
        locked = {name: p for name, p in json.loads(text)["packages"].items() if name}
        check([name for name, p in locked.items() if "integrity" not in p], [])
        check([name for name, p in locked.items() if "resolved" in p or "://" in json.dumps({k: v for k, v in p.items() if k != "funding"})], [])


finish()
