# SPDX-License-Identifier: Apache-2.0
"""What the programs of tests/hostile share: run the program on an attack, and see what that cost.

    from hostile import attack
    r = attack("convert", "bomb.warc.gz", cwd=d)
    check((r.code, r.peak < 100 << 20), (2, True))

A class of attacks is one program, tests/hostile/test_CLASS.py; SECURITY.md lists them. An attack succeeds if it takes
authority (a file that nobody named), memory or time out of proportion, or a terminal. Time is compared with ENOUGH,
since machines are busy, or is that of the processor, in relation to the same work without the attack. The kernel counts the memory of a process from
its fork on, so a test itself stays small: another program makes what is large.
"""
import os
import subprocess
import tempfile
import threading

from e2e import PATIENCE, PROGRAM, Result, environment

ENOUGH = PATIENCE // 2  # seconds; what takes longer hangs
PATIENT = ("--timeout", "90s", "--connect-timeout", "60s", "--tcp-timeout", "60s", "--tls-timeout", "60s", "--head-timeout", "60s")  # a slow machine is no attack
BUSY = {"ASAN_OPTIONS": "quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}  # freed is free


def attack(*words, stdin=b"", env=None, cwd=None):
    """Runs the program; `peak` is its memory in bytes, `cpu` the seconds it computed. A program that does not end fails the case."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode() if isinstance(stdin, str) else stdin)
        given.seek(0)
        p = subprocess.Popen([os.path.abspath(PROGRAM), *words], stdin=given, stdout=out, stderr=err, cwd=cwd, env=environment({**BUSY, **(env or {})}))
        peak, cpu = watch(p)
        out.seek(0)
        err.seek(0)
        r = Result(p.returncode, out.read(), err.read().decode(errors="backslashreplace"))
        r.peak, r.cpu = peak, cpu
        return r


def watch(process):
    """Waits for the end, and returns the most memory that it took, and the seconds it computed."""
    hangs = threading.Timer(ENOUGH, process.kill)
    hangs.start()
    _, status, usage = os.wait4(process.pid, 0)
    is_late = not hangs.is_alive()
    hangs.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if is_late:
        raise AssertionError(f"did not end within {ENOUGH} s: {' '.join(process.args[1:])}")
    return usage.ru_maxrss << 10, usage.ru_utime
