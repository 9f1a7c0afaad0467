# SPDX-License-Identifier: Apache-2.0
"""How a fetch ends early: break, close, exceptions, Ctrl-C, garbage collection, exit, fork; never in a crash."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

from support import PATIENCE, environment, pages, run_python

import seine


def threads_of(pid="self"):
    """The names of the library's own threads."""
    names = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm", encoding="ascii") as f:
                names.append(f.read().strip())
        except OSError:
            pass
    return [n for n in names if n.startswith("sn-")]


def endless(base):
    n = 0
    while True:
        n += 1
        yield f"{base}/{n}"


class Ends(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()  # the last reference is enough

    def tearDown(self):
        gc.enable()
        self.assertEqual(threads_of(), [])

    def test_leaving_the_loop_ends_it(self):
        with pages({"*": "x"}) as p:
            for r in seine.fetch(endless(p.base), mine=True):
                self.assertNotEqual(threads_of(), [])
                break
            self.assertEqual(r.status, 200)

    def test_an_exception_in_the_loop_ends_it(self):
        with pages({"*": "x"}) as p:
            try:
                for r in seine.fetch(endless(p.base), mine=True):
                    raise LookupError(r.url)
            except LookupError as e:
                self.assertTrue(str(e).startswith(p.base))

    def test_an_exception_of_the_input_comes_through_and_ends_it(self):
        def urls(base):
            yield base + "/"
            raise LookupError("the input")
        with pages({"*": "x"}) as p:
            self.assertRaisesRegex(LookupError, "the input", list, seine.fetch(urls(p.base), mine=True))

    def test_what_is_never_iterated_ends_with_its_last_reference(self):
        seine.fetch(endless("http://127.0.0.1:9"))

    def test_close_and_with(self):
        with pages({"*": "x"}) as p:
            with seine.fetch(endless(p.base), mine=True) as f:
                next(f)
            self.assertEqual(threads_of(), [])
            f.close()
            f.stop()
            self.assertRaises(StopIteration, next, f)
            self.assertGreater(f.stats()["given"], 0)

    def test_close_from_another_thread_ends_a_step_that_waits(self):
        hold = threading.Event()
        with pages({"*": lambda path: hold.wait(PATIENCE) and "x"}) as p:
            f = seine.fetch([p.base + "/"], mine=True, timeout=PATIENCE)
            thread = threading.Thread(target=f.close)
            thread.start()
            self.assertIn([r.outcome for r in f], ([], ["canceled"]))
            thread.join()
            hold.set()

    def test_one_iterator_in_two_threads_is_an_error_and_no_crash(self):
        said = []
        with pages({"*": "x"}) as p:
            f = seine.fetch((f"{p.base}/{i}" for i in range(300)), mine=True)

            def run():
                try:
                    for _ in f:
                        pass
                except ValueError as e:
                    said.append(str(e))
            threads = [threading.Thread(target=run) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            f.close()
        self.assertTrue(all("already executing" in text for text in said), said)


WAITS = """
import sys, seine
print("begun", flush=True)
try:
    for r in seine.fetch([sys.argv[1]], mine=True, timeout="300s", head_timeout="300s"):
        print(r)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
AT_EXIT = """
import sys, seine
f = seine.fetch((sys.argv[1] + str(i) for i in range(100000)), mine=True)
kept = [next(f) for _ in range(3)]
print(kept[0].status, flush=True)
"""
FORKED = """
import os, sys, seine
f = seine.fetch((sys.argv[1] + str(i) for i in range(400)), mine=True)
r = next(f)
pid = os.fork()
if pid == 0:
    f.close()
    del f
    print("child", r.status, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
print("parent", sum(1 for _ in f) + 1, flush=True)
"""


class Processes(unittest.TestCase):
    def test_ctrl_c_ends_a_step_that_waits(self):
        hold = threading.Event()
        with pages({"*": lambda path: hold.wait(PATIENCE) and "x"}) as p:
            try:
                with subprocess.Popen([sys.executable, "-c", WAITS, p.base + "/"], stdout=subprocess.PIPE, text=True, env=environment()) as child:
                    self.assertEqual(child.stdout.readline(), "begun\n")
                    end = time.monotonic() + PATIENCE
                    while not p.asked and time.monotonic() < end:
                        time.sleep(0.01)
                    child.send_signal(signal.SIGINT)
                    self.assertEqual(child.communicate(timeout=PATIENCE)[0], "interrupted\n")
                    self.assertEqual(child.returncode, 0)
            finally:
                hold.set()

    def test_a_program_that_ends_while_a_fetch_runs_ends_in_order(self):
        with pages({"*": "x"}) as p:
            done = run_python(AT_EXIT, p.base + "/")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "200\n", ""))

    def test_a_forked_child_leaves_the_fetch_to_its_parent(self):
        with pages({"*": "x"}) as p:
            done = run_python(FORKED, p.base + "/")
        self.assertEqual((done.returncode, done.stdout), (0, "child 200\nparent 400\n"), done.stderr)


class Loading(unittest.TestCase):
    def test_a_library_that_is_not_there_is_one_clear_line(self):
        done = run_python("import seine", SEINE_LIBRARY="/nowhere/libseine.so.0")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr.splitlines()[-1], r"^ImportError: seine: cannot load /nowhere/libseine\.so\.0: .*SEINE_LIBRARY")

    def test_another_library_is_one_clear_line(self):
        done = run_python("import seine", SEINE_LIBRARY="libm.so.6")
        self.assertRegex(done.stderr.splitlines()[-1], r"^ImportError: seine: libm\.so\.6 is no libseine, or older")

    def test_another_version_is_one_clear_line(self):
        code = ("import ctypes, seine._library as l\n"
                "class Fake:\n"
                "    seine_fetch_stream_new = None\n"
                "    class V:\n"
                "        def __call__(self): return b'1.2.3'\n"
                "    seine_version = V()\n"
                "l.check_version(Fake(), 'x.so')\n")
        done = run_python(code)
        self.assertRegex(done.stderr.splitlines()[-1], r"^ImportError: seine: x\.so is version 1\.2\.3; this binding needs 0\.1\.0")


if __name__ == "__main__":
    unittest.main()
