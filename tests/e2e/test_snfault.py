#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library that lets system calls fail: what it says it does, it does, and nothing else. The program that meets the
faults is a small script of Python, which calls the system as any program does."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import case, check, finish, rows  # noqa: E402
from faults import faulty  # noqa: E402

# Prints what each step did: a number, or the name of the error.
SCRIPT = r"""
import errno, mmap, os, socket, sys, time
x, y = os.open("x.txt", os.O_RDWR | os.O_CREAT), os.open("y.txt", os.O_RDWR | os.O_CREAT)
os.mkdir("sub")
sub = os.open("sub", os.O_RDONLY)
open("old", "w").close()
steps = {
    "wx": lambda: os.write(x, b"12345678"), "wy": lambda: os.write(y, b"12345678"), "px": lambda: os.pwrite(x, b"1234", 0),
    "vx": lambda: os.writev(x, [b"12", b"34"]), "rx": lambda: len(os.read(x, 8)), "rpx": lambda: len(os.pread(x, 8, 0)), "fx": lambda: os.fsync(x),
    "dx": lambda: os.fdatasync(x), "tx": lambda: os.ftruncate(x, 4), "ox": lambda: os.close(os.open("x.txt", os.O_RDONLY)),
    "os": lambda: os.close(os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=sub)), "mv": lambda: os.rename("old", "newer"),
    "mvs": lambda: os.rename("newer", "in", dst_dir_fd=sub, src_dir_fd=None), "rm": lambda: os.unlink("sub/in"), "mk": lambda: os.mkdir("sub/deeper"),
    "mx": lambda: len(mmap.mmap(x, 4, prot=mmap.PROT_READ)), "so": lambda: socket.socket().close(), "cx": lambda: os.close(x),
    "size": lambda: os.stat("x.txt").st_size, "time": lambda: int(time.time() > 2e9), "tick": lambda: int(time.monotonic() > 2e9),
}
for name in sys.argv[1:]:
    try:
        done = steps[name]()
        print("ok" if done is None else done)
    except OSError as e:
        print(errno.errorcode[e.errno])
"""

# rules, steps, what they print; then what the log says
TABLE = [
    ("nothing without a rule", "", "wx fx mv", "8 ok ok", []),
    ("the n-th call alone", "write:ENOSPC@2:x.txt", "wx wx wx", "8 ENOSPC 8", ["write 2 ENOSPC"]),
    ("the n-th call and all after it", "write:EIO@2+:x.txt", "wx wx wx", "8 EIO EIO", ["write 2 EIO", "write 3 EIO"]),
    ("the first is the default", "write:EIO:x.txt", "wx wx", "EIO 8", ["write 1 EIO"]),
    ("files that match are counted, others not", "write:EIO@2:y.*", "wx wy wx wy", "8 8 8 EIO", ["write 2 EIO"]),
    ("a pattern of the whole path", "write:EIO@1+:*/y.txt", "wx wy", "8 EIO", ["write 1 EIO"]),
    ("all kinds of writing", "write:EIO@1+:x.txt", "px vx", "EIO EIO", ["write 1 EIO", "write 2 EIO"]),
    ("all kinds of syncing", "fsync:EIO@1+:x.txt", "fx dx", "EIO EIO", ["fsync 1 EIO", "fsync 2 EIO"]),
    ("a write that is interrupted", "write:SHORT:x.txt", "wx size wx", "4 4 8", ["write 1 SHORT"]),
    ("a write that is lost", "write:LOST:x.txt", "wx size", "8 0", ["write 1 LOST"]),
    ("reading", "read:EIO@2:x.txt", "wx rpx rpx rx", "8 8 EIO 0", ["read 2 EIO"]),
    ("a short read", "read:SHORT:x.txt", "wx rpx rpx", "8 4 8", ["read 1 SHORT"]),
    ("truncation", "truncate:EIO:x.txt", "wx tx size tx size", "8 EIO 8 ok 4", ["truncate 1 EIO"]),
    ("opening", "open:EMFILE@2:x.txt", "ox ox", "EMFILE ok", ["open 2 EMFILE"]),  # the script has opened it once
    ("opening in a directory", "open:EACCES:*/sub/new", "os os", "EACCES ok", ["open 1 EACCES"]),
    ("renaming, by the new name", "rename:EXDEV:newer", "mv mv", "EXDEV ok", ["rename 1 EXDEV"]),
    ("renaming into a directory", "rename:EIO:*/sub/in", "mv mvs", "ok EIO", ["rename 1 EIO"]),
    ("making directories", "mkdir:ENOSPC:deeper", "mk mk", "ENOSPC ok", ["mkdir 1 ENOSPC"]),
    ("mapping", "mmap:ENOMEM:x.txt", "wx mx mx", "8 ENOMEM 4", ["mmap 1 ENOMEM"]),
    ("sockets", "socket:EMFILE@2", "so so so", "ok EMFILE ok", ["socket 2 EMFILE"]),
    ("a close that fails has closed", "close:EIO:x.txt", "cx wx", "EIO EBADF", ["close 1 EIO"]),
    ("two rules", "write:EIO@1:x.txt,write:ENOSPC@1:y.txt", "wx wy wx wy", "EIO ENOSPC 8 8", ["write 1 EIO", "write 1 ENOSPC"]),
    ("wall time jumps", "clock:JUMP2000000000@1+", "time tick", "1 0", None),
    ("a wait", "write:SLEEP50:x.txt", "wx", "8", ["write 1 SLEEP50"]),
]


def run(rules, steps):
    with tempfile.TemporaryDirectory() as folder:
        return faulty(rules, [sys.executable, "-S", "-E", "-c", SCRIPT, *steps.split()], cwd=folder)


@rows(TABLE)
def a_rule_means(name, rules, steps, want, struck):
    r = run(rules, steps)
    check((r.code, " ".join(r.out.split())), (0, want), r.err)
    if struck is not None:
        check(r.struck, struck)


@case
def counts_are_told():
    r = run("write:COUNT:x.txt,fsync:COUNT", "wx wx wy fx")
    check((r.struck, r.counts), ([], {"write": 2, "fsync": 1}))


@rows([("before the call", "KILL", 8), ("in the middle of it", "HALFKILL", 12)])
def a_process_is_killed(name, action, size):
    with tempfile.TemporaryDirectory() as folder:
        r = faulty(f"write:{action}@2:x.txt", [sys.executable, "-S", "-E", "-c", SCRIPT, "wx", "wx", "wx"], cwd=folder)
        check((r.code, os.stat(os.path.join(folder, "x.txt")).st_size), (-9, size))


@rows([(rule,) for rule in ("write", "write:EWHAT", "write:EIO@0", "write:EIO@x", "write:EIO@1:", ":EIO", "write:EIO@1;fsync:EIO", "write:SHORT2x")])
def a_rule_that_is_none_ends_the_program(rule):
    r = run(rule, "wx")
    check((r.code, "libsnfault: cannot read the rule" in r.err), (125, True), r.err)


finish()
