# SPDX-License-Identifier: Apache-2.0
"""Runs a program some of whose system calls fail (tests/fault/snfault.c).

    r = faulty("write:ENOSPC@2:x.jsonl", [PROGRAM, "fetch", …], cwd=folder)
    check((r.code, r.struck), (3, ["write 2 ENOSPC"]))
"""
import os
import subprocess
import tempfile

from e2e import BUILD, PATIENCE, Result, environment

LIBRARY = os.path.abspath(os.path.join(BUILD, "libsnfault.so"))


def fault_environment(rules, log):
    """What a program needs to meet the rules; sanitizers want to be the first library otherwise."""
    return {"LD_PRELOAD": LIBRARY, "SEINE_FAULT": rules, "SEINE_FAULT_LOG": log,
            "ASAN_OPTIONS": "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")}


def faulty(rules, command, cwd=None, stdin=b"", timeout=PATIENCE, extra=None):
    """The result, with `struck`, what has failed ("write 2 ENOSPC"), `counts`, how often each call was made, and `counted`, how often by each rule's
    pattern."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        p = subprocess.run(command, input=stdin, capture_output=True, env=environment({**fault_environment(rules, log), **(extra or {})}), cwd=cwd, timeout=timeout)
        told = []
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as f:
                told = [line.split() for line in f]
    r = Result(p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace"))
    r.struck = [" ".join(words[:3]) for words in told if words[0] != "count"]
    r.counts = {}
    r.counted = {words[3]: int(words[2]) for words in told if words[0] == "count" and len(words) > 3}
    for words in told:
        if words[0] == "count":
            r.counts[words[1]] = max(int(words[2]), r.counts.get(words[1], 0))
    return r
