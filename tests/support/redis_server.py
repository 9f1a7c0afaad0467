# SPDX-License-Identifier: Apache-2.0
"""A private redis-server on loopback: its own folder and port, ended by its pid.

    with redis_server("--requirepass", "s3cret") as r:
        r.kill()
        r.start()
"""
import contextlib
import socket
import subprocess
import tempfile

from e2e import free_port, until


def answers(port):
    """Whether a redis-server answers on that port of loopback, with or without a password."""
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as s:
            s.sendall(b"PING\r\n")
            return s.recv(16)[:5] in (b"+PONG", b"-NOAU")
    except OSError:
        return False


class RedisServer:
    def __init__(self, folder, words):
        self.folder, self.words, self.port, self.process = folder, words, free_port(), None

    def start(self):
        words = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--dir", self.folder, "--save", "", "--logfile", "log", *self.words]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: answers(self.port), "redis-server")

    def ask(self, line):
        """The reply to a command, as it comes."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            s.sendall(line.encode() + b"\r\n")
            s.shutdown(socket.SHUT_WR)
            said = b""
            while part := s.recv(65536):
                said += part
            return said.decode()

    def kill(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def redis_server(*words):
    with tempfile.TemporaryDirectory() as folder:
        r = RedisServer(folder, words)
        try:
            r.start()
            yield r
        finally:
            r.kill()
