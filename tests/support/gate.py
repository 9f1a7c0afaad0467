# SPDX-License-Identifier: Apache-2.0
"""`seine gate` on a port of its own, and clients with addresses of their own.

    with gate("--rate", "1/h", "--burst", "3") as g:
        check(g.ask("/check").status, 200)
        check(g.ask("/check", source="127.0.0.2").status, 200)
"""
import contextlib
import http.client
import json
import os
import signal
import subprocess
import tempfile

from e2e import PATIENCE, PROGRAM, environment, until


class Gate:
    def __init__(self, *words, cwd=None):
        self.said = tempfile.TemporaryFile()
        self.process = subprocess.Popen([os.path.abspath(PROGRAM), "gate", "--listen", "127.0.0.1:0", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=self.said, env=environment(), cwd=cwd)
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(timeout=PATIENCE)
            raise RuntimeError("the gate did not start: " + self.err())
        self.places = json.loads(line)
        self.port = int(self.places["http"].rpartition(":")[2])

    def err(self):
        fd = self.said.fileno()  # whose place in the file is also that of the gate, which writes meanwhile
        return os.pread(fd, os.fstat(fd).st_size, 0).decode()

    def ask(self, path, method="GET", source="127.0.0.1", port=None, **fields):
        """The response; fields with _ for -: X_Forwarded_For="192.0.2.1"."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=PATIENCE, source_address=(source, 0))
        connection.request(method, path, headers={k.replace("_", "-"): v for k, v in fields.items()})
        response = connection.getresponse()
        response.body = response.read()
        connection.close()
        return response

    def says(self, text, times=1):
        until(lambda: self.err().count(text) >= times, f"{text!r} in the log")

    def reload(self):
        times = self.err().count("reloaded")
        self.process.send_signal(signal.SIGHUP)
        until(lambda: self.err().count("reloaded") > times, "a reload")

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()
        return code


@contextlib.contextmanager
def gate(*words, cwd=None):
    g = Gate(*words, cwd=cwd)
    try:
        yield g
    finally:
        g.end(signal.SIGKILL)
        g.said.close()
