#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links planted where the program will write: under the names it was given, and under names it makes itself."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
from e2e import PATIENCE, PROGRAM, case, check, environment, finish, rows  # noqa: E402
from hostile import attack  # noqa: E402
from origin import origin  # noqa: E402

PRECIOUS = b"precious\n"
URL = "http://127.0.0.1:9/"  # nobody listens, which is a record, too


class Shared:
    """A directory that others can write to, with a file of ours elsewhere that nothing may change."""

    def __enter__(self):
        self.top = tempfile.TemporaryDirectory()
        self.dir = os.path.join(self.top.name, "tmp")
        self.victim = os.path.join(self.top.name, "victim")
        self.none = os.path.join(self.top.name, "not-there")
        os.mkdir(self.dir)
        with open(self.victim, "wb") as f:
            f.write(PRECIOUS)
        return self

    def __exit__(self, *_):
        self.top.cleanup()

    def __call__(self, name):
        return os.path.join(self.dir, name)

    def plant(self, name):
        os.symlink(self.victim, self(name))

    def is_untouched(self):
        with open(self.victim, "rb") as f:
            return f.read() == PRECIOUS and not os.path.exists(self.none)

    def text(self, name):
        with open(self(name), "rb") as f:
            return f.read()


def fetch(s, *words):
    return attack("fetch", "--retries", "0", "--fail-on", "none", "-q", *words, URL, cwd=s.dir)


@rows([("--summary", b'"type":"summary"'), ("--metrics-file", b"seine_")])
def a_file_that_is_replaced_replaces_the_link(option, content):
    for kind in ("victim", "none"):
        with Shared() as s:
            os.symlink(getattr(s, kind), s("x"))
            r = fetch(s, option, "x")
            check((r.code, s.is_untouched(), os.path.islink(s("x")), content in s.text("x")), (0, True, False, True), r.err)
            check(os.listdir(s.dir), ["x"])


@rows([("--summary",), ("--metrics-file",)])
def names_beside_the_target_cannot_be_guessed(option):
    """The shell has the number that the program will have."""
    with Shared() as s:
        script = f'for n in x.$$.new x.new x.tmp x.part .x.tmp x.$$; do ln -s {s.victim} "$n"; done; exec "$0" "$@"'
        p = subprocess.run(["sh", "-c", script, os.path.abspath(PROGRAM), "fetch", "--retries", "0", "--fail-on", "none", "-q", option, "x", URL],
                           cwd=s.dir, env=environment(), capture_output=True, timeout=PATIENCE, check=False)
        check((p.returncode, s.is_untouched(), len(s.text("x")) > 0), (0, True, True), p.stderr)
        check(sum(os.path.islink(s(n)) for n in os.listdir(s.dir)), 6)


@case
def a_log_does_not_go_through_a_link():
    for kind in ("victim", "none"):
        with Shared() as s:
            os.symlink(getattr(s, kind), s("x"))
            r = fetch(s, "--log", "json", "--log-file", "x", "-o", "out.jsonl")
            check((r.code, s.is_untouched(), "symbolic link" in r.err, "\ntry: " in r.err), (2, True, True, True), r.err)
            check(os.listdir(s.dir), ["x"])


@case
def the_log_of_the_console_does_not_go_through_a_link():
    for kind in ("victim", "none"):
        with Shared() as s:
            os.symlink(getattr(s, kind), s("x"))
            with open(s("seine.yaml"), "w", encoding="utf-8") as f:
                f.write("monitoring: {log_output: x}\n")
            r = attack("serve", "--port", "0", "--state", "state", cwd=s.dir)
            check((r.code, s.is_untouched(), "symbolic link" in r.err, "\ntry: " in r.err), (2, True, True, True), r.err)


@case
def descriptors_by_name_are_no_links():
    """/dev/stderr is a link, and everybody's way to say: standard error."""
    with Shared() as s:
        r = fetch(s, "--log", "json", "--log-level", "trace", "--log-file", "/dev/stderr", "--summary", "/dev/stdout", "--metrics-file", "/dev/fd/1", "-o", "x.jsonl")
        check((r.code, '"event.name"' in r.err, b'"type":"summary"' in r.out, b"seine_" in r.out), (0, True, True, True), r.err)
        check((os.path.islink("/dev/stderr"), os.path.islink("/dev/stdout")), (True, True))


@rows([("x.cdxj.tmp",), ("x.cdxj.sort",), ("x.cdxj.new",)])
def the_index_of_an_archive_is_written_beside_all_traps(name):
    for plant in (os.symlink, os.link):
        with origin() as o, Shared() as s:
            plant(s.victim, s(name))
            r = attack("fetch", "--mine", "-q", "-o", "x.warc.gz", o.url("/ok"), cwd=s.dir)
            check((r.code, s.is_untouched(), b"urlkey" in s.text("x.cdxj") or len(s.text("x.cdxj")) > 0), (0, True, True), r.err)
            check(sorted(os.listdir(s.dir)), sorted(["x.warc.gz", "x.cdxj", name]))


@rows([(n,) for n in ("x.jsonl", "x.csv", "x.jsonl.gz", "x.csv.zst", "x.sqlite", "x.warc", "x.warc.gz")])
def an_output_is_not_written_through_a_link(name):
    for how in ([], ["--append"], ["--overwrite"]):
        for kind in ("victim", "none"):
            with Shared() as s:
                os.symlink(getattr(s, kind), s(name))
                r = fetch(s, *how, "-o", name)
                check((r.code, s.is_untouched(), os.listdir(s.dir)), (2, True, [name]), r.err)


@rows([(ending,) for ending in (".part", ".part-wal", ".part-journal", ".part-shm", "-wal", "-journal", "-shm")])
def a_new_database_is_made_beside_all_traps(ending):
    for plant in (os.symlink, os.link):
        with Shared() as s:
            plant(s.victim, s("x.sqlite" + ending))
            r = fetch(s, "-o", "x.sqlite")
            check((r.code, s.is_untouched(), os.listdir(s.dir)), (0, True, ["x.sqlite"]), r.err)


@case
def bodies_do_not_leave_their_directory():
    with origin() as o, Shared() as s:
        os.symlink(s.top.name, s("pages"))
        r = attack("fetch", "--mine", "-q", "--save", "pages", o.url("/ok"), cwd=s.dir)
        check((r.code, "symbolic link" in r.err, sorted(os.listdir(s.top.name))), (2, True, ["tmp", "victim"]), r.err)


@rows([("--ca-out", b"BEGIN CERTIFICATE"), ("--report", b'"requests"')])
def the_test_server_writes_no_file_through_a_link(option, content):
    with Shared() as s:
        s.plant("x")
        words = ["--tls", option, "x"] if option == "--ca-out" else [option, "x"]
        p = subprocess.Popen([os.path.abspath(PROGRAM), "chaos", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, cwd=s.dir, env=environment())
        p.stdout.readline()
        p.terminate()
        _, err = p.communicate(timeout=PATIENCE)
        check((s.is_untouched(), os.path.islink(s("x")), content in s.text("x")), (True, False, True), err)


@case
def a_cookie_jar_replaces_a_link():
    with origin() as o, Shared() as s:
        os.symlink(s.none, s("jar"))
        r = attack("fetch", "--mine", "-q", "--cookie-jar", "jar", o.url("/cookie:k:v/ok"), cwd=s.dir)
        check((r.code, s.is_untouched(), b"k\tv" in s.text("jar"), os.path.islink(s("jar"))), (0, True, True, False), r.err)


finish(at_once=2)
